// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by stall and --by line: where kernels stall, and why, by PC samples.
 */
#include <inttypes.h>
#include <stdio.h>
#include <string.h>

#include "pc_samples.h"
#include "pc_sass.h"
#include "pc_source.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"

static const struct grt_table instruction_table;

static int pc_table_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_pc_samples *p = *state;
	int ret = grt_pc_samples_init(p);

	p->by_instruction = pass->asked && pass->asked->table == &instruction_table;
	return ret;
}

static void pc_table_within(void *state, uint64_t from, uint64_t to)
{
	((struct grt_pc_samples *)state)->within = (struct grt_interval){from, to};
}

static int pc_table_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_pc_samples_event(state, e);
}

GRT_ANALYSIS_FINISH(pc_table_finish, grt_pc_samples_finish)

GRT_ANALYSIS_ANY(pc_table_any, grt_pc_samples, pairs.used)

GRT_ANALYSIS_FREE(pc_table_free, grt_pc_samples_free)

/* @offset: of the samples in the row; the view is their sum */
static void pc_table_get_share(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_share(cell, *(const uint64_t *)((const char *)row + offset),
		       ((const struct grt_pc_sums *)view)->samples);
}

/* A line without samples is shown only because of the lines around it. */
static void pc_table_get_share_of_line(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	pc_table_get_share(cell, view, row, offset);
	cell->absent |= !((const struct grt_pc_source *)row)->samples;
}

static void pc_table_get_text(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = (const char *)row + offset;
}

static void pc_table_get_of_kernel(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_pc_stall *s = row;

	grt_cell_share(cell, s->samples, s->of_kernel);
}

static void pc_table_get_of_line(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_pc_line *l = row;

	grt_cell_share(cell, l->reason_samples, l->samples);
}

static void pc_table_get_of_instruction(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_pc_instruction *x = row;

	grt_cell_share(cell, x->reason_samples, x->samples);
}

/* clang-format off */

#define S(member) offsetof(struct grt_pc_stall, member)
#define L(member) offsetof(struct grt_pc_line, member)
#define I(member) offsetof(struct grt_pc_instruction, member)
#define C(member) offsetof(struct grt_pc_source, member)

