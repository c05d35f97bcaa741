/* SPDX-License-Identifier: GPL-2.0 */
/* The offset between the clocks of the files of `flame --cpu` and `--gpu`, as typed or as estimated. */
#ifndef GRTRACE_FLAME_CLOCK_H
#define GRTRACE_FLAME_CLOCK_H

#include "cuda/seeds.h"

/**
 * flame_clock_set - sets the window and the offset with which stacks are joined to launches by time
 * @window: s; 0: the default
 * @offset: as typed, a number of ns or "auto"; NULL: not given
 * @fd, @path: the GPU's file
 * Return: EXIT_DONE, or another status after a message
 */
int flame_clock_set(struct grt_seeds *s, double window, const char *offset, int fd, const char *path);

#endif /* GRTRACE_FLAME_CLOCK_H */
