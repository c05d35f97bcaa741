// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Work with the same properties is summed up in a row; a trace with many launches has few rows. Rows become
 * stacks at the end of the trace: names of frames are looked up then, each once.
 */
#include "launch_flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "base/containers.h"
#include "stack/image_frames.h"
#include "stack/slots.h"
#include "base/index.h"
#include "range_paths.h"

/* Rows that were looked up last, by a simple hash: most work has the same properties as recent work. */
#define RECENT 4096U

/**
 * struct row - work with the same properties
 * @node: stack of the launch, 0: none
 * @origin: for work of a graph: stack of the code that made its node, 0: unknown
 * @range: path of its ranges, 0: none
 * @call: function of the launch if it has no stack
 * @name: string of a kernel, kind of a copy
 * @slot: slot of time, 0 if there are no slots
 * @open: number of the row of work in windows that have ended, plus 1, for work in a window whose end is not
 * known yet; 0: of the former kind
 */
struct row {
	uint32_t image;
	uint32_t node;
	uint32_t origin;
	uint32_t range;
	uint32_t name;
	uint32_t device;
	uint32_t stream;
	uint32_t graph;
	uint16_t call;
	uint8_t leaf;
	uint8_t how;
	uint16_t slot;
	uint32_t open;
	uint64_t ns;
	uint64_t launches;
	uint64_t bytes;
};

struct grt_launch_flame {
	struct grt_launches *launches;
	struct grt_image_frames *frames;
	struct grt_hash_key key;
	struct row *row;
	uint32_t rows, room;
	struct grt_index index;
	uint32_t recent[RECENT];       /* number of a row, plus 1 */
	struct grt_range_paths ranges; /* without a tree before the first range */
	struct grt_slots *slots;
	bool no_ranges;
	uint64_t device_first;
	bool any_device;
	bool several_devices;
	struct grt_interval within;
	struct grt_estimate_sums *windows; /* of each image */
	uint32_t window_room;
	uint32_t *open; /* rows with work of the open windows */
	uint32_t opens, open_room;
	uint32_t *open_window; /* its number, of each image */
	uint32_t open_window_room;
	bool pending; /* the work is in a window whose end is not known yet */
	uint64_t beside;
	uint64_t unsized;		   /* copies */
	struct grt_sample_shares *samples; /* NULL: nobody wants them */
	uint32_t added;			   /* the row that work was added to */
};

/* ---------------------------------------------------------------- rows */

static bool launch_flame_is_same(const struct row *a, const struct row *b)
{
	return a->node == b->node && a->origin == b->origin && a->range == b->range && a->name == b->name &&
	       a->stream == b->stream && a->image == b->image && a->device == b->device &&
	       a->graph == b->graph && a->call == b->call && a->leaf == b->leaf && a->how == b->how &&
	       a->slot == b->slot && a->open == b->open;
}

static bool launch_flame_same_row(const void *owner, uint32_t id, const void *key)
{
	return launch_flame_is_same(&((const struct grt_launch_flame *)owner)->row[id], key);
}

static int launch_flame_new_row(struct grt_launch_flame *f, const struct row *r, uint32_t tag)
{
	if (grt_grow(&f->row, &f->room, f->rows + 1, 256))
		return -ENOMEM;
	f->row[f->rows] = *r;
	return grt_index_add(&f->index, tag, f->rows++);
}

/* A row of a window has none, once that has ended. */
static bool launch_flame_has_work(const struct row *r)
{
	return r->launches || r->ns;
}

static void add_to(struct row *row, const struct row *r)
{
	row->ns += r->ns;
	row->launches += r->launches;
	row->bytes += r->bytes;
}

static int launch_flame_add_row(struct grt_launch_flame *f, const struct row *r)
{
	uint32_t tag = grt_hash(&f->key, (uint64_t)r->node << 32 | r->name,
				(uint64_t)r->stream << 32 |
					(r->graph ^ r->image << 16 ^ r->device << 8 ^ r->origin << 12 ^
					 r->range << 4 ^ (uint32_t)r->slot << 20 ^ r->open));
	uint32_t *recent = &f->recent[tag % RECENT], at;

	if (*recent && launch_flame_is_same(&f->row[*recent - 1], r)) {
		add_to(&f->row[*recent - 1], r);
		f->added = *recent - 1;
		return 0;
	}
	at = grt_index_find(&f->index, tag, launch_flame_same_row, f, r);
	if (at == GRT_NOWHERE) {
		*recent = f->rows + 1;
		f->added = f->rows;
		return launch_flame_new_row(f, r, tag);
	}
	*recent = at + 1;
	f->added = at;
	add_to(&f->row[at], r);
	return 0;
}

