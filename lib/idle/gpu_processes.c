// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The rows of gpu_processes.h: each source fills the rows of its own places. */
#include "gpu_processes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

/* Octaves of 4 KiB for the percentiles of all rows. */
#define HIST_BUDGET 16384U

/*
 * The log has no time stamp of the request to switch. A gap up to this is counted as a switch (79 to 80 us in
 * all of 5,700 on an H100 with 580.159.04); in a longer gap no process had the GPU.
 */
#define SWITCH_NS 1000000ULL

#define DRM_MAJOR 226U

/* Counters of processes' busy time: "busy gfx" in this unit. */
#define BUSY_NAME "busy "
#define BUSY_UNIT "total ns"

/**
 * struct owner - the owner of a process
 * @cgroup: number of its path
 */
struct owner {
	uint32_t uid;
	uint32_t cgroup;
};

/**
 * struct value - the previous value of a process's counter, at @time
 * @counted: there is one; @more: there is one before it
 * @ended: there will be no more
 */
struct value {
	uint64_t last;
	uint64_t time;
	bool counted;
	bool more;
	bool ended;
};

int grt_gpu_processes_new(struct grt_gpu_processes **out, enum grt_gpu_by by, bool jobs)
{
	struct grt_gpu_processes *g = calloc(1, sizeof(*g));

	*out = g;
	if (!g)
		return -ENOMEM;
	grt_keyed_init(&g->places, sizeof(struct grt_gpu_place), GRT_GPU_PLACES_MAX);
	grt_keyed_init(&g->rows, sizeof(struct grt_gpu_process), GRT_GPU_PROCESSES_MAX);
	grt_keyed_init(&g->owners, sizeof(struct owner), GRT_GPU_PROCESSES_MAX);
	grt_keyed_init(&g->values, sizeof(struct value), GRT_GPU_PROCESSES_MAX);
	grt_texts_init(&g->cgroups, GRT_GPU_PROCESSES_MAX);
	g->by = by;
	g->to = g->last = UINT64_MAX;
	g->budget = HIST_BUDGET;
	g->jobs = jobs;
	return 0;
}

static struct grt_key gpu_processes_key(enum grt_gpu_source source, uint32_t device, uint32_t instance,
					uint32_t place)
{
	return (struct grt_key){{source, device, instance, place}};
}

/* Return: NULL: there are too many. */
static int gpu_processes_at(struct grt_gpu_processes *g, enum grt_gpu_source source, uint32_t device,
			    uint32_t instance, uint32_t place, struct grt_gpu_place **out)
{
	struct grt_key key = gpu_processes_key(source, device, instance, place);
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&g->places, &key, &g->over, &found);

	*out = found;
	if (ret || !found)
		return ret;
	(*out)->source = (uint8_t)source;
	(*out)->device = device;
	(*out)->instance = instance;
	(*out)->place = place;
	return 0;
}

/* The same. */
static int gpu_processes_row(struct grt_gpu_processes *g, const struct grt_gpu_place *at,
			     enum grt_gpu_whose kind, uint32_t pid, struct grt_gpu_process **out)
{
	struct grt_key key = {{(uint64_t)at->source << 8 | kind, (uint64_t)at->device << 32 | at->instance,
			       at->place, pid}};
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&g->rows, &key, &g->over, &found);

	*out = found;
	if (ret || !found)
		return ret;
	(*out)->source = at->source;
	(*out)->device = at->device;
	(*out)->instance = at->instance;
	(*out)->place = at->place;
	(*out)->kind = (uint8_t)kind;
	(*out)->pid = pid;
	return 0;
}

/* The row of a process, or of its owner. */
static int gpu_processes_of(struct grt_gpu_processes *g, const struct grt_gpu_place *at, uint32_t pid,
			    struct grt_gpu_process **out)
{
	struct grt_key key = {{pid}};
	const struct owner *o = g->by == GRT_GPU_BY_PROCESS ? NULL : grt_keyed_find(&g->owners, &key);
	bool known = pid;
	uint32_t id = pid;

	if (g->by == GRT_GPU_BY_CGROUP) {
		known = o && o->cgroup != GRT_TEXT_NONE;
		id = known ? o->cgroup : 0;
	} else if (g->by == GRT_GPU_BY_USER) {
		known = o && o->uid != UINT32_MAX;
		id = known ? o->uid : 0;
	}
	return gpu_processes_row(g, at, known ? GRT_GPU_PROCESS : GRT_GPU_UNKNOWN, id, out);
}

