// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Shared code of all exports, see export.h. */
#include "export.h"
#include "trace/packet.h"
#include "trace/session.h"
#include "tracks_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <unistd.h>

#define GRT_EXPORT(name, ending, help) extern const struct grt_export_format grt_export_##name;
#include "exports.def"
#undef GRT_EXPORT

const struct grt_export_row grt_export_rows[] = {
#define GRT_EXPORT(name, ending, help) {#name, ending, help, &grt_export_##name},
#include "exports.def"
#undef GRT_EXPORT
	{NULL, NULL, NULL, NULL},
};

/* Names are words of C, and may be written with dashes. */
static bool export_is_name(const char *name, const char *typed)
{
	while (*name && (*name == *typed || (*name == '_' && *typed == '-')))
		name++, typed++;
	return !*name && !*typed;
}

const struct grt_export_row *grt_export_find(const char *name)
{
	const struct grt_export_row *row;

	for (row = grt_export_rows; row->name; row++)
		if (export_is_name(row->name, name))
			return row;
	return NULL;
}

const struct grt_export_row *grt_export_find_ending(const char *path)
{
	const struct grt_export_row *row, *found = NULL;
	size_t n = strlen(path), len;

	/* the longest: .speedscope.json is no .json */
	for (row = grt_export_rows; row->name; row++) {
		len = strlen(row->ending);
		if (n > len && !strcmp(path + n - len, row->ending) &&
		    (!found || len > strlen(found->ending)))
			found = row;
	}
	return found;
}

static int export_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_export *x = (struct grt_export *)c;
	enum grt_class class;

	x->shown = !x->session->filter || x->session->filter->shown;
	if (x->shown) {
		x->events++;
	} else if (x->filter) {
		/* what is there to join others is not what was asked for */
		class = e->type < GRT_EV_MAX ? grt_class_of[e->type] : GRT_CLASS_unknown;
		x->events += class != GRT_CLASS_job && class != GRT_CLASS_wait;
	}
	return x->format->event(x, e, cpu);
}

static int export_on_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_export *x = (struct grt_export *)c;
	bool joined = x->tracks && !grt_has_trait(e, GRT_TRAIT_DEFINING);

	if (joined || grt_has_trait(e, GRT_TRAIT_LASTING)) {
		if (x->format->lasting)
			return x->format->lasting(x, e);
		return x->tracks ? tracks_remember(x->tracks, e) : 0;
	}
	return x->format->beyond ? x->format->beyond(x, e, cpu) : 0;
}

static int export_on_late(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_export *x = (struct grt_export *)c;

	return x->format->late ? x->format->late(x, e, cpu) : 0;
}

static int export_on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	struct grt_export *x = (struct grt_export *)c;

	return x->format->packet ? x->format->packet(x, p) : 0;
}

/* Finds the clocks that `record` has noted. */
static void find_clocks(struct grt_export *x)
{
	const char *text = grt_session_env(x->session, "clock_start");

	x->clocks.known = text && sscanf(text, "monotonic=%" SCNu64 " realtime=%" SCNu64 " boottime=%" SCNu64,
					 &x->clocks.monotonic, &x->clocks.realtime, &x->clocks.boottime) == 3;
}

FILE *grt_export_file(const struct grt_export *x)
{
	int fd = dup(x->fd);
	FILE *f = fd < 0 ? NULL : fdopen(fd, "w");

	if (!f && fd >= 0)
		close(fd);
	return f;
}

int grt_export_init(struct grt_export *x, const struct grt_export_row *row, const struct grt_session *s,
		    int fd)
{
	*x = (struct grt_export){
		.c = {.event = export_on_event,
		      .beyond = export_on_beyond,
		      .late = export_on_late,
		      .packet = export_on_packet},
		.session = s,
		.format = row->format,
		.fd = fd,
		.filter = row->format->joins ? s->filter : NULL,
	};
	find_clocks(x);
	return row->format->begin(x);
}

void grt_export_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	if (x->tracks)
		grt_tracks_within(x->tracks, from, to);
	if (x->format->within)
		x->format->within(x, from, to);
}

int grt_export_end(struct grt_export *x)
{
	return x->format->end(x, grt_session_health(x->session));
}

void grt_export_fini(struct grt_export *x)
{
	if (x->format)
		x->format->free(x);
	grt_tracks_free(x->tracks);
	*x = (struct grt_export){.fd = -1};
}
