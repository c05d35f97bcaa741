// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A heap of the first N jobs. The last of them is at the top, because a better job replaces it.
 */
#include "top.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/heap.h"
#include "table/analysis.h"

/* @at: number of the job, so that equal jobs keep their order */
struct ranked {
	struct grt_job job;
	uint64_t at;
};

struct grt_top {
	const struct grt_column *sort;
	const struct grt_job_view *view;
	struct ranked *slot;
	uint64_t used;
	uint64_t room;
	uint64_t max;
	uint64_t seen;
	struct grt_cell last; /* of slot[0]; only for numbers, because a text may move */
	bool numbers;
};

static bool top_before(const struct grt_top *t, const struct ranked *a, const struct ranked *b)
{
	struct grt_cell x = grt_column_get(t->sort, t->view, &a->job);
	struct grt_cell y = grt_column_get(t->sort, t->view, &b->job);
	int order = grt_cell_order(t->sort, &x, &y);

	return order ? order < 0 : a->at < b->at;
}

/* The order of the heap: the last of the kept jobs is on top. */
static bool top_after(const struct grt_top *t, const struct ranked *a, const struct ranked *b)
{
	return top_before(t, b, a);
}

GRT_HEAP(top, struct ranked, struct grt_top, top_after)

/* Whether a new job is among the first ones: of equal jobs, the earlier one is. */
static inline bool is_ahead(const struct grt_top *t, const struct grt_job *job)
{
	struct grt_cell new = grt_column_get(t->sort, t->view, job);
	struct grt_cell last = t->numbers ? t->last : grt_column_get(t->sort, t->view, &t->slot[0].job);

	return grt_cell_order(t->sort, &new, &last) < 0;
}

static int top_take_in(struct grt_top *t, const struct ranked *new)
{
	if (t->used < t->max) {
		if (grt_grow(&t->slot, &t->room, t->used + 1, 32))
			return -ENOMEM;
		t->slot[t->used] = *new;
		top_rise(t, t->slot, t->used++);
	} else {
		t->slot[0] = *new;
		top_sink(t, t->slot, t->used, 0);
	}
	t->last = grt_column_get(t->sort, t->view, &t->slot[0].job);
	return 0;
}

int grt_top_add(struct grt_top *t, const struct grt_job *job)
{
	uint64_t at = t->seen++;
	struct ranked new;

	if (t->used == t->max && !is_ahead(t, job))
		return 0;
	new = (struct ranked){.job = *job, .at = at};
	return top_take_in(t, &new);
}

static int top_compare(const void *a, const void *b, void *t)
{
	return top_before(t, a, b) ? -1 : top_before(t, b, a);
}

int grt_top_each(struct grt_top *t, int (*fn)(void *arg, const struct grt_job *job), void *arg)
{
	struct ranked *sorted = malloc((t->used + 1) * sizeof(*sorted));
	int r = 0;

	if (!sorted)
		return -ENOMEM;
	if (t->used)
		memcpy(sorted, t->slot, t->used * sizeof(*sorted));
	qsort_r(sorted, t->used, sizeof(*sorted), top_compare, t);
	for (uint64_t i = 0; i < t->used && !r; i++)
		r = fn(arg, &sorted[i].job);
	free(sorted);
	return r;
}

int grt_top_new(struct grt_top **out, const struct grt_column *sort, const struct grt_job_view *view,
		uint64_t max)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->sort = sort;
	(*out)->view = view;
	(*out)->max = max;
	(*out)->numbers = !grt_cell_is_text(sort->kind);
	return 0;
}

void grt_top_free(struct grt_top *t)
{
	if (!t)
		return;
	free(t->slot);
	free(t);
}

/* --------------------------------------------------------------- analysis */

/**
 * struct job_list - jobs as rows
 * @top: sorted; NULL: jobs are written in the order of their completion
 * @table: the table of jobs, with its title in this pass
 */
struct job_list {
	const struct grt_pass *pass;
	struct grt_top *top;
	struct grt_job_view view;
	struct grt_table table;
	char title[64];
};

static int new_list(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct job_list *l = calloc(1, sizeof(*l));

	*state = l;
	if (!l)
		return -ENOMEM;
	l->pass = pass;
	l->view.names = pass->names;
	snprintf(l->title, sizeof(l->title), "jobs by %s",
		 pass->sort ? pass->sort->name : "time of completion");
	l->table = grt_job_table;
	l->table.title = l->title;
	return pass->streams ? 0 : grt_top_new(&l->top, pass->sort, &l->view, pass->top);
}

static void open_list(void *state)
{
	struct job_list *l = state;

	if (l->pass->streams)
		grt_writer_table(l->pass->writer, &l->table, &l->view);
}

static int add_to_list(void *state, const struct grt_job *job)
{
	struct job_list *l = state;

	if (l->top)
		return grt_top_add(l->top, job);
	if (!l->pass->top || l->pass->jobs_seen < l->pass->top)
		return grt_writer_row(l->pass->writer, job);
	return 0;
}

static int write_job(void *arg, const struct grt_job *job)
{
	return grt_writer_row(((struct job_list *)arg)->pass->writer, job);
}

static int write_list(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct job_list *l = state;
	int ret = 0;

	if (l->top) {
		grt_writer_table(pass->writer, &l->table, &l->view);
		ret = grt_top_each(l->top, write_job, l);
	}
	grt_writer_table_end(pass->writer);
	if (!l->top && pass->top && pass->jobs_seen > pass->top)
		grt_note(pass->notes, "%" PRIu64 " {more job|more jobs}: --top 0 shows all",
			 pass->jobs_seen - pass->top);
	return ret;
}

static void top_free_list(void *state)
{
	struct job_list *l = state;

	grt_top_free(l->top);
	free(l);
}

static const struct grt_part list_parts[] = {
	{"job", "each job", GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_JOBS, 0, &grt_job_table, .with = "ring",
	 .write = write_list},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_top = {
	.name = "top",
	.parts = list_parts,
	.begin = new_list,
	.open = open_list,
	.job = add_to_list,
	.free = top_free_list,
};