const char *grt_gpu_processes_cgroup(const struct grt_gpu_processes *g, uint32_t pid)
{
	struct grt_key key = {{pid}};
	const struct owner *o = grt_keyed_find(&g->owners, &key);

	return o && o->cgroup != GRT_TEXT_NONE ? grt_texts_get(&g->cgroups, o->cgroup) : NULL;
}

static int gpu_processes_take_owner(struct grt_gpu_processes *g, const struct grt_ev_owner *ev)
{
	struct grt_key key = {{ev->e.pid}};
	struct owner *o;
	void *found;
	int ret = grt_keyed_get_or_count(&g->owners, &key, &g->over, &found);

	o = found;
	if (ret || !o)
		return ret;
	o->uid = ev->uid;
	o->cgroup = GRT_TEXT_NONE;
	return ev->length ? grt_texts_add(&g->cgroups, ev->cgroup, sizeof(ev->cgroup), &o->cgroup) : 0;
}

const struct grt_gpu_place *grt_gpu_processes_place(const struct grt_gpu_processes *g,
						    const struct grt_gpu_process *row)
{
	struct grt_key key = gpu_processes_key(row->source, row->device, row->instance, row->place);

	return grt_keyed_find(&g->places, &key);
}

/* The GPU of a ring has an address, and a DRM device that may have a number. */
uint32_t grt_gpu_processes_device(const struct grt_gpu_place *at, const struct grt_names *names,
				  const char **name)
{
	uint32_t gpu = grt_names_find(names, GRT_NAME_RING_GPU, at->place);
	const char *card = grt_names_owner(names, gpu);
	unsigned int minor;

	if (at->source != GRT_GPU_JOBS) {
		*name = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, at->device));
		return at->device;
	}
	*name = grt_names_name(names, gpu);
	return card && sscanf(card, "card%u", &minor) == 1 ? DRM_MAJOR << 20 | minor : 0;
}

bool grt_gpu_processes_is_doubled(const struct grt_gpu_processes *g, const struct grt_names *names,
				  enum grt_gpu_source source, uint32_t device)
{
	const char *card, *node;

	if (source != GRT_GPU_COUNTERS)
		return false;
	node = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, device));
	for (const struct grt_gpu_place *at = grt_keyed_oldest(&g->places); at && node;
	     at = grt_keyed_next(&g->places, at)) {
		card = at->source == GRT_GPU_JOBS && (at->timed || at->was_timed)
			       ? grt_names_owner(names, grt_names_find(names, GRT_NAME_RING_GPU, at->place))
			       : NULL;
		if (card && !strcmp(card, node))
			return true;
	}
	return false;
}

uint64_t grt_gpu_processes_wall(const struct grt_gpu_processes *g, const struct grt_gpu_process *row)
{
	const struct grt_gpu_place *at = grt_gpu_processes_place(g, row);

	return at->to - at->from;
}

/* --------------------------------------------------------------- slices */

/* The time from the end of what is accounted for until @to is of this kind. */
static int gpu_processes_account(struct grt_gpu_processes *g, struct grt_gpu_place *gpu,
				 enum grt_gpu_whose kind, uint64_t to)
{
	uint64_t ns = to > gpu->to ? to - gpu->to : 0;
	struct grt_gpu_process *o;
	int ret;

	if (!ns)
		return 0;
	ret = gpu_processes_row(g, gpu, kind, 0, &o);
	if (ret || !o)
		return ret;
	o->residency += ns;
	o->came++;
	grt_hist_add(&o->whole, ns, GRT_WEIGHT_ONE, false, &g->budget);
	gpu->to = to;
	return 0;
}

static enum grt_gpu_whose gpu_processes_gap(const struct grt_gpu_place *gpu,
					    const struct grt_ev_gpu_slice *ev, uint64_t ns)
{
	if (ev->begin == GRT_SLICE_LOST || gpu->over == GRT_SLICE_LOST)
		return GRT_GPU_UNKNOWN;
	if (!gpu->over || ns > SWITCH_NS)
		return GRT_GPU_NOBODY;
	return GRT_GPU_SWITCHING;
}

