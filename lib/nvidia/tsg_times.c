// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of tsg_times.h. */
#include "tsg_times.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/tsg.h>

#include "base/compare.h"
#include "base/bus.h"
#include "base/containers.h"
#include "trace/names.h"
#include "tsg.h"

/* Octaves of 4 KiB for the percentiles of all rows. */
#define HIST_BUDGET 16384U
#define PLACES_MAX 512U
#define NO_GROUP UINT64_MAX

/**
 * struct channel - the owner of a number of the driver
 * @made: when the channel was made
 * @freed: when it was freed, 0: it exists
 */
struct channel {
	uint64_t group;
	uint32_t pid;
	char tsg[24];
	uint64_t made;
	uint64_t freed;
};

/**
 * struct place - a GPU or an instance
 * @bus: its address, 0: unknown
 * @from, @to: the time seen of it
 */
struct place {
	uint32_t bus;
	uint64_t from;
	uint64_t to;
};

void grt_tsg_times_init(struct grt_tsg_times *t)
{
	*t = (struct grt_tsg_times){.to = UINT64_MAX, .budget = HIST_BUDGET};
	grt_keyed_init(&t->channels, sizeof(struct channel), GRT_TSG_CHANNELS_MAX);
	grt_keyed_init(&t->places, sizeof(struct place), PLACES_MAX);
	grt_keyed_init(&t->rows, sizeof(struct grt_tsg_time), GRT_TSG_TIMES_MAX);
}

/* ------------------------------------------------------------------ groups */

static struct grt_key tsg_times_channel_key(uint32_t bus, uint32_t context)
{
	return (struct grt_key){{(uint64_t)bus << 32 | context}};
}

static struct grt_key tsg_times_group_key(uint64_t group)
{
	return (struct grt_key){{group, 1}};
}

/* Numbers are not reused soon, so a new channel replaces one that ended long ago. */
static int tsg_times_channel(struct grt_tsg_times *t, const struct grt_ev_tsg_channel *ev,
			     const struct grt_tsg *g)
{
	const struct grt_key key = tsg_times_channel_key(g->bus, ev->context);
	struct channel *ch = ev->context ? grt_keyed_find(&t->channels, &key) : NULL;
	void *found;
	int ret;

	if (ch && !ev->bound)
		ch->freed = ev->e.time;
	if (!ev->context || !ev->bound)
		return 0;
	if (ch)
		grt_keyed_remove(&t->channels, ch);
	ret = grt_keyed_get_or_replace(&t->channels, &key, &t->over, &found);
	if (ret)
		return ret;
	ch = found;
	*ch = (struct channel){.group = g->number, .pid = g->pid, .made = ev->e.time};
	memcpy(ch->tsg, g->name, sizeof(ch->tsg));
	return 0;
}

/* Return: 0, with *out NULL where there is no room; or -ENOMEM */
static int tsg_times_row(struct grt_tsg_times *t, const struct grt_key *key, uint64_t group, uint32_t pid,
			 const char *tsg, struct grt_tsg_time **out)
{
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&t->rows, key, &t->over, &found);
	struct grt_tsg_time *row = found;

	*out = row;
	if (!row)
		return ret;
	row->group = group;
	row->pid = pid;
	memcpy(row->tsg, tsg, sizeof(row->tsg));
	return 0;
}

static void tsg_times_close(struct grt_tsg_times *t, struct grt_tsg_time *row)
{
	if (row->change)
		t->change[row->change - 1].after = row->lengths;
}

