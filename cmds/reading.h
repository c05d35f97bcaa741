/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Functions for commands that read a trace from its beginning to its end: the span
 * between --from and --to, the description of the recording, joins, health and
 * balance after reading, and the exit status.
 */
#ifndef GRTRACE_READING_H
#define GRTRACE_READING_H

#include "jobs/job_stats.h"
#include "cmd.h"
#include "merge/merge.h"
#include "table/notes.h"

#define DEFAULT_INPUT "grtrace.out.grt"

/**
 * struct reading_span - the part of a trace that is read
 * @first, @last: ns
 * @known: begin and end of the trace are known. They are unknown for an empty trace and a pipe; then @first
 *	and @last are the requested times, or 0 and UINT64_MAX
 */
struct reading_span {
	uint64_t first;
	uint64_t last;
	bool known;
};

/** reading_span - the trace's span, narrowed to --from and --to. Return: EXIT_DONE, or EXIT_USAGE after
 * a message */
int reading_span(struct grt_session *s, const struct opt_time *from, const struct opt_time *to,
		 struct reading_span *out);

/** reading_merge_span - the span of several merged inputs; a time that is not requested is 0 or
 * UINT64_MAX */
int reading_merge_span(struct grt_merge *m, const struct opt_time *from, const struct opt_time *to,
		       uint64_t *begin, uint64_t *end);

/** reading_recording - adds fields: the path of the input and the description in the recording */
void reading_recording(struct grt_fields *f, struct grt_session *s, const char *input);

/** reading_span_fields - adds the fields from, to and span */
void reading_span_fields(struct grt_fields *f, const struct reading_span *span);

extern const struct grt_table reading_health_pairs, reading_join_pairs, reading_balance_pairs;

/** reading_unread - the number of events in unfinished packets that are later than the end of a @live stream
 */
uint64_t reading_unread(const struct grt_session *s, bool live);

/** reading_health, reading_joins, reading_balance - write these tables; a balance with only delivered events
 * is one line of text, unless the writer is verbose */
void reading_health(struct grt_writer *w, const struct grt_health *h);
void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs);
void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread);

/**
 * reading_closes - whether every event is accounted for: emitted is the sum of the fates, and all delivered
 * events were read
 * @unread: number of events that came after the end of a live stream
 */
bool reading_closes(const struct grt_health *h, uint64_t unread);

/**
 * reading_note_health - adds notes about data that is missing in the trace
 * @span: NULL for live events, which have no end
 */
void reading_note_health(struct grt_notes *n, const struct grt_health *h, const struct reading_span *span,
			 uint64_t unread);

/** reading_note_window - adds a note if @span ends before the recording */
void reading_note_window(struct grt_notes *n, const struct grt_session *s, const struct reading_span *span);

/**
 * reading_faults - reports the faults of the input
 * @ret, @err: result of the run
 * Return: exit status
 */
int reading_faults(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		   const struct grt_err *err);

/* The option for events of one GPU; @target gets its name as typed. */
#define READING_GPU_OPTION(target)                                                             \
	{                                                                                      \
		"device", 0, OPT_STR, "GPU", target,                                           \
			"only events of this GPU: card0, nvidia0, a PCI address, a UUID, or 0" \
	}

/**
 * reading_gpu - limits a session to events of this GPU; NULL: all. @live: the session reads live events of
 * this machine.
 * Return: exit status
 */
int reading_gpu(struct grt_session *s, const char *gpu, bool live);

/**
 * reading_judge - closes standard output and reports faults, after all intact events were written
 * Return: exit status
 */
int reading_judge(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		  const struct grt_err *err);

/**
 * reading_raise_files - raises the limit of open files to its maximum, because a recording has a file for
 * each thread
 */
void reading_raise_files(void);

#endif /* GRTRACE_READING_H */
