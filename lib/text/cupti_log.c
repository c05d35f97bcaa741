// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of CUPTI's records as text, see cuda/cupti_records.h and cuda_file.h.
 *
 * Only calls name their process. In a file of several processes, work is of the process of the call with its
 * correlation id; where calls of two have that id, it is of neither.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"
#include "cuda_file.h"

/* Bytes that decide whether a file has this format; output of the program may precede the first record. */
#define HEAD_SEEN (64U << 10)
/* Most correlation ids of a file with several processes. */
#define IDS_MAX (1U << 24)

/**
 * struct caller - the process that called with a correlation id
 * @pid: 0: several processes did
 */
struct caller {
	uint32_t pid;
};

/**
 * struct cupti_log - a file
 * @callers: by correlation id; empty where all calls are of one process
 * @pid: of the first call that has one; @several: there are calls of another
 * @record, @arg: who reads it
 */
struct cupti_log {
	int fd;
	struct grt_keyed callers;
	uint64_t pid;
	bool several;
	bool known;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
};

/* --------------------------------------------------------------- processes */

static int cupti_log_look(void *arg, const struct grt_cupti_record *r)
{
	struct cupti_log *t = arg;

	if (r->kind == GRT_CUPTI_CALL && r->pid && !t->pid)
		t->pid = r->pid;
	t->several |= r->kind == GRT_CUPTI_CALL && r->pid != t->pid;
	return 0;
}

static int cupti_log_learn(void *arg, const struct grt_cupti_record *r)
{
	struct cupti_log *t = arg;
	const struct grt_key key = {{r->correlation}};
	uint32_t before = t->callers.used;
	struct caller *c;
	void *at;
	int ret;

	if (r->kind != GRT_CUPTI_CALL || !r->correlation)
		return 0;
	ret = grt_keyed_get_or_count(&t->callers, &key, NULL, &at);
	c = at;
	if (!c)
		return ret;
	if (t->callers.used > before)
		c->pid = grt_u32(r->pid);
	else if (c->pid != r->pid)
		c->pid = 0;
	return 0;
}

/* Return: 0 or a negative errno */
static int cupti_log_know(struct cupti_log *t)
{
	struct grt_cupti_count count = {0};
	int ret = grt_cupti_text_read(t->fd, &count, cupti_log_look, t);

	if (!ret && t->several)
		ret = grt_cupti_text_read(t->fd, &(struct grt_cupti_count){0}, cupti_log_learn, t);
	t->known = !ret;
	return ret;
}

/* ----------------------------------------------------------------- reading */

/* "cudaLaunchKernel_v7000" has the version in which CUDA's runtime got it so; "_v2" is of the name. */
static struct grt_span cupti_log_call(struct grt_span name)
{
	size_t n = name.len, digits = 0;

	while (digits < n && grt_is_digit(name.at[n - digits - 1]))
		digits++;
	if (digits >= 4 && n > digits + 2 && !memcmp(name.at + n - digits - 2, "_v", 2))
		name.len = n - digits - 2;
	return name;
}

static int cupti_log_record(void *arg, const struct grt_cupti_record *r)
{
	const struct cupti_log *t = arg;
	const struct grt_key key = {{r->correlation}};
	struct grt_cupti_record one = *r;
	const struct caller *c;

	if (r->kind == GRT_CUPTI_CALL)
		one.name = cupti_log_call(r->name);
	else if (!r->pid && !t->several)
		one.pid = t->pid;
	else if (!r->pid && r->correlation && (c = grt_keyed_find(&t->callers, &key)))
		one.pid = c->pid;
	return t->record(t->arg, &one);
}

static int cupti_log_read(void *reader, struct grt_cupti_count *count,
			  int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	struct cupti_log *t = reader;
	int ret = t->known ? 0 : cupti_log_know(t);

	t->record = record;
	t->arg = arg;
	return ret ? ret : grt_cupti_text_read(t->fd, count, cupti_log_record, t);
}

static int cupti_log_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
			   struct grt_err *err)
{
	if (code == -ENODATA)
		return grt_err_set(err, -EINVAL,
				   count->bad ? "its records have no form that is known"
					      : "none of its records is a call or work of a GPU",
				   "grtrace gpuperf -o FILE PROG, which writes such a file",
				   "%s: line %llu: nothing to read", path,
				   (unsigned long long)(count->bad ? count->first_bad : count->lines));
	return code ? grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path) : 0;
}

static void cupti_log_free(void *reader)
{
	struct cupti_log *t = reader;

	grt_keyed_free(&t->callers);
	close(t->fd);
	free(t);
}

static const struct grt_cuda_file_kind cupti_log_kind = {
	.form = "cupti_log",
	.read = cupti_log_read,
	.judge = cupti_log_judge,
	.free = cupti_log_free,
};

/* ----------------------------------------------------------------- opening */

static bool cupti_log_takes(const struct stat *st, const char *head, size_t len)
{
	const char *end = head + (len < HEAD_SEEN ? len : HEAD_SEEN), *next;

	if (!S_ISREG(st->st_mode))
		return false;
	for (const char *line = head; line < end; line = next + 1) {
		next = memchr(line, '\n', (size_t)(end - line)) ?: end;
		if (grt_cupti_text_takes(line, next))
			return true;
	}
	return false;
}

static int cupti_log_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct cupti_log *t = calloc(1, sizeof(*t));
	int ret;

	if (!t)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	grt_keyed_init(&t->callers, sizeof(struct caller), IDS_MAX);
	t->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (t->fd >= 0)
		return grt_cuda_file_open(s, &cupti_log_kind, t, err);
	ret = -errno;
	free(t);
	return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot open", s->path);
}

const struct grt_reader grt_reader_cupti_log = {
	.name = "cupti_log",
	.takes = cupti_log_takes,
	.open = cupti_log_open,
};
