// SPDX-License-Identifier: GPL-2.0
/*
 * Names and numbers of rings, see bpf_rings.h. The programs give each ring a random number, under which they
 * store its names.
 */
#include "bpf_rings.h"

#include <errno.h>
#include <string.h>

/* ------------------------------------------------------------ bpf switch */

/* From the time of @e on, the first job of the ring runs. */
static int runs(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu, const struct grt_event *e)
{
	const struct grt_bpf_switch_job *j = &s->job[0];
	struct grt_ev_ctx_switch c = {
		.e =
			{
				.time = e->time,
				.type = GRT_EV_CTX_SWITCH,
				.size = sizeof(c),
				.flags = GRT_FLAG_BPF | GRT_FLAG_INFERRED,
				.engine = e->engine,
				.pid = j->pid,
				.tid = j->tid,
				.ctx = j->ctx,
				.seqno = j->seqno,
				.ring = e->ring,
				.device = e->device,
			},
		.prev_ctx = s->owner,
	};
	bool changed = s->known && s->owner != j->owner;
	int ret;

	s->known = true;
	s->owner = j->owner;
	if (!changed)
		return 0;
	ret = grt_packer_add(p, cpu, &c.e);
	return ret == -ERANGE ? 0 : ret;
}

static int committed(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		     const struct grt_event *e, uint64_t owner)
{
	if (s->jobs == BPF_SWITCH_JOBS || s->beyond) {
		s->beyond++;
		return 0;
	}
	s->job[s->jobs++] =
		(struct grt_bpf_switch_job){e->ctx, e->seqno, owner ? owner : e->ctx, e->pid, e->tid};
	return s->jobs == 1 ? runs(s, p, cpu, e) : 0;
}

static int grt_bpf_switch_ended(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
				const struct grt_event *e)
{
	unsigned int i = 0;

	while (i < s->jobs && (s->job[i].ctx != e->ctx || s->job[i].seqno != e->seqno))
		i++;
	if (i == s->jobs) {
		s->beyond -= s->beyond > 0;
		return 0;
	}
	s->jobs--;
	memmove(&s->job[i], &s->job[i + 1], (s->jobs - i) * sizeof(s->job[0]));
	/* once the last of these has ended, it is unknown which jobs run */
	if (!s->jobs && s->beyond)
		s->known = false;
	return !i && s->jobs ? runs(s, p, cpu, e) : 0;
}

int grt_bpf_switch_see(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		       const struct grt_event *e)
{
	if (e->type == GRT_EV_SUBMIT && e->flags & GRT_FLAG_COMMIT)
		return committed(s, p, cpu, e, ((const struct grt_ev_submit *)e)->hw_ctx);
	if (e->type == GRT_EV_COMMIT)
		return committed(s, p, cpu, e, 0);
	return e->type == GRT_EV_END ? grt_bpf_switch_ended(s, p, cpu, e) : 0;
}

/* ------------------------------------------------------------- bpf rings */

#ifdef GRT_HAVE_BPF

#include <bpf/bpf.h>
#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "codes/engine.h"
#include "codes/firmware.h"
#include "host/known_gpus.h"
#include "sources/source.h"

/* Number of rings whose running jobs are tracked; a new ring replaces the oldest one. */
#define RUNNING_MAX 1024U

/**
 * struct ring
 * @number: its number in the trace
 * @card: the GPU's DRM device; empty: unknown
 * @in_order: which job it runs follows from the order of its jobs
 * @names: grt_packer_names() of the packer when the ring was named
 */
struct ring {
	uint32_t number;
	uint8_t engine;
	bool in_order;
	uint64_t names;
	char name[BPF_RING];
	char driver[BPF_DRIVER];
	char bus[BPF_BUS];
	char card[BPF_DRIVER];
};

void grt_bpf_rings_init(struct grt_bpf_rings *r, int map, uint32_t base)
{
	*r = (struct grt_bpf_rings){.map = map, .base = base};
	grt_keyed_init(&r->all, sizeof(struct ring), SOURCE_RINGS);
	grt_keyed_init(&r->running, sizeof(struct grt_bpf_switch), RUNNING_MAX);
}

void grt_bpf_rings_fini(struct grt_bpf_rings *r)
{
	grt_keyed_free(&r->all);
	grt_keyed_free(&r->running);
}

/* Most rings belong to the GPU that was requested last. */
static const char *card_of(struct grt_bpf_rings *r, const char *bus)
{
	if (strcmp(r->gpu.bus, bus)) {
		snprintf(r->gpu.bus, sizeof(r->gpu.bus), "%s", bus);
		known_gpu_card(bus, r->gpu.card, sizeof(r->gpu.card));
	}
	return r->gpu.card;
}

