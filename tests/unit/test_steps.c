// SPDX-License-Identifier: GPL-2.0
/*
 * Steps that are found in launches, and what a device did in each: by an optimizer's
 * step() in the stacks, by a launch that comes again, and none where nothing repeats.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "codes/cuda_codes.h"
#include "cuda/collectives.h"
#include "cuda/steps.h"
#include "trace/packet.h"

#define LAUNCH_KERNEL 211
#define PID 7

/* Nodes of the stacks: the program's lines, and what they call. */
enum { TRAIN_FORWARD = 1, FORWARD, TRAIN_BACKWARD, BACKWARD, TRAIN_STEP, STEP, FUSED, OTHER };
/* Strings. */
enum {
	APP = 1,
	TRAIN,
	TRAIN_PY,
	NET,
	ADAM_STEP,
	ADAM_PY,
	FUSED_ADAM,
	K_FORWARD,
	K_BACKWARD,
	K_ADAM,
	K_NCCL,
	K_LOG
};

/** struct run - a recording in the making; @now: ns */
struct run {
	struct grt_launches *launches;
	struct grt_steps *steps;
	uint64_t now;
	uint64_t id;
};

static int on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
		   const struct grt_launch *launch, enum grt_launched_how how)
{
	return grt_step_log_work(grt_steps_log(((struct run *)arg)->steps), e, image, launch, how);
}

static void new_steps(struct run *r)
{
	const struct grt_launches_sink sink = {.work = on_work, .arg = r};

	assert_int_equal(grt_launches_new(&r->launches, &sink), 0);
	assert_int_equal(grt_steps_new(&r->steps, r->launches), 0);
}

static void free_steps(struct run *r)
{
	grt_steps_free(r->steps);
	grt_launches_free(r->launches);
}

static void put(struct run *r, const struct grt_event *e)
{
	bool image = grt_class_of[e->type] == GRT_CLASS_image;

	if (image)
		assert_int_equal(grt_launches_event(r->launches, e), 0);
	assert_int_equal(grt_step_log_event(grt_steps_log(r->steps), e), 0);
	if (!image)
		assert_int_equal(grt_launches_event(r->launches, e), 0);
}

