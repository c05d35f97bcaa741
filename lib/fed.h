/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Analyses in groups that are fed by the thread that reads the trace: it joins jobs and launches once, for
 * all, and passes on what it has joined, beside the events that the analyses take themselves (base/feed.h).
 * Each group is in one thread at a time. It has its own names and process images, which it learns from the
 * same events in the same order; so the groups share nothing else, and an analysis finds what it would find
 * in one thread.
 *
 *	grt_fed_new(&f, threads)
 *	grt_fed_take(f, &a, turns)	for each group; then grt_analyses_join(&a), _begin(), _consume()
 *	grt_session_run(s, &a.c, ...)
 *	grt_analyses_finish(&a)
 *	grt_fed_collect(f, &a)		the analyses are those of @a again, and it can write them
 *	grt_analyses_free(&a)
 *	grt_fed_free(f)
 */
#ifndef GRT_FED_H
#define GRT_FED_H

#include "analyses.h"

struct grt_fed;

/** grt_fed_new - without groups; @threads: beside that which reads the trace. Return: 0 or -ENOMEM */
int grt_fed_new(struct grt_fed **out, unsigned int threads);

/**
 * grt_fed_take - moves the wanted analyses of these turns, which have neither packets nor every event nor
 * rows, from @a to a group of their own, if there are any
 * @a: all wanted analyses and their pass, without a filter; not begun
 * Return: 0 or -ENOMEM
 */
int grt_fed_take(struct grt_fed *f, struct grt_analyses *a, unsigned int turns);

/**
 * grt_fed_collect - waits for the groups and moves their analyses back into @a. Without
 * grt_analyses_finish() before it, they have not finished.
 * Return: 0, -ENOMEM, or the result of an analysis
 */
int grt_fed_collect(struct grt_fed *f, struct grt_analyses *a);

/** grt_fed_free - waits for the groups and frees it; call this after @a was freed. NULL is allowed */
void grt_fed_free(struct grt_fed *f);

/* ------------------------------------------ what struct grt_analyses calls */

/** grt_fed_takes, grt_fed_takes_beyond - whether the groups take events of a class, or of struct
 * grt_consumer.beyond, or late */
bool grt_fed_takes(const struct grt_fed *f, enum grt_class class);
bool grt_fed_takes_beyond(const struct grt_fed *f, bool late);

/** grt_fed_joins - whether they need launches to be joined */
bool grt_fed_joins(const struct grt_fed *f);

/** grt_fed_launches - who joins them; NULL: nobody */
void grt_fed_launches(struct grt_fed *f, const struct grt_launches *l);

/** grt_fed_shows, grt_fed_within, grt_fed_span - see grt_analyses_shows(), grt_analyses_within() and _span()
 */
bool grt_fed_shows(const struct grt_fed *f, enum grt_class class);
void grt_fed_within(struct grt_fed *f, uint64_t from, uint64_t to);
void grt_fed_span(struct grt_fed *f, uint64_t first, uint64_t last);

/** grt_fed_event - an event of another class than launch, before it is joined */
void grt_fed_event(struct grt_fed *f, const struct grt_event *e);

/** grt_fed_launch, grt_fed_beyond - an event of class launch, or of struct grt_consumer.beyond or late,
 * before it is joined */
void grt_fed_launch(struct grt_fed *f, const struct grt_event *e);
void grt_fed_beyond(struct grt_fed *f, const struct grt_event *e, bool late);

/** grt_fed_joined - an event of one of these, or of class image, was joined */
void grt_fed_joined(struct grt_fed *f, const struct grt_event *e);

/**
 * grt_fed_work, grt_fed_nothing, grt_fed_job, grt_fed_stray - see struct grt_analysis
 * @outside: only for analyses with @outside
 * @held: the job goes to @held
 */
void grt_fed_work(struct grt_fed *f, const struct grt_event *e, const struct grt_image *image,
		  const struct grt_launch *launch, enum grt_launched_how how, bool outside);
void grt_fed_nothing(struct grt_fed *f, const struct grt_launch *launch);
void grt_fed_job(struct grt_fed *f, const struct grt_job *job, bool held);
void grt_fed_stray(struct grt_fed *f, const struct grt_event *e);

/** grt_fed_read, grt_fed_finish - see struct grt_analysis; @l: has joined the launches; NULL: nobody needed
 * them */
void grt_fed_read(struct grt_fed *f);
void grt_fed_finish(struct grt_fed *f, const struct grt_launches *l);

#endif /* GRT_FED_H */
