// SPDX-License-Identifier: GPL-2.0
/*
 * Sessions over sound traces: the merge, its order, the balance and what a
 * consumer gets. Where inputs come from is in test_reader.c, broken ones are
 * in test_corrupt.c.
 */
#include "collect.h"
#include "old_client.h"
#include "trace_maker.h"

#include "table/counts.h"
#include "grtrace/event_table.h"
#include "export/tracks.h"

#include <errno.h>

struct fixture {
	char *dir;
	char *path;
	struct collect k;
	struct grt_session *s;
};

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->path = path_join(f->dir, "t.grt");
	collect_reset(&f->k);
	*state = f;
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	grt_session_close(f->s);
	tm_remove(f->dir);
	free(f->k.e);
	free(f->k.cpu);
	free(f->path);
	free(f->dir);
	free(f);
	return 0;
}

static void read_all(struct fixture *f)
{
	grt_session_close(f->s);
	collect_path(&f->k, f->path, &f->s);
}

static void streams_are_merged_by_time(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 5);

	/* runs of different lengths on each CPU, some of one event, with equal stamps between */
	srand(1);
	for (uint64_t i = 0; i < 20000; i++)
		tm_emit(tm, (unsigned int)rand() % 5, start, .e.time = i / 3, .e.seqno = i);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 20000);
	for (size_t i = 1; i < f->k.n; i++) {
		assert_true(f->k.e[i - 1].time <= f->k.e[i].time);
		/* stable: equal stamps in the order of the CPUs, and within a CPU as written */
		if (f->k.e[i - 1].time == f->k.e[i].time) {
			assert_true(f->k.cpu[i - 1] <= f->k.cpu[i]);
			if (f->k.cpu[i - 1] == f->k.cpu[i])
				assert_true(f->k.e[i - 1].seqno < f->k.e[i].seqno);
		}
	}
}

static void every_class_has_its_callback(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	struct grt_event unknown = {.time = GRT_EV_MAX, .type = 126, .size = 48};
	const struct collect zero = {.n = 0};
	const __typeof__(zero.calls) none = zero.calls;
	unsigned int types = 0;

#define GRT_EVENT(id, NAME, ev, CLASS, LEVEL, WHO, fields, help) tm_emit(tm, 0, ev, .e.time = ++types);
#include <grtrace/events.def>
#undef GRT_EVENT
	tm_event(tm, 0, &unknown);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, types + 1);
#define GRT_EVENT(id, NAME, ev, CLASS, LEVEL, WHO, fields, help) assert_int_not_equal(f->k.calls.CLASS--, 0);
#include <grtrace/events.def>
#undef GRT_EVENT
	assert_int_equal(f->k.calls.unknown, 1);
	assert_int_equal(f->k.calls.packet, 1);
	f->k.calls.unknown = f->k.calls.packet = 0;
	assert_memory_equal(&f->k.calls, &none, sizeof(none));
	assert_int_equal(grt_session_health(f->s)->unknown, 1);
	assert_int_equal(grt_session_health(f->s)->events, types + 1);
}

/* struct launches - those that came */
struct launches {
	struct grt_consumer c;
	struct grt_ev_launch launch[4];
	unsigned int n;
};

static int keep_launch(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct launches *l = (struct launches *)c;

	(void)cpu;
	memcpy(&l->launch[l->n++], e, sizeof(l->launch[0]));
	return 0;
}

/* Records of programs that did not have a type's last fields. */
static void fields_that_came_later_are_0(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	struct launches l = {.c = {.launch = keep_launch}};
	struct grt_ev_launch old = {
		.e = {.time = 1, .type = GRT_EV_LAUNCH, .size = 80}, .context = 5, .range = 9};

	tm_event(tm, 0, &old.e);
	tm_emit(tm, 0, launch, .e.time = 2, .range = 7);
	/* one that nobody ever wrote */
	old.e.time = 3;
	old.e.size = 72;
	tm_event(tm, 0, &old.e);
	tm_close(tm);
	assert_int_equal(grt_session_open(&f->s, f->path, NULL), 0);
	assert_int_equal(grt_session_run(f->s, &l.c, 0, UINT64_MAX, NULL), 0);
	assert_int_equal(l.n, 2);
	assert_int_equal(l.launch[0].context, 5);
	assert_int_equal(l.launch[0].range, 0);
	assert_int_equal(l.launch[0].e.size, sizeof(old));
	assert_int_equal(l.launch[1].range, 7);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_RECORD], 1);
}

