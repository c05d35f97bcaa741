// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by stall and --by line: where kernels stall, and why, by PC samples.
 */
#include <errno.h>
#include <fcntl.h>
#include <fnmatch.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "base/containers.h"
#include "pc_samples.h"
#include "pc_sass.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"

/* --------------------------------------------------------------- sources */

/*
 * Lists lines of source files with their PC samples: the lines that have samples, and the lines around them.
 * Names of files come from the trace and are not trusted: a file is read only if its name is that of a source
 * file, and if it is a regular file of at most GRT_PC_SOURCE_BYTES.
 */

#define GRT_PC_SOURCE_BYTES (4U << 20)
/* Longest bar in characters, and bytes of a line that are kept. */
#define GRT_PC_SOURCE_BAR 20U
#define GRT_PC_SOURCE_LINE 160U

/**
 * struct grt_pc_source - a line of a source file
 * @file: name of the file without its directory; @path: with it
 * @line: number of the line
 * @reason: stall reason of most of its samples, NULL: it has no samples
 * @samples: number of its samples
 * @bar: a bar for its samples, relative to the line with the most samples
 * @text: the line
 */
struct grt_pc_source {
	const char *file;
	const char *path;
	uint32_t line;
	const char *reason;
	uint64_t samples;
	char bar[GRT_PC_SOURCE_BAR + 1];
	char text[GRT_PC_SOURCE_LINE];
};

/**
 * struct grt_pc_sources - lines of source files
 * @row, @rows, @room: the lines; files with more samples come first, lines of a file are in order
 * @missing: number of files that could not be read; @first: the first of them, NULL: none
 * @samples: samples of lines that are not shown
 * @changed: a file that was written after the recording or has too few lines, NULL: none
 */
struct grt_pc_sources {
	struct grt_pc_source **row;
	uint32_t rows;
	uint32_t room;
	uint32_t missing;
	const char *first;
	uint64_t samples;
	const char *changed;
};

/* Number of lines shown around one with samples. */
#define AROUND 2U
#define SOURCES "*.@(c|cc|cpp|cu|cuh|cxx|h|hh|hpp|hxx|inc|inl|py)"

/** struct hot - a line with samples, of several kernels together; @most: of its reason's row */
struct hot {
	const char *path;
	uint32_t image;
	uint32_t line;
	uint64_t samples;
	uint64_t file_samples;
	const char *reason;
	uint64_t most;
};

/* ------------------------------------------------------------------ lines */

static int pc_source_by_place(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;
	int order = strcmp(x->path, y->path);

	return order ? order : (x->line > y->line) - (x->line < y->line);
}

static int pc_source_by_file(const void *a, const void *b)
{
	const struct hot *x = a, *y = b;

	if (x->file_samples != y->file_samples)
		return x->file_samples > y->file_samples ? -1 : 1;
	return pc_source_by_place(a, b);
}

/* Merges rows of the same line. Return: number of rows left */
static uint32_t pc_source_merge_rows(struct hot *hot, uint32_t n)
{
	uint32_t used = 0;

	qsort(hot, n, sizeof(*hot), pc_source_by_place);
	for (uint32_t i = 0; i < n; i++) {
		struct hot *last = used ? &hot[used - 1] : NULL;

		if (!last || pc_source_by_place(last, &hot[i])) {
			hot[used++] = hot[i];
			continue;
		}
		last->samples += hot[i].samples;
		if (hot[i].most > last->most) {
			last->most = hot[i].most;
			last->reason = hot[i].reason;
		}
	}
	return used;
}

/* Return: the index after the lines of the file that begins at @first. */
static uint32_t pc_source_end(const struct hot *hot, uint32_t n, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < n && !strcmp(hot[first].path, hot[end].path))
		end++;
	return end;
}

static void pc_source_sum_files(struct hot *hot, uint32_t n)
{
	uint64_t sum;
	uint32_t end;

	for (uint32_t i = 0; i < n; i = end) {
		end = pc_source_end(hot, n, i);
		sum = 0;
		for (uint32_t j = i; j < end; j++)
			sum += hot[j].samples;
		for (uint32_t j = i; j < end; j++)
			hot[j].file_samples = sum;
	}
	qsort(hot, n, sizeof(*hot), pc_source_by_file);
}

static uint32_t pc_source_hot(const struct grt_pc_samples *p, struct hot *hot)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < p->lines.used; i++) {
		const struct grt_pc_line *l = p->line[i];

		if (l->file && l->line)
			hot[n++] = (struct hot){.path = l->file,
						.image = l->image,
						.line = l->line,
						.samples = l->samples,
						.reason = l->reason,
						.most = l->reason_samples};
	}
	n = pc_source_merge_rows(hot, n);
	pc_source_sum_files(hot, n);
	return n;
}

/* ------------------------------------------------------------------ files */

/* A FIFO must not block, and a device is not read. */
static FILE *pc_source_open(const char *path, uint64_t *written)
{
	struct stat st;
	FILE *f;
	int fd;

	if (path[0] != '/' || fnmatch(SOURCES, path, FNM_EXTMATCH))
		return NULL;
	fd = open(path, O_RDONLY | O_NONBLOCK | O_CLOEXEC | O_NOCTTY);
	if (fd < 0)
		return NULL;
	f = fstat(fd, &st) || !S_ISREG(st.st_mode) || st.st_size > GRT_PC_SOURCE_BYTES ? NULL
										       : fdopen(fd, "r");
	if (!f) {
		close(fd);
		return NULL;
	}
	*written = (uint64_t)st.st_mtim.tv_sec * 1000000000 + (uint64_t)st.st_mtim.tv_nsec;
	return f;
}

