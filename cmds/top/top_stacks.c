// SPDX-License-Identifier: GPL-2.0
/*
 * The CPU stacks that submitted the jobs that ended in an update of `grtrace top`. The stack of a job is
 * remembered by the job's identity until the job ends. If there are more than OWNERS, the oldest is
 * forgotten, and its job counts as one without a stack.
 */
#include <errno.h>
#include <string.h>

#include "top.h"

/* Maximum number of jobs in flight whose stacks are remembered. */
#define OWNERS 65536U
/* Maximum number of different stacks of processes in an update; the jobs of others are only counted. */
#define STACKS 4096U

int top_stacks_init(struct top_stacks *s)
{
	grt_keyed_init(&s->owners, sizeof(uint32_t), OWNERS);
	grt_keyed_init(&s->rows, sizeof(struct top_stack), STACKS);
	grt_keyed_init(&s->shown, sizeof(struct top_stack), STACKS);
	return grt_frames_init(&s->frames);
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

void top_stacks_next(struct top_stacks *s)
{
	grt_keyed_free(&s->shown);
	s->shown = s->rows;
	grt_keyed_init(&s->rows, sizeof(struct top_stack), STACKS);
}

const char *top_stacks_text(const struct top_stacks *s, uint32_t stack, char *text, size_t room)
{
	uint32_t depth = grt_frames_has(&s->frames, stack) ? grt_frames_depth(&s->frames, stack) : 0;
	size_t used = 0, len;

	text[0] = '\0';
	for (uint32_t i = 0; i < depth && used < room; i++) {
		const char *name = grt_frames_function(&s->frames, stack, i, &len);

		used += (size_t)snprintf(text + used, room - used, "%s%.*s", i ? " < " : "", (int)len, name);
	}
	return depth ? text : NULL;
}

void top_stacks_free(struct top_stacks *s)
{
	grt_keyed_free(&s->owners);
	grt_keyed_free(&s->rows);
	grt_keyed_free(&s->shown);
	grt_frames_free(&s->frames);
}
