// SPDX-License-Identifier: GPL-2.0
/*
 * GPU memory: what is live over time and by process, placements, moves,
 * bindings and the objects bound most often, with events made by hand; bounds.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "drm/memory.h"

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#define GIVE(evt, stamp, obj, ...)                                                                          \
	assert_int_equal(grt_memory_event(m, &((struct grt_ev_##evt){.e.type = type_##evt,                  \
								     .e.time = (stamp),                     \
								     .e.size = sizeof(struct grt_ev_##evt), \
								     .object = (obj),                       \
								     ##__VA_ARGS__})                        \
						      .e),                                                  \
			 0)

static struct grt_memory *begin(uint32_t objects)
{
	struct grt_memory *m;

	assert_int_equal(grt_memory_new(&m, objects), 0);
	return m;
}

static void live_and_growth(void **state)
{
	struct grt_memory *m = begin(0);
	const struct grt_mem_count *c = grt_memory_count(m);
	const struct grt_mem_process **p;
	uint32_t n;

	(void)state;
	GIVE(mem_create, 10, 1, .bytes = 100, .e.pid = 70, .e.tid = 71);
	GIVE(mem_create, 20, 2, .bytes = 1000, .e.pid = 80, .e.tid = 80);
	/* destroyed by another process: the creator's growth */
	GIVE(mem_destroy, 30, 1, .e.pid = 80, .e.tid = 80);
	GIVE(mem_create, 40, 3, .bytes = 7, .e.pid = 70, .e.tid = 72);
	GIVE(mem_destroy, 50, 99);
	assert_int_equal(c->live.objects, 2);
	assert_int_equal(c->live.bytes, 1007);
	assert_int_equal(c->live_max.bytes, 1100);
	assert_int_equal(c->live_min.bytes, 100);
	assert_int_equal(c->live_max.objects, 2);
	assert_int_equal(c->live_min.objects, 1);
	assert_int_equal(c->older, 1);
	assert_int_equal(grt_memory_processes(m, &p, &n), 0);
	assert_int_equal(n, 2);
	assert_int_equal(p[0]->pid, 80);
	assert_int_equal(p[0]->created.bytes - p[0]->destroyed.bytes, 1000);
	assert_int_equal(p[1]->pid, 70);
	assert_int_equal(p[1]->created.bytes, 107);
	assert_int_equal(p[1]->destroyed.bytes, 100);
	free(p);
	grt_memory_free(m);
}

static void a_number_that_is_given_again(void **state)
{
	struct grt_memory *m = begin(0);
	const struct grt_mem_count *c = grt_memory_count(m);

	(void)state;
	GIVE(mem_create, 10, 1, .bytes = 100, .e.pid = 70);
	/* its destruction was lost */
	GIVE(mem_create, 20, 1, .bytes = 40, .e.pid = 80);
	assert_int_equal(c->live.objects, 1);
	assert_int_equal(c->live.bytes, 40);
	assert_int_equal(c->destroyed.bytes, 100);
	/* the same number on another device is another object */
	GIVE(mem_create, 30, 1, .bytes = 5, .e.device = 2);
	assert_int_equal(c->live.objects, 2);
	grt_memory_free(m);
}

static void over_time(void **state)
{
	struct grt_mem_slice s[GRT_MEMORY_SLICES];
	struct grt_memory *m = begin(0);
	uint64_t first, width, last = 0;
	unsigned int n, used = 0;

	(void)state;
	/* a sawtooth of 3 s: 10 objects are made, and destroyed again */
	for (uint64_t i = 0; i < 3000; i++) {
		uint64_t step = i % 20, time = 5000 + i * 1000000;

		if (step < 10)
			GIVE(mem_create, time, 100 + step, .bytes = 1, .e.pid = 1);
		else
			GIVE(mem_destroy, time, 100 + step - 10);
	}
	n = grt_memory_slices(m, s, &first, &width);
	assert_true(n > GRT_MEMORY_SLICES / 2 && n <= GRT_MEMORY_SLICES);
	assert_int_equal(first, 5000);
	assert_true(first + n * width > 5000 + 2999 * UINT64_C(1000000));
	for (unsigned int i = 0; i < n; i++) {
		used += s[i].used;
		assert_int_equal(s[i].bytes_min, 0);
		assert_int_equal(s[i].bytes_max, 10);
		assert_int_equal(s[i].bytes_end, s[i].objects);
		last = s[i].bytes_end;
	}
	assert_int_equal(used, n);
	assert_int_equal(last, grt_memory_count(m)->live.bytes);
	grt_memory_free(m);
}

/* Stamps as far apart as there are, and not in order. */
static void any_time(void **state)
{
	struct grt_mem_slice s[GRT_MEMORY_SLICES];
	struct grt_memory *m = begin(0);
	uint64_t first, width;
	unsigned int n;

	(void)state;
	GIVE(mem_create, 1, 1, .bytes = 1);
	GIVE(mem_create, UINT64_MAX, 2, .bytes = 1);
	GIVE(mem_create, 0, 3, .bytes = 1);
	n = grt_memory_slices(m, s, &first, &width);
	assert_true(n > 1 && n <= GRT_MEMORY_SLICES);
	assert_int_equal(s[0].bytes_max, 3);
	assert_int_equal(s[n - 1].bytes_max, 2);
	grt_memory_free(m);
}

