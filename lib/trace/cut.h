/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Cuts packets to a window on their way into a recording. It drops and counts events
 * outside of the window; definitions to which events inside refer (names, frames,
 * programs, clocks) are kept, with the time of the window's edge. A packet stays even if
 * it has no records left, and the counts of its header (balance) lose the dropped events.
 */
#ifndef GRT_TRACE_CUT_H
#define GRT_TRACE_CUT_H

#include <grtrace/grtrace.h>

#include "window.h"

/**
 * struct grt_cut - of all streams of a source
 * @window: what is kept, and what was dropped so far
 * @cpu: events that were dropped since the counts of a CPU began; of which there are @cpus
 */
struct grt_cut {
	struct grt_window window;
	uint64_t *cpu;
	uint32_t cpus;
};

/**
 * struct grt_cut_stream - one of its streams, whose bytes may be split anywhere
 * @held: @used bytes of a packet that is not whole yet; the buffer has @room
 * @lost_track: bytes that are no packet were met: they, and all behind them, are handed on as they are
 */
struct grt_cut_stream {
	char *held;
	size_t used;
	size_t room;
	bool lost_track;
};

/**
 * struct grt_cut_ops - where packets go
 * @packet: a packet as it came; may be NULL
 * @write: bytes of whole packets. Return: 0 or -errno, which ends grt_cut_feed()
 */
struct grt_cut_ops {
	void (*packet)(void *arg, const struct grt_packet *p);
	int (*write)(void *arg, const char *data, size_t len);
	void *arg;
};

/** grt_cut_packet - cuts a whole packet where it lies. Return: its length now, bytes; or -ENOMEM */
ssize_t grt_cut_packet(struct grt_cut *c, struct grt_packet *p);

/** grt_cut_feed - goes on with the next bytes of a stream, which it may change. Return: 0, -ENOMEM or what
 * @write returned */
int grt_cut_feed(struct grt_cut *c, struct grt_cut_stream *s, char *data, size_t len,
		 const struct grt_cut_ops *ops);

/** grt_cut_stream_free, grt_cut_free - free what they hold */
void grt_cut_stream_free(struct grt_cut_stream *s);
void grt_cut_free(struct grt_cut *c);

#endif /* GRT_TRACE_CUT_H */
