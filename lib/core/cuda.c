// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of cuda.h. The numbers are CUPTI's, of cupti_activity.h of CUDA 13.0.
 */
#include "cuda.h"

#include <stddef.h>

enum { DOMAIN_RUNTIME = 0, DOMAIN_DRIVER = GRT_CUDA_DRIVER };

static const struct grt_cuda_call calls[] = {
#define GRT_CUDA_CALL(DOMAIN, number, KIND, name) {DOMAIN_##DOMAIN | (number), GRT_CUDA_KIND_##KIND, #name},
#include <grtrace/cuda_calls.def>
#undef GRT_CUDA_CALL
};

static const char *const copies[] = {"?",    "HtoD", "DtoH", "HtoA", "AtoH", "AtoA",
				     "AtoD", "DtoA", "DtoD", "HtoH", "PtoP"};

const struct grt_cuda_call *grt_cuda_call(uint32_t call)
{
	for (size_t i = 0; i < sizeof(calls) / sizeof(calls[0]); i++)
		if (calls[i].call == call)
			return &calls[i];
	return NULL;
}

const char *grt_cuda_copy_name(uint32_t kind)
{
	if (kind == GRT_CUDA_SET)
		return "set";
	return copies[kind < sizeof(copies) / sizeof(copies[0]) ? kind : 0];
}
