/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Stacks in user space of a process's threads, without stopping them. For threads that wait in the kernel,
 * the registers and the innermost part of the stack are copied, and a separate process (apart.h) walks the
 * copies with the unwind tables of the mapped files.
 */
#ifndef GRTRACE_RECORD_STACKS_H
#define GRTRACE_RECORD_STACKS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

/* Most threads whose stacks are walked, and bytes of each. */
#define RECORD_STACKS_THREADS 256U
#define RECORD_STACKS_BYTES ((size_t)64 << 10)
/* Most bytes of text about a thread. */
#define RECORD_STACKS_TEXT 4096U

struct record_stacks;

/** record_stacks_new - prepares, while there are privileges for it; NULL: no memory */
struct record_stacks *record_stacks_new(void);

/** record_stacks_begin - begins with a process, whose registers are read now */
void record_stacks_begin(struct record_stacks *s, pid_t pid);

/** record_stacks_copy - copies one of its threads; @thread: the thread's directory in /proc */
void record_stacks_copy(struct record_stacks *s, uint32_t tid, int thread);

/** record_stacks_walk - walks the copied stacks, at most until @until, ns */
void record_stacks_walk(struct record_stacks *s, uint64_t until);

/** record_stacks_text - a line for each frame of a thread, each with its newline; "": nothing is known */
const char *record_stacks_text(const struct record_stacks *s, uint32_t tid);

/** record_stacks_free - frees it; NULL is allowed */
void record_stacks_free(struct record_stacks *s);

#endif /* GRTRACE_RECORD_STACKS_H */
