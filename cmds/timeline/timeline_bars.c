// SPDX-License-Identifier: GPL-2.0
/*
 * The pictures of `grtrace timeline`: a bar over time for each row, and one for each power of two of a
 * histogram. Names of a trace are escaped before they are cut to the label's width.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/escape.h"
#include "jobs/phase_table.h"
#include "jobs/timeline_table.h"
#include "table/bars.h"
#include "timeline.h"
#include "base/say.h"
#include "base/units.h"

#define BOLD "\033[1m"
#define GREEN "\033[32m"
#define PLAIN "\033[0m"

/* Most rows of a kind that are drawn; if there are more, the least busy ones are summed up in one. */
#define ROWS_SHOWN 24U
/* The most rings whose histograms are drawn. */
#define RINGS_SHOWN 8U
/* A label of the axis: "|+1.00 ms". */
#define TICK_ROOM 11U

/* Eighths: from the bottom for bars over time, from the left for histograms. */
static const char *const heights[2][9] = {
	{" ", ".", ":", "-", "=", "+", "*", "#", "@"},
	{" ", "▁", "▂", "▃", "▄", "▅", "▆", "▇", "█"},
};
static const char *const lengths[2][9] = {
	{"", ".", ".", ".", ".", ":", ":", ":", "#"},
	{"", "▏", "▎", "▍", "▌", "▋", "▊", "▉", "█"},
};

static void put_colour(const struct timeline *tl, const char *colour)
{
	if (tl->look.colour)
		fputs(colour, stdout);
}

static bool begins_character(char c)
{
	return ((unsigned char)c & 0xc0) != 0x80;
}

static unsigned int timeline_bars_width_of(const char *s)
{
	unsigned int n = 0;

	for (; *s; s++)
		n += begins_character(*s);
	return n;
}

/* Writes exactly @width characters; a label that is too long ends in "..". */
static void timeline_bars_put_label(const char *text, unsigned int width)
{
	unsigned int n = timeline_bars_width_of(text), room = n > width ? width - 2 : width, used = 0;

	for (; *text; text++) {
		used += begins_character(*text);
		if (used > room)
			break;
		putchar(*text);
	}
	if (n > width)
		fputs("..", stdout);
	else
		printf("%*s", (int)(width - n), "");
}

/* Rounded, but never 0 for something that was busy. */
static unsigned int eighths(uint64_t busy, uint64_t width)
{
	unsigned __int128 twice = (unsigned __int128)busy * 16;

	if (!busy || !width)
		return 0;
	if (busy >= width)
		return 8;
	twice = (twice + width) / (2 * (unsigned __int128)width);
	return twice ? (unsigned int)twice : 1;
}

static void put_share(const struct timeline *tl, const struct grt_bar *b)
{
	uint64_t span = grt_pass_span(&tl->a.pass);
	char text[GRT_UNITS_MAX], marked[GRT_UNITS_MAX + 4];

	if (!b->drawn || !span) {
		printf("%*s", SHARE_WIDTH - 1, "-");
		return;
	}
	grt_units_percent(text, grt_share_down(b->busy, span));
	snprintf(marked, sizeof(marked), "%s%s%s",
		 b->least     ? ">"
		 : b->sampled ? "~"
			      : "",
		 text, b->inferred ? "*" : "");
	/* The mark comes after the number, so that numbers stay aligned. */
	printf("%*s", b->inferred ? SHARE_WIDTH : SHARE_WIDTH - 1, marked);
}

static void put_behind(const struct timeline *tl, const struct grt_bar *b)
{
	char text[4 * sizeof(b->behind)];

	if (!*b->behind) {
		put_share(tl, b);
		return;
	}
	grt_escape(GRT_ESCAPE_TERM, text, sizeof(text), b->behind, strlen(b->behind));
	printf("%*.*s", SHARE_WIDTH - 1, SHARE_WIDTH - 1, text);
}

/* Return: the value at which a column is full. */
static uint64_t timeline_bars_full(const struct grt_bar *b, const struct grt_timeline *t, uint32_t columns,
				   uint32_t c)
{
	uint64_t most = 0;

	if (b->look == GRT_BAR_TIME)
		return grt_timeline_border(t, c + 1) - grt_timeline_border(t, c);
	for (uint32_t i = 0; i < columns; i++)
		most = b->column[i] > most ? b->column[i] : most;
	return most;
}

