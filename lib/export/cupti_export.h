/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Shared code of the files of CUDA's launches and of GPU work: readers join the two by correlation id, so the
 * ids in both files are the same.
 */
#ifndef GRT_EXPORT_CUPTI_EXPORT_H
#define GRT_EXPORT_CUPTI_EXPORT_H

#include "stack/images.h"

/**
 * grt_cupti_correlation - a correlation id that is one of the whole trace
 *
 * Each process counts its own. Those of the first one stay as they are.
 */
static inline uint64_t grt_cupti_correlation(const struct grt_image *i, uint64_t correlation)
{
	return correlation ? correlation + ((uint64_t)i->number << 40) : 0;
}

#endif /* GRT_EXPORT_CUPTI_EXPORT_H */
