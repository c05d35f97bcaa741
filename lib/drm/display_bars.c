// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Displays as a part of a timeline: vertical blanks, and the frames of each
 * client and how many of these were late, by column. What a frame is, whose it
 * is, and when it is late, is decided in display_frames.h.
 *
 * Memory: that of display_frames.h, and 8 bytes for each column and row.
 */
#include <inttypes.h>

#include "base/compare.h"
#include "display_frames.h"
#include "table/bar_rows.h"
#include "vblank.h"

/** enum display_bar_what - what a row counts */
enum display_bar_what {
	BAR_VBLANKS,
	BAR_FRAMES,
	BAR_LATE,
};

static const char *const display_bar_names[] = {
	[BAR_VBLANKS] = "vblanks", [BAR_FRAMES] = "frames", [BAR_LATE] = "late"};

/**
 * struct display_bar - a row
 * @client: the client whose frames it counts
 */
struct display_bar {
	struct grt_bar_row bar;
	const struct grt_frame_client *client;
	uint32_t device;
	uint32_t crtc;
	enum display_bar_what what;
	uint64_t count;
};

struct display_bars {
	struct grt_bar_rows bars;
	struct grt_display_frames *frames;
};

static int display_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct display_bars *x = *state;

	return grt_bar_rows_begin(&x->bars, pass, sizeof(struct display_bar),
				  GRT_VBLANK_CRTCS_MAX + 2 * GRT_FRAME_CLIENTS)
		       ?: grt_display_frames_new(&x->frames);
}

/* A row is made for the first item that would be counted, even if that is not in the span. */
static int display_bars_count(struct display_bars *x, const struct display_bar *like, uint64_t time)
{
	const struct grt_key key = {
		{like->what, (uint64_t)like->device << 32 | like->crtc, (uintptr_t)like->client}};
	struct display_bar *row;
	int ret = grt_bar_rows_get(&x->bars, &key, &row);

	if (ret || !row)
		return ret;
	row->client = like->client;
	row->device = like->device;
	row->crtc = like->crtc;
	row->what = like->what;
	if (!time || !grt_timescale_has(&x->bars.scale, time))
		return 0;
	row->count++;
	row->bar.column[grt_timescale_column(&x->bars.scale, time)]++;
	return 0;
}

static __attribute__((noinline)) int display_bars_vblank(struct display_bars *x,
							 const struct grt_ev_vblank *v)
{
	struct display_bar row = {.device = v->e.device, .crtc = v->crtc, .what = BAR_VBLANKS};

	return display_bars_count(x, &row, v->stamp);
}

static int display_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct display_bars *x = state;

	/* no frame needs it */
	if (e->type == GRT_EV_VBLANK)
		return display_bars_vblank(x, (const struct grt_ev_vblank *)e);
	return grt_display_frames_event(x->frames, e);
}

static int display_bars_job(void *state, const struct grt_job *job)
{
	return grt_display_frames_job(((struct display_bars *)state)->frames, job);
}

/* ------------------------------------------------------------------- rows */

static int display_bars_client(struct display_bars *x, const struct grt_frame_client *client)
{
	struct display_bar row = {.client = client, .crtc = client->crtc};
	int ret = 0;

	for (uint32_t i = 0; i < client->n && !ret; i++) {
		row.what = BAR_FRAMES;
		ret = display_bars_count(x, &row, client->frame[i].shown);
		row.what = BAR_LATE;
		/* without a late frame, the row says that there was none */
		ret = ret ?: display_bars_count(x, &row, client->frame[i].late ? client->frame[i].shown : 0);
	}
	return ret;
}

static int display_bars_compare(const void *a, const void *b)
{
	const struct display_bar *x = *(void *const *)a, *y = *(void *const *)b;
	uint32_t p = x->client ? x->client->number + 1 : 0, q = y->client ? y->client->number + 1 : 0;

	return grt_compare(x->crtc, y->crtc)
	       ?: grt_compare(p, q)
	       ?: grt_compare(x->what, y->what)
	       ?: grt_compare(x->device, y->device);
}

