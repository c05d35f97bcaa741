// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of texts.h: an arena, and an index from text to number. */
#include "texts.h"

#include <string.h>

#include "grow.h"

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
	t->text[t->used] = (struct grt_text){t->arena_used, (uint32_t)w.length};
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
