// SPDX-License-Identifier: GPL-2.0
/*
 * Idle time by cause, with gaps made by hand, to the nanosecond; and whose code the
 * frames of a stack are.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "cuda/launches.h"
#include "idle/idle.h"
#include "idle/submitters.h"
#include "stack/own_code.h"
#include "trace/packet.h"

#define LAUNCH_KERNEL 211

/* Of the analysis of the test that runs. */
static struct grt_launches *joiner;

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	return grt_idleness_work(*(struct grt_idleness **)arg, e, image, launch, how);
}

static void put(struct grt_idleness *x, const struct grt_event *e)
{
	bool image = grt_class_of[e->type] == GRT_CLASS_image;

	if (image)
		assert_int_equal(grt_launches_event(joiner, e), 0);
	assert_int_equal(grt_idleness_event(x, e), 0);
	if (!image)
		assert_int_equal(grt_launches_event(joiner, e), 0);
}

#define PUT(x, NAME, record, when, thread, ...)                           \
	do {                                                              \
		struct grt_ev_##record ev = {.e = {.time = (when),        \
						   .type = GRT_EV_##NAME, \
						   .size = sizeof(ev),    \
						   .pid = 7,              \
						   .tid = (thread)},      \
					     ##__VA_ARGS__};              \
		put(x, &ev.e);                                            \
	} while (0)
