/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Code for NVIDIA's GPUs (cubin): an ELF file in which each function is a section of its own that begins at
 * address 0, so an address means nothing without its function. Source lines come from .debug_line, as nvcc
 * -lineinfo, NVRTC and Triton write it; inlined functions come from NVIDIA's extension of .debug_line. Code
 * that has only lines of its PTX (.nv_debug_line_sass of ptxas -lineinfo) has these, in a file "PTX".
 */
#ifndef GRT_STACK_CUBIN_H
#define GRT_STACK_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

#include "object.h"

struct grt_cubin;

/** grt_cubin_is - whether a file is a cubin */
bool grt_cubin_is(int fd);

/**
 * grt_cubin_open - reads a cubin; the caller still owns @fd
 * Return: 0, -EBADMSG: the file is invalid, -EFBIG, -ENOTSUP: the program has no elfutils, -ENOMEM
 */
int grt_cubin_open(struct grt_cubin **out, int fd);

/** grt_cubin_has - whether the cubin has a function of this linkage name that is longer than @offset */
bool grt_cubin_has(const struct grt_cubin *c, const char *function, uint64_t offset);

/**
 * grt_cubin_frames - the source places of an instruction, innermost first: each inlined function, followed by
 * the place where it was called. The last place is in @function itself. elfutils before 0.186 returns only
 * the first
 * @function: linkage name; @offset: offset of the instruction in it, bytes
 * @out: texts are valid until @c is closed
 * Return: number of places, at most @max; 0: unknown
 */
unsigned int grt_cubin_frames(struct grt_cubin *c, const char *function, uint64_t offset,
			      struct grt_object_frame *out, unsigned int max);

/** grt_cubin_symbol - index of the function's symbol, as nvdisasm counts symbols; 0: unknown */
unsigned int grt_cubin_symbol(const struct grt_cubin *c, const char *function);

/** grt_cubin_close - frees @c, which may be NULL */
void grt_cubin_close(struct grt_cubin *c);

#endif /* GRT_STACK_CUBIN_H */
