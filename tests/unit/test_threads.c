// SPDX-License-Identifier: GPL-2.0
/*
 * What the time of threads went to: lives cut into pieces to the nanosecond, what
 * a call of CUDA turns them into, what is lost; the same as stacks of a flame graph.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "threads/threads.h"
#include "threads/wall_flame.h"

#define SYNCHRONIZE 165
#define MEMCPY 31
#define LAUNCH_KERNEL 211

/** struct both - one trace, taken in by both analyses */
struct both {
	struct grt_threads *threads;
	struct grt_wall_flame *flame;
};

static void begin(struct both *b, uint64_t from)
{
	assert_int_equal(grt_threads_new(&b->threads, NULL), 0);
	grt_threads_from(b->threads, from);
	assert_int_equal(grt_wall_flame_new(&b->flame, from, NULL, false), 0);
}

static void end(struct both *b)
{
	grt_threads_free(b->threads);
	grt_wall_flame_free(b->flame);
}

static void put(struct both *b, const struct grt_event *e)
{
	assert_int_equal(grt_threads_event(b->threads, e), 0);
	assert_int_equal(grt_wall_flame_event(b->flame, e), 0);
}

#define PUT(b, NAME, record, when, thread, ...)                           \
	do {                                                              \
		struct grt_ev_##record ev = {.e = {.time = (when),        \
						   .type = GRT_EV_##NAME, \
						   .size = sizeof(ev),    \
						   .pid = 7,              \
						   .tid = (thread)},      \
					     ##__VA_ARGS__};              \
		put(b, &ev.e);                                            \
	} while (0)