/* Only a slice whose begin and end were both recorded has a length. */
static void gpu_processes_length(struct grt_gpu_processes *g, struct grt_gpu_place *gpu,
				 const struct grt_ev_gpu_slice *ev, struct grt_gpu_process *o)
{
	if (ev->begin == GRT_SLICE_SWITCH)
		gpu->since = ev->start;
	else if (ev->begin != GRT_SLICE_GOES_ON)
		gpu->since = 0;
	if (ev->over == GRT_SLICE_SWITCH && gpu->since)
		grt_hist_add(&o->whole, ev->e.time - gpu->since, GRT_WEIGHT_ONE, false, &g->budget);
	if (ev->over != GRT_SLICE_GOES_ON)
		gpu->since = 0;
}

static int gpu_processes_slice(struct grt_gpu_processes *g, struct grt_gpu_place *gpu,
			       const struct grt_ev_gpu_slice *ev)
{
	uint64_t start = ev->start > g->from ? ev->start : g->from;
	uint64_t end = ev->e.time < g->to ? ev->e.time : g->to;
	struct grt_gpu_process *o;
	int ret;

	if (!gpu->to)
		gpu->from = gpu->to = g->first && g->first < start ? g->first : start;
	if (start < gpu->to) {
		g->backwards += ev->start < gpu->to && ev->start >= g->from;
		start = gpu->to;
	}
	ret = gpu_processes_account(g, gpu, gpu_processes_gap(gpu, ev, start - gpu->to), start);
	if (!ret)
		ret = gpu_processes_of(g, gpu, ev->e.pid, &o);
	if (ret || !o)
		return ret;
	if (end > start)
		o->residency += end - start;
	o->came += ev->begin == GRT_SLICE_SWITCH && ev->start >= g->from;
	gpu_processes_length(g, gpu, ev, o);
	gpu->to = end > start ? end : start;
	gpu->over = ev->over;
	return 0;
}

static int gpu_processes_take_slice(struct grt_gpu_processes *g, const struct grt_ev_gpu_slice *ev)
{
	struct grt_gpu_place *gpu;
	int ret;

	if (ev->start > ev->e.time || ev->e.time < g->from || ev->start > g->to)
		return 0;
	ret = gpu_processes_at(g, GRT_GPU_SLICES, ev->e.device, ev->mig_gpu << 8 | (ev->mig_compute & 0xff),
			       0, &gpu);
	return ret || !gpu ? ret : gpu_processes_slice(g, gpu, ev);
}

/* After the last context left, no process had the GPU for the rest of the examined time. */
static int gpu_processes_end_slices(struct grt_gpu_processes *g, struct grt_gpu_place *gpu,
				    const struct grt_pass *pass)
{
	uint64_t last = pass->known ? pass->last : 0;

	if (last <= gpu->to)
		return 0;
	return gpu_processes_account(g, gpu, gpu->over == GRT_SLICE_SWITCH ? GRT_GPU_NOBODY : GRT_GPU_UNKNOWN,
				     last);
}

/* ----------------------------------------------------------------- jobs */

static struct grt_interval gpu_processes_within(const struct grt_gpu_processes *g)
{
	return (struct grt_interval){g->from > g->first ? g->from : g->first,
				     g->to < g->last ? g->to : g->last};
}

/* The place and the row of a ring and process; NULL: there are too many. */
static int gpu_processes_search(struct grt_gpu_processes *g, const struct grt_job *job,
				struct grt_gpu_found *f, struct grt_gpu_place **ring,
				struct grt_gpu_process **o)
{
	int ret = gpu_processes_at(g, GRT_GPU_JOBS, 0, 0, job->ring, ring);

	*o = NULL;
	if (!ret && *ring)
		ret = gpu_processes_of(g, *ring, job->pid, o);
	/* the owner of a process may change, the process itself does not */
	if (!ret && *o && g->by == GRT_GPU_BY_PROCESS)
		*f = (struct grt_gpu_found){job->ring, job->pid, (size_t)((char *)*ring - g->places.slot),
					    (size_t)((char *)*o - g->rows.slot)};
	return ret;
}

static inline int gpu_processes_find(struct grt_gpu_processes *g, const struct grt_job *job,
				     struct grt_gpu_place **ring, struct grt_gpu_process **o)
{
	struct grt_gpu_found *f = &g->found[(job->ring ^ job->pid) % GRT_GPU_FOUND];

