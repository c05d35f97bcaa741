// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The table of all analyses, and one pass with some of them. It is above all
 * rooms, because no room knows all analyses.
 */
#include "analyses.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cuda/launches.h"
#include "fed.h"
#include "jobs/jobs.h"
#include "trace/packet.h"

/* The classes of events from which CUDA's launches are joined. */
#define LAUNCH_CLASSES (GRT_IN_CLASS(image) | GRT_IN_CLASS(launch))
/* From these, jobs, whose events may be outside of the time that is looked at. */
#define JOB_CLASSES (GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(error))

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

/* Return: the first part of this row or of a later one. */
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

void grt_analyses_want_named(struct grt_analyses *a, const char *name, unsigned int where)
{
	const struct grt_part *p = NULL;

	while ((p = grt_part_next(p, where)))
		if (!strcmp(p->name, name))
			grt_analyses_want(a, p);
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

static unsigned int analyses_turn(const struct grt_analysis *a)
{
	if (a->finds)
		return GRT_ANALYSES_FIND;
	if (a->rows)
		return GRT_ANALYSES_ROWS;
	if (a->packet || a->classes == GRT_IN_EVERY_CLASS)
		return GRT_ANALYSES_REST;
	return grt_analysis_needs_jobs(a) ? GRT_ANALYSES_JOBS : GRT_ANALYSES_ALONE;
}

void grt_analyses_keep(struct grt_analyses *a, unsigned int turns)
{
	a->names_only = a->fed || !(turns & (GRT_ANALYSES_JOBS | GRT_ANALYSES_REST));
	for (int i = 0; i < GRT_ANALYSES; i++) {
		if (analyses_turn(grt_analysis_rows[i]) & turns) {
			a->names_only &=
				a->fed || !a->on[i] || !grt_analysis_needs_jobs(grt_analysis_rows[i]);
			continue;
		}
		a->parts[i] = 0;
		a->on[i] = false;
	}
}

static struct grt_taker taker_of(const struct grt_analysis *analysis, void *state)
{
	return (struct grt_taker){analysis, state, analysis->event};
}

static void add_taker(struct grt_taker *taker, const struct grt_analysis *analysis, void *state)
{
	unsigned int n = 0;

	while (taker[n].analysis)
		n++;
	taker[n] = taker_of(analysis, state);
}

static void add_takers(struct grt_analyses *a, const struct grt_analysis *analysis, void *state)
{
	if (analysis->job)
		add_taker(a->of_jobs, analysis, state);
	if (analysis->work)
		add_taker(a->of_work, analysis, state);
	if (analysis->classes == GRT_IN_EVERY_CLASS) {
		add_taker(a->taker[GRT_CLASSES], analysis, state);
		return;
	}
	for (unsigned int i = 0; i < GRT_CLASSES; i++)
		if (analysis->classes >> i & 1)
			add_taker(a->taker[i], analysis, state);
}

static int analyses_begin_one(const struct grt_analysis *analysis, struct grt_analyses *a, int row)
{
	if (analysis->size && !(a->state[row] = calloc(1, analysis->size)))
		return -ENOMEM;
	return analysis->begin ? analysis->begin(&a->state[row], &a->pass, a->parts[row]) : 0;
}

static void analyses_free_one(const struct grt_analysis *analysis, void *state)
{
	if (state && analysis->free)
		analysis->free(state);
	if (analysis->size)
		free(state);
}

/* Events of these classes make an analysis begin. */
static uint32_t analyses_begin_classes(const struct grt_analysis *a)
{
	return a->classes | (a->work ? LAUNCH_CLASSES : 0);
}

/* For an analysis that begins with an event of this class and does not need the events. */
static int analyses_on_unneeded(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return 0;
}

static struct grt_taker taker_of_class(struct grt_taker taker, enum grt_class class)
{
	if (!(taker.analysis->classes >> class & 1))
		taker.event = analyses_on_unneeded;
	return taker;
}

/* The analysis itself takes the place of what stood in for it. */
static void analyses_replace(struct grt_taker *taker, const struct grt_analysis *old, struct grt_taker by)
{
	for (; taker->analysis; taker++)
		if (taker->analysis == old)
			*taker = by;
}

static int analyses_take_name(void *arg, const struct grt_event *e)
{
	const struct grt_analysis_waits *waits = arg;

	return grt_analysis_rows[waits->row]->event(waits->a->state[waits->row], e, &waits->a->pass);
}

/* Tells an analysis that begins late what the others know. */
static int analyses_catch_up(struct grt_analyses *a, struct grt_analysis_waits *waits, struct grt_taker by)
{
	if (a->bounded && by.analysis->within)
		by.analysis->within(by.state, a->from, a->to);
	if (a->spans && by.analysis->span)
		by.analysis->span(by.state, a->first, a->last);
	if (by.analysis->job)
		add_taker(a->of_jobs, by.analysis, by.state);
	if (by.analysis->work)
		add_taker(a->of_work, by.analysis, by.state);
	return by.analysis->classes & GRT_IN_CLASS(name)
		       ? grt_names_each(a->pass.names, analyses_take_name, waits)
		       : 0;
}

/* The first event of an analysis that waited for one. Names are kept for all. */
static int analyses_on_first(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct grt_analysis_waits *waits = state;
	struct grt_analyses *a = waits->a;
	struct grt_taker by = taker_of(grt_analysis_rows[waits->row], NULL);
	int ret;

	if (e->type == GRT_EV_NAME)
		return 0;
	ret = analyses_begin_one(by.analysis, a, waits->row);
	by.state = a->state[waits->row];
	if (ret) {
		analyses_free_one(by.analysis, by.state);
		a->state[waits->row] = NULL;
		return ret;
	}
	analyses_replace(a->all, &waits->stand_in, by);
	for (unsigned int i = 0; i < GRT_CLASSES; i++)
		analyses_replace(a->taker[i], &waits->stand_in, taker_of_class(by, i));
	return analyses_catch_up(a, waits, by)
		       ?: taker_of_class(by, grt_class_of[e->type]).event(by.state, e, pass);
}

/* Text leaves out what saw nothing; machines find every key. */
static bool analyses_may_wait(const struct grt_analyses *a, int row)
{
	return grt_analysis_rows[row]->waits && a->pass.summary && !a->pass.json && !a->pass.csv && a->jobs;
}

static struct grt_taker analyses_wait(struct grt_analyses *a, int row)
{
	const struct grt_analysis *analysis = grt_analysis_rows[row];
	struct grt_analysis_waits *waits = &a->waits[row];

	*waits = (struct grt_analysis_waits){
		.stand_in = {.classes = analyses_begin_classes(analysis),
			     .besides = analysis->besides,
			     .beyond = analysis->beyond,
			     .late = analysis->late,
			     .whole = analysis->whole,
			     .event = analyses_on_first},
		.a = a,
		.row = row,
	};
	return taker_of(&waits->stand_in, waits);
}

/* ----------------------------------------------------------------- launches */

int grt_analyses_work(struct grt_analyses *a, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how, bool outside)
{
	int ret = 0;

	for (const struct grt_taker *t = a->of_work; t->analysis && !ret; t++)
		if (!outside || t->analysis->outside)
			ret = t->analysis->work(t->state, e, image, launch, how);
	return ret;
}

int grt_analyses_nothing(struct grt_analyses *a, const struct grt_launch *launch)
{
	int ret = 0;

	for (const struct grt_taker *t = a->of_work; t->analysis && !ret; t++)
		if (t->analysis->nothing)
			ret = t->analysis->nothing(t->state, launch);
	return ret;
}

static int analyses_on_outside(void *arg, const struct grt_event *e, const struct grt_image *image,
			       const struct grt_launch *launch, enum grt_launched_how how)
{
	struct grt_analyses *a = arg;

	if (a->feeds)
		grt_fed_work(a->feeds, e, image, launch, how, true);
	return grt_analyses_work(a, e, image, launch, how, true);
}

static int analyses_on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
			    const struct grt_launch *launch, enum grt_launched_how how)
{
	struct grt_analyses *a = arg;

	if (a->feeds)
		grt_fed_work(a->feeds, e, image, launch, how, false);
	return grt_analyses_work(a, e, image, launch, how, false);
}

