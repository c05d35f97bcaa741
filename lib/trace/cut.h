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

#include "env.h"

/**
 * struct grt_cut - the state for all streams of a source
 * @window: the window, and the dropped events so far
 * @cpu: dropped events since the counts of each CPU began, for @cpus CPUs
 */
struct grt_cut {
	struct grt_window window;
	uint64_t *cpu;
	uint32_t cpus;
};

/**
 * struct grt_cut_stream - a stream of a source; its bytes may be split anywhere
 * @held: @used bytes of an incomplete packet; the buffer has @room
 * @lost_track: the stream had bytes that are not a packet: they and all later bytes are passed on unchanged
 */
struct grt_cut_stream {
	char *held;
	size_t used;
	size_t room;
	bool lost_track;
};

/**
 * struct grt_cut_ops - callbacks that get packets
 * @packet: gets each packet before it is cut; may be NULL
 * @write: gets bytes of complete packets. Return: 0 or -errno, which ends grt_cut_feed()
 */
struct grt_cut_ops {
	void (*packet)(void *arg, const struct grt_packet *p);
	int (*write)(void *arg, const char *data, size_t len);
	void *arg;
};

/** grt_cut_packet - cuts a complete packet in place. Return: its new length, bytes; or -ENOMEM */
ssize_t grt_cut_packet(struct grt_cut *c, struct grt_packet *p);

/** grt_cut_feed - processes the next bytes of a stream, which it may change. Return: 0, -ENOMEM or what
 * @write returned */
int grt_cut_feed(struct grt_cut *c, struct grt_cut_stream *s, char *data, size_t len,
		 const struct grt_cut_ops *ops);

/** grt_cut_stream_free, grt_cut_free - free all that they own */
void grt_cut_stream_free(struct grt_cut_stream *s);
void grt_cut_free(struct grt_cut *c);

#endif /* GRT_TRACE_CUT_H */