	if (!f->row || f->ring != job->ring || f->pid != job->pid)
		return gpu_processes_search(g, job, f, ring, o);
	*ring = (struct grt_gpu_place *)(g->places.slot + f->place);
	*o = (struct grt_gpu_process *)(g->rows.slot + f->row);
	return 0;
}

/* Adds the part of a time that is in the requested time. */
static int gpu_processes_have(const struct grt_gpu_processes *g, struct grt_gpu_process *o,
			      struct grt_gpu_place *ring, uint64_t start, uint64_t end)
{
	struct grt_interval within = gpu_processes_within(g);

	return grt_busy_within(&o->busy, &within, start, end)
		       ?: grt_busy_within(&ring->busy, &within, start, end);
}

int grt_gpu_processes_running(struct grt_gpu_processes *g, const struct grt_job *job, uint64_t now)
{
	uint64_t end = job->seen >> GRT_STAMP_END & 1 ? job->time[GRT_STAMP_END] : now;
	struct grt_gpu_process *o;
	struct grt_gpu_place *ring;
	int ret;

	if (job->ring == GRT_RING_NONE || end <= g->from)
		return 0;
	ret = gpu_processes_find(g, job, &ring, &o);
	if (ret || !o)
		return ret;
	o->name = job->name ?: o->name;
	o->inferred |= job->inferred >> GRT_STAMP_START & 1;
	ring->sampled |= job->sample || g->windows;
	return gpu_processes_have(g, o, ring, job->time[GRT_STAMP_START], end);
}

/* Jobs without a beginning or an end: where others have them, the process had the GPU for longer than is
 * known. */
static int gpu_processes_untimed(struct grt_gpu_processes *g, const struct grt_job *job, uint64_t jobs)
{
	struct grt_gpu_process *o = NULL;
	struct grt_gpu_place *ring;
	int ret = gpu_processes_at(g, GRT_GPU_JOBS, 0, 0, job->ring, &ring);

	if (ret || !ring)
		return ret;
	ring->untimed += jobs;
	ret = ring->timed ? gpu_processes_find(g, job, &ring, &o) : 0;
	if (ret || !o)
		return ret;
	o->name = job->name ?: o->name;
	o->least = true;
	return 0;
}

int grt_gpu_processes_job(struct grt_gpu_processes *g, const struct grt_job *job)
{
	const unsigned int both = 1U << GRT_STAMP_START | 1U << GRT_STAMP_END;
	uint64_t start = job->time[GRT_STAMP_START], end = job->time[GRT_STAMP_END];
	struct grt_gpu_process *o;
	struct grt_gpu_place *ring;
	int ret;

	if (!g->jobs || job->ring == GRT_RING_NONE)
		return 0;
	if ((job->seen & both) != both || end < start)
		return gpu_processes_untimed(g, job, 1);
	ret = gpu_processes_find(g, job, &ring, &o);
	if (ret || !ring)
		return ret;
	ring->timed++;
	ring->sampled |= job->sample || g->windows;
	if (!o)
		return 0;
	o->name = job->name ?: o->name;
	o->inferred |= !!(job->inferred & both);
	o->least |= job->sample || g->windows;
	o->came++;
	grt_hist_add(&o->whole, end - start, GRT_WEIGHT_ONE, job->inferred & both, &g->budget);
	return gpu_processes_have(g, o, ring, start, end);
}

int grt_gpu_processes_sums(struct grt_gpu_processes *g, const struct grt_job_sums *s)
{
	const struct grt_job job = {.ring = s->ring, .pid = s->pid, .name = s->name};
	struct grt_gpu_process *o;
	struct grt_gpu_place *ring;
	int ret = s->untimed ? gpu_processes_untimed(g, &job, s->untimed) : 0;

	if (ret || !s->timed)
		return ret;
	ret = gpu_processes_find(g, &job, &ring, &o);
	if (ret || !ring)
		return ret;
	ring->timed += s->timed;
	ring->busy.apart += s->exec.sum;
	if (!o)
		return 0;
	o->name = s->name ?: o->name;
	o->inferred |= s->exec.inferred;
	o->came += s->timed;
	o->busy.apart += s->exec.sum;
	grt_hist_put_counts(&o->whole, &s->exec, &g->budget);
	return 0;
}

