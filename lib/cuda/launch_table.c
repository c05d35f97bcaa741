// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of CUDA work, and of the time when the GPU was idle. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/units.h"
#include "codes/cuda_codes.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/rows.h"
#include "launch_groups.h"
#include "occupancy.h"

#define G(member) offsetof(struct grt_launch_group, member)

static void get_calls(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->number = g->kernels + g->copies + g->probed;
}

/* Several processes may use a device. */
static void launch_table_get_pid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_launch_group *)row)->pid;
	cell->absent = ((const struct grt_launch_group *)row)->several;
}

/* The number of the device, if all processes that use it have the same number for it. */
static void launch_table_get_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->number = g->gpu;
	cell->absent = g->several && g->device->several;
}

static const struct grt_ev_device *launch_table_device(const void *row)
{
	const struct grt_device *d = ((const struct grt_launch_group *)row)->device;

	return d && d->known ? &d->is : NULL;
}

static void launch_table_get_uuid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_device *d = launch_table_device(row);

	cell->text = d ? d->uuid : NULL;
	cell->absent = !d;
}

static void launch_table_get_device_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_device *d = ((const struct grt_launch_group *)row)->device;

	cell->text = d ? d->name : NULL;
}

static void launch_table_get_device_bus(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_device *d = launch_table_device(row);

	cell->text = d ? d->bus : NULL;
	cell->absent = !d || !d->bus[0];
}

/* A number of 32 bits of its DEVICE record; 0: unknown. */
static void launch_table_get_of_device(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_ev_device *d = launch_table_device(row);
	uint32_t n = 0;

	if (d)
		memcpy(&n, (const char *)d + offset, sizeof(n));
	cell->number = n;
	cell->absent = !n;
}

static void launch_table_get_memory(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_device *d = launch_table_device(row);

	cell->number = d ? d->memory : 0;
	cell->absent = !cell->number;
}

/* The mean part of a multiprocessor's warps that its launches can use. */
static void launch_table_get_occupancy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->number = g->fits ? g->fits_sum / g->fits : 0;
	cell->absent = !g->fits;
}

static void launch_table_get_limits(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->text = grt_occupancy_limits(g->limits);
	cell->absent = !g->fits;
}

static void launch_table_get_waves(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->text = "";
	cell->number = g->fits ? (uint64_t)(g->waves_sum / g->fits) : 0;
	cell->absent = !g->fits;
}

/* In thousandths: 9000 is 9.0. */
static void launch_table_get_capability(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_ev_device *d = launch_table_device(row);

	cell->text = "";
	cell->number = d ? d->major * 1000U + d->minor * 100U : 0;
	cell->absent = !cell->number;
}

static void launch_table_get_sum(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->number = grt_hist_sum(&g->exec);
	cell->absent = !g->exec.weight;
}

static void launch_table_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t total = ((const struct grt_launch_view *)view)->total;

	cell->number = grt_share_down(grt_hist_sum(&((const struct grt_launch_group *)row)->exec), total);
	cell->absent = !total;
}

static void launch_table_get_busy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;
	uint64_t span = ((const struct grt_launch_view *)view)->span;

	cell->number = grt_share_down(grt_busy_sum(&g->busy), span);
	cell->absent = !g->exec.weight || !span;
	cell->estimated = g->busy.cut;
}

static void launch_table_get_exec(struct grt_cell *cell, const void *view, const void *row, int what)
{
	grt_cell_hist(cell, &((const struct grt_launch_group *)row)->exec, what);
}

static void launch_table_get_latency(struct grt_cell *cell, const void *view, const void *row, int what)
{
	grt_cell_hist(cell, &((const struct grt_launch_group *)row)->latency, what);
}

/* Bytes copied divided by the time, in thousandths of a byte per second. */
static void get_bandwidth(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;
	uint64_t ns = grt_hist_sum(&g->exec) - g->unsized_ns;
	unsigned __int128 rate = ns ? (unsigned __int128)g->timed_bytes * 1000000000000ULL / ns : 0;

	cell->text = "B/s";
	cell->absent = !ns;
	cell->estimated = rate > INT64_MAX;
	cell->number = cell->estimated ? INT64_MAX : (uint64_t)rate;
}

