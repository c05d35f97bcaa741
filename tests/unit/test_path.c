// SPDX-License-Identifier: GPL-2.0
/*
 * Critical paths: of graphs by hand, to the nanosecond, and of random schedules, whose
 * changed times a second computation of the whole schedule has to confirm.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "path/path_run.h"

#define PUT(s, NAME, record, when, thread, ...)                           \
	do {                                                              \
		struct grt_ev_##record ev = {.e = {.time = (when),        \
						   .type = GRT_EV_##NAME, \
						   .size = sizeof(ev),    \
						   .pid = 7,              \
						   .tid = (thread)},      \
					     ##__VA_ARGS__};              \
		assert_int_equal(grt_path_event(s, &ev.e), 0);            \
	} while (0)
#define MADE(s, when, tid, by) PUT(s, THREAD, thread, when, tid, .what = GRT_THREAD_MADE, .parent = (by))
#define SEEN(s, when, tid) PUT(s, THREAD, thread, when, tid, .what = GRT_THREAD_SEEN_ON)
#define ENDED(s, when, tid) PUT(s, THREAD, thread, when, tid, .what = GRT_THREAD_ENDED)
#define ASLEEP(s, tid, from, until, to, n, why, ...)                                                 \
	PUT(s, ASLEEP, asleep, to, tid, .start = (from), .woken = (until), .number = (n), .over = 1, \
	    .state = 1, .reason = GRT_THREAD_##why, ##__VA_ARGS__)
#define BY(thread) .by = GRT_WAKER_THREAD, .waker = (thread), .waker_pid = 7
#define CALL(s, from, to, id, number) \
	PUT(s, LAUNCH, launch, to, 7, .begin = (from), .correlation = (id), .call = (number), .context = 1)
#define KERNEL(s, from, to, id, in, called)                                                      \
	PUT(s, GPU_KERNEL, gpu_kernel, to, 7, .start = (from), .end = (to), .correlation = (id), \
	    .name = (called), .context = 1, .cuda_stream = (in))
#define SYNC(s, from, to, id, what, stream)                                                  \
	PUT(s, GPU_SYNC, gpu_sync, to, 7, .start = (from), .end = (to), .correlation = (id), \
	    .kind = GRT_CUDA_SYNC_##what, .context = 1, .cuda_stream = (stream), .event_id = UINT32_MAX)

enum { LAUNCH_KERNEL = 211, STREAM_SYNC = 131, CONTEXT_SYNC = 165, STREAM_WAIT = 147, MEMCPY = 31 };

static struct grt_path *begin(void)
{
	struct grt_path *s;

	assert_int_equal(grt_path_new(&s), 0);
	return s;
}

/* struct piece - of a path, from its beginning */
struct piece {
	uint64_t ns;
	enum path_kind kind;
	uint32_t id;
};

/* The path is these pieces, without gap, and the baseline of what is computed is what was seen. */
static void is(struct grt_path *s, const struct piece *want, unsigned int n)
{
	uint64_t at;

	assert_int_equal(grt_path_finish(s), 0);
	assert_int_not_equal(s->last, GRT_PATH_NONE);
	assert_int_equal(grt_path_graph_compute(&s->graph, s->last, NULL), s->end);
	at = s->first;
	for (unsigned int i = 0; i < s->segments || i < n; i++) {
		const struct grt_path_segment *one = &s->segment[i];
		const struct grt_path_point *p = &s->graph.point[one->point];

		assert_in_range(i, 0, n - 1);
		assert_in_range(i, 0, s->segments - 1);
		assert_int_equal(one->from, at);
		assert_int_equal(one->to - one->from, want[i].ns);
		if (one->point == GRT_PATH_NONE) {
			assert_int_equal(want[i].kind, PATH_IS_BEFORE);
		} else {
			assert_int_equal(s->act[p->act].kind, want[i].kind);
			assert_int_equal(s->lane[p->lane].id, want[i].id);
		}
		at = one->to;
	}
	assert_int_equal(at, s->end);
}

#define IS(s, ...)                                 \
	is(s, (const struct piece[]){__VA_ARGS__}, \
	   sizeof((struct piece[]){__VA_ARGS__}) / sizeof(struct piece))

/* How long the run is where the first piece's activity of a kind took half the time. */
static uint64_t half(struct grt_path *s, enum path_kind kind, uint32_t name)
{
	for (uint32_t i = 0; i < s->acts; i++)
		if (s->act[i].kind == kind && s->act[i].name == name && s->act[i].ns)
			return grt_path_if(s, i, 1, 2);
	fail_msg("no such activity");
	return 0;
}

