// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Names of devices and rows, made at the end of the trace, because frames may be reported after their first
 * use. Rows with the same text are merged.
 */
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memfile.h"
#include "codes/cuda_codes.h"
#include "codes/ioctl_names.h"
#include "idle_parts.h"
#include "stack/frames.h"
#include "stack/own_code.h"

/* Bytes of all stacks' texts; of stacks of less time than those that take them up, some frames are left. */
#define TEXT_MAX (32U << 20)
#define TEXT_LEAST 512U
#define FRESH "first run of a kernel"

/**
 * struct place - the result for a stack, with texts for free()
 * @whole: it reaches the beginning of its thread
 * @set_up: the kind of set-up that its frames show
 */
struct place {
	bool whole;
	char *text;
	char *function;
	char *stack;
	const char *set_up;
};

/* --------------------------------------------------- stacks of an image's nodes */

/* Gets the innermost function of a frame that is an address. Return: 0 or -ENOMEM */
static int frame_of_node(struct grt_idleness *x, const struct grt_image *i, uint32_t node, char **text,
			 struct grt_code_frame *f)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	const struct grt_image_mapping *m = grt_image_mapping(i, n->module);
	const char *found;
	size_t len;

	*text = NULL;
	*f = (struct grt_code_frame){.source = grt_image_string(i, n->file),
				     .module = m ? grt_image_string(i, m->path) : NULL,
				     .function = grt_image_string(i, n->function)};
	if (!n->ip)
		return 0;
	if (grt_image_frames_function(x->image_frames, i, node, &found, &len))
		return -ENOMEM;
	f->function = *text = strndup(found, len);
	return *text ? 0 : -ENOMEM;
}

static int name_own_node(struct grt_idleness *x, const struct grt_image *i, uint32_t node, struct place *out)
{
	struct grt_code_frame f;
	const char *placed;
	char *text;
	size_t len;

	if (frame_of_node(x, i, node, &text, &f) ||
	    grt_image_frames_text(x->image_frames, i, node, &placed, &len))
		return -ENOMEM;
	if (!f.source)
		out->text = len ? strndup(placed, len) : strdup("?");
	else if (asprintf(&out->text, "%s:%u", grt_frame_base(f.source), grt_image_node(i, node)->line) < 0)
		out->text = NULL;
	out->function = f.function ? strdup(f.function) : NULL;
	free(text);
	return !out->text || (f.function && !out->function) ? -ENOMEM : 0;
}

static int place_of_node(struct grt_idleness *x, const struct grt_image *i, uint32_t node, struct place *out)
{
	uint32_t path[GRT_STACKS_DEPTH_MAX], depth = 0;
	const struct grt_image_node *n = grt_image_node(i, node);
	struct grt_own_place own = {.found = false};
	struct grt_code_frame f;
	char *text;
	int ret;

	ret = grt_image_frames_folded(x->image_frames, i, node, true,
				      x->text < TEXT_MAX ? GRT_IMAGE_FRAMES_FOLDED_MAX : TEXT_LEAST,
				      &out->stack);
	if (ret)
		return ret;
	for (uint32_t at = node; n && depth < GRT_STACKS_DEPTH_MAX; at = n->caller, n = grt_image_node(i, at))
		path[depth++] = at;
	while (depth-- > 0) {
		if (frame_of_node(x, i, path[depth], &text, &f))
			return -ENOMEM;
		grt_own_place_see(&own, &f, path[depth]);
		out->set_up = out->set_up ?: grt_code_set_up(&f);
		free(text);
	}
	return own.found ? name_own_node(x, i, own.at, out) : 0;
}

/* ------------------------------------------------------- stacks of FRAME records */

/* The function of a frame, for free(); NULL: no memory. */
static char *idle_function_of(const struct grt_frames *frames, uint32_t id, uint32_t i)
{
	size_t len;
	const char *text = grt_frames_function(frames, id, i, &len);

	return strndup(text, len);
}

