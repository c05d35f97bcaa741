// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The table of all analyses, and one pass with some of them. It is above all
 * rooms, because no room knows all analyses.
 */
#include "analyses.h"

#include <string.h>

#define GRT_ANALYSIS(name, help) extern const struct grt_analysis grt_analysis_##name;
#include "analyses.def"

const struct grt_analysis *const grt_analysis_rows[GRT_ANALYSES] = {
#define GRT_ANALYSIS(name, help) &grt_analysis_##name,
#include "analyses.def"
};

/* ------------------------------------------------------------------- rows */

static int analyses_row_of(const struct grt_part *part)
{
	for (int i = 0; i < GRT_ANALYSES; i++)
		for (const struct grt_part *p = grt_analysis_rows[i]->parts; p->name; p++)
			if (p == part)
				return i;
	return -1;
}

/* The first part of a row or of those behind it. */
static const struct grt_part *first_from(int row)
{
	for (; row < GRT_ANALYSES; row++)
		if (grt_analysis_rows[row]->parts->name)
			return grt_analysis_rows[row]->parts;
	return NULL;
}

const struct grt_part *grt_part_next(const struct grt_part *before, unsigned int where)
{
	const struct grt_part *p = before;

	do {
		if (!p)
			p = first_from(0);
		else
			p = p[1].name ? p + 1 : first_from(analyses_row_of(p) + 1);
	} while (p && !(p->where & where));
	return p;
}

const struct grt_part *grt_part_find(const char *name, unsigned int where)
{
	const struct grt_part *p = NULL;

	while ((p = grt_part_next(p, where)))
		if (!strcmp(p->name, name))
			break;
	return p;
}

/* ------------------------------------------------------------------ a pass */

void grt_analyses_want(struct grt_analyses *a, const struct grt_part *part)
{
	int row = analyses_row_of(part);

	a->parts[row] |= 1U << (part - grt_analysis_rows[row]->parts);
	a->on[row] = true;
}

void grt_analyses_want_all(struct grt_analyses *a, unsigned int where)
{
	const struct grt_part *p = NULL;

	while ((p = grt_part_next(p, where)))
		grt_analyses_want(a, p);
}

void grt_analyses_always(struct grt_analyses *a)
{
	for (int i = 0; i < GRT_ANALYSES; i++)
		a->on[i] |= grt_analysis_rows[i]->always;
}

static void add_taker(struct grt_taker *taker, const struct grt_analysis *analysis, void *state)
{
	unsigned int n = 0;

	while (taker[n].analysis)
		n++;
	if (n < GRT_TAKERS_MAX)
		taker[n] = (struct grt_taker){analysis, state};
}

static void add_takers(struct grt_analyses *a, const struct grt_analysis *analysis, void *state)
{
	if (analysis->job)
		add_taker(a->of_jobs, analysis, state);
	if (analysis->classes == GRT_IN_EVERY_CLASS) {
		add_taker(a->taker[GRT_CLASSES], analysis, state);
		return;
	}
	for (unsigned int i = 0; i < GRT_CLASSES; i++)
		if (analysis->classes >> i & 1)
			add_taker(a->taker[i], analysis, state);
}

int grt_analyses_begin(struct grt_analyses *a)
{
	unsigned int n = 0;
	int ret = 0;

	for (int i = 0; i < GRT_ANALYSES && !ret; i++) {
		if (!a->on[i])
			continue;
		ret = grt_analysis_rows[i]->begin(&a->state[i], &a->pass, a->parts[i]);
		/* also where it failed: its state is to be freed */
		a->all[n++] = (struct grt_taker){grt_analysis_rows[i], a->state[i]};
		if (!ret)
			add_takers(a, grt_analysis_rows[i], a->state[i]);
	}
	return ret;
}

uint32_t grt_analyses_classes(const struct grt_analyses *a)
{
	uint32_t classes = 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->classes != GRT_IN_EVERY_CLASS)
			classes |= t->analysis->classes;
	return classes;
}

