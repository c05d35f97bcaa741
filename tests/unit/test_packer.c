// SPDX-License-Identifier: GPL-2.0
/*
 * Events in, packets out: order, names, balance.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/packer.h"

#define BYTES ((size_t)1 << 20)

static char buf[BYTES] __attribute__((aligned(8)));
static const struct grt_packer_counts none;

static struct grt_packer *new_packer(unsigned int cpus)
{
	struct grt_packer *p;

	assert_int_equal(grt_packer_new(&p, cpus), 0);
	return p;
}

static int add(struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t tid)
{
	struct grt_ev_submit e = {.e = {.time = time,
					.type = GRT_EV_SUBMIT,
					.size = sizeof(e),
					.tid = tid,
					.ring = GRT_RING_NONE}};

	return grt_packer_add(p, cpu, &e.e);
}

static size_t read_all(struct grt_packer *p, unsigned int cpu, const struct grt_packer_counts *counts)
{
	return grt_packer_read(p, cpu, buf, sizeof(buf), 1000000, GRT_PACK_ALL, counts);
}

static const struct grt_packet *packet(size_t at)
{
	return (const struct grt_packet *)(buf + at);
}

/* Record number @n of the packet, NULL behind the last one. */
static const struct grt_event *record(const struct grt_packet *p, unsigned int n)
{
	size_t at = p->header_size;
	const struct grt_event *e;

	for (;; at += e->size) {
		if (at >= p->content_size / 8)
			return NULL;
		e = (const struct grt_event *)((const char *)p + at);
		if (!n--)
			return e;
	}
}

static const char *name_of(const struct grt_event *e)
{
	assert_int_equal(e->type, GRT_EV_NAME);
	return ((const struct grt_ev_name *)e)->name;
}

static void events_leave_in_order(void **state)
{
	struct grt_packer *p = new_packer(2);

	(void)state;
	assert_int_equal(add(p, 1, 100, 0), 0);
	assert_int_equal(add(p, 1, 300, 0), 0);
	assert_int_equal(add(p, 1, 200, 0), 0);
	assert_int_equal(add(p, 1, 50, 0), 0);
	assert_int_equal(add(p, 1, 300, 7), 0);
	assert_int_equal(read_all(p, 1, &none), sizeof(struct grt_packet) + 5 * sizeof(struct grt_ev_submit));
	assert_int_equal(packet(0)->cpu_id, 1);
	assert_int_equal(packet(0)->timestamp_begin, 50);
	assert_int_equal(packet(0)->timestamp_end, 300);
	for (unsigned int i = 0; i < 4; i++)
		assert_true(record(packet(0), i)->time <= record(packet(0), i + 1)->time);
	/* equal stamps keep their order */
	assert_int_equal(record(packet(0), 4)->tid, 7);
	assert_null(record(packet(0), 5));
	grt_packer_free(p);
}

static void what_left_cannot_be_overtaken(void **state)
{
	struct grt_packer *p = new_packer(1);
	size_t n;

	(void)state;
	add(p, 0, 100, 0);
	add(p, 0, 200, 0);
	n = grt_packer_read(p, 0, buf, sizeof(buf), 150, GRT_PACK_NOW, &none);
	assert_int_equal(n, sizeof(struct grt_packet) + sizeof(struct grt_ev_submit));
	assert_int_equal(packet(0)->timestamp_end, 100);
	assert_int_equal(add(p, 0, 99, 0), -ERANGE);
	assert_int_equal(add(p, 0, 100, 0), 0);
	assert_int_equal(read_all(p, 0, &none), sizeof(struct grt_packet) + 2 * sizeof(struct grt_ev_submit));
	assert_int_equal(packet(0)->packet_seq_num, 1);
	grt_packer_free(p);
}

static void what_no_packet_has_is_counted(void **state)
{
	struct grt_packer *p = new_packer(2);

	(void)state;
	assert_int_equal(grt_packer_waiting(p), 0);
	for (unsigned int i = 1; i <= 3; i++)
		assert_int_equal(add(p, 0, 100 * i, 0), 0);
	assert_int_equal(add(p, 1, 100, 0), 0);
	assert_int_equal(grt_packer_waiting(p), 4);
	assert_int_not_equal(grt_packer_read(p, 0, buf, sizeof(buf), 150, GRT_PACK_NOW, &none), 0);
	assert_int_equal(grt_packer_waiting(p), 3);
	read_all(p, 0, &none);
	assert_int_equal(grt_packer_waiting(p), 1);
	read_all(p, 1, &none);
	assert_int_equal(grt_packer_waiting(p), 0);
	grt_packer_free(p);
}

