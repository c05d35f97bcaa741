// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Finds whose code a frame is, see own_code.h: by the rows of own_code.def in their order. */
#include "own_code.h"

#include <stddef.h>
#include <string.h>

enum place {
	PLACE_MODULE,
	PLACE_LIBRARY,
	PLACE_SOURCE,
	PLACE_FILE,
	PLACE_FUNCTION,
	PLACE_PREFIX,
	PLACE_NAME
};

static const struct row {
	enum grt_code code;
	enum place place;
	const char *text;
} rows[] = {
#define GRT_CODE(KIND, PLACE, text) {GRT_CODE_##KIND, PLACE_##PLACE, text},
#include "own_code.def"
};

static const char *const set_ups[][2] = {
#define GRT_SET_UP(text, what) {text, what},
#include "set_up.def"
};

static const char *base_of(const char *path)
{
	const char *base = path ? strrchr(path, '/') : NULL;

	return base ? base + 1 : path;
}

static bool begins(const char *text, const char *with)
{
	return text && !strncmp(text, with, strlen(with));
}

static bool has(const char *text, const char *part)
{
	return text && strstr(text, part);
}

/* A frame whose function has no name is file+offset. */
static const char *module_of(const struct grt_code_frame *f)
{
	return f->module ? f->module : f->function && strstr(f->function, "+0x") ? f->function : NULL;
}

static bool own_code_fits(const struct row *r, const struct grt_code_frame *f, const char *module)
{
	switch (r->place) {
	case PLACE_MODULE:
		return begins(base_of(module), r->text);
	case PLACE_LIBRARY:
		return has(base_of(module), ".so") && has(module, r->text);
	case PLACE_SOURCE:
		return has(f->source, r->text);
	case PLACE_FILE:
		return begins(f->source, r->text);
	case PLACE_NAME:
		return !f->source && !f->by_object && f->function && !strcmp(f->function, r->text);
	case PLACE_PREFIX:
		return !f->source && !f->by_object && begins(f->function, r->text);
	default:
		return !f->source && begins(f->function, r->text);
	}
}

enum grt_code grt_code_of(const struct grt_code_frame *f)
{
	const char *module = module_of(f);

	/* a note on why a stack ends, or nothing at all */
	if (!f->source && !module && (!f->function || !*f->function || *f->function == '['))
		return GRT_CODE_FOREIGN;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++)
		if (own_code_fits(&rows[i], f, module))
			return rows[i].code;
	/* of a library whose path is unknown */
	return !f->module && has(module, ".so") ? GRT_CODE_FOREIGN : GRT_CODE_OWN;
}

const char *grt_code_set_up(const struct grt_code_frame *f)
{
	for (size_t i = 0; i < sizeof(set_ups) / sizeof(set_ups[0]); i++)
		if (has(f->function, set_ups[i][0]) || has(f->source, set_ups[i][0]))
			return set_ups[i][1];
	return NULL;
}

void grt_own_place_see(struct grt_own_place *p, const struct grt_code_frame *f, uint32_t number)
{
	struct grt_code_frame frame = *f;
	enum grt_code code;

	p->dynamic |= begins(base_of(f->module), "libc.so") || begins(base_of(f->module), "ld-musl");
	frame.by_object = p->dynamic && f->module;
	code = p->left ? GRT_CODE_FOREIGN : grt_code_of(&frame);
	/* in a stripped program the entry has no name: it is what calls a function that only entries call */
	if (code == GRT_CODE_BEGIN && !p->whole && p->found && !p->left) {
		p->found = false;
		p->whole = true;
	}
	p->whole |= !p->seen && code == GRT_CODE_BEGIN;
	p->seen = true;
	if (code == GRT_CODE_OWN) {
		p->found = true;
		p->at = number;
	}
	p->left |= p->found && (code == GRT_CODE_FOREIGN || code == GRT_CODE_BEGIN);
}
