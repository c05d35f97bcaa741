// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The counters of xid.h. */
#include "xid.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/say.h"
#include "base/units.h"
#include "codes/codes.h"
#include "table/cells.h"
#include "table/rows.h"

void grt_xids_init(struct grt_xids *x)
{
	x->over = 0;
	grt_keyed_init(&x->rows, sizeof(struct grt_xid_row), GRT_XIDS_MAX);
}

int grt_xids_event(struct grt_xids *x, const struct grt_event *e)
{
	const struct grt_ev_xid *ev = (const struct grt_ev_xid *)e;
	struct grt_key key = {{0}};
	struct grt_xid_row *row;
	void *found;
	int ret;

	if (e->type != GRT_EV_XID)
		return 0;
	key.w[0] = ev->code;
	key.w[1] = ev->bus;
	ret = grt_keyed_get_or_count(&x->rows, &key, &x->over, &found);
	row = found;
	if (!row)
		return ret;
	if (!row->count++)
		row->first = e->time;
	row->code = ev->code;
	row->bus = ev->bus;
	grt_bus_text(row->gpu, ev->bus);
	row->pid = e->pid;
	row->tid = e->tid;
	row->last = e->time;
	memcpy(row->text, ev->text, sizeof(ev->text));
	return 0;
}

static int xid_by_number(const void *a, const void *b)
{
	const struct grt_xid_row *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->code, y->code) ?: grt_compare(x->bus, y->bus);
}

int grt_xids_list(const struct grt_xids *x, const struct grt_xid_row ***out)
{
	return grt_keyed_list(&x->rows, xid_by_number, (void ***)out);
}

void grt_xids_free(struct grt_xids *x)
{
	grt_keyed_free(&x->rows);
}

/* ------------------------------------------------------------- xid table */

/* The table of NVIDIA's errors, and a sentence for each. */

/* Most errors with a sentence in the summary. */
#define SENTENCES 5U
/* NVSwitch's numbers, which its driver calls SXid, begin here; a GPU's have three digits. */
#define SXID_FIRST 10000U

#define X(member) offsetof(struct grt_xid_row, member)

static void xid_get_info(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_xid_info *info = grt_xid_info(((const struct grt_xid_row *)row)->code);

	cell->text = info ? *(const char *const *)((const char *)info + offset) : NULL;
}

/* clang-format off */

static const struct grt_column xid_columns[] = {
	{"xid", grt_cell_u32, X(code), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the error"},
	{"name", xid_get_info, offsetof(struct grt_xid_info, name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "NVIDIA's name of the error"},
	{"gpu", grt_cell_chars, X(gpu), GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address"},
	{"count", grt_cell_u64, X(count), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of such errors"},
	{"last", grt_cell_u64, X(last), GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the last one"},
	{"pid", grt_cell_id, X(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process named in the last message"},
	{"process", grt_cell_process_at, offsetof(struct grt_xid_row, tid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"text", grt_cell_chars, X(text), GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "beginning of the last message"},
	{"meaning", xid_get_info, offsetof(struct grt_xid_info, meaning), GRT_CELL_TEXT, GRT_COLUMN_ALL, "meaning of the error"},
	{"what_to_do", xid_get_info, offsetof(struct grt_xid_info, todo), GRT_CELL_TEXT, GRT_COLUMN_ALL, "first thing to do"},
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table xid_table = {"xids", "Xid errors", xid_columns, 0};

static int show_xids(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_xids *x = state;
	uint64_t n = x->rows.used, shown = grt_pass_shown(pass, part, n);
	const struct grt_xid_row **row;
	int ret = grt_xids_list(x, &row);

	if (ret)
		return ret;
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), pass->names, NULL);
	ret = grt_writer_list(pass->writer, &xid_table, pass->names, row, shown);
	free(row);
	if (n > shown)
		grt_note(pass->notes, "%" PRIu64 " {more error|more errors}: --top 0 shows all", n - shown);
	if (x->over)
		grt_note(pass->notes, "%" PRIu64 " {Xid is|Xids are} not in the table (limit of %u numbers)",
			 x->over, GRT_XIDS_MAX);
	return ret;
}

static void xid_note(const struct grt_xid_row *x, const struct grt_names *names, struct grt_notes *notes)
{
	const struct grt_xid_info *info = grt_xid_info(x->code);
	const char *process = grt_process_name(names, x->tid);
	bool nvswitch = x->code >= SXID_FIRST;
	char last[GRT_UNITS_MAX], whose[64] = "", often[40] = "";

	grt_units_time(last, x->last);
	if (x->pid)
		snprintf(whose, sizeof(whose), " of %.20s%s%u%s", process ?: "", process ? " (PID " : "PID ",
			 x->pid, process ? ")" : "");
	if (x->count > 1)
		grt_say_text(often, sizeof(often), ", %" PRIu64 " {time|times}, last", x->count);
	grt_note(notes, "%s %u%s on %s%s%s at %s%s%s%s%s", nvswitch ? "SXid" : "Xid", x->code, whose,
		 nvswitch ? "" : "GPU ", x->gpu, often, last, info ? ": " : "", info ? info->meaning : "",
		 info ? "; what to do first: " : "", info ? info->todo : "");
}

/* Writes sentences before all tables, for people. */
static int write_sentences(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_xids *x = state;
	const struct grt_xid_row **row;
	int ret = grt_xids_list(x, &row);

	if (ret)
		return ret;
	for (uint32_t i = 0; i < x->rows.used && i < SENTENCES; i++)
		xid_note(row[i], pass->names, pass->notes);
	free(row);
	return 0;
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_xids, grt_xids_init)
GRT_ANALYSIS_EVENT(xid_table_take_event, grt_xids_event)
GRT_ANALYSIS_FREE(free_xids, grt_xids_free)

static const uint16_t xid_types[] = {GRT_EV_XID, 0};
static const struct grt_part xid_parts[] = {
	{"xid", "NVIDIA's Xid errors by number and GPU",
	 GRT_PART_BY | GRT_PART_MONITOR | GRT_PART_NO_JOBS | GRT_PART_TABLES | GRT_PART_ROLLUP, 0, &xid_table,
	 .types = xid_types, .write = show_xids},
	{"xid_sentences", "a sentence for each Xid error",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, .types = xid_types, .write = write_sentences},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_xid = {
	.name = "xid",
	.classes = GRT_IN_CLASS(xid),
	.waits = true,
	.parts = xid_parts,
	.size = sizeof(struct grt_xids),
	.begin = new_xids,
	.event = xid_table_take_event,
	.free = free_xids,
};
