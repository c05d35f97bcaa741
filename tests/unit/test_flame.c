// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs by their stacks: what is told to be under a stack is drawn under frames.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "flamegraph/gpu_time.h"

static struct grt_gpu_time *f;
/* Of the events that are given. */
static uint32_t process, ring = 1;

static void give(struct grt_event *e, uint16_t type, uint64_t seqno, uint64_t time)
{
	e->type = type;
	e->ctx = 7;
	e->seqno = seqno;
	e->time = time;
	e->ring = ring;
	e->pid = e->tid = process;
	e->size = (uint16_t)sizeof(*e);
	assert_int_equal(grt_gpu_time_event(f, e), 0);
}

/* A job of @ns on the hardware, with the id of a user stack. */
static void job(uint64_t seqno, uint64_t ns, uint32_t stack)
{
	struct grt_ev_stack s = {.user = stack};
	union {
		struct grt_event e;
		struct grt_ev_submit submit;
		struct grt_ev_commit commit;
		struct grt_ev_start start;
		struct grt_ev_end end;
		struct grt_ev_complete complete;
	} u;
	static const uint16_t types[] = {GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_START, GRT_EV_END,
					 GRT_EV_COMPLETE};
	uint64_t at = seqno * 1000000;

	give(&s.e, GRT_EV_STACK, seqno, at);
	for (size_t i = 0; i < sizeof(types) / sizeof(types[0]); i++) {
		memset(&u, 0, sizeof(u));
		give(&u.e, types[i], seqno, at + (types[i] >= GRT_EV_END ? 10 + ns : 10));
	}
}

static void frame(uint32_t stack, uint16_t index, uint16_t depth, const char *symbol)
{
	struct grt_ev_frame e = {.stack = stack, .index = index, .depth = depth};

	memcpy(e.symbol, symbol, strlen(symbol));
	give(&e.e, GRT_EV_FRAME, 0, 1);
}

static void an_id_is_no_stack(void **state)
{
	struct grt_flame_shape shape = {0};
	struct grt_job_flame_count n;
	struct grt_stacks *tree;

	(void)state;
	assert_int_equal(grt_gpu_time_new(&f), 0);
	assert_int_equal(grt_stacks_new(&tree), 0);
	frame(5, 0, 1, "main");
	job(1, 100, 5);
	job(2, 200, 0);
	/* its frames are lost */
	job(3, 400, 6);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	n = grt_gpu_time_count(f);
	assert_int_equal(n.jobs, 3);
	assert_int_equal(n.ns, 700);
	assert_int_equal(n.no_stack, 2);
	assert_int_equal(n.no_stack_ns, 600);
	assert_int_equal(n.lost_stack, 1);
	grt_stacks_free(tree);
	grt_gpu_time_free(f);
}

static void name(uint32_t kind, uint32_t id, const char *text, const char *owner)
{
	struct grt_ev_name e = {.kind = (uint16_t)kind, .id = id};

	memcpy(e.name, text, strlen(text));
	memcpy(e.owner, owner, strlen(owner));
	give(&e.e, GRT_EV_NAME, 0, 1);
}

static uint64_t weight_of(struct grt_stacks *tree, const char *who, const char *on)
{
	uint32_t node = GRT_STACKS_ROOT;

	assert_int_equal(grt_stacks_word(tree, who, &node), 0);
	assert_int_equal(grt_stacks_word(tree, on, &node), 0);
	return grt_stacks_weight(tree, node, GRT_STACKS_NOW);
}

/* Processes of one name have their pids, one that has its name alone does not; so with GPUs of rings. */
static void several_of_one_name(void **state)
{
	static const char *const who[] = {"app (70)", "app (80)", "app (80)", "game"};
	static const uint32_t pids[] = {70, 80, 80, 90}, rings[] = {1, 1, 2, 2};
	struct grt_flame_shape shape = {0};
	struct grt_stacks *tree;

	(void)state;
	assert_int_equal(grt_gpu_time_new(&f), 0);
	name(GRT_NAME_THREAD, 70, "app", "app");
	name(GRT_NAME_THREAD, 80, "app", "app");
	name(GRT_NAME_THREAD, 90, "main", "game");
	name(GRT_NAME_RING, 1, "gfx", "softgpu");
	name(GRT_NAME_RING, 2, "gfx", "softgpu");
	name(GRT_NAME_RING_GPU, 1, "0000:03:00.0", "card0");
	name(GRT_NAME_RING_GPU, 2, "0000:04:00.0", "card1");
	for (unsigned int i = 0; i < 4; i++) {
		process = pids[i];
		ring = rings[i];
		job(i + 1, 100 << i, 0);
	}
	assert_int_equal(grt_stacks_new(&tree), 0);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	for (unsigned int i = 0; i < 4; i++)
		assert_int_equal(
			weight_of(tree, who[i],
				  rings[i] == 1 ? "[GPU gfx of 0000:03:00.0]" : "[GPU gfx of 0000:04:00.0]"),
			100 << i);
	grt_stacks_free(tree);
	/* what is compared with another trace has no pids */
	shape.compared = true;
	assert_int_equal(grt_stacks_new(&tree), 0);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	assert_int_equal(weight_of(tree, "app", "[GPU gfx of 0000:03:00.0]"), 300);
	grt_stacks_free(tree);
	grt_gpu_time_free(f);
	process = 0;
	ring = 1;
}

