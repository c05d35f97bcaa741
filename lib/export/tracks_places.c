// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Finds the track for an event: of a process, thread, device or ring. Their names may arrive or change during
 * the trace.
 */
#include "tracks_places.h"

#include <stdio.h>
#include <string.h>

#include <grtrace/event_table.h>

#include "base/bus.h"
#include "base/fnv.h"
#include "stack/images.h"

enum {
	OF_PROCESS = 1,
	OF_THREAD,
	OF_DEVICE,
	OF_GPU,
	OF_RING_EVENTS,
	OF_BUS_GPU,
};

/* A name and its number; NULL: there is none. */
static const char *tracks_name_of(const struct grt_tracks *t, unsigned int kind, uint32_t id,
				  uint32_t *number)
{
	*number = grt_names_find(t->names, kind, id);
	return grt_names_name(t->names, *number);
}

/* Return: whether the track's current name differs from the one with which it was announced. */
bool tracks_is_renamed(const struct grt_tracks *t, struct track *k, unsigned int kind, uint32_t id)
{
	uint32_t number;

	if (k->named == t->names->used)
		return false;
	k->named = t->names->used;
	number = grt_names_find(t->names, kind, id);
	if (number == k->name)
		return false;
	k->name = number;
	return true;
}

/* The name of a process comes with the names of its threads. */
int tracks_process(struct grt_tracks *t, uint32_t pid, uint32_t tid, uint32_t *id)
{
	struct grt_key key = tracks_key_of(OF_PROCESS, pid, 0, 0);
	struct track like = {.kind = GRT_TRACK_PROCESS, .pid = pid}, *k;
	int ret = tracks_get(t, &key, &like, &k);

	*id = k ? k->id : 0;
	if (ret < 0 || !k)
		return ret;
	if (tracks_is_renamed(t, k, GRT_NAME_THREAD, tid) || ret > 0)
		return tracks_announce(t, k, grt_names_owner(t->names, k->name), NULL);
	return 0;
}

/* Return: a thread's track, if it was used recently and its name has not changed since; otherwise NULL. */
static struct track *recent_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid)
{
	struct track *k = t->recent[tid % TRACKS_RECENT];

	/* elements move when the table grows */
	if (t->recent_room != t->tracks.room) {
		memset(t->recent, 0, sizeof(t->recent));
		t->recent_room = t->tracks.room;
		return NULL;
	}
	return k && k->tid == tid && k->pid == pid && k->named == t->names->used ? k : NULL;
}

static int tracks_find_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_THREAD, pid, tid, 0);
	struct track like = {.kind = GRT_TRACK_THREAD, .pid = pid, .tid = tid};
	uint32_t process;
	int ret = tracks_get(t, &key, &like, out);

	if (ret < 0 || !*out || (!ret && (*out)->named == t->names->used))
		return ret;
	if (!tracks_is_renamed(t, *out, GRT_NAME_THREAD, tid) && !ret)
		return 0;
	ret = tracks_process(t, pid, tid, &process);
	/* the tracks may have moved */
	*out = grt_keyed_find(&t->tracks, &key);
	(*out)->parent = process;
	return ret ?: tracks_announce(t, *out, grt_names_name(t->names, (*out)->name), NULL);
}

/* Return: 0 with the track; NULL: there is no room; or an error */
int tracks_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid, struct track **out)
{
	int ret;

	*out = recent_thread(t, pid, tid);
	if (*out)
		return 0;
	ret = tracks_find_thread(t, pid, tid, out);
	if (t->recent_room == t->tracks.room)
		t->recent[tid % TRACKS_RECENT] = ret ? NULL : *out;
	return ret;
}

/* The GPU of a ring, by its address on its bus. Return: as tracks_device(); -ENOENT: unknown */
static int gpu_track(struct grt_tracks *t, uint32_t ring, uint32_t *id)
{
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	const char *driver, *bus;
	char text[TRACKS_TEXT_MAX];
	struct grt_key key;
	uint32_t number;
	int ret;

	bus = tracks_name_of(t, GRT_NAME_RING_GPU, ring, &number);
	if (!bus)
		return -ENOENT;
	key = (struct grt_key){{OF_GPU, grt_fnv_text(bus)}};
	ret = tracks_get(t, &key, &like, &k);
	*id = k ? k->id : 0;
	if (ret < 0 || !k || !ret)
		return ret < 0 ? ret : 0;
	driver = grt_names_owner(t->names, grt_names_find(t->names, GRT_NAME_RING, ring));
	snprintf(text, sizeof(text), "GPU %s%s%s%s", bus, driver ? " (" : "", driver ?: "",
		 driver ? ")" : "");
	return tracks_announce(t, k, text, NULL);
}

