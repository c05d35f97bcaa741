/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Segments: a bounded recording is a directory of segments, each a recording by itself. Files with the same
 * name in all segments are one stream. Definitions that later packets need (strings, stacks, processes) are
 * repeated at the begin of a segment in a separate file.
 */
#ifndef GRT_TRACE_SEGMENT_H
#define GRT_TRACE_SEGMENT_H

#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#define GRT_SEGMENT "segment"
/* The file with repeated definitions; it is not read if the previous segments exist. */
#define GRT_CARRIED "carried"
/* The prefix of the recordings in a black box's directory, one per incident; a number follows. */
#define GRT_SNAPSHOT "snapshot"
/* The suffix of a compressed file, see parts.h. */
#define GRT_PACKED_SUFFIX ".zst"

#define GRT_SEGMENT_NAME_MAX 32

/** grt_segment_name - the name of the segment with this number, from 1 on */
static inline void grt_segment_name(char name[GRT_SEGMENT_NAME_MAX], unsigned long number)
{
	snprintf(name, GRT_SEGMENT_NAME_MAX, GRT_SEGMENT "_%06lu", number);
}

/** grt_segment_number - the number in a segment's name; 0: it is not such a name */
static inline unsigned long grt_segment_number(const char *name)
{
	size_t prefix = strlen(GRT_SEGMENT "_");

	if (strncmp(name, GRT_SEGMENT "_", prefix) || !name[prefix] ||
	    name[prefix + strspn(name + prefix, "0123456789")])
		return 0;
	return strtoul(name + prefix, NULL, 10);
}

#endif /* GRT_TRACE_SEGMENT_H */
