// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Estimates the offset between the clocks of the runtime's log and of the kernel, which neither file
 * contains. The kernel's work for the runtime is within a call in the log: a queue between the runtime's plan
 * and the report of it, a buffer between entry and return of hipMalloc. Each pair of such a call and such an
 * event allows an interval of offsets. The result is where the intervals of most events overlap; its error is
 * half the width of that overlap.
 */
#include "rocm.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Most events of each kind that are used; all pairs of them are compared. */
#define MOST 512U
/* Most threads with an open call. */
#define OPEN 64U
/* Time stamps of the log are truncated to microseconds. */
#define CUT_NS 1000
/* An offset that fits fewer than this many of ten events is rejected. */
#define AGREE_OF_TEN 8

/**
 * struct kind - what must be inside of what
 * @call: a call of the log; NULL: the creation of a queue
 */
static const struct kind {
	const char *call;
	const char *function;
} kinds[] = {
	{NULL, "kfd_ioctl_create_queue"},
	{"hipMalloc", "kfd_ioctl_alloc_memory_of_gpu"},
	{"hipFree", "kfd_ioctl_free_memory_of_gpu"},
};
#define KINDS (sizeof(kinds) / sizeof(kinds[0]))

struct stretch {
	uint64_t begin;
	uint64_t end;
};

struct open_call {
	uint64_t thread;
	uint32_t pid;
	uint64_t since;
};

/** struct sample - the events of a kind; without an end, an event's end is its begin */
struct sample {
	struct stretch outer[MOST];
	struct stretch inner[MOST];
	unsigned int outers;
	unsigned int inners;
	struct open_call open[OPEN];
	bool entered; /* the last inner one waits for its return */
	uint32_t tid;
};

struct grt_rocm_clock {
	struct sample sample[KINDS];
};

/** struct edge - where an interval of allowed offsets begins or ends */
struct edge {
	int64_t at;
	int step;
};

int grt_rocm_clock_new(struct grt_rocm_clock **out)
{
	*out = calloc(1, sizeof(**out));
	return *out ? 0 : -ENOMEM;
}

void grt_rocm_clock_free(struct grt_rocm_clock *c)
{
	free(c);
}

static struct open_call *rocm_clock_place_of(struct sample *s, uint32_t pid, uint64_t thread)
{
	return &s->open[((thread ^ pid) * 0x9e3779b97f4a7c15) >> 58];
}

static void open_outer(struct sample *s, uint32_t pid, uint64_t thread, uint64_t time)
{
	*rocm_clock_place_of(s, pid, thread) = (struct open_call){thread, pid, time};
}

static void close_outer(struct sample *s, uint32_t pid, uint64_t thread, uint64_t time)
{
	struct open_call *o = rocm_clock_place_of(s, pid, thread);

	if (o->since && o->thread == thread && o->pid == pid && s->outers < MOST)
		s->outer[s->outers++] = (struct stretch){o->since, time + CUT_NS};
	o->since = 0;
}

static void take_log_call(struct grt_rocm_clock *c, const struct grt_ev_log_call *x)
{
	for (size_t i = 0; i < KINDS; i++) {
		if (!kinds[i].call || strncmp(x->function, kinds[i].call, sizeof(x->function)) != 0)
			continue;
		if (x->step == GRT_CALL_ENTERED)
			open_outer(&c->sample[i], x->e.pid, x->thread, x->e.time);
		else
			close_outer(&c->sample[i], x->e.pid, x->thread, x->e.time);
	}
}

static void take_log_note(struct grt_rocm_clock *c, const struct grt_ev_log_note *n)
{
	if (n->what == GRT_LOG_QUEUE_COUNTS)
		open_outer(&c->sample[0], n->e.pid, n->thread, n->e.time);
	else if (n->what == GRT_LOG_QUEUE_CREATE)
		close_outer(&c->sample[0], n->e.pid, n->thread, n->e.time);
}

static void take_func(struct sample *s, const struct grt_ev_func *x)
{
	if (x->step == GRT_FUNC_RETURNED) {
		if (s->entered && s->tid == x->e.tid && s->inners)
			s->inner[s->inners - 1].end = x->e.time;
		s->entered = false;
		return;
	}
	if (x->step == GRT_FUNC_EVENT || s->inners == MOST)
		return;
	s->inner[s->inners++] = (struct stretch){x->e.time, x->e.time};
	s->entered = x->step == GRT_FUNC_ENTERED;
	s->tid = x->e.tid;
}

