/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses, while their process still runs: functions of its files
 * and of the kernel. A file's functions are read once, sorted, and kept.
 */
#ifndef GRTRACE_SYMBOLS_H
#define GRTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

struct symbols;

/** symbols_new - an empty cache; NULL without memory */
struct symbols *symbols_new(void);

/**
 * symbols_user - the function at an address of a process
 * @out: gets its name, file+0xOFFSET where the file does not say, or 0xADDRESS
 *	where there is no file; cut to @room bytes with the NUL
 */
void symbols_user(struct symbols *s, pid_t pid, uint64_t ip, char *out, size_t room);

/** symbols_is_code - whether an address lies in what the process may execute */
bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip);

/** symbols_read_kernel - reads the kernel's now, as the first symbols_kernel() would: later it may not be
 * allowed */
void symbols_read_kernel(struct symbols *s);

/** symbols_kernel - the same for the kernel, from /proc/kallsyms as far as that tells addresses */
void symbols_kernel(struct symbols *s, uint64_t ip, char *out, size_t room);

/** symbols_free - frees it; NULL is allowed */
void symbols_free(struct symbols *s);

#endif /* GRTRACE_SYMBOLS_H */
