// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The code of containers.h. */
#include "containers.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* ------------------------------------------------------ arrays that grow */

int grt_grow_array(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most)
{
	size_t want = *room ? *room : first;
	void *old, *more;

	while (want < n && want <= most / 2)
		want *= 2;
	if (want < n || want > most || want > SIZE_MAX / size)
		return -ENOMEM;
	/* a pointer to elements of any type */
	memcpy(&old, array, sizeof(old));
	more = realloc(old, want * size);
	if (!more)
		return -ENOMEM;
	memcpy(array, &more, sizeof(more));
	*room = want;
	return 0;
}

int grt_grow_array_zeroed(void *array, size_t *room, size_t n, size_t first, size_t size, size_t most)
{
	size_t had = *room;
	int ret = grt_grow_array(array, room, n, first, size, most);
	char *elements;

	if (ret)
		return ret;
	memcpy(&elements, array, sizeof(elements));
	memset(elements + had * size, 0, (*room - had) * size);
	return 0;
}

/* ------------------------------------------------------- elements by key */

/* An array of slots with a free list, a hash over it and a list by age through it. */

static struct grt_keyed_head *head_at(const struct grt_keyed *k, uint32_t id)
{
	return grt_keyed_head(k, id);
}

static struct grt_keyed_head *keyed_head_of(const void *element)
{
	return (struct grt_keyed_head *)((char *)element - sizeof(struct grt_keyed_head));
}

static bool same_key(const void *owner, uint32_t id, const void *key)
{
	return grt_keyed_has(owner, id, key);
}

static uint32_t keyed_tag_of(const struct grt_keyed *k, const struct grt_key *key)
{
	uint64_t half = key->w[2] | key->w[3] ? grt_hash(&k->secret, key->w[2], key->w[3]) : k->no_half;

	return grt_hash(&k->secret, key->w[0] + half, key->w[1]);
}

void grt_keyed_init(struct grt_keyed *k, size_t size, uint32_t max)
{
	*k = (struct grt_keyed){
		.secret = grt_hash_key_new(),
		.stride = sizeof(struct grt_keyed_head) + ((size + 15) & ~(size_t)15),
		.max = max,
		.free = GRT_NOWHERE,
		.oldest = GRT_NOWHERE,
		.newest = GRT_NOWHERE,
	};
	k->no_half = grt_hash(&k->secret, 0, 0);
}

static inline void *keyed_find(const struct grt_keyed *k, const struct grt_key *key, uint32_t tag)
{
	uint32_t id = grt_index_find(&k->index, tag, same_key, k, key);

	return id == GRT_NOWHERE ? NULL : head_at(k, id) + 1;
}

void *grt_keyed_search(const struct grt_keyed *k, const struct grt_key *key)
{
	return keyed_find(k, key, keyed_tag_of(k, key));
}

uint32_t grt_keyed_number(const void *element)
{
	return keyed_head_of(element)->id + 1;
}

static int keyed_make_room(struct grt_keyed *k)
{
	uint32_t room = k->room ? 2 * k->room : 16;
	char *more;

	if (room > k->max)
		room = k->max;
	more = realloc(k->slot, room * k->stride);
	if (!more)
		return -ENOMEM;
	k->slot = more;
	for (uint32_t i = room; i-- > k->room;) {
		head_at(k, i)->next = k->free;
		/* a free slot is its own neighbour */
		head_at(k, i)->prev = i;
		k->free = i;
	}
	k->room = room;
	return 0;
}

static int keyed_add(struct grt_keyed *k, const struct grt_key *key, uint32_t tag, void **out)
{
	struct grt_keyed_head *h;
	uint32_t id;

	if (grt_keyed_full(k))
		return -ENOSPC;
	if (k->free == GRT_NOWHERE && keyed_make_room(k))
		return -ENOMEM;
	id = k->free;
	if (grt_index_add(&k->index, tag, id))
		return -ENOMEM;
	h = head_at(k, id);
	k->free = h->next;
	memset(h + 1, 0, k->stride - sizeof(*h));
	*h = (struct grt_keyed_head){
		.key = *key, .tag = tag, .prev = k->newest, .next = GRT_NOWHERE, .id = id};
	*(k->newest == GRT_NOWHERE ? &k->oldest : &head_at(k, k->newest)->next) = id;
	k->newest = id;
	k->used++;
	*out = h + 1;
	return 0;
}

int grt_keyed_get(struct grt_keyed *k, const struct grt_key *key, void **out)
{
	uint32_t tag = keyed_tag_of(k, key);

	*out = keyed_find(k, key, tag);
	return *out ? 0 : keyed_add(k, key, tag, out);
}

