// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The rows of timeline.h. A job adds to the columns the parts of its time that no earlier job of the row has
 * covered; the covered parts are overlaps. Gaps and overlaps are made from stretches when these are closed.
 */
#include "timeline.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/containers.h"
#include "base/intervals.h"
#include "base/timescale.h"

/* ------------------------------------------------------------- stretches */

/*
 * The union: a sorted array. Jobs of a ring that is never idle
 * become one stretch, so the array stays short in practice.
 */

/*
 * grt_stretches_close - closes the oldest @n kept stretches
 * @fn: called for each before it is closed, so that
 *	@s->floor and @s->last belong to the previous stretch
 * Return: 0, or the first result of @fn other than 0, which ends the loop
 */
static int grt_stretches_close(struct grt_stretches *s, uint32_t n,
			       int (*fn)(void *arg, const struct grt_stretches *s,
					 const struct grt_stretch *st),
			       void *arg)
{
	uint32_t i = 0;
	int ret = 0;

	for (; i < n && !ret; i++) {
		ret = fn(arg, s, &s->kept[i]);
		s->closed = true;
		s->floor = s->kept[i].to;
		s->last = s->kept[i].last;
	}
	if (!i)
		return ret;
	s->used -= i;
	s->kept += i;
	return ret;
}

GRT_INTERVALS(stretches, struct grt_stretch)

uint32_t grt_stretches_search(const struct grt_stretches *s, uint64_t time)
{
	uint32_t i = stretches_ending(s->kept, s->used, time);

	return i < s->used && s->kept[i].to == time ? i + 1 : i;
}

/* Extends a stretch by one that touches it. */
static void stretches_widen(const struct grt_stretches *s, struct grt_stretch *st,
			    const struct grt_stretch *new)
{
	bool begins = new->from<st->from, ends = new->to> st->to;

	if (begins) {
		st->from = new->from;
		st->first = new->first;
	}
	if (ends)
		st->to = new->to;
	if (s->pairs ? begins : ends)
		st->last = new->last;
}

/*
 * Makes room for one more stretch after those that are kept; moves them to the front if enough room is free
 * there.
 */
static int stretches_make_room(struct grt_stretches *s)
{
	uint32_t closed = (uint32_t)(s->kept - s->all);

	if (closed + s->used < s->room)
		return 0;
	if (closed > s->used) {
		memcpy(s->all, s->kept, s->used * sizeof(*s->all));
		closed = 0;
	} else if (grt_grow(&s->all, &s->room, closed + s->used + 1, 8)) {
		return -ENOMEM;
	}
	s->kept = s->all + closed;
	return 0;
}

static __attribute__((noinline)) int stretches_insert(struct grt_stretches *s, const struct grt_stretch *new)
{
	uint32_t i = stretches_ending(s->kept, s->used, new->from);
	uint32_t end = stretches_behind(s->kept, s->used, i, new->to);

	if (end == i && stretches_make_room(s))
		return -ENOMEM;
	if (end > i)
		stretches_widen(s, &s->kept[i], new);
	for (uint32_t k = i + 1; k < end; k++)
		stretches_widen(s, &s->kept[i], &s->kept[k]);
	stretches_unite(s->kept, &s->used, i, end);
	if (end == i)
		s->kept[i] = *new;
	return 0;
}

/* Return: whether the new stretch begins in the last one or at its end, as jobs on a busy ring do. */
static bool stretches_goes_on(const struct grt_stretches *s, const struct grt_stretch *new)
{
	const struct grt_stretch *last = s->used ? &s->kept[s->used - 1] : NULL;

	return last && new->from >= last->from &&new->from <= last->to;
}

int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new)
{
	if (!stretches_goes_on(s, new))
		return stretches_insert(s, new);
	stretches_widen(s, &s->kept[s->used - 1], new);
	return 0;
}

void grt_stretches_free(struct grt_stretches *s)
{
	free(s->all);
	*s = (struct grt_stretches){0};
}

/* -------------------------------------------------------------- timeline */

/* Number of rows that are found without a search, because jobs of several rings alternate. */
#define RECENT_ROWS 16U

