/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The offset between two clocks, from jobs that were submitted inside ioctls.
 * Each pair of a SUBMIT and the ioctl in which the same thread made it bounds
 * the offset from both sides: it lies in the interval on which most
 * pairs agree, whose width is the error. Without pairs, or if two offsets fit equally
 * well, there is no result.
 */
#ifndef GRT_MERGE_OFFSET_H
#define GRT_MERGE_OFFSET_H

#include <grtrace/grtrace.h>

/**
 * struct grt_offset_result - the offset, and how many pairs agree
 * @ns: the offset, to be added to the stamps of the GPU's side
 * @error: largest error in each direction, ns
 * @same: the clocks may be the same: 0 is within the error, and @ns is 0
 * @pairs: SUBMITs that were paired
 * @agree: number of pairs for which @ns fits
 * @ordinal: SUBMITs and ioctls are paired by their order, because there are equally many
 * @others: with @ordinal, by how much more the pairs differ that do not agree, as those of clocks that drift,
 * ns
 */
struct grt_offset_result {
	int64_t ns;
	uint64_t error;
	bool same;
	bool ordinal;
	uint64_t pairs;
	uint64_t agree;
	uint64_t others;
};

struct grt_offset;

/** grt_offset_new - begins. Return: 0 or -ENOMEM */
int grt_offset_new(struct grt_offset **out);

/** grt_offset_event - processes an event of either side, with the stamp of its own clock. Return: 0 or
 * -ENOMEM
 */
int grt_offset_event(struct grt_offset *o, const struct grt_event *e, unsigned int input);

/**
 * grt_offset_submit, grt_offset_call - the same of what are no events: a moment of one side, and a time of
 * the other in which such moments of the thread lie; each thread's in the order of time Return: 0 or -ENOMEM
 */
int grt_offset_submit(struct grt_offset *o, uint32_t tid, uint64_t time);
int grt_offset_call(struct grt_offset *o, uint32_t tid, uint64_t from, uint64_t to);

/**
 * grt_offset_find - the offset
 * Return: 0, -ENODATA: there are no pairs, -EDOM: no offset or more than one
 * fits, or -ENOMEM
 */
int grt_offset_find(struct grt_offset *o, struct grt_offset_result *r, struct grt_err *err);

/** grt_offset_free - frees it; NULL is allowed */
void grt_offset_free(struct grt_offset *o);

#endif /* GRT_MERGE_OFFSET_H */
