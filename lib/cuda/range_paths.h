/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Ranges of NVTX by name: the chain of ranges that a launch was made in as a path of
 * frames. Numbers that stand alone in a name ("step 12", "ProfilerStep#12") are left
 * out, so that all steps are one path.
 */
#ifndef GRT_CUDA_RANGE_PATHS_H
#define GRT_CUDA_RANGE_PATHS_H

#include "stack/images.h"
#include "stack/stacks.h"

/**
 * struct grt_range_paths - set up by grt_range_paths_init()
 * @tree: of paths: below the root a frame for each process image, below that the names
 * @full: names are kept with their numbers
 */
struct grt_range_paths {
	struct grt_stacks *tree;
	bool full;
	struct grt_range_places *place;
	uint32_t places;
};

/** grt_range_paths_init - Return: 0 or -ENOMEM */
int grt_range_paths_init(struct grt_range_paths *p, bool full);

/** grt_range_paths_get - the node of @tree of a chain, not 0; of chain 0 the image's own. Return: 0 or
 * -ENOMEM */
int grt_range_paths_get(struct grt_range_paths *p, const struct grt_image *i, uint32_t chain, uint32_t *path);

/** grt_range_paths_name - the number in @tree of a range's name, with its domain in brackets. Return: 0 or
 * -ENOMEM */
int grt_range_paths_name(struct grt_range_paths *p, const struct grt_image *i, uint32_t domain, uint32_t name,
			 uint32_t *number);

/** grt_range_fold - a name without its numbers, for free(); NULL: no memory */
char *grt_range_fold(const char *name);

/** grt_range_paths_put - a path as frames "[nvtx] NAME" below *@at, which becomes the innermost. Return: 0 or
 * -ENOMEM */
int grt_range_paths_put(const struct grt_range_paths *p, uint32_t path, struct grt_stacks *tree,
			uint32_t *at);

/** grt_range_paths_text - a path as its names, outermost first, with / between, cut to @room; "" of none */
void grt_range_paths_text(const struct grt_range_paths *p, uint32_t path, char *out, size_t room);

/** grt_range_paths_free - frees it */
void grt_range_paths_free(struct grt_range_paths *p);

#endif /* GRT_CUDA_RANGE_PATHS_H */
