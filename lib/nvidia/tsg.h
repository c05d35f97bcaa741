/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * NVIDIA's channel groups (TSG): the life of each, the requests for it, and the
 * groups that shared its runlist. A group is identified by its handles; after it is
 * destroyed, another group may get the same handles.
 *
 * Text of other tools has no handles, but the process and the hardware's number,
 * which is one by runlist and GPU, and names the runlist only when the group is
 * made. So a process has several groups of one number at a time. What such a
 * line is about is inferred then: the one that was made first is scheduled first
 * and destroyed first.
 */
#ifndef GRT_NVIDIA_TSG_H
#define GRT_NVIDIA_TSG_H

#include <grtrace/grtrace.h>
#include <grtrace/tsg.h>

#include "base/containers.h"
#include "table/table.h"
#include "tsg_times.h"

/*
 * The channels of NVIDIA's channel groups: of each its group, its subcontext and
 * its life. A channel is known by its handle and that of the client that has it
 * (a server's group, as of MPS, has channels of several clients); when it is gone
 * these may come again and are another channel then.
 */

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

struct grt_names;

/* Most live groups, and most groups that have ended; further ones are counted. */
#define GRT_TSGS_MAX 65536U

/* Most live groups of one process with the same number; further ones are counted. */
#define GRT_TSG_NAMESAKES_MAX 64U

/* Subcontexts of a group as text, cut where it is longer. */
#define GRT_TSG_SUBCONTEXTS_MAX 96

/* A list of processes as text, cut where it is longer. */
#define GRT_TSG_PROCESSES_MAX 96

/**
 * struct grt_tsg - a group
 * @number: its number, from 0, in the order of first events
 * @pid, @tid: of the first thread seen with it
 * @process: number of a name: what its process was called when it made the first of the groups it has
 * @name, @gpu, @engine: as text; @gpu and @engine are empty if unknown
 * @bus, @runlist, @grp, @nv_engine: see TSG_INIT in events.def
 * @first: time of its creation, or of its first event
 * @last: time of its end, or of its last event
 * @born, @died: its creation and its end are in the trace
 * @inferred: another group of its process had its number, and what was said of this number may be of either
 * @cause: cause of its end
 * @channels, @channels_max: now and most at a time; UINT32_MAX: unknown
 * @subcontexts: that its channels are or were in, UINT32_MAX: not all channels told
 * @veids: of these, the numbers as text, "?" for one that is unknown; both by grt_tsgs_list()
 * @schedules: calls to schedule it
 * @refused: calls that the driver refused
 * @timeslice: the last timeslice, us, 0: unknown
 * @interleave: the last interleave level, UINT32_MAX: unknown
 */
struct grt_tsg {
	uint64_t number;
	uint32_t pid;
	uint32_t tid;
	uint32_t process;
	char name[24];
	char gpu[16];
	char engine[24];
	uint32_t bus;
	uint32_t runlist;
	uint32_t grp;
	uint32_t nv_engine;
	uint64_t first;
	uint64_t last;
	bool born;
	bool died;
	bool inferred;
	uint32_t cause;
	uint32_t channels;
	uint32_t channels_max;
	uint32_t subcontexts;
	char veids[GRT_TSG_SUBCONTEXTS_MAX];
	uint64_t schedules;
	uint64_t tokens;
	uint64_t sets;
	uint64_t refused;
	uint64_t timeslice;
	uint32_t interleave;
};

/**
 * struct grt_tsg_runlist - a runlist of a GPU
 * @groups, @at_once: number of groups on it, and the most at the same time
 * @processes: number of processes, and a list of them as text
 */
struct grt_tsg_runlist {
	uint32_t bus;
	uint32_t runlist;
	char gpu[16];
	char engine[24];
	uint64_t groups;
	uint64_t at_once;
	uint64_t processes;
	char pids[GRT_TSG_PROCESSES_MAX];
};

/**
 * struct grt_tsgs - set up by grt_tsgs_init()
 * @processes: processes with groups, see struct process in tsg.c
 * @times: the time for which they had GPUs
 * @met: number of groups so far
 * @over: events of groups beyond the limits
 */
struct grt_tsgs {
	struct grt_tsg_channels channels;
	struct grt_tsg_times times;
	uint64_t met;
	struct grt_keyed processes;
	struct grt_keyed live;
	struct grt_tsg *past;
	uint32_t past_used;
	uint32_t past_room;
	uint64_t over;
};

/** grt_tsg_key - the key of a group, from an event that has the client's handle */
struct grt_key grt_tsg_key(const struct grt_tsg_event *t);

/** grt_tsg_never_was - whether an event is of a group that the driver did not make */
bool grt_tsg_never_was(const struct grt_event *e);

/** grt_tsgs_init - begins without groups */
void grt_tsgs_init(struct grt_tsgs *t);

/**
 * grt_tsgs_event - processes an event; uses TSG_* and GPU_SLICE
 * @names: the names at the time of this event
 * Return: 0 or -ENOMEM
 */
int grt_tsgs_event(struct grt_tsgs *t, const struct grt_event *e, const struct grt_names *names);

/**
 * grt_tsgs_list - lists the groups, sorted by @first
 * @out: gets an array, which the caller frees
 * @channel: gets one of their channels, too, of which there are *@channels
 * Return: their number, or -ENOMEM
 */
int64_t grt_tsgs_list(const struct grt_tsgs *t, struct grt_tsg **out, struct grt_tsg_channel **channel,
		      int64_t *channels);

/**
 * grt_tsgs_runlists - the runlists of a list of groups, by GPU and number; groups whose runlist is unknown
 * are on none
 * @out: gets an array, which the caller frees
 * Return: their number, or -ENOMEM
 */
int64_t grt_tsgs_runlists(const struct grt_tsg *list, uint64_t n, struct grt_tsg_runlist **out);

/** grt_tsgs_free - frees and empties it */
void grt_tsgs_free(struct grt_tsgs *t);

#endif /* GRT_NVIDIA_TSG_H */
