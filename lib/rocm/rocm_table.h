/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tables of a ROCm report: rows are the structs of rocm.h.
 */
#ifndef GRT_ROCM_ROCM_TABLE_H
#define GRT_ROCM_ROCM_TABLE_H

#include "rocm.h"
#include "table/table.h"

/**
 * struct grt_rocm_view - data that the columns of creations and queues need
 * @creation: the array of all creations; @zero: a time that is subtracted from time stamps, ns
 */
struct grt_rocm_view {
	const struct grt_rocm_creation *creation;
	uint64_t zero;
};

/** struct grt_rocm_step_row - a step of a queue's creation; @n: number of the creation @c, from 1 */
struct grt_rocm_step_row {
	unsigned int n;
	const struct grt_rocm_creation *c;
	const struct grt_rocm_made_step *s;
};

/** struct grt_rocm_layer - the time that a layer of ROCm took; @note: what this time includes */
struct grt_rocm_layer {
	const char *name;
	uint64_t events;
	struct grt_rocm_times took;
	const char *note;
};

/**
 * struct grt_rocm_step_count - number and time of the calls that did one step, such as writing a descriptor
 */
struct grt_rocm_step_count {
	enum grt_rocm_step step;
	uint64_t calls;
	struct grt_rocm_times took;
};

/* The comments name the struct of a row and, after a semicolon, that of the view. */
extern const struct grt_table grt_rocm_creation_table; /* struct grt_rocm_creation; struct grt_rocm_view */
extern const struct grt_table grt_rocm_step_table;     /* struct grt_rocm_step_row */
extern const struct grt_table grt_rocm_queue_table;    /* struct grt_rocm_queue; struct grt_rocm_view */
extern const struct grt_table grt_rocm_mqd_table;      /* struct grt_rocm_step_count */
extern const struct grt_table grt_rocm_kernel_table;   /* struct grt_rocm_kernel */
extern const struct grt_table grt_rocm_call_table;     /* struct grt_rocm_call */
extern const struct grt_table grt_rocm_func_table;     /* struct grt_rocm_func */
extern const struct grt_table grt_rocm_layer_table;    /* struct grt_rocm_layer */

#endif /* GRT_ROCM_ROCM_TABLE_H */
