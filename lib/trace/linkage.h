/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Linkage names in FRAME records. The recorder writes a function's name as the
 * linker has it, so that no name of a traced program is demangled with the
 * recorder's privileges. A session demangles it before it hands the record out:
 * what reads a recording sees names as the source has them.
 *
 * A linkage name that is longer than the field continues in further records of
 * the same stack, which come before that of the frame: their index is PART * depth +
 * index of the frame, PART counts from 1. Programs that do not know them pass them
 * over, since no frame has an index beyond depth.
 */
#ifndef GRT_TRACE_LINKAGE_H
#define GRT_TRACE_LINKAGE_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>

/* Longer linkage names are cut: demangling does not take them. */
#define GRT_LINKAGE_MAX 4096U
/* Bytes of a name in one record. */
#define GRT_LINKAGE_PART (sizeof(((struct grt_ev_frame *)0)->symbol) - 1)

struct grt_linkage;

/**
 * grt_linkage_parts - how many records a name needs, that of the frame included
 * @depth: of the stack: the parts' indices must fit in 16 bits
 */
unsigned int grt_linkage_parts(const char *name, unsigned int depth);

/** grt_linkage_put - fills index and symbol of a part's record; part 0 is the frame's. @index: of the frame
 */
void grt_linkage_put(struct grt_ev_frame *f, const char *name, uint16_t index, unsigned int part);

/**
 * grt_linkage_see - a FRAME in the order of its stream
 * @l: NULL at first; to be given to grt_linkage_free()
 * @stream: of several, which one
 * @e: gets the record to hand out in its place, valid until the next call
 * Return: 0 or -ENOMEM
 */
int grt_linkage_see(struct grt_linkage **l, uint32_t stream, const struct grt_event **e);

/** grt_linkage_free - frees it; NULL is allowed */
void grt_linkage_free(struct grt_linkage *l);

#endif /* GRT_TRACE_LINKAGE_H */
