/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of the reader: a consumer that remembers what it was given, and
 * whole files in memory, to be broken and written back.
 */
#ifndef COLLECT_H
#define COLLECT_H

#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/**
 * struct collect - what came, in the order in which it came
 * @e, @cpu: common parts of the events
 * @calls: of the callbacks
 * @stop_at: the event that ends the run with @stop_with, counted from 1; 0: none
 */
struct collect {
	struct grt_consumer c;
	struct grt_event *e;
	uint32_t *cpu;
	size_t n;
	size_t room;
	struct {
		unsigned int packet, unknown, beyond, late;
#define GRT_CLASS(name, help, see) unsigned int name;
#include <grtrace/classes.def>
#undef GRT_CLASS
	} calls;
	size_t stop_at;
	int stop_with;
};

static inline int collect_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct collect *k = (struct collect *)c;

	if (k->n == k->room) {
		k->room = k->room ? 2 * k->room : 256;
		k->e = realloc(k->e, k->room * sizeof(*k->e));
		k->cpu = realloc(k->cpu, k->room * sizeof(*k->cpu));
		assert_non_null(k->e);
		assert_non_null(k->cpu);
	}
	k->e[k->n] = *e;
	k->cpu[k->n++] = cpu;
	return k->n == k->stop_at ? k->stop_with : 0;
}

static inline int collect_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	assert_int_equal(p->magic, GRT_PACKET_MAGIC);
	((struct collect *)c)->calls.packet++;
	return 0;
}

/* Reads the record to its end, so that a record outside of its buffer is found by the sanitizer. */
static inline void touch(const struct grt_event *e)
{
	volatile char sum = 0;

	for (unsigned int i = 0; i < e->size; i++)
		sum = (char)(sum + ((const char *)e)[i]);
}

#define GRT_CLASS(which, help, see)                                                                        \
	static inline int collect_##which(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu) \
	{                                                                                                  \
		(void)cpu;                                                                                 \
		touch(e);                                                                                  \
		((struct collect *)c)->calls.which++;                                                      \
		return 0;                                                                                  \
	}
#include <grtrace/classes.def>
GRT_CLASS(unknown, , )
GRT_CLASS(beyond, , )
GRT_CLASS(late, , )
#undef GRT_CLASS

static inline void collect_reset(struct collect *k)
{
	free(k->e);
	free(k->cpu);
	*k = (struct collect){
		.c =
			{
				.packet = collect_packet,
				.event = collect_event,
#define GRT_CLASS(name, help, see) .name = collect_##name,
#include <grtrace/classes.def>
#undef GRT_CLASS
				.unknown = collect_unknown,
				.beyond = collect_beyond,
				.late = collect_late,
			},
	};
}

/* Runs all of a trace that must open; the caller closes *@s. */
static inline void collect_path(struct collect *k, const char *path, struct grt_session **s)
{
	struct grt_err err;

	collect_reset(k);
	if (grt_session_open(s, path, &err))
		fail_msg("%s: %s", err.what, err.why);
	assert_int_equal(grt_session_run(*s, &k->c, 0, UINT64_MAX, &err), 0);
}

/* A whole file; the memory is the caller's to free. */
static inline char *file_load(const char *path, size_t *size)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	struct stat st;
	char *data;

	assert_true(fd >= 0);
	assert_int_equal(fstat(fd, &st), 0);
	*size = (size_t)st.st_size;
	data = malloc(*size + 1);
	assert_non_null(data);
	assert_int_equal(read(fd, data, *size), *size);
	close(fd);
	data[*size] = '\0';
	return data;
}

/* Not emptied first: filesystems write such a file to the disk at once, thousands of times here. */
static inline void file_store(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_CLOEXEC, 0600);

	assert_true(fd >= 0);
	assert_int_equal(write(fd, data, size), size);
	assert_int_equal(ftruncate(fd, (off_t)size), 0);
	close(fd);
}

/* @dir itself where @name is "". The text is the caller's to free. */
static inline char *path_join(const char *dir, const char *name)
{
	size_t room = strlen(dir) + strlen(name) + 2;
	char *path = malloc(room);

	assert_non_null(path);
	snprintf(path, room, "%s%s%s", dir, name[0] ? "/" : "", name);
	return path;
}

#endif /* COLLECT_H */
