// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* How much of the GPU's time is under stacks that end for each reason, as an analysis. */
#include "base/units.h"
#include "gpu_time.h"
#include "table/analysis.h"
#include "table/rows.h"

static const struct grt_column stack_end_columns[] = {
	{"end", grt_row_get, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "why the stack ends; none: there is no stack"},
	{"gpu", grt_row_get, 1, GRT_CELL_NS, GRT_COLUMN_ALL, "GPU time under such stacks"},
	{"share", grt_row_get, 2, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of all GPU time"},
	{"works", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of jobs, kernels and copies"},
	{"meaning", grt_row_get, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL, "explanation of the reason"},
	{.name = NULL},
};

static const struct grt_table stack_end_table = {"stack_ends", "GPU time by the end of its stack",
						 stack_end_columns, 0};

static int stack_end_write(struct grt_pass *pass, const struct grt_stack_end_sum *sum, uint64_t ns,
			   const char *name, const char *help)
{
	struct grt_row_cells c = {.n = 0};

	if (!sum->works)
		return 0;
	grt_row_text(&c, name);
	grt_row_number(&c, sum->ns);
	grt_row_number(&c, grt_share_down(sum->ns, ns));
	c.cell[c.n - 1].absent = !ns;
	grt_row_number(&c, sum->works);
	grt_row_text(&c, help);
	return grt_writer_row(pass->writer, &c);
}

static int stack_end_show(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_stack_ends ends;
	int ret = grt_gpu_time_flush(state) ?: grt_gpu_time_ends(state, &ends);
	uint64_t ns = ret ? 0 : grt_stack_ends_ns(&ends);

	/* with other tables, it is only shown if stacks were recorded */
	if (ret || (!pass->json && !pass->page && pass->asked != part && ns == ends.none.ns))
		return ret;
	grt_writer_table(pass->writer, &stack_end_table, NULL);
	for (unsigned int i = 0; i < GRT_STACK_ENDS && !ret; i++)
		ret = stack_end_write(pass, &ends.end[i], ns, grt_stack_end_name(i), grt_stack_end_help(i));
	if (!ret)
		ret = stack_end_write(pass, &ends.none, ns, "none",
				      "no stack was recorded, or it has only the system call");
	grt_writer_table_end(pass->writer);
	return ret;
}

static int stack_end_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_gpu_time *f;
	int ret = grt_gpu_time_new(&f);

	if (!ret)
		grt_gpu_time_filter(f, pass->filter);
	*state = f;
	return ret;
}

GRT_ANALYSIS_EVENT(stack_end_event, grt_gpu_time_event)
GRT_ANALYSIS_FREE(stack_end_free, grt_gpu_time_free)

static void stack_end_within(void *state, uint64_t from, uint64_t to)
{
	grt_gpu_time_within(state, from, to);
}

static const struct grt_part stack_end_parts[] = {
	{"ends", "GPU time by where its stacks end: at the program's entry, or why not",
	 GRT_PART_BY | GRT_PART_VERBOSE, .table = &stack_end_table, .write = stack_end_show},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_stack_ends = {
	.name = "stack_ends",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(error) | GRT_IN_CLASS(command) |
		   GRT_IN_CLASS(name) | GRT_IN_CLASS(stack) | GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.late = true,
	.whole = true,
	.parts = stack_end_parts,
	.begin = stack_end_begin,
	.within = stack_end_within,
	.event = stack_end_event,
	.free = stack_end_free,
};