#define ASLEEP(x, tid, from, until, to, n, why, ...)                                                 \
	PUT(x, ASLEEP, asleep, to, tid, .start = (from), .woken = (until), .number = (n), .over = 1, \
	    .state = 1, .reason = GRT_THREAD_##why, ##__VA_ARGS__)

/* A stamp that is 0 was not seen. */
static void job(struct grt_idleness *x, uint64_t submit, uint64_t commit, uint64_t start, uint64_t end)
{
	static uint64_t seqno;
	const uint64_t time[GRT_STAMPS] = {submit, commit, start, end, end};
	struct grt_job j = {.ctx = 1, .seqno = ++seqno, .pid = 7, .tid = 7, .ring = 3};

	/* 100 % of them are kept, as a module says that can sample */
	j.sample = 100;
	for (unsigned int i = 0; i < GRT_STAMPS; i++) {
		j.time[i] = time[i];
		j.seen |= (uint8_t)((time[i] > 0) << i);
	}
	assert_int_equal(grt_idleness_job(x, &j), 0);
}

static struct grt_idleness_part part[100];
static unsigned int parts;

static int keep(void *arg, const struct grt_idleness_part *p)
{
	(void)arg;
	if (parts < 100)
		part[parts++] = *p;
	return 0;
}

static struct grt_idleness *begin(void)
{
	const struct grt_idleness_options options = {.part = keep};
	static struct grt_idleness *x;
	const struct grt_launches_sink sink = {.work = on_work, .arg = &x};

	parts = 0;
	assert_int_equal(grt_launches_new(&joiner, &sink), 0);
	grt_launches_outside(joiner, on_work);
	assert_int_equal(grt_idleness_new(&x, joiner, &options), 0);
	grt_idleness_within(x, 1000, UINT64_MAX);
	return x;
}

static void end(struct grt_idleness *x, uint64_t last)
{
	const struct grt_names names = {.used = 0};

	assert_int_equal(grt_idleness_read(x), 0);
	assert_int_equal(grt_launches_flush(joiner), 0);
	assert_int_equal(grt_idleness_end(x, &names, last), 0);
}

static void done(struct grt_idleness *x)
{
	grt_idleness_free(x);
	grt_launches_free(joiner);
}

/* @cause: ns of each, all others are 0. */
static const struct grt_idleness_device *ended(struct grt_idleness *x, uint64_t busy,
					       const uint64_t cause[GRT_IDLE_CAUSES])
{
	const struct grt_idleness_device *d;

	end(x, 10000);
	d = grt_idleness_device(x, 0);
	assert_non_null(d);
	assert_null(grt_idleness_device(x, 1));
	for (unsigned int i = 0; i < GRT_IDLE_CAUSES; i++)
		assert_int_equal(d->cause[i], cause[i]);
	assert_int_equal(d->busy, busy);
	assert_int_equal(d->sampled, 0);
	assert_int_equal(d->busy + grt_idleness_ns(d), 9000);
	return d;
}

#define ENDED(x, busy, ...) ended(x, busy, (const uint64_t[GRT_IDLE_CAUSES]){__VA_ARGS__})

/* In an interval, each part of device 0 begins where the one before ended. */
static void check_parts(uint64_t from, uint64_t to)
{
	for (unsigned int i = 0; i < parts; i++) {
		if (part[i].device || part[i].to <= from || part[i].from >= to)
			continue;
		assert_int_equal(part[i].from > from ? part[i].from : from, from);
		from = part[i].to < to ? part[i].to : to;
	}
	assert_int_equal(from, to);
}

/* What the submitter did, in the order of time, then where the work was. */
static void submitters(void **state)
{
	struct grt_idleness *x = begin();
	const struct grt_idleness_device *d;

	(void)state;
	PUT(x, THREAD, thread, 1100, 7, .what = GRT_THREAD_MADE);
	job(x, 2000, 2010, 2100, 2500);
	ASLEEP(x, 7, 2600, 2900, 3000, 1, LOCK, .waker = 8, .waker_pid = 7, .waker_comm = "holder");
	ASLEEP(x, 7, 3100, 3200, 3200, 2, SLEEP);
	/* taken off the CPU */
	ASLEEP(x, 7, 3300, 0, 3350, 3, RUNNABLE);
	job(x, 3400, 3450, 3500, 4500);
	/* overlaps, and is within the one before */
	job(x, 3500, 3500, 3600, 4000);
	ASLEEP(x, 7, 4400, 4600, 4600, 4, GPU);
	job(x, 5000, 5600, 5600, 10000);
	d = ENDED(x, 400 + 1000 + 4400, [GRT_IDLE_FIRST] = 100, [GRT_IDLE_START] = 900,
		  [GRT_IDLE_SCHEDULER] = 10 + 50 + 600, [GRT_IDLE_QUEUED] = 90 + 50,
		  [GRT_IDLE_RUNNING] = 100 + 100 + 100 + 50 + 400, [GRT_IDLE_LOCK] = 300,
		  [GRT_IDLE_RUNNABLE] = 100 + 50, [GRT_IDLE_SLEEP] = 100, [GRT_IDLE_GPU] = 100);
	assert_false(d->cuda);
	assert_int_equal(d->ring, 3);
	check_parts(2500, 3500);
	done(x);
}

/* Rows: the waker is that of the record; where nobody followed the thread, code is all that is known. */
static void rows(void **state)
{
	const struct grt_idleness_row *const *row;
	struct grt_idleness *x = begin();
	char *sentence;

	(void)state;
	job(x, 1000, 1000, 1000, 2000);
	job(x, 3000, 3000, 3000, 9000);
	ENDED(x, 7000, [GRT_IDLE_CODE] = 1000, [GRT_IDLE_END] = 1000);
	assert_int_equal(grt_idleness_rows(x, &row), 2);
	sentence = grt_idleness_sentence(x, grt_idleness_device(x, 0));
	assert_string_equal(sentence,
			    "ring 3 was busy 77.8 % of 9.00 us. Of 2.00 us idle, 1.00 us passed in code of "
			    "pid 7 before a submit, 1.00 us after its last work. Record with -e sched "
			    "to see what that code did.");
	free(sentence);
	done(x);
}

/* Of a job without a start it is known only that it was there; one without an end had ended when the next
 * began. */
static void unsure(void **state)
{
	struct grt_idleness *x = begin();

	(void)state;
	job(x, 1000, 1000, 1000, 2000);
	job(x, 2500, 2600, 0, 3000);
	job(x, 4000, 4100, 4100, 0);
	job(x, 5000, 5000, 5000, 6000);
	job(x, 7000, 7000, 0, 0);
	ENDED(x, 2000, [GRT_IDLE_CODE] = 500 + 1000 + 1000, [GRT_IDLE_SCHEDULER] = 100 + 100,
	      [GRT_IDLE_UNSURE] = 400 + 900 + 3000);
	assert_int_equal(grt_idleness_device(x, 0)->untimed, 3);
	done(x);
}

/* The first run of a kernel loads its code; what came in another order is put in order. */
static void launches(void **state)
{
	struct grt_idleness *x = begin();

	(void)state;
	PUT(x, LAUNCH, launch, 2100, 7, .begin = 2000, .correlation = 1, .call = LAUNCH_KERNEL);
	PUT(x, LAUNCH, launch, 3100, 7, .begin = 3000, .correlation = 2, .call = LAUNCH_KERNEL);
	PUT(x, LAUNCH, launch, 4050, 7, .begin = 4000, .correlation = 3, .call = LAUNCH_KERNEL);
	PUT(x, GPU_KERNEL, gpu_kernel, 9000, 7, .start = 4080, .end = 5000, .correlation = 3, .name = 2);
	PUT(x, GPU_KERNEL, gpu_kernel, 9000, 7, .start = 3200, .end = 3300, .correlation = 2, .name = 1);
	PUT(x, GPU_KERNEL, gpu_kernel, 9000, 7, .start = 2500, .end = 2600, .correlation = 1, .name = 1);
	PUT(x, GPU_KERNEL, gpu_kernel, 9000, 7, .start = 6000, .end = 7000, .correlation = 9, .name = 1);
	ENDED(x, 920 + 100 + 100 + 1000, [GRT_IDLE_FIRST] = 1000, [GRT_IDLE_QUEUED] = 400 + 100 + 30,
	      [GRT_IDLE_CALL] = 100, [GRT_IDLE_SET_UP] = 100 + 50, [GRT_IDLE_CODE] = 400 + 700,
	      [GRT_IDLE_UNKNOWN] = 1000, [GRT_IDLE_END] = 3000);
	done(x);
}

/* More than waits to be sorted, of a thread that sleeps in each gap. */
static void many(void **state)
{
	const struct grt_idleness_device *d;
	struct grt_idleness *x = begin();

	(void)state;
	for (uint64_t i = 1; i <= 200000; i++) {
		ASLEEP(x, 7, 1000 * i + 300, 1000 * i + 800, 1000 * i + 900, i, SLEEP);
		job(x, 1000 * i + 950, 1000 * i + 960, 1000 * i + 970, 1000 * i + 1100);
	}
	end(x, 1000 * 200001 + 100);
	d = grt_idleness_device(x, 0);
	assert_int_equal(d->busy, 200000 * 130);
	assert_int_equal(d->cause[GRT_IDLE_SLEEP], 199999 * 500);
	assert_int_equal(d->cause[GRT_IDLE_RUNNABLE], 199999 * 100);
	assert_int_equal(d->cause[GRT_IDLE_RUNNING], 199999 * (200 + 50));
	assert_int_equal(grt_idleness_count(x).late, 0);
	done(x);
}

#define SYNCHRONIZE 165

#define CALL(x, from, to, which, id, ...) \
	PUT(x, LAUNCH, launch, to, 7, .begin = (from), .correlation = (id), .call = (which), ##__VA_ARGS__)
#define KERNEL(x, from, to, id, ...)                                                                        \
	PUT(x, GPU_KERNEL, gpu_kernel, to, 7, .start = (from), .end = (to), .correlation = (id), .name = 1, \
	    ##__VA_ARGS__)

/*
 * 1000 to 2000 the GPU works; the CPU waits for it until 2100, computes until 2400, calls; it works at 2450.
 * Work of another stream at the same time is no gap.
 */
static void calls(void **state)
{
	struct grt_idleness *x = begin();

	(void)state;
	CALL(x, 900, 910, LAUNCH_KERNEL, 1);
	KERNEL(x, 1000, 2000, 1);
	CALL(x, 950, 2100, SYNCHRONIZE, 2);
	CALL(x, 2400, 2410, LAUNCH_KERNEL, 3);
	/* out of order: they are sorted */
	KERNEL(x, 2550, 2600, 4);
	CALL(x, 2420, 2430, LAUNCH_KERNEL, 4);
	KERNEL(x, 2450, 2500, 3);
	/* its launch is not in the trace */
	KERNEL(x, 2700, 2800, 99);
	CALL(x, 2431, 2432, LAUNCH_KERNEL, 5);
	KERNEL(x, 2790, 2900, 5, .cuda_stream = 9);
	/* of the gap before 2550 the work had been asked for */
	ENDED(x, 1300, [GRT_IDLE_GPU] = 100, [GRT_IDLE_CODE] = 300, [GRT_IDLE_CALL] = 10,
	      [GRT_IDLE_QUEUED] = 40 + 50, [GRT_IDLE_UNKNOWN] = 100, [GRT_IDLE_END] = 7100);
	done(x);
}

/* Parts of one call are one row; calls without a name are another one. */
static void many_calls(void **state)
{
	const struct grt_idleness_row *const *row;
	struct grt_idleness *x = begin();
	uint32_t n, waits = 0, nameless = 0;

	(void)state;
	CALL(x, 990, 995, LAUNCH_KERNEL, 1);
	KERNEL(x, 1000, 1100, 1);
	for (unsigned int i = 0; i < 10; i++)
		CALL(x, 2000 + 100 * i, 2030 + 100 * i, i % 2 ? SYNCHRONIZE : 2000 + i, 1000 + i);
	CALL(x, 3500, 3510, LAUNCH_KERNEL, 2);
	KERNEL(x, 3600, 10000, 2);
	ENDED(x, 100 + 6400, [GRT_IDLE_CALL] = 5 * 30 + 10, [GRT_IDLE_GPU] = 5 * 30,
	      [GRT_IDLE_CODE] = 2400 - 300, [GRT_IDLE_QUEUED] = 90);
	n = grt_idleness_rows(x, &row);
	for (uint32_t i = 0; i < n; i++) {
		if (row[i]->parts != 5)
			continue;
		assert_int_equal(row[i]->ns, 5 * 30);
		assert_int_equal(row[i]->max, 30);
		waits += row[i]->cause == GRT_IDLE_GPU && !strcmp(row[i]->call, "cudaDeviceSynchronize");
		nameless += row[i]->cause == GRT_IDLE_CALL && !row[i]->call;
	}
	assert_int_equal(waits, 1);
	assert_int_equal(nameless, 1);
	done(x);
}

/* More stacks than have rows: the time of the others is in the row of its cause, and both are counted. */
static void many_stacks(void **state)
{
	const struct grt_idleness_device *d;
	struct grt_idleness *x = begin();

	(void)state;
	for (uint32_t i = 1; i <= GRT_IDLE_ROWS_MAX + 4465; i++) {
		CALL(x, 100ULL * i, 100ULL * i + 1, LAUNCH_KERNEL, i, .node = i);
		KERNEL(x, 100ULL * i + 10, 100ULL * i + 40, i);
	}
	end(x, 100ULL * (GRT_IDLE_ROWS_MAX + 4465) + 40);
	d = grt_idleness_device(x, 0);
	assert_int_equal(d->cause[GRT_IDLE_CODE], (GRT_IDLE_ROWS_MAX + 4464 - 9) * 60ULL);
	assert_true(grt_idleness_count(x).unplaced >= 4000);
	done(x);
}

/* More threads than are remembered: what they did is not known, and counted. */
static void many_threads(void **state)
{
	const struct grt_idleness_device *d;
	struct grt_idleness *x = begin();

	(void)state;
	for (uint32_t i = 1; i <= GRT_SUBMITTERS_MAX + 4; i++) {
		PUT(x, LAUNCH, launch, 1000 + 100ULL * i + 1, 100 + i, .begin = 1000 + 100ULL * i,
		    .correlation = i, .call = LAUNCH_KERNEL);
		KERNEL(x, 1000 + 100ULL * i + 10, 1000 + 100ULL * i + 40, i);
	}
	end(x, 1000 + 100ULL * (GRT_SUBMITTERS_MAX + 4) + 40);
	d = grt_idleness_device(x, 0);
	assert_int_equal(d->cause[GRT_IDLE_CODE] + d->cause[GRT_IDLE_UNKNOWN],
			 (GRT_SUBMITTERS_MAX + 3) * 60ULL);
	assert_int_equal(grt_idleness_count(x).threads_over, 4);
	done(x);
}

static void place_is(const struct grt_code_frame *frame, uint32_t n, int64_t at)
{
	struct grt_own_place p = {.seen = false};

	for (uint32_t i = 0; i < n; i++)
		grt_own_place_see(&p, &frame[i], i);
	assert_int_equal(p.found ? (int64_t)p.at : -1, at);
}

/* The outermost code that is the user's own, and in it the frame that left it. */
static void own_code(void **state)
{
	static const struct grt_code_frame python[] = {
		{.function = "__libc_start_main", .module = "/usr/lib/libc.so.6"},
		{.function = "main", .module = "/usr/bin/python3.13"},
		{.function = "<module>", .source = "/home/u/train.py"},
		{.function = "_PyEval_EvalFrameDefault", .module = "/usr/lib/libpython3.13.so.1.0"},
		{.function = "main", .source = "/home/u/train.py"},
		{.function = "_call_impl",
		 .source = "/home/u/v/lib/python3.13/site-packages/torch/nn/module.py"},
		{.function = "forward", .source = "/home/u/model.py"},
		{.function = "at::native::mm", .module = "/x/site-packages/torch/lib/libtorch_cpu.so"},
	};
	static const struct grt_code_frame c[] = {
		{.function = "_start"}, {.function = "__libc_start_call_main"}, {.function = "main"},
		{.function = "draw"},	{.function = "libGL.so+0x7"},		{.function = "callback"},
	};
	/* The C library is a file of its own: names say nothing of code in other files. */
	static const struct grt_code_frame dynamic[] = {
		{.function = "_start", .module = "/home/u/app"},
		{.function = "__libc_start_main", .module = "/usr/lib/libc.so.6"},
		{.function = "main", .module = "/home/u/app"},
		{.function = "poll_events", .module = "/home/u/app"},
		{.function = "read", .module = "/home/u/app"},
		{.function = "read", .module = "/usr/lib/libc.so.6"},
	};
	static const struct grt_code_frame linked[] = {
		{.function = "_start", .module = "/home/u/app"},
		{.function = "__libc_start_main", .module = "/home/u/app"},
		{.function = "main", .module = "/home/u/app"},
		{.function = "read", .module = "/home/u/app"},
	};
	/* As Debian's programs are: the entry has no name. */
	static const struct grt_code_frame stripped[] = {
		{.function = "kmscube+0x5339", .module = "/usr/bin/kmscube"},
		{.function = "__libc_start_main", .module = "/usr/lib/libc.so.6"},
		{.function = "libc.so.6+0x27249", .module = "/usr/lib/libc.so.6"},
		{.function = "kmscube+0x3d21", .module = "/usr/bin/kmscube"},
		{.function = "kmscube+0x4c10", .module = "/usr/bin/kmscube"},
		{.function = "libEGL_mesa.so.0+0x1f2a", .module = "/usr/lib/libEGL_mesa.so.0"},
		{.function = "kmscube+0x4000", .module = "/usr/bin/kmscube"},
	};
	static const struct grt_code_frame none[] = {{.function = "start_thread"}, {.function = "poll"}};

	(void)state;
	place_is(python, 8, 4);
	place_is(c, 6, 3);
	place_is(dynamic, 6, 4);
	place_is(linked, 4, 2);
	place_is(stripped, 7, 4);
	place_is(none, 2, -1);
	assert_string_equal(grt_code_set_up(&(struct grt_code_frame){.function = "ncclCommInitRankDev"}),
			    "NCCL set-up");
	assert_null(grt_code_set_up(&python[4]));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(submitters),	cmocka_unit_test(rows),	      cmocka_unit_test(unsure),
		cmocka_unit_test(launches),	cmocka_unit_test(many),	      cmocka_unit_test(own_code),
		cmocka_unit_test(calls),	cmocka_unit_test(many_calls), cmocka_unit_test(many_stacks),
		cmocka_unit_test(many_threads),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
