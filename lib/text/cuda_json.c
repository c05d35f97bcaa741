// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of traces of CUDA in JSON: PyTorch's profiler (Kineto) and what
 * writes like it, see cuda/gpu_json.h. Calls, kernels, copies, fills and ranges
 * become the records that the library in a program writes, so that every command
 * reads them; the profiler's own operators and Python frames are not read.
 *
 * The file is read twice: for its names and what it spans, and for its records,
 * which are then brought into the order of time.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/scan.h"
#include "base/texts.h"
#include "codes/cuda_codes.h"
#include "cuda/gpu_json.h"
#include "trace/session.h"
#include "text_order.h"

/* A file is of one process, which has this number as its image. */
#define IMAGE 1U
#define TEXTS_MAX (1U << 24)
/* Functions of cuda_calls.def, and their numbers. */
#define CALLS_MAX 1024U
#define CALLS_BELOW 2048U
/* Whether a file is one of these is decided by so many of its first bytes. */
#define HEAD_SEEN (64U << 10)

/**
 * struct cuda_json - an input
 * @order: its records
 * @texts: names, numbered as STRING records are
 * @calls: names of functions; @call: by the number of a name, the number of the function
 * @first, @last: what it spans, ns
 * @pid: of the process: that of the calls, else of the first process with a name
 * @process: text of its name
 * @launches, @works, @ranges: records that were put
 * @filled: the order has all records; @code: a negative errno that ends the run
 */
struct cuda_json {
	int fd;
	char *label;
	struct grt_order order;
	struct grt_texts texts;
	struct grt_texts calls;
	uint16_t call[CALLS_MAX];
	struct grt_cupti_count count;
	uint64_t first;
	uint64_t last;
	uint32_t pid;
	uint32_t named_pid;
	uint32_t process;
	uint64_t launches;
	uint64_t works;
	uint64_t ranges;
	bool called;
	bool filled;
	int code;
	struct grt_err err;
	struct grt_health *health;
};

/* ------------------------------------------------------------- records */

static int cuda_json_put(struct cuda_json *j, struct grt_event *e)
{
	e->size = grt_record_size[e->type];
	e->ring = GRT_RING_NONE;
	e->ctx = IMAGE;
	e->pid = j->pid;
	if (!e->tid)
		e->tid = j->pid;
	j->health->balance.emitted++;
	j->health->balance.fate[GRT_FATE_DELIVERED]++;
	return grt_order_put(&j->order, e, 0);
}

static uint32_t cuda_json_text(struct cuda_json *j, struct grt_span name)
{
	uint32_t number = 0;

	if (name.len && grt_texts_add(&j->texts, name.at, name.len, &number))
		j->code = -ENOMEM;
	return number;
}

/* A text in as many parts as it takes. */
static int cuda_json_put_string(struct cuda_json *j, uint32_t number)
{
	const char *text = grt_texts_get(&j->texts, number);
	uint32_t length = grt_texts_length(&j->texts, number), offset = 0;
	int ret = 0;

	while (!ret && offset < length) {
		struct grt_ev_string ev = {
			.e.type = GRT_EV_STRING, .number = number, .length = length, .offset = offset};

		ev.e.time = j->first;
		ev.part = length - offset < sizeof(ev.text) ? length - offset : sizeof(ev.text);
		memcpy(ev.text, text + offset, ev.part);
		offset += ev.part;
		ret = cuda_json_put(j, &ev.e);
	}
	return ret;
}

/* @what: 1 begins the image, 3 ends it with what was read of it. */
static int cuda_json_put_process(struct cuda_json *j, uint32_t what, uint64_t time)
{
	struct grt_ev_process ev = {
		.e = {.type = GRT_EV_PROCESS, .time = time},
		.what = what,
		.text = what == 1 ? j->process : 0,
		.age = UINT32_MAX,
		.launches = j->launches,
		.gpu_records = j->works,
		.ranges = j->ranges,
	};

	return cuda_json_put(j, &ev.e);
}

