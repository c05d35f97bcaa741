/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The black box: recent packets are kept in memory, compressed, and the oldest are dropped. At an incident
 * (triggers.h) they become a recording, snapshot_N in the box's directory, which continues for a while; the
 * box continues as well. A snapshot's window begins the requested time before the incident, or later, when
 * all streams are complete. Memory: --last-size for packets, up to a quarter of it for definitions from
 * dropped packets (carried.h), and one packet.
 */
#ifndef GRTRACE_BLACKBOX_H
#define GRTRACE_BLACKBOX_H

#include "recording.h"
#include "triggers.h"

/**
 * struct box_bounds - the requested limits
 * @bytes, @ns: limits for what is kept, by size and by age
 * @last: a snapshot begins this long before its incident, ns
 * @after: a snapshot ends this long after it, ns
 * @pause: time between two snapshots, ns
 * @plain: no incident is awaited, and packets are kept unpacked, which costs a copy of each and the memory
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
 * struct box_ops - of the recorder
 * @files: adds the streams' files to a recording. Return: 0 or -errno
 * @metadata: writes a snapshot's into @dir: whole from @from to @to, UINT64_MAX: it goes on
 */
struct box_ops {
	int (*files)(void *arg, struct recording *r, struct grt_err *err);
	int (*metadata)(void *arg, int dir, uint64_t from, uint64_t to, struct grt_err *err);
	void *arg;
};

/**
 * struct box - set up by box_init(), to be given to box_free()
 * @on: there is one
 * @oldest, @newest: packets, @bytes in all
 * @from: what is kept is whole from then on
 * @dropped: packets, with @gone events; @counted: of these, that their programs count, by source; @before:
 *	those before the snapshot
 * @plain, @packed: rooms for one packet
 * @snapshot: that is being written, until @until; @path: its own; @number: of the last one
 * @holding: what is @bounds.ns older than this goes, although newer packets came; 0: than the newest one
 * @began: when the last one did; @quiet: incidents within the pause, which have none
 * @window: cuts by source what came before @from
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

/** box_init - an empty one */
void box_init(struct box *b, const struct box_bounds *bounds, const struct box_ops *ops);

/** box_take - keeps whole packets of a stream, and writes them where a snapshot goes on. Return: 0 or -errno
 */
int box_take(struct box *b, unsigned int stream, unsigned int source, const void *data, size_t len,
	     struct grt_err *err);

/** box_hold - an incident of @time may get a snapshot: what came before it stays, until one begins or with 0
 */
void box_hold(struct box *b, uint64_t time);

/** box_may_begin - whether an incident at @now gets a snapshot; counts it where it does not */
bool box_may_begin(struct box *b, uint64_t now);

/** box_begin - begins a snapshot in @dir with the packets that are kept. Return: 0 or -errno */
int box_begin(struct box *b, const char *dir, const struct incident *i, uint64_t now, struct grt_err *err);

/** box_end - ends it: it is whole up to @to. Return: 0 or -errno */
int box_end(struct box *b, uint64_t to, struct grt_err *err);

/** struct box_saved - the result of box_save(); @from: begin of the recording, ns */
struct box_saved {
	uint64_t from;
	uint64_t events;
	uint64_t bytes;
};

/**
 * box_save - writes the packets that are kept from @out->from to @to as a recording @path
 * @out: @from becomes later if the box does not reach back that far
 * Return: 0 or -errno; then there is no recording
 */
int box_save(struct box *b, const char *path, uint64_t to, struct box_saved *out, struct grt_err *err);

/** box_free - frees all that the box owns */
void box_free(struct box *b);

#endif /* GRTRACE_BLACKBOX_H */