static int analyses_on_nothing(void *arg, const struct grt_launch *launch)
{
	struct grt_analyses *a = arg;

	if (a->feeds)
		grt_fed_nothing(a->feeds, launch);
	return grt_analyses_nothing(a, launch);
}

/* Whether launches must be joined, for this thread or another one. */
static bool analyses_join_work(const struct grt_analyses *a)
{
	for (int i = 0; i < GRT_ANALYSES; i++)
		if (a->on[i] && grt_analysis_rows[i]->work)
			return true;
	return a->feeds && grt_fed_joins(a->feeds);
}

/* One joiner for all analyses, because it takes more time and memory than most of them. */
static int analyses_join_launches(struct grt_analyses *a)
{
	const struct grt_launches_sink sink = {
		.work = analyses_on_work,
		.nothing = analyses_on_nothing,
		.arg = a,
	};

	if (analyses_join_work(a) && grt_launches_new(&a->launches, &sink))
		return -ENOMEM;
	a->pass.launches = a->launches;
	if (a->feeds)
		grt_fed_launches(a->feeds, a->launches);
	if (a->launches) {
		grt_launches_without_stacks(a->launches);
		grt_launches_outside(a->launches, analyses_on_outside);
	}
	return 0;
}

int grt_analyses_begin(struct grt_analyses *a)
{
	int ret = analyses_join_launches(a);
	struct grt_taker taker;
	unsigned int n = 0;

	for (int i = 0; i < GRT_ANALYSES && !ret; i++) {
		if (!a->on[i])
			continue;
		if (analyses_may_wait(a, i)) {
			taker = analyses_wait(a, i);
		} else {
			ret = analyses_begin_one(grt_analysis_rows[i], a, i);
			taker = taker_of(grt_analysis_rows[i], a->state[i]);
		}
		/* also where it failed: its state is to be freed */
		a->all[n++] = taker;
		if (!ret)
			add_takers(a, taker.analysis, taker.state);
	}
	return ret;
}

