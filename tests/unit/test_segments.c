// SPDX-License-Identifier: GPL-2.0
/*
 * Segments that are deleted while a reader opens the recording: before each of its system calls in turn, the
 * oldest ones are deleted as a recorder does it, first the metadata, then the files. What is read is always
 * all that the recording had at one moment, and no event is missing or counted twice.
 */
#define _GNU_SOURCE 1
#include "collect.h"
#include "trace_maker.h"

#include "trace/segment.h"

#include <dirent.h>
#include <dlfcn.h>
#include <errno.h>
#include <limits.h>
#include <stdio.h>
#include <sys/syscall.h>

#define SEGMENTS 5U
#define EACH 40U
#define CPUS 2U

/**
 * struct recorder - what stands for the recorder
 * @calls: system calls of the reader so far
 * @begin: the metadata is replaced before this call, and the first files are deleted
 * @delay: so many calls later the others are deleted
 * @at_once: segments that are deleted together
 * @for_ever: the metadata is replaced before each call
 * @by_another: a file is deleted, and the metadata stays as it is
 */
static struct recorder {
	char *path;
	bool armed;
	unsigned int calls;
	unsigned int begin;
	unsigned int delay;
	unsigned int at_once;
	bool for_ever;
	bool by_another;
	unsigned int deleted;
	unsigned int removed;
} recorder;

static void recorder_write_metadata(void)
{
	char segments[96], window[128];
	const struct grt_env env[] = {
		{"state", "recording"},
		{"kmod_window", window},
		{"segments", segments},
		{NULL, NULL},
	};
	struct grt_err err;
	int dir = open(recorder.path, O_RDONLY | O_DIRECTORY);

	snprintf(segments, sizeof(segments), "first=%u deleted=%u repeated=0 carried_lost=0",
		 recorder.deleted + 1, recorder.deleted);
	snprintf(window, sizeof(window), "from=%u to=%llu before=0 after=0 deleted=%u",
		 recorder.deleted * EACH * 10, (unsigned long long)UINT64_MAX, recorder.deleted * EACH);
	assert_int_equal(grt_metadata_write(dir, env, 0, &err), 0);
	close(dir);
}

static void recorder_remove(unsigned int segment, unsigned int cpu)
{
	char path[4096], name[GRT_SEGMENT_NAME_MAX];

	grt_segment_name(name, segment);
	if (cpu == CPUS)
		snprintf(path, sizeof(path), "%s/%s", recorder.path, name);
	else
		snprintf(path, sizeof(path), "%s/%s/kmod_%u", recorder.path, name, cpu);
	assert_int_equal(remove(path), 0);
}

static void recorder_remove_rest(void)
{
	while (recorder.removed < recorder.deleted) {
		recorder.removed++;
		/* the first file of the last one went with the metadata */
		for (unsigned int cpu = recorder.removed == recorder.deleted; cpu <= CPUS; cpu++)
			recorder_remove(recorder.removed, cpu);
	}
}

static void recorder_delete(void)
{
	recorder_remove_rest();
	recorder.deleted += recorder.at_once;
	recorder_write_metadata();
	recorder_remove(recorder.deleted, 0);
}

/* Before each system call of the reader. */
static void reader_calls(void)
{
	if (!recorder.armed)
		return;
	recorder.armed = false;
	recorder.calls++;
	if (recorder.for_ever)
		recorder_write_metadata();
	else if (recorder.calls == recorder.begin && recorder.by_another)
		recorder_remove(1, 0);
	else if (recorder.calls == recorder.begin)
		recorder_delete();
	else if (recorder.calls == recorder.begin + recorder.delay)
		recorder_remove_rest();
	recorder.armed = true;
}

/* In place of those of the C library, which the reader would call. */
int openat(int dir, const char *name, int flags, ...)
{
	va_list ap;
	mode_t mode;

	va_start(ap, flags);
	mode = flags & (O_CREAT | __O_TMPFILE) ? va_arg(ap, mode_t) : 0;
	va_end(ap);
	reader_calls();
	return (int)syscall(SYS_openat, dir, name, flags, mode);
}

int fstatat(int dir, const char *restrict name, struct stat *restrict st, int flags)
{
	int (*real)(int, const char *, struct stat *, int) = dlsym(RTLD_NEXT, "fstatat");

	reader_calls();
	return real(dir, name, st, flags);
}

int scandirat(int dir, const char *restrict name, struct dirent ***restrict list,
	      int (*take)(const struct dirent *),
	      int (*compare)(const struct dirent **, const struct dirent **))
{
	__typeof__(&scandirat) real = dlsym(RTLD_NEXT, "scandirat");

	reader_calls();
	return real(dir, name, list, take, compare);
}

/* ------------------------------------------------------------- recording */

static size_t size_of(const char *path)
{
	struct stat st;

	assert_int_equal(stat(path, &st), 0);
	return (size_t)st.st_size;
}

static void copy_part(const char *from, size_t at, const char *to, size_t n)
{
	int in = open(from, O_RDONLY), out = open(to, O_WRONLY | O_CREAT | O_EXCL, 0600);
	char *data = malloc(n);

	assert_int_equal(pread(in, data, n, (off_t)at), n);
	assert_int_equal(write(out, data, n), n);
	free(data);
	close(in);
	close(out);
}

