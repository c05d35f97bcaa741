// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Memory that CUDA programs hold on each device, as a part of a timeline: the time-weighted mean in each
 * column. It includes memory that was allocated before the requested time. Memory is 16 bytes for each
 * column and device.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/containers.h"
#include "base/amount.h"
#include "base/units.h"
#include "device_memory.h"
#include "table/bars.h"
#include "table/rows.h"

/** struct memory_bar - a device, or the host where @device is NULL: how much of it is allocated, bytes */
struct memory_bar {
	const struct grt_device *device;
	struct grt_amount amount;
};

/** struct memory_bars - @bar: by number of the device, plus 1; the host is the first */
struct memory_bars {
	struct grt_timescale scale;
	struct grt_images images;
	struct grt_device_memory memory;
	struct memory_bar *bar;
	uint32_t bars;
	uint32_t used;
};

static int memory_bars_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct memory_bars *x = *state;

	grt_images_init(&x->images);
	grt_device_memory_init(&x->memory);
	return grt_timescale_init(&x->scale, pass->first, pass->last, pass->columns);
}

static int memory_bars_take(struct memory_bars *x, const struct grt_memory_change *c, uint64_t time)
{
	struct grt_amount *amount;

	if (grt_grow_zeroed(&x->bar, &x->bars, c->device + 2U, 4))
		return -ENOMEM;
	amount = &x->bar[c->device + 1U].amount;
	x->used += !grt_amount_is_set(amount);
	return grt_amount_set(amount, &x->scale, c->live, time);
}

static int memory_bars_release(void *arg, const struct grt_memory_change *c, uint64_t time)
{
	return memory_bars_take(arg, c, time);
}

static int memory_bars_process(struct memory_bars *x, const struct grt_event *e)
{
	const struct grt_image *i = grt_images_of(&x->images, e);
	int ret = i ? grt_device_memory_process(&x->memory, i, (const void *)e) : -ENOMEM;

	return ret ?: grt_images_event(&x->images, e);
}

static int memory_bars_alloc(struct memory_bars *x, const struct grt_image *i, const struct grt_event *e)
{
	struct grt_memory_change change[2];
	uint32_t device;
	int n, ret = grt_device_memory_place(&x->images, i, (const void *)e, &device);

	if (ret)
		return ret;
	n = grt_device_memory_event(&x->memory, i, (const void *)e, device, 0, change);
	for (int k = 0; k < n && !ret; k++)
		ret = memory_bars_take(x, &change[k], e->time);
	return n < 0 ? n : ret;
}

static int memory_bars_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct memory_bars *x = state;
	const struct grt_image *i;
	int ret;

	if (e->type == GRT_EV_PROCESS && e->time <= x->scale.last)
		return memory_bars_process(x, e);
	/* a call shows, too, that its process goes on */
	if (e->type != GRT_EV_ALLOC && !(e->type == GRT_EV_LAUNCH && x->memory.ends))
		return grt_images_event(&x->images, e);
	if (e->time > x->scale.last)
		return 0;
	i = grt_images_of(&x->images, e);
	ret = i ? grt_device_memory_release(&x->memory, i, memory_bars_release, x) : -ENOMEM;
	return ret || e->type != GRT_EV_ALLOC ? ret : memory_bars_alloc(x, i, e);
}

/* ------------------------------------------------------------------- rows */

static int memory_bars_finish(void *state, struct grt_pass *pass)
{
	struct memory_bars *x = state;

	for (uint32_t i = 0; i < x->bars; i++) {
		if (!grt_amount_is_set(&x->bar[i].amount))
			continue;
		x->bar[i].device = i ? x->images.devices.device[i - 1] : NULL;
		grt_amount_end(&x->bar[i].amount, &x->scale);
	}
	return 0;
}

/* Return: the @n-th bar; NULL: there are fewer */
static const struct memory_bar *memory_bars_at(const struct memory_bars *x, uint32_t n)
{
	for (uint32_t i = 0; i < x->bars; i++)
		if (grt_amount_is_set(&x->bar[i].amount) && !n--)
			return &x->bar[i];
	return NULL;
}

