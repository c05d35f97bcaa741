/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Slices of a GPU's time, from the records of its context-switch log: a context comes, and leaves. Each MIG
 * instance has its own context.
 */
#ifndef GRTRACE_NV_SLICES_H
#define GRTRACE_NV_SLICES_H

#include "nv_gpu.h"

/* -------------------------------------------------------------- switches */

/*
 * The context-switch log of one NVIDIA GPU: its graphics front end (FECS) notes when a context comes onto
 * the GPU and when it leaves, and the driver passes that to an event buffer. Root gets the contexts of all
 * processes, other users only their own.
 *
 * Source: the open kernel modules, tags 570.86.15 to 595.45.04 (cl90cd.h, cl90cdfecs.h, ctrl90cd.h,
 * ctrl2080gr.h, ctrl2080timer.h, fecs_event_list.c, event_buffer.c).
 */

/** enum nv_switch_tag - kinds of records; others exist and are not requested */
enum nv_switch_tag {
	NV_SWITCH_START = 6,
	NV_SWITCH_END = 7,
};

/**
 * struct nv_switch - a record
 * @tag: enum nv_switch_tag, or another of the driver's
 * @instance: MIG GPU instance << 8 | compute instance; 0xffff: not in MIG mode
 * @seqno: of the event buffer, modulo 65536
 * @context: the driver's number of the channel (cid)
 * @pid: of the process that made the client, as the host sees it
 * @time: of the GPU's clock, ns
 * @missing: records that are missing before this one, since the log was switched on
 */
struct nv_switch {
	uint8_t tag;
	uint16_t instance;
	uint16_t seqno;
	uint32_t context;
	uint32_t pid;
	uint64_t time;
	uint64_t missing;
};

/**
 * struct nv_switches - the log
 * @records: number of records for which the buffer has room
 * @get: index of the next record to be read
 * @seen, @seqno: a record was read, and the number of the last one
 * @taken, @dropped, @missing: number of records that were read, that found the buffer full, and that are
 *	missing according to the numbers
 * @unknown: number of records of other kinds
 */
struct nv_switches {
	struct nv_rm *rm;
	struct nv_gpu gpu;
	uint32_t memory[2];
	uint32_t buffer;
	struct nv_rm_mapping header;
	struct nv_rm_mapping ring;
	uint32_t records;
	uint32_t get;
	bool seen;
	uint16_t seqno;
	uint64_t taken;
	uint64_t dropped;
	uint64_t missing;
	uint64_t unknown;
};

/**
 * nv_switches_open - binds a buffer of its own to a GPU's log; the log is off until
 * nv_switches_on(). nv_switches_close() also after an error.
 * @records: room, a power of two
 * Return: 0 or -errno
 */
int nv_switches_open(struct nv_switches *s, struct nv_rm *rm, const struct nv_rm_gpu *gpu, uint32_t records,
		     struct grt_err *err);

/** nv_switches_on - switches the log on or off. Return: 0 or -EIO */
int nv_switches_on(struct nv_switches *s, bool on);

/**
 * nv_switches_flush - makes the driver pass on what all GPUs have noted so far; by itself it does so every
 * 33 ms. Return: 0 or -EIO
 */
int nv_switches_flush(struct nv_switches *s);

/**
 * nv_switches_read - reads the available records
 * @take: called for each in their order; a result other than 0 ends the call
 * Return: 0, the result of @take, or -EIO
 */
int nv_switches_read(struct nv_switches *s, int (*take)(void *arg, const struct nv_switch *r), void *arg);

/** nv_switches_close - gives the log back */
void nv_switches_close(struct nv_switches *s);

/* ---------------------------------------------------------------- slices */

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