static int cuda_json_put_rank(struct cuda_json *j)
{
	struct grt_ev_rank ev = {
		.e = {.type = GRT_EV_RANK, .time = j->first},
		.rank = grt_u32(j->count.rank),
		.local_rank = UINT32_MAX,
		.world = j->count.world ? grt_u32(j->count.world) : UINT32_MAX,
	};

	return cuda_json_put(j, &ev.e);
}

/* The functions that launch something or wait for it, by name. Return: 0 or -ENOMEM */
static int cuda_json_know_calls(struct cuda_json *j)
{
	const struct grt_cuda_call *call;
	uint32_t number;
	int ret = 0;

	grt_texts_init(&j->calls, CALLS_MAX);
	for (uint32_t n = 1; n < CALLS_BELOW && !ret; n++)
		for (uint32_t domain = 0; domain <= GRT_CUDA_DRIVER && !ret; domain += GRT_CUDA_DRIVER) {
			call = grt_cuda_call(n | domain);
			if (!call)
				continue;
			ret = grt_texts_add(&j->calls, call->name, strlen(call->name), &number);
			if (!ret && number < CALLS_MAX && !j->call[number])
				j->call[number] = (uint16_t)(n | domain);
		}
	/* no other gets a number */
	j->calls.max = j->calls.used - 1;
	return ret;
}

/* 0: it launches nothing and waits for nothing */
static uint16_t cuda_json_call(struct cuda_json *j, struct grt_span name)
{
	uint32_t number = GRT_TEXT_NONE;

	if (grt_texts_add(&j->calls, name.at, name.len, &number))
		j->code = -ENOMEM;
	return number < CALLS_MAX ? j->call[number] : 0;
}

static int cuda_json_put_call(struct cuda_json *j, const struct grt_cupti_record *r)
{
	struct grt_ev_launch ev = {
		.e = {.type = GRT_EV_LAUNCH, .time = r->end, .tid = (uint32_t)r->tid},
		.begin = r->start,
		.correlation = r->correlation,
		.call = cuda_json_call(j, r->name),
	};

	j->launches += ev.call != 0;
	return ev.call ? cuda_json_put(j, &ev.e) : 0;
}

static int cuda_json_put_kernel(struct cuda_json *j, const struct grt_cupti_record *r)
{
	struct grt_ev_gpu_kernel ev = {
		.e = {.type = GRT_EV_GPU_KERNEL, .time = r->end},
		.start = r->start,
		.end = r->end,
		.correlation = r->correlation,
		.name = cuda_json_text(j, r->name),
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
	};

	j->works++;
	return cuda_json_put(j, &ev.e);
}

/* Kinds are numbered as grt_cuda_copy_name() has them. */
static uint32_t cuda_json_direction(const struct grt_span *name)
{
	for (uint32_t kind = 1; kind <= 10; kind++)
		if (grt_span_is(*name, grt_cuda_copy_name(kind)))
			return kind;
	return 0;
}

static int cuda_json_put_copy(struct cuda_json *j, const struct grt_cupti_record *r)
{
	struct grt_ev_gpu_copy ev = {
		.e = {.type = GRT_EV_GPU_COPY, .time = r->end},
		.start = r->start,
		.end = r->end,
		.correlation = r->correlation,
		.bytes = r->bytes,
		.kind = r->kind == GRT_CUPTI_SET ? GRT_CUDA_SET : cuda_json_direction(&r->name),
		.gpu = grt_u32(r->device),
		.context = grt_u32(r->context),
		.cuda_stream = grt_u32(r->stream),
		.graph = grt_u32(r->graph),
	};

	j->works++;
	return cuda_json_put(j, &ev.e);
}

/* Which ranges lie around a launch is not in the file but by time: they are in no chain. */
static int cuda_json_put_range(struct cuda_json *j, const struct grt_cupti_record *r)
{
	struct grt_ev_range ev = {
		.e = {.type = GRT_EV_RANGE, .time = r->end, .tid = (uint32_t)r->tid},
		.begin = r->start,
		.end = r->end,
		.name = cuda_json_text(j, r->name),
		.kind = 1,
		.ended_by = (uint32_t)r->tid,
	};

	j->ranges++;
	return cuda_json_put(j, &ev.e);
}