/* A stack that only says ioctl is none; where one begins at the program's entry is counted. */
static void the_call_is_no_stack(void **state)
{
	struct grt_stack_ends ends;
	struct grt_flame_shape shape = {0};
	struct grt_job_flame_count n;
	struct grt_stacks *tree;

	(void)state;
	assert_int_equal(grt_gpu_time_new(&f), 0);
	assert_int_equal(grt_stacks_new(&tree), 0);
	frame(5, 0, 2, "ioctl");
	frame(5, 1, 2, "__libc_start_main@@GLIBC_2.34");
	frame(6, 0, 1, "__GI___ioctl");
	frame(7, 0, 2, "ioctl");
	frame(7, 1, 2, "mainly_drawn");
	frame(8, 0, 1, "my_drmioctls");
	job(1, 100, 5);
	job(2, 200, 6);
	job(3, 400, 7);
	job(4, 800, 8);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	n = grt_gpu_time_count(f);
	assert_int_equal(n.jobs, 4);
	assert_int_equal(n.no_stack, 1);
	assert_int_equal(n.no_stack_ns, 200);
	assert_int_equal(n.call_only, 1);
	assert_int_equal(n.lost_stack, 0);
	assert_int_equal(grt_gpu_time_ends(f, &ends), 0);
	assert_int_equal(ends.end[GRT_STACK_END_ENTRY].works, 1);
	assert_int_equal(ends.end[GRT_STACK_END_ENTRY].ns, 100);
	assert_int_equal(ends.end[GRT_STACK_END_UNKNOWN].ns, 400 + 800);
	assert_int_equal(ends.none.ns, 200);
	grt_stacks_free(tree);
	grt_gpu_time_free(f);
}

static void stack_end(uint32_t stack, uint32_t why)
{
	struct grt_ev_stack_end e = {.stack = stack, .end = why};

	give(&e.e, GRT_EV_STACK_END, 0, 1);
}

/* Time by why stacks end: 1000 ns of jobs, each in one row. What is no row of the table is unknown. */
static void stacks_say_why_they_end(void **state)
{
	struct grt_flame_shape shape = {0};
	struct grt_stack_ends ends;
	struct grt_stacks *tree;

	(void)state;
	assert_int_equal(grt_gpu_time_new(&f), 0);
	assert_int_equal(grt_stacks_new(&tree), 0);
	/* before and behind its frames */
	stack_end(5, GRT_STACK_END_ENTRY);
	frame(5, 0, 1, "go_entry");
	frame(6, 0, 1, "draw");
	stack_end(6, GRT_STACK_END_NO_TABLE);
	/* no frames of it */
	stack_end(7, GRT_STACK_END_UNREADABLE);
	frame(8, 0, 1, "draw");
	stack_end(8, 4711);
	/* the walk does not know that this is the entry */
	frame(9, 0, 1, "_start");
	stack_end(9, GRT_STACK_END_FRAME_POINTERS);
	/* only the system call, whatever is behind it */
	frame(10, 0, 1, "ioctl");
	stack_end(10, GRT_STACK_END_NO_TABLE);
	for (uint32_t i = 0; i < 6; i++)
		job(i + 1, 1U << i, 5 + i);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	assert_int_equal(grt_gpu_time_ends(f, &ends), 0);
	assert_int_equal(ends.end[GRT_STACK_END_ENTRY].ns, 1 + 16);
	assert_int_equal(ends.end[GRT_STACK_END_ENTRY].works, 2);
	assert_int_equal(ends.end[GRT_STACK_END_NO_TABLE].ns, 2);
	assert_int_equal(ends.end[GRT_STACK_END_UNKNOWN].ns, 8);
	assert_int_equal(ends.none.ns, 4 + 32);
	assert_int_equal(grt_stack_ends_ns(&ends), 63);
	grt_stacks_free(tree);
	grt_gpu_time_free(f);
}

static void window(uint32_t number, uint64_t begin, uint64_t end, uint16_t what)
{
	struct grt_ev_window e = {.begin = begin,
				  .end = end,
				  .number = number,
				  .parts = 4,
				  .of = GRT_WINDOW_JOBS,
				  .what = what};

	give(&e.e, GRT_EV_WINDOW, 0, begin);
}

/* Two windows of four parts: jobs of the one that is over stand for all of the time, those of the other for
 * none. */
static void a_window_without_its_end(void **state)
{
	struct grt_flame_shape shape = {0};
	struct grt_estimate_watched watched;
	struct grt_estimate total;
	struct grt_stacks *tree;

	(void)state;
	process = 70;
	assert_int_equal(grt_gpu_time_new(&f), 0);
	assert_int_equal(grt_stacks_new(&tree), 0);
	grt_gpu_time_within(f, 0, 20000000);
	/* a mark of the beginning */
	window(0, 1, 1, 1);
	window(1, 1000000, 3500000, 1);
	job(1, 100, 0);
	job(2, 200, 0);
	window(1, 1000000, 3500000, 2);
	/* comes later than its window's end */
	job(3, 400, 0);
	window(2, 11000000, 13500000, 1);
	job(11, 5000, 0);
	window(0, 1, 10000001, 2);
	assert_int_equal(grt_gpu_time_tree(f, &shape, tree, GRT_STACKS_NOW), 0);
	assert_true(grt_gpu_time_windows(f, &watched, &total));
	assert_int_equal(watched.windows, 1);
	assert_int_equal(grt_gpu_time_count(f).jobs, 3);
	assert_int_equal(grt_gpu_time_count(f).ns, 700);
	/* of four parts of 2.5 ms one */
	assert_int_equal(total.value, 2800);
	assert_int_equal(weight_of(tree, "pid 70", "[GPU ring 1]"), 2800);
	grt_stacks_free(tree);
	grt_gpu_time_free(f);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(stacks_say_why_they_end),  cmocka_unit_test(several_of_one_name),
		cmocka_unit_test(the_call_is_no_stack),	    cmocka_unit_test(an_id_is_no_stack),
		cmocka_unit_test(a_window_without_its_end),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
