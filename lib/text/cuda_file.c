// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* From CUDA's records of other tools to events, see cuda_file.h. */
#include "cuda_file.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/keyed.h"
#include "base/texts.h"
#include "codes/cuda_codes.h"
#include "text_order.h"

#define TEXTS_MAX (1U << 24)
#define IMAGES_MAX (1U << 16)
/* Functions of cuda_calls.def, and their numbers. */
#define CALLS_MAX 1024U
#define CALLS_BELOW 2048U
/* A name with more bytes is none of theirs. */
#define CALL_NAME_MAX 64U
/* The rest of a record's pid is the machine. */
#define PID_MASK 0xffffffU

/**
 * struct cuda_image - a process
 * @number: its image; 0: none of its calls or work is in the file
 * @name: text
 * @rank: of the process in its job, where it is @ranked; @world: of how many, 0: unknown
 * @strings: STRING records that were put
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
	uint64_t launches;
	uint64_t works;
	uint64_t ranges;
};

/**
 * struct cuda_file - an input
 * @order: its records
 * @texts: names
 * @calls: names of functions; @call: by the number of a name, the number of the function
 * @images: by pid; @numbered: those that have a number; @sole: the one of these, where it is the only one
 * @strings: by number of image and text, the number of its STRING in that image
 * @first, @last: what it spans, ns
 * @pid: of the only process; @named: the process in @images that has its name
 * @nameless: there are records without a pid
 * @filled: the order has all records; @code: a negative errno that ends the run
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
	struct grt_cupti_count count;
	uint64_t first;
	uint64_t last;
	uint64_t pid;
	bool called;
	bool named;
	bool nameless;
	bool filled;
	int code;
	struct grt_err err;
	struct grt_health *health;
};

/* ----------------------------------------------------------------- images */

/* NULL with @f->code set: no memory, or more processes than a machine has */
static struct cuda_image *cuda_file_image(struct cuda_file *f, uint64_t pid)
{
	const struct grt_key key = {{f->kind->one_process ? 0 : pid}};
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
	i = pid || f->kind->one_process ? cuda_file_image(f, pid) : NULL;
	if (i && !i->number)
		i->number = ++f->numbered;
}

/* Of a record; one without a pid is of the only process there is. */
static struct cuda_image *cuda_file_image_of(struct cuda_file *f, const struct grt_cupti_record *r)
{
	return f->sole ? f->sole : cuda_file_image(f, r->pid);
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

/* A text in as many parts as it takes. */
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

/* The number that a text has in a process: it is defined there before it is used. */
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

/* @what: 1 begins the image, 3 ends it with what was read of it. */
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
	const struct grt_cuda_call *call;
	uint32_t number;
	int ret = 0;

