// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Columns of a ROCm report, see rocm_table.h. Most are a member of the row: its
 * place is the column's argument.
 */
#include "rocm_table.h"

#include <stdlib.h>
#include <string.h>

#include "table/cells.h"

#define AT(type, member) ((int)offsetof(type, member))

static void get_u64(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	memcpy(&cell->number, (const char *)row + arg, sizeof(uint64_t));
	cell->absent = cell->number == GRT_ROCM_UNKNOWN;
}

/* As above, for values of which 0 means unknown. */
static void get_some(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	get_u64(cell, view, row, arg);
	cell->absent |= !cell->number;
}

/* A time stamp; 0 means unknown, so it is converted only here. */
static void rocm_table_get_stamp(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	get_some(cell, view, row, arg);
	cell->number -= cell->absent ? 0 : ((const struct grt_rocm_view *)view)->zero;
}

/* Addresses are names, and printed as in the log. The writer copies a text before the next column is read. */
static const char *hex_text(uint64_t address)
{
	static _Thread_local char text[8][24];
	static _Thread_local unsigned int next;
	char *to = text[next++ % 8];

	snprintf(to, sizeof(text[0]), "0x%llx", (unsigned long long)address);
	return to;
}

static void get_address(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t v;

	memcpy(&v, (const char *)row + arg, sizeof(v));
	cell->text = hex_text(v);
	cell->absent = !v || v == GRT_ROCM_UNKNOWN;
}

/* struct grt_rocm_times */
static const struct grt_rocm_times *rocm_table_times(const void *row, int arg)
{
	return (const struct grt_rocm_times *)((const char *)row + arg);
}

static void rocm_table_get_sum(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = rocm_table_times(row, arg)->sum;
	cell->absent = !rocm_table_times(row, arg)->n;
}

static void rocm_table_get_mean(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_times *t = rocm_table_times(row, arg);

	cell->absent = !t->n;
	cell->number = t->n ? (uint64_t)(((unsigned __int128)t->sum + t->n / 2) / t->n) : 0;
}

static void rocm_table_get_min(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = rocm_table_times(row, arg)->min;
	cell->absent = !rocm_table_times(row, arg)->n;
}

static void rocm_table_get_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = rocm_table_times(row, arg)->max;
	cell->absent = !rocm_table_times(row, arg)->n;
}

#define TIMES(prefix, type, member)                                                              \
	{prefix "total", rocm_table_get_sum, AT(type, member),                                   \
	 GRT_CELL_NS,	 GRT_COLUMN_ALL,     "sum of the known durations"},                      \
		{prefix "mean", rocm_table_get_mean, AT(type, member),                           \
		 GRT_CELL_NS,	GRT_COLUMN_ALL,	     "mean of the known durations"},             \
		{prefix "min", rocm_table_get_min, AT(type, member),                             \
		 GRT_CELL_NS,  GRT_COLUMN_MORE,	   "shortest known duration"},                   \
	{                                                                                        \
		prefix "max", rocm_table_get_max, AT(type, member), GRT_CELL_NS, GRT_COLUMN_ALL, \
			"longest known duration"                                                 \
	}

/* Creations */

static const char *const type_names[] = {"compute", "SDMA", "compute AQL", "SDMA XGMI", "SDMA by engine"};

static void get_n(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_view *v = view;

	cell->number = (uint64_t)((const struct grt_rocm_creation *)row - v->creation) + 1;
}

static void rocm_table_get_type(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	cell->number = c->type;
	cell->absent = c->type == GRT_ROCM_UNKNOWN;
	if (c->type < sizeof(type_names) / sizeof(type_names[0]))
		cell->text = type_names[c->type];
}

static void get_ioctl_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	cell->absent = !c->end;
	cell->number = c->end ? c->end - c->begin : 0;
}

static void get_before(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	cell->absent = !c->asked;
	cell->inferred = true;
	cell->number = c->asked ? c->begin - c->asked : 0;
}

static void get_after(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	cell->absent = !c->told || !c->end || c->told < c->end;
	cell->inferred = true;
	cell->number = cell->absent ? 0 : c->told - c->end;
}

static void get_result(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	cell->number = (uint64_t)c->ret;
	cell->absent = !c->has_ret;
}

static void get_state(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_creation *c = row;

	if (!c->end)
		cell->text = "start only";
	else if (!c->has_ret)
		cell->text = "returned";
	else
		cell->text = c->ret < 0 ? "failed" : "made";
}