bool grt_analyses_shows(const struct grt_analyses *a, enum grt_class class)
{
	for (const struct grt_taker *t = a->taker[class]; t->analysis; t++)
		if (!(t->analysis->besides >> class & 1))
			return true;
	return a->feeds && grt_fed_shows(a->feeds, class);
}

uint32_t grt_analyses_classes(const struct grt_analyses *a)
{
	uint32_t classes = a->launches ? LAUNCH_CLASSES : 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->classes != GRT_IN_EVERY_CLASS)
			classes |= t->analysis->classes;
	return classes;
}

void grt_analyses_within(struct grt_analyses *a, uint64_t from, uint64_t to)
{
	a->from = from;
	a->to = to;
	a->bounded = true;
	if (a->launches)
		grt_launches_within(a->launches, from, to);
	if (a->jobs)
		grt_jobs_within(a->jobs, from, to);
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->within)
			t->analysis->within(t->state, from, to);
	if (a->feeds)
		grt_fed_within(a->feeds, from, to);
}

void grt_analyses_span(struct grt_analyses *a, uint64_t first, uint64_t last)
{
	a->first = first;
	a->last = last;
	a->spans = true;
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->span)
			t->analysis->span(t->state, first, last);
	if (a->feeds)
		grt_fed_span(a->feeds, first, last);
}

void grt_analyses_open(struct grt_analyses *a)
{
	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->open)
			t->analysis->open(t->state);
}

int grt_analyses_read(struct grt_analyses *a)
{
	int ret = 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->read)
			ret = ret ?: t->analysis->read(t->state);
	return ret;
}

int grt_analyses_end(struct grt_analyses *a)
{
	int ret = 0;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->finish)
			ret = ret ?: t->analysis->finish(t->state, &a->pass);
	return ret;
}

int grt_analyses_finish(struct grt_analyses *a)
{
	int ret = a->jobs ? grt_jobs_flush(a->jobs) : 0;

	if (a->feeds)
		grt_fed_read(a->feeds);
	ret = ret ?: grt_analyses_read(a);
	if (a->launches)
		ret = ret ?: grt_launches_flush(a->launches);
	if (a->feeds)
		grt_fed_finish(a->feeds, a->launches);
	return ret ?: grt_analyses_end(a);
}

