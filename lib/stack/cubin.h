/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Code for NVIDIA's GPUs: an ELF file in which each function is a section of its own that begins at
 * address 0, so that an address means nothing without its function. The lines of its source come from
 * .debug_line, as nvcc -lineinfo, NVRTC and Triton write it; so do the functions that were inlined, by
 * NVIDIA's extension of it.
 */
#ifndef GRT_STACK_CUBIN_H
#define GRT_STACK_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct grt_cubin;

/** grt_cubin_is - whether a file is one */
bool grt_cubin_is(int fd);

/**
 * grt_cubin_open - reads it; @fd stays the caller's
 * Return: 0, -EBADMSG: it is broken, -EFBIG, -ENOTSUP: without elfutils, -ENOMEM
 */
int grt_cubin_open(struct grt_cubin **out, int fd);

/** grt_cubin_has - whether there is such a function, as the linker knows it, and it is that long */
bool grt_cubin_has(const struct grt_cubin *c, const char *function, uint64_t offset);

/**
 * grt_cubin_frames - the source of an instruction, innermost first: a function that was inlined, and behind
 * it where that was called. The last one is of @function itself. elfutils before 0.186 knows the first one
 * alone
 * @function: as the linker knows it; @offset: of the instruction in it
 * @out: texts live as long as @c
 * Return: how many, at most @max; 0: unknown
 */
unsigned int grt_cubin_frames(struct grt_cubin *c, const char *function, uint64_t offset,
			      struct grt_object_frame *out, unsigned int max);

/** grt_cubin_close - frees it; NULL is allowed */
void grt_cubin_close(struct grt_cubin *c);

#endif /* GRT_STACK_CUBIN_H */