/* Work in a window whose end is not known yet: in a row of its own, which is emptied when the window has
 * ended. */
static int launch_flame_add_open(struct grt_launch_flame *f, const struct row *r)
{
	struct row base = *r, own = *r;
	uint32_t into;
	int ret;

	base.ns = base.launches = base.bytes = 0;
	ret = launch_flame_add_row(f, &base);
	if (ret || grt_grow(&f->open, &f->open_room, f->opens + 1, 64))
		return -ENOMEM;
	into = f->added;
	own.open = into + 1;
	ret = launch_flame_add_row(f, &own);
	/* it had none before */
	if (!ret && f->row[f->added].launches == r->launches && f->row[f->added].ns == r->ns)
		f->open[f->opens++] = f->added;
	f->added = into;
	return ret;
}

/* The open window of a process has ended, or never will. */
static void launch_flame_close_window(struct grt_launch_flame *f, const struct grt_image *image)
{
	uint32_t kept = 0, number = f->open_window[image->number];
	bool counts = grt_estimate_has(&image->watch, number, f->within.from, f->within.to);

	for (uint32_t i = 0; i < f->opens; i++) {
		struct row *row = &f->row[f->open[i]];

		if (row->image != image->number) {
			f->open[kept++] = f->open[i];
			continue;
		}
		if (counts)
			add_to(&f->row[row->open - 1], row);
		else
			f->beside += row->launches;
		row->ns = row->launches = row->bytes = 0;
	}
	f->opens = kept;
	f->open_window[image->number] = 0;
}

/* Adds work from @start on, cut where slots begin; work without a length belongs to the slot of its start. */
static int launch_flame_add_work(struct grt_launch_flame *f, struct row *r, uint64_t start)
{
	int (*add)(struct grt_launch_flame *, const struct row *) =
		f->pending ? launch_flame_add_open : launch_flame_add_row;
	uint64_t to = start + r->ns, end;
	int ret;

	if (!f->slots)
		return add(f, r);
	do {
		end = grt_slots_part(f->slots, start, to, &r->slot);
		r->ns = end - start;
		ret = add(f, r);
		r->launches = r->bytes = 0;
		start = end;
	} while (!ret && start < to);
	return ret;
}

/* -------------------------------------------------------------- events */

static uint64_t span(uint64_t start, uint64_t end)
{
	return start && end > start ? end - start : 0;
}

static void launch_flame_take_kernel(struct row *r, const struct grt_ev_gpu_kernel *k)
{
	r->leaf = GRT_FLAME_LEAF_KERNEL;
	r->name = k->name;
	r->device = k->gpu;
	r->stream = k->cuda_stream;
	r->graph = k->graph;
	r->ns = span(k->start, k->end);
}

static void launch_flame_take_copy(struct row *r, const struct grt_ev_gpu_copy *c)
{
	r->leaf = c->kind == GRT_CUDA_SET ? GRT_FLAME_LEAF_SET : GRT_FLAME_LEAF_COPY;
	r->name = c->kind;
	r->device = c->gpu;
	r->stream = c->cuda_stream;
	r->graph = c->graph;
	r->ns = span(c->start, c->end);
	r->bytes = c->bytes == GRT_BYTES_UNKNOWN ? 0 : c->bytes;
}

static void launch_flame_take_launch(struct row *r, const struct grt_launch *launch)
{
	r->node = launch->node;
	r->call = launch->node ? 0 : launch->call;
	r->origin = launch->origin;
}

/*
 * From now on, a row has the device's number in the trace. A device without a description is known by its
 * process's number.
 */
