/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs nvdisasm of the CUDA toolkit on the GPU code that a recording keeps. The code came from the traced
 * program: nvdisasm gets no capability, and limits for time and memory.
 */
#ifndef GRTRACE_REPORT_SASS_H
#define GRTRACE_REPORT_SASS_H

#include "cuda/pc_sass.h"

/**
 * struct report_sass
 * @path: the recording
 * @pid: nvdisasm, 0: it does not run
 * @program: its path
 * @sass: for the pass
 */
struct report_sass {
	const char *path;
	pid_t pid;
	char program[4096];
	struct grt_sass sass;
};

/** report_sass_open, report_sass_close - for @sass, whose @arg is the struct; nvdisasm is searched for in
 * PATH and in /usr/local/cuda/bin */
int report_sass_open(void *arg, uint64_t cubin, const char *const *functions, uint32_t n);
void report_sass_close(void *arg);

#endif /* GRTRACE_REPORT_SASS_H */
