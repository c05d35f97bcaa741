/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The channels of NVIDIA's channel groups: of each its group, its subcontext and
 * its life. A channel is known by its handle and that of the client that has it
 * (a server's group, as of MPS, has channels of several clients); when it is gone
 * these may come again and are another channel then.
 */
#ifndef GRT_NVIDIA_TSG_CHANNELS_H
#define GRT_NVIDIA_TSG_CHANNELS_H

#include <grtrace/grtrace.h>

#include "base/keyed.h"

struct grt_tsg;

/* Most live channels, and most channels that have ended; further ones are counted. */
#define GRT_TSG_CHANNELS_MAX (1U << 18)

/**
 * struct grt_tsg_channel - a channel
 * @pid, @tid: of the first thread seen with it
 * @group: number of its group, see struct grt_tsg
 * @tsg, @handle, @subctx: as text; @subctx "none" where none was named, empty where it is unknown;
 *	@handle behind its client's where that is not the group's
 * @subcontext, @veid, @chid: see TSG_CHANNEL in events.def
 * @first: time of its creation, or of its first event
 * @last: time of its end, or of its last event
 * @came, @went: its creation and its end are in the trace
 * @tokens: number of its work-submit tokens
 */
struct grt_tsg_channel {
	uint32_t pid;
	uint32_t tid;
	uint64_t group;
	char tsg[24];
	char handle[24];
	char subctx[12];
	uint32_t subcontext;
	uint32_t veid;
	uint32_t chid;
	uint64_t first;
	uint64_t last;
	bool came;
	bool went;
	uint64_t tokens;
};

/** struct grt_tsg_channels - set up by grt_tsg_channels_init(); @over: channels beyond the limits */
struct grt_tsg_channels {
	struct grt_keyed live;
	struct grt_tsg_channel *past;
	uint32_t past_used;
	uint32_t past_room;
	uint64_t over;
};

/** grt_tsg_channels_init - begins without channels */
void grt_tsg_channels_init(struct grt_tsg_channels *c);

/**
 * grt_tsg_channels_event - processes an event; uses TSG_CHANNEL and TSG_TOKEN
 * @g: the event's group
 * Return: 0 or -ENOMEM
 */
int grt_tsg_channels_event(struct grt_tsg_channels *c, const struct grt_event *e, const struct grt_tsg *g);

/**
 * grt_tsg_channels_list - lists the channels, sorted by group, subcontext and @first
 * @out: gets an array, which the caller frees
 * Return: their number, or -ENOMEM
 */
int64_t grt_tsg_channels_list(const struct grt_tsg_channels *c, struct grt_tsg_channel **out);

/** grt_tsg_channels_free - frees and empties it */
void grt_tsg_channels_free(struct grt_tsg_channels *c);

#endif /* GRT_NVIDIA_TSG_CHANNELS_H */
