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

/* Threads or CPUs inside of functions, and functions that one is inside of. */
#define FTRACE_GRAPHS 64U
#define FTRACE_GRAPH_DEPTH 32U
/* CPUs whose thread is remembered. */
#define FTRACE_GRAPH_CPUS 256U

/** struct ftrace_graph - the functions that a thread (a CPU where no line tells the thread) is in, and since
 * when */
struct ftrace_graph {
	uint64_t key; /* 0: free */
	uint32_t depth;
	uint64_t since[FTRACE_GRAPH_DEPTH];
	char name[FTRACE_GRAPH_DEPTH][sizeof(((struct grt_ev_func *)0)->function)];
};

/**
 * struct ftrace_graphs - what is known from the lines before
 * @graph: by a hash of their key
 * @tid: the thread that runs on each CPU, 0: unknown
 * @now: where lines without a stamp are put
 * @stamped: some line has one
 */
struct ftrace_graphs {
	struct ftrace_graph graph[FTRACE_GRAPHS];
	uint32_t tid[FTRACE_GRAPH_CPUS];
	uint64_t now;
	bool stamped;
};

/** ftrace_func_called - the present line: "name <-caller". Return: it is */
bool ftrace_func_called(struct ftrace *f);

/** ftrace_func_probe - the present line: "event: (name+0x0/0x10) fields", or "(x <- name)". Return: it is */
bool ftrace_func_probe(struct ftrace *f);

/** ftrace_func_is_event - whether an event that has no row is reported generically: those of KFD and amdgpu
 */
bool ftrace_func_is_event(struct grt_span name);

/** ftrace_func_event - the present line, generically */
void ftrace_func_event(struct ftrace *f);

/** ftrace_func_graph - handler of funcgraph_entry (0) and funcgraph_exit (1), as trace-cmd prints them */
enum grt_text_line ftrace_func_graph(struct ftrace *f, unsigned int leaves);

/** ftrace_func_graph_line - a line of the function_graph tracer: "[TIME |] CPU) [THREAD |] DURATION | name()
 * {". Return: it is one */
bool ftrace_func_graph_line(struct ftrace *f, const char *line, const char *end);

/** ftrace_func_graph_time - only its stamp. Return: it is such a line with a stamp */
bool ftrace_func_graph_time(const char *line, const char *end, uint64_t *ns);

/** ftrace_func_is_graph - whether a line is certainly one of these */
bool ftrace_func_is_graph(const char *line, const char *end);

#endif /* GRT_TEXT_FTRACE_FUNC_H */
