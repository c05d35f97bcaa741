/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tables of a ROCm report: rows are the structs of rocm.h.
 */
#ifndef GRT_ROCM_ROCM_TABLE_H
#define GRT_ROCM_ROCM_TABLE_H

#include "rocm.h"
#include "table/table.h"

/** struct grt_rocm_view - what creations and queues need. @creation: their array; @zero: subtracted from
 * stamps */
struct grt_rocm_view {
	const struct grt_rocm_creation *creation;
	uint64_t zero;
};

/** struct grt_rocm_step_row - a step of a creation as a row. @n: number of the creation, from 1 */
struct grt_rocm_step_row {
	unsigned int n;
	const struct grt_rocm_creation *c;
	const struct grt_rocm_made_step *s;
};

/** struct grt_rocm_layer - what a layer took. @note: what the time is */
struct grt_rocm_layer {
	const char *name;
	uint64_t events;
	struct grt_rocm_times took;
	const char *note;
};

/** struct grt_rocm_step_count - what was done to queue descriptors, and the like */
struct grt_rocm_step_count {
	enum grt_rocm_step step;
	uint64_t calls;
	struct grt_rocm_times took;
};

extern const struct grt_table grt_rocm_creation_table; /* struct grt_rocm_creation; struct grt_rocm_view */
extern const struct grt_table grt_rocm_step_table;     /* struct grt_rocm_step_row */
extern const struct grt_table grt_rocm_queue_table;    /* struct grt_rocm_queue; struct grt_rocm_view */
extern const struct grt_table grt_rocm_mqd_table;      /* struct grt_rocm_step_count */
extern const struct grt_table grt_rocm_kernel_table;   /* struct grt_rocm_kernel */
extern const struct grt_table grt_rocm_call_table;     /* struct grt_rocm_call */
extern const struct grt_table grt_rocm_func_table;     /* struct grt_rocm_func */
extern const struct grt_table grt_rocm_layer_table;    /* struct grt_rocm_layer */

#endif /* GRT_ROCM_ROCM_TABLE_H */
