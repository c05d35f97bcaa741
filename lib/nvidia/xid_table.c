// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of NVIDIA's errors. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/bus.h"
#include "codes/codes.h"
#include "table/rows.h"
#include "xid.h"

static const struct grt_column xid_columns[] = {
	{"xid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "the error's number"},
	{"name", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "the driver's name for it"},
	{"gpu", grt_row_get, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address"},
	{"count", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often"},
	{"last", grt_row_get, 4, GRT_CELL_TIME, GRT_COLUMN_ALL, "when it came last"},
	{"pid", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that the last one names"},
	{"text", grt_row_get, 6, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "beginning of the last message"},
	{"meaning", grt_row_get, 7, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what it means"},
	{"what_to_do", grt_row_get, 8, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what to do first"},
	{.name = NULL},
};

static const struct grt_table xid_table = {"xids", "Xid errors", xid_columns, 0};

static int write_xid(struct grt_pass *pass, const struct grt_xid_row *x)
{
	const struct grt_xid_info *info = grt_xid_info(x->code);
	struct grt_row_cells c = {.n = 0};
	char gpu[GRT_BUS_MAX];

	grt_row_number(&c, x->code);
	grt_row_text(&c, info ? info->name : NULL);
	grt_row_text(&c, grt_bus_text(gpu, x->bus));
	grt_row_number(&c, x->count);
	grt_row_number(&c, x->last);
	grt_row_number(&c, x->pid);
	c.cell[c.n - 1].absent = !x->pid;
	grt_row_text(&c, x->text[0] ? x->text : NULL);
	grt_row_text(&c, info ? info->meaning : NULL);
	grt_row_text(&c, info ? info->todo : NULL);
	return grt_writer_row(pass->writer, &c);
}

static int show_xids(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_xids *x = state;
	const struct grt_xid_row **row;
	int ret = grt_xids_list(x, &row);

	if (ret)
		return ret;
	grt_writer_table(pass->writer, &xid_table, NULL);
	for (uint32_t i = 0; i < x->rows.used && !ret; i++)
		ret = write_xid(pass, row[i]);
	grt_writer_table_end(pass->writer);
	free(row);
	if (x->over)
		grt_note(pass->notes, "%" PRIu64 " Xids are not in the table (limit of %u numbers)", x->over,
			 GRT_XIDS_MAX);
	return ret;
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_xids, grt_xids_init)
GRT_ANALYSIS_EVENT(xid_table_take_event, grt_xids_event)
GRT_ANALYSIS_FREE(free_xids, grt_xids_free)

static const uint16_t xid_types[] = {GRT_EV_XID, 0};
static const struct grt_part xid_parts[] = {
	{"xids", "NVIDIA's Xid errors by number and GPU", GRT_PART_MONITOR, .types = xid_types,
	 .tables = GRT_TABLES(&xid_table), .write = show_xids},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_xid = {
	.name = "xid",
	.classes = GRT_IN_CLASS(xid),
	.parts = xid_parts,
	.size = sizeof(struct grt_xids),
	.begin = new_xids,
	.event = xid_table_take_event,
	.free = free_xids,
};
