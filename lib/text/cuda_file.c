// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Converts CUDA's records of other tools to events, see cuda_file.h. */
#include "cuda_file.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/say.h"
#include "codes/cuda_codes.h"
#include "cuda_spans.h"
#include "text_order.h"

#define TEXTS_MAX (1U << 24)
#define IMAGES_MAX (1U << 16)
/* Functions of cuda_calls.def and hip_calls.def, and their numbers. */
#define CALLS_MAX 1024U
#define CALLS_BELOW 2048U
/* No function of CUDA has a name with more bytes. */
#define CALL_NAME_MAX 64U
/* Most frames of a stack, and most ranges of a chain: the inner ones. */
#define FRAMES_MAX 1024U
/* Most bytes of the text of a frame; longer texts are truncated. */
#define FRAME_ROOM 1024U
/* The rest of a record's pid is the machine. */
#define PID_MASK 0xffffffU

/**
 * struct cuda_image - a process
 * @number: its image; 0: none of its calls or work is in the file
 * @name: text
 * @rank: of the process in its job, where it is @ranked; @world: of how many, 0: unknown
 * @strings, @nodes, @chains: STRING, NODE and RANGE_NODE records that were put
 * @launches, @works, @ranges: records that were put
 */
struct cuda_image {
	uint32_t number;
	uint32_t pid;
	uint32_t name;
	uint32_t rank;
	uint32_t world;
	bool ranked;
	uint32_t strings;
	uint32_t nodes;
	uint32_t chains;
	uint64_t launches;
	uint64_t works;
	uint64_t ranges;
};

/**
 * struct cuda_file - an input
 * @order: sorts its records
 * @texts: names
 * @calls: names of functions; @call: by number of a name, the number of the function
 * @images: by pid; @numbered: those that have a number; @sole: the only one of these
 * @strings: by number of image and text, the number of its STRING in that image
 * @nodes: by number of image, of the frame around it, and text and kind of a span, the number of its NODE or
 *	RANGE_NODE in that image
 * @spans: calls and what may be around them
 * @first, @last: time of the first and last record, ns
 * @one_process: as in @kind, until calls of several processes are found
 * @pids: bits of enum cuda_file_pid, by the pid of calls and GPU work; only if @one_process
 * @pid: the only process; @named: the process in @images has its name
 * @nameless: there are records without a pid
 * @filled: @order has all records; @code: a negative errno that ends the run
 */
struct cuda_file {
	const struct grt_cuda_file_kind *kind;
	void *reader;
	char *label;
	struct grt_order order;
	struct grt_texts texts;
	struct grt_texts calls;
	uint16_t call[CALLS_MAX];
	struct grt_keyed images;
	uint32_t numbered;
	struct cuda_image *sole;
	struct grt_keyed strings;
	struct grt_keyed nodes;
	struct grt_cuda_spans spans;
	struct grt_cupti_count count;
	uint64_t first;
	uint64_t last;
	bool one_process;
	struct grt_keyed pids;
	uint64_t pid;
	bool called;
	bool named;
	bool nameless;
	bool filled;
	int code;
	struct grt_err err;
	struct grt_health *health;
};

/** enum cuda_file_pid - the kinds of records that have a pid */
enum cuda_file_pid {
	CUDA_FILE_CALLS = 1,
	CUDA_FILE_WORK = 2,
};

/* ----------------------------------------------------------------- images */

/* NULL with @f->code set: no memory, or more processes than a machine has */
static struct cuda_image *cuda_file_image(struct cuda_file *f, uint64_t pid)
{
	const struct grt_key key = {{f->one_process ? 0 : pid}};
	void *at = NULL;
	struct cuda_image *i;
	int ret = grt_keyed_get(&f->images, &key, &at);

	if (ret) {
		f->code = ret;
		return NULL;
	}
	i = at;
	i->pid = (uint32_t)pid & PID_MASK;
	return i;
}

/* The process has calls, work or ranges. */
static void cuda_file_number(struct cuda_file *f, uint64_t pid)
{
	struct cuda_image *i;

	f->nameless |= !pid;
	i = pid || f->one_process ? cuda_file_image(f, pid) : NULL;
	if (i && !i->number)
		i->number = ++f->numbered;
}

/* Return: the image of a record; a record without a pid belongs to the only process. */
static struct cuda_image *cuda_file_image_of(struct cuda_file *f, uint64_t pid)
{
	return f->sole ? f->sole : cuda_file_image(f, pid);
}

/* ---------------------------------------------------------------- records */