/* 7 makes 8, waits for it, and sleeps. 8 runs, sleeps, and wakes 7. */
static void threads(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	SEEN(s, 100, 7);
	MADE(s, 150, 8, 7);
	ASLEEP(s, 8, 200, 300, 310, 1, SLEEP);
	ASLEEP(s, 7, 160, 400, 405, 1, LOCK, BY(8));
	ASLEEP(s, 8, 420, 900, 900, 2, SLEEP);
	ASLEEP(s, 7, 500, 600, 600, 2, SLEEP);
	ENDED(s, 650, 7);
	IS(s, {50, PATH_IS_RUNNING, 7}, {50, PATH_IS_RUNNING, 8}, {100, PATH_IS_ASLEEP, 8},
	   {10, PATH_IS_RUNNABLE, 8}, {90, PATH_IS_RUNNING, 8}, {5, PATH_IS_RUNNABLE, 7},
	   {95, PATH_IS_RUNNING, 7}, {100, PATH_IS_ASLEEP, 7}, {50, PATH_IS_RUNNING, 7});
	grt_path_free(s);
}

/* A waker that is not followed, an interrupt, records that are missing, a thread taken off the CPU. */
static void unknown(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	SEEN(s, 0, 7);
	ASLEEP(s, 7, 100, 200, 210, 1, LOCK, BY(99));
	ASLEEP(s, 7, 300, 340, 350, 2, IO, .by = GRT_WAKER_INTERRUPT);
	ASLEEP(s, 7, 500, 510, 510, 5, IO);
	PUT(s, OFF_CPU, off_cpu, 580, 7, .start = 540, .number = 6, .reason = GRT_THREAD_RUNNABLE, .over = 1);
	ENDED(s, 600, 7);
	IS(s, {100, PATH_IS_RUNNING, 7}, {100, PATH_IS_ASLEEP, 7}, {10, PATH_IS_RUNNABLE, 7},
	   {90, PATH_IS_RUNNING, 7}, {40, PATH_IS_ASLEEP, 7}, {10, PATH_IS_RUNNABLE, 7},
	   {150, PATH_IS_ASLEEP, 7}, {10, PATH_IS_ASLEEP, 7}, {30, PATH_IS_RUNNING, 7},
	   {40, PATH_IS_RUNNABLE, 7}, {20, PATH_IS_RUNNING, 7});
	assert_int_equal(s->count.lost, 2);
	assert_int_equal(s->count.unfollowed, 1);
	grt_path_free(s);
}

/* Two kernels in one stream and one in another; the context waits for the longest. Call 7 polls. */
static void streams(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	CALL(s, 1000, 1010, 1, LAUNCH_KERNEL);
	CALL(s, 1020, 1030, 2, LAUNCH_KERNEL);
	CALL(s, 1040, 1050, 3, LAUNCH_KERNEL);
	CALL(s, 1100, 5050, 4, CONTEXT_SYNC);
	CALL(s, 5100, 5110, 5, LAUNCH_KERNEL);
	KERNEL(s, 1015, 3000, 1, 13, 1);
	KERNEL(s, 3010, 5000, 2, 13, 1);
	KERNEL(s, 1060, 4500, 3, 14, 2);
	KERNEL(s, 5120, 5500, 5, 13, 2);
	SYNC(s, 1100, 5050, 4, CONTEXT, UINT32_MAX);
	/* launched, kernel, gap, kernel, the call returns, code, launched, kernel */
	IS(s, {15, PATH_IS_LAUNCHED, 13}, {1985, PATH_IS_KERNEL, 13}, {10, PATH_IS_LAUNCHED, 13},
	   {1990, PATH_IS_KERNEL, 13}, {50, PATH_IS_CALL, 7}, {50, PATH_IS_RUNNING, 7},
	   {20, PATH_IS_LAUNCHED, 13}, {380, PATH_IS_KERNEL, 13});
	/* then the other stream is the longest: 1 and 2 would end at 3015 */
	assert_int_equal(half(s, PATH_IS_KERNEL, 1), 4500 + 50 + 50 + 20 + 380 - 1000);
	/* the first stream is the longest still; the kernel at the end is of this name, too */
	assert_int_equal(half(s, PATH_IS_KERNEL, 2), 4500 - 190);
	grt_path_free(s);
}

