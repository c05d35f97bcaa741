/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The analyses of one pass over a trace: selected from the rows of analyses.def
 * by the requested parts, fed with events by class, written in the order of the rows.
 *
 *	grt_analyses_want(&a, part)
 *	grt_analyses_join(&a)		if they need jobs
 *	grt_analyses_begin(&a)
 *	grt_analyses_consume(&a)
 *	  grt_session_run(s, &a.c, ...)
 *	grt_analyses_finish(&a)
 *	grt_analyses_write(&a, shown, arg)
 *	grt_analyses_free(&a)
 */
#ifndef GRT_ANALYSES_H
#define GRT_ANALYSES_H

#include "table/analysis.h"
#include "trace/flow.h"

enum {
#define GRT_ANALYSIS(name, help) GRT_ANALYSIS_ROW_##name,
#include "analyses.def"
	GRT_ANALYSES,
};

/** struct grt_taker - an analysis that takes events of a class, and its function for them */
struct grt_taker {
	const struct grt_analysis *analysis;
	void *state;
	int (*event)(void *state, const struct grt_event *e, struct grt_pass *pass);
};

struct grt_analyses;
struct grt_fed;

/**
 * struct grt_analysis_waits - an analysis that begins with its first event, see struct grt_analysis.waits
 * @stand_in: takes that event
 */
struct grt_analysis_waits {
	struct grt_analysis stand_in;
	struct grt_analyses *a;
	int row;
};

/**
 * struct grt_analyses - those of a pass
 * @c: what a session drives, see grt_analyses_consume(); first, so that a callback finds the rest
 * @jobs: see grt_analyses_join()
 * @launches: what joins CUDA's launches for those of @of_work, also as @pass.launches; NULL: none needs it
 * @wants: jobs for which it returns false reach no analysis; NULL: all do
 * @pass: the facts of the run that the analyses may use
 * @state, @parts: by row; an analysis of which no part is wanted and that is not @on has no state
 * @all: those that have a state, in the order of their rows, ended by an empty one
 * @taker: by class, ended by an empty one; [GRT_CLASSES]: those of every event
 * @of_jobs, @of_work: the analyses that take jobs, and GPU work, ended the same way
 * @waits: by row
 * @feeds: gets what is read and joined, for analyses of other threads; NULL: there are none
 * @fed: another thread joins for these: here, launches have only images
 * @here: with @feeds: the callbacks of this thread, by class
 * @names_only: none of them needs jobs: names are kept, and nothing is joined
 * @from, @to: see grt_analyses_within(), where @bounded
 * @first, @last: see grt_analyses_span(), where @spans
 */
