/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Windows of time, one after the other without a gap, that cost nothing while
 * nothing happens: the first event after a quiet time sets the clock going, and
 * the window in which nothing happened is the last one until then. Windows that
 * were left out are as long as all others.
 *
 * The owner's @work measures, then calls window_next() or window_rest().
 */
#ifndef GRTRACE_WINDOW_H
#define GRTRACE_WINDOW_H

#include <linux/irq_work.h>
#include <linux/math64.h>
#include <linux/timekeeping.h>
#include <linux/workqueue.h>

/* CPUs whose events begin a window at the same time may differ by less than this in that time. */
#define WINDOW_RACE NSEC_PER_MSEC

/**
 * struct window - initialised by window_init()
 * @work: runs at the end of each window
 * @kick: schedules @work, in whatever context an event happens
 * @ticking: @work is scheduled
 * @length: ns; a change applies to the next window
 * @edge: the begin of the present window; 0: the first event begins it
 * @touched: stamp of the event that scheduled it
 */
struct window {
	struct delayed_work work;
	struct irq_work kick;
	int ticking;
	u64 length;
	u64 edge;
	u64 touched;
};

static inline void window_schedule(struct window *w, u64 now)
{
	u64 end = w->edge + READ_ONCE(w->length);

	schedule_delayed_work(&w->work, end > now ? nsecs_to_jiffies(end - now) + 1 : 0);
}

/* Skips the windows in which nothing happened. */
static inline void window_kick_fn(struct irq_work *kick)
{
	struct window *w = container_of(kick, struct window, kick);
	u64 begin = w->touched - WINDOW_RACE, quiet = begin - w->edge;

	if (!w->edge)
		w->edge = begin;
	else if ((s64)quiet > 0)
		w->edge += div64_u64(quiet, READ_ONCE(w->length)) * READ_ONCE(w->length);
	window_schedule(w, ktime_get_mono_fast_ns());
}

static inline void window_init(struct window *w, work_func_t fn, u64 length)
{
	INIT_DELAYED_WORK(&w->work, fn);
	init_irq_work(&w->kick, window_kick_fn);
	w->length = length;
}

/* The next event begins the next window; call this while no other CPU uses the window. */
static inline void window_begin(struct window *w)
{
	w->edge = 0;
	w->ticking = 0;
}

/* Something has happened; any context. */
static __always_inline void window_touch(struct window *w, u64 time)
{
	if (likely(READ_ONCE(w->ticking)) || xchg(&w->ticking, 1))
		return;
	w->touched = time;
	irq_work_queue(&w->kick);
}

/* The next window begins at @edge. */
static inline void window_next(struct window *w, u64 edge)
{
	w->edge = edge;
	window_schedule(w, ktime_get_mono_fast_ns());
}

/*
 * Nothing happened in the window that ends at @edge. Return: false: the owner must check again,
 * and call window_touch() if something has happened meanwhile
 */
static inline void window_rest(struct window *w, u64 edge)
{
	w->edge = edge;
	smp_mb(); /* set the edge before an event can call @kick */
	xchg(&w->ticking, 0); /* before the owner checks again */
}

/* Nobody uses the window any more, and @work does not run after this. */
static inline void window_end(struct window *w)
{
	irq_work_sync(&w->kick);
	cancel_delayed_work_sync(&w->work);
}

#endif /* GRTRACE_WINDOW_H */