static void unknown_types_are_skipped_by_their_size(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	struct {
		struct grt_event e;
		char more[40];
	} big = {.e = {.time = 2, .type = 100, .size = 88}};

	memset(big.more, 0xff, sizeof(big.more));
	tm_emit(tm, 0, start, .e.time = 1);
	tm_event(tm, 0, &big.e);
	big.e.type = 126;
	tm_event(tm, 0, &big.e);
	big.e.type = 0;
	tm_event(tm, 0, &big.e);
	big.e.type = 65535;
	tm_event(tm, 0, &big.e);
	/* a known type that a later version made longer is known all the same */
	big.e.type = GRT_EV_SUBMIT;
	tm_event(tm, 0, &big.e);
	tm_emit(tm, 0, start, .e.time = 3);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 7);
	assert_int_equal(f->k.calls.unknown, 4);
	assert_int_equal(f->k.calls.job, 3);
	assert_int_equal(f->k.e[6].time, 3);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
}

/* @cpus: of many streams each has a small buffer, which this record must make grow */
static void large_records(struct fixture *f, unsigned int cpus)
{
	struct {
		struct grt_packet p;
		char records[2 * 65528 + 48];
	} *t = calloc(1, sizeof(*t));
	struct grt_event *e = (struct grt_event *)t->records;
	int fd;

	t->p = (struct grt_packet){
		.magic = GRT_PACKET_MAGIC,
		.format = GRT_FORMAT,
		.header_size = sizeof(t->p),
		.timestamp_end = 3,
		.content_size = 8 * sizeof(*t),
		.packet_size = 8 * sizeof(*t),
	};
	*e = (struct grt_event){.time = 1, .type = 101, .size = 65528};
	*(struct grt_event *)(t->records + 65528) = (struct grt_event){.time = 2, .type = 100, .size = 65528};
	*(struct grt_event *)(t->records + 2 * 65528) =
		(struct grt_event){.time = 3, .type = GRT_EV_START, .size = 48};
	fd = open(f->path, O_WRONLY | O_CREAT | O_TRUNC, 0600);
	for (t->p.cpu_id = 0; t->p.cpu_id < cpus; t->p.cpu_id++)
		assert_int_equal(write(fd, t, sizeof(*t)), sizeof(*t));
	close(fd);
	free(t);
	read_all(f);
	assert_int_equal(f->k.n, 3 * cpus);
	assert_int_equal(f->k.calls.unknown, 2 * cpus);
	assert_int_equal(f->k.calls.job, cpus);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
}

static void records_may_be_as_large_as_16_bits_say(void **state)
{
	large_records(*state, 1);
	large_records(*state, 40);
}

static void a_longer_header_and_padding_are_skipped(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	struct grt_packet *p;
	size_t size;
	char *data, *longer;

	tm_padding(tm, 80);
	tm_emit(tm, 0, start, .e.time = 1);
	tm_close(tm);
	data = file_load(f->path, &size);
	longer = calloc(1, size + 16);
	memcpy(longer, data, sizeof(*p));
	memset(longer + sizeof(*p), 0xee, 16);
	memcpy(longer + sizeof(*p) + 16, data + sizeof(*p), size - sizeof(*p));
	p = (struct grt_packet *)longer;
	p->header_size += 16;
	p->content_size += 16 * 8;
	p->packet_size += 16 * 8;
	file_store(f->path, longer, size + 16);
	free(longer);
	free(data);
	read_all(f);
	assert_int_equal(f->k.n, 1);
	assert_int_equal(f->k.e[0].time, 1);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
}

static void only_events_between_from_and_to(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 2);
	struct grt_err err;

	tm_name_ring(tm, 1, "gfx", "amdgpu");
	for (uint64_t i = 0; i < 100; i++)
		tm_emit(tm, i % 2, start, .e.time = 1000 + i, .e.ring = 1);
	tm_close(tm);
	assert_int_equal(grt_session_open(&f->s, f->path, &err), 0);
	assert_int_equal(grt_session_run(f->s, &f->k.c, 1010, 1019, &err), 0);
	assert_int_equal(f->k.calls.job, 10);
	assert_int_equal(f->k.calls.name, 2);
	assert_int_equal(f->k.calls.packet, 2);
	assert_int_equal(f->k.n, 12);
	assert_int_equal(grt_session_health(f->s)->events, 102);
	assert_int_equal(grt_session_run(f->s, &f->k.c, 2, 1, &err), -EINVAL);
}

