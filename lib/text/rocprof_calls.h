/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the forms of rocprofv3's traces have in common: which calls of HIP and HSA give the GPU work, and what
 * is said otherwise than in CUDA's.
 *
 * A call is a launch where work has its correlation, or where it is a row of hip_calls.def. Where HSA was
 * traced, work has the correlation of HSA's innermost call, and the call of HIP around that is a function
 * that it was made in. Which work there is is known behind the first reading.
 */
#ifndef GRT_TEXT_ROCPROF_CALLS_H
#define GRT_TEXT_ROCPROF_CALLS_H

#include "base/keyed.h"
#include "cuda/cupti_records.h"

/**
 * struct grt_rocprof_calls - set up by grt_rocprof_calls_init(), to be given to grt_rocprof_calls_free()
 * @seen: by pid and correlation, what was met with it
 * @whole: the first reading is over
 * @of_hsa: there is work of calls of HSA
 */
struct grt_rocprof_calls {
	struct grt_keyed seen;
	bool whole;
	bool of_hsa;
};

void grt_rocprof_calls_init(struct grt_rocprof_calls *c);
void grt_rocprof_calls_free(struct grt_rocprof_calls *c);

/** grt_rocprof_calls_work - takes in a kernel or copy. Return: 0, -ENOMEM or -ENOSPC */
int grt_rocprof_calls_work(struct grt_rocprof_calls *c, const struct grt_cupti_record *r);

/**
 * grt_rocprof_calls_take - makes the record of a call, whose name, times and correlation are in it
 * @r: its kind becomes CALL, FRAME: it is around launches, or OTHER; hip_calls.def has its name, or its
 * @spare_call is Return: 0, -ENOMEM or -ENOSPC
 */
int grt_rocprof_calls_take(struct grt_rocprof_calls *c, struct grt_cupti_record *r);

/** grt_rocprof_calls_end - a reading is over */
void grt_rocprof_calls_end(struct grt_rocprof_calls *c);

/** grt_rocprof_groups - the grid of a kernel in groups, which was in threads */
void grt_rocprof_groups(struct grt_cupti_record *kernel);

/** enum grt_rocprof_side - which agent of a copy has the number of its device */
enum grt_rocprof_side { GRT_ROCPROF_FROM, GRT_ROCPROF_TO };

/** grt_rocprof_way - "MEMORY_COPY_HOST_TO_DEVICE", or without the first words: names a copy, as CUDA does */
enum grt_rocprof_side grt_rocprof_way(struct grt_span way, struct grt_cupti_record *copy);

#endif /* GRT_TEXT_ROCPROF_CALLS_H */