/* ---------------------------------------------------------------- passes */

static int cuda_json_look(void *arg, const struct grt_cupti_record *r)
{
	struct cuda_json *j = arg;

	if (r->kind == GRT_CUPTI_PROCESS) {
		if (r->pid && (!j->named_pid || r->pid == j->pid)) {
			j->named_pid = (uint32_t)r->pid;
			j->process = cuda_json_text(j, r->name);
		}
		return j->code;
	}
	if (r->start < j->first)
		j->first = r->start;
	if (r->end > j->last)
		j->last = r->end;
	if (r->kind == GRT_CUPTI_CALL && !j->called) {
		j->pid = (uint32_t)r->pid;
		j->called = true;
	}
	if (r->kind == GRT_CUPTI_KERNEL || r->kind == GRT_CUPTI_RANGE)
		cuda_json_text(j, r->name);
	return j->code;
}

static int cuda_json_take(void *arg, const struct grt_cupti_record *r)
{
	static int (*const put[])(struct cuda_json * j, const struct grt_cupti_record *r) = {
		[GRT_CUPTI_CALL] = cuda_json_put_call,	 [GRT_CUPTI_KERNEL] = cuda_json_put_kernel,
		[GRT_CUPTI_COPY] = cuda_json_put_copy,	 [GRT_CUPTI_SET] = cuda_json_put_copy,
		[GRT_CUPTI_RANGE] = cuda_json_put_range,
	};
	struct cuda_json *j = arg;
	struct grt_cupti_record moved = *r;
	int ret;

	if (r->kind >= sizeof(put) / sizeof(put[0]) || !put[r->kind])
		return 0;
	moved.start += j->count.base;
	moved.end += j->count.base;
	ret = put[r->kind](j, &moved);
	if (!ret && grt_order_full(&j->order))
		ret = grt_order_settle(&j->order, false);
	return ret ? ret : j->code;
}

/* All records into the order. Return: 0 or a negative errno */
static int cuda_json_fill(struct cuda_json *j)
{
	struct grt_cupti_count count = {.rank = 0};
	int ret = lseek(j->fd, 0, SEEK_SET) < 0 ? -errno : 0;

	if (!ret)
		ret = cuda_json_put_process(j, 1, j->first);
	for (uint32_t i = 1; i < j->texts.used && !ret; i++)
		ret = cuda_json_put_string(j, i);
	if (!ret && j->count.ranked)
		ret = cuda_json_put_rank(j);
	if (!ret)
		ret = grt_gpu_json_read_all(j->fd, &count, cuda_json_take, j);
	if (!ret)
		ret = cuda_json_put_process(j, 3, j->last);
	j->health->text.lines = count.lines;
	j->health->text.bad = count.bad;
	j->health->text.bad_line = count.first_bad;
	j->filled = true;
	return ret ? ret : grt_order_settle(&j->order, true);
}

static int cuda_json_fail(struct cuda_json *j, struct grt_stream *st, int code)
{
	if (!j->code || !*j->err.what)
		grt_err_set(&j->err, code, strerror(-code), NULL, "%s: cannot read", j->label);
	if (*j->order.err.what)
		j->err = j->order.err;
	j->code = code;
	st->failure = &j->err;
	return code;
}