/* Before and after it; what is inside comes to its own callback. */
static void what_defines_comes_from_beyond(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	const struct grt_health *h;
	struct grt_err err;

	for (uint64_t at = 10; at <= 30; at += 10) {
#define GRT_EVENT(id, NAME, ev, CLASS, LEVEL, WHO, fields, help) tm_emit(tm, 0, ev, .e.time = at);
#include <grtrace/events.def>
#undef GRT_EVENT
	}
	tm_close(tm);
	assert_int_equal(grt_session_open(&f->s, f->path, &err), 0);
	collect_reset(&f->k);
	assert_int_equal(grt_session_run(f->s, &f->k.c, 20, 20, &err), 0);
	h = grt_session_health(f->s);
	/* PROCESS, STRING, NODE, MAPPING, CLOCK, GRAPH_NODE, RANK, RANGE_NODE, CODE, DEVICE, CAPTURE,
	 * STALL_REASON, CUBIN, PC_LINE, PC_INLINED, COMMUNICATOR, FRAME, STACK_END, FRAME_PLACE, FRAME_TEXT,
	 * OWNER, OWNER_RANK, WINDOW and LOG_TEXT; and ALLOC and NV_MEMORY, whose memory lasts */
	assert_int_equal(f->k.calls.beyond, 2 * 26);
	/* LAUNCH, GPU_KERNEL, GPU_COPY, GPU_SYNC, GPU_OVERHEAD, RANGE, MARK, PAYLOAD, PC_SAMPLE, PC_COUNT,
	 * COLLECTIVE, GPU_SLICE and UVM_MIGRATION */
	assert_int_equal(f->k.calls.late, 2 * 13);
	assert_int_equal(f->k.calls.launch, 9);
	assert_int_equal(f->k.calls.image, 16);
	assert_int_equal(f->k.calls.range, 3);
	assert_int_equal(f->k.calls.stack, 6);
	assert_int_equal(f->k.calls.name, 3);
	assert_int_equal(h->before, h->events / 3 - 1);
	assert_int_equal(h->after, h->before);
	assert_int_equal(f->k.n, h->events - h->before - h->after);
	/* who does not ask for it */
	f->k.c.beyond = f->k.c.late = NULL;
	assert_int_equal(grt_session_run(f->s, &f->k.c, 20, 20, &err), 0);
	assert_int_equal(f->k.calls.beyond, 2 * 26);
	assert_int_equal(f->k.calls.late, 2 * 13);
}

static void span_and_second_run(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 3);
	struct grt_health first;
	struct grt_err err;
	uint64_t from, to;

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 1000; i++)
		tm_emit(tm, i % 3, start, .e.time = 500 + i);
	tm_close(tm);
	read_all(f);
	assert_int_equal(grt_session_span(f->s, &from, &to), 0);
	assert_int_equal(from, 500);
	assert_int_equal(to, 1499);
	first = *grt_session_health(f->s);
	assert_int_equal(grt_session_run(f->s, &f->k.c, 0, UINT64_MAX, &err), 0);
	assert_int_equal(f->k.n, 2000);
	assert_memory_equal(&first, grt_session_health(f->s), sizeof(first));
}

static void a_callback_ends_the_run(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 2);
	struct grt_err err;

	for (uint64_t i = 0; i < 100; i++)
		tm_emit(tm, i % 2, start, .e.time = i);
	tm_close(tm);
	assert_int_equal(grt_session_open(&f->s, f->path, &err), 0);
	f->k.stop_at = 37;
	f->k.stop_with = -12345;
	assert_int_equal(grt_session_run(f->s, &f->k.c, 0, UINT64_MAX, &err), -12345);
	assert_int_equal(f->k.n, 37);
	assert_int_equal(grt_session_health(f->s)->events, 37);
}

static void the_balance_is_summed(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 2);
	const struct grt_health *h;
	uint64_t sum = 0;

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 100; i++) {
		tm_emit(tm, i % 2, start, .e.time = i);
		tm_fate(tm, i % 2, GRT_FATE_LOST, 2);
		tm_fate(tm, i % 2, GRT_FATE_FILTERED, 3);
	}
	tm_close(tm);
	read_all(f);
	h = grt_session_health(f->s);
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], 100);
	assert_int_equal(h->balance.fate[GRT_FATE_LOST], 200);
	assert_int_equal(h->balance.fate[GRT_FATE_FILTERED], 300);
	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += h->balance.fate[i];
	assert_int_equal(h->balance.emitted, sum);
	assert_int_equal(h->missing_events, 0);
}