/** struct timeline_recent - the row of an earlier job; valid while its table has the size @room */
struct timeline_recent {
	struct grt_key key;
	struct grt_timeline_row *row;
	uint32_t room;
};

struct grt_timeline {
	struct grt_keyed rows[GRT_BYS];
	struct timeline_recent recent[GRT_BYS][RECENT_ROWS]; /* by key */
	struct grt_timescale scale;
	struct grt_timeline_count count;
	bool whole;
	bool windows;
};

/* A job's time on the hardware as far as it lies in the span. */
struct run {
	uint64_t from;
	uint64_t to;
	struct grt_job_id job;
	bool inferred;
	bool cut;
	bool late;
};

static inline uint64_t timeline_least(uint64_t a, uint64_t b)
{
	return a < b ? a : b;
}

static inline uint64_t greatest(uint64_t a, uint64_t b)
{
	return a > b ? a : b;
}

/* Columns */

static void timeline_fill(const struct grt_timeline *t, struct grt_timeline_row *row, uint64_t from,
			  uint64_t to)
{
	row->busy += grt_timescale_fill(&t->scale, row->column, from, to);
}

/*
 * Return: the time in the stretches of the row that are kept, up to @end; they begin at or after the floor.
 */
static uint64_t kept_before(const struct grt_timeline_row *row, uint64_t end)
{
	uint64_t sum = 0;

	for (uint32_t i = 0; i < row->once.used && row->once.kept[i].from < end; i++)
		sum += timeline_least(row->once.kept[i].to, end) - row->once.kept[i].from;
	return sum;
}

/* Of the column's part below the floor, only the sum is known. */
static void fill_late(const struct grt_timeline *t, struct grt_timeline_row *row, uint32_t c, uint64_t part)
{
	uint64_t above =
		row->once.floor < t->scale.border[c + 1] ? kept_before(row, t->scale.border[c + 1]) : 0;
	uint64_t room = timeline_least(t->scale.border[c + 1], row->once.floor) - t->scale.border[c];
	uint64_t had = row->column[c] - above;
	uint64_t low = greatest(had, part), high = timeline_least(room, had + part);

	row->column[c] += low - had;
	row->busy += low - had;
	row->unsure += high - low;
}

/* Gaps and overlaps */

static bool is_wide(const struct grt_timeline *t, const struct grt_idle *g)
{
	return g->to > g->from &&
	       (unsigned __int128)(g->to - g->from) * t->scale.columns > t->scale.last - t->scale.first;
}

static int insert_idle(struct grt_idles *l, uint32_t i, const struct grt_idle *g)
{
	if (grt_grow(&l->at, &l->room, l->used + 1, 8))
		return -ENOMEM;
	memmove(l->at + i + 1, l->at + i, (l->used - i) * sizeof(*l->at));
	l->at[i] = *g;
	l->used++;
	return 0;
}

static void remove_idle(struct grt_idles *l, uint32_t i)
{
	l->used--;
	memmove(l->at + i, l->at + i + 1, (l->used - i) * sizeof(*l->at));
}

static int append_wide(const struct grt_timeline *t, struct grt_idles *l, const struct grt_idle *g)
{
	return is_wide(t, g) ? insert_idle(l, l->used, g) : 0;
}

/* Index of the first one that ends after @time. */
static uint32_t idle_at(const struct grt_idles *l, uint64_t time)
{
	return grt_bisect(l->used, i, l->at[i].to <= time);
}

/*
 * A late job ran in what looked like gaps. Gaps only shrink, so a gap that was too short to be listed stays
 * so.
 */
static int cut_gaps(const struct grt_timeline *t, struct grt_idles *l, uint64_t from, uint64_t to,
		    const struct grt_job_id *job)
{
	uint32_t i = idle_at(l, from);
	int ret = 0;

	while (i < l->used && l->at[i].from < to && !ret) {
		struct grt_idle before = l->at[i], after = l->at[i];

		before.to = from;
		before.last = *job;
		after.from = to;
		after.first = *job;
		remove_idle(l, i);
		if (is_wide(t, &before))
			ret = insert_idle(l, i++, &before);
		if (is_wide(t, &after) && !ret)
			ret = insert_idle(l, i++, &after);
	}
	return ret;
}

