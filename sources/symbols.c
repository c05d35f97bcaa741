// SPDX-License-Identifier: GPL-2.0
/*
 * Addresses to names. A process's mappings are read when an address is in none
 * of those known; its files are opened through /proc/PID/root, so that those of
 * containers are the right ones. Names stay as the linker has them: who reads the
 * recording demangles them.
 */
#include "symbols.h"

#ifdef GRT_HAVE_BPF

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/keyed.h"
#include "maps.h"

/* Processes kept; further ones push out the oldest. */
#define PROCESSES 64U
/* Files that are known by their place on disk: in several processes they are the same. */
#define FILES 16384U
/* While one parses, nobody takes events out of the buffers: of larger files, the symbols do. */
#define DEBUG_MAX (8U << 20)
/* Lookups between two readings of mappings that did not help. */
#define PATIENCE 256U

/** struct process - @read_again: at which lookup its mappings were last read for a second time */
struct process {
	pid_t pid;
	uint64_t read_again;
};

struct symbols {
	struct grt_symbols *all;
	struct grt_keyed files; /* elements are numbers of objects */
	struct process process[PROCESSES];
	unsigned int next;
	uint64_t lookups;
};

struct symbols *symbols_new(void)
{
	const struct grt_symbols_options options = {
		.debug_max = DEBUG_MAX, .no_separate = true, .linkage = true};
	struct symbols *s = calloc(1, sizeof(*s));

	if (s && grt_symbols_new(&s->all, &options)) {
		free(s);
		return NULL;
	}
	if (s)
		grt_keyed_init(&s->files, sizeof(uint32_t), FILES);
	return s;
}

void symbols_free(struct symbols *s)
{
	if (!s)
		return;
	grt_keyed_free(&s->files);
	grt_symbols_free(s->all);
	free(s);
}

/* The object of a file that a process has mapped, GRT_SYMBOLS_NO_OBJECT: it is none. Return: 0 or -ENOMEM */
static int find_object(struct symbols *s, pid_t pid, const char *path, uint32_t *object)
{
	char full[4400];
	struct stat st;
	void *found;
	int ret;

	*object = GRT_SYMBOLS_NO_OBJECT;
	snprintf(full, sizeof(full), "/proc/%d/root%s", (int)pid, path);
	if (path[0] != '/' || stat(full, &st) || !S_ISREG(st.st_mode))
		return 0;
	ret = grt_keyed_get_or_count(&s->files, &(struct grt_key){{st.st_dev, st.st_ino}}, NULL, &found);
	if (!found)
		return ret;
	*object = *(uint32_t *)found;
	if (*object) {
		/* the process through which it was found first may be gone */
		grt_symbols_reopen(s->all, *object, full);
		return 0;
	}
	ret = grt_symbols_object_as(s->all, path, NULL, full, object);
	*(uint32_t *)found = *object;
	return ret;
}

static int add_mapping(struct symbols *s, pid_t pid, const struct maps_row *row)
{
	struct grt_symbols_mapping m = {.start = row->start, .end = row->end, .offset = row->offset};
	int ret = find_object(s, pid, row->path, &m.object);

	return ret ?: grt_symbols_map(s->all, (uint32_t)pid, &m);
}

static void read_mappings(struct symbols *s, pid_t pid)
{
	struct maps maps = {.from = maps_open(pid)};
	struct maps_row row;
	int ret = 0;

	/* where it has ended, what is known of it stays true for its stacks */
	if (maps.from)
		grt_symbols_unmap(s->all, (uint32_t)pid);
	while (!ret && maps_next(&maps, &row))
		ret = row.code ? add_mapping(s, pid, &row) : 0;
	maps_close(&maps);
}

static struct process *find_process(struct symbols *s, pid_t pid)
{
	struct process *p;

	for (p = s->process; p < s->process + PROCESSES; p++)
		if (p->pid == pid)
			return p;
	p = &s->process[s->next++ % PROCESSES];
	if (p->pid)
		grt_symbols_unmap(s->all, (uint32_t)p->pid);
	*p = (struct process){.pid = pid};
	read_mappings(s, pid);
	return p;
}

void symbols_forget(struct symbols *s, pid_t pid)
{
	for (struct process *p = s->process; p < s->process + PROCESSES; p++) {
		if (p->pid != pid)
			continue;
		grt_symbols_unmap(s->all, (uint32_t)pid);
		*p = (struct process){.pid = 0};
	}
}

/* What was loaded since the mappings were read is looked for once more, but not for every stray address. */
static bool look_up(struct symbols *s, pid_t pid, uint64_t ip)
{
	struct process *p = find_process(s, pid);

	s->lookups++;
	if (grt_symbols_mapped(s->all, (uint32_t)pid, ip))
		return true;
	if (p->read_again && s->lookups - p->read_again < PATIENCE)
		return false;
	p->read_again = s->lookups;
	read_mappings(s, pid);
	return grt_symbols_mapped(s->all, (uint32_t)pid, ip);
}

bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip)
{
	return look_up(s, pid, ip);
}

int symbols_user(struct symbols *s, pid_t pid, uint64_t ip, struct grt_symbols_found *found)
{
	look_up(s, pid, ip);
	return grt_symbols_in_process(s->all, (uint32_t)pid, ip, found);
}

void symbols_read_kernel(struct symbols *s)
{
	grt_symbols_kallsyms(s->all, NULL);
}

int symbols_kernel(struct symbols *s, uint64_t ip, struct grt_symbols_found *found)
{
	return grt_symbols_kernel(s->all, ip, found);
}

#endif /* GRT_HAVE_BPF */
