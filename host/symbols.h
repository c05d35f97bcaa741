/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Names of addresses in running processes. While they run, their mappings are read
 * from /proc and their files opened; addresses.h names the addresses at the end of
 * the recording. Addresses of the kernel are named at once.
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

/** symbols_new - an empty cache; NULL if there is no memory */
struct symbols *symbols_new(void);

/**
 * symbols_take - adds an address of a process to symbols_addresses()
 * @number: gets its number there
 * Return: 0 or -ENOMEM
 */
int symbols_take(struct symbols *s, pid_t pid, uint64_t ip, uint32_t *number);

/** symbols_addresses - all added addresses, with their names */
struct addresses *symbols_addresses(struct symbols *s);

/** symbols_is_code - whether an address is in an executable mapping of the process */
bool symbols_is_code(struct symbols *s, pid_t pid, uint64_t ip);

/** symbols_forget - the mappings of the process are read again when they are needed next */
void symbols_forget(struct symbols *s, pid_t pid);

/**
 * symbols_read_kernel - reads the symbols of the kernel now, because the privilege may be missing at the
 * first symbols_kernel()
 */
void symbols_read_kernel(struct symbols *s);

/** symbols_kernel - the functions at an address of the kernel, from /proc/kallsyms if it shows
 * addresses; see grt_symbols_at(). Return: 0 or -ENOMEM */
int symbols_kernel(struct symbols *s, uint64_t ip, struct grt_symbols_found *found);

/** symbols_free - frees it; NULL is allowed */
void symbols_free(struct symbols *s);

#endif /* GRTRACE_SYMBOLS_H */