static int display_bars_finish(void *state, struct grt_pass *pass)
{
	const struct grt_frame_client *client;
	struct display_bars *x = state;
	int ret = grt_display_frames_finish(x->frames);

	for (uint32_t i = 0; !ret && (client = grt_display_frames_client(x->frames, i)); i++)
		ret = display_bars_client(x, client);
	return ret ?: grt_bar_rows_finish(&x->bars, display_bars_compare);
}

static const char *display_bars_process(const struct display_bars *x, const struct display_bar *row)
{
	return row->client ? grt_names_owner(grt_display_frames_names(x->frames), row->client->name) : NULL;
}

static bool display_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct display_bars *x = state;
	const struct display_bar *row = grt_bar_rows_at(&x->bars, i);
	char process[GRT_PROCESS_LABEL];

	if (!row)
		return false;
	if (row->client)
		snprintf(bar->label, sizeof(bar->label), "  %s %s", display_bar_names[row->what],
			 grt_process_label(display_bars_process(x, row), row->client->pid, process));
	else
		snprintf(bar->label, sizeof(bar->label), "CRTC %" PRIu32 " %s", row->crtc,
			 display_bar_names[row->what]);
	snprintf(bar->behind, sizeof(bar->behind), "%" PRIu64, row->count);
	bar->look = GRT_BAR_AMOUNT;
	bar->column = row->bar.column;
	bar->drawn = true;
	return true;
}

static const struct grt_column display_bars_columns[] = {
	{"crtc", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "index of the CRTC"},
	{"device", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "device number, of vertical blanks"},
	{"pid", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id of the client"},
	{"process", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the client"},
	{"what", grt_row_get, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "what the row counts: vblanks, frames, or late frames"},
	{"count", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number in the span"},
	{"columns", grt_row_get, 6, GRT_CELL_LIST, GRT_COLUMN_MACHINE, "number in each column"},
	{.name = NULL},
};

static const struct grt_table display_bars_table = {"displays", "displays", display_bars_columns, 0};

static void display_bars_cells(const void *state, const void *at, const struct grt_pass *pass,
			       struct grt_row_cells *c)
{
	const struct display_bars *x = state;
	const struct display_bar *row = at;

	grt_row_number(c, row->crtc);
	grt_row_add(c, (struct grt_cell){.number = row->device, .absent = row->client});
	grt_row_add(c,
		    (struct grt_cell){.number = row->client ? row->client->pid : 0, .absent = !row->client});
	grt_row_text(c, display_bars_process(x, row));
	grt_row_text(c, display_bar_names[row->what]);
	grt_row_number(c, row->count);
	grt_bar_rows_put(&x->bars, row, c);
}

static int display_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct display_bars *x = state;

	return grt_bar_rows_write(&x->bars, pass, &display_bars_table, display_bars_cells, x);
}

static void display_bars_notes(void *state, struct grt_pass *pass)
{
	const struct display_bars *x = state;
	struct grt_display_frames_count count = grt_display_frames_count(x->frames);

	if (x->bars.over || count.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {vertical blank|vertical blanks} and %" PRIu64
			 " {frame is|frames are} in no row of the displays",
			 x->bars.over, count.over);
}

GRT_ANALYSIS_ANY(display_bars_any, display_bars, bars.rows.used)

static void display_bars_free(void *state)
{
	struct display_bars *x = state;

	grt_bar_rows_free(&x->bars);
	grt_display_frames_free(x->frames);
}

static const struct grt_part display_bars_parts[] = {
	{"displays", "displays", GRT_PART_BARS, .tables = GRT_TABLES(&display_bars_table),
	 .any = display_bars_any, .write = display_bars_write, .bar = display_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_display_bars = {
	.name = "display_bars",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(dep) | GRT_IN_CLASS(vblank) |
		   GRT_IN_CLASS(call) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(thread) | GRT_IN_CLASS(name),
	.parts = display_bars_parts,
	.size = sizeof(struct display_bars),
	.begin = display_bars_begin,
	.event = display_bars_event,
	.job = display_bars_job,
	.finish = display_bars_finish,
	.notes = display_bars_notes,
	.free = display_bars_free,
};