#define PUT(r, NAME, record, ...)                                                                 \
	do {                                                                                      \
		struct grt_ev_##record ev = {                                                     \
			.e = {.type = GRT_EV_##NAME, .size = sizeof(ev), .pid = PID, .tid = PID}, \
			##__VA_ARGS__};                                                           \
		put(r, &ev.e);                                                                    \
	} while (0)

static void string(struct run *r, uint32_t number, const char *text)
{
	struct grt_ev_string s = {.e = {.type = GRT_EV_STRING, .size = sizeof(s), .pid = PID}};

	s.number = number;
	s.length = s.part = (uint32_t)strlen(text);
	memcpy(s.text, text, s.part);
	put(r, &s.e);
}

static void begin(struct run *r)
{
	static const char *const text[] = {"app",
					   "train",
					   "/home/me/train.py",
					   "Net.forward",
					   "Adam.step",
					   "/lib/torch/optim/adam.py",
					   "_fused_adam",
					   "forward",
					   "backward",
					   "adam",
					   "_Z40ncclDevKernel_AllReduce",
					   "log"};

	*r = (struct run){.now = 1000000};
	new_steps(r);
	PUT(r, PROCESS, process, .what = 1, .text = APP);
	for (uint32_t i = 0; i < sizeof(text) / sizeof(text[0]); i++)
		string(r, i + 1, text[i]);
	PUT(r, NODE, node, .node = TRAIN_FORWARD, .function = TRAIN, .file = TRAIN_PY, .line = 10);
	PUT(r, NODE, node, .node = FORWARD, .caller = TRAIN_FORWARD, .function = NET, .file = TRAIN_PY,
	    .line = 3);
	PUT(r, NODE, node, .node = TRAIN_BACKWARD, .function = TRAIN, .file = TRAIN_PY, .line = 11);
	PUT(r, NODE, node, .node = BACKWARD, .caller = TRAIN_BACKWARD, .ip = 0x1000);
	PUT(r, NODE, node, .node = TRAIN_STEP, .function = TRAIN, .file = TRAIN_PY, .line = 12);
	PUT(r, NODE, node, .node = STEP, .caller = TRAIN_STEP, .function = ADAM_STEP, .file = ADAM_PY,
	    .line = 90);
	PUT(r, NODE, node, .node = FUSED, .caller = STEP, .function = FUSED_ADAM, .file = ADAM_PY,
	    .line = 400);
	PUT(r, NODE, node, .node = OTHER, .function = TRAIN, .file = TRAIN_PY, .line = 5);
}

/* A launch of 10 ns, and its kernel, which runs 10 ns later for @ns; the device is free again at r->now. */
static void launch(struct run *r, uint32_t node, uint32_t name, uint64_t ns)
{
	PUT(r, LAUNCH, launch, .e.time = r->now + 10, .begin = r->now, .correlation = ++r->id,
	    .call = LAUNCH_KERNEL, .node = node);
	PUT(r, GPU_KERNEL, gpu_kernel, .correlation = r->id, .start = r->now + 20, .end = r->now + 20 + ns,
	    .name = name);
	r->now += 20 + ns;
}

static void find(struct run *r, uint32_t steps)
{
	assert_int_equal(grt_launches_flush(r->launches), 0);
	assert_int_equal(grt_steps_find(r->steps), 0);
	assert_int_equal(grt_steps_ranks(r->steps), 1);
	assert_int_equal(grt_steps_count(r->steps), steps);
	assert_int_equal(grt_steps_rank(r->steps, 0)->steps, steps);
}

/* Forward by two lines in a loop of four layers, backward, an optimizer of three launches. */
static void train(struct run *r, unsigned int sleep)
{
	r->now += sleep;
	for (int i = 0; i < 4; i++)
		launch(r, FORWARD, K_FORWARD, 100);
	launch(r, BACKWARD, K_BACKWARD, 300);
	launch(r, STEP, K_ADAM, 50);
	launch(r, FUSED, K_ADAM, 50);
	launch(r, FUSED, K_ADAM, 50);
}

/* Of 11 steps the fifth begins 5000 ns later; the first begins where the launches are as those of the second.
 */
static void by_optimizer(void **state)
{
	const struct grt_step *s;
	const struct grt_step_rank *k;
	struct run r;

	(void)state;
	begin(&r);
	for (int i = 0; i < 3; i++)
		launch(&r, OTHER, K_LOG, 1000);
	for (int i = 0; i < 11; i++)
		train(&r, i == 4 ? 5000 : 0);
	launch(&r, OTHER, K_LOG, 1000);
	find(&r, 11);
	assert_int_equal(grt_steps_marks(r.steps, 0)->how, GRT_STEP_BY_OPTIMIZER);
	assert_int_equal(grt_steps_marks(r.steps, 0)->node, TRAIN_STEP);
	k = grt_steps_rank(r.steps, 0);
	assert_int_equal(k->p50, 8 * 20 + 4 * 100 + 300 + 150);
	assert_int_equal(k->total.ns[GRT_STEP_COMPUTE], 11 * 850);
	assert_int_equal(k->total.ns[GRT_STEP_IDLE], 11 * 160 + 5000);
	s = grt_steps_step(r.steps, k->slowest);
	assert_int_equal(s->number, 4);
	assert_int_equal(s->to - s->from, k->p50 + 5000);
	assert_int_equal(s->grew, GRT_STEP_IDLE);
	assert_int_equal(grt_steps_explain(r.steps, k->slowest), 0);
	assert_string_equal(s->why, "code between train.py:12 and train.py:10 (train)");
	assert_int_equal(grt_steps_step(r.steps, 0)->number, 0);
	assert_int_equal(grt_steps_step(r.steps, 0)->from, 1000000 + 3 * 1020);
	free_steps(&r);
}

/* No optimizer: a loop of layers in a step, and something else in every third step. */
static void by_launch(void **state)
{
	const struct grt_step_marks *m;
	struct run r;

	(void)state;
	begin(&r);
	for (int i = 0; i < 20; i++)
		launch(&r, OTHER, K_LOG, 1000);
	for (int i = 0; i < 30; i++) {
		launch(&r, TRAIN_FORWARD, K_FORWARD, 10);
		for (int layer = 0; layer < 24; layer++)
			launch(&r, FORWARD, K_FORWARD, 100);
		if (i % 3 == 1)
			launch(&r, OTHER, K_ADAM, 10);
		launch(&r, TRAIN_BACKWARD, K_BACKWARD, 300);
	}
	find(&r, 30);
	m = grt_steps_marks(r.steps, 0);
	assert_int_equal(m->how, GRT_STEP_BY_LAUNCH);
	assert_int_equal(m->node, TRAIN_FORWARD);
	assert_int_equal(grt_steps_step(r.steps, 29)->to, r.now);
	free_steps(&r);
}

/* A range on the thread; @name: a string of its own. */
static void range(struct run *r, const char *name, uint64_t from, uint64_t to)
{
	static uint32_t strings = 100;

	string(r, ++strings, name);
	PUT(r, RANGE, range, .e.time = to, .begin = from, .end = to, .name = strings, .kind = 1);
}

static void number_of_range(struct run *r, const char *what, int i, uint64_t from, uint64_t to)
{
	char text[32];

	snprintf(text, sizeof(text), what, i);
	range(r, text, from, to);
}

/*
 * Two epochs of 15 iterations each, of two batches: the iterations are named, in no regular order of
 * launches; a launch in ten is between them. Numbers of names are those of the steps, unless they do not
 * count them.
 */
static void iterations(struct run *r, const char *range, const char *name)
{
	uint64_t from, half, epoch;
	uint32_t seed = 7;

	begin(r);
	grt_steps_range(r->steps, range);
	launch(r, OTHER, K_LOG, 500);
	epoch = r->now;
	for (int i = 0; i < 30; i++) {
		from = half = r->now;
		for (int k = 0; k < 10; k++) {
			seed = seed * 1664525 + 1013904223;
			launch(r, FORWARD, K_FORWARD + (seed >> 24) % 5, 100);
			if (k % 5 != 4)
				continue;
			number_of_range(r, "batch %d", k / 5, half, r->now);
			half = r->now;
		}
		number_of_range(r, name, 100 + i, from, r->now);
		launch(r, OTHER, K_LOG, 10);
		if (i % 15 != 14)
			continue;
		number_of_range(r, "epoch %d", i / 15, epoch, r->now);
		epoch = r->now;
	}
}

static void by_range(void **state)
{
	const struct grt_step_marks *m;
	struct run r;

	(void)state;
	/* its name says that it is a step, though there are more batches */
	iterations(&r, NULL, "Iteration %d");
	find(&r, 30);
	m = grt_steps_marks(r.steps, 0);
	assert_int_equal(m->how, GRT_STEP_BY_RANGE);
	assert_string_equal(m->range, "Iteration #");
	for (uint32_t i = 0; i < 30; i++) {
		const struct grt_step *s = grt_steps_step(r.steps, i);

		assert_int_equal(s->number, 100 + i);
		assert_int_equal(s->from, 1000000 + 520 + i * (10 * 120 + 30));
		/* what is launched between belongs to the step before */
		assert_int_equal(s->to - s->from, 10 * 120 + (i < 29 ? 30 : 0));
	}
	free_steps(&r);
	/* nothing says that it is one: the range that comes most often */
	iterations(&r, NULL, "pass %d");
	find(&r, 60);
	assert_string_equal(grt_steps_marks(r.steps, 0)->range, "batch #");
	assert_int_equal(grt_steps_step(r.steps, 0)->number, 0);
	free_steps(&r);
	iterations(&r, "pass 3", "pass %d");
	find(&r, 30);
	assert_string_equal(grt_steps_marks(r.steps, 0)->range, "pass #");
	free_steps(&r);
	/* two of them are no steps, and nothing else was wanted */
	iterations(&r, "epoch", "pass %d");
	find(&r, 0);
	free_steps(&r);
	/* three ranges in which little is launched are none; the optimizer's step() is */
	begin(&r);
	for (int i = 0; i < 11; i++) {
		train(&r, 0);
		number_of_range(&r, "log step %d", i, r.now, r.now + 10);
		r.now += 10;
	}
	find(&r, 11);
	assert_int_equal(grt_steps_marks(r.steps, 0)->how, GRT_STEP_BY_OPTIMIZER);
	free_steps(&r);
}

/* Each mark begins a step; the one behind the last mark has no end. */
static void by_mark(void **state)
{
	char text[32];
	struct run r;

	(void)state;
	begin(&r);
	for (uint32_t i = 0; i < 11; i++) {
		snprintf(text, sizeof(text), "ProfilerStep#%u", i + 5);
		string(&r, 50 + i, text);
		PUT(&r, MARK, mark, .e.time = r.now, .name = 50 + i);
		train(&r, 10);
	}
	find(&r, 10);
	assert_int_equal(grt_steps_marks(r.steps, 0)->how, GRT_STEP_BY_MARK);
	assert_int_equal(grt_steps_step(r.steps, 0)->number, 5);
	assert_int_equal(grt_steps_step(r.steps, 9)->number, 14);
	free_steps(&r);
}

/* One launch again and again, launches without an order, and ones that come twice have no steps. */
static void no_steps(void **state)
{
	uint32_t seed = 1;
	struct run r;

	(void)state;
	begin(&r);
	for (int i = 0; i < 1000; i++)
		launch(&r, FORWARD, K_FORWARD, 100);
	find(&r, 0);
	free_steps(&r);
	begin(&r);
	for (int i = 0; i < 1000; i++) {
		seed = seed * 1664525 + 1013904223;
		launch(&r, 0, K_FORWARD + (seed >> 24) % 5, 100);
	}
	find(&r, 0);
	free_steps(&r);
	begin(&r);
	train(&r, 0);
	train(&r, 0);
	find(&r, 0);
	free_steps(&r);
}

static void kernel(struct run *r, uint32_t name, uint64_t from, uint64_t to)
{
	PUT(r, GPU_KERNEL, gpu_kernel, .start = from, .end = to, .name = name, .cuda_stream = name);
}

/*
 * Computes 100 to 200 and 300 to 500, communicates 150 to 350, copies 340 to 360 and 600 to 620, in windows
 * 0 to 250, to 400, to 1000.
 */
static void parts(void **state)
{
	const uint64_t cut[] = {1, 250, 400, 1000};
	const uint64_t want[3][GRT_STEP_PARTS] = {
		/* compute, comm, copy, idle, comm_hidden, copy_hidden */
		{100, 50, 0, 99, 50, 0},
		{100, 50, 0, 0, 50, 20},
		{100, 0, 20, 480, 0, 0},
	};
	struct grt_step_parts out[3];
	struct run r;

	(void)state;
	begin(&r);
	kernel(&r, K_FORWARD, 100, 200);
	kernel(&r, K_NCCL, 150, 350);
	kernel(&r, K_BACKWARD, 300, 500);
	PUT(&r, GPU_COPY, gpu_copy, .start = 340, .end = 360, .kind = 1);
	PUT(&r, GPU_COPY, gpu_copy, .start = 600, .end = 620, .kind = 1);
	/* of another device */
	PUT(&r, GPU_KERNEL, gpu_kernel, .start = 1, .end = 1000, .gpu = 1);
	assert_int_equal(grt_launches_flush(r.launches), 0);
	assert_int_equal(grt_steps_find(r.steps), 0);
	grt_step_parts_between(grt_step_log_process(grt_steps_log(r.steps), 0), 0, cut, 4, out);
	for (int i = 0; i < 3; i++)
		for (int p = 0; p < GRT_STEP_PARTS; p++)
			assert_int_equal(out[i].ns[p], want[i][p]);
	free_steps(&r);
}

/* A kernel of a stream of a process that nothing else is known of. */
static void communicate(struct run *r, uint32_t pid, uint32_t stream, uint64_t from, uint64_t to)
{
	struct grt_ev_gpu_kernel k = {
		.e = {.type = GRT_EV_GPU_KERNEL, .size = sizeof(k), .pid = pid, .tid = pid},
		.start = from,
		.end = to,
		.name = 1,
		.gpu = pid,
		.cuda_stream = stream};

	put(r, &k.e);
}

/* Rank 1's main thread: in each of its pair's collectives 50 ns in a lock, 10 without a CPU, and on it else.
 */
static void main_thread(struct run *r)
{
	struct grt_ev_thread seen = {
		.e = {.type = GRT_EV_THREAD, .size = sizeof(seen), .time = 1000, .pid = 1, .tid = 1},
		.what = GRT_THREAD_SEEN_ON};
	struct grt_ev_asleep a = {.e = {.type = GRT_EV_ASLEEP, .size = sizeof(a), .pid = 1, .tid = 1},
				  .state = 1,
				  .over = 1,
				  .reason = GRT_THREAD_LOCK};
	struct grt_ev_thread other = seen;

	/* a thread that is not the main one sleeps all the time */
	other.e.tid = 9;
	other.what = GRT_THREAD_SEEN_OFF;
	assert_int_equal(grt_rank_threads_event(grt_steps_threads(r->steps), &seen.e), 0);
	assert_int_equal(grt_rank_threads_event(grt_steps_threads(r->steps), &other.e), 0);
	for (uint32_t n = 0; n < 20; n++) {
		a.start = 1000000 + 10000 * n + 10;
		a.woken = a.start + 50;
		a.e.time = a.woken + 10;
		a.number = n + 1;
		assert_int_equal(grt_rank_threads_event(grt_steps_threads(r->steps), &a.e), 0);
	}
	seen.what = 6;
	seen.e.time = 10000000;
	seen.number = 20;
	assert_int_equal(grt_rank_threads_event(grt_steps_threads(r->steps), &seen.e), 0);
}

/*
 * Ranks 0 and 1, 2 and 3 are pairs, on stream 5; 0 and 2, 1 and 3 are, on stream 6. Of rank 3's first pair's
 * first kernel there is no record. In the n-th of 20 collectives of a pair the rank with the odd number is
 * 100 + n late; across, that with the larger one is 7 late.
 */
static void communicators(void **state)
{
	const struct grt_collective_rank *k;
	struct grt_collectives *c;
	struct run r = {.now = 0};

	(void)state;
	new_steps(&r);
	for (uint32_t pid = 0; pid < 4; pid++) {
		struct grt_ev_string s = {.e = {.type = GRT_EV_STRING, .size = sizeof(s), .pid = pid},
					  .number = 1,
					  .length = 23,
					  .part = 23,
					  .text = "ncclDevKernel_AllReduce"};

		put(&r, &s.e);
		for (uint32_t n = 0; n < 20; n++) {
			uint64_t pair = 1000000 + 10000 * n + 2000 * (pid / 2), across = pair + 5000;

			if (pid != 3 || n)
				communicate(&r, pid, 5, pair + (pid & 1 ? 100 + n : 0), pair + 500);
			communicate(&r, pid, 6, across + (pid & 1) * 1500 - 2000 * (pid / 2) + (pid / 2) * 7,
				    across + (pid & 1) * 1500 - 2000 * (pid / 2) + 300);
		}
	}
	main_thread(&r);
	assert_int_equal(grt_launches_flush(r.launches), 0);
	assert_int_equal(grt_steps_find(r.steps), 0);
	assert_int_equal(grt_collectives_new(&c, r.steps), 0);
	assert_int_equal(grt_collectives_count(c), 20 + 20 + 20 + 19);
	for (uint32_t rank = 0; rank < 4; rank++) {
		assert_int_equal(grt_steps_rank(r.steps, rank)->pid, rank);
		k = grt_collectives_rank(c, rank);
		assert_int_equal(k->kernels, rank == 3 ? 39 : 40);
		assert_int_equal(k->alone, rank == 2);
		/* the first of a communicator waits for what has to be started */
		assert_int_equal(k->steady, rank < 2 ? 38 : 37);
	}
	k = grt_collectives_rank(c, 0);
	assert_int_equal(k->last, 0);
	assert_int_equal(k->waited, 19 * 100 + 190 + 19 * 7);
	k = grt_collectives_rank(c, 1);
	assert_int_equal(k->last, 19);
	assert_int_equal(k->late, 19 * 100 + 190);
	assert_int_equal(k->late_max, 119);
	assert_int_equal(k->meanwhile.ns[GRT_THREAD_LOCK], 19 * 50);
	assert_int_equal(k->meanwhile.ns[GRT_THREAD_RUNNABLE], 19 * 10);
	assert_int_equal(k->meanwhile.ns[GRT_THREAD_RUNNING], 19 * 40 + 190);
	assert_int_equal(k->meanwhile.all, k->late);
	/* 950, 950 and 190 of 2090 */
	assert_string_equal(k->told, "running 45 %, lock 45 %, runnable 9 %");
	k = grt_collectives_rank(c, 2);
	assert_int_equal(k->meanwhile.all, 0);
	assert_string_equal(k->told, "");
	assert_int_equal(k->late, 19 * 7);
	/* of its pair's collectives the second is the first that both have */
	k = grt_collectives_rank(c, 3);
	assert_int_equal(k->late, 18 * 100 + 189 + 19 * 7);
	grt_collectives_free(c);
	free_steps(&r);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(by_optimizer),	 cmocka_unit_test(by_launch), cmocka_unit_test(by_range),
		cmocka_unit_test(by_mark),	 cmocka_unit_test(no_steps),  cmocka_unit_test(parts),
		cmocka_unit_test(communicators),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
