// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of joins.h. What an event does to them is a function by its type.
 */
#include "joins.h"

#include <errno.h>
#include <string.h>

#include "line_out.h"

#define DRM_MAJOR 226

/** enum stage - a point of a job's life that was seen */
enum stage {
	SUBMITTED,
	COMMITTED,
	STARTED,
	ENDED,
	STAGES,
};

struct job {
	uint64_t time[STAGES];
	uint32_t seen;
};

void grt_joins_init(struct grt_joins *j, enum grt_escape escape)
{
	memset(j, 0, sizeof(*j));
	j->escape = escape;
	grt_keyed_init(&j->threads, sizeof(struct grt_joins_thread), GRT_LINE_OUT_THREADS);
	grt_keyed_init(&j->jobs, sizeof(struct job), GRT_LINE_OUT_JOBS);
	grt_keyed_init(&j->rings, sizeof(struct grt_joins_ring), GRT_LINE_OUT_RINGS);
	grt_keyed_init(&j->devices, sizeof(struct grt_joins_device), GRT_LINE_OUT_DEVICES);
}

void grt_joins_fini(struct grt_joins *j)
{
	grt_keyed_free(&j->threads);
	grt_keyed_free(&j->jobs);
	grt_keyed_free(&j->rings);
	grt_keyed_free(&j->devices);
}

/* The element of a key; where there is no room, the oldest gives way. */
static void *get(struct grt_keyed *k, uint64_t a, uint64_t b)
{
	const struct grt_key key = {{a, b}};
	void *element = grt_keyed_find(k, &key);

	if (element)
		return element;
	if (grt_keyed_full(k))
		grt_keyed_remove(k, grt_keyed_oldest(k));
	return grt_keyed_get(k, &key, &element) ? NULL : element;
}

static void *find(const struct grt_keyed *k, uint64_t a, uint64_t b)
{
	const struct grt_key key = {{a, b}};

	return grt_keyed_find(k, &key);
}

/* The same, by way of what was found last. */
static inline void *find_recent(const struct grt_keyed *k, struct grt_joins_recent *r, uint64_t a, uint64_t b)
{
	if (r->element && r->a == a && r->b == b)
		return r->element;
	*r = (struct grt_joins_recent){a, b, find(k, a, b)};
	return r->element;
}

static inline struct grt_joins_thread *find_thread(struct grt_joins *j, uint32_t tid)
{
	return find_recent(&j->threads, &j->thread[tid % GRT_JOINS_RECENT], tid, 0);
}

/* Elements of the other tables may have moved. */
static void forget_recent(struct grt_joins *j)
{
	memset(j->thread, 0, sizeof(j->thread));
	memset(j->ring, 0, sizeof(j->ring));
	j->device = (struct grt_joins_recent){.element = NULL};
}

/* A thread's element, made where there is none. */
static struct grt_joins_thread *get_thread(struct grt_joins *j, uint32_t tid)
{
	struct grt_joins_thread *t = find_thread(j, tid);

	if (t)
		return t;
	forget_recent(j);
	return get(&j->threads, tid, 0);
}

/* ---------------------------------------------------------------- texts */

/* What separates keys in a line, and the arrow behind which a line is not read. */
static bool is_syntax(const char *at, const char *end, bool word, unsigned int *len)
{
	static const char arrow[] = "\xe2\x86\x90";

	*len = 1;
	if (*at == '=' || *at == ',' || (word && *at == ' '))
		return true;
	*len = sizeof(arrow) - 1;
	return end - at >= 3 && !memcmp(at, arrow, 3);
}

static size_t put_hex_bytes(char *dst, const char *src, unsigned int len)
{
	for (unsigned int i = 0; i < len; i++, dst += 4) {
		unsigned char c = (unsigned char)src[i];

		memcpy(dst, "\\x", 2);
		dst[2] = "0123456789abcdef"[c >> 4];
		dst[3] = "0123456789abcdef"[c & 15];
	}
	return 4 * (size_t)len;
}

void grt_joins_escape(enum grt_escape escape, struct grt_joins_text *out, const char *text, size_t len,
		      bool word)
{
	char plain[GRT_JOINS_USED];
	size_t n = grt_escape(escape, plain, sizeof(plain), text, len), used = 0;
	unsigned int width;

	for (const char *p = plain; p < plain + n; p += width) {
		bool syntax = is_syntax(p, plain + n, word, &width) && escape != GRT_ESCAPE_JSON;

		width = syntax ? width : 1;
		if (used + 4 * (size_t)width > GRT_JOINS_USED)
			break;
		if (syntax)
			used += put_hex_bytes(out->text + used, p, width);
		else
			out->text[used++] = *p;
	}
	out->len = (uint16_t)used;
}

