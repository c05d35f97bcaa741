// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events by type and the balance by CPU, with their columns.
 */
#include "counts.h"

static const bool known_type[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = true,
#include <grtrace/events.def>
#undef GRT_EVENT
};

void grt_counts_event(struct grt_counts *c, const struct grt_event *e)
{
	uint32_t type = e->type < GRT_EV_MAX && known_type[e->type] ? e->type : 0;

	c->type[type].type = type;
	c->type[type].events++;
}

void grt_counts_packet(struct grt_counts *c, const struct grt_packet *p)
{
	struct grt_cpu_count *cpu = &c->cpu[p->cpu_id < GRT_COUNTS_CPUS ? p->cpu_id : 0];

	if (p->cpu_id >= GRT_COUNTS_CPUS) {
		c->far_packets++;
		return;
	}
	cpu->cpu = p->cpu_id;
	cpu->balance.emitted += p->end.emitted - p->begin.emitted;
	for (unsigned int i = 0; i < GRT_FATES; i++)
		cpu->balance.fate[i] += p->end.fate[i] - p->begin.fate[i];
}

static void get_type(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->number = ((const struct grt_type_count *)row)->type;
}

static void get_events(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->number = ((const struct grt_type_count *)row)->events;
}

static void get_cpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->number = ((const struct grt_cpu_count *)row)->cpu;
}

static void get_emitted(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	(void)view;
	(void)arg;
	cell->number = ((const struct grt_cpu_count *)row)->balance.emitted;
}

static void get_fate(struct grt_cell *cell, const void *view, const void *row, int fate)
{
	(void)view;
	cell->number = ((const struct grt_cpu_count *)row)->balance.fate[fate];
}

static const struct grt_column type_columns[] = {
	{"type", get_type, 0, GRT_CELL_EVENT, GRT_COLUMN_ALL, "event type"},
	{"id", get_type, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "its number in the stream, 0: unknown"},
	{"events", get_events, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events in the trace"},
	{.name = NULL},
};

const struct grt_table grt_type_table = {"types", "event types", type_columns, 0};

static const struct grt_column cpu_columns[] = {
	{"cpu", get_cpu, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
	{"emitted", get_emitted, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events offered to the trace"},
#define GRT_FATE(NAME, name, help) {#name, get_fate, GRT_FATE_##NAME, GRT_CELL_NUMBER, GRT_COLUMN_ALL, help},
#include <grtrace/fates.def>
#undef GRT_FATE
	{.name = NULL},
};

const struct grt_table grt_cpu_table = {"cpus", "balance by CPU", cpu_columns, 0};
