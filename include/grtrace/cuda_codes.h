/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CUDA's numbers in LAUNCH and GPU_* records, by name.
 */
#ifndef GRTRACE_CUDA_CODES_H
#define GRTRACE_CUDA_CODES_H

#include <stdbool.h>
#include <stdint.h>

#ifdef __cplusplus
extern "C" {
#endif

/* grt_ev_launch.call of a function of the driver; without it, it is the runtime's */
#define GRT_CUDA_DRIVER 0x8000U

/* grt_ev_launch.call where a uprobe was asked for: its node has the function */
#define GRT_CUDA_PROBED 0U

/* grt_ev_launch.call of a function of presents.def: the number with this */
#define GRT_PRESENT_CALL 0x4000U

/* grt_ev_launch.call of a function of hip_calls.def: the number with this */
#define GRT_HIP_CALL 0x2000U

/* That of wl_surface_commit: programs have it inline, so that it is met in what it calls. */
#define GRT_PRESENT_COMMIT (GRT_PRESENT_CALL | 6U)

/* grt_ev_gpu_copy.kind where memory was set */
#define GRT_CUDA_SET 100U

/* grt_ev_gpu_kernel.kind of a graph that was recorded as one; the others are CUPTI's CUpti_ActivityLaunchType
 */
#define GRT_CUDA_WHOLE_GRAPH 4U

/** enum grt_cuda_kind - what a call is for */
enum grt_cuda_kind {
	GRT_CUDA_KIND_NONE,
	GRT_CUDA_KIND_KERNEL,
	GRT_CUDA_KIND_GRAPH,
	GRT_CUDA_KIND_COPY,
	GRT_CUDA_KIND_SET,
	GRT_CUDA_KIND_EVENT_SYNC,
	GRT_CUDA_KIND_STREAM_SYNC,
	GRT_CUDA_KIND_CONTEXT_SYNC,
	GRT_CUDA_KIND_STREAM_WAIT,
	GRT_CUDA_KINDS,
};

/** struct grt_cuda_call - a row of cuda_calls.def, hip_calls.def or presents.def */
struct grt_cuda_call {
	uint16_t call;
	uint8_t kind;
	const char *name;
};

/** grt_cuda_call - the row of a grt_ev_launch.call, of hip_calls.def and presents.def, too; NULL where it has
 * none */
const struct grt_cuda_call *grt_cuda_call(uint32_t call);

/** grt_cuda_copy_name - of a grt_ev_gpu_copy.kind ("HtoD"), "?" where the number has none */
const char *grt_cuda_copy_name(uint32_t kind);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_CUDA_CODES_H */