static int cuda_file_put(struct cuda_file *f, const struct cuda_image *i, struct grt_event *e)
{
	e->size = grt_record_size[e->type];
	e->ring = GRT_RING_NONE;
	e->ctx = i->number;
	e->pid = i->pid;
	if (!e->tid)
		e->tid = i->pid;
	f->health->balance.emitted++;
	f->health->balance.fate[GRT_FATE_DELIVERED]++;
	return grt_order_put(&f->order, e, 0);
}

static uint32_t cuda_file_text(struct cuda_file *f, struct grt_span name)
{
	uint32_t number = 0;

	if (name.len && grt_texts_add(&f->texts, name.at, name.len, &number))
		f->code = -ENOMEM;
	return number;
}

/* Puts a text, in as many parts as it needs. */
static int cuda_file_put_string(struct cuda_file *f, struct cuda_image *i, uint32_t text, uint32_t number)
{
	const char *at = grt_texts_get(&f->texts, text);
	uint32_t length = grt_texts_length(&f->texts, text), offset = 0;
	int ret = 0;

	while (!ret && offset < length) {
		struct grt_ev_string ev = {
			.e = {.type = GRT_EV_STRING, .time = f->first},
			.number = number,
			.length = length,
			.offset = offset,
		};

		ev.part = length - offset < sizeof(ev.text) ? length - offset : sizeof(ev.text);
		memcpy(ev.text, at + offset, ev.part);
		offset += ev.part;
		ret = cuda_file_put(f, i, &ev.e);
	}
	return ret;
}

/* The number of a text in a process, in which it is defined before it is used. */
static uint32_t cuda_file_string(struct cuda_file *f, struct cuda_image *i, uint32_t text)
{
	const struct grt_key key = {{i->number, text}};
	void *at = NULL;
	uint32_t *number;

	if (!text)
		return 0;
	f->code = f->code ?: grt_keyed_get(&f->strings, &key, &at);
	number = at;
	if (!number)
		return 0;
	if (!*number) {
		*number = ++i->strings;
		f->code = f->code ?: cuda_file_put_string(f, i, text, *number);
	}
	return *number;
}

static uint32_t cuda_file_name(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	return cuda_file_string(f, i, cuda_file_text(f, r->name));
}

/* @what: 1 begins the image, 3 ends it with the number of its records. */
static int cuda_file_put_process(struct cuda_file *f, struct cuda_image *i, uint32_t what, uint64_t time)
{
	struct grt_ev_process ev = {
		.e = {.type = GRT_EV_PROCESS, .time = time},
		.what = what,
		.text = what == 1 ? cuda_file_string(f, i, i->name) : 0,
		.age = UINT32_MAX,
		.launches = i->launches,
		.gpu_records = i->works,
		.ranges = i->ranges,
	};

	return f->code ?: cuda_file_put(f, i, &ev.e);
}

static int cuda_file_put_rank(struct cuda_file *f, struct cuda_image *i)
{
	struct grt_ev_rank ev = {
		.e = {.type = GRT_EV_RANK, .time = f->first},
		.rank = i->rank,
		.local_rank = UINT32_MAX,
		.world = i->world ? i->world : UINT32_MAX,
	};

	return i->ranked ? cuda_file_put(f, i, &ev.e) : 0;
}

/* The functions that launch something or wait for it, by name. Return: 0 or -ENOMEM */
static int cuda_file_know_calls(struct cuda_file *f)
{
	static const uint32_t of[] = {0, GRT_CUDA_DRIVER, GRT_HIP_CALL};
	const struct grt_cuda_call *call;
	uint32_t number;
	int ret = 0;

	grt_texts_init(&f->calls, CALLS_MAX);
	for (uint32_t n = 1; n < CALLS_BELOW && !ret; n++)
		for (size_t i = 0; i < sizeof(of) / sizeof(of[0]) && !ret; i++) {
			call = grt_cuda_call(n | of[i]);
			if (!call)
				continue;
			ret = grt_texts_add(&f->calls, call->name, strlen(call->name), &number);
			if (!ret && number < CALLS_MAX && !f->call[number])
				f->call[number] = (uint16_t)(n | of[i]);
		}
	/* only these get a number */
	f->calls.max = f->calls.used - 1;
	return ret;
}

/* 0: it launches nothing and waits for nothing */
static uint16_t cuda_file_call(struct cuda_file *f, struct grt_span name)
{
	uint32_t number = GRT_TEXT_NONE;

	if (name.len && name.len < CALL_NAME_MAX && grt_texts_add(&f->calls, name.at, name.len, &number))
		f->code = -ENOMEM;
	return number < CALLS_MAX ? f->call[number] : 0;
}