int grt_keyed_get_or_replace(struct grt_keyed *k, const struct grt_key *key, uint64_t *gone, void **out)
{
	uint32_t tag = keyed_tag_of(k, key);

	*out = keyed_find(k, key, tag);
	if (*out)
		return 0;
	if (grt_keyed_full(k)) {
		if (gone)
			++*gone;
		grt_keyed_remove(k, grt_keyed_oldest(k));
	}
	return keyed_add(k, key, tag, out);
}

void grt_keyed_remove(struct grt_keyed *k, void *element)
{
	struct grt_keyed_head *h = keyed_head_of(element);
	uint32_t id = h->id;

	grt_index_remove(&k->index, h->tag, id);
	*(h->prev == GRT_NOWHERE ? &k->oldest : &head_at(k, h->prev)->next) = h->next;
	*(h->next == GRT_NOWHERE ? &k->newest : &head_at(k, h->next)->prev) = h->prev;
	h->next = k->free;
	h->prev = id;
	k->free = id;
	k->used--;
}

void *grt_keyed_oldest(const struct grt_keyed *k)
{
	return k->oldest == GRT_NOWHERE ? NULL : head_at(k, k->oldest) + 1;
}

void *grt_keyed_next(const struct grt_keyed *k, const void *element)
{
	uint32_t next = keyed_head_of(element)->next;

	return next == GRT_NOWHERE ? NULL : head_at(k, next) + 1;
}

const struct grt_key *grt_keyed_key(const void *element)
{
	return &keyed_head_of(element)->key;
}

int grt_keyed_list(const struct grt_keyed *k, int (*compare)(const void *a, const void *b), void ***out)
{
	uint32_t n = 0;

	*out = malloc((k->used + 1) * sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (void *e = grt_keyed_oldest(k); e; e = grt_keyed_next(k, e))
		(*out)[n++] = e;
	qsort(*out, n, sizeof(**out), compare);
	return 0;
}

void grt_keyed_free(struct grt_keyed *k)
{
	free(k->slot);
	grt_index_free(&k->index);
	k->slot = NULL;
	k->used = k->room = 0;
	k->free = k->oldest = k->newest = GRT_NOWHERE;
}

/* ----------------------------------------------------------------- texts */

/* An arena, and an index from text to number. */

/* The text for which the index is searched. */
struct wanted {
	const char *text;
	size_t length;
};

void grt_texts_init(struct grt_texts *t, uint32_t max)
{
	*t = (struct grt_texts){.used = 1, .max = max, .key = grt_hash_key_new()};
}

static bool texts_same_text(const void *owner, uint32_t id, const void *key)
{
	const struct grt_texts *t = owner;
	const struct wanted *w = key;

	return t->text[id].length == w->length && !memcmp(t->arena + t->text[id].at, w->text, w->length);
}

static uint32_t texts_tag_of(const struct grt_texts *t, const char *text, size_t length)
{
	uint64_t h = length, word;
	size_t i = 0;

	/* names of kernels are long, so eight bytes are hashed at a time */
	for (; i + sizeof(word) <= length; i += sizeof(word)) {
		memcpy(&word, text + i, sizeof(word));
		h = (h ^ word) * 0x9e3779b97f4a7c15ULL;
		h ^= h >> 32;
	}
	for (; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return grt_hash(&t->key, h, length);
}

int grt_texts_add(struct grt_texts *t, const char *text, size_t length, uint32_t *number)
{
	struct wanted w = {text, strnlen(text, length)};
	uint32_t tag = texts_tag_of(t, text, w.length);

	*number = grt_index_find(&t->index, tag, texts_same_text, t, &w);
	if (*number != GRT_NOWHERE)
		return 0;
	*number = GRT_TEXT_NONE;
	if (t->used >= t->max) {
		t->dropped++;
		return 0;
	}
	if (grt_grow(&t->text, &t->room, t->used + 1, 64) ||
	    grt_grow(&t->arena, &t->arena_room, t->arena_used + w.length + 1, 4096) ||
	    grt_index_add(&t->index, tag, t->used))
		return -ENOMEM;
	memcpy(t->arena + t->arena_used, text, w.length);
	t->arena[t->arena_used + w.length] = '\0';
	t->text[t->used] = (struct grt_texts_at){t->arena_used, (uint32_t)w.length};
	t->arena_used += w.length + 1;
	*number = t->used++;
	return 0;
}

const char *grt_texts_get(const struct grt_texts *t, uint32_t number)
{
	return number && number < t->used ? t->arena + t->text[number].at : "";
}

uint32_t grt_texts_length(const struct grt_texts *t, uint32_t number)
{
	return number && number < t->used ? t->text[number].length : 0;
}

void grt_texts_free(struct grt_texts *t)
{
	free(t->text);
	free(t->arena);
	grt_index_free(&t->index);
	*t = (struct grt_texts){0};
}
