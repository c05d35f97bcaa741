// SPDX-License-Identifier: GPL-2.0
/* The lanes of a page are bounded, however often a thread changes its state. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <stdio.h>
#include <unistd.h>

#include "export/lanes.h"
#include "trace/session.h"

/* They make three pieces each: one of them of the thread on its CPU, one of it without a CPU. */
#define SLEEPS 400000U
/* Of a page with its scripts. */
#define PAGE_MAX (2 << 20)

static void sleeps(struct grt_lanes *l)
{
	static const uint8_t why[] = {GRT_THREAD_LOCK, GRT_THREAD_IO, GRT_THREAD_SLEEP, GRT_THREAD_GPU};
	struct grt_consumer *c = grt_lanes_consumer(l);
	uint32_t random = 1;
	uint64_t time = 1000;

	for (uint32_t i = 0; i < SLEEPS; i++) {
		struct grt_ev_asleep e = {
			.e = {.type = GRT_EV_ASLEEP, .size = sizeof(e), .pid = 7, .tid = 7},
			.number = i + 1,
			.over = 1,
			.state = 1,
			.reason = why[i % 4],
		};

		random = random * 1103515245 + 12345;
		e.start = time + 100 + (random >> 16 & 1023);
		e.woken = e.start + 500 + (random >> 8 & 1023);
		e.e.time = time = e.woken + 50 + (random >> 20 & 255);
		assert_int_equal(c->event(c, &e.e, 0), 0);
	}
}

static void test_pieces_without_end(void **state)
{
	struct grt_session s = {.env = {.used = 0}};
	FILE *file = tmpfile();
	struct grt_outbuf buf;
	struct grt_lanes *l;
	struct grt_page p;

	(void)state;
	assert_non_null(file);
	assert_int_equal(grt_outbuf_init(&buf, fileno(file)), 0);
	assert_int_equal(grt_lanes_new(&l), 0);
	grt_lanes_within(l, 1000, UINT64_MAX);
	sleeps(l);
	assert_int_equal(grt_lanes_end(l), 0);
	grt_page_begin(&p, &buf, "lanes");
	grt_lanes_put(l, &s, &p);
	assert_int_equal(grt_page_end(&p), 0);
	assert_int_equal(grt_outbuf_flush(&buf), 0);
	assert_in_range(lseek(fileno(file), 0, SEEK_END), 100000, PAGE_MAX);
	grt_lanes_free(l);
	grt_outbuf_fini(&buf);
	fclose(file);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_pieces_without_end)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