static int launch_flame_on_device(struct grt_launch_flame *f, const struct grt_image *image, struct row *r)
{
	const struct grt_device *d = grt_launches_device(f->launches, image, r->device);
	uint64_t which;

	if (!d)
		return -ENOMEM;
	which = d->known ? 1ULL << 32 | d->number : r->device;
	if (!f->any_device)
		f->device_first = which;
	f->any_device = true;
	f->several_devices |= which != f->device_first;
	r->device = d->number;
	return 0;
}

/* A process has one open window at a time: when another one begins, it has ended. */
static int launch_flame_see_window(struct grt_launch_flame *f, const struct grt_image *image, uint32_t number)
{
	uint32_t *open;

	if (grt_grow_zeroed(&f->open_window, &f->open_window_room, image->number + 1, 4))
		return -ENOMEM;
	open = &f->open_window[image->number];
	f->pending = !grt_estimate_has(&image->watch, number, f->within.from, f->within.to);
	if (*open && (f->pending ? *open != number
				 : grt_estimate_has(&image->watch, *open, f->within.from, f->within.to)))
		launch_flame_close_window(f, image);
	if (f->pending)
		*open = number;
	return 0;
}

/* With random windows, only work of complete windows counts, also if a window is complete only later. */
static int launch_flame_add_window(struct grt_launch_flame *f, const struct grt_image *image,
				   const struct row *r, uint64_t start)
{
	uint32_t number = grt_estimate_begun(&image->watch, start, f->within.from, f->within.to);
	uint32_t had = f->window_room;

	if (!number || r->how == GRT_LAUNCHED_UNKNOWN) {
		f->beside++;
		return 0;
	}
	if (grt_grow(&f->windows, &f->window_room, image->number + 1, 4))
		return -ENOMEM;
	memset(f->windows + had, 0, (f->window_room - had) * sizeof(*f->windows));
	if (launch_flame_see_window(f, image, number))
		return -ENOMEM;
	return grt_estimate_add(&f->windows[image->number], number, r->ns, r->launches) ?: 1;
}

/* The path of a launch's ranges; 0: it has none, or they are not shown. */
static int launch_flame_find_range(struct grt_launch_flame *f, const struct grt_image *image,
				   const struct grt_launch *launch, uint32_t *path)
{
	if (!launch->range || f->no_ranges)
		return 0;
	if (!f->ranges.tree && grt_range_paths_init(&f->ranges, f->ranges.full))
		return -ENOMEM;
	return grt_range_paths_get(&f->ranges, image, launch->range, path);
}

static int launch_flame_on_work(void *arg, const struct grt_event *e, const struct grt_image *image,
				const struct grt_launch *launch, enum grt_launched_how how)
{
	struct grt_launch_flame *f = arg;
	struct row r = {.image = image->number, .how = (uint8_t)how, .launches = 1};
	bool kernel = e->type == GRT_EV_GPU_KERNEL;
	uint64_t start;
	int ret;

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	if (kernel)
		launch_flame_take_kernel(&r, (const struct grt_ev_gpu_kernel *)e);
	else
		launch_flame_take_copy(&r, (const struct grt_ev_gpu_copy *)e);
	start = kernel ? ((const struct grt_ev_gpu_kernel *)e)->start
		       : ((const struct grt_ev_gpu_copy *)e)->start;
	f->pending = false;
	if (image->watch.parts) {
		ret = launch_flame_add_window(f, image, &r, start);
		if (ret <= 0)
			return ret;
	}
	if (launch)
		launch_flame_take_launch(&r, launch);
	if (launch && launch_flame_find_range(f, image, launch, &r.range))
		return -ENOMEM;
	if (launch_flame_on_device(f, image, &r))
		return -ENOMEM;
	f->unsized += !kernel && ((const struct grt_ev_gpu_copy *)e)->bytes == GRT_BYTES_UNKNOWN;
	ret = launch_flame_add_work(f, &r, start);
	if (ret || !kernel || !f->samples)
		return ret;
	return grt_sample_shares_launch(f->samples, image, ((const struct grt_ev_gpu_kernel *)e)->correlation,
					r.name, f->added);
}

