/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Compares the records that traced programs have made with the records in the recording. PROCESS records
 * count the launches and the GPU records of their process image, including records that could not be written
 * because a disk was full. Nothing else in a recording counts those.
 */
#ifndef GRT_TRACE_WRITTEN_H
#define GRT_TRACE_WRITTEN_H

#include <grtrace/grtrace.h>

/**
 * struct grt_written_image - a process image
 * @pid, @number: its identity, see struct grt_event and ctx in events.def
 * @used: the place is used
 * @made: its last count of records, without those that it counted as lost
 * @here: number of its records in the recording
 */
struct grt_written_image {
	bool used;
	uint32_t pid;
	uint64_t number;
	uint64_t made;
	uint64_t here;
};

/**
 * struct grt_written - all images; all zero is empty
 * @image, @images, @room: a table, the number of used places, and of all places
 * @last: the image of the previous record; most records belong to it
 * @before: missing records of images whose pid a later image has
 * @untracked: records of images for which the table has no place; whether records of these images are missing
 *	is unknown
 */
struct grt_written {
	struct grt_written_image *image;
	uint32_t images;
	uint32_t room;
	struct grt_written_image *last;
	uint64_t before;
	uint64_t untracked;
};

/**
 * grt_written_other - processes a record that is not simply one more record of @last. Return: 0 or -ENOMEM
 */
int grt_written_other(struct grt_written *w, const struct grt_event *e);

/**
 * grt_written_event - processes a record whose type has the trait COUNTED
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

/**
 * grt_written_missing - the number of records that were made, not counted as lost, and are not in the
 * recording; for images with a place
 */
uint64_t grt_written_missing(const struct grt_written *w);

/** grt_written_free - frees it and empties it */
void grt_written_free(struct grt_written *w);

#endif /* GRT_TRACE_WRITTEN_H */
