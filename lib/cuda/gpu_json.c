// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A pull parser that stores only the members of the present event that matter. Events are the objects of the
 * array "traceEvents", or of a bare array, which may end anywhere. Time stamps are microseconds with
 * decimals: they are read as digits, because those of an epoch have more digits than a double.
 */
#include "gpu_json.h"
#include "base/json_in.h"
#include "codes/cuda_codes.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <strings.h>

#define KEY_MAX GRT_JSON_WORD_MAX

/** struct reader - @label: of args, of an event that names something; @all: ranges and names are wanted */
struct reader {
	struct grt_json_in in;
	struct grt_cupti_count *count;
	int (*record)(void *arg, const struct grt_cupti_record *r);
	void *arg;
	struct grt_json_text name;
	struct grt_json_text label;
	bool all;
};

/** struct event - the members that matter; @timed, @lasting: it has ts, dur */
struct event {
	char category[KEY_MAX];
	char phase[4];
	uint64_t ts, dur, tid;
	uint64_t correlation, device, stream, graph, bytes;
	uint64_t pid, context, registers, shared, external;
	uint64_t grid[3], block[3];
	bool timed, lasting;
};

/* ----------------------------------------------------------------- events */

static bool take_member(struct reader *r, struct event *e, const char *key, bool in_args);

/* Reads the members of an object whose opening brace was read. */
static bool take_object(struct reader *r, struct event *e, bool in_args)
{
	char key[KEY_MAX];

	if (grt_json_char(&r->in, '}'))
		return true;
	do {
		if (!grt_json_short(&r->in, key, sizeof(key)) || !grt_json_char(&r->in, ':') ||
		    !take_member(r, e, key, in_args))
			return false;
	} while (grt_json_char(&r->in, ','));
	return grt_json_char(&r->in, '}');
}

/* Numbers of an event: their places and forms. */
static const struct number {
	const char *key;
	bool in_args;
	int scale;
	size_t offset;
	size_t has;
} numbers[] = {
	{"ts", false, 3, offsetof(struct event, ts), offsetof(struct event, timed)},
	{"dur", false, 3, offsetof(struct event, dur), offsetof(struct event, lasting)},
	{"tid", false, 0, offsetof(struct event, tid), 0},
	{"pid", false, 0, offsetof(struct event, pid), 0},
	{"context", true, 0, offsetof(struct event, context), 0},
	{"registers per thread", true, 0, offsetof(struct event, registers), 0},
	{"shared memory", true, 0, offsetof(struct event, shared), 0},
	{"correlation", true, 0, offsetof(struct event, correlation), 0},
	{"device", true, 0, offsetof(struct event, device), 0},
	{"stream", true, 0, offsetof(struct event, stream), 0},
	{"External id", true, 0, offsetof(struct event, external), 0},
	{"external id", true, 0, offsetof(struct event, external), 0},
	/* as our own exports have them */
	{"gpu", true, 0, offsetof(struct event, device), 0},
	{"cuda_stream", true, 0, offsetof(struct event, stream), 0},
	{"graph", true, 0, offsetof(struct event, graph), 0},
	{"graph id", true, 0, offsetof(struct event, graph), 0},
	{"bytes", true, 0, offsetof(struct event, bytes), 0},
	/* as parsers of CUPTI's text write them, with the names in that text */
	{"correlationId", true, 0, offsetof(struct event, correlation), 0},
	{"deviceId", true, 0, offsetof(struct event, device), 0},
	{"streamId", true, 0, offsetof(struct event, stream), 0},
	{"graphId", true, 0, offsetof(struct event, graph), 0},
	{"size", true, 0, offsetof(struct event, bytes), 0},
};

/* [x, y, z] */
static bool take_sizes(struct reader *r, uint64_t size[3])
{
	unsigned int i = 0;

	if (!grt_json_char(&r->in, '['))
		return false;
	do {
		if (i < 3 ? !grt_json_u64(&r->in, 0, &size[i], NULL) : !grt_json_skip(&r->in))
			return false;
		i++;
	} while (grt_json_char(&r->in, ','));
	return grt_json_char(&r->in, ']');
}

