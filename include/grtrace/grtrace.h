/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libgrtrace: reads, merges, analyses and writes traces. It needs no
 * privilege, never prints and never ends the process.
 *
 * Functions that can fail return 0 or a negative errno and, where they take a
 * struct grt_err, leave in it what failed, why and what to do about it.
 */
#ifndef GRTRACE_GRTRACE_H
#define GRTRACE_GRTRACE_H

#include <stdarg.h>
#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>
#include <stdio.h>
#include <sys/types.h>

#include <grtrace/event.h>
#include <grtrace/stream.h>
#include <grtrace/type_set.h>
#include <grtrace/version.h>

#ifdef __cplusplus
extern "C" {
#endif

/*
 * A program that was compiled with an older or a newer header of the same major
 * version works with the library that it meets. Structs grow only at their end:
 *
 *  - those that a program fills in (struct grt_consumer, struct grt_live, sinks)
 *    or has filled in (counts) are handed over with their size, which the inline
 *    functions of these headers do. What the library does not know is passed
 *    over; what the program does not know is 0;
 *  - those that the library hands out by a pointer (struct grt_health, struct
 *    grt_job and so on) have their size in them. Never make one yourself, and
 *    copy no more than your header knows.
 *
 * The others never grow. Structs without members here are the library's own.
 * Every function that these headers declare is exported, and nothing else is;
 * lib/libgrtrace.map has the version in which each of them came.
 */

/** grt_version - the library's version, GRT_VERSION of its header */
const char *grt_version(void);

/**
 * struct grt_err - an error in three parts
 * @what: what failed and for which object ("run.grt/kmod_0: offset 4096: bad packet")
 * @why: the cause on this system, "" where @what says it all
 * @fix: what to type, "" where there is nothing
 */
struct grt_err {
	char what[512];
	char why[256];
	char fix[256];
};

/**
 * grt_err_set - fills in an error
 * @err: may be NULL
 * @code: negative errno
 * @fix: what to type; may be NULL
 * @why: the cause; may be NULL
 * @fmt: what failed, for which object
 * Return: @code
 */
int grt_err_set(struct grt_err *err, int code, const char *why, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 5, 6)));

/*
 * Session: the streams of one trace, merged by time into one flow of events
 * that is pushed into a consumer. Memory is bounded by the number of streams,
 * not by the length of the trace.
 */
struct grt_session;

/**
 * struct grt_consumer - what wants the events; embed it in your own state
 *
 * Each callback may be NULL. @e is valid during the call only; its payload is
 * reached by a cast to struct grt_ev_<name>, e->type has been checked against
 * e->size. A non-zero result ends the run, and grt_session_run() returns it.
 *
 * @packet: a packet begins; called before its first event, in the order of the
 *	merge, so that balances can be summed
 * @event: every event, before its own callback
 * @unknown: a type that this version does not know; skipped by its size
 * @beyond: an event outside of the time that grt_session_run() was requested, which
 *	defines what those inside refer to: FRAME, LOG_TEXT and the class image; and
 *	ALLOC, whose memory is held until it is freed. It reaches no other callback; NAME comes to its own,
 *whenever it is from
 * @late: the same for the class launch: such an event is written when what it reports
 *	is over, which may be inside all the same. What those that come to @launch report
 *	of may be outside
 * @job and so on: the events of each class, see classes.def
 */
struct grt_consumer {
	int (*packet)(struct grt_consumer *c, const struct grt_packet *p);
	int (*event)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	int (*unknown)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	int (*beyond)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	int (*late)(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu);
	/* Rows of classes.def are only added at its end: no member before them moves. */
#define GRT_CLASS(name, help, see) \
	int (*name)(struct grt_consumer * c, const struct grt_event *e, uint32_t cpu);
#include <grtrace/classes.def>
#undef GRT_CLASS
};

/** enum grt_class - the classes of classes.def, for tables by class */
enum grt_class {
	GRT_CLASS_unknown, /* a type that this version does not know */
#define GRT_CLASS(name, help, see) GRT_CLASS_##name,
#include <grtrace/classes.def>
#undef GRT_CLASS
	GRT_CLASSES,
};

/** enum grt_fault_kind - what was found wrong in an input, see struct grt_health */
enum grt_fault_kind {
	GRT_FAULT_CUT,	  /* the file ends inside a packet */
	GRT_FAULT_PACKET, /* bytes that are no packet were skipped */
	GRT_FAULT_RECORD, /* a packet's records are broken; its rest was skipped */
	GRT_FAULT_GAP,	  /* packets are missing (packet_seq_num jumps) */
	GRT_FAULT_TIME,	  /* time goes back within a stream; a line of a pipe came too late to be sorted */
	GRT_FAULTS,
};

/* Kinds of later versions have their place in struct grt_health already. */
#define GRT_FAULTS_ROOM 16

