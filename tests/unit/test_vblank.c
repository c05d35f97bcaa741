// SPDX-License-Identifier: GPL-2.0
/*
 * Vertical blanks: rate, missed frames, joins of requests with deliveries, and
 * bounds, with events made by hand.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "drm/vblank.h"

enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) type_##name = (id),
#include <grtrace/events.def>
#undef GRT_EVENT
};

#define GIVE(evt, at, ...)                                                                                  \
	assert_int_equal(grt_vblank_event(v, &((struct grt_ev_##evt){.e.type = type_##evt,                  \
								     .e.time = (at),                        \
								     .e.size = sizeof(struct grt_ev_##evt), \
								     ##__VA_ARGS__})                        \
						      .e),                                                  \
			 0)
#define FRAME(seq, at, ...) GIVE(vblank, (at) + 7, .vseq = (seq), .stamp = (at), ##__VA_ARGS__)
#define ASK(seq, at, ...) GIVE(vblank_queued, at, .vseq = (seq), .file = 1, ##__VA_ARGS__)
#define DELIVER(seq, at, ...) GIVE(vblank_delivered, at, .vseq = (seq), .file = 1, ##__VA_ARGS__)

static struct grt_vblank *begin(uint32_t asked)
{
	struct grt_vblank *v;

	assert_int_equal(grt_vblank_new(&v, asked), 0);
	return v;
}

static const struct grt_crtc *crtc(const struct grt_vblank *v, uint32_t number)
{
	const struct grt_crtc *c = NULL;

	while ((c = grt_vblank_each(v, c)))
		if (c->crtc == number)
			return c;
	fail_msg("no CRTC %u", number);
	return NULL;
}

static void rate_and_missed(void **state)
{
	struct grt_vblank *v = begin(0);
	const struct grt_crtc *c;
	uint64_t mhz;

	(void)state;
	FRAME(10, 1000000000, .high_prec = 1);
	c = crtc(v, 0);
	assert_false(grt_vblank_rate(c, &mhz));
	FRAME(11, 1010000000, .high_prec = 1);
	/* 12 to 14 missed; the rate is by numbers, not by events */
	FRAME(15, 1050000000);
	assert_true(grt_vblank_rate(c, &mhz));
	assert_int_equal(mhz, 100000);
	assert_int_equal(c->frames, 3);
	assert_int_equal(c->missed, 3);
	assert_int_equal(c->precise, 2);
	/* over the end of the counter */
	FRAME(UINT32_MAX, 2000000000, .crtc = 1);
	FRAME(0, 2010000000, .crtc = 1);
	assert_int_equal(crtc(v, 1)->missed, 0);
	assert_int_equal(crtc(v, 1)->span_frames, 1);
	grt_vblank_free(v);
}

static void numbers_that_do_not_grow(void **state)
{
	struct grt_vblank *v = begin(0);
	const struct grt_crtc *c;

	(void)state;
	FRAME(1000, 1000000);
	FRAME(1000, 1000000);
	FRAME(3, 2000000);
	/* a stamp that goes back */
	FRAME(4, 1500000);
	FRAME(5, 2500000);
	c = crtc(v, 0);
	assert_int_equal(c->back, 3);
	assert_int_equal(c->missed, 0);
	assert_int_equal(c->span_ns, 1000000);
	grt_vblank_free(v);
}

static void requests(void **state)
{
	struct grt_vblank *v = begin(0);
	const struct grt_crtc *c;

	(void)state;
	ASK(21, 100);
	/* another file, CRTC, frame: not it */
	ASK(21, 110, .e.device = 1);
	GIVE(vblank_queued, 110, .vseq = 21, .file = 2);
	GIVE(vblank_queued, 110, .vseq = 21, .file = 1, .crtc = 1);
	FRAME(21, 1000);
	DELIVER(21, 2001000);
	c = crtc(v, 0);
	assert_int_equal(c->asked, 2);
	assert_int_equal(c->delivered, 1);
	assert_int_equal(c->joined, 1);
	assert_int_equal(c->since_asked.max, 2000900);
	assert_int_equal(c->since_vblank.max, 2000000);
	assert_int_equal(c->late_asked, 1);
	assert_int_equal(c->late_vblank, 1);
	assert_int_equal(grt_vblank_count(v).open, 3);
	/* exactly 1 ms is not over it; nobody asked */
	DELIVER(21, 1001000);
	assert_int_equal(c->late_vblank, 1);
	assert_int_equal(c->joined, 1);
	assert_int_equal(c->delivered, 2);
	/* not the frame that was seen last: no time since it */
	DELIVER(20, 5000000);
	assert_int_equal(grt_weight_count(c->since_vblank.weight), 2);
	grt_vblank_free(v);
}

/* drm_vblank.c delivers the events of a frame, then tells of its VBLANK. */
static void delivered_first(void **state)
{
	struct grt_vblank *v = begin(0);
	const struct grt_crtc *c;

	(void)state;
	ASK(21, 100);
	DELIVER(21, 1700);
	/* another display's frame of the same number, and a late one between the two */
	GIVE(vblank_delivered, 1800, .vseq = 21, .file = 1, .crtc = 1);
	DELIVER(21, 1900);
	FRAME(21, 1000);
	DELIVER(21, 2500);
	c = crtc(v, 0);
	assert_int_equal(c->delivered, 3);
	assert_int_equal(grt_weight_count(c->since_vblank.weight), 3);
	assert_int_equal(c->since_vblank.min, 700);
	assert_int_equal(c->since_vblank.max, 1500);
	/* of a frame that is not told next, nothing is known */
	DELIVER(22, 3000);
	FRAME(23, 4000);
	assert_int_equal(grt_weight_count(c->since_vblank.weight), 3);
	/* its scan-out began later: that is no time, and counted */
	DELIVER(24, 5000);
	FRAME(24, 5400);
	assert_int_equal(grt_weight_count(c->since_vblank.weight), 3);
	assert_int_equal(c->ahead, 1);
	assert_int_equal(grt_weight_count(crtc(v, 1)->since_vblank.weight), 0);
	grt_vblank_free(v);
}

static void without_frames(void **state)
{
	struct grt_vblank *v = begin(0);
	const struct grt_crtc *c;

	(void)state;
	DELIVER(0, 100);
	DELIVER(0, 200);
	c = crtc(v, 0);
	assert_int_equal(c->no_frame, 2);
	assert_int_equal(c->delivered, 0);
	assert_int_equal(c->since_vblank.weight, 0);
	grt_vblank_free(v);
}

static void bounds(void **state)
{
	struct grt_vblank *v = begin(3);

	(void)state;
	for (uint32_t i = 1; i <= 5; i++)
		ASK(i, i);
	ASK(5, 9);
	assert_int_equal(grt_vblank_count(v).open, 3);
	assert_int_equal(grt_vblank_count(v).forgotten, 2);
	assert_int_equal(grt_vblank_count(v).repeated, 1);
	DELIVER(2, 100);
	DELIVER(5, 105);
	assert_int_equal(crtc(v, 0)->joined, 1);
	/* the first of both requests is timed */
	assert_int_equal(crtc(v, 0)->since_asked.max, 100);
	for (uint16_t i = 0; i < GRT_VBLANK_CRTCS_MAX + 3; i++)
		FRAME(1, 1, .crtc = i);
	assert_int_equal(grt_vblank_count(v).over, 3);
	grt_vblank_free(v);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(rate_and_missed), cmocka_unit_test(numbers_that_do_not_grow),
		cmocka_unit_test(requests),	   cmocka_unit_test(delivered_first),
		cmocka_unit_test(without_frames),  cmocka_unit_test(bounds),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
