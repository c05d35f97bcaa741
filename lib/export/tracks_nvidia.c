// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * NVIDIA: Xid errors by the address of the device, the life of channel groups, which
 * lie on lanes of a track of their process, copies of unified memory, which do so, too,
 * and memory that processes have, as counters of theirs.
 */
#include "tracks_places.h"

#include <stdio.h>
#include <string.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "nvidia/process_memory.h"
#include "table/rows.h"

/* Most channel groups at the same time. */
#define LIVES_MAX 16384U

enum {
	OF_BUS = TRACKS_KEYS(tracks_nvidia),
	OF_TSG,
	OF_SLICES,
	OF_GPU_MEMORY,
	OF_MIGRATIONS,
};

/** struct life - a channel group: the key of its track */
struct life {
	struct grt_key track;
};

/*
 * struct tracks_nvidia - the state; elements of @lives are struct life, whose @name is the number of a text
 */
struct tracks_nvidia {
	struct grt_keyed lives;
	uint32_t name;
	struct grt_process_memory memory;
};

static struct tracks_nvidia *nvidia_of(const struct grt_tracks *t)
{
	return t->state[IN_tracks_nvidia];
}

/* NVIDIA's errors belong to a PCI device, which is known by its place only. */
static int on_xid(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_xid *x = (const struct grt_ev_xid *)e;
	const struct grt_xid_info *info = grt_xid_info(x->code);
	struct grt_track_item i = {.kind = GRT_ITEM_INSTANT, .category = GRT_CATEGORY_EVENT, .time = e->time};
	struct grt_key key = tracks_key_of(OF_BUS, x->bus, 0, 0);
	struct track like = {.kind = GRT_TRACK_SLICES}, *k;
	struct tracks_args *a = tracks_no_args(t);
	char text[64], bus[GRT_BUS_MAX];
	int ret;

	snprintf(text, sizeof(text), "Xid of %s", grt_bus_text(bus, x->bus));
	ret = tracks_get_fixed(t, &key, &like, text, &k);
	snprintf(text, sizeof(text), "Xid %u", x->code);
	ret = ret ?: grt_texts_add(&t->texts, text, sizeof(text), &i.name);
	tracks_add_common(a, e, false);
	tracks_add_fields(t, a, e);
	if (info)
		tracks_add_text(a, GRT_TRACK_ARG_MEANING, info->meaning, strlen(info->meaning));
	return ret ?: tracks_draw(t, k, &i, a);
}

/* The key of a group; all TSG_ events begin with the same fields. */
static struct grt_key life_key(const struct grt_event *e)
{
	const struct grt_ev_tsg_destroy *x = (const struct grt_ev_tsg_destroy *)e;

	if (x->tsg)
		return (struct grt_key){{(uint64_t)x->client << 32 | x->tsg, 0, 1}};
	return (struct grt_key){{(uint64_t)x->runlist << 32 | x->grp, x->bus}};
}

static int begin_life(struct grt_tracks *t, const struct grt_event *e, struct grt_key *track)
{
	const struct grt_ev_tsg_init *x = (const struct grt_ev_tsg_init *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_BEGIN,
				   .category = GRT_CATEGORY_TSG,
				   .name = nvidia_of(t)->name,
				   .time = e->time};
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid}, *k;
	struct tracks_args *a = tracks_no_args(t);
	int ret;

	*track = tracks_key_of(OF_TSG, e->pid, 0, 0);
	k = tracks_free_lane(t, track, e->time);
	like.lane = (uint8_t)track->w[3];
	if (!k && track->w[3] == GRT_TRACKS_LANES_MAX)
		return tracks_draw(t, NULL, &i, NULL);
	ret = tracks_process(t, e->pid, e->tid, &like.parent);
	ret = ret ?: tracks_get_fixed(t, track, &like, "channel groups", &k);
	if (ret)
		return ret;
	if (k)
		k->busy = true;
	if (x->e.type == GRT_EV_TSG_INIT)
		tracks_add_fields(t, a, e);
	return tracks_draw(t, k, &i, a);
}