static void describe_ring(struct grt_bpf_rings *r, struct ring *ring, uint32_t key)
{
	struct grt_bpf_ring row;

	if (bpf_map_lookup_elem(r->map, &key, &row))
		return;
	snprintf(ring->name, sizeof(ring->name), "%.*s", BPF_RING - 1, row.name);
	snprintf(ring->driver, sizeof(ring->driver), "%.*s", BPF_DRIVER - 1, row.driver);
	snprintf(ring->bus, sizeof(ring->bus), "%.*s", BPF_BUS - 1, row.bus);
	if (ring->bus[0])
		snprintf(ring->card, sizeof(ring->card), "%s", card_of(r, ring->bus));
	ring->engine = (uint8_t)grt_engine_of_ring(ring->name, strlen(ring->name));
}

static int grt_bpf_rings_search(struct grt_bpf_rings *r, uint32_t id, struct ring **out)
{
	struct grt_key key = {{id}};
	uint32_t used = r->all.used;
	void *place = NULL;
	int ret = grt_keyed_get_or_count(&r->all, &key, &r->unnumbered, &place);

	*out = place;
	if (!ret && r->all.used > used) {
		(*out)->number = r->base + used;
		describe_ring(r, *out, id);
		(*out)->in_order = !grt_firmware_schedules((*out)->driver);
	}
	return ret;
}

/* @out: the ring; NULL: all numbers for rings are in use. Return: 0 or -ENOMEM */
static int grt_bpf_rings_ring_of(struct grt_bpf_rings *r, uint32_t id, struct ring **out)
{
	struct grt_bpf_near *near = &r->near[id % BPF_RINGS_NEAR];
	int ret;

	*out = near->element;
	if (near->element && near->id == id && near->room == r->all.room)
		return 0;
	ret = grt_bpf_rings_search(r, id, out);
	*near = (struct grt_bpf_near){id, r->all.room, *out};
	return ret;
}

static int grt_bpf_rings_name(struct ring *ring, struct grt_packer *p, unsigned int cpu, uint64_t time)
{
	int ret = grt_packer_name(p, cpu, time, GRT_NAME_RING, ring->number, ring->name, ring->driver);

	if (!ret && ring->bus[0])
		ret = grt_packer_name(p, cpu, time, GRT_NAME_RING_GPU, ring->number, ring->bus, ring->card);
	ring->names = grt_packer_names(p);
	return ret;
}

/* @out: NULL: the event has no ring. Return: 0 or -ENOMEM */
static int grt_bpf_rings_set(struct grt_bpf_rings *r, struct grt_event *e, struct ring **out)
{
	int ret;

	*out = NULL;
	if (e->ring == GRT_RING_NONE)
		return 0;
	ret = grt_bpf_rings_ring_of(r, e->ring, out);
	e->ring = GRT_RING_NONE;
	if (ret || !*out)
		return ret;
	e->ring = (*out)->number;
	e->engine = (*out)->engine;
	return 0;
}

int grt_bpf_rings_see(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu, struct grt_event *e)
{
	struct ring *ring;
	int ret = grt_bpf_rings_set(r, e, &ring);

	if (ret || !ring)
		return ret;
	r->in_order = ring->in_order;
	return ring->names == grt_packer_names(p) ? 0 : grt_bpf_rings_name(ring, p, cpu, e->time);
}

int grt_bpf_rings_tell(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu, struct grt_event *e)
{
	struct ring *ring;
	int ret = grt_bpf_rings_set(r, e, &ring);

	if (ret || !ring)
		return ret;
	ret = grt_bpf_rings_name(ring, p, cpu, e->time);
	/* that packer's count says nothing of the names in the others */
	ring->names = 0;
	return ret;
}

/* Return: 0 or -ENOMEM */
static int grt_bpf_rings_running(struct grt_bpf_rings *r, uint32_t ring, void **out)
{
	struct grt_bpf_near *near = &r->near_running[ring % BPF_RINGS_NEAR];
	int ret;

	*out = near->element;
	if (near->element && near->id == ring && near->room == r->running.room &&
	    !grt_keyed_full(&r->running))
		return 0;
	ret = grt_keyed_get_or_replace(&r->running, &(struct grt_key){{ring}}, NULL, out);
	*near = (struct grt_bpf_near){ring, r->running.room, ret ? NULL : *out};
	return ret;
}

/* Whether grt_bpf_switch_see() learns something from such an event */
static bool grt_bpf_switch_looks_at(const struct grt_event *e)
{
	return e->type == GRT_EV_SUBMIT || e->type == GRT_EV_COMMIT || e->type == GRT_EV_END;
}

int grt_bpf_rings_switch(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu,
			 const struct grt_event *e)
{
	void *running;
	int ret;

	if (e->ring == GRT_RING_NONE || !r->in_order || !grt_bpf_switch_looks_at(e))
		return 0;
	ret = grt_bpf_rings_running(r, e->ring, &running);
	return ret ? ret : grt_bpf_switch_see(running, p, cpu, e);
}

#endif /* GRT_HAVE_BPF */