static int launch_flame_on_nothing(void *arg, const struct grt_launch *launch)
{
	struct grt_launch_flame *f = arg;
	struct row r = {.image = launch->image->number,
			.leaf = launch->call == GRT_CUDA_PROBED ? GRT_FLAME_LEAF_CALL
								: GRT_FLAME_LEAF_PENDING,
			.device = GRT_FLAME_NO_DEVICE};

	r.launches = 1;
	launch_flame_take_launch(&r, launch);
	if (launch_flame_find_range(f, launch->image, launch, &r.range))
		return -ENOMEM;
	return launch_flame_add_row(f, &r);
}

int grt_launch_flame_new(struct grt_launch_flame **out)
{
	struct grt_launch_flame *f = calloc(1, sizeof(*f));
	struct grt_launches_sink sink = {
		.work = launch_flame_on_work, .nothing = launch_flame_on_nothing, .arg = f, .no_begin = true};

	*out = f;
	if (!f)
		return -ENOMEM;
	f->key = grt_hash_key_new();
	f->within = (struct grt_interval){0, UINT64_MAX};
	if (!grt_launches_new(&f->launches, &sink) && !grt_image_frames_new(&f->frames))
		return 0;
	grt_launch_flame_free(f);
	*out = NULL;
	return -ENOMEM;
}

int grt_launch_flame_samples(struct grt_launch_flame *f)
{
	int ret = grt_sample_shares_new(&f->samples, grt_launches_images(f->launches));

	if (!ret)
		f->samples->pc.within = f->within;
	return ret;
}

void grt_launch_flame_within(struct grt_launch_flame *f, uint64_t from, uint64_t to)
{
	f->within = (struct grt_interval){from, to};
	grt_launches_within(f->launches, from, to);
}

void grt_launch_flame_ranges(struct grt_launch_flame *f, enum grt_flame_ranges how)
{
	f->ranges.full = how == GRT_FLAME_RANGES_FULL;
	f->no_ranges = how == GRT_FLAME_RANGES_NONE;
}

void grt_launch_flame_slots(struct grt_launch_flame *f, struct grt_slots *slots)
{
	f->slots = slots;
}

int grt_launch_flame_event(struct grt_launch_flame *f, const struct grt_event *e)
{
	const struct grt_image *image;

	if (f->samples && grt_pc_samples_is(e)) {
		image = grt_launches_image(f->launches, e);
		return image ? grt_pc_samples_take(&f->samples->pc, image, e) : -ENOMEM;
	}
	return grt_launches_event(f->launches, e);
}

/* -------------------------------------------------------------- stacks */

/* Work of a graph is under the code that made its node, and the launch of the graph is a frame there. */
static int launch_flame_put_replay(struct grt_launch_flame *f, const struct row *r, const struct grt_image *i,
				   bool places, struct grt_stacks *tree, uint32_t *node)
{
	char at[GRT_IMAGE_FRAMES_LINE], text[sizeof(at) + 24];
	int ret = grt_image_frames_put(f->frames, i, r->origin, places, tree, node)
			  ?: grt_image_frames_line(f->frames, i, r->node, at);

	snprintf(text, sizeof(text), at[0] ? "[graph replay at %s]" : "[graph replay]", at);
	return ret ?: grt_stacks_word(tree, text, node);
}

/* Adds the stack of work, or a frame that says why it has none. */
static int put_stack(struct grt_launch_flame *f, const struct row *r, const struct grt_image *i, bool replays,
		     bool places, struct grt_stacks *tree, uint32_t *node)
{
	const struct grt_cuda_call *call = r->call ? grt_cuda_call(r->call) : NULL;

	if (r->origin && !replays)
		return launch_flame_put_replay(f, r, i, places, tree, node);
	if (r->node)
		return grt_image_frames_put(f->frames, i, r->node, places, tree, node);
	if (r->how == GRT_LAUNCHED_BY_GPU)
		return grt_stacks_word(tree, "[device launch]", node);
	if (r->how == GRT_LAUNCHED_UNKNOWN)
		return grt_stacks_word(tree, "[unmatched]", node);
	return grt_stacks_word(tree, call ? call->name : "[unknown]", node);
}

