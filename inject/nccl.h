/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NCCL's profiler plugin: nccl.c has the functions that NCCL calls, and launch.c their
 * data for each thread.
 */
#ifndef GRT_INJECT_NCCL_H
#define GRT_INJECT_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Most NCCL calls of one group whose begin a thread stores. */
#define NCCL_CALLS 256U
/* The first launches of a group are searched in this many entries of a ring. */
#define NCCL_REACH 1024U

/**
 * struct nccl_launch - the launch of an NCCL kernel; @node: its node, if it was captured into a graph; both
 * 0: none
 */
struct nccl_launch {
	uint64_t correlation;
	uint64_t node;
	bool captured;
};

/**
 * struct nccl_thread - data of each thread
 * @began: numbers of calls, and the times when they began
 * @launching: number of the launch that NCCL is making, which began at position @from of the ring
 * @of: communicator of @launched, plus 1; 0: already used
 * @group: number of NCCL's present group, and its launch @grouped
 * @seen: position in the ring up to which launches belong to earlier groups
 */
struct nccl_thread {
	struct {
		uint64_t number;
		uint64_t begin;
	} began[NCCL_CALLS];
	uint64_t launching;
	uint64_t from;
	uint32_t of;
	struct nccl_launch launched;
	uint64_t group;
	struct nccl_launch grouped;
	bool inferred;
	uint64_t seen;
};

struct packets;

/* ---------------------------------------------------------------- nccl.c */

/** nccl_switch - switches NCCL's calls of the plugin for each collective on or off */
void nccl_switch(bool on);

/** nccl_forked - called in a child, which is not recorded */
void nccl_forked(void);

/** nccl_reset - forgets all definitions, for another recording */
void nccl_reset(void);

/** nccl_is_used - whether the process has communicators */
bool nccl_is_used(void);

/**
 * nccl_write - writes collectives up to the time @last; @to: returns the stream for a time; for the writer
 */
void nccl_write(struct packets *(*to)(uint64_t time), uint64_t last);

/** nccl_lost - collectives that were lost for lack of room since the last call; for the writer */
uint64_t nccl_lost(void);

/* -------------------------------------------------------------- launch.c */

/**
 * nccl_thread_enter - the data of the calling thread, which must call nccl_thread_leave() later; NULL:
 * nothing is recorded
 */
struct nccl_thread *nccl_thread_enter(void);
void nccl_thread_leave(void);

/** nccl_thread_position - the fill position of the thread's ring */
uint64_t nccl_thread_position(void);

/** nccl_thread_launch - the last launch of a kernel after a position. Return: whether there is one */
bool nccl_thread_launch(uint64_t from, struct nccl_launch *launch);

/** nccl_thread_id - tid of the calling thread, between nccl_thread_enter() and nccl_thread_leave() */
uint32_t nccl_thread_id(void);

#endif /* GRT_INJECT_NCCL_H */
