// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: calls on NVIDIA's control device. Of an input, every 16 bytes
 * are a call: its kind, classes and controls from short lists, handles from a
 * few, so that calls meet the objects of others; some calls are bytes as they
 * are. What is made is destroyed once, and counts fit.
 *
 * Runs without --soak: 12000
 */
#include <stdlib.h>
#include <string.h>

#include "codes/nv_abi.h"
#include "nvidia/decode.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

static const uint32_t classes[] = {0,	   0x41,   0x80,   0x90f1, 0x9067, 0xa06c, 0xa06c, 0xc86f,
				   0xc86f, 0xa06f, 0xc637, 0x40,   0x3e,   1,	   0xa06c, 0xffff};
static const uint32_t controls[] = {0xa06c0101, 0xa06c0103, 0xa06c0104, 0xa06c0106, 0xa06c0107, 0xa06c0108,
				    0xa06f0103, 0xa06f0109, 0xa06f0110, 0xc36f0108, 0x202,	0x205,
				    0xc36f0108, 0xa06f0103, 0xa06c0101, 0xdead};
static const uint32_t numbers[] = {NV_ESC_RM_ALLOC, NV_ESC_RM_ALLOC, NV_ESC_RM_ALLOC, NV_ESC_RM_FREE,
				   NV_ESC_RM_CONTROL, NV_ESC_RM_CONTROL, NV_ESC_RM_DUP_OBJECT,
				   NV_ESC_CHECK_VERSION,
				   /* in place of a version, where bits of the input say so */
				   NV_ESC_RM_ALLOC_MEMORY, NV_ESC_RM_VID_HEAP_CONTROL};
static const uint32_t sizes[] = {NV_ALLOC_SIZE,	  NV_ALLOC_SIZE_64, NV_ALLOC_SIZE_64, NV_FREE_SIZE,
				 NV_CONTROL_SIZE, NV_CONTROL_SIZE,  NV_DUP_SIZE,      NV_VERSION_SIZE,
				 NV_MEMORY_SIZE,  NV_HEAP_SIZE};

static uint64_t made, gone, came, went, got, freed;

static int keep(void *arg, struct grt_event *e, uint32_t cpu)
{
	const struct grt_ev_tsg_channel *c = (const struct grt_ev_tsg_channel *)e;
	const struct grt_ev_tsg_init *i = (const struct grt_ev_tsg_init *)e;
	const struct grt_ev_nv_memory *m = (const struct grt_ev_nv_memory *)e;

	(void)arg;
	CHECK(cpu < 4 && e->size >= 48 && e->size % 8 == 0 && e->size <= GRT_RECORD_MAX);
	if (e->type == GRT_EV_NV_MEMORY) {
		got += m->what == GRT_NV_MEMORY_ALLOCATED;
		freed += m->what == GRT_NV_MEMORY_FREED;
		CHECK(freed <= got && (m->what != GRT_NV_MEMORY_FREED || !m->handles));
		return 0;
	}
	CHECK(e->type >= GRT_EV_TSG_INIT && e->type <= GRT_EV_TSG_DESTROY);
	made += e->type == GRT_EV_TSG_INIT && !i->status;
	gone += e->type == GRT_EV_TSG_DESTROY;
	came += e->type == GRT_EV_TSG_CHANNEL && c->bound;
	went += e->type == GRT_EV_TSG_CHANNEL && !c->bound;
	return 0;
}

static bool is_open(void *arg, uint64_t file, uint32_t *pid)
{
	*pid = 1;
	return *(const uint8_t *)arg >> (file & 7) & 1;
}

static uint32_t handle(uint8_t b)
{
	return b & 15;
}

static void put32(void *at, unsigned int offset, uint32_t v)
{
	memcpy((char *)at + offset, &v, sizeof(v));
}

/* Words of the head: client, parent or object, object, class or control, of the input's bytes. */
static void make_call(struct grt_nv_call *c, const uint8_t *p)
{
	unsigned int which = p[0] & 7;

	if (which == 7 && p[2] & 2)
		which += 1 + (p[2] & 1);
	c->kind = p[0] < 224 ? GRT_NV_IOCTL : (p[0] - 224) % 5;
	c->nr = numbers[which];
	c->size = sizes[which];
	c->head_size = c->size < GRT_NV_HEAD ? c->size : GRT_NV_HEAD;
	c->params_size = p[1] & 0x80 ? p[2] % (GRT_NV_PARAMS + 1) : GRT_NV_PARAMS;
	c->pid = p[1] & 3;
	c->cpu = p[1] & 3;
	c->file = 1 + (p[1] >> 2) % 7;
	put32(c->head, 0, handle(p[3]));
	put32(c->head, 4, handle(p[4]));
	put32(c->head, 8, c->nr == NV_ESC_RM_CONTROL ? controls[p[5] & 15] : handle(p[5]));
	put32(c->head, 12, c->nr == NV_ESC_RM_ALLOC ? classes[p[6] & 15] : handle(p[6]) & 0);
	if (c->nr == NV_ESC_RM_CONTROL)
		put32(c->head, NV_CONTROL_PARAMS_SIZE, 16);
	if (c->nr == NV_ESC_RM_DUP_OBJECT) {
		put32(c->head, 12, handle(p[7]));
		put32(c->head, 16, handle(p[8]));
	}
	for (unsigned int i = 0; i < GRT_NV_PARAMS; i += 4)
		put32(c->params, i, i % 8 ? handle(p[9 + i / 4 % 7]) : p[10] << 16 | p[11]);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grt_nv_setup setup = {.emit = keep, .branch = 580, .memory = true};
	uint64_t now = 1;
	struct grt_nv *d;
	uint8_t none = 0;

	made = gone = came = went = got = freed = 0;
	if (!size || grt_nv_new(&d, &setup))
		return 0;
	for (size_t at = 1; at + 16 <= size; at += 16) {
		struct grt_nv_call c = {.time = now++};

		make_call(&c, data + at);
		if (data[0] & 1 && data[at + 15] == 255)
			memcpy(c.head, data + at, 16);
		CHECK(grt_nv_call(d, &c) == 0);
		if (data[at + 14] > 240 && grt_nv_unsettled(d))
			CHECK(grt_nv_settle(d, now, data[0] & 2 ? NULL : is_open, (void *)&data[at + 13]) ==
			      0);
	}
	/* all files are closed: whatever had a file goes; of what was made nothing is left */
	for (unsigned int i = 0; i < 3; i++) {
		struct grt_nv_call c = {.time = now++, .kind = GRT_NV_EXIT, .pid = 5};

		CHECK(grt_nv_call(d, &c) == 0);
		CHECK(grt_nv_settle(d, now, is_open, &none) == 0);
	}
	CHECK(gone >= made || data[0] & 4);
	CHECK(came >= went);
	CHECK(got == freed || data[0] & 4);
	grt_nv_free(d);
	return 0;
}
