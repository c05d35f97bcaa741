/* SPDX-License-Identifier: GPL-2.0 */
/*
 * For tests of text inputs: what a file was understood to say, as text, a line
 * per event: "TIME NAME key=value...", without the fields that are 0.
 */
#ifndef RENDER_H
#define RENDER_H

#include "collect.h"

#include <inttypes.h>
#include <stdio.h>

#include <grtrace/event_table.h>

#define RENDER_MAX 262144

/**
 * struct render - the events of a run
 * @text: of them, a line each; NAME records are left out
 * @names: "KIND:ID NAME OWNER", a line each
 * @skipped: "NAME N", a line for each kind of event that has no place in a trace
 * @first, @last: the span as known before it is read, 0 where it is not
 */
struct render {
	struct grt_consumer c;
	char text[RENDER_MAX];
	size_t used;
	char names[RENDER_MAX];
	size_t names_used;
	char skipped[RENDER_MAX];
	size_t skipped_used;
	uint64_t first;
	uint64_t last;
};

static inline void render_add(char *text, size_t *used, const char *fmt, ...)
	__attribute__((format(printf, 3, 4)));

static inline void render_add(char *text, size_t *used, const char *fmt, ...)
{
	va_list ap;

	va_start(ap, fmt);
	*used += (size_t)vsnprintf(text + *used, RENDER_MAX - *used, fmt, ap);
	va_end(ap);
	assert_true(*used < RENDER_MAX);
}

static inline uint64_t render_number(const struct grt_event *e, const struct grt_field *f)
{
	uint64_t v = 0;

	memcpy(&v, (const char *)e + f->offset, f->size);
	return v;
}

static inline void render_field(struct render *r, const struct grt_event *e, const struct grt_field *f)
{
	uint64_t v = f->kind == GRT_FIELD_STR ? 0 : render_number(e, f);
	unsigned int bits = 64 - 8 * f->size;

	/* a status is told also where it is 0, and not where it is unknown */
	if ((e->type == GRT_EV_COMPLETE || e->type == GRT_EV_FENCE) && !strcmp(f->name, "status")) {
		if (v != GRT_STATUS_UNKNOWN)
			render_add(r->text, &r->used, " status=%d", (int)v);
		return;
	}
	if (f->kind == GRT_FIELD_STR && *((const char *)e + f->offset))
		render_add(r->text, &r->used, " %s=%.*s", f->name, f->size, (const char *)e + f->offset);
	else if (!v || (f->offset == offsetof(struct grt_event, ring) && v == GRT_RING_NONE))
		return;
	else if (f->kind == GRT_FIELD_SIGNED)
		render_add(r->text, &r->used, " %s=%" PRId64, f->name, (int64_t)(v << bits) >> bits);
	else if (f->kind == GRT_FIELD_HEX)
		render_add(r->text, &r->used, " %s=%#" PRIx64, f->name, v);
	else if (f->kind == GRT_FIELD_ENGINE)
		render_add(r->text, &r->used, " %s=%s", f->name, grt_engine_names[v]);
	else
		render_add(r->text, &r->used, " %s=%" PRIu64, f->name, v);
}

static inline void render_name(struct render *r, const struct grt_ev_name *n)
{
	render_add(r->names, &r->names_used, "%u:%u %.*s %.*s\n", n->kind, n->id, (int)sizeof(n->name),
		   n->name, (int)sizeof(n->owner), n->owner);
}

static inline int render_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct render *r = (struct render *)c;
	const struct grt_event_desc *d = &grt_event_table[e->type];

	(void)cpu;
	if (e->type == GRT_EV_NAME) {
		render_name(r, (const struct grt_ev_name *)e);
		return 0;
	}
	assert_int_equal(e->size, d->size);
	render_add(r->text, &r->used, "%llu.%06llu %s", e->time / 1000000, e->time % 1000000, d->title);
	for (const struct grt_field *f = grt_common_fields; f->name; f++)
		render_field(r, e, f);
	for (const struct grt_field *f = d->fields(); f->name; f++)
		render_field(r, e, f);
	render_add(r->text, &r->used, "\n");
	return 0;
}

/* The health is that of the run. */
static inline struct grt_health render_file(struct render *r, const char *path)
{
	struct grt_health health;
	const struct grt_skipped *kind;
	struct grt_session *s;
	struct grt_err err;
	unsigned int kinds;

	*r = (struct render){.c = {.event = render_event}};
	if (grt_session_open(&s, path, &err))
		fail_msg("%s: %s", err.what, err.why);
	grt_session_span(s, &r->first, &r->last);
	assert_int_equal(grt_session_run(s, &r->c, 0, UINT64_MAX, &err), 0);
	health = *grt_session_health(s);
	kinds = grt_session_skipped(s, &kind);
	for (unsigned int i = 0; i < kinds; i++)
		render_add(r->skipped, &r->skipped_used, "%s %" PRIu64 "\n", kind[i].name, kind[i].events);
	grt_session_close(s);
	return health;
}

/* The same of a text; @dir is a directory of the test's own. */
static inline struct grt_health render_text(struct render *r, const char *dir, const char *text, size_t size)
{
	char *path = path_join(dir, "input.txt");
	struct grt_health health;

	file_store(path, text, size);
	health = render_file(r, path);
	free(path);
	return health;
}

#endif /* RENDER_H */
