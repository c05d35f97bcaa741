// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events by type and the balance by CPU, with their columns.
 */
#include "counts.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "analysis.h"
#include "cells.h"
#include "trace/packet.h"

static const bool known_type[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) [id] = true,
#include <grtrace/events.def>
#undef GRT_EVENT
};

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
	 "number of the type in the stream, 0: unknown"},
	{"events", grt_cell_u64, T(events), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events of this type in the trace"},
	{.name = NULL},
};

const struct grt_table grt_type_table = {"types", "event types", type_columns, 0};

#define C(member) offsetof(struct grt_cpu_count, member)

static const struct grt_column cpu_columns[] = {
	{"cpu", grt_cell_u32, C(cpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
	{"emitted", grt_cell_u64, C(balance.emitted), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events that the sources made"},
#define GRT_FATE(NAME, name, help) \
	{#name, grt_cell_u64, C(balance.fate[GRT_FATE_##NAME]), GRT_CELL_NUMBER, GRT_COLUMN_ALL, help},
#include <grtrace/fates.def>
#undef GRT_FATE
	{.name = NULL},
};

static const struct grt_table cpu_table = {"cpus", "balance by CPU", cpu_columns, 0};

/* --------------------------------------------------------------- analysis */

static int counts_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	uint32_t type = e->type < GRT_EV_MAX && known_type[e->type] ? e->type : 0;
	struct grt_counts *c = state;

	c->type[type].type = type;
	c->type[type].events++;
	return 0;
}

static void take_packet(void *state, const struct grt_packet *p)
{
	grt_counts_packet(state, p);
}

static int write_types(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_counts *c = state;
	const struct grt_type_count *row[GRT_EV_MAX];
	uint64_t n = 0;

	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		if (c->type[type].events)
			row[n++] = &c->type[type];
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), NULL, NULL);
	return grt_writer_list(pass->writer, &grt_type_table, NULL, row, grt_pass_shown(pass, part, n));
}

static int write_cpus(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_counts *c = state;
	int ret = 0;

	grt_writer_table(pass->writer, &cpu_table, NULL);
	for (uint32_t cpu = 0; cpu < GRT_COUNTS_CPUS && !ret; cpu++)
		if (c->cpu[cpu].balance.emitted)
			ret = grt_writer_row(pass->writer, &c->cpu[cpu]);
	grt_writer_table_end(pass->writer);
	return ret;
}

static void note_far(void *state, struct grt_pass *pass)
{
	const struct grt_counts *c = state;

	if (c->far_packets)
		grt_note(pass->notes, "%" PRIu64 " {packet|packets} not shown by CPU: of CPUs above %u",
			 c->far_packets, GRT_COUNTS_CPUS - 1);
}

static const struct grt_part type_parts[] = {
	{"type", "events by type", GRT_PART_BY | GRT_PART_NO_TIME, 0, &grt_type_table, .write = write_types},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_types = {
	.name = "types",
	.classes = GRT_IN_EVERY_CLASS,
	.parts = type_parts,
	.size = sizeof(struct grt_counts),
	.event = counts_take_event,
};

static const struct grt_part cpu_parts[] = {
	{"cpus", "event counts of each CPU", GRT_PART_VERBOSE, .tables = GRT_TABLES(&cpu_table),
	 .write = write_cpus},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_cpus = {
	.name = "cpus",
	.parts = cpu_parts,
	.size = sizeof(struct grt_counts),
	.packet = take_packet,
	.notes = note_far,
};
