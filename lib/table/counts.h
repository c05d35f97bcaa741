/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Events by type and the balance by CPU.
 */
#ifndef GRT_TABLE_COUNTS_H
#define GRT_TABLE_COUNTS_H

#include <grtrace/grtrace.h>

#include "table.h"

/* Most CPUs with a row; packets of further CPUs are counted. */
#define GRT_COUNTS_CPUS 4096U

/**
 * struct grt_type_count - a row of grt_type_table
 * @type: enum grt_event_type, 0: all types without a row in events.def
 */
struct grt_type_count {
	uint32_t type;
	uint64_t events;
};

/** struct grt_cpu_count - a row of grt_cpu_table */
struct grt_cpu_count {
	uint32_t cpu;
	struct grt_balance balance;
};

/**
 * struct grt_counts - all zero is empty; 330 KiB
 * @type, @cpu: by number; rows without events are not shown
 * @far_packets: packets of CPUs beyond GRT_COUNTS_CPUS
 */
struct grt_counts {
	struct grt_type_count type[GRT_EV_MAX];
	struct grt_cpu_count cpu[GRT_COUNTS_CPUS];
	uint64_t far_packets;
};

/** grt_counts_packet - counts a packet */
void grt_counts_packet(struct grt_counts *c, const struct grt_packet *p);

extern const struct grt_table grt_type_table;

#endif /* GRT_TABLE_COUNTS_H */
