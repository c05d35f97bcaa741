// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of texts.h: an arena, and an index from text to number. */
#include "texts.h"

#include <string.h>

/* What the index compares with. */
struct wanted {
	const char *text;
	size_t length;
};

void grt_texts_init(struct grt_texts *t, uint32_t max)
{
	*t = (struct grt_texts){.used = 1, .max = max, .key = grt_hash_key_new()};
}

static bool same_text(const void *owner, uint32_t id, const void *key)
{
	const struct grt_texts *t = owner;
	const struct wanted *w = key;

	return t->text[id].length == w->length && !memcmp(t->arena + t->text[id].at, w->text, w->length);
}

static uint32_t tag_of(const struct grt_texts *t, const char *text, size_t length)
{
	uint64_t h = length;

	for (size_t i = 0; i < length; i++)
		h = (h ^ (unsigned char)text[i]) * 0x100000001b3ULL;
	return grt_hash(&t->key, h, length);
}

static int make_room(struct grt_texts *t, size_t length)
{
	uint32_t room = t->room ? 2 * t->room : 64;
	size_t arena_room = 2 * t->arena_room + length + 4096;
	void *more;

	if (t->used >= t->room) {
		more = realloc(t->text, room * sizeof(*t->text));
		if (!more)
			return -ENOMEM;
		t->text = more;
		t->text[0] = (struct grt_text){0};
		t->room = room;
	}
	if (t->arena_used + length + 1 > t->arena_room) {
		more = realloc(t->arena, arena_room);
		if (!more)
			return -ENOMEM;
		t->arena = more;
		t->arena_room = arena_room;
	}
	return 0;
}

int grt_texts_add(struct grt_texts *t, const char *text, size_t length, uint32_t *number)
{
	struct wanted w = {text, strnlen(text, length)};
	uint32_t tag = tag_of(t, text, w.length);

	*number = grt_index_find(&t->index, tag, same_text, t, &w);
	if (*number != GRT_NOWHERE)
		return 0;
	*number = GRT_TEXT_NONE;
	if (t->used >= t->max) {
		t->dropped++;
		return 0;
	}
	if (make_room(t, w.length) || grt_index_add(&t->index, tag, t->used))
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
