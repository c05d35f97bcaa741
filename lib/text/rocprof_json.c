// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The reader of what `rocprofv3 --output-format json` writes: an object whose member "rocprofiler-sdk-tool"
 * has an element for each process (ROCprofiler-SDK to 1.0, of ROCm 7.0: generateJSON.cpp and
 * cxx/serialization/save.hpp of github.com/ROCm/rocprofiler-sdk). Records have numbers for their names,
 * agents and texts, whose tables stand in front of them; they are kept from the first reading, so that they
 * may stand anywhere.
 */
#include <errno.h>
#include <fcntl.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/json_in.h"
#include "base/containers.h"
#include "cuda_file.h"
#include "rocprof_calls.h"

#define TOOL "rocprofiler-sdk-tool"
/* Bytes at the beginning of a file that decide whether it has this format. */
#define HEAD_SEEN 4096U
#define NAME_ROOM 65536U
#define ROWS_MAX (1U << 22)
#define TEXTS_MAX (1U << 22)

/** enum rocprof_row - what a number means in an element */
enum rocprof_row {
	ROCPROF_ROW_PID,
	ROCPROF_ROW_KIND,
	ROCPROF_ROW_OPERATION,
	ROCPROF_ROW_KERNEL,
	ROCPROF_ROW_MESSAGE,
	ROCPROF_ROW_AGENT,
};

/** enum rocprof_records - of an array */
enum rocprof_records {
	ROCPROF_RECORDS_KERNELS,
	ROCPROF_RECORDS_COPIES,
	ROCPROF_RECORDS_CALLS,
	ROCPROF_RECORDS_MARKS,
};

/** struct rocprof_values - the numbers of a record */
struct rocprof_values {
	uint64_t kind, operation, thread, correlation, start, end;
	uint64_t agent, from, to, queue, stream, kernel, shared, bytes;
	uint64_t block[3], grid[3];
	bool timed, ended, streamed;
};

/**
 * struct rocprof_json - an input
 * @name: name that is being read
 * @rows: by element, enum rocprof_row and up to two numbers: a text, or a number
 * @element: number of the element that is read, from 1
 * @records: records of the array that is read
 * @early: records came before the tables, and were skipped
 * @wrong: a record of the file without times
 */
struct rocprof_json {
	int fd;
	struct grt_json_in in;
	struct grt_json_text name;
	struct grt_texts texts;
	struct grt_keyed rows;
	struct grt_rocprof_calls calls;
	uint64_t element;
	enum rocprof_records records;
	bool early;
	bool wrong;
	struct grt_cupti_count *count;
	int (*record)(void *arg, const struct grt_cupti_record *c);
	void *arg;
};

/* Takes a member of an object, or an element of an array, which has no name. Return: 0 or a negative errno */
typedef int rocprof_take_fn(struct rocprof_json *r, const char *name, void *arg);

/* ----------------------------------------------------------------- values */

static int rocprof_json_skip(struct rocprof_json *r)
{
	return grt_json_skip(&r->in) ? 0 : -EPROTO;
}

/* Reads all members of the object that follows; another value is skipped. */
static int rocprof_json_members(struct rocprof_json *r, rocprof_take_fn *take, void *arg)
{
	char key[GRT_JSON_WORD_MAX];
	int ret;

	if (!grt_json_char(&r->in, '{'))
		return rocprof_json_skip(r);
	if (grt_json_char(&r->in, '}'))
		return 0;
	do {
		if (!grt_json_short(&r->in, key, sizeof(key)) || !grt_json_char(&r->in, ':'))
			return -EPROTO;
		ret = take(r, key, arg);
	} while (!ret && grt_json_char(&r->in, ','));
	return ret ? ret : grt_json_char(&r->in, '}') ? 0 : -EPROTO;
}

static int rocprof_json_elements(struct rocprof_json *r, rocprof_take_fn *take, void *arg)
{
	int ret;

	if (!grt_json_char(&r->in, '['))
		return rocprof_json_skip(r);
	if (grt_json_char(&r->in, ']'))
		return 0;
	do
		ret = take(r, "", arg);
	while (!ret && grt_json_char(&r->in, ','));
	return ret ? ret : grt_json_char(&r->in, ']') ? 0 : -EPROTO;
}