/* The device of a row in a leaf: its number, or the beginning of its UUID; a launch has none. */
static const char *launch_flame_gpu(const struct grt_launch_flame *f, const struct row *r,
				    char label[GRT_DEVICE_LABEL], char gpu[GRT_FLAME_GPU])
{
	const struct grt_devices *all = &grt_launches_images(f->launches)->devices;

	if (!f->several_devices || r->device >= all->devices)
		return grt_flame_gpu(gpu, GRT_FLAME_NO_DEVICE);
	grt_device_label(all, all->device[r->device], label);
	return label[3] == '-' ? label : grt_flame_gpu(gpu, all->device[r->device]->gpu);
}

static int launch_flame_put_leaf(struct grt_launch_flame *f, const struct row *r, const struct grt_image *i,
				 struct grt_stacks *tree, uint32_t *node)
{
	char label[GRT_DEVICE_LABEL], gpu[GRT_FLAME_GPU];
	const char *name = "";
	size_t len = 0;
	int ret = 0;

	if (r->leaf == GRT_FLAME_LEAF_KERNEL)
		ret = grt_image_kernel_name(f->frames, i, r->name, &name, &len);
	else if (r->leaf == GRT_FLAME_LEAF_COPY)
		len = strlen(name = grt_cuda_copy_name(r->name));
	return ret ? ret
		   : grt_flame_put_leaf(tree, r->leaf, launch_flame_gpu(f, r, label, gpu), name, len, node);
}

static int put_base(struct grt_stacks *tree, const struct grt_flame_shape *shape,
		    const struct grt_flame_op *op, uint32_t *node)
{
	int ret = grt_flame_base(tree, shape, op, node);

	if (!ret && shape->by != GRT_FLAME_BY_PROCESS)
		ret = grt_stacks_frame(tree, *node, op->process, op->process_len, node);
	return ret;
}

static void launch_flame_name_device(const struct grt_launch_flame *f, const struct row *r,
				     struct grt_flame_op *op, char label[GRT_DEVICE_LABEL])
{
	const struct grt_devices *all = &grt_launches_images(f->launches)->devices;
	const struct grt_device *d = all->device[r->device];

	op->device = d->gpu;
	op->gpu = grt_device_label(all, d, label)[3] == '-' ? label : NULL;
}

static int launch_flame_name_process(const struct grt_process_names *processes, const struct grt_image *i,
				     char room[320], struct grt_flame_op *op)
{
	char pid[24];
	const char *name = grt_image_process_name(i, pid), *text;
	int ret = grt_process_names_text(processes, name, strlen(name), i->pid, room, &text);

	/* "pid N" is in @pid */
	if (ret >= 0 && text != room)
		snprintf(room, 320, "%s", name);
	op->process = room;
	op->pid = i->pid;
	op->rank = i->rank;
	op->ranked = i->rank != UINT32_MAX;
	op->process_len = strlen(room);
	return ret < 0 ? ret : 0;
}

static struct grt_estimate launch_flame_estimate(const struct grt_launch_flame *f, const struct grt_image *i)
{
	static const struct grt_estimate_sums none;

	return grt_estimate_total(&i->watch, i->number < f->window_room ? &f->windows[i->number] : &none,
				  f->within.from, f->within.to);
}

/* Return: the estimate for the time that the windows represent. */
static uint64_t launch_flame_scaled(uint64_t n, double scale)
{
	double all = (double)n * scale + 0.5;

	return scale == 1 ? n : all < (double)INT64_MAX ? (uint64_t)all : INT64_MAX;
}

static double launch_flame_scale(const struct grt_launch_flame *f, const struct grt_image *i)
{
	uint64_t of, watched;
	uint32_t windows;

	if (!i->watch.parts)
		return 1;
	watched = grt_estimate_watched(&i->watch, f->within.from, f->within.to, &of, &windows);
	return watched ? (double)of / (double)watched : 1;
}

struct grt_launch_estimated grt_launch_flame_estimated(const struct grt_launch_flame *f)
{
	const struct grt_images *images = grt_launches_images(f->launches);
	struct grt_launch_estimated out = {.beside = f->beside};
	uint64_t of, sum;
	uint32_t windows;

