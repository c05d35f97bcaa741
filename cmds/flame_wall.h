/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The part of `grtrace flame` that is about threads, not about the GPU.
 */
#ifndef GRTRACE_FLAME_WALL_H
#define GRTRACE_FLAME_WALL_H

#include "threads/wall_flame.h"
#include "reading.h"

/**
 * flame_wall - adds a recording's threads to a tree, and tells about them
 * @path: its name for people
 * @side: of @tree
 * Return: an exit status
 */
int flame_wall(struct grt_session *s, const char *path, const struct opt_time *from,
	       const struct opt_time *to, const struct grt_flame_shape *shape, struct grt_stacks *tree,
	       enum grt_stacks_side side);

#endif /* GRTRACE_FLAME_WALL_H */
