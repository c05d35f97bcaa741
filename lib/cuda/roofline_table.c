// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by roofline: how much of the GPU's memory bandwidth and tensor cores was used while each kernel
 * ran, and which of the two limits it.
 */
#include <inttypes.h>
#include <stdio.h>

#include "rooflines.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"

/* From this value on, a kernel is at a roof, in thousandths of a percent of it. */
#define AT_ROOF 60000U
/* Rows that are shown beside another table. */
#define TOP_KERNELS 10U

static int roofline_table_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return grt_rooflines_init(*state);
}

static void roofline_table_within(void *state, uint64_t from, uint64_t to)
{
	struct grt_rooflines *r = state;

	r->from = from;
	r->to = to;
}

static int roofline_table_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_rooflines_event(state, e, pass->names);
}

GRT_ANALYSIS_FINISH(roofline_table_finish, grt_rooflines_finish)

GRT_ANALYSIS_FREE(roofline_table_free, grt_rooflines_free)

GRT_ANALYSIS_ANY(roofline_table_any, grt_rooflines, rows.used)

/* ----------------------------------------------------------------- columns */

static void roofline_get_share(struct grt_cell *cell, const void *view, const void *row, int metric)
{
	cell->absent = !grt_roofline_mean(row, (enum grt_metric_id)metric, &cell->number);
	cell->inferred = true;
}

/* Thousandths. */
static void roofline_get_amount(struct grt_cell *cell, const void *view, const void *row, int metric)
{
	roofline_get_share(cell, view, row, metric);
	cell->number *= 1000;
	cell->text = grt_metric_unit_name(grt_metrics_table[metric].unit);
}

static void roofline_get_own(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_roofline *k = row;

	grt_cell_share(cell, k->own_ns, k->own_of);
}

static void roofline_get_known(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_roofline *k = row;
	uint64_t known = 0;

	for (unsigned int i = 0; i < GRT_METRICS; i++)
		known = k->known[i] > known ? k->known[i] : known;
	cell->number = grt_share(known, k->ns);
}

static void roofline_get_bound(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t memory, tensor;
	bool has_memory = grt_roofline_mean(row, GRT_METRIC_DRAM, &memory);
	bool has_tensor = grt_roofline_mean(row, GRT_METRIC_TENSOR, &tensor);

	cell->absent = !has_memory || !has_tensor;
	cell->inferred = true;
	cell->text = memory < AT_ROOF && tensor < AT_ROOF ? "neither" : memory > tensor ? "memory" : "tensor";
}

/* clang-format off */

#define K(member) offsetof(struct grt_roofline, member)
#define SHARE(name, METRIC, where, help) {name, roofline_get_share, GRT_METRIC_##METRIC, GRT_CELL_PERCENT, where, help}
#define AMOUNT(name, METRIC, where, help) {name, roofline_get_amount, GRT_METRIC_##METRIC, GRT_CELL_AMOUNT, where, help}

