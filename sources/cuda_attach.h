/* SPDX-License-Identifier: GPL-2.0 */
/* Loads libgrtrace-cuda.so into a running process, as if the process had loaded it itself. */
#ifndef GRTRACE_CUDA_ATTACH_H
#define GRTRACE_CUDA_ATTACH_H

#include <stdint.h>
#include <sys/types.h>

#include <grtrace/grtrace.h>

#include "cuda_ask.h"

/**
 * struct cuda_attach - the effects on the process
 * @longest: the longest time for which a thread of the process was stopped at once, ns
 * @at, @bytes: memory in the process that is no longer needed
 */
struct cuda_attach {
	uint64_t longest;
	uint64_t at;
	uint64_t bytes;
};

/** cuda_attach_load - loads the library of this path. Return: 0 or -errno with *err */
int cuda_attach_load(struct cuda_attach *a, pid_t pid, const char *library, struct grt_err *err);

#endif /* GRTRACE_CUDA_ATTACH_H */
