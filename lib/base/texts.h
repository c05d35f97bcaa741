/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Texts by number: each different text is kept once, NUL terminated, and keeps
 * its number for good.
 */
#ifndef GRT_BASE_TEXTS_H
#define GRT_BASE_TEXTS_H

#include <stddef.h>
#include <stdint.h>

#include "index.h"

/* The number of no text. */
#define GRT_TEXT_NONE 0U

/** struct grt_text - place and length in the arena */
struct grt_text {
	size_t at;
	uint32_t length;
};

/**
 * struct grt_texts - set up by grt_texts_init(), to be given to grt_texts_free()
 * @used: texts, number 0 included
 * @max: most of them
 * @dropped: times a text found no place
 * The rest is private.
 */
struct grt_texts {
	uint32_t used;
	uint32_t max;
	uint64_t dropped;
	uint32_t room;
	struct grt_text *text;
	char *arena;
	size_t arena_used;
	size_t arena_room;
	struct grt_index index;
	struct grt_hash_key key;
};

/** grt_texts_init - empty, for at most @max texts */
void grt_texts_init(struct grt_texts *t, uint32_t max);

/**
 * grt_texts_add - the number of a text, a new one where it is unknown yet
 * @text: ends at @length bytes or at a NUL before
 * @number: GRT_TEXT_NONE where there is no place for it, which is counted
 * Return: 0 or -ENOMEM
 */
int grt_texts_add(struct grt_texts *t, const char *text, size_t length, uint32_t *number);

/** grt_texts_get - a text; "" for GRT_TEXT_NONE. Valid until the next grt_texts_add() */
const char *grt_texts_get(const struct grt_texts *t, uint32_t number);

/** grt_texts_length - its length, bytes */
uint32_t grt_texts_length(const struct grt_texts *t, uint32_t number);

/** grt_texts_free - frees and empties it */
void grt_texts_free(struct grt_texts *t);

#endif /* GRT_BASE_TEXTS_H */
