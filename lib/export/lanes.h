/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A trace as the lanes of a page: what each ring, queue and stream ran, the
 * states of the threads, counters, Xids, and where events were lost, all on one
 * time axis. They are the tracks of tracks.h and the pieces of threads.h.
 *
 * Memory is bounded: beyond GRT_LANES_ITEMS_MAX items a lane's neighbours that
 * are shorter than the resolution become one, which keeps how long both ran. The
 * resolution doubles until there is room. Sums stay exact, to the nanosecond; of a
 * counter's neighbours the largest value stays.
 */
#ifndef GRT_EXPORT_LANES_H
#define GRT_EXPORT_LANES_H

#include <grtrace/grtrace.h>

#include "page/page.h"

#define GRT_LANES_ITEMS_MAX 200000U

struct grt_lanes;

/** grt_lanes_new - begins; @from, @to: what lies outside is cut off. Return: 0 or -ENOMEM */
int grt_lanes_new(struct grt_lanes **out, uint64_t from, uint64_t to);

/** grt_lanes_consumer - what a session drives */
struct grt_consumer *grt_lanes_consumer(struct grt_lanes *l);

/** grt_lanes_end - the trace is over. Return: 0 or -ENOMEM */
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