static int rocprof_json_number(struct rocprof_json *r, uint64_t *value, bool *has)
{
	return grt_json_u64(&r->in, 0, value, has) ? 0 : -EPROTO;
}

/* Reads a text and gets its number; 0 for another value. */
static int rocprof_json_text(struct rocprof_json *r, uint32_t *number)
{
	r->name.len = 0;
	*number = 0;
	if (grt_json_peek_word(&r->in) != '"')
		return rocprof_json_skip(r);
	if (!grt_json_string(&r->in, &r->name))
		return -EPROTO;
	return r->name.len ? grt_texts_add(&r->texts, r->name.at, r->name.len, number) : 0;
}

/* ----------------------------------------------------------------- tables */

static int rocprof_json_put(struct rocprof_json *r, enum rocprof_row what, uint64_t a, uint64_t b,
			    uint64_t value)
{
	const struct grt_key key = {{r->element, what, a, b}};
	void *at;
	int ret = grt_keyed_get(&r->rows, &key, &at);

	if (!ret)
		*(uint64_t *)at = value;
	return ret;
}

/* 0: it is unknown */
static uint64_t rocprof_json_get(const struct rocprof_json *r, enum rocprof_row what, uint64_t a, uint64_t b)
{
	const struct grt_key key = {{r->element, what, a, b}};
	const uint64_t *at = grt_keyed_find(&r->rows, &key);

	return at ? *at : 0;
}

static struct grt_span rocprof_json_named(const struct rocprof_json *r, enum rocprof_row what, uint64_t a,
					  uint64_t b)
{
	uint32_t text = (uint32_t)rocprof_json_get(r, what, a, b);

	return (struct grt_span){grt_texts_get(&r->texts, text), grt_texts_length(&r->texts, text)};
}

/** struct rocprof_entry - an entry of a table: its number and contents; @better: how good the text is */
struct rocprof_entry {
	uint64_t number;
	uint64_t part;
	uint64_t value;
	unsigned int better;
};

static int rocprof_json_operation(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry *e = arg;
	uint32_t text;

	return rocprof_json_text(r, &text)
		       ?: rocprof_json_put(r, ROCPROF_ROW_OPERATION, e->number, e->part++, text);
}

static int rocprof_json_kind_member(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry *e = arg;
	uint32_t text;

	if (!strcmp(name, "operations"))
		return rocprof_json_elements(r, rocprof_json_operation, e);
	if (strcmp(name, "kind") != 0)
		return rocprof_json_skip(r);
	return rocprof_json_text(r, &text) ?: rocprof_json_put(r, ROCPROF_ROW_KIND, e->number, 0, text);
}

/* Kinds and their operations are numbered by their place. */
static int rocprof_json_kind(struct rocprof_json *r, const char *name, void *arg)
{
	uint64_t *number = arg;
	struct rocprof_entry e = {.number = (*number)++};

	return rocprof_json_members(r, rocprof_json_kind_member, &e);
}

static int rocprof_json_message_member(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry *e = arg;
	uint32_t text = 0;
	int ret;

	if (!strcmp(name, "key"))
		return rocprof_json_number(r, &e->number, NULL);
	if (strcmp(name, "value") != 0)
		return rocprof_json_skip(r);
	ret = rocprof_json_text(r, &text);
	e->value = text;
	return ret;
}

static int rocprof_json_message(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry e = {.number = 0};

	return rocprof_json_members(r, rocprof_json_message_member, &e)
		       ?: rocprof_json_put(r, ROCPROF_ROW_MESSAGE, e.number, 0, e.value);
}

static int rocprof_json_strings(struct rocprof_json *r, const char *name, void *arg)
{
	uint64_t number = 0;

	if (!strcmp(name, "buffer_records"))
		return rocprof_json_elements(r, rocprof_json_kind, &number);
	if (!strcmp(name, "marker_api"))
		return rocprof_json_elements(r, rocprof_json_message, NULL);
	return rocprof_json_skip(r);
}

