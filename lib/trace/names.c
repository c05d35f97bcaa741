// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Interned names, see names.h. Each packet repeats its names, so a name that is known already must cost
 * little.
 */
#include "names.h"

#include <string.h>

#include "base/containers.h"

struct name_key {
	uint32_t kind;
	uint32_t id;
};

static bool same_name(const void *owner, uint32_t id, const void *key)
{
	const struct grt_names *n = owner;
	const struct name_key *k = key;

	return n->name[id].id == k->id && n->name[id].kind == k->kind;
}

static uint32_t names_tag_of(const struct grt_names *n, uint32_t kind, uint32_t id)
{
	return grt_hash(&n->key, id, kind);
}

uint32_t grt_names_find(const struct grt_names *n, uint32_t kind, uint32_t id)
{
	struct name_key k = {kind, id};
	uint32_t number = grt_index_find(&n->index, names_tag_of(n, kind, id), same_name, n, &k);

	return number == GRT_NOWHERE ? GRT_NAME_UNKNOWN : number;
}

/* Return: whether the record has the same name. A source that does not know the owner leaves it empty. */
static bool says_the_same(const struct grt_name *a, const struct grt_ev_name *e)
{
	return !strncmp(a->name, e->name, sizeof(e->name)) &&
	       (!e->owner[0] || !strncmp(a->owner, e->owner, sizeof(e->owner)));
}

/* Number 0 is taken by the unknown name before the first one comes. */
static int names_make_room(struct grt_names *n)
{
	if (grt_grow(&n->name, &n->room, n->used + 1, 64))
		return -ENOMEM;
	if (!n->used) {
		n->key = grt_hash_key_new();
		n->name[n->used++] = (struct grt_name){0};
	}
	return 0;
}

int grt_names_add(struct grt_names *n, const struct grt_ev_name *e)
{
	uint32_t old = grt_names_find(n, e->kind, e->id);
	struct grt_name *added;

	if (old != GRT_NAME_UNKNOWN && says_the_same(&n->name[old], e))
		return 0;
	if (n->used == GRT_NAMES_MAX) {
		n->dropped++;
		return 0;
	}
	if (names_make_room(n))
		return -ENOMEM;
	if (old != GRT_NAME_UNKNOWN)
		grt_index_remove(&n->index, names_tag_of(n, e->kind, e->id), old);
	added = &n->name[n->used];
	*added = (struct grt_name){.kind = e->kind, .id = e->id};
	memcpy(added->name, e->name, sizeof(e->name));
	if (e->owner[0] || old == GRT_NAME_UNKNOWN)
		memcpy(added->owner, e->owner, sizeof(e->owner));
	else
		memcpy(added->owner, n->name[old].owner, sizeof(added->owner));
	return grt_index_add(&n->index, names_tag_of(n, e->kind, e->id), n->used++);
}

const char *grt_names_name(const struct grt_names *n, uint32_t number)
{
	return number < n->used && n->name[number].name[0] ? n->name[number].name : NULL;
}

const char *grt_names_owner(const struct grt_names *n, uint32_t number)
{
	return number < n->used && n->name[number].owner[0] ? n->name[number].owner : NULL;
}

int grt_names_each(const struct grt_names *n, int (*take)(void *arg, const struct grt_event *e), void *arg)
{
	struct grt_ev_name e = {.e = {.type = GRT_EV_NAME, .size = sizeof(e), .ring = GRT_RING_NONE}};
	int ret = 0;

	for (uint32_t i = 1; i < n->used && !ret; i++) {
		e.kind = n->name[i].kind;
		e.id = n->name[i].id;
		memcpy(e.name, n->name[i].name, sizeof(e.name));
		memcpy(e.owner, n->name[i].owner, sizeof(e.owner));
		ret = take(arg, &e.e);
	}
	return ret;
}

bool grt_names_gpus(const struct grt_names *n)
{
	const struct grt_name *first = NULL;

	for (uint32_t i = 1; i < n->used; i++) {
		if (n->name[i].kind != GRT_NAME_RING_GPU || !n->name[i].name[0])
			continue;
		if (first && strcmp(first->name, n->name[i].name))
			return true;
		first = &n->name[i];
	}
	return false;
}

void grt_names_free(struct grt_names *n)
{
	free(n->name);
	grt_index_free(&n->index);
	*n = (struct grt_names){0};
}
