// SPDX-License-Identifier: GPL-2.0
/* Converts records of switches to slices, see nv_slices.h. No function here calls the driver. */
#include <errno.h>
#include <string.h>

#include "nv_slices.h"
#include "codes/nv_abi.h"

/* -------------------------------------------------------------- switches */

/* The context-switch log of a GPU: objects and ring of records. */

#define NV_CLASS_EVENT_BUFFER 0x90cd
#define NV_CLASS_EVENT_MEMORY 0x90ce

#define NV_CTRL_FECS_BIND_V2 0x20801238
#define NV_CTRL_EVENT_ENABLE 0x90cd0101
#define NV_CTRL_EVENT_UPDATE_GET 0x90cd0102
#define NV_CTRL_EVENT_FLUSH 0x90cd0104

#define HEADER_SIZE 4096

/* NV_MEMORY_ALLOCATION_PARAMS: attr and attr2; user space may only read the memory of an event buffer. */
#define ATTR_CACHED (1U << 29)
#define ATTR2_USER_READ_ONLY (1U << 22)

#define KEEP_OLDEST 1
#define DETAIL_SIMPLE 1
#define TYPE_FECS_V2 2
#define TYPE_FECS_V1 134

struct switches_memory {
	uint32_t unused[6];
	uint32_t attr;
	uint32_t attr2;
	uint32_t unused2[8];
	uint64_t size;
	uint64_t unused3[7];
};

/* NV_EVENT_BUFFER_ALLOC_PARAMETERS */
struct switches_buffer {
	uint64_t header_address;
	uint64_t ring_address;
	uint32_t record_size;
	uint32_t records;
	uint64_t var_data_address;
	uint32_t var_data_size;
	uint32_t free_threshold;
	uint64_t notification;
	uint32_t var_data_threshold;
	uint32_t subdevice;
	uint32_t flags;
	uint32_t header;
	uint32_t ring;
	uint32_t var_data;
};

/* The driver writes this at the start of the header's page. */
struct switches_header {
	uint32_t get;
	uint32_t put;
	uint64_t records;
	uint64_t dropped;
	uint64_t var_data_dropped;
};

struct switches_record {
	uint16_t type;
	uint16_t subtype;
	uint32_t var_data;
	uint8_t tag;
	uint8_t vmid;
	uint16_t seqno;
	uint32_t context;
	uint32_t pid;
	uint16_t reserved;
	uint8_t gpu_instance;
	uint8_t compute_instance;
	uint64_t time;
};

struct switches_bind {
	uint32_t buffer;
	uint32_t record_size;
	uint32_t detail;
	uint32_t filter;
	uint8_t all_users;
	uint32_t reason;
};

_Static_assert(sizeof(struct switches_memory) == 128 && offsetof(struct switches_memory, size) == 64,
	       "NV_MEMORY_ALLOCATION_PARAMS");
_Static_assert(sizeof(struct switches_buffer) == 72 && offsetof(struct switches_buffer, subdevice) == 52,
	       "NV_EVENT_BUFFER_ALLOC_PARAMETERS");
_Static_assert(sizeof(struct switches_record) == 32 && offsetof(struct switches_record, time) == 24,
	       "NV_EVENT_BUFFER_RECORD");
_Static_assert(sizeof(struct switches_bind) == 24, "NV2080_CTRL_GR_FECS_BIND_EVTBUF_FOR_UID_V2_PARAMS");

static int switches_make_memory(struct nv_switches *s, unsigned int i, size_t size, struct nv_rm_mapping *m,
				struct grt_err *err)
{
	struct switches_memory p = {.attr = ATTR_CACHED, .attr2 = ATTR2_USER_READ_ONLY, .size = size};
	uint32_t status =
		nv_rm_alloc(s->rm, s->rm->client, NV_CLASS_EVENT_MEMORY, &p, sizeof(p), &s->memory[i]);
	int ret;

	if (status)
		return nv_gpu_fail(&s->gpu, err, "memory for its context switches", status);
	ret = nv_rm_map(s->rm, s->memory[i], size, m);
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL,
				 "nvidia%u: cannot map memory for its context switches", s->gpu.gpu.minor)
		   : 0;
}

/*
 * The buffer names its subdevice: without it, 570 and 580 use a GPU that is not
 * there (event_buffer.c). It has no notification: of a handle that is not
 * registered these keep the bare number.
 */
static int switches_make_buffer(struct nv_switches *s, struct grt_err *err)
{
	struct switches_buffer p = {
		.record_size = sizeof(struct switches_record),
		.records = s->records,
		.subdevice = s->gpu.subdevice,
		.header = s->memory[0],
		.ring = s->memory[1],
	};
	uint32_t status = nv_rm_alloc(s->rm, s->rm->client, NV_CLASS_EVENT_BUFFER, &p, sizeof(p), &s->buffer);

	return status ? nv_gpu_fail(&s->gpu, err, "buffer for its context switches", status) : 0;
}

