/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The union of jobs' times as disjoint stretches that know whose jobs they
 * begin and end with. Jobs come roughly in the order of their ends; the newest
 * GRT_STRETCHES_MAX stretches are kept for later jobs to touch, older ones are
 * closed: handed to the owner, once, in their order.
 *
 * busy.h does the same for a sum only, in less memory.
 */
#ifndef GRT_BASE_STRETCHES_H
#define GRT_BASE_STRETCHES_H

#include <stdbool.h>
#include <stdint.h>

/* Stretches kept, 104 bytes each; there is room for twice as many. */
#define GRT_STRETCHES_MAX 512U

/**
 * struct grt_job_id - a job as an owner of time
 * @ctx, @seqno: its identity; @ctx 0: nobody, or unknown
 * @asked: its earliest stamp of SUBMIT and COMMIT, ns; UINT64_MAX: it has none
 * @name: of the submitting thread, for grt_names_name()
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
 * struct grt_stretches - all zero is empty; to be given to grt_stretches_free()
 * @all: room for @room
 * @kept: of these, disjoint, not touching, ascending; those before them were closed
 * @pairs: @first and @last of a stretch are the two jobs of what began it;
 *	otherwise @first is the job that began it, @last the one that ended it
 * @closed: some were closed
 * @floor: where the last closed one ended
 * @last: its @last
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
 * @fn: is called for each; @s is as it was before that one was closed, so that
 *	@s->floor and @s->last are those of the one before
 * Return: 0, or what @fn returned that was not 0, which ends it
 */
int grt_stretches_close(struct grt_stretches *s, uint32_t n,
			int (*fn)(void *arg, const struct grt_stretches *s, const struct grt_stretch *st),
			void *arg);

/** grt_stretches_at - index of the first kept stretch that ends after @time */
uint32_t grt_stretches_at(const struct grt_stretches *s, uint64_t time);

/**
 * grt_stretches_add - adds a stretch to those that are kept; touching ones become one
 * @new: begins at or after @s->floor and is not empty; @s is not full
 * Return: 0 or -ENOMEM
 */
int grt_stretches_add(struct grt_stretches *s, const struct grt_stretch *new);

/** grt_stretches_free - frees and empties it */
void grt_stretches_free(struct grt_stretches *s);

#endif /* GRT_BASE_STRETCHES_H */
