/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Linkage names in FRAME records. The recorder writes linkage names, so that it
 * demangles no name of a traced program with its privileges. A session demangles the
 * name before it delivers the record, so readers of a recording get names as in the
 * source code.
 *
 * A linkage name that is longer than the field continues in further records of
 * the same stack, which precede the record of the frame: their index is PART * depth +
 * index of the frame; PART counts from 1. Programs that do not know these records skip
 * them, because no frame has an index beyond depth.
 */
#ifndef GRT_TRACE_LINKAGE_H
#define GRT_TRACE_LINKAGE_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>

/* Longer linkage names are cut; they cannot be demangled. */
#define GRT_LINKAGE_MAX 4096U
/* Bytes of a name in one record. */
#define GRT_LINKAGE_PART (sizeof(((struct grt_ev_frame *)0)->symbol) - 1)

struct grt_linkage;

/**
 * grt_linkage_parts - the number of records for a name, including the record of the frame
 * @depth: depth of the stack: the indices of the parts must fit in 16 bits
 */
unsigned int grt_linkage_parts(const char *name, unsigned int depth);

/**
 * grt_linkage_put - fills in index and symbol of the record of a part; part 0 is the frame's record. @index:
 * index of the frame
 */
void grt_linkage_put(struct grt_ev_frame *f, const char *name, uint16_t index, unsigned int part);

/**
 * grt_linkage_see - processes the FRAME records of a stream in order
 * @l: NULL at first; pass it to grt_linkage_free()
 * @stream: number of the stream
 * @e: gets the record to deliver instead, valid until the next call
 * Return: 0 or -ENOMEM
 */
int grt_linkage_see(struct grt_linkage **l, uint32_t stream, const struct grt_event **e);

/** grt_linkage_free - frees it; NULL is allowed */
void grt_linkage_free(struct grt_linkage *l);

#endif /* GRT_TRACE_LINKAGE_H */
