/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a thread was in when it called CUDA, of files that have the times of operators, functions and ranges:
 * each is inside of what contains it on its thread, where the file's own number of the operator of a call
 * says nothing else. Functions and ranges need not be nested in each other.
 *
 * Memory is 80 bytes for each of them and for each call, at most GRT_CUDA_SPANS_MAX.
 */
#ifndef GRT_TEXT_CUDA_SPANS_H
#define GRT_TEXT_CUDA_SPANS_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "base/containers.h"

#define GRT_CUDA_SPANS_MAX (1U << 23)

/** enum grt_cuda_span_kind - kinds of spans */
enum grt_cuda_span_kind {
	GRT_CUDA_SPAN_OP,
	GRT_CUDA_SPAN_FRAME,
	GRT_CUDA_SPAN_RANGE,
	GRT_CUDA_SPAN_CALL,
};

/**
 * struct grt_cuda_span - a part of a thread's time
 * @external: number of an operator, of a call that of its operator; 0: none
 * @number: of a call its correlation, of a range the thread that ended it
 * @pid: the process in the file
 * @text: its name
 * @inside: the function or operator that it is in; @range: the innermost range, plus 1; 0: none
 * @ranges: number of ranges around it
 * @op: the operator that it is or is in, plus 1; 0: none
 * @order: its place in the file
 * @node: for the owner: what stands for it, 0: nothing yet
 * @code, @result: of a call
 * @open: a range that has no end
 */
struct grt_cuda_span {
	uint64_t start;
	uint64_t end;
	uint64_t tid;
	uint64_t external;
	uint64_t number;
	uint64_t pid;
	uint32_t text;
	uint32_t inside;
	uint32_t range;
	uint32_t ranges;
	uint32_t op;
	uint32_t order;
	uint32_t node;
	int32_t result;
	uint16_t code;
	uint8_t kind;
	bool open;
};

/** struct grt_cuda_spans - all zero at first; @over: spans beyond the limit */
struct grt_cuda_spans {
	struct grt_cuda_span *span;
	uint32_t used;
	uint32_t room;
	uint64_t over;
};

/** grt_cuda_spans_add - adds a span. Return: 1, 0: there is no room, or -ENOMEM */
int grt_cuda_spans_add(struct grt_cuda_spans *s, const struct grt_cuda_span *one);

/** grt_cuda_spans_nest - all are known: brings them into the order of threads and time, and finds what each
 * is inside of. Return: 0 or -ENOMEM */
int grt_cuda_spans_nest(struct grt_cuda_spans *s);

/** grt_cuda_spans_free - frees and empties it */
void grt_cuda_spans_free(struct grt_cuda_spans *s);

#endif /* GRT_TEXT_CUDA_SPANS_H */