/* The numbers of DRM nodes follow from their names. */
static bool number_is_in_name(const char *name, uint32_t device)
{
	char render[24], card[24];

	snprintf(render, sizeof(render), "renderD%u", device & 0xfffff);
	snprintf(card, sizeof(card), "card%u", device & 0xfffff);
	return device >> 20 == DRM_MAJOR && (!strcmp(name, render) || !strcmp(name, card));
}

static int name_thread(struct grt_joins *j, const struct grt_ev_name *e)
{
	struct grt_joins_thread *t = get(&j->threads, e->id, 0);

	if (!t)
		return -ENOMEM;
	grt_joins_escape(j->escape, &t->comm, e->name, sizeof(e->name), false);
	if (strncmp(e->name, e->owner, sizeof(e->owner)))
		grt_joins_escape(j->escape, &t->process, e->owner, sizeof(e->owner), false);
	else
		t->process.len = 0;
	t->line.len = 0;
	return 0;
}

static int name_device(struct grt_joins *j, const struct grt_ev_name *e)
{
	struct grt_joins_device *device = get(&j->devices, e->id, 0);
	char name[sizeof(e->name) + 1] = "", driver[sizeof(e->owner) + 1] = "";

	if (!device)
		return -ENOMEM;
	memcpy(name, e->name, sizeof(e->name));
	memcpy(driver, e->owner, sizeof(e->owner));
	grt_joins_escape(j->escape, &device->name, name, sizeof(name), true);
	grt_joins_escape(j->escape, &device->driver, driver, sizeof(driver), true);
	device->ioctls = grt_ioctl_driver(driver);
	device->line.len = 0;
	device->known_by_name = number_is_in_name(name, e->id);
	return 0;
}

int grt_joins_name(struct grt_joins *j, const struct grt_ev_name *e, unsigned int input)
{
	struct grt_joins_ring *ring;

	forget_recent(j);
	switch (e->kind) {
	case GRT_NAME_THREAD:
		return name_thread(j, e);
	case GRT_NAME_RING:
		ring = get(&j->rings, e->id, input);
		if (!ring)
			return -ENOMEM;
		grt_joins_escape(j->escape, &ring->name, e->name, sizeof(e->name), true);
		grt_joins_escape(j->escape, &ring->driver, e->owner, sizeof(e->owner), true);
		ring->line.len = 0;
		return 0;
	case GRT_NAME_DEVICE:
		return name_device(j, e);
	}
	return 0;
}

/* --------------------------------------------------------------- events */

static void delta(struct grt_joined *out, enum grt_delta which, uint64_t begin, uint64_t end)
{
	if (end < begin)
		return;
	out->has |= 1U << which;
	out->ns[which] = end - begin;
}

static int on_enter(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = e->tid ? get_thread(j, e->tid) : NULL;

	if (!t)
		return e->tid ? -ENOMEM : 0;
	t->entered = e->time;
	t->inside = true;
	out->thread = t;
	return 0;
}

static int on_exit_call(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = find_thread(j, e->tid);

	out->open_exit = !t || !t->inside;
	if (out->open_exit)
		return 0;
	delta(out, GRT_DELTA_DURATION, t->entered, e->time);
	t->inside = false;
	return 0;
}

static int on_wait(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = e->tid ? get_thread(j, e->tid) : NULL;

	if (!t)
		return e->tid ? -ENOMEM : 0;
	t->waited = e->time;
	t->wait_ctx = e->ctx;
	t->wait_seqno = e->seqno;
	t->waiting = true;
	out->thread = t;
	return 0;
}

static int on_wait_exit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = find_thread(j, e->tid);

	if (!t || !t->waiting || t->wait_ctx != e->ctx || t->wait_seqno != e->seqno)
		return 0;
	delta(out, GRT_DELTA_WAIT, t->waited, e->time);
	t->waiting = false;
	return 0;
}

static struct job *stamp(struct grt_joins *j, const struct grt_event *e, enum stage stage, bool begins)
{
	struct job *job = begins ? get(&j->jobs, e->ctx, e->seqno) : find(&j->jobs, e->ctx, e->seqno);