#define CREATION(member) AT(struct grt_rocm_creation, member)
static const struct grt_column creation_columns[] = {
	{"creation", get_n, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the queue's creation, from 1"},
	{"time", rocm_table_get_stamp, CREATION(begin), GRT_CELL_TIME, GRT_COLUMN_ALL,
	 "time at which the ioctl began"},
	{"pid", grt_cell_id, CREATION(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"tid", grt_cell_id, CREATION(tid), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "thread id"},
	{"queue", get_address, CREATION(queue), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "address of the hardware queue in the log"},
	{"queue_id", get_u64, CREATION(qid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "KFD's id of the queue"},
	{"type", rocm_table_get_type, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "queue type"},
	{"gpu_id", get_u64, CREATION(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "KFD's id of the GPU"},
	{"doorbell", get_address, CREATION(doorbell), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "offset of the doorbell"},
	{"before", get_before, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time from the runtime's plan to the ioctl (joined by time)"},
	{"ioctl", get_ioctl_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time in the ioctl"},
	{"after", get_after, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time from the ioctl to the runtime's report (joined by time)"},
	{"result", get_result, 0, GRT_CELL_SIGNED, GRT_COLUMN_ALL, "what the ioctl returned"},
	{"state", get_state, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "made, failed, returned, or start only"},
	{.name = NULL},
};
const struct grt_table grt_rocm_creation_table = {"creations", "queue creations", creation_columns,
						  GRT_MARK_INFERRED};

/* Steps of creations */

static void get_step_n(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_rocm_step_row *)row)->n;
}

static void get_step_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_made_step *s = ((const struct grt_rocm_step_row *)row)->s;

	cell->text = arg ? grt_rocm_step_name(grt_rocm_step_of(s->name, sizeof(s->name))) : s->name;
}

static void get_step_at(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_step_row *r = row;

	cell->number = r->s->at > r->c->begin ? r->s->at - r->c->begin : 0;
}

static void get_step_took(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_step_row *r = row;

	cell->number = r->s->took;
	cell->absent = r->s->took == GRT_ROCM_UNKNOWN;
}

static void get_step_result(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_step_row *r = row;

	cell->number = (uint64_t)r->s->ret;
	cell->absent = !r->s->has_ret;
}

static const struct grt_column step_columns[] = {
	{"creation", get_step_n, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the creation"},
	{"at", get_step_at, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time since the ioctl began"},
	{"function", get_step_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of the kernel"},
	{"step", get_step_name, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what the function does"},
	{"took", get_step_took, 0, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time in the function; absent: the trace has only its start"},
	{"result", get_step_result, 0, GRT_CELL_SIGNED, GRT_COLUMN_ALL, "what the function returned"},
	{.name = NULL},
};
const struct grt_table grt_rocm_step_table = {"creation_steps", "queue creation, step by step", step_columns,
					      0};

/* Queues */

static void get_priority(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static const char *const names[] = {"low", "normal", "high"};
	const struct grt_rocm_queue *q = row;

	cell->number = q->priority;
	cell->absent = q->priority == UINT32_MAX;
	if (q->priority < 3)
		cell->text = names[q->priority];
}

static void rocm_table_get_depth(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_queue *q = row;

	cell->number = q->depth_max;
	cell->absent = !q->depth_known;
}

#define QUEUE(member) AT(struct grt_rocm_queue, member)
static const struct grt_column queue_columns[] = {
	{"hw_queue", get_address, QUEUE(queue), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "address of the hardware queue"},
	{"sw_queue", get_address, QUEUE(soft), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "address of the software queue that used it last"},
	{"pid", grt_cell_id, QUEUE(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"priority", get_priority, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "priority of the queue"},
	{"cooperative", grt_cell_u8, QUEUE(cooperative), GRT_CELL_BOOL, GRT_COLUMN_MORE,
	 "whether the queue is for cooperative launches"},
	{"size", get_some, QUEUE(size), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "size of the queue in packets"},
	{"made", rocm_table_get_stamp, QUEUE(made), GRT_CELL_TIME, GRT_COLUMN_ALL,
	 "time of its creation in the log"},
	{"gone", rocm_table_get_stamp, QUEUE(gone), GRT_CELL_TIME, GRT_COLUMN_MORE,
	 "when the queue was destroyed"},
	{"users", grt_cell_u32, QUEUE(users), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "users of the queue at the end of the trace"},
	{"dispatches", get_u64, QUEUE(dispatches), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "kernels written into it"},
	{"barriers", get_u64, QUEUE(barriers), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "barrier packets written into the queue"},
	{"packets", get_u64, QUEUE(packets), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "other packets written into the queue"},
	{"depth_max", rocm_table_get_depth, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "largest number of packets in it, where the log has it"},
	{.name = NULL},
};
const struct grt_table grt_rocm_queue_table = {"queues", "queues", queue_columns, 0};

/* What was done to queue descriptors */

static void get_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	enum grt_rocm_step step;

	memcpy(&step, (const char *)row + arg, sizeof(step));
	cell->text = grt_rocm_step_name(step);
}

#define COUNT(member) AT(struct grt_rocm_step_count, member)
static const struct grt_column mqd_columns[] = {
	{"step", get_step, COUNT(step), GRT_CELL_TEXT, GRT_COLUMN_ALL, "what was done"},
	{"calls", get_u64, COUNT(calls), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of calls"},
	TIMES("", struct grt_rocm_step_count, took),
	{.name = NULL},
};
const struct grt_table grt_rocm_mqd_table = {"mqds", "queue descriptors (MQD) and the scheduler's queue",
					     mqd_columns, 0};

/* Kernels */

static const char *size_text(const uint32_t size[3], char *text, size_t room)
{
	snprintf(text, room, "%ux%ux%u", size[0], size[1], size[2]);
	return text;
}

static void get_kernel_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_rocm_kernel *k = row;

	cell->text = k->name[0] ? k->name : hex_text(k->object);
	cell->absent = !k->name[0] && !k->object;
}

static void get_size(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static _Thread_local char text[2][48];
	const struct grt_rocm_kernel *k = row;
	const uint32_t *size = arg ? k->group : k->grid;

	cell->text = size_text(size, text[arg], sizeof(text[0]));
	cell->absent = !size[0];
	if (k->grids_vary)
		strcat(text[arg], " ...");
}

static void get_kernel_queue(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static _Thread_local char text[32];
	const struct grt_rocm_kernel *k = row;

	snprintf(text, sizeof(text), "0x%llx%s", (unsigned long long)k->queue, k->queues_vary ? " ..." : "");
	cell->text = text;
	cell->absent = !k->queue;
}

#define KERNEL(member) AT(struct grt_rocm_kernel, member)
static const struct grt_column kernel_columns[] = {
	{"kernel", get_kernel_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "name of the kernel, or its address if the name is unknown"},
	{"pid", grt_cell_id, KERNEL(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"dispatches", get_u64, KERNEL(dispatches), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "times that the kernel was written into a queue"},
	{"only_named", get_u64, KERNEL(shaders), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "times that the log names the kernel without a dispatch"},
	{"grid", get_size, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "work items of the last dispatch; ... where they vary"},
	{"workgroup", get_size, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "work items in a workgroup"},
	{"hw_queue", get_kernel_queue, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "queue of the last dispatch; ... where there were several"},
	{"wait_mean", rocm_table_get_mean, KERNEL(wait), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean time from enqueued to dispatched"},
	{"wait_max", rocm_table_get_max, KERNEL(wait), GRT_CELL_NS, GRT_COLUMN_MORE,
	 "longest time from enqueued to dispatched"},
	{"run_mean", rocm_table_get_mean, KERNEL(run), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean time from dispatched to complete"},
	{"run_max", rocm_table_get_max, KERNEL(run), GRT_CELL_NS, GRT_COLUMN_MORE,
	 "longest time from dispatched to complete"},
	{"gpu_mean", rocm_table_get_mean, KERNEL(gpu), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean time on the GPU, by the GPU's clock"},
	{"aborted_at", get_u64, KERNEL(hangs), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "times that a queue was aborted before the kernel was complete"},
	{"gpu_total", rocm_table_get_sum, KERNEL(gpu), GRT_CELL_NS, GRT_COLUMN_MORE,
	 "sum of the times on the GPU"},
	{.name = NULL},
};
const struct grt_table grt_rocm_kernel_table = {"kernels", "kernels", kernel_columns, 0};

/* Calls, functions, layers */

#define CALL(member) AT(struct grt_rocm_call, member)
static const struct grt_column call_columns[] = {
	{"call", grt_cell_chars, CALL(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the API function"},
	{"calls", get_u64, CALL(calls), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of calls"},
	{"errors", get_u64, CALL(errors), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that returned an error"},
	{"ambiguous", get_u64, CALL(ambiguous), GRT_CELL_NUMBER, GRT_COLUMN_MORE,
	 "calls paired by name, because the log names no thread"},
	TIMES("", struct grt_rocm_call, took),
	{.name = NULL},
};
const struct grt_table grt_rocm_call_table = {"calls", "API calls by time", call_columns, 0};

#define FUNC(member) AT(struct grt_rocm_func, member)
static const struct grt_column func_columns[] = {
	{"function", grt_cell_chars, FUNC(name), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "function or event of the kernel"},
	{"step", get_step, FUNC(step), GRT_CELL_TEXT, GRT_COLUMN_ALL, "purpose of the function or event"},
	{"calls", get_u64, FUNC(calls), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of calls"},
	{"start_only", get_u64, FUNC(start_only), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "calls whose return is not in the trace"},
	{"events", get_u64, FUNC(events), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "hits of the event, or of a probe inside the function"},
	{"errors", get_u64, FUNC(errors), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "calls that returned a negative number"},
	TIMES("", struct grt_rocm_func, took),
	{.name = NULL},
};
const struct grt_table grt_rocm_func_table = {"functions", "functions and events of the kernel", func_columns,
					      0};

#define LAYER(member) AT(struct grt_rocm_layer, member)
static const struct grt_column layer_columns[] = {
	{"layer", grt_cell_pointed, LAYER(name), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "layer of the stack from the program to the GPU"},
	{"events", get_u64, LAYER(events), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "events of this layer in the trace"},
	TIMES("", struct grt_rocm_layer, took),
	{"time_is", grt_cell_pointed, LAYER(note), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "what the column time sums up"},
	{.name = NULL},
};
const struct grt_table grt_rocm_layer_table = {"layers", "time of each layer", layer_columns, 0};
