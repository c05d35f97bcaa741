// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Text for people: columns are as wide as their widest cell, numbers are aligned to the right. The first
 * rows of a table are kept until the widths are known; the rest of a long table is written as it comes, with
 * these widths.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/escape.h"
#include "base/containers.h"
#include "table.h"
#include "base/say.h"
#include "base/units.h"

/* Number of rows that determine the widths. */
#define KEPT_ROWS 256
/* The longest name is 32 bytes, each of which can become \xNN. */
#define NAME_MAX_LONG 160
/* A cell that is shortened keeps its end, so it must fit up to there. */
#define CELL_MAX 4096
/* Names longer than this are shortened before columns are left out, all to the same width. */
#define NAME_WANTED 32U
#define NAME_LEAST 12U
#define BETWEEN 2U
/* Where the further lines of a sentence begin. */
#define HANGING 2U
/* Bytes of a number and its unit. */
#define UNIT_MAX 80
#define AMOUNT_MAX (GRT_UNITS_MAX + UNIT_MAX)

#define BOLD "\033[1m"
#define PLAIN "\033[0m"

struct text {
	struct grt_writer w;
	bool begun; /* something was written above */
	char *kept; /* cells of KEPT_ROWS rows, each NUL terminated */
	size_t used;
	size_t room;
	unsigned int rows;
	bool flowing; /* the widths are determined */
	unsigned int width[GRT_COLUMNS_MAX];
	bool out[GRT_COLUMNS_MAX]; /* omitted, because it does not fit */
	unsigned int first;
	unsigned int last;     /* column that is not */
	unsigned int left_out; /* columns of all tables */
	bool cut;	       /* names are */
	bool any_inferred;
	bool any_estimated;
};

static unsigned int text_width_of(const char *s)
{
	return grt_text_width(s, strlen(s));
}

static bool to_the_left(const struct grt_column *c)
{
	return grt_cell_is_text(c->kind) || c->kind == GRT_CELL_NAMED;
}

static void format_bool(char *text, uint64_t number)
{
	strcpy(text, number ? "yes" : "no");
}

static void format_number(char *text, uint64_t number)
{
	snprintf(text, GRT_UNITS_MAX, "%llu", (unsigned long long)number);
}

static void format_signed(char *text, uint64_t number)
{
	snprintf(text, GRT_UNITS_MAX, "%lld", (long long)number);
}

/* Formats an amount in the largest unit, if it is more than the others can show. */
static void format_bytes(char *text, uint64_t number)
{
	if (number > INT64_MAX / 1000)
		snprintf(text, GRT_UNITS_MAX, "%llu GiB", (unsigned long long)(number >> 30));
	else
		grt_units_amount(text, GRT_UNITS_MAX, (int64_t)number * 1000, "B");
}

static void (*const format_value[GRT_CELL_KINDS])(char *text, uint64_t number) = {
	[GRT_CELL_NUMBER] = format_number,	[GRT_CELL_NAMED] = format_number,
	[GRT_CELL_SIGNED] = format_signed,	[GRT_CELL_NS] = grt_units_ns,
	[GRT_CELL_TIME] = grt_units_time,	[GRT_CELL_BOOL] = format_bool,
	[GRT_CELL_PERCENT] = grt_units_percent, [GRT_CELL_LIST] = format_number,
	[GRT_CELL_BYTES] = format_bytes,
};

/* The unit is a trace's text. */
static void format_amount(char *text, const struct grt_cell *c)
{
	char unit[UNIT_MAX];

	grt_escape(GRT_ESCAPE_TERM, unit, sizeof(unit), c->text, strlen(c->text));
	grt_units_amount(text, AMOUNT_MAX, (int64_t)c->number, unit);
}

static void format_cell(char *text, size_t room, enum grt_cell_kind kind, const struct grt_cell *c)
{
	char number[AMOUNT_MAX];
	const char *name;

	if (c->absent) {
		strcpy(text, "-");
		return;
	}
	if (grt_cell_is_text(kind) || (kind == GRT_CELL_NAMED && c->text)) {
		name = grt_cell_text(kind, c);
		grt_escape(GRT_ESCAPE_TERM, text, room, name, strlen(name));
		return;
	}
	if (kind == GRT_CELL_AMOUNT)
		format_amount(number, c);
	else
		format_value[kind](number, c->number);
	snprintf(text, room, "%s%s%s", c->estimated ? "~" : "", number, c->inferred ? "*" : "");
}