/* Processes a frame, and adds it to the text of the stack. Return: 0 or -ENOMEM */
static int idle_see_frame(const struct grt_frames *frames, uint32_t id, uint32_t i, struct grt_own_place *own,
			  struct place *out, FILE *file)
{
	const struct grt_frame_place at = grt_frames_place(frames, id, i);
	char *function = idle_function_of(frames, id, i), *text = grt_frames_text(frames, id, i);
	const struct grt_code_frame f = {.function = function, .module = at.module};
	int ret = function && text ? 0 : -ENOMEM;

	/* code that was inlined from a header of the system is not the user's */
	if (!ret && (!at.file || strncmp(at.file, "/usr/include/", 13) != 0))
		grt_own_place_see(own, &f, i);
	if (!ret)
		out->set_up = out->set_up ?: grt_code_set_up(&f);
	fprintf(file, "%s%s", i + 1 == grt_frames_depth(frames, id) ? "" : ";", text ?: "");
	free(function);
	free(text);
	return ret;
}

static int place_of_frames(struct grt_idleness *x, uint32_t id, struct place *out)
{
	struct grt_own_place own = {.found = false};
	struct grt_memfile m;
	FILE *file;
	int ret = 0;

	if (!x->frames.text || !grt_frames_has(&x->frames, id))
		return 0;
	file = grt_memfile_open(&m);
	for (uint32_t i = grt_frames_depth(&x->frames, id); file && i-- > 0 && !ret;)
		ret = idle_see_frame(&x->frames, id, i, &own, out, file);
	out->stack = grt_memfile_close(&m, file, NULL);
	out->whole = own.whole;
	if (own.found) {
		out->text = grt_frames_text(&x->frames, id, own.at);
		out->function = idle_function_of(&x->frames, id, own.at);
	}
	return out->stack && (!own.found || (out->text && out->function)) ? ret : -ENOMEM;
}

/* ------------------------------------------------------------------- rows */

static const struct grt_image *image_of_row(const struct grt_idleness *x, const struct idle_row *r)
{
	return r->image ? grt_launches_images(x->launches)->image[r->image - 1] : NULL;
}

static const char *call_of_row(const struct grt_idleness *x, const struct idle_row *r,
			       const struct grt_names *names)
{
	const struct grt_idleness_device *d = grt_idleness_device(x, r->row.device);
	const struct grt_cuda_call *call = d->cuda && r->call ? grt_cuda_call(r->call) : NULL;
	const char *driver = grt_names_owner(names, grt_names_find(names, GRT_NAME_RING, d->ring));

	if (call || d->cuda || !r->call)
		return call ? call->name : NULL;
	return grt_ioctl_name(driver ? driver : "", r->call) ?: "ioctl";
}

/* Sets, for a part in which the submitter was busy with set-up, the kind that the stack shows. */
static void idle_take_set_up(struct grt_idleness *x, struct idle_row *r, const char *set_up)
{
	struct grt_idleness_device *d = &x->device[r->row.device]->device;

	if (r->row.cause == GRT_IDLE_SET_UP)
		r->row.set_up = set_up ?: FRESH;
	if (!set_up || r->row.cause == GRT_IDLE_SET_UP)
		return;
	d->cause[r->row.cause] -= r->row.ns;
	d->cause[GRT_IDLE_SET_UP] += r->row.ns;
	r->row.cause = GRT_IDLE_SET_UP;
	r->row.inferred = true;
	r->row.set_up = set_up;
}

static int name_process(const struct grt_idleness *x, struct idle_row *r, const struct grt_names *names)
{
	const struct grt_image *i = image_of_row(x, r);
	char room[24];
	const char *name = i ? grt_image_process_name(i, room) : grt_names_owner(names, r->name);

	if (!r->row.pid)
		return 0;
	snprintf(room, sizeof(room), "pid %u", r->row.pid);
	r->row.process = strdup(name ? name : room);
	return r->row.process ? 0 : -ENOMEM;
}

