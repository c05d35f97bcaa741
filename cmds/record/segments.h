/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A bounded recording: a directory of segments (lib/trace/segment.h), each a recording by itself. The oldest
 * segments are deleted before new data would exceed the limit. Memory: the carried definitions,
 * at most half a segment's bytes and 64 MiB, and 300 bytes per segment.
 */
#ifndef GRTRACE_SEGMENTS_H
#define GRTRACE_SEGMENTS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "sources/source.h"
#include "trace/parts.h"

/* --------------------------------------------------------------- carried */

/*
 * Records to which events of any time refer (strings, frames, processes), kept while the packets that had
 * them are deleted or dropped. The memory is bounded: the first half keeps what came first, such as a
 * program's files, kernels and stacks; in the second half a new definition replaces the oldest, which is
 * counted. So names that a program makes for ever, such as a number in the range of each step, do not replace
 * all others. The counts of a process, one a second, and its clocks, ten a second, replace only those before.
 */

/* Most images whose last records are remembered; if there are more, some records are kept twice. */
#define CARRIED_LASTS 2048U

/** struct carried_last - where the last record of a type of an image is, in bytes from the first record of
 * all */
struct carried_last {
	bool known;
	uint64_t at;
};

/**
 * struct carried - records, one after the other
 * @data: @used bytes of @room: @stays bytes that are never replaced, @dropped bytes that are freed, and the
 * others
 * @gone: bytes that were freed and are no longer in @data
 * @most: bytes that they may use
 * @records: number of records
 * @lost: definitions that were replaced
 * @last: struct carried_last by image and type; not initialised before the first
 */
struct carried {
	char *data;
	size_t used;
	size_t room;
	size_t stays;
	size_t dropped;
	uint64_t gone;
	size_t most;
	uint64_t records;
	uint64_t lost;
	struct grt_keyed last;
};

/**
 * struct carried_seen - counts of a packet's records
 * @counted: records that their programs count
 */
struct carried_seen {
	uint64_t counted;
};

/** carried_see - keeps the definitions of a valid packet. Return: 0 or -ENOMEM */
int carried_see(struct carried *c, const struct grt_packet *p, struct carried_seen *seen);

/**
 * carried_write - writes all records as packets
 * @time: time of the packets, ns
 * @write: gets a complete packet. Return: 0, or -errno, which ends the call
 */
int carried_write(const struct carried *c, uint64_t time, int (*write)(void *arg, const struct grt_packet *p),
		  void *arg);

/** carried_free - frees it */
void carried_free(struct carried *c);

/* -------------------------------------------------------------- segments */

struct recording;

/**
 * struct segment_bounds - the requested limits
 * @bytes: on disk, 0: no limit
 * @ns: older segments are deleted; 0: none is
 * @segment_bytes, @segment_ns: when a segment is full
 * @pack: packets are packed
 */
struct segment_bounds {
	uint64_t bytes;
	uint64_t ns;
	uint64_t segment_bytes;
	uint64_t segment_ns;
	bool pack;
};

/** struct segment_events - of a source: events that were offered, by fate, and those that their programs
 * count, too
 */
struct segment_events {
	uint64_t emitted;
	uint64_t fate[GRT_FATES];
	uint64_t counted;
};

/**
 * struct segment - one on disk
 * @bytes: of it on disk
 * @opened, @closed: CLOCK_MONOTONIC ns
 * @from: it is whole from then on
 * @last: stamp of its latest packet's end
 * @repeated: definitions at its begin that older ones had
 * @of: by the number of the source
 */
struct segment {
	unsigned long number;
	uint64_t bytes;
	uint64_t opened;
	uint64_t closed;
	uint64_t from;
	uint64_t last;
	uint64_t repeated;
	struct segment_events of[SOURCES];
};

/**
 * struct segments - those of a recording
 * @segment: of which there are @n, the oldest first; the last one is open
 * @made: so far
 * @deleted: of these; @gone: their events
 * @next_from: the one that is being made is whole from then on
 * @metadata: writes a segment's metadata into @dir: it is whole from @from to @to, ns, UINT64_MAX: open.
 *	Return: 0 or -errno
 * @changed: the oldest that is kept has changed: writes the recording's metadata
 * @base: bytes on disk beside the segments; @metadata_bytes: of a segment's metadata
 * @changing: a segment is being closed
 * @packed, @packing: room for a compressed packet, and memory to compress one
 */
struct segments {
	struct segment_bounds bounds;
	struct segment *segment;
	unsigned int n;
	unsigned long made;
	unsigned long deleted;
	uint64_t next_from;
	struct segment_events gone[SOURCES];
	int (*metadata)(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err);
	int (*changed)(void *arg, struct grt_err *err);
	void *arg;
	struct carried carried;
	uint64_t base;
	uint64_t metadata_bytes;
	char *packed;
	size_t packed_room;
	struct grt_packing packing;
	bool changing;
	char text[96];
	char fates[256];
};

/** segments_begin - makes the first segment. Return: 0 or -errno */
int segments_begin(struct recording *r, struct grt_err *err);

/** segments_write - appends whole packets to file @i. Return: 0 or -errno */
int segments_write(struct recording *r, unsigned int i, const void *data, size_t len, struct grt_err *err);

/** segments_due - whether the open segment is full, or old enough, at @now */
bool segments_due(const struct segments *s, uint64_t now);

/** segments_over - whether it is so full that it is closed without waiting for anything */
bool segments_over(const struct segments *s);

/**
 * segments_next - closes the open segment and begins one
 * @to: the sources' events up to then are in it, 0: that is not known
 */
int segments_next(struct recording *r, uint64_t to, struct grt_err *err);

/** segments_age - deletes segments that are too old at @now. Return: 0 or -errno */
int segments_age(struct recording *r, uint64_t now, struct grt_err *err);

/** segments_end - closes the last one. Return: 0 or -errno */
int segments_end(struct recording *r, uint64_t to, struct grt_err *err);

/** segments_from - the recording is whole from then on, ns; 0: nothing was deleted */
uint64_t segments_from(const struct segments *s);

/** segments_bytes - on disk, with the metadata */
uint64_t segments_bytes(const struct segments *s);

/** segments_count_before - events that their programs count and that are before the open segment, by source
 */
void segments_count_before(const struct segments *s, uint64_t before[SOURCES]);

/**
 * segments_text, segments_fates - texts for the metadata: what was deleted, and how many events of it had
 * been lost
 */
const char *segments_text(struct segments *s);
const char *segments_fates(struct segments *s);

/** segments_free - frees all that it owns */
void segments_free(struct segments *s);

#endif /* GRTRACE_SEGMENTS_H */