static void a_missing_packet_is_a_gap_with_its_events_counted(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	const struct grt_health *h;

	for (uint64_t i = 0; i < 31; i++) {
		tm_emit(tm, 0, start, .e.time = i);
		if (i == 10)
			tm_flush(tm, 0, 0);
		if (i == 17)
			tm_drop(tm, 0);
	}
	tm_close(tm);
	read_all(f);
	h = grt_session_health(f->s);
	assert_int_equal(f->k.n, 24);
	assert_int_equal(h->fault[GRT_FAULT_GAP], 1);
	assert_int_equal(h->missing_events, 7);
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], 24);
	assert_non_null(strstr(h->first.what, "kmod_0: offset "));
	assert_non_null(strstr(h->first.what, "7 events are missing"));
}

static void a_trace_may_begin_at_any_packet(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);

	tm_emit(tm, 0, start, .e.time = 1);
	tm_drop(tm, 0);
	tm_emit(tm, 0, start, .e.time = 2);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 1);
	assert_int_equal(grt_session_health(f->s)->missing_events, 0);
	assert_string_equal(grt_session_health(f->s)->first.what, "");
}

static void a_clear_begins_the_counts_again(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	const struct grt_health *h;

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 100; i++)
		tm_emit(tm, 0, start, .e.time = i);
	tm_clear(tm, 0);
	for (uint64_t i = 0; i < 10; i++)
		tm_emit(tm, 0, start, .e.time = 100 + i);
	tm_close(tm);
	read_all(f);
	h = grt_session_health(f->s);
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], 110);
	assert_int_equal(h->balance.emitted, 110);
	assert_int_equal(h->missing_events, 0);
	assert_string_equal(h->first.what, "");
}

static void a_clear_may_fall_into_a_packet(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	struct grt_packet *p;
	size_t size;
	char *data;

	for (uint64_t i = 0; i < 10; i++)
		tm_emit(tm, 0, start, .e.time = i);
	tm_close(tm);
	data = file_load(f->path, &size);
	p = (struct grt_packet *)data;
	p->begin.emitted = 5000;
	p->begin.fate[GRT_FATE_DELIVERED] = 5000;
	file_store(f->path, data, size);
	free(data);
	read_all(f);
	assert_int_equal(grt_session_health(f->s)->balance.emitted, 10);
	assert_int_equal(grt_session_health(f->s)->balance.fate[GRT_FATE_DELIVERED], 10);
}

static int see_losses(void *arg, const struct grt_track_item *item)
{
	for (unsigned int i = 0; i < item->args; i++)
		if (item->arg[i].id == GRT_TRACK_ARG_LOST_EVENTS)
			*(uint64_t *)arg = item->arg[i].number;
	return 0;
}

static int see_track(void *arg, const struct grt_track *track)
{
	(void)arg;
	(void)track;
	return 0;
}

/* What counts by CPU, and what draws losses, see the same as the balance. */
static void losses_in_a_packet_with_a_clear(void **state)
{
	static struct grt_counts counts;
	const struct grt_packet p = {.cpu_id = 1,
				     .timestamp_end = 9,
				     .begin = {.emitted = 15, .fate = {[GRT_FATE_LOST] = 5}},
				     .end = {.emitted = 7, .fate = {[GRT_FATE_LOST] = 2}}};
	uint64_t lost = 0;
	const struct grt_tracks_sink sink = {.track = see_track, .item = see_losses, .arg = &lost};
	struct grt_tracks *t;

	(void)state;
	grt_counts_packet(&counts, &p);
	assert_int_equal(counts.cpu[1].balance.emitted, 7);
	assert_int_equal(counts.cpu[1].balance.fate[GRT_FATE_LOST], 2);
	assert_int_equal(grt_tracks_new(&t, &sink), 0);
	assert_int_equal(grt_tracks_packet(t, &p), 0);
	assert_int_equal(lost, 2);
	grt_tracks_free(t);
}

/** struct seen - tracks with a queue's context or of ranges, and what was drawn on each */
struct seen {
	unsigned int queues;
	unsigned int ranges;
	uint32_t kernels[8];
	unsigned int drawn;
};

