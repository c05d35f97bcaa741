/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Parses the part of a line before the fields of an event, in every layout in which ftrace, trace-cmd and
 * perf script print it:
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

/* Threads whose text is remembered, so that it is parsed once, and the longest such text. */
#define FTRACE_THREADS 64U
#define FTRACE_THREAD_TEXT 48U

/**
 * struct ftrace_thread - the text of a line before its CPU in brackets, and the thread that it names
 * @text, @len: the text with its blanks; @len 0: the place is free
 * @comm, @comm_len: where in @text the thread's name is
 * @of_perf: see struct ftrace_line
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
 * struct ftrace_line - the parts of a line
 * @comm: name of the thread, without the blanks around it
 * @tgid: 0: the line does not have it
 * @time: ns
 * @event: its name, without group and modifiers
 * @fields, @end: begin and end of the fields, which follow the name
 * @of_perf: a blank separates the thread's name and number, as perf script prints them, not a hyphen
 * @column: the column of the CPU in the previous line, which is tried first; 0 before the first line
 * @threads: memory for FTRACE_THREADS threads; NULL: threads are not remembered
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

/**
 * ftrace_line_parse - divides a line of struct grt_lines into its parts; they point into the line
 * Return: whether it has one of these layouts
 */
bool ftrace_line_parse(struct ftrace_line *l, const char *line, const char *end);

/**
 * ftrace_line_time - reads only the time stamp of a line
 * @column: as in struct ftrace_line; may be changed
 * Return: whether the part of the line that was read has one of these layouts
 */
bool ftrace_line_time(const char *line, const char *end, uint64_t *ns, size_t *column);

#endif /* GRT_TEXT_FTRACE_LINE_H */
