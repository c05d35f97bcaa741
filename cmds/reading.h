/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What commands share that read a trace from its beginning to its end: the span
 * that --from and --to leave of it, what is said about the recording, and about
 * joins, health and balance when it was read, and the exit status.
 */
#ifndef GRTRACE_READING_H
#define GRTRACE_READING_H

#include "jobs/job_stats.h"
#include "cmd.h"
#include "merge/merge.h"
#include "table/notes.h"

#define DEFAULT_INPUT "grtrace.out.grt"

/**
 * struct reading_span - the part of a trace that is looked at
 * @first, @last: ns
 * @known: where the trace begins and ends was known; of an empty trace and of a pipe it is not, and @first
 *	and @last are what was requested, or 0 and UINT64_MAX
 */
struct reading_span {
	uint64_t first;
	uint64_t last;
	bool known;
};

/** reading_span - the trace's span, narrowed to --from and --to. Return: EXIT_DONE, or EXIT_USAGE after
 * saying why */
int reading_span(struct grt_session *s, const struct opt_time *from, const struct opt_time *to,
		 struct reading_span *out);

/** reading_merge_span - the same of several inputs that become one; whatever is not requested is 0 or
 * UINT64_MAX */
int reading_merge_span(struct grt_merge *m, const struct opt_time *from, const struct opt_time *to,
		       uint64_t *begin, uint64_t *end);

/** reading_recording - fields: the input's path and what the recording says of itself */
void reading_recording(struct grt_fields *f, struct grt_session *s, const char *input);

/** reading_span_fields - fields: from, to and span */
void reading_span_fields(struct grt_fields *f, const struct reading_span *span);

extern const struct grt_table reading_health_pairs, reading_join_pairs, reading_balance_pairs;

/** reading_health, reading_joins, reading_balance - write these; a balance with nothing but delivered events
 * is one line of text, unless the writer is verbose */
void reading_health(struct grt_writer *w, const struct grt_health *h);
void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs);
void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread);

/**
 * reading_closes - emitted is the sum of the fates, and what was delivered was read: nothing is missing
 * @unread: events that are known to be later than the end of a live stream
 */
bool reading_closes(const struct grt_health *h, uint64_t unread);

/**
 * reading_note_health - notes: what is missing from the trace
 * @span: NULL where it is live, which nobody closes
 */
void reading_note_health(struct grt_notes *n, const struct grt_health *h, const struct reading_span *span,
			 uint64_t unread);

/** reading_note_window - a note where the time that is looked at ends before the recording does */
void reading_note_window(struct grt_notes *n, const struct grt_session *s, const struct reading_span *span);

/**
 * reading_faults - reports the faults of what was read
 * @ret, @err: of the run
 * Return: exit status
 */
int reading_faults(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		   const struct grt_err *err);

/* Of the GPU's events alone; @target gets its name as typed. */
#define READING_GPU_OPTION(target)                                                                   \
	{                                                                                            \
		"device", 0, OPT_STR, "GPU", target,                                                 \
			"only events of this GPU: its address (0000:03:00.0), card0, or 0 for card0" \
	}

/** reading_gpu - the session gives only events of this GPU; NULL: all. @live: it is of this machine.
 * Return: exit status */
int reading_gpu(struct grt_session *s, const char *gpu, bool live);

/**
 * reading_judge - closes standard output and reports faults, after what is intact was written
 * Return: exit status
 */
int reading_judge(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		  const struct grt_err *err);

/** reading_raise_files - recordings have a file for each thread: as many may be open as the system allows */
void reading_raise_files(void);

#endif /* GRTRACE_READING_H */