static const struct grt_column roofline_columns[] = {
	{"kernel", grt_cell_pointed, K(kernel), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"pid", grt_cell_u32, K(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"process", grt_cell_pointed, K(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"uuid", grt_cell_chars, K(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	{"calls", grt_cell_u64, K(calls), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often the kernel ran"},
	{"total", grt_cell_u64, K(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "time on the GPU, ns"},
	{"own", roofline_get_own, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the sampled time in which this kernel ran; the rest belongs to other work or idle time, which the next columns include; percent"},
	{"known", roofline_get_known, 0, GRT_CELL_PERCENT, GRT_COLUMN_MORE, "share of the kernel's time that has counter samples, percent"},
	SHARE("dram", DRAM, GRT_COLUMN_ALL, "bandwidth of the GPU's memory in use while the kernel ran, percent of its peak"),
	SHARE("tensor", TENSOR, GRT_COLUMN_ALL, "time in which the tensor cores worked, percent"),
	{"bound", roofline_get_bound, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "roof that is in use for 60 % or more: memory, tensor, or neither"},
	AMOUNT("dram_read", DRAM_READ, GRT_COLUMN_ALL, "bytes read from the GPU's memory, B/s"),
	AMOUNT("dram_write", DRAM_WRITE, GRT_COLUMN_ALL, "bytes written to the GPU's memory, B/s"),
	SHARE("sm", SM, GRT_COLUMN_ALL, "time in which the multiprocessors had at least one warp, percent"),
	SHARE("warps", WARPS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "warps on the multiprocessors, percent of their limit"),
	SHARE("l2", L2, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "sectors requested from the L2 cache, percent of its peak"),
	SHARE("instructions", ISSUE, GRT_COLUMN_MORE, "instructions issued, percent of the peak"),
	AMOUNT("pcie_read", PCIE_READ, GRT_COLUMN_MORE, "bytes received through PCIe, B/s"),
	AMOUNT("pcie_write", PCIE_WRITE, GRT_COLUMN_MORE, "bytes sent through PCIe, B/s"),
	AMOUNT("nvlink_in", NVLINK_IN, GRT_COLUMN_MORE, "bytes received through NVLink, B/s"),
	AMOUNT("nvlink_out", NVLINK_OUT, GRT_COLUMN_MORE, "bytes sent through NVLink, B/s"),
	AMOUNT("clock", CLOCK, GRT_COLUMN_MORE, "clock of the multiprocessors, Hz"),
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table roofline_table = {
	"roofline", "kernels under the roofs of the GPU's memory and tensor cores", roofline_columns,
	GRT_MARK_INFERRED};

/* ------------------------------------------------------------------- parts */

static void roofline_table_note_rest(const struct grt_rooflines *r, struct grt_pass *pass)
{
	if (r->rows.used)
		grt_note(
			pass->notes,
			"roofline: counters cover the whole GPU, in samples of %" PRIu64
			" us, joined with kernels by device and time (inferred): they include all work of the same time",
			r->interval / 1000);
	if (r->apart)
		grt_note(pass->notes,
			 "%" PRIu64 " {kernel|kernels} ran on devices without counters, %" PRIu64
			 " of them on devices whose UUID is unknown",
			 r->apart, r->unknown);
	if (r->over)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel or value is|kernels and values are} not in the roofline: there are too many names",
			r->over);
}

static int roofline_table_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_rooflines *r = state;
	bool beside = pass->asked != part;
	uint64_t all = r->rows.used, shown = grt_pass_shown(pass, part, all);

	if (beside && (!all || !(pass->verbose || pass->json)))
		return 0;
	if (beside && !pass->json && shown > TOP_KERNELS)
		shown = TOP_KERNELS;
	if (!all)
		grt_note(pass->notes, "the trace has no kernels with counters of their GPU: use "
				      "grtrace record -e cuda,gpumetrics -- PROG");
	grt_rows_sort((const void **)r->row, all, grt_pass_sort(pass, part, NULL), NULL, NULL);
	if (shown < all)
		grt_note(pass->notes,
			 beside ? "%" PRIu64 " {more kernel|more kernels}: report --by roofline shows all"
				: "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 all - shown);
	roofline_table_note_rest(r, pass);
	return grt_writer_list(pass->writer, part->table, NULL, (const void **)r->row, shown);
}

static const struct grt_part roofline_parts[] = {
	{"roofline", "use of the GPU's memory and tensor cores while each kernel ran",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_LONG, 0, &roofline_table, .any = roofline_table_any,
	 .write = roofline_table_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_roofline_table = {
	.name = "roofline_table",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(counter),
	.besides = GRT_IN_CLASS(counter),
	.beyond = true,
	.late = true,
	.parts = roofline_parts,
	.size = sizeof(struct grt_rooflines),
	.begin = roofline_table_begin,
	.within = roofline_table_within,
	.event = roofline_table_event,
	.finish = roofline_table_finish,
	.free = roofline_table_free,
};
