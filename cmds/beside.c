// SPDX-License-Identifier: GPL-2.0
/* A second thread that reads, see beside.h. */
#include "beside.h"

#include <dirent.h>
#include <errno.h>
#include <sched.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "base/thread.h"
#include "trace/session.h"

/* A smaller recording is read before a second thread has begun. */
#define LARGE (16U << 20)

/* More than a command has use for is as good as any number. */
#define CORES_MAX 64U

static unsigned int beside_cores(void)
{
	cpu_set_t set;

	CPU_ZERO(&set);
	/* more cores than fit into the set: that is an error */
	if (sched_getaffinity(0, sizeof(set), &set))
		return errno == EINVAL ? CORES_MAX : 1;
	return (unsigned int)CPU_COUNT(&set) < CORES_MAX ? (unsigned int)CPU_COUNT(&set) : CORES_MAX;
}

/* Size of a recording's files in bytes. */
static uint64_t beside_size(const char *path)
{
	DIR *dir = opendir(path);
	struct dirent *d;
	struct stat st;
	uint64_t size = 0;

	if (!dir)
		return stat(path, &st) || !S_ISREG(st.st_mode) ? 0 : (uint64_t)st.st_size;
	while ((d = readdir(dir)))
		if (!fstatat(dirfd(dir), d->d_name, &st, 0) && S_ISREG(st.st_mode))
			size += (uint64_t)st.st_size;
	closedir(dir);
	return size;
}

static unsigned int beside_threads_of(const char *path)
{
	const char *text = getenv("GRTRACE_THREADS");
	char *end;
	unsigned long n = text ? strtoul(text, &end, 10) : 0;

	if (text && *text && !*end && n)
		return n < CORES_MAX ? (unsigned int)n : CORES_MAX;
	return beside_size(path) < LARGE ? 1 : beside_cores();
}

/* Filters learn while they are used, so two threads cannot share them. */
static bool beside_may(struct grt_session *s, const char *path, const struct filter *filter)
{
	uint64_t first, last;

	return strcmp(path, "-") && !grt_filter_any(&filter->f) && !filter->gpu &&
	       !grt_session_health(s)->text.form && grt_session_span(s, &first, &last) != -ESPIPE;
}

unsigned int beside_threads(struct grt_session *s, const char *path, const struct filter *filter)
{
	return beside_may(s, path, filter) ? beside_threads_of(path) : 1;
}

bool beside_open(struct beside *b, struct grt_session *s, const char *path, const struct filter *filter)
{
	struct grt_err err;

	/* perhaps there are too many open files, of which one thread needs only half */
	return beside_threads(s, path, filter) > 1 && !grt_session_open(&b->session, path, &err);
}

int beside_take(struct beside *b, struct grt_analyses *a, unsigned int turns)
{
	int ret;

	b->a.pass = a->pass;
	memcpy(b->a.parts, a->parts, sizeof(a->parts));
	memcpy(b->a.on, a->on, sizeof(a->on));
	grt_analyses_keep(&b->a, turns);
	grt_analyses_keep(a, ~turns);
	ret = grt_analyses_join(&b->a) ?: grt_analyses_begin(&b->a);
	if (!ret)
		grt_analyses_consume(&b->a);
	return ret;
}

static void *beside_run(void *arg)
{
	struct beside *b = arg;
	int ret;

	grt_session_whole(b->session);
	ret = grt_session_run(b->session, &b->a.c, b->from, b->to, &b->err);
	b->ret = ret < 0 ? ret : grt_analyses_finish(&b->a);
	return NULL;
}

void beside_set(struct beside *b, uint64_t from, uint64_t to, const struct reading_span *span)
{
	b->from = from;
	b->to = to;
	grt_analyses_within(&b->a, from, to);
	if (span->known)
		grt_analyses_span(&b->a, span->first, span->last);
}

void beside_begin(struct beside *b)
{
	if (b->begun || !b->a.all[0].analysis)
		return;
	b->begun = true;
	b->runs = grt_thread_start(&b->thread, beside_run, b);
}

int beside_end(struct beside *b, struct grt_analyses *a)
{
	if (!b->a.all[0].analysis)
		return 0;
	if (b->runs)
		pthread_join(b->thread, NULL);
	else if (b->begun)
		beside_run(b);
	else
		b->ret = grt_analyses_finish(&b->a);
	b->runs = false;
	grt_analyses_adopt(a, &b->a);
	return b->ret;
}

void beside_free(struct beside *b)
{
	if (b->runs)
		pthread_join(b->thread, NULL);
	grt_analyses_free(&b->a);
	grt_session_close(b->session);
	memset(b, 0, sizeof(*b));
}