void grt_rocm_clock_event(struct grt_rocm_clock *c, const struct grt_event *e)
{
	const struct grt_ev_func *x = (const struct grt_ev_func *)e;

	if (e->flags & GRT_FLAG_UNTIMED)
		return;
	if (e->type == GRT_EV_LOG_CALL)
		take_log_call(c, (const struct grt_ev_log_call *)e);
	else if (e->type == GRT_EV_LOG_NOTE)
		take_log_note(c, (const struct grt_ev_log_note *)e);
	if (e->type != GRT_EV_FUNC)
		return;
	for (size_t i = 0; i < KINDS; i++)
		if (!strncmp(x->function, kinds[i].function, sizeof(x->function)))
			take_func(&c->sample[i], x);
}

static int rocm_clock_by_place(const void *a, const void *b)
{
	const struct edge *x = a, *y = b;

	if (x->at != y->at)
		return x->at < y->at ? -1 : 1;
	/* intervals are closed: one that begins where another one ends overlaps with it */
	return y->step - x->step;
}

/* Return: edges, -ENOMEM */
static int make_edges(const struct grt_rocm_clock *c, struct edge **out, uint64_t *inners)
{
	size_t room = 0, n = 0;
	struct edge *e;

	*inners = 0;
	for (size_t i = 0; i < KINDS; i++) {
		const struct sample *s = &c->sample[i];

		room += 2 * (size_t)s->outers * s->inners;
		*inners += s->outers ? s->inners : 0;
	}
	*out = e = malloc((room + 1) * sizeof(*e));
	if (!e)
		return -ENOMEM;
	for (size_t i = 0; i < KINDS; i++) {
		const struct sample *s = &c->sample[i];

		for (unsigned int k = 0; k < s->inners; k++)
			for (unsigned int m = 0; m < s->outers; m++) {
				/* outer.begin + o <= inner.begin, inner.end <= outer.end + o */
				int64_t low = (int64_t)(s->inner[k].end - s->outer[m].end),
					high = (int64_t)(s->inner[k].begin - s->outer[m].begin);

				if (low > high)
					continue;
				e[n++] = (struct edge){low, 1};
				e[n++] = (struct edge){high, -1};
			}
	}
	return (int)n;
}

/**
 * struct best - the range of offsets that most events allow
 * @others: another range allows as many
 */
struct best {
	int most;
	int64_t low;
	int64_t high;
	bool others;
};

static struct best find_best(struct edge *e, int n)
{
	struct best b = {.most = 0};
	int depth = 0;

	qsort(e, (size_t)n, sizeof(*e), rocm_clock_by_place);
	for (int i = 0; i < n; i++) {
		depth += e[i].step;
		if (e[i].step > 0 && depth > b.most)
			b = (struct best){depth, e[i].at, e[i + 1].at, false};
		else if (e[i].step > 0 && depth == b.most && e[i].at > b.high)
			b.others = true;
	}
	return b;
}

static int no_answer(struct grt_err *err, int code, const char *why)
{
	return grt_err_set(err, code, why, "--clock-offset NS, or record both with grtrace rocm record",
			   "cannot find the offset between the clocks of the log and the kernel");
}

int grt_rocm_clock_find(struct grt_rocm_clock *c, struct grt_rocm_offset *o, struct grt_err *err)
{
	struct edge *edges;
	struct best b;
	uint64_t inners;
	int n = make_edges(c, &edges, &inners);

	if (n < 0)
		return grt_err_set(err, n, strerror(ENOMEM), NULL, "cannot estimate a clock's offset");
	if (!n) {
		free(edges);
		return no_answer(err, -ENODATA,
				 "they share no queue or buffer, so nothing in one must follow the other");
	}
	b = find_best(edges, n);
	free(edges);
	*o = (struct grt_rocm_offset){.pairs = inners, .agree = (uint64_t)b.most};
	if (b.others)
		return no_answer(err, -EDOM, "two offsets fit equally well");
	if (o->agree * 10 < inners * AGREE_OF_TEN)
		return no_answer(err, -EDOM, "no offset fits most of the queues and buffers that both have");
	o->ns = b.low + (b.high - b.low) / 2;
	o->error = (uint64_t)(b.high - b.low + 1) / 2;
	/* that both have the same clock is the simplest answer that fits */
	if (b.low <= 0 && b.high >= 0) {
		o->error = (uint64_t)(b.high > -b.low ? b.high : -b.low);
		o->ns = 0;
	}
	return 0;
}
