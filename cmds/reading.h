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
#include "trace/flow.h"

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
 * reading_adds_up - whether emitted is the sum of the fates, and all delivered events were read
 * @unread: number of events that came after the end of a live stream
 */
bool reading_adds_up(const struct grt_health *h, uint64_t unread);

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

/* ---------------------------------------------------------------- filter */

/*
 * The filters of every command that reads a trace: one table of options, one
 * place that checks them. A command that cannot apply a filter prints why.
 */

/* Filters, for struct filter_refusal. */
#define FILTER_TIME 1U /* --from and --to */
#define FILTER_PID 2U
#define FILTER_COMM 4U
#define FILTER_RING 8U
#define FILTER_DEVICE 16U
#define FILTER_TYPE 32U

/**
 * struct filter - the values of the options
 * @gpu: the value of --device
 * @type_names: the value of --type
 * @f: the filter of the session
 */
struct filter {
	struct opt_time from;
	struct opt_time to;
	uint64_t pid;
	const char *comm;
	const char *ring;
	const char *gpu;
	const char *type_names;
	struct grt_filter f;
};

/* Rows of a table of options. @type_letter: short name of --type, 0: none */
#define FILTER_OPTIONS(x, type_letter)                                                               \
	{"from", 0,	    OPT_TIME,                                                                \
	 "T",	 &(x).from, "only from here: seconds, +T after the start, -T before the end"},       \
		{"to", 0, OPT_TIME, "T", &(x).to, "only up to here"},                                \
		{"pid", 'p', OPT_PID, "PID", &(x).pid, "only this process; live: end when it ends"}, \
		{"comm", 0, OPT_STR, "NAME", &(x).comm, "only threads, or processes, of this name"}, \
		{"ring", 'r', OPT_STR, "RING", &(x).ring, "only this ring, by its number or name"},  \
		READING_GPU_OPTION(&(x).gpu),                                                        \
	{                                                                                            \
		"type", type_letter, OPT_STR, "T[,T]", &(x).type_names,                              \
			"only events of these types (submit,complete)"                               \
	}

/**
 * filter_check - checks the options
 * @refused: FILTER_* that the command cannot apply, for the reason @why
 * Return: EXIT_DONE, or EXIT_USAGE after a message
 */
int filter_check(struct filter *x, unsigned int refused, const char *why);

/**
 * filter_session - sets the filter of a session, which must end before filter_free()
 * @live: the session reads live events of this machine
 * Return: exit status
 */
int filter_session(struct filter *x, struct grt_session *s, bool live);

/**
 * filter_found - after a trace was read: prints a message if --pid, --comm or --ring matched nothing in it
 * Return: EXIT_DONE or EXIT_FAILED
 */
int filter_found(const struct filter *x, const char *input);

/** filter_free - frees the filter's memory */
void filter_free(struct filter *x);

#endif /* GRTRACE_READING_H */