/* ---------------------------------------------------------------- consumer */

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

static int analyses_on_held(void *arg, const struct grt_job *job)
{
	struct grt_analyses *a = arg;

	if (a->wants && !a->wants(a, job))
		return 0;
	if (a->feeds)
		grt_fed_job(a->feeds, job, true);
	return grt_analyses_held(a, job);
}

static int analyses_on_job(void *arg, const struct grt_job *job)
{
	struct grt_analyses *a = arg;

	if (a->wants && !a->wants(a, job))
		return 0;
	if (a->feeds)
		grt_fed_job(a->feeds, job, false);
	return grt_analyses_job(a, job);
}

static int analyses_on_stray(void *arg, const struct grt_event *e)
{
	struct grt_analyses *a = arg;

	if (a->feeds)
		grt_fed_stray(a->feeds, e);
	return grt_analyses_stray(a, e);
}

int grt_analyses_join(struct grt_analyses *a)
{
	const struct grt_jobs_sink sink = {
		.held = analyses_on_held,
		.job = analyses_on_job,
		.stray = analyses_on_stray,
		.arg = a,
	};

	if (grt_jobs_new(&a->jobs, &sink, NULL))
		return -ENOMEM;
	a->pass.jobs = a->jobs;
	a->pass.names = grt_jobs_names(a->jobs);
	return 0;
}

static int analyses_on_every(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_analyses_event((struct grt_analyses *)c, e, GRT_CLASSES);
}

static int analyses_on_filtered(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_analyses_event((struct grt_analyses *)c, e, grt_class_of[e->type]);
}

/* Without a filter, for a class that some analyses take. */
static inline int analyses_on_taken(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	const struct grt_taker *t = a->taker[grt_class_of[e->type]];
	int ret;

	do
		ret = t->event(t->state, e, &a->pass);
	while (!ret && (++t)->analysis);
	return ret;
}

static int analyses_on_joined(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return grt_jobs_event(((struct grt_analyses *)c)->jobs, e);
}

static int analyses_on_both(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_on_taken(c, e, cpu) ?: analyses_on_joined(c, e, cpu);
}

static int analyses_on_both_filtered(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_on_filtered(c, e, cpu) ?: analyses_on_joined(c, e, cpu);
}

/* Events that the filter passes only because they explain others are not joined. */
static int analyses_join_launch(struct grt_analyses *a, const struct grt_event *e)
{
	return a->pass.filter && a->pass.filter->beside ? 0 : grt_launches_event(a->launches, e);
}

/* An analysis finds the image that an event defines. */
static int analyses_on_image(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_join_launch((struct grt_analyses *)c, e) ?: analyses_on_filtered(c, e, cpu);
}

/* An analysis gets an event before the joiner passes on work that results from the event. */
static int analyses_on_launch_filtered(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_on_filtered(c, e, cpu) ?: analyses_join_launch((struct grt_analyses *)c, e);
}

static int analyses_on_launch(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;

	for (const struct grt_taker *t = a->taker[GRT_CLASS_launch]; t->analysis; t++) {
		int ret = t->event(t->state, e, &a->pass);

		if (ret)
			return ret;
	}
	return grt_launches_event(a->launches, e);
}

static bool analyses_takes_beyond(const struct grt_analysis *a, const struct grt_event *e)
{
	if ((JOB_CLASSES | GRT_IN_CLASS(thread)) >> grt_class_of[e->type] & 1 || e->type == GRT_EV_STACK)
		return a->whole;
	return grt_has_trait(e, GRT_TRAIT_LATE) ? a->late : a->beyond;
}

static bool analyses_joins(const struct grt_analyses *a)
{
	return a->jobs && !a->names_only;
}

static int analyses_take_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	int ret = 0;

	for (const struct grt_taker *t = a->taker[grt_class_of[e->type]]; t->analysis && !ret; t++)
		if (analyses_takes_beyond(t->analysis, e))
			ret = t->analysis->event(t->state, e, &a->pass);
	return ret;
}