/**
 * struct grt_health_text - what the run met in an input that is text
 * @form: what its lines were read as, a row of lib/text/text.def; NULL: no text
 * @lines: read
 * @bad: of these, not understood
 * @bad_line: number of the first of these, from 1
 * @bad_text: its beginning; untrusted
 * @skipped: events that have no place in a trace of GPU jobs, see grt_session_skipped()
 * @reordered: lines, or events of them, that stood behind later ones, and were brought into order
 * @sorted: of these, what went through temporary files for that
 * @gaps: places where the text says that events are missing, and not how many
 */
struct grt_health_text {
	const char *form;
	uint64_t lines;
	uint64_t bad;
	uint64_t bad_line;
	char bad_text[96];
	uint64_t skipped;
	uint64_t reordered;
	uint64_t sorted;
	uint64_t gaps;
	uint64_t reserved[8];
};

/**
 * struct grt_health - what the run met
 * @size: of this struct in the library; what lies behind it is not there
 * @events: events seen (before --from and --to)
 * @unknown: of these, of unknown types
 * @before, @after: of these, not in the time that is wanted; some of them reach @beyond and @late of the
 *consumer
 * @of_others, @of_no_gpu: of these, of another GPU than the one requested, and of none that is known, see
 *	grt_session_gpu()
 * @packets: packets seen
 * @bytes: read
 * @skipped_bytes: not understood and skipped
 * @missing_events: delivered by the source but in packets that are not here, from
 *	the balances of the packets around a gap
 * @unwritten_events: launches and records of the GPU that traced programs made and could not write (a full
 *	disk, a limit), by what they counted themselves; known at the end of a run, in no packet's balance
 * @fault: times each enum grt_fault_kind was met
 * @first: the first fault, as text with file and offset; empty: none
 * @finished: the recording was closed by its recorder (raw files: always true)
 * @balance: summed over the packets that are here, or the events and losses of a text;
 *	emitted = sum of fates
 * @text: where the input is text
 * @before_start, @after_end: events that the recorder dropped, since not all of its sources had begun, or the
 *	recording had ended; in no packet's balance
 * @left_out: of @events, by filters of the caller
 * @deleted: events of segments that the recorder deleted, since the recording is bounded; in no packet's balance
 * @deleted_segments: how many segments
 */
struct grt_health {
	uint64_t size;
	uint64_t events;
	uint64_t unknown;
	uint64_t before;
	uint64_t after;
	uint64_t of_others;
	uint64_t of_no_gpu;
	uint64_t packets;
	uint64_t bytes;
	uint64_t skipped_bytes;
	uint64_t missing_events;
	uint64_t unwritten_events;
	uint64_t fault[GRT_FAULTS_ROOM];
	struct grt_err first;
	bool finished;
	struct grt_balance balance;
	struct grt_health_text text;
	uint64_t before_start;
	uint64_t after_end;
	uint64_t left_out;
	uint64_t deleted;
	uint64_t deleted_segments;
};

/**
 * grt_session_open - opens a recording directory, a raw file of packets (as
 * `cat trace_pipe` or `cat events0` gives), or text of a form that is known
 * (lib/text/text.def), in a file or a pipe
 * @out: the session; close it with grt_session_close()
 * @path: "-" is standard input
 * Of a pipe, this waits for the first line that is of a form. Text that is far
 * out of order is sorted in unnamed files in $TMPDIR (/tmp).
 * A recording whose last packet was cut by a crash is cut back to whole packets
 * on disk when it can be written, which is reported in the session's health. A
 * recorder holds flock(2) LOCK_EX on the directory while it writes: then the
 * part that is on disk is read and nothing is cut.
 * Return: 0, -EPROTO for another format number ("format N, this tool reads
 * A..B"), -EINVAL for what is no trace, or another negative errno
 */
int grt_session_open(struct grt_session **out, const char *path, struct grt_err *err);

/**
 * struct grt_live - streams that are still being written
 * @read: like read(2) on stream @i without blocking: > 0 bytes, 0 end of
 *	stream, -EAGAIN nothing yet; returns whole packets when @len allows
 * @arg: handed to @read
 * @streams: how many
 */
struct grt_live {
	ssize_t (*read)(void *arg, unsigned int i, void *buf, size_t len);
	void *arg;
	unsigned int streams;
};

/** grt_session_open_live_sized - what grt_session_open_live() calls; @size: of *@live */
int grt_session_open_live_sized(struct grt_session **out, const struct grt_live *live, size_t size,
				struct grt_err *err);

/** grt_session_open_live - a session over streams that are still growing. Return: 0 or a negative errno */
static inline int grt_session_open_live(struct grt_session **out, const struct grt_live *live,
					struct grt_err *err)
{
	return grt_session_open_live_sized(out, live, sizeof(*live), err);
}

/** grt_session_run_sized - what grt_session_run() calls; @size: of *@c */
int grt_session_run_sized(struct grt_session *s, struct grt_consumer *c, size_t size, uint64_t from,
			  uint64_t to, struct grt_err *err);