static int end_life(struct grt_tracks *t, const struct grt_event *e, const struct life *life)
{
	struct grt_track_item i = {.kind = GRT_ITEM_END, .category = GRT_CATEGORY_TSG, .time = e->time};
	struct track *k = grt_keyed_find(&t->tracks, &life->track);
	struct tracks_args *a = tracks_no_args(t);

	tracks_add_arg(a, t->field[e->type][6].id, GRT_TRACK_U64,
		       ((const struct grt_ev_tsg_destroy *)e)->cause);
	if (!k)
		return 0;
	k->busy = false;
	return tracks_draw(t, k, &i, a);
}

/* Return: whether a group exists: one whose creation was not answered exists if it has a timeslice. */
static bool is_made(const struct grt_event *e)
{
	const struct grt_ev_tsg_init *x = (const struct grt_ev_tsg_init *)e;

	return e->type == GRT_EV_TSG_INIT && (!x->status || x->timeslice);
}

/* A group whose creation is not in the trace begins with its first event. */
static int tracks_on_tsg(struct grt_tracks *t, const struct grt_event *e)
{
	struct grt_key key = life_key(e);
	struct life *life = grt_keyed_find(&nvidia_of(t)->lives, &key);
	void *found;
	int ret = 0;

	if (!life && is_made(e)) {
		ret = grt_keyed_get_or_count(&nvidia_of(t)->lives, &key, &t->count.over, &found);
		life = found;
		return life ? begin_life(t, e, &life->track) : ret;
	}
	ret = tracks_instant(t, e);
	if (ret || !life || e->type != GRT_EV_TSG_DESTROY)
		return ret;
	ret = end_life(t, e, life);
	grt_keyed_remove(&nvidia_of(t)->lives, life);
	return ret;
}

/* At any time, at most one context is on a GPU, or on an instance of a divided GPU. */
static int tracks_on_slice(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_gpu_slice *x = (const struct grt_ev_gpu_slice *)e;
	struct grt_track_item i = {
		.kind = GRT_ITEM_SLICE, .category = GRT_CATEGORY_CONTEXT, .time = x->start, .end = e->time};
	struct grt_key key = tracks_key_of(OF_SLICES, e->device, x->mig_gpu, x->mig_compute);
	struct track like = {.kind = GRT_TRACK_SLICES, .queue = TRACKS_FIRST_LANE}, *k;
	struct tracks_args *a = tracks_no_args(t);
	const char *process = grt_process_name(t->names, e->pid);
	char text[64] = "process on the GPU";
	int ret;

	if (tracks_is_outside(t, x->start, e->time))
		return 0;
	ret = tracks_device(t, e->device, &like.parent);
	if (x->mig_gpu != GRT_NOT_DIVIDED)
		snprintf(text, sizeof(text), "process on MIG instance %u.%u", x->mig_gpu, x->mig_compute);
	if (!ret && !grt_keyed_find(&t->tracks, &key))
		ret = tracks_gpu_of(t, e->device, GRT_RING_NONE, like.parent, &like.gpu);
	ret = ret ?: tracks_get_fixed(t, &key, &like, text, &k);
	snprintf(text, sizeof(text), e->pid ? "pid %u" : "unknown", e->pid);
	ret = ret ?: grt_texts_add(&t->texts, process ?: text, sizeof(text), &i.name);
	tracks_add_number(a, GRT_TRACK_ARG_PID, e->pid);
	tracks_add_fields(t, a, e);
	if (ret)
		return ret;
	i.pid = e->pid;
	i.number = tracks_next_number(t);
	/* the line through two samples of the clocks may meet the next one with a step */
	if (k && i.time < k->last)
		i.time = k->last;
	if (i.time > i.end)
		k = NULL;
	return tracks_draw(t, k, &i, a);
}

/* *out NULL: there is no room. Return: 0 or an error */
static int nvidia_memory_track(struct grt_tracks *t, const struct grt_memory_holder *h, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_GPU_MEMORY, (uint64_t)h->bus << 32 | h->place, h->pid, 0);
	struct track like = {.kind = GRT_TRACK_COUNTER};
	char text[64] = "driver's memory of the host", bus[GRT_BUS_MAX];
	int ret = tracks_process(t, h->pid, h->pid, &like.parent);

	if (h->place == GRT_NV_MEMORY_OF_GPU)
		snprintf(text, sizeof(text), "memory of %s", h->bus ? grt_bus_text(bus, h->bus) : "a GPU");
	ret = ret ?: tracks_get(t, &key, &like, out);
	return ret > 0 ? tracks_announce(t, *out, text, "B") : ret;
}