/* Prefers the name of a kernel that users know to that of the linker. */
static int rocprof_json_kernel_member(struct rocprof_json *r, const char *name, void *arg)
{
	static const char *const names[] = {"kernel_name", "demangled_kernel_name", "formatted_kernel_name"};
	struct rocprof_entry *e = arg;
	uint32_t text;
	int ret;

	if (!strcmp(name, "kernel_id"))
		return rocprof_json_number(r, &e->number, NULL);
	for (unsigned int i = 0; i < sizeof(names) / sizeof(names[0]); i++) {
		if (strcmp(name, names[i]) != 0)
			continue;
		ret = rocprof_json_text(r, &text);
		if (text && i >= e->better) {
			e->better = i;
			e->value = text;
		}
		return ret;
	}
	return rocprof_json_skip(r);
}

static int rocprof_json_kernel(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry e = {.number = 0};

	return rocprof_json_members(r, rocprof_json_kernel_member, &e)
		       ?: rocprof_json_put(r, ROCPROF_ROW_KERNEL, e.number, 0, e.value);
}

static int rocprof_json_handle(struct rocprof_json *r, const char *name, void *arg)
{
	return strcmp(name, "handle") ? rocprof_json_skip(r) : rocprof_json_number(r, arg, NULL);
}

/* Numbers agents as rocprofv3 does in its tables. */
static int rocprof_json_agent_member(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry *e = arg;

	if (!strcmp(name, "id"))
		return rocprof_json_members(r, rocprof_json_handle, &e->number);
	return strcmp(name, "logical_node_id") ? rocprof_json_skip(r)
					       : rocprof_json_number(r, &e->value, NULL);
}

static int rocprof_json_agent(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry e = {.value = UINT32_MAX};

	return rocprof_json_members(r, rocprof_json_agent_member, &e)
		       ?: rocprof_json_put(r, ROCPROF_ROW_AGENT, e.number, 0, e.value + 1);
}

/* ---------------------------------------------------------------- records */

/* The places of numbers in a record: the object around them, and their names. */
static const struct {
	const char *in;
	const char *name;
	size_t at;
	size_t has;
} fields[] = {
	{"", "kind", offsetof(struct rocprof_values, kind), 0},
	{"", "operation", offsetof(struct rocprof_values, operation), 0},
	{"", "thread_id", offsetof(struct rocprof_values, thread), 0},
	{"", "start_timestamp", offsetof(struct rocprof_values, start),
	 offsetof(struct rocprof_values, timed)},
	{"", "end_timestamp", offsetof(struct rocprof_values, end), offsetof(struct rocprof_values, ended)},
	{"", "bytes", offsetof(struct rocprof_values, bytes), 0},
	{"correlation_id", "internal", offsetof(struct rocprof_values, correlation), 0},
	{"stream_id", "handle", offsetof(struct rocprof_values, stream),
	 offsetof(struct rocprof_values, streamed)},
	{"queue_id", "handle", offsetof(struct rocprof_values, queue), 0},
	{"agent_id", "handle", offsetof(struct rocprof_values, agent), 0},
	{"src_agent_id", "handle", offsetof(struct rocprof_values, from), 0},
	{"dst_agent_id", "handle", offsetof(struct rocprof_values, to), 0},
	{"dispatch_info", "kernel_id", offsetof(struct rocprof_values, kernel), 0},
	{"dispatch_info", "group_segment_size", offsetof(struct rocprof_values, shared), 0},
	{"workgroup_size", "x", offsetof(struct rocprof_values, block[0]), 0},
	{"workgroup_size", "y", offsetof(struct rocprof_values, block[1]), 0},
	{"workgroup_size", "z", offsetof(struct rocprof_values, block[2]), 0},
	{"grid_size", "x", offsetof(struct rocprof_values, grid[0]), 0},
	{"grid_size", "y", offsetof(struct rocprof_values, grid[1]), 0},
	{"grid_size", "z", offsetof(struct rocprof_values, grid[2]), 0},
};

/** struct rocprof_object - of a record; @in: the member that it is, "": the record */
struct rocprof_object {
	const char *in;
	struct rocprof_values *v;
	unsigned int depth;
};

