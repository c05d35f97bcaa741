/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions by address, for symbol tables, perf-PID.map and kallsyms.
 */
#ifndef GRT_STACK_FUNCTIONS_H
#define GRT_STACK_FUNCTIONS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Maximum number of functions in a table; only the first are used. */
#define GRT_FUNCTIONS_MAX 8388608U
/* Longer names are cut. */
#define GRT_FUNCTION_NAME_MAX 8192U

/** enum grt_function_binding - how the linker sees a name, in the order of preference */
enum grt_function_binding {
	GRT_FUNCTION_WEAK,
	GRT_FUNCTION_LOCAL,
	GRT_FUNCTION_GLOBAL,
};

/**
 * struct grt_function - a function
 * @name: offset of its name in the names
 * @rank: of several functions at one address, the one with the highest rank is used, then the one that was
 * added last
 * @unsized: the function ends where the next one begins; @size is the maximum
 */
struct grt_function {
	uint64_t start;
	uint64_t size;
	size_t name;
	uint32_t rank;
	uint32_t order : 31;
	uint32_t unsized : 1;
};

/** struct grt_functions - a table of functions; all zero: empty; to be freed by grt_functions_free() */
struct grt_functions {
	struct grt_function *at;
	uint32_t used;
	uint32_t room;
	char *names;
	size_t names_used;
	size_t names_room;
	bool sorted;
};

/**
 * grt_functions_add - adds a function
 * @function: its start, size and rank
 * Return: 0, -ENOSPC or -ENOMEM
 */
int grt_functions_add(struct grt_functions *f, const struct grt_function *function, const char *name,
		      size_t length);

/**
 * grt_function_rank - rank of a symbol in perf's order of aliases: names that are not weak are preferred,
 * then global names, then names with fewer underscores in front, then longer names
 */
uint32_t grt_function_rank(enum grt_function_binding binding, const char *name, size_t length);

/** grt_functions_find - name of the function at an address; NULL: there is none */
const char *grt_functions_find(struct grt_functions *f, uint64_t address);

/** grt_functions_free - frees all memory of @f and empties it */
void grt_functions_free(struct grt_functions *f);

#endif /* GRT_STACK_FUNCTIONS_H */
