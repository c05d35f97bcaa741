/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the tests of the adapters share: telling a stand-in for a driver what to
 * do, and comparing what grtrace tells of it with what was expected, event by
 * event.
 *
 * An event as text is its type and what is not zero in it, by the names of
 * events.def:
 *
 *	SUBMIT me flags=0x2 engine=graphics device=3 ctx=100 seqno=1 ring=rcs0
 *
 * "me" is the testing process, else pid=N stands in its place, or nothing for
 * none. Rings have their names, or - where they have none; an object or address
 * space, whose number is another one in each run, is A, B, ... in the order of
 * their coming.
 */
#ifndef TOLD_H
#define TOLD_H

#include <stdbool.h>
#include <stdint.h>

/** play - has the module do something, see modules/play.h. Return: 0 or a negative errno */
int play(const char *module, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** told_begin - starts tracing on CPU 0, where the calling thread is from now on; fails the case when it
 * cannot */
void told_begin(void);

/**
 * told - whether exactly these events were told since told_begin(), and stops
 * @want: a line each, in their order; NAME records are left out
 * Return: false after failing the case, with the first line that differs
 */
bool told(const char *want);

/** told_count - stops, and counts the events of a type that were told; ~0 after failing the case */
uint64_t told_count(unsigned int type);

/** told_each_once - whether each of these types was told exactly once for seqnos 1..@n of contexts @ctx.. */
bool told_each_once(const unsigned int *types, unsigned int ntypes, uint64_t ctx, unsigned int nctx,
		    unsigned int n);

/* told_at_once() */
#define TOLD_THREADS 4
#define TOLD_EACH 200

/**
 * told_at_once - has threads make jobs at once, on any CPU, and looks with told_each_once() that all were
 * told
 * @lives: given a context as (int *); makes jobs 1..TOLD_EACH of it
 * @ctx: the first of TOLD_THREADS contexts
 */
void told_at_once(void *(*lives)(void *ctx), int ctx, const unsigned int *types, unsigned int ntypes);

/** adapter_word - a word of an adapter's line, "" where it has none; @name: "bound", or "" for the whole line
 */
const char *adapter_word(const char *adapter, const char *name);

/** adapter_has - whether a tracepoint (or function) of the adapter is bound: 1, not: 0, not in the list: -1
 */
int adapter_has(const char *adapter, const char *point);

#endif /* TOLD_H */
