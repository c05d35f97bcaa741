/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NCCL's profiler plugin: nccl.c has the functions that NCCL calls, and launch.c what
 * they keep for each thread.
 */
#ifndef GRT_INJECT_NCCL_H
#define GRT_INJECT_NCCL_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* Calls of NCCL whose beginning a thread remembers, of one group. */
#define NCCL_CALLS 256U
/* The first ones of a group are looked for in this many entries of a ring. */
#define NCCL_REACH 1024U

/** struct nccl_launch - the launch of a kernel of NCCL; @node: of a graph, where it was captured; both 0:
 * none */
struct nccl_launch {
	uint64_t correlation;
	uint64_t node;
	bool captured;
};

/**
 * struct nccl_thread - of each thread
 * @began: numbers of calls, and when they began
 * @launching: number of the launch that NCCL is in, which began at @from of the ring
 * @of: communicator of @launched, plus 1; 0: it has been used
 * @group: number of the group that NCCL is in, and the launch @grouped of it
 * @seen: of the ring, up to which launches are of earlier groups
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

/** nccl_switch - NCCL calls the plugin for each collective from now on, or stops doing so */
void nccl_switch(bool on);

/** nccl_reset - nothing is defined, for another recording */
void nccl_reset(void);

/** nccl_is_used - the process has communicators */
bool nccl_is_used(void);

/** nccl_write - collectives up to the time @last; @to: the stream of a time; the writer */
void nccl_write(struct packets *(*to)(uint64_t time), uint64_t last);

/** nccl_lost - collectives that found no room since the last time; the writer */
uint64_t nccl_lost(void);

/* -------------------------------------------------------------- launch.c */

/** nccl_thread_enter - the calling thread's; NULL: nothing is recorded. It calls nccl_thread_leave() then */
struct nccl_thread *nccl_thread_enter(void);
void nccl_thread_leave(void);

/** nccl_thread_position - how far the thread's ring is filled */
uint64_t nccl_thread_position(void);

/** nccl_thread_launch - the last launch of a kernel from a position on. Return: whether there is one */
bool nccl_thread_launch(uint64_t from, struct nccl_launch *launch);

/** nccl_thread_id - tid of the calling thread, in between of the two above */
uint32_t nccl_thread_id(void);

#endif /* GRT_INJECT_NCCL_H */
