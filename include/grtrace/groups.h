/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Sums of jobs by ring, by engine and by process. A job counts once in each;
 * a sampled job counts for all jobs that it stands for.
 */
#ifndef GRTRACE_GROUPS_H
#define GRTRACE_GROUPS_H

#include <grtrace/jobs.h>

#ifdef __cplusplus
extern "C" {
#endif

/** enum grt_group_by - what the jobs of a group have in common */
enum grt_group_by {
	GRT_BY_RING,
	GRT_BY_ENGINE,
	GRT_BY_PROCESS,
	GRT_BYS,
};

struct grt_group;
struct grt_groups;

/** grt_groups_new - creates sums; @kinds: bits 1 << by of the wanted groups. Return: 0 or -ENOMEM */
int grt_groups_new(struct grt_groups **out, unsigned int kinds);

/**
 * grt_groups_span - limits busy time to the time from @first to @last, so that its share of
 * that time is at most 100 %. Without it, busy time covers all jobs completely
 */
void grt_groups_span(struct grt_groups *g, uint64_t first, uint64_t last);

/** grt_groups_held, grt_groups_job - add a job, see struct grt_jobs_sink. Return: 0 or -ENOMEM */
int grt_groups_held(struct grt_groups *g, const struct grt_job *job);
int grt_groups_job(struct grt_groups *g, const struct grt_job *job);

/**
 * grt_groups_stray - adds an ERROR without job, or a COMMAND
 * @name: name of the event's thread, from grt_names_find()
 * Return: 0 or -ENOMEM
 */
int grt_groups_stray(struct grt_groups *g, const struct grt_event *e, uint32_t name);

/** grt_groups_get - the @i-th group in the order of appearance, NULL after the last */
const struct grt_group *grt_groups_get(const struct grt_groups *g, enum grt_group_by by, uint32_t i);

/** grt_groups_over - jobs that are in no group because there were more than 4096 of a kind */
uint64_t grt_groups_over(const struct grt_groups *g);

/** grt_groups_free - frees the sums; NULL is allowed */
void grt_groups_free(struct grt_groups *g);

/**
 * struct grt_group_view - what the columns of grt_groups_table() need besides the group
 * @span: length of the trace, ns; 0: unknown, and so is the busy share
 */
struct grt_group_view {
	const struct grt_names *names;
	uint64_t span;
};

/** grt_groups_table - the columns of a group, see tables.h: rows are struct grt_group, the view is a struct
 * grt_group_view */
const struct grt_table *grt_groups_table(enum grt_group_by by);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_GROUPS_H */
