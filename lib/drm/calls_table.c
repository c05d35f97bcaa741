// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The tables of calls on device files. */
#include <inttypes.h>
#include <stdlib.h>

#include "calls.h"
#include "table/hist_table.h"

static const struct grt_column call_columns[] = {
	{"pid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"opens", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "opens of device files"},
	{"failed_opens", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "opens that failed"},
	{"closes", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "closes of device files"},
	{"open_now", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "files opened in the trace and not closed"},
	{"ioctls", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ioctls"},
	{"failed_ioctls", grt_row_get, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ioctls that failed"},
	{"ioctl_ns", grt_row_get, 8, GRT_CELL_NS, GRT_COLUMN_ALL, "time in ioctls, ns"},
	{"mmaps", grt_row_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "mappings of device files"},
	{"polls", grt_row_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,
	 "polls, without those through epoll"},
	{"est_ioctls", grt_row_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "ioctls in the whole recording, estimated from the recorded windows"},
	{"est_ioctl_ns", grt_row_get, 12, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "time in ioctls in the whole recording, estimated from the recorded windows, ns"},
	{"est_from", grt_row_get, 13, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "lower bound of the 95 % interval of est_ioctl_ns, ns"},
	{"est_to", grt_row_get, 14, GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "upper bound of the 95 % interval of est_ioctl_ns, ns"},
	{.name = NULL},
};

static const struct grt_table call_table = {"processes", "calls by process", call_columns,
					    GRT_MARK_ESTIMATED};

static void add_estimated(struct grt_row_cells *c, uint64_t value, bool known)
{
	grt_row_number(c, value);
	c->cell[c->n - 1].absent = !known;
	c->cell[c->n - 1].estimated = true;
}

static int write_process(struct grt_pass *pass, const struct grt_call_process *p)
{
	struct grt_row_cells c = {.n = 0};

	grt_row_number(&c, p->pid);
	c.cell[0].absent = !p->pid;
	grt_row_text(&c, grt_process_name(pass->names, p->tid));
	grt_row_number(&c, p->opens);
	grt_row_number(&c, p->open_errors);
	grt_row_number(&c, p->closes);
	grt_row_number(&c, p->open);
	grt_row_number(&c, p->ioctls);
	grt_row_number(&c, p->ioctl_errors);
	grt_row_number(&c, p->ioctl_ns);
	c.cell[c.n - 1].absent = !p->timed;
	grt_row_number(&c, p->mmaps);
	grt_row_number(&c, p->polls);
	add_estimated(&c, p->total.works, p->total.known);
	add_estimated(&c, p->total.value, p->total.known);
	add_estimated(&c, p->total.low, p->total.interval);
	add_estimated(&c, p->total.high, p->total.interval);
	return grt_writer_row(pass->writer, &c);
}

/* A sentence that names the processes which have device files open. */
static void note_open(struct grt_pass *pass, const struct grt_call_process *const *row, uint32_t n)
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
		grt_note(pass->notes, "open now: pid%s and %u more", text, left);
	else if (used)
		grt_note(pass->notes, "open now: pid%s", text);
	else
		grt_note(pass->notes, "open now: none of the files opened in the trace");
}

static const struct grt_hist_tables time_tables = GRT_HIST_TABLES(ALL, TIMES, "ioctl_time", "time in ioctls");

static int show_calls(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_calls_count count = grt_calls_count(state);
	const struct grt_hist_row times = {0, "ioctl", grt_calls_ioctl_time(state)};
	struct grt_estimate_watched watched;
	const struct grt_call_process **row;
	uint32_t n;
	int ret = grt_calls_processes(state, &row, &n);

	if (ret)
		return ret;
	grt_calls_estimate(state, pass->first, pass->known ? pass->last : UINT64_MAX, &watched);
	grt_writer_table(pass->writer, &call_table, NULL);
	for (uint32_t i = 0; i < n && !ret; i++)
		ret = write_process(pass, row[i]);
	grt_writer_table_end(pass->writer);
	note_open(pass, row, n);
	grt_estimate_note(pass->notes, &watched);
	if (watched.windows && watched.beside)
		grt_note(
			pass->notes,
			"  %" PRIu64
			" {ioctl was|ioctls were} entered just before or after a window: no estimate includes {it|them}",
			watched.beside);
	free(row);
	if (count.half)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {ioctl has|ioctls have} no entry or no end in the trace: {its|their} time is unknown",
			count.half);
	if (count.over || count.forgotten)
		grt_note(
			pass->notes,
			"%" PRIu64 " {call|calls} and %" PRIu64
			" {open file is|open files are} not in the table (limit of %u processes or %u files)",
			count.over, count.forgotten, GRT_CALLS_PROCESSES_MAX, GRT_CALLS_FILES_MAX);
	return ret ? ret : grt_hists_write(pass, &time_tables, &times, 1);
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_NEW(new_calls, struct grt_calls, grt_calls_new)

static int calls_table_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct grt_call_end end;

	return grt_calls_event(state, e, pass->call ? pass->call : &end);
}

GRT_ANALYSIS_FREE(free_calls, grt_calls_free)

static const uint16_t call_types[] = {GRT_EV_OPEN, GRT_EV_CLOSE, GRT_EV_IOCTL_ENTER,
				      GRT_EV_MMAP, GRT_EV_POLL,	 0};
static const struct grt_part call_parts[] = {
	{"calls", "calls on device files by process", GRT_PART_MONITOR, .types = call_types,
	 .tables = GRT_TABLES(&call_table, GRT_HIST_BOTH(time_tables)), .write = show_calls},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_calls = {
	.name = "calls",
	.classes = GRT_IN_CLASS(call) | GRT_IN_CLASS(window),
	.parts = call_parts,
	.begin = new_calls,
	.event = calls_table_take_event,
	.free = free_calls,
};
