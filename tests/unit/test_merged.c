// SPDX-License-Identifier: GPL-2.0
/*
 * Merging of several inputs, the estimate of their clocks' offset, and the
 * lines that are written: names of ioctls, texts made harmless, joins in
 * bounded memory.
 */
#include "collect.h"
#include "trace_maker.h"

#include <grtrace/event_table.h>

#include <errno.h>
#include <stdio.h>

#include "codes/ioctl_names.h"
#include "trace/packet.h"
#include "inputs.h"
#include "merge/offset.h"
#include "merge/merge.h"

#define EXECBUFFER 0xc0406442U
#define NODE .e.ring = GRT_RING_NONE, .e.device = 226U << 20 | 128
#define NODE_OF .ring = GRT_RING_NONE, .device = 226U << 20 | 128

static char *dir;
static char *cpu_path;
static char *gpu_path;

static int setup(void **state)
{
	(void)state;
	dir = tm_tmpdir();
	cpu_path = path_join(dir, "cpu.grt");
	gpu_path = path_join(dir, "gpu.grt");
	return 0;
}

static int teardown(void **state)
{
	(void)state;
	tm_remove(dir);
	free(gpu_path);
	free(cpu_path);
	free(dir);
	return 0;
}

static void test_ioctl_names(void **state)
{
	(void)state;
	assert_string_equal(grt_ioctl_name("virtio_gpu", EXECBUFFER), "DRM_IOCTL_VIRTGPU_EXECBUFFER");
	assert_string_equal(grt_ioctl_name("amdgpu", 0xc0186444), "DRM_IOCTL_AMDGPU_CS");
	assert_string_equal(grt_ioctl_name("i915", 0x40406469), "DRM_IOCTL_I915_GEM_EXECBUFFER2");
	assert_string_equal(grt_ioctl_name("xe", 0x40386449), "DRM_IOCTL_XE_EXEC");
	assert_string_equal(grt_ioctl_name("nouveau", 0xc0406481), "DRM_IOCTL_NOUVEAU_GEM_PUSHBUF");
	assert_string_equal(grt_ioctl_name(NULL, 0x40086409), "DRM_IOCTL_GEM_CLOSE");
	assert_string_equal(grt_ioctl_name("no such driver", 0xc03864bc), "DRM_IOCTL_MODE_ATOMIC");
	assert_null(grt_ioctl_name(NULL, EXECBUFFER));
	assert_null(grt_ioctl_name("no such driver", EXECBUFFER));
	/* of another type, or a number that nothing has */
	assert_null(grt_ioctl_name("virtio_gpu", 0xc0404642));
	assert_null(grt_ioctl_name("virtio_gpu", 0xc040649f));
}

/* ---------------------------------------------------------------- merging */

/** struct seen - what came, as "TYPE@TIME/INPUT " */
struct seen {
	char text[4096];
	size_t used;
	int stop_after;
};

static int see(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	struct seen *s = arg;

	(void)cpu;
	if (e->type == GRT_EV_NAME)
		return 0;
	s->used += (size_t)snprintf(s->text + s->used, sizeof(s->text) - s->used, "%u@%llu/%u ", e->type,
				    (unsigned long long)e->time, input);
	return s->stop_after && !--s->stop_after ? 7 : 0;
}

static void make_pair(void)
{
	struct trace_maker *tm = tm_dir(cpu_path, 2);

	tm_emit(tm, 0, ioctl_enter, .e.time = 10, NODE);
	tm_emit(tm, 1, ioctl_enter, .e.time = 20, NODE);
	tm_emit(tm, 0, ioctl_exit, .e.time = 30, NODE);
	/* a recording may hold both */
	tm_emit(tm, 0, submit, .e.time = 35);
	tm_close(tm);
	tm = tm_dir(gpu_path, 2);
	tm_emit(tm, 1, ioctl_exit, .e.time = 5, NODE);
	tm_emit(tm, 0, submit, .e.time = 20);
	tm_emit(tm, 1, commit, .e.time = 25);
	tm_emit(tm, 0, end, .e.time = 40);
	tm_close(tm);
}

static int merge_pair(struct seen *s, int64_t offset, uint64_t from, uint64_t to, bool both)
{
	const struct grt_merge_sink sink = {.event = see, .arg = s};
	struct grt_merge *m;
	struct grt_err err;
	int ret;

	assert_int_equal(grt_merge_new(&m), 0);
	assert_int_equal(grt_merge_open(m, cpu_path, both ? GRT_MERGE_BOTH : GRT_MERGE_CPU, &err), 0);
	assert_int_equal(grt_merge_open(m, gpu_path, both ? GRT_MERGE_BOTH : GRT_MERGE_GPU, &err), 0);
	grt_merge_offset(m, 1, offset);
	ret = grt_merge_run(m, &sink, from, to, &err);
	grt_merge_free(m);
	return ret;
}

static void test_sides(void **state)
{
	struct seen s = {.used = 0};

	(void)state;
	make_pair();
	assert_int_equal(merge_pair(&s, 0, 0, UINT64_MAX, false), 0);
	assert_string_equal(s.text, "13@10/0 13@20/0 1@20/1 2@25/1 14@30/0 4@40/1 ");
	s = (struct seen){.used = 0};
	assert_int_equal(merge_pair(&s, 0, 0, UINT64_MAX, true), 0);
	assert_string_equal(s.text, "14@5/1 13@10/0 13@20/0 1@20/1 2@25/1 14@30/0 1@35/0 4@40/1 ");
}

