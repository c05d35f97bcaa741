// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Linkage names in FRAME records, see linkage.h. Most names occur many times, so recent ones are cached.
 */
#include "linkage.h"

#include <errno.h>
#include <stdbool.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/grow.h"
#include "base/demangle.h"

/* Number of cached names; a name replaces another one of the same element. */
#define KEPT 2048U
#define SYMBOL_MAX (GRT_LINKAGE_PART + 1)

/** struct kept - a demangled name; @linkage is NULL: unused */
struct kept {
	char *linkage;
	char symbol[SYMBOL_MAX];
};

/**
 * struct rest - the further parts of a name that have arrived so far
 * @parts: number of parts
 */
struct rest {
	uint32_t stack;
	uint32_t index;
	uint32_t parts;
	uint32_t used;
	char text[GRT_LINKAGE_MAX];
};

struct grt_linkage {
	struct rest **of_stream;
	uint32_t streams;
	struct grt_ev_frame out;
	struct kept kept[KEPT];
};

/* -------------------------------------------------------------- writing */

static bool is_mangled(const char *name)
{
	return name[0] == '_' && (name[1] == 'Z' || name[1] == 'R');
}

unsigned int grt_linkage_parts(const char *name, unsigned int depth)
{
	size_t length = strnlen(name, GRT_LINKAGE_MAX),
	       parts = (length + GRT_LINKAGE_PART - 1) / GRT_LINKAGE_PART;

	if (!is_mangled(name) || length == GRT_LINKAGE_MAX || parts * depth > UINT16_MAX)
		return 1;
	return (unsigned int)parts;
}

void grt_linkage_put(struct grt_ev_frame *f, const char *name, uint16_t index, unsigned int part)
{
	const char *from = name + part * GRT_LINKAGE_PART;

	f->index = (uint16_t)(part * f->depth + index);
	memset(f->symbol, 0, sizeof(f->symbol));
	memcpy(f->symbol, from, strnlen(from, GRT_LINKAGE_PART));
}

/* -------------------------------------------------------------- reading */

static int get_rest(struct grt_linkage *l, uint32_t stream, struct rest **out)
{
	if (grt_grow_zeroed(&l->of_stream, &l->streams, stream + 1, 16))
		return -ENOMEM;
	if (!l->of_stream[stream])
		l->of_stream[stream] = calloc(1, sizeof(**l->of_stream));
	*out = l->of_stream[stream];
	return *out ? 0 : -ENOMEM;
}

/* A part that does not follow the last one ends the name. */
static int add_part(struct grt_linkage *l, uint32_t stream, const struct grt_ev_frame *f)
{
	uint32_t part = f->index / f->depth, index = f->index % f->depth, length;
	struct rest *r;
	int ret = get_rest(l, stream, &r);

	if (ret)
		return ret;
	if (part == 1)
		*r = (struct rest){.stack = f->stack, .index = index};
	length = (uint32_t)strnlen(f->symbol, sizeof(f->symbol));
	if (r->stack != f->stack || r->index != index || r->parts + 1 != part ||
	    r->used + length >= sizeof(r->text))
		return 0;
	memcpy(r->text + r->used, f->symbol, length);
	r->used += length;
	r->parts = part;
	return 0;
}

/* The whole name of a frame in @name; its other parts are no longer needed. */
static void linkage_join(struct grt_linkage *l, uint32_t stream, const struct grt_ev_frame *f, char *name)
{
	struct rest *r = stream < l->streams ? l->of_stream[stream] : NULL;
	size_t used = strnlen(f->symbol, sizeof(f->symbol));

	memcpy(name, f->symbol, used);
	if (r && r->parts && r->stack == f->stack && r->index == f->index) {
		memcpy(name + used, r->text, r->used);
		used += r->used;
	}
	if (r)
		r->parts = r->used = 0;
	name[used] = '\0';
}

static uint32_t linkage_place_of(const char *name)
{
	uint64_t hash = grt_fnv_text(name);

	return (uint32_t)(hash ^ hash >> 32) % KEPT;
}

static int demangle(struct grt_linkage *l, const char *name, const char **symbol)
{
	struct kept *k = &l->kept[linkage_place_of(name)];
	char *copy, *clean;

	*symbol = k->symbol;
	if (k->linkage && !strcmp(k->linkage, name))
		return 0;
	copy = strdup(name);
	if (!copy)
		return -ENOMEM;
	free(k->linkage);
	k->linkage = copy;
	clean = grt_demangle(name);
	memset(k->symbol, 0, sizeof(k->symbol));
	memcpy(k->symbol, clean ? clean : name, strnlen(clean ? clean : name, GRT_LINKAGE_PART));
	free(clean);
	return 0;
}

int grt_linkage_see(struct grt_linkage **at, uint32_t stream, const struct grt_event **e)
{
	const struct grt_ev_frame *f = (const struct grt_ev_frame *)*e;
	bool part = f->depth && f->index >= f->depth;
	char name[SYMBOL_MAX + GRT_LINKAGE_MAX];
	const char *symbol;
	struct grt_linkage *l;

	if (!part && !is_mangled(f->symbol))
		return 0;
	if (!*at)
		*at = calloc(1, sizeof(**at));
	l = *at;
	if (!l)
		return -ENOMEM;
	if (part)
		return add_part(l, stream, f);
	linkage_join(l, stream, f, name);
	if (demangle(l, name, &symbol))
		return -ENOMEM;
	l->out = *f;
	l->out.e.size = sizeof(l->out);
	memcpy(l->out.symbol, symbol, sizeof(l->out.symbol));
	*e = &l->out.e;
	return 0;
}

void grt_linkage_free(struct grt_linkage *l)
{
	if (!l)
		return;
	for (uint32_t i = 0; i < l->streams; i++)
		free(l->of_stream[i]);
	for (unsigned int i = 0; i < KEPT; i++)
		free(l->kept[i].linkage);
	free(l->of_stream);
	free(l);
}
