// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Notes of the CUDA library about its work in a process: that it does not record everything, and why. The
 * recorder prints them once, to the user who records; a report shows them to those who read the recording.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "base/containers.h"
#include "table/analysis.h"
#include "table/rows.h"

/* Most processes whose remarks are shown; further ones are only counted. */
#define REMARKS_MAX 8U
#define REMARK_MAX 512U
/* Most processes whose last text is stored, because a remark follows its text. */
#define TEXTS_MAX 64U

/** struct remark_text - the last text of a process image */
struct remark_text {
	uint32_t number;
	char text[REMARK_MAX];
};

struct remarks {
	struct grt_keyed texts; /* by the image */
	struct {
		uint32_t pid;
		bool refused;
		char text[REMARK_MAX];
	} remark[REMARKS_MAX];
	uint32_t remarks;
	uint64_t more;
};

static int remarks_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct remarks *r = *state;

	grt_keyed_init(&r->texts, sizeof(struct remark_text), TEXTS_MAX);
	return 0;
}

static struct grt_key remark_key(const struct grt_event *e)
{
	return (struct grt_key){{e->pid, e->ctx}};
}

static int remarks_take_text(struct remarks *r, const struct grt_ev_string *e)
{
	struct grt_key key = remark_key(&e->e);
	uint32_t part = e->part < sizeof(e->text) ? e->part : sizeof(e->text);
	struct remark_text *t;
	void *found;
	int ret = grt_keyed_get_or_replace(&r->texts, &key, NULL, &found);

	if (ret)
		return ret;
	t = found;
	if (!e->offset)
		memset(t, 0, sizeof(*t));
	t->number = e->number;
	if (e->offset < REMARK_MAX && part < REMARK_MAX - e->offset)
		memcpy(t->text + e->offset, e->text, part);
	return 0;
}

static void remarks_take(struct remarks *r, const struct grt_ev_process *e)
{
	struct grt_key key = remark_key(&e->e);
	const struct remark_text *t = grt_keyed_find(&r->texts, &key);

	if (!t || !e->text || t->number != e->text)
		return;
	if (r->remarks == REMARKS_MAX) {
		r->more++;
		return;
	}
	r->remark[r->remarks].pid = e->e.pid;
	r->remark[r->remarks].refused = e->what == 4;
	memcpy(r->remark[r->remarks++].text, t->text, sizeof(t->text));
}

static int remarks_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_process *p = (const struct grt_ev_process *)e;

	if (e->type == GRT_EV_STRING)
		return remarks_take_text(state, (const struct grt_ev_string *)e);
	if (e->type == GRT_EV_PROCESS && (p->what == 4 || p->what == 5))
		remarks_take(state, p);
	return 0;
}

static void remarks_put(const struct remarks *r, const struct grt_pass *pass, struct grt_notes *notes)
{
	for (uint32_t i = 0; i < r->remarks; i++) {
		const char *name = grt_process_name(pass->names, r->remark[i].pid);

		grt_note(notes, "cuda: process %" PRIu32 "%s%s%s: %s%s", r->remark[i].pid, name ? " (" : "",
			 name ?: "", name ? ")" : "", r->remark[i].refused ? "not traced: " : "",
			 r->remark[i].text);
	}
	if (r->more)
		grt_note(notes,
			 "cuda: %" PRIu64
			 " {more remark|more remarks} about processes: see dump --type process",
			 r->more);
}

/* Writes the remarks before all tables of a summary. */
static int remarks_write_first(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	remarks_put(state, pass, pass->notes);
	return 0;
}

static void remarks_notes(void *state, struct grt_pass *pass)
{
	if (!pass->summary)
		remarks_put(state, pass, pass->notes);
}

static void remarks_free(void *state)
{
	grt_keyed_free(&((struct remarks *)state)->texts);
}

static const struct grt_part remark_parts[] = {
	{"remarks", "a sentence for each remark", GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS,
	 .write = remarks_write_first},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_remarks = {
	.name = "remarks",
	.classes = GRT_IN_CLASS(image),
	.always = true,
	.waits = true,
	.parts = remark_parts,
	.size = sizeof(struct remarks),
	.begin = remarks_begin,
	.event = remarks_event,
	.notes = remarks_notes,
	.free = remarks_free,
};