static const struct grt_column stall_columns[] = {
	{"pid", grt_cell_u32, S(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, S(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"kernel", grt_cell_pointed, S(kernel), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"reason", grt_cell_pointed, S(reason), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why warps of the kernel issued no instruction, as CUPTI names the reason"},
	{"samples", grt_cell_u64, S(samples), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "samples of warps that stalled for this reason"},
	{"share", pc_table_get_share, S(samples), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the samples of all rows, percent"},
	{"of_kernel", pc_table_get_of_kernel, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the samples of this kernel, percent"},
	{"idle", grt_cell_u64, S(idle), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "samples in cycles in which the scheduler issued no instruction from any warp"},
	{"meaning", grt_cell_pointed, S(meaning), GRT_CELL_TEXT, GRT_COLUMN_ALL, "meaning of the reason, and what usually helps"},
	{.name = NULL},
};

static const struct grt_column line_columns[] = {
	{"pid", grt_cell_u32, L(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, L(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"kernel", grt_cell_pointed, L(kernel), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"place", grt_cell_pointed, L(place), GRT_CELL_TEXT, GRT_COLUMN_ALL, "file and line, or the offset of the instruction where its code has no lines"},
	{"file", grt_cell_pointed, L(file), GRT_CELL_TEXT, GRT_COLUMN_MORE, "file with its directory"},
	{"line", grt_cell_id, L(line), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number of the line"},
	{"inlined", grt_cell_pointed, L(inlined), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "calls through which the inlined function of the line came into the kernel, from the kernel's line on"},
	{"samples", grt_cell_u64, L(samples), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "samples of warps at this place"},
	{"share", pc_table_get_share, L(samples), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the samples of all rows, percent"},
	{"reason", grt_cell_pointed, L(reason), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why most of these warps issued no instruction"},
	{"of_line", pc_table_get_of_line, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of this reason in the samples of the line, percent"},
	{"meaning", grt_cell_pointed, L(meaning), GRT_CELL_TEXT, GRT_COLUMN_ALL, "meaning of the reason, and what usually helps"},
	{.name = NULL},
};

static const struct grt_column instruction_columns[] = {
	{"pid", grt_cell_u32, I(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, I(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"kernel", grt_cell_pointed, I(kernel), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"cubin", grt_cell_u64, I(cubin), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "CRC of the code, which the recording has as .cubin_CRC"},
	{"offset", grt_cell_u64, I(offset), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "offset of the instruction in its function"},
	{"at", pc_table_get_text, I(at), GRT_CELL_TEXT, GRT_COLUMN_ALL, "the same in hexadecimal digits"},
	{"sass", grt_cell_pointed, I(sass), GRT_CELL_TEXT, GRT_COLUMN_ALL, "the instruction, as nvdisasm prints it"},
	{"place", grt_cell_pointed, I(place), GRT_CELL_TEXT, GRT_COLUMN_ALL, "file and line"},
	{"samples", grt_cell_u64, I(samples), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "samples of warps at this instruction"},
	{"share", pc_table_get_share, I(samples), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the samples of all rows, percent"},
	{"reason", grt_cell_pointed, I(reason), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why most of these warps issued no instruction"},
	{"of_instruction", pc_table_get_of_instruction, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of this reason in the samples of the instruction, percent"},
	{"meaning", grt_cell_pointed, I(meaning), GRT_CELL_TEXT, GRT_COLUMN_MORE, "meaning of the reason, and what usually helps"},
	{.name = NULL},
};

static const struct grt_column source_columns[] = {
	{"file", grt_cell_pointed, C(file), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the file"},
	{"path", grt_cell_pointed, C(path), GRT_CELL_TEXT, GRT_COLUMN_MORE, "file with its directory"},
	{"line", grt_cell_id, C(line), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the line"},
	{"samples", grt_cell_nonzero, C(samples), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "samples of warps at this line"},
	{"share", pc_table_get_share_of_line, C(samples), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the samples of all lines, percent"},
	{"bar", pc_table_get_text, C(bar), GRT_CELL_TEXT, GRT_COLUMN_ALL, "samples, relative to the line with most samples"},
	{"reason", grt_cell_pointed, C(reason), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why most of these warps issued no instruction"},
	{"text", pc_table_get_text, C(text), GRT_CELL_TEXT, GRT_COLUMN_ALL, "source text of the line"},
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table instruction_table = {
	"instructions", "instructions of kernels at which warps were sampled", instruction_columns, 0};
static const struct grt_table source_table = {"source", "source with its PC samples", source_columns, 0};
static const struct grt_table stall_table = {"stalls", "why warps of kernels stalled", stall_columns, 0};
static const struct grt_table line_table = {"lines", "lines of kernels at which warps were sampled",
					    line_columns, 0};

#define NO_SAMPLES "the trace has no PC samples: use grtrace record -e cuda --pc-sampling -- PROG"
/* Shown together with the table of kernels. */
#define TOP_LINES 10U

static int pc_table_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_pc_samples *p = state;
	bool lines = part->table == &line_table, beside = pass->asked != part;
	uint64_t all = lines ? p->lines.used : p->stalls.used, shown = grt_pass_shown(pass, part, all);
	const void **row = lines ? (const void **)p->line : (const void **)p->stall;

	if (beside && (!all || !(pass->verbose || pass->json)))
		return 0;
	if (beside && !pass->json && shown > TOP_LINES)
		shown = TOP_LINES;
	if (!all)
		grt_note(pass->notes, NO_SAMPLES);
	grt_rows_sort(row, all, grt_pass_sort(pass, part, NULL), &p->sums, NULL);
	if (shown < all)
		grt_note(pass->notes,
			 beside ? "%" PRIu64 " {more line|more lines}: report --by line shows all"
				: "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 all - shown);
	return grt_writer_list(pass->writer, part->table, &p->sums, row, shown);
}

static void pc_table_note_sass(const struct grt_pc_sass_result *r, struct grt_notes *notes)
{
	if (r->no_program)
		grt_note(
			notes,
			"instructions have offsets only: there is no nvdisasm in PATH or /usr/local/cuda/bin: "
			"install NVIDIA's package cuda-nvdisasm, or the CUDA toolkit");
	if (r->no_code)
		grt_note(
			notes,
			"%" PRIu64
			" {instruction has an offset only: the recording does not have its|instructions have offsets only: the recording does not have their} code",
			r->no_code);
	if (r->failed)
		grt_note(
			notes,
			"%" PRIu64
			" {instruction has an offset only: nvdisasm did not print it|instructions have offsets only: nvdisasm did not print them}: it may be older than the GPU",
			r->failed);
}

/* The text comes from a program that the command runs, so only rows that are shown have one. */
static int pc_table_write_instructions(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_pc_samples *p = state;
	uint64_t all = p->instructions.used, shown = grt_pass_shown(pass, part, all);
	struct grt_pc_sass_result result;
	int ret;

	if (pass->asked != part)
		return 0;
	if (!all)
		grt_note(pass->notes, NO_SAMPLES);
	grt_rows_sort((const void **)p->instruction, all, grt_pass_sort(pass, part, NULL), &p->sums, NULL);
	ret = grt_pc_sass_read(p, p->instruction, (uint32_t)shown, pass->sass, &result);
	if (ret)
		return ret;
	pc_table_note_sass(&result, pass->notes);
	if (shown < all)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", all - shown);
	return grt_writer_list(pass->writer, part->table, &p->sums, (const void **)p->instruction, shown);
}

static void pc_table_note_source(const struct grt_pc_sources *s, struct grt_pass *pass)
{
	if (s->missing)
		grt_note(pass->notes,
			 "%" PRIu32 " {source file|source files}, such as %.120s, cannot be read here",
			 s->missing, s->first);
	if (s->samples)
		grt_note(pass->notes,
			 "%" PRIu64 " {PC sample belongs|PC samples belong} to lines that are not shown",
			 s->samples);
	if (s->changed)
		grt_note(pass->notes, "%.120s was changed after the recording: its lines may not match",
			 s->changed);
}

/*
 * In a summary, the tables show what the recording has. Source files are read only on request, or for a page.
 */
static int pc_table_write_source(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_pc_samples *p = state;
	struct grt_pc_sources s;
	uint64_t shown;
	int ret;

	if (pass->asked != part && !p->lines.used)
		return 0;
	if (!p->lines.used)
		grt_note(pass->notes, NO_SAMPLES);
	ret = grt_pc_sources_read(&s, p, pass->known ? pass->last : 0);
	if (!ret) {
		shown = grt_pass_shown(pass, part, s.rows);
		grt_rows_sort((const void **)s.row, s.rows, grt_pass_sort(pass, part, NULL), &p->sums, NULL);
		ret = grt_writer_list(pass->writer, part->table, &p->sums, (const void **)s.row, shown);
		pc_table_note_source(&s, pass);
	}
	grt_pc_sources_free(&s);
	return ret;
}

static void pc_table_notes(void *state, struct grt_pass *pass)
{
	const struct grt_pc_samples *p = state;
	const struct grt_pc_sums *s = &p->sums;

	if (!s->total && !s->full)
		return;
	grt_note(pass->notes,
		 "%" PRIu64 " {PC sample|PC samples}: %" PRIu64
		 " at instructions of the program's kernels, %" PRIu64 " in other kernels, %" PRIu64
		 " dropped by the hardware",
		 s->total, s->samples, s->other, s->dropped);
	grt_pc_samples_note_windows(&s->windows, pass->notes);
	if (s->full)
		grt_note(
			pass->notes,
			"the hardware's buffer was full in %" PRIu64
			" {context|contexts}: its samples and all later ones are lost: use a longer --pc-sampling=PERIOD",
			s->full);
	if (s->samples && s->unlined)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {sample has|samples have} no line: nvcc -lineinfo writes line tables; PyTorch's own kernels have none",
			s->unlined);
	if (s->unseen && s->windows.sampled)
		grt_note(pass->notes,
			 "  %" PRIu64 " of these are in code that was loaded while CUPTI was detached",
			 s->unseen);
	if (s->over)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {PC sample is|PC samples are} not in the table: there were too many places",
			 s->over);
}

static const struct grt_part pc_parts[] = {
	{"stall", "why kernels stall, by PC samples", GRT_PART_BY | GRT_PART_NO_JOBS, 0, &stall_table,
	 .any = pc_table_any, .write = pc_table_write},
	{"line", "lines of kernels by PC samples", GRT_PART_BY | GRT_PART_NO_JOBS, 0, &line_table,
	 .with = "roofline", .any = pc_table_any, .write = pc_table_write},
	{"instruction", "instructions of kernels by PC samples, as nvdisasm prints them",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &instruction_table, .any = pc_table_any,
	 .write = pc_table_write_instructions},
	{"source", "source of kernels with the PC samples of its lines", GRT_PART_BY | GRT_PART_NO_JOBS, 0,
	 &source_table, .any = pc_table_any, .write = pc_table_write_source},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_pc_table = {
	.name = "pc_table",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.late = true,
	.parts = pc_parts,
	.size = sizeof(struct grt_pc_samples),
	.begin = pc_table_begin,
	.within = pc_table_within,
	.event = pc_table_event,
	.finish = pc_table_finish,
	.notes = pc_table_notes,
	.free = pc_table_free,
};
