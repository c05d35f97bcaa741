/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * PC samples under the stacks that launched kernels. If kernels were serialized, a sample has the correlation
 * of its launch, and belongs to its stack. Otherwise it names a function, but no launch: if one stack made
 * all launches of a kernel, the kernel's samples belong to that stack; if several stacks did, the samples are
 * divided by the time of the kernels, and marked as inferred. So are samples of a kernel that one launch of a
 * graph ran under several stacks. Rounding loses no sample.
 *
 * This takes the memory of pc_samples.h, 65536 kernels, and 2^20 launches.
 */
#ifndef GRT_CUDA_SAMPLE_SHARES_H
#define GRT_CUDA_SAMPLE_SHARES_H

#include "pc_samples.h"
#include "stack/flame_shapes.h"

struct grt_slots;

/**
 * struct grt_sampled - counts of samples
 * @samples: samples of the weight; @exact: samples whose launch CUPTI named; @inferred: samples that were
 *	divided between several stacks;
 *	@unmatched: samples of functions without a kernel in the trace
 * @dropped: samples that the hardware dropped; @other: samples in kernels of other programs; @full: see
 *	struct grt_pc_sums
 * @over: samples for which there was no room; @windows: see struct grt_pc_sums
 */
struct grt_sampled {
	uint64_t samples;
	uint64_t inferred;
	uint64_t exact;
	uint64_t unmatched;
	uint64_t dropped;
	uint64_t other;
	uint64_t full;
	uint64_t over;
	struct grt_pc_windows windows;
};

/** struct grt_sample_exact - samples of the launches of a row */
struct grt_sample_exact {
	struct grt_pc_leaf *leaf;
	uint64_t samples;
	uint32_t row;
};

/** struct grt_sample_shares - @kernels: by image and name; @launches: rows by image, correlation and name, a
 * number in @names; @exact: by row */
struct grt_sample_shares {
	struct grt_pc_samples pc;
	struct grt_keyed kernels;
	struct grt_keyed launches;
	struct grt_texts names;
	struct grt_sample_exact *exact;
	uint32_t exacts;
	struct grt_sampled sums;
};

/** struct grt_sample_work - kernels of one name and stack; @stack: a different number for each stack; @row:
 * number of the work for its owner */
struct grt_sample_work {
	uint32_t image;
	uint32_t name;
	uint64_t ns;
	uint64_t stack;
	uint32_t row;
};

/** struct grt_sample_tree - the tree to which samples are added */
struct grt_sample_tree {
	struct grt_stacks *tree;
	enum grt_stacks_side side;
	struct grt_slots *slots;
	bool stalls;
};

/** grt_sample_shares_new - @images: of the events to come. Return: 0 or -ENOMEM */
int grt_sample_shares_new(struct grt_sample_shares **out, const struct grt_images *images);

/** grt_sample_shares_launch - a kernel of a launch belongs to @row. Return: 0 or -ENOMEM */
int grt_sample_shares_launch(struct grt_sample_shares *s, const struct grt_image *image, uint64_t correlation,
			     uint32_t name, uint32_t row);

/** grt_sample_shares_link - gives samples to the rows of their launches, after the trace's end, once samples
 * are finished. Return: 0 or -ENOMEM */
int grt_sample_shares_link(struct grt_sample_shares *s);

/** grt_sample_shares_see - all work, after the trace's end and before grt_sample_shares_put(). Return: 0 or
 * -ENOMEM */
int grt_sample_shares_see(struct grt_sample_shares *s, const struct grt_sample_work *w);

/** grt_sample_shares_put - the samples of work on its kernel's frame @node, as file:line;[reason]. Return: as
 * grt_stacks_add() */
int grt_sample_shares_put(struct grt_sample_shares *s, const struct grt_sample_work *w,
			  const struct grt_sample_tree *to, uint32_t node, uint16_t slot);

/**
 * grt_sample_shares_left - Return: the first function from @at on whose samples belong to no kernel; @at
 * moves after it; NULL: there is none
 */
const struct grt_pc_leaf *grt_sample_shares_left(const struct grt_sample_shares *s, uint32_t *at);

/** grt_sample_shares_put_left - its samples on @node. Return: as grt_stacks_add() */
int grt_sample_shares_put_left(struct grt_sample_shares *s, const struct grt_pc_leaf *first,
			       const struct grt_sample_tree *to, uint32_t node);

/** grt_sample_shares_sums - the counts */
struct grt_sampled grt_sample_shares_sums(const struct grt_sample_shares *s);

/** grt_sample_shares_free - frees it; NULL is allowed */
void grt_sample_shares_free(struct grt_sample_shares *s);

#endif /* GRT_CUDA_SAMPLE_SHARES_H */
