// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by roofline: how much of the GPU's memory bandwidth and tensor cores was used while each kernel
 * ran, and which of the two limits it.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/containers.h"
#include "codes/gpu_metrics.h"
#include "stack/image_frames.h"
#include "stack/images.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"
#include "trace/names.h"
#include "trace/packet.h"

/* ------------------------------------------------------------- rooflines */

/*
 * Values of a GPU's hardware counters while a kernel ran: means over time, joined by the
 * device's UUID. The counters belong to the whole device, so a value includes all
 * work in the same samples; @own_ns of a row is the kernel's own share of
 * them.
 *
 * Memory is 2 MiB for each counter of a GPU, which is two minutes of them at a thousand
 * a second, and some hundred bytes for each kernel's name.
 */

/**
 * struct grt_roofline - a kernel on a device
 * @kernel: demangled, by rooflines_finish()
 * @calls, @ns: number of runs and their time, including runs without known values
 * @area: for each counter, sum of value times time, ns; @known: the time with known values
 * @own_ns: time in samples, weighted by the kernel's share of each sample; @own_of: time in samples
 * @slot: the last sample in which it ran, @slot_ns: for so long; @interval: of the device's samples
 */
struct grt_roofline {
	uint32_t image;
	uint32_t name;
	uint32_t pid;
	char pid_text[24];
	const char *process;
	char *kernel;
	char uuid[48];
	uint64_t calls;
	uint64_t ns;
	unsigned __int128 area[GRT_METRICS];
	uint64_t known[GRT_METRICS];
	uint64_t own_ns;
	uint64_t own_of;
	uint64_t slot;
	uint64_t slot_ns;
	uint64_t interval;
};

/**
 * struct grt_rooflines - @row: sorted by time, after rooflines_finish()
 * @from, @to: kernels that ended in this time count
 * @sampled: GPUs with counters; @interval: sampling interval of the last one, ns
 * @apart: kernels on devices without counters; @unknown: those on devices without a description
 * @over: kernels and counters without room
 */
struct grt_rooflines {
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_keyed gpus;
	struct grt_keyed rows;
	struct grt_roofline **row;
	uint64_t from;
	uint64_t to;
	uint64_t interval;
	uint64_t apart;
	uint64_t unknown;
	uint64_t over;
};

/*
 * Counters of GPUs during kernels. A kernel's record comes after its end, when the values
 * of its time have arrived. If they have not, later values are unknown.
 */

#define GPUS_MAX 1024U
#define ROWS_MAX 65536U
#define POINTS_FIRST 1024U
#define POINTS_MAX 131072U

/** struct point - from @time on the counter had @value; -1: it is unknown */
struct point {
	uint64_t time;
	int64_t value;
};

/**
 * struct values - of a counter, by time
 * @begun: all values from this time on are known
 */
struct values {
	struct point *point;
	uint32_t points;
	uint32_t room;
};

/**
 * struct sampled - a GPU
 * @phase: begin of a sample; the others begin at multiples of @interval from it
 */
struct sampled {
	char uuid[48];
	uint64_t interval;
	uint64_t phase;
	struct values values[GRT_METRICS];
};

/* Begins without kernels. Return: 0 or -ENOMEM. */
static int rooflines_init(struct grt_rooflines *r)
{
	memset(r, 0, sizeof(*r));
	r->to = UINT64_MAX;
	grt_images_init(&r->images);
	grt_keyed_init(&r->gpus, sizeof(struct sampled), GPUS_MAX);
	grt_keyed_init(&r->rows, sizeof(struct grt_roofline), ROWS_MAX);
	return grt_image_frames_new(&r->frames);
}

/* Frees and empties it. */
static void rooflines_free(struct grt_rooflines *r)
{
	for (struct sampled *g = grt_keyed_oldest(&r->gpus); g; g = grt_keyed_next(&r->gpus, g))
		for (unsigned int i = 0; i < GRT_METRICS; i++)
			free(g->values[i].point);
	for (struct grt_roofline *k = grt_keyed_oldest(&r->rows); k; k = grt_keyed_next(&r->rows, k))
		free(k->kernel);
	grt_keyed_free(&r->gpus);
	grt_keyed_free(&r->rows);
	grt_images_free(&r->images);
	grt_image_frames_free(r->frames);
	free(r->row);
}