int tracks_device(struct grt_tracks *t, uint32_t device, uint32_t *id)
{
	struct grt_key key = tracks_key_of(OF_DEVICE, device, 0, 0);
	struct track like = {.kind = GRT_TRACK_GROUP}, *k;
	const char *name, *driver;
	char text[TRACKS_TEXT_MAX];
	int ret = tracks_get(t, &key, &like, &k);

	*id = k ? k->id : 0;
	if (ret < 0 || !k || (!tracks_is_renamed(t, k, GRT_NAME_DEVICE, device) && !ret))
		return ret;
	name = grt_names_name(t->names, k->name);
	driver = grt_names_owner(t->names, k->name);
	if (name)
		snprintf(text, sizeof(text), "GPU %s%s%s%s", name, driver ? " (" : "", driver ?: "",
			 driver ? ")" : "");
	else
		snprintf(text, sizeof(text), "GPU %u", device);
	return tracks_announce(t, k, text, NULL);
}

static void tracks_ring_text(const struct grt_tracks *t, uint32_t ring, char *text)
{
	uint32_t number;
	const char *name = tracks_name_of(t, GRT_NAME_RING, ring, &number);

	if (name)
		snprintf(text, TRACKS_TEXT_MAX, "%s", name);
	else if (ring != GRT_RING_NONE)
		snprintf(text, TRACKS_TEXT_MAX, "ring %u", ring);
	else
		snprintf(text, TRACKS_TEXT_MAX, "jobs");
}

/* --------------------------------------------------------------------- GPUs */

int tracks_gpu_number(struct grt_tracks *t, uint32_t bus, const struct grt_key *other,
		      const struct grt_device *device, const char *name, uint32_t *number)
{
	struct grt_key key = bus != UINT32_MAX ? (struct grt_key){{OF_BUS_GPU, bus}} : *other;
	struct tracks_gpu *g;
	void *found;
	int ret = grt_keyed_get_or_count(&t->gpus, &key, NULL, &found);

	g = found;
	*number = 0;
	if (!g)
		return ret;
	if (!g->number) {
		g->number = t->gpus.used;
		g->bus = bus;
		snprintf(g->name, sizeof(g->name), "%s", name);
	}
	if (!g->device)
		g->device = device;
	*number = g->number;
	return 0;
}

uint32_t grt_tracks_gpus(const struct grt_tracks *t)
{
	return t->gpus.used;
}

bool grt_tracks_gpu(const struct grt_tracks *t, uint32_t number, struct grt_tracks_gpu *out)
{
	const struct tracks_gpu *g = grt_keyed_oldest(&t->gpus);

	while (g && g->number != number)
		g = grt_keyed_next(&t->gpus, g);
	if (!g)
		return false;
	*out = (struct grt_tracks_gpu){.bus = g->bus};
	memcpy(out->name, g->name, sizeof(out->name));
	if (g->device && g->device->known) {
		out->cuda = &g->device->is;
		out->model = g->device->name;
	}
	return true;
}

/* The last word of a device's name may be its address: "nvidia0 0000:c6:00.0". */
static uint32_t place_in(const char *name)
{
	const char *space = name ? strrchr(name, ' ') : NULL;

	return name ? grt_bus_number(space ? space + 1 : name) : UINT32_MAX;
}

int tracks_gpu_of(struct grt_tracks *t, uint32_t device, uint32_t ring, uint32_t track, uint32_t *number)
{
	const struct grt_key other = {{OF_DEVICE, track}};
	const char *name, *driver, *bus;
	char text[GRT_TRACKS_GPU_NAME];
	uint32_t named;

	*number = 0;
	if (!track)
		return 0;
	bus = ring == GRT_RING_NONE ? NULL : tracks_name_of(t, GRT_NAME_RING_GPU, ring, &named);
	name = tracks_name_of(t, GRT_NAME_DEVICE, device, &named);
	driver = grt_names_owner(t->names, bus ? grt_names_find(t->names, GRT_NAME_RING, ring) : named);
	if (bus || name)
		snprintf(text, sizeof(text), "GPU %s%s%s%s", bus ?: name, driver ? " (" : "", driver ?: "",
			 driver ? ")" : "");
	else
		snprintf(text, sizeof(text), "GPU %u", device);
	return tracks_gpu_number(t, bus ? grt_bus_number(bus) : place_in(name), &other, NULL, text, number);
}

/* Sets the queue and GPU of a ring's new track. */
static int ring_queue(struct grt_tracks *t, const struct grt_key *key, uint32_t device, uint32_t ring,
		      struct track *like)
{
	struct grt_key first = *key;
	const struct track *k;

	first.w[3] = 0;
	k = grt_keyed_find(&t->tracks, &first);
	like->queue = k && k->queue ? k->queue : TRACKS_FIRST_LANE;
	return tracks_gpu_of(t, device, ring, like->parent, &like->gpu);
}

/*
 * Finds or makes a track under a device; its name is that of the ring, and @text. Return: as tracks_thread()
 */