/* Return: the function of a record, or the one that is used in its place. */
static uint16_t cuda_file_call_of(struct cuda_file *f, const struct grt_cupti_record *r)
{
	uint16_t call = cuda_file_call(f, r->call.len ? r->call : r->name);

	if (!call && r->spare_call)
		call = cuda_file_call(f, (struct grt_span){r->spare_call, strlen(r->spare_call)});
	return call;
}

/*
 * Stores a part of a thread's time, which is put when all parts are known. Return: 1, 0: it is not stored,
 * or -ENOMEM
 */
static int cuda_file_keep(struct cuda_file *f, const struct grt_cupti_record *r, uint8_t kind)
{
	struct grt_cuda_span one = {
		.start = r->start,
		.end = r->end,
		.tid = r->tid,
		.pid = r->pid,
		.external = r->external,
		.text = cuda_file_text(f, r->name),
		.kind = kind,
		.open = r->open,
	};

	if (kind == GRT_CUDA_SPAN_CALL) {
		one.code = cuda_file_call_of(f, r);
		one.number = r->correlation;
		one.result = (int32_t)r->code;
	} else if (kind == GRT_CUDA_SPAN_RANGE) {
		one.code = r->code == 2 ? 2 : 1;
		one.number = r->ended_by ?: r->tid;
	}
	return f->kind->nests ? grt_cuda_spans_add(&f->spans, &one) : 0;
}

static int cuda_file_put_launch(struct cuda_file *f, struct cuda_image *i, const struct grt_cuda_span *x,
				uint32_t node, const struct grt_cuda_span *range)
{
	struct grt_ev_launch ev = {
		.e = {.type = GRT_EV_LAUNCH, .time = x->end, .tid = (uint32_t)x->tid},
		.begin = x->start,
		.correlation = x->number,
		.node = node,
		.stack = node ? 1 : 0,
		.call = x->code,
		.result = x->result,
		.range = range ? range->node : 0,
		.ranges = x->ranges,
	};

	return cuda_file_put(f, i, &ev.e);
}

static int cuda_file_put_call(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	int ret;

	if (!cuda_file_call_of(f, r))
		return 0;
	i->launches++;
	ret = cuda_file_keep(f, r, GRT_CUDA_SPAN_CALL);
	/* a record without a number is in none of the others */
	if (!ret)
		ret = cuda_file_put_launch(f, i,
					   &(struct grt_cuda_span){.start = r->start,
								   .end = r->end,
								   .tid = r->tid,
								   .number = r->correlation,
								   .code = cuda_file_call_of(f, r),
								   .result = (int32_t)r->code},
					   0, NULL);
	return ret < 0 ? ret : 0;
}

static int cuda_file_put_op(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	int ret = cuda_file_keep(f, r, GRT_CUDA_SPAN_OP);

	return ret < 0 ? ret : 0;
}

static int cuda_file_put_frame(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	int ret = cuda_file_keep(f, r, GRT_CUDA_SPAN_FRAME);

	return ret < 0 ? ret : 0;
}

static int cuda_file_put_kernel(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	struct grt_ev_gpu_kernel ev = {
		.e = {.type = GRT_EV_GPU_KERNEL, .time = r->end},
		.start = r->start,
		.end = r->end,
		.correlation = r->correlation,
		.graph_node = r->graph_node,
		.name = cuda_file_name(f, i, r),
		.gpu = grt_u32(r->device),
		.context = grt_u32(r->context),
		.cuda_stream = grt_u32(r->stream),
		.graph = grt_u32(r->graph),
		.grid_x = grt_u32(r->grid[0]),
		.grid_y = grt_u32(r->grid[1]),
		.grid_z = grt_u32(r->grid[2]),
		.block_x = grt_u32(r->block[0]),
		.block_y = grt_u32(r->block[1]),
		.block_z = grt_u32(r->block[2]),
		.registers = grt_u32(r->registers),
		.shared_static = grt_u32(r->shared),
		.shared_dynamic = grt_u32(r->shared_dynamic),
	};

	i->works++;
	return cuda_file_put(f, i, &ev.e);
}

/* Kinds have the numbers of grt_cuda_copy_name(). */
static uint32_t cuda_file_direction(const struct grt_cupti_record *r)
{
	if (r->kind == GRT_CUPTI_SET)
		return GRT_CUDA_SET;
	for (uint32_t kind = 1; kind <= 10; kind++)
		if (r->code == kind || grt_span_is(r->name, grt_cuda_copy_name(kind)))
			return kind;
	return 0;
}

