// SPDX-License-Identifier: GPL-2.0
/*
 * `grtrace monitor`: statistics of interrupts, displays, calls on device files
 * and Xid errors.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "monitor.h"

/* Interrupts */

static const struct grt_column irq_columns[] = {
	{"client", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "client: name in text, else number"},
	{"src", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "source of the client"},
	{"ring", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ring, as the device numbers them"},
	{"vmid", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "the device's address space"},
	{"pasid", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "the process's address space"},
	{"count", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "interrupts"},
	{"mhz", monitor_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "per 1000 s of the run"},
	{"per_s", monitor_get, 7, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "per second of the run"},
	{.name = NULL},
};

static const struct grt_table irq_table = {"interrupts", "interrupts by client and source", irq_columns, 0};

static void rate_cells(struct monitor *m, struct monitor_cells *c, uint64_t count, char text[32])
{
	uint64_t milli;

	if (!monitor_rate(m, count, &milli)) {
		monitor_absent(c);
		monitor_absent(c);
		return;
	}
	monitor_decimal(text, milli, 1);
	monitor_number(c, milli);
	monitor_text(c, text);
}

/* A number that is not known has all its bits set. */
static void number_or_absent(struct monitor_cells *c, uint32_t number, uint32_t unknown)
{
	monitor_number(c, number);
	c->cell[c->n - 1].absent = number == unknown;
}

static int write_irq(struct monitor *m, const struct grt_tally_row *row, const void *arg)
{
	uint32_t source = (uint32_t)row->key.w[0], client = source >> 16;
	struct monitor_cells c = {.n = 0};
	char rate[32];

	(void)arg;
	number_or_absent(&c, client, GRT_IRQ_CLIENT_UNKNOWN);
	c.cell[0].text = grt_amdgpu_client_name(client);
	monitor_number(&c, source & 0xffff);
	c.cell[1].absent = source == UINT32_MAX;
	number_or_absent(&c, (uint16_t)(row->key.w[1] >> 16), UINT16_MAX);
	number_or_absent(&c, (uint16_t)row->key.w[1], UINT16_MAX);
	number_or_absent(&c, (uint32_t)row->key.w[2], UINT32_MAX);
	monitor_number(&c, row->count);
	rate_cells(m, &c, row->count, rate);
	return grt_writer_row(m->writer, &c);
}

int monitor_irqs(struct monitor *m)
{
	return monitor_tally(m, &irq_table, &m->irqs, "interrupts", write_irq, NULL);
}

/* Displays */

static const struct grt_column crtc_columns[] = {
	{"crtc", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "index of the CRTC"},
	{"device", monitor_get, 1, GRT_CELL_NAMED, GRT_COLUMN_MORE, "device: name in text, else number"},
	{"refresh_mhz", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "frames per 1000 s, from their stamps"},
	{"Hz", monitor_get, 3, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "refresh rate, from the frames' stamps"},
	{"frames", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "vertical blanks seen"},
	{"missed", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "frame numbers not seen between these"},
	{"back", monitor_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "times the frame number did not grow"},
	{"precise", monitor_get, 7, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "frames with a precise stamp, percent"},
	{"asked", monitor_get, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events that clients asked for"},
	{"delivered", monitor_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events delivered, page flips too"},
	{"no_frame", monitor_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "delivered with frame number 0"},
	{"queued_over_1ms", monitor_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "over 1 ms from request to delivery"},
	{"vblank_over_1ms", monitor_get, 12, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "over 1 ms from vertical blank to delivery"},
	{.name = NULL},
};

static const struct grt_table crtc_table = {"crtcs", "displays", crtc_columns, 0};

static int write_crtc(struct monitor *m, const struct grt_crtc *crtc)
{
	struct monitor_cells c = {.n = 0};
	uint64_t mhz;
	char hz[32];

	monitor_number(&c, crtc->crtc);
	monitor_device(m, &c, crtc->device);
	if (grt_vblank_rate(crtc, &mhz)) {
		monitor_decimal(hz, mhz, 3);
		monitor_number(&c, mhz);
		monitor_text(&c, hz);
	} else {
		monitor_absent(&c);
		monitor_absent(&c);
	}
	monitor_number(&c, crtc->frames);
	monitor_number(&c, crtc->missed);
	monitor_number(&c, crtc->back);
	monitor_number(&c, crtc->frames ? crtc->precise * 100000 / crtc->frames : 0);
	c.cell[c.n - 1].absent = !crtc->frames;
	monitor_number(&c, crtc->asked);
	monitor_number(&c, crtc->delivered);
	monitor_number(&c, crtc->no_frame);
	monitor_number(&c, crtc->late_asked);
	c.cell[c.n - 1].absent = !crtc->since_asked.weight;
	monitor_number(&c, crtc->late_vblank);
	c.cell[c.n - 1].absent = !crtc->since_vblank.weight;
	return grt_writer_row(m->writer, &c);
}

static int write_frame_latencies(struct monitor *m)
{
	struct monitor_hist row[2 * GRT_VBLANK_CRTCS_MAX];
	const struct grt_crtc *c;
	unsigned int n = 0;

	for (c = grt_vblank_each(m->vblank, NULL); c; c = grt_vblank_each(m->vblank, c)) {
		row[n++] = (struct monitor_hist){c->crtc, "queued-to-delivered", &c->since_asked};
		row[n++] = (struct monitor_hist){c->crtc, "vblank-to-delivered", &c->since_vblank};
	}
	return monitor_latencies(m, "delivery", "delivery of events", MONITOR_OF_CRTC, row, n);
}

int monitor_frames(struct monitor *m)
{
	const struct grt_vblank_count count = grt_vblank_count(m->vblank);
	const struct grt_crtc *crtc;
	uint64_t unasked = 0;
	int ret = 0;

	grt_writer_table(m->writer, &crtc_table, NULL);
	for (crtc = grt_vblank_each(m->vblank, NULL); crtc && !ret; crtc = grt_vblank_each(m->vblank, crtc)) {
		ret = write_crtc(m, crtc);
		unasked += crtc->delivered - crtc->joined;
	}
	grt_writer_table_end(m->writer);
	if (unasked)
		grt_note(&m->notes,
			 "%" PRIu64 " events were delivered without a request in the trace: page flips, "
			 "or delivered with a later frame than asked for",
			 unasked);
	if (count.open)
		grt_note(&m->notes, "%" PRIu64 " events were asked for and not delivered for that frame",
			 count.open);
	if (count.forgotten || count.over)
		grt_note(&m->notes,
			 "%" PRIu64 " requests were forgotten, %" PRIu64 " events are in no row: more than "
			 "%u requests or %u CRTCs",
			 count.forgotten, count.over, GRT_VBLANK_ASKED_MAX, GRT_VBLANK_CRTCS_MAX);
	return ret ? ret : write_frame_latencies(m);
}

/* Calls */

static const struct grt_column call_columns[] = {
	{"pid", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", monitor_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	{"opens", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "opens of device files"},
	{"failed_opens", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "of these, failed"},
	{"closes", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "closes"},
	{"open_now", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "opened in the trace and not closed"},
	{"ioctls", monitor_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ioctls"},
	{"failed_ioctls", monitor_get, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, failed"},
	{"ioctl_ns", monitor_get, 8, GRT_CELL_NS, GRT_COLUMN_ALL, "time in ioctls, ns"},
	{"mmaps", monitor_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "mappings"},
	{"polls", monitor_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "polls, without those through epoll"},
	{.name = NULL},
};

static const struct grt_table call_table = {"processes", "calls by process", call_columns, 0};

static int write_process(struct monitor *m, const struct grt_call_process *p)
{
	struct monitor_cells c = {.n = 0};

	monitor_number(&c, p->pid);
	c.cell[0].absent = !p->pid;
	monitor_text(&c, monitor_process(m, p->tid));
	monitor_number(&c, p->opens);
	monitor_number(&c, p->open_errors);
	monitor_number(&c, p->closes);
	monitor_number(&c, p->open);
	monitor_number(&c, p->ioctls);
	monitor_number(&c, p->ioctl_errors);
	monitor_number(&c, p->ioctl_ns);
	c.cell[c.n - 1].absent = !p->timed;
	monitor_number(&c, p->mmaps);
	monitor_number(&c, p->polls);
	return grt_writer_row(m->writer, &c);
}

/* A sentence that names the processes which have device files open. */
static void note_open(struct monitor *m, const struct grt_call_process *const *row, uint32_t n)
{
	char text[160] = "";
	size_t used = 0;
	uint32_t i, left = 0;

	for (i = 0; i < n; i++) {
		if (!row[i]->open)
			continue;
		if (used < sizeof(text) - 16)
			used += (size_t)snprintf(text + used, sizeof(text) - used, " %u", row[i]->pid);
		else
			left++;
	}
	if (used && left)
		grt_note(&m->notes, "open now: pid%s and %u more", text, left);
	else if (used)
		grt_note(&m->notes, "open now: pid%s", text);
	else
		grt_note(&m->notes, "open now: none of the files opened in the trace");
}

int monitor_calls(struct monitor *m)
{
	const struct grt_calls_count count = grt_calls_count(m->calls);
	const struct monitor_hist times = {0, "ioctl", grt_calls_ioctl_time(m->calls)};
	const struct grt_call_process **row;
	uint32_t n;
	int ret = grt_calls_processes(m->calls, &row, &n);

	if (ret)
		return ret;
	grt_writer_table(m->writer, &call_table, NULL);
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = write_process(m, row[i]);
	grt_writer_table_end(m->writer);
	note_open(m, row, n);
	free(row);
	if (count.half)
		grt_note(&m->notes, "%" PRIu64 " ioctls have no entry or no end in the trace: no time",
			 count.half);
	if (count.over || count.forgotten)
		grt_note(&m->notes,
			 "%" PRIu64 " calls are in no row, %" PRIu64 " open files were forgotten: more than "
			 "%u processes or %u files",
			 count.over, count.forgotten, GRT_CALLS_PROCESSES_MAX, GRT_CALLS_FILES_MAX);
	return ret ? ret : monitor_latencies(m, "ioctl_time", "time in ioctls", MONITOR_OF_ALL, &times, 1);
}

/* Xids */

static const struct grt_column xid_columns[] = {
	{"xid", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "the error's number"},
	{"name", monitor_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "the driver's name for it"},
	{"gpu", monitor_get, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address"},
	{"count", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often"},
	{"last", monitor_get, 4, GRT_CELL_TIME, GRT_COLUMN_ALL, "when it came last"},
	{"pid", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that the last one names"},
	{"text", monitor_get, 6, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "beginning of the last message"},
	{"meaning", monitor_get, 7, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what it means"},
	{"what_to_do", monitor_get, 8, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what to do first"},
	{.name = NULL},
};

static const struct grt_table xid_table = {"xids", "Xid errors", xid_columns, 0};

static int write_xid(struct monitor *m, const struct grt_xid_row *x)
{
	const struct grt_xid_info *info = grt_xid_info(x->code);
	struct monitor_cells c = {.n = 0};
	char gpu[GRT_BUS_MAX];

	monitor_number(&c, x->code);
	monitor_text(&c, info ? info->name : NULL);
	monitor_text(&c, grt_bus_text(gpu, x->bus));
	monitor_number(&c, x->count);
	monitor_number(&c, x->last);
	monitor_number(&c, x->pid);
	c.cell[c.n - 1].absent = !x->pid;
	monitor_text(&c, x->text[0] ? x->text : NULL);
	monitor_text(&c, info ? info->meaning : NULL);
	monitor_text(&c, info ? info->todo : NULL);
	return grt_writer_row(m->writer, &c);
}

int monitor_xids(struct monitor *m)
{
	const struct grt_xid_row **row;
	int ret = grt_xids_list(&m->xids, &row);

	if (ret)
		return ret;
	grt_writer_table(m->writer, &xid_table, NULL);
	for (uint32_t i = 0; i < m->xids.rows.used && !ret; i++)
		ret = write_xid(m, row[i]);
	grt_writer_table_end(m->writer);
	free(row);
	if (m->xids.over)
		grt_note(&m->notes, "%" PRIu64 " Xids are in no row: more than %u numbers", m->xids.over,
			 GRT_XIDS_MAX);
	return ret;
}
