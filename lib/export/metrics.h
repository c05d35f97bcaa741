/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Metrics of GPUs, processes and control groups for Prometheus: sums that only grow, over events that
 * come in the order of time, also without end.
 *
 * Memory is bounded: 64 GPUs, 256 rows of processes, 256 of control groups, 2,048 counters, 256 kinds of
 * Xids, 4,096 owners, 16,384 names, 65,536 jobs in flight (16 MiB), 24 KiB for the times of a row: 48 MiB at
 * most. Values without a row of their own are added to the row "(others)", so the sum over all rows is that
 * of all jobs, except for rows that grt_metrics_forget() has removed.
 */
#ifndef GRT_EXPORT_METRICS_H
#define GRT_EXPORT_METRICS_H

#include <stdio.h>

#include <grtrace/grtrace.h>

struct grt_filter;
struct grt_metrics;

/** grt_metrics_new - begins. Return: 0 or -ENOMEM */
int grt_metrics_new(struct grt_metrics **out);

/**
 * grt_metrics_cards - sets the GPU of each device file
 * @cards: "card0=ADDRESS renderD128=ADDRESS ...", as in the environment of a recording; copied
 * Return: 0 or -ENOMEM
 */
int grt_metrics_cards(struct grt_metrics *m, const char *cards);

/**
 * grt_metrics_within - before the first event: jobs count as a whole if any part of them is from @from to
 * @to, and busy time covers only this time. The caller also passes the events outside, to
 * grt_metrics_beyond()
 */
void grt_metrics_within(struct grt_metrics *m, uint64_t from, uint64_t to);

/** grt_metrics_filter - counts only the jobs that @filter selects; the others are there to be joined */
void grt_metrics_filter(struct grt_metrics *m, const struct grt_filter *filter);

/** grt_metrics_beyond - processes an event outside of the time of grt_metrics_within(). Return: 0 or -ENOMEM
 */
int grt_metrics_beyond(struct grt_metrics *m, const struct grt_event *e);

/** grt_metrics_types - the types of events that change a metric */
void grt_metrics_types(struct grt_type_set *types);

/** grt_metrics_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_metrics_event(struct grt_metrics *m, const struct grt_event *e);

/**
 * grt_metrics_settle - jobs that were complete before @time, ns, are counted now; else each is when some
 * thousand others have ended
 * Return: 0 or -ENOMEM
 */
int grt_metrics_settle(struct grt_metrics *m, uint64_t time);

/** grt_metrics_flush - ends the trace, and counts all jobs. Return: 0 or -ENOMEM */
int grt_metrics_flush(struct grt_metrics *m);

/**
 * grt_metrics_forget - removes the rows of processes that have ended and of which no event came for five
 * minutes, and those of control groups without such processes
 * @gone: whether a process has ended
 */
void grt_metrics_forget(struct grt_metrics *m, uint64_t now, bool (*gone)(uint32_t pid));

/** grt_metrics_family - writes the two lines that precede the values of a metric */
void grt_metrics_family(FILE *out, const char *name, const char *type, const char *help);

/** grt_metrics_label - writes KEY="VALUE", escaped; @before: the character that precedes it ("{" or ",") */
void grt_metrics_label(FILE *out, const char *before, const char *key, const char *value);

/** struct grt_metrics_source - counts of the events of a source */
struct grt_metrics_source {
	const char *name;
	struct grt_balance balance;
};

/** grt_metrics_losses - writes the counts of delivered and dropped events, by source and cause */
void grt_metrics_losses(FILE *out, const struct grt_metrics_source *source, unsigned int sources);

/** grt_metrics_write - writes all other metrics. The caller checks the error flag of @out. Return: 0 or
 * -ENOMEM */
int grt_metrics_write(const struct grt_metrics *m, FILE *out);

/** grt_metrics_free - frees it; NULL is allowed */
void grt_metrics_free(struct grt_metrics *m);

#endif /* GRT_EXPORT_METRICS_H */