static int cuda_file_put_copy(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	struct grt_ev_gpu_copy ev = {
		.e = {.type = GRT_EV_GPU_COPY, .time = r->end},
		.start = r->start,
		.end = r->end,
		.correlation = r->correlation,
		.graph_node = r->graph_node,
		.bytes = r->bytes,
		.kind = cuda_file_direction(r),
		.from_memory = (uint16_t)r->from_memory,
		.to_memory = (uint16_t)r->to_memory,
		.gpu = grt_u32(r->device),
		.context = grt_u32(r->context),
		.cuda_stream = grt_u32(r->stream),
		.graph = grt_u32(r->graph),
	};

	i->works++;
	return cuda_file_put(f, i, &ev.e);
}

static int cuda_file_put_sync(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	struct grt_ev_gpu_sync ev = {
		.e = {.type = GRT_EV_GPU_SYNC, .time = r->end},
		.start = r->start,
		.end = r->end,
		.correlation = r->correlation,
		.kind = grt_u32(r->code),
		.context = grt_u32(r->context),
		.cuda_stream = grt_u32(r->stream),
		.event_id = UINT32_MAX,
	};

	i->works++;
	return cuda_file_put(f, i, &ev.e);
}

static int cuda_file_put_range_event(struct cuda_file *f, struct cuda_image *i, const struct grt_cuda_span *x)
{
	struct grt_ev_range ev = {
		.e = {.type = GRT_EV_RANGE, .time = x->open ? f->last : x->end, .tid = (uint32_t)x->tid},
		.begin = x->start,
		.end = x->open ? 0 : x->end,
		.node = x->node,
		.name = cuda_file_string(f, i, x->text),
		.kind = x->code,
		.ended_by = (uint32_t)x->number,
		.depth = x->ranges,
	};

	return f->code ?: cuda_file_put(f, i, &ev.e);
}

/* A range that another thread may end is in no chain. */
static int cuda_file_put_range(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	static const char step[] = "Optimizer.step#";
	struct grt_cuda_span alone = {
		.start = r->start,
		.end = r->end,
		.tid = r->tid,
		.text = cuda_file_text(f, r->name),
		.code = r->code == 2 ? 2 : 1,
		.number = r->ended_by ?: r->tid,
		.open = r->open,
	};
	int ret = 0;

	i->ranges++;
	/* PyTorch has it as a range, which it is, and in its table of operators */
	if (r->name.len > sizeof(step) - 1 && !memcmp(r->name.at, step, sizeof(step) - 1))
		ret = cuda_file_keep(f, r, GRT_CUDA_SPAN_OP);
	if (ret >= 0)
		ret = alone.code == 2 || r->open ? 0 : cuda_file_keep(f, r, GRT_CUDA_SPAN_RANGE);
	return ret < 0 ? ret : ret ? 0 : cuda_file_put_range_event(f, i, &alone);
}

/* Its process may have no call of CUDA, and so be none of the images. */
static int cuda_file_put_os_call(struct cuda_file *f, const struct grt_cupti_record *r)
{
	const struct cuda_image none = {.pid = (uint32_t)r->pid & PID_MASK};
	struct grt_ev_os_call ev = {
		.e = {.type = GRT_EV_OS_CALL, .time = r->end, .tid = (uint32_t)r->tid},
		.begin = r->start,
	};

	memcpy(ev.name, r->name.at, r->name.len < sizeof(ev.name) ? r->name.len : sizeof(ev.name));
	return cuda_file_put(f, &none, &ev.e);
}

/* ----------------------------------------------------------------- stacks */

/* "torch/nn/modules/linear.py(113): forward". Return: false: the name has no file */
static bool cuda_file_split(struct grt_span name, struct grt_span *file, struct grt_span *function,
			    uint32_t *line)
{
	const char *colon = name.len ? memmem(name.at, name.len, "): ", 3) : NULL, *p = colon;
	uint64_t number;

	while (p && p > name.at && grt_is_digit(p[-1]))
		p--;
	if (!p || p == colon || p < name.at + 2 || p[-1] != '(')
		return false;
	*file = (struct grt_span){name.at, (size_t)(p - 1 - name.at)};
	if (!grt_scan_number(&p, colon, &number) || number > UINT32_MAX)
		return false;
	*function = (struct grt_span){colon + 3, (size_t)(name.at + name.len - colon - 3)};
	*line = (uint32_t)number;
	return true;
}