static void placement_and_moves(void **state)
{
	struct grt_memory *m = begin(0);
	const struct grt_mem_count *c = grt_memory_count(m);
	const struct grt_tally_row **row;

	(void)state;
	GIVE(mem_create, 1, 1, .bytes = 10, .wanted = 4, .placed = 2, .mflags = 1);
	GIVE(mem_create, 1, 2, .bytes = 20, .wanted = 6, .placed = 1, .mflags = 3);
	GIVE(mem_create, 1, 3, .bytes = 40, .wanted = 2, .placed = 1);
	GIVE(mem_create, 1, 4, .bytes = 80, .wanted = 4, .placed = UINT32_MAX, .mflags = 2);
	assert_int_equal(c->vram_wanted.bytes, 110);
	assert_int_equal(c->vram_in_gtt.objects, 1);
	assert_int_equal(c->vram_in_gtt.bytes, 20);
	assert_int_equal(c->cpu_visible.bytes, 30);
	GIVE(mem_move, 5, 2, .bytes = 0, .from = 1, .to = 2);
	GIVE(mem_move, 6, 9, .bytes = 1000, .from = 1, .to = 2);
	GIVE(mem_move, 7, 9, .bytes = 0, .from = 2, .to = 1);
	assert_int_equal(grt_tally_list(grt_memory_moves(m), &row), 0);
	assert_int_equal(grt_memory_moves(m)->rows.used, 2);
	assert_int_equal(row[0]->key.w[0], 1);
	assert_int_equal(row[0]->key.w[1], 2);
	assert_int_equal(row[0]->count, 2);
	/* the object's size where the event has none */
	assert_int_equal(row[0]->sum, 1020);
	assert_int_equal(row[1]->sum, 0);
	assert_int_equal(c->unsized_moves, 1);
	free(row);
	grt_memory_free(m);
}

static void bindings(void **state)
{
	struct grt_memory *m = begin(0);
	const struct grt_mem_count *c = grt_memory_count(m);
	struct grt_mem_object top[GRT_MEMORY_TOP];

	(void)state;
	for (uint64_t obj = 1; obj <= 14; obj++)
		for (uint64_t i = 0; i < obj; i++)
			GIVE(mem_bind, 10, obj, .bytes = 4096 * obj);
	/* gone, and still among the first */
	GIVE(mem_destroy, 20, 13);
	GIVE(mem_destroy, 20, 2);
	assert_int_equal(c->binds, 14 * 15 / 2);
	assert_int_equal(c->rebinds, 14 * 15 / 2 - 14);
	assert_int_equal(grt_memory_bind_sizes(m)->max, 4096 * 14);
	assert_int_equal(grt_memory_top(m, top), GRT_MEMORY_TOP);
	for (unsigned int i = 0; i < GRT_MEMORY_TOP; i++) {
		assert_int_equal(top[i].object, 14 - i);
		assert_int_equal(top[i].binds, 14 - i);
		assert_int_equal(top[i].bytes, 4096 * (14 - i));
		assert_false(top[i].created);
	}
	grt_memory_free(m);
}

static void faults_and_shrinks(void **state)
{
	struct grt_memory *m = begin(0);
	const struct grt_mem_count *c = grt_memory_count(m);
	struct grt_ev_mem_shrink shrink = {.e = {.type = type_mem_shrink, .size = sizeof(shrink)}};
	const struct grt_tally_row **row;

	(void)state;
	GIVE(mem_fault, 1, 1, .gtt = 1, .writing = 1);
	GIVE(mem_fault, 1, 1, .gtt = 1);
	GIVE(mem_fault, 1, 1, .gtt = 1);
	GIVE(mem_fault, 1, 1, .writing = 7);
	assert_int_equal(c->faults[1][1], 1);
	assert_int_equal(c->faults[1][0], 2);
	assert_int_equal(c->faults[0][1], 1);
	assert_int_equal(c->faults[0][0], 0);
	for (uint64_t i = 0; i < 3; i++) {
		shrink.target = 100;
		shrink.mflags = i ? 3 : 1;
		assert_int_equal(grt_memory_event(m, &shrink.e), 0);
	}
	assert_int_equal(c->shrinks, 3);
	assert_int_equal(grt_tally_list(grt_memory_shrinks(m), &row), 0);
	assert_int_equal(row[0]->key.w[0], 3);
	assert_int_equal(row[0]->sum, 200);
	assert_int_equal(row[1]->sum, 100);
	free(row);
	grt_memory_free(m);
}

static void bounds(void **state)
{
	struct grt_memory *m = begin(8);
	const struct grt_mem_count *c = grt_memory_count(m);

	(void)state;
	for (uint64_t i = 0; i < 11; i++)
		GIVE(mem_create, i, i, .bytes = 1, .e.pid = (uint32_t)i);
	assert_int_equal(c->forgotten, 3);
	assert_int_equal(c->live.objects, 11);
	/* of a forgotten one nothing is known any more */
	GIVE(mem_destroy, 20, 0);
	GIVE(mem_destroy, 20, 10);
	assert_int_equal(c->older, 1);
	assert_int_equal(c->live.objects, 10);
	for (uint32_t i = 0; i < GRT_MEMORY_PROCESSES_MAX; i++)
		GIVE(mem_create, 30, 100 + i, .bytes = 1, .e.pid = 1000 + i);
	assert_int_equal(c->over, 11);
	for (uint32_t i = 0; i < GRT_MEMORY_KINDS_MAX + 2; i++)
		GIVE(mem_move, 40, 1, .from = i, .bytes = 1);
	assert_int_equal(grt_memory_moves(m)->over, 2);
	assert_int_equal(c->moves, GRT_MEMORY_KINDS_MAX + 2);
	grt_memory_free(m);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(live_and_growth),     cmocka_unit_test(a_number_that_is_given_again),
		cmocka_unit_test(over_time),	       cmocka_unit_test(any_time),
		cmocka_unit_test(placement_and_moves), cmocka_unit_test(bindings),
		cmocka_unit_test(faults_and_shrinks),  cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