static void test_moved(void **state)
{
	struct seen s = {.used = 0};

	(void)state;
	make_pair();
	assert_int_equal(merge_pair(&s, 6, 0, UINT64_MAX, false), 0);
	assert_string_equal(s.text, "13@10/0 13@20/0 1@26/1 14@30/0 2@31/1 4@46/1 ");
	/* time does not go below 0, and does not wrap at its end */
	s = (struct seen){.used = 0};
	assert_int_equal(merge_pair(&s, -22, 0, UINT64_MAX, false), 0);
	assert_string_equal(s.text, "1@0/1 2@3/1 13@10/0 4@18/1 13@20/0 14@30/0 ");
	s = (struct seen){.used = 0};
	assert_int_equal(merge_pair(&s, INT64_MAX, 0, UINT64_MAX, false), 0);
	assert_string_equal(s.text, "13@10/0 13@20/0 14@30/0 1@9223372036854775827/1 2@9223372036854775832/1 "
				    "4@9223372036854775847/1 ");
	/* the range is one of moved times */
	s = (struct seen){.used = 0};
	assert_int_equal(merge_pair(&s, 6, 20, 31, false), 0);
	assert_string_equal(s.text, "13@20/0 1@26/1 14@30/0 2@31/1 ");
}

/* What is told of a moment is marked as a stamp: all that moves a trace goes by that. */
static void test_stamps_are_marked(void **state)
{
	(void)state;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		for (const struct grt_field *f = grt_event_table[i].name ? grt_event_table[i].fields() : NULL;
		     f && f->name; f++) {
			bool moment = !strncmp(f->help, "time at which ", 14) ||
				      !strncmp(f->help, "start of ", 9) || !strncmp(f->help, "end of ", 7) ||
				      !strcmp(f->help, "start") || !strcmp(f->help, "end") ||
				      strstr(f->help, "CLOCK_MONOTONIC ns") ||
				      !strncmp(f->help, "CLOCK_MONOTONIC ", 16);

			assert_int_equal(f->kind == GRT_FIELD_TIME, moment);
			assert_true(!moment || f->size == 8);
		}
}

/** union kept - a record of any type */
union kept {
	struct grt_event e;
	char room[GRT_RECORD_MAX];
};

/** struct records - all that came, whole, by type */
struct records {
	union kept of[GRT_EV_MAX];
};

static int keep(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	struct records *r = arg;

	(void)cpu;
	(void)input;
	memcpy(&r->of[e->type], e, e->size);
	return 0;
}

static void make_stamps(void)
{
	struct trace_maker *tm = tm_dir(gpu_path, 1);

	tm_emit(tm, 0, job, .e.time = 1000, .submit = 100, .start = 300, .end = 400, .fence_id = 500);
	tm_emit(tm, 0, vblank, .e.time = 1000, .stamp = 990);
	tm_emit(tm, 0, aggregate, .e.time = 1000, .begin = 100, .end = 1000, .latency = 50);
	tm_emit(tm, 0, mapping, .e.time = 1000, .start = 100, .end = 200);
	tm_emit(tm, 0, clock, .e.time = 1000, .realtime = 5000, .monotonic = 1000, .boottime = 2000);
	tm_emit(tm, 0, launch, .e.time = 1000, .begin = 900, .correlation = 7);
	tm_emit(tm, 0, gpu_kernel, .e.time = 1000, .start = 910, .end = 920, .correlation = 7);
	tm_emit(tm, 0, gpu_copy, .e.time = 1000, .start = 930, .bytes = 100);
	tm_emit(tm, 0, gpu_sync, .e.time = 1000, .start = 940, .end = 950);
	tm_emit(tm, 0, gpu_overhead, .e.time = 1000, .start = 960, .end = 970);
	tm_emit(tm, 0, off_cpu, .e.time = 1000, .start = 100, .woken = 200, .number = 300);
	tm_close(tm);
}

static void merge_stamps(struct records *r, int64_t offset)
{
	const struct grt_merge_sink sink = {.event = keep, .arg = r};
	struct grt_merge *m;
	struct grt_err err;

	*r = (struct records){.of = {{.e = {.time = 0}}}};
	assert_int_equal(grt_merge_new(&m), 0);
	assert_int_equal(grt_merge_open(m, gpu_path, GRT_MERGE_BOTH, &err), 0);
	grt_merge_offset(m, 0, offset);
	assert_int_equal(grt_merge_run(m, &sink, 0, UINT64_MAX, &err), 0);
	grt_merge_free(m);
}

#define FIELD(r, evt, field) (((const struct grt_ev_##evt *)&(r)->of[tm_type_##evt])->field)