/* Puts a frame: functions with their place, others with their kind in brackets. */
static int cuda_file_put_node(struct cuda_file *f, struct cuda_image *i, const struct grt_cuda_span *x,
			      uint32_t number, uint32_t caller)
{
	static const char module[] = "nn.Module: ";
	struct grt_ev_node ev = {
		.e = {.type = GRT_EV_NODE, .time = f->first}, .node = number, .caller = caller};
	struct grt_span name = {grt_texts_get(&f->texts, x->text), grt_texts_length(&f->texts, x->text)};
	struct grt_span file = {NULL, 0}, function = name;
	bool is_module = x->kind == GRT_CUDA_SPAN_FRAME && name.len > sizeof(module) - 1 &&
			 !memcmp(name.at, module, sizeof(module) - 1);
	char text[FRAME_ROOM];
	int n;

	if (x->kind == GRT_CUDA_SPAN_OP || is_module) {
		n = snprintf(text, sizeof(text), "[%s] %.*s", is_module ? "module" : "op",
			     (int)(name.len < FRAME_ROOM ? name.len : FRAME_ROOM) -
				     (is_module ? (int)sizeof(module) - 1 : 0),
			     name.at + (is_module ? sizeof(module) - 1 : 0));
		function = (struct grt_span){text, n < (int)sizeof(text) ? (size_t)n : sizeof(text) - 1};
	} else {
		cuda_file_split(name, &file, &function, &ev.line);
	}
	/* texts move when one is added */
	n = (int)(function.len < FRAME_ROOM ? function.len : FRAME_ROOM);
	if (function.at != text)
		memcpy(text, function.at, (size_t)n);
	ev.file = cuda_file_string(f, i, cuda_file_text(f, file));
	ev.function = cuda_file_string(f, i, cuda_file_text(f, (struct grt_span){text, (size_t)n}));
	return f->code ?: cuda_file_put(f, i, &ev.e);
}

static int cuda_file_put_chain(struct cuda_file *f, struct cuda_image *i, const struct grt_cuda_span *x,
			       uint32_t number, uint32_t outer)
{
	struct grt_ev_range_node ev = {
		.e = {.type = GRT_EV_RANGE_NODE, .time = f->first},
		.node = number,
		.outer = outer,
		.name = cuda_file_string(f, i, x->text),
	};

	return f->code ?: cuda_file_put(f, i, &ev.e);
}

/* The number of the NODE or RANGE_NODE of a span whose outer one has the number @around. */
static int cuda_file_define(struct cuda_file *f, struct cuda_image *i, struct grt_cuda_span *x,
			    uint32_t around)
{
	const struct grt_key key = {{i->number, around, x->text, x->kind}};
	bool is_range = x->kind == GRT_CUDA_SPAN_RANGE;
	uint32_t *number;
	void *at = NULL;
	int ret = grt_keyed_get(&f->nodes, &key, &at);

	if (ret)
		return ret;
	number = at;
	if (*number) {
		x->node = *number;
		return 0;
	}
	x->node = *number = is_range ? ++i->chains : ++i->nodes;
	return is_range ? cuda_file_put_chain(f, i, x, x->node, around)
			: cuda_file_put_node(f, i, x, x->node, around);
}

/*
 * Defines the innermost span of a stack or a chain, and those around it; the outermost ones are left out if
 * there are too many. @at: its place plus 1; 0: there is none
 */
static int cuda_file_define_all(struct cuda_file *f, struct cuda_image *i, uint32_t at)
{
	uint32_t path[FRAMES_MAX], depth = 0, around = 0;
	struct grt_cuda_span *x;
	int ret = 0;

	for (; at && depth < FRAMES_MAX; depth++) {
		x = &f->spans.span[at - 1];
		if (x->node) {
			around = x->node;
			break;
		}
		path[depth] = at - 1;
		at = x->kind == GRT_CUDA_SPAN_RANGE ? x->range : x->inside;
	}
	while (depth-- > 0 && !ret) {
		x = &f->spans.span[path[depth]];
		ret = cuda_file_define(f, i, x, around);
		around = x->node;
	}
	return ret;
}

static int cuda_file_put_span(struct cuda_file *f, uint32_t at)
{
	struct grt_cuda_span *x = &f->spans.span[at];
	struct cuda_image *i = cuda_file_image_of(f, x->pid);
	int ret;

	if (!i)
		return f->code;
	if (x->kind == GRT_CUDA_SPAN_RANGE)
		return cuda_file_define_all(f, i, at + 1) ?: cuda_file_put_range_event(f, i, x);
	if (x->kind != GRT_CUDA_SPAN_CALL)
		return 0;
	ret = cuda_file_define_all(f, i, x->inside) ?: cuda_file_define_all(f, i, x->range);
	/* without a stack, readers put the call in its place */
	if (!ret && (x->inside || f->kind->shows_calls))
		ret = cuda_file_define(f, i, x, x->inside ? f->spans.span[x->inside - 1].node : 0);
	return ret ?: cuda_file_put_launch(f, i, x, x->node, x->range ? &f->spans.span[x->range - 1] : NULL);
}

