// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events by type and the balance by CPU, with their columns.
 */
#include "counts.h"

#include <stddef.h>

#include "cells.h"
#include "trace/packet.h"

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
	cpu->balance.emitted += grt_packet_emitted(p);
	for (unsigned int i = 0; i < GRT_FATES; i++)
		cpu->balance.fate[i] += grt_packet_fate(p, i);
}

#define T(member) offsetof(struct grt_type_count, member)

static const struct grt_column type_columns[] = {
	{"type", grt_cell_u32, T(type), GRT_CELL_EVENT, GRT_COLUMN_ALL, "event type"},
	{"id", grt_cell_u32, T(type), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "its number in the stream, 0: unknown"},
	{"events", grt_cell_u64, T(events), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events in the trace"},
	{.name = NULL},
};

const struct grt_table grt_type_table = {"types", "event types", type_columns, 0};

#define C(member) offsetof(struct grt_cpu_count, member)

static const struct grt_column cpu_columns[] = {
	{"cpu", grt_cell_u32, C(cpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
	{"emitted", grt_cell_u64, C(balance.emitted), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events offered to the trace"},
#define GRT_FATE(NAME, name, help) \
	{#name, grt_cell_u64, C(balance.fate[GRT_FATE_##NAME]), GRT_CELL_NUMBER, GRT_COLUMN_ALL, help},
#include <grtrace/fates.def>
#undef GRT_FATE
	{.name = NULL},
};

const struct grt_table grt_cpu_table = {"cpus", "balance by CPU", cpu_columns, 0};
