// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces that shell tests read: `traces KIND PATH`. A kind is a
 * function here and a row at the end; what it writes is the same every time.
 */
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "../unit/trace_maker.h"

#define CPUS 3

/* Every field gets bytes of its own, so that a field that is read at a wrong place shows. */
static void fill(const struct grt_field *f, struct grt_event *e, unsigned int salt)
{
	for (; f->name; f++) {
		char *at = (char *)e + f->offset;

		if (f->kind == GRT_FIELD_ENGINE)
			*at = (char)(salt % 9);
		else if (f->kind == GRT_FIELD_STR)
			snprintf(at, f->size, "%s \"%u\" \xc3\xa9\\", f->name, salt);
		else
			for (unsigned int i = 0; i < f->size; i++)
				at[i] = (char)(salt * 31 + f->offset * 7 + i * 3 + 129);
	}
}

/* Every event type on every CPU, with every field set, extreme values and two packets of padding. */
static void every(const char *path)
{
	struct trace_maker *tm = tm_dir(path, CPUS);
	union {
		struct grt_event e;
		char room[GRT_RECORD_MAX];
	} r;

	tm_padding(tm, 24);
	for (unsigned int i = 0; i < 4 * GRT_EV_MAX * CPUS; i++) {
		unsigned int type = i / CPUS % GRT_EV_MAX;
		const struct grt_event_desc *d = &grt_event_table[type];

		if (!d->name)
			continue;
		memset(&r, i % 5 ? 0 : 0xff, sizeof(r));
		if (i % 5)
			fill(grt_common_fields, &r.e, i);
		if (i % 5)
			fill(d->fields(), &r.e, i);
		r.e.type = (uint16_t)type;
		r.e.size = d->size;
		r.e.engine = (uint8_t)(i % 9);
		r.e.time = 5000000000ULL + 1001ULL * i;
		tm_fate(tm, i % CPUS, (enum grt_fate)(1 + i % (GRT_FATES - 1)), i % 3);
		tm_event(tm, i % CPUS, &r.e);
		if (i % 97 == 0)
			tm_flush(tm, i % CPUS, r.e.time);
	}
	tm_close(tm);
}

/* One job from SUBMIT to COMPLETE on two CPUs, with names and a wait. */
static void job(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 2);

#define JOB .e.ctx = 5, .e.seqno = 42, .e.ring = 0, .e.engine = GRT_ENGINE_GRAPHICS, .e.pid = 12, .e.tid = 13
	tm_name_ring(tm, 0, "control", "virtio_gpu");
	tm_name_thread(tm, 13, "kmscube", "kmscube");
	tm_emit(tm, 0, submit, .e.time = 1000, JOB, .e.flags = GRT_FLAG_COMMIT, .cmd = 0x207, .hw_ctx = 1,
		.fence_id = 42);
	tm_emit(tm, 0, sync_wait_enter, .e.time = 2000, JOB);
	tm_emit(tm, 1, end, .e.time = 123456789012ULL, JOB, .reply = 0x1100, .hw_ctx = 1, .fence_id = 42);
	tm_emit(tm, 1, complete, .e.time = 123456789512ULL, JOB, .status = -5, .hw_ctx = 1);
	tm_emit(tm, 0, sync_wait_exit, .e.time = 123456790000ULL, JOB);
#undef JOB
	tm_close(tm);
}

/* Names as an attacker would choose them. */
static void hostile(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 1);

	tm_name_thread(tm, 1, "\033]0;owned\a\xff\xe2\x80\xae", "\"},{\"x\":1\n");
	tm_name_ring(tm, 3, "a\rb\x7f\xc2\x9b", "c,\"d\"");
	tm_emit(tm, 0, start, .e.time = 7, .e.tid = 1, .e.ring = 3, .e.engine = 31);
	tm_close(tm);
}

/* A long trace of two rings, for tests that stop in the middle. */
static void many(const char *path)
{
	struct trace_maker *tm = tm_dir(path, CPUS);

	for (uint64_t i = 0; i < 50000; i++)
		tm_emit(tm, i % CPUS, start, .e.time = 1000 * i, .e.ring = i % 2, .e.ctx = 1, .e.seqno = i);
	tm_close(tm);
}

/* Numbers that ask for much memory: 20 processes with one frame each, and a launch. */
static void far_numbers(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 1);

	for (uint32_t pid = 1; pid <= 20; pid++)
		tm_emit(tm, 0, node, .e.time = pid, .e.pid = pid, .e.tid = pid, .node = 1000000,
			.ip = 0x1234);
	tm_emit(tm, 0, node, .e.time = 30, .e.pid = 20, .e.tid = 20, .node = 4000000, .ip = 0x1234);
	tm_emit(tm, 0, launch, .e.time = 50, .e.pid = 20, .e.tid = 20, .begin = 40, .correlation = 1,
		.node = 4000000, .call = 211);
	tm_emit(tm, 0, gpu_kernel, .e.time = 90, .e.pid = 20, .e.tid = 20, .start = 60, .end = 80,
		.correlation = 1, .cuda_stream = 7);
	tm_close(tm);
}

static const struct {
	const char *name;
	void (*write)(const char *path);
} kinds[] = {{"every", every}, {"job", job}, {"hostile", hostile}, {"many", many}, {"far", far_numbers}};

int main(int argc, char **argv)
{
	for (size_t i = 0; argc == 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++)
		if (!strcmp(argv[1], kinds[i].name)) {
			kinds[i].write(argv[2]);
			return 0;
		}
	errx(2, "usage: traces every|job|hostile|many|far PATH");
}