static const char *const bind_reasons[] = {
	[1] = "the GPU is older than Maxwell",
	[2] = "the driver does not log context switches on this GPU",
	[3] = "the driver does not log context switches",
	[4] = "only root sees the context switches of all users",
	[5] = "the process lacks a capability, or access to its MIG instance",
};

static int switches_bind(struct nv_switches *s, struct grt_err *err)
{
	struct switches_bind p = {
		.buffer = s->buffer,
		.record_size = sizeof(struct switches_record),
		.detail = DETAIL_SIMPLE,
		.all_users = 1,
	};
	uint32_t status = nv_rm_control(s->rm, s->gpu.subdevice, NV_CTRL_FECS_BIND_V2, &p, sizeof(p));
	const char *why =
		p.reason < sizeof(bind_reasons) / sizeof(bind_reasons[0]) ? bind_reasons[p.reason] : NULL;

	if (!status)
		return 0;
	if (!why)
		return nv_gpu_fail(&s->gpu, err, "context switches", status);
	return grt_err_set(err, p.reason >= 4 ? -EACCES : -EOPNOTSUPP, why,
			   p.reason >= 4 ? "the same command with sudo" : NULL,
			   "nvidia%u: no context switches (status 0x%x)", s->gpu.gpu.minor, status);
}

int nv_switches_open(struct nv_switches *s, struct nv_rm *rm, const struct nv_rm_gpu *gpu, uint32_t records,
		     struct grt_err *err)
{
	int ret;

	*s = (struct nv_switches){
		.rm = rm,
		.gpu.file = -1,
		.header.fd = -1,
		.ring.fd = -1,
		.records = records,
	};
	ret = nv_gpu_open(&s->gpu, rm, gpu, err);
	if (!ret)
		ret = switches_make_memory(s, 0, HEADER_SIZE, &s->header, err);
	if (!ret)
		ret = switches_make_memory(s, 1, records * sizeof(struct switches_record), &s->ring, err);
	if (!ret)
		ret = switches_make_buffer(s, err);
	return ret ? ret : switches_bind(s, err);
}

int nv_switches_on(struct nv_switches *s, bool on)
{
	struct {
		uint8_t enable;
		uint32_t flags;
	} p = {.enable = on, .flags = KEEP_OLDEST};

	return nv_rm_control(s->rm, s->buffer, NV_CTRL_EVENT_ENABLE, &p, sizeof(p)) ? -EIO : 0;
}

int nv_switches_flush(struct nv_switches *s)
{
	return nv_rm_control(s->rm, s->buffer, NV_CTRL_EVENT_FLUSH, NULL, 0) ? -EIO : 0;
}

/*
 * Counts the records that are missing before this one: by its number of 16 bits and, if there are more, by
 * the driver's count of records without room.
 */
static void switches_count(struct nv_switches *s, const struct switches_record *r)
{
	uint64_t gap = s->seen ? (uint16_t)(r->seqno - s->seqno - 1) : 0;

	if (s->dropped > s->missing + gap)
		gap += (s->dropped - s->missing - gap + UINT16_MAX) >> 16 << 16;
	s->missing += gap;
	s->seen = true;
	s->seqno = r->seqno;
	s->taken++;
}

static int switches_take(struct nv_switches *s, const struct switches_record *r,
			 int (*take)(void *arg, const struct nv_switch *r), void *arg)
{
	struct nv_switch out = {
		.tag = r->tag,
		.instance = (uint16_t)(r->gpu_instance << 8 | r->compute_instance),
		.seqno = r->seqno,
		.context = r->context,
		.pid = r->pid,
		.time = r->time,
	};

	if (r->type != TYPE_FECS_V2 && r->type != TYPE_FECS_V1) {
		s->unknown++;
		return 0;
	}
	switches_count(s, r);
	out.missing = s->missing;
	return take(arg, &out);
}

/* The driver sets its count of dropped records to 0 when it gets the new place. */
static int switches_advance(struct nv_switches *s)
{
	uint32_t p[2] = {s->get};
	const struct switches_header *h = s->header.at;

	s->dropped += __atomic_load_n(&h->dropped, __ATOMIC_RELAXED);
	return nv_rm_control(s->rm, s->buffer, NV_CTRL_EVENT_UPDATE_GET, p, sizeof(p)) ? -EIO : 0;
}

int nv_switches_read(struct nv_switches *s, int (*take)(void *arg, const struct nv_switch *r), void *arg)
{
	const struct switches_header *h = s->header.at;
	const struct switches_record *ring = s->ring.at;
	uint32_t put = __atomic_load_n(&h->put, __ATOMIC_ACQUIRE);
	int ret = 0;

	if (put >= s->records)
		return -EIO;
	if (put == s->get)
		return 0;
	while (!ret && s->get != put) {
		ret = switches_take(s, &ring[s->get], take, arg);
		s->get = (s->get + 1) % s->records;
	}
	return ret ? ret : switches_advance(s);
}