struct grt_analyses {
	struct grt_consumer c;
	struct grt_jobs *jobs;
	struct grt_launches *launches;
	bool (*wants)(struct grt_analyses *a, const struct grt_job *job);
	struct grt_pass pass;
	void *state[GRT_ANALYSES];
	unsigned int parts[GRT_ANALYSES];
	bool on[GRT_ANALYSES];
	struct grt_taker all[GRT_ANALYSES + 1];
	struct grt_taker taker[GRT_CLASSES + 1][GRT_ANALYSES + 1];
	struct grt_taker of_jobs[GRT_ANALYSES + 1];
	struct grt_taker of_work[GRT_ANALYSES + 1];
	struct grt_analysis_waits waits[GRT_ANALYSES];
	uint64_t from;
	uint64_t to;
	uint64_t first;
	uint64_t last;
	bool bounded;
	bool spans;
	bool names_only;
	bool fed;
	struct grt_fed *feeds;
	int (*here[GRT_CLASSES])(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
};

/** grt_analysis_rows - all of them, in the order of their rows */
extern const struct grt_analysis *const grt_analysis_rows[GRT_ANALYSES];

/**
 * grt_part_next - goes over the parts of all analyses
 * @before: the one before, NULL: from the first one
 * @where: only those that have one of these bits
 */
const struct grt_part *grt_part_next(const struct grt_part *before, unsigned int where);

/** grt_part_find - the part of this name that has one of the bits @where; NULL: there is none */
const struct grt_part *grt_part_find(const char *name, unsigned int where);

/** grt_analyses_want - a part, all of this name that have one of the bits @where, or all that have one */
void grt_analyses_want(struct grt_analyses *a, const struct grt_part *part);
void grt_analyses_want_named(struct grt_analyses *a, const char *name, unsigned int where);
void grt_analyses_want_all(struct grt_analyses *a, unsigned int where);

/** grt_analyses_always - those that a report needs for their notes */
void grt_analyses_always(struct grt_analyses *a);

/** enum grt_analyses_turn - analyses that take their turn together, see struct grt_analysis */
enum grt_analyses_turn {
	GRT_ANALYSES_FIND = 1,
	GRT_ANALYSES_ROWS = 2,
	GRT_ANALYSES_ALONE = 4, /* they need events of their classes and names, neither jobs nor packets */
	GRT_ANALYSES_JOBS = 8,	/* they need jobs, too */
	GRT_ANALYSES_REST = 16,
};

/** grt_analysis_needs_jobs - whether an analysis takes jobs */
static inline bool grt_analysis_needs_jobs(const struct grt_analysis *a)
{
	return a->job || a->held || a->stray;
}

/** grt_analyses_keep - of those that are wanted, only the ones of these turns */
void grt_analyses_keep(struct grt_analyses *a, unsigned int turns);

/**
 * grt_analyses_adopt - adds the results of other analyses of the same trace to those that @a writes
 * @from: finished; has none of the analyses of @a; the data to which it points must live until @a is freed,
 *	and @from must be freed after @a
 */
void grt_analyses_adopt(struct grt_analyses *a, struct grt_analyses *from);

/** grt_analyses_begin - makes the states of what is wanted. Return: 0 or -ENOMEM */
int grt_analyses_begin(struct grt_analyses *a);

/**
 * grt_analyses_classes - Return: the classes of events that they take; those that take every event are in
 * @taker[GRT_CLASSES]
 */
uint32_t grt_analyses_classes(const struct grt_analyses *a);

/** grt_analyses_join - joins the events of the pass into jobs, for all analyses. Return: 0 or -ENOMEM */
int grt_analyses_join(struct grt_analyses *a);

/** grt_analyses_consume - sets @c: each event goes to the analyses of its class, and is joined into jobs and
 * launches */
void grt_analyses_consume(struct grt_analyses *a);

/**
 * grt_analyses_event - passes an event to the analyses that take its class. An event that the filter passed
 * only because it explains others goes only to analyses that have no table of it. Return: 0 or -ENOMEM
 */
static inline int grt_analyses_event(struct grt_analyses *a, const struct grt_event *e, unsigned int class)
{
	bool beside = a->pass.filter && a->pass.filter->beside;
	int ret = 0;

	for (const struct grt_taker *t = a->taker[class]; t->analysis && !ret; t++)
		if (!beside || t->analysis->besides >> class & 1)
			ret = t->event(t->state, e, &a->pass);
	return ret;
}

/** grt_analyses_shows - whether an analysis has a table of events of a class */
bool grt_analyses_shows(const struct grt_analyses *a, enum grt_class class);

/**
 * grt_analyses_work, grt_analyses_nothing, grt_analyses_job, grt_analyses_held, grt_analyses_stray,
 * grt_analyses_read, grt_analyses_end - call the operation of this name, the last one @finish, of each
 * analysis (see struct grt_analysis). Where another thread joins, its records cause these calls.
 * @outside: the work is outside of the time of grt_analyses_within()
 * Return: 0, or the result of an analysis
 */
int grt_analyses_work(struct grt_analyses *a, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how, bool outside);
int grt_analyses_nothing(struct grt_analyses *a, const struct grt_launch *launch);
int grt_analyses_job(struct grt_analyses *a, const struct grt_job *job);
int grt_analyses_held(struct grt_analyses *a, const struct grt_job *job);
int grt_analyses_stray(struct grt_analyses *a, const struct grt_event *e);
int grt_analyses_read(struct grt_analyses *a);
int grt_analyses_end(struct grt_analyses *a);

/** grt_analyses_within, grt_analyses_span, grt_analyses_open - see struct grt_analysis */
void grt_analyses_within(struct grt_analyses *a, uint64_t from, uint64_t to);
void grt_analyses_span(struct grt_analyses *a, uint64_t first, uint64_t last);
void grt_analyses_open(struct grt_analyses *a);

/** grt_analyses_finish - the trace is over. Return: 0, or -errno of struct grt_analysis.finish */
int grt_analyses_finish(struct grt_analyses *a);

/**
 * grt_analyses_write - writes the parts that are wanted, in the order of their rows
 * @shown: whether a part is shown; NULL: each
 * Return: 0 or -ENOMEM
 */
int grt_analyses_write(struct grt_analyses *a,
		       bool (*shown)(void *arg, const struct grt_part *part, const void *state), void *arg);

/**
 * grt_analyses_any - Return: whether a requested part that has all of the bits @where of @mask has something
 * to show, if it has an operation for that (struct grt_part.any)
 */
bool grt_analyses_any(const struct grt_analyses *a, unsigned int mask, unsigned int where);

/** grt_analyses_write_part - writes one of them. Return: 0 or -ENOMEM */
int grt_analyses_write_part(struct grt_analyses *a, const struct grt_part *part);

/** grt_analyses_notes - their sentences about all of it */
void grt_analyses_notes(struct grt_analyses *a);

/** grt_analyses_state - of the analysis @row, NULL where it is not wanted */
static inline void *grt_analyses_state(const struct grt_analyses *a, unsigned int row)
{
	return a->state[row];
}

/** grt_analyses_free - frees and empties it */
void grt_analyses_free(struct grt_analyses *a);

#endif /* GRT_ANALYSES_H */
