/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The inside of a session, for the readers that fill it. A reader opens
 * its input and adds files; the session makes a stream from each.
 */
#ifndef GRT_TRACE_SESSION_H
#define GRT_TRACE_SESSION_H

#include <sys/stat.h>

#include "env.h"
#include "flow.h"
#include "gpus.h"
#include "kway.h"
#include "stream.h"

/*
 * A walk over the packet headers of a file, before its records are read: it finds
 * the file's CPUs, where their packets begin and end, and damage between packets.
 */

/**
 * struct grt_walk_cpu - the packets of one CPU in a file
 * @start, @end: begin of its first packet and end of its last packet
 * @content: content of its largest packet, bytes
 */
struct grt_walk_cpu {
	uint32_t cpu;
	uint64_t start;
	uint64_t end;
	uint64_t content;
	uint64_t emitted;
	uint32_t first_skip;
	uint32_t last_skip;
};

/**
 * struct grt_walk - the results of a walk
 * @cpu, @cpus: the CPUs, in order of appearance; free @cpu
 * @skips: positions of each CPU's packets, NULL: unknown; the caller passes it to grt_skips_free()
 * @end: end of the last complete packet
 * @cut: an incomplete packet or zeros follow @end, as after a
 *	crash
 * @emitted: events emitted up to the last packet of each CPU; @earlier: the part of them before the first
 *	packet
 * @first, @last: first and last time stamp; @first > @last: there is no packet
 */
struct grt_walk {
	struct grt_walk_cpu *cpu;
	unsigned int cpus;
	struct grt_skips *skips;
	uint64_t end;
	bool cut;
	uint64_t emitted;
	uint64_t earlier;
	uint64_t first;
	uint64_t last;
};

/**
 * grt_walk - walks over a file of packets
 * @label: its name in messages
 * @h: faults between packets are counted here
 * Return: 0, -EPROTO for another format, -EINVAL for a file without any
 * packet, or another negative errno
 */
int grt_walk(struct grt_walk *w, const struct grt_parts *parts, const char *label, struct grt_health *h,
	     struct grt_err *err);

/**
 * struct grt_session - see grtrace.h
 * @health: health of the present run
 * @found: health after opening; each run starts from it
 * @first, @last: first and last time stamp, @first > @last: none
 * @parts, @files, @label, @skips: the files, their names for messages, and the positions of
 *	packets in files of many CPUs (one entry per file); @parts is NULL for a stream without a file
 * @env: environment of the recording
 * @gpus: delivers only the events of one GPU; NULL: all events
 * @filter: excludes further events; NULL: none
 * @whole: see grt_session_whole()
 * @head, @head_len: the first bytes of the input, which were already read from a pipe
 * @is_pipe: the input can be read only once, and its span is known only then
 * @skipped: counts of skipped text; NULL: the input is not text
 * @written: records that traced programs have made, in the present run
 * @linkage: parts of linkage names, in the present run
 * @window: window of the recording; @from is UINT64_MAX if it has none
 * @shortest: key of the source that ends before the others, see grt_window_common()
 * @is_live, @live: the source of live streams, without files
 * @mending: incomplete packets are also cut from the files, and counted here; NULL: no file is changed
 */
struct grt_session {
	char *path;
	struct grt_stream *stream;
	unsigned int streams;
	struct grt_kway kway;
	struct grt_health health;
	struct grt_health found;
	uint64_t first;
	uint64_t last;
	struct grt_parts **parts;
	char **label;
	struct grt_skips **skips;
	unsigned int files;
	struct grt_env_list env;
	struct grt_gpus *gpus;
	struct grt_filter *filter;
	bool whole;
	char *head;
	size_t head_len;
	bool is_pipe;
	unsigned int (*skipped)(const void *owner, const struct grt_skipped **list);
	struct grt_written written;
	struct grt_linkage *linkage;
	struct grt_window window;
	const char *shortest;
	bool is_live;
	struct grt_live live;
	struct grt_mending *mending;
};

