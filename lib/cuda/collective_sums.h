/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Collectives added up by communicator, function, direction and size: how long they
 * took once all ranks had come, and what they carried in that time.
 */
#ifndef GRT_CUDA_COLLECTIVE_SUMS_H
#define GRT_CUDA_COLLECTIVE_SUMS_H

#include "base/keyed.h"
#include "collective_ops.h"

#define GRT_COLLECTIVE_SUMS_MAX 65536U

/**
 * struct grt_collective_sum - a row
 * @part: one of its collectives; @hash: of its communicator, as text
 * @count: collectives; @captured: that were captured into a graph, of which each replay counts; @open:
 *without a kernel that has ended; @timed: the others, of which the times are
 * @bytes: of all; @size: of the largest, @smallest: of the smallest
 * @timed_bytes, @time: of those with times, from the arrival of the last rank on; @carried: what their links
 *carried
 * @kernels: time of the kernels of all ranks; @wait: of these, before the last rank had come; @exposed: in
 *which nothing else was computed
 * @ranks: that the recording has, at most
 * @shared: a part of the times is that of several collectives, by their bytes; @inferred: kernels are
 * @unknown: bytes of some of them are
 */
struct grt_collective_sum {
	const struct grt_op_part *part;
	char hash[17];
	uint64_t count;
	uint64_t captured;
	uint64_t open;
	uint64_t timed;
	uint64_t bytes;
	uint64_t size;
	uint64_t smallest;
	uint64_t timed_bytes;
	double carried;
	double time;
	double kernels;
	double wait;
	double exposed;
	uint64_t wait_max;
	uint32_t ranks;
	bool shared;
	bool inferred;
	bool unknown;
};

/** struct grt_collective_sums - @row: in the order of their time, the longest first; @over: without a row */
struct grt_collective_sums {
	struct grt_ops ops;
	struct grt_keyed rows;
	struct grt_collective_sum **row;
	uint64_t over;
};

/** grt_collective_sums_find - finds them; for grt_collective_sums_free(). Return: 0 or -ENOMEM */
int grt_collective_sums_find(struct grt_collective_sums *c, struct grt_steps *s);

/** grt_collective_sums_free - frees what it points to */
void grt_collective_sums_free(struct grt_collective_sums *c);

#endif /* GRT_CUDA_COLLECTIVE_SUMS_H */
