// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Records of AMD's log and functions of the kernel by ftrace: calls on a track for each thread, dispatches on
 * a track for each hardware queue.
 */
#include "tracks_places.h"

#include <stdio.h>

enum {
	OF_CALLS = TRACKS_KEYS(tracks_rocm),
	OF_NOTES,
	OF_QUEUE,
	OF_FUNCS,
};

/* Finds or makes the track of a layer in a process. */
static int layer_track(struct grt_tracks *t, const struct grt_event *e, unsigned int what, uint64_t which,
		       const char *name, struct track **out)
{
	struct grt_key key = tracks_key_of(what, e->pid, which, 0);
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid};
	int ret = e->pid ? tracks_process(t, e->pid, e->tid, &like.parent) : 0;

	return ret ?: tracks_get_fixed(t, &key, &like, name, out);
}

static int enter_call(struct grt_tracks *t, struct track *k, struct grt_track_item *i,
		      const struct tracks_args *a)
{
	const struct open_slice what = {.inside = INSIDE_CALL, .ctx = i->name};

	if (k && k->depth < TRACKS_DEPTH_MAX)
		return tracks_begin(t, k, &what, i, a);
	i->kind = GRT_ITEM_INSTANT;
	return tracks_draw(t, k, i, a);
}

/* Return: 1: its begin is not in the trace */
static int leave_call(struct grt_tracks *t, struct track *k, struct grt_track_item *i,
		      const struct tracks_args *a)
{
	unsigned int depth = k ? k->depth : 0;

	while (depth && k->open[depth - 1].ctx != i->name)
		depth--;
	return depth ? tracks_end(t, k, depth - 1, i, a) : 1;
}

static int on_log_call(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_log_call *x = (const struct grt_ev_log_call *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_HIP, .time = e->time};
	char text[64] = "HIP calls";
	struct track *k;
	int ret;

	if (x->thread)
		snprintf(text, sizeof(text), "HIP calls of thread 0x%llx", (unsigned long long)x->thread);
	ret = layer_track(t, e, OF_CALLS, x->thread, text, &k)
		      ?: grt_texts_add(&t->texts, x->function, sizeof(x->function), &i.name);
	if (ret)
		return ret;
	tracks_add_fields(t, tracks_no_args(t), e);
	if (x->step == GRT_CALL_ENTERED)
		return enter_call(t, k, &i, &t->args);
	ret = leave_call(t, k, &i, &t->args);
	t->count.half += ret == 1;
	return ret == 1 ? 0 : ret;
}

static int on_log_note(struct grt_tracks *t, const struct grt_event *e)
{
#define GRT_LOG_NOTE(number, NAME, name, help) [number] = #name,
	static const char *const names[] = {
#include <grtrace/log_notes.def>
	};
#undef GRT_LOG_NOTE
	const struct grt_ev_log_note *x = (const struct grt_ev_log_note *)e;
	const char *name = x->what < sizeof(names) / sizeof(names[0]) ? names[x->what] : NULL;
	struct track *k;
	uint32_t number;
	int ret = layer_track(t, e, OF_NOTES, 0, "AMD runtime", &k)
			  ?: grt_texts_add(&t->texts, name ?: "note", 64, &number);

	return ret ?: tracks_draw_instant(t, k, e, number, GRT_CATEGORY_EVENT);
}

static int on_log_dispatch(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_log_dispatch *x = (const struct grt_ev_log_dispatch *)e;
	char text[64], name[sizeof(x->name) + 1];
	struct track *k;
	uint32_t number;
	int ret;

	snprintf(text, sizeof(text), "hardware queue 0x%llx", (unsigned long long)x->queue);
	if (x->name[0])
		snprintf(name, sizeof(name), "%.*s", (int)sizeof(x->name), x->name);
	else
		snprintf(name, sizeof(name), "0x%llx", (unsigned long long)x->object);
	ret = layer_track(t, e, OF_QUEUE, x->queue, text, &k)
		      ?: grt_texts_add(&t->texts, name, sizeof(name), &number);
	return ret ?: tracks_draw_instant(t, k, e, number, GRT_CATEGORY_KERNEL);
}

/* function_graph prints a leaf function once, with its duration. */
static int func_ended(struct grt_tracks *t, struct track *k, const struct grt_ev_func *x,
		      struct grt_track_item *i, const struct tracks_args *a)
{
	int ret = leave_call(t, k, i, a);

	if (ret != 1)
		return ret;
	if (!(x->known & GRT_FUNC_TOOK) || x->took > UINT64_MAX - i->time) {
		t->count.half++;
		return 0;
	}
	i->kind = GRT_ITEM_SLICE;
	i->end = i->time + x->took;
	return tracks_draw(t, k, i, a);
}

static int on_func(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_func *x = (const struct grt_ev_func *)e;
	struct grt_track_item i = {.kind = GRT_ITEM_INSTANT, .category = GRT_CATEGORY_FUNC, .time = e->time};
	struct track *k;
	char text[64];
	int ret;

	snprintf(text, sizeof(text), "kernel functions of thread %u", e->tid);
	ret = layer_track(t, e, OF_FUNCS, e->tid, text, &k)
		      ?: grt_texts_add(&t->texts, x->function, sizeof(x->function), &i.name);
	if (ret)
		return ret;
	tracks_add_fields(t, tracks_no_args(t), e);
	if (x->step == GRT_FUNC_ENTERED)
		return enter_call(t, k, &i, &t->args);
	if (x->step == GRT_FUNC_RETURNED)
		return func_ended(t, k, x, &i, &t->args);
	return tracks_draw(t, k, &i, &t->args);
}

static const struct tracks_draw rocm_draws[] = {
	{GRT_EV_LOG_CALL, on_log_call},
	{GRT_EV_LOG_NOTE, on_log_note},
	{GRT_EV_LOG_DISPATCH, on_log_dispatch},
	{GRT_EV_LOG_TEXT, tracks_nothing},
	{GRT_EV_FUNC, on_func},
	{0},
};

const struct tracks_provider tracks_rocm = {
	.draws = rocm_draws,
};
