/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Code for NVIDIA's GPUs: an ELF file in which each function is a section of its own that begins at
 * address 0, so that an address means nothing without its function. The lines of its source come from
 * .debug_line, as nvcc -lineinfo, NVRTC and Triton write it.
 */
#ifndef GRT_STACK_CUBIN_H
#define GRT_STACK_CUBIN_H

#include <stdbool.h>
#include <stdint.h>

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
 * grt_cubin_line - the source of an instruction
 * @function: as the linker knows it; @offset: of the instruction in it
 * Return: the file, good as long as @c is; NULL: unknown
 */
const char *grt_cubin_line(struct grt_cubin *c, const char *function, uint64_t offset, uint32_t *line);

/** grt_cubin_close - frees it; NULL is allowed */
void grt_cubin_close(struct grt_cubin *c);

#endif /* GRT_STACK_CUBIN_H */
