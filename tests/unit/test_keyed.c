// SPDX-License-Identifier: GPL-2.0
/*
 * Elements by key: random additions, removals and look-ups against an array
 * that is searched; age, bounds, tallies.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdlib.h>
#include <string.h>

#include "base/tally.h"

#define KEYS 300

static struct grt_key key_of(unsigned int i)
{
	/* neighbours differ in one word only, at each place */
	struct grt_key key = {{1, 2, 3, 4}};

	key.w[i % 4] += 1 + i / 4;
	return key;
}

static void as_an_array(void **state)
{
	uint64_t value[KEYS] = {0}, n = 0, clock = 0;
	uint32_t number[KEYS] = {0};
	struct grt_keyed k;

	(void)state;
	srandom(7);
	grt_keyed_init(&k, sizeof(uint64_t), KEYS);
	for (unsigned int step = 0; step < 20000; step++) {
		unsigned int i = (unsigned int)random() % KEYS;
		struct grt_key key = key_of(i);
		uint64_t *e = grt_keyed_find(&k, &key);
		const void *near = grt_keyed_near(&k, number[i], &key);

		/* its number may be that of another one by now, or of none */
		assert_true(!near || near == e);
		assert_int_equal(!!e, !!value[i]);
		if (e) {
			assert_int_equal(*e, value[i]);
			assert_memory_equal(grt_keyed_key(e), &key, sizeof(key));
			number[i] = grt_keyed_number(e);
			assert_ptr_equal(grt_keyed_near(&k, number[i], &key), e);
		}
		if (e && random() % 2) {
			grt_keyed_remove(&k, e);
			value[i] = 0;
		} else if (!e) {
			void *out;

			assert_int_equal(grt_keyed_get(&k, &key, &out), 0);
			assert_int_equal(*(uint64_t *)out, 0);
			assert_int_equal((uintptr_t)out % 16, 0);
			number[i] = grt_keyed_number(out);
			value[i] = *(uint64_t *)out = ++clock;
		}
	}
	/* by age: values grow */
	for (uint64_t *e = grt_keyed_oldest(&k), last = 0; e; last = *e, e = grt_keyed_next(&k, e)) {
		assert_true(*e > last);
		n++;
	}
	assert_int_equal(n, k.used);
	for (unsigned int i = 0; i < KEYS; i++)
		n -= !!value[i];
	assert_int_equal(n, 0);
	grt_keyed_free(&k);
	assert_null(grt_keyed_oldest(&k));
}

static void full(void **state)
{
	struct grt_key key = key_of(0);
	struct grt_keyed k;
	void *out;

	(void)state;
	grt_keyed_init(&k, 100, 3);
	for (unsigned int i = 0; i < 3; i++) {
		key = key_of(i);
		assert_false(grt_keyed_full(&k));
		assert_int_equal(grt_keyed_get(&k, &key, &out), 0);
	}
	assert_true(grt_keyed_full(&k));
	assert_int_equal(grt_keyed_get(&k, &key, &out), 0);
	key = key_of(3);
	assert_int_equal(grt_keyed_get(&k, &key, &out), -ENOSPC);
	grt_keyed_remove(&k, grt_keyed_oldest(&k));
	assert_int_equal(grt_keyed_get(&k, &key, &out), 0);
	key = key_of(0);
	assert_null(grt_keyed_find(&k, &key));
	grt_keyed_free(&k);
}

static void tally(void **state)
{
	const struct grt_tally_row **row;
	struct grt_tally t;

	(void)state;
	grt_tally_init(&t, 3);
	for (uint64_t i = 0; i < 10; i++) {
		struct grt_key key = {{i < 6 ? 1 : i < 9 ? i / 8 + 2 : 99}};

		assert_int_equal(grt_tally_add(&t, &key, i, 100 + i), 0);
	}
	assert_int_equal(grt_tally_list(&t, &row), 0);
	assert_int_equal(t.rows.used, 3);
	assert_int_equal(t.over, 1);
	assert_int_equal(row[0]->key.w[0], 1);
	assert_int_equal(row[0]->count, 6);
	assert_int_equal(row[0]->sum, 15);
	assert_int_equal(row[0]->first, 100);
	assert_int_equal(row[0]->last, 105);
	assert_int_equal(row[1]->key.w[0], 2);
	assert_int_equal(row[1]->count, 2);
	assert_int_equal(row[2]->key.w[0], 3);
	free(row);
	grt_tally_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(as_an_array),
		cmocka_unit_test(full),
		cmocka_unit_test(tally),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
