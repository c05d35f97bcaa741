// SPDX-License-Identifier: GPL-2.0
/* What traced programs have made and is not here: also of more process images than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/written.h"

static void give(struct grt_written *w, uint32_t pid, uint64_t launches)
{
	struct grt_ev_process p = {.e = {.type = GRT_EV_PROCESS, .pid = pid, .ctx = 7}, .what = 2, .launches = launches};

	assert_int_equal(grt_written_event(w, &p.e), 0);
}

static void missing(void **state)
{
	struct grt_written w = {.images = 0};

	(void)state;
	give(&w, 1, 3);
	give(&w, 2, 4);
	give(&w, 1, 5);
	assert_int_equal(grt_written_missing(&w), 9);
	assert_int_equal(w.untracked, 0);
	grt_written_free(&w);
}

static void more_than_there_is_room_for(void **state)
{
	const uint32_t given = 600000;
	struct grt_written w = {.images = 0};

	(void)state;
	for (uint32_t i = 1; i <= given; i++)
		give(&w, i, 1);
	/* each misses one, or is said not to be known */
	assert_int_equal(grt_written_missing(&w) + w.untracked, given);
	assert_in_range(w.untracked, 1, given / 4);
	grt_written_free(&w);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(missing),
		cmocka_unit_test(more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
