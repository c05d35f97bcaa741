// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* report --by op, library-call and module: the columns of what operators.h adds up. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "operators.h"
#include "stack/symbols.h"
#include "table/analysis.h"
#include "table/cells.h"

static void operator_get_phase(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static const char *const names[] = {
		[GRT_OPERATOR_FORWARD] = "forward",
		[GRT_OPERATOR_BACKWARD] = "backward",
		[GRT_OPERATOR_OPTIMIZER] = "optimizer",
	};

	cell->text = names[((const struct grt_operator *)row)->phase];
}

/* The view is all time of all rows. */
static void operator_get_share(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	uint64_t all = *(const uint64_t *)view, part = *(const uint64_t *)((const char *)row + offset);

	grt_cell_share(cell, part, all);
}

static void operator_get_mean(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_operator_sums *s = &((const struct grt_operator *)row)->all;
	uint64_t n = s->kernels + s->copies;

	cell->absent = !n;
	cell->number = n ? (s->gpu + n / 2) / n : 0;
}

#define O(member) offsetof(struct grt_operator, member)

/* clang-format off */

#define COLUMNS(title, help) \
	{title, grt_cell_pointed, O(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, help}, \
	{"phase", operator_get_phase, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "phase of training, from the outermost frame that shows one: backward (a node or the engine of autograd), optimizer (a step of torch.optim), forward (a forward method in Python)"}, \
	{"kind", grt_cell_pointed, O(kind), GRT_CELL_TEXT, GRT_COLUMN_MORE, "aten, autograd, optimizer, inductor or triton; of a library its name"}, \
	{"pid", grt_cell_u32, O(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"}, \
	{"process", grt_cell_pointed, O(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"}, \
	{"launches", grt_cell_u64, O(all.launches), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CUDA calls in it that gave the GPU work, without replays of graphs"}, \
	{"launches_self", grt_cell_u64, O(own.launches), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "CUDA calls in it, but in no inner one, that gave the GPU work"}, \
	{"kernels", grt_cell_u64, O(all.kernels), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "kernels that it launched, or that were captured into a graph in it"}, \
	{"kernels_self", grt_cell_u64, O(own.kernels), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "kernels that it, and no inner one, launched"}, \
	{"copies", grt_cell_u64, O(all.copies), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "copies and fills that it launched"}, \
	{"gpu", grt_cell_u64, O(all.gpu), GRT_CELL_NS, GRT_COLUMN_ALL, "GPU time of all that it launched, ns"}, \
	{"gpu_self", grt_cell_u64, O(own.gpu), GRT_CELL_NS, GRT_COLUMN_ALL, "GPU time of what it, and no inner one, launched, ns"}, \
	{"share", operator_get_share, O(own.gpu), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of gpu_self in the GPU time of all rows, percent"}, \
	{"avg", operator_get_mean, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean GPU time of one kernel or copy, ns"}, \
	{.name = NULL}

static const struct grt_column operator_columns[] = {
	COLUMNS("op", "name of the operator, without the overload; absent: launched in none"),
};
static const struct grt_column library_columns[] = {
	COLUMNS("call", "function of the library; absent: launched in none"),
};
static const struct grt_column module_columns[] = {
	COLUMNS("module", "class of a forward method, and the line that called it; absent: launched in none"),
};

static const struct grt_table operator_table[GRT_OPERATOR_VIEWS] = {
	[GRT_OPERATOR_OPERATOR] = {"operators", "operators", operator_columns, 0},
	[GRT_OPERATOR_LIBRARY] = {"library_calls", "calls of libraries", library_columns, 0},
	[GRT_OPERATOR_MODULE] = {"modules", "modules", module_columns, 0},
};

/* clang-format on */

static void operator_note(const struct grt_operators *o, struct grt_pass *pass, bool any, bool rows)
{
	const struct grt_symbols_count *s = grt_operators_symbols(o);
	struct grt_launches_count n = grt_operators_count(o);

	if (!rows)
		grt_note(pass->notes, "the trace has no CUDA events: use grtrace record -e cuda -- PROG");
	else if (!any)
		grt_note(pass->notes, "no stack of a launch shows one of these");
	if (n.unknown)
		grt_note(pass->notes,
			 "the launch of %" PRIu64 " {kernel or copy|kernels and copies} is not in the trace",
			 n.unknown);
	if (n.open || n.no_stamps)
		grt_note(pass->notes,
			 "%" PRIu64 " {record|records} had not ended and %" PRIu64
			 " {has|have} no time stamps: {its|their} time is not counted",
			 n.open, n.no_stamps);
	if (n.launches_lost || n.gpu_lost)
		grt_note(pass->notes,
			 "lost: %" PRIu64 " {launch|launches}, %" PRIu64 " {record|records} of the GPU",
			 n.launches_lost, n.gpu_lost);
	if (n.stack_cut)
		grt_note(pass->notes,
			 "%" PRIu64 " {stack does|stacks do} not reach the start of {its|their} thread",
			 n.stack_cut);
	if (s->unnamed)
		grt_note(pass->notes,
			 "%" PRIu64 " of %" PRIu64 " {address has|addresses have} no function (of %" PRIu64
			 " {file|files}, %" PRIu64 " not found, %" PRIu64 " changed since)",
			 s->unnamed, s->asked, s->objects, s->missing - s->other, s->other);
	if (grt_operators_over(o))
		grt_note(pass->notes,
			 "%" PRIu64 " {record is|records are} not in the table (limit of 1048576 stacks)",
			 grt_operators_over(o));
}

static int operator_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_operators *o = state;
	const struct grt_operator **row;
	int64_t n = grt_operators_list(o, &row);
	uint64_t all = 0, shown;
	bool any = false;
	int ret;

	if (n < 0)
		return -ENOMEM;
	for (int64_t i = 0; i < n; i++) {
		all += row[i]->own.gpu;
		any |= row[i]->name != NULL;
	}
	shown = grt_pass_shown(pass, part, (uint64_t)n);
	grt_rows_sort(row, (uint64_t)n, grt_pass_sort(pass, part, NULL), &all, NULL);
	ret = grt_writer_list(pass->writer, part->table, &all, row, shown);
	if (shown < (uint64_t)n)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 (uint64_t)n - shown);
	operator_note(o, pass, any, n);
	free(row);
	return ret;
}

#define BY(VIEW, where) \
	GRT_PART_BY | GRT_PART_NO_JOBS | (where), GRT_OPERATOR_##VIEW, &operator_table[GRT_OPERATOR_##VIEW]

static const struct grt_part operator_parts[] = {
	{"op", "CUDA work by operator of PyTorch and Triton, as the stacks of its launches show",
	 BY(OPERATOR, GRT_PART_TABLES), .write = operator_write},
	{"library-call", "CUDA work by call of cuBLAS, cuDNN, NCCL and the like", BY(LIBRARY, 0),
	 .write = operator_write},
	{"module", "CUDA work by module of PyTorch and the line that called it", BY(MODULE, 0),
	 .write = operator_write},
	{.name = NULL},
};

static int operator_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	enum grt_operator_view view = GRT_OPERATOR_OPERATOR;

	while (!(parts >> view & 1))
		view++;
	return grt_operators_new((struct grt_operators **)state, pass->launches, view);
}

static int operator_finish(void *state, struct grt_pass *pass)
{
	pass->operators = state;
	return grt_operators_finish(state);
}

GRT_ANALYSIS_WORK(operator_work, grt_operators_work)
GRT_ANALYSIS_FREE(operator_free, grt_operators_free)

const struct grt_analysis grt_analysis_operators = {
	.name = "operators",
	.beyond = true,
	.late = true,
	.finds = true,
	.parts = operator_parts,
	.begin = operator_begin,
	.work = operator_work,
	.finish = operator_finish,
	.free = operator_free,
};
