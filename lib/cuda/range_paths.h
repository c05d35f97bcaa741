/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Converts chains of NVTX ranges to paths of names. Numbers that are words of their own in a name ("step 12",
 * "ProfilerStep#12") are left out, so that all steps of a program have one path.
 */
#ifndef GRT_CUDA_RANGE_PATHS_H
#define GRT_CUDA_RANGE_PATHS_H

#include "stack/images.h"
#include "stack/stacks.h"

/**
 * struct grt_range_paths - set up by grt_range_paths_init(), freed by grt_range_paths_free()
 * @tree: the paths: below the root one frame for each process image, and below it the names of ranges
 * @full: numbers in names are kept
 * @place, @places: by number of the process image: the paths of its chains that were requested before
 */
struct grt_range_paths {
	struct grt_stacks *tree;
	bool full;
	struct grt_range_places *place;
	uint32_t places;
};

/** grt_range_paths_init - begins without paths; @full: keep numbers in names. Return: 0 or -ENOMEM */
int grt_range_paths_init(struct grt_range_paths *p, bool full);

/**
 * grt_range_paths_get - finds the path of a chain
 * @path: gets its node in @p->tree, which is not 0; for chain 0, no range, the node of the process image
 * Return: 0 or -ENOMEM
 */
int grt_range_paths_get(struct grt_range_paths *p, const struct grt_image *i, uint32_t chain, uint32_t *path);

/** grt_range_paths_image - the number of the process image of @path, a node directly below the root of
 * @p->tree */
uint32_t grt_range_paths_image(const struct grt_range_paths *p, uint32_t path);

/**
 * grt_range_paths_name - adds the name of a range, followed by its domain in brackets, to the names of
 * @p->tree
 * @domain, @name: numbers of strings of the process image
 * @number: gets the number of the name in @p->tree. Return: 0 or -ENOMEM
 */
int grt_range_paths_name(struct grt_range_paths *p, const struct grt_image *i, uint32_t domain, uint32_t name,
			 uint32_t *number);

/** grt_range_fold - Return: the name without its numbers, for free(); NULL: no memory */
char *grt_range_fold(const char *name);

/**
 * grt_range_paths_put - adds a path to a tree of stacks, as frames "[nvtx] NAME"
 * @at: the node below which they are added; becomes the node of the innermost one. Return: 0 or -ENOMEM
 */
int grt_range_paths_put(const struct grt_range_paths *p, uint32_t path, struct grt_stacks *tree,
			uint32_t *at);

/**
 * grt_range_paths_text - writes a path as its names, outermost first, separated by /
 * @out: gets at most @room bytes with the NUL; "" for a path without ranges
 */
void grt_range_paths_text(const struct grt_range_paths *p, uint32_t path, char *out, size_t room);

/** grt_range_paths_free - frees all that @p owns */
void grt_range_paths_free(struct grt_range_paths *p);

#endif /* GRT_CUDA_RANGE_PATHS_H */