static void name_waker(const struct grt_idleness *x, struct idle_row *r)
{
	const char *comm = grt_keyed_find(&x->wakers, &(struct grt_key){{r->row.waker}});

	if (r->row.waker && comm)
		memcpy(r->row.waker_comm, comm, sizeof(r->row.waker_comm) - 1);
}

static void idle_free_place(struct place *p)
{
	free(p->text);
	free(p->function);
	free(p->stack);
	*p = (struct place){.text = NULL};
}

/*
 * Finds where the submitter slept; if that is unknown, or not in the user's own code, where it requested the
 * work.
 */
static int place_of_row(struct grt_idleness *x, const struct idle_row *r, struct place *out)
{
	int ret = r->slept ? place_of_frames(x, r->slept, out) : 0;

	if (ret || (out->text && out->whole) || !r->stack)
		return ret;
	idle_free_place(out);
	return r->image ? place_of_node(x, image_of_row(x, r), r->stack, out)
			: place_of_frames(x, r->stack, out);
}

/* Names a part between two calls. */
static int name_since(struct grt_idleness *x, struct idle_row *r)
{
	struct place p = {.text = NULL};
	int ret =
		r->since && r->row.place && !r->call ? place_of_node(x, image_of_row(x, r), r->since, &p) : 0;

	if (!ret && p.text && strcmp(p.text, r->row.place)) {
		r->row.since = p.text;
		p.text = NULL;
	}
	idle_free_place(&p);
	return ret;
}

static int name_row(struct grt_idleness *x, struct idle_row *r, const struct grt_names *names)
{
	struct place p = {.text = NULL};
	int ret = place_of_row(x, r, &p);

	r->row.place = p.text;
	r->row.function = p.function;
	r->row.stack = p.stack;
	x->text += p.stack ? strlen(p.stack) : 0;
	r->row.call = call_of_row(x, r, names);
	idle_take_set_up(x, r, p.set_up);
	name_waker(x, r);
	return ret ?: name_since(x, r) ?: name_process(x, r, names);
}

/* ------------------------------------------------------------------- list */

static int idle_texts_compare(const char *a, const char *b)
{
	return a == b ? 0 : !a ? -1 : !b ? 1 : strcmp(a, b);
}

/* Threads of one name, such as those of a pool, are one. */
static int idle_wakers_compare(const struct grt_idleness_row *x, const struct grt_idleness_row *y)
{
	int order = strcmp(x->waker_comm, y->waker_comm);

	return order || *x->waker_comm ? order : grt_compare(x->waker, y->waker);
}

/* Return: 0: both read the same. */
static int idle_reads_as(const struct grt_idleness_row *x, const struct grt_idleness_row *y)
{
	return grt_compare(x->device, y->device) ?: grt_compare(x->cause, y->cause)
	       ?: grt_compare(x->pid, y->pid) ?: idle_wakers_compare(x, y)
	       ?: idle_texts_compare(x->place, y->place) ?: idle_texts_compare(x->since, y->since)
	       ?: idle_texts_compare(x->call, y->call)
	       ?: idle_texts_compare(x->set_up, y->set_up);
}

static int idle_by_text(const void *a, const void *b)
{
	const struct grt_idleness_row *x = *(const struct grt_idleness_row *const *)a,
				      *y = *(const struct grt_idleness_row *const *)b;

	return idle_reads_as(x, y) ?: grt_compare(y->ns, x->ns) ?: grt_compare(x->number, y->number);
}

static int idle_by_time(const void *a, const void *b)
{
	const struct grt_idleness_row *x = *(const struct grt_idleness_row *const *)a,
				      *y = *(const struct grt_idleness_row *const *)b;

	return grt_compare(x->device, y->device) ?: grt_compare(y->ns, x->ns) ?: idle_reads_as(x, y);
}