static int rocprof_json_field(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_object *o = arg;
	struct rocprof_object inner = {name, o->v, o->depth + 1};

	if (grt_json_peek_word(&r->in) == '{' && o->depth < 4)
		return rocprof_json_members(r, rocprof_json_field, &inner);
	for (size_t i = 0; i < sizeof(fields) / sizeof(fields[0]); i++)
		if (!strcmp(o->in, fields[i].in) && !strcmp(name, fields[i].name))
			return rocprof_json_number(r, (uint64_t *)((char *)o->v + fields[i].at),
						   fields[i].has ? (bool *)((char *)o->v + fields[i].has)
								 : NULL);
	return rocprof_json_skip(r);
}

static uint64_t rocprof_json_device(const struct rocprof_json *r, uint64_t handle)
{
	uint64_t number = rocprof_json_get(r, ROCPROF_ROW_AGENT, handle, 0);

	return number && number - 1 < UINT32_MAX ? number - 1 : handle;
}

static void rocprof_json_to_kernel(const struct rocprof_json *r, const struct rocprof_values *v,
				   struct grt_cupti_record *c)
{
	c->kind = GRT_CUPTI_KERNEL;
	c->name = rocprof_json_named(r, ROCPROF_ROW_KERNEL, v->kernel, 0);
	c->device = rocprof_json_device(r, v->agent);
	c->shared = v->shared;
	memcpy(c->block, v->block, sizeof(c->block));
	memcpy(c->grid, v->grid, sizeof(c->grid));
	grt_rocprof_groups(c);
}

static void rocprof_json_to_copy(const struct rocprof_json *r, const struct rocprof_values *v,
				 struct grt_cupti_record *c)
{
	enum grt_rocprof_side side = grt_rocprof_way(c->name, c);

	c->device = rocprof_json_device(r, side == GRT_ROCPROF_FROM ? v->from : v->to);
	c->bytes = v->bytes;
}

/*
 * Converts a range of roctx: one that a thread begins and ends, or one that another thread may end. A mark
 * has no length.
 */
static void rocprof_json_to_range(const struct rocprof_json *r, const struct rocprof_values *v,
				  struct grt_cupti_record *c)
{
	struct grt_span message = rocprof_json_named(r, ROCPROF_ROW_MESSAGE, v->correlation, 0);
	bool pushed = grt_span_is(c->name, "roctxThreadRangeA") || grt_span_is(c->name, "roctxRangePushA");
	bool started = grt_span_is(c->name, "roctxProcessRangeA") || grt_span_is(c->name, "roctxRangeStartA");

	c->kind = pushed || started ? GRT_CUPTI_RANGE : GRT_CUPTI_OTHER;
	c->code = started ? 2 : 1;
	if (message.len)
		c->name = message;
}

/* Return: 0 or a negative errno */
static int rocprof_json_make(struct rocprof_json *r, const struct rocprof_values *v,
			     struct grt_cupti_record *c)
{
	*c = (struct grt_cupti_record){
		.start = v->start,
		.end = v->end,
		.correlation = v->correlation,
		.pid = rocprof_json_get(r, ROCPROF_ROW_PID, 0, 0),
		.tid = v->thread,
		.stream = v->streamed ? v->stream : v->queue,
		.bytes = GRT_BYTES_UNKNOWN,
		.name = rocprof_json_named(r, ROCPROF_ROW_OPERATION, v->kind, v->operation),
	};
	if (r->records == ROCPROF_RECORDS_KERNELS)
		rocprof_json_to_kernel(r, v, c);
	else if (r->records == ROCPROF_RECORDS_COPIES)
		rocprof_json_to_copy(r, v, c);
	else if (r->records == ROCPROF_RECORDS_MARKS)
		rocprof_json_to_range(r, v, c);
	else
		return grt_rocprof_calls_take(&r->calls, c);
	return r->records == ROCPROF_RECORDS_MARKS ? 0 : grt_rocprof_calls_work(&r->calls, c);
}

static int rocprof_json_record(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_values v = {.bytes = GRT_BYTES_UNKNOWN};
	struct rocprof_object whole = {"", &v, 0};
	struct grt_cupti_record c;
	int ret = rocprof_json_members(r, rocprof_json_field, &whole);

	if (ret)
		return ret;
	r->count->lines++;
	if (!v.timed || !v.ended || v.end < v.start) {
		r->wrong = true;
		return -EPROTO;
	}
	ret = rocprof_json_make(r, &v, &c);
	r->count->records += !ret;
	return ret ?: r->record(r->arg, &c);
}