#define THREAD(b, when, tid, is, ...) \
	PUT(b, THREAD, thread, when, tid, .what = GRT_THREAD_##is, ##__VA_ARGS__)
#define OFF(b, tid, from, to, n, why, ...)                                           \
	PUT(b, OFF_CPU, off_cpu, to, tid, .start = (from), .number = (n), .over = 1, \
	    .reason = GRT_THREAD_##why, ##__VA_ARGS__)
#define UNSEEN(b, tid, from, back, to, n, why)                                             \
	PUT(b, OFF_CPU, off_cpu, to, tid, .start = (from), .woken = (back), .number = (n), \
	    .reason = GRT_THREAD_##why, .e.flags = GRT_FLAG_INFERRED)
#define SAMPLE(b, tid, when, stack) PUT(b, SAMPLE, sample, when, tid, .user = (stack))
#define CALL(b, tid, from, to, which) PUT(b, LAUNCH, launch, to, tid, .begin = (from), .call = (which))

static void name(struct both *b, uint32_t tid, const char *comm)
{
	struct grt_ev_name n = {.e = {.type = GRT_EV_NAME, .size = sizeof(n)}, .kind = GRT_NAME_THREAD};

	n.id = tid;
	snprintf(n.name, sizeof(n.name), "%s", comm);
	snprintf(n.owner, sizeof(n.owner), "app");
	put(b, &n.e);
}

static void frame(struct both *b, uint32_t stack, const char *function)
{
	struct grt_ev_frame f = {
		.e = {.type = GRT_EV_FRAME, .size = sizeof(f)}, .stack = stack, .index = 0, .depth = 1};

	snprintf(f.symbol, sizeof(f.symbol), "%s", function);
	put(b, &f.e);
}

/* What is known of a thread; its sums are its life. */
static void has(struct both *b, uint32_t number, uint64_t first, uint64_t last, const uint64_t *ns)
{
	const struct grt_thread *t;
	uint64_t sum = 0;

	assert_int_equal(grt_threads_flush(b->threads), 0);
	t = grt_threads_at(b->threads, number);
	assert_non_null(t);
	assert_int_equal(t->first, first);
	assert_int_equal(t->last, last);
	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++) {
		assert_int_equal(t->ns[i], ns[i]);
		sum += t->ns[i];
	}
	assert_int_equal(sum, last - first);
}

#define HAS(b, number, first, last, ...) \
	has(b, number, first, last, (const uint64_t[GRT_THREAD_STATES]){__VA_ARGS__})

/* Made, ready, runs, sleeps, is woken, runs, is taken off, runs, ends. */
static void life(void **state)
{
	const struct grt_thread *t;
	struct both b;

	(void)state;
	begin(&b, 0);
	name(&b, 8, "worker");
	THREAD(&b, 100, 8, MADE, .parent = 7);
	OFF(&b, 8, 100, 110, 1, RUNNABLE);
	OFF(&b, 8, 150, 270, 2, SLEEP, .woken = 250);
	OFF(&b, 8, 300, 350, 3, RUNNABLE);
	OFF(&b, 8, 360, 365, 4, IO);
	OFF(&b, 8, 370, 375, 5, LOCK, .woken = 375);
	THREAD(&b, 400, 8, ENDED, .number = 5);
	HAS(&b, 0, 100, 400, [GRT_THREAD_RUNNING] = 40 + 30 + 10 + 5 + 25, [GRT_THREAD_SLEEP] = 100,
	    [GRT_THREAD_RUNNABLE] = 10 + 20 + 50, [GRT_THREAD_IO] = 5, [GRT_THREAD_LOCK] = 5);
	t = grt_threads_at(b.threads, 0);
	assert_true(t->made && t->ended);
	assert_int_equal(t->intervals, 5);
	assert_int_equal(t->taken_off, 2);
	assert_int_equal(t->delay_max, 50);
	assert_int_equal(t->lost, 0);
	assert_string_equal(grt_names_name(grt_threads_names(b.threads), t->name), "worker");
	assert_null(grt_threads_at(b.threads, 1));
	end(&b);
}

/* Without its beginning; still running, or asleep, when the recording ends. */
static void cut_off(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 0);
	THREAD(&b, 100, 8, SEEN_OFF);
	OFF(&b, 9, 50, 120, 77, IO);
	OFF(&b, 8, 100, 130, 1, LOCK);
	THREAD(&b, 200, 8, LEFT_ON, .number = 1);
	OFF(&b, 9, 150, 200, 78, SLEEP);
	HAS(&b, 0, 100, 200, [GRT_THREAD_LOCK] = 30, [GRT_THREAD_RUNNING] = 70);
	HAS(&b, 1, 50, 200, [GRT_THREAD_IO] = 70, [GRT_THREAD_RUNNING] = 30, [GRT_THREAD_SLEEP] = 50);
	assert_false(grt_threads_at(b.threads, 0)->ended);
	end(&b);
}

/* What --from cuts. */
static void from(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 100);
	OFF(&b, 8, 50, 120, 2, IO);
	OFF(&b, 9, 50, 120, 2, IO, .woken = 90);
	HAS(&b, 0, 100, 120, [GRT_THREAD_IO] = 20);
	HAS(&b, 1, 100, 120, [GRT_THREAD_RUNNABLE] = 20);
	end(&b);
}

/* What was before the time says what threads did at its begin, and counts nowhere. */
static void before(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 100);
	THREAD(&b, 10, 8, SEEN_ON);
	OFF(&b, 8, 20, 30, 1, RUNNABLE);
	OFF(&b, 8, 40, 50, 3, IO);
	PUT(&b, SAMPLE, sample, 60, 8, .user = 1);
	/* runs from before */
	OFF(&b, 8, 130, 140, 4, LOCK);
	/* is off the CPU from before */
	THREAD(&b, 10, 9, SEEN_ON);
	OFF(&b, 9, 90, 170, 1, IO);
	/* ended before */
	THREAD(&b, 10, 10, SEEN_ON);
	THREAD(&b, 80, 10, ENDED);
	/* runs all the time */
	THREAD(&b, 10, 11, SEEN_ON);
	THREAD(&b, 200, 8, ENDED, .number = 4);
	THREAD(&b, 200, 9, LEFT_ON, .number = 1);
	THREAD(&b, 200, 11, LEFT_ON);
	HAS(&b, 0, 100, 200, [GRT_THREAD_RUNNING] = 30 + 60, [GRT_THREAD_LOCK] = 10);
	HAS(&b, 1, 100, 200, [GRT_THREAD_IO] = 70, [GRT_THREAD_RUNNING] = 30);
	HAS(&b, 3, 100, 200, [GRT_THREAD_RUNNING] = 100);
	assert_int_equal(grt_threads_at(b.threads, 0)->intervals, 1);
	assert_int_equal(grt_threads_at(b.threads, 0)->taken_off, 0);
	assert_int_equal(grt_threads_at(b.threads, 0)->samples, 0);
	assert_int_equal(grt_threads_at(b.threads, 0)->lost, 0);
	assert_true(grt_threads_at(b.threads, 2)->gone);
	assert_int_equal(grt_threads_count(b.threads).lost, 0);
	end(&b);
}

