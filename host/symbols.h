/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses of processes that run: what lies where in them is read from
 * /proc while they do, and their files are opened; addresses.h names them when
 * the recording is over. The kernel's are named at once.
 */
#ifndef GRTRACE_SYMBOLS_H
#define GRTRACE_SYMBOLS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <sys/types.h>

#include "addresses.h"
#include "stack/symbols.h"

struct symbols;

/** symbols_new - an empty cache; NULL without memory */
struct symbols *symbols_new(void);

/**
 * symbols_take - an address of a process, for symbols_addresses()
 * @number: its number there
 * Return: 0 or -ENOMEM
 */
int symbols_take(struct symbols *s, pid_t pid, uint64_t ip, uint32_t *number);

/** symbols_addresses - all those, and their names */
struct addresses *symbols_addresses(struct symbols *s);

/** symbols_is_code - whether an address lies in what the process may execute */
bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip);

/** symbols_forget - what the process has mapped is read anew, when it is needed next */
void symbols_forget(struct symbols *s, pid_t pid);

/** symbols_read_kernel - reads the kernel's now, as the first symbols_kernel() would: later it may not be
 * allowed */
void symbols_read_kernel(struct symbols *s);

/** symbols_kernel - the functions at an address of the kernel, from /proc/kallsyms as far as that reports
 * addresses; see grt_symbols_at(). Return: 0 or -ENOMEM */
int symbols_kernel(struct symbols *s, uint64_t ip, struct grt_symbols_found *found);

/** symbols_free - frees it; NULL is allowed */
void symbols_free(struct symbols *s);

#endif /* GRTRACE_SYMBOLS_H */