/* Names of the arrays, of which older versions had others. */
static int rocprof_json_array(struct rocprof_json *r, const char *name, void *arg)
{
	static const struct {
		const char *name;
		enum rocprof_records records;
	} arrays[] = {
		{"kernel_dispatch", ROCPROF_RECORDS_KERNELS}, {"kernel_dispatches", ROCPROF_RECORDS_KERNELS},
		{"memory_copy", ROCPROF_RECORDS_COPIES},      {"memory_copies", ROCPROF_RECORDS_COPIES},
		{"hip_api", ROCPROF_RECORDS_CALLS},	      {"hsa_api", ROCPROF_RECORDS_CALLS},
		{"marker_api", ROCPROF_RECORDS_MARKS},
	};

	for (size_t i = 0; i < sizeof(arrays) / sizeof(arrays[0]); i++)
		if (!strcmp(name, arrays[i].name)) {
			r->records = arrays[i].records;
			return rocprof_json_elements(r, rocprof_json_record, NULL);
		}
	return rocprof_json_skip(r);
}

/* -------------------------------------------------------------- processes */

/* The first word of a command is the program. */
static int rocprof_json_word(struct rocprof_json *r, const char *name, void *arg)
{
	uint32_t *text = arg;

	return *text ? rocprof_json_skip(r) : rocprof_json_text(r, text);
}

static int rocprof_json_metadata_member(struct rocprof_json *r, const char *name, void *arg)
{
	struct rocprof_entry *e = arg;
	uint32_t text = 0;
	int ret;

	if (!strcmp(name, "pid"))
		return rocprof_json_number(r, &e->number, NULL);
	if (strcmp(name, "command") != 0)
		return rocprof_json_skip(r);
	ret = rocprof_json_elements(r, rocprof_json_word, &text);
	e->value = text;
	return ret;
}

static int rocprof_json_metadata(struct rocprof_json *r)
{
	struct rocprof_entry e = {.number = 0};
	struct grt_cupti_record c = {.kind = GRT_CUPTI_PROCESS};
	int ret = rocprof_json_members(r, rocprof_json_metadata_member, &e)
			  ?: rocprof_json_put(r, ROCPROF_ROW_PID, 0, 0, e.number);

	c.pid = e.number;
	c.name = (struct grt_span){grt_texts_get(&r->texts, (uint32_t)e.value),
				   grt_texts_length(&r->texts, (uint32_t)e.value)};
	return ret || !c.name.len ? ret : r->record(r->arg, &c);
}

/* Return: whether the tables that explain a record's numbers were read. */
static bool rocprof_json_has_tables(const struct rocprof_json *r)
{
	const struct grt_key pid = {{r->element, ROCPROF_ROW_PID}}, kind = {{r->element, ROCPROF_ROW_KIND}};

	return grt_keyed_find(&r->rows, &pid) && grt_keyed_find(&r->rows, &kind);
}

static int rocprof_json_buffers(struct rocprof_json *r)
{
	if (r->calls.whole || r->early || rocprof_json_has_tables(r))
		return rocprof_json_members(r, rocprof_json_array, NULL);
	r->early = true;
	return rocprof_json_skip(r);
}

static int rocprof_json_part(struct rocprof_json *r, const char *name, void *arg)
{
	if (!strcmp(name, "metadata"))
		return rocprof_json_metadata(r);
	if (!strcmp(name, "strings"))
		return rocprof_json_members(r, rocprof_json_strings, NULL);
	if (!strcmp(name, "kernel_symbols"))
		return rocprof_json_elements(r, rocprof_json_kernel, NULL);
	if (!strcmp(name, "agents"))
		return rocprof_json_elements(r, rocprof_json_agent, NULL);
	if (!strcmp(name, "buffer_records"))
		return rocprof_json_buffers(r);
	return rocprof_json_skip(r);
}

static int rocprof_json_process(struct rocprof_json *r, const char *name, void *arg)
{
	r->element++;
	return rocprof_json_members(r, rocprof_json_part, NULL);
}

static int rocprof_json_top(struct rocprof_json *r, const char *name, void *arg)
{
	return strcmp(name, TOOL) ? rocprof_json_skip(r)
				  : rocprof_json_elements(r, rocprof_json_process, NULL);
}

