// SPDX-License-Identifier: GPL-2.0
/* Triggers of a black box: which of several late jobs is the incident, with events made by hand. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "cmds/record/triggers.h"

static void give(struct triggers *t, unsigned int type, uint64_t ctx, uint64_t time)
{
	union {
		struct grt_event e;
		struct grt_ev_submit submit;
		struct grt_ev_complete complete;
	} any = {.e = {.type = (uint16_t)type, .time = time, .ctx = ctx, .seqno = 1, .pid = (uint32_t)ctx}};

	assert_int_equal(triggers_see_event(t, &any.e), 0);
}

static void begin(struct triggers *t)
{
	char word[64];

	triggers_init(t);
	/* less than a nanosecond would be no limit */
	assert_string_equal(triggers_parse(t, "job>0.0000000001", word), "job>0.0000000001");
	assert_null(triggers_parse(t, "job>100ns", word));
}

/* Both ends were read at once: their jobs end in another order, and an END may be read before its SUBMIT. */
static void of_jobs_that_have_ended(void **state)
{
	struct incident found;
	struct triggers t;

	(void)state;
	begin(&t);
	give(&t, GRT_EV_SUBMIT, 1, 1000);
	give(&t, GRT_EV_SUBMIT, 2, 1010);
	give(&t, GRT_EV_SUBMIT, 3, 1020);
	give(&t, GRT_EV_COMPLETE, 4, 1500);
	give(&t, GRT_EV_COMPLETE, 1, 1100); /* after exactly its limit */
	give(&t, GRT_EV_COMPLETE, 3, 1200);
	give(&t, GRT_EV_COMPLETE, 2, 1300);
	assert_true(triggers_take(&t, &found));
	assert_int_equal(found.pid, 2);
	assert_int_equal(found.began, 1010);
	assert_int_equal(found.time, 1300);
	assert_string_equal(found.text, "a job was complete 290 ns after its submit");
	assert_false(triggers_take(&t, &found));
	give(&t, GRT_EV_SUBMIT, 4, 990);
	assert_true(triggers_take(&t, &found));
	assert_int_equal(found.pid, 4);
	triggers_free(&t);
}

/* The CPU of the first one is read last, after that of one which is not late yet. */
static void of_jobs_in_flight(void **state)
{
	struct incident found;
	struct triggers t;

	(void)state;
	begin(&t);
	give(&t, GRT_EV_SUBMIT, 1, 1150);
	give(&t, GRT_EV_SUBMIT, 2, 1020);
	give(&t, GRT_EV_SUBMIT, 3, 1000);
	assert_false(triggers_late_job(&t, 1100, true, &found));
	assert_true(triggers_late_job(&t, 1200, false, &found));
	assert_int_equal(found.pid, 3);
	assert_true(triggers_late_job(&t, 1200, true, &found));
	assert_int_equal(found.pid, 3);
	assert_string_equal(found.text, "a job is not complete 200 ns after its submit");
	assert_true(triggers_late_job(&t, 1200, true, &found));
	assert_int_equal(found.pid, 2);
	assert_false(triggers_late_job(&t, 1200, true, &found));
	/* it is the same incident when it ends */
	give(&t, GRT_EV_COMPLETE, 3, 1210);
	assert_false(triggers_take(&t, &found));
	triggers_free(&t);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(of_jobs_that_have_ended),
		cmocka_unit_test(of_jobs_in_flight),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
