// SPDX-License-Identifier: GPL-2.0
/*
 * Kernels and copies of processes with libgrtrace-cuda.so, by stream, process and GPU. Their records come
 * some tenths of a second after the work. So the shares that an update of `grtrace top` shows cover the time
 * up to the end of an earlier update, at least TOP_CUDA_LAG ago; the work before and after that moment is
 * summed up separately. If updates are shorter than TOP_CUDA_LAG, several of them show the same shares.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "stack/images.h"
#include "top.h"

/* Maximum number of streams, processes and GPUs; the work of others is only counted. */
#define ROWS 4096U
/* Maximum number of octaves, of 4 KiB each, in the histograms of an update. */
#define OCTAVES 4096U
/* Updates without work after which a row is forgotten. */
#define QUIET 60U
#define WHOLE UINT32_MAX
/* Number of streams whose rows are found without a search. */
#define NEAR 16U

/**
 * struct top_cuda_row - a stream, a process on a GPU, or a GPU
 * @place: number of a stream as an engine; WHOLE: not a stream
 * @pid: 0: a GPU
 * @work: number of kernels and copies whose records came in this update; @whole: their lengths, not of a GPU
 * @busy, @next: the time in which one ran: within the time that is shown next, and after it
 * @share: the share that is shown
 */
struct top_cuda_row {
	const struct grt_device *device;
	uint32_t stream;
	uint32_t place;
	uint32_t pid;
	uint32_t quiet;
	uint64_t work;
	struct grt_hist whole;
	struct grt_busy busy;
	struct grt_busy next;
	struct top_figure share;
};

/**
 * struct top_cuda_near - for grt_keyed_near(), the rows that have the work of a stream
 */
struct top_cuda_near {
	uint32_t gpu;
	uint32_t process;
	uint32_t stream;
};

/**
 * struct top_cuda - the work of all processes
 * @numbers: number of streams so far
 * @from, @to: the time that is shown next, ns
 * @begun: the beginning of the first update
 * @late: number of records of this update whose work began in a time that was shown before
 */
struct top_cuda {
	struct grt_images images;
	struct grt_keyed rows;
	struct top_cuda_near near[NEAR];
	uint32_t numbers;
	uint32_t budget;
	uint64_t from;
	uint64_t to;
	uint64_t begun;
	uint64_t late;
	uint64_t over;
};

int top_cuda_new(struct top_cuda **out)
{
	struct top_cuda *c = calloc(1, sizeof(*c));

	*out = c;
	if (!c)
		return -ENOMEM;
	grt_images_init(&c->images);
	grt_keyed_init(&c->rows, sizeof(struct top_cuda_row), ROWS);
	c->budget = OCTAVES;
	return 0;
}

void top_cuda_from(struct top_cuda *c, uint64_t time)
{
	c->from = c->to = c->begun = time;
}

struct grt_images *top_cuda_images(struct top_cuda *c)
{
	return &c->images;
}

int top_cuda_define(struct top_cuda *c, const struct grt_event *e)
{
	return grt_images_event(&c->images, e);
}

/* ----------------------------------------------------------------- what comes in */

/**
 * struct top_work - a kernel or a copy
 * @length: how long it ran; undefined if it ends before it starts
 */
struct top_work {
	const struct grt_image *image;
	const struct grt_device *device;
	uint64_t start;
	uint64_t end;
	uint64_t correlation;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream;
	struct grt_hist_value length;
};

#define TOP_WORK(w, e)                               \
	do {                                         \
		(w)->start = (e)->start;             \
		(w)->end = (e)->end;                 \
		(w)->correlation = (e)->correlation; \
		(w)->gpu = (e)->gpu;                 \
		(w)->context = (e)->context;         \
		(w)->stream = (e)->cuda_stream;      \
	} while (0)

static inline bool top_cuda_work_of(const struct grt_event *e, struct top_work *w)
{
	if (e->type == GRT_EV_GPU_KERNEL)
		TOP_WORK(w, (const struct grt_ev_gpu_kernel *)e);
	else if (e->type == GRT_EV_GPU_COPY)
		TOP_WORK(w, (const struct grt_ev_gpu_copy *)e);
	else
		return false;
	w->length = grt_hist_value(w->end - w->start, GRT_WEIGHT_ONE, false);
	return true;
}