static int tsg_times_set(struct grt_tsg_times *t, const struct grt_ev_tsg_set *ev, const struct grt_tsg *g)
{
	const struct grt_key key = tsg_times_group_key(g->number);
	struct grt_tsg_change *change;
	struct grt_tsg_time *row;
	int ret;

	if (ev->status || !ev->timeslice)
		return 0;
	ret = tsg_times_row(t, &key, g->number, g->pid, g->name, &row);
	if (ret || !row)
		return ret;
	if (t->changes == GRT_TSG_TIMES_MAX) {
		t->over++;
		return 0;
	}
	if (grt_grow(&t->change, &t->changes_room, t->changes + 1, 64))
		return -ENOMEM;
	tsg_times_close(t, row);
	change = &t->change[t->changes++];
	*change = (struct grt_tsg_change){.time = ev->e.time,
					  .pid = ev->e.pid,
					  .born = g->born,
					  .was = g->timeslice,
					  .now = ev->timeslice,
					  .before = row->lengths};
	memcpy(change->tsg, g->name, sizeof(change->tsg));
	row->change = t->changes;
	row->changed = ev->e.time;
	row->lengths = (struct grt_tsg_lengths){0};
	return 0;
}

int grt_tsg_times_event(struct grt_tsg_times *t, const struct grt_event *e, const struct grt_tsg *g)
{
	if (e->type == GRT_EV_TSG_CHANNEL)
		return tsg_times_channel(t, (const struct grt_ev_tsg_channel *)e, g);
	if (e->type == GRT_EV_TSG_SET)
		return tsg_times_set(t, (const struct grt_ev_tsg_set *)e, g);
	return 0;
}

/* ------------------------------------------------------------------ slices */

/* The name of an NVIDIA GPU ends in its address. */
static uint32_t tsg_times_bus(const struct grt_names *names, uint32_t device)
{
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, device));
	const char *bus = name ? strrchr(name, ' ') : NULL;
	uint32_t number = bus ? grt_bus_number(bus + 1) : UINT32_MAX;

	return number == UINT32_MAX ? 0 : number;
}

static int tsg_times_place(struct grt_tsg_times *t, const struct grt_ev_gpu_slice *e, uint32_t instance,
			   const struct grt_names *names, struct place **out)
{
	const struct grt_key key = {{e->e.device, instance}};
	uint64_t start = e->start > t->from ? e->start : t->from;
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&t->places, &key, &t->over, &found);
	struct place *p = found;

	*out = p;
	if (!p)
		return ret;
	if (!p->to)
		p->from = p->to = t->first && t->first < start ? t->first : start;
	if (!p->bus)
		p->bus = tsg_times_bus(names, e->e.device);
	return 0;
}

/*
 * The channel of a slice: the one that had its number at its begin, and whose GPU may be unknown. NULL: the
 * trace has none
 */
static const struct channel *tsg_times_find(const struct grt_tsg_times *t, uint32_t bus,
					    const struct grt_ev_gpu_slice *e)
{
	const struct grt_key here = tsg_times_channel_key(bus, e->context);
	const struct grt_key somewhere = tsg_times_channel_key(0, e->context);
	const struct channel *ch = grt_keyed_find(&t->channels, &here);
	const struct channel *other = bus ? grt_keyed_find(&t->channels, &somewhere) : NULL;

	if (!ch || (other && other->made > ch->made))
		ch = other;
	return ch && ch->made <= e->start ? ch : NULL;
}

/* A slice belongs to its channel's group; if that is unknown, only to its process. */
static int tsg_times_whose(struct grt_tsg_times *t, const struct grt_ev_gpu_slice *e, uint32_t instance,
			   const struct place *p, struct grt_tsg_time **out)
{
	const struct channel *ch = e->context ? tsg_times_find(t, p->bus, e) : NULL;
	const struct grt_key alone = {{(uint64_t)e->e.device << 32 | instance, 2, e->e.pid}};
	const struct grt_key of_group = tsg_times_group_key(ch ? ch->group : 0);
	bool begins = e->begin != GRT_SLICE_GOES_ON;

	t->slices += begins;
	t->alone += begins && !ch;
	t->late += begins && ch && ch->freed && e->start > ch->freed;
	return ch ? tsg_times_row(t, &of_group, ch->group, ch->pid, ch->tsg, out)
		  : tsg_times_row(t, &alone, NO_GROUP, e->e.pid, (char[24]){0}, out);
}

