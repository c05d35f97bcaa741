// SPDX-License-Identifier: GPL-2.0
/* The tables of `grtrace top`: GPUs, engines, processes. */
#include <string.h>

#include "table/cells.h"
#include "table/rows.h"
#include "top.h"

static const char *const source_names[TOP_SOURCES] = {
	[TOP_SLICES] = "slices",
	[TOP_JOBS] = "jobs",
	[TOP_COUNTERS] = "counters",
	[TOP_KERNELS] = "kernels",
};

static const struct grt_names *top_names(const struct top *t)
{
	return grt_jobs_names(t->jobs);
}

/* @offset: of a struct top_figure in the row. */
static void top_get_figure(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct top_figure *f = (const void *)((const char *)row + offset);

	cell->number = f->value;
	cell->absent = !f->known;
	cell->inferred = f->inferred;
	cell->estimated = f->least;
}

/* Converts a count in an update to a rate per second. */
static void top_put_rate(struct grt_cell *cell, const struct top *t, const struct top_figure *f)
{
	uint64_t ns = t->to - t->from;

	cell->text = "/s";
	cell->absent = !f->known || !ns;
	if (!cell->absent)
		cell->number = (uint64_t)((unsigned __int128)f->value * 1000 * GRT_NS_PER_S / ns);
}

static void top_get_rate(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	top_put_rate(cell, view, (const void *)((const char *)row + offset));
}

static void top_put_engine(struct grt_cell *cell, const struct top *t, const struct top_engine *engine)
{
	const struct grt_gpu_place *at = &engine->at;
	const struct grt_names *names = top_names(t);

	cell->number = engine->part ? engine->stream : at->place;
	cell->absent = at->source == TOP_SLICES || (at->source == TOP_KERNELS && !engine->part);
	if (engine->part)
		cell->text = engine->name;
	else if (at->source == GRT_GPU_JOBS)
		cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, at->place));
	else if (at->source == GRT_GPU_COUNTERS)
		cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_COUNTER, at->place));
}

static void top_put_engine_at(struct grt_cell *cell, const struct top *t, uint32_t number)
{
	if (number < t->engines)
		top_put_engine(cell, t, &t->engine[number]);
	else
		cell->absent = true;
}

static void top_put_device(struct grt_cell *cell, const struct top *t, const struct top_gpu *gpu)
{
	cell->number = gpu->device;
	cell->text = top_gpu_name(t, gpu);
	cell->absent = !gpu->device && !cell->text;
}

static void top_put_process(struct grt_cell *cell, const struct top *t, uint32_t pid, uint32_t name)
{
	cell->text = pid ? grt_process_name(top_names(t), pid) : "unknown";
	if (!cell->text && name)
		cell->text = grt_names_owner(top_names(t), name);
}

/* ----------------------------------------------------------------------- GPUs */

static void top_gpu_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_put_device(cell, view, row);
}

static void top_gpu_get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_gpu *gpu = row;

	cell->text = source_names[gpu->source];
	cell->absent = !gpu->busy.known;
}

static void top_gpu_get_engine(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_gpu *gpu = row;

	top_put_engine_at(cell, view, gpu->engine);
	cell->absent |= !gpu->busy.known;
}

static void top_gpu_get_value(struct grt_cell *cell, const void *view, const void *row, int value)
{
	static const char *const units[TOP_VALUES] = {
		[TOP_CLOCK] = "Hz",
		[TOP_POWER] = "uW",
		[TOP_TEMPERATURE] = "mC",
		[TOP_MEMORY] = "B",
	};

	top_get_figure(cell, view, &((const struct top_gpu *)row)->value[value], 0);
	cell->text = units[value];
}

/* 0 is known only if a source records Xids. */
static void top_gpu_get_xids(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_gpu *gpu = row;

	cell->number = gpu->xids;
	cell->absent = !gpu->xids && !((const struct top *)view)->sees_xids;
}

/* clang-format off */

