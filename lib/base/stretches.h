/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The union of jobs' times as disjoint stretches, each with the jobs at its begin
 * and end. Jobs come roughly in the order of their ends. The newest
 * GRT_STRETCHES_MAX stretches are kept, because later jobs may touch them; older ones are
 * closed: passed to the owner once, in order.
 *
 * busy.h computes only the sum, in less memory.
 */
#ifndef GRT_BASE_STRETCHES_H
#define GRT_BASE_STRETCHES_H

#include <stdbool.h>
#include <stdint.h>

/* Number of kept stretches, 104 bytes each; there is room for twice as many. */
#define GRT_STRETCHES_MAX 512U

/**
 * struct grt_job_id - a job to which time belongs
 * @ctx, @seqno: its identity; @ctx 0: none or unknown
 * @asked: the earlier time stamp of SUBMIT and COMMIT, ns; UINT64_MAX: it has none
 * @name: name of the submitting thread, for grt_names_name()
 */
struct grt_job_id {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t asked;
	uint32_t ring;
	uint32_t pid;
	uint32_t tid;
	uint32_t name;
};

/**
 * struct grt_stretch - from @from up to, not including, @to; ns
 * @first, @last: see struct grt_stretches
 */
struct grt_stretch {
	uint64_t from;
	uint64_t to;
	struct grt_job_id first;
	struct grt_job_id last;
};

/**
 * struct grt_stretches - all zero is empty; freed by grt_stretches_free()
 * @all: array of @room elements
 * @kept: number of kept stretches, disjoint, not touching, ascending; earlier ones were closed
 * @pairs: @first and @last of a stretch are the two jobs of the interval that began it;
 *	otherwise @first is the job that began it, @last the job that ended it
 * @closed: some stretches were closed
 * @floor: end of the last closed stretch
 * @last: @last of the last closed stretch
 */
struct grt_stretches {
	struct grt_stretch *all;
	struct grt_stretch *kept;
	uint32_t used;
	uint32_t room;
	bool pairs;
	bool closed;
	uint64_t floor;
	struct grt_job_id last;
};

/** grt_stretches_full - nothing can be added before grt_stretches_close() */
static inline bool grt_stretches_full(const struct grt_stretches *s)
{
	return s->used == GRT_STRETCHES_MAX;
}

/**
 * grt_stretches_close - closes the oldest @n kept stretches
 * @fn: called for each before it is closed, so that
 *	@s->floor and @s->last belong to the previous stretch
 * Return: 0, or the first result of @fn other than 0, which ends the loop
 */
int grt_stretches_close(struct grt_stretches *s, uint32_t n,
			int (*fn)(void *arg, const struct grt_stretches *s, const struct grt_stretch *st),
			void *arg);

/** grt_stretches_search - the slow path of grt_stretches_at(), for a time that is not after all stretches */
uint32_t grt_stretches_search(const struct grt_stretches *s, uint64_t time);

/** grt_stretches_at - index of the first kept stretch that ends after @time */
static inline uint32_t grt_stretches_at(const struct grt_stretches *s, uint64_t time)
{
	return s->used && s->kept[s->used - 1].to > time ? grt_stretches_search(s, time) : s->used;
}

/**
 * grt_stretches_add - adds a stretch; merges touching ones
 * @new: begins at or after @s->floor and is not empty; @s is not full
 * Return: 0 or -ENOMEM
 */
int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new);

/** grt_stretches_free - frees and empties it */
void grt_stretches_free(struct grt_stretches *s);

#endif /* GRT_BASE_STRETCHES_H */
