/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Memory that processes have from NVIDIA's driver, from NV_MEMORY records: on each GPU, and on the host. The
 * sums are compared with NVML's count for the process: a larger count includes memory from before the
 * trace, or memory that no call shows.
 *
 * This takes 100 bytes for each block that is live, and 200 for each process and GPU.
 */
#ifndef GRT_NVIDIA_PROCESS_MEMORY_H
#define GRT_NVIDIA_PROCESS_MEMORY_H

#include <grtrace/grtrace.h>

#include "base/containers.h"

/* Most live blocks, and most pairs of a process and a GPU; further ones are counted. */
#define GRT_PROCESS_MEMORY_BLOCKS (1U << 22)
#define GRT_PROCESS_MEMORY_HOLDERS 65536U

/**
 * struct grt_memory_holder - a process and a GPU, or the host
 * @number: its number, from 0
 * @bus: address of the GPU, as in events, 0: unknown, or the host
 * @inferred: records without a GPU's address are among its own, see struct grt_process_memory
 * @live, @blocks, @peak: current bytes, current blocks and largest @live of the memory allocated in the trace
 * @bytes: of all @allocations
 * @shared: additional handles of its memory, in this or another process
 * @before: what NVML counted more than @live when it was asked first, if that was when the trace begins; with
 *	@had_before. Frees of it have no record, so @before_left is at most that and what NVML counts later
 * @counted: by NVML at last, with @asked; @other: of these, neither @live then nor @before_left
 */
struct grt_memory_holder {
	uint32_t number;
	uint32_t pid;
	uint32_t bus;
	uint16_t place;
	bool had_before;
	bool asked;
	bool inferred;
	uint64_t allocations;
	uint64_t frees;
	uint64_t refused;
	uint64_t shared;
	uint64_t bytes;
	uint64_t live;
	uint64_t blocks;
	uint64_t peak;
	uint64_t before;
	uint64_t before_left;
	uint64_t counted;
	uint64_t other;
};

/**
 * struct grt_process_memory - set up by grt_process_memory_init()
 * @holder: array of @used holders
 * @over: blocks and holders beyond the limits
 * @first: time of the first query of NVML, 0: there was none
 * @begun: GPUs on which NVML counted memory of processes then: a process that opened its GPU before the trace
 *	has records without an address, which are of this GPU if there was one only
 *
 * The rest is private.
 */
struct grt_process_memory {
	struct grt_memory_holder **holder;
	uint32_t used, room;
	struct grt_keyed numbers;
	struct grt_keyed blocks;
	struct grt_keyed begun;
	uint64_t over;
	uint64_t first;
};

/**
 * struct grt_holder_change - the effect of a record on a holder
 * @user, @kernel: stacks of the call that allocated it
 * @freed: @bytes is negative
 */
struct grt_holder_change {
	struct grt_memory_holder *holder;
	uint32_t user;
	uint32_t kernel;
	bool freed;
	int64_t bytes;
};

/** grt_process_memory_init - begins without holders */
void grt_process_memory_init(struct grt_process_memory *m);

/**
 * grt_process_memory_event - processes a record
 * @out: gets the changes; their holders live as long as @m
 * Return: the number of changes, or -ENOMEM
 */
int grt_process_memory_event(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
			     struct grt_holder_change out[2]);

/** grt_process_memory_restart - counts and peaks begin anew; what is live, and what NVML counted, stays */
void grt_process_memory_restart(struct grt_process_memory *m);

/** grt_process_memory_sort - sorts the holders, highest peak first */
void grt_process_memory_sort(struct grt_process_memory *m);

/** grt_process_memory_free - frees it */
void grt_process_memory_free(struct grt_process_memory *m);

#endif /* GRT_NVIDIA_PROCESS_MEMORY_H */