static bool take_member(struct reader *r, struct event *e, const char *key, bool in_args)
{
	const struct number *n = numbers;

	if (!in_args && !strcmp(key, "args") && grt_json_peek_word(&r->in) == '{')
		return grt_json_char(&r->in, '{') && take_object(r, e, true);
	if (in_args && !strcmp(key, "grid") && grt_json_peek_word(&r->in) == '[')
		return take_sizes(r, e->grid);
	if (in_args && !strcmp(key, "block") && grt_json_peek_word(&r->in) == '[')
		return take_sizes(r, e->block);
	if (in_args && !strcmp(key, "name") && grt_json_peek_word(&r->in) == '"') {
		r->label.len = 0;
		return grt_json_string(&r->in, &r->label);
	}
	if (!in_args && grt_json_peek_word(&r->in) == '"') {
		r->name.len = strcmp(key, "name") ? r->name.len : 0;
		if (!strcmp(key, "name"))
			return grt_json_string(&r->in, &r->name);
		if (!strcmp(key, "cat"))
			return grt_json_short(&r->in, e->category, sizeof(e->category));
		if (!strcmp(key, "ph"))
			return grt_json_short(&r->in, e->phase, sizeof(e->phase));
	}
	for (; n < numbers + sizeof(numbers) / sizeof(numbers[0]); n++)
		if (n->in_args == in_args && !strcmp(n->key, key))
			return grt_json_u64(&r->in, n->scale, (uint64_t *)((char *)e + n->offset),
					    n->has ? (bool *)((char *)e + n->has) : NULL);
	return grt_json_skip(&r->in);
}

/*
 * Categories, whatever the case of their letters: of Kineto as it is and as it was
 * before 2022, and of parsers of CUPTI's text, which put a word before each name.
 */
static const struct category {
	const char *name;
	unsigned int kind;
	const char *word;
	bool of_program; /* what the program itself did, if it is requested */
} categories[] = {
	{"kernel", GRT_CUPTI_KERNEL, NULL, false},
	{"gpu_memcpy", GRT_CUPTI_COPY, NULL, false},
	{"gpu_memset", GRT_CUPTI_SET, NULL, false},
	{"cuda_runtime", GRT_CUPTI_CALL, "Runtime: ", false},
	{"cuda_driver", GRT_CUPTI_CALL, "Driver: ", false},
	{"Memcpy", GRT_CUPTI_COPY, NULL, false},
	{"Memset", GRT_CUPTI_SET, NULL, false},
	{"Runtime", GRT_CUPTI_CALL, NULL, false},
	{"GPU_Kernel", GRT_CUPTI_KERNEL, "Kernel: ", false},
	{"MemCopy", GRT_CUPTI_COPY, "MemCopy: ", false},
	{"user_annotation", GRT_CUPTI_RANGE, NULL, true},
	{"cpu_op", GRT_CUPTI_OP, NULL, true},
	{"Operator", GRT_CUPTI_OP, NULL, true},
	{"python_function", GRT_CUPTI_FRAME, NULL, true},
};

static struct grt_span without(struct grt_span name, const char *word)
{
	size_t len = word ? strlen(word) : 0;

	if (len && name.len > len && !memcmp(name.at, word, len))
		return (struct grt_span){name.at + len, name.len - len};
	return name;
}

/* The kind of memory with a name. Return: 0: unknown */
static uint64_t gpu_json_memory(const char *at, size_t len)
{
	const char *name;

	for (uint32_t kind = 1; (name = grt_cuda_memory_name(kind)); kind++)
		if (strlen(name) == len && !memcmp(name, at, len))
			return kind;
	return 0;
}

/* Reads the kinds of memory of "Memcpy HtoD (Pageable -> Device)" and "Memset (Device)". */
static void gpu_json_memories(struct grt_span name, struct grt_cupti_record *rec)
{
	static const char to[] = " -> ";
	const char *begin = name.len ? memchr(name.at, '(', name.len) : NULL, *end = name.at + name.len - 1;
	const char *arrow =
		begin && *end == ')' ? memmem(begin, (size_t)(end - begin), to, sizeof(to) - 1) : NULL;

	if (!begin || *end != ')')
		return;
	if (arrow)
		rec->from_memory = gpu_json_memory(begin + 1, (size_t)(arrow - begin - 1));
	begin = arrow ? arrow + sizeof(to) - 1 : begin + 1;
	rec->to_memory = gpu_json_memory(begin, (size_t)(end - begin));
}

