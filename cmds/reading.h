/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What commands share that read a trace from its beginning to its end: the span
 * that --from and --to leave of it, what is said about the recording, and about
 * joins, health and balance when it was read, and the exit status.
 */
#ifndef GRTRACE_READING_H
#define GRTRACE_READING_H

#include "jobs/jobs.h"
#include "cmd.h"
#include "table/table.h"

#define DEFAULT_INPUT "grtrace.out.grt"

#define NOTES_MAX 24
#define FIELDS_MAX 40

/** struct notes - sentences for grt_writer_notes(); those beyond NOTES_MAX are dropped */
struct notes {
	char text[NOTES_MAX][256];
	unsigned int n;
};

/** note - adds a sentence */
void note(struct notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** notes_write - writes and empties them */
void notes_write(struct notes *n, struct grt_writer *w);

/**
 * struct fields - name and value pairs for grt_writer_fields()
 * @all: counts of what did not happen are wanted too: machines want every key,
 *	people only what happened
 */
struct fields {
	struct grt_field_value f[FIELDS_MAX];
	unsigned int n;
	bool all;
};

/** field_add, field_number - add a pair; @text follows it in text, and may be NULL */
void field_add(struct fields *f, const char *name, enum grt_cell_kind kind, struct grt_cell cell,
	       const char *text);
void field_number(struct fields *f, const char *name, uint64_t number, const char *text);

/** fields_write - see grt_writer_fields() */
void fields_write(struct fields *f, struct grt_writer *w, const char *name, const char *title);

/**
 * struct reading_span - the part of a trace that is looked at
 * @first, @last: ns
 * @known: where the trace begins and ends was known; of an empty trace and of a pipe it is not, and @first
 *	and @last are what was asked for, or 0 and UINT64_MAX
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

/** reading_recording - fields: the input's path and what the recording says of itself */
void reading_recording(struct fields *f, struct grt_session *s, const char *input);

/** reading_span_fields - fields: from, to and span */
void reading_span_fields(struct fields *f, const struct reading_span *span);

/** reading_health, reading_joins, reading_balance - write these; @json: every key */
void reading_health(struct grt_writer *w, const struct grt_health *h);
void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs, bool json);
void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread, bool json);

/**
 * reading_closes - emitted is the sum of the fates, and what was delivered was read: nothing is missing
 * @unread: events that are known to be later than the end of a live stream
 */
bool reading_closes(const struct grt_health *h, uint64_t unread);

/**
 * reading_note_joins - notes: what sampling and missing events mean for conclusions about jobs
 * @h: NULL where no concluded time is shown
 */
void reading_note_joins(struct notes *n, const struct grt_jobs *jobs, const struct grt_health *h);

/**
 * reading_note_health - notes: what is missing from the trace
 * @span: NULL where it is live, which nobody closes
 */
void reading_note_health(struct notes *n, const struct grt_health *h, const struct reading_span *span,
			 uint64_t unread);

/**
 * reading_faults - tells the faults of what was read
 * @ret, @err: of the run
 * Return: exit status
 */
int reading_faults(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		   const struct grt_err *err);

/* Of the GPU's events alone, for every command that reads a trace; @target gets its name as typed. */
#define READING_GPU_OPTION(target)                                                                   \
	{                                                                                            \
		"device", 0, OPT_STR, "GPU", target,                                                 \
			"only events of this GPU: its address (0000:03:00.0), card0, or 0 for card0" \
	}

/** reading_gpu - the session gives only events of this GPU; NULL: all. @live: it is of this machine.
 * Return: exit status */
int reading_gpu(struct grt_session *s, const char *gpu, bool live);

/**
 * reading_judge - closes standard output and tells faults, after what is intact was written
 * Return: exit status
 */
int reading_judge(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		  const struct grt_err *err);

/** reading_raise_files - recordings have a file for each thread: as many may be open as the system allows */
void reading_raise_files(void);

#endif /* GRTRACE_READING_H */
