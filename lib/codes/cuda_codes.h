/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CUDA's numbers, see grtrace/cuda_codes.h, and the waits of its calls.
 */
#ifndef GRT_CODES_CUDA_CODES_H
#define GRT_CODES_CUDA_CODES_H

#include <grtrace/cuda_codes.h>

/** enum grt_cuda_sync - grt_ev_gpu_sync.kind, CUPTI's CUpti_ActivitySynchronizationType */
enum grt_cuda_sync {
	GRT_CUDA_SYNC_NONE,
	GRT_CUDA_SYNC_EVENT,
	GRT_CUDA_SYNC_ORDER,
	GRT_CUDA_SYNC_STREAM,
	GRT_CUDA_SYNC_CONTEXT,
};

/* grt_ev_gpu_copy.from_memory, to_memory: CUpti_ActivityMemoryKind. */
#define GRT_CUDA_PAGEABLE 1U

/** grt_cuda_memory_name - the name of a kind of memory ("Pageable"), NULL if the number has none */
const char *grt_cuda_memory_name(uint32_t kind);

/** grt_cuda_sync - the object that a call waits for, or makes a stream wait for (ORDER); NULL is allowed */
enum grt_cuda_sync grt_cuda_sync(const struct grt_cuda_call *call);

/** grt_cuda_waits - whether the calling thread waits for the GPU; NULL is allowed */
bool grt_cuda_waits(const struct grt_cuda_call *call);

#endif /* GRT_CODES_CUDA_CODES_H */