/* Return: the direction of "Memcpy HtoD (Pageable -> Device)". */
static struct grt_span direction(struct grt_span name)
{
	static const char word[] = "Memcpy ";
	const char *end;

	if (name.len < sizeof(word) - 1 || memcmp(name.at, word, sizeof(word) - 1))
		return name;
	name.at += sizeof(word) - 1;
	name.len -= sizeof(word) - 1;
	end = memchr(name.at, ' ', name.len);
	if (end)
		name.len = (size_t)(end - name.at);
	return name;
}

static const struct category *category_of(const struct reader *r, const struct event *e)
{
	for (size_t i = 0; i < sizeof(categories) / sizeof(categories[0]); i++)
		if ((r->all || !categories[i].of_program) && !strcasecmp(e->category, categories[i].name))
			return &categories[i];
	return NULL;
}

static int gpu_json_hand_out(struct reader *r, const struct event *e)
{
	const struct category *c = category_of(r, e);
	struct grt_cupti_record rec = {.start = e->ts,
				       .correlation = e->correlation,
				       .tid = e->tid,
				       .bytes = e->bytes,
				       .device = e->device,
				       .stream = e->stream,
				       .graph = e->graph,
				       .pid = e->pid,
				       .context = e->context,
				       .registers = e->registers,
				       .shared = e->shared,
				       .external = e->external,
				       .name = {r->name.at, r->name.len}};

	r->count->lines++;
	memcpy(rec.grid, e->grid, sizeof(rec.grid));
	memcpy(rec.block, e->block, sizeof(rec.block));
	if (r->all && !strcmp(e->phase, "M") && r->name.len == 12 &&
	    !memcmp(r->name.at, "process_name", 12)) {
		rec.kind = GRT_CUPTI_PROCESS;
		rec.end = rec.start;
		rec.name = (struct grt_span){r->label.at, r->label.len};
		r->count->other++;
		return r->record(r->arg, &rec);
	}
	if (!c || strcmp(e->phase, "X")) {
		r->count->other++;
		return 0;
	}
	if (!e->timed || !e->lasting || __builtin_add_overflow(e->ts, e->dur, &rec.end)) {
		if (!r->count->bad++)
			r->count->first_bad = r->count->lines;
		return 0;
	}
	r->count->records++;
	rec.kind = c->kind;
	rec.name = without(rec.name, c->word);
	if (c->kind == GRT_CUPTI_COPY || c->kind == GRT_CUPTI_SET)
		gpu_json_memories(rec.name, &rec);
	if (c->kind == GRT_CUPTI_COPY)
		rec.name = direction(rec.name);
	return r->record(r->arg, &rec);
}

/*
 * Reads the events of an array whose opening bracket was read; an array without brackets may end after any
 * event.
 */
static int gpu_json_take_events(struct reader *r, bool bare)
{
	struct event e;
	int ret = 0;

	if (grt_json_char(&r->in, ']'))
		return 0;
	do {
		if (bare && (grt_json_peek_word(&r->in) == ']' || grt_json_peek(&r->in) < 0))
			break;
		if (grt_json_peek_word(&r->in) != '{') {
			if (!grt_json_skip(&r->in))
				return -EPROTO;
			continue;
		}
		e = (struct event){.phase = "", .bytes = GRT_BYTES_UNKNOWN};
		r->name.len = r->label.len = 0;
		if (!grt_json_char(&r->in, '{') || !take_object(r, &e, false))
			return -EPROTO;
		ret = gpu_json_hand_out(r, &e);
	} while (!ret && grt_json_char(&r->in, ','));
	if (ret)
		return ret;
	return grt_json_char(&r->in, ']') ||
			       (bare && grt_json_peek_word(&r->in) < 0 && grt_json_is_whole(&r->in))
		       ? 0
		       : -EPROTO;
}

