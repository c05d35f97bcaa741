/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A trace as the lanes of a page: the work of each ring, queue and stream, the causes of each
 * device's idle time, the states of the threads, counters, Xids, and times of lost events, all on
 * one time axis. They are the tracks of tracks.h and the pieces of threads.h.
 *
 * Memory is bounded: beyond GRT_LANES_ITEMS_MAX items those of a lane that are shorter
 * than the resolution, and begin in one step of it, become one for each state, cause or text, and
 * of a ring one, which keeps how long they ran. The
 * resolution doubles until there is room. Sums stay exact, to the nanosecond; of a
 * counter's neighbours the largest value stays.
 */
#ifndef GRT_EXPORT_LANES_H
#define GRT_EXPORT_LANES_H

#include <grtrace/grtrace.h>

#include "idle/idle.h"
#include "page/page.h"
#include "trace/flow.h"

#define GRT_LANES_ITEMS_MAX 200000U

struct grt_lanes;

/** grt_lanes_new - begins. Return: 0 or -ENOMEM */
int grt_lanes_new(struct grt_lanes **out);

/** grt_lanes_idle - what a pass of its own, before that of grt_lanes_consumer(), hands idle time to */
struct grt_idleness_sink grt_lanes_idle(struct grt_lanes *l);

/** grt_lanes_within - cuts off earlier and later time; to be called before grt_lanes_consumer() is driven */
void grt_lanes_within(struct grt_lanes *l, uint64_t from, uint64_t to);

/** grt_lanes_filter - shows only what the session's filter selects; see @whole of struct grt_filter */
void grt_lanes_filter(struct grt_lanes *l, const struct grt_filter *filter);

/** grt_lanes_consumer - the consumer for a session */
struct grt_consumer *grt_lanes_consumer(struct grt_lanes *l);

/** grt_lanes_end - ends the trace. Return: 0 or -ENOMEM */
int grt_lanes_end(struct grt_lanes *l);

/**
 * grt_lanes_put - the blocks "lanes" (what there is, as JSON), "lane-start", "lane-length", "lane-busy",
 * "lane-name"
 * @s: whose windows they have
 */
void grt_lanes_put(const struct grt_lanes *l, const struct grt_session *s, struct grt_page *p);

/** grt_lanes_free - frees it; NULL is allowed */
void grt_lanes_free(struct grt_lanes *l);

#endif /* GRT_EXPORT_LANES_H */
