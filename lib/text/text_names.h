/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The names of threads, devices and rings in a text, and counts of its skipped events. All tables have a
 * fixed size: names that do not fit are reported again, and events that do not fit are counted together.
 */
#ifndef GRT_TEXT_TEXT_NAMES_H
#define GRT_TEXT_TEXT_NAMES_H

#include <grtrace/grtrace.h>

/* Number of remembered names; a forgotten name is reported again. */
#define GRT_TEXT_NAMES 4096U
/* Maximum number of rings; further rings are GRT_RING_NONE. */
#define GRT_TEXT_RINGS 1024U
/* Maximum number of kinds of skipped events; further kinds are counted together. */
#define GRT_TEXT_SKIPPED 256U

/**
 * struct grt_text_name - a name
 * @time: earliest time at which the name was reported, ns
 */
struct grt_text_name {
	uint64_t time;
	uint32_t kind;
	uint32_t id;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

/** struct grt_text_ring - a ring; @name: cut to the size in NAME records; @gpu: empty: unknown */
struct grt_text_ring {
	uint64_t time;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
	char gpu[sizeof(((struct grt_ev_name *)0)->name)];
	uint8_t engine;
};

/** struct grt_text_names - all zero is empty */
struct grt_text_names {
	struct grt_text_name name[GRT_TEXT_NAMES];
	struct grt_text_ring ring[GRT_TEXT_RINGS];
	uint32_t rings;
	uint16_t ring_slot[2 * GRT_TEXT_RINGS]; /* ring id plus 1, by a hash of the name */
	struct grt_skipped skipped[GRT_TEXT_SKIPPED];
	char skipped_name[GRT_TEXT_SKIPPED][48];
	uint32_t skips;
	uint16_t skipped_slot[2 * GRT_TEXT_SKIPPED];
};

/**
 * grt_text_names_update - whether a NAME record is needed before an event at @time
 * @e: gets the record without its size
 */
bool grt_text_names_update(struct grt_text_names *n, uint32_t kind, uint32_t id, uint64_t time,
			   const char *name, size_t name_len, const char *owner, size_t owner_len,
			   struct grt_ev_name *e);

/**
 * grt_text_names_ring - the ring of a name
 * @gpu: bus address of its GPU, @gpu_len bytes; NULL: the text does not have it
 * @tell: gets whether a NAME record is needed, which @e then gets
 * Return: the ring; NULL: there are too many
 */
const struct grt_text_ring *grt_text_names_ring(struct grt_text_names *n, uint64_t time, const char *name,
						size_t name_len, const char *driver, size_t driver_len,
						const char *gpu, size_t gpu_len, bool *tell,
						struct grt_ev_name *e);

/** grt_text_names_skip - counts a skipped event */
void grt_text_names_skip(struct grt_text_names *n, const char *name, size_t len);

#endif /* GRT_TEXT_TEXT_NAMES_H */