/* ------------------------------------------------------------- counters */

static const char *gpu_processes_engine(const struct grt_names *names, uint32_t counter)
{
	uint32_t number = grt_names_find(names, GRT_NAME_COUNTER, counter);
	const char *name = grt_names_name(names, number), *unit = grt_names_owner(names, number);

	if (!name || !unit || strncmp(name, BUSY_NAME, sizeof(BUSY_NAME) - 1) || strcmp(unit, BUSY_UNIT))
		return NULL;
	return name + sizeof(BUSY_NAME) - 1;
}

/* Whether samples from before the requested time may have been left out. */
static bool gpu_processes_is_cut(const struct grt_gpu_processes *g)
{
	return g->from && !g->follows;
}

/*
 * A total counts from the first sample on, so that the first value is an amount, unless earlier samples are
 * outside of the examined time.
 */
static int gpu_processes_grow(struct grt_gpu_processes *g, struct grt_gpu_process *o,
			      const struct grt_ev_counter *ev)
{
	struct grt_key key = {{ev->e.device, ev->counter, ev->instance}};
	uint64_t value = (uint64_t)ev->value;
	struct value *v;
	void *found;
	int ret = grt_keyed_get_or_count(&g->values, &key, &g->over, &found);

	v = found;
	if (ret || !v)
		return ret;
	if (v->counted || !gpu_processes_is_cut(g))
		o->residency += value >= v->last ? value - v->last : value;
	o->unknown += !v->counted && gpu_processes_is_cut(g);
	if (v->counted && !v->more && gpu_processes_is_cut(g))
		o->unknown--;
	if (v->counted)
		o->measured += ev->e.time - v->time;
	else
		o->unmeasured = true;
	v->time = ev->e.time;
	v->more = v->counted;
	v->counted = true;
	v->ended = ev->e.flags & GRT_FLAG_ENDED;
	v->last = value;
	return 0;
}

static int gpu_processes_take_counter(struct grt_gpu_processes *g, const struct grt_ev_counter *ev,
				      const struct grt_names *names)
{
	struct grt_gpu_process *o;
	struct grt_gpu_place *engine;
	int ret;

	if (!g->jobs || !ev->instance || ev->value < 0 || ev->e.time < g->from || ev->e.time > g->to ||
	    !gpu_processes_engine(names, ev->counter))
		return 0;
	ret = gpu_processes_at(g, GRT_GPU_COUNTERS, ev->e.device, 0, ev->counter, &engine);
	if (!ret && engine)
		ret = gpu_processes_of(g, engine, ev->instance, &o);
	if (ret || !engine || !o)
		return ret;
	o->inferred |= !!(ev->e.flags & GRT_FLAG_INFERRED);
	return gpu_processes_grow(g, o, ev);
}

int grt_gpu_processes_event(struct grt_gpu_processes *g, const struct grt_event *e,
			    const struct grt_names *names)
{
	if (e->type == GRT_EV_GPU_SLICE)
		return gpu_processes_take_slice(g, (const struct grt_ev_gpu_slice *)e);
	if (e->type == GRT_EV_OWNER)
		return gpu_processes_take_owner(g, (const struct grt_ev_owner *)e);
	if (e->type == GRT_EV_WINDOW)
		g->windows |= ((const struct grt_ev_window *)e)->of == GRT_WINDOW_JOBS;
	if (e->type == GRT_EV_COUNTER)
		return gpu_processes_take_counter(g, (const struct grt_ev_counter *)e, names);
	return 0;
}

/* -------------------------------------------------------------- the end */

/* Time of the processes at a place: what each had, or the union of all; UINT64_MAX: unknown. */
static uint64_t gpu_processes_had(const struct grt_gpu_processes *g, const struct grt_gpu_place *at)
{
	uint64_t sum = 0;

	if (at->source == GRT_GPU_JOBS)
		return grt_busy_sum(&at->busy);
	for (const struct grt_gpu_process *o = grt_keyed_oldest(&g->rows); o; o = grt_keyed_next(&g->rows, o))
		if (o->source == at->source && o->device == at->device && o->place == at->place &&
		    (o->kind == GRT_GPU_PROCESS || o->kind == GRT_GPU_UNKNOWN))
			sum = o->unknown || sum == UINT64_MAX ? UINT64_MAX : sum + o->residency;
	return sum;
}