/* Puts a note for each process with spans for which there was no room. */
static int cuda_file_put_over(struct cuda_file *f)
{
	char text[160];
	struct cuda_image *i;
	int ret = 0,
	    n = grt_say_text(
		    text, sizeof(text),
		    "%" PRIu64
		    " {operator, function, range or call of the file is|operators, functions, ranges and calls of the file are} not in stacks: "
		    "there are more than %u",
		    f->spans.over, GRT_CUDA_SPANS_MAX);

	for (i = grt_keyed_oldest(&f->images); i && !ret && f->spans.over;
	     i = grt_keyed_next(&f->images, i)) {
		struct grt_ev_process ev = {
			.e = {.type = GRT_EV_PROCESS, .time = f->last}, .what = 5, .age = UINT32_MAX};

		if (!i->number)
			continue;
		ev.text = cuda_file_string(f, i, cuda_file_text(f, (struct grt_span){text, (size_t)n}));
		ret = f->code ?: cuda_file_put(f, i, &ev.e);
	}
	return ret;
}

/* Puts calls and ranges with the stacks and ranges around them. */
static int cuda_file_put_spans(struct cuda_file *f)
{
	int ret = grt_cuda_spans_nest(&f->spans);

	for (uint32_t at = 0; at < f->spans.used && !ret; at++) {
		ret = cuda_file_put_span(f, at);
		if (!ret && grt_order_full(&f->order))
			ret = grt_order_settle(&f->order, false);
	}
	ret = ret ?: cuda_file_put_over(f);
	grt_cuda_spans_free(&f->spans);
	return ret;
}

/* ----------------------------------------------------------------- passes */

static void cuda_file_look_process(struct cuda_file *f, const struct grt_cupti_record *r)
{
	bool wanted = !f->one_process || (r->pid && (!f->named || r->pid == f->pid));
	struct cuda_image *i = wanted ? cuda_file_image(f, r->pid) : NULL;

	if (!i)
		return;
	i->name = cuda_file_text(f, r->name);
	f->named = true;
	if (!f->called)
		f->pid = r->pid;
}

static void cuda_file_note_pid(struct cuda_file *f, const struct grt_cupti_record *r)
{
	const struct grt_key key = {{r->pid}};
	bool work = r->kind == GRT_CUPTI_KERNEL || r->kind == GRT_CUPTI_COPY || r->kind == GRT_CUPTI_SET;
	void *at;
	int ret;

	if (!f->one_process || (!work && r->kind != GRT_CUPTI_CALL))
		return;
	ret = grt_keyed_get_or_count(&f->pids, &key, NULL, &at);
	if (ret)
		f->code = ret;
	else if (at)
		*(uint8_t *)at |= work ? CUDA_FILE_WORK : CUDA_FILE_CALLS;
}

static int cuda_file_look(void *arg, const struct grt_cupti_record *r)
{
	struct cuda_file *f = arg;
	struct cuda_image *i;

	if (r->kind == GRT_CUPTI_PROCESS) {
		cuda_file_look_process(f, r);
	} else if (r->kind == GRT_CUPTI_RANK) {
		i = cuda_file_image(f, r->pid);
		if (i) {
			i->rank = grt_u32(r->code);
			i->ranked = true;
		}
	} else if (r->kind != GRT_CUPTI_OP && r->kind != GRT_CUPTI_FRAME) {
		if (r->start < f->first)
			f->first = r->start;
		if (r->end > f->last)
			f->last = r->end;
		if (r->kind == GRT_CUPTI_OS_CALL)
			return f->code;
		if (r->kind == GRT_CUPTI_CALL && !f->called) {
			f->pid = r->pid;
			f->called = true;
		}
		cuda_file_note_pid(f, r);
		cuda_file_number(f, r->pid);
	}
	return f->code;
}

