// SPDX-License-Identifier: GPL-2.0
/* Calls of CUDA before an incident, see incident_calls.h. */
#include "incident_calls.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/say.h"
#include "base/units.h"
#include "codes/cuda_codes.h"
#include "stack/image_frames.h"
#include "cmds/cmd.h"

#define THREADS_MAX 4096U
#define SHOWN 10U
#define FRAMES_SHOWN 32U

/**
 * struct thread_call - the last call of a thread
 * @ended: when it returned
 */
struct thread_call {
	const struct grt_image *image;
	uint64_t begin;
	uint64_t ended;
	uint64_t correlation;
	uint32_t pid;
	uint32_t tid;
	uint32_t node;
	uint16_t call;
};

void incident_calls_init(struct incident_calls *c)
{
	grt_images_init(&c->images);
	grt_keyed_init(&c->threads, sizeof(struct thread_call), THREADS_MAX);
}

int incident_calls_event(struct incident_calls *c, const struct grt_event *e)
{
	const struct grt_ev_launch *l = (const struct grt_ev_launch *)e;
	const struct grt_key key = {{e->pid, e->tid, e->ctx}};
	struct thread_call *t;
	int ret = grt_images_event(&c->images, e);

	if (ret || e->type != GRT_EV_LAUNCH || l->begin > c->at)
		return ret;
	ret = grt_keyed_get_or_replace(&c->threads, &key, NULL, (void **)&t);
	if (ret || t->begin > l->begin)
		return ret;
	*t = (struct thread_call){.image = grt_images_of(&c->images, e),
				  .begin = l->begin,
				  .ended = e->time,
				  .correlation = l->correlation,
				  .pid = e->pid,
				  .tid = e->tid,
				  .node = l->node,
				  .call = l->call};
	return t->image ? 0 : -ENOMEM;
}

/* Prints the functions into which the innermost function of a frame was inlined. */
static int incident_calls_print_outer(struct grt_image_frames *frames, const struct grt_image *image,
				      uint32_t node)
{
	char room[GRT_IMAGE_FRAMES_LINE];
	uint32_t n = 0;
	const char *text;
	size_t len;
	int ret;

	while (!(ret = grt_image_frames_inlined(frames, image, node, n, &text, &len)) && len)
		n++;
	for (uint32_t k = n; !ret && k > 1; k--) {
		ret = grt_image_frames_inlined(frames, image, node, k - 2, &text, &len);
		snprintf(room, sizeof(room), "%.*s", (int)len, text);
		fputs("       inlined into ", stdout);
		cmd_put_text(stdout, room);
		putchar('\n');
	}
	return ret;
}

static int incident_calls_print_stack(struct incident_calls *c, struct grt_image_frames *frames,
				      const struct thread_call *t)
{
	uint32_t node = t->node ?: grt_images_stack(&c->images, t->image->number, t->correlation);
	const struct grt_image_node *n = node ? grt_image_node(t->image, node) : NULL;
	char room[GRT_IMAGE_FRAMES_LINE];
	const char *text;
	size_t len;
	int ret = 0;

	for (unsigned int i = 0; !ret && n && i < FRAMES_SHOWN; i++) {
		ret = grt_image_frames_text(frames, t->image, node, &text, &len);
		/* an address after the outermost frame is not a frame */
		if (ret || !len)
			return ret;
		snprintf(room, sizeof(room), "%.*s", (int)len, text);
		printf("    %2u ", i);
		cmd_put_text(stdout, room);
		putchar('\n');
		ret = incident_calls_print_outer(frames, t->image, node);
		node = n->caller;
		n = node ? grt_image_node(t->image, node) : NULL;
	}
	return ret;
}

static int incident_calls_print_one(struct incident_calls *c, struct grt_image_frames *frames,
				    const struct grt_names *names, const struct thread_call *t)
{
	const char *comm = grt_names_name(names, grt_names_find(names, GRT_NAME_THREAD, t->tid));
	const struct grt_cuda_call *call = grt_cuda_call(t->call);
	char before[GRT_UNITS_MAX];

	grt_units_ns(before, c->at - t->begin);
	printf("  thread %u", t->tid);
	if (comm && *comm) {
		putchar(' ');
		cmd_put_text(stdout, comm);
	}
	printf(": %s, %s before%s\n", call ? call->name : "-", before,
	       t->ended > c->at ? ", and had not returned" : "");
	return incident_calls_print_stack(c, frames, t);
}

/* The latest call comes first. */
static int incident_calls_order(const void *a, const void *b)
{
	const struct thread_call *x = *(const struct thread_call *const *)a,
				 *y = *(const struct thread_call *const *)b;

	return x->begin < y->begin ? 1 : x->begin > y->begin ? -1 : 0;
}

int incident_calls_print(struct incident_calls *c, const struct grt_names *names, uint32_t pid)
{
	struct grt_image_frames *frames;
	unsigned int shown = 0;
	bool own = false;
	void **list;
	int ret;

	if (!c->threads.used)
		return 0;
	ret = grt_image_frames_new(&frames) ?: grt_keyed_list(&c->threads, incident_calls_order, &list);
	if (ret)
		return ret;
	for (uint32_t i = 0; i < c->threads.used; i++)
		own |= ((const struct thread_call *)list[i])->pid == pid;
	puts("\nlast API calls");
	for (uint32_t i = 0; !ret && i < c->threads.used; i++) {
		const struct thread_call *t = list[i];

		if ((own && t->pid != pid) || shown++ >= SHOWN)
			continue;
		ret = incident_calls_print_one(c, frames, names, t);
	}
	if (shown > SHOWN)
		grt_say(stdout, "  and %u {more thread|more threads}\n", shown - SHOWN);
	free(list);
	grt_image_frames_free(frames);
	return ret;
}

void incident_calls_free(struct incident_calls *c)
{
	grt_images_free(&c->images);
	grt_keyed_free(&c->threads);
}