/* A gap in the numbers makes what is around it unknown, no more. */
static void lost(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 0);
	THREAD(&b, 100, 8, MADE);
	OFF(&b, 8, 100, 110, 1, RUNNABLE);
	OFF(&b, 8, 150, 160, 4, LOCK);
	OFF(&b, 8, 170, 180, 5, UNKNOWN);
	THREAD(&b, 200, 8, ENDED, .number = 6);
	HAS(&b, 0, 100, 200, [GRT_THREAD_RUNNABLE] = 10, [GRT_THREAD_UNKNOWN] = 40 + 10 + 20,
	    [GRT_THREAD_LOCK] = 10, [GRT_THREAD_RUNNING] = 10);
	assert_int_equal(grt_threads_at(b.threads, 0)->lost, 3);
	assert_int_equal(grt_threads_count(b.threads).lost, 3);
	end(&b);
}

/* Stamps that overlap, as another clock or a broken trace would have them: the sum stays. */
static void broken(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 0);
	THREAD(&b, 100, 8, MADE);
	OFF(&b, 8, 90, 150, 1, IO, .woken = 20);
	OFF(&b, 8, 140, 145, 2, LOCK);
	OFF(&b, 8, 130, 180, 3, SLEEP, .woken = 999);
	PUT(&b, OFF_CPU, off_cpu, 200, 8, .start = 190, .number = 4, .reason = 1000);
	HAS(&b, 0, 100, 200, [GRT_THREAD_IO] = 50, [GRT_THREAD_SLEEP] = 30, [GRT_THREAD_RUNNING] = 10,
	    [GRT_THREAD_UNKNOWN] = 10);
	end(&b);
}

/* A number is used again, also by another process. */
static void reused(void **state)
{
	const struct grt_ev_thread other = {
		.e = {.time = 300, .type = GRT_EV_THREAD, .size = sizeof(other), .pid = 9, .tid = 8},
		.what = GRT_THREAD_NAMED};
	struct both b;

	(void)state;
	begin(&b, 0);
	name(&b, 8, "first");
	THREAD(&b, 100, 8, MADE);
	THREAD(&b, 110, 8, ENDED);
	name(&b, 8, "second");
	THREAD(&b, 200, 8, MADE);
	OFF(&b, 8, 200, 205, 1, RUNNABLE);
	put(&b, &other.e);
	HAS(&b, 0, 100, 110, [GRT_THREAD_RUNNING] = 10);
	HAS(&b, 1, 200, 205, [GRT_THREAD_RUNNABLE] = 5);
	assert_int_equal(grt_threads_at(b.threads, 2)->pid, 9);
	assert_string_equal(grt_names_name(grt_threads_names(b.threads), grt_threads_at(b.threads, 0)->name),
			    "first");
	end(&b);
}