/**
 * struct grt_mending - changes of the files of an interrupted recording
 * @files: number of files that were cut after their last complete packet; @bytes: number of removed bytes
 * @why: a negative errno: a file could not be changed, 0: no error; @busy: the recorder still writes
 */
struct grt_mending {
	unsigned int files;
	uint64_t bytes;
	int why;
	bool busy;
};

/**
 * struct grt_source_losses - losses of a source of a recording; @fate: events of its packets in the last run,
 * by fate;
 * @window: the window of the source, @from is UINT64_MAX if the recording has none
 */
struct grt_source_losses {
	char name[32];
	uint64_t fate[GRT_FATES];
	struct grt_window window;
};

/** grt_session_sources - the sources of a recording, by their files; other inputs have none. The caller frees
 * *@out. Return: their number, or -ENOMEM */
int grt_session_sources(const struct grt_session *s, struct grt_source_losses **out);

/**
 * grt_session_filter - delivers only events that @filter selects from now on; @filter must outlive the
 * session
 */
void grt_session_filter(struct grt_session *s, struct grt_filter *filter);

/**
 * grt_session_whole - from now on, events of jobs, of waits for them and of their stacks that are outside of
 * the time of a run go to @beyond of the consumer, and those of threads that are before it: jobs that are
 * partly in that time can be joined as a whole, and what each thread did at its beginning is known
 */
void grt_session_whole(struct grt_session *s);

/**
 * struct grt_reader - a kind of input: a row in lib/readers.def, and a
 * file that defines one such struct
 * @begins: its inputs are regular files, and one of these bytes is their first one, or the first one after
 *	blanks; NULL: any input
 * @takes: whether the reader recognises the input
 * @head: the first bytes of a regular file or a pipe
 * @open: adds the files of the input; @fd is the open input, which the caller closes
 */
struct grt_reader {
	const char *name;
	const char *begins;
	bool (*takes)(const struct stat *st, const char *head, size_t len);
	int (*open)(struct grt_session *s, int fd, struct grt_err *err);
};

/**
 * grt_session_open_by - grt_session_open() with the given readers; the first one that recognises the
 * input reads it
 */
int grt_session_open_by(struct grt_session **out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err);

/**
 * grt_session_mend_by - opens a recording like grt_session_open_by(), cuts files that end within a packet
 * after their last complete packet, and closes it. Return: 0 with *@out, or a negative errno
 */
int grt_session_mend_by(struct grt_mending *out, const char *path, const struct grt_reader *const *readers,
			size_t n, struct grt_err *err);

/**
 * grt_session_add_parts - walks over the files of one stream, and adds a stream for each CPU in them
 * @parts: the session takes ownership, also if this fails
 * @label: their name in messages; copied
 * @w: gets the results of the walk; the session owns @w->cpu and @w->skips
 */
int grt_session_add_parts(struct grt_session *s, struct grt_parts *parts, const char *label,
			  struct grt_walk *w, struct grt_err *err);

/**
 * grt_session_add_file - grt_session_add_parts() with one file
 * @fd: the session takes ownership, also if this fails
 */
int grt_session_add_file(struct grt_session *s, int fd, const char *label, struct grt_walk *w,
			 struct grt_err *err);

/**
 * grt_session_add_source - adds a stream whose records do not come from packets
 * @owner: the stream takes ownership and frees it with @source->fini, also if this fails
 */
int grt_session_add_source(struct grt_session *s, const struct grt_stream_source *source, void *owner,
			   const char *label, struct grt_err *err);

/** grt_head_is_text - whether an input with these first bytes is text, and not packets */
bool grt_head_is_text(const char *head, size_t len);

/** grt_health_lost - events that the trace lacks against the will of its recorder */
static inline uint64_t grt_health_lost(const struct grt_health *h)
{
	return h->balance.fate[GRT_FATE_LOST] + h->missing_events + h->unwritten_events;
}

#endif /* GRT_TRACE_SESSION_H */