static int seen_track(void *arg, const struct grt_track *track)
{
	struct seen *s = arg;

	s->queues += track->queue != 0;
	s->ranges += !strncmp(track->name, "NVTX", 4);
	return 0;
}

static int seen_item(void *arg, const struct grt_track_item *item)
{
	struct seen *s = arg;

	if (item->category == GRT_CATEGORY_KERNEL)
		s->kernels[s->drawn++] = item->track;
	return 0;
}

/* Of a program that exec() replaced another one by, streams and ranges have the same numbers. */
static void images_and_domains_have_tracks_of_their_own(void **state)
{
	const uint32_t images[] = {1, 2, 1};
	struct seen seen = {.queues = 0};
	const struct grt_tracks_sink sink = {.track = seen_track, .item = seen_item, .arg = &seen};
	struct grt_tracks *t;

	(void)state;
	assert_int_equal(grt_tracks_new(&t, &sink), 0);
	for (unsigned int i = 0; i < 3; i++) {
		struct grt_ev_gpu_kernel k = {.e = {.time = 100 * i + 90,
						    .type = GRT_EV_GPU_KERNEL,
						    .size = sizeof(k),
						    .pid = 7,
						    .ctx = images[i]},
					      .start = 100 * i + 10,
					      .end = 100 * i + 20,
					      .correlation = i + 1,
					      .cuda_stream = 7};
		struct grt_ev_range r = {.e = {.time = 100 * i + 95,
					       .type = GRT_EV_RANGE,
					       .size = sizeof(r),
					       .pid = 7,
					       .tid = 7,
					       .ctx = 1},
					 .begin = 100 * i + 91,
					 .domain = images[i]};

		assert_int_equal(grt_tracks_event(t, &k.e), 0);
		assert_int_equal(grt_tracks_event(t, &r.e), 0);
	}
	assert_int_equal(grt_tracks_end(t), 0);
	assert_int_equal(seen.drawn, 3);
	assert_int_equal(seen.queues, 2);
	assert_int_equal(seen.ranges, 2);
	assert_int_not_equal(seen.kernels[0], seen.kernels[1]);
	assert_int_equal(seen.kernels[0], seen.kernels[2]);
	grt_tracks_free(t);
}

static bool is_name_of_a_value(const struct grt_tracks *t, const char *name)
{
	for (uint32_t id = 0; id < GRT_TRACK_ARG_IDS_MAX; id++)
		if (!strcmp(grt_tracks_arg_name(t, id), name))
			return true;
	return false;
}

/* There are as many names of values as all fields of all events have. */
static void every_field_has_a_name_in_timelines(void **state)
{
	const struct grt_tracks_sink sink = {.track = seen_track, .item = seen_item};
	struct grt_tracks *t;

	(void)state;
	assert_int_equal(grt_tracks_new(&t, &sink), 0);
	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		for (const struct grt_field *f = grt_event_table[type].name ? grt_event_table[type].fields()
									    : NULL;
		     f && f->name; f++)
			assert_true(is_name_of_a_value(t, f->name));
	grt_tracks_free(t);
}

static void a_packet_lost_after_a_clear_is_counted_from_zero(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 100; i++)
		tm_emit(tm, 0, start, .e.time = i);
	tm_clear(tm, 0);
	for (uint64_t i = 0; i < 5; i++)
		tm_emit(tm, 0, start, .e.time = 100 + i);
	tm_drop(tm, 0);
	tm_emit(tm, 0, start, .e.time = 200);
	tm_close(tm);
	read_all(f);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_GAP], 1);
	assert_int_equal(grt_session_health(f->s)->missing_events, 5);
}

static void time_that_goes_back_is_counted_and_delivered(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 2);
	static const uint64_t stamps[] = {10, 30, 20, 40};

	for (unsigned int i = 0; i < 4; i++)
		tm_emit(tm, 0, start, .e.time = stamps[i], .e.seqno = i);
	tm_emit(tm, 1, start, .e.time = 25, .e.seqno = 9);
	tm_emit(tm, 1, start, .e.time = 35, .e.seqno = 9);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 6);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_TIME], 1);
	assert_non_null(strstr(grt_session_health(f->s)->first.what, "from 30 to 20"));
	/* 10 | 25 | 30 20 | 35 | 40: the stream keeps its own order */
	assert_int_equal(f->k.e[0].time, 10);
	assert_int_equal(f->k.e[1].time, 25);
	assert_int_equal(f->k.e[2].time, 30);
	assert_int_equal(f->k.e[3].time, 20);
	assert_int_equal(f->k.e[4].time, 35);
	assert_int_equal(f->k.e[5].time, 40);
}

