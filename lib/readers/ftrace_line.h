/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What stands before the fields of an event, in every layout in which ftrace,
 * trace-cmd and perf script print it:
 *
 *	comm-tid [(tgid)] [cpu] [flags] time: event: fields	trace, trace_pipe, trace-cmd report
 *	comm-tid cpuflags time: event: fields			latency format, trace-cmd report -l
 *	comm [pid/]tid [cpu] time: [period] group:event: fields	perf script
 *
 * time is seconds with a fraction, an integer where a counter was the clock, or
 * in the latency format microseconds ("12us :").
 */
#ifndef GRT_READERS_FTRACE_LINE_H
#define GRT_READERS_FTRACE_LINE_H

#include "scan.h"

/** enum ftrace_what - what the line tells of */
enum ftrace_what {
	FTRACE_EVENT,
	FTRACE_RAW,	 /* an event whose fields are printed by their names in the record */
	FTRACE_FUNCTION, /* a function was called, by one of the function tracers */
};

/**
 * struct ftrace_line - a line in its parts
 * @comm: without the blanks around it
 * @tgid: 0 where the line does not say
 * @time: ns
 * @event: its name, without group and modifiers
 * @fields, @end: what follows it
 * @of_perf: the thread stands behind a blank, as perf has it
 * @column: where the CPU was in the line before; 0 for the first one. The same is tried first
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
};

/** ftrace_line_parse - takes a line apart. Return: it is one of these */
bool ftrace_line_parse(struct ftrace_line *l, const char *line, const char *end);

/** ftrace_line_time - only its stamp. Return: it is one of these, as far as can be told from that */
bool ftrace_line_time(const char *line, const char *end, uint64_t *ns);

#endif /* GRT_READERS_FTRACE_LINE_H */