static int analyses_on_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	int ret = 0;

	if (JOB_CLASSES >> grt_class_of[e->type] & 1 && analyses_joins(a))
		ret = grt_jobs_event(a->jobs, e);
	else if (a->launches && grt_class_of[e->type] == GRT_CLASS_image)
		ret = grt_launches_event(a->launches, e);
	ret = ret ?: analyses_take_beyond(c, e, cpu);
	if (a->launches && !a->fed && grt_class_of[e->type] == GRT_CLASS_launch)
		ret = ret ?: grt_launches_event(a->launches, e);
	return ret;
}

static int analyses_on_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	struct grt_analyses *a = (struct grt_analyses *)c;

	for (const struct grt_taker *t = a->all; t->analysis; t++)
		if (t->analysis->packet)
			t->analysis->packet(t->state, p);
	return 0;
}

typedef int (*event_fn)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);

/* Return: the callback of a class; NULL: no analysis takes the class. */
static event_fn analyses_callback(const struct grt_analyses *a, enum grt_class class)
{
	const uint32_t joins =
		GRT_IN_CLASS(name) | (analyses_joins(a) ? JOB_CLASSES | GRT_IN_CLASS(command) : 0);
	const struct grt_taker *taken = a->taker[class];
	bool joined = a->jobs && joins >> class & 1;

	if (a->launches && class == GRT_CLASS_image)
		return analyses_on_image;
	if (a->launches && class == GRT_CLASS_launch && !a->fed)
		return a->pass.filter ? analyses_on_launch_filtered : analyses_on_launch;
	if (taken->analysis && joined)
		return a->pass.filter ? analyses_on_both_filtered : analyses_on_both;
	if (taken->analysis)
		return a->pass.filter ? analyses_on_filtered : analyses_on_taken;
	return joined ? analyses_on_joined : NULL;
}

/* With analyses of other threads: they get the event first, and then what is joined from it. */
static int analyses_on_feeding(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	event_fn here = a->here[grt_class_of[e->type]];

	grt_fed_event(a->feeds, e);
	return here ? here(c, e, cpu) : 0;
}

static int analyses_on_feeding_image(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	int ret = analyses_on_feeding(c, e, cpu);

	grt_fed_joined(((struct grt_analyses *)c)->feeds, e);
	return ret;
}

static int analyses_on_feeding_launch(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	event_fn here = a->here[GRT_CLASS_launch];
	int ret;

	grt_fed_launch(a->feeds, e);
	ret = here ? here(c, e, cpu) : 0;
	grt_fed_joined(a->feeds, e);
	return ret;
}

static int analyses_feed_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu, bool late)
{
	struct grt_analyses *a = (struct grt_analyses *)c;
	int ret;

	grt_fed_beyond(a->feeds, e, late);
	ret = analyses_on_beyond(c, e, cpu);
	grt_fed_joined(a->feeds, e);
	return ret;
}

static int analyses_on_feeding_beyond(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_feed_beyond(c, e, cpu, false);
}

static int analyses_on_feeding_late(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	return analyses_feed_beyond(c, e, cpu, true);
}

/* Return: the callback of a class for all threads. @here: that of this one */
static event_fn analyses_feeding(struct grt_analyses *a, enum grt_class class, event_fn here)
{
	a->here[class] = here;
	if (!grt_fed_takes(a->feeds, class) && !(a->launches && LAUNCH_CLASSES >> class & 1))
		return here;
	if (class == GRT_CLASS_launch)
		return analyses_on_feeding_launch;
	return class == GRT_CLASS_image ? analyses_on_feeding_image : analyses_on_feeding;
}

static void analyses_consume_feeding(struct grt_analyses *a)
{
#define GRT_CLASS(name, help, see) a->c.name = analyses_feeding(a, GRT_CLASS_##name, a->c.name);
#include <grtrace/classes.def>
#undef GRT_CLASS
	if (a->c.beyond || grt_fed_takes_beyond(a->feeds, false))
		a->c.beyond = analyses_on_feeding_beyond;
	if (a->c.late || grt_fed_takes_beyond(a->feeds, true))
		a->c.late = analyses_on_feeding_late;
}

