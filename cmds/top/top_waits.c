// SPDX-License-Identifier: GPL-2.0
/*
 * The waits of processes' threads in an update of `grtrace top`, for fences of jobs and for a CPU; and the
 * frames that the processes showed.
 */
#include <errno.h>
#include <string.h>

#include "top.h"

/* Maximum number of waiting threads; beyond it the oldest is forgotten, and its wait does not count. */
#define WAITERS 16384U
#define PROCESSES 4096U
/* The median to which frames are compared is that of the last minute. */
#define FRAMES_NS (60 * GRT_NS_PER_S)

/**
 * struct top_waiter - a thread; @since: when it began to wait, ns; @depth: number of fences for which it
 * waits
 */
struct top_waiter {
	uint32_t pid;
	uint32_t depth;
	uint64_t since;
};

int top_waits_init(struct top_waits *w)
{
	grt_keyed_init(&w->threads, sizeof(struct top_waiter), WAITERS);
	grt_keyed_init(&w->processes, sizeof(struct top_wait), PROCESSES);
	return grt_display_frames_new(&w->frames);
}

struct top_wait *top_waits_of(const struct top_waits *w, uint32_t pid)
{
	const struct grt_key key = {{pid}};

	return grt_keyed_find(&w->processes, &key);
}

static int top_waits_get(struct top_waits *w, uint32_t pid, struct top_wait **out)
{
	const struct grt_key key = {{pid}};
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&w->processes, &key, &w->over, &found);

	*out = found;
	return ret;
}

static int top_waits_add(struct top_waits *w, const struct top_waiter *waiter, uint64_t from, uint64_t to)
{
	uint64_t since = waiter->since > from ? waiter->since : from;
	struct top_wait *process;
	int ret = top_waits_get(w, waiter->pid, &process);

	if (!ret && process && to > since)
		process->gpu += to - since;
	return ret;
}

static int top_waits_enter(struct top_waits *w, const struct grt_event *e)
{
	const struct grt_key key = {{e->tid}};
	struct top_waiter *waiter;
	int ret = grt_keyed_get_or_replace(&w->threads, &key, &w->over, (void **)&waiter);

	if (ret)
		return ret;
	waiter->pid = e->pid;
	if (!waiter->depth++)
		waiter->since = e->time;
	return 0;
}

/* A wait may have begun before the first event. */
static int top_waits_exit(struct top_waits *w, const struct grt_event *e, uint64_t from)
{
	const struct grt_key key = {{e->tid}};
	struct top_waiter *waiter = grt_keyed_find(&w->threads, &key);
	int ret;

	if (!waiter || --waiter->depth)
		return 0;
	ret = top_waits_add(w, waiter, from, e->time);
	grt_keyed_remove(&w->threads, waiter);
	return ret;
}

int top_waits_event(struct top_waits *w, const struct grt_event *e, uint64_t from)
{
	w->any = true;
	if (e->type == GRT_EV_SYNC_WAIT_ENTER)
		return top_waits_enter(w, e);
	return e->type == GRT_EV_SYNC_WAIT_EXIT ? top_waits_exit(w, e, from) : 0;
}

/* Counts the frames of a process on all its displays since the last update, and the late ones among them. */
static int top_waits_count_frames(struct top_waits *w, const struct grt_frame_client *c)
{
	uint64_t seen = w->seen[c->number];
	struct top_wait *process;
	int ret = top_waits_get(w, c->pid, &process);

	w->seen[c->number] = c->frames;
	if (ret || !process)
		return ret;
	process->shows = true;
	process->frames += c->frames - seen;
	for (uint32_t i = c->n; i-- && c->frame[i].number > seen;)
		process->late += c->frame[i].late;
	return 0;
}

static int top_waits_frames(struct top_waits *w, uint64_t to)
{
	const struct grt_frame_client *c;
	int ret = grt_display_frames_finish(w->frames);

	for (uint32_t i = 0; !ret && (c = grt_display_frames_client(w->frames, i)); i++)
		if (c->n)
			ret = top_waits_count_frames(w, c);
	if (to > FRAMES_NS)
		grt_display_frames_forget(w->frames, to - FRAMES_NS);
	return ret;
}

/*
 * Computes the share of the last time between samples for which threads of a process were ready to run
 * without a CPU.
 */
static int top_waits_cpu(struct top_waits *w, const struct grt_counter_row *row)
{
	struct top_wait *process;
	int ret = top_waits_get(w, row->instance, &process);

	if (!ret && process && row->seen) {
		process->runnable.value = row->last > 0 ? (uint64_t)row->last : 0;
		process->runnable.known = true;
		process->runnable.inferred = row->inferred;
	}
	return ret;
}

static int top_waits_counters(struct top_waits *w, const struct grt_counters *c)
{
	int ret = 0;

	for (const struct grt_counter_row *row = grt_keyed_oldest(&c->rows); row && !ret;
	     row = grt_keyed_next(&c->rows, row)) {
		const char *name = grt_names_name(c->names, row->name);

		if (row->instance && row->known && row->grows && name && !strcmp(name, "runnable"))
			ret = top_waits_cpu(w, row);
	}
	return ret;
}

int top_waits_sum(struct top_waits *w, const struct grt_counters *counters, uint64_t from, uint64_t to)
{
	int ret = top_waits_frames(w, to) ?: top_waits_counters(w, counters);

	for (const struct top_waiter *t = grt_keyed_oldest(&w->threads); t && !ret;
	     t = grt_keyed_next(&w->threads, t))
		ret = top_waits_add(w, t, from, to);
	return ret;
}

void top_waits_next(struct top_waits *w)
{
	grt_keyed_free(&w->processes);
	grt_keyed_init(&w->processes, sizeof(struct top_wait), PROCESSES);
}

void top_waits_free(struct top_waits *w)
{
	grt_keyed_free(&w->threads);
	grt_keyed_free(&w->processes);
	grt_display_frames_free(w->frames);
}