static void put_columns(const struct timeline *tl, const struct grt_timeline *t, const struct grt_bar *b)
{
	const char *const *glyph = heights[tl->look.utf8];
	uint32_t columns = tl->a.pass.columns;
	uint64_t full = 0;

	for (uint32_t c = 0; c < columns; c++) {
		if (b->drawn && (!c || b->look == GRT_BAR_TIME))
			full = timeline_bars_full(b, t, columns, c);
		fputs(glyph[b->drawn ? eighths(b->column[c], full) : 0], stdout);
	}
}

static void put_bar(const struct timeline *tl, const struct grt_timeline *t, const struct grt_bar *b)
{
	timeline_bars_put_label(b->label, tl->look.label);
	putchar('|');
	put_colour(tl, GREEN);
	if (b->look == GRT_BAR_STATES)
		printf("%.*s", (int)tl->a.pass.columns, b->states);
	else
		put_columns(tl, t, b);
	put_colour(tl, PLAIN);
	putchar('|');
	if (tl->look.shares)
		put_behind(tl, b);
	putchar('\n');
}

/* Ticks where columns begin, as many as have room. */
static void put_axis(const struct timeline *tl, const struct grt_timeline *t, const char *title)
{
	uint32_t columns = tl->a.pass.columns, ticks = columns / TICK_ROOM, at = 0;
	char text[GRT_UNITS_MAX];

	put_colour(tl, BOLD);
	if (ticks)
		timeline_bars_put_label(title, tl->look.label);
	else
		fputs(title, stdout);
	for (uint32_t i = 0; i < ticks; i++) {
		uint32_t c = (uint32_t)((uint64_t)columns * i / ticks);

		grt_units_ns(text, grt_timeline_border(t, c) - tl->span.first);
		printf("%*s", (int)(c - at), "");
		at = c + (uint32_t)printf("|+%s", text);
	}
	put_colour(tl, PLAIN);
	putchar('\n');
}

/* Labels */

static void ring_label(const struct timeline *tl, const struct grt_timeline_row *row, char *text, size_t room)
{
	const struct grt_names *names = tl->a.pass.names;
	const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, row->ring));
	const char *engine = row->engine ? grt_engine_name(row->engine) : "";
	uint32_t gpu = grt_names_gpus(names) ? grt_names_find(names, GRT_NAME_RING_GPU, row->ring)
					     : GRT_NAME_UNKNOWN;
	const char *card = grt_names_owner(names, gpu) ?: grt_names_name(names, gpu);
	char id[32];

	snprintf(id, sizeof(id), "ring %" PRIu32, row->ring);
	if (row->ring == GRT_RING_NONE)
		strcpy(id, "no ring");
	snprintf(text, room, "%s%s%s%s%s", card ?: "", card ? " " : "", name ?: id, *engine ? " " : "",
		 engine);
}

static void engine_label(const struct timeline *tl, const struct grt_timeline_row *row, char *text,
			 size_t room)
{
	snprintf(text, room, "%s", grt_engine_name(row->engine));
}

static void process_label(const struct timeline *tl, const struct grt_timeline_row *row, char *text,
			  size_t room)
{
	const char *name = grt_names_owner(tl->a.pass.names, row->name);

	if (row->pid && name)
		snprintf(text, room, "%s(%" PRIu32 ")", name, row->pid);
	else if (row->pid)
		snprintf(text, room, "pid %" PRIu32, row->pid);
	else
		snprintf(text, room, "%s", name ? name : "unknown");
}

static int compare_identity(const struct grt_timeline_row *a, const struct grt_timeline_row *b)
{
	return grt_compare(a->device, b->device)
	       ?: grt_compare(a->ring, b->ring)
	       ?: grt_compare(a->pid, b->pid);
}

static const struct grt_timeline_row *row_at(const void *p)
{
	return *(const struct grt_timeline_row *const *)p;
}

static int timeline_bars_by_identity(const void *a, const void *b)
{
	return compare_identity(row_at(a), row_at(b));
}

static int by_engine(const void *a, const void *b)
{
	return row_at(a)->engine - row_at(b)->engine;
}

