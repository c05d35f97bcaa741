/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * libgrtrace: reads, merges, analyses and writes traces. It needs no
 * privilege, never prints and never ends the process.
 *
 * Functions that can fail return 0 or a negative errno and, where they take a
 * struct grt_err, fill it with what failed, why, and what to type.
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
 * version works with any such version of the library. Structs grow only at their end:
 *
 *  - a program passes structs that it fills in (struct grt_consumer, struct grt_live,
 *    sinks) or lets the library fill in (counts) together with their size, which the
 *    inline functions of these headers do. The library ignores members that it does not
 *    know; members that the program does not know are 0;
 *  - structs to which the library returns a pointer (struct grt_health, struct grt_job
 *    and so on) contain their size. Never create one yourself, and do not copy more
 *    than your header defines.
 *
 * Other structs never grow. Structs without members in these headers are opaque.
 * Every function that these headers declare is exported, and no other;
 * lib/libgrtrace.map has the version that introduced each of them.
 */

/** grt_version - the library's version, GRT_VERSION of its header */
const char *grt_version(void);

/**
 * struct grt_err - an error in three parts
 * @what: what failed and for which object ("run.grt/kmod_0: offset 4096: bad packet")
 * @why: the cause on this system, "" if @what is sufficient
 * @fix: what to type, "" if there is nothing to type
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
 * struct grt_consumer - callbacks that receive the events; embed it in your own state
 *
 * Each callback may be NULL. @e is valid only during the call; cast it to
 * struct grt_ev_<name> to read its payload: e->size has been checked for
 * e->type. A non-zero result ends the run, and grt_session_run() returns it.
 *
 * @packet: a packet begins; called before its first event, in the order of the
 *	merge, so that the caller can add up the packets' event counts (balances)
 * @event: every event, before its own callback
 * @unknown: a type that this version does not know; skipped by its size
 * @beyond: an event outside of the time passed to grt_session_run() that defines something
 *	to which events inside refer: FRAME, LOG_TEXT and the class image; and ALLOC, whose
 *	memory lasts until it is freed. No other callback receives it. NAME records of any
 *	time go to @name
 * @late: an event of the class launch outside of that time. It is written after the work
 *	that it reports has ended, so this work may be inside; likewise, the work of events
 *	passed to @launch may be outside
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

/** enum grt_fault_kind - kinds of faults in an input, see struct grt_health */
enum grt_fault_kind {
	GRT_FAULT_CUT,	  /* the file ends inside a packet */
	GRT_FAULT_PACKET, /* bytes that are no packet were skipped */
	GRT_FAULT_RECORD, /* a packet's records are broken; its rest was skipped */
	GRT_FAULT_GAP,	  /* packets are missing (packet_seq_num jumps) */
	GRT_FAULT_TIME,	  /* time goes back within a stream; a line of a pipe came too late to be sorted */
	GRT_FAULTS,
};

/* struct grt_health already has room for kinds of later versions. */
#define GRT_FAULTS_ROOM 16

/**
 * struct grt_health_text - counts of an input that is text
 * @form: format of the text, a row of lib/text/text.def; NULL: the input is not text
 * @lines: lines read
 * @bad: lines that were not understood
 * @bad_line: number of the first such line, from 1
 * @bad_text: beginning of that line; untrusted
 * @skipped: events that are not about GPU jobs, see grt_session_skipped()
 * @reordered: lines, or events from lines, that came after later ones and were sorted
 * @sorted: lines or events of these that were sorted in temporary files
 * @gaps: places where an unknown number of events is missing
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
 * struct grt_health - counts and faults of a run
 * @size: size of this struct in the library: members beyond it do not exist
 * @events: events read, before any selection by time
 * @unknown: events of unknown types among them
 * @before, @after: events among them outside of the selected time; some of these go to @beyond and
 *	@late of the consumer
 * @of_others, @of_no_gpu: events among them of a GPU other than the requested one, and of an unknown GPU, see
 *	grt_session_gpu()
 * @packets: packets read
 * @bytes: bytes read
 * @skipped_bytes: bytes that were not understood and skipped
 * @missing_events: events that the source delivered in packets that are missing, computed from the
 *	balances of the packets around a gap
 * @unwritten_events: launches and GPU records that traced programs made and could not write (full
 *	disk, limit), as they counted them; known at the end of a run, in no packet's balance
 * @fault: number of faults of each enum grt_fault_kind
 * @first: the first fault, as text with file and offset; empty: none
 * @finished: the recorder finished the recording (raw files: always true)
 * @balance: sum over all packets read, or the events and losses of a text;
 *	emitted = sum of fates
 * @text: counts of an input that is text
 * @before_start, @after_end: events that the recorder dropped because not all of its sources had started, or
 *	because the recording had ended; in no packet's balance
 * @left_out: events of @events that filters of the caller left out
 * @deleted: events of segments that the recorder deleted to bound the recording; in no packet's balance
 * @deleted_segments: number of these segments
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
 * written by `cat trace_pipe` or `cat events0`), or text of a known format
 * (lib/text/text.def), in a file or a pipe
 * @out: the session; close it with grt_session_close()
 * @path: "-" is standard input
 * For a pipe, this waits for the first line of a known format. Text that is far
 * out of order is sorted in unnamed files in $TMPDIR (/tmp).
 * Of a recording that a crash or a running recorder left with an incomplete last
 * packet, the complete packets are read; no file is changed.
 * Return: 0, -EPROTO for another format number ("format N, this tool reads
 * A..B"), -EINVAL if the input is not a trace, or another negative errno
 */
