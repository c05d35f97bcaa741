// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Tracks of a trace, see tracks.h: values, drawing, and what the providers have in common.
 */
#include "tracks.h"

#include "tracks_places.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "trace/field.h"
#include "trace/flow.h"
#include "trace/packet.h"
#include "base/sized.h"

enum {
	OF_LOSSES = 64,
	OF_CPU,
};

/* -------------------------------------------------------------- values */

void tracks_add_text(struct tracks_args *a, unsigned int id, const char *text, size_t length)
{
	if (a->n < GRT_TRACK_ARGS_MAX)
		a->a[a->n++] = (struct grt_track_arg){
			.id = (uint16_t)id, .kind = GRT_TRACK_TEXT, .length = (uint32_t)length, .text = text};
}

void tracks_add_fields(const struct grt_tracks *t, struct tracks_args *a, const struct grt_event *e)
{
	for (unsigned int i = 0; i < t->fields[e->type]; i++)
		tracks_add_field(a, &t->field[e->type][i], e);
}

/* ------------------------------------------------------------- drawing */

/* Draws on a track; NULL: there was no room for it. Return: 0 or the result of the sink */
int tracks_draw(struct grt_tracks *t, struct track *k, struct grt_track_item *i, const struct tracks_args *a)
{
	if (!k) {
		t->count.over++;
		return 0;
	}
	if (i->time < k->last) {
		t->count.back++;
		return 0;
	}
	k->last = i->kind == GRT_ITEM_SLICE ? i->end : i->time;
	i->size = sizeof(*i);
	i->track = k->id;
	i->arg = a ? a->a : NULL;
	i->args = a ? a->n : 0;
	t->count.slices += i->kind == GRT_ITEM_SLICE || i->kind == GRT_ITEM_BEGIN;
	t->count.instants += i->kind == GRT_ITEM_INSTANT;
	t->count.values += i->kind == GRT_ITEM_COUNTER;
	return t->sink.item(t->sink.arg, i);
}

int tracks_announce(struct grt_tracks *t, const struct track *k, const char *name, const char *unit)
{
	struct grt_track out = {
		.size = sizeof(out),
		.id = k->id,
		.parent = k->parent,
		.kind = k->kind,
		.pid = k->pid,
		.tid = k->tid,
		.lane = k->lane,
		.name = name ?: "",
		.unit = unit ?: "",
		.queue = k->queue,
		.gpu = k->gpu,
		.context = k->context,
		.hip = k->hip,
	};

	return t->sink.track(t->sink.arg, &out);
}

struct grt_key tracks_key_of(unsigned int what, uint64_t a, uint64_t b, uint64_t c)
{
	return (struct grt_key){{what, a, b, c}};
}

/*
 * The track of a key. @like: what a new one is; its id is given here
 * Return: 1: it is new and must be announced, 0: it is known, or *out is NULL: no place; or -ENOMEM
 */
int tracks_get(struct grt_tracks *t, const struct grt_key *key, const struct track *like, struct track **out)
{
	void *found;
	int ret = grt_keyed_get_or_count(&t->tracks, key, NULL, &found);

	*out = found;
	if (!*out || (*out)->id)
		return ret;
	**out = *like;
	(*out)->id = t->tracks.used;
	if (like->queue == TRACKS_FIRST_LANE)
		(*out)->queue = (*out)->id;
	return 1;
}

/* As above, and announces a new track, whose name never changes. Return: 0 or a negative errno */
int tracks_get_fixed(struct grt_tracks *t, const struct grt_key *key, const struct track *like,
		     const char *name, struct track **out)
{
	int ret = tracks_get(t, key, like, out);

	return ret > 0 ? tracks_announce(t, *out, name, NULL) : ret;
}