static void put_padding(FILE *out, unsigned int n)
{
	fprintf(out, "%*s", (int)n, "");
}

/* Return: the text after its first @n characters. */
static const char *skip_characters(const char *s, unsigned int n)
{
	for (; *s && n; n--)
		do
			s++;
		while (((unsigned char)*s & 0xc0) == 0x80);
	return s;
}

/* Cuts a cell in the middle, because names with much in common differ at their ends. */
static void put_cut(struct text *t, const char *cell, unsigned int width, unsigned int room)
{
	const char *dots = t->w.options.utf8 ? "…" : "..";
	unsigned int rest = room - text_width_of(dots), tail = rest / 2;

	fwrite(cell, 1, (size_t)(skip_characters(cell, rest - tail) - cell), t->w.options.out);
	fputs(dots, t->w.options.out);
	fputs(skip_characters(cell, width - tail), t->w.options.out);
	t->cut = true;
}

static void put_aligned(struct text *t, unsigned int i, const char *cell)
{
	FILE *out = t->w.options.out;
	unsigned int width = text_width_of(cell), pad = t->width[i] > width ? t->width[i] - width : 0;
	bool left = to_the_left(t->w.column[i]);

	if (t->out[i])
		return;
	if (i > t->first)
		put_padding(out, BETWEEN);
	if (!left)
		put_padding(out, pad);
	if (left && t->w.options.width && width > t->width[i])
		put_cut(t, cell, width, t->width[i]);
	else
		fputs(cell, out);
	if (left && i < t->last)
		put_padding(out, pad);
}

static void text_put_header(struct text *t)
{
	FILE *out = t->w.options.out;

	if (t->w.options.colour)
		fputs(BOLD, out);
	for (unsigned int i = 0; i < t->w.columns; i++)
		put_aligned(t, i, t->w.column[i]->name);
	fputc('\n', out);
	if (t->w.options.colour)
		fputs(PLAIN, out);
}

/* ------------------------------------------------------ tables that fit */

/* The width of the table with names of at most @name characters. */
static uint64_t width_with(const struct text *t, unsigned int name)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < t->w.columns; i++) {
		unsigned int width = t->width[i], title = text_width_of(t->w.column[i]->name);

		if (t->out[i])
			continue;
		if (to_the_left(t->w.column[i]) && width > name)
			width = title > name ? title : name;
		sum += width + (i ? BETWEEN : 0);
	}
	return sum;
}

/* Omits the rightmost of the least important columns; the first one stays. Return: whether there was one */
static bool leave_one_out(struct text *t, unsigned int importance)
{
	for (unsigned int i = t->w.columns; i-- > 1;)
		if (!t->out[i] && (t->w.column[i]->where & importance) == importance) {
			t->out[i] = true;
			t->left_out++;
			return true;
		}
	return false;
}

/*
 * Makes rows fit: first long names are shortened, then columns are left out by importance, then names are
 * shortened again, then columns are left out from the right.
 */
static void leave_out(struct text *t)
{
	static const struct {
		unsigned int importance;
		unsigned int name;
	} steps[] = {{GRT_COLUMN_LEAST, NAME_WANTED}, {GRT_COLUMN_LESS, NAME_WANTED}, {0, NAME_LEAST}};

	for (size_t i = 0; i < sizeof(steps) / sizeof(steps[0]); i++)
		while (width_with(t, steps[i].name) > t->w.options.width &&
		       leave_one_out(t, steps[i].importance))
			;
}

/* The widest names become as long as there is room. */
static void shorten_names(struct text *t)
{
	unsigned int name = 0;

	for (unsigned int i = 0; i < t->w.columns; i++)
		if (t->width[i] > name)
			name = t->width[i];
	while (name > NAME_LEAST && width_with(t, name) > t->w.options.width)
		name--;
	for (unsigned int i = 0; i < t->w.columns; i++) {
		unsigned int title = text_width_of(t->w.column[i]->name);

		if (to_the_left(t->w.column[i]) && t->width[i] > name)
			t->width[i] = title > name ? title : name;
	}
}