static int cuda_file_take(void *arg, const struct grt_cupti_record *r)
{
	static int (*const put[])(struct cuda_file * f, struct cuda_image * i,
				  const struct grt_cupti_record *r) = {
		[GRT_CUPTI_CALL] = cuda_file_put_call,	 [GRT_CUPTI_KERNEL] = cuda_file_put_kernel,
		[GRT_CUPTI_COPY] = cuda_file_put_copy,	 [GRT_CUPTI_SET] = cuda_file_put_copy,
		[GRT_CUPTI_RANGE] = cuda_file_put_range, [GRT_CUPTI_SYNC] = cuda_file_put_sync,
		[GRT_CUPTI_OP] = cuda_file_put_op,	 [GRT_CUPTI_FRAME] = cuda_file_put_frame,
	};
	struct cuda_file *f = arg;
	struct grt_cupti_record moved = *r;
	bool os_call = r->kind == GRT_CUPTI_OS_CALL;
	struct cuda_image *i;
	int ret;

	if (!os_call && (r->kind >= sizeof(put) / sizeof(put[0]) || !put[r->kind]))
		return 0;
	moved.start += f->count.base;
	moved.end += f->count.base;
	i = os_call ? NULL : cuda_file_image_of(f, r->pid);
	ret = i ? put[r->kind](f, i, &moved) : os_call ? cuda_file_put_os_call(f, &moved) : f->code;
	if (!ret && grt_order_full(&f->order))
		ret = grt_order_settle(&f->order, false);
	return ret ? ret : f->code;
}

/* Puts an event for each process, before or after all other events. */
static int cuda_file_put_processes(struct cuda_file *f, uint32_t what, uint64_t time)
{
	struct cuda_image *i;
	int ret = 0;

	for (i = grt_keyed_oldest(&f->images); i && !ret; i = grt_keyed_next(&f->images, i)) {
		if (!i->number)
			continue;
		ret = cuda_file_put_process(f, i, what, time);
		if (!ret && what == 1)
			ret = cuda_file_put_rank(f, i);
	}
	return ret;
}

/* Puts all records into the order. Return: 0 or a negative errno */
static int cuda_file_fill(struct cuda_file *f)
{
	struct grt_cupti_count count = {.rank = 0};
	int ret = cuda_file_put_processes(f, 1, f->first);

	if (!ret)
		ret = f->kind->read(f->reader, &count, cuda_file_take, f);
	if (!ret)
		ret = cuda_file_put_spans(f);
	if (!ret)
		ret = cuda_file_put_processes(f, 3, f->last);
	f->health->text.lines = count.lines;
	f->health->text.bad = count.bad;
	f->health->text.bad_line = count.first_bad;
	f->filled = true;
	return ret ? ret : grt_order_settle(&f->order, true);
}

static int cuda_file_fail(struct cuda_file *f, struct grt_stream *st, int code)
{
	if (!f->code || !*f->err.what)
		grt_err_set(&f->err, code, strerror(-code), NULL, "%s: cannot read", f->label);
	if (*f->order.err.what)
		f->err = f->order.err;
	f->code = code;
	st->failure = &f->err;
	return code;
}

static int cuda_file_next(struct grt_stream *st)
{
	struct cuda_file *f = st->owner;
	struct grt_order_run run;
	int ret = f->code;

	f->health = st->health;
	if (!ret && !f->filled)
		ret = cuda_file_fill(f);
	if (!ret)
		ret = grt_order_next(&f->order, &run);
	if (ret < 0)
		return cuda_file_fail(f, st, ret);
	if (!ret) {
		st->at = GRT_AT_END;
		return 0;
	}
	st->ptr = run.ptr;
	st->end = run.end;
	st->cpu = run.cpu;
	st->key = run.first;
	st->last = run.last;
	st->at = GRT_AT_RECORDS;
	return 1;
}

static void cuda_file_rewind(struct grt_stream *st)
{
	struct cuda_file *f = st->owner;
	struct cuda_image *i;

	st->key = 0;
	st->at = GRT_AT_GAP;
	st->ready = false;
	st->failure = NULL;
	f->code = 0;
	f->filled = false;
	for (i = grt_keyed_oldest(&f->images); i; i = grt_keyed_next(&f->images, i))
		i->launches = i->works = i->ranges = i->strings = i->nodes = i->chains = 0;
	grt_keyed_free(&f->strings);
	grt_keyed_init(&f->strings, sizeof(uint32_t), TEXTS_MAX);
	grt_keyed_free(&f->nodes);
	grt_keyed_init(&f->nodes, sizeof(uint32_t), TEXTS_MAX);
	grt_cuda_spans_free(&f->spans);
	grt_order_fini(&f->order);
	grt_order_init(&f->order, GRT_WINDOW_ALL, true, 0);
}

static void cuda_file_free(struct cuda_file *f)
{
	grt_order_fini(&f->order);
	grt_keyed_free(&f->images);
	grt_keyed_free(&f->pids);
	grt_keyed_free(&f->strings);
	grt_keyed_free(&f->nodes);
	grt_cuda_spans_free(&f->spans);
	grt_texts_free(&f->texts);
	grt_texts_free(&f->calls);
	f->kind->free(f->reader);
	free(f->label);
	free(f);
}

