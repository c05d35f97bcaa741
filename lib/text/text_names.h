/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a text calls its threads, devices and rings, and which of its events
 * were passed over. All of fixed size: what does not fit is reported again or
 * counted together.
 */
#ifndef GRT_TEXT_TEXT_NAMES_H
#define GRT_TEXT_TEXT_NAMES_H

#include <grtrace/grtrace.h>

/* Names known at a time; a forgotten one is reported again. */
#define GRT_TEXT_NAMES 4096U
/* More rings are GRT_RING_NONE. */
#define GRT_TEXT_RINGS 1024U
/* Kinds of events that are passed over; more are counted together. */
#define GRT_TEXT_SKIPPED 256U

/**
 * struct grt_text_name - one name
 * @time: the earliest at which it was reported
 */
struct grt_text_name {
	uint64_t time;
	uint32_t kind;
	uint32_t id;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

/** struct grt_text_ring - a ring; @name as long as NAME records hold it; @gpu empty: unknown */
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
 * grt_text_names_tell - whether a NAME record is needed before what comes at @time
 * @e: gets it, but for its size
 */
bool grt_text_names_tell(struct grt_text_names *n, uint32_t kind, uint32_t id, uint64_t time,
			 const char *name, size_t name_len, const char *owner, size_t owner_len,
			 struct grt_ev_name *e);

/**
 * grt_text_names_ring - the ring of a name
 * @gpu: of @gpu_len bytes, its address on its bus; NULL: the text does not report it
 * @tell: gets whether a NAME record is needed, @e then is it
 * Return: NULL when there are too many
 */
const struct grt_text_ring *grt_text_names_ring(struct grt_text_names *n, uint64_t time, const char *name,
						size_t name_len, const char *driver, size_t driver_len,
						const char *gpu, size_t gpu_len, bool *tell,
						struct grt_ev_name *e);

/** grt_text_names_skip - counts an event that is passed over */
void grt_text_names_skip(struct grt_text_names *n, const char *name, size_t len);

#endif /* GRT_TEXT_TEXT_NAMES_H */