/* Most work is either before or after the end of the time that is shown next. */
static int top_cuda_add_time(const struct top_cuda *c, const struct top_work *w, struct top_cuda_row *row)
{
	const struct grt_interval shown = {c->from, c->to}, behind = {c->to, UINT64_MAX};
	int ret = w->start < c->to ? grt_busy_within(&row->busy, &shown, w->start, w->end) : 0;

	return ret || w->end <= c->to ? ret : grt_busy_within(&row->next, &behind, w->start, w->end);
}

static int top_cuda_add(struct top_cuda *c, const struct top_work *w, struct top_cuda_row *row)
{
	row->quiet = 0;
	row->work++;
	if (w->end < w->start)
		return 0;
	if (row->pid)
		grt_hist_put(&row->whole, &w->length, &c->budget);
	return top_cuda_add_time(c, w, row);
}

/* Finds or adds a row. @near: gets its number; @out: NULL: there is no place for it. Return: 0 or -ENOMEM */
static __attribute__((noinline)) int top_cuda_find(struct top_cuda *c, const struct grt_key *key,
						   const struct top_work *w, uint32_t *near,
						   struct top_cuda_row **out)
{
	uint32_t used = c->rows.used;
	struct top_cuda_row *row;
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&c->rows, key, &c->over, &found);

	*out = row = found;
	if (ret || !row)
		return ret;
	*near = grt_keyed_number(row);
	if (c->rows.used == used)
		return 0;
	row->device = w->device;
	row->stream = w->stream;
	row->place = key->w[2] != UINT64_MAX ? c->numbers++ : WHOLE;
	row->pid = key->w[1] != WHOLE ? w->image->pid : 0;
	return 0;
}

/* Adds work to a row. @image: WHOLE: the row of the GPU; @stream: UINT64_MAX: of all streams */
static inline int top_cuda_count(struct top_cuda *c, const struct top_work *w, uint32_t image,
				 uint64_t stream, uint32_t *near)
{
	const struct grt_key key = {{w->device->number, image, stream}};
	struct top_cuda_row *row = grt_keyed_near(&c->rows, *near, &key);
	int ret = row ? 0 : top_cuda_find(c, &key, w, near, &row);

	return ret || !row ? ret : top_cuda_add(c, w, row);
}

/* Return: how long it ran, ns; UINT64_MAX: unknown */
static uint64_t top_cuda_time_of(const struct top_work *w)
{
	return w->start && w->end >= w->start ? w->end - w->start : UINT64_MAX;
}

static int top_cuda_add_work(struct top_cuda *c, const struct top_work *w)
{
	struct top_cuda_near *near = &c->near[(w->context + w->stream) % NEAR];
	uint32_t image = w->image->number;

	c->late += w->start < c->from && c->from > c->begun;
	return top_cuda_count(c, w, WHOLE, UINT64_MAX, &near->gpu)
		       ?: top_cuda_count(c, w, image, UINT64_MAX, &near->process)
		       ?: top_cuda_count(c, w, image, (uint64_t)w->context << 32 | w->stream, &near->stream);
}

int top_cuda_event(struct top_cuda *c, const struct grt_event *e, struct top_stacks *stacks,
		   uint64_t *counted)
{
	struct grt_image *image;
	struct top_work w;
	bool work = top_cuda_work_of(e, &w);

	if (e->type != GRT_EV_LAUNCH && !work)
		return 0;
	/* the library was asked before the first update began */
	if (work && e->time < c->begun)
		return 0;
	*counted += work;
	image = grt_images_of(&c->images, e);
	if (image && !work)
		return top_stacks_launch(stacks, image, e);
	w.image = image;
	w.device = image ? grt_devices_of(&c->images.devices, image->number, w.gpu) : NULL;
	if (!w.device)
		return -ENOMEM;
	return top_stacks_work(stacks, image, w.correlation, top_cuda_time_of(&w))
		       ?: top_cuda_add_work(c, &w);
}

/* ------------------------------------------------------------------- an update */

/* The time after the one that is shown now is shown next. */
static void top_cuda_turn(struct top_cuda_row *row)
{
	grt_busy_free(&row->busy);
	row->busy = row->next;
	row->next = (struct grt_busy){.used = 0};
}

static void top_cuda_sum_row(const struct top_cuda *c, struct top_cuda_row *row, uint64_t end, bool whole)
{
	uint64_t ns = grt_busy_sum(&row->busy) + (whole ? grt_busy_sum(&row->next) : 0);

	row->share = (struct top_figure){.known = end > c->from};
	if (!row->share.known)
		return;
	row->share.value = grt_share(ns, end - c->from);
	row->share.least = row->busy.cut || (whole && row->next.cut);
}