void nv_switches_close(struct nv_switches *s)
{
	if (s->buffer) {
		nv_switches_on(s, false);
		nv_rm_free(s->rm, s->rm->client, s->buffer);
	}
	nv_rm_unmap(s->rm, &s->ring);
	nv_rm_unmap(s->rm, &s->header);
	if (s->memory[1])
		nv_rm_free(s->rm, s->rm->client, s->memory[1]);
	if (s->memory[0])
		nv_rm_free(s->rm, s->rm->client, s->memory[0]);
	nv_gpu_close(&s->gpu);
	*s = (struct nv_switches){.gpu.file = -1, .header.fd = -1, .ring.fd = -1};
}

/* ---------------------------------------------------------------- slices */

/*
 * Finds the place of an instance, or makes it at the instance's first record. Return: < 0: there is no room
 */
static int slices_place(struct nv_slices *s, uint16_t instance)
{
	int i;

	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used; i++)
		if (s->open[i].slice.instance == instance)
			return i;
	if (i == NV_SLICES_INSTANCES)
		return -1;
	s->open[i].used = true;
	s->open[i].last = s->begun;
	s->open[i].slice.instance = instance;
	return i;
}

static int slices_put(struct nv_slices *s, int i, uint64_t until, uint8_t end)
{
	struct nv_slice slice = s->open[i].slice;

	slice.until = until > slice.start ? until : slice.start;
	slice.end = end;
	s->open[i].last = slice.until;
	return s->put(s->arg, &slice);
}

/*
 * Records are missing. A context that was on the GPU has left it at an unknown time after it was last seen.
 * The time in between has no owner, and is not idle.
 */
static int slices_lose(struct nv_slices *s)
{
	int i, ret = 0;

	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++) {
		if (s->open[i].on)
			ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		s->open[i].on = false;
		s->open[i].known = false;
	}
	return ret;
}

static void slices_begin(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time, uint8_t edge)
{
	s->open[i].on = true;
	s->open[i].slice = (struct nv_slice){
		.start = time,
		.context = r->context,
		.pid = r->pid,
		.instance = r->instance,
		.begin = edge,
	};
}

/*
 * A context leaves whose arrival was not seen. The first record of a log belongs to the context that was on
 * the GPU when the log was switched on.
 */
static void slices_begin_late(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time)
{
	if (s->lost)
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	else
		slices_begin(s, i, r, s->begun, GRT_SLICE_CUT);
}

static int slices_end(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time)
{
	int ret = 0;

	if (s->open[i].on && s->open[i].slice.context != r->context) {
		ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	} else if (!s->open[i].on && s->open[i].known) {
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	} else if (!s->open[i].on) {
		slices_begin_late(s, i, r, time);
	}
	s->open[i].on = false;
	return ret ? ret : slices_put(s, i, time, GRT_SLICE_SWITCH);
}

int nv_slices_take(struct nv_slices *s, const struct nv_switch *r, uint64_t time)
{
	int i = slices_place(s, r->instance), ret = 0;

	if (i < 0) {
		s->over++;
		return 0;
	}
	if (r->missing != s->lost) {
		ret = slices_lose(s);
		s->lost = r->missing;
	}
	if (time < s->open[i].last) {
		s->backwards++;
		if (s->open[i].last - time > s->backwards_ns)
			s->backwards_ns = s->open[i].last - time;
		time = s->open[i].last;
	}
	s->open[i].last = time;
	if (!ret && r->tag == NV_SWITCH_END) {
		ret = slices_end(s, i, r, time);
	} else if (!ret && r->tag == NV_SWITCH_START) {
		if (s->open[i].on)
			ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		slices_begin(s, i, r, time, GRT_SLICE_SWITCH);
	}
	s->open[i].known = true;
	return ret;
}

int nv_slices_cut(struct nv_slices *s, uint64_t until, uint8_t edge, uint64_t age)
{
	int i, ret = 0;

	/* without any record, one context was on the GPU all the time, or none was */
	if (edge == GRT_SLICE_CUT && slices_place(s, NV_SLICES_WHOLE) == 0 && !s->open[0].known && !s->lost)
		return s->put(s->arg, &(struct nv_slice){.start = s->begun,
							 .until = until,
							 .instance = NV_SLICES_WHOLE,
							 .begin = edge,
							 .end = edge});
	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++) {
		if (!s->open[i].on || until < s->open[i].last + age)
			continue;
		ret = slices_put(s, i, until, edge);
		s->open[i].slice.start = until;
		s->open[i].slice.begin = GRT_SLICE_GOES_ON;
		s->open[i].on = edge == GRT_SLICE_GOES_ON;
	}
	return ret;
}

int nv_slices_lose(struct nv_slices *s)
{
	bool any = s->open[0].used || slices_place(s, NV_SLICES_WHOLE) == 0;
	int i, ret = 0;

	for (i = 0; any && i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++)
		if (!s->open[i].on)
			ret = s->put(s->arg, &(struct nv_slice){.start = s->open[i].last,
								.until = s->open[i].last,
								.instance = s->open[i].slice.instance,
								.begin = GRT_SLICE_LOST,
								.end = GRT_SLICE_LOST});
	return ret ? ret : slices_lose(s);
}
