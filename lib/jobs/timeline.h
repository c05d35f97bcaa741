/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Jobs over time: the busy time of each ring, engine and process in each column of a
 * span that is known beforehand, in one pass. Busy time is the union of the times
 * between START and END of its jobs: overlapping time counts once. The columns of a
 * row add up to its busy time, to the nanosecond.
 *
 * Jobs come from the sink of jobs.h, roughly in the order of their ends. A job is late
 * if it began so long ago that the other busy times since then are known only per column
 * (more than GRT_STRETCHES_MAX disjoint stretches). A column that it fills completely is
 * full, and a column that was empty is exact; in the one or two other columns the overlap
 * is unknown: there the minimum counts, and @unsure adds up the time that may be missing.
 *
 * A gap of a ring or process is a time in which none of its jobs ran; an overlap of a
 * ring is a time in which two or more ran. Only gaps and overlaps that are wider than a column are kept, so
 * there are at most as many as columns. A job whose START or END is unknown is not drawn, but may have run in
 * a gap: each gap has the number of such jobs.
 */
#ifndef GRT_JOBS_TIMELINE_H
#define GRT_JOBS_TIMELINE_H

#include <stdbool.h>
#include <stdint.h>
#include "groups.h"
#include "base/containers.h"

/* ------------------------------------------------------------- stretches */

/*
 * The union of jobs' times as disjoint stretches, each with the jobs at its begin
 * and end. Jobs come roughly in the order of their ends. The newest
 * GRT_STRETCHES_MAX stretches are kept, because later jobs may touch them; older ones are
 * closed: passed to the owner once, in order.
 *
 * busy.h computes only the sum, in less memory.
 */

/* Number of kept stretches, 104 bytes each; there is room for twice as many. */
#define GRT_STRETCHES_MAX 512U

/**
 * struct grt_job_id - a job to which time belongs
 * @ctx, @seqno: its identity; @ctx 0: none or unknown
 * @asked: the earlier time stamp of SUBMIT and COMMIT, ns; UINT64_MAX: it has none
 * @name: name of the submitting thread, for grt_names_name()
 */
struct grt_job_id {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t asked;
	uint32_t ring;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
};

/**
 * struct grt_stretch - from @from up to, not including, @to; ns
 * @first, @last: see struct grt_stretches
 */
struct grt_stretch {
	uint64_t from;
	uint64_t to;
	struct grt_job_id first;
	struct grt_job_id last;
};

/**
 * struct grt_stretches - all zero is empty; freed by grt_stretches_free()
 * @all: array of @room elements
 * @kept: number of kept stretches, disjoint, not touching, ascending; earlier ones were closed
 * @pairs: @first and @last of a stretch are the two jobs of the interval that began it;
 *	otherwise @first is the job that began it, @last the job that ended it
 * @closed: some stretches were closed
 * @floor: end of the last closed stretch
 * @last: @last of the last closed stretch
 */
struct grt_stretches {
	struct grt_stretch *all;
	struct grt_stretch *kept;
	uint32_t used;
	uint32_t room;
	bool pairs;
	bool closed;
	uint64_t floor;
	struct grt_job_id last;
};

/** grt_stretches_full - nothing can be added before grt_stretches_close() */
static inline bool grt_stretches_full(const struct grt_stretches *s)
{
	return s->used == GRT_STRETCHES_MAX;
}

/** grt_stretches_search - the slow path of grt_stretches_at(), for a time that is not after all stretches */
uint32_t grt_stretches_search(const struct grt_stretches *s, uint64_t time);

/** grt_stretches_at - index of the first kept stretch that ends after @time */
static inline uint32_t grt_stretches_at(const struct grt_stretches *s, uint64_t time)
{
	return s->used && s->kept[s->used - 1].to > time ? grt_stretches_search(s, time) : s->used;
}

/**
 * grt_stretches_add - adds a stretch; merges touching ones
 * @new: begins at or after @s->floor and is not empty; @s is not full
 * Return: 0 or -ENOMEM
 */
int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new);

/** grt_stretches_free - frees and empties it */
void grt_stretches_free(struct grt_stretches *s);

/* -------------------------------------------------------------- timeline */

/* Most rows of a kind; jobs without a row are counted. */
#define GRT_TIMELINE_ROWS_MAX 1024U
/* Most columns. */
#define GRT_TIMELINE_COLUMNS_MAX 4096U
/* Number of recent jobs of a ring among which the other job of an overlap is searched. */
#define GRT_TIMELINE_RECENT 32U
/* Most jobs of a row that are not drawn and may have run in a gap; with more of them, each may have run in
 * all. */
#define GRT_TIMELINE_UNSURE_MAX 1024U

/**
 * struct grt_idle - a gap or an overlap
 * @from, @to: ns
 * @first: gap: the job that ended before it; overlap: one of the jobs at its
 *	beginning; unknown if its ctx is 0
 * @last: gap: the job that began after it; overlap: the other job
 * @unsure: gap: number of jobs that are not drawn and may have run in it
 */
