/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The black box: recent packets are kept in memory, compressed, and the oldest are dropped. At an incident
 * (triggers.h) they become a recording, snapshot_N in the box's directory, which continues for a while; the
 * box continues as well. A snapshot's window begins the requested time before the incident, or later, when
 * all streams are complete. Memory: --last-size for packets, up to a quarter of it for definitions from
 * dropped packets (segments.h), and one packet.
 */
#ifndef GRTRACE_BLACKBOX_H
#define GRTRACE_BLACKBOX_H

#include "recording.h"
#include "trace/parts.h"
#include "triggers.h"

/**
 * struct box_bounds - the requested limits
 * @bytes, @ns: limits of the packets that are kept, by size and by age
 * @last: a snapshot begins this long before its incident, ns
 * @after: a snapshot ends this long after it, ns
 * @pause: least time between two snapshots, ns
 * @plain: no incident is awaited, and packets are not compressed, so that each costs only a copy, and more
 *	memory
 */
struct box_bounds {
	uint64_t bytes;
	uint64_t ns;
	uint64_t last;
	uint64_t after;
	uint64_t pause;
	bool plain;
};

struct box_packet;

/**
 * struct box_ops - callbacks of the recorder
 * @files: adds the streams' files to a recording. Return: 0 or -errno
 * @metadata: writes the metadata of a snapshot into @dir, which is complete from @from to @to; UINT64_MAX:
 *	it is still being written
 * @rest: writes packets that are not kept here, with box_add(), into box_save()'s recording from @from to
 *	@to; may be NULL
 */
struct box_ops {
	int (*files)(void *arg, struct recording *r, struct grt_err *err);
	int (*metadata)(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err);
	int (*rest)(void *arg, uint64_t from, uint64_t to, struct grt_err *err);
	void *arg;
};

/**
 * struct box - initialised by box_init(), freed by box_free()
 * @on: there is a black box
 * @oldest, @newest: a list of packets, with @bytes in all
 * @from: the packets are complete from this time on
 * @dropped: number of dropped packets, with @gone events; @counted: of these, by source, those that their
 *	programs count; @before: as @counted, before the snapshot
 * @plain, @packed: room for one packet each; @packing: memory to compress and decompress one
 * @snapshot: the snapshot that is being written, until @until; @path: its path; @number: number of the last
 *	one
 * @holding: packets that end @bounds.ns before this time are dropped, even if there are newer ones; 0:
 *	before the newest packet
 * @began: when the last snapshot began; @quiet: number of incidents within the pause, which get none
 * @window: for each source, a cut that removes what came before @from
 */
struct box {
	bool on;
	struct box_bounds bounds;
	struct box_ops ops;
	struct triggers triggers;
	struct box_packet *oldest;
	struct box_packet *newest;
	uint64_t bytes;
	uint64_t from;
	uint64_t holding;
	uint64_t dropped;
	uint64_t gone;
	uint64_t counted[SOURCES];
	uint64_t before[SOURCES];
	struct carried carried;
	char *plain;
	size_t plain_room;
	char *packed;
	size_t packed_room;
	struct grt_packing packing;
	bool writing;
	struct recording snapshot;
	char path[4096];
	uint64_t until;
	unsigned long number;
	unsigned long written;
	uint64_t began;
	uint64_t quiet;
	struct incident incident;
	struct grt_cut window[SOURCES];
};

/** box_init - initialises an empty box */
void box_init(struct box *b, const struct box_bounds *bounds, const struct box_ops *ops);

/**
 * box_take - keeps complete packets of a stream, and writes them if a snapshot is being written. Return: 0
 * or -errno
 */
int box_take(struct box *b, unsigned int stream, unsigned int source, const void *data, size_t len,
	     struct grt_err *err);

/**
 * box_hold - an incident at @time may get a snapshot: packets from before it are kept until a snapshot
 * begins, or until a call with 0
 */
void box_hold(struct box *b, uint64_t time);

/** box_may_begin - whether an incident at @now gets a snapshot; counts it if it does not */
bool box_may_begin(struct box *b, uint64_t now);

/** box_begin - begins a snapshot in @dir with the packets that are kept. Return: 0 or -errno */
int box_begin(struct box *b, const char *dir, const struct incident *i, uint64_t now, struct grt_err *err);

/** box_end - ends the snapshot, which is complete up to @to. Return: 0 or -errno */
int box_end(struct box *b, uint64_t to, struct grt_err *err);

/** struct box_saved - the result of box_save(); @from: begin of the recording, ns */
struct box_saved {
	uint64_t from;
	uint64_t events;
	uint64_t bytes;
};

/**
 * box_save - writes the packets from @out->from to @to as a recording at @path
 * @out: @from becomes later if the box does not reach back that far
 * Return: 0, or -errno; then there is no recording
 */
int box_save(struct box *b, const char *path, uint64_t to, struct box_saved *out, struct grt_err *err);

/** box_add - from @rest of the operations: writes whole packets into file @i. Return: 0 or -errno */
int box_add(struct box *b, unsigned int i, const void *data, size_t len, struct grt_err *err);

/** box_free - frees all that the box owns */
void box_free(struct box *b);

#endif /* GRTRACE_BLACKBOX_H */