static int by_busy(const void *a, const void *b)
{
	const struct grt_timeline_row *x = row_at(a), *y = row_at(b);

	if (x->busy != y->busy)
		return x->busy < y->busy ? 1 : -1;
	return compare_identity(x, y);
}

/* The process that used the device most comes first; rings and engines have an order of their own. */
static const struct {
	const char *title;
	void (*label)(const struct timeline *tl, const struct grt_timeline_row *row, char *text, size_t room);
	int (*order)(const void *a, const void *b);
} kinds[GRT_BYS] = {
	[GRT_BY_RING] = {"rings", ring_label, timeline_bars_by_identity},
	[GRT_BY_ENGINE] = {"engines", engine_label, by_engine},
	[GRT_BY_PROCESS] = {"processes", process_label, by_busy},
};

static void timeline_bars_put_row(const struct timeline *tl, const struct grt_timeline *t,
				  enum grt_group_by by, const struct grt_timeline_row *row)
{
	struct grt_bar b = {
		.column = row->column,
		.busy = row->busy,
		.drawn = row->drawn && row->column,
		.inferred = row->inferred,
		.sampled = row->sampled,
		.least = row->unsure,
	};
	char text[128];

	kinds[by].label(tl, row, text, sizeof(text));
	grt_escape(GRT_ESCAPE_TERM, b.label, sizeof(b.label), text, strlen(text));
	put_bar(tl, t, &b);
}

/* Several rows as one: their sum, which can exceed the time. */
static int put_others(struct timeline *tl, const struct grt_timeline *t, enum grt_group_by by,
		      struct grt_timeline_row *const *rows, uint32_t n)
{
	uint32_t columns = tl->a.pass.columns;
	uint64_t *sum = calloc(columns + 1, sizeof(*sum));
	struct grt_bar b = {.column = sum};

	if (!sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		b.busy += rows[i]->busy;
		b.drawn |= rows[i]->drawn && rows[i]->column;
		b.inferred |= rows[i]->inferred > 0;
		b.sampled |= rows[i]->sampled > 0;
		b.least |= rows[i]->unsure > 0;
		for (uint32_t c = 0; c < columns; c++)
			sum[c] += rows[i]->column[c];
	}
	grt_say_text(b.label, sizeof(b.label), "%" PRIu32 " {other|others}, sum", n);
	put_bar(tl, t, &b);
	free(sum);
	grt_note(&tl->notes, "%" PRIu32 " %s, the least busy, are drawn as one sum; --json has each", n,
		 kinds[by].title);
	return 0;
}

static int timeline_bars_put_rows(struct timeline *tl, const struct grt_timeline *t, enum grt_group_by by)
{
	const struct grt_keyed *rows = grt_timeline_rows(t, by);
	uint32_t n = rows->used, shown = n > ROWS_SHOWN ? ROWS_SHOWN - 1 : n;
	void **list;
	int ret = 0;

	if (grt_keyed_list(rows, by_busy, &list))
		return -ENOMEM;
	qsort(list, shown, sizeof(*list), kinds[by].order);
	putchar('\n');
	put_axis(tl, t, kinds[by].title);
	for (uint32_t i = 0; i < shown; i++)
		timeline_bars_put_row(tl, t, by, list[i]);
	if (n > shown)
		ret = put_others(tl, t, by, (struct grt_timeline_row *const *)list + shown, n - shown);
	if (!n)
		puts("  none");
	free(list);
	return ret;
}

/* Writes "none" only if nothing else is drawn either. */
static int put_bars(struct timeline *tl, const void *state)
{
	int ret;

	if (!grt_timeline_rows(state, GRT_BY_RING)->used && timeline_others(tl))
		return 0;
	ret = timeline_bars_put_rows(tl, state, GRT_BY_RING);
	if (!ret)
		ret = timeline_bars_put_rows(tl, state, GRT_BY_ENGINE);
	return ret ? ret : timeline_bars_put_rows(tl, state, GRT_BY_PROCESS);
}

/* Histograms */

