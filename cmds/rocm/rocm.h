/* SPDX-License-Identifier: GPL-2.0 */
/*
 * grtrace rocm, shared by its files: rocm.c has the command line, rocm_record.c
 * the recording, rocm_report.c the report, rocm_answers.c its last section, and
 * rocm_line.c the time line.
 */
#ifndef GRTRACE_ROCM_H
#define GRTRACE_ROCM_H

#include "rocm/rocm.h"
#include "cmds/cmd.h"
#include "lines/event_json.h"
#include "merge/merge.h"
#include "cmds/reading.h"

/**
 * struct rocm_options - the command line
 * @offset: NS, auto or NULL
 * @recorded: `record` requests the report, so an empty recording is no failure
 */
struct rocm_options {
	const char *output;
	const char *input;
	const char *amd_log;
	const char *ftrace;
	const char *functions;
	const char *container;
	const char *offset;
	const char *debugfs;
	const char *folded;
	struct opt_time from;
	struct opt_time to;
	uint64_t level;
	uint64_t buffer;
	bool capture_stderr;
	bool timeline;
	bool relative;
	bool json;
	bool verbose;
	bool wide;
	bool recorded;
};

struct rocm_folded;

/**
 * struct rocm_run - one report
 * @log, @kernel: what is in the inputs
 * @folded: NULL: not requested
 * @json: lines of the time line are JSON, NULL: text, or not requested
 * @fixed: the offset was given, @estimated: found; else the clocks are taken for one
 * @first: stamp of the first event, which is the zero of @relative
 */
struct rocm_run {
	const struct rocm_options *opt;
	struct grt_merge *merge;
	struct grt_rocm r;
	struct rocm_folded *folded;
	struct grt_event_json *json;
	struct grt_rocm_offset offset;
	bool fixed;
	bool estimated;
	bool log;
	bool kernel;
	uint64_t first;
	uint64_t last;
	FILE *out;
	char why[256];
};

/** rocm_record - `rocm record`. Return: an exit status */
int rocm_record(const struct rocm_options *opt, int argc, char **argv);

/** rocm_report - `rocm report`. Return: an exit status */
int rocm_report(const struct rocm_options *opt);

/** rocm_line - an event as a line of the time line: time, layer, what happened */
void rocm_line(const struct rocm_run *run, const struct grt_event *e);

/** rocm_folded_new - calls as folded stacks; NULL: no memory. rocm_folded_free - NULL is allowed */
struct rocm_folded *rocm_folded_new(void);
void rocm_folded_free(struct rocm_folded *f);

/** rocm_folded_event - processes an event of any type. Return: 0 or -ENOMEM */
int rocm_folded_event(struct rocm_folded *f, const struct grt_event *e);

/** rocm_folded_write - a line for each stack: frames and ns. Return: an exit status */
int rocm_folded_write(const struct rocm_folded *f, const char *path);

/** rocm_answers - writes fields: the answers of the trace to each question, in sentences made from counts */
void rocm_answers(const struct rocm_run *run, struct grt_writer *w);

/**
 * rocm_debugfs - writes the queue descriptors and hardware queue states from before and after; nothing if
 * there are none. @over: gets the number of those without room. Return: 0 or -ENOMEM
 */
int rocm_debugfs(const struct rocm_run *run, struct grt_writer *w, uint64_t *over);

extern const struct cmd_json rocm_json;
extern const struct grt_table rocm_debugfs_table;

#endif /* GRTRACE_ROCM_H */
