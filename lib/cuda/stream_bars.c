// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * When CUDA's devices and streams were busy, as a part of a timeline. A device has the work of all
 * processes, if their records say that it is the same one. Busy is the union of the kernels and copies,
 * exact to the ns: CUPTI's records come in no order, so they are stored until the trace has ended, in 16
 * bytes each for the device and for the stream.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/busy.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/say.h"
#include "stack/images.h"
#include "table/bar_rows.h"

/* Most devices and streams; work of further ones is counted. */
#define STREAMS_MAX 1024U
#define NO_STREAM UINT32_MAX

struct stream_bar {
	struct grt_bar_row bar;
	const struct grt_device *device;
	uint32_t pid;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream; /* NO_STREAM: the device */
	bool several;	 /* processes */
	uint64_t kernels;
	uint64_t copies;
	uint64_t busy;
	struct grt_interval *ran;
	uint64_t used, room;
};

struct stream_bars {
	struct grt_bar_rows bars;
	struct grt_images images;
	uint64_t untimed;
};

static int stream_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct stream_bars *x = *state;

	grt_images_init(&x->images);
	return grt_bar_rows_begin(&x->bars, pass, sizeof(struct stream_bar), STREAMS_MAX);
}

/* The properties of a kernel or copy. */
struct stream_work {
	uint64_t start, end;
	uint32_t gpu, context, stream;
	bool copy;
};

static int stream_bars_add(struct stream_bars *x, const struct grt_event *e, const struct stream_work *w,
			   const struct grt_device *device, uint32_t context, uint32_t stream)
{
	const struct grt_key key = {{device->number, stream == NO_STREAM ? 0 : e->ctx,
				     stream == NO_STREAM ? 0 : e->pid, (uint64_t)context << 32 | stream}};
	struct stream_bar *row;
	int ret = grt_bar_rows_get(&x->bars, &key, &row);

	if (ret || !row)
		return ret;
	row->several |= row->device && row->pid != e->pid;
	row->device = device;
	row->pid = e->pid;
	row->gpu = w->gpu;
	row->context = context;
	row->stream = stream;
	row->copies += w->copy;
	row->kernels += !w->copy;
	if (grt_grow(&row->ran, &row->room, row->used + 1, 64))
		return -ENOMEM;
	row->ran[row->used++] = (struct grt_interval){w->start, w->end};
	return 0;
}

static int stream_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	const struct grt_ev_gpu_copy *c = (const void *)e;
	const struct grt_device *device;
	struct stream_bars *x = state;
	const struct grt_image *image;
	struct stream_work w;

	if (e->type == GRT_EV_GPU_KERNEL)
		w = (struct stream_work){k->start, k->end, k->gpu, k->context, k->cuda_stream, false};
	else if (e->type == GRT_EV_GPU_COPY)
		w = (struct stream_work){c->start, c->end, c->gpu, c->context, c->cuda_stream, true};
	else
		return grt_images_event(&x->images, e);
	if (!w.start || w.end < w.start) {
		x->untimed++;
		return 0;
	}
	if (w.end < x->bars.scale.first || w.start > x->bars.scale.last)
		return 0;
	image = grt_images_of(&x->images, e);
	device = image ? grt_devices_of(&x->images.devices, image->number, w.gpu) : NULL;
	if (!device)
		return -ENOMEM;
	return stream_bars_add(x, e, &w, device, 0, NO_STREAM)
		       ?: stream_bars_add(x, e, &w, device, w.context, w.stream);
}

/* ------------------------------------------------------------------- rows */

static int stream_bars_by_start(const void *a, const void *b)
{
	const struct grt_interval *x = a, *y = b;

	return grt_compare(x->from, y->from);
}

/* The union, column by column. */
static void stream_bars_sum(const struct stream_bars *x, struct stream_bar *row)
{
	uint64_t done = 0;

	qsort(row->ran, row->used, sizeof(*row->ran), stream_bars_by_start);
	for (uint64_t i = 0; i < row->used; i++) {
		const struct grt_interval *r = &row->ran[i];

		if (r->to <= done)
			continue;
		row->busy += grt_timescale_fill(&x->bars.scale, row->bar.column,
						r->from > done ? r->from : done, r->to);
		done = r->to;
	}
	free(row->ran);
	row->ran = NULL;
}

/* A device comes before its streams, of which the busiest is the first. */
static int stream_bars_compare(const void *a, const void *b)
{
	const struct stream_bar *x = *(void *const *)a, *y = *(void *const *)b;

	if (x->device != y->device && x->device->known && y->device->known)
		return x->device->number < y->device->number ? -1 : 1;
	if (x->device != y->device && x->device->known != y->device->known)
		return x->device->known ? -1 : 1;
	if (x->device == y->device && (x->stream == NO_STREAM) != (y->stream == NO_STREAM))
		return x->stream == NO_STREAM ? -1 : 1;
	if (x->pid != y->pid)
		return x->pid < y->pid ? -1 : 1;
	if (x->gpu != y->gpu)
		return x->gpu < y->gpu ? -1 : 1;
	if ((x->stream == NO_STREAM) != (y->stream == NO_STREAM))
		return x->stream == NO_STREAM ? -1 : 1;
	return grt_compare(y->busy, x->busy) ?: grt_compare(x->stream, y->stream);
}

static int stream_bars_finish(void *state, struct grt_pass *pass)
{
	struct stream_bars *x = state;

	for (void *r = grt_keyed_oldest(&x->bars.rows); r; r = grt_keyed_next(&x->bars.rows, r))
		stream_bars_sum(x, r);
	return grt_bar_rows_finish(&x->bars, stream_bars_compare);
}