/* A refused request is a moment, because there is no memory. */
static int tracks_on_memory(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_nv_memory *x = (const struct grt_ev_nv_memory *)e;
	struct grt_holder_change change[2];
	int n = grt_process_memory_event(&nvidia_of(t)->memory, x, change), ret = 0;
	struct track *k;

	if (x->what == GRT_NV_MEMORY_REFUSED && !t->beyond)
		return tracks_instant(t, e);
	for (int c = 0; c < n && !ret && !t->beyond; c++) {
		struct grt_track_item i = {.kind = GRT_ITEM_COUNTER,
					   .category = GRT_CATEGORY_COUNTER,
					   .time = e->time,
					   .value = (int64_t)change[c].holder->live};

		ret = nvidia_memory_track(t, change[c].holder, &k) ?: tracks_draw(t, k, &i, NULL);
	}
	return n < 0 ? n : ret;
}

/* "coherence: to the CPU" */
static int migration_name(struct grt_tracks *t, const struct grt_ev_uvm_migration *m, uint32_t *name)
{
	static const char *const causes[] = {
#define GRT_UVM_CAUSE(number, NAME, name, help) [number] = #name,
#include <grtrace/uvm.def>
	};
	const char *cause = m->cause < sizeof(causes) / sizeof(causes[0]) ? causes[m->cause] : NULL;
	const char *to = grt_names_name(t->names, grt_names_find(t->names, GRT_NAME_DEVICE, m->to_device));
	char text[128];

	snprintf(text, sizeof(text), "%s: to %s", cause ?: "migration",
		 m->to_device ? to ?: "a GPU" : "the CPU");
	return grt_texts_add(&t->texts, text, sizeof(text), name);
}

/* A GPU has several engines that copy, so migrations may overlap. */
static int tracks_on_migration(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_uvm_migration *m = (const struct grt_ev_uvm_migration *)e;
	struct grt_track_item i = {
		.kind = GRT_ITEM_SLICE, .category = GRT_CATEGORY_MIGRATION, .time = m->start, .end = e->time};
	struct grt_key key = tracks_key_of(OF_MIGRATIONS, e->pid, 0, 0);
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid};
	struct tracks_args *a = tracks_no_args(t);
	int ret;

	if (tracks_is_outside(t, m->start, e->time))
		return 0;
	ret = migration_name(t, m, &i.name);
	tracks_add_fields(t, a, e);
	if (ret || m->start > e->time)
		return ret ?: tracks_draw(t, NULL, &i, NULL);
	return tracks_draw_on_lane(t, e, &key, &like, "unified memory", &i, a);
}

static int nvidia_begin(struct grt_tracks *t, void *state)
{
	struct tracks_nvidia *n = state;

	grt_keyed_init(&n->lives, sizeof(struct life), LIVES_MAX);
	grt_process_memory_init(&n->memory);
	return grt_texts_add(&t->texts, "channel group", 64, &n->name);
}

static void nvidia_free(void *state)
{
	struct tracks_nvidia *n = state;

	grt_keyed_free(&n->lives);
	grt_process_memory_free(&n->memory);
}

static const struct tracks_draw nvidia_draws[] = {
	{GRT_EV_XID, on_xid},
	{GRT_EV_TSG_INIT, tracks_on_tsg},
	{GRT_EV_TSG_SCHEDULE, tracks_on_tsg},
	{GRT_EV_TSG_TOKEN, tracks_on_tsg},
	{GRT_EV_TSG_CHANNEL, tracks_on_tsg},
	{GRT_EV_TSG_SET, tracks_on_tsg},
	{GRT_EV_TSG_DESTROY, tracks_on_tsg},
	{GRT_EV_GPU_SLICE, tracks_on_slice},
	{GRT_EV_NV_MEMORY, tracks_on_memory},
	{GRT_EV_UVM_MIGRATION, tracks_on_migration},
	{0},
};

const struct tracks_provider tracks_nvidia = {
	.draws = nvidia_draws,
	.state = sizeof(struct tracks_nvidia),
	.begin = nvidia_begin,
	.free = nvidia_free,
};
