/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sums of collectives by communicator, function, direction and size: the time after the last
 * rank has arrived, and the bytes moved in this time.
 */
#ifndef GRT_CUDA_COLLECTIVE_SUMS_H
#define GRT_CUDA_COLLECTIVE_SUMS_H

#include "base/keyed.h"
#include "collective_ops.h"

#define GRT_COLLECTIVE_SUMS_MAX 65536U

/**
 * struct grt_collective_sum - a row
 * @part: one of its collectives; @hash: hash of its communicator, as text
 * @count: number of collectives; @captured: those that were captured into a graph, where each replay counts;
 *	@open: those without an ended kernel; @timed: those with a time
 * @bytes: bytes of all; @size: bytes of the largest, @smallest: of the smallest
 * @timed_bytes, @time: bytes and time of collectives with a time, from the arrival of the last rank on;
 *	@carried: bytes on their links
 * @kernels: time of the kernels of all ranks; @wait: the part of it before the last rank arrived; @exposed:
 *	the part in which nothing else was computed
 * @ranks: the largest number of ranks in the recording; @lack: collectives in @time without some of
 *	their ranks
 * @shared: some times are shares of a kernel of several collectives, by bytes; @inferred: kernels were
 *	inferred
 * @unknown: bytes of some collectives are unknown
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
	uint64_t lack;
	bool shared;
	bool inferred;
	bool unknown;
};

/** struct grt_collective_sums - @row: sorted by time, the longest first; @over: collectives without a row */
struct grt_collective_sums {
	struct grt_ops ops;
	struct grt_keyed rows;
	struct grt_collective_sum **row;
	uint64_t over;
};

/**
 * grt_collective_sums_find - computes the sums; free them with grt_collective_sums_free(). Return: 0 or
 * -ENOMEM
 */
int grt_collective_sums_find(struct grt_collective_sums *c, struct grt_steps *s);

/** grt_collective_sums_free - frees its memory */
void grt_collective_sums_free(struct grt_collective_sums *c);

#endif /* GRT_CUDA_COLLECTIVE_SUMS_H */