void tracks_add_common(struct tracks_args *a, const struct grt_event *e, bool on_thread)
{
	if (!on_thread && e->pid)
		tracks_add_number(a, GRT_TRACK_ARG_PID, e->pid);
	if (grt_has_job(e)) {
		tracks_add_number(a, GRT_TRACK_ARG_CTX, e->ctx);
		tracks_add_number(a, GRT_TRACK_ARG_SEQNO, e->seqno);
	}
	if (e->flags & GRT_FLAG_INFERRED)
		tracks_add_arg(a, GRT_TRACK_ARG_INFERRED, GRT_TRACK_BOOL, 1);
}

int tracks_draw_instant(struct grt_tracks *t, struct track *k, const struct grt_event *e, uint32_t name,
			enum grt_track_category category)
{
	struct grt_track_item i = {
		.kind = GRT_ITEM_INSTANT, .category = (uint8_t)category, .name = name, .time = e->time};
	struct tracks_args *a = tracks_no_args(t);

	tracks_add_common(a, e, k && k->kind == GRT_TRACK_THREAD);
	tracks_add_fields(t, a, e);
	return tracks_draw(t, k, &i, a);
}

/* Closes the innermost slices of a thread until @depth are left; their ends were not seen. */
int tracks_cut(struct grt_tracks *t, struct track *k, unsigned int depth, uint64_t time)
{
	struct grt_track_item i = {.kind = GRT_ITEM_END, .time = time};
	struct tracks_args a;
	int ret = 0;

	a.n = 0;
	tracks_add_arg(&a, GRT_TRACK_ARG_CUT, GRT_TRACK_BOOL, 1);
	while (!ret && k->depth > depth) {
		k->depth--;
		t->count.cut++;
		ret = tracks_draw(t, k, &i, &a);
	}
	return ret;
}

int tracks_begin(struct grt_tracks *t, struct track *k, const struct open_slice *what,
		 struct grt_track_item *i, const struct tracks_args *a)
{
	i->kind = GRT_ITEM_BEGIN;
	if (i->time >= k->last)
		k->open[k->depth++] = *what;
	return tracks_draw(t, k, i, a);
}

int tracks_end(struct grt_tracks *t, struct track *k, unsigned int depth, struct grt_track_item *i,
	       const struct tracks_args *a)
{
	int ret = tracks_cut(t, k, depth + 1, i->time);

	i->kind = GRT_ITEM_END;
	k->depth = (uint8_t)depth;
	return ret ?: tracks_draw(t, k, i, a);
}

/* ------------------------------------------------------------------- events */

int tracks_nothing(struct grt_tracks *t, const struct grt_event *e)
{
	return 0;
}

void grt_tracks_filter(struct grt_tracks *t, const struct grt_filter *filter)
{
	t->filter = filter;
}

int grt_tracks_event(struct grt_tracks *t, const struct grt_event *e)
{
	if (e->type >= GRT_EV_MAX || !grt_event_table[e->type].name)
		return 0;
	if (t->filter && !t->filter->shown &&
	    (grt_class_of[e->type] == GRT_CLASS_job || grt_class_of[e->type] == GRT_CLASS_wait))
		return tracks_join(t, e);
	return t->draw[e->type] ? t->draw[e->type](t, e) : tracks_instant(t, e);
}

int grt_tracks_packet(struct grt_tracks *t, const struct grt_packet *p)
{
	uint64_t lost = grt_packet_fate(p, GRT_FATE_LOST);
	struct grt_track_item i = {.kind = GRT_ITEM_SLICE,
				   .category = GRT_CATEGORY_LOSS,
				   .name = t->lost_name,
				   .time = p->timestamp_begin,
				   .end = p->timestamp_end};
	struct grt_key group = tracks_key_of(OF_LOSSES, 0, 0, 0),
		       key = tracks_key_of(OF_CPU, p->cpu_id, 0, 0);
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	struct tracks_args *a = tracks_no_args(t);
	char text[32];
	int ret;

	if (!lost || i.end < i.time)
		return 0;
	ret = tracks_get_fixed(t, &group, &like, "lost events", &k);
	if (ret)
		return ret;
	like = (struct track){.kind = GRT_TRACK_SLICES, .parent = k ? k->id : 0};
	k = tracks_free_lane(t, &key, i.time);
	like.lane = (uint8_t)key.w[3];
	snprintf(text, sizeof(text), "CPU %u", p->cpu_id);
	if (!k && key.w[3] < GRT_TRACKS_LANES_MAX)
		ret = tracks_get_fixed(t, &key, &like, text, &k);
	tracks_add_number(a, GRT_TRACK_ARG_LOST_EVENTS, lost);
	return ret ?: tracks_draw(t, k, &i, a);
}