int tracks_ring(struct grt_tracks *t, const struct grt_key *key, uint32_t device, uint32_t ring,
		uint32_t lane, const char *text, struct track **out)
{
	struct track like = {.kind = GRT_TRACK_SLICES, .lane = (uint8_t)lane};
	char name[TRACKS_TEXT_MAX], full[2 * TRACKS_TEXT_MAX];
	int ret = 0;

	*out = grt_keyed_find(&t->tracks, key);
	if (!*out) {
		ret = gpu_track(t, ring, &like.parent);
		if (ret == -ENOENT)
			ret = tracks_device(t, device, &like.parent);
		if (!ret && !*text)
			ret = ring_queue(t, key, device, ring, &like);
		if (!ret)
			ret = tracks_get(t, key, &like, out);
	}
	if (ret < 0 || !*out || (!tracks_is_renamed(t, *out, GRT_NAME_RING, ring) && !ret))
		return ret;
	tracks_ring_text(t, ring, name);
	snprintf(full, sizeof(full), "%s%s", name, text);
	return tracks_announce(t, *out, full, NULL);
}

/* Most items are drawn on a first lane that was used recently. */
static inline struct track *first_lane(struct grt_tracks *t, const struct grt_key *key)
{
	uint32_t *near = &t->lane_near[(key->w[0] + key->w[1] * 3 + key->w[2] * 5) % TRACKS_LANES_NEAR];
	struct track *k = grt_keyed_near(&t->tracks, *near, key);

	if (k)
		return k;
	k = grt_keyed_find(&t->tracks, key);
	*near = k ? grt_keyed_number(k) : 0;
	return k;
}

/* The first lane on which something can begin at @time; lanes are numbered in the last word of the key. */
struct track *tracks_free_lane(struct grt_tracks *t, struct grt_key *key, uint64_t time)
{
	struct track *k;

	for (key->w[3] = 0; key->w[3] < GRT_TRACKS_LANES_MAX; key->w[3]++) {
		k = key->w[3] ? grt_keyed_find(&t->tracks, key) : first_lane(t, key);
		if (!k || (!k->busy && k->last <= time))
			return k;
	}
	return NULL;
}

/*
 * Finds the track of an event: that of the thread that ran, else of the ring, else of the device. Return: as
 * tracks_thread()
 */
static int tracks_place_of(struct grt_tracks *t, const struct grt_event *e, struct track **out)
{
	struct grt_key key = tracks_key_of(OF_RING_EVENTS, e->device, e->ring, 0);

	if (grt_event_table[e->type].who == GRT_WHO_CURRENT && e->tid)
		return tracks_thread(t, e->pid, e->tid, out);
	return tracks_ring(t, &key, e->device, e->ring, 0,
			   e->ring == GRT_RING_NONE ? ": events of no ring" : ": events", out);
}

bool tracks_draw_on_known(struct grt_tracks *t, struct grt_key *key, struct grt_track_item *i,
			  const struct tracks_args *a, int *ret)
{
	struct track *k;

	key->w[3] = 0;
	k = first_lane(t, key);
	if (__builtin_expect(k && (k->busy || k->last > i->time), 0))
		k = tracks_free_lane(t, key, i->time);
	if (!k)
		return false;
	/* as tracks_draw(), which would look again whether it is after the last one */
	i->kind = GRT_ITEM_SLICE;
	i->size = sizeof(*i);
	i->track = k->id;
	i->arg = a->a;
	i->args = a->n;
	k->last = i->end;
	t->count.slices++;
	*ret = t->sink.item(t->sink.arg, i);
	return true;
}

int tracks_draw_on_lane(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			struct track *like, const char *name, struct grt_track_item *i,
			const struct tracks_args *a)
{
	struct track *k = tracks_free_lane(t, key, i->time);
	int ret = 0;

	i->kind = GRT_ITEM_SLICE;
	like->lane = (uint8_t)key->w[3];
	if (!k && key->w[3] < GRT_TRACKS_LANES_MAX) {
		ret = tracks_process(t, e->pid, e->tid, &like->parent);
		ret = ret ?: tracks_get_fixed(t, key, like, name, &k);
	}
	return ret ?: tracks_draw(t, k, i, a);
}

/* Draws a slice on the first free lane of a track of a process. */
int tracks_draw_in_process(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			   const char *name, struct grt_track_item *i, const struct tracks_args *a)
{
	struct track like = {.kind = GRT_TRACK_SLICES, .pid = e->pid};

	return tracks_draw_on_lane(t, e, key, &like, name, i, a);
}

int tracks_instant(struct grt_tracks *t, const struct grt_event *e)
{
	struct track *k;
	int ret = tracks_place_of(t, e, &k);

	return ret ?: tracks_draw_instant(t, k, e, t->title[e->type], GRT_CATEGORY_EVENT);
}
