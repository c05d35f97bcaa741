/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Unified memory of NVIDIA's driver, from the events UVM_*: copies between processors and their
 * causes, faults and the length of their waits, and other events of pages.
 */
#ifndef GRT_NVIDIA_UVM_H
#define GRT_NVIDIA_UVM_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* Most rows of each table; events of further rows are counted. */
#define GRT_UVM_ROWS_MAX 4096U
/* Most open batches of faults, and most open waits for pages, at one time. */
#define GRT_UVM_OPEN_MAX 65536U

/**
 * struct grt_uvm_copies - copies of a process's pages between two processors for one cause
 * @from, @to: device numbers, 0: the CPU
 * @time: sum of the copies' durations; @waited: sum of their times in the queue; ns
 * @timed: copies with both times; @inferred: at least one copy has no time of the GPU's clock
 */
struct grt_uvm_copies {
	uint32_t pid, from, to, cause;
	uint64_t copies, bytes, time, timed, waited;
	bool inferred;
};

/**
 * struct grt_uvm_faults - accesses of a kind by a processor
 * @device: 0: the CPU
 * @noticed: from the access to the beginning of the repair, sum and maximum over @timed of them, ns
 */
struct grt_uvm_faults {
	uint32_t pid, device, access;
	uint64_t faults, timed, noticed, noticed_max;
};

/**
 * struct grt_uvm_repairs - a GPU's faults, which the driver repairs in batches
 * @batches, @faults: batches and faults whose repair has ended
 * @time, @longest: from a batch's first access to the end of its repair, ns
 * @open: batches without an end in the trace
 */
struct grt_uvm_repairs {
	uint32_t pid, device;
	uint64_t batches, faults, time, longest, open;
};

/** enum grt_uvm_what - kinds of the rows below */
enum grt_uvm_fate {
	GRT_UVM_OF_PAGES,
	GRT_UVM_OF_REMOTE,
	GRT_UVM_OF_FATAL,
};

/**
 * struct grt_uvm_fates - other events of pages
 * @kind: enum grt_uvm_fate
 * @number: UVM_PAGES: what; UVM_REMOTE: its cause; UVM_FATAL: the reason
 * @device: the processor, 0: the CPU; @to: UVM_REMOTE: where the memory is
 * @time: of throttling: that is over, ns; @timed: how often
 */
struct grt_uvm_fates {
	uint32_t pid, kind, number, device, to;
	uint64_t times, bytes, time, timed;
};

/** struct grt_uvm - tables by their keys; @over: events of further rows, @lost_ends: that were not followed
 */
struct grt_uvm {
	struct grt_keyed copies;
	struct grt_keyed faults;
	struct grt_keyed repairs;
	struct grt_keyed fates;
	struct grt_keyed batches;
	struct grt_keyed waits;
	uint64_t over;
	uint64_t lost_ends;
	uint64_t from, to;
};

/** grt_uvm_init - begins without rows; free with grt_uvm_free() */
void grt_uvm_init(struct grt_uvm *u);

/** grt_uvm_within - only copies that ran at some time from @from to @to count, as a whole */
void grt_uvm_within(struct grt_uvm *u, uint64_t from, uint64_t to);

/** grt_uvm_event - processes an event; ignores events other than UVM_*. Return: 0 or -ENOMEM */
int grt_uvm_event(struct grt_uvm *u, const struct grt_event *e);

/** grt_uvm_finish - ends the trace, and counts the open batches */
void grt_uvm_finish(struct grt_uvm *u);

/** grt_uvm_free - frees it */
void grt_uvm_free(struct grt_uvm *u);

#endif /* GRT_NVIDIA_UVM_H */