/* The stamps of a record move with it, and nothing else in it does. */
static void test_moved_payload(void **state)
{
	static struct records r;

	(void)state;
	make_stamps();
	merge_stamps(&r, 10000);
	assert_int_equal(FIELD(&r, job, e.time), 11000);
	assert_int_equal(FIELD(&r, job, submit), 10100);
	assert_int_equal(FIELD(&r, job, commit), 0);
	assert_int_equal(FIELD(&r, job, start), 10300);
	assert_int_equal(FIELD(&r, job, end), 10400);
	assert_int_equal(FIELD(&r, job, complete), 0);
	assert_int_equal(FIELD(&r, job, wait), 0);
	assert_int_equal(FIELD(&r, job, fence_id), 500);
	assert_int_equal(FIELD(&r, vblank, stamp), 10990);
	assert_int_equal(FIELD(&r, aggregate, begin), 10100);
	assert_int_equal(FIELD(&r, aggregate, end), 11000);
	assert_int_equal(FIELD(&r, aggregate, latency), 50);
	assert_int_equal(FIELD(&r, mapping, start), 100);
	assert_int_equal(FIELD(&r, mapping, end), 200);
	assert_int_equal(FIELD(&r, clock, realtime), 5000);
	assert_int_equal(FIELD(&r, clock, monotonic), 11000);
	assert_int_equal(FIELD(&r, clock, boottime), 2000);
	assert_int_equal(FIELD(&r, launch, begin), 10900);
	assert_int_equal(FIELD(&r, launch, correlation), 7);
	assert_int_equal(FIELD(&r, gpu_kernel, start), 10910);
	assert_int_equal(FIELD(&r, gpu_kernel, end), 10920);
	assert_int_equal(FIELD(&r, gpu_copy, start), 10930);
	assert_int_equal(FIELD(&r, gpu_copy, end), 0);
	assert_int_equal(FIELD(&r, gpu_copy, bytes), 100);
	assert_int_equal(FIELD(&r, gpu_sync, start), 10940);
	assert_int_equal(FIELD(&r, gpu_sync, end), 10950);
	assert_int_equal(FIELD(&r, gpu_overhead, start), 10960);
	assert_int_equal(FIELD(&r, gpu_overhead, end), 10970);
	assert_int_equal(FIELD(&r, off_cpu, start), 10100);
	assert_int_equal(FIELD(&r, off_cpu, woken), 10200);
	assert_int_equal(FIELD(&r, off_cpu, number), 300);
	/* 0 would say that they were not seen */
	merge_stamps(&r, -400);
	assert_int_equal(FIELD(&r, job, submit), 1);
	assert_int_equal(FIELD(&r, job, commit), 0);
	assert_int_equal(FIELD(&r, job, start), 1);
	assert_int_equal(FIELD(&r, job, end), 1);
	assert_int_equal(FIELD(&r, aggregate, end), 600);
}

/* ------------------------------------------------------------------ rings */

/** struct rings - the numbers of rings as they came, "INPUT:TYPE:RING ", or "INPUT=NAME:RING " where named */
struct rings {
	char text[1024];
	size_t used;
};

static int see_ring(void *arg, const struct grt_event *e, uint32_t cpu, unsigned int input)
{
	const struct grt_ev_name *n = (const struct grt_ev_name *)e;
	struct rings *s = arg;
	char *at = s->text + s->used;
	size_t room = sizeof(s->text) - s->used;

	(void)cpu;
	if (e->type != GRT_EV_NAME)
		s->used += (size_t)snprintf(at, room, "%u:%u:%d ", input, e->type, (int)e->ring);
	else if (n->kind == GRT_NAME_RING)
		s->used += (size_t)snprintf(at, room, "%u=%s:%u ", input, n->name, n->id);
	return 0;
}

/** struct ring_input - a trace with rings 0 and 1, of which @name names the first where it is no NULL */
struct ring_input {
	const char *name;
	const char *owner;
	enum grt_merge_side side;
};

static void add_ring_input(struct grt_merge *m, const struct ring_input *in, unsigned int number)
{
	struct grt_ev_name n = {.e = {.type = GRT_EV_NAME, .size = sizeof(n), .time = 1},
				.kind = GRT_NAME_RING};
	char name[32], *path;
	struct trace_maker *tm;
	struct grt_err err;

	snprintf(name, sizeof(name), "rings%u.grt", number);
	path = path_join(dir, name);
	tm = tm_dir(path, 1);
	if (in->name) {
		strncpy(n.name, in->name, sizeof(n.name) - 1);
		strncpy(n.owner, in->owner, sizeof(n.owner) - 1);
		tm_event(tm, 0, &n.e);
	}
	tm_emit(tm, 0, commit, .e.time = 10 + number, .e.ring = 0);
	tm_emit(tm, 0, end, .e.time = 20 + number, .e.ring = 1);
	tm_emit(tm, 0, stack, .e.time = 30 + number, .e.ring = 0);
	tm_emit(tm, 0, mem_destroy, .e.time = 40 + number, .e.ring = GRT_RING_NONE);
	tm_close(tm);
	assert_int_equal(grt_merge_open(m, path, in->side, &err), 0);
	free(path);
}

static void check_rings(const struct ring_input *in, unsigned int inputs, const char *expected)
{
	struct rings s = {.used = 0};
	const struct grt_merge_sink sink = {.event = see_ring, .arg = &s};
	struct grt_merge *m;
	struct grt_err err;

	assert_int_equal(grt_merge_new(&m), 0);
	for (unsigned int i = 0; i < inputs; i++)
		add_ring_input(m, &in[i], i);
	/* twice: no run knows of the one before */
	for (unsigned int i = 0; i < 2; i++) {
		s.used = 0;
		assert_int_equal(grt_merge_run(m, &sink, 0, UINT64_MAX, &err), 0);
		assert_string_equal(s.text, expected);
	}
	grt_merge_free(m);
}