static const struct grt_column gpu_columns[] = {
	{"device", top_gpu_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "device number of the GPU, major << 20 | minor"},
	{"device_name", top_gpu_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU, else its address, else its driver"},
	{"busy", top_get_figure, offsetof(struct top_gpu, busy), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "time that the GPU was in use, percent: from its own counter, else from slices or kernels, else that of its busiest ring or engine"},
	{"source", top_gpu_get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "source of busy: slices, jobs, kernels or counters"},
	{"ring", top_gpu_get_engine, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "ring or engine to which busy refers; absent: the whole GPU"},
	{"ring_name", top_gpu_get_engine, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring, or of the engine's counter"},
	{"rate", top_get_rate, offsetof(struct top_gpu, jobs), GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "jobs that ended, slices, or kernels and copies, per second"},
	{"clock", top_gpu_get_value, TOP_CLOCK, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "clock, Hz; of several clocks the fastest"},
	{"power", top_gpu_get_value, TOP_POWER, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "power, uW; of several sensors the largest"},
	{"temperature", top_gpu_get_value, TOP_TEMPERATURE, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "temperature, thousandths of a degree Celsius; of several sensors the largest"},
	{"memory", top_gpu_get_value, TOP_MEMORY, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "memory of the card in use, B"},
	{"throttle", grt_cell_chars, offsetof(struct top_gpu, throttle), GRT_CELL_TEXT, GRT_COLUMN_ALL, "why the driver throttles the GPU: reasons, or none"},
	{"xids", top_gpu_get_xids, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "Xid errors of NVIDIA's driver since top started"},
	{.name = NULL},
};

const struct grt_table top_gpu_table = {"gpus", "GPUs", gpu_columns, GRT_MARK_ESTIMATED | GRT_MARK_INFERRED};

/* clang-format on */

int top_by_device(const void *a, const void *b)
{
	const struct top_gpu *x = a, *y = b;

	return (x->device > y->device) - (x->device < y->device) ?: (x->text > y->text) - (x->text < y->text);
}

/* -------------------------------------------------------------------- engines */

static void top_engine_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_put_device(cell, view, top_gpu_at(view, ((const struct top_engine *)row)->gpu));
}

static void top_engine_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_put_engine(cell, view, row);
}

static void top_engine_get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = source_names[((const struct top_engine *)row)->at.source];
}

/* clang-format off */

static const struct grt_column engine_columns[] = {
	{"device", top_engine_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "device number of the GPU, major << 20 | minor"},
	{"device_name", top_engine_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU, else its address, else its driver"},
	{"ring", top_engine_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring of the jobs, stream of the kernels, or id of the engine's counter; absent: the whole GPU"},
	{"ring_name", top_engine_get_ring, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring, or of the engine's counter"},
	{"source", top_engine_get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "source of busy: slices, jobs, kernels or counters"},
	{"busy", top_get_figure, offsetof(struct top_engine, busy), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "time in which a job or kernel ran, a context was on it, or the driver counted use by processes, percent"},
	{"rate", top_get_rate, offsetof(struct top_engine, jobs), GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "jobs that ended, slices, or kernels and copies, per second"},
	{"queue_p99", top_get_figure, offsetof(struct top_engine, queue), GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of t_queue of the jobs that ended, ns"},
	{.name = NULL},
};

const struct grt_table top_engine_table = {"engines", "rings and engines", engine_columns, GRT_MARK_ESTIMATED | GRT_MARK_INFERRED};

/* clang-format on */

/* --------------------------------------------------- processes on an engine */

static const struct top_engine *top_share_engine(const void *view, const void *row)
{
	return &((const struct top *)view)->engine[((const struct top_share *)row)->engine];
}

static void top_share_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_engine_get_device(cell, view, top_share_engine(view, row), arg);
}

static void top_share_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_engine_get_ring(cell, view, top_share_engine(view, row), arg);
}

static void top_share_get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_engine_get_source(cell, view, top_share_engine(view, row), arg);
}

static void top_share_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_share *s = row;

	top_put_process(cell, view, s->pid, s->name);
}

/* clang-format off */

