/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The text of sampled instructions, as nvdisasm of the CUDA toolkit prints it. The owner runs that program;
 * here its output is read, which is not trusted: the text of an instruction is cut at GRT_PC_SASS_TEXT bytes,
 * and what is no instruction of a row is ignored.
 */
#ifndef GRT_CUDA_PC_SASS_H
#define GRT_CUDA_PC_SASS_H

#include "pc_samples.h"

#define GRT_PC_SASS_TEXT 160U

/**
 * struct grt_sass - gives the text of code, as `nvdisasm -c` prints it
 * @open: begins the text of @n functions of a cubin, linkage names, by its CRC; other functions may be in it.
 *	Return: a descriptor to read from, which the caller closes, -ENOENT: there is no nvdisasm, -ENODATA:
 *	the code was not kept, or another negative errno
 * @close: the text has been read
 */
struct grt_sass {
	int (*open)(void *arg, uint64_t cubin, const char *const *functions, uint32_t n);
	void (*close)(void *arg);
	void *arg;
};

/** struct grt_pc_sass_result - @no_program, @no_code, @failed: instructions without a text, by cause */
struct grt_pc_sass_result {
	uint64_t no_program;
	uint64_t no_code;
	uint64_t failed;
};

/** grt_pc_sass_read - sets the text of @n rows of @p; @sass: NULL: there is none. Return: 0 or -ENOMEM */
int grt_pc_sass_read(const struct grt_pc_samples *p, struct grt_pc_instruction *const *row, uint32_t n,
		     const struct grt_sass *sass, struct grt_pc_sass_result *result);

#endif /* GRT_CUDA_PC_SASS_H */