static void empty_packets_carry_their_balance(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);

	tm_fate(tm, 0, GRT_FATE_RATE_LIMITED, 41);
	tm_flush(tm, 0, 777);
	tm_close(tm);
	read_all(f);
	assert_int_equal(f->k.n, 0);
	assert_int_equal(f->k.calls.packet, 1);
	assert_int_equal(grt_session_health(f->s)->balance.fate[GRT_FATE_RATE_LIMITED], 41);
}

static void the_order_of_the_names_of_equal_streams_decides(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 12);

	/* kmod_10 comes after kmod_2 */
	for (unsigned int i = 0; i < 12; i++)
		tm_emit(tm, 11 - i, start, .e.time = 5);
	tm_close(tm);
	read_all(f);
	for (unsigned int i = 0; i < 12; i++)
		assert_int_equal(f->k.cpu[i], i);
}

/* A live source of two streams: what has been fed can be read, in pieces of an odd length. */
struct feed {
	char *data[2];
	size_t size[2];
	size_t at[2];
	size_t fed[2];
	size_t piece;
	bool ended;
};

static ssize_t feed_read(void *arg, unsigned int i, void *buf, size_t len)
{
	struct feed *f = arg;
	size_t n = f->fed[i] - f->at[i];

	if (!n)
		return f->ended ? 0 : -EAGAIN;
	if (n > f->piece)
		n = f->piece;
	if (n > len)
		n = len;
	memcpy(buf, f->data[i] + f->at[i], n);
	f->at[i] += n;
	return (ssize_t)n;
}

static void make_feed(struct fixture *f, struct feed *feed, size_t piece)
{
	struct trace_maker *tm = tm_dir(f->path, 2);
	char *path;

	tm_packet_bytes(tm, 1024);
	tm_padding(tm, 400);
	for (uint64_t i = 0; i < 1000; i++)
		tm_emit(tm, i / 7 % 2, submit, .e.time = i, .e.seqno = i);
	tm_close(tm);
	*feed = (struct feed){.piece = piece};
	for (unsigned int i = 0; i < 2; i++) {
		path = path_join(f->path, i ? "kmod_1" : "kmod_0");
		feed->data[i] = file_load(path, &feed->size[i]);
		free(path);
	}
}

static void free_feed(struct feed *feed)
{
	free(feed->data[0]);
	free(feed->data[1]);
}

static void check_sequence(const struct collect *k, size_t n)
{
	assert_int_equal(k->n, n);
	for (size_t i = 0; i < n; i++)
		assert_int_equal(k->e[i].seqno, i);
}

/* No packet was passed over: each was handed out and counted. */
static void check_balance(const struct grt_session *s, const struct collect *k)
{
	const struct grt_health *h = grt_session_health(s);

	assert_string_equal(h->first.what, "");
	assert_int_equal(h->balance.fate[GRT_FATE_DELIVERED], k->n);
	assert_int_equal(h->packets, k->calls.packet);
}

static void live_streams_are_read_to_their_end(void **state)
{
	struct fixture *f = *state;
	static const size_t pieces[] = {1, 13, 1001, 1 << 20};
	struct grt_live live = {.read = feed_read, .streams = 2};
	struct grt_err err;
	struct feed feed;

	for (unsigned int i = 0; i < 4; i++) {
		make_feed(f, &feed, pieces[i]);
		feed.fed[0] = feed.size[0];
		feed.fed[1] = feed.size[1];
		feed.ended = true;
		live.arg = &feed;
		collect_reset(&f->k);
		assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
		assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 0);
		check_sequence(&f->k, 1000);
		check_balance(f->s, &f->k);
		grt_session_close(f->s);
		f->s = NULL;
		free_feed(&feed);
	}
}

