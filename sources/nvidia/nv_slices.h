/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slices of a GPU's time, from the records of its context-switch log: a context comes, and leaves. Each MIG
 * instance has its own context.
 */
#ifndef GRTRACE_NV_SLICES_H
#define GRTRACE_NV_SLICES_H

#include "nv_switches.h"

/* MIG instances of a GPU, at most 7 by 8. */
#define NV_SLICES_INSTANCES 64

/* The instance of a GPU that is not divided. */
#define NV_SLICES_WHOLE 0xffff

/**
 * struct nv_slice - the time for which a context had the GPU
 * @start, @until: CLOCK_MONOTONIC ns
 * @context, @pid, @instance: see struct nv_switch
 * @begin, @end: how it began and ended, enum grt_slice_edge
 */
struct nv_slice {
	uint64_t start;
	uint64_t until;
	uint32_t context;
	uint32_t pid;
	uint16_t instance;
	uint8_t begin;
	uint8_t end;
};

/**
 * struct nv_slices - the slices of a GPU; all bytes zero: nothing is known
 * @begun: when the log was switched on
 * @open: by instance; @used: there is one, @on: a context is on it, since @slice.start, @known: whether one
 *	is on it is known, @last: time of the last record or part
 * @lost: missing records of the log so far
 * @backwards: records whose time was before that of an earlier one, or before a part that was delivered;
 *	@backwards_ns: the most
 * @over: records of instances beyond the limit
 */
struct nv_slices {
	uint64_t begun;
	struct {
		bool used;
		bool on;
		bool known;
		uint64_t last;
		struct nv_slice slice;
	} open[NV_SLICES_INSTANCES];
	uint64_t lost;
	uint64_t backwards;
	uint64_t backwards_ns;
	uint64_t over;
	/* gets a slice that has ended, or a part of one; a result other than 0 ends the call */
	int (*put)(void *arg, const struct nv_slice *s);
	void *arg;
};

/**
 * nv_slices_take - takes a record
 * @time: its time, CLOCK_MONOTONIC ns
 * Return: 0 or the result of @put
 */
int nv_slices_take(struct nv_slices *s, const struct nv_switch *r, uint64_t time);

/**
 * nv_slices_cut - passes on the open slices; at the end of a recording without any record, a slice without
 * owner
 * @until: nothing happened between the last record and this time
 * @edge: GRT_SLICE_GOES_ON, or GRT_SLICE_CUT at the end of the recording
 * @age: only slices that began at least so long before, ns
 * Return: 0 or the result of @put
 */
int nv_slices_cut(struct nv_slices *s, uint64_t until, uint8_t edge, uint64_t age);

/**
 * nv_slices_lose - there will be no further record, so who has the GPU is unknown from the last one on. Each
 * instance without a context gets a slice without owner and length. Return: 0 or the result of @put
 */
int nv_slices_lose(struct nv_slices *s);

#endif /* GRTRACE_NV_SLICES_H */