/* ------------------------------------------------------------------ values */

/* Drops the older half if there is no more room. */
static int values_make_room(struct values *v)
{
	uint32_t room = v->room ? v->room * 2 : POINTS_FIRST;
	struct point *point;

	if (v->points < v->room)
		return 0;
	if (v->room == POINTS_MAX) {
		v->points /= 2;
		memmove(v->point, v->point + v->points, v->points * sizeof(*v->point));
		return 0;
	}
	point = realloc(v->point, room * sizeof(*point));
	if (!point)
		return -ENOMEM;
	v->point = point;
	v->room = room;
	return 0;
}

static int values_add(struct values *v, uint64_t time, int64_t value)
{
	struct point *last = v->points ? &v->point[v->points - 1] : NULL;
	int ret;

	if (last && last->time >= time) {
		last->value = value;
		return 0;
	}
	ret = values_make_room(v);
	if (!ret)
		v->point[v->points++] = (struct point){time, value};
	return ret;
}

/* The last point that is not after a time; 0 also if all are after it. */
static uint32_t values_at(const struct values *v, uint64_t time)
{
	uint32_t low = 0, high = v->points;

	while (high - low > 1) {
		uint32_t middle = low + (high - low) / 2;

		if (v->point[middle].time <= time)
			low = middle;
		else
			high = middle;
	}
	return low;
}

/* Adds the values from @start to @end. */
static void values_sum(const struct values *v, uint64_t start, uint64_t end, unsigned __int128 *area,
		       uint64_t *known)
{
	for (uint32_t i = values_at(v, start); i < v->points && v->point[i].time < end; i++) {
		uint64_t from = v->point[i].time > start ? v->point[i].time : start;
		uint64_t until = i + 1 < v->points && v->point[i + 1].time < end ? v->point[i + 1].time : end;

		if (v->point[i].value < 0 || until <= from)
			continue;
		*area += (unsigned __int128)(uint64_t)v->point[i].value * (until - from);
		*known += until - from;
	}
}

static int rooflines_gpu(struct grt_rooflines *r, uint32_t device, struct sampled **out)
{
	const struct grt_key key = {{device}};

	return grt_keyed_get_or_count(&r->gpus, &key, &r->over, (void **)out);
}

static int rooflines_take_sampler(struct grt_rooflines *r, const struct grt_ev_gpu_sampler *e)
{
	struct sampled *g;
	int ret = rooflines_gpu(r, e->e.device, &g);

	if (ret || !g)
		return ret;
	memcpy(g->uuid, e->uuid, sizeof(g->uuid));
	g->uuid[sizeof(g->uuid) - 1] = '\0';
	g->interval = r->interval = e->interval;
	if (!g->phase)
		g->phase = e->e.time;
	return 0;
}

static int rooflines_take_counter(struct grt_rooflines *r, const struct grt_ev_counter *e,
				  const struct grt_names *names)
{
	uint32_t name = grt_names_find(names, GRT_NAME_COUNTER, e->counter);
	int metric = grt_metric_find(grt_names_name(names, name), grt_names_owner(names, name));
	struct sampled *g;
	int ret;

	if (metric < 0 || e->instance)
		return 0;
	ret = rooflines_gpu(r, e->e.device, &g);
	if (ret || !g)
		return ret;
	return values_add(&g->values[metric], e->e.time,
			  e->e.flags & GRT_FLAG_ENDED || e->value < 0 ? -1 : e->value);
}

/* ----------------------------------------------------------------- kernels */

static struct sampled *rooflines_find(const struct grt_rooflines *r, const char *uuid)
{
	struct sampled *g = grt_keyed_oldest(&r->gpus);

	while (g && strncmp(g->uuid, uuid, sizeof(g->uuid)) != 0)
		g = grt_keyed_next(&r->gpus, g);
	return g;
}

/* A sample has ended: weights it with the part of it in which the kernel ran. */
static void roofline_end_slot(struct grt_roofline *k)
{
	uint64_t ns = k->slot_ns < k->interval ? k->slot_ns : k->interval;

	k->own_ns += (uint64_t)((unsigned __int128)ns * ns / k->interval);
	k->own_of += ns;
	k->slot_ns = 0;
}