/* Adds rows with the same text to the one with most time. */
static void idle_merge(struct grt_idleness *x)
{
	struct grt_idleness_row *first = NULL;
	uint32_t n = 0;

	for (uint32_t i = 0; i < x->rows; i++) {
		struct grt_idleness_row *r = &x->row[x->listed[i]->number]->row;

		if (!first || idle_reads_as(first, r)) {
			first = r;
			x->listed[n++] = r;
		} else {
			first->parts += r->parts;
			first->ns += r->ns;
			first->max = r->max > first->max ? r->max : first->max;
			first->inferred |= r->inferred;
			first->waker = first->waker == r->waker ? r->waker : 0;
			first->waker_pid = first->waker_pid == r->waker_pid ? r->waker_pid : 0;
		}
		x->row[r->number]->as = first->number;
	}
	x->listed_rows = n;
}

static int idle_list(struct grt_idleness *x)
{
	x->listed = calloc((size_t)x->rows + 1, sizeof(*x->listed));
	if (!x->listed)
		return -ENOMEM;
	for (uint32_t i = 0; i < x->rows; i++)
		x->listed[i] = &x->row[i]->row;
	qsort(x->listed, x->rows, sizeof(*x->listed), idle_by_text);
	idle_merge(x);
	qsort(x->listed, x->listed_rows, sizeof(*x->listed), idle_by_time);
	return 0;
}

/* ---------------------------------------------------------------- devices */

/* Return: whether GPUs of CUDA belong to several process images, each of which numbers its GPUs by itself. */
static bool of_several_processes(const struct grt_idleness *x)
{
	const struct grt_idleness_device *first = grt_idleness_device(x, 0), *d;

	for (uint32_t i = 1; (d = grt_idleness_device(x, i)); i++)
		if (d->cuda && first->cuda && d->image != first->image)
			return true;
	return false;
}

static void name_gpu(const struct grt_idleness *x, struct grt_idleness_device *d)
{
	const struct grt_images *images = grt_launches_images(x->launches);
	const struct grt_device *is = images->devices.device[d->of];
	const struct grt_image *i = images->image[d->image];
	char room[24], label[GRT_DEVICE_LABEL];

	d->processes = is->users;
	d->uuid = is->known ? is->is.uuid : "";
	if (is->known)
		snprintf(d->name, sizeof(d->name), "%s", grt_device_label(&images->devices, is, label));
	else if (of_several_processes(x))
		snprintf(d->name, sizeof(d->name), "GPU %u of %s (%u)", d->gpu,
			 grt_image_process_name(i, room), d->pid);
	else
		snprintf(d->name, sizeof(d->name), "GPU %u", d->gpu);
}

/* Names a ring with the driver, and with the card if there are several GPUs. */
static void name_ring(struct grt_idleness_device *d, const struct grt_names *names)
{
	uint32_t ring = grt_names_find(names, GRT_NAME_RING, d->ring);
	const char *name = grt_names_name(names, ring), *driver = grt_names_owner(names, ring),
		   *gpu = grt_names_gpus(names)
				  ? grt_names_name(names, grt_names_find(names, GRT_NAME_RING_GPU, d->ring))
				  : NULL;
	size_t used =
		(size_t)snprintf(d->name, sizeof(d->name), "%s%s", driver ? driver : "", driver ? " " : "");

	if (name)
		used += (size_t)snprintf(d->name + used, sizeof(d->name) - used, "%s", name);
	else
		used += (size_t)snprintf(d->name + used, sizeof(d->name) - used, "ring %u", d->ring);
	/* a GPU that is on no bus has the name of its driver */
	if (gpu && (!driver || strcmp(gpu, driver)))
		snprintf(d->name + used, sizeof(d->name) - used, " of %s", gpu);
}

int idle_name_all(struct grt_idleness *x, const struct grt_names *names)
{
	int ret = 0;

	for (uint32_t i = 0; i < x->devices.used; i++)
		if (x->device[i]->device.cuda)
			name_gpu(x, &x->device[i]->device);
		else
			name_ring(&x->device[i]->device, names);
	for (uint32_t i = 0; i < x->rows && !ret; i++)
		ret = name_row(x, x->row[i], names);
	return ret ?: idle_list(x);
}
