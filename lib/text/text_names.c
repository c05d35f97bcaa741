// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names of a text, see text_names.h.
 */
#include "text_names.h"

#include <string.h>

#include "codes/engine.h"
#include "base/scan.h"

/* Places that are looked at for a name. */
#define WAYS 4U

/* Return: whether a field of a NAME record has exactly this text, cut to its size. */
static inline bool text_names_holds(const char *field, size_t size, const char *text, size_t len)
{
	if (len >= size)
		return !memcmp(field, text, size);
	return !memcmp(field, text, len) && !field[len];
}

static void text_names_set(char *field, size_t size, const char *text, size_t len)
{
	memset(field, 0, size);
	if (len)
		memcpy(field, text, len < size ? len : size);
}

/* A NUL would end the field for some readers and not for others. */
static size_t text_len(const char *text, size_t len)
{
	const char *nul = len ? memchr(text, '\0', len) : NULL;

	return nul ? (size_t)(nul - text) : len;
}

static void make_record(struct grt_ev_name *e, uint32_t kind, uint32_t id, uint64_t time, const char *name,
			const char *owner)
{
	*e = (struct grt_ev_name){
		.e = {.time = time, .type = GRT_EV_NAME, .ring = GRT_RING_NONE},
		.kind = kind,
		.id = id,
	};
	memcpy(e->name, name, sizeof(e->name));
	memcpy(e->owner, owner, sizeof(e->owner));
}

/* The name's place: where it is, or the one that is to be taken. */
static struct grt_text_name *text_names_place_of(struct grt_text_names *n, uint32_t kind, uint32_t id)
{
	uint32_t hash = (id * 0x9e3779b1U ^ kind * 0x85ebca6bU) >> 8,
		 home = hash % GRT_TEXT_NAMES & ~(WAYS - 1);

	for (uint32_t i = 0; i < WAYS; i++) {
		struct grt_text_name *at = &n->name[home + i];

		if ((at->id == id && at->kind == kind) || !at->kind)
			return at;
	}
	return &n->name[home + (hash >> 16) % WAYS];
}

static inline bool name_is_current(const struct grt_text_name *at, uint32_t kind, uint32_t id, uint64_t time,
				   const char *name, size_t name_len, const char *owner, size_t owner_len)
{
	return at->id == id && at->kind == kind && time >= at->time &&
	       text_names_holds(at->name, sizeof(at->name), name, name_len) &&
	       (owner_len ? text_names_holds(at->owner, sizeof(at->owner), owner, owner_len) : !at->owner[0]);
}

bool grt_text_names_update(struct grt_text_names *n, uint32_t kind, uint32_t id, uint64_t time,
			   const char *name, size_t name_len, const char *owner, size_t owner_len,
			   struct grt_ev_name *e)
{
	struct grt_text_name *at = text_names_place_of(n, kind, id);

	/* a text with a NUL is cut there first, so it differs from the held one */
	if (name_is_current(at, kind, id, time, name, name_len, owner, owner_len))
		return false;
	name_len = text_len(name, name_len);
	owner_len = owner ? text_len(owner, owner_len) : 0;
	if (name_is_current(at, kind, id, time, name, name_len, owner, owner_len))
		return false;
	at->time = time;
	at->kind = kind;
	at->id = id;
	text_names_set(at->name, sizeof(at->name), name, name_len);
	text_names_set(at->owner, sizeof(at->owner), owner, owner_len);
	make_record(e, kind, id, time, at->name, at->owner);
	return true;
}

/* Return: whether the ring has this name, and is not of another driver or GPU. */
static bool text_names_same_ring(const struct grt_text_ring *r, const char *name, size_t len,
				 const char *driver, size_t driver_len, const char *gpu, size_t gpu_len)
{
	return text_names_holds(r->name, sizeof(r->name), name, len) &&
	       (!driver_len || !r->owner[0] ||
		text_names_holds(r->owner, sizeof(r->owner), driver, driver_len)) &&
	       (!gpu_len || !r->gpu[0] || text_names_holds(r->gpu, sizeof(r->gpu), gpu, gpu_len));
}

