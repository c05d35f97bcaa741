// SPDX-License-Identifier: GPL-2.0
/*
 * Arrays that grow: what stands in them moves along, rooms are those that were
 * asked for, and what cannot be had changes nothing.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(doubles),
		cmocka_unit_test(begins_with_zeros),
		cmocka_unit_test(refuses),
		cmocka_unit_test(one_by_one),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