	for (uint32_t i = 0; i < images->images; i++) {
		const struct grt_image *image = images->image[i];

		if (!image->watch.parts)
			continue;
		out.watched +=
			grt_estimate_watched(&image->watch, f->within.from, f->within.to, &of, &windows);
		out.of += of;
		out.windows += windows;
		sum = out.total.value;
		out.total = launch_flame_estimate(f, image);
		out.total.value += sum;
		out.total.interval &= !out.processes++;
	}
	return out;
}

/* Stacks differ where code or ranges do. */
static struct grt_sample_work launch_flame_work(const struct grt_launch_flame *f, const struct row *r)
{
	return (struct grt_sample_work){
		.image = r->image,
		.name = r->name,
		.ns = r->ns,
		.row = (uint32_t)(r - f->row),
		.stack = (uint64_t)grt_hash(&f->key, (uint64_t)r->node << 32 | r->origin,
					    (uint64_t)r->range << 32 | (uint64_t)r->how << 16 | r->call)};
}

static struct grt_sample_tree launch_flame_sample_tree(const struct grt_launch_flame *f,
						       const struct grt_flame_shape *shape,
						       struct grt_stacks *tree, enum grt_stacks_side side)
{
	return (struct grt_sample_tree){.tree = tree,
					.side = side,
					.slots = f->slots,
					.stalls = shape->weight == GRT_FLAME_WEIGHT_STALLS};
}

static int launch_flame_put_samples(struct grt_launch_flame *f, const struct row *r,
				    const struct grt_flame_shape *shape, struct grt_stacks *tree,
				    enum grt_stacks_side side, uint32_t node)
{
	const struct grt_sample_tree to = launch_flame_sample_tree(f, shape, tree, side);
	const struct grt_sample_work work = launch_flame_work(f, r);

	return grt_sample_shares_put(f->samples, &work, &to, node, r->slot);
}

static int launch_flame_put_row(struct grt_launch_flame *f, const struct row *r,
				const struct grt_flame_shape *shape,
				const struct grt_process_names *processes, struct grt_stacks *tree,
				enum grt_stacks_side side)
{
	const struct grt_image *i = grt_launches_images(f->launches)->image[r->image];
	double scale = launch_flame_scale(f, i);
	struct grt_flame_op op = {
		.device = GRT_FLAME_NO_DEVICE, .graph = r->graph, .ns = launch_flame_scaled(r->ns, scale)};
	char process[320], queue[96], label[GRT_DEVICE_LABEL], range[512] = "";
	bool sampled = grt_flame_is_sampled(shape);
	uint32_t node;
	int ret = launch_flame_name_process(processes, i, process, &op);

	if (ret || (sampled && r->leaf != GRT_FLAME_LEAF_KERNEL))
		return ret;
	op.copy = r->leaf == GRT_FLAME_LEAF_COPY || r->leaf == GRT_FLAME_LEAF_SET;
	op.launches = launch_flame_scaled(r->launches, scale);
	op.bytes = launch_flame_scaled(r->bytes, scale);
	op.queue = "[no stream]";
	op.queue_len = strlen(op.queue);
	if (r->leaf != GRT_FLAME_LEAF_PENDING && r->leaf != GRT_FLAME_LEAF_CALL) {
		launch_flame_name_device(f, r, &op, label);
		op.queue_len =
			op.gpu ? (size_t)snprintf(queue, sizeof(queue), "[%s stream %u]", op.gpu, r->stream)
			       : grt_flame_put_stream(queue, op.device, r->stream);
		op.queue = queue;
	}
	if (!grt_flame_wanted(shape, &op) || (!sampled && !shape->all && !grt_flame_weight_of(shape, &op)))
		return 0;
	if (shape->all && r->range)
		grt_range_paths_text(&f->ranges, r->range, range, sizeof(range));
	op.range = range;
	ret = put_base(tree, shape, &op, &node);
	if (!ret && r->range)
		ret = grt_range_paths_put(&f->ranges, r->range, tree, &node);
	if (!ret)
		ret = put_stack(f, r, i, shape->by == GRT_FLAME_BY_GRAPH, shape->places, tree, &node);
	/* the function itself is the innermost frame */
	if (!ret && r->leaf != GRT_FLAME_LEAF_CALL)
		ret = launch_flame_put_leaf(f, r, i, tree, &node);
	if (sampled)
		return ret ?: launch_flame_put_samples(f, r, shape, tree, side, node);
	if (!ret && f->slots)
		ret = grt_slots_add(f->slots, node, r->slot, grt_flame_weight_of(shape, &op));
	return ret ? ret : grt_flame_add(tree, shape, &op, side, node);
}

