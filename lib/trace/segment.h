/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Segments: a recording that is bounded is a directory of them, each a recording by itself. Files of one name
 * in them are one stream. What later packets need of older ones (strings, stacks, processes) is repeated at a
 * segment's begin in a file of its own.
 */
#ifndef GRT_TRACE_SEGMENT_H
#define GRT_TRACE_SEGMENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRT_SEGMENT "segment"
/* The file with what is repeated; where segments before it are here, it is not read. */
#define GRT_CARRIED "carried"
/* A black box's directory has a recording of this name and a number for each incident. */
#define GRT_SNAPSHOT "snapshot"
/* Behind the name of a file that is packed, see packed.h. */
#define GRT_PACKED_SUFFIX ".zst"

#define GRT_SEGMENT_NAME_MAX 32

/** grt_segment_name - of the segment of a number from 1 on */
static inline void grt_segment_name(char name[GRT_SEGMENT_NAME_MAX], unsigned long number)
{
	snprintf(name, GRT_SEGMENT_NAME_MAX, GRT_SEGMENT "_%06lu", number);
}

/** grt_segment_number - the opposite; 0: it is not a segment's name */
static inline unsigned long grt_segment_number(const char *name)
{
	size_t prefix = strlen(GRT_SEGMENT "_");

	if (strncmp(name, GRT_SEGMENT "_", prefix) || !name[prefix] ||
	    name[prefix + strspn(name + prefix, "0123456789")])
		return 0;
	return strtoul(name + prefix, NULL, 10);
}

#endif /* GRT_TRACE_SEGMENT_H */
