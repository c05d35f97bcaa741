/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Shared code of the readers of rocprofv3's traces: finds the calls of HIP and HSA that give the GPU work,
 * and converts what rocprofv3 writes differently from CUPTI.
 *
 * A call is a launch if work (a kernel or copy) has its correlation id, or if it is a row of hip_calls.def.
 * If HSA was traced, work has the correlation id of the innermost call of HSA, and the call of HIP around it
 * becomes a function in the stack of the launch. A call may precede its work in the trace, so the trace is
 * read twice: the first reading finds out which calls have work.
 */
#ifndef GRT_TEXT_ROCPROF_CALLS_H
#define GRT_TEXT_ROCPROF_CALLS_H

#include "base/containers.h"
#include "cuda/cupti_records.h"

/**
 * struct grt_rocprof_calls - set up by grt_rocprof_calls_init(), freed by grt_rocprof_calls_free()
 * @seen: by pid and correlation id, the kinds of records that have this id
 * @whole: the first reading is over
 * @of_hsa: at least one call of HSA has work
 */
struct grt_rocprof_calls {
	struct grt_keyed seen;
	bool whole;
	bool of_hsa;
};

void grt_rocprof_calls_init(struct grt_rocprof_calls *c);
void grt_rocprof_calls_free(struct grt_rocprof_calls *c);

/** grt_rocprof_calls_work - notes the correlation id of a kernel or copy. Return: 0, -ENOMEM or -ENOSPC */
int grt_rocprof_calls_work(struct grt_rocprof_calls *c, const struct grt_cupti_record *r);

/**
 * grt_rocprof_calls_take - decides what a call is
 * @r: the call with its name, times and correlation id. Its kind becomes GRT_CUPTI_CALL (a launch),
 *	GRT_CUPTI_FRAME (a function around launches) or GRT_CUPTI_OTHER. Its spare_call becomes the call that
 *	is used if hip_calls.def has no row for its name
 * Return: 0, -ENOMEM or -ENOSPC
 */
int grt_rocprof_calls_take(struct grt_rocprof_calls *c, struct grt_cupti_record *r);

/** grt_rocprof_calls_end - one reading of the trace is over */
void grt_rocprof_calls_end(struct grt_rocprof_calls *c);

/** grt_rocprof_groups - converts the grid of a kernel from threads to thread blocks (workgroups) */
void grt_rocprof_groups(struct grt_cupti_record *kernel);

/** enum grt_rocprof_side - whether the GPU of a copy is its source or its destination agent */
enum grt_rocprof_side { GRT_ROCPROF_FROM, GRT_ROCPROF_TO };

/**
 * grt_rocprof_way - makes @copy a copy and names it as CUDA does: HtoD, DtoH, DtoD, HtoH
 * @way: rocprofv3's name of the direction, such as MEMORY_COPY_HOST_TO_DEVICE; its first words may be missing
 * Return: which of the two agents is the GPU
 */
enum grt_rocprof_side grt_rocprof_way(struct grt_span way, struct grt_cupti_record *copy);

#endif /* GRT_TEXT_ROCPROF_CALLS_H */
