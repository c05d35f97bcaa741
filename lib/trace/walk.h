/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A walk over the packet headers of a file, before its records are read: it finds
 * the file's CPUs, where their packets begin and end, and damage between packets.
 */
#ifndef GRT_TRACE_WALK_H
#define GRT_TRACE_WALK_H

#include "stream.h"

/**
 * struct grt_walk_cpu - the packets of one CPU in a file
 * @start, @end: begin of its first packet and end of its last packet
 * @content: content of its largest packet, bytes
 */
struct grt_walk_cpu {
	uint32_t cpu;
	uint64_t start;
	uint64_t end;
	uint64_t content;
	uint64_t emitted;
	uint32_t first_skip;
	uint32_t last_skip;
};

/**
 * struct grt_walk - the results of a walk
 * @cpu, @cpus: the CPUs, in order of appearance; free @cpu
 * @skips: positions of each CPU's packets, NULL: unknown; the caller passes it to grt_skips_free()
 * @end: end of the last complete packet
 * @cut: an incomplete packet or zeros follow @end, as after a
 *	crash
 * @emitted: events emitted up to the last packet of each CPU; @earlier: the part of them before the first
 *	packet
 * @first, @last: first and last time stamp; @first > @last: there is no packet
 */
struct grt_walk {
	struct grt_walk_cpu *cpu;
	unsigned int cpus;
	struct grt_skips *skips;
	uint64_t end;
	bool cut;
	uint64_t emitted;
	uint64_t earlier;
	uint64_t first;
	uint64_t last;
};

/**
 * grt_walk - walks over a file of packets
 * @label: its name in messages
 * @h: faults between packets are counted here
 * Return: 0, -EPROTO for another format, -EINVAL for a file without any
 * packet, or another negative errno
 */
int grt_walk(struct grt_walk *w, const struct grt_parts *parts, const char *label, struct grt_health *h,
	     struct grt_err *err);

#endif /* GRT_TRACE_WALK_H */
