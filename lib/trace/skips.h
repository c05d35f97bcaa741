/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Where packets of other CPUs lie, so that the cursors of a file of many CPUs
 * need not read every header of it, each again. A cache of fixed size that
 * the walk fills: what is not in it is read.
 */
#ifndef GRT_TRACE_SKIPS_H
#define GRT_TRACE_SKIPS_H

#include <stddef.h>
#include <stdint.h>

/* 1 MiB; holds all packets of 4 GiB in packets of 64 KiB. */
#define GRT_SKIPS 65536U

/** struct grt_skip - a packet: its position, size in bytes (0: an empty slot) and CPU */
struct grt_skip {
	uint64_t pos;
	uint32_t bytes;
	uint32_t cpu;
};

/** struct grt_skips - the cache, by a hash of the position */
struct grt_skips {
	struct grt_skip slot[GRT_SKIPS];
};

static inline struct grt_skip *grt_skips_slot(struct grt_skips *s, uint64_t pos)
{
	return &s->slot[pos * 0x9e3779b97f4a7c15 >> 48];
}

/** grt_skips_over - how many bytes to step over at @pos: a packet of another CPU, 0: not known, or it is
 * @cpu's */
static inline uint32_t grt_skips_over(struct grt_skips *s, uint64_t pos, uint32_t cpu)
{
	const struct grt_skip *k = s ? grt_skips_slot(s, pos) : NULL;

	return k && k->pos == pos && k->cpu != cpu ? k->bytes : 0;
}

#endif /* GRT_TRACE_SKIPS_H */