/* If all copies are of unknown size, the sum is unknown as well. */
static void launch_table_get_bytes(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_launch_group *g = row;

	memcpy(&cell->number, (const char *)row + offset, sizeof(cell->number));
	cell->absent = g->unsized && g->unsized == g->copies;
}

/* A recording of an older program does not have this. */
static void launch_table_get_pageable(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	memcpy(&cell->number, (const char *)row + offset, sizeof(cell->number));
	cell->absent = !((const struct grt_launch_group *)row)->placed;
	if (offset == offsetof(struct grt_launch_group, pageable_bytes))
		cell->absent |= ((const struct grt_launch_group *)row)->unsized ==
				((const struct grt_launch_group *)row)->copies;
}

/* Mean depth, in thousandths. */
static void launch_table_get_depth(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch_group *g = row;

	cell->text = "";
	cell->absent = !g->depths;
	if (g->depths)
		cell->number = (uint64_t)((unsigned __int128)g->depth_sum * 1000 / g->depths);
}

static void launch_table_get_depth_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_launch_group *)row)->depth_max;
	cell->absent = !((const struct grt_launch_group *)row)->depths;
}

/* @offset: of a time in what the kernel waited for. */
static void launch_table_get_wait(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	memcpy(&cell->number, (const char *)row + offset, sizeof(cell->number));
	cell->absent = !((const struct grt_launch_group *)row)->waits.waits;
}

static void launch_table_get_had_by(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint32_t pid = ((const struct grt_launch_group *)row)->waits.pid;
	const struct grt_names *names = ((const struct grt_launch_view *)view)->names;

	cell->text = pid ? grt_process_name(names, pid) : NULL;
}

/* clang-format off */

#define NUMBER(name, member, where, help) {name, grt_cell_u64, G(member), GRT_CELL_NUMBER, where, help}
#define SMALL(name, member, where, help)  {name, grt_cell_u32, G(member), GRT_CELL_NUMBER, where, help}
#define TIME(name, what, member, where, help) {name, launch_table_get_##member, what, GRT_CELL_NS, where, help}

#define PROCESS(where) \
	SMALL("pid", pid, GRT_COLUMN_ALL | (where), "process id"), \
	{"process", grt_cell_pointed, G(process), GRT_CELL_TEXT, (where) & GRT_COLUMN_TELLS ? GRT_COLUMN_MORE : GRT_COLUMN_ALL, "name of the program"}

#define TIMES \
	{"calls", get_calls, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "kernels, copies, and calls of probed functions"}, \
	{"total", launch_table_get_sum, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time on the GPU, ns"}, \
	{"share", launch_table_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the GPU time of all rows, percent"}, \
	TIME("avg", GRT_HIST_MEAN, exec, GRT_COLUMN_ALL, "mean time on the GPU of one kernel or copy, ns"), \
	TIME("min", 0, exec, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "shortest time on the GPU of one, ns"), \
	TIME("p50", 500, exec, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "median time on the GPU of one, ns"), \
	TIME("p99", 990, exec, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "99th percentile of the time on the GPU of one, ns"), \
	TIME("max", 1000, exec, GRT_COLUMN_ALL, "longest time on the GPU of one, ns")

#define LATENCY \
	TIME("latency_avg", GRT_HIST_MEAN, latency, GRT_COLUMN_MORE, "mean time from the call to the start on the GPU, ns"), \
	TIME("latency_p50", 500, latency, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "median time from the call to the start on the GPU, ns"), \
	TIME("latency_p99", 990, latency, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "99th percentile of the time from the call to the start on the GPU, ns"), \
	TIME("latency_max", 1000, latency, GRT_COLUMN_MORE, "longest time from the call to the start on the GPU, ns")