/* Reads the members of distributedInfo, whose opening brace was read. */
static bool take_rank(struct reader *r)
{
	char key[KEY_MAX];
	bool good;

	if (grt_json_char(&r->in, '}'))
		return true;
	do {
		if (!grt_json_short(&r->in, key, sizeof(key)) || !grt_json_char(&r->in, ':'))
			return false;
		if (!strcmp(key, "rank"))
			good = grt_json_u64(&r->in, 0, &r->count->rank, &r->count->ranked);
		else if (!strcmp(key, "world_size"))
			good = grt_json_u64(&r->in, 0, &r->count->world, NULL);
		else
			good = grt_json_skip(&r->in);
	} while (good && grt_json_char(&r->in, ','));
	return good && grt_json_char(&r->in, '}');
}

static int take_trace(struct reader *r)
{
	char key[KEY_MAX];
	int ret = 0;

	if (grt_json_char(&r->in, '['))
		return gpu_json_take_events(r, true);
	if (!grt_json_char(&r->in, '{'))
		return -EPROTO;
	if (grt_json_char(&r->in, '}'))
		return 0;
	do {
		if (!grt_json_short(&r->in, key, sizeof(key)) || !grt_json_char(&r->in, ':'))
			return -EPROTO;
		if (!strcmp(key, "traceEvents") && grt_json_char(&r->in, '['))
			ret = gpu_json_take_events(r, false);
		else if (!strcmp(key, "distributedInfo") && grt_json_char(&r->in, '{'))
			ret = take_rank(r) ? 0 : -EPROTO;
		else if (!strcmp(key, "baseTimeNanoseconds"))
			ret = grt_json_u64(&r->in, 0, &r->count->base, NULL) ? 0 : -EPROTO;
		else if (!grt_json_skip(&r->in))
			ret = -EPROTO;
	} while (!ret && grt_json_char(&r->in, ','));
	return ret ? ret : grt_json_char(&r->in, '}') ? 0 : -EPROTO;
}

/* ------------------------------------------------------------------ files */

bool grt_gpu_json_takes(const char *head, size_t len)
{
	size_t i = 0;

	while (i < len && strchr(" \t\r\n", head[i]) && head[i])
		i++;
	return grt_json_is_gzip(head, len) || (i < len && (head[i] == '{' || head[i] == '['));
}

/* Accepts what was read so far if the only error is that the input ends. */
static int forgive_end(struct reader *r, int ret)
{
	r->count->cut = ret == -EPROTO && r->count->lines && grt_json_peek(&r->in) < 0 && !r->in.error;
	return r->count->cut ? 0 : ret;
}

static int gpu_json_read(int fd, struct grt_cupti_count *count,
			 int (*record)(void *arg, const struct grt_cupti_record *r), void *arg, bool all)
{
	struct reader r = {.count = count, .record = record, .arg = arg, .all = all};
	int ret;

	r.name = (struct grt_json_text){.at = malloc(GRT_GPU_JSON_NAME_MAX), .room = GRT_GPU_JSON_NAME_MAX};
	r.label = (struct grt_json_text){.at = malloc(GRT_GPU_JSON_NAME_MAX), .room = GRT_GPU_JSON_NAME_MAX};
	ret = grt_json_open(&r.in, fd);
	if (!r.name.at || !r.label.at)
		ret = -ENOMEM;
	if (!ret)
		ret = forgive_end(&r, take_trace(&r));
	if (r.in.error)
		ret = r.in.error;
	grt_json_close(&r.in);
	free(r.name.at);
	free(r.label.at);
	return ret;
}

int grt_gpu_json_read(int fd, struct grt_cupti_count *count,
		      int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	return gpu_json_read(fd, count, record, arg, false);
}

int grt_gpu_json_read_all(int fd, struct grt_cupti_count *count,
			  int (*record)(void *arg, const struct grt_cupti_record *r), void *arg)
{
	return gpu_json_read(fd, count, record, arg, true);
}