static void test_rings(void **state)
{
	(void)state;
	/* another ring has another number, by whatever comes first */
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_BOTH}, {"comp", "a", GRT_MERGE_GPU}}, 2,
		    "0=gfx:0 1=comp:100 0:2:0 1:2:100 0:4:1 1:4:101 0:33:0 0:25:-1 1:25:-1 ");
	check_rings((struct ring_input[]){{NULL, NULL, GRT_MERGE_GPU}, {NULL, NULL, GRT_MERGE_GPU}}, 2,
		    "0:2:0 1:2:100 0:4:1 1:4:101 0:25:-1 1:25:-1 ");
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_GPU}, {"gfx", "b", GRT_MERGE_GPU}}, 2,
		    "0=gfx:0 1=gfx:100 0:2:0 1:2:100 0:4:1 1:4:101 0:25:-1 1:25:-1 ");
	/* one that has the same name in two inputs is one; the same number alone says nothing */
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_GPU}, {"gfx", "a", GRT_MERGE_GPU}}, 2,
		    "0=gfx:0 1=gfx:0 0:2:0 1:2:0 0:4:1 1:4:100 0:25:-1 1:25:-1 ");
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_GPU},
					  {"comp", "a", GRT_MERGE_GPU},
					  {"comp", "a", GRT_MERGE_GPU}},
		    3,
		    "0=gfx:0 1=comp:100 2=comp:100 0:2:0 1:2:100 2:2:100 0:4:1 1:4:101 2:4:102 "
		    "0:25:-1 1:25:-1 2:25:-1 ");
	/* one input alone, and one for each side, keep theirs */
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_BOTH}}, 1,
		    "0=gfx:0 0:2:0 0:4:1 0:33:0 0:25:-1 ");
	check_rings((struct ring_input[]){{"gfx", "a", GRT_MERGE_CPU}, {"comp", "a", GRT_MERGE_GPU}}, 2,
		    "1=comp:0 1:2:0 1:4:1 0:33:0 1:25:-1 ");
}

static void test_stop(void **state)
{
	struct seen s = {.stop_after = 3};

	(void)state;
	make_pair();
	assert_int_equal(merge_pair(&s, 0, 0, UINT64_MAX, false), 7);
	assert_string_equal(s.text, "13@10/0 13@20/0 1@20/1 ");
}

static void test_no_input(void **state)
{
	struct grt_merge *m;
	struct grt_err err;
	uint64_t first, last;

	(void)state;
	make_pair();
	assert_int_equal(grt_merge_new(&m), 0);
	assert_int_equal(grt_merge_span(m, &first, &last), -ENODATA);
	assert_int_equal(grt_merge_open(m, "/no/such/trace", GRT_MERGE_CPU, &err), -ENOENT);
	assert_int_equal(grt_merge_inputs(m), 0);
	assert_int_equal(grt_merge_open(m, gpu_path, GRT_MERGE_GPU, &err), 0);
	grt_merge_offset(m, 0, 100);
	assert_int_equal(grt_merge_span(m, &first, &last), 0);
	assert_int_equal(first, 105);
	assert_int_equal(last, 140);
	grt_merge_free(m);
}

/* ----------------------------------------------------------------- offset */

/** struct clocks - how a pair of traces for the estimate looks */
struct clocks {
	int64_t by;
	unsigned int jobs;
	unsigned int calls;
	unsigned int jitter;
	bool unnamed;
};

static int estimate(const struct clocks *c, struct grt_offset_result *r, struct grt_err *err)
{
	struct grt_offset *o;
	uint64_t t = 1000000;
	int ret;
	struct grt_ev_name name = {.e = {.type = GRT_EV_NAME, .size = sizeof(name)},
				   .kind = GRT_NAME_DEVICE,
				   .id = 226U << 20 | 128};

	strcpy(name.name, "renderD128");
	strcpy(name.owner, "virtio_gpu");
	assert_int_equal(grt_offset_new(&o), 0);
	if (!c->unnamed)
		assert_int_equal(grt_offset_event(o, &name.e, 0), 0);
	for (unsigned int i = 0; i < c->jobs || i < c->calls; i++) {
		struct grt_ev_ioctl_enter enter = {
			.e = {.type = GRT_EV_IOCTL_ENTER, .time = t, .tid = 7, NODE_OF}, .cmd = EXECBUFFER};
		struct grt_ev_ioctl_exit left = {
			.e = {.type = GRT_EV_IOCTL_EXIT, .time = t + 1000, .tid = 7, NODE_OF},
			.cmd = EXECBUFFER};
		struct grt_event submit = {
			.type = GRT_EV_SUBMIT, .time = t + 400 + i % 3 * 100 - (uint64_t)c->by, .tid = 7};

		if (i < c->calls) {
			assert_int_equal(grt_offset_event(o, &enter.e, 0), 0);
			assert_int_equal(grt_offset_event(o, &left.e, 0), 0);
		}
		if (i < c->jobs)
			assert_int_equal(grt_offset_event(o, &submit, 1), 0);
		t += 100000 + (c->jitter ? i * i * 7919 % c->jitter : 0);
	}
	ret = grt_offset_find(o, r, err);
	grt_offset_free(o);
	return ret;
}

static void test_offset(void **state)
{
	struct grt_offset_result r;
	struct grt_err err;

	(void)state;
	/* as many ioctls as jobs: the first with the first */
	assert_int_equal(estimate(&(struct clocks){.by = 5000000000, .jobs = 50, .calls = 50}, &r, &err), 0);
	assert_true(r.ordinal);
	assert_int_equal(r.pairs, 50);
	assert_int_equal(r.agree, 50);
	/* bounded by the earliest and the latest place of a SUBMIT in its ioctl: 400 and 600 of 1000 ns */
	assert_int_equal(r.ns, 5000000000);
	assert_int_equal(r.error, 400);
	assert_false(r.same);
	assert_int_equal(estimate(&(struct clocks){.by = -300, .jobs = 5, .calls = 5}, &r, &err), 0);
	assert_true(r.same);
	assert_int_equal(r.ns, 0);
	/* the log of the CPU begins later or ends earlier: the irregular times tell which is which */
	assert_int_equal(estimate(&(struct clocks){.by = -77000000, .jobs = 60, .calls = 50, .jitter = 50000},
				  &r, &err),
			 0);
	assert_false(r.ordinal);
	assert_int_equal(r.agree, 50);
	assert_in_range((uint64_t)-r.ns, 77000000 - 400, 77000000 + 400);
}