/* Only a slice that was seen to come and to leave has a length. */
static void tsg_times_length(struct grt_tsg_times *t, struct grt_tsg_time *row,
			     const struct grt_ev_gpu_slice *e)
{
	uint64_t length;

	if (e->begin == GRT_SLICE_SWITCH)
		row->since = e->start;
	else if (e->begin != GRT_SLICE_GOES_ON)
		row->since = 0;
	if (e->over == GRT_SLICE_SWITCH && row->since) {
		length = e->e.time - row->since;
		grt_hist_add(&row->whole, length, GRT_WEIGHT_ONE, false, &t->budget);
		if (row->since >= row->changed) {
			row->lengths.n++;
			row->lengths.sum += length;
		}
	}
	if (e->over != GRT_SLICE_GOES_ON)
		row->since = 0;
}

int grt_tsg_times_slice(struct grt_tsg_times *t, const struct grt_ev_gpu_slice *e,
			const struct grt_names *names)
{
	uint32_t instance = e->mig_gpu << 8 | (e->mig_compute & 0xff);
	uint64_t start, end = e->e.time < t->to ? e->e.time : t->to;
	struct grt_tsg_time *row = NULL;
	struct place *p;
	int ret;

	if (e->start > e->e.time || e->e.time < t->from || e->start > t->to)
		return 0;
	ret = tsg_times_place(t, e, instance, names, &p);
	if (!ret && p)
		ret = tsg_times_whose(t, e, instance, p, &row);
	if (ret || !row)
		return ret;
	/* the line through two samples of the clocks may meet the next one with a step */
	start = e->start > p->to ? e->start : p->to;
	row->device = e->e.device;
	row->instance = instance;
	row->met = true;
	row->residency += end > start ? end - start : 0;
	row->came += e->begin == GRT_SLICE_SWITCH && e->start >= t->from;
	tsg_times_length(t, row, e);
	p->to = end > p->to ? end : p->to;
	return 0;
}

/* ------------------------------------------------------------------ lists */

static int tsg_times_compare(const void *a, const void *b)
{
	const struct grt_tsg_time *x = *(const struct grt_tsg_time *const *)a,
				  *y = *(const struct grt_tsg_time *const *)b;

	return grt_compare(x->device, y->device) ?: grt_compare(x->instance, y->instance)
		?: grt_compare(x->group == NO_GROUP, y->group == NO_GROUP)
		?: grt_compare(y->residency, x->residency) ?: grt_compare(x->pid, y->pid)
		?: grt_compare(x->group, y->group);
}

int64_t grt_tsg_times_list(const struct grt_tsg_times *t, const struct grt_tsg_time ***out)
{
	const struct grt_tsg_time *row;
	int64_t n = 0;

	*out = calloc((size_t)t->rows.used + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (row = grt_keyed_oldest(&t->rows); row; row = grt_keyed_next(&t->rows, row))
		if (row->met)
			(*out)[n++] = row;
	qsort(*out, (size_t)n, sizeof(**out), tsg_times_compare);
	return n;
}

uint32_t grt_tsg_times_changes(struct grt_tsg_times *t)
{
	for (struct grt_tsg_time *r = grt_keyed_oldest(&t->rows); r; r = grt_keyed_next(&t->rows, r))
		tsg_times_close(t, r);
	return t->changes;
}

uint64_t grt_tsg_times_wall(const struct grt_tsg_times_view *v, const struct grt_tsg_time *row)
{
	const struct grt_key key = {{row->device, row->instance}};
	const struct place *p = grt_keyed_find(&v->times->places, &key);
	uint64_t to = v->last > p->to ? v->last : p->to;

	return to - p->from;
}

void grt_tsg_times_free(struct grt_tsg_times *t)
{
	for (struct grt_tsg_time *r = grt_keyed_oldest(&t->rows); r; r = grt_keyed_next(&t->rows, r))
		grt_hist_free(&r->whole);
	grt_keyed_free(&t->channels);
	grt_keyed_free(&t->places);
	grt_keyed_free(&t->rows);
	free(t->change);
	grt_tsg_times_init(t);
}
