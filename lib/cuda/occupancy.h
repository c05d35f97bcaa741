/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The largest number of blocks of a kernel that a multiprocessor can run at once, by NVIDIA's rules (the
 * programming guide's tables of compute capabilities): from a device's warps, blocks, registers and
 * shared memory, with their allocation granularity. This is an upper limit, not a measured value:
 * clusters, and a smaller share of the cache as shared memory, are unknown here.
 */
#ifndef GRT_CUDA_OCCUPANCY_H
#define GRT_CUDA_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include <grtrace/event.h>

/* Limits that prevent a further block: bits. */
enum {
	GRT_OCCUPANCY_WARPS = 1,
	GRT_OCCUPANCY_BLOCKS = 2,
	GRT_OCCUPANCY_REGISTERS = 4,
	GRT_OCCUPANCY_SHARED = 8,
	GRT_OCCUPANCY_LIMITS = 16,
};

/**
 * struct grt_occupancy - @blocks: blocks of a multiprocessor at once; 0: a block does not fit, which the
 * device would have refused
 * @warps: warps of these blocks; @most: most warps of a multiprocessor
 * @limits: bits of the limits that prevent more blocks
 * @waves: thousandths: the kernel's blocks divided by the blocks that all multiprocessors can run at once
 */
struct grt_occupancy {
	uint32_t blocks;
	uint32_t warps;
	uint32_t most;
	uint32_t limits;
	uint64_t waves;
};

/** grt_occupancy_of - the occupancy of a kernel on a device. Return: whether all needed values are known */
bool grt_occupancy_of(const struct grt_ev_device *d, const struct grt_ev_gpu_kernel *k,
		      struct grt_occupancy *out);

/** grt_occupancy_limits - "registers, shared" */
const char *grt_occupancy_limits(uint32_t limits);

#endif /* GRT_CUDA_OCCUPANCY_H */