/* --------------------------------------------------------- begin and end */

/* Return: GRT_TRACK_ARG_IDS_MAX: there are more names than numbers */
static unsigned int arg_id(struct grt_tracks *t, const char *name)
{
	for (unsigned int i = 0; i < t->arg_names; i++)
		if (t->arg_name[i][0] == name[0] && !strcmp(t->arg_name[i], name))
			return i;
	if (t->arg_names == GRT_TRACK_ARG_IDS_MAX)
		return GRT_TRACK_ARG_IDS_MAX;
	t->arg_name[t->arg_names] = name;
	return t->arg_names++;
}

static struct tracks_field field_of(struct grt_tracks *t, unsigned int type, const struct grt_field *f)
{
	static const uint8_t kinds[] = {[GRT_FIELD_DEC] = GRT_TRACK_U64,    [GRT_FIELD_HEX] = GRT_TRACK_HEX,
					[GRT_FIELD_SIGNED] = GRT_TRACK_S64, [GRT_FIELD_STR] = GRT_TRACK_TEXT,
					[GRT_FIELD_ENGINE] = GRT_TRACK_U64, [GRT_FIELD_TIME] = GRT_TRACK_U64};

	return (struct tracks_field){.at = grt_field_word(f),
				     .unknown = grt_unknown_of(type, f->offset),
				     .id = (uint16_t)arg_id(t, f->name),
				     .kind = kinds[f->kind]};
}

/* Numbers the names of all values, and stores their places, so that an item costs no search. */
static int number_fields(struct grt_tracks *t)
{
	static const char *const own[] = {
#define GRT_TRACK_ARG(NAME, name) #name,
		GRT_TRACK_ARGS(GRT_TRACK_ARG)
#undef GRT_TRACK_ARG
	};

	for (unsigned int i = 0; i < GRT_TRACK_ARG_FIELDS; i++)
		t->arg_name[t->arg_names++] = own[i];
	for (unsigned int type = 0; type < GRT_EV_MAX; type++) {
		const struct grt_field *f =
			grt_event_table[type].name ? grt_event_table[type].fields() : NULL;

		if (!f)
			continue;
		while (f[t->fields[type]].name)
			t->fields[type]++;
		t->field[type] = calloc(t->fields[type] + 1U, sizeof(*t->field[type]));
		if (!t->field[type])
			return -ENOMEM;
		for (unsigned int i = 0; i < t->fields[type]; i++) {
			t->field[type][i] = field_of(t, type, &f[i]);
			if (t->field[type][i].id == GRT_TRACK_ARG_IDS_MAX)
				return -ENOSPC;
		}
	}
	return 0;
}

static int name_items(struct grt_tracks *t)
{
	int ret = grt_texts_add(&t->texts, "lost", 64, &t->lost_name);

	for (unsigned int type = 0; type < GRT_EV_MAX && !ret; type++)
		if (grt_event_table[type].title)
			ret = grt_texts_add(&t->texts, grt_event_table[type].title, 64, &t->title[type]);
	return ret;
}

static const struct tracks_provider *const providers[TRACKS_PROVIDERS] = {
#define GRT_TRACKS(name) [IN_##name] = &name,
#include "tracks.def"
#undef GRT_TRACKS
};

/* Return: 0 or -ENOMEM */
static int tracks_begin_provider(struct grt_tracks *t, unsigned int n)
{
	const struct tracks_provider *p = providers[n];

	for (const struct tracks_draw *d = p->draws; d->draw; d++)
		t->draw[d->type] = d->draw;
	t->state[n] = p->state ? calloc(1, p->state) : NULL;
	if (p->state && !t->state[n])
		return -ENOMEM;
	return p->begin ? p->begin(t, t->state[n]) : 0;
}