static struct grt_text_ring *text_names_add_ring(struct grt_text_names *n, uint16_t *slot, const char *name,
						 size_t len)
{
	struct grt_text_ring *r = &n->ring[n->rings];

	if (n->rings == GRT_TEXT_RINGS)
		return NULL;
	*slot = (uint16_t)++n->rings;
	text_names_set(r->name, sizeof(r->name), name, len);
	r->engine = (uint8_t)grt_engine_of_ring(name, len);
	r->time = UINT64_MAX;
	return r;
}

const struct grt_text_ring *grt_text_names_ring(struct grt_text_names *n, uint64_t time, const char *name,
						size_t name_len, const char *driver, size_t driver_len,
						const char *gpu, size_t gpu_len, bool *tell,
						struct grt_ev_name *e)
{
	struct grt_text_ring *r = NULL;
	uint32_t i;

	*tell = false;
	name_len = text_len(name, name_len);
	if (name_len > sizeof(r->name))
		name_len = sizeof(r->name);
	driver_len = driver ? text_len(driver, driver_len) : 0;
	gpu_len = gpu ? text_len(gpu, gpu_len) : 0;
	if (gpu_len > sizeof(r->gpu))
		gpu_len = sizeof(r->gpu);
	/* At most half full: an empty slot ends the search. */
	for (i = grt_hash_text(name, name_len) % (2 * GRT_TEXT_RINGS); n->ring_slot[i];
	     i = (i + 1) % (2 * GRT_TEXT_RINGS)) {
		r = &n->ring[n->ring_slot[i] - 1];
		if (text_names_same_ring(r, name, name_len, driver, driver_len, gpu, gpu_len))
			break;
	}
	if (!n->ring_slot[i])
		r = text_names_add_ring(n, &n->ring_slot[i], name, name_len);
	if (!r)
		return NULL;
	if (gpu_len && !r->gpu[0])
		text_names_set(r->gpu, sizeof(r->gpu), gpu, gpu_len);
	*tell = time < r->time || (driver_len && !r->owner[0]);
	if (!*tell)
		return r;
	if (driver_len)
		text_names_set(r->owner, sizeof(r->owner), driver, driver_len);
	r->time = time < r->time ? time : r->time;
	make_record(e, GRT_NAME_RING, (uint32_t)(r - n->ring), time, r->name, r->owner);
	return r;
}

/* The last place counts lines that have no place of their own. */
static struct grt_skipped *add_skipped(struct grt_text_names *n, uint16_t *slot, const char *name, size_t len)
{
	struct grt_skipped *s;

	if (n->skips >= GRT_TEXT_SKIPPED - 1) {
		n->skips = GRT_TEXT_SKIPPED;
		s = &n->skipped[GRT_TEXT_SKIPPED - 1];
		s->name = "(others)";
		return s;
	}
	s = &n->skipped[n->skips];
	memcpy(n->skipped_name[n->skips], name, len);
	s->name = n->skipped_name[n->skips];
	*slot = (uint16_t)++n->skips;
	return s;
}

void grt_text_names_skip(struct grt_text_names *n, const char *name, size_t len)
{
	struct grt_skipped *s = NULL;
	uint32_t i;

	len = text_len(name, len);
	if (len > sizeof(n->skipped_name[0]) - 1)
		len = sizeof(n->skipped_name[0]) - 1;
	for (i = grt_hash_text(name, len) % (2 * GRT_TEXT_SKIPPED); n->skipped_slot[i];
	     i = (i + 1) % (2 * GRT_TEXT_SKIPPED)) {
		s = &n->skipped[n->skipped_slot[i] - 1];
		if (!memcmp(s->name, name, len) && !s->name[len])
			break;
	}
	if (!n->skipped_slot[i])
		s = add_skipped(n, &n->skipped_slot[i], name, len);
	s->events++;
}