struct grt_idle {
	uint64_t from;
	uint64_t to;
	struct grt_job_id first;
	struct grt_job_id last;
	uint64_t unsure;
};

/** struct grt_idles - gaps or overlaps, ascending and disjoint */
struct grt_idles {
	struct grt_idle *at;
	uint32_t used;
	uint32_t room;
};

/** struct grt_may_run - a job that is not drawn: it ran at most from @from up to @to; UINT64_MAX: until the
 * next job began */
struct grt_may_run {
	uint64_t from;
	uint64_t to;
};

/** struct grt_ran - a job and the time when it ran */
struct grt_ran {
	uint64_t from;
	uint64_t to;
	struct grt_job_id job;
};

/**
 * struct grt_timeline_row - a ring, an engine or a process
 * @ring, @device: the ring; for other kinds, the ring of the first job
 * @engine: of a ring or engine
 * @pid: of a process, 0: unknown
 * @name: for a process, the name of one of its threads, for grt_names_owner()
 * @jobs: jobs in the trace
 * @drawn: jobs with START and END
 * @inferred: drawn jobs with an inferred START or END
 * @sampled: jobs with a weight above one, or in random windows
 * @cut: drawn jobs that reach beyond the span
 * @late: drawn jobs that came late
 * @unsure: the largest time that may be missing in @busy, ns
 * @busy: sum of @column, ns
 * @column: busy time by column, ns; NULL without columns
 * @gaps: of a ring or process
 * @overlaps: of a ring
 * What follows is private.
 */
struct grt_timeline_row {
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t name;
	uint8_t engine;
	uint64_t jobs;
	uint64_t drawn;
	uint64_t inferred;
	uint64_t sampled;
	uint64_t cut;
	uint64_t late;
	uint64_t unsure;
	uint64_t busy;
	uint64_t *column;
	struct grt_idles gaps;
	struct grt_idles overlaps;
	struct grt_stretches once;
	struct grt_stretches twice;
	struct grt_ran *recent;
	uint32_t recent_next;
	struct grt_may_run *may_run;
	uint32_t may_runs, may_run_room;
	uint64_t may_run_over;
};

/**
 * struct grt_timeline_count - jobs, each counted once
 * @jobs: jobs that touch the span, or all jobs
 * @undrawn: jobs without START or without END, or with END before START
 * @cut: jobs that are drawn up to a border of the span only
 * @late: late jobs, see above
 * @outside: jobs that do not touch the span, unless all jobs count
 * @over: jobs without a row of some kind
 */
struct grt_timeline_count {
	uint64_t jobs;
	uint64_t undrawn;
	uint64_t cut;
	uint64_t late;
	uint64_t outside;
	uint64_t over;
};

struct grt_timeline;

/**
 * grt_timeline_new - begins
 * @first, @last: the span, ns; it includes @last
 * @columns: requested number, at most GRT_TIMELINE_COLUMNS_MAX; 0: no columns,
 *	gaps and overlaps. A span of fewer ns has one column per ns
 * Return: 0 or -ENOMEM
 */
int grt_timeline_new(struct grt_timeline **out, uint64_t first, uint64_t last, uint32_t columns);

/**
 * grt_timeline_whole - counts all jobs, even if they do not touch the span: the span is that
 * of a whole trace, whose records may have jobs from before its first record
 */
void grt_timeline_whole(struct grt_timeline *t);

/** grt_timeline_window - processes a WINDOW record: between random windows, jobs are not in the trace.
 * Return: 0 */
int grt_timeline_window(struct grt_timeline *t, const struct grt_event *e);

/** grt_timeline_in_windows - whether the trace has only jobs of random windows */
bool grt_timeline_in_windows(const struct grt_timeline *t);

/** grt_timeline_held, grt_timeline_job - process a job, see struct grt_jobs_sink. Return: 0 or -ENOMEM */
int grt_timeline_held(struct grt_timeline *t, const struct grt_job *job);
int grt_timeline_job(struct grt_timeline *t, const struct grt_job *job);

/** grt_timeline_end - completes gaps and overlaps after the last job. Return: 0 or -ENOMEM */
int grt_timeline_end(struct grt_timeline *t);

/** grt_timeline_columns - the number of columns */
uint32_t grt_timeline_columns(const struct grt_timeline *t);

/** grt_timeline_border - the begin of column @i, ns; for @i = number of columns, the end of the last one */
uint64_t grt_timeline_border(const struct grt_timeline *t, uint32_t i);

/** grt_timeline_rows - the rows of a kind, for grt_keyed_oldest() and grt_keyed_list() */
const struct grt_keyed *grt_timeline_rows(const struct grt_timeline *t, enum grt_group_by by);

/** grt_timeline_count - the counts so far */
const struct grt_timeline_count *grt_timeline_count(const struct grt_timeline *t);

/** grt_timeline_free - frees it; NULL is allowed */
void grt_timeline_free(struct grt_timeline *t);

#endif /* GRT_JOBS_TIMELINE_H */
