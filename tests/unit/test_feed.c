// SPDX-License-Identifier: GPL-2.0
/*
 * Records from one thread to several: each reader gets what is for it, all of it, in order, and unchanged.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>
#include <unistd.h>

#include "base/feed.h"

#define READERS 3U
#define RECORDS 60000U

/* A record of the test, by its number: for whom it is, and its words. */
static unsigned int readers_of(uint32_t n)
{
	/* now and then there is nothing for anybody, and nothing for the third one at first */
	return n * 2654435761U >> 29 & (n < RECORDS / 2 ? 3U : 7U);
}

static uint32_t words_of(uint32_t n)
{
	return n % 997 == 0 ? (UINT16_MAX + 1024U) / 8 : 1 + n * 40503U % 61;
}

struct seen {
	unsigned int bit;
	uint32_t next;
	uint32_t taken;
	unsigned int wrong;
	unsigned int sleep_us;
};

static void take_one(struct seen *s, const struct grt_feed_record *r)
{
	if (!(r->readers & s->bit))
		return;
	while (s->next < RECORDS && !(readers_of(s->next) & s->bit))
		s->next++;
	s->wrong += r->kind != s->next % 1000 || r->size != sizeof(*r) + 8 * words_of(s->next);
	for (uint32_t i = 0; i < words_of(s->next) && !s->wrong; i++)
		s->wrong += r->payload[i] != (uint64_t)s->next * 1000003 + i;
	s->next++;
	s->taken++;
}

static void take(void *arg, const struct grt_feed_record *r, const struct grt_feed_record *end)
{
	struct seen *s = arg;

	if (s->sleep_us)
		usleep(s->sleep_us);
	for (; r != end; r = grt_feed_next(r))
		take_one(s, r);
}

static void put_all(struct grt_feed *f)
{
	for (uint32_t n = 0; n < RECORDS; n++) {
		uint32_t words = words_of(n);
		uint64_t *p = grt_feed_put(f, n % 1000, readers_of(n), 8 * words - n % 8);
		/* what is not asked for is there to round up */
		uint64_t last = (uint64_t)n * 1000003 + words - 1;

		for (uint32_t i = 0; i + 1 < words; i++)
			p[i] = (uint64_t)n * 1000003 + i;
		memcpy(p + words - 1, &last, sizeof(last));
	}
}

static void check_order(unsigned int threads)
{
	/* the second one is slow, so that the writer waits for it */
	struct seen seen[READERS] = {{.sleep_us = 0}, {.sleep_us = 1000}, {.sleep_us = 0}};
	uint32_t due[READERS] = {0};
	struct grt_feed *f;

	assert_int_equal(grt_feed_new(&f, threads), 0);
	for (unsigned int i = 0; i < READERS; i++) {
		seen[i].bit = grt_feed_reader(f, take, &seen[i]);
		for (uint32_t n = 0; n < RECORDS; n++)
			due[i] += readers_of(n) >> i & 1;
	}
	put_all(f);
	grt_feed_end(f);
	for (unsigned int i = 0; i < READERS; i++) {
		assert_int_equal(seen[i].wrong, 0);
		assert_int_equal(seen[i].taken, due[i]);
		assert_true(due[i] > 0);
	}
	assert_true(f->full > GRT_FEED_BATCHES);
	assert_true(f->run <= threads && f->run <= READERS);
	grt_feed_free(f);
}

/* With fewer threads than readers, and with more; without one, the writer reads everything. */
static void test_order(void **state)
{
	for (unsigned int threads = 0; threads < READERS + 2; threads++)
		check_order(threads);
}

/* Nothing is put. */
static void test_nothing(void **state)
{
	struct seen seen = {.sleep_us = 0};
	struct grt_feed *f;

	assert_int_equal(grt_feed_new(&f, 2), 0);
	grt_feed_reader(f, take, &seen);
	grt_feed_end(f);
	assert_int_equal(seen.taken, 0);
	grt_feed_free(f);
	grt_feed_free(NULL);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_order),
		cmocka_unit_test(test_nothing),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
