/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions by address: what symbol tables, perf-PID.map and kallsyms have in
 * common.
 */
#ifndef GRT_STACK_FUNCTIONS_H
#define GRT_STACK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most of one table; of more, the first. */
#define GRT_FUNCTIONS_MAX 8388608U
/* Longer names are cut. */
#define GRT_FUNCTION_NAME_MAX 8192U

/** struct grt_function - @unsized: it ends where the next one begins, @size is the most; @name: place in the
 * names */
struct grt_function {
	uint64_t start;
	uint64_t size;
	size_t name;
	uint32_t order;
	bool unsized;
};

/** struct grt_functions - all zero is empty; to be given to grt_functions_free() */
struct grt_functions {
	struct grt_function *at;
	uint32_t used;
	uint32_t room;
	char *names;
	size_t names_used;
	size_t names_room;
	bool sorted;
};

/** grt_functions_add - adds one; where two are the same, the later one counts. Return: 0, -ENOSPC or -ENOMEM
 */
int grt_functions_add(struct grt_functions *f, uint64_t start, uint64_t size, const char *name,
		      size_t length);

/**
 * grt_functions_add_unsized - the same for one of which only the start is known
 * @most: bytes that it has at most
 */
int grt_functions_add_unsized(struct grt_functions *f, uint64_t start, uint64_t most, const char *name,
			      size_t length);

/** grt_functions_find - the name of the function at an address, NULL: there is none */
const char *grt_functions_find(struct grt_functions *f, uint64_t address);

/** grt_functions_free - frees and empties it */
void grt_functions_free(struct grt_functions *f);

#endif /* GRT_STACK_FUNCTIONS_H */