/* Adds the records that CUPTI lost, of which only the number is known. */
static int launch_flame_put_lost(const struct grt_image *i, const struct grt_flame_shape *shape,
				 const struct grt_process_names *processes, struct grt_stacks *tree,
				 enum grt_stacks_side side)
{
	struct grt_flame_op op = {.device = GRT_FLAME_NO_DEVICE, .queue = "[no stream]"};
	char process[320];
	uint32_t node;
	int ret;

	if ((shape->weight != GRT_FLAME_WEIGHT_LAUNCHES && !shape->all) || !i->process.gpu_lost)
		return 0;
	op.queue_len = strlen(op.queue);
	ret = launch_flame_name_process(processes, i, process, &op) ?: put_base(tree, shape, &op, &node);
	if (!ret)
		ret = grt_stacks_word(tree, "[lost]", &node);
	return ret ? ret
		   : grt_stacks_add(tree, node, shape->all ? GRT_STACKS_LAUNCHES : side, i->process.gpu_lost);
}

/* Adds samples of a function that is not a kernel of the trace. */
static int launch_flame_put_left(struct grt_launch_flame *f, const struct grt_pc_leaf *leaf,
				 const struct grt_flame_shape *shape,
				 const struct grt_process_names *processes, struct grt_stacks *tree,
				 enum grt_stacks_side side)
{
	const struct grt_sample_tree to = launch_flame_sample_tree(f, shape, tree, side);
	const struct grt_image *i = grt_launches_images(f->launches)->image[leaf->image];
	struct grt_flame_op op = {.device = GRT_FLAME_NO_DEVICE, .queue = "[no stream]"};
	struct row r = {.leaf = GRT_FLAME_LEAF_KERNEL, .name = leaf->function, .device = UINT32_MAX};
	char process[320];
	uint32_t node;
	int ret;

	op.queue_len = strlen(op.queue);
	ret = launch_flame_name_process(processes, i, process, &op) ?: put_base(tree, shape, &op, &node);
	if (!ret)
		ret = grt_stacks_word(tree, "[unmatched]", &node)
			      ?: launch_flame_put_leaf(f, &r, i, tree, &node);
	return ret ?: grt_sample_shares_put_left(f->samples, leaf, &to, node);
}

/* Each row gets its share, so all rows are counted first. */
static int launch_flame_finish_samples(struct grt_launch_flame *f)
{
	int ret = grt_pc_samples_finish(&f->samples->pc);

	for (uint32_t i = 0; i < f->rows && !ret; i++)
		if (f->row[i].leaf == GRT_FLAME_LEAF_KERNEL && launch_flame_has_work(&f->row[i])) {
			const struct grt_sample_work work = launch_flame_work(f, &f->row[i]);

			ret = grt_sample_shares_see(f->samples, &work);
		}
	return ret ?: grt_sample_shares_link(f->samples);
}

struct grt_sampled grt_launch_flame_sampled(const struct grt_launch_flame *f)
{
	return f->samples ? grt_sample_shares_sums(f->samples) : (struct grt_sampled){0};
}

/* No window ends any more. */
static void launch_flame_close_windows(struct grt_launch_flame *f)
{
	const struct grt_images *images = grt_launches_images(f->launches);

	for (uint32_t i = 0; i < f->open_window_room && i < images->images; i++)
		if (f->open_window[i])
			launch_flame_close_window(f, images->image[i]);
	for (uint32_t i = 0; i < f->window_room && i < images->images; i++)
		grt_estimate_settle(&f->windows[i], &images->image[i]->watch, f->within.from, f->within.to);
}

int grt_launch_flame_flush(struct grt_launch_flame *f)
{
	int ret = grt_launches_flush(f->launches);

	if (ret)
		return ret;
	launch_flame_close_windows(f);
	return f->samples ? launch_flame_finish_samples(f) : 0;
}