/* One after the other; @at: where the files of whole.grt ended before this segment. */
static void make_segment(const char *dir, struct trace_maker *tm, unsigned int number, size_t at[CPUS])
{
	char from[4096], to[4096], name[GRT_SEGMENT_NAME_MAX];

	grt_segment_name(name, number);
	snprintf(to, sizeof(to), "%s/run.grt/%s", dir, name);
	assert_int_equal(mkdir(to, 0700), 0);
	for (unsigned int i = (number - 1) * EACH; i < number * EACH; i++)
		tm_emit(tm, i % CPUS, start, .e.time = 10ULL * i, .e.seqno = i);
	for (unsigned int cpu = 0; cpu < CPUS; cpu++) {
		tm_flush(tm, cpu, 10ULL * number * EACH);
		snprintf(from, sizeof(from), "%s/whole.grt/kmod_%u", dir, cpu);
		snprintf(to, sizeof(to), "%s/run.grt/%s/kmod_%u", dir, name, cpu);
		copy_part(from, at[cpu], to, size_of(from) - at[cpu]);
		at[cpu] = size_of(from);
	}
}

static void make_recording(const char *dir)
{
	char *whole = path_join(dir, "whole.grt");
	size_t at[CPUS] = {0};
	struct trace_maker *tm = tm_dir(whole, CPUS);

	recorder = (struct recorder){.path = path_join(dir, "run.grt")};
	assert_int_equal(mkdir(recorder.path, 0700), 0);
	for (unsigned int number = 1; number <= SEGMENTS; number++)
		make_segment(dir, tm, number, at);
	tm_close(tm);
	free(whole);
	recorder_write_metadata();
}

/* ---------------------------------------------------------------- reading */

/* Reads it, and compares with what was there before or after the deletion. Return: system calls of the reader
 */
static unsigned int read_beside(unsigned int begin, unsigned int delay, unsigned int at_once)
{
	const struct grt_health *h;
	struct grt_session *s = NULL;
	struct grt_err err;
	char *dir = tm_tmpdir();
	struct collect k = {.e = NULL};
	uint64_t first;
	int ret;

	collect_reset(&k);
	make_recording(dir);
	recorder.begin = begin;
	recorder.delay = delay;
	recorder.at_once = at_once;
	recorder.armed = true;
	ret = grt_session_open(&s, recorder.path, &err);
	recorder.armed = false;
	if (ret)
		fail_msg("%u deleted before call %u: %s: %s", at_once, begin, err.what, err.why);
	recorder_remove_rest();
	assert_int_equal(grt_session_run(s, &k.c, 0, UINT64_MAX, &err), 0);
	h = grt_session_health(s);
	first = h->deleted_segments * EACH;
	assert_true(h->deleted_segments == 0 || h->deleted_segments == at_once);
	assert_int_equal(h->deleted, first);
	assert_int_equal(k.n, SEGMENTS * EACH - first);
	for (size_t i = 0; i < k.n; i++)
		assert_int_equal(k.e[i].seqno, first + i);
	assert_int_equal(h->missing_events, 0);
	assert_int_equal(h->first.what[0], 0);
	grt_session_close(s);
	tm_remove(dir);
	free(recorder.path);
	free(k.e);
	free(k.cpu);
	free(dir);
	return recorder.calls;
}

static void deleted_before_each_call(void **state)
{
	unsigned int undisturbed = read_beside(UINT_MAX, 0, 0);

	assert_true(undisturbed > SEGMENTS * CPUS);
	for (unsigned int at_once = 1; at_once < SEGMENTS; at_once++)
		for (unsigned int begin = 1; begin <= undisturbed; begin++)
			for (unsigned int delay = 0; delay < 4; delay++)
				read_beside(begin, delay, at_once);
}

static void deleted_all_the_time(void **state)
{
	struct grt_session *s = NULL;
	struct grt_err err;
	char *dir = tm_tmpdir();

	make_recording(dir);
	recorder.for_ever = recorder.armed = true;
	assert_int_equal(grt_session_open(&s, recorder.path, &err), -EAGAIN);
	recorder.armed = false;
	assert_null(s);
	assert_string_equal(err.why, "segments are deleted faster than they can be opened");
	tm_remove(dir);
	free(recorder.path);
	free(dir);
}

/* Who deletes a file without the recorder is no reason to open all again. */
static void deleted_by_another(void **state)
{
	struct grt_session *s = NULL;
	struct grt_err err;
	char *dir = tm_tmpdir();

	make_recording(dir);
	/* the metadata, and what looks for segments and their files come before it */
	recorder.begin = 5;
	recorder.by_another = recorder.armed = true;
	assert_int_equal(grt_session_open(&s, recorder.path, &err), -ENOENT);
	recorder.armed = false;
	assert_null(s);
	assert_non_null(strstr(err.what, "run.grt/segment_000001/kmod_0: cannot open"));
	tm_remove(dir);
	free(recorder.path);
	free(dir);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(deleted_before_each_call),
		cmocka_unit_test(deleted_all_the_time),
		cmocka_unit_test(deleted_by_another),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