static void live_events_come_up_to_the_time_asked_for(void **state)
{
	struct fixture *f = *state;
	struct grt_live live = {.read = feed_read, .streams = 2};
	struct grt_err err;
	struct feed feed;

	make_feed(f, &feed, 4096);
	live.arg = &feed;
	assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, 500, &err), 1);
	assert_int_equal(f->k.n, 0);
	feed.fed[0] = feed.size[0];
	feed.fed[1] = feed.size[1];
	for (uint64_t until = 0; until <= 900; until += 45) {
		assert_int_equal(grt_session_run_live(f->s, &f->k.c, until, &err), 1);
		check_sequence(&f->k, until);
	}
	/* a callback that stops the run has had its event; the next run goes on after it */
	f->k.stop_at = 950;
	f->k.stop_with = 7;
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 7);
	check_sequence(&f->k, 950);
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 1);
	check_sequence(&f->k, 1000);
	feed.ended = true;
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 0);
	check_sequence(&f->k, 1000);
	assert_int_equal(grt_session_health(f->s)->events, 1000);
	check_balance(f->s, &f->k);
	free_feed(&feed);
}

/* A packet whose time has not come is still there when it has, even when it holds nothing but its balance. */
static void live_packets_without_records_wait_for_their_time(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_raw(f->path, 1);
	struct grt_live live = {.read = feed_read, .streams = 1};
	struct feed feed = {.piece = 1 << 20};
	struct grt_err err;

	for (uint64_t i = 1; i <= 5; i++) {
		tm_fate(tm, 0, GRT_FATE_LOST, 3);
		tm_flush(tm, 0, 100 * i);
	}
	tm_close(tm);
	feed.data[0] = file_load(f->path, &feed.size[0]);
	feed.fed[0] = feed.size[0];
	live.arg = &feed;
	assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
	for (uint64_t i = 1; i <= 5; i++) {
		assert_int_equal(grt_session_run_live(f->s, &f->k.c, 100 * i, &err), 1);
		assert_int_equal(f->k.calls.packet, i - 1);
		assert_int_equal(grt_session_run_live(f->s, &f->k.c, 100 * i + 1, &err), 1);
		assert_int_equal(f->k.calls.packet, i);
		assert_int_equal(grt_session_health(f->s)->balance.fate[GRT_FATE_LOST], 3 * i);
	}
	free_feed(&feed);
}

static void a_live_packet_that_arrives_in_parts_is_whole_in_the_end(void **state)
{
	struct fixture *f = *state;
	struct grt_live live = {.read = feed_read, .streams = 2};
	struct grt_err err;
	struct feed feed;

	make_feed(f, &feed, 1 << 20);
	live.arg = &feed;
	feed.fed[1] = feed.size[1];
	assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
	/* the first stream grows by 5 bytes a time; only what it already has may come before the time */
	for (; feed.fed[0] < feed.size[0]; feed.fed[0] += feed.size[0] - feed.fed[0] < 5 ? 1 : 5)
		assert_int_equal(grt_session_run_live(f->s, &f->k.c, 7, &err), 1);
	check_sequence(&f->k, 7);
	feed.ended = true;
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 0);
	check_sequence(&f->k, 1000);
	free_feed(&feed);
}

static void a_live_stream_that_ends_in_a_packet_was_cut(void **state)
{
	struct fixture *f = *state;
	struct grt_live live = {.read = feed_read, .streams = 2};
	struct grt_err err;
	struct feed feed;

	make_feed(f, &feed, 1 << 20);
	feed.fed[0] = feed.size[0];
	feed.fed[1] = feed.size[1] - 500;
	feed.ended = true;
	live.arg = &feed;
	assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), 0);
	assert_true(f->k.n < 1000);
	assert_int_equal(grt_session_health(f->s)->fault[GRT_FAULT_CUT], 1);
	assert_non_null(strstr(grt_session_health(f->s)->first.what, "stream 1: offset "));
	free_feed(&feed);
}

static ssize_t failing_read(void *arg, unsigned int i, void *buf, size_t len)
{
	(void)arg;
	(void)i;
	(void)buf;
	(void)len;
	return -EIO;
}

static void what_does_not_fit_the_kind_of_session_is_refused(void **state)
{
	struct fixture *f = *state;
	struct grt_live live = {.read = failing_read, .streams = 1};
	struct trace_maker *tm;
	struct grt_err err;
	uint64_t first, last;

	assert_int_equal(grt_session_open_live(&f->s, &live, &err), 0);
	assert_int_equal(grt_session_run(f->s, &f->k.c, 0, UINT64_MAX, &err), -ENOTSUP);
	assert_int_equal(grt_session_span(f->s, &first, &last), -ENOTSUP);
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, UINT64_MAX, &err), -EIO);
	assert_non_null(strstr(err.what, "stream 0: offset 0"));
	grt_session_close(f->s);

	tm = tm_dir(f->path, 1);
	tm_close(tm);
	assert_int_equal(grt_session_open(&f->s, f->path, &err), 0);
	assert_int_equal(grt_session_run_live(f->s, &f->k.c, 1, &err), -ENOTSUP);
	assert_int_equal(grt_session_span(f->s, &first, &last), -ENODATA);
	grt_session_close(NULL);
}

