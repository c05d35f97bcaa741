// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of displays: refresh rate, missed frames, late events. */
#include <inttypes.h>

#include "table/hist_table.h"
#include "vblank.h"

static const struct grt_column crtc_columns[] = {
	{"crtc", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "index of the CRTC"},
	{"device", grt_row_get, 1, GRT_CELL_NAMED, GRT_COLUMN_MORE, "device: name in text, else number"},
	{"refresh_mhz", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "frames per 1000 s, from their time stamps"},
	{"Hz", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_BRIEF,
	 "refresh rate, from the time stamps of the frames"},
	{"frames", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "vertical blanks seen"},
	{"missed", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "frame numbers that are missing between them"},
	{"back", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "times that the frame number did not grow"},
	{"precise", grt_row_get, 7, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "share of frames with a precise time stamp, percent"},
	{"asked", grt_row_get, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events that clients requested"},
	{"delivered", grt_row_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events delivered, with those of page flips"},
	{"no_frame", grt_row_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "page flips delivered with frame number 0: the driver counts no frames"},
	{"queued_over_1ms", grt_row_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events delivered more than 1 ms after their request"},
	{"vblank_over_1ms", grt_row_get, 12, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events delivered more than 1 ms after their vertical blank"},
	{"ahead", grt_row_get, 13, GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "events delivered before the scan-out of their frame began"},
	{.name = NULL},
};

static const struct grt_table crtc_table = {"crtcs", "displays", crtc_columns, 0};

static int write_crtc(struct grt_pass *pass, const struct grt_crtc *crtc)
{
	struct grt_row_cells c = {.n = 0};
	uint64_t mhz;
	char hz[32];

	grt_row_number(&c, crtc->crtc);
	grt_row_device(&c, pass->names, crtc->device);
	if (grt_vblank_rate(crtc, &mhz)) {
		grt_decimal(hz, mhz, 3);
		grt_row_number(&c, mhz);
		grt_row_text(&c, hz);
	} else {
		grt_row_absent(&c);
		grt_row_absent(&c);
	}
	grt_row_number(&c, crtc->frames);
	grt_row_number(&c, crtc->missed);
	grt_row_number(&c, crtc->back);
	grt_row_number(&c, crtc->frames ? crtc->precise * 100000 / crtc->frames : 0);
	c.cell[c.n - 1].absent = !crtc->frames;
	grt_row_number(&c, crtc->asked);
	grt_row_number(&c, crtc->delivered);
	grt_row_number(&c, crtc->no_frame);
	grt_row_number(&c, crtc->late_asked);
	c.cell[c.n - 1].absent = !crtc->since_asked.weight;
	grt_row_number(&c, crtc->late_vblank);
	c.cell[c.n - 1].absent = !crtc->since_vblank.weight;
	grt_row_number(&c, crtc->ahead);
	return grt_writer_row(pass->writer, &c);
}

static const struct grt_hist_tables delivery_tables =
	GRT_HIST_TABLES(CRTC, TIMES, "delivery", "delivery of events");

static int write_frame_latencies(const struct grt_vblank *state, struct grt_pass *pass)
{
	struct grt_hist_row row[2 * GRT_VBLANK_CRTCS_MAX];
	const struct grt_crtc *c;
	unsigned int n = 0;

	for (c = grt_vblank_each(state, NULL); c; c = grt_vblank_each(state, c)) {
		row[n++] = (struct grt_hist_row){c->crtc, "queued-to-delivered", &c->since_asked};
		row[n++] = (struct grt_hist_row){c->crtc, "vblank-to-delivered", &c->since_vblank};
	}
	return grt_hists_write(pass, &delivery_tables, row, n);
}

static int show_frames(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_vblank_count count = grt_vblank_count(state);
	const struct grt_crtc *crtc;
	uint64_t unasked = 0;
	int ret = 0;

	grt_writer_table(pass->writer, &crtc_table, NULL);
	for (crtc = grt_vblank_each(state, NULL); crtc && !ret; crtc = grt_vblank_each(state, crtc)) {
		ret = write_crtc(pass, crtc);
		unasked += crtc->delivered - crtc->joined;
	}
	grt_writer_table_end(pass->writer);
	if (unasked)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {event was|events were} delivered without a request in the trace: page flips, "
			 "or delivered with a later frame than requested",
			 unasked);
	if (count.open)
		grt_note(pass->notes,
			 "%" PRIu64 " {event was|events were} requested and not delivered for that frame",
			 count.open);
	if (count.forgotten || count.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {request|requests} and %" PRIu64
			 " {event is|events are} not in the table (limit of %u requests or %u CRTCs)",
			 count.forgotten, count.over, GRT_VBLANK_ASKED_MAX, GRT_VBLANK_CRTCS_MAX);
	return ret ? ret : write_frame_latencies(state, pass);
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_NEW(new_vblank, struct grt_vblank, grt_vblank_new, 0)
GRT_ANALYSIS_EVENT(vblank_table_take_event, grt_vblank_event)
GRT_ANALYSIS_FREE(free_vblank, grt_vblank_free)

static const uint16_t frame_types[] = {GRT_EV_VBLANK, GRT_EV_VBLANK_QUEUED, GRT_EV_VBLANK_DELIVERED, 0};
static const struct grt_part frame_parts[] = {
	{"frames", "refresh rate, missed frames and late events by CRTC", GRT_PART_MONITOR,
	 .types = frame_types, .tables = GRT_TABLES(&crtc_table, GRT_HIST_BOTH(delivery_tables)),
	 .write = show_frames},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_vblank = {
	.name = "vblank",
	.classes = GRT_IN_CLASS(vblank),
	.parts = frame_parts,
	.begin = new_vblank,
	.event = vblank_table_take_event,
	.free = free_vblank,
};
