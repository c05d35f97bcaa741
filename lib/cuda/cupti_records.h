/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The text that tools around CUPTI print of its activity records (NVIDIA's
 * samples, cupti_trace): API calls, kernels, copies, fills. A record takes one
 * line, and lines that begin with a blank report more of it. What the traced
 * program printed itself may stand between them.
 */
#ifndef GRT_CUDA_CUPTI_RECORDS_H
#define GRT_CUDA_CUPTI_RECORDS_H

#include <grtrace/grtrace.h>

#include "base/scan.h"

/** enum grt_cupti_kind - what a record reports */
enum grt_cupti_kind {
	GRT_CUPTI_CALL,
	GRT_CUPTI_KERNEL,
	GRT_CUPTI_COPY,
	GRT_CUPTI_SET,
	GRT_CUPTI_RANGE,   /* a range of the program's time, of JSON where they are wanted */
	GRT_CUPTI_PROCESS, /* the name of a process, the same */
	GRT_CUPTI_RANK,	   /* the number of a process in its job, of databases */
	GRT_CUPTI_SYNC,	   /* a wait for the GPU, the same */
	GRT_CUPTI_OP,	   /* an operator of a framework, of JSON where they are wanted */
	GRT_CUPTI_FRAME,   /* a call of a function of Python, the same */
	GRT_CUPTI_OTHER,
};

/**
 * struct grt_cupti_record - one record
 * @kind: enum grt_cupti_kind
 * @start, @end: ns, in whatever clock the tool had, less @base of the file
 * @correlation: joins work to its call; 0: unknown
 * @bytes: of a copy or fill; GRT_BYTES_UNKNOWN where its size is unknown
 * @tid: of a call, 0 where it is unknown; often no system thread id
 * @pid, @context, @registers, @shared, @grid, @block: 0: unknown; text has the pid of calls alone, and no
 *	@registers; of a database's pid the bits above 24 are the machine
 * @graph_node, @shared_dynamic, @ended_by (the thread that ended a range): not of JSON; 0: unknown
 * @code: of databases: the result of a call, CUPTI's number of the kind of copy or wait, a rank; 2: a range
 *that another thread may have ended
 * @external: of an operator its number, of a call that of the operator that it was made in; 0: unknown
 * @from_memory, @to_memory: of a copy or fill, CUPTI's numbers of kinds of memory; 0: unknown
 * @call: of a call, the function of CUDA that it is called after; of length 0: it is one of CUDA's.
 *	@spare_call: the same where that is none of CUDA's, too; NULL: the call is no launch then
 * @open: a range that had not ended; @end is not after @start
 * @name: of the call, the kernel, the kind of copy, the range or the process; not terminated
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
 * struct grt_cupti_count - what was met
 * @lines: all; @records: that were understood, with OTHER
 * @bad: lines that begin like a record and cannot be read; @first_bad: number of the first
 * @other: lines of no record
 * @base: ns to be added to all stamps; known when all was read
 * @ranked: JSON reports the process's @rank in its job, and of how many (@world, 0: unknown)
 * @cut: JSON that ends before its trace does; events count that are whole
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

/** grt_cupti_text_takes - whether a line is the first one of a record of a call or of work */
bool grt_cupti_text_takes(const char *line, const char *end);

/**
 * grt_cupti_text_read - hands out a file's records in its order
 * @record: a result other than 0 ends the reading
 * Return: 0, a negative errno, or what @record returned
 */
int grt_cupti_text_read(int fd, struct grt_cupti_count *count,
			int (*record)(void *arg, const struct grt_cupti_record *r), void *arg);

#endif /* GRT_CUDA_CUPTI_RECORDS_H */