static void test_no_offset(void **state)
{
	struct grt_offset_result r;
	struct grt_err err;

	(void)state;
	assert_int_equal(estimate(&(struct clocks){.calls = 5}, &r, &err), -ENODATA);
	assert_non_null(strstr(err.why, "no SUBMIT"));
	assert_int_equal(estimate(&(struct clocks){.jobs = 5}, &r, &err), -ENODATA);
	assert_non_null(strstr(err.why, "no ioctl"));
	/* regular times fit in many places */
	assert_int_equal(estimate(&(struct clocks){.by = 1000, .jobs = 50, .calls = 45}, &r, &err), -EDOM);
	assert_non_null(strstr(err.why, "more than one"));
}

/* ------------------------------------------------------------------ lines */

/** struct output - lines that are being written into a file */
struct output {
	struct grt_line_out *l;
	char *path;
	int fd;
};

static void begin(struct output *o, enum grt_line_form form)
{
	o->path = path_join(dir, "lines");
	o->fd = open(o->path, O_RDWR | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);
	assert_true(o->fd >= 0);
	assert_int_equal(grt_line_out_new(&o->l, form, o->fd), 0);
}

/* Return: the text, the caller's to free; @count may be NULL */
static char *finish(struct output *o, struct grt_line_out_count *count)
{
	size_t size;
	char *text;

	assert_int_equal(grt_line_out_flush(o->l), 0);
	if (count)
		*count = *grt_line_out_count(o->l);
	grt_line_out_free(o->l);
	close(o->fd);
	text = file_load(o->path, &size);
	free(o->path);
	return text;
}

