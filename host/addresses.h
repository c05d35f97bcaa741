/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses that wait for their names. While one records, an address is only put
 * down, with the descriptor of the file that it is in: of that file nothing is
 * read. When all is over, processes apart (apart.h) read the files, one after
 * the other, and what they say is checked. A file that such a process dies of, or
 * that takes it too long, costs the names of its own addresses.
 */
#ifndef GRTRACE_ADDRESSES_H
#define GRTRACE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack/symbols.h"

/* No address: there was no room for it. */
#define ADDRESS_NONE 0U

struct addresses;

/**
 * struct addresses_unnamed - frames that have no name, since a bound was met
 * @bad: the process that read their file died, or said nothing for too long
 * @late: there was no time left
 * @over: too many addresses, files or names
 */
struct addresses_unnamed {
	uint64_t bad;
	uint64_t late;
	uint64_t over;
};

/** addresses_new - without any; NULL without memory */
struct addresses *addresses_new(void);

/**
 * addresses_object - a file, which is not open yet
 * @name: path of an object file; NULL: the perf-PID.map of a process
 * @object: gets its number, GRT_SYMBOLS_NO_OBJECT: there are too many
 * Return: 0 or -ENOMEM
 */
int addresses_object(struct addresses *a, const char *name, uint32_t *object);

/** addresses_by_address - its addresses are as the file itself counts them, and not places in it */
void addresses_by_address(struct addresses *a, uint32_t object);

/** addresses_open - gives it its descriptor, which is taken over. Return: whether there was room for one */
bool addresses_open(struct addresses *a, uint32_t object, int fd);

/** addresses_is_open - whether it has one, or cannot have one because there was no room */
bool addresses_is_open(const struct addresses *a, uint32_t object);

/**
 * addresses_get - the number of an address
 * @at: place in the file; of a map: the address itself
 * @number: ADDRESS_NONE: there are too many
 * Return: 0 or -ENOMEM
 */
int addresses_get(struct addresses *a, uint32_t object, uint64_t at, uint32_t *number);

/** addresses_again - the next addresses_name() begins anew, with all that have no name yet */
void addresses_again(struct addresses *a);

/**
 * addresses_name - gets names for all that were there at its first call, a little further with each one
 * @ms: most that it waits
 * Return: 1 when it is done, 0: not yet
 */
int addresses_name(struct addresses *a, int ms);

/**
 * addresses_found - the functions at an address, after that, and the path of its file; its text is good until
 * the next call
 * @at: what it is called without a name, where it has no number either
 */
void addresses_found(struct addresses *a, uint32_t number, uint64_t at, struct grt_symbols_found *found);

/** addresses_has_name - whether addresses_found() has a function */
bool addresses_has_name(const struct addresses *a, uint32_t number);

/** addresses_count - counts a frame at an address, where it has no name since a bound was met */
void addresses_count(struct addresses *a, uint32_t number);

/** addresses_unnamed - of addresses_count(), so far */
const struct addresses_unnamed *addresses_unnamed(const struct addresses *a);

/** addresses_free - frees it; NULL is allowed */
void addresses_free(struct addresses *a);

#endif /* GRTRACE_ADDRESSES_H */