/* Columns for traces that say which process had the GPU. */
#define WAIT(name, member, where, help) {name, launch_table_get_wait, G(waits.member), GRT_CELL_NS, (where) | GRT_COLUMN_TELLS, help}
#define WAITS \
	WAIT("wait_others", others, GRT_COLUMN_ALL, "part of the time from call to start in which another process had the GPU, sum, ns"), \
	WAIT("wait_own", own, GRT_COLUMN_MORE, "rest of that time in which earlier work of the same stream was not complete, sum, ns"), \
	WAIT("wait_unknown", unknown, GRT_COLUMN_MORE, "rest of that time without a known cause, sum, ns"), \
	WAIT("wait_longest", longest, GRT_COLUMN_MORE, "longest time that one call waited for other processes, ns"), \
	{"had_pid", grt_cell_id, G(waits.pid), GRT_CELL_NUMBER, GRT_COLUMN_MORE | GRT_COLUMN_TELLS, "process id of the other process that had the GPU longest in these waits"}, \
	{"had_by", launch_table_get_had_by, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "name of that process"}

/* Columns for a process that was recorded in random windows: estimates for the whole time. */
#define SCALED \
	{"est_calls", grt_cell_estimate_works, offsetof(struct grt_launch_group, total), GRT_CELL_NUMBER, GRT_COLUMN_MORE | GRT_COLUMN_TELLS, "calls in the whole recording, estimated from the recorded windows"}, \
	{"est_total", grt_cell_estimate_value, offsetof(struct grt_launch_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "time on the GPU in the whole recording, estimated from the recorded windows, ns"}, \
	{"est_from", grt_cell_estimate_low, offsetof(struct grt_launch_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "lower bound of the 95 % interval of est_total, ns"}, \
	{"est_to", grt_cell_estimate_high, offsetof(struct grt_launch_group, total), GRT_CELL_NS, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "upper bound of the 95 % interval of est_total, ns"}, \
	{"share_from", grt_cell_estimate_low, offsetof(struct grt_launch_group, part), GRT_CELL_PERCENT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "lower bound of the 95 % interval of the share of all GPU time, percent"}, \
	{"share_to", grt_cell_estimate_high, offsetof(struct grt_launch_group, part), GRT_CELL_PERCENT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "upper bound of the 95 % interval of the share of all GPU time, percent"}

#define REST \
	NUMBER("untimed", untimed, GRT_COLUMN_MORE, "records without time stamps, or without an end"), \
	NUMBER("before_call", before_call, GRT_COLUMN_MORE, "records that start before their call"), \
	SCALED, \
	{.name = NULL}

#define UUID {"uuid", launch_table_get_uuid, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"}
#define BUSY {"busy", launch_table_get_busy, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the trace, percent"}
#define BYTES(where) \
	{"bytes", launch_table_get_bytes, G(bytes), GRT_CELL_BYTES, where, "bytes copied or set, where the size is known"}, \
	NUMBER("unsized", unsized, where | GRT_COLUMN_TELLS, "copies and fills of unknown size, which bytes does not include")

static const struct grt_column kernel_columns[] = {
	{"kernel", grt_cell_pointed, G(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	PROCESS(GRT_COLUMN_TELLS), TIMES, LATENCY,
	{"occupancy", launch_table_get_occupancy, 0, GRT_CELL_PERCENT, GRT_COLUMN_MORE, "theoretical occupancy: warps that a multiprocessor can hold at once, as a share of its limit, mean, percent"},
	{"limited_by", launch_table_get_limits, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "what limits the occupancy: warps, blocks, registers or shared memory"},
	{"waves", launch_table_get_waves, 0, GRT_CELL_AMOUNT, GRT_COLUMN_MORE, "blocks of the kernel divided by the blocks that the device can hold at once, mean"},
	WAITS, REST,
};

static const struct grt_column stack_columns[] = {
	PROCESS(GRT_COLUMN_TELLS),
	SMALL("node", number, GRT_COLUMN_MORE, "number of the stack in its process, 0: none"),
	TIMES, LATENCY,
	{"stack", grt_cell_pointed, G(brief), GRT_CELL_TEXT, GRT_COLUMN_ALL, "most telling frames of the launch's stack, innermost first"},
	{"frames", grt_cell_pointed, G(name), GRT_CELL_TEXT, GRT_COLUMN_MORE, "whole stack, outermost frame first, separated by ;"},
	REST,
};

static const struct grt_column stream_columns[] = {
	PROCESS(0),
	SMALL("gpu", gpu, GRT_COLUMN_ALL, "number of the device in its process"),
	UUID,
	SMALL("context", context, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "number of the CUDA context"),
	SMALL("stream", stream, GRT_COLUMN_ALL, "number of the stream"),
	BUSY,
	NUMBER("kernels", kernels, GRT_COLUMN_ALL, "kernels that ran"),
	NUMBER("copies", copies, GRT_COLUMN_ALL, "copies and fills"),
	TIMES, LATENCY,
	{"depth_avg", launch_table_get_depth, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "kernels and copies of the stream that were not complete when a call was made, mean"},
	{"depth_max", launch_table_get_depth_max, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_LEAST, "largest number of kernels and copies of the stream that were not complete when a call was made"},
	BYTES(GRT_COLUMN_MORE), REST,
};

#define OF_DEVICE(name, member, help) \
	{name, launch_table_get_of_device, offsetof(struct grt_ev_device, member), GRT_CELL_NUMBER, GRT_COLUMN_MORE, help}

static const struct grt_column device_columns[] = {
	{"pid", launch_table_get_pid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id; none: the device has work of several processes"},
	{"process", grt_cell_pointed, G(process), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program, or the number of processes that used the device"},
	{"gpu", launch_table_get_gpu, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process; none: each process has another one for it"},
	{"device", launch_table_get_device_name, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the device"},
	UUID,
	{"bus", launch_table_get_device_bus, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "PCI address of the device"},
	OF_DEVICE("sms", sms, "number of multiprocessors"),
	OF_DEVICE("sm_clock", sm_clock, "clock of the multiprocessors, kHz"),
	OF_DEVICE("memory_clock", memory_clock, "clock of the memory, kHz"),
	{"memory", launch_table_get_memory, 0, GRT_CELL_BYTES, GRT_COLUMN_MORE, "memory of the device, B"},
	{"capability", launch_table_get_capability, 0, GRT_CELL_AMOUNT, GRT_COLUMN_MORE, "compute capability of the device"},
	BUSY,
	NUMBER("kernels", kernels, GRT_COLUMN_ALL, "kernels that ran"),
	NUMBER("copies", copies, GRT_COLUMN_ALL, "copies and fills"),
	TIMES, LATENCY, BYTES(GRT_COLUMN_ALL), REST,
};

static const struct grt_column copy_columns[] = {
	{"copy", grt_cell_pointed, G(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "source and destination: Host, Device, Array, Peer"},
	PROCESS(GRT_COLUMN_TELLS),
	SMALL("gpu", gpu, GRT_COLUMN_ALL, "number of the device in its process; none: its number differs between processes"),
	UUID,
	BYTES(GRT_COLUMN_ALL),
	{"bandwidth", get_bandwidth, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "bytes divided by the time of the copies, B/s"},
	{"pageable", launch_table_get_pageable, G(pageable), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "copies from or to pageable memory of the host"},
	{"pageable_bytes", launch_table_get_pageable, G(pageable_bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of copies from or to pageable memory of the host"},
	TIMES, LATENCY, REST,
};

/* Rows are struct grt_launch_group, the view is a struct grt_launch_view. */
static const struct grt_table launch_tables[GRT_LAUNCH_BYS] = {
	[GRT_LAUNCH_BY_KERNEL] = {"kernels", "kernels", kernel_columns, GRT_MARK_ESTIMATED},
	[GRT_LAUNCH_BY_STACK] = {"stacks", "launching stacks", stack_columns, GRT_MARK_ESTIMATED},
	[GRT_LAUNCH_BY_STREAM] = {"streams", "streams", stream_columns, GRT_MARK_ESTIMATED},
	[GRT_LAUNCH_BY_DEVICE] = {"devices", "devices", device_columns, GRT_MARK_ESTIMATED},
	[GRT_LAUNCH_BY_COPY] = {"copies", "copies", copy_columns, GRT_MARK_ESTIMATED},
};

/* clang-format on */

/* --------------------------------------------------------------- analysis */

/* Kernels in the summary. */
#define SUMMARY_ROWS 10

static void launch_table_note_watched(struct grt_pass *pass, const struct grt_launch_watched *w)
{
	const struct grt_estimate_watched watched = {
		.windows = w->windows, .missed = w->missed, .watched = w->watched, .of = w->of};

	grt_estimate_note(pass->notes, &watched);
	if (w->windows && w->beside)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel or copy was|kernels and copies were} launched just before or after a window: no row includes {it|them}",
			w->beside);
}

/* Notes records that are missing in the rows, or were not joined. */
static void note_unjoined(struct grt_launch_groups *g, struct grt_pass *pass,
			  const struct grt_launches_count *n, uint64_t beside)
{
	if (n->unknown > beside)
		grt_note(pass->notes,
			 "the launch of %" PRIu64 " {kernel or copy|kernels and copies} is not in the trace",
			 n->unknown - beside);
	if (n->by_gpu)
		grt_note(pass->notes, "%" PRIu64 " {kernel was|kernels were} launched by kernels", n->by_gpu);
	if (n->nothing)
		grt_note(pass->notes, "%" PRIu64 " {launch has|launches have} no kernel in the trace",
			 n->nothing);
	if (n->doubled)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {launch has|launches have} the correlation id of an earlier one, which got the work of both: {its|their} stacks and latencies may be wrong",
			n->doubled);
	if (n->open || n->no_stamps)
		grt_note(pass->notes,
			 "%" PRIu64 " {record|records} had not ended and %" PRIu64
			 " {has|have} no time stamps: {its|their} time is not counted",
			 n->open, n->no_stamps);
	if (n->launches_lost || n->gpu_lost)
		grt_note(pass->notes,
			 "lost: %" PRIu64 " {launch|launches}, %" PRIu64 " {record|records} of the GPU",
			 n->launches_lost, n->gpu_lost);
	if (grt_launch_groups_over(g))
		grt_note(pass->notes,
			 "%" PRIu64 " {record is|records are} not in the table (limit of %u rows)",
			 grt_launch_groups_over(g), GRT_LAUNCH_GROUPS_MAX);
	if (grt_launch_groups_waits_over(g))
		grt_note(
			pass->notes,
			"%" PRIu64
			" {slice|slices} of the GPU's time, kernels and processes exceeded a limit: some waits are unknown",
			grt_launch_groups_waits_over(g));
}

/* Copies of pageable memory, and what to do. */
static void launch_table_note_pageable(struct grt_pass *pass, const struct grt_launch_group *const *list,
				       uint64_t n)
{
	uint64_t copies = 0, bytes = 0, unsized = 0;

	for (uint64_t i = 0; i < n; i++) {
		copies += list[i]->pageable;
		bytes += list[i]->pageable_bytes;
		unsized += list[i]->unsized;
	}
	if (copies)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {copy|copies}, %s%.3g MB, {was|were} from or to pageable memory, which is slower, and calls wait "
			"for it: pin the memory (pin_memory=True of a DataLoader, Tensor.pin_memory(), "
			"cudaMallocHost, cudaHostRegister)",
			copies, unsized ? "at least " : "", (double)bytes / 1e6);
}

/* Notes copies that no sum of bytes includes. */
static void launch_table_note_unsized(struct grt_pass *pass, const struct grt_launch_group *const *list,
				      uint64_t n)
{
	uint64_t unsized = 0;

	for (uint64_t i = 0; i < n; i++)
		unsized += list[i]->unsized;
	if (unsized)
		grt_note(pass->notes,
			 "the size of %" PRIu64
			 " {copy or fill|copies and fills} is unknown: no sum of bytes includes {it|them}",
			 unsized);
}

static void note_launches(struct grt_launch_groups *g, const struct grt_part *part, struct grt_pass *pass,
			  const struct grt_launch_watched *w)
{
	struct grt_launches_count n = grt_launch_groups_count(g);

	if (n.probed && part->arg != GRT_LAUNCH_BY_STACK)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {call|calls} of probed functions: see report --by stack, flame --weight launches",
			 n.probed);
	else if (!n.kernels && !n.copies && !n.probed)
		grt_note(pass->notes, "the trace has no CUDA events: use grtrace record -e cuda -- PROG");
	note_unjoined(g, pass, &n, w->beside);
	launch_table_note_watched(pass, w);
}

/* Notes undefined names, also if there is no row left that could have had them. */
static void note_undefined(struct grt_launch_groups *g, struct grt_pass *pass)
{
	struct grt_launches_count n = grt_launch_groups_count(g);

	if (n.undefined)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {definition of stacks and names was|definitions of stacks and names were} invalid or lost",
			n.undefined);
}

static int launch_table_write_rows(const struct grt_launch_groups *g, const struct grt_part *part,
				   struct grt_pass *pass, const struct grt_launch_group *const *list,
				   uint64_t n)
{
	uint64_t shown = pass->summary && n > SUMMARY_ROWS ? SUMMARY_ROWS : grt_pass_shown(pass, part, n);
	const struct grt_launch_group **row = calloc((size_t)n + 1, sizeof(*row));
	struct grt_launch_view view = {
		.span = pass->known ? grt_launch_groups_recorded(g, pass->first, pass->last) : 0,
		.names = pass->names};
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++) {
		row[i] = list[i];
		view.total += grt_hist_sum(&list[i]->exec);
	}
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), &view, NULL);
	ret = grt_writer_list(pass->writer, part->table, &view, row, shown);
	if (shown < n)
		grt_note(pass->notes,
			 pass->summary ? "%" PRIu64 " {more kernel|more kernels}: --by kernel shows all"
				       : "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 n - shown);
	free(row);
	return ret;
}

/* ----------------------------------------------------------------- waits */

/*
 * Most sentences about kernels that waited for other processes, and the least share of their waiting time,
 * percent.
 */
#define WAITS_SHOWN 3U
#define WAITS_LEAST 20U

static int launch_table_by_others(const void *a, const void *b)
{
	const struct grt_launch_group *x = *(const struct grt_launch_group *const *)a,
				      *y = *(const struct grt_launch_group *const *)b;

	return grt_compare(y->waits.others, x->waits.others) ?: grt_compare(x->number, y->number);
}

static void launch_table_note_wait(struct grt_notes *notes, const struct grt_launch_group *g,
				   const struct grt_names *names)
{
	const struct grt_kernel_wait_sum *w = &g->waits;
	uint64_t all = w->others + w->own + w->unknown;
	char whole[GRT_UNITS_MAX], others[GRT_UNITS_MAX], most[GRT_UNITS_MAX], longest[GRT_UNITS_MAX];
	char process[GRT_PROCESS_LABEL];

	grt_process_label(grt_process_name(names, w->pid), w->pid, process);
	grt_units_ns(whole, all);
	grt_units_ns(others, w->others);
	grt_units_ns(most, w->pid_ns);
	grt_units_ns(longest, w->longest);
	grt_note(notes,
		 "%.60s of %.20s(%" PRIu32
		 ") waited %s from its calls to its beginnings: %s (%.1f %%) because other processes had the "
		 "GPU, %s for %s; at most %s at once",
		 g->name, g->process, g->pid, whole, others, 100.0 * (double)w->others / (double)all, process,
		 most, longest);
}

/* Notes the kernels that waited for a large part of their time, and for what, one sentence each. */
static int launch_table_note_waits(struct grt_launch_groups *g, struct grt_notes *notes,
				   const struct grt_names *names)
{
	const struct grt_launch_group *const *list, **row;
	int64_t n = grt_launch_groups_list(g, &list);
	unsigned int shown = 0;

	row = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	for (int64_t i = 0; i < n; i++)
		row[i] = list[i];
	qsort(row, (size_t)n, sizeof(*row), launch_table_by_others);
	for (int64_t i = 0; i < n && shown < WAITS_SHOWN && row[i]->waits.others; i++) {
		const struct grt_kernel_wait_sum *w = &row[i]->waits;

		if (w->others < (w->others + w->own + w->unknown) / 100 * WAITS_LEAST)
			continue;
		launch_table_note_wait(notes, row[i], names);
		shown++;
	}
	free(row);
	return 0;
}

/* Writes these sentences before the summary. */
static int launch_table_write_waits(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return launch_table_note_waits(state, pass->notes, pass->names);
}

/* Whether there are kernels, copies or calls of probed functions. */
static bool any_launches(const void *state)
{
	struct grt_launches_count n = grt_launch_groups_count(state);

	return n.kernels || n.copies || n.probed;
}

/* The summary has them where there are any. */
static int write_launches(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_launch_group *const *list;
	int64_t n = grt_launch_groups_list(state, &list);
	struct grt_launch_watched watched;
	int ret = 0;

	if (n < 0 || grt_launch_groups_estimate(state, &watched))
		return -ENOMEM;
	if (n || !pass->summary)
		ret = launch_table_write_rows(state, part, pass, list, (uint64_t)n);
	if (n || !pass->summary || (pass->no_jobs && any_launches(state)))
		note_launches(state, part, pass, &watched);
	if (!ret && pass->asked == part && part->arg == GRT_LAUNCH_BY_KERNEL)
		ret = launch_table_note_waits(state, pass->notes, pass->names);
	if (part->arg == GRT_LAUNCH_BY_COPY)
		launch_table_note_pageable(pass, list, (uint64_t)n);
	if (part->arg != GRT_LAUNCH_BY_KERNEL && part->arg != GRT_LAUNCH_BY_STACK)
		launch_table_note_unsized(pass, list, (uint64_t)n);
	if (!ret)
		note_undefined(state, pass);
	return ret;
}

#define BY(KIND) GRT_PART_BY | GRT_PART_NO_JOBS, GRT_LAUNCH_BY_##KIND, &launch_tables[GRT_LAUNCH_BY_##KIND]

static const struct grt_part launch_parts[] = {
	{"kernel", "CUDA kernels by name", GRT_PART_SUMMARY | BY(KERNEL), .with = "line", .any = any_launches,
	 .write = write_launches},
	{"stack", "CUDA kernels, copies and probed calls by the stack of their launch",
	 GRT_PART_TABLES | BY(STACK), .write = write_launches},
	{"stream", "CUDA work by stream, with how much was queued", BY(STREAM), .write = write_launches},
	{"device", "CUDA work by device, and when it was idle", BY(DEVICE), .with = "idle",
	 .write = write_launches},
	{"copy", "CUDA copies by direction, with their bandwidth", BY(COPY), .write = write_launches},
	{"kernel_waits", "kernels that waited for other processes, in a sentence each",
	 GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS, .write = launch_table_write_waits},
	{.name = NULL},
};

static int new_launches(void **state, struct grt_pass *pass, unsigned int parts)
{
	enum grt_launch_by by = GRT_LAUNCH_BY_KERNEL;

	while (by < GRT_LAUNCH_BYS && !(parts >> by & 1))
		by++;
	if (by == GRT_LAUNCH_BYS)
		by = GRT_LAUNCH_BY_KERNEL;
	return grt_launch_groups_new((struct grt_launch_groups **)state, by, pass->launches);
}

static void set_within(void *state, uint64_t from, uint64_t to)
{
	grt_launch_groups_within(state, from, to);
}

static void launch_table_set_span(void *state, uint64_t first, uint64_t last)
{
	grt_launch_groups_span(state, first, last);
}

static int launch_table_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_launch_groups_slice(state, e, pass->names);
}

GRT_ANALYSIS_WORK(launch_table_take_work, grt_launch_groups_work)

static int launch_table_take_nothing(void *state, const struct grt_launch *launch)
{
	return grt_launch_groups_nothing(state, launch);
}

GRT_ANALYSIS_FREE(free_launches, grt_launch_groups_free)

const struct grt_analysis grt_analysis_launch_groups = {
	.name = "launch_groups",
	.classes = GRT_IN_CLASS(slice),
	.besides = GRT_IN_CLASS(slice),
	.beyond = true,
	.late = true,
	.waits = true,
	.parts = launch_parts,
	.begin = new_launches,
	.within = set_within,
	.span = launch_table_set_span,
	.event = launch_table_take_event,
	.work = launch_table_take_work,
	.nothing = launch_table_take_nothing,
	.free = free_launches,
};
