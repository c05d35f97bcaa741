/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What traced programs have made, and what of it is here: PROCESS records count
 * the launches and the GPU's records of their process image, also those that could
 * not be written where a disk was full. Nothing else in a recording knows of these.
 */
#ifndef GRT_TRACE_WRITTEN_H
#define GRT_TRACE_WRITTEN_H

#include <grtrace/grtrace.h>

/**
 * struct grt_written_image - a process image
 * @pid, @number: which one, see struct grt_event and ctx in events.def
 * @used: the place is taken
 * @made: records, as it has counted them last, less those that it counted as lost
 * @here: records that were met
 */
struct grt_written_image {
	bool used;
	uint32_t pid;
	uint64_t number;
	uint64_t made;
	uint64_t here;
};

/**
 * struct grt_written - all images; empty where it is zero
 * @image, @images, @room: a table, places that are used, and all
 * @last: the one that was met last; most records are of it
 * @before: records of images that had the pid of a later one, and are not here
 * @untracked: records of images for which the table has no place: whether others of these are missing is not
 * known
 */
struct grt_written {
	struct grt_written_image *image;
	uint32_t images;
	uint32_t room;
	struct grt_written_image *last;
	uint64_t before;
	uint64_t untracked;
};

/** grt_written_other - what is not simply one more record of @last. Return: 0 or -ENOMEM */
int grt_written_other(struct grt_written *w, const struct grt_event *e);

/**
 * grt_written_event - takes in a record whose type has the trait COUNTED
 * Return: 0 or -ENOMEM
 */
static inline int grt_written_event(struct grt_written *w, const struct grt_event *e)
{
	struct grt_written_image *i = w->last;

	if (!i || i->pid != e->pid || i->number != e->ctx || e->type == GRT_EV_PROCESS)
		return grt_written_other(w, e);
	i->here++;
	return 0;
}

/** grt_written_missing - records that were made, not counted as lost, and are not here; of images that have a
 * place */
uint64_t grt_written_missing(const struct grt_written *w);

/** grt_written_free - frees it and empties it */
void grt_written_free(struct grt_written *w);

#endif /* GRT_TRACE_WRITTEN_H */
