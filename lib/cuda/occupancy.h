/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * How many blocks of a kernel a multiprocessor can have at once, by NVIDIA's rules (the
 * programming guide's tables of compute capabilities): what a device has of warps, blocks, registers and
 * shared memory, each taken in the portions that it is handed out in. It is the most there can be, not what
 * there was: clusters, and a smaller part of the cache as shared memory, are not known here.
 */
#ifndef GRT_CUDA_OCCUPANCY_H
#define GRT_CUDA_OCCUPANCY_H

#include <stdbool.h>
#include <stdint.h>

#include <grtrace/event.h>

/* What keeps a further block out: bits. */
enum {
	GRT_OCCUPANCY_WARPS = 1,
	GRT_OCCUPANCY_BLOCKS = 2,
	GRT_OCCUPANCY_REGISTERS = 4,
	GRT_OCCUPANCY_SHARED = 8,
	GRT_OCCUPANCY_LIMITS = 16,
};

/**
 * struct grt_occupancy - @blocks: of a multiprocessor at once; 0: a block does not fit, which the device
 * would have refused
 * @warps: in these; @most: warps of a multiprocessor at most
 * @limits: bits; what allows no more blocks
 * @waves: thousandths: the kernel's blocks, of those that all multiprocessors can have at once
 */
struct grt_occupancy {
	uint32_t blocks;
	uint32_t warps;
	uint32_t most;
	uint32_t limits;
	uint64_t waves;
};

/** grt_occupancy_of - of a kernel on a device. Return: whether all that it follows from is known */
bool grt_occupancy_of(const struct grt_ev_device *d, const struct grt_ev_gpu_kernel *k,
		      struct grt_occupancy *out);

/** grt_occupancy_limits - "registers, shared" */
const char *grt_occupancy_limits(uint32_t limits);

#endif /* GRT_CUDA_OCCUPANCY_H */