	if (job && !(job->seen & 1U << stage)) {
		job->seen |= 1U << stage;
		job->time[stage] = e->time;
	}
	return job;
}

static void since(const struct job *job, enum stage stage, const struct grt_event *e, enum grt_delta which,
		  struct grt_joined *out)
{
	if (job->seen & 1U << stage)
		delta(out, which, job->time[stage], e->time);
}

static int on_submit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = find_thread(j, e->tid);
	struct job *job;

	if (t && t->inside)
		delta(out, GRT_DELTA_SINCE_IOCTL, t->entered, e->time);
	if (!e->ctx)
		return 0;
	job = get(&j->jobs, e->ctx, e->seqno);
	if (!job)
		return -ENOMEM;
	/* an identity that comes again is a new job */
	*job = (struct job){.time = {e->time, e->time}, .seen = 1U << SUBMITTED};
	if (e->flags & GRT_FLAG_COMMIT)
		job->seen |= 1U << COMMITTED;
	return 0;
}

static int on_commit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = e->ctx ? stamp(j, e, COMMITTED, true) : NULL;

	if (job)
		since(job, SUBMITTED, e, GRT_DELTA_SCHED, out);
	return e->ctx && !job ? -ENOMEM : 0;
}

static int on_start(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = e->ctx ? stamp(j, e, STARTED, true) : NULL;

	if (job)
		since(job, COMMITTED, e, GRT_DELTA_QUEUE, out);
	return e->ctx && !job ? -ENOMEM : 0;
}

static int on_end(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = stamp(j, e, ENDED, false);

	if (!job)
		return 0;
	since(job, STARTED, e, GRT_DELTA_EXEC, out);
	if (!(job->seen & 1U << STARTED))
		since(job, SUBMITTED, e, GRT_DELTA_SINCE_SUBMIT, out);
	return 0;
}

static int on_complete(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = find(&j->jobs, e->ctx, e->seqno);

	if (!job)
		return 0;
	since(job, ENDED, e, GRT_DELTA_COMPLETE, out);
	since(job, SUBMITTED, e, GRT_DELTA_TOTAL, out);
	grt_keyed_remove(&j->jobs, job);
	return 0;
}

/* All of the job is in its record. */
static int on_whole(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	const struct grt_ev_job *r = (const struct grt_ev_job *)e;

	(void)j;
	if (r->submit && r->commit)
		delta(out, GRT_DELTA_SCHED, r->submit, r->commit);
	if (r->commit && r->start)
		delta(out, GRT_DELTA_QUEUE, r->commit, r->start);
	if (r->start && r->end)
		delta(out, GRT_DELTA_EXEC, r->start, r->end);
	if (r->end && r->complete)
		delta(out, GRT_DELTA_COMPLETE, r->end, r->complete);
	if (r->submit && r->complete)
		delta(out, GRT_DELTA_TOTAL, r->submit, r->complete);
	return 0;
}

static int (*const on_type[GRT_EV_MAX])(struct grt_joins *j, const struct grt_event *e,
					struct grt_joined *out) = {
	[GRT_EV_IOCTL_ENTER] = on_enter,
	[GRT_EV_IOCTL_EXIT] = on_exit_call,
	[GRT_EV_SUBMIT] = on_submit,
	[GRT_EV_COMMIT] = on_commit,
	[GRT_EV_START] = on_start,
	[GRT_EV_END] = on_end,
	[GRT_EV_COMPLETE] = on_complete,
	[GRT_EV_SYNC_WAIT_ENTER] = on_wait,
	[GRT_EV_SYNC_WAIT_EXIT] = on_wait_exit,
	[GRT_EV_JOB] = on_whole,
};

int grt_joins_event(struct grt_joins *j, const struct grt_event *e, unsigned int input,
		    struct grt_joined *out)
{
	int ret = 0;

	out->thread = NULL;
	out->has = 0;
	out->open_exit = false;
	if (e->type < GRT_EV_MAX && on_type[e->type])
		ret = on_type[e->type](j, e, out);
	if (!out->thread && e->tid)
		out->thread = find_thread(j, e->tid);
	out->ring = e->ring == GRT_RING_NONE
			    ? NULL
			    : find_recent(&j->rings, &j->ring[e->ring % GRT_JOINS_RECENT], e->ring, input);
	out->device = e->device ? find_recent(&j->devices, &j->device, e->device, 0) : NULL;
	return ret;
}
