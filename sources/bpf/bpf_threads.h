/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Registers of the threads of a process, without stopping it, by an iterator over the kernel's tasks (Linux
 * 5.15).
 */
#ifndef GRTRACE_BPF_THREADS_H
#define GRTRACE_BPF_THREADS_H

#include <sys/types.h>

#include "shared.h"

struct grt_bpf_threads;

/**
 * grt_bpf_threads_open - NULL: this program, system or user cannot do it; requires the same rights as
 * loading BPF programs
 */
struct grt_bpf_threads *grt_bpf_threads_open(void);

/**
 * grt_bpf_threads_read - the registers of threads of @pid that are in the kernel, or are entering it
 * Return: number of threads, at most @room, or -errno
 */
unsigned int grt_bpf_threads_read(struct grt_bpf_threads *t, pid_t pid, struct grt_bpf_registers *out,
				  unsigned int room);

/** grt_bpf_threads_close - NULL is allowed */
void grt_bpf_threads_close(struct grt_bpf_threads *t);

#endif /* GRTRACE_BPF_THREADS_H */
