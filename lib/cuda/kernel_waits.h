/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The reasons for which kernels waited between their call and their start, if the trace shows which process
 * had the GPU (GPU_SLICE). Each wait is divided without gap or overlap:
 *
 *	others	the context of another process was on the GPU
 *	own	otherwise, earlier work of the kernel's stream had not ended
 *	unknown	the rest
 *
 * A CUDA device is identified with the slices' device by its PCI address. On a GPU with MIG, it is the
 * instance for which the process has slices. A process without slices there, such as a process in another
 * PID namespace, has no waits.
 *
 * Memory is bounded: 24 bytes for each of 4194304 slices, 48 for each of 1048576 kernels that wait for
 * slices, and 65536 streams, kernels, and processes for which kernels waited.
 */
#ifndef GRT_CUDA_KERNEL_WAITS_H
#define GRT_CUDA_KERNEL_WAITS_H

#include <grtrace/event.h>

#include "base/containers.h"
#include "stack/images.h"

struct grt_names;

/**
 * struct grt_kernel_wait_sum - sums of a kernel
 * @waits: number of divided waits
 * @others, @own, @unknown: ns
 * @longest: the longest time in one wait for which other processes had the GPU, ns
 * @pid: the other process that had the GPU for most of the time; @pid_ns: its time
 */
struct grt_kernel_wait_sum {
	uint64_t waits;
	uint64_t others;
	uint64_t own;
	uint64_t unknown;
	uint64_t longest;
	uint64_t pid_ns;
	uint32_t pid;
};

/**
 * struct grt_kernel_work - a kernel or copy
 * @kernel: it is a kernel, whose waits are computed
 * @image, @name: key of the sum to which its wait is added
 * @stream: key of its stream
 * @called: time of the launch, 0: unknown
 */
struct grt_kernel_work {
	bool kernel;
	uint32_t image;
	uint32_t name;
	uint32_t pid;
	const struct grt_device *device;
	struct grt_key stream;
	uint64_t called;
	uint64_t start;
	uint64_t end;
};

/** struct grt_kernel_waits - set up by grt_kernel_waits_init(); the members are private */
struct grt_kernel_waits {
	struct grt_keyed places;
	struct grt_keyed users;
	struct grt_keyed streams;
	struct grt_keyed sums;
	struct grt_keyed others;
	struct kernel_wait *wait;
	uint32_t used, room;
	const struct grt_device *device;
	uint32_t bus;
	uint64_t slices;
	uint64_t over;
};

/** grt_kernel_waits_init - begins without events */
void grt_kernel_waits_init(struct grt_kernel_waits *w);

/** grt_kernel_waits_slice - processes a slice. Return: 0 or -ENOMEM */
int grt_kernel_waits_slice(struct grt_kernel_waits *w, const struct grt_ev_gpu_slice *e,
			   const struct grt_names *names);

/**
 * grt_kernel_waits_work - processes work; the work of a stream must come in the order of the calls. Return: 0
 * or -ENOMEM
 */
int grt_kernel_waits_work(struct grt_kernel_waits *w, const struct grt_kernel_work *work);

/** grt_kernel_waits_finish - ends the input. Return: 0 or -ENOMEM */
int grt_kernel_waits_finish(struct grt_kernel_waits *w);

/** grt_kernel_waits_of - the sum of a kernel, after grt_kernel_waits_finish(); all zero: unknown */
struct grt_kernel_wait_sum grt_kernel_waits_of(const struct grt_kernel_waits *w, uint32_t image,
					       uint32_t name);

/** grt_kernel_waits_over - slices and kernels beyond the limits */
uint64_t grt_kernel_waits_over(const struct grt_kernel_waits *w);

/** grt_kernel_waits_free - frees its memory */
void grt_kernel_waits_free(struct grt_kernel_waits *w);

#endif /* GRT_CUDA_KERNEL_WAITS_H */