/* The rest of the requested time. If not all jobs are in the trace, it is unknown who had the GPU then. */
static int gpu_processes_end_place(struct grt_gpu_processes *g, struct grt_gpu_place *at,
				   const struct grt_pass *pass)
{
	uint64_t had = gpu_processes_had(g, at), wall = grt_pass_span(pass);
	struct grt_gpu_process *o;
	int ret;

	at->from = wall ? pass->first : 0;
	at->to = at->from + wall;
	if (had > wall || (at->source == GRT_GPU_JOBS && (!at->timed || at->sampled)))
		return 0;
	ret = gpu_processes_row(g, at, GRT_GPU_NOBODY, 0, &o);
	if (ret || !o)
		return ret;
	o->residency = wall - had;
	o->least = at->source == GRT_GPU_COUNTERS;
	/* what more the processes had is missing here */
	o->inferred = at->untimed || at->busy.cut;
	return 0;
}

int grt_gpu_processes_finish(struct grt_gpu_processes *g, const struct grt_pass *pass)
{
	struct grt_gpu_process *o;
	struct grt_gpu_place *at;
	int ret = 0;

	for (o = grt_keyed_oldest(&g->rows); o; o = grt_keyed_next(&g->rows, o))
		if (o->source == GRT_GPU_JOBS && o->kind != GRT_GPU_NOBODY) {
			o->residency = grt_busy_sum(&o->busy);
			o->least |= o->busy.cut;
		}
	for (at = grt_keyed_oldest(&g->places); at && !ret; at = grt_keyed_next(&g->places, at))
		ret = at->source == GRT_GPU_SLICES ? gpu_processes_end_slices(g, at, pass)
						   : gpu_processes_end_place(g, at, pass);
	return ret;
}

static void gpu_processes_free_rows(struct grt_gpu_processes *g)
{
	for (struct grt_gpu_process *o = grt_keyed_oldest(&g->rows); o; o = grt_keyed_next(&g->rows, o)) {
		grt_hist_free(&o->whole);
		grt_busy_free(&o->busy);
	}
	grt_keyed_free(&g->rows);
}

/* A counter that is no longer read has no row; one that does not change is not written. */
static int gpu_processes_keep_value(struct grt_gpu_processes *g, struct value *v, const struct grt_key *key)
{
	struct grt_gpu_process *o;
	struct grt_gpu_place *engine;
	int ret;

	v->more = v->counted;
	if (v->ended)
		return 0;
	ret = gpu_processes_at(g, GRT_GPU_COUNTERS, (uint32_t)key->w[0], 0, (uint32_t)key->w[1], &engine);
	return ret || !engine ? ret : gpu_processes_of(g, engine, (uint32_t)key->w[2], &o);
}

int grt_gpu_processes_next(struct grt_gpu_processes *g, uint64_t from)
{
	int ret = 0;

	gpu_processes_free_rows(g);
	memset(g->found, 0, sizeof(g->found));
	grt_keyed_init(&g->rows, sizeof(struct grt_gpu_process), GRT_GPU_PROCESSES_MAX);
	for (struct grt_gpu_place *at = grt_keyed_oldest(&g->places); at;
	     at = grt_keyed_next(&g->places, at)) {
		grt_busy_free(&at->busy);
		at->from = at->to = from;
		at->was_timed |= at->timed > 0;
		at->timed = at->untimed = 0;
		at->sampled = false;
	}
	g->from = g->first = from;
	g->budget = HIST_BUDGET;
	g->follows = true;
	for (struct value *v = grt_keyed_oldest(&g->values); v && !ret; v = grt_keyed_next(&g->values, v))
		ret = gpu_processes_keep_value(g, v, grt_keyed_key(v));
	return ret;
}

void grt_gpu_processes_free(struct grt_gpu_processes *g)
{
	struct grt_gpu_place *at;

	if (!g)
		return;
	gpu_processes_free_rows(g);
	for (at = grt_keyed_oldest(&g->places); at; at = grt_keyed_next(&g->places, at))
		grt_busy_free(&at->busy);
	grt_keyed_free(&g->places);
	grt_keyed_free(&g->owners);
	grt_keyed_free(&g->values);
	grt_texts_free(&g->cgroups);
	free(g);
}