/* With the threads: what the call polls and sleeps is no time of its own. A copy that its call waits for. */
static void polls(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	SEEN(s, 1000, 7);
	CALL(s, 1100, 1110, 1, LAUNCH_KERNEL);
	KERNEL(s, 1150, 2000, 1, 13, 1);
	ASLEEP(s, 7, 1300, 1400, 1410, 1, SLEEP);
	ASLEEP(s, 7, 1500, 2020, 2030, 2, IO, .by = GRT_WAKER_INTERRUPT);
	CALL(s, 1120, 2050, 2, STREAM_SYNC);
	SYNC(s, 1120, 2050, 2, STREAM, 13);
	CALL(s, 2100, 2600, 3, MEMCPY);
	PUT(s, GPU_COPY, gpu_copy, 2700, 7, .start = 2200, .end = 2500, .correlation = 3, .kind = 2,
	    .context = 1, .cuda_stream = 13);
	ENDED(s, 2700, 7);
	IS(s, {100, PATH_IS_RUNNING, 7}, {50, PATH_IS_LAUNCHED, 13}, {850, PATH_IS_KERNEL, 13},
	   {20, PATH_IS_ASLEEP, 7}, {10, PATH_IS_RUNNABLE, 7}, {20, PATH_IS_CALL, 7},
	   {50, PATH_IS_RUNNING, 7}, {100, PATH_IS_LAUNCHED, 13}, {300, PATH_IS_COPY, 13},
	   {100, PATH_IS_CALL, 7}, {100, PATH_IS_RUNNING, 7});
	assert_int_equal(half(s, PATH_IS_KERNEL, 1), 1700 - 425);
	assert_int_equal(half(s, PATH_IS_COPY, 2), 1700 - 150);
	grt_path_free(s);
}

/* A call that waits for two streams, of which the second was over first, and sleeps and is woken meanwhile.
 */
static void context(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	SEEN(s, 1000, 7);
	CALL(s, 1010, 1020, 1, LAUNCH_KERNEL);
	CALL(s, 1030, 1040, 2, LAUNCH_KERNEL);
	KERNEL(s, 1050, 2000, 1, 13, 1);
	KERNEL(s, 1060, 1800, 2, 14, 2);
	ASLEEP(s, 7, 1100, 1900, 1910, 1, SLEEP);
	ASLEEP(s, 7, 1950, 2010, 2020, 2, SLEEP);
	CALL(s, 1050, 2050, 3, CONTEXT_SYNC);
	SYNC(s, 1050, 2050, 3, CONTEXT, UINT32_MAX);
	/* both are over */
	CALL(s, 2100, 2130, 4, CONTEXT_SYNC);
	SYNC(s, 2100, 2130, 4, CONTEXT, UINT32_MAX);
	ENDED(s, 2200, 7);
	IS(s, {10, PATH_IS_RUNNING, 7}, {40, PATH_IS_LAUNCHED, 13}, {950, PATH_IS_KERNEL, 13},
	   {50, PATH_IS_CALL, 7}, {50, PATH_IS_RUNNING, 7}, {30, PATH_IS_CALL, 7}, {70, PATH_IS_RUNNING, 7});
	/* the other stream is the longest then */
	assert_int_equal(half(s, PATH_IS_KERNEL, 1), 1200 - 200);
	assert_int_equal(half(s, PATH_IS_KERNEL, 2), 1200);
	grt_path_free(s);
}

/* By two clocks the kernel ended after the call that waited for it: that is counted, and nothing is joined.
 */
static void backwards(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	CALL(s, 1000, 1010, 1, LAUNCH_KERNEL);
	CALL(s, 1020, 1900, 2, STREAM_SYNC);
	SYNC(s, 1020, 1900, 2, STREAM, 13);
	KERNEL(s, 1050, 1903, 1, 13, 1);
	CALL(s, 1950, 2000, 3, STREAM_SYNC);
	SYNC(s, 1950, 2000, 3, STREAM, 13);
	IS(s, {10, PATH_IS_CALL, 7}, {10, PATH_IS_RUNNING, 7}, {880, PATH_IS_CALL, 7},
	   {50, PATH_IS_RUNNING, 7}, {50, PATH_IS_CALL, 7});
	assert_int_equal(s->count.backwards, 1);
	grt_path_free(s);
}

