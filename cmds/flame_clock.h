/* SPDX-License-Identifier: GPL-2.0 */
/* The clocks of the files of `flame --cpu` and `--gpu`: how far they are apart, as typed or as estimated. */
#ifndef GRTRACE_FLAME_CLOCK_H
#define GRTRACE_FLAME_CLOCK_H

#include "cuda/seeds.h"

/**
 * flame_clock_set - says by which window and offset stacks are joined to launches by time
 * @window: s; 0: the usual one
 * @offset: what was typed, a number of ns or "auto"; NULL: nothing
 * @fd: the GPU's file, of which the path is @path
 * Return: EXIT_DONE, or another status after saying why
 */
int flame_clock_set(struct grt_seeds *s, double window, const char *offset, int fd, const char *path);

#endif /* GRTRACE_FLAME_CLOCK_H */