static int cuda_json_next(struct grt_stream *st)
{
	struct cuda_json *j = st->owner;
	struct grt_order_run run;
	int ret = j->code;

	j->health = st->health;
	if (!ret && !j->filled)
		ret = cuda_json_fill(j);
	if (!ret)
		ret = grt_order_next(&j->order, &run);
	if (ret < 0)
		return cuda_json_fail(j, st, ret);
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

static void cuda_json_rewind(struct grt_stream *st)
{
	struct cuda_json *j = st->owner;

	st->key = 0;
	st->at = GRT_AT_GAP;
	st->ready = false;
	st->failure = NULL;
	j->code = 0;
	j->filled = false;
	j->launches = j->works = j->ranges = 0;
	grt_order_fini(&j->order);
	grt_order_init(&j->order, GRT_WINDOW_ALL, true, 0);
}

static void cuda_json_free(struct cuda_json *j)
{
	grt_order_fini(&j->order);
	grt_texts_free(&j->texts);
	grt_texts_free(&j->calls);
	if (j->fd >= 0)
		close(j->fd);
	free(j->label);
	free(j);
}

static void cuda_json_fini(struct grt_stream *st)
{
	if (st->owner)
		cuda_json_free(st->owner);
	st->owner = NULL;
}

static const struct grt_stream_source cuda_json_source = {
	.next = cuda_json_next,
	.rewind = cuda_json_rewind,
	.fini = cuda_json_fini,
};

/* --------------------------------------------------------------- opening */

/* Words that only traces of CUDA have, and those of ftrace in JSON have not. */
static const char *const words[] = {"\"cuda_runtime\"",	   "\"cuda_driver\"",  "\"cpu_op\"",
				    "\"gpu_memcpy\"",	   "\"gpu_memset\"",   "\"deviceProperties\"",
				    "\"GPU_Kernel\"",	   "\"CUDA_Runtime\"", "\"CUDA_Driver\"",
				    "\"distributedInfo\"", "\"kernel\"",       "\"user_annotation\""};

static bool cuda_json_takes(const struct stat *st, const char *head, size_t len)
{
	size_t n = len < HEAD_SEEN ? len : HEAD_SEEN;

	if (!S_ISREG(st->st_mode) || !n || !grt_gpu_json_takes(head, n) || *head == '\x1f')
		return false;
	for (size_t i = 0; i < sizeof(words) / sizeof(words[0]); i++)
		if (memmem(head, n, words[i], strlen(words[i])))
			return true;
	return false;
}

static int cuda_json_prepare(struct cuda_json *j, struct grt_session *s, struct grt_err *err)
{
	int ret;

	j->label = strdup(s->path);
	ret = j->label ? cuda_json_know_calls(j) : -ENOMEM;
	if (!ret)
		ret = grt_gpu_json_read_all(j->fd, &j->count, cuda_json_look, j);
	if (ret == -EPROTO)
		return grt_err_set(err, ret, "it is no JSON, or ends before any event", NULL,
				   "%s: event %llu: cannot read", s->path,
				   (unsigned long long)j->count.lines + 1);
	if (ret)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot read", s->path);
	if (j->first > j->last)
		return grt_err_set(err, -EINVAL, "none of its events is a call of CUDA or work of a GPU",
				   "torch.profiler with ProfilerActivity.CUDA",
				   "%s: event 1 to %llu: nothing to read", s->path,
				   (unsigned long long)j->count.lines);
	if (j->count.cut)
		return grt_err_set(err, -EPROTO, "the file ends before its trace does",
				   "grtrace flame --gpu PATH, which "
				   "shows what precedes the end",
				   "%s: behind event %llu: cannot read", s->path,
				   (unsigned long long)j->count.lines);
	if (__builtin_add_overflow(j->last, j->count.base, &j->last))
		return grt_err_set(err, -ERANGE, "its times do not fit 64 bits", NULL, "%s: cannot read",
				   s->path);
	j->first += j->count.base;
	s->first = j->first;
	s->last = j->last;
	s->found.text.form = "cuda_json";
	return 0;
}

static int cuda_json_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct cuda_json *j = calloc(1, sizeof(*j));
	int ret;

	if (!j)
		return grt_err_set(err, -ENOMEM, strerror(ENOMEM), NULL, "%s: cannot open", s->path);
	j->first = UINT64_MAX;
	grt_texts_init(&j->texts, TEXTS_MAX);
	grt_order_init(&j->order, GRT_WINDOW_ALL, true, 0);
	j->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (j->fd < 0)
		ret = grt_err_set(err, -errno, strerror(errno), NULL, "%s: cannot open", s->path);
	else
		ret = cuda_json_prepare(j, s, err);
	if (ret) {
		cuda_json_free(j);
		return ret;
	}
	return grt_session_add_source(s, &cuda_json_source, j, j->label, err);
}

const struct grt_reader grt_reader_cuda_json = {
	.name = "cuda_json",
	.takes = cuda_json_takes,
	.open = cuda_json_open,
};
