/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The tracks on which events are drawn: tracks of processes, threads, devices and rings.
 */
#ifndef GRT_EXPORT_TRACKS_PLACES_H
#define GRT_EXPORT_TRACKS_PLACES_H

#include "tracks_parts.h"

/* Whether the track has another name than it was told by; names only ever come. */
bool tracks_is_renamed(const struct grt_tracks *t, struct track *k, unsigned int kind, uint32_t id);

/* A process is called what its threads' names say. */
int tracks_process(struct grt_tracks *t, uint32_t pid, uint32_t tid, uint32_t *id);

/* Return: 0 with the track, NULL where there is no place; or an error. */
int tracks_thread(struct grt_tracks *t, uint32_t pid, uint32_t tid, struct track **out);

/* The track of a device. Return: 0 with its id, 0: no place; or an error */
int tracks_device(struct grt_tracks *t, uint32_t device, uint32_t *id);

/*
 * Gets the number of a GPU of the timeline; @bus: UINT32_MAX: unknown, and @other identifies it
 * Return: 0 with the number, 0: there are too many; or -ENOMEM
 */
int tracks_gpu_number(struct grt_tracks *t, uint32_t bus, const struct grt_key *other,
		      const struct grt_device *device, const char *name, uint32_t *number);

/* The same for the GPU of a device or ring, by its track. */
int tracks_gpu_of(struct grt_tracks *t, uint32_t device, uint32_t ring, uint32_t track, uint32_t *number);

/*
 * Finds or makes a track under a device; its name is that of the ring, and @text. Without a text it is the
 * ring's track, a queue of its GPU. Return: as tracks_thread()
 */
int tracks_ring(struct grt_tracks *t, const struct grt_key *key, uint32_t device, uint32_t ring,
		uint32_t lane, const char *text, struct track **out);

/* The first lane on which something may begin at @time; lanes are numbered in the last word of the key. */
struct track *tracks_free_lane(struct grt_tracks *t, struct grt_key *key, uint64_t time);

/* Draws it where it happened: on the thread that ran, else ring, else device. */
int tracks_instant(struct grt_tracks *t, const struct grt_event *e);

/* A slice on the first free lane of a track, if that lane is there. Return: false: it must be made; else
 * *@ret is set */
bool tracks_draw_on_known(struct grt_tracks *t, struct grt_key *key, struct grt_track_item *i,
			  const struct tracks_args *a, int *ret);

/* A slice on the first free lane of a track, @like it, of a process. */
int tracks_draw_on_lane(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			struct track *like, const char *name, struct grt_track_item *i,
			const struct tracks_args *a);

/* The same for a track that belongs to no GPU. */
int tracks_draw_in_process(struct grt_tracks *t, const struct grt_event *e, struct grt_key *key,
			   const char *name, struct grt_track_item *i, const struct tracks_args *a);

#endif /* GRT_EXPORT_TRACKS_PLACES_H */