#define put(o, evt, ...)                                                                                   \
	assert_int_equal(grt_line_out_event((o)->l,                                                        \
					    &((struct grt_ev_##evt){.e.type = tm_type_##evt,               \
								    .e.size = sizeof(struct grt_ev_##evt), \
								    __VA_ARGS__})                          \
						     .e,                                                   \
					    0, 0),                                                         \
			 0)

static void check_text(char *text, const char *expected)
{
	assert_string_equal(text, expected);
	free(text);
}

/* Nothing that a program calls itself ends a line or makes a key. */
static void test_hostile(void **state)
{
	struct output o;

	(void)state;
	for (unsigned int form = 0; form < 3; form++) {
		static const char *const lines[] = {
			"[0.000000005] IOCTL_EXIT pid=1 tid=2 comm=<script>\\x0a[1.0] \"a\\x3db\"\\x2c "
			"\\\\\\x1b]0;x\\x07 \\xe2 cmd=0x1 ret=0\n",
			"[0.000000005] CPU IOCTL_EXIT       cmd=0x1, ret=0, pid=1, tid=2, "
			"comm=<script>\\x0a[1.0] \"a\\x3db\"\\x2c \\\\\\x1b]0;x\\x07 \\xe2\n",
			"0.000000005  [CPU]  <script>\\x0a[1.0] \"a\\x3db\"\\x2c \\\\\\x1b]0;x\\x07 \\xe2(1) "
			"ioctl_exit cmd=0x1 ret=0 tid=2\n",
		};

		begin(&o, form);
		put(&o, name, .kind = GRT_NAME_THREAD, .id = 2,
		    .name = "<script>\n[1.0] \"a=b\", \\\033]0;x\a \xe2");
		put(&o, ioctl_exit, .e.time = 5, .e.pid = 1, .e.tid = 2, .e.ring = GRT_RING_NONE, .cmd = 1);
		check_text(finish(&o, NULL), lines[form]);
	}
	begin(&o, GRT_LINE_OUT_JSON);
	put(&o, name, .kind = GRT_NAME_THREAD, .id = 2, .name = "a\n\"\\\x01\xff<\xe2\x86\x90");
	put(&o, ioctl_exit, .e.time = 5, .e.pid = 1, .e.tid = 2, .e.ring = GRT_RING_NONE, .cmd = 0x10);
	check_text(finish(&o, NULL),
		   "{\"time\":5,\"cpu\":0,\"type\":\"IOCTL_EXIT\",\"pid\":1,\"tid\":2,"
		   "\"comm\":\"a\\u000a\\\"\\\\\\u0001\\ufffd<\xe2\x86\x90\",\"cmd\":16,\"ret\":0}\n");
}

/* The longest texts there are, all of whose bytes grow most, fit. */
static void test_longest(void **state)
{
	struct output o;
	char *text;

	(void)state;
	for (unsigned int form = 0; form < GRT_LINE_FORMS; form++) {
		struct grt_ev_name thread = {.e.type = GRT_EV_NAME, .kind = GRT_NAME_THREAD, .id = 2};
		struct grt_ev_name ring = {.e.type = GRT_EV_NAME, .kind = GRT_NAME_RING, .id = 3};
		struct grt_ev_name device = {
			.e.type = GRT_EV_NAME, .kind = GRT_NAME_DEVICE, .id = UINT32_MAX};
		struct grt_ev_xid xid = {.e = {.type = GRT_EV_XID,
					       .time = UINT64_MAX,
					       .pid = UINT32_MAX,
					       .tid = 2,
					       .ring = 3,
					       .device = UINT32_MAX,
					       .ctx = UINT64_MAX,
					       .seqno = UINT64_MAX,
					       .flags = UINT16_MAX,
					       .sample = UINT8_MAX,
					       .engine = UINT8_MAX},
					 .code = UINT32_MAX,
					 .bus = UINT32_MAX};

		memset(thread.name, 1, sizeof(thread.name));
		memset(thread.owner, 2, sizeof(thread.owner));
		memset(ring.name, 1, sizeof(ring.name));
		memset(ring.owner, 1, sizeof(ring.owner));
		memset(device.name, 1, sizeof(device.name));
		memset(device.owner, 1, sizeof(device.owner));
		memset(xid.text, 1, sizeof(xid.text));
		begin(&o, form);
		for (unsigned int i = 0; i < 3; i++) {
			assert_int_equal(grt_line_out_event(o.l, &thread.e, 0, 0), 0);
			assert_int_equal(grt_line_out_event(o.l, &ring.e, 0, 0), 0);
			assert_int_equal(grt_line_out_event(o.l, &device.e, 0, 0), 0);
			assert_int_equal(grt_line_out_event(o.l, &xid.e, 0, 0), 0);
		}
		text = finish(&o, NULL);
		assert_non_null(strchr(text, '\n'));
		assert_int_equal(strlen(text), 3 * (size_t)(strchr(text, '\n') + 1 - text));
		free(text);
	}
}

static void test_joins(void **state)
{
	struct grt_line_out_count count;
	struct output o;

	(void)state;
	begin(&o, GRT_LINE_OUT_ANNOTATE);
	/* a job of a thread inside an ioctl; the identity comes again and is a new job */
	put(&o, ioctl_enter, .e.time = 100, .e.tid = 2, .e.ring = GRT_RING_NONE, .cmd = 1, .fd = -1);
	put(&o, submit, .e.time = 110, .e.tid = 2, .e.ctx = 5, .e.seqno = 1, .e.flags = GRT_FLAG_COMMIT);
	put(&o, start, .e.time = 130, .e.ctx = 5, .e.seqno = 1);
	put(&o, submit, .e.time = 200, .e.ctx = 5, .e.seqno = 1);
	put(&o, end, .e.time = 210, .e.ctx = 5, .e.seqno = 1);
	/* time that goes back makes no delta */
	put(&o, complete, .e.time = 205, .e.ctx = 5, .e.seqno = 1);
	put(&o, complete, .e.time = 206, .e.ctx = 5, .e.seqno = 1);
	/* a wait for another fence is not this one's */
	put(&o, sync_wait_enter, .e.time = 300, .e.tid = 2, .e.ctx = 5, .e.seqno = 1);
	put(&o, sync_wait_exit, .e.time = 310, .e.tid = 2, .e.ctx = 5, .e.seqno = 2);
	put(&o, sync_wait_exit, .e.time = 320, .e.tid = 2, .e.ctx = 5, .e.seqno = 1);
	put(&o, ioctl_exit, .e.time = 400, .e.tid = 2, .e.ring = GRT_RING_NONE, .cmd = 1, .ret = -1);
	put(&o, ioctl_exit, .e.time = 401, .e.tid = 2, .e.ring = GRT_RING_NONE, .cmd = 1);
	/* no thread is no identity */
	put(&o, ioctl_enter, .e.time = 500, .e.ring = GRT_RING_NONE, .cmd = 1, .fd = 0);
	put(&o, ioctl_exit, .e.time = 501, .e.ring = GRT_RING_NONE, .cmd = 1);
	check_text(
		finish(&o, &count),
		"[0.000000100] IOCTL_ENTER pid=0 tid=2 comm=<...> cmd=0x1 arg=0x0\n"
		"[0.000000110] SUBMIT ctx=0x5 engine=unknown ring=0 seq=1 since_ioctl_ns=10 flags=0x2 pid=0 tid=2\n"
		"[0.000000130] START ctx=0x5 engine=unknown ring=0 seq=1 t_queue_ns=20\n"
		"[0.000000200] SUBMIT ctx=0x5 engine=unknown ring=0 seq=1\n"
		"[0.000000210] END ctx=0x5 engine=unknown ring=0 seq=1 since_submit_ns=10\n"
		"[0.000000205] COMPLETE ctx=0x5 engine=unknown ring=0 seq=1 status=0 t_total_ns=5\n"
		"[0.000000206] COMPLETE ctx=0x5 engine=unknown ring=0 seq=1 status=0\n"
		"[0.000000300] SYNC_WAIT_ENTER ctx=0x5 engine=unknown ring=0 seq=1 pid=0 tid=2\n"
		"[0.000000310] SYNC_WAIT_EXIT ctx=0x5 engine=unknown ring=0 seq=2 pid=0 tid=2\n"
		"[0.000000320] SYNC_WAIT_EXIT ctx=0x5 engine=unknown ring=0 seq=1 t_wait_ns=20 pid=0 tid=2\n"
		"[0.000000400] IOCTL_EXIT pid=0 tid=2 comm=<...> cmd=0x1 ret=-1 duration_ns=300\n"
		"[0.000000401] IOCTL_EXIT pid=0 tid=2 comm=<...> cmd=0x1 ret=0\n"
		"[0.000000500] IOCTL_ENTER pid=0 tid=0 comm=<...> cmd=0x1 arg=0x0 fd=0\n"
		"[0.000000501] IOCTL_EXIT pid=0 tid=0 comm=<...> cmd=0x1 ret=0\n");
	assert_int_equal(count.calls, 1);
	assert_int_equal(count.open_exits, 2);
	assert_int_equal(count.jobs, 1);
	assert_int_equal(count.submits, 1);
}

/* An observed stamp replaces a concluded one, else the first one stands, and the others tell nothing. */
static void test_joins_inferred(void **state)
{
	struct output o;

	(void)state;
	begin(&o, GRT_LINE_OUT_MERGED);
	put(&o, submit, .e.time = 100, .e.ctx = 5, .e.flags = GRT_FLAG_COMMIT);
	put(&o, commit, .e.time = 110, .e.ctx = 5, .e.flags = GRT_FLAG_INFERRED);
	put(&o, commit, .e.time = 120, .e.ctx = 5);
	put(&o, commit, .e.time = 130, .e.ctx = 5);
	put(&o, start, .e.time = 200, .e.ctx = 5, .e.flags = GRT_FLAG_INFERRED);
	put(&o, start, .e.time = 210, .e.ctx = 5);
	put(&o, start, .e.time = 220, .e.ctx = 5, .e.flags = GRT_FLAG_INFERRED);
	put(&o, end, .e.time = 300, .e.ctx = 5);
	put(&o, end, .e.time = 310, .e.ctx = 5);
	put(&o, complete, .e.time = 400, .e.ctx = 5);
	check_text(
		finish(&o, NULL),
		"[0.000000100] GPU SUBMIT           ctx_id=0x5, engine=unknown, ring=0, seqno=0, flags=0x2\n"
		"[0.000000110] GPU COMMIT           ctx_id=0x5, engine=unknown, ring=0, seqno=0, flags=0x1\n"
		"[0.000000120] GPU COMMIT           ctx_id=0x5, engine=unknown, ring=0, seqno=0, t_sched_ns=20\n"
		"[0.000000130] GPU COMMIT           ctx_id=0x5, engine=unknown, ring=0, seqno=0\n"
		"[0.000000200] GPU START            ctx_id=0x5, engine=unknown, ring=0, seqno=0, t_queue_ns=80, flags=0x1\n"
		"[0.000000210] GPU START            ctx_id=0x5, engine=unknown, ring=0, seqno=0, t_queue_ns=90\n"
		"[0.000000220] GPU START            ctx_id=0x5, engine=unknown, ring=0, seqno=0, flags=0x1\n"
		"[0.000000300] GPU END              ctx_id=0x5, engine=unknown, ring=0, seqno=0, t_exec_ns=90\n"
		"[0.000000310] GPU END              ctx_id=0x5, engine=unknown, ring=0, seqno=0\n"
		"[0.000000400] GPU COMPLETE         ctx_id=0x5, engine=unknown, ring=0, seqno=0, status=0, "
		"t_complete_ns=100, t_total_ns=300\n");
}

/* A name that changes is the new one from there on, also one that is empty, for each process that a thread is
 * told of. */
static void test_renamed(void **state)
{
	struct output o;

	(void)state;
	begin(&o, GRT_LINE_OUT_MERGED);
	put(&o, name, .kind = GRT_NAME_THREAD, .id = 2, .name = "a", .owner = "p");
	put(&o, open, .e.tid = 2, .e.pid = 1, .e.ring = GRT_RING_NONE);
	put(&o, open, .e.tid = 2, .e.pid = 9, .e.ring = GRT_RING_NONE);
	put(&o, name, .kind = GRT_NAME_THREAD, .id = 2, .name = "b", .owner = "b");
	put(&o, open, .e.tid = 2, .e.pid = 9, .e.ring = GRT_RING_NONE);
	put(&o, name, .kind = GRT_NAME_THREAD, .id = 2);
	put(&o, open, .e.tid = 2, .e.pid = 9, .e.ring = GRT_RING_NONE);
	put(&o, name, .kind = GRT_NAME_DEVICE, .id = 77, .name = "nvidia0", .owner = "nvidia");
	put(&o, open, .e.tid = 3, .e.pid = 3, .e.ring = GRT_RING_NONE, .e.device = 77);
	check_text(finish(&o, NULL),
		   "[0.000000000] CPU OPEN             fd=0, oflags=0x0, pid=1, tid=2, comm=a, process=p\n"
		   "[0.000000000] CPU OPEN             fd=0, oflags=0x0, pid=9, tid=2, comm=a, process=p\n"
		   "[0.000000000] CPU OPEN             fd=0, oflags=0x0, pid=9, tid=2, comm=b\n"
		   "[0.000000000] CPU OPEN             fd=0, oflags=0x0, pid=9, tid=2, comm=\n"
		   "[0.000000000] CPU OPEN             fd=0, oflags=0x0, dev=nvidia0, device=77, "
		   "driver=nvidia, pid=3, tid=3\n");
}

/* More kinds of lines than are remembered as they look, coming back in another order: each is its own. */
static void test_many_kinds(void **state)
{
	const uint32_t threads = 40, rounds = 3;
	char expected[200], *text, *at;
	struct output o;

	(void)state;
	begin(&o, GRT_LINE_OUT_MERGED);
	for (uint32_t i = 0; i < rounds * threads * threads; i++) {
		uint32_t n = i * 7919 % (threads * threads);

		put(&o, commit, .e.time = i, .e.ctx = 1 + n / threads, .e.seqno = i, .e.tid = 1 + n % threads,
		    .e.ring = GRT_RING_NONE, .hw_depth = i % 3 * 1000);
	}
	text = at = finish(&o, NULL);
	for (uint32_t i = 0; i < rounds * threads * threads; i++) {
		uint32_t n = i * 7919 % (threads * threads);
		int len = snprintf(expected, sizeof(expected),
				   "[0.%09u] GPU COMMIT           ctx_id=0x%x, engine=unknown, seqno=%u", i,
				   1 + n / threads, i);

		if (i % 3)
			len += snprintf(expected + len, sizeof(expected) - (size_t)len, ", hw_depth=%u",
					i % 3 * 1000);
		len += snprintf(expected + len, sizeof(expected) - (size_t)len, ", pid=0, tid=%u\n",
				1 + n % threads);
		assert_memory_equal(at, expected, (size_t)len);
		at += len;
	}
	assert_int_equal(*at, '\0');
	free(text);
}

/* A value of its own for each field of a record. */
static void fill(union kept *r, uint16_t type)
{
	uint32_t n = 1;

	*r = (union kept){.e = {.time = 5,
				.type = type,
				.size = (uint16_t)grt_record_size[type],
				.engine = GRT_ENGINE_COPY,
				.pid = 1,
				.tid = 2,
				.ring = 3,
				.device = 77,
				.ctx = 8,
				.seqno = 9}};
	for (const struct grt_field *f = grt_event_table[type].fields(); f->name; f++, n++) {
		/* a descriptor below 0 is none */
		uint64_t value = f->kind == GRT_FIELD_SIGNED && strcmp(f->name, "fd") != 0 ? 0ULL - n : n;

		if (f->kind == GRT_FIELD_STR)
			snprintf(r->room + f->offset, f->size, "%u b, c", n);
		else
			memcpy(r->room + f->offset, &value, f->size);
	}
}

static void read_back(const char *path, struct records *r)
{
	const struct grt_merge_sink sink = {.event = keep, .arg = r};
	struct grt_merge *m;
	struct grt_err err;

	*r = (struct records){.of = {{.e = {.time = 0}}}};
	assert_int_equal(grt_merge_new(&m), 0);
	assert_int_equal(grt_merge_open(m, path, GRT_MERGE_BOTH, &err), 0);
	assert_int_equal(grt_merge_run(m, &sink, 0, UINT64_MAX, &err), 0);
	grt_merge_free(m);
}

/* A line of any event holds all of its fields, and what is read from it is the record that was written. */
static void test_every_field(void **state)
{
	static const enum grt_line_form form[] = {GRT_LINE_OUT_ANNOTATE, GRT_LINE_OUT_MERGED};
	static struct records r;
	char *path = path_join(dir, "lines");
	unsigned int wrong = 0;
	struct output o;
	union kept is;

	(void)state;
	for (unsigned int i = 0; i < 2 * GRT_EV_MAX; i++) {
		uint16_t type = (uint16_t)(i / 2);

		/* these are in the lines of others */
		if (!grt_record_size[type] || type == GRT_EV_NAME || type == GRT_EV_STACK ||
		    type == GRT_EV_FRAME || type == GRT_EV_FRAME_PLACE || type == GRT_EV_FRAME_TEXT ||
		    type == GRT_EV_CALL_STACK)
			continue;
		begin(&o, form[i % 2]);
		fill(&is, type);
		assert_int_equal(grt_line_out_event(o.l, &is.e, 0, 0), 0);
		free(finish(&o, NULL));
		read_back(path, &r);
		assert_int_equal(r.of[type].e.type, type);
		for (const struct grt_field *f = grt_event_table[type].fields(); f->name; f++)
			if (memcmp(r.of[type].room + f->offset, is.room + f->offset, f->size) != 0) {
				print_message("%s.%s in form %u\n", grt_event_table[type].name, f->name,
					      i % 2);
				wrong++;
			}
		if (memcmp(&r.of[type].e, &is.e, sizeof(is.e)) != 0) {
			print_message("the head of %s in form %u\n", grt_event_table[type].name, i % 2);
			wrong++;
		}
	}
	free(path);
	assert_int_equal(wrong, 0);
}

/* More threads and jobs than are remembered: the oldest give way, the others are still exact. */
static void test_bounded(void **state)
{
	struct grt_line_out *l;
	const uint32_t n = 2 * GRT_LINE_OUT_JOBS;

	(void)state;
	assert_int_equal(grt_line_out_new(&l, GRT_LINE_OUT_MERGED, -1), 0);
	for (unsigned int step = 0; step < 2; step++)
		for (uint32_t i = 1; i <= n; i++) {
			struct grt_ev_ioctl_enter enter = {.e = {.type = GRT_EV_IOCTL_ENTER, .tid = i}};
			struct grt_ev_ioctl_exit left = {
				.e = {.type = GRT_EV_IOCTL_EXIT, .time = 9, .tid = i}};
			struct grt_ev_submit submit = {.e = {.type = GRT_EV_SUBMIT, .ctx = 1, .seqno = i}};
			struct grt_ev_complete done = {
				.e = {.type = GRT_EV_COMPLETE, .time = 9, .ctx = 1, .seqno = i}};

			assert_int_equal(grt_line_out_event(l, step ? &left.e : &enter.e, 0, 0), 0);
			assert_int_equal(grt_line_out_event(l, step ? &done.e : &submit.e, 0, 0), 0);
		}
	assert_int_equal(grt_line_out_count(l)->calls, GRT_LINE_OUT_THREADS);
	assert_int_equal(grt_line_out_count(l)->open_exits, n - GRT_LINE_OUT_THREADS);
	assert_int_equal(grt_line_out_count(l)->jobs, GRT_LINE_OUT_JOBS);
	assert_int_equal(grt_line_out_count(l)->lines, 4 * (uint64_t)n);
	grt_line_out_free(l);
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_ioctl_names),    cmocka_unit_test(test_sides),
		cmocka_unit_test(test_moved),	       cmocka_unit_test(test_stop),
		cmocka_unit_test(test_no_input),       cmocka_unit_test(test_offset),
		cmocka_unit_test(test_no_offset),      cmocka_unit_test(test_hostile),
		cmocka_unit_test(test_longest),	       cmocka_unit_test(test_joins),
		cmocka_unit_test(test_renamed),	       cmocka_unit_test(test_many_kinds),
		cmocka_unit_test(test_bounded),	       cmocka_unit_test(test_stamps_are_marked),
		cmocka_unit_test(test_rings),	       cmocka_unit_test(test_moved_payload),
		cmocka_unit_test(test_joins_inferred), cmocka_unit_test(test_every_field),
	};

	return cmocka_run_group_tests(tests, setup, teardown);
}