/* A call that waits: asleep in it is waiting for the GPU, running in it is polling. */
static void cuda(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 0);
	THREAD(&b, 0, 8, SEEN_ON);
	OFF(&b, 8, 10, 20, 1, LOCK);
	PUT(&b, PROCESS, process, 25, 8, .what = 1);
	OFF(&b, 8, 100, 110, 2, LOCK);
	CALL(&b, 8, 120, 130, LAUNCH_KERNEL);
	OFF(&b, 8, 140, 150, 3, LOCK);
	SAMPLE(&b, 8, 155, 1);
	SAMPLE(&b, 8, 165, 1);
	OFF(&b, 8, 170, 180, 4, IO, .woken = 178);
	SAMPLE(&b, 8, 185, 1);
	CALL(&b, 8, 160, 200, SYNCHRONIZE);
	OFF(&b, 8, 210, 220, 5, LOCK);
	CALL(&b, 8, 205, 230, MEMCPY);
	OFF(&b, 8, 240, 250, 6, LOCK);
	/* by stamps of another clock it fell asleep before the call, and was awake after its begin */
	OFF(&b, 8, 260, 280, 7, LOCK);
	CALL(&b, 8, 263, 285, SYNCHRONIZE);
	OFF(&b, 8, 288, 294, 8, LOCK);
	CALL(&b, 8, 292, 296, SYNCHRONIZE);
	THREAD(&b, 300, 8, ENDED, .number = 8);
	HAS(&b, 0, 0, 300, [GRT_THREAD_POLLING] = 10 + 20 + 5 + 2, [GRT_THREAD_GPU] = 8 + 10 + 20,
	    [GRT_THREAD_RUNNABLE] = 2, [GRT_THREAD_LOCK] = 10 + 10 + 10 + 10 + 6,
	    [GRT_THREAD_RUNNING] = 10 + 80 + 20 + 10 + 10 + 10 + 10 + 10 + 10 + 3 + 4);
	assert_int_equal(grt_threads_at(b.threads, 0)->samples, 3);
	end(&b);
}

/*
 * Nobody saw two returns to the CPU: the records come when the thread leaves it again, behind the calls it
 * made, one of which had begun before the sleep. By hand: 0-50 ran; 50-200 slept, in a call that waits from
 * 40 to 230; 200-220 waited for a CPU; 220-230 polled; 230-300 ran, with a launch; 300-320 was off, and
 * 320-400 ran.
 */
static void unseen(void **state)
{
	struct both b;

	(void)state;
	begin(&b, 0);
	THREAD(&b, 0, 8, SEEN_ON);
	PUT(&b, PROCESS, process, 0, 8, .what = 1);
	CALL(&b, 8, 20, 25, SYNCHRONIZE);
	CALL(&b, 8, 40, 230, SYNCHRONIZE);
	CALL(&b, 8, 240, 245, LAUNCH_KERNEL);
	UNSEEN(&b, 8, 50, 200, 299, 1, SLEEP);
	UNSEEN(&b, 8, 200, 220, 299, 2, RUNNABLE);
	CALL(&b, 8, 350, 360, LAUNCH_KERNEL);
	UNSEEN(&b, 8, 300, 320, 400, 3, RUNNABLE);
	THREAD(&b, 400, 8, ENDED, .number = 3);
	HAS(&b, 0, 0, 400, [GRT_THREAD_GPU] = 150, [GRT_THREAD_RUNNABLE] = 20 + 20,
	    [GRT_THREAD_POLLING] = 5 + 10 + 10, [GRT_THREAD_RUNNING] = 20 + 15 + 70 + 80);
	assert_int_equal(grt_threads_at(b.threads, 0)->intervals, 2);
	assert_int_equal(grt_threads_at(b.threads, 0)->taken_off, 1);
	assert_int_equal(grt_threads_count(b.threads).unseen, 2);
	end(&b);
}

/* A process of which CUDA tells, and that makes no call for long: it is bounded, and counted. */
static void no_calls(void **state)
{
	uint64_t n = GRT_THREADS_WAITING, t = 0;
	struct both b;

	(void)state;
	begin(&b, 0);
	PUT(&b, PROCESS, process, 0, 7, .what = 1);
	THREAD(&b, 0, 8, SEEN_ON);
	for (uint64_t i = 1; i <= n; i++, t += 10)
		OFF(&b, 8, t + 6, t + 10, i, LOCK);
	assert_int_equal(grt_threads_count(b.threads).unsure, n);
	HAS(&b, 0, 0, t, [GRT_THREAD_RUNNING] = 6 * n, [GRT_THREAD_LOCK] = 4 * n);
	end(&b);
}

