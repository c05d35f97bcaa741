/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The part of a line before the fields of an event, in every layout in which ftrace,
 * trace-cmd and perf script print it:
 *
 *	comm-tid [(tgid)] [cpu] [flags] time: event: fields	trace, trace_pipe, trace-cmd report
 *	comm-tid cpuflags time: event: fields			latency format, trace-cmd report -l
 *	comm [pid/]tid [cpu] time: [period] group:event: fields	perf script
 *
 * time is seconds with a fraction, an integer where a counter was the clock, or
 * in the latency format microseconds ("12us :").
 */
#ifndef GRT_TEXT_FTRACE_LINE_H
#define GRT_TEXT_FTRACE_LINE_H

#include "base/scan.h"

/** enum ftrace_what - kinds of lines */
enum ftrace_what {
	FTRACE_EVENT,
	FTRACE_RAW,	 /* an event whose fields are printed by their names in the record */
	FTRACE_FUNCTION, /* a function was called, by one of the function tracers */
};

/* Threads that are remembered as lines have them. */
#define FTRACE_THREADS 64U
#define FTRACE_THREAD_TEXT 48U

/**
 * struct ftrace_thread - what stood before a CPU in brackets, and what it means
 * @text, @len: all of it, with blanks; 0: none
 * @comm, @comm_len: part of it
 */
struct ftrace_thread {
	char text[FTRACE_THREAD_TEXT];
	uint8_t len;
	uint8_t comm;
	uint8_t comm_len;
	bool of_perf;
	uint32_t tid;
	uint32_t tgid;
};

/**
 * struct ftrace_line - a line in its parts
 * @comm: without the blanks around it
 * @tgid: 0: the line does not have it
 * @time: ns
 * @event: its name, without group and modifiers
 * @fields, @end: begin and end of the fields, which follow the name
 * @of_perf: the thread follows a blank, as perf has it
 * @column: where the CPU was in the line before; 0 for the first one. The same is tried first
 * @threads: those remembered, FTRACE_THREADS of them; NULL: none are
 */
struct ftrace_line {
	struct grt_span comm;
	uint32_t tid;
	uint32_t tgid;
	uint32_t cpu;
	uint64_t time;
	struct grt_span event;
	const char *fields;
	const char *end;
	enum ftrace_what what;
	bool of_perf;
	size_t column;
	struct ftrace_thread *threads;
};

/** ftrace_line_parse - divides a line of struct grt_lines into its parts. Return: whether it has one of these
 * layouts */
bool ftrace_line_parse(struct ftrace_line *l, const char *line, const char *end);

/** ftrace_line_time - only its stamp; @column as above. Return: it is one of these, as far as is possible
 * from that */
bool ftrace_line_time(const char *line, const char *end, uint64_t *ns, size_t *column);

#endif /* GRT_TEXT_FTRACE_LINE_H */