int grt_tracks_new_sized(struct grt_tracks **out, const struct grt_tracks_sink *sink, size_t size)
{
	struct grt_tracks *t = calloc(1, sizeof(*t));
	int ret;

	*out = t;
	if (!t)
		return -ENOMEM;
	t->count.size = sizeof(t->count);
	grt_sized_copy(&t->sink, sizeof(t->sink), sink, size);
	grt_keyed_init(&t->tracks, sizeof(struct track), GRT_TRACKS_MAX);
	grt_keyed_init(&t->gpus, sizeof(struct tracks_gpu), GRT_TRACKS_GPUS_MAX);
	grt_texts_init(&t->texts, GRT_TRACKS_NAMES_MAX);
	t->to = UINT64_MAX;
	ret = number_fields(t) ?: name_items(t);
	for (unsigned int n = TRACKS_SHARED + 1; n < TRACKS_PROVIDERS && !ret; n++)
		ret = tracks_begin_provider(t, n);
	if (ret) {
		grt_tracks_free(t);
		*out = NULL;
	}
	return ret;
}

int tracks_remember(struct grt_tracks *t, const struct grt_event *e)
{
	enum grt_class class = e->type < GRT_EV_MAX ? grt_class_of[e->type] : GRT_CLASS_unknown;
	int ret;

	if (class == GRT_CLASS_job || class == GRT_CLASS_wait || class == GRT_CLASS_error)
		return tracks_join(t, e);
	if (!grt_has_trait(e, GRT_TRAIT_LASTING))
		return 0;
	t->beyond = true;
	ret = grt_tracks_event(t, e);
	t->beyond = false;
	return ret;
}

int grt_tracks_end(struct grt_tracks *t)
{
	const struct track *k;
	int ret = 0;

	for (unsigned int n = TRACKS_SHARED + 1; n < TRACKS_PROVIDERS && !ret; n++)
		ret = providers[n]->flush ? providers[n]->flush(t->state[n]) : 0;
	for (k = grt_keyed_oldest(&t->tracks); k; k = grt_keyed_next(&t->tracks, k))
		t->count.cut += k->depth + k->busy;
	return ret;
}

const char *grt_tracks_name(const struct grt_tracks *t, uint32_t name)
{
	return grt_texts_get(&t->texts, name);
}

uint32_t grt_tracks_name_length(const struct grt_tracks *t, uint32_t name)
{
	return grt_texts_length(&t->texts, name);
}

const char *grt_tracks_arg_name(const struct grt_tracks *t, uint32_t id)
{
	return id < t->arg_names ? t->arg_name[id] : "";
}

const char *grt_tracks_category(unsigned int category)
{
	static const char *const names[GRT_CATEGORIES] = {
#define GRT_TRACK_CATEGORY(NAME, name) [GRT_CATEGORY_##NAME] = #name,
		GRT_TRACK_CATEGORIES(GRT_TRACK_CATEGORY)
#undef GRT_TRACK_CATEGORY
	};

	return category < GRT_CATEGORIES ? names[category] : "";
}

const struct grt_tracks_count *grt_tracks_count(const struct grt_tracks *t)
{
	return &t->count;
}

void grt_tracks_free(struct grt_tracks *t)
{
	if (!t)
		return;
	for (unsigned int i = 0; i < GRT_EV_MAX; i++)
		free(t->field[i]);
	for (unsigned int n = TRACKS_SHARED + 1; n < TRACKS_PROVIDERS; n++) {
		if (t->state[n] && providers[n]->free)
			providers[n]->free(t->state[n]);
		free(t->state[n]);
	}
	grt_keyed_free(&t->tracks);
	grt_keyed_free(&t->gpus);
	grt_texts_free(&t->texts);
	free(t);
}