static void little_waits_for_more(void **state)
{
	struct grt_packer *p = new_packer(1);

	(void)state;
	add(p, 0, 100, 0);
	assert_int_equal(grt_packer_read(p, 0, buf, sizeof(buf), 200, GRT_PACK_ENOUGH, &none), 0);
	/* but not for long */
	assert_int_not_equal(grt_packer_read(p, 0, buf, sizeof(buf), 300000000, GRT_PACK_ENOUGH, &none), 0);
	for (unsigned int i = 0; i < 1000; i++)
		add(p, 0, 300000001 + i, 0);
	assert_int_not_equal(grt_packer_read(p, 0, buf, sizeof(buf), 300002000, GRT_PACK_ENOUGH, &none), 0);
	grt_packer_free(p);
}

static void every_packet_brings_its_names(void **state)
{
	struct grt_packer *p = new_packer(2);

	(void)state;
	assert_int_equal(grt_packer_name(p, 0, 90, GRT_NAME_THREAD, 7, "worker", "app"), 0);
	assert_int_equal(grt_packer_name(p, 0, 95, GRT_NAME_THREAD, 7, "worker", "app"), 0);
	add(p, 0, 100, 7);
	add(p, 0, 110, 7);
	add(p, 1, 120, 7);
	read_all(p, 0, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "worker");
	assert_string_equal(((const struct grt_ev_name *)record(packet(0), 0))->owner, "app");
	assert_int_equal(record(packet(0), 1)->type, GRT_EV_SUBMIT);
	assert_int_equal(record(packet(0), 2)->type, GRT_EV_SUBMIT);
	assert_null(record(packet(0), 3));
	assert_int_equal(packet(0)->end.fate[GRT_FATE_DELIVERED], 3);
	read_all(p, 1, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "worker");
	grt_packer_free(p);
}

static void a_new_name_begins_where_it_was_given(void **state)
{
	struct grt_packer *p = new_packer(1);

	(void)state;
	grt_packer_name(p, 0, 90, GRT_NAME_THREAD, 7, "sh", "sh");
	add(p, 0, 100, 7);
	grt_packer_name(p, 0, 200, GRT_NAME_THREAD, 7, "app", "app");
	add(p, 0, 210, 7);
	read_all(p, 0, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "sh");
	assert_int_equal(record(packet(0), 1)->time, 100);
	assert_string_equal(name_of(record(packet(0), 2)), "app");
	assert_int_equal(record(packet(0), 3)->time, 210);
	add(p, 0, 300, 7);
	read_all(p, 0, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "app");
	grt_packer_free(p);
}

/* The name is that of the moment, whichever CPU is written first. */
static void a_new_name_is_for_all_cpus(void **state)
{
	struct grt_packer *p = new_packer(2);

	(void)state;
	grt_packer_name(p, 0, 90, GRT_NAME_THREAD, 7, "sh", "sh");
	grt_packer_name(p, 1, 200, GRT_NAME_THREAD, 7, "app", "app");
	add(p, 0, 250, 7);
	read_all(p, 0, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "app");
	read_all(p, 1, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "app");
	assert_int_equal(record(packet(0), 0)->time, 200);
	/* another one, written after the change */
	grt_packer_name(p, 1, 400, GRT_NAME_THREAD, 7, "ls", "ls");
	add(p, 0, 300, 7);
	add(p, 1, 450, 7);
	read_all(p, 1, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "ls");
	read_all(p, 0, &none);
	assert_string_equal(name_of(record(packet(0), 0)), "app");
	grt_packer_free(p);
}

static void the_balance_joins_from_packet_to_packet(void **state)
{
	struct grt_packer_counts counts = {.filtered = 3, .lost = 2};
	struct grt_packer *p = new_packer(1);
	struct grt_balance before;
	size_t n;

	(void)state;
	add(p, 0, 100, 0);
	read_all(p, 0, &counts);
	before = packet(0)->end;
	assert_int_equal(before.emitted, 6);
	assert_int_equal(packet(0)->events_discarded, 2);
	add(p, 0, 200, 0);
	counts.lost = 5;
	read_all(p, 0, &counts);
	assert_memory_equal(&packet(0)->begin, &before, sizeof(before));
	assert_int_equal(packet(0)->end.emitted, 10);
	/* losses after the last event leave in a packet without records; the same again says nothing */
	counts.lost = 9;
	n = read_all(p, 0, &counts);
	assert_int_equal(n, sizeof(struct grt_packet));
	assert_int_equal(packet(0)->end.fate[GRT_FATE_LOST], 9);
	assert_int_equal(read_all(p, 0, &counts), 0);
	grt_packer_free(p);
}