static const struct grt_column share_columns[] = {
	{"device", top_share_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "device number of the GPU, major << 20 | minor"},
	{"device_name", top_share_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU, else its address, else its driver"},
	{"ring", top_share_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring of the jobs, stream of the kernels, or id of the engine's counter; absent: the whole GPU"},
	{"ring_name", top_share_get_ring, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring, or of the engine's counter"},
	{"pid", grt_cell_id, offsetof(struct top_share, pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", top_share_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process; unknown: no event names the process of these jobs"},
	{"share", top_get_figure, offsetof(struct top_share, share), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the time for which the process had the ring, engine or GPU, percent"},
	{"source", top_share_get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "source of the share: slices, jobs, kernels or counters"},
	{"rate", top_get_rate, offsetof(struct top_share, jobs), GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "jobs that ended, slices, or kernels and copies, per second"},
	{"p50", top_get_figure, offsetof(struct top_share, middle), GRT_CELL_NS, GRT_COLUMN_ALL, "median of the lengths of jobs, slices or kernels, ns"},
	{"p99", top_get_figure, offsetof(struct top_share, most), GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of the lengths of jobs, slices or kernels, ns"},
	{.name = NULL},
};

const struct grt_table top_share_table = {"shares", "rings and engines by process", share_columns, GRT_MARK_ESTIMATED | GRT_MARK_INFERRED};

/* clang-format on */

/* ------------------------------------------------------------------ processes */

static void top_process_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	top_put_device(cell, view, top_gpu_at(view, ((const struct top_process *)row)->gpu));
}

static void top_process_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_process *p = row;

	top_put_process(cell, view, p->pid, p->name);
}

static void top_process_get_source(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_process *p = row;

	cell->text = source_names[p->source];
	cell->absent = !p->share.known;
}

static void top_process_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_process *p = row;

	top_put_engine_at(cell, view, p->engine);
	cell->absent |= !p->share.known;
}

static void top_process_get_cgroup(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_gpu_processes_cgroup(((const struct top *)view)->shares,
					      ((const struct top_process *)row)->pid);
}

/* clang-format off */

static const struct grt_column process_columns[] = {
	{"pid", grt_cell_id, offsetof(struct top_process, pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", top_process_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process; unknown: no event names the process of these jobs"},
	{"device", top_process_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "device number of the GPU, major << 20 | minor"},
	{"device_name", top_process_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU, else its address, else its driver"},
	{"share", top_get_figure, offsetof(struct top_process, share), GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the time for which the process had the ring, engine or GPU that it used most, percent"},
	{"ring", top_process_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring or engine that the process used most; absent: the whole GPU"},
	{"ring_name", top_process_get_ring, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring, or of the engine's counter"},
	{"source", top_process_get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "source of the share: slices, jobs, kernels or counters"},
	{"rate", top_get_rate, offsetof(struct top_process, jobs), GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "jobs that ended, slices, or kernels and copies, per second"},
	{"queue_p99", top_get_figure, offsetof(struct top_process, queue), GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile of t_queue of all its jobs that ended, ns"},
	{"memory", top_get_figure, offsetof(struct top_process, memory), GRT_CELL_BYTES, GRT_COLUMN_ALL, "memory of the process that is resident on the GPU, B"},
	{"gpu_wait", top_get_figure, offsetof(struct top_process, wait), GRT_CELL_PERCENT, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "time that its threads waited for jobs, percent of the update; those of several threads add up"},
	{"runnable", top_get_figure, offsetof(struct top_process, runnable), GRT_CELL_PERCENT, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "time that its threads were ready to run without a CPU, percent; those of several threads add up"},
	{"frames", top_get_rate, offsetof(struct top_process, frames), GRT_CELL_AMOUNT, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "frames that the process showed, per second"},
	{"late", top_get_figure, offsetof(struct top_process, late), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "late frames: those that took 1.5 times the median of the last minute, or longer"},
	{"cgroup", top_process_get_cgroup, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "path of the process's control group"},
	{.name = NULL},
};

const struct grt_table top_process_table = {"processes", "processes", process_columns, GRT_MARK_ESTIMATED | GRT_MARK_INFERRED};

/* clang-format on */

/* --------------------------------------------------------------------- stacks */

static void top_stack_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_stack *s = row;

	top_put_process(cell, view, s->pid, s->name);
}

static void top_stack_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_stack *s = row;

	cell->number = s->ring;
	cell->text = grt_names_name(top_names(view), grt_names_find(top_names(view), GRT_NAME_RING, s->ring));
	cell->absent = s->ring == GRT_RING_NONE;
}

static void top_stack_get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top_figure jobs = {.value = ((const struct top_stack *)row)->jobs, .known = true};

	top_put_rate(cell, view, &jobs);
}

static void top_stack_get_text(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct top *t = view;

	cell->text = top_stacks_text(&t->stacks, row, t->room, TOP_ROOM);
}

/* clang-format off */

static const struct grt_column stack_columns[] = {
	{"time", top_get_figure, offsetof(struct top_stack, time), GRT_CELL_NS, GRT_COLUMN_ALL, "time on the GPU of the jobs that ended, and of kernels and copies whose records came, ns"},
	{"rate", top_stack_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "these jobs, kernels and copies, per second"},
	{"pid", grt_cell_id, offsetof(struct top_stack, pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "process id"},
	{"process", top_stack_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "name of the process; unknown: no event names the process of these jobs"},
	{"ring", top_stack_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "ring of the jobs; unknown for kernels and copies"},
	{"ring_name", top_stack_get_ring, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring, or of the engine's counter"},
	{"stack", top_stack_get_text, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "functions that submitted or launched them, innermost first; absent: they have no stack"},
	{.name = NULL},
};

const struct grt_table top_stack_table = {"stacks", "stacks that submitted the jobs, or launched the kernels and copies", stack_columns, GRT_MARK_ESTIMATED | GRT_MARK_INFERRED};

/* clang-format on */