	grt_texts_init(&f->calls, CALLS_MAX);
	for (uint32_t n = 1; n < CALLS_BELOW && !ret; n++)
		for (uint32_t domain = 0; domain <= GRT_CUDA_DRIVER && !ret; domain += GRT_CUDA_DRIVER) {
			call = grt_cuda_call(n | domain);
			if (!call)
				continue;
			ret = grt_texts_add(&f->calls, call->name, strlen(call->name), &number);
			if (!ret && number < CALLS_MAX && !f->call[number])
				f->call[number] = (uint16_t)(n | domain);
		}
	/* no other gets a number */
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

static int cuda_file_put_call(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	struct grt_ev_launch ev = {
		.e = {.type = GRT_EV_LAUNCH, .time = r->end, .tid = (uint32_t)r->tid},
		.begin = r->start,
		.correlation = r->correlation,
		.call = cuda_file_call(f, r->name),
		.result = (int32_t)r->code,
	};

	i->launches += ev.call != 0;
	return ev.call ? cuda_file_put(f, i, &ev.e) : 0;
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

/* Kinds are numbered as grt_cuda_copy_name() has them. */
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

/* Which ranges lie around a launch is not in the file but by time: they are in no chain. */
static int cuda_file_put_range(struct cuda_file *f, struct cuda_image *i, const struct grt_cupti_record *r)
{
	struct grt_ev_range ev = {
		.e = {.type = GRT_EV_RANGE, .time = r->open ? f->last : r->end, .tid = (uint32_t)r->tid},
		.begin = r->start,
		.end = r->open ? 0 : r->end,
		.name = cuda_file_name(f, i, r),
		.kind = r->code == 2 ? 2 : 1,
		.ended_by = (uint32_t)(r->ended_by ?: r->tid),
	};

	i->ranges++;
	return cuda_file_put(f, i, &ev.e);
}

/* ----------------------------------------------------------------- passes */

static void cuda_file_look_process(struct cuda_file *f, const struct grt_cupti_record *r)
{
	bool wanted = !f->kind->one_process || (r->pid && (!f->named || r->pid == f->pid));
	struct cuda_image *i = wanted ? cuda_file_image(f, r->pid) : NULL;

	if (!i)
		return;
	i->name = cuda_file_text(f, r->name);
	f->named = true;
	if (!f->called)
		f->pid = r->pid;
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
	} else {
		if (r->start < f->first)
			f->first = r->start;
		if (r->end > f->last)
			f->last = r->end;
		if (r->kind == GRT_CUPTI_CALL && !f->called) {
			f->pid = r->pid;
			f->called = true;
		}
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
	};
	struct cuda_file *f = arg;
	struct grt_cupti_record moved = *r;
	struct cuda_image *i;
	int ret;

	if (r->kind >= sizeof(put) / sizeof(put[0]) || !put[r->kind])
		return 0;
	moved.start += f->count.base;
	moved.end += f->count.base;
	i = cuda_file_image_of(f, r);
	ret = i ? put[r->kind](f, i, &moved) : f->code;
	if (!ret && grt_order_full(&f->order))
		ret = grt_order_settle(&f->order, false);
	return ret ? ret : f->code;
}

/* Before or behind all else, of each process. */
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

/* All records into the order. Return: 0 or a negative errno */
static int cuda_file_fill(struct cuda_file *f)
{
	struct grt_cupti_count count = {.rank = 0};
	int ret = cuda_file_put_processes(f, 1, f->first);

	if (!ret)
		ret = f->kind->read(f->reader, &count, cuda_file_take, f);
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
		i->launches = i->works = i->ranges = i->strings = 0;
	grt_keyed_free(&f->strings);
	grt_keyed_init(&f->strings, sizeof(uint32_t), TEXTS_MAX);
	grt_order_fini(&f->order);
	grt_order_init(&f->order, GRT_WINDOW_ALL, true, 0);
}

static void cuda_file_free(struct cuda_file *f)
{
	grt_order_fini(&f->order);
	grt_keyed_free(&f->images);
	grt_keyed_free(&f->strings);
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

/* Which image is whose, once all of them are known. Return: 0 or a negative errno */
static int cuda_file_settle(struct cuda_file *f)
{
	struct cuda_image *i;

	if (f->nameless && !f->kind->one_process && f->numbered != 1) {
		i = cuda_file_image(f, 0);
		if (i && !i->number)
			i->number = ++f->numbered;
	}
	for (i = grt_keyed_oldest(&f->images); i && f->numbered == 1; i = grt_keyed_next(&f->images, i))
		if (i->number)
			f->sole = i;
	if (f->kind->one_process && f->sole) {
		f->sole->pid = (uint32_t)f->pid;
		f->sole->ranked = f->count.ranked;
		f->sole->rank = grt_u32(f->count.rank);
		f->sole->world = grt_u32(f->count.world);
	}
	return f->code;
}

static int cuda_file_prepare(struct cuda_file *f, struct grt_session *s, struct grt_err *err)
{
	int ret;

	f->label = strdup(s->path);
	ret = f->label ? cuda_file_know_calls(f) : -ENOMEM;
	if (!ret)
		ret = f->kind->read(f->reader, &f->count, cuda_file_look, f);
	if (!ret && f->first > f->last)
		ret = -ENODATA;
	ret = f->kind->judge(f->reader, s->path, &f->count, ret, err);
	if (ret)
		return ret;
	if (__builtin_add_overflow(f->last, f->count.base, &f->last))
		return grt_err_set(err, -ERANGE, "its times do not fit 64 bits", NULL, "%s: cannot read",
				   s->path);
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
	f->reader = reader;
	f->first = UINT64_MAX;
	grt_texts_init(&f->texts, TEXTS_MAX);
	grt_keyed_init(&f->images, sizeof(struct cuda_image), IMAGES_MAX);
	grt_keyed_init(&f->strings, sizeof(uint32_t), TEXTS_MAX);
	grt_order_init(&f->order, GRT_WINDOW_ALL, true, 0);
	ret = cuda_file_prepare(f, s, err);
	if (ret) {
		cuda_file_free(f);
		return ret;
	}
	return grt_session_add_source(s, &cuda_file_source, f, f->label, err);
}