/* A stream that is told to wait for an event waits for what another one had been given. */
static void events(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	CALL(s, 100, 110, 1, LAUNCH_KERNEL);
	CALL(s, 120, 130, 2, STREAM_WAIT);
	SYNC(s, 120, 130, 2, ORDER, 14);
	CALL(s, 140, 150, 3, LAUNCH_KERNEL);
	CALL(s, 160, 170, 4, LAUNCH_KERNEL);
	CALL(s, 180, 1830, 5, STREAM_SYNC);
	SYNC(s, 180, 1830, 5, STREAM, 14);
	KERNEL(s, 120, 1000, 1, 13, 1);
	KERNEL(s, 1010, 1800, 3, 14, 2);
	KERNEL(s, 1000, 1005, 4, 13, 3);
	IS(s, {20, PATH_IS_LAUNCHED, 13}, {880, PATH_IS_KERNEL, 13}, {10, PATH_IS_LAUNCHED, 14},
	   {790, PATH_IS_KERNEL, 14}, {30, PATH_IS_CALL, 7});
	assert_int_equal(half(s, PATH_IS_KERNEL, 1), 1730 - 440);
	grt_path_free(s);
}

static void job(struct grt_path *s, uint64_t seqno, uint32_t ring, uint64_t submit, uint64_t start,
		uint64_t done)
{
	struct grt_job j = {.ctx = ring + 50,
			    .seqno = seqno,
			    .ring = ring,
			    .pid = 7,
			    .tid = 7,
			    .seen = 31,
			    .size = sizeof(j),
			    .time = {submit, submit, start, done - 5, done}};

	assert_int_equal(grt_path_job(s, &j), 0);
}

/* A job on ring 2 depends on one of ring 1; the thread waits for it. */
static void jobs(void **state)
{
	struct grt_path *s = begin();

	(void)state;
	SEEN(s, 0, 7);
	PUT(s, WAIT_DEP, wait_dep, 130, 0, .e.ctx = 52, .e.seqno = 1, .dep_ctx = 51, .dep_seqno = 2);
	job(s, 1, 1, 100, 110, 500);
	job(s, 2, 1, 120, 496, 900);
	job(s, 1, 2, 125, 920, 1400);
	ASLEEP(s, 7, 200, 1420, 1430, 1, GPU, .e.ctx = 52, .e.seqno = 1, .by = GRT_WAKER_KERNEL,
	       .cause = GRT_WAKE_FENCE);
	ENDED(s, 1500, 7);
	IS(s, {100, PATH_IS_RUNNING, 7}, {10, PATH_IS_QUEUED, 1}, {385, PATH_IS_JOB, 1},
	   {1, PATH_IS_QUEUED, 1}, {399, PATH_IS_JOB, 1}, {5, PATH_IS_SIGNAL, 1}, {20, PATH_IS_QUEUED, 2},
	   {475, PATH_IS_JOB, 2}, {5, PATH_IS_SIGNAL, 2}, {20, PATH_IS_ASLEEP, 7}, {10, PATH_IS_RUNNABLE, 7},
	   {70, PATH_IS_RUNNING, 7});
	grt_path_free(s);
}

/* ------------------------------------------------------- random schedules */

#define LANES 5U
#define STEPS 400U
#define ACTS 7U

static uint64_t seed = 1;

static uint32_t dice(uint32_t sides)
{
	seed = seed * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(seed >> 33) % sides;
}

/* struct step - of a lane: begins after the step before it, @late after another, too, and takes @ns */
struct step {
	uint32_t lane;
	uint32_t after;
	uint64_t late;
	uint64_t ns;
	uint32_t act;
	uint64_t begin;
	uint64_t end;
};

/* The schedule, step by step, by the rules of the graph's header alone. */
static uint64_t schedule(struct step *step, uint32_t act)
{
	uint64_t free_at[LANES] = {0}, end = 0;

	for (uint32_t i = 0; i < STEPS; i++) {
		struct step *p = &step[i];

		p->begin = free_at[p->lane];
		if (p->after != GRT_PATH_NONE && step[p->after].end > p->begin)
			p->begin = step[p->after].end;
		p->begin += p->late;
		p->end = p->begin + (p->act == act ? p->ns / 2 : p->ns);
		free_at[p->lane] = p->end;
		end = p->end > end ? p->end : end;
	}
	return end;
}

/* The longest way to a step by all ways there are. */
static uint64_t longest(const struct step *step, uint32_t i, uint64_t *known)
{
	uint64_t before = 0, other;

	if (known[i])
		return known[i] - 1;
	for (uint32_t j = i; j-- > 0;)
		if (step[j].lane == step[i].lane) {
			before = longest(step, j, known);
			break;
		}
	other = step[i].after == GRT_PATH_NONE ? 0 : longest(step, step[i].after, known);
	before = (other > before ? other : before) + step[i].late + step[i].ns;
	known[i] = before + 1;
	return before;
}