struct closing {
	const struct grt_timeline *t;
	struct grt_idles *to;
};

static int close_gap(void *arg, const struct grt_stretches *s, const struct grt_stretch *st)
{
	const struct closing *c = arg;
	struct grt_idle gap = {
		.from = s->closed ? s->floor : c->t->scale.first,
		.to = st->from,
		.first = s->last,
		.last = st->first,
	};

	return append_wide(c->t, c->to, &gap);
}

static int close_overlap(void *arg, const struct grt_stretches *s, const struct grt_stretch *st)
{
	const struct closing *c = arg;
	struct grt_idle overlap = {.from = st->from, .to = st->to, .first = st->first, .last = st->last};

	return append_wide(c->t, c->to, &overlap);
}

static int close_once(const struct grt_timeline *t, struct grt_timeline_row *row, uint32_t n)
{
	struct closing c = {t, &row->gaps};

	return grt_stretches_close(&row->once, n, close_gap, &c);
}

static int close_twice(const struct grt_timeline *t, struct grt_timeline_row *row, uint32_t n)
{
	struct closing c = {t, &row->overlaps};

	return grt_stretches_close(&row->twice, n, close_overlap, &c);
}

/* Runs */

/* The newest of the ring's last jobs that ran at this time; NULL: none of them did. */
static const struct grt_ran *find_recent(const struct grt_timeline_row *row, uint64_t time)
{
	for (uint32_t n = 1; n <= GRT_TIMELINE_RECENT; n++) {
		const struct grt_ran *r = &row->recent[(row->recent_next - n) % GRT_TIMELINE_RECENT];

		if (r->from <= time && time < r->to)
			return r;
	}
	return NULL;
}

static int add_overlap(const struct grt_timeline *t, struct grt_timeline_row *row, const struct run *run,
		       uint64_t from, uint64_t to)
{
	const struct grt_ran *other = find_recent(row, from);
	struct grt_stretch part = {.from = from, .to = to, .last = run->job};
	int ret = 0;

	if (other && other->from <= run->from) {
		part.first = other->job;
	} else if (other) {
		part.first = run->job;
		part.last = other->job;
	}
	if (grt_stretches_full(&row->twice))
		ret = close_twice(t, row, GRT_STRETCHES_MAX / 4);
	part.from = greatest(from, row->twice.floor);
	return ret || part.from >= to ? ret : grt_stretches_add(&row->twice, &part);
}

static int add_late(const struct grt_timeline *t, struct grt_timeline_row *row, struct run *run)
{
	uint64_t from = run->from, to = timeline_least(run->to, row->once.floor);
	int ret = cut_gaps(t, &row->gaps, from, to, &run->job);

	run->late = true;
	row->late++;
	for (uint32_t c = grt_timescale_column(&t->scale, from); from < to; c++) {
		uint64_t end = timeline_least(t->scale.border[c + 1], to);

		fill_late(t, row, c, end - from);
		from = end;
	}
	return ret;
}

/* Splits [from, to) into the parts that are new and those that were covered before. */
static int add_kept(const struct grt_timeline *t, struct grt_timeline_row *row, const struct run *run,
		    uint64_t from)
{
	const struct grt_stretches *s = &row->once;
	int ret = 0;

	for (uint32_t i = grt_stretches_at(s, from); i < s->used && s->kept[i].from < run->to && !ret; i++) {
		uint64_t end = timeline_least(s->kept[i].to, run->to);

		if (from < s->kept[i].from) {
			timeline_fill(t, row, from, s->kept[i].from);
			from = s->kept[i].from;
		}
		if (row->recent)
			ret = add_overlap(t, row, run, from, end);
		from = end;
	}
	if (from < run->to)
		timeline_fill(t, row, from, run->to);
	return ret;
}

