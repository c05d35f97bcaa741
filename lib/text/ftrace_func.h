/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Functions in ftrace text: the lines of the function and the function_graph
 * tracer, hits of probes, and events of KFD and amdgpu that are not part of a
 * job. All become FUNC events.
 */
#ifndef GRT_TEXT_FTRACE_FUNC_H
#define GRT_TEXT_FTRACE_FUNC_H

#include "base/scan.h"
#include "text_input.h"

struct ftrace;

/* Places for threads or CPUs that are in functions, and nested functions whose names are kept for each. */
#define FTRACE_GRAPHS 64U
#define FTRACE_GRAPH_DEPTH 32U
/* CPUs whose thread is remembered. */
#define FTRACE_GRAPH_CPUS 256U

/**
 * struct ftrace_graph - the nested functions in which a thread is, or a CPU if lines do not name the thread
 * @depth: number of functions; those beyond FTRACE_GRAPH_DEPTH are counted and have no name
 * @since: when each was entered, ns
 */
struct ftrace_graph {
	uint64_t key; /* 0: the place is free */
	uint32_t depth;
	uint64_t since[FTRACE_GRAPH_DEPTH];
	char name[FTRACE_GRAPH_DEPTH][sizeof(((struct grt_ev_func *)0)->function)];
};

/**
 * struct ftrace_graphs - state of the function_graph tracer, from the lines so far
 * @graph: by a hash of the key
 * @tid: the thread that runs on each CPU, 0: unknown
 * @now: the time of lines without a time stamp, ns
 * @stamped: a line with a time stamp was seen
 */
struct ftrace_graphs {
	struct ftrace_graph graph[FTRACE_GRAPHS];
	uint32_t tid[FTRACE_GRAPH_CPUS];
	uint64_t now;
	bool stamped;
};

/** ftrace_func_called - puts the current line if it is "name <-caller". Return: whether it is */
bool ftrace_func_called(struct ftrace *f);

/**
 * ftrace_func_probe - puts the current line if it is a hit of a probe: "event: (name+0x0/0x10) fields" of a
 * kprobe, or "event: (x <- name) fields" of a kretprobe. Return: whether it is
 */
bool ftrace_func_probe(struct ftrace *f);

/**
 * ftrace_func_is_event - Return: whether an event without a row becomes a FUNC event: those of KFD and amdgpu
 */
bool ftrace_func_is_event(struct grt_span name);

/** ftrace_func_event - puts the current line, an event without a row, as a FUNC event */
void ftrace_func_event(struct ftrace *f);

/**
 * ftrace_func_graph - handles funcgraph_entry (@leaves 0) and funcgraph_exit (1), as trace-cmd prints them
 */
enum grt_text_line ftrace_func_graph(struct ftrace *f, unsigned int leaves);

/**
 * ftrace_func_graph_line - puts a line of the function_graph tracer: "[TIME |] CPU) [THREAD |] DURATION |
 * name() {". Return: whether it is one
 */
bool ftrace_func_graph_line(struct ftrace *f, const char *line, const char *end);

/** ftrace_func_graph_time - reads the time stamp of such a line, in ns. Return: whether it has one */
bool ftrace_func_graph_time(const char *line, const char *end, uint64_t *ns);

/** ftrace_func_is_graph - Return: whether a line is certainly of the function_graph tracer */
bool ftrace_func_is_graph(const char *line, const char *end);

#endif /* GRT_TEXT_FTRACE_FUNC_H */
