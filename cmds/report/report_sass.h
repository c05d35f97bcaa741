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

/** report_sass_init - looks for nvdisasm in PATH and in /usr/local/cuda/bin. Return: for the pass */
const struct grt_sass *report_sass_init(struct report_sass *s, const char *path);

#endif /* GRTRACE_REPORT_SASS_H */
