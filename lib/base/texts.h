/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Texts by number: each different text is stored once, NUL terminated, and keeps
 * its number.
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
 * struct grt_texts - initialised by grt_texts_init(), freed by grt_texts_free()
 * @used: number of texts, including number 0
 * @max: most texts
 * @dropped: how often a text had no place
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

/** grt_texts_init - an empty table for at most @max texts */
void grt_texts_init(struct grt_texts *t, uint32_t max);

/**
 * grt_texts_add - the number of a text; adds a new text
 * @text: ends after @length bytes or at an earlier NUL
 * @number: GRT_TEXT_NONE if there is no place, which is counted
 * Return: 0 or -ENOMEM
 */
int grt_texts_add(struct grt_texts *t, const char *text, size_t length, uint32_t *number);

/** grt_texts_get - a text; "" for GRT_TEXT_NONE. Valid until the next grt_texts_add() */
const char *grt_texts_get(const struct grt_texts *t, uint32_t number);

/** grt_texts_length - the length of a text, bytes */
uint32_t grt_texts_length(const struct grt_texts *t, uint32_t number);

/** grt_texts_free - frees and empties it */
void grt_texts_free(struct grt_texts *t);

#endif /* GRT_BASE_TEXTS_H */
