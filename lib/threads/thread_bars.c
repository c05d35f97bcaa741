// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The states of threads as a part of a timeline. A row of the picture has the
 * state that took most of each column; JSON has the time of each state in each
 * column.
 *
 * Memory: 8 bytes for each column, state and thread that has that state.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/timescale.h"
#include "table/bars.h"
#include "table/rows.h"
#include "threads.h"

/* Most threads that have rows; further ones are counted. */
#define THREADS_MAX 1024U

/* Letters of the states: capitals mean on a CPU. */
static const char letters[GRT_THREAD_STATES] = {
	[GRT_THREAD_RUNNING] = 'R', [GRT_THREAD_POLLING] = 'P', [GRT_THREAD_RUNNABLE] = 'r',
	[GRT_THREAD_GPU] = 'g',	    [GRT_THREAD_DISPLAY] = 'd', [GRT_THREAD_IO] = 'i',
	[GRT_THREAD_LOCK] = 'l',    [GRT_THREAD_SLEEP] = 's',	[GRT_THREAD_CHILD] = 'c',
	[GRT_THREAD_OTHER] = 'o',   [GRT_THREAD_UNKNOWN] = ' ',
};

struct thread_bar {
	uint32_t number;
	uint64_t ns[GRT_THREAD_STATES];
	uint64_t *column[GRT_THREAD_STATES];
	char *states;
};

struct thread_bars {
	struct grt_timescale scale;
	struct grt_threads *threads;
	struct thread_bar *bar;
	uint32_t used, room;
	uint32_t *of_thread; /* by its number: index of its row + 1 */
	uint32_t of_thread_room;
	uint64_t over;
};

static int thread_bars_row(struct thread_bars *x, const struct grt_thread *t, struct thread_bar **out)
{
	*out = NULL;
	if (grt_grow_zeroed(&x->of_thread, &x->of_thread_room, t->number + 1, 64))
		return -ENOMEM;
	if (!x->of_thread[t->number] && x->used < THREADS_MAX) {
		if (grt_grow_zeroed(&x->bar, &x->room, x->used + 1, 16))
			return -ENOMEM;
		x->bar[x->used].number = t->number;
		x->of_thread[t->number] = ++x->used;
	}
	if (x->of_thread[t->number])
		*out = &x->bar[x->of_thread[t->number] - 1];
	else
		x->over++;
	return 0;
}

static int thread_bars_piece(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p)
{
	struct thread_bars *x = arg;
	struct thread_bar *bar;

	if (p->sample || t->tracer || p->end <= x->scale.first || p->start >= x->scale.last)
		return 0;
	if (thread_bars_row(x, t, &bar))
		return -ENOMEM;
	if (!bar)
		return 0;
	if (!bar->column[p->state])
		bar->column[p->state] = calloc(x->scale.columns + 1, sizeof(uint64_t));
	if (!bar->column[p->state])
		return -ENOMEM;
	bar->ns[p->state] += grt_timescale_fill(&x->scale, bar->column[p->state], p->start, p->end);
	return 0;
}

static int thread_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct thread_bars *x = *state;
	const struct grt_threads_sink sink = {.piece = thread_bars_piece, .arg = x};

	return grt_timescale_init(&x->scale, pass->first, pass->last, pass->columns)
		       ?: grt_threads_new(&x->threads, &sink);
}

static int thread_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_threads_event(((struct thread_bars *)state)->threads, e);
}

/* ------------------------------------------------------------------- rows */

static char thread_bars_letter(const struct thread_bar *bar, uint32_t c)
{
	uint64_t most = 0;
	char letter = ' ';

	for (unsigned int s = 0; s < GRT_THREAD_STATES; s++) {
		if (!bar->column[s] || bar->column[s][c] <= most)
			continue;
		most = bar->column[s][c];
		letter = letters[s];
	}
	return letter;
}

static uint64_t thread_bars_ran(const struct thread_bar *bar)
{
	return bar->ns[GRT_THREAD_RUNNING] + bar->ns[GRT_THREAD_POLLING];
}

/* The thread that ran most comes first. */
static int thread_bars_compare(const void *a, const void *b)
{
	const struct thread_bar *x = a, *y = b;
	uint64_t p = thread_bars_ran(x), q = thread_bars_ran(y);

	return p != q ? (p < q) - (p > q) : (x->number > y->number) - (x->number < y->number);
}