/* Many threads and many records of processes, each in a time that does not grow with the other. */
static void many_processes(void **state)
{
	enum { THREADS = 100000, SECONDS = 5 };
	clock_t begun;
	struct both b;

	(void)state;
	assert_int_equal(grt_threads_new(&b.threads, NULL), 0);
	for (uint32_t i = 0; i < THREADS; i++) {
		struct grt_ev_off_cpu e = {.e = {.time = 10, .type = GRT_EV_OFF_CPU, .size = sizeof(e)},
					   .start = 5,
					   .number = 1,
					   .reason = GRT_THREAD_LOCK};

		e.e.pid = e.e.tid = 1 + i;
		assert_int_equal(grt_threads_event(b.threads, &e.e), 0);
	}
	begun = clock();
	for (uint32_t i = 0; i < THREADS; i++) {
		struct grt_ev_process e = {
			.e = {.time = 20, .type = GRT_EV_PROCESS, .size = sizeof(e), .pid = 7}, .what = 2};

		assert_int_equal(grt_threads_event(b.threads, &e.e), 0);
	}
	assert_in_range(clock() - begun, 0, SECONDS * CLOCKS_PER_SEC);
	grt_threads_free(b.threads);
}

/* Writes "text weight" lines of the tree. */
static int print(void *arg, const struct grt_stacks_step *at)
{
	struct {
		struct grt_stacks *tree;
		char text[2048];
	} *out = arg;
	char path[256] = "";
	size_t len;

	if (!grt_stacks_weight(out->tree, at->node, GRT_STACKS_NOW))
		return 0;
	for (uint32_t n = at->node; n; n = grt_stacks_node(out->tree, n)->parent) {
		const char *text = grt_stacks_text(out->tree, grt_stacks_node(out->tree, n)->name, &len);
		char more[256];
		int bytes =
			snprintf(more, sizeof(more), "%.*s%s%s", (int)len, text, path[0] ? ";" : "", path);

		assert_in_range(bytes, 0, sizeof(more) - 1);
		memcpy(path, more, sizeof(path));
	}
	len = strlen(out->text);
	snprintf(out->text + len, sizeof(out->text) - len, "%s %llu\n", path,
		 (unsigned long long)grt_stacks_weight(out->tree, at->node, GRT_STACKS_NOW));
	return 0;
}

static void folds_to(struct both *b, enum grt_flame_by by, const char *text)
{
	struct {
		struct grt_stacks *tree;
		char text[2048];
	} out = {.text = ""};
	uint64_t *sum;

	assert_int_equal(grt_stacks_new(&out.tree), 0);
	assert_int_equal(
		grt_wall_flame_tree(b->flame, &(struct grt_flame_shape){.by = by}, out.tree, GRT_STACKS_NOW),
		0);
	assert_int_equal(grt_stacks_sums(out.tree, GRT_STACKS_NOW, &sum), 0);
	assert_int_equal(grt_stacks_walk(out.tree, sum, 0, print, &out), 0);
	assert_string_equal(out.text, text);
	free(sum);
	grt_stacks_free(out.tree);
}

static void threads_of_a_flame(struct both *b)
{
	name(b, 8, "worker");
	name(b, 9, "other");
	frame(b, 1, "spin");
	frame(b, 2, "read");
	frame(b, 3, "[k]");
	THREAD(b, 100, 8, MADE);
	THREAD(b, 100, 9, MADE);
	SAMPLE(b, 8, 105, 1);
	SAMPLE(b, 8, 106, 2);
	SAMPLE(b, 8, 107, 1);
	OFF(b, 8, 110, 150, 1, IO, .user = 2, .kernel = 3, .woken = 140);
	THREAD(b, 160, 8, ENDED, .number = 1);
	THREAD(b, 107, 9, ENDED);
}

