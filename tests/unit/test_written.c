// SPDX-License-Identifier: GPL-2.0
/* What traced programs have made and is not here: also of more process images than there is room for. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "trace/flow.h"

static void tell(struct grt_written *w, uint32_t pid, uint64_t image, uint32_t what, uint64_t launches)
{
	struct grt_ev_process p = {
		.e = {.type = GRT_EV_PROCESS, .pid = pid, .ctx = image}, .what = what, .launches = launches};

	assert_int_equal(grt_written_event(w, &p.e), 0);
}

static void give(struct grt_written *w, uint32_t pid, uint64_t launches)
{
	tell(w, pid, 7, 2, launches);
}

static void missing(void **state)
{
	struct grt_written w = {.last = NULL};

	(void)state;
	give(&w, 1, 3);
	give(&w, 2, 4);
	give(&w, 1, 5);
	assert_int_equal(grt_written_missing(&w), 9);
	assert_int_equal(w.untracked, 0);
	grt_written_free(&w);
}

static void launch(struct grt_written *w, uint32_t pid, uint64_t image)
{
	struct grt_ev_launch l = {.e = {.type = GRT_EV_LAUNCH, .pid = pid, .ctx = image}};

	assert_int_equal(grt_written_event(w, &l.e), 0);
}

/* In the oldest segment that is left: what comes late is older than the definitions that are repeated. */
static void begins_again_behind_what_comes_late(void **state)
{
	struct grt_written w = {.last = NULL};

	(void)state;
	launch(&w, 1, 7);
	tell(&w, 1, 7, 2, 100);
	tell(&w, 1, 7, 1, 0);
	tell(&w, 1, 7, 2, 40);
	launch(&w, 1, 7);
	assert_int_equal(grt_written_missing(&w), 98);
	grt_written_free(&w);

	/* without a number it is another image of that pid */
	launch(&w, 1, 0);
	tell(&w, 1, 0, 2, 100);
	tell(&w, 1, 0, 1, 0);
	tell(&w, 1, 0, 2, 40);
	launch(&w, 1, 0);
	assert_int_equal(grt_written_missing(&w), 99 + 39);
	grt_written_free(&w);
}

static void more_than_there_is_room_for(void **state)
{
	const uint32_t given = 600000;
	struct grt_written w = {.last = NULL};

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
		cmocka_unit_test(begins_again_behind_what_comes_late),
		cmocka_unit_test(more_than_there_is_room_for),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
