/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses that will get their names later. During a recording, an address is only
 * stored, with a descriptor of its file; the file is not read. At the end, isolated
 * processes (apart.h) read the files, one after the other, and their answers are
 * checked. If such a process dies or takes too long with a file, only the addresses
 * of this file stay without names.
 */
#ifndef GRTRACE_ADDRESSES_H
#define GRTRACE_ADDRESSES_H

#include <stdbool.h>
#include <stdint.h>
#include <sys/types.h>

#include "stack/symbols.h"

/* The number of an address for which there was no room. */
#define ADDRESS_NONE 0U

struct addresses;

/**
 * struct addresses_unnamed - counts of frames that have no name because a limit was reached
 * @bad: the process that read their file died, or did not answer in time
 * @late: there was no time left
 * @over: too many addresses, files or names
 */
struct addresses_unnamed {
	uint64_t bad;
	uint64_t late;
	uint64_t over;
};

/** addresses_new - an empty set; NULL if there is no memory */
struct addresses *addresses_new(void);

/**
 * addresses_object - adds a file, which is not open yet
 * @name: path of an object file; NULL: the perf-PID.map of a process
 * @object: gets its number, GRT_SYMBOLS_NO_OBJECT if there are too many files
 * Return: 0 or -ENOMEM
 */
int addresses_object(struct addresses *a, const char *name, uint32_t *object);

/**
 * addresses_by_address - the addresses of this file are the file's own virtual addresses, not offsets in it
 */
void addresses_by_address(struct addresses *a, uint32_t object);

/**
 * addresses_open - gives a file its descriptor and takes ownership of it. Return: whether there was room for
 * it
 */
bool addresses_open(struct addresses *a, uint32_t object, int fd);

/** addresses_is_open - whether a file has a descriptor, or cannot have one because there was no room */
bool addresses_is_open(const struct addresses *a, uint32_t object);

/**
 * addresses_get - the number of an address
 * @at: offset in the file; in a perf map, the address itself
 * @number: gets ADDRESS_NONE if there are too many
 * Return: 0 or -ENOMEM
 */
int addresses_get(struct addresses *a, uint32_t object, uint64_t at, uint32_t *number);

/** addresses_again - the next addresses_name() starts again, with all addresses that have no name yet */
void addresses_again(struct addresses *a);

/**
 * addresses_name - names the addresses that existed at its first call, some with each call
 * @ms: longest wait
 * Return: 1: done, 0: not yet
 */
int addresses_name(struct addresses *a, int ms);

/**
 * addresses_found - the functions at an address, after addresses_name(), and the path of its file; the text
 * is valid until the next call
 * @at: the address, which is shown if it has neither a name nor a number
 */
void addresses_found(struct addresses *a, uint32_t number, uint64_t at, struct grt_symbols_found *found);

/** addresses_has_name - whether addresses_found() has a function */
bool addresses_has_name(const struct addresses *a, uint32_t number);

/** addresses_count - counts a frame at an address that has no name because a limit was reached */
void addresses_count(struct addresses *a, uint32_t number);

/** addresses_unnamed - the counts of addresses_count() so far */
const struct addresses_unnamed *addresses_unnamed(const struct addresses *a);

/** addresses_free - frees it; NULL is allowed */
void addresses_free(struct addresses *a);

#endif /* GRTRACE_ADDRESSES_H */