static void fit(struct text *t)
{
	if (t->w.options.width && width_with(t, CELL_MAX) > t->w.options.width) {
		leave_out(t);
		shorten_names(t);
	}
	for (unsigned int i = 0; i < t->w.columns; i++)
		if (!t->out[i])
			t->last = i;
	t->first = 0;
	while (t->first < t->last && t->out[t->first])
		t->first++;
}

/*
 * Return: whether the rows have several values of a column, or detail was requested for it; absent values do
 * not count.
 */
static bool text_column_varies(const struct text *t, unsigned int column)
{
	bool detail = t->w.options.verbose && t->w.column[column]->where & GRT_COLUMN_VERBOSE;
	const char *cell = t->kept, *first = NULL;

	for (unsigned int i = 0; i < t->rows * t->w.columns; i++, cell += strlen(cell) + 1) {
		if (i % t->w.columns != column || !strcmp(cell, "-"))
			continue;
		/* an estimated value is always of interest */
		if (detail || *cell == '~' || (first && strcmp(first, cell)))
			return true;
		first = cell;
	}
	return false;
}

/* If there are more rows than are kept, the values of the others are unknown. */
static void leave_same_out(struct text *t)
{
	for (unsigned int i = 0; i < t->w.columns && t->rows < KEPT_ROWS; i++)
		t->out[i] = t->w.column[i]->where & GRT_COLUMN_TELLS && !text_column_varies(t, i);
}

static void let_flow(struct text *t)
{
	const char *cell = t->kept;

	t->flowing = true;
	leave_same_out(t);
	fit(t);
	text_put_header(t);
	for (unsigned int r = 0; r < t->rows; r++) {
		for (unsigned int i = 0; i < t->w.columns; i++, cell += strlen(cell) + 1)
			put_aligned(t, i, cell);
		fputc('\n', t->w.options.out);
	}
	t->used = 0;
}

static int text_keep(struct text *t, const char *cell)
{
	size_t len = strlen(cell) + 1;

	if (grt_grow(&t->kept, &t->room, t->used + len, 4096))
		return -ENOMEM;
	memcpy(t->kept + t->used, cell, len);
	t->used += len;
	return 0;
}

static void text_put_title(struct text *t, const char *title, bool heads)
{
	if (t->begun)
		fputc('\n', t->w.options.out);
	t->begun = true;
	if (title)
		fprintf(t->w.options.out, heads && t->w.options.colour ? BOLD "%s" PLAIN "\n" : "%s\n",
			title);
}

static void text_nothing(struct grt_writer *w)
{
}

static unsigned int longest_name(const struct grt_field_value *f)
{
	unsigned int longest = 0;

	for (; f->name; f++)
		if (text_width_of(f->name) > longest)
			longest = text_width_of(f->name);
	return longest;
}

/* Numbers are aligned to the right, so that they can be compared. */
static unsigned int widest_number(const struct grt_field_value *f)
{
	char text[NAME_MAX_LONG];
	unsigned int widest = 0;

	for (; f->name; f++) {
		if (f->kind != GRT_CELL_NUMBER)
			continue;
		format_cell(text, sizeof(text), f->kind, &f->cell);
		if (text_width_of(text) > widest)
			widest = text_width_of(text);
	}
	return widest;
}

static void text_put_field(FILE *out, const struct grt_field_value *f, unsigned int names,
			   unsigned int numbers)
{
	char text[NAME_MAX_LONG];

	fprintf(out, "  %-*s  ", (int)names, f->name);
	if (f->kind == GRT_CELL_TEXT && !f->cell.absent) {
		grt_escape_print(GRT_ESCAPE_TERM, out, f->cell.text, strlen(f->cell.text));
	} else {
		format_cell(text, sizeof(text), f->kind, &f->cell);
		fprintf(out, "%*s", f->kind == GRT_CELL_NUMBER ? (int)numbers : 0, text);
	}
	if (f->note)
		fprintf(out, "  %s", f->note);
	fputc('\n', out);
}

static void text_fields(struct grt_writer *w, const char *name, const char *title,
			const struct grt_field_value *f)
{
	unsigned int names = longest_name(f), numbers = widest_number(f);

	if (!title)
		return;
	text_put_title((struct text *)w, title, f->name);
	for (; f->name; f++)
		text_put_field(w->options.out, f, names, numbers);
}

