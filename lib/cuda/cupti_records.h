/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The text form of CUPTI's activity records as printed by tools (NVIDIA's
 * samples, cupti_trace): API calls, kernels, copies, fills. A record takes one
 * line, followed by lines that begin with a blank and have more fields. Output of the traced
 * program may be in between.
 */
#ifndef GRT_CUDA_CUPTI_RECORDS_H
#define GRT_CUDA_CUPTI_RECORDS_H

#include <grtrace/grtrace.h>

#include "base/scan.h"

/** enum grt_cupti_kind - kinds of records */
enum grt_cupti_kind {
	GRT_CUPTI_CALL,
	GRT_CUPTI_KERNEL,
	GRT_CUPTI_COPY,
	GRT_CUPTI_SET,
	GRT_CUPTI_RANGE,   /* a range of the program's time; from JSON, if requested */
	GRT_CUPTI_PROCESS, /* the name of a process; from JSON, if requested */
	GRT_CUPTI_RANK,	   /* the number of a process in its job; from databases */
	GRT_CUPTI_SYNC,	   /* a wait for the GPU; from databases */
	GRT_CUPTI_OP,	   /* an operator of a framework; from JSON, if requested */
	GRT_CUPTI_OS_CALL, /* a call of the C library; from databases */
	GRT_CUPTI_FRAME,   /* a call of a Python function; from JSON, if requested */
	GRT_CUPTI_OTHER,
};

/**
 * struct grt_cupti_record - one record
 * @kind: enum grt_cupti_kind
 * @start, @end: ns, in the tool's clock, minus @base of the file
 * @correlation: joins work to its call; 0: unknown
 * @bytes: size of a copy or fill; GRT_BYTES_UNKNOWN if unknown
 * @tid: thread of a call, 0 if unknown; often not a thread id of the system
 * @pid, @context, @registers, @shared, @grid, @block: 0: unknown; text has the pid only for calls, and no
 *	@registers; in a pid from a database, the bits above 24 are the machine
 * @graph_node, @shared_dynamic, @ended_by (the thread that ended a range): not in JSON; 0: unknown
 * @code: from databases: the result of a call, CUPTI's number of the kind of copy or wait, a rank; 2: a range
 *	that another thread may have ended
 * @event_class: of a call from a database of Nsight Systems: what its row is of; 0: a call of CUDA's runtime
 * @external: number of an operator; for a call, the number of the operator that made it; 0: unknown
 * @from_memory, @to_memory: of a copy or fill, CUPTI's numbers of kinds of memory; 0: unknown
 * @call: for a call, the CUDA function with its name; length 0: it is itself a CUDA function.
 *	@spare_call: used instead if @call is not a CUDA function either; NULL: the call is then not a launch
 * @open: a range that had not ended; @end is not after @start
 * @name: name of the call, the kernel, the kind of copy, the range or the process; not terminated
 */
struct grt_cupti_record {
	unsigned int kind;
	uint64_t start;
	uint64_t end;
	uint64_t correlation;
	uint64_t tid;
	uint64_t bytes;
	uint64_t device;
	uint64_t stream;
	uint64_t graph;
	uint64_t pid;
	uint64_t context;
	uint64_t registers;
	uint64_t shared;
	uint64_t shared_dynamic;
	uint64_t graph_node;
	uint64_t ended_by;
	uint64_t code;
	uint64_t event_class;
	uint64_t external;
	uint64_t from_memory;
	uint64_t to_memory;
	bool open;
	uint64_t grid[3];
	uint64_t block[3];
	struct grt_span name;
	struct grt_span call;
	const char *spare_call;
};

/**
 * struct grt_cupti_count - counts of a file
 * @lines: all lines; @records: understood records, including OTHER
 * @bad: lines that begin like a record and cannot be parsed; @first_bad: number of the first one
 * @other: lines of no record
 * @base: ns to add to all time stamps; known at the end
 * @ranked: JSON has the process's @rank in its job, and the number of ranks (@world, 0: unknown)
 * @cut: the JSON is cut; complete events count
 */
struct grt_cupti_count {
	uint64_t lines;
	uint64_t records;
	uint64_t bad;
	uint64_t first_bad;
	uint64_t other;
	uint64_t base;
	uint64_t rank;
	uint64_t world;
	bool ranked;
	bool cut;
};

/** grt_cupti_text_takes - whether a line is the first line of a record of a call or of GPU work */
bool grt_cupti_text_takes(const char *line, const char *end);

/**
 * grt_cupti_text_read - passes on the records of a file, in the order of the file
 * @record: a result other than 0 ends the reading
 * Return: 0, a negative errno, or the result of @record
 */
int grt_cupti_text_read(int fd, struct grt_cupti_count *count,
			int (*record)(void *arg, const struct grt_cupti_record *r), void *arg);

#endif /* GRT_CUDA_CUPTI_RECORDS_H */