static int timeline_add_time(const struct grt_timeline *t, struct grt_timeline_row *row, struct run *run)
{
	struct grt_stretch new = {run->from, run->to, run->job, run->job};
	int ret = 0;

	if (grt_stretches_full(&row->once))
		ret = close_once(t, row, GRT_STRETCHES_MAX / 4);
	if (new.from < row->once.floor && !ret) {
		ret = add_late(t, row, run);
		new.from = row->once.floor;
	}
	if (ret || new.from >= new.to)
		return ret;
	ret = add_kept(t, row, run, new.from);
	if (row->recent)
		row->recent[row->recent_next++ % GRT_TIMELINE_RECENT] =
			(struct grt_ran){run->from, run->to, run->job};
	return ret ? ret : grt_stretches_add(&row->once, &new);
}

static int timeline_add_run(const struct grt_timeline *t, struct grt_timeline_row *row, struct run *run)
{
	row->drawn++;
	row->inferred += run->inferred;
	row->cut += run->cut;
	return t->scale.columns && run->from < run->to ? timeline_add_time(t, row, run) : 0;
}

static bool timeline_is_drawn(const struct grt_job *job)
{
	bool inferred;
	uint64_t ns;

	return grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred);
}

/* Of a job that is not drawn: the earliest and the latest time at which it may have run. */
static struct grt_may_run timeline_may_run(const struct grt_job *job)
{
	const unsigned int over = 1U << GRT_STAMP_END | 1U << GRT_STAMP_COMPLETE;
	struct grt_may_run may = {.from = 0, .to = job->seen & over ? 0 : UINT64_MAX};

	for (unsigned int i = 0; i < GRT_STAMPS; i++) {
		if (!(job->seen >> i & 1))
			continue;
		if (over >> i & 1)
			may.to = greatest(may.to, job->time[i]);
		else
			may.from = greatest(may.from, job->time[i]);
	}
	/* END before START */
	if (may.from > may.to)
		may = (struct grt_may_run){.from = may.to, .to = may.from};
	return may;
}

static int timeline_add_undrawn(struct grt_timeline_row *row, const struct grt_job *job)
{
	if (row->may_runs == GRT_TIMELINE_UNSURE_MAX) {
		row->may_run_over++;
		return 0;
	}
	if (grt_grow(&row->may_run, &row->may_run_room, row->may_runs + 1, 8))
		return -ENOMEM;
	row->may_run[row->may_runs++] = timeline_may_run(job);
	return 0;
}

/* A job without a known begin ran last before its end, one without a known end until the next one began. */
static void timeline_mark_gaps(struct grt_idles *gaps, const struct grt_may_run *may)
{
	uint32_t i = idle_at(gaps, may->from ?: may->to);

	if (!may->from && i && (i == gaps->used || gaps->at[i].from >= may->to))
		i--;
	if (may->to == UINT64_MAX && i < gaps->used)
		gaps->at[i].unsure++;
	for (; may->to != UINT64_MAX && i < gaps->used && gaps->at[i].from < may->to; i++)
		gaps->at[i].unsure++;
}

/* Return: when the job was submitted or committed, whichever is earlier; UINT64_MAX: both are unknown. */
static uint64_t timeline_requested_at(const struct grt_job *job)
{
	uint64_t submit = job->seen >> GRT_STAMP_SUBMIT & 1 ? job->time[GRT_STAMP_SUBMIT] : UINT64_MAX;
	uint64_t commit = job->seen >> GRT_STAMP_COMMIT & 1 ? job->time[GRT_STAMP_COMMIT] : UINT64_MAX;

	return timeline_least(submit, commit);
}

/* Return: whether the job has a run; one that lies outside of the span is empty */
static bool run_of(const struct grt_timeline *t, const struct grt_job *job, struct run *run)
{
	uint64_t ns, start = job->time[GRT_STAMP_START], end = job->time[GRT_STAMP_END];

	*run = (struct run){
		.from = greatest(start, t->scale.first),
		.to = timeline_least(end, t->scale.last),
		.job = {job->ctx, job->seqno, timeline_requested_at(job), job->ring, job->pid, job->tid,
			job->name},
	};
	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &run->inferred))
		return false;
	run->cut = start < end && (t->whole || run->from < run->to) &&
		   (start < t->scale.first || end > t->scale.last);
	return true;
}