/* The row of a device is in front of those of its streams. */
static bool stream_bars_is_shared(const struct stream_bars *x, const struct grt_device *device)
{
	const struct stream_bar *row;
	uint32_t i = 0;

	while ((row = grt_bar_rows_at(&x->bars, i)) && row->device != device)
		i++;
	return row && row->several;
}

static bool stream_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *bar)
{
	const struct stream_bars *x = state;
	const struct stream_bar *row = grt_bar_rows_at(&x->bars, i);
	char label[GRT_DEVICE_LABEL];
	char process[GRT_PROCESS_LABEL];

	if (!row)
		return false;
	grt_process_label(grt_process_name(pass->names, row->pid), row->pid, process);
	if (row->stream == NO_STREAM && row->several)
		grt_say_text(bar->label, sizeof(bar->label), "%s %" PRIu32 " {process|processes}",
			     grt_device_label(&x->images.devices, row->device, label), row->device->users);
	else if (row->stream == NO_STREAM)
		snprintf(bar->label, sizeof(bar->label), "%s %s",
			 grt_device_label(&x->images.devices, row->device, label), process);
	else if (stream_bars_is_shared(x, row->device))
		snprintf(bar->label, sizeof(bar->label), "  stream %" PRIu32 " %s", row->stream, process);
	else
		snprintf(bar->label, sizeof(bar->label), "  stream %" PRIu32 "%s", row->stream,
			 !row->copies	 ? ", kernels"
			 : !row->kernels ? ", copies"
					 : "");
	bar->column = row->bar.column;
	bar->busy = row->busy;
	bar->drawn = true;
	return true;
}

#define NUMBER(name, n, help)                                               \
	{                                                                   \
		name, grt_row_get, n, GRT_CELL_NUMBER, GRT_COLUMN_ALL, help \
	}

static const struct grt_column stream_bars_columns[] = {
	NUMBER("pid", 0, "process id; none: the device has work of several processes"),
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	NUMBER("gpu", 2, "number of the device in its process; none: its number differs between processes"),
	{"uuid", grt_row_get, 10, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	NUMBER("context", 3, "number of the CUDA context; none: a row of the whole device"),
	NUMBER("stream", 4, "number of the stream; none: a row of the whole device"),
	NUMBER("kernels", 5, "kernels that run at least partly in the span"),
	NUMBER("copies", 6, "copies and fills that run at least partly in the span"),
	{"busy", grt_row_get, 7, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time in which at least one kernel or copy ran, ns"},
	{"share", grt_row_get, 8, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "share of the span in which at least one ran, percent"},
	{"columns", grt_row_get, 9, GRT_CELL_LIST, GRT_COLUMN_MACHINE, "busy time in each column, ns"},
	{.name = NULL},
};

static const struct grt_table stream_bars_table = {"streams", "CUDA devices and streams", stream_bars_columns,
						   0};

static void stream_bars_cells(const void *state, const void *at, const struct grt_pass *pass,
			      struct grt_row_cells *c)
{
	const struct stream_bars *x = state;
	const struct stream_bar *row = at;
	uint64_t span = pass->known ? grt_windows_sum(&x->images.windows, pass->first, pass->last) : 0;
	bool device = row->stream == NO_STREAM;

	grt_row_add(c, (struct grt_cell){.number = row->pid, .absent = row->several});
	grt_row_text(c, row->several ? NULL : grt_process_name(pass->names, row->pid));
	grt_row_add(c, (struct grt_cell){.number = row->gpu, .absent = row->several && row->device->several});
	grt_row_add(c, (struct grt_cell){.number = row->context, .absent = device});
	grt_row_add(c, (struct grt_cell){.number = row->stream, .absent = device});
	grt_row_number(c, row->kernels);
	grt_row_number(c, row->copies);
	grt_bar_rows_put_busy(c, row->busy, span);
	grt_bar_rows_put(&x->bars, row, c);
	grt_row_text(c, row->device->known ? row->device->is.uuid : NULL);
}

static int stream_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct stream_bars *x = state;

	return grt_bar_rows_write(&x->bars, pass, &stream_bars_table, stream_bars_cells, x);
}

static void stream_bars_notes(void *state, struct grt_pass *pass)
{
	const struct stream_bars *x = state;

	if (x->untimed)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel or copy without stamps or an end is|kernels and copies without stamps or an end are} not drawn",
			x->untimed);
	if (x->bars.over)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel or copy belongs|kernels and copies belong} to streams without a row (limit of %u rows)",
			x->bars.over, STREAMS_MAX);
}

GRT_ANALYSIS_ANY(stream_bars_any, stream_bars, bars.rows.used)

static void stream_bars_free(void *state)
{
	struct stream_bars *x = state;

	for (struct stream_bar *r = grt_keyed_oldest(&x->bars.rows); r; r = grt_keyed_next(&x->bars.rows, r))
		free(r->ran);
	grt_bar_rows_free(&x->bars);
	grt_images_free(&x->images);
}

static const struct grt_part stream_bars_parts[] = {
	{"streams", "CUDA", GRT_PART_BARS, .tables = GRT_TABLES(&stream_bars_table), .any = stream_bars_any,
	 .write = stream_bars_write, .bar = stream_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_stream_bars = {
	.name = "stream_bars",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.late = true,
	.parts = stream_bars_parts,
	.size = sizeof(struct stream_bars),
	.begin = stream_bars_begin,
	.event = stream_bars_event,
	.finish = stream_bars_finish,
	.notes = stream_bars_notes,
	.free = stream_bars_free,
};