/* The samples during which a kernel ran; those in the middle are its own. */
static void roofline_add_slots(struct grt_roofline *k, const struct sampled *g, uint64_t start, uint64_t end)
{
	k->interval = g->interval;
	while (g->interval && start < end) {
		uint64_t slot = start > g->phase ? (start - g->phase) / g->interval : 0;
		uint64_t until = g->phase + (slot + 1) * g->interval;
		uint64_t whole = end > until ? (end - until) / g->interval : 0;

		/* time stamps of a malicious trace */
		if (until <= start)
			return;
		if (slot != k->slot && k->slot_ns)
			roofline_end_slot(k);
		k->slot = slot;
		k->slot_ns += (end < until ? end : until) - start;
		start = end < until ? end : until;
		if (whole) {
			roofline_end_slot(k);
			k->own_ns += whole * g->interval;
			k->own_of += whole * g->interval;
			start += whole * g->interval;
		}
	}
}

static int rooflines_row(struct grt_rooflines *r, const struct grt_image *i, uint32_t name,
			 const struct grt_device *device, struct grt_roofline **out)
{
	const struct grt_key key = {{i->number, name, device->number}};
	int ret = grt_keyed_get_or_count(&r->rows, &key, &r->over, (void **)out);
	struct grt_roofline *k = *out;

	if (ret || !k || k->calls)
		return ret;
	k->image = i->number;
	k->name = name;
	k->pid = i->pid;
	memcpy(k->uuid, device->is.uuid, sizeof(k->uuid));
	k->uuid[sizeof(k->uuid) - 1] = '\0';
	return 0;
}

static int rooflines_take_kernel(struct grt_rooflines *r, const struct grt_ev_gpu_kernel *e)
{
	const struct grt_image *i = grt_images_of(&r->images, &e->e);
	const struct grt_device *device = i ? grt_devices_of(&r->images.devices, i->number, e->gpu) : NULL;
	struct grt_roofline *k;
	struct sampled *g;
	int ret;

	if (!device)
		return -ENOMEM;
	if (!e->start || e->end <= e->start || e->end < r->from || e->start > r->to)
		return 0;
	g = device->known ? rooflines_find(r, device->is.uuid) : NULL;
	if (!g) {
		r->apart++;
		r->unknown += !device->known;
		return 0;
	}
	ret = rooflines_row(r, i, e->name, device, &k);
	if (ret || !k)
		return ret;
	k->calls++;
	k->ns += e->end - e->start;
	for (unsigned int m = 0; m < GRT_METRICS; m++)
		values_sum(&g->values[m], e->start, e->end < e->e.time ? e->end : e->e.time, &k->area[m],
			   &k->known[m]);
	roofline_add_slots(k, g, e->start, e->end);
	return 0;
}

/* Processes an event. Return: 0 or -ENOMEM. */
static int rooflines_event(struct grt_rooflines *r, const struct grt_event *e, const struct grt_names *names)
{
	switch (e->type) {
	case GRT_EV_GPU_SAMPLER:
		return rooflines_take_sampler(r, (const void *)e);
	case GRT_EV_COUNTER:
		return rooflines_take_counter(r, (const void *)e, names);
	case GRT_EV_GPU_KERNEL:
		return rooflines_take_kernel(r, (const void *)e);
	}
	/* of an image, only names and devices are used here */
	if (grt_class_of[e->type] != GRT_CLASS_image || e->type == GRT_EV_NODE)
		return 0;
	return grt_images_event(&r->images, e);
}

/* -------------------------------------------------------------------- rows */

static int rooflines_by_time(const void *a, const void *b)
{
	const struct grt_roofline *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(y->ns, x->ns) ?: grt_compare(x->image, y->image) ?: grt_compare(x->name, y->name);
}

static int rooflines_name(struct grt_rooflines *r, struct grt_roofline *k)
{
	const struct grt_image *i = r->images.image[k->image];
	size_t length;
	const char *text;
	int ret;

	k->process = grt_image_process_name(i, k->pid_text);
	if (k->kernel)
		return 0;
	ret = grt_image_kernel_name(r->frames, i, k->name, &text, &length);
	k->kernel = ret ? NULL : strndup(text, length);
	return ret ?: k->kernel ? 0 : -ENOMEM;
}

