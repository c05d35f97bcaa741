// SPDX-License-Identifier: GPL-2.0
/*
 * Packets cut to a window: what stays, what is counted, and that the packets of a CPU
 * join as before; bytes that come in pieces of any length. And windows as text.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>

#include <cmocka.h>

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "trace/cut.h"
#include "trace/packer.h"

#define BYTES ((size_t)1 << 18)

static char in[BYTES] __attribute__((aligned(8)));
static char out[BYTES] __attribute__((aligned(8)));
static size_t out_used;
static unsigned int packets;

static int take(void *arg, const char *data, size_t len)
{
	(void)arg;
	memcpy(out + out_used, data, len);
	out_used += len;
	return 0;
}

static void count(void *arg, const struct grt_packet *p)
{
	(void)arg;
	(void)p;
	packets++;
}

static const struct grt_cut_ops ops = {count, take, NULL};

static void add(struct grt_packer *p, uint64_t time)
{
	struct grt_ev_submit e = {.e = {.time = time,
					.type = GRT_EV_SUBMIT,
					.size = sizeof(e),
					.tid = 7,
					.ring = GRT_RING_NONE}};

	assert_int_equal(grt_packer_add(p, 0, &e.e), 0);
}

/* A packet of a SUBMIT every 100 ns from @from on, behind those that are there; each has a NAME. */
static size_t put(struct grt_packer *p, size_t at, uint64_t from, unsigned int n)
{
	const struct grt_packer_counts none = {0};

	for (unsigned int i = 0; i < n; i++)
		add(p, from + 100 * i);
	return at + grt_packer_read(p, 0, in + at, sizeof(in) - at, UINT64_MAX - 1, GRT_PACK_NOW, &none);
}

/* Three packets: 1000 to 1900, 2000 to 2900, 3000 to 3900, each with a NAME before its ten events. */
static size_t three(void)
{
	struct grt_packer *p;
	size_t used = 0;

	assert_int_equal(grt_packer_new(&p, 1), 0);
	assert_int_equal(grt_packer_name(p, 0, 1000, GRT_NAME_THREAD, 7, "seven", "seven"), 0);
	for (unsigned int i = 0; i < 3; i++)
		used = put(p, used, 1000 * (i + 1), 10);
	grt_packer_free(p);
	out_used = packets = 0;
	return used;
}

static void feed(struct grt_cut *c, size_t used, size_t piece)
{
	struct grt_cut_stream s = {.used = 0};
	size_t at, n;

	for (at = 0; at < used; at += n) {
		char *data;

		n = used - at < piece ? used - at : piece;
		data = malloc(n);
		memcpy(data, in + at, n);
		assert_int_equal(grt_cut_feed(c, &s, data, n, &ops), 0);
		free(data);
	}
	assert_int_equal(s.used, 0);
	assert_false(s.lost_track);
	grt_cut_stream_free(&s);
	grt_cut_free(c);
}

/** struct seen - what is in @out: records, those that are events, first and last stamp of these */
struct seen {
	unsigned int packets;
	uint64_t names;
	uint64_t events;
	uint64_t first;
	uint64_t last;
	uint64_t emitted;
};

static struct seen look(const struct grt_cut *c)
{
	struct seen seen = {.first = UINT64_MAX};
	struct grt_balance before = {.emitted = 0};

	for (size_t at = 0; at < out_used;) {
		const struct grt_packet *p = (const struct grt_packet *)(out + at);
		size_t end = at + p->content_size / 8, records = 0;
		uint64_t last = p->timestamp_begin;

		assert_int_equal(p->packet_seq_num, seen.packets++);
		assert_memory_equal(&p->begin, &before, sizeof(before));
		assert_int_equal(p->end.emitted, p->end.fate[GRT_FATE_DELIVERED]);
		for (size_t r = at + p->header_size; r < end; records++) {
			const struct grt_event *e = (const struct grt_event *)(out + r);

			assert_in_range(e->time, last, p->timestamp_end);
			last = e->time;
			r += e->size;
			if (e->type == GRT_EV_NAME) {
				seen.names++;
				continue;
			}
			seen.events++;
			seen.first = e->time < seen.first ? e->time : seen.first;
			seen.last = e->time;
		}
		assert_int_equal(p->end.emitted - p->begin.emitted, records);
		assert_in_range(p->timestamp_begin, c->window.from, c->window.to);
		assert_in_range(p->timestamp_end, p->timestamp_begin, c->window.to);
		before = p->end;
		at += p->packet_size / 8;
	}
	seen.emitted = before.emitted;
	return seen;
}

static void test_all_inside(void **state)
{
	struct grt_cut c = {.window = {.from = 1000, .to = 3900}};
	size_t used = three();

	(void)state;
	feed(&c, used, used);
	assert_int_equal(out_used, used);
	assert_memory_equal(in, out, used);
	assert_int_equal(c.window.before + c.window.after, 0);
}

static void test_both_ends(void **state)
{
	static const size_t pieces[] = {1, 7, 8, 100, 333, 4096, BYTES};

	(void)state;
	for (size_t i = 0; i < sizeof(pieces) / sizeof(pieces[0]); i++) {
		struct grt_cut c = {.window = {.from = 1250, .to = 3300}};
		struct seen seen;

		feed(&c, three(), pieces[i]);
		seen = look(&c);
		/* by hand: 1000, 1100, 1200 are before, 3400 to 3900 after; three names stay */
		assert_int_equal(c.window.before, 3);
		assert_int_equal(c.window.after, 6);
		assert_int_equal(seen.events, 21);
		assert_int_equal(seen.names, 3);
		assert_int_equal(seen.first, 1300);
		assert_int_equal(seen.last, 3300);
		assert_int_equal(seen.packets, 3);
		assert_int_equal(packets, 3);
		assert_int_equal(seen.emitted, 24);
	}
}