static void put_power(const struct timeline *tl, const struct grt_power_row *p, uint64_t most)
{
	char from[GRT_UNITS_MAX], to[GRT_UNITS_MAX];
	int left, room;
	uint64_t full, rest;

	grt_units_ns(from, p->from);
	grt_units_ns(to, p->to);
	left = printf("%9s .. %-9s %8" PRIu64 " |", from, to, grt_weight_count(p->weight));
	room = (int)tl->look.width > left ? (int)tl->look.width - left : 1;
	full = (uint64_t)((unsigned __int128)p->weight * 8 * (unsigned int)room / most);
	if (p->weight && !full)
		full = 1;
	rest = full % 8;
	put_colour(tl, GREEN);
	for (full /= 8; full; full--)
		fputs(lengths[tl->look.utf8][8], stdout);
	fputs(lengths[tl->look.utf8][rest], stdout);
	put_colour(tl, PLAIN);
	putchar('\n');
}

static void put_histogram(const struct timeline *tl, const struct grt_latency_row *of, const char *ring)
{
	struct grt_power_row power[GRT_HIST_POWERS];
	unsigned int n = grt_powers(of, power);
	uint64_t most = 1;

	if (!n)
		return;
	for (unsigned int i = 0; i < n; i++)
		if (power[i].weight > most)
			most = power[i].weight;
	putchar('\n');
	put_colour(tl, BOLD);
	printf("%s of ", of->name);
	cmd_put_text(stdout, ring);
	fputs(of->hist->inferred ? "*, jobs" : ", jobs", stdout);
	put_colour(tl, PLAIN);
	putchar('\n');
	for (unsigned int i = 0; i < n; i++) {
		unsigned int end = i;

		/* The first and the last one are never empty. */
		while (!power[end].weight)
			end++;
		if (end > i + 1)
			printf("%12s\n", "..");
		i = end > i + 1 ? end : i;
		put_power(tl, &power[i], most);
	}
}

static int put_histograms(struct timeline *tl, const void *state)
{
	const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX];
	uint32_t n = grt_phases_list(state, rings);
	struct grt_timeline_row row;
	struct grt_latency_row of;
	char label[128];

	for (uint32_t i = 0; i < n && i < RINGS_SHOWN; i++) {
		row = (struct grt_timeline_row){.ring = rings[i]->ring, .engine = rings[i]->engine};
		ring_label(tl, &row, label, sizeof(label));
		for (unsigned int k = 0; k < GRT_LATENCIES; k++) {
			of = grt_latency(rings[i], k);
			put_histogram(tl, &of, label);
		}
	}
	if (n > RINGS_SHOWN)
		grt_note(&tl->notes,
			 "histograms of %" PRIu32 " {more ring is|more rings are} in --json, or use --ring",
			 n - RINGS_SHOWN);
	return 0;
}

/* Rows of other analyses: if there are too many, the first ones are the most important. */
static int put_rows_of(struct timeline *tl, const struct grt_part *part, const void *state)
{
	const struct grt_timeline *t = grt_analyses_state(&tl->a, GRT_ANALYSIS_ROW_timeline);
	struct grt_bar b = {.label = ""};
	char escaped[sizeof(b.label)];
	uint32_t n = 0;

	for (; part->bar(state, &tl->a.pass, n, &b); b = (struct grt_bar){.label = ""}) {
		if (!n)
			putchar('\n');
		if (!n)
			put_axis(tl, t, part->help);
		if (n++ >= ROWS_SHOWN)
			continue;
		grt_escape(GRT_ESCAPE_TERM, escaped, sizeof(escaped), b.label, strlen(b.label));
		strcpy(b.label, escaped);
		put_bar(tl, t, &b);
	}
	if (n > ROWS_SHOWN)
		grt_note(&tl->notes, "%" PRIu32 " {more row|more rows} of %s {is|are} in --json",
			 n - ROWS_SHOWN, part->help);
	return 0;
}

bool timeline_draw(struct timeline *tl, const struct grt_part *part, const void *state, int *ret)
{
	static const struct {
		const char *part;
		int (*draw)(struct timeline *tl, const void *state);
	} drawn[] = {{"bars", put_bars}, {"histograms", put_histograms}};

	if (part->bar) {
		*ret = put_rows_of(tl, part, state);
		return true;
	}
	for (size_t i = 0; i < sizeof(drawn) / sizeof(drawn[0]); i++) {
		if (strcmp(part->name, drawn[i].part))
			continue;
		*ret = drawn[i].draw(tl, state);
		return true;
	}
	return false;
}