/* Names kernels and sorts rows; may be called again. Return: 0 or -ENOMEM. */
static int rooflines_finish(struct grt_rooflines *r)
{
	int ret = 0;

	for (struct grt_roofline *k = grt_keyed_oldest(&r->rows); k && !ret;
	     k = grt_keyed_next(&r->rows, k)) {
		if (k->slot_ns)
			roofline_end_slot(k);
		ret = rooflines_name(r, k);
	}
	free(r->row);
	r->row = NULL;
	return ret ?: grt_keyed_list(&r->rows, rooflines_by_time, (void ***)&r->row);
}

/* The mean of a counter, in its own unit. Return: whether it is known. */
static bool roofline_mean(const struct grt_roofline *row, enum grt_metric_id metric, uint64_t *mean)
{
	uint64_t known = row->known[metric];

	*mean = known ? (uint64_t)((row->area[metric] + known / 2) / known) : 0;
	return known;
}

/* -------------------------------------------------------- roofline table */

/* From this value on, a kernel is at a roof, in thousandths of a percent of it. */
#define AT_ROOF 60000U
/* Rows that are shown beside another table. */
#define TOP_KERNELS 10U

static int roofline_table_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	return rooflines_init(*state);
}

static void roofline_table_within(void *state, uint64_t from, uint64_t to)
{
	struct grt_rooflines *r = state;

	r->from = from;
	r->to = to;
}

static int roofline_table_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return rooflines_event(state, e, pass->names);
}

GRT_ANALYSIS_FINISH(roofline_table_finish, rooflines_finish)

GRT_ANALYSIS_FREE(roofline_table_free, rooflines_free)

GRT_ANALYSIS_ANY(roofline_table_any, grt_rooflines, rows.used)

/* ----------------------------------------------------------------- columns */

static void roofline_get_share(struct grt_cell *cell, const void *view, const void *row, int metric)
{
	cell->absent = !roofline_mean(row, (enum grt_metric_id)metric, &cell->number);
	cell->inferred = true;
}

/* Thousandths. */
static void roofline_get_amount(struct grt_cell *cell, const void *view, const void *row, int metric)
{
	roofline_get_share(cell, view, row, metric);
	cell->number *= 1000;
	cell->text = grt_metric_unit_name(grt_metrics_table[metric].unit);
}

static void roofline_get_own(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_roofline *k = row;

	grt_cell_share(cell, k->own_ns, k->own_of);
}

static void roofline_get_known(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_roofline *k = row;
	uint64_t known = 0;

	for (unsigned int i = 0; i < GRT_METRICS; i++)
		known = k->known[i] > known ? k->known[i] : known;
	cell->number = grt_share(known, k->ns);
}

static void roofline_get_bound(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t memory, tensor;
	bool has_memory = roofline_mean(row, GRT_METRIC_DRAM, &memory);
	bool has_tensor = roofline_mean(row, GRT_METRIC_TENSOR, &tensor);

	cell->absent = !has_memory || !has_tensor;
	cell->inferred = true;
	cell->text = memory < AT_ROOF && tensor < AT_ROOF ? "neither" : memory > tensor ? "memory" : "tensor";
}

/* clang-format off */

#define K(member) offsetof(struct grt_roofline, member)
#define SHARE(name, METRIC, where, help) {name, roofline_get_share, GRT_METRIC_##METRIC, GRT_CELL_PERCENT, where, help}
#define AMOUNT(name, METRIC, where, help) {name, roofline_get_amount, GRT_METRIC_##METRIC, GRT_CELL_AMOUNT, where, help}