/** grt_session_run_live_sized - what grt_session_run_live() calls; @size: of *@c */
int grt_session_run_live_sized(struct grt_session *s, struct grt_consumer *c, size_t size, uint64_t until,
			       struct grt_err *err);

/**
 * grt_session_gpu - in runs from now on only the events of one GPU reach the consumer: those of its rings, of
 * their jobs and of its device files, and NAME, FRAME, LOG_TEXT and the class image, which events refer to
 * @gpu: its address on its bus ("0000:03:00.0"), a device file ("card0"), or the number of its card
 * @cards: "card0=ADDRESS renderD128=ADDRESS ...", NULL: what the recording says
 * Return: 0 or -ENOMEM
 */
int grt_session_gpu(struct grt_session *s, const char *gpu, const char *cards, struct grt_err *err);

/**
 * grt_session_gpu_missing - after a run: whether it met nothing that is of the GPU requested
 * Return: 0, or -ENODEV with the GPUs that it met in @err
 */
int grt_session_gpu_missing(const struct grt_session *s, struct grt_err *err);

/**
 * grt_session_run - pushes events into a consumer
 * @from, @to: only events with @from <= time <= @to reach it (0, UINT64_MAX: all;
 *	packets and NAME always do, others come to its @beyond and @late)
 * Return: 0 at the end, what a callback returned, or a negative errno
 */
static inline int grt_session_run(struct grt_session *s, struct grt_consumer *c, uint64_t from, uint64_t to,
				  struct grt_err *err)
{
	return grt_session_run_sized(s, c, sizeof(*c), from, to, err);
}

/**
 * grt_session_run_live - the same, up to a point in time
 * @until: CLOCK_MONOTONIC ns; every event before it must have been readable
 *	when the call began (flush the source first). UINT64_MAX: to the end
 * Return: 1 when more may come, 0 at the end of all streams, else as grt_session_run()
 */
static inline int grt_session_run_live(struct grt_session *s, struct grt_consumer *c, uint64_t until,
				       struct grt_err *err)
{
	return grt_session_run_live_sized(s, c, sizeof(*c), until, err);
}

/**
 * grt_session_missed - lets the health have what its source counted, and did not come in packets
 * @missed: events that were delivered are missing, others join the balance
 * @what: where they are missing, for the fault
 */
void grt_session_missed(struct grt_session *s, const struct grt_balance *missed, const char *what);

/** grt_session_health - what the run has met so far; valid until the session is closed */
const struct grt_health *grt_session_health(const struct grt_session *s);

/**
 * grt_session_span - the window in which all sources of a recording saw everything; where it says
 * none, first and last stamp of a trace on disk, from its packet headers or its lines
 * Return: 0, -ENODATA for an empty trace, -ENOTSUP for a live one, -ESPIPE for a pipe:
 *	known when it has been read
 */
int grt_session_span(struct grt_session *s, uint64_t *first, uint64_t *last);

/**
 * grt_session_short - the source whose window ends before that of others, so that grt_session_span() does;
 * NULL: there is none
 */
const char *grt_session_short(const struct grt_session *s);

/** grt_session_env - a value of the recording's environment ("kernel", "command", ...), NULL where it has
 * none */
const char *grt_session_env(const struct grt_session *s, const char *key);

/** struct grt_skipped - a kind of event that a text has and this library passes over; @name is untrusted */
struct grt_skipped {
	const char *name;
	uint64_t events;
};

/**
 * grt_session_skipped - the kinds of events of a text that the run passed over, in the order in which they
 * came
 * @list: theirs; valid until the next run or grt_session_close()
 * Return: how many
 */
unsigned int grt_session_skipped(const struct grt_session *s, const struct grt_skipped **list);

/** grt_engine_name, grt_event_title - names of numbers, as reports print them; "unknown" for others */
const char *grt_engine_name(uint64_t engine);
const char *grt_event_title(uint64_t type);

/** grt_session_close - frees it; NULL is allowed */
void grt_session_close(struct grt_session *s);

/*
 * Recording: what makes a directory of packets a CTF trace.
 */

/**
 * struct grt_env - an entry of the metadata's environment
 * @key: a C identifier
 * @value: any text; it is escaped
 */
struct grt_env {
	const char *key;
	const char *value;
};

/**
 * grt_metadata_write - writes DIR/metadata (TSDL, made from the .def files),
 * whole or not at all (rename), mode 0600
 * @dirfd: the recording's directory
 * @env: ended by a row without key; written into the env block. "state" is
 *	"recording" until the recorder has closed everything, then "complete".
 * @realtime_offset: CLOCK_REALTIME - CLOCK_MONOTONIC in ns, so that other
 *	readers show wall-clock time
 */
int grt_metadata_write(int dirfd, const struct grt_env *env, int64_t realtime_offset, struct grt_err *err);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_GRTRACE_H */
