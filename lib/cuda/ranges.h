/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Ranges of NVTX in order of time: what a process did, as it said itself.
 *
 * Memory is 48 bytes for each range.
 */
#ifndef GRT_CUDA_RANGES_H
#define GRT_CUDA_RANGES_H

#include "stack/images.h"

/**
 * struct grt_range - a range
 * @end: 0: it was open at the end
 * @name, @domain: strings of @image
 * @chain: of ranges, 0: it was started and is in none
 * @depth: ranges around it on its thread
 */
struct grt_range {
	const struct grt_image *image;
	uint64_t begin;
	uint64_t end;
	uint32_t tid;
	uint32_t name;
	uint32_t domain;
	uint32_t chain;
	uint32_t depth;
};

/** struct grt_ranges - all zero: none; @over: ranges that are not in it, they were too many */
struct grt_ranges {
	struct grt_range *range;
	uint32_t ranges;
	uint32_t room;
	uint64_t over;
	bool sorted;
};

/** grt_ranges_event - takes in a RANGE record of an image; others are of no use. Return: 0 or -ENOMEM */
int grt_ranges_event(struct grt_ranges *r, const struct grt_image *image, const struct grt_event *e);

/**
 * grt_ranges_of - the ranges of a process image by their beginning, an outer one before those in it
 * @n: how many
 * Return: the first; valid until the next grt_ranges_event(). NULL: there are none
 */
const struct grt_range *grt_ranges_of(struct grt_ranges *r, const struct grt_image *image, uint32_t *n);

/** grt_ranges_free - frees and empties it */
void grt_ranges_free(struct grt_ranges *r);

#endif /* GRT_CUDA_RANGES_H */
