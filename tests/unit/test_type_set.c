// SPDX-License-Identifier: GPL-2.0
/* Sets of event types, and the ranges of their numbers. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/type_set.h>

#include "trace/packet.h"

/* Against an array of flags, with numbers of each word and its borders. */
static void a_set_is_what_was_put_into_it(void **state)
{
	static bool in[GRT_EV_MAX];
	struct grt_type_set s, same;

	(void)state;
	grt_types_fill(&s, 0);
	assert_true(grt_types_empty(&s));
	srand(1);
	for (unsigned int round = 0; round < 2000; round++) {
		unsigned int type = (unsigned int)rand() % GRT_EV_MAX;

		in[type] = rand() % 2;
		(in[type] ? grt_types_add : grt_types_del)(&s, type);
	}
	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		assert_int_equal(grt_types_has(&s, type), in[type]);
	assert_false(grt_types_empty(&s));
	same = s;
	assert_true(grt_types_same(&same, &s));
	grt_types_invert(&s);
	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		assert_int_equal(grt_types_has(&s, type), !in[type]);
	assert_false(grt_types_same(&same, &s));
}

static void numbers_past_the_end_are_in_no_set(void **state)
{
	struct grt_type_set s;

	(void)state;
	grt_types_fill(&s, 1);
	assert_true(grt_types_has(&s, GRT_EV_MAX - 1));
	for (unsigned int type = GRT_EV_MAX; type <= UINT16_MAX; type++)
		assert_false(grt_types_has(&s, type));
}

/* Rows of the first format that has ranges: what recordings of it have. */
static void old_events_keep_their_numbers(void **state)
{
	(void)state;
	assert_int_equal(GRT_EV_SUBMIT, 1);
	assert_int_equal(GRT_EV_IOCTL_ENTER, 13);
	assert_int_equal(GRT_EV_VBLANK, 21);
	assert_int_equal(GRT_EV_MEM_CREATE, 24);
	assert_int_equal(GRT_EV_XID, 31);
	assert_int_equal(GRT_EV_FRAME, 34);
	assert_int_equal(GRT_EV_AGGREGATE, 37);
	assert_int_equal(GRT_EV_TSG_DESTROY, 45);
	assert_int_equal(GRT_EV_GPU_OVERHEAD, 55);
	assert_int_equal(GRT_EV_FUNC, 60);
	assert_int_equal(GRT_EV_SAMPLE, 63);
}

static void each_provider_has_a_range_of_its_own(void **state)
{
	static const unsigned int first[] = {GRT_EVENTS_CORE,	GRT_EVENTS_NVIDIA, GRT_EVENTS_CUDA,
					     GRT_EVENTS_ROCM,	GRT_EVENTS_CPU,	   GRT_EVENTS_DISPLAY,
					     GRT_EVENTS_MEMORY, GRT_EVENTS_CUSTOM};
	bool taken[GRT_EV_MAX / GRT_EVENTS_RANGE] = {false};

	(void)state;
	for (size_t i = 0; i < sizeof(first) / sizeof(first[0]); i++) {
		assert_int_equal(first[i] % GRT_EVENTS_RANGE, 0);
		assert_true(first[i] < GRT_EV_MAX);
		assert_false(taken[first[i] / GRT_EVENTS_RANGE]);
		taken[first[i] / GRT_EVENTS_RANGE] = true;
	}
}

/* By number, as recordings of format 5 have them; 34 is FRAME, 38 OWNER_RANK, 59 LOG_TEXT, 46 to 55 are
 * CUDA's. */
static void traits_of_old_events(void **state)
{
	(void)state;
	for (uint16_t type = 1; type < 64; type++) {
		const struct grt_event e = {.type = type, .ctx = 7};
		bool cuda = type >= 46 && type <= 55, gpu = type >= 51 && type <= 55;

		assert_int_equal(grt_has_job(&e), !cuda);
		assert_int_equal(grt_has_trait(&e, GRT_TRAIT_DEFINING), type == 59 || type == 34 ||
										type == 36 || type == 38 ||
										type == 39 || (cuda && !gpu));
		assert_int_equal(grt_has_trait(&e, GRT_TRAIT_LATE), gpu);
		assert_int_equal(grt_has_trait(&e, GRT_TRAIT_COUNTED), type == 46 || gpu);
	}
	for (unsigned int type = GRT_EV_MAX; type <= UINT16_MAX; type++) {
		const struct grt_event e = {.type = (uint16_t)type, .ctx = 7};

		assert_true(grt_has_job(&e));
		assert_false(grt_has_trait(&e, ~0U));
	}
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(a_set_is_what_was_put_into_it),
		cmocka_unit_test(numbers_past_the_end_are_in_no_set),
		cmocka_unit_test(old_events_keep_their_numbers),
		cmocka_unit_test(each_provider_has_a_range_of_its_own),
		cmocka_unit_test(traits_of_old_events),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
