// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU stacks that submitted the jobs that ended in an update of `grtrace top`, and those that launched
 * its kernels and copies (top_launches.c). The stack of a job is remembered by the job's identity until the
 * job ends. If there are more than OWNERS, the oldest is forgotten, and its job counts as one without a
 * stack.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "top.h"

/* Maximum number of jobs in flight whose stacks are remembered. */
#define OWNERS 65536U
/* Maximum number of different stacks of processes in an update; the jobs of others are only counted. */
#define STACKS 4096U
/* Maximum number of kernels and copies that wait for their launch; others have no stack. */
#define LATE 65536U

/* In place of a pid in the key of a row: the number of an image. */
#define OF_IMAGE (1ULL << 32)

/** struct top_late - a kernel or copy whose launch was not read; @waited: nor in the update after it */
struct top_late {
	struct grt_image *image;
	uint64_t correlation;
	uint64_t ns;
	bool waited;
};

int top_stacks_init(struct top_stacks *s, struct grt_images *images)
{
	grt_keyed_init(&s->owners, sizeof(uint32_t), OWNERS);
	grt_keyed_init(&s->rows, sizeof(struct top_stack), STACKS);
	grt_keyed_init(&s->shown, sizeof(struct top_stack), STACKS);
	return grt_frames_init(&s->frames) ?: top_launches_new(&s->launches, images);
}

static int top_stacks_meet(struct top_stacks *s, const struct grt_ev_stack *e)
{
	const struct grt_key key = {{e->e.ctx, e->e.seqno}};
	void *found;
	int ret = grt_keyed_get_or_replace(&s->owners, &key, NULL, &found);

	s->any = true;
	if (!ret)
		*(uint32_t *)found = e->user;
	return ret;
}

int top_stacks_event(struct top_stacks *s, const struct grt_event *e)
{
	return e->type == GRT_EV_STACK ? top_stacks_meet(s, (const struct grt_ev_stack *)e)
				       : grt_frames_event(&s->frames, e);
}

/* 0: it has none. */
static uint32_t top_stacks_take(struct top_stacks *s, const struct grt_job *job)
{
	const struct grt_key key = {{job->ctx, job->seqno}};
	uint32_t *found = grt_keyed_find(&s->owners, &key), id = found ? *found : 0;

	if (found)
		grt_keyed_remove(&s->owners, found);
	return id;
}

int top_stacks_job(struct top_stacks *s, const struct grt_job *job)
{
	struct grt_key key = {{job->pid, 0, job->ring}};
	struct top_stack *row;
	bool inferred;
	uint64_t ns;
	void *found = NULL;
	int ret;

	if (!s->any)
		return 0;
	key.w[1] = top_stacks_take(s, job);
	ret = grt_keyed_get_or_count(&s->rows, &key, &s->over, &found);
	row = found;
	if (ret || !row)
		return ret;
	row->pid = job->pid;
	row->stack = (uint32_t)key.w[1];
	row->ring = job->ring;
	row->name = job->name;
	row->jobs++;
	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred)) {
		row->time.least = true;
		return 0;
	}
	row->time.known = true;
	row->time.value += ns;
	row->time.inferred |= inferred;
	return 0;
}

int top_stacks_launch(struct top_stacks *s, const struct grt_image *image, const struct grt_event *e)
{
	const struct grt_ev_launch *x = (const void *)e;

	s->any |= x->stack || x->node;
	return s->any ? top_launches_launch(s->launches, image, e) : 0;
}

static int top_stacks_add_work(struct top_stacks *s, struct grt_image *image, uint32_t node, uint64_t ns)
{
	const struct grt_key key = {{OF_IMAGE | image->number, node}};
	struct top_stack *row;
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&s->rows, &key, &s->over, &found);

	row = found;
	if (ret || !row)
		return ret;
	row->pid = image->pid;
	row->stack = node;
	row->image = image;
	row->ring = GRT_RING_NONE;
	row->jobs++;
	row->time.known |= ns != UINT64_MAX;
	row->time.least |= ns == UINT64_MAX;
	row->time.value += ns != UINT64_MAX ? ns : 0;
	return 0;
}

int top_stacks_work(struct top_stacks *s, struct grt_image *image, uint64_t correlation, uint64_t ns)
{
	uint32_t node = 0;

	if (s->any && top_launches_node(s->launches, image, correlation, &node))
		return top_stacks_add_work(s, image, node, ns);
	if (s->lates == LATE)
		return s->any ? top_stacks_add_work(s, image, node, ns) : 0;
	if (grt_grow(&s->late, &s->late_room, s->lates + 1, 64))
		return -ENOMEM;
	s->late[s->lates++] = (struct top_late){.image = image, .correlation = correlation, .ns = ns};
	return 0;
}

/* Work may end before the call that launched it returns. It waits for one more update. */
static int top_stacks_add_late(struct top_stacks *s, bool last)
{
	uint32_t left = 0, node;
	int ret = 0;

	for (uint32_t i = 0; s->any && i < s->lates && !ret; i++) {
		struct top_late *w = &s->late[i];

		if (top_launches_node(s->launches, w->image, w->correlation, &node) || last || w->waited)
			ret = top_stacks_add_work(s, w->image, node, w->ns);
		else
			s->late[left++] = *w;
	}
	for (uint32_t i = 0; i < left; i++)
		s->late[i].waited = true;
	s->lates = left;
	return ret;
}

int top_stacks_next(struct top_stacks *s, bool wait, bool last)
{
	int ret = top_stacks_add_late(s, last);

	grt_keyed_free(&s->shown);
	s->shown = s->rows;
	grt_keyed_init(&s->rows, sizeof(struct top_stack), STACKS);
	for (struct top_stack *row = grt_keyed_oldest(&s->shown); row && !ret;
	     row = grt_keyed_next(&s->shown, row))
		if (row->image)
			ret = top_launches_want(s->launches, row->image, row->stack);
	if (!ret)
		top_launches_name(s->launches, wait);
	return ret;
}

const char *top_stacks_text(const struct top_stacks *s, const struct top_stack *row, char *text, size_t room)
{
	uint32_t stack = row->stack;
	uint32_t depth = grt_frames_has(&s->frames, stack) ? grt_frames_depth(&s->frames, stack) : 0;
	size_t used = 0, len;

	text[0] = '\0';
	if (row->image)
		return top_launches_text(s->launches, row->image, stack, text, room);
	for (uint32_t i = 0; i < depth && used < room; i++) {
		const char *name = grt_frames_function(&s->frames, stack, i, &len);

		used += (size_t)snprintf(text + used, room - used, "%s%.*s", i ? " < " : "", (int)len, name);
	}
	return depth ? text : NULL;
}

void top_stacks_free(struct top_stacks *s)
{
	grt_keyed_free(&s->owners);
	top_launches_free(s->launches);
	free(s->late);
	grt_keyed_free(&s->rows);
	grt_keyed_free(&s->shown);
	grt_frames_free(&s->frames);
}