/* 20 ns for three samples: 13, and 7 with what did not divide. */
static void flame(void **state)
{
	struct grt_wall_count n;
	struct both b;

	(void)state;
	begin(&b, 0);
	threads_of_a_flame(&b);
	folds_to(&b, GRT_FLAME_BY_NONE,
		 "app;other (9);[not sampled];[running] 7\n"
		 "app;worker (8);read;[k];[io] 30\n"
		 "app;worker (8);read;[k];[runnable] 10\n"
		 "app;worker (8);read;[running] 7\n"
		 "app;worker (8);spin;[running] 13\n");
	n = grt_wall_flame_count(b.flame);
	assert_int_equal(n.threads, 2);
	assert_int_equal(n.samples, 3);
	assert_int_equal(n.not_sampled_ns, 7);
	assert_int_equal(n.no_stack_ns, 0);
	assert_int_equal(n.ns[GRT_THREAD_RUNNING], 27);
	end(&b);
	begin(&b, 0);
	threads_of_a_flame(&b);
	folds_to(&b, GRT_FLAME_BY_PROCESS,
		 "app;[not sampled];[running] 7\n"
		 "app;read;[k];[io] 30\n"
		 "app;read;[k];[runnable] 10\n"
		 "app;read;[running] 7\n"
		 "app;spin;[running] 13\n");
	end(&b);
}

#define WORK(b, from, until, in, text)                                                         \
	PUT(b, GPU_KERNEL, gpu_kernel, 2000, 0, .start = (from), .end = (until), .context = 1, \
	    .name = (text), .cuda_stream = (in))