bool grt_analyses_takes_beyond(const struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->beyond)
			return true;
	return false;
}

bool grt_analyses_takes_late(const struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->late)
			return true;
	return false;
}

int grt_analyses_beyond(struct grt_analyses *a, const struct grt_event *e, unsigned int class)
{
	int ret = 0;

	for (const struct grt_taker *t = a->taker[class]; t->analysis && !ret; t++)
		if (t->analysis->beyond)
			ret = t->analysis->event(t->state, e, &a->pass);
	return ret;
}

int grt_analyses_late(struct grt_analyses *a, const struct grt_event *e, unsigned int class)
{
	int ret = 0;

	for (const struct grt_taker *t = a->taker[class]; t->analysis && !ret; t++)
		if (t->analysis->late)
			ret = t->analysis->event(t->state, e, &a->pass);
	return ret;
}

void grt_analyses_packet(struct grt_analyses *a, const struct grt_packet *p)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->packet)
			t->analysis->packet(t->state, p);
}

void grt_analyses_within(struct grt_analyses *a, uint64_t from, uint64_t to)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->within)
			t->analysis->within(t->state, from, to);
}

void grt_analyses_span(struct grt_analyses *a, uint64_t first, uint64_t last)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->span)
			t->analysis->span(t->state, first, last);
}

void grt_analyses_open(struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->open)
			t->analysis->open(t->state);
}

int grt_analyses_held(struct grt_analyses *a, const struct grt_job *job)
{
	int ret = 0;

	for (const struct grt_taker *t = a->of_jobs; t->analysis && !ret; t++)
		if (t->analysis->held)
			ret = t->analysis->held(t->state, job);
	return ret;
}

int grt_analyses_job(struct grt_analyses *a, const struct grt_job *job)
{
	int ret = 0;

	for (const struct grt_taker *t = a->of_jobs; t->analysis && !ret; t++)
		ret = t->analysis->job(t->state, job);
	a->pass.jobs_seen++;
	return ret;
}

int grt_analyses_stray(struct grt_analyses *a, const struct grt_event *e)
{
	int ret = 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->stray)
			ret = ret ?: t->analysis->stray(t->state, e, &a->pass);
	return ret;
}

int grt_analyses_finish(struct grt_analyses *a)
{
	int ret = 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->finish)
			ret = ret ?: t->analysis->finish(t->state);
	return ret;
}

bool grt_analyses_any(const struct grt_analyses *a, unsigned int mask, unsigned int where)
{
	for (int i = 0; i < GRT_ANALYSES; i++) {
		const struct grt_part *p = grt_analysis_rows[i]->parts;

		for (unsigned int n = 0; p[n].name; n++)
			if (a->parts[i] >> n & 1 && (p[n].where & mask) == where && p[n].any &&
			    p[n].any(a->state[i]))
				return true;
	}
	return false;
}

int grt_analyses_write_part(struct grt_analyses *a, const struct grt_part *part)
{
	return part->write(a->state[analyses_row_of(part)], part, &a->pass);
}

int grt_analyses_write(struct grt_analyses *a,
		       bool (*shown)(void *arg, const struct grt_part *part, const void *state), void *arg)
{
	int ret = 0;

	for (int i = 0; i < GRT_ANALYSES; i++) {
		const struct grt_part *p = grt_analysis_rows[i]->parts;

		for (unsigned int n = 0; p[n].name && !ret; n++)
			if (a->parts[i] >> n & 1 && (!shown || shown(arg, &p[n], a->state[i])))
				ret = p[n].write(a->state[i], &p[n], &a->pass);
	}
	return ret;
}

void grt_analyses_notes(struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->notes)
			t->analysis->notes(t->state, &a->pass);
}

void grt_analyses_free(struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->free)
			t->analysis->free(t->state);
	*a = (struct grt_analyses){.pass = {.jobs = NULL}};
}