static uint32_t add_step(struct grt_path_graph *g, const struct step *p, uint32_t *last,
			 const uint32_t *end_of)
{
	struct grt_path_point one = {.time = p->begin,
				     .prev = last[p->lane],
				     .dep = p->after == GRT_PATH_NONE ? GRT_PATH_NONE : end_of[p->after],
				     .act = ACTS,
				     .lane = p->lane & 7,
				     .how = GRT_PATH_WAITS};

	assert_int_equal(grt_path_graph_room(g, 2, 0), 0);
	/* one that is first and waits for nobody begins late after the beginning of all */
	one.prev = grt_path_graph_add(g, &one);
	one = (struct grt_path_point){.time = p->end,
				      .prev = one.prev,
				      .dep = GRT_PATH_NONE,
				      .act = p->act,
				      .lane = p->lane & 7,
				      .how = GRT_PATH_LASTS};
	last[p->lane] = grt_path_graph_add(g, &one);
	return last[p->lane];
}

static void random_schedule(void)
{
	struct step step[STEPS];
	struct grt_path_graph g = {.cut = UINT64_MAX};
	struct grt_path_segment one;
	uint32_t last[LANES], end_of[STEPS], at = 0;
	uint64_t known[STEPS] = {0}, end, most = 0, sum = 0;

	for (uint32_t i = 0; i < STEPS; i++)
		step[i] = (struct step){.lane = dice(LANES),
					.after = i && dice(3) ? dice(i) : GRT_PATH_NONE,
					.late = dice(4) ? 0 : dice(50),
					.ns = dice(2000) * dice(3),
					.act = dice(ACTS)};
	memset(last, 0xff, sizeof(last));
	end = schedule(step, GRT_PATH_NONE);
	for (uint32_t i = 0; i < STEPS; i++) {
		end_of[i] = add_step(&g, &step[i], last, end_of);
		if (step[i].end == end)
			at = end_of[i];
		known[i] = 0;
	}
	for (uint32_t i = 0; i < STEPS; i++)
		if (longest(step, i, known) > most)
			most = longest(step, i, known);
	assert_int_equal(end, most);
	assert_int_equal(grt_path_graph_sort(&g), 0);
	assert_int_equal(grt_path_graph_compute(&g, at, NULL), end);
	for (uint32_t i = 0; i + 1 < g.points; i++)
		assert_true(g.point[g.order[i]].time <= g.point[g.order[i + 1]].time);
	/* the end of all may be another step's after a change: steps that end there wait for all */
	for (uint32_t act = 0; act < ACTS; act++) {
		struct grt_path_scale change = {act, 1, 2};
		uint64_t then = 0;

		grt_path_graph_compute(&g, at, &change);
		for (uint32_t i = 0; i < g.points; i++)
			then = g.then[i] > then ? g.then[i] : then;
		/* the first of lanes begin where they did: nothing was before them */
		assert_int_equal(then, schedule(step, act));
	}
	for (uint32_t i = at; i != GRT_PATH_NONE;) {
		i = grt_path_graph_step(&g, i, &one);
		sum += one.to - one.from;
	}
	assert_int_equal(sum + one.from, end);
	grt_path_graph_free(&g);
}

static void random_schedules(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < 300; i++)
		random_schedule();
}

/* Points in any order are sorted as they are by another sort. */
static int by_number(const void *a, const void *b)
{
	uint64_t x = *(const uint64_t *)a, y = *(const uint64_t *)b;

	return (x > y) - (x < y);
}

static void sorted(void **state)
{
	struct grt_path_graph g = {.cut = UINT64_MAX};
	uint64_t want[1000];

	(void)state;
	for (uint32_t n = 0; n < 1000; n += 1 + n / 7) {
		for (uint32_t i = 0; i < n; i++) {
			struct grt_path_point p = {.time = dice(5000), .rank = dice(3) & 7};

			assert_int_equal(grt_path_graph_room(&g, 1, 0), 0);
			want[i] = p.time << 32 | (uint64_t)p.rank << 20 | i;
			assert_int_equal(grt_path_graph_add(&g, &p), i);
		}
		qsort(want, n, sizeof(*want), by_number);
		assert_int_equal(grt_path_graph_sort(&g), 0);
		for (uint32_t i = 0; i < n; i++)
			assert_int_equal(g.order[i], want[i] & 0xfffff);
		grt_path_graph_free(&g);
		g.cut = UINT64_MAX;
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(threads), cmocka_unit_test(unknown),
		cmocka_unit_test(streams), cmocka_unit_test(polls),
		cmocka_unit_test(context), cmocka_unit_test(backwards),
		cmocka_unit_test(events),  cmocka_unit_test(jobs),
		cmocka_unit_test(sorted),  cmocka_unit_test(random_schedules),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