static void cuda_file_fini(struct grt_stream *st)
{
	if (st->owner)
		cuda_file_free(st->owner);
	st->owner = NULL;
}

static const struct grt_stream_source cuda_file_source = {
	.next = cuda_file_next,
	.rewind = cuda_file_rewind,
	.fini = cuda_file_fini,
};

/* ---------------------------------------------------------------- opening */

/* Finds the images of processes, once all processes are known. Return: 0 or a negative errno */
static int cuda_file_settle(struct cuda_file *f)
{
	struct cuda_image *i;

	if (f->nameless && !f->one_process && f->numbered != 1) {
		i = cuda_file_image(f, 0);
		if (i && !i->number)
			i->number = ++f->numbered;
	}
	for (i = grt_keyed_oldest(&f->images); i && f->numbered == 1; i = grt_keyed_next(&f->images, i))
		if (i->number)
			f->sole = i;
	if (f->one_process && f->sole) {
		f->sole->pid = (uint32_t)f->pid;
		f->sole->ranked = f->count.ranked;
		f->sole->rank = grt_u32(f->count.rank);
		f->sole->world = grt_u32(f->count.world);
	}
	return f->code;
}

/*
 * Usually the pid of GPU work is the number of a device. But if several processes made calls, and all work
 * has the pid of one of them, as in our own exports, each record belongs to the process of its pid.
 */
static bool cuda_file_has_several(const struct cuda_file *f)
{
	uint32_t callers = 0;

	for (const uint8_t *at = grt_keyed_oldest(&f->pids); at; at = grt_keyed_next(&f->pids, at)) {
		if (!(*at & CUDA_FILE_CALLS))
			return false;
		callers++;
	}
	return callers > 1;
}

/* Reads the file for the first time, or again once it is known to be of several processes. */
static int cuda_file_look_at_all(struct cuda_file *f)
{
	int ret = f->kind->read(f->reader, &f->count, cuda_file_look, f);

	if (ret || !cuda_file_has_several(f))
		return ret;
	grt_keyed_free(&f->images);
	grt_keyed_init(&f->images, sizeof(struct cuda_image), IMAGES_MAX);
	f->numbered = 0;
	f->one_process = f->named = f->nameless = false;
	f->count = (struct grt_cupti_count){.rank = 0};
	return f->kind->read(f->reader, &f->count, cuda_file_look, f);
}

static int cuda_file_prepare(struct cuda_file *f, struct grt_session *s, struct grt_err *err)
{
	int ret;

	f->label = strdup(s->path);
	ret = f->label ? cuda_file_know_calls(f) : -ENOMEM;
	if (!ret)
		ret = cuda_file_look_at_all(f);
	if (!ret && f->first > f->last)
		ret = -ENODATA;
	ret = f->kind->judge(f->reader, s->path, &f->count, ret, err);
	if (ret)
		return ret;
	if (__builtin_add_overflow(f->last, f->count.base, &f->last))
		return grt_err_set(err, -ERANGE, "its times do not fit 64 bits", NULL, "%s: cannot read",
				   s->path);
	/* 0 is an unknown time: the file begins at 1 ns, and what lies between its times remains the same */
	if (!f->first && !f->count.base) {
		f->count.base = 1;
		f->last++;
	}
	f->first += f->count.base;
	ret = cuda_file_settle(f);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot read", s->path);
	s->first = f->first;
	s->last = f->last;
	s->found.text.form = f->kind->form;
	return 0;
}

int grt_cuda_file_open(struct grt_session *s, const struct grt_cuda_file_kind *kind, void *reader,
		       struct grt_err *err)
{
	struct cuda_file *f = calloc(1, sizeof(*f));
	int ret;

	if (!f) {
		kind->free(reader);
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	}
	f->kind = kind;
	f->one_process = kind->one_process;
	f->reader = reader;
	f->first = UINT64_MAX;
	grt_texts_init(&f->texts, TEXTS_MAX);
	grt_keyed_init(&f->images, sizeof(struct cuda_image), IMAGES_MAX);
	grt_keyed_init(&f->pids, sizeof(uint8_t), IMAGES_MAX);
	grt_keyed_init(&f->strings, sizeof(uint32_t), TEXTS_MAX);
	grt_keyed_init(&f->nodes, sizeof(uint32_t), TEXTS_MAX);
	grt_order_init(&f->order, GRT_WINDOW_ALL, true, 0);
	ret = cuda_file_prepare(f, s, err);
	if (ret) {
		cuda_file_free(f);
		return ret;
	}
	return grt_session_add_source(s, &cuda_file_source, f, f->label, err);
}
