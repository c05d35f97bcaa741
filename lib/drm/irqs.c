// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Interrupts by client and source. */
#include <errno.h>
#include <stdlib.h>

#include "codes/codes.h"
#include "table/rows.h"

static const struct grt_column irq_columns[] = {
	{"client", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "client: name in text, else number"},
	{"src", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "interrupt source of the client"},
	{"ring", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ring id, as the device numbers rings"},
	{"vmid", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "id of the GPU address space"},
	{"pasid", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "id of the process's address space"},
	{"count", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "interrupts"},
	{"mhz", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "interrupts per 1000 s of the run"},
	{"per_s", grt_row_get, 7, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "interrupts per second of the run"},
	{.name = NULL},
};

static const struct grt_table irq_table = {"interrupts", "interrupts by client and source", irq_columns, 0};

static void rate_cells(struct grt_pass *pass, struct grt_row_cells *c, uint64_t count, char text[32])
{
	uint64_t milli;

	if (!grt_pass_rate(pass, count, &milli)) {
		grt_row_absent(c);
		grt_row_absent(c);
		return;
	}
	grt_decimal(text, milli, 1);
	grt_row_number(c, milli);
	grt_row_text(c, text);
}

/* A number that is unknown has all its bits set. */
static void number_or_absent(struct grt_row_cells *c, uint32_t number, uint32_t unknown)
{
	grt_row_number(c, number);
	c->cell[c->n - 1].absent = number == unknown;
}

static int write_irq(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg)
{
	uint32_t source = (uint32_t)row->key.w[0], client = source >> 16;
	struct grt_row_cells c = {.n = 0};
	char rate[32];

	number_or_absent(&c, client, GRT_IRQ_CLIENT_UNKNOWN);
	c.cell[0].text = grt_amdgpu_client_name(client);
	grt_row_number(&c, source & 0xffff);
	c.cell[1].absent = source == UINT32_MAX;
	number_or_absent(&c, (uint16_t)(row->key.w[1] >> 16), UINT16_MAX);
	number_or_absent(&c, (uint16_t)row->key.w[1], UINT16_MAX);
	number_or_absent(&c, (uint32_t)row->key.w[2], UINT32_MAX);
	grt_row_number(&c, row->count);
	rate_cells(pass, &c, row->count, rate);
	return grt_writer_row(pass->writer, &c);
}

static int show_irqs(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return grt_tally_write(pass, &irq_table, state, "{interrupt is|interrupts are}", write_irq, NULL);
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_irqs, grt_tally_init, GRT_TALLY_ROWS)

static int irqs_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_irq *ev = (const struct grt_ev_irq *)e;

	return grt_tally_add(
		state, &(struct grt_key){{ev->source, (uint64_t)ev->hw_ring << 16 | ev->vmid, ev->pasid}}, 0,
		e->time);
}

GRT_ANALYSIS_FREE(free_irqs, grt_tally_free)

static const uint16_t irq_types[] = {GRT_EV_IRQ, 0};
static const struct grt_part irq_parts[] = {
	{"irqs", "interrupts by client and source", GRT_PART_MONITOR, .types = irq_types,
	 .tables = GRT_TABLES(&irq_table), .write = show_irqs},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_irqs = {
	.name = "irqs",
	.classes = GRT_IN_CLASS(irq),
	.parts = irq_parts,
	.size = sizeof(struct grt_tally),
	.begin = new_irqs,
	.event = irqs_take_event,
	.free = free_irqs,
};