static int rocprof_json_run(struct rocprof_json *r)
{
	int ret = lseek(r->fd, 0, SEEK_SET) < 0 ? -errno : 0;

	r->element = 0;
	*r->count = (struct grt_cupti_count){.lines = 0};
	ret = ret ?: grt_json_open(&r->in, r->fd);
	if (!ret)
		ret = rocprof_json_members(r, rocprof_json_top, NULL);
	if (r->in.error)
		ret = r->in.error;
	grt_json_close(&r->in);
	return ret;
}

/* If records come before their tables, the first reading reads the file twice. */
static int rocprof_json_read(void *reader, struct grt_cupti_count *count,
			     int (*record)(void *arg, const struct grt_cupti_record *c), void *arg)
{
	struct rocprof_json *r = reader;
	int ret;

	r->count = count;
	r->record = record;
	r->arg = arg;
	ret = rocprof_json_run(r);
	if (!ret && r->early && !r->calls.whole)
		ret = rocprof_json_run(r);
	grt_rocprof_calls_end(&r->calls);
	return ret;
}

/* --------------------------------------------------------------- opening */

static int rocprof_json_judge(void *reader, const char *path, const struct grt_cupti_count *count, int code,
			      struct grt_err *err)
{
	const struct rocprof_json *r = reader;
	unsigned long long records = count->lines;

	if (code == -EPROTO && r->wrong)
		return grt_err_set(err, code, "it has no times, or ends before it begins",
				   "rocprofv3 --output-format json again", "%s: record %llu: cannot read",
				   path, records);
	if (code == -EPROTO)
		return grt_err_set(err, code, "it is no JSON, or ends before its trace does",
				   "jq . PATH, which says where; rocprofv3 --output-format json again",
				   "%s: record %llu: cannot read", path, records + 1);
	if (code == -ENODATA)
		return grt_err_set(err, -EINVAL, "none of its records is a call, a kernel, a copy or a range",
				   "rocprofv3 --kernel-trace --hip-runtime-trace --memory-copy-trace -f json "
				   "-- PROGRAM",
				   "%s: nothing to read in %llu {record|records}", path, records);
	return code ? grt_err_set(err, code, strerror(-code), NULL, "%s: cannot read", path) : 0;
}

static void rocprof_json_free(void *reader)
{
	struct rocprof_json *r = reader;

	if (r->fd >= 0)
		close(r->fd);
	grt_texts_free(&r->texts);
	grt_keyed_free(&r->rows);
	grt_rocprof_calls_free(&r->calls);
	free(r->name.at);
	free(r);
}

static const struct grt_cuda_file_kind rocprof_json_kind_of_file = {
	.form = "rocprof_json",
	.nests = true,
	.shows_calls = true,
	.read = rocprof_json_read,
	.judge = rocprof_json_judge,
	.free = rocprof_json_free,
};

static bool rocprof_json_takes(const struct stat *st, const char *head, size_t len)
{
	return memmem(head, len < HEAD_SEEN ? len : HEAD_SEEN, "\"" TOOL "\"", sizeof("\"" TOOL "\"") - 1);
}

static int rocprof_json_open(struct grt_session *s, int fd, struct grt_err *err)
{
	struct rocprof_json *r = calloc(1, sizeof(*r));
	int ret = -ENOMEM;

	if (!r)
		return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot open", s->path);
	r->name = (struct grt_json_text){.at = malloc(NAME_ROOM), .room = NAME_ROOM};
	grt_texts_init(&r->texts, TEXTS_MAX);
	grt_keyed_init(&r->rows, sizeof(uint64_t), ROWS_MAX);
	grt_rocprof_calls_init(&r->calls);
	r->fd = fcntl(fd, F_DUPFD_CLOEXEC, 0);
	if (r->fd < 0)
		ret = -errno;
	if (r->fd >= 0 && r->name.at)
		return grt_cuda_file_open(s, &rocprof_json_kind_of_file, r, err);
	rocprof_json_free(r);
	return grt_err_set(err, ret, strerror(-ret), NULL, "%s: cannot open", s->path);
}

const struct grt_reader grt_reader_rocprof_json = {
	.name = "rocprof_json",
	.begins = "{",
	.takes = rocprof_json_takes,
	.open = rocprof_json_open,
};