static const struct grt_column roofline_columns[] = {
	{"kernel", grt_cell_pointed, K(kernel), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel"},
	{"pid", grt_cell_u32, K(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id"},
	{"process", grt_cell_pointed, K(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"uuid", grt_cell_chars, K(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	{"calls", grt_cell_u64, K(calls), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often the kernel ran"},
	{"total", grt_cell_u64, K(ns), GRT_CELL_NS, GRT_COLUMN_ALL, "time on the GPU, ns"},
	{"own", roofline_get_own, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the sampled time in which this kernel ran; the rest belongs to other work or idle time, which the next columns include; percent"},
	{"known", roofline_get_known, 0, GRT_CELL_PERCENT, GRT_COLUMN_MORE, "share of the kernel's time that has counter samples, percent"},
	SHARE("dram", DRAM, GRT_COLUMN_ALL, "bandwidth of the GPU's memory in use while the kernel ran, percent of its peak"),
	SHARE("tensor", TENSOR, GRT_COLUMN_ALL, "time in which the tensor cores worked, percent"),
	{"bound", roofline_get_bound, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "roof that is in use for 60 % or more: memory, tensor, or neither"},
	AMOUNT("dram_read", DRAM_READ, GRT_COLUMN_ALL, "bytes read from the GPU's memory, B/s"),
	AMOUNT("dram_write", DRAM_WRITE, GRT_COLUMN_ALL, "bytes written to the GPU's memory, B/s"),
	SHARE("sm", SM, GRT_COLUMN_ALL, "time in which the multiprocessors had at least one warp, percent"),
	SHARE("warps", WARPS, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "warps on the multiprocessors, percent of their limit"),
	SHARE("l2", L2, GRT_COLUMN_ALL | GRT_COLUMN_LESS, "sectors requested from the L2 cache, percent of its peak"),
	SHARE("instructions", ISSUE, GRT_COLUMN_MORE, "instructions issued, percent of the peak"),
	AMOUNT("pcie_read", PCIE_READ, GRT_COLUMN_MORE, "bytes received through PCIe, B/s"),
	AMOUNT("pcie_write", PCIE_WRITE, GRT_COLUMN_MORE, "bytes sent through PCIe, B/s"),
	AMOUNT("nvlink_in", NVLINK_IN, GRT_COLUMN_MORE, "bytes received through NVLink, B/s"),
	AMOUNT("nvlink_out", NVLINK_OUT, GRT_COLUMN_MORE, "bytes sent through NVLink, B/s"),
	AMOUNT("clock", CLOCK, GRT_COLUMN_MORE, "clock of the multiprocessors, Hz"),
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table roofline_table = {
	"roofline", "kernels under the roofs of the GPU's memory and tensor cores", roofline_columns,
	GRT_MARK_INFERRED};

/* ------------------------------------------------------------------- parts */

static void roofline_table_note_rest(const struct grt_rooflines *r, struct grt_pass *pass)
{
	if (r->rows.used)
		grt_note(
			pass->notes,
			"roofline: counters cover the whole GPU, in samples of %" PRIu64
			" us, joined with kernels by device and time (inferred): they include all work of the same time",
			r->interval / 1000);
	if (r->apart)
		grt_note(pass->notes,
			 "%" PRIu64 " {kernel|kernels} ran on devices without counters, %" PRIu64
			 " of them on devices whose UUID is unknown",
			 r->apart, r->unknown);
	if (r->over)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {kernel or value is|kernels and values are} not in the roofline: there are too many names",
			r->over);
}

static int roofline_table_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_rooflines *r = state;
	bool beside = pass->asked != part;
	uint64_t all = r->rows.used, shown = grt_pass_shown(pass, part, all);

	if (beside && (!all || !(pass->verbose || pass->json)))
		return 0;
	if (beside && !pass->json && shown > TOP_KERNELS)
		shown = TOP_KERNELS;
	if (!all)
		grt_note(pass->notes, "the trace has no kernels with counters of their GPU: use "
				      "grtrace record -e cuda,gpumetrics -- PROG");
	grt_rows_sort((const void **)r->row, all, grt_pass_sort(pass, part, NULL), NULL, NULL);
	if (shown < all)
		grt_note(pass->notes,
			 beside ? "%" PRIu64 " {more kernel|more kernels}: report --by roofline shows all"
				: "%" PRIu64 " {more row|more rows}: --top 0 shows all",
			 all - shown);
	roofline_table_note_rest(r, pass);
	return grt_writer_list(pass->writer, part->table, NULL, (const void **)r->row, shown);
}

static const struct grt_part roofline_parts[] = {
	{"roofline", "use of the GPU's memory and tensor cores while each kernel ran",
	 GRT_PART_BY | GRT_PART_NO_JOBS | GRT_PART_LONG, 0, &roofline_table, .any = roofline_table_any,
	 .write = roofline_table_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_roofline_table = {
	.name = "roofline_table",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(counter),
	.besides = GRT_IN_CLASS(counter),
	.beyond = true,
	.late = true,
	.parts = roofline_parts,
	.size = sizeof(struct grt_rooflines),
	.begin = roofline_table_begin,
	.within = roofline_table_within,
	.event = roofline_table_event,
	.finish = roofline_table_finish,
	.free = roofline_table_free,
};