void grt_analyses_consume(struct grt_analyses *a)
{
#define GRT_CLASS(name, help, see) a->c.name = analyses_callback(a, GRT_CLASS_##name);
#include <grtrace/classes.def>
#undef GRT_CLASS
	a->c.event = a->taker[GRT_CLASSES]->analysis ? analyses_on_every : NULL;
	for (const struct grt_taker *t = a->all; t->analysis; t++) {
		a->c.packet = t->analysis->packet ? analyses_on_packet : a->c.packet;
		a->c.beyond = t->analysis->beyond ? analyses_on_beyond : a->c.beyond;
		a->c.late = t->analysis->late ? analyses_on_beyond : a->c.late;
	}
	if (analyses_joins(a))
		a->c.beyond = analyses_on_beyond;
	if (a->feeds)
		analyses_consume_feeding(a);
}

/* --------------------------------------------------------------- several */

/* An analysis of a row, or what stands in for it; NULL: none. */
static const struct grt_taker *analyses_of_row(const struct grt_analyses *a, int row)
{
	const struct grt_taker *t = a->all;

	while (t->analysis && t->analysis != grt_analysis_rows[row] && t->analysis != &a->waits[row].stand_in)
		t++;
	return t->analysis ? t : NULL;
}

void grt_analyses_adopt(struct grt_analyses *a, struct grt_analyses *from)
{
	struct grt_taker all[GRT_ANALYSES + 1] = {{.analysis = NULL}};
	const struct grt_taker *old, *new;
	unsigned int n = 0;

	for (int i = 0; i < GRT_ANALYSES; i++) {
		old = analyses_of_row(a, i);
		new = analyses_of_row(from, i);
		if (new) {
			a->state[i] = from->state[i];
			a->parts[i] = from->parts[i];
			a->on[i] = true;
			from->state[i] = NULL;
		}
		if (old || new)
			all[n++] = old ? *old : *new;
	}
	memcpy(a->all, all, sizeof(a->all));
	memset(from->all, 0, sizeof(from->all));
}

/* ------------------------------------------------------------------ output */

bool grt_analyses_any(const struct grt_analyses *a, unsigned int mask, unsigned int where)
{
	for (int i = 0; i < GRT_ANALYSES; i++) {
		const struct grt_part *p = grt_analysis_rows[i]->parts;

		for (unsigned int n = 0; p[n].name; n++)
			if (a->state[i] && a->parts[i] >> n & 1 && (p[n].where & mask) == where && p[n].any &&
			    p[n].any(a->state[i]))
				return true;
	}
	return false;
}

int grt_analyses_write_part(struct grt_analyses *a, const struct grt_part *part)
{
	return part->write(a->state[analyses_row_of(part)], part, &a->pass);
}

/* People read the sentences of parts that have no table before all tables; programs read them as notes. */
static int analyses_write_one(struct grt_analyses *a, int row, const struct grt_part *part)
{
	bool first = part->where & GRT_PART_FIRST && !part->table && !(a->pass.json && !a->pass.page);
	struct grt_notes sentences = {.n = 0}, *notes = a->pass.notes;
	int ret;

	a->pass.notes = first ? &sentences : notes;
	ret = part->write(a->state[row], part, &a->pass);
	a->pass.notes = notes;
	if (first && !ret && sentences.n)
		grt_notes_write(&sentences, a->pass.writer);
	return ret;
}

int grt_analyses_write(struct grt_analyses *a,
		       bool (*shown)(void *arg, const struct grt_part *part, const void *state), void *arg)
{
	int ret = 0;

	for (int i = 0; i < GRT_ANALYSES; i++) {
		const struct grt_part *p = grt_analysis_rows[i]->parts;

		for (unsigned int n = 0; p[n].name && !ret; n++)
			if (a->state[i] && a->parts[i] >> n & 1 && (!shown || shown(arg, &p[n], a->state[i])))
				ret = analyses_write_one(a, i, &p[n]);
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
		analyses_free_one(t->analysis, t->state);
	grt_launches_free(a->launches);
	if (a->jobs)
		grt_jobs_free(a->jobs);
	*a = (struct grt_analyses){.pass = {.jobs = NULL}};
}
