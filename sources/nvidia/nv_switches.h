/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The context-switch log of one NVIDIA GPU: its graphics front end (FECS) notes when a context comes onto
 * the GPU and when it leaves, and the driver passes that to an event buffer. Root gets the contexts of all
 * processes, other users only their own.
 *
 * Source: the open kernel modules, tags 570.86.15 to 595.45.04 (cl90cd.h, cl90cdfecs.h, ctrl90cd.h,
 * ctrl2080gr.h, ctrl2080timer.h, fecs_event_list.c, event_buffer.c).
 */
#ifndef GRTRACE_NV_SWITCHES_H
#define GRTRACE_NV_SWITCHES_H

#include "nv_gpu.h"

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

#endif /* GRTRACE_NV_SWITCHES_H */