static bool memory_bars_bar(const void *state, const struct grt_pass *pass, uint32_t i, struct grt_bar *out)
{
	const struct memory_bars *x = state;
	const struct memory_bar *bar = memory_bars_at(x, i);
	char label[GRT_DEVICE_LABEL];

	if (!bar)
		return false;
	if (bar->device)
		snprintf(out->label, sizeof(out->label), "%s memory",
			 grt_device_label(&x->images.devices, bar->device, label));
	else
		snprintf(out->label, sizeof(out->label), "pinned memory of the host");
	out->look = GRT_BAR_AMOUNT;
	out->column = bar->amount.mean;
	out->drawn = true;
	grt_units_amount(out->behind, sizeof(out->behind),
			 bar->amount.peak < INT64_MAX / 1000 ? (int64_t)bar->amount.peak * 1000 : INT64_MAX,
			 "B");
	return true;
}

static const struct grt_column memory_bars_columns[] = {
	{"gpu", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "number of the device in its process; none: the host"},
	{"uuid", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "UUID of the device"},
	{"peak", grt_row_get, 2, GRT_CELL_BYTES, GRT_COLUMN_ALL, "largest amount allocated at a time, B"},
	{"live", grt_row_get, 3, GRT_CELL_BYTES, GRT_COLUMN_ALL, "amount allocated at the end, B"},
	{"columns", grt_row_get, 4, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "mean over time of the memory allocated in each column, B"},
	{.name = NULL},
};

static const struct grt_table memory_bars_table = {"memory", "CUDA memory", memory_bars_columns, 0};

static int memory_bars_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct memory_bars *x = state;
	const struct memory_bar *bar;
	int ret = 0;

	grt_writer_table(pass->writer, &memory_bars_table, NULL);
	for (uint32_t i = 0; (bar = memory_bars_at(x, i)) && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		grt_row_add(&c, (struct grt_cell){.number = bar->device ? bar->device->gpu : 0,
						  .absent = !bar->device});
		grt_row_text(&c, bar->device && bar->device->known ? bar->device->is.uuid : NULL);
		grt_row_number(&c, bar->amount.peak);
		grt_row_number(&c, bar->amount.now);
		grt_row_add(&c, (struct grt_cell){.list = bar->amount.mean, .number = x->scale.columns});
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static void memory_bars_notes(void *state, struct grt_pass *pass)
{
	const struct memory_bars *x = state;

	if (x->used)
		grt_note(pass->notes,
			 "memory: what CUDA programs allocated, mean over time, drawn as shares of the "
			 "largest mean of the row; after it, the maximum");
	if (x->memory.unknown)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {free belongs|frees belong} to memory whose allocation is not in the trace",
			 x->memory.unknown);
	if (x->memory.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {allocation is|allocations are} not counted: there were too many",
			 x->memory.over);
	grt_device_memory_notes(&x->memory, pass->health, pass->notes);
}

GRT_ANALYSIS_ANY(memory_bars_any, memory_bars, used)

static void memory_bars_free(void *state)
{
	struct memory_bars *x = state;

	for (uint32_t i = 0; i < x->bars; i++) {
		grt_amount_free(&x->bar[i].amount);
	}
	free(x->bar);
	grt_device_memory_free(&x->memory);
	grt_images_free(&x->images);
	grt_timescale_free(&x->scale);
}

static const struct grt_part memory_bars_parts[] = {
	{"memory", "CUDA memory", GRT_PART_BARS, .tables = GRT_TABLES(&memory_bars_table),
	 .any = memory_bars_any, .write = memory_bars_write, .bar = memory_bars_bar},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_memory_bars = {
	.name = "memory_bars",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.parts = memory_bars_parts,
	.size = sizeof(struct memory_bars),
	.begin = memory_bars_begin,
	.event = memory_bars_event,
	.finish = memory_bars_finish,
	.notes = memory_bars_notes,
	.free = memory_bars_free,
};