void top_cuda_sum(struct top_cuda *c, uint64_t to, bool whole)
{
	if (!whole && to - c->to < TOP_CUDA_LAG)
		return;
	for (struct top_cuda_row *row = grt_keyed_oldest(&c->rows); row;
	     row = grt_keyed_next(&c->rows, row)) {
		top_cuda_sum_row(c, row, whole ? to : c->to, whole);
		top_cuda_turn(row);
	}
	c->from = c->to;
	c->to = to;
}

/*
 * Finds a CUDA device among the GPUs: by its PCI address in the name of a GPU with counters, else by CUDA's
 * name.
 */
static int top_cuda_gpu(struct top *t, const struct grt_device *device, uint32_t *number)
{
	const struct grt_names *names = grt_jobs_names(t->jobs);
	char label[GRT_DEVICE_LABEL];

	for (const struct grt_counter_row *row = grt_keyed_oldest(&t->counters.rows);
	     row && device->known && device->is.bus[0]; row = grt_keyed_next(&t->counters.rows, row)) {
		const char *name = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, row->device));

		if (!row->instance && name && strcasestr(name, device->is.bus))
			return top_gpu_find(t, row->device, name, number);
	}
	return top_gpu_find(t, 0, grt_device_label(&t->cuda->images.devices, device, label), number);
}

static struct grt_gpu_place top_cuda_place(const struct top_cuda_row *row)
{
	return (struct grt_gpu_place){
		.source = TOP_KERNELS, .device = row->device->number, .place = row->place};
}

int top_cuda_engines(struct top *t)
{
	struct top_engine engine;
	int ret = 0;

	for (const struct top_cuda_row *row = grt_keyed_oldest(&t->cuda->rows); row && !ret;
	     row = grt_keyed_next(&t->cuda->rows, row)) {
		if (row->pid && row->place == WHOLE)
			continue;
		engine = (struct top_engine){.at = top_cuda_place(row),
					     .stream = row->stream,
					     .part = row->place != WHOLE,
					     .busy = row->share,
					     .jobs = {.value = row->work, .known = true}};
		snprintf(engine.name, sizeof(engine.name), "stream %" PRIu32, row->stream);
		ret = top_cuda_gpu(t, row->device, &engine.gpu) ?: top_engine_add(t, &engine);
	}
	return ret;
}

static struct top_figure top_cuda_length(const struct top_cuda_row *row, unsigned int permille)
{
	struct top_figure f = {.known = false};

	f.known = row->whole.weight && grt_hist_percentile(&row->whole, permille, &f.value);
	return f;
}

int top_cuda_shares(struct top *t)
{
	struct grt_gpu_place at;
	struct top_share s;
	int ret = 0;

	for (const struct top_cuda_row *row = grt_keyed_oldest(&t->cuda->rows); row && !ret;
	     row = grt_keyed_next(&t->cuda->rows, row)) {
		at = top_cuda_place(row);
		s = (struct top_share){.engine = top_engine_at(t, &at),
				       .pid = row->pid,
				       .share = row->share,
				       .jobs = {.value = row->work, .known = true},
				       .middle = top_cuda_length(row, 500),
				       .most = top_cuda_length(row, 990)};
		if (row->pid && s.engine != WHOLE)
			ret = top_share_add(t, &s, TOP_KERNELS);
	}
	return ret;
}

uint64_t top_cuda_late(const struct top_cuda *c)
{
	return c->late;
}

uint64_t top_cuda_over(const struct top_cuda *c)
{
	return c->over;
}

static void top_cuda_forget(struct top_cuda_row *row)
{
	grt_hist_free(&row->whole);
	grt_busy_free(&row->busy);
	grt_busy_free(&row->next);
}

void top_cuda_next(struct top_cuda *c)
{
	struct top_cuda_row *next;

	for (struct top_cuda_row *row = grt_keyed_oldest(&c->rows); row; row = next) {
		next = grt_keyed_next(&c->rows, row);
		grt_hist_free(&row->whole);
		row->work = 0;
		if (row->busy.used || row->next.used || row->quiet++ < QUIET)
			continue;
		top_cuda_forget(row);
		grt_keyed_remove(&c->rows, row);
	}
	c->budget = OCTAVES;
	c->late = 0;
}

void top_cuda_free(struct top_cuda *c)
{
	if (!c)
		return;
	for (struct top_cuda_row *row = grt_keyed_oldest(&c->rows); row; row = grt_keyed_next(&c->rows, row))
		top_cuda_forget(row);
	grt_keyed_free(&c->rows);
	grt_images_free(&c->images);
	free(c);
}