/* Whole packets that lie outside keep their place, and their names. */
static void test_nothing_inside(void **state)
{
	struct grt_cut c = {.window = {.from = 5000, .to = 6000}};
	struct seen seen;

	(void)state;
	feed(&c, three(), 64);
	seen = look(&c);
	assert_int_equal(c.window.before, 30);
	assert_int_equal(seen.events, 0);
	assert_int_equal(seen.names, 3);
	assert_int_equal(seen.packets, 3);
}

static void test_late_records(void **state)
{
	/* begun inside and over later; begun later */
	static const uint64_t begins[] = {1500, 2500};
	struct grt_cut c = {.window = {.from = 1000, .to = 2000}};
	const struct grt_packer_counts none = {0};
	struct grt_packer *p;
	size_t used;

	(void)state;
	assert_int_equal(grt_packer_new(&p, 1), 0);
	for (unsigned int i = 0; i < 2; i++) {
		struct grt_ev_launch e = {.e = {.time = 2600 + i, .type = GRT_EV_LAUNCH, .size = sizeof(e)},
					  .begin = begins[i]};

		assert_int_equal(grt_packer_add(p, 0, &e.e), 0);
	}
	used = grt_packer_read(p, 0, in, sizeof(in), 5000, GRT_PACK_NOW, &none);
	grt_packer_free(p);
	out_used = 0;
	feed(&c, used, used);
	assert_int_equal(c.window.after, 1);
	assert_int_equal(c.window.counted, 1);
	assert_int_equal(look(&c).events, 1);
	assert_int_equal(look(&c).last, 2000);
}

/* Counts begin anew: nothing of what was dropped before is in them. */
static void test_clear(void **state)
{
	struct grt_cut c = {.window = {.from = 1950, .to = UINT64_MAX}};
	struct grt_packet *p = (struct grt_packet *)in;
	size_t used = three(), size = p->packet_size / 8;

	(void)state;
	p = (struct grt_packet *)(in + size);
	p->packet_seq_num = 0;
	p->end.emitted -= p->begin.emitted;
	p->end.fate[GRT_FATE_DELIVERED] -= p->begin.fate[GRT_FATE_DELIVERED];
	p->begin = (struct grt_balance){.emitted = 0};
	feed(&c, used - size, used);
	p = (struct grt_packet *)out;
	p = (struct grt_packet *)(out + p->packet_size / 8);
	assert_int_equal(p->begin.emitted, 0);
	assert_int_equal(p->end.emitted, 11);
}

/* What is no packet goes on as it is. */
static void test_garbage(void **state)
{
	struct grt_cut c = {.window = {.from = 0, .to = 1}};
	struct grt_cut_stream s = {.used = 0};
	char text[512];

	(void)state;
	memset(text, 'x', sizeof(text));
	out_used = 0;
	assert_int_equal(grt_cut_feed(&c, &s, text, sizeof(text), &ops), 0);
	assert_true(s.lost_track);
	assert_int_equal(out_used, sizeof(text));
	grt_cut_stream_free(&s);
	grt_cut_free(&c);
}

static void test_text(void **state)
{
	struct grt_window w = {.from = 5, .to = 9, .before = 1, .after = 2, .counted = 3}, read;
	char text[GRT_WINDOW_TEXT];

	(void)state;
	grt_window_text(&w, text);
	assert_string_equal(text, "from=5 to=9 before_start=1 after_end=2 counted=3");
	assert_true(grt_window_read(&read, text));
	assert_memory_equal(&w, &read, sizeof(w));
	w.to = UINT64_MAX;
	grt_window_text(&w, text);
	assert_true(grt_window_read(&read, text));
	assert_int_equal(read.to, UINT64_MAX);
	assert_false(grt_window_read(&read, "to=5"));
	assert_false(grt_window_read(&read, "from=9 to=5"));
	assert_false(grt_window_read(&read, ""));
}

static void test_common(void **state)
{
	static const char text[] =
		"env { a_window = \"from=10 to=90 before_start=1\"; x = 5;"
		"b_window = \"from=12 to=80 after_end=4\"; c_window = \"from=11 to=90\"; };";
	struct grt_env_list env = {.used = 0};
	const char *shortest;
	struct grt_window w;
	size_t offset;

	(void)state;
	assert_false(grt_window_common(&w, &env, &shortest));
	assert_int_equal(grt_env_parse(&env, text, strlen(text), &offset), 0);
	assert_true(grt_window_common(&w, &env, &shortest));
	assert_int_equal(w.from, 12);
	assert_int_equal(w.to, 80);
	assert_int_equal(w.before, 1);
	assert_int_equal(w.after, 4);
	assert_string_equal(shortest, "b_window");
	assert_true(grt_window_of(&w, &env, "a", 1));
	assert_int_equal(w.to, 90);
	grt_env_free(&env);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_all_inside),     cmocka_unit_test(test_both_ends),
		cmocka_unit_test(test_nothing_inside), cmocka_unit_test(test_late_records),
		cmocka_unit_test(test_clear),	       cmocka_unit_test(test_garbage),
		cmocka_unit_test(test_text),	       cmocka_unit_test(test_common),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
