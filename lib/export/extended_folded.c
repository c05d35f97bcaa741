// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CPU stacks as lines `ts_ns comm pid tid cpu f1;f2;...`, outermost frame first:
 * one for each launch that has a stack, at the time of the call. Its last frame is
 * [correlation N], so that `grtrace flame --cpu --gpu` joins it to cupti_text by
 * identity. On which CPU it was is unknown: 4294967295.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/image_frames.h"
#include "base/containers.h"
#include "trace/names.h"
#include "codes/cuda_codes.h"
#include "base/escape.h"
#include "cupti_export.h"
#include "export.h"

#define COMM_MAX 15
/* Most stacks that are stored as text; if there are more, the oldest are made again when needed. */
#define TEXTS_MAX 65536U
#define TEXT_BYTES_MAX (64U << 20)

/** struct waiting - a launch whose stack has not arrived yet */
struct waiting {
	struct grt_ev_launch launch;
	const struct grt_image *image;
};

/** struct extended_folded - the export; @from, @to: launches that are partly in this time are written */
struct extended_folded {
	FILE *out;
	uint64_t from;
	uint64_t to;
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_names names;
	struct grt_keyed text; /* elements are texts */
	size_t text_bytes;
	struct waiting *waiting;
	size_t waits;
};

static int extended_folded_begin(struct grt_export *x)
{
	struct extended_folded *f = x->state = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->to = UINT64_MAX;
	grt_images_init(&f->images);
	grt_keyed_init(&f->text, sizeof(char *), TEXTS_MAX);
	f->out = grt_export_file(x);
	return f->out ? grt_image_frames_new(&f->frames) : -errno;
}

static void extended_folded_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	struct extended_folded *f = x->state;

	f->from = from;
	f->to = to;
}

static void extended_folded_forget_oldest(struct extended_folded *f)
{
	char **at = grt_keyed_oldest(&f->text);

	f->text_bytes -= *at ? strlen(*at) : 0;
	free(*at);
	grt_keyed_remove(&f->text, at);
}

/* Gets a stack as text, which @f still owns. Return: 0 or -ENOMEM */
static int extended_folded_text_of(struct extended_folded *f, const struct grt_image *i, uint32_t node,
				   const char **text)
{
	struct grt_key key = {{i->number, node}};
	char **at;
	void *found;
	int ret;

	if (!grt_keyed_find(&f->text, &key))
		while (grt_keyed_full(&f->text) || f->text_bytes > TEXT_BYTES_MAX)
			extended_folded_forget_oldest(f);
	ret = grt_keyed_get(&f->text, &key, &found);
	if (ret)
		return ret;
	at = found;
	if (!*at) {
		ret = grt_image_frames_folded(f->frames, i, node, false, GRT_IMAGE_FRAMES_FOLDED_MAX, at);
		f->text_bytes += ret ? 0 : strlen(*at);
	}
	*text = *at;
	return ret;
}

/* Writes the name of the thread, or of the program if it is unknown. */
static void extended_folded_put_comm(struct extended_folded *f, const struct grt_image *i, uint32_t tid)
{
	const char *name = grt_names_name(&f->names, grt_names_find(&f->names, GRT_NAME_THREAD, tid));
	char room[24], text[GRT_ESCAPED_MAX(COMM_MAX)];

	if (!name)
		name = grt_image_process_name(i, room);
	grt_escape(GRT_ESCAPE_FRAME, text, sizeof(text), name, strnlen(name, COMM_MAX));
	text[COMM_MAX] = '\0';
	fputs(text, f->out);
}

static int extended_folded_put(struct grt_export *x, const struct grt_image *i, const struct grt_ev_launch *e,
			       uint32_t node)
{
	struct extended_folded *f = x->state;
	const char *text;
	int ret = extended_folded_text_of(f, i, node, &text);

	if (ret)
		return ret;
	fprintf(f->out, "%" PRIu64 " ", (uint64_t)e->begin);
	extended_folded_put_comm(f, i, e->e.tid);
	fprintf(f->out, " %u %u %u %s;[correlation %" PRIu64 "]\n", e->e.pid, e->e.tid, UINT32_MAX, text,
		grt_cupti_correlation(i, e->correlation));
	x->items++;
	return ferror(f->out) ? -EIO : 0;
}

static int wait_for_stack(struct extended_folded *f, const struct grt_image *i, const struct grt_ev_launch *e)
{
	if (grt_grow_one(&f->waiting, f->waits))
		return -ENOMEM;
	f->waiting[f->waits++] = (struct waiting){*e, i};
	return 0;
}

static int extended_folded_take_launch(struct grt_export *x, const struct grt_ev_launch *e)
{
	struct extended_folded *f = x->state;
	const struct grt_image *i = grt_images_of(&f->images, &e->e);
	const struct grt_cuda_call *call = grt_cuda_call(e->call);
	uint32_t node;

	if (!i)
		return -ENOMEM;
	if (!e->stack || grt_cuda_sync(call) || e->begin > f->to || e->e.time < f->from)
		return 0;
	node = e->node ?: grt_images_stack(&f->images, i->number, e->correlation);
	if (node)
		return extended_folded_put(x, i, e, node);
	return wait_for_stack(f, i, e);
}

static int extended_folded_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct extended_folded *f = x->state;

	if (e->type == GRT_EV_NAME)
		return grt_names_add(&f->names, (const struct grt_ev_name *)e);
	if (e->type == GRT_EV_LAUNCH)
		return extended_folded_take_launch(x, (const struct grt_ev_launch *)e);
	return grt_images_event(&f->images, e);
}

/* Work without a stack has no line. */
static int extended_folded_end(struct grt_export *x, const struct grt_health *h)
{
	struct extended_folded *f = x->state;
	const struct waiting *w = f->waiting;
	uint32_t node;
	int ret = 0;

	for (; w < f->waiting + f->waits && !ret; w++) {
		node = grt_images_stack(&f->images, w->image->number, w->launch.correlation);
		ret = node ? extended_folded_put(x, w->image, &w->launch, node) : 0;
	}
	return ret ? ret : fflush(f->out) ? -errno : 0;
}

static void extended_folded_release(struct grt_export *x)
{
	struct extended_folded *f = x->state;
	char **at;

	if (!f)
		return;
	if (f->out)
		fclose(f->out);
	for (at = grt_keyed_oldest(&f->text); at; at = grt_keyed_next(&f->text, at))
		free(*at);
	grt_keyed_free(&f->text);
	grt_image_frames_free(f->frames);
	grt_images_free(&f->images);
	grt_names_free(&f->names);
	free(f->waiting);
	free(f);
}

const struct grt_export_format grt_export_extended_folded = {
	.missing = "CPU stack of a CUDA launch",
	.fix = "grtrace record -e cuda -- PROG",
	.begin = extended_folded_begin,
	.event = extended_folded_event,
	.beyond = extended_folded_event,
	.late = extended_folded_event,
	.within = extended_folded_within,
	.end = extended_folded_end,
	.free = extended_folded_release,
};
