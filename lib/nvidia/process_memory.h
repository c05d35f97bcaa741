/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Memory that processes have from NVIDIA's driver, from NV_MEMORY records: of each GPU, and of the host. What
 * NVML counts for a process is compared with it: what is more was there before the trace, or no call shows
 * it.
 *
 * Memory is 100 bytes for each block that is live, and 200 for each process and GPU.
 */
#ifndef GRT_NVIDIA_PROCESS_MEMORY_H
#define GRT_NVIDIA_PROCESS_MEMORY_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

/* Blocks that live at one moment, and processes with a GPU; of more, they are counted. */
#define GRT_PROCESS_MEMORY_BLOCKS (1U << 22)
#define GRT_PROCESS_MEMORY_HOLDERS 65536U

/**
 * struct grt_memory_holder - a process and a GPU, or the host
 * @number: of it, from 0
 * @bus: of the GPU, as in events, 0: unknown, or the host
 * @live, @blocks, @peak: of what it got in the trace
 * @bytes: of all @allocations
 * @shared: handles that other memory got from it
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
 * @holder: of which there are @used
 * @over: blocks and holders that found no place
 * @first: when NVML was asked first, 0: it was not
 * The rest is private.
 */
struct grt_process_memory {
	struct grt_memory_holder **holder;
	uint32_t used, room;
	struct grt_keyed numbers;
	struct grt_keyed blocks;
	uint64_t over;
	uint64_t first;
};

/**
 * struct grt_holder_change - what a record did
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

/** grt_process_memory_init - nobody has any */
void grt_process_memory_init(struct grt_process_memory *m);

/**
 * grt_process_memory_event - takes a record in
 * @out: gets what changed; its holders last until the end
 * Return: how many of these, or -ENOMEM
 */
int grt_process_memory_event(struct grt_process_memory *m, const struct grt_ev_nv_memory *e,
			     struct grt_holder_change out[2]);

/** grt_process_memory_sort - brings the holders into order: those with the highest peak first */
void grt_process_memory_sort(struct grt_process_memory *m);

/** grt_process_memory_free - frees it */
void grt_process_memory_free(struct grt_process_memory *m);

#endif /* GRT_NVIDIA_PROCESS_MEMORY_H */