/* Rows */

static bool timeline_touches(const struct grt_timeline *t, const struct grt_job *job)
{
	return t->whole || grt_job_touches(job, t->scale.first, t->scale.last);
}

static struct grt_key timeline_key_of(enum grt_group_by by, const struct grt_job *job)
{
	if (by == GRT_BY_RING)
		return (struct grt_key){{job->device, job->ring}};
	return (struct grt_key){{by == GRT_BY_ENGINE ? job->engine : job->pid}};
}

static int begin_row(const struct grt_timeline *t, enum grt_group_by by, struct grt_timeline_row *row,
		     const struct grt_job *job)
{
	row->ring = job->ring;
	row->device = job->device;
	row->pid = job->pid;
	row->engine = job->engine;
	row->twice.pairs = true;
	if (!t->scale.columns)
		return 0;
	row->column = calloc(t->scale.columns, sizeof(*row->column));
	if (by == GRT_BY_RING)
		row->recent = calloc(GRT_TIMELINE_RECENT, sizeof(*row->recent));
	return row->column && (row->recent || by != GRT_BY_RING) ? 0 : -ENOMEM;
}

/* Return: 0 with the row of a key, which may be new, -ENOSPC: there are too many, -ENOMEM */
static int timeline_get_row(struct grt_timeline *t, enum grt_group_by by, const struct grt_job *job,
			    struct grt_timeline_row **out)
{
	struct grt_keyed *rows = &t->rows[by];
	struct grt_key key = timeline_key_of(by, job);
	struct timeline_recent *recent = &t->recent[by][(key.w[0] + key.w[1]) % RECENT_ROWS];
	uint32_t before = rows->used;
	void *found;
	int ret;

	*out = recent->row;
	if (*out && recent->room == rows->room && recent->key.w[0] == key.w[0] &&
	    recent->key.w[1] == key.w[1])
		return 0;
	ret = grt_keyed_get(rows, &key, &found);
	*out = found;
	if (!ret && rows->used != before)
		ret = begin_row(t, by, *out, job);
	*recent = (struct timeline_recent){key, ret ? NULL : *out, rows->room};
	return ret;
}

/* As above, for a job, from which a new row gets its properties. */
static int timeline_find_row(struct grt_timeline *t, enum grt_group_by by, const struct grt_job *job,
			     struct grt_timeline_row **out)
{
	int ret = timeline_get_row(t, by, job, out);

	if (ret)
		return ret;
	if (!(*out)->engine)
		(*out)->engine = job->engine;
	/* The process's name may come later than its first job, or change at exec. */
	if (job->name != GRT_NAME_UNKNOWN)
		(*out)->name = job->name;
	return 0;
}

static int add_to_row(struct grt_timeline *t, enum grt_group_by by, const struct grt_job *job, bool counts,
		      struct run *run, bool *over)
{
	struct grt_timeline_row *row;
	int ret = timeline_find_row(t, by, job, &row);

	if (ret == -ENOSPC) {
		*over = true;
		return 0;
	}
	if (!ret && counts) {
		row->jobs++;
		row->sampled += t->windows || grt_weight(job->sample) != GRT_WEIGHT_ONE;
	}
	if (!ret && counts && !run && by != GRT_BY_ENGINE && !timeline_is_drawn(job))
		ret = timeline_add_undrawn(row, job);
	return ret || !run ? ret : timeline_add_run(t, row, run);
}

static int add_to_rows(struct grt_timeline *t, const struct grt_job *job, bool counts, struct run *run)
{
	bool over = false;
	int ret = 0;

	for (unsigned int by = 0; by < GRT_BYS && !ret; by++)
		ret = add_to_row(t, by, job, counts, run, &over);
	t->count.over += over && counts;
	if (run) {
		t->count.cut += run->cut;
		t->count.late += run->late;
	}
	return ret;
}

int grt_timeline_held(struct grt_timeline *t, const struct grt_job *job)
{
	struct run run;

	if (!timeline_touches(t, job) || !run_of(t, job, &run))
		return 0;
	return add_to_rows(t, job, false, &run);
}

