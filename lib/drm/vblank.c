// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of vblank.h. */
#include "vblank.h"

#include <inttypes.h>

#include "base/containers.h"
#include "table/hist_table.h"

/* Octaves of all histograms together: 4 MiB. */
#define OCTAVES 1024U
/* A longer jump is no gap between frames: the counter began again. */
#define JUMP_MAX (1U << 30)

struct grt_vblank {
	struct grt_keyed crtcs;
	struct grt_keyed asked; /* elements are stamps */
	uint32_t octaves;
	struct grt_vblank_count count;
};

/* Return: 0 with the CRTC; NULL: there are too many; or -ENOMEM */
static int get_crtc(struct grt_vblank *v, const struct grt_event *e, uint32_t crtc, struct grt_crtc **out)
{
	struct grt_key key = {{e->device, crtc}};
	void *found;
	int ret = grt_keyed_get_or_count(&v->crtcs, &key, &v->count.over, &found);

	*out = found;
	if (!*out)
		return ret;
	(*out)->crtc = crtc;
	(*out)->device = e->device;
	return 0;
}

static void vblank_follow(struct grt_crtc *c, const struct grt_ev_vblank *ev)
{
	uint32_t frames = ev->vseq - c->last_vseq;

	if (!frames || frames > JUMP_MAX || ev->stamp <= c->last_stamp) {
		c->back++;
		return;
	}
	c->missed += frames - 1;
	c->span_frames += frames;
	c->span_ns += ev->stamp - c->last_stamp;
}

static void add_since(struct grt_vblank *v, struct grt_hist *h, uint64_t *late, uint64_t from, uint64_t to)
{
	uint64_t ns = to - from;

	*late += ns > GRT_VBLANK_LATE_NS;
	grt_hist_add(h, ns, GRT_WEIGHT_ONE, false, &v->octaves);
}

/* A precise time stamp is that of the begin of scan-out, which may be later than the interrupt. */
static void add_since_vblank(struct grt_vblank *v, struct grt_crtc *c, uint64_t delivered)
{
	c->ahead += delivered < c->last_stamp;
	if (delivered >= c->last_stamp)
		add_since(v, &c->since_vblank, &c->late_vblank, c->last_stamp, delivered);
}

/* Takes the VBLANK of a frame whose events were delivered before it was reported. */
static void settle_early(struct grt_vblank *v, struct grt_crtc *c)
{
	for (uint32_t i = 0; i < c->earlies && c->early_vseq == c->last_vseq; i++)
		add_since_vblank(v, c, c->early[i]);
	c->earlies = 0;
}

static void hold_early(struct grt_crtc *c, uint32_t vseq, uint64_t time)
{
	if (c->early_vseq != vseq)
		c->earlies = 0;
	c->early_vseq = vseq;
	if (c->earlies < GRT_VBLANK_EARLY_MAX)
		c->early[c->earlies++] = time;
}

static int vblank_on_vblank(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank *ev = (const struct grt_ev_vblank *)e;
	struct grt_crtc *c;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	if (c->frames++)
		vblank_follow(c, ev);
	c->precise += !!ev->high_prec;
	c->last_stamp = ev->stamp;
	c->last_vseq = ev->vseq;
	settle_early(v, c);
	return 0;
}

static struct grt_key vblank_request_key(const struct grt_event *e, uint64_t file, uint32_t crtc,
					 uint32_t vseq)
{
	return (struct grt_key){{e->device, file, crtc, vseq}};
}

static int on_queued(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank_queued *ev = (const struct grt_ev_vblank_queued *)e;
	struct grt_key key = vblank_request_key(e, ev->file, ev->crtc, ev->vseq);
	struct grt_crtc *c;
	void *at;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	c->asked++;
	if (grt_keyed_find(&v->asked, &key)) {
		v->count.repeated++;
		return 0;
	}
	r = grt_keyed_get_or_replace(&v->asked, &key, &v->count.forgotten, &at);
	if (!r)
		*(uint64_t *)at = e->time;
	return r;
}

static int on_delivered(struct grt_vblank *v, const struct grt_event *e)
{
	const struct grt_ev_vblank_delivered *ev = (const struct grt_ev_vblank_delivered *)e;
	struct grt_key key = vblank_request_key(e, ev->file, ev->crtc, ev->vseq);
	uint64_t *asked;
	struct grt_crtc *c;
	int r = get_crtc(v, e, ev->crtc, &c);

	if (r || !c)
		return r;
	if (!ev->vseq) {
		c->no_frame++;
		return 0;
	}
	c->delivered++;
	if (c->frames && c->last_vseq == ev->vseq)
		add_since_vblank(v, c, e->time);
	else
		hold_early(c, ev->vseq, e->time);
	asked = grt_keyed_find(&v->asked, &key);
	if (!asked)
		return 0;
	c->joined++;
	add_since(v, &c->since_asked, &c->late_asked, *asked, e->time);
	grt_keyed_remove(&v->asked, asked);
	return 0;
}

int grt_vblank_event(struct grt_vblank *v, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_VBLANK:
		return vblank_on_vblank(v, e);
	case GRT_EV_VBLANK_QUEUED:
		return on_queued(v, e);
	case GRT_EV_VBLANK_DELIVERED:
		return on_delivered(v, e);
	default:
		return 0;
	}
}

int grt_vblank_new(struct grt_vblank **out, uint32_t asked)
{
	struct grt_vblank *v = calloc(1, sizeof(*v));

	*out = v;
	if (!v)
		return -ENOMEM;
	grt_keyed_init(&v->crtcs, sizeof(struct grt_crtc), GRT_VBLANK_CRTCS_MAX);
	grt_keyed_init(&v->asked, sizeof(uint64_t), asked ? asked : GRT_VBLANK_ASKED_MAX);
	v->octaves = OCTAVES;
	return 0;
}

struct grt_vblank_count grt_vblank_count(const struct grt_vblank *v)
{
	struct grt_vblank_count count = v->count;

	count.open = v->asked.used;
	return count;
}

const struct grt_crtc *grt_vblank_each(const struct grt_vblank *v, const struct grt_crtc *last)
{
	return last ? grt_keyed_next(&v->crtcs, last) : grt_keyed_oldest(&v->crtcs);
}

bool grt_vblank_rate(const struct grt_crtc *c, uint64_t *mhz)
{
	unsigned __int128 scaled = (unsigned __int128)c->span_frames * 1000000000000ULL;

	if (!c->span_ns)
		return false;
	scaled = (scaled + c->span_ns / 2) / c->span_ns;
	*mhz = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return true;
}

void grt_vblank_free(struct grt_vblank *v)
{
	if (!v)
		return;
	for (struct grt_crtc *c = grt_keyed_oldest(&v->crtcs); c; c = grt_keyed_next(&v->crtcs, c)) {
		grt_hist_free(&c->since_asked);
		grt_hist_free(&c->since_vblank);
	}
	grt_keyed_free(&v->crtcs);
	grt_keyed_free(&v->asked);
	free(v);
}

/* ---------------------------------------------------------- vblank table */

/* The tables of displays: refresh rate, missed frames, late events. */

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