static void text_table(struct grt_writer *w)
{
	struct text *t = (struct text *)w;

	text_put_title(t, w->table->title, true);
	t->rows = 0;
	t->used = 0;
	t->flowing = false;
	memset(t->out, 0, sizeof(t->out));
	for (unsigned int i = 0; i < w->columns; i++)
		t->width[i] = text_width_of(w->column[i]->name);
}

static int keep_cell(struct text *t, unsigned int i, const char *cell)
{
	unsigned int width = text_width_of(cell);

	if (width > t->width[i])
		t->width[i] = width;
	return text_keep(t, cell);
}

static int text_row(struct grt_writer *w, const struct grt_cell *cells)
{
	struct text *t = (struct text *)w;
	size_t rows_before = t->used, room = w->options.width || w->options.wide ? CELL_MAX : NAME_MAX_LONG;
	char cell[CELL_MAX];
	int r = 0;

	for (unsigned int i = 0; i < w->columns && !r; i++) {
		format_cell(cell, room, w->column[i]->kind, &cells[i]);
		t->any_inferred |= !cells[i].absent && cells[i].inferred;
		t->any_estimated |= !cells[i].absent && cells[i].estimated;
		if (t->flowing)
			put_aligned(t, i, cell);
		else
			r = keep_cell(t, i, cell);
	}
	/* an incomplete row is dropped: the rows before it are complete */
	if (r) {
		t->used = rows_before;
		return r;
	}
	if (t->flowing)
		fputc('\n', w->options.out);
	t->rows++;
	if (!t->flowing && t->rows == KEPT_ROWS)
		let_flow(t);
	return 0;
}

static void text_table_end(struct grt_writer *w)
{
	struct text *t = (struct text *)w;

	if (!t->flowing && t->rows)
		let_flow(t);
	if (!t->rows)
		fputs("  none\n", w->options.out);
}

/* Lines end between words; what belongs to a sentence is below its beginning. */
static void put_sentence(const struct text *t, const char *text, size_t length)
{
	unsigned int at = 0, width = t->w.options.wrap;

	while (length) {
		const char *space = memchr(text + 1, ' ', length - 1);
		size_t n = space ? (size_t)(space - text) : length;
		unsigned int word = grt_text_width(text, n);

		if (at > HANGING && at + word > width && *text == ' ' && n > 1) {
			fprintf(t->w.options.out, "\n%*s", (int)HANGING - 1, "");
			at = HANGING - 1;
		}
		grt_escape_print(GRT_ESCAPE_TERM, t->w.options.out, text, n);
		at += word;
		text += n;
		length -= n;
	}
	fputc('\n', t->w.options.out);
}

static void text_notes(struct grt_writer *w, const char *const *notes, unsigned int n)
{
	struct text *t = (struct text *)w;

	if (n || t->any_inferred || t->any_estimated)
		text_put_title(t, NULL, false);
	if (t->any_inferred)
		fputs("* inferred, not observed\n", w->options.out);
	if (t->any_estimated)
		fputs("~ estimated from a sample, or at least this much\n", w->options.out);
	for (unsigned int i = 0; i < n; i++) {
		if (w->options.wrap) {
			put_sentence(t, notes[i], strlen(notes[i]));
			continue;
		}
		grt_escape_print(GRT_ESCAPE_TERM, w->options.out, notes[i], strlen(notes[i]));
		fputc('\n', w->options.out);
	}
}

/* Notes where values can be found that did not fit. */
static void text_end(struct grt_writer *w)
{
	struct text *t = (struct text *)w;

	if (!t->left_out && !t->cut)
		return;
	text_put_title(t, NULL, false);
	if (t->left_out)
		grt_say(w->options.out,
			"%u {column is|columns are} left out%s to fit %llu {character|characters}: -w shows all\n",
			t->left_out, t->cut ? " and names cut" : "", (unsigned long long)w->options.width);
	else
		grt_say(w->options.out, "names are cut to fit %llu {character|characters}: -w shows all\n",
			(unsigned long long)w->options.width);
}

static void text_free(struct grt_writer *w)
{
	free(((struct text *)w)->kept);
}

const struct grt_writer_ops writer_text = {
	.name = "text",
	.where = GRT_COLUMN_BRIEF,
	.size = sizeof(struct text),
	.begin = text_nothing,
	.fields = text_fields,
	.table = text_table,
	.row = text_row,
	.table_end = text_table_end,
	.notes = text_notes,
	.end = text_end,
	.free = text_free,
};