static void pc_source_bar(char bar[GRT_PC_SOURCE_BAR + 1], uint64_t samples, uint64_t most)
{
	uint64_t n =
		most ? (uint64_t)(((unsigned __int128)samples * GRT_PC_SOURCE_BAR + most - 1) / most) : 0;

	memset(bar, '#', n);
	bar[n] = '\0';
}

/* @hot: of this line, NULL: it has no samples */
static int pc_source_add(struct grt_pc_sources *s, const char *path, uint32_t line, const char *text,
			 const struct hot *hot, uint64_t most)
{
	const char *base = strrchr(path, '/');
	struct grt_pc_source *row = calloc(1, sizeof(*row));

	if (!row || grt_grow(&s->row, &s->room, s->rows + 1, 64)) {
		free(row);
		return -ENOMEM;
	}
	s->row[s->rows++] = row;
	row->path = path;
	row->file = base ? base + 1 : path;
	row->line = line;
	snprintf(row->text, sizeof(row->text), "%s", text);
	row->text[strcspn(row->text, "\r\n")] = '\0';
	for (char *c = row->text; *c; c++)
		*c = *c == '\t' ? ' ' : *c;
	if (!hot)
		return 0;
	row->samples = hot->samples;
	row->reason = hot->reason;
	pc_source_bar(row->bar, hot->samples, most);
	return 0;
}

/* The lines of one file. */
static int pc_source_list(struct grt_pc_sources *s, FILE *f, const struct hot *hot, uint32_t n, uint64_t most)
{
	const char *path = hot->path;
	char *text = NULL;
	size_t room = 0;
	uint32_t at = 0, i = 0;
	int ret = 0;

	while (!ret && i < n && getline(&text, &room, f) >= 0) {
		at++;
		if (at + AROUND >= hot[i].line || (i && at <= hot[i - 1].line + AROUND))
			ret = pc_source_add(s, path, at, text, at == hot[i].line ? &hot[i] : NULL, most);
		i += at == hot[i].line;
	}
	for (uint32_t rest = 0; !ret && i == n && rest < AROUND && getline(&text, &room, f) >= 0; rest++)
		ret = pc_source_add(s, path, ++at, text, NULL, most);
	/* the file has fewer lines than the one that was compiled */
	if (i < n)
		s->changed = s->changed ?: path;
	for (; i < n; i++)
		s->samples += hot[i].samples;
	free(text);
	return ret;
}

static int pc_source_file(struct grt_pc_sources *s, const struct grt_pc_samples *p, const struct hot *hot,
			  uint32_t n, uint64_t most, uint64_t last)
{
	uint64_t written, ahead = p->from->image[hot->image]->ahead;
	FILE *f = pc_source_open(hot->path, &written);
	int ret;

	if (!f) {
		s->missing++;
		s->first = s->first ?: hot->path;
		s->samples += hot->file_samples;
		return 0;
	}
	if (last && ahead && written > last + ahead)
		s->changed = s->changed ?: hot->path;
	ret = pc_source_list(s, f, hot, n, most);
	fclose(f);
	return ret;
}

/**
 * pc_sources_read - reads the source files of samples; @p: samples that are complete
 * @last: end of the recording, ns, 0: unknown. Return: 0 or -ENOMEM
 */
static int pc_sources_read(struct grt_pc_sources *s, const struct grt_pc_samples *p, uint64_t last)
{
	struct hot *hot = calloc(p->lines.used + 1UL, sizeof(*hot));
	uint32_t n, end;
	uint64_t most = 0;
	int ret = 0;

	memset(s, 0, sizeof(*s));
	if (!hot)
		return -ENOMEM;
	n = pc_source_hot(p, hot);
	for (uint32_t i = 0; i < n; i++)
		most = hot[i].samples > most ? hot[i].samples : most;
	for (uint32_t i = 0; i < n && !ret; i = end) {
		end = pc_source_end(hot, n, i);
		ret = pc_source_file(s, p, &hot[i], end - i, most, last);
	}
	free(hot);
	return ret;
}

/** pc_sources_free - frees all that @s owns, and makes it empty */
static void pc_sources_free(struct grt_pc_sources *s)
{
	for (uint32_t i = 0; i < s->rows; i++)
		free(s->row[i]);
	free(s->row);
	memset(s, 0, sizeof(*s));
}

/* ----------------------------------------------------------------- table */

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
	ret = pc_sources_read(&s, p, pass->known ? pass->last : 0);
	if (!ret) {
		shown = grt_pass_shown(pass, part, s.rows);
		grt_rows_sort((const void **)s.row, s.rows, grt_pass_sort(pass, part, NULL), &p->sums, NULL);
		ret = grt_writer_list(pass->writer, part->table, &p->sums, (const void **)s.row, shown);
		pc_table_note_source(&s, pass);
	}
	pc_sources_free(&s);
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