static void a_stream_without_events_is_not_empty(void **state)
{
	struct grt_packer *p = new_packer(1);

	(void)state;
	assert_int_equal(read_all(p, 0, &none), sizeof(struct grt_packet));
	assert_int_equal(read_all(p, 0, &none), 0);
	grt_packer_free(p);
}

/* Many events in a small buffer: whole packets, all of them, in order. */
static void many_events(void **state)
{
	struct grt_packer *p = new_packer(1);
	uint64_t seen = 0, last = 0, seq = 0;
	size_t n, at;

	(void)state;
	for (unsigned int i = 0; i < 20000; i++) {
		assert_int_equal(
			grt_packer_name(p, 0, 1000 + 10 * i, GRT_NAME_THREAD, i % 9000 + 1, "t", "t"), 0);
		assert_int_equal(add(p, 0, 1000 + 10 * i - (i % 50 ? 0 : 5), i % 9000 + 1), 0);
	}
	while ((n = grt_packer_read(p, 0, buf, 100000, 1000000, GRT_PACK_ALL, &none)))
		for (at = 0; at < n; at += packet(at)->packet_size / 8) {
			assert_int_equal(packet(at)->packet_seq_num, seq++);
			for (unsigned int i = 0; record(packet(at), i) && i < 100000; i++) {
				const struct grt_event *e = record(packet(at), i);

				assert_true(e->time >= last);
				last = e->time;
				seen += e->type == GRT_EV_SUBMIT;
			}
			assert_true(at + packet(at)->packet_size / 8 <= n);
		}
	assert_int_equal(seen, 20000);
	grt_packer_free(p);
}

/* What has left so far: in order, those of one stamp as they came. Return: how many */
static uint64_t check_order(size_t n, uint64_t *last, uint32_t *number)
{
	uint64_t seen = 0;

	for (size_t at = 0; at < n; at += packet(at)->packet_size / 8) {
		const char *end = (const char *)packet(at) + packet(at)->content_size / 8;

		for (const struct grt_event *e = record(packet(at), 0); e && (const char *)e < end;
		     e = (const struct grt_event *)((const char *)e + e->size)) {
			const struct grt_ev_submit *submit = (const struct grt_ev_submit *)e;

			assert_true(e->time > *last || (e->time == *last && submit->cmd > *number));
			*last = e->time;
			*number = submit->cmd;
			seen++;
		}
	}
	return seen;
}

/* Every seventh came up to 400 events too late, and some leave in between. */
static void late_events_find_their_places(void **state)
{
	struct grt_packer *p = new_packer(1);
	uint64_t seen = 0, last = 0;
	uint32_t number = 0;

	(void)state;
	for (uint32_t i = 1; i <= 30000; i++) {
		struct grt_ev_submit e = {.e = {.time = 100000 + 10 * i,
						.type = GRT_EV_SUBMIT,
						.size = sizeof(e),
						.ring = GRT_RING_NONE},
					  .cmd = i};

		e.e.time -= i % 7 == 3 ? i * 7919 % 400 * 10 : 0;
		assert_int_equal(grt_packer_add(p, 0, &e.e), 0);
		if (i % 3000 == 0)
			seen += check_order(grt_packer_read(p, 0, buf, sizeof(buf), 100000 + 10 * i - 4000,
							    GRT_PACK_NOW, &none),
					    &last, &number);
	}
	seen += check_order(grt_packer_read(p, 0, buf, sizeof(buf), 1000000, GRT_PACK_ALL, &none), &last,
			    &number);
	assert_int_equal(seen, 30000);
	grt_packer_free(p);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(events_leave_in_order),
		cmocka_unit_test(what_left_cannot_be_overtaken),
		cmocka_unit_test(what_no_packet_has_is_counted),
		cmocka_unit_test(little_waits_for_more),
		cmocka_unit_test(every_packet_brings_its_names),
		cmocka_unit_test(a_new_name_begins_where_it_was_given),
		cmocka_unit_test(a_new_name_is_for_all_cpus),
		cmocka_unit_test(the_balance_joins_from_packet_to_packet),
		cmocka_unit_test(a_stream_without_events_is_not_empty),
		cmocka_unit_test(many_events),
		cmocka_unit_test(late_events_find_their_places),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
