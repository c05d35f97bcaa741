/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What kernels waited for between their call and their beginning, where the trace says which process had the
 * GPU (GPU_SLICE). Each wait is divided without gap or overlap:
 *
 *	others	the context of another process was on the GPU
 *	own	of the rest: earlier work of the kernel's stream was not over
 *	unknown	nothing says what it was
 *
 * A device of CUDA is that of the slices by its place on the bus. Of a divided GPU it is the instance that
 *the process has slices of; a process without slices there, as one that has another pid for itself, has no
 *waits.
 *
 * Memory is bounded: 24 bytes for each of 4194304 slices, 48 for each of 1048576 kernels that wait for
 *theirs, and 65536 streams, kernels, and processes that kernels waited for.
 */
#ifndef GRT_CUDA_KERNEL_WAITS_H
#define GRT_CUDA_KERNEL_WAITS_H

#include <grtrace/event.h>

#include "base/keyed.h"
#include "stack/devices.h"

struct grt_names;

/**
 * struct grt_kernel_wait_sum - of a kernel
 * @waits: how many are divided
 * @others, @own, @unknown: ns
 * @longest: time that others had the GPU in one wait, the most, ns
 * @pid: of the others the one that had it for most of the time; @pid_ns: for how long
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
 * @kernel: its waits are wanted
 * @image, @name: whose sum its wait is added to
 * @stream: work of one stream has the same key
 * @called: when it was launched, 0: unknown
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

/** grt_kernel_waits_init - none */
void grt_kernel_waits_init(struct grt_kernel_waits *w);

/** grt_kernel_waits_slice - takes in a slice. Return: 0 or -ENOMEM */
int grt_kernel_waits_slice(struct grt_kernel_waits *w, const struct grt_ev_gpu_slice *e,
			   const struct grt_names *names);

/** grt_kernel_waits_work - takes in work; that of a stream in the order of the calls. Return: 0 or -ENOMEM */
int grt_kernel_waits_work(struct grt_kernel_waits *w, const struct grt_kernel_work *work);

/** grt_kernel_waits_finish - there will be no more. Return: 0 or -ENOMEM */
int grt_kernel_waits_finish(struct grt_kernel_waits *w);

/** grt_kernel_waits_of - the sum of a kernel, after grt_kernel_waits_finish(); all zero: nothing is known */
struct grt_kernel_wait_sum grt_kernel_waits_of(const struct grt_kernel_waits *w, uint32_t image,
					       uint32_t name);

/** grt_kernel_waits_over - slices and kernels that were too many */
uint64_t grt_kernel_waits_over(const struct grt_kernel_waits *w);

/** grt_kernel_waits_free - frees all */
void grt_kernel_waits_free(struct grt_kernel_waits *w);

#endif /* GRT_CUDA_KERNEL_WAITS_H */