/* What the members of struct grt_consumer are called, and where they are now. */
static size_t member_at(const char *name)
{
	static const struct old_member now[] = {
#define MEMBER(name) {#name, offsetof(struct grt_consumer, name)},
		MEMBER(packet) MEMBER(event) MEMBER(unknown) MEMBER(beyond) MEMBER(late)
#define GRT_CLASS(name, help, see) MEMBER(name)
#include <grtrace/classes.def>
#undef GRT_CLASS
#undef MEMBER
	};

	for (size_t i = 0; i < sizeof(now) / sizeof(now[0]); i++)
		if (!strcmp(now[i].name, name))
			return now[i].offset;
	fail_msg("%s is gone", name);
	return 0;
}

static void a_client_of_an_older_header_still_runs(void **state)
{
	struct fixture *f = *state;
	struct trace_maker *tm = tm_dir(f->path, 1);
	const struct grt_event newer = {.time = 2000, .type = GRT_EV_MAX - 1, .size = 48};
	struct old_counts n, want = {.unknown = 1, .packets = 1};
	const struct old_member *m;
	unsigned int reads = 0;

	for (m = old_members; m->name; m++)
		assert_int_equal(member_at(m->name), m->offset);
	assert_true(m->offset < sizeof(struct grt_consumer));
#define GRT_EVENT(id, NAME, ev, CLASS, LEVEL, WHO, fields, help)                                           \
	tm_emit(tm, 0, ev, .e.time = (id)), want.events++, want.job += GRT_CLASS_##CLASS == GRT_CLASS_job, \
		want.wait += GRT_CLASS_##CLASS == GRT_CLASS_wait,                                          \
		want.tsg += GRT_CLASS_##CLASS == GRT_CLASS_tsg;
#include <grtrace/events.def>
#undef GRT_EVENT
	tm_event(tm, 0, &newer);
	want.events++;
	tm_close(tm);
	assert_int_equal(old_client_run(f->path, &n), 0);
	assert_memory_equal(&n, &want, sizeof(n));
	assert_int_equal(n.behind, 0);
	assert_int_equal(old_client_follow(&reads), 0);
	assert_int_equal(reads, 3);
}

#define CASE(name) cmocka_unit_test_setup_teardown(name, setup, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		CASE(streams_are_merged_by_time),
		CASE(every_class_has_its_callback),
		CASE(fields_that_came_later_are_0),
		CASE(unknown_types_are_skipped_by_their_size),
		CASE(records_may_be_as_large_as_16_bits_say),
		CASE(a_longer_header_and_padding_are_skipped),
		CASE(only_events_between_from_and_to),
		CASE(what_defines_comes_from_beyond),
		CASE(span_and_second_run),
		CASE(a_callback_ends_the_run),
		CASE(the_balance_is_summed),
		CASE(a_missing_packet_is_a_gap_with_its_events_counted),
		CASE(a_trace_may_begin_at_any_packet),
		CASE(a_clear_begins_the_counts_again),
		CASE(a_clear_may_fall_into_a_packet),
		CASE(losses_in_a_packet_with_a_clear),
		CASE(images_and_domains_have_tracks_of_their_own),
		CASE(every_field_has_a_name_in_timelines),
		CASE(a_packet_lost_after_a_clear_is_counted_from_zero),
		CASE(time_that_goes_back_is_counted_and_delivered),
		CASE(empty_packets_carry_their_balance),
		CASE(the_order_of_the_names_of_equal_streams_decides),
		CASE(live_streams_are_read_to_their_end),
		CASE(live_events_come_up_to_the_time_asked_for),
		CASE(live_packets_without_records_wait_for_their_time),
		CASE(a_live_packet_that_arrives_in_parts_is_whole_in_the_end),
		CASE(a_live_stream_that_ends_in_a_packet_was_cut),
		CASE(what_does_not_fit_the_kind_of_session_is_refused),
		CASE(a_client_of_an_older_header_still_runs),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
