// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of cuda.h. The numbers are CUPTI's, of cupti_activity.h of CUDA 13.0.
 */
#include "cuda_codes.h"

#include <stddef.h>

enum { DOMAIN_RUNTIME = 0, DOMAIN_DRIVER = GRT_CUDA_DRIVER };

/* Numbers of a domain are below this: the runtime's come first, then the driver's. */
#define NUMBERS 2048U

static const struct grt_cuda_call calls[2 * NUMBERS] = {
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name)                                                         \
	[(DOMAIN_##DOMAIN ? NUMBERS : 0) + (number)] = {DOMAIN_##DOMAIN | (number), GRT_CUDA_KIND_##KIND, \
							#name},
#include <grtrace/cuda_calls.def>
#undef GRT_CUDA_CALL
};

static const struct grt_cuda_call presents[] = {
#define GRT_PRESENT(number, library, name) \
	[number] = {GRT_PRESENT_CALL | (number), GRT_CUDA_KIND_NONE, #name},
#include <grtrace/presents.def>
#undef GRT_PRESENT
};

static const struct grt_cuda_call hip_calls[] = {
#define GRT_HIP(number, KIND, name) [number] = {GRT_HIP_CALL | (number), GRT_CUDA_KIND_##KIND, #name},
#include <grtrace/hip_calls.def>
#undef GRT_HIP
};

static const struct grt_cuda_call *hip_call(uint32_t number)
{
	return number < sizeof(hip_calls) / sizeof(hip_calls[0]) && hip_calls[number].name
		       ? &hip_calls[number]
		       : NULL;
}

static const struct grt_cuda_call *present_call(uint32_t number)
{
	return number < sizeof(presents) / sizeof(presents[0]) && presents[number].name ? &presents[number]
											: NULL;
}

static const char *const copies[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
				     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

static const char *const memories[] = {NULL,	"Pageable", "Pinned",	     "Device",
				       "Array", "Managed",  "Device Static", "Managed Static"};

const char *grt_cuda_memory_name(uint32_t kind)
{
	return kind < sizeof(memories) / sizeof(memories[0]) ? memories[kind] : NULL;
}

const struct grt_cuda_call *grt_cuda_call(uint32_t call)
{
	uint32_t number = call & ~GRT_CUDA_DRIVER, at = number + (call & GRT_CUDA_DRIVER ? NUMBERS : 0);

	if (call & GRT_PRESENT_CALL)
		return present_call(call & ~GRT_PRESENT_CALL);
	if (call & GRT_HIP_CALL && !(call & GRT_CUDA_DRIVER))
		return hip_call(call & ~GRT_HIP_CALL);
	return number < NUMBERS && calls[at].name ? &calls[at] : NULL;
}

enum grt_cuda_sync grt_cuda_sync(const struct grt_cuda_call *call)
{
	static const uint8_t sync[GRT_CUDA_KINDS] = {
		[GRT_CUDA_KIND_EVENT_SYNC] = GRT_CUDA_SYNC_EVENT,
		[GRT_CUDA_KIND_STREAM_WAIT] = GRT_CUDA_SYNC_ORDER,
		[GRT_CUDA_KIND_STREAM_SYNC] = GRT_CUDA_SYNC_STREAM,
		[GRT_CUDA_KIND_CONTEXT_SYNC] = GRT_CUDA_SYNC_CONTEXT,
	};

	return call ? sync[call->kind] : GRT_CUDA_SYNC_NONE;
}

bool grt_cuda_waits(const struct grt_cuda_call *call)
{
	enum grt_cuda_sync sync = grt_cuda_sync(call);

	return sync != GRT_CUDA_SYNC_NONE && sync != GRT_CUDA_SYNC_ORDER;
}

const char *grt_cuda_copy_name(uint32_t kind)
{
	if (kind == GRT_CUDA_SET)
		return "set";
	return copies[kind < sizeof(copies) / sizeof(copies[0]) ? kind : 0];
}