int grt_timeline_job(struct grt_timeline *t, const struct grt_job *job)
{
	struct run run;
	bool ran = run_of(t, job, &run);

	if (!timeline_touches(t, job)) {
		t->count.outside++;
		return 0;
	}
	t->count.jobs++;
	t->count.undrawn += !ran;
	return add_to_rows(t, job, true, ran && !job->held ? &run : NULL);
}

void grt_timeline_whole(struct grt_timeline *t)
{
	t->whole = true;
}

int grt_timeline_window(struct grt_timeline *t, const struct grt_event *e)
{
	t->windows |= e->type == GRT_EV_WINDOW && ((const struct grt_ev_window *)e)->of == GRT_WINDOW_JOBS;
	return 0;
}

bool grt_timeline_in_windows(const struct grt_timeline *t)
{
	return t->windows;
}

static int end_row(const struct grt_timeline *t, enum grt_group_by by, struct grt_timeline_row *row)
{
	int ret = close_once(t, row, row->once.used);
	struct grt_idle rest = {.from = row->once.floor, .to = t->scale.last, .first = row->once.last};

	if (!ret)
		ret = close_twice(t, row, row->twice.used);
	if (!ret && row->once.closed)
		ret = append_wide(t, &row->gaps, &rest);
	for (uint32_t i = 0; i < row->may_runs; i++)
		timeline_mark_gaps(&row->gaps, &row->may_run[i]);
	for (uint32_t i = 0; i < row->gaps.used; i++)
		row->gaps.at[i].unsure += row->may_run_over;
	/* An engine that is fed by several rings may have been busy in the gaps. */
	if (by == GRT_BY_ENGINE)
		row->gaps.used = 0;
	return ret;
}

int grt_timeline_end(struct grt_timeline *t)
{
	int ret = 0;

	for (unsigned int by = 0; by < GRT_BYS; by++)
		for (void *r = grt_keyed_oldest(&t->rows[by]); r && !ret; r = grt_keyed_next(&t->rows[by], r))
			ret = end_row(t, by, r);
	return ret;
}

int grt_timeline_new(struct grt_timeline **out, uint64_t first, uint64_t last, uint32_t columns)
{
	struct grt_timeline *t = calloc(1, sizeof(*t));

	*out = t;
	if (!t)
		return -ENOMEM;
	for (unsigned int by = 0; by < GRT_BYS; by++)
		grt_keyed_init(&t->rows[by], sizeof(struct grt_timeline_row), GRT_TIMELINE_ROWS_MAX);
	if (!grt_timescale_init(&t->scale, first, last,
				(uint32_t)timeline_least(columns, GRT_TIMELINE_COLUMNS_MAX)))
		return 0;
	grt_timeline_free(t);
	*out = NULL;
	return -ENOMEM;
}

uint32_t grt_timeline_columns(const struct grt_timeline *t)
{
	return t->scale.columns;
}

uint64_t grt_timeline_border(const struct grt_timeline *t, uint32_t i)
{
	return t->scale.border[i];
}

const struct grt_keyed *grt_timeline_rows(const struct grt_timeline *t, enum grt_group_by by)
{
	return &t->rows[by];
}

const struct grt_timeline_count *grt_timeline_count(const struct grt_timeline *t)
{
	return &t->count;
}

static void free_row(struct grt_timeline_row *row)
{
	free(row->column);
	free(row->gaps.at);
	free(row->overlaps.at);
	free(row->recent);
	free(row->may_run);
	grt_stretches_free(&row->once);
	grt_stretches_free(&row->twice);
}

void grt_timeline_free(struct grt_timeline *t)
{
	if (!t)
		return;
	for (unsigned int by = 0; by < GRT_BYS; by++) {
		for (void *r = grt_keyed_oldest(&t->rows[by]); r; r = grt_keyed_next(&t->rows[by], r))
			free_row(r);
		grt_keyed_free(&t->rows[by]);
	}
	grt_timescale_free(&t->scale);
	free(t);
}
