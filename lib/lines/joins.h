/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Data of earlier events about the current event, for writers that print a line per
 * event: names, and the duration of the call, wait or job that it ends. Events are joined
 * by identity (thread, or context and number), as they come, in bounded memory: new
 * threads and jobs replace the oldest. For whole jobs see jobs/jobs.h.
 */
#ifndef GRT_LINES_JOINS_H
#define GRT_LINES_JOINS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "base/escape.h"
#include "codes/ioctl_names.h"

/* Room for a name of 48 bytes escaped in any way; a longer text of which nearly all must be is cut. */
#define GRT_JOINS_TEXT 300

/** struct grt_joins_text - escaped, ready to be printed */
struct grt_joins_text {
	uint16_t len;
	char text[GRT_JOINS_TEXT];
};

/** struct grt_joins_name - the texts of a NAME record as they came, so that the same again is nothing new */
struct grt_joins_name {
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

/** struct grt_joins_wait - a thread waits for the fence @ctx:@seqno since @since */
struct grt_joins_wait {
	uint64_t since;
	uint64_t ctx;
	uint64_t seqno;
};

/* The last ones of more simultaneous waits of a thread are not joined. */
#define GRT_JOINS_WAITS 8

/**
 * struct grt_joins_thread - a thread
 * @as_told: the last NAME record
 * @named: there was a NAME record
 * @comm: name; empty: unknown, or with @named an empty name
 * @process: name of its process; empty: unknown, or the same
 * @entered: when it entered the ioctl in which it is, on the file @fd
 * @inside: it is in an ioctl
 * @wait: the @waits fences for which it waits
 */
struct grt_joins_thread {
	uint64_t entered;
	struct grt_joins_wait wait[GRT_JOINS_WAITS];
	int32_t fd;
	uint8_t waits;
	bool inside;
	bool named;
	struct grt_joins_name as_told;
	struct grt_joins_text comm;
	struct grt_joins_text process;
};

/** struct grt_joins_ring - a ring's name and its driver's; @as_told as above */
struct grt_joins_ring {
	struct grt_joins_name as_told;
	struct grt_joins_text name;
	struct grt_joins_text driver;
};

/**
 * struct grt_joins_device - a device file
 * @ioctls: names of its ioctls
 * @known_by_name: its number follows from its name (renderD128)
 * @as_told: as above
 */
struct grt_joins_device {
	struct grt_joins_name as_told;
	struct grt_joins_text name;
	struct grt_joins_text driver;
	const struct grt_ioctl_driver *ioctls;
	bool known_by_name;
};

/** enum grt_delta - durations between two events; the bit and the place in struct grt_joined */
enum grt_delta {
	GRT_DELTA_DURATION,	/* IOCTL_EXIT: since the thread's IOCTL_ENTER */
	GRT_DELTA_SINCE_IOCTL,	/* SUBMIT: since the IOCTL_ENTER of the ioctl that the thread is in */
	GRT_DELTA_SCHED,	/* COMMIT, JOB: since SUBMIT */
	GRT_DELTA_QUEUE,	/* START, JOB: since COMMIT */
	GRT_DELTA_EXEC,		/* END, JOB: since START */
	GRT_DELTA_SINCE_SUBMIT, /* END of a job without START: since SUBMIT */
	GRT_DELTA_COMPLETE,	/* COMPLETE, JOB: since END */
	GRT_DELTA_TOTAL,	/* COMPLETE, JOB: since SUBMIT */
	GRT_DELTA_WAIT,		/* SYNC_WAIT_EXIT: since the thread's SYNC_WAIT_ENTER for the same fence */
	GRT_DELTAS,
};

/* Their keys in JSON, by enum grt_delta. */
extern const char *const grt_delta_names[GRT_DELTAS];

/**
 * struct grt_joined - joined data of one event; valid until the next event
 * @has: bits of enum grt_delta
 * @ns: by enum grt_delta; only members with a bit in @has are defined
 * @fd: of the ioctl that it ends, with @has_fd
 * @thread, @ring, @device: by grt_joins_look(); NULL where nothing is known
 */
struct grt_joined {
	uint32_t has;
	uint64_t ns[GRT_DELTAS];
	int32_t fd;
	bool has_fd;
	struct grt_joins_thread *thread;
	struct grt_joins_ring *ring;
	struct grt_joins_device *device;
};

/* The last lookups are remembered, by a simple hash. */
#define GRT_JOINS_RECENT 64U

/** struct grt_joins_recent - the result of a lookup: an element, or NULL: there is none */
struct grt_joins_recent {
	uint64_t a;
	uint64_t b;
	void *element;
};

/** struct grt_joins_table - elements by two numbers */
struct grt_joins_table {
	struct grt_keyed all;
	struct grt_joins_recent recent[GRT_JOINS_RECENT];
};

/**
 * struct grt_joins - set up by grt_joins_init(), freed by grt_joins_fini()
 * @deltas: number of each kind of delta that was found
 * @open_exits: IOCTL_EXITs whose enter was not seen
 * @version: version of the names: while it is the same, grt_joins_look() has the same result for the same
 *	event
 */
struct grt_joins {
	enum grt_escape escape;
	uint64_t version;
	uint64_t deltas[GRT_DELTAS];
	uint64_t open_exits;
	struct grt_joins_table threads;
	struct grt_joins_table jobs;
	struct grt_joins_table rings;
	struct grt_joins_table devices;
};

/** grt_joins_init - begins without names; @escape: how names are escaped (GRT_ESCAPE_TERM or _JSON) */
void grt_joins_init(struct grt_joins *j, enum grt_escape escape);

/** grt_joins_name - processes a NAME record. Return: 0 or -ENOMEM */
int grt_joins_name(struct grt_joins *j, const struct grt_ev_name *e, unsigned int input);

/** grt_joins_event - processes any other event, and finds the durations that it ends. Return: 0 or -ENOMEM */
int grt_joins_event(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out);

/**
 * grt_joins_look - finds the thread and place of an event: @out->thread, ring and device; after
 * grt_joins_event()
 */
void grt_joins_look(struct grt_joins *j, const struct grt_event *e, unsigned int input,
		    struct grt_joined *out);

/**
 * grt_joins_escape - makes a text harmless for a line: nothing in it can end
 * the line, look like a key, or end the line's part that is read
 * @word: blanks are escaped too
 */
void grt_joins_escape(enum grt_escape escape, struct grt_joins_text *out, const char *text, size_t len,
		      bool word);

/** grt_joins_fini - frees it */
void grt_joins_fini(struct grt_joins *j);

#endif /* GRT_LINES_JOINS_H */
