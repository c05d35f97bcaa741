// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The rows and tallies of rows.h. */
#include "rows.h"
#include "base/say.h"
#include "cells.h"

#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>

void grt_row_get(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	*cell = ((const struct grt_row_cells *)row)->cell[arg];
}

void grt_row_add(struct grt_row_cells *c, struct grt_cell cell)
{
	if (c->n < GRT_ROW_CELLS)
		c->cell[c->n++] = cell;
}

void grt_row_number(struct grt_row_cells *c, uint64_t number)
{
	grt_row_add(c, (struct grt_cell){.number = number});
}

void grt_row_text(struct grt_row_cells *c, const char *text)
{
	grt_row_add(c, (struct grt_cell){.text = text, .absent = !text});
}

void grt_row_absent(struct grt_row_cells *c)
{
	grt_row_add(c, (struct grt_cell){.absent = true});
}

void grt_row_ring(struct grt_row_cells *c, const struct grt_names *names, uint32_t ring)
{
	grt_row_add(c, (struct grt_cell){
			       .number = ring,
			       .text = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring)),
			       .absent = ring == GRT_RING_NONE});
}

void grt_row_device(struct grt_row_cells *c, const struct grt_names *names, uint32_t device)
{
	uint32_t name = grt_names_find(names, GRT_NAME_DEVICE, device);

	grt_row_add(c, (struct grt_cell){.number = device, .text = grt_names_name(names, name)});
}

void grt_row_percentile(struct grt_row_cells *c, const struct grt_hist *h, unsigned int permille)
{
	struct grt_cell cell = {0};

	grt_cell_hist(&cell, h, (int)permille);
	grt_row_add(c, cell);
}

int grt_tally_write(struct grt_pass *pass, const struct grt_table *table, const struct grt_tally *t,
		    const char *what,
		    int (*write)(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg),
		    const void *arg)
{
	const struct grt_tally_row **row;
	int ret = grt_tally_list(t, &row);
	char room[64];

	if (ret)
		return ret;
	grt_writer_table(pass->writer, table, NULL);
	for (uint32_t i = 0; i < t->rows.used && !ret; i++)
		ret = write(pass, row[i], arg);
	grt_writer_table_end(pass->writer);
	free(row);
	if (t->over)
		grt_note(pass->notes, "%s not in the table (limit of %u kinds)",
			 grt_say_count(room, sizeof(room), t->over, what), t->rows.max);
	return ret;
}

const char *grt_process_name(const struct grt_names *names, uint32_t tid)
{
	uint32_t name = grt_names_find(names, GRT_NAME_THREAD, tid);
	const char *process = grt_names_owner(names, name);

	return process ? process : grt_names_name(names, name);
}

const char *grt_process_label(const char *name, uint32_t pid, char room[GRT_PROCESS_LABEL])
{
	snprintf(room, GRT_PROCESS_LABEL, name ? "%.40s(%" PRIu32 ")" : "%spid %" PRIu32, name ?: "", pid);
	return room;
}

bool grt_pass_rate(const struct grt_pass *pass, uint64_t amount, uint64_t *milli)
{
	unsigned __int128 scaled = (unsigned __int128)amount * 1000000000000ULL;

	if (pass->last <= pass->first)
		return false;
	scaled = (scaled + (pass->last - pass->first) / 2) / (pass->last - pass->first);
	*milli = scaled > UINT64_MAX ? UINT64_MAX : (uint64_t)scaled;
	return true;
}

void grt_decimal(char text[32], uint64_t milli, unsigned int digits)
{
	static const unsigned int drop[] = {1000, 100, 10, 1}, scale[] = {1, 10, 100, 1000};
	uint64_t n = milli / drop[digits] + (milli % drop[digits] >= (drop[digits] + 1) / 2 && digits < 3);

	if (digits)
		snprintf(text, 32, "%" PRIu64 ".%0*" PRIu64, n / scale[digits], (int)digits,
			 n % scale[digits]);
	else
		snprintf(text, 32, "%" PRIu64, n);
}
