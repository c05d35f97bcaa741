// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays that grow: what stands in them moves along, rooms are those that were
 * asked for, and what cannot be had changes nothing; and those that are in a file.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>

#include "base/containers.h"
#include "base/spill.h"

#define ELEMENTS 1000U

static void doubles(void **state)
{
	uint32_t *e = NULL, room = 0;
	uint32_t rooms = 0, before = 0;

	(void)state;
	for (uint32_t used = 0; used < ELEMENTS; used++) {
		assert_int_equal(grt_grow(&e, &room, used + 1, 3), 0);
		assert_true(room > used);
		rooms += room != before;
		before = room;
		e[used] = used;
	}
	for (uint32_t i = 0; i < ELEMENTS; i++)
		assert_int_equal(e[i], i);
	/* 3, 6, ..., 1536 */
	assert_int_equal(room, 1536);
	assert_int_equal(rooms, 10);
	/* all at once, and what there is room for */
	assert_int_equal(grt_grow(&e, &room, 10000, 3), 0);
	assert_int_equal(room, 12288);
	assert_int_equal(e[ELEMENTS - 1], ELEMENTS - 1);
	assert_int_equal(grt_grow(&e, &room, 12288, 3), 0);
	assert_int_equal(room, 12288);
	free(e);
}

static void begins_with_zeros(void **state)
{
	uint64_t *e = NULL;
	uint16_t room = 0;

	(void)state;
	for (unsigned int n = 1; n < ELEMENTS; n += 7) {
		unsigned int had = room;

		assert_int_equal(grt_grow_zeroed(&e, &room, n, 4), 0);
		for (unsigned int i = 0; i < room; i++)
			assert_int_equal(e[i], i < had ? UINT64_MAX : 0);
		memset(e, 0xff, room * sizeof(*e));
	}
	free(e);
}

static void refuses(void **state)
{
	uint64_t *e = NULL, *as_before;
	size_t bytes = 0;
	uint8_t room = 0;

	(void)state;
	assert_int_equal(grt_grow(&e, &room, 100, 64), 0);
	assert_int_equal(room, 128);
	as_before = e;
	/* 256 is no number of its type */
	assert_int_equal(grt_grow(&e, &room, 200, 64), -ENOMEM);
	assert_ptr_equal(e, as_before);
	assert_int_equal(room, 128);
	free(e);
	e = NULL;
	/* as a size it would be 0 bytes */
	assert_int_equal(grt_grow(&e, &bytes, SIZE_MAX / 8 + 1, 1), -ENOMEM);
	assert_int_equal(grt_grow_zeroed(&e, &bytes, SIZE_MAX, 64), -ENOMEM);
	assert_null(e);
	assert_int_equal(bytes, 0);
}

static void one_by_one(void **state)
{
	uint32_t *e = NULL;

	(void)state;
	for (uint32_t used = 0; used < ELEMENTS; used++) {
		const uint32_t *before = e;

		assert_int_equal(grt_grow_one(&e, used), 0);
		/* only at powers of two */
		if (used & (used - 1))
			assert_ptr_equal(e, before);
		e[used] = used;
	}
	for (uint32_t i = 0; i < ELEMENTS; i++)
		assert_int_equal(e[i], i);
	free(e);
}

/* Adds @n records of three words, and changes one of them in the whole. Return: whether it is in a file */
static bool spill(uint64_t n)
{
	struct grt_spill s = {.at = NULL};
	uint64_t *all, wrong = 0;
	bool in_file;

	for (uint64_t i = 0; i < n; i++)
		assert_int_equal(grt_spill_add(&s, (uint64_t[]){i, i * i, ~i}, 24), 0);
	/* what waits in memory is bounded where there is a file */
	in_file = s.fd && !s.stuck;
	if (in_file)
		assert_true(s.room <= GRT_SPILL_BYTES && s.used < GRT_SPILL_BYTES);
	assert_int_equal(grt_spill_use(&s, &all), 0);
	assert_int_equal(in_file, s.map != NULL);
	for (uint64_t i = 0; i < n; i++) {
		wrong += all[3 * i] != i || all[3 * i + 1] != i * i || all[3 * i + 2] != ~i;
		all[3 * i + 1] = i + 7;
		if (!(i % 100000))
			grt_spill_leave(&s);
	}
	grt_spill_leave(&s);
	for (uint64_t i = 0; i < n; i++)
		wrong += all[3 * i] != i || all[3 * i + 1] != i + 7 || all[3 * i + 2] != ~i;
	assert_int_equal(wrong, 0);
	grt_spill_free(&s);
	return in_file;
}

/* Arrays that are in a file from some size on, and in memory where there can be none. */
static void spills(void **state)
{
	const uint64_t many = 3 * GRT_SPILL_BYTES / 24;
	struct rlimit now, less = {.rlim_cur = 2 * GRT_SPILL_BYTES - 1000, .rlim_max = RLIM_INFINITY};
	const char *dir = getenv("TMPDIR");
	char *before = dir ? strdup(dir) : NULL;

	(void)state;
	assert_false(spill(0));
	assert_false(spill(1000));
	assert_true(spill(many));
	/* the second part does not fit any more */
	signal(SIGXFSZ, SIG_IGN);
	assert_int_equal(getrlimit(RLIMIT_FSIZE, &now), 0);
	less.rlim_max = now.rlim_max;
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &less), 0);
	assert_false(spill(many));
	assert_int_equal(setrlimit(RLIMIT_FSIZE, &now), 0);
	setenv("TMPDIR", "/nonexistent", 1);
	assert_false(spill(many));
	if (before)
		setenv("TMPDIR", before, 1);
	else
		unsetenv("TMPDIR");
	free(before);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles), cmocka_unit_test(begins_with_zeros),
		cmocka_unit_test(refuses), cmocka_unit_test(one_by_one),
		cmocka_unit_test(spills),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
