// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Threads: a track for each thread that was off the CPU, with what it waited for, and then its wait for a
 * CPU; and one for its calls of the C library.
 */
#include "tracks_places.h"

#include <errno.h>
#include <stdio.h>
#include <string.h>

#include "threads/threads.h"
#include "threads/wakers.h"

enum {
	OF_OFF_CPU = TRACKS_KEYS(tracks_cpu),
	OF_OS_CALLS,
};

static void tracks_add_word(struct tracks_args *a, unsigned int id, const char *word)
{
	if (word)
		tracks_add_text(a, id, word, strlen(word));
}

/* Adds the thread that ended the sleep, under the names of the record's fields. */
static void tracks_add_waker(const struct grt_tracks *t, struct tracks_args *a, const struct grt_ev_asleep *e)
{
	const struct tracks_field *f = t->field[GRT_EV_ASLEEP];

	if (e->waker) {
		tracks_add_number(a, f[10].id, e->waker);
		tracks_add_number(a, f[11].id, e->waker_pid);
		tracks_add_text(a, f[14].id, e->waker_comm, sizeof(e->waker_comm));
	}
	tracks_add_word(a, f[12].id, grt_waker_name(e->by));
	tracks_add_word(a, f[13].id, grt_wake_cause_name(e->cause));
}

static int put_off_cpu(struct grt_tracks *t, const struct grt_event *e, unsigned int state, uint64_t from,
		       uint64_t to)
{
	struct grt_track_item i = {.category = GRT_CATEGORY_WAIT, .time = from, .end = to};
	struct grt_key key = tracks_key_of(OF_OFF_CPU, e->pid, e->tid, 0);
	const char *name = grt_thread_state_name(state);
	const struct grt_ev_off_cpu *x = (const struct grt_ev_off_cpu *)e;
	struct tracks_args *a = tracks_no_args(t);
	char text[64];

	if (to <= from)
		return 0;
	if (grt_texts_add(&t->texts, name, strlen(name), &i.name))
		return -ENOMEM;
	if (x->call >= 0)
		tracks_add_number(a, t->field[e->type][8].id, (uint64_t)x->call);
	if (e->type == GRT_EV_ASLEEP && state != GRT_THREAD_RUNNABLE)
		tracks_add_waker(t, a, (const struct grt_ev_asleep *)e);
	snprintf(text, sizeof(text), "off the CPU: thread %u", e->tid);
	return tracks_draw_in_process(t, e, &key, text, &i, a);
}

/* Draws what the thread waited for, and then its wait for a CPU. */
static int on_off_cpu(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_off_cpu *x = (const struct grt_ev_off_cpu *)e;
	bool woken = x->woken > x->start && x->woken < e->time;
	int ret;

	if (x->start > e->time) {
		t->count.back++;
		return 0;
	}
	ret = put_off_cpu(t, e, x->reason, x->start, woken ? x->woken : e->time);
	/* its return to the CPU was not seen */
	if (!x->over && e->flags & GRT_FLAG_INFERRED)
		woken = false;
	return ret || !woken ? ret : put_off_cpu(t, e, GRT_THREAD_RUNNABLE, x->woken, e->time);
}

static int on_os_call(struct grt_tracks *t, const struct grt_event *e)
{
	const struct grt_ev_os_call *x = (const struct grt_ev_os_call *)e;
	struct grt_track_item i = {.category = GRT_CATEGORY_OS, .time = x->begin, .end = e->time};
	struct grt_key key = tracks_key_of(OF_OS_CALLS, e->pid, e->tid, 0);
	char text[64];

	if (x->begin > e->time) {
		t->count.back++;
		return 0;
	}
	if (grt_texts_add(&t->texts, x->name, sizeof(x->name), &i.name))
		return -ENOMEM;
	snprintf(text, sizeof(text), "calls of the C library: thread %u", e->tid);
	return tracks_draw_in_process(t, e, &key, text, &i, tracks_no_args(t));
}

static const struct tracks_draw cpu_draws[] = {
	{GRT_EV_STACK, tracks_nothing},
	{GRT_EV_FRAME, tracks_nothing},
	{GRT_EV_STACK_END, tracks_nothing},
	{GRT_EV_FRAME_PLACE, tracks_nothing},
	{GRT_EV_FRAME_TEXT, tracks_nothing},
	{GRT_EV_CALL_STACK, tracks_nothing},
	{GRT_EV_OFF_CPU, on_off_cpu},
	{GRT_EV_ASLEEP, on_off_cpu},
	{GRT_EV_SAMPLE, tracks_nothing},
	{GRT_EV_OS_CALL, on_os_call},
	{0},
};

const struct tracks_provider tracks_cpu = {
	.draws = cpu_draws,
};
