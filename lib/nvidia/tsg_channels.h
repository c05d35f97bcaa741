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

/* Channels at a time, and those that are gone; what comes beyond is counted. */
#define GRT_TSG_CHANNELS_MAX (1U << 18)

/**
 * struct grt_tsg_channel - a channel
 * @pid, @tid: of the first thread seen with it
 * @group: number of its group, see struct grt_tsg
 * @tsg, @handle, @subctx: as text; @subctx "none" where none was named, empty where it is unknown;
 *	@handle behind its client's where that is not the group's
 * @subcontext, @veid, @chid: see TSG_CHANNEL in events.def
 * @first: when it came, or was first seen
 * @last: when it went, or was last seen
 * @came, @went: these are in the trace
 * @tokens: work-submit tokens that it was given
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

/** struct grt_tsg_channels - set up by grt_tsg_channels_init(); @over: channels that found no place */
struct grt_tsg_channels {
	struct grt_keyed live;
	struct grt_tsg_channel *past;
	uint32_t past_used;
	uint32_t past_room;
	uint64_t over;
};

/** grt_tsg_channels_init - empty */
void grt_tsg_channels_init(struct grt_tsg_channels *c);

/**
 * grt_tsg_channels_event - takes in an event; of use are TSG_CHANNEL and TSG_TOKEN
 * @g: the event's group
 * Return: 0 or -ENOMEM
 */
int grt_tsg_channels_event(struct grt_tsg_channels *c, const struct grt_event *e, const struct grt_tsg *g);

/**
 * grt_tsg_channels_list - the channels, by group, subcontext and when they were first seen
 * @out: gets an array, which the caller frees
 * Return: how many, or -ENOMEM
 */
int64_t grt_tsg_channels_list(const struct grt_tsg_channels *c, struct grt_tsg_channel **out);

/** grt_tsg_channels_free - frees and empties it */
void grt_tsg_channels_free(struct grt_tsg_channels *c);

#endif /* GRT_NVIDIA_TSG_CHANNELS_H */