static int thread_bars_finish(void *state, struct grt_pass *pass)
{
	struct thread_bars *x = state;
	int ret = grt_threads_flush(x->threads);

	if (x->used)
		qsort(x->bar, x->used, sizeof(*x->bar), thread_bars_compare);
	for (uint32_t i = 0; i < x->used && !ret; i++) {
		x->bar[i].states = malloc(x->scale.columns + 1);
		if (!x->bar[i].states)
			return -ENOMEM;
		for (uint32_t c = 0; c < x->scale.columns; c++)
			x->bar[i].states[c] = thread_bars_letter(&x->bar[i], c);
	}
	return ret;
}

static bool thread_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct thread_bars *x = state;
	const struct grt_thread *t;
	const char *name;

	if (i >= x->used)
		return false;
	t = grt_threads_at(x->threads, x->bar[i].number);
	name = grt_names_name(grt_threads_names(x->threads), t->name);
	snprintf(bar->label, sizeof(bar->label), "%s(%" PRIu32 ")", name ?: "thread", t->tid);
	bar->look = GRT_BAR_STATES;
	bar->states = x->bar[i].states;
	bar->busy = thread_bars_ran(&x->bar[i]);
	bar->drawn = true;
	return true;
}

static const struct grt_column thread_bars_columns[] = {
	{"pid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"tid", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "thread id"},
	{"thread", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread"},
	{"state", grt_row_get, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL, "state of the thread"},
	{"busy", grt_row_get, 5, GRT_CELL_NS, GRT_COLUMN_ALL, "time in this state, ns"},
	{"columns", grt_row_get, 6, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "time in this state in each column, ns"},
	{.name = NULL},
};

static const struct grt_table thread_bars_table = {"thread_states", "states of threads", thread_bars_columns,
						   0};

static int thread_bars_write_state(const struct thread_bars *x, const struct thread_bar *bar, unsigned int s,
				   struct grt_pass *pass)
{
	const struct grt_names *names = grt_threads_names(x->threads);
	const struct grt_thread *t = grt_threads_at(x->threads, bar->number);
	struct grt_row_cells c = {.n = 0};

	grt_row_number(&c, t->pid);
	grt_row_text(&c, grt_names_owner(names, t->name));
	grt_row_number(&c, t->tid);
	grt_row_text(&c, grt_names_name(names, t->name));
	grt_row_text(&c, grt_thread_state_name(s));
	grt_row_number(&c, bar->ns[s]);
	grt_row_add(&c, (struct grt_cell){.list = bar->column[s], .number = x->scale.columns});
	return grt_writer_row(pass->writer, &c);
}

static int thread_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct thread_bars *x = state;
	int ret = 0;

	grt_writer_table(pass->writer, &thread_bars_table, NULL);
	for (uint32_t i = 0; i < x->used; i++)
		for (unsigned int s = 0; s < GRT_THREAD_STATES && !ret; s++)
			if (x->bar[i].ns[s])
				ret = thread_bars_write_state(x, &x->bar[i], s, pass);
	grt_writer_table_end(pass->writer);
	return ret;
}

static void thread_bars_notes(void *state, struct grt_pass *pass)
{
	const struct thread_bars *x = state;

	if (x->used)
		grt_note(pass->notes,
			 "threads: the state that took most of a column, R running, P polling, r "
			 "runnable; asleep for g the GPU, d the display, i input or output, l a "
			 "lock, s a time, c a process, o other; after it, the share of running");
	if (x->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {interval belongs|intervals belong} to threads without a row (limit of %u)",
			 x->over, THREADS_MAX);
}

GRT_ANALYSIS_ANY(thread_bars_any, thread_bars, used)

static void thread_bars_free(void *state)
{
	struct thread_bars *x = state;

	for (uint32_t i = 0; i < x->used; i++) {
		for (unsigned int s = 0; s < GRT_THREAD_STATES; s++)
			free(x->bar[i].column[s]);
		free(x->bar[i].states);
	}
	free(x->bar);
	free(x->of_thread);
	grt_threads_free(x->threads);
	grt_timescale_free(&x->scale);
}

static const struct grt_part thread_bars_parts[] = {
	{"threads", "threads", GRT_PART_BARS, .tables = GRT_TABLES(&thread_bars_table),
	 .any = thread_bars_any, .write = thread_bars_write, .bar = thread_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_thread_bars = {
	.name = "thread_bars",
	.classes = GRT_IN_CLASS(thread) | GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(name),
	.beyond = true,
	.parts = thread_bars_parts,
	.size = sizeof(struct thread_bars),
	.begin = thread_bars_begin,
	.event = thread_bars_event,
	.finish = thread_bars_finish,
	.notes = thread_bars_notes,
	.free = thread_bars_free,
};
