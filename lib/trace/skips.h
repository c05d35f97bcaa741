/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The positions of each CPU's packets in a file of several CPUs, so that the cursor of
 * a CPU can go directly from one of its packets to the next. The walk over the file's
 * headers fills it, up to a limit; after the limit, cursors read every header.
 */
#ifndef GRT_TRACE_SKIPS_H
#define GRT_TRACE_SKIPS_H

#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>

/* 32 MiB; holds all packets of 128 GiB in packets of 64 KiB. */
#define GRT_SKIPS_MAX (1U << 21)
#define GRT_SKIP_NONE UINT32_MAX

/** struct grt_skip - a packet: its position, and the number of the CPU's next, or GRT_SKIP_NONE */
struct grt_skip {
	uint64_t pos;
	uint32_t next;
};

/**
 * struct grt_skips - packets in the order of the file
 * @skip, @n: the packets
 * @end: end of the last one
 * @full: the limit was reached, so packets are missing
 */
struct grt_skips {
	struct grt_skip *skip;
	uint32_t n;
	uint64_t end;
	bool full;
};

/**
 * grt_skips_from - the position from which to search a CPU's next packet
 * @pos: position of the cursor, before this packet
 * @at: number of the packet; set to the number of the next one
 */
static inline uint64_t grt_skips_from(const struct grt_skips *s, uint64_t pos, uint32_t *at)
{
	uint64_t to = *at == GRT_SKIP_NONE ? s->end : s->skip[*at].pos;

	if (*at != GRT_SKIP_NONE)
		*at = s->skip[*at].next;
	return to < pos ? pos : to;
}

/** grt_skips_free - frees it; NULL is allowed */
static inline void grt_skips_free(struct grt_skips *s)
{
	if (s)
		free(s->skip);
	free(s);
}

#endif /* GRT_TRACE_SKIPS_H */