#define SYNC(b, tid, from, to, which, of, ...)                                                            \
	do {                                                                                              \
		PUT(b, LAUNCH, launch, to, tid, .begin = (from), .call = SYNCHRONIZE,                     \
		    .correlation = (which));                                                              \
		PUT(b, GPU_SYNC, gpu_sync, to, tid, .start = (from), .end = (to), .correlation = (which), \
		    .kind = (of), .context = 1, ##__VA_ARGS__);                                           \
	} while (0)

static void kernel_name(struct both *b, uint32_t number, const char *text)
{
	struct grt_ev_string s = {.e = {.type = GRT_EV_STRING, .size = sizeof(s), .pid = 7},
				  .number = number,
				  .length = (uint32_t)strlen(text),
				  .part = (uint32_t)strlen(text)};

	snprintf(s.text, sizeof(s.text), "%s", text);
	put(b, &s.e);
}

/*
 * A thread waits for stream 5 from 110 to 190, for its context from 210 to 290, and in no call from 310 to
 * 340. Stream 5 has a from 100 to 130 and from 150 to 160, and nothing else until 240; stream 6 has b from
 * 120 to 250; both run at 330. What is asleep in a copy from 410 to 490 waits for the copy, in stream 6, and
 * for what else is in its context. Work of another process is nobody's.
 */
static void gpu_waits(void **state)
{
	struct grt_ev_gpu_kernel other = {
		.e = {.time = 2000, .type = GRT_EV_GPU_KERNEL, .size = sizeof(other), .pid = 70},
		.start = 1,
		.end = 1999};
	struct grt_wall_count n;
	struct both b;

	(void)state;
	begin(&b, 0);
	name(&b, 8, "main");
	PUT(&b, PROCESS, process, 0, 7, .what = 1);
	kernel_name(&b, 1, "a");
	kernel_name(&b, 2, "b");
	THREAD(&b, 100, 8, MADE);
	OFF(&b, 8, 110, 190, 1, SLEEP);
	SYNC(&b, 8, 105, 195, 1, 3, .cuda_stream = 5);
	OFF(&b, 8, 210, 290, 2, SLEEP);
	SYNC(&b, 8, 205, 295, 2, 4, .cuda_stream = UINT32_MAX);
	OFF(&b, 8, 310, 340, 3, GPU);
	OFF(&b, 8, 410, 490, 4, SLEEP);
	PUT(&b, LAUNCH, launch, 495, 8, .begin = 405, .call = MEMCPY, .correlation = 3);
	THREAD(&b, 500, 8, ENDED, .number = 4);
	WORK(&b, 100, 130, 5, 1);
	WORK(&b, 150, 160, 5, 1);
	WORK(&b, 240, 270, 5, 1);
	WORK(&b, 120, 250, 6, 2);
	WORK(&b, 325, 330, 5, 1);
	WORK(&b, 328, 335, 6, 2);
	WORK(&b, 400, 440, 5, 1);
	WORK(&b, 430, 450, 6, 2);
	PUT(&b, GPU_COPY, gpu_copy, 2000, 0, .start = 450, .end = 470, .kind = 2, .context = 1,
	    .cuda_stream = 6, .correlation = 3);
	put(&b, &other.e);
	/* the stream's wait: 20 + 10 of a; the context's: 40 of b, then 20 of a; in no call: 5 of a, 5 of b;
	 * the copy's: 20 of b and 20 of the copy in its stream, and before them 20 of a */
	folds_to(&b, GRT_FLAME_BY_PROCESS,
		 "app;[gpu] 110\n"
		 "app;[gpu];[GPU_Kernel]a 75\n"
		 "app;[gpu];[GPU_Kernel]b 65\n"
		 "app;[gpu];[GPU_Memcpy DtoH] 20\n"
		 "app;[not sampled];[polling] 20\n"
		 "app;[not sampled];[running] 110\n");
	n = grt_wall_flame_count(b.flame);
	assert_int_equal(n.gpu_work_ns, 160);
	assert_int_equal(n.waits.late, 0);
	assert_int_equal(n.ns[GRT_THREAD_GPU], 80 + 80 + 30 + 80);
	end(&b);
}

static void job(struct both *b, uint32_t pid, uint64_t number, uint32_t ring, uint64_t start, uint64_t until)
{
	static const uint16_t types[] = {GRT_EV_SUBMIT, GRT_EV_START, GRT_EV_END, GRT_EV_COMPLETE};
	const uint64_t times[] = {start - 5, start, until, until};

	for (unsigned int i = 0; i < 4; i++) {
		union {
			struct grt_event e;
			struct grt_ev_submit submit;
			struct grt_ev_end end;
			struct grt_ev_complete complete;
		} u = {.e = {.time = times[i],
			     .type = types[i],
			     .size = sizeof(u),
			     .pid = pid,
			     .tid = 8,
			     .ctx = 4000 + pid,
			     .seqno = number,
			     .ring = ring}};

		put(b, &u.e);
	}
}

/*
 * A thread waits from 110 to 190 and from 300 to 350. Its process has jobs on ring 1 from 120 to 150 and from
 * 320 to 400, and on ring 2, without a name, from 140 to 160; another process has one at 170, which it does
 * not wait for.
 */
static void job_waits(void **state)
{
	struct grt_ev_name ring = {.e = {.type = GRT_EV_NAME, .size = sizeof(ring)},
				   .kind = GRT_NAME_RING,
				   .id = 1,
				   .name = "gfx"};
	struct both b;

	(void)state;
	begin(&b, 0);
	name(&b, 8, "main");
	put(&b, &ring.e);
	THREAD(&b, 100, 8, MADE);
	OFF(&b, 8, 110, 190, 1, GPU);
	job(&b, 7, 1, 1, 120, 150);
	job(&b, 7, 2, 2, 140, 160);
	job(&b, 70, 3, 1, 170, 180);
	OFF(&b, 8, 300, 350, 2, GPU);
	job(&b, 7, 4, 1, 320, 400);
	THREAD(&b, 500, 8, ENDED, .number = 2);
	folds_to(&b, GRT_FLAME_BY_PROCESS,
		 "app;[gpu] 60\n"
		 "app;[gpu];[GPU gfx] 60\n"
		 "app;[gpu];[GPU ring 2] 10\n"
		 "app;[not sampled];[running] 270\n");
	end(&b);
}

/* More waits and work than are kept: a kernel of 60 ns in each wait of 100; sums are exact. */
static void many_gpu_waits(void **state)
{
	enum { MANY = GRT_GPU_WAITS_MAX + GRT_GPU_WAITS_MAX / 2 };
	struct grt_wall_count n;
	struct both b;
	char text[128];

	(void)state;
	begin(&b, 0);
	name(&b, 8, "main");
	kernel_name(&b, 1, "a");
	THREAD(&b, 0, 8, MADE);
	for (uint64_t i = 1; i <= MANY; i++) {
		OFF(&b, 8, 200 * i, 200 * i + 100, i, GPU);
		WORK(&b, 200 * i + 20, 200 * i + 80, 5, 1);
	}
	/* of what is as old as this, all that waited is divided */
	WORK(&b, 290, 300, 5, 1);
	THREAD(&b, 200 * MANY + 200, 8, ENDED, .number = MANY);
	snprintf(text, sizeof(text),
		 "app;[gpu] %llu\napp;[gpu];[GPU_Kernel]a %llu\napp;[not sampled];[running] %llu\n",
		 40ULL * MANY, 60ULL * MANY, 100ULL * MANY + 200);
	folds_to(&b, GRT_FLAME_BY_PROCESS, text);
	n = grt_wall_flame_count(b.flame);
	assert_int_equal(n.waits.late, 1);
	assert_int_equal(n.waits.late_ns, 0);
	end(&b);
}

/* The thread of CUDA's library in the program is in no sum. */
static void tracer(void **state)
{
	struct grt_ev_thread other = {
		.e = {.time = 5, .type = GRT_EV_THREAD, .size = sizeof(other), .pid = 70, .tid = 8}};
	struct grt_wall_count n;
	struct both b;

	(void)state;
	begin(&b, 0);
	name(&b, 9, "app");
	name(&b, 8, "grtrace");
	THREAD(&b, 0, 9, SEEN_ON);
	PUT(&b, PROCESS, process, 0, 7, .what = 1);
	THREAD(&b, 5, 8, MADE);
	OFF(&b, 8, 5, 10, 1, RUNNABLE);
	OFF(&b, 8, 15, 20, 2, SLEEP);
	PUT(&b, PROCESS, process, 20, 8, .what = 6);
	OFF(&b, 8, 26, 30, 3, SLEEP);
	THREAD(&b, 31, 8, LEFT_ON, .number = 3);
	THREAD(&b, 31, 9, LEFT_ON);
	folds_to(&b, GRT_FLAME_BY_NONE, "app;app (9);[not sampled];[running] 31\n");
	n = grt_wall_flame_count(b.flame);
	assert_int_equal(n.threads, 1);
	assert_int_equal(n.ns[GRT_THREAD_RUNNING], 31);
	HAS(&b, 0, 0, 31, [GRT_THREAD_RUNNING] = 31);
	assert_true(grt_threads_at(b.threads, 1)->tracer);
	assert_int_equal(grt_threads_count(b.threads).tracers, 1);
	/* 10 to 15, 20 to 26, 30 to 31 */
	assert_int_equal(grt_threads_count(b.threads).tracer_ns, 12);
	end(&b);
	/* told before the thread was seen; one of another process has the same number */
	begin(&b, 0);
	PUT(&b, PROCESS, process, 0, 8, .what = 6);
	other.what = GRT_THREAD_MADE;
	put(&b, &other.e);
	other.e.time = 8;
	other.what = GRT_THREAD_ENDED;
	put(&b, &other.e);
	THREAD(&b, 10, 8, MADE);
	THREAD(&b, 14, 8, ENDED);
	THREAD(&b, 20, 8, MADE);
	THREAD(&b, 21, 8, ENDED);
	HAS(&b, 0, 5, 8, [GRT_THREAD_RUNNING] = 3);
	assert_true(grt_threads_at(b.threads, 1)->tracer);
	HAS(&b, 2, 20, 21, [GRT_THREAD_RUNNING] = 1);
	assert_int_equal(grt_threads_count(b.threads).tracer_ns, 4);
	end(&b);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(life),		  cmocka_unit_test(cut_off), cmocka_unit_test(from),
		cmocka_unit_test(before),	  cmocka_unit_test(lost),    cmocka_unit_test(broken),
		cmocka_unit_test(reused),	  cmocka_unit_test(cuda),    cmocka_unit_test(no_calls),
		cmocka_unit_test(many_processes), cmocka_unit_test(flame),   cmocka_unit_test(gpu_waits),
		cmocka_unit_test(many_gpu_waits), cmocka_unit_test(tracer),  cmocka_unit_test(unseen),
		cmocka_unit_test(job_waits),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