int grt_session_open(struct grt_session **out, const char *path, struct grt_err *err);

/**
 * struct grt_live - streams that are still being written
 * @read: like a non-blocking read(2) on stream @i: > 0 bytes, 0 end of
 *	stream, -EAGAIN no data yet; returns complete packets if @len allows
 * @arg: passed to @read
 * @streams: number of streams
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
 * grt_session_gpu - in later runs, passes only the events of one GPU to the consumer: those of its rings, of
 * their jobs and of its device files, and NAME, FRAME, LOG_TEXT and the class image, to which events refer
 * @gpu: PCI address ("0000:03:00.0"), a device file ("card0", "nvidia0"), a UUID ("GPU-..."), or the number
 *	of the card or of NVIDIA's device file
 * @cards: "card0=ADDRESS renderD128=ADDRESS nvidia0=ADDRESS GPU-...=ADDRESS ...", NULL: as in the recording
 * Return: 0, -EINVAL if two GPUs match, or -ENOMEM
 */
int grt_session_gpu(struct grt_session *s, const char *gpu, const char *cards, struct grt_err *err);

/**
 * grt_session_gpu_missing - after a run: whether it had no event of the requested GPU
 * Return: 0, or -ENODEV with the GPUs of the trace in @err
 */
int grt_session_gpu_missing(const struct grt_session *s, struct grt_err *err);

/**
 * grt_session_run - pushes events into a consumer
 * @from, @to: pass only events with @from <= time <= @to (0, UINT64_MAX: all;
 *	packets and NAME always; see also @beyond and @late of the consumer)
 * Return: 0 at the end, what a callback returned, or a negative errno
 */
static inline int grt_session_run(struct grt_session *s, struct grt_consumer *c, uint64_t from, uint64_t to,
				  struct grt_err *err)
{
	return grt_session_run_sized(s, c, sizeof(*c), from, to, err);
}

/**
 * grt_session_run_live - like grt_session_run(), up to a point in time
 * @until: CLOCK_MONOTONIC ns; every event before it must be readable
 *	when the call begins (flush the source first). UINT64_MAX: to the end
 * Return: 1 if more events may come, 0 at the end of all streams, else as grt_session_run()
 */
static inline int grt_session_run_live(struct grt_session *s, struct grt_consumer *c, uint64_t until,
				       struct grt_err *err)
{
	return grt_session_run_live_sized(s, c, sizeof(*c), until, err);
}

/**
 * grt_session_missed - adds events that the source counted, but that are in no packet, to the session's
 * health
 * @missed: delivered events count as missing, others are added to the balance
 * @what: place where they are missing, for the text of the fault
 */
void grt_session_missed(struct grt_session *s, const struct grt_balance *missed, const char *what);

/** grt_session_health - counts and faults so far; valid until the session is closed */
const struct grt_health *grt_session_health(const struct grt_session *s);

/**
 * grt_session_span - the window in which all sources of a recording recorded everything; without such a
 * window, the first and last time stamp of a trace on disk, from its packet headers or its lines
 * Return: 0, -ENODATA for an empty trace, -ENOTSUP for a live one, -ESPIPE for a pipe
 *	that has not been read to its end
 */
int grt_session_span(struct grt_session *s, uint64_t *first, uint64_t *last);

/**
 * grt_session_short - the source whose window ends before those of the others and so limits
 * grt_session_span(); NULL: there is none
 */
const char *grt_session_short(const struct grt_session *s);

/** grt_session_env - a value of the recording's environment ("kernel", "command", ...), NULL if it does not
 * have this key */
const char *grt_session_env(const struct grt_session *s, const char *key);

/** struct grt_skipped - a kind of event in text that this library ignores; @name is untrusted */
struct grt_skipped {
	const char *name;
	uint64_t events;
};

/**
 * grt_session_skipped - the kinds of events of a text that the run ignored, in the order of their first
 * occurrence
 * @list: gets the kinds; valid until the next run or grt_session_close()
 * Return: number of kinds
 */
unsigned int grt_session_skipped(const struct grt_session *s, const struct grt_skipped **list);

/** grt_engine_name, grt_event_title - name of an engine or event type, as reports print it; "unknown" for
 * others */
const char *grt_engine_name(uint64_t engine);
const char *grt_event_title(uint64_t type);

/** grt_session_close - closes a session and frees it; NULL is allowed */
void grt_session_close(struct grt_session *s);

/*
 * Recording: the metadata that makes a directory of packets a CTF trace.
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
 * by renaming a complete file into place, mode 0600
 * @dirfd: the recording's directory
 * @env: entries of the env block, ended by a row without key. "state" is
 *	"recording" until the recorder has closed everything, then "complete".
 * @realtime_offset: CLOCK_REALTIME - CLOCK_MONOTONIC in ns, so that other
 *	readers show wall-clock time
 */
int grt_metadata_write(int dirfd, const struct grt_env *env, int64_t realtime_offset, struct grt_err *err);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_GRTRACE_H */
