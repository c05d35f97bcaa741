/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the tables of rings and processes hide behind percentiles, in words: one job
 * that had a ring for much of its time, and jobs that waited in the scheduler for long.
 */
#ifndef GRT_JOBS_GROUP_SENTENCE_H
#define GRT_JOBS_GROUP_SENTENCE_H

#include "groups.h"
#include "table/notes.h"
#include "trace/names.h"

/** grt_group_sentences - sentences about the rings and processes of @g, where there is something to say */
void grt_group_sentences(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes);

#endif /* GRT_JOBS_GROUP_SENTENCE_H */