int grt_launch_flame_tree(struct grt_launch_flame *f, const struct grt_flame_shape *shape,
			  const struct grt_process_names *processes, struct grt_stacks *tree,
			  enum grt_stacks_side side)
{
	const struct grt_images *images = grt_launches_images(f->launches);
	const struct grt_pc_leaf *left;
	uint32_t at = 0;
	int ret = 0;

	for (uint32_t i = 0; i < f->rows && !ret; i++)
		ret = launch_flame_has_work(&f->row[i])
			      ? launch_flame_put_row(f, &f->row[i], shape, processes, tree, side)
			      : 0;
	while (!ret && f->samples && shape->only != GRT_FLAME_ONLY_COPIES &&
	       (left = grt_sample_shares_left(f->samples, &at)))
		ret = launch_flame_put_left(f, left, shape, processes, tree, side);
	for (uint32_t i = 0; i < images->images && !ret; i++)
		ret = launch_flame_put_lost(images->image[i], shape, processes, tree, side);
	return ret;
}

static int launch_flame_see_process(const struct grt_image *i, struct grt_process_names *processes)
{
	char pid[24];
	const char *name = grt_image_process_name(i, pid);

	return grt_process_names_see(processes, name, strlen(name), i->pid);
}

int grt_launch_flame_processes(const struct grt_launch_flame *f, struct grt_process_names *processes)
{
	const struct grt_images *images = grt_launches_images(f->launches);
	int ret = 0;

	for (uint32_t i = 0; i < f->rows && !ret; i++)
		ret = launch_flame_has_work(&f->row[i])
			      ? launch_flame_see_process(images->image[f->row[i].image], processes)
			      : 0;
	for (uint32_t i = 0; i < images->images && !ret; i++)
		ret = images->image[i]->process.gpu_lost
			      ? launch_flame_see_process(images->image[i], processes)
			      : 0;
	return ret;
}

/* -------------------------------------------------------------- counts */

static int launch_flame_add_end(struct grt_launch_flame *f, const struct row *r, struct grt_stack_ends *ends)
{
	struct grt_image *i = grt_launches_images(f->launches)->image[r->image];
	enum grt_stack_end end;
	struct grt_stack_end_sum *sum = &ends->none;
	int ret = 0;

	if (grt_image_reach(i, r->node) > GRT_STACK_NONE) {
		ret = grt_image_frames_end(f->frames, i, r->node, &end);
		sum = &ends->end[end];
	}
	sum->ns += r->ns;
	sum->works += r->launches;
	return ret;
}

int grt_launch_flame_ends(struct grt_launch_flame *f, struct grt_stack_ends *ends)
{
	int ret = 0;

	for (uint32_t i = 0; i < f->rows && !ret; i++)
		if (f->row[i].leaf != GRT_FLAME_LEAF_PENDING && f->row[i].leaf != GRT_FLAME_LEAF_CALL)
			ret = launch_flame_add_end(f, &f->row[i], ends);
	return ret;
}

uint64_t grt_launch_flame_unsized(const struct grt_launch_flame *f)
{
	return f->unsized;
}

struct grt_launches_count grt_launch_flame_count(const struct grt_launch_flame *f)
{
	return grt_launches_count(f->launches);
}

const struct grt_symbols_count *grt_launch_flame_symbols(const struct grt_launch_flame *f)
{
	return grt_image_frames_count(f->frames);
}

const char *grt_launch_flame_why(const struct grt_launch_flame *f, uint32_t n)
{
	const struct grt_images *images = grt_launches_images(f->launches);

	for (uint32_t i = 0; i < images->images; i++)
		if (images->image[i]->why && !n--)
			return grt_image_string(images->image[i], images->image[i]->why);
	return NULL;
}

void grt_launch_flame_free(struct grt_launch_flame *f)
{
	if (!f)
		return;
	for (uint32_t i = 0; i < f->window_room; i++)
		grt_estimate_free(&f->windows[i]);
	free(f->windows);
	free(f->open);
	free(f->open_window);
	grt_sample_shares_free(f->samples);
	grt_launches_free(f->launches);
	grt_image_frames_free(f->frames);
	if (f->ranges.tree)
		grt_range_paths_free(&f->ranges);
	grt_index_free(&f->index);
	free(f->row);
	free(f);
}
