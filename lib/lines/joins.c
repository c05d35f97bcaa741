// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of joins.h. Each type of event has a function that updates them.
 */
#include "joins.h"

#include <errno.h>
#include <string.h>

#include "line_out.h"

#define DRM_MAJOR 226

/** enum stage - a step of a job's life that was seen */
enum stage {
	SUBMITTED,
	COMMITTED,
	STARTED,
	ENDED,
	STAGES,
};

/**
 * struct job
 * @seen, @inferred: bits of enum stage: time stamps that exist, and those that were inferred
 */
struct job {
	uint64_t time[STAGES];
	uint32_t seen;
	uint32_t inferred;
};

const char *const grt_delta_names[GRT_DELTAS] = {
	[GRT_DELTA_DURATION] = "duration_ns",	[GRT_DELTA_SINCE_IOCTL] = "since_ioctl_ns",
	[GRT_DELTA_SCHED] = "t_sched_ns",	[GRT_DELTA_QUEUE] = "t_queue_ns",
	[GRT_DELTA_EXEC] = "t_exec_ns",		[GRT_DELTA_SINCE_SUBMIT] = "since_submit_ns",
	[GRT_DELTA_COMPLETE] = "t_complete_ns", [GRT_DELTA_TOTAL] = "t_total_ns",
	[GRT_DELTA_WAIT] = "t_wait_ns",
};

void grt_joins_init(struct grt_joins *j, enum grt_escape escape)
{
	memset(j, 0, sizeof(*j));
	j->escape = escape;
	grt_keyed_init(&j->threads.all, sizeof(struct grt_joins_thread), GRT_LINE_OUT_THREADS);
	grt_keyed_init(&j->jobs.all, sizeof(struct job), GRT_LINE_OUT_JOBS);
	grt_keyed_init(&j->rings.all, sizeof(struct grt_joins_ring), GRT_LINE_OUT_RINGS);
	grt_keyed_init(&j->devices.all, sizeof(struct grt_joins_device), GRT_LINE_OUT_DEVICES);
}

void grt_joins_fini(struct grt_joins *j)
{
	grt_keyed_free(&j->threads.all);
	grt_keyed_free(&j->jobs.all);
	grt_keyed_free(&j->rings.all);
	grt_keyed_free(&j->devices.all);
}

/* --------------------------------------------------------------- tables */

/* Neighbouring numbers have different elements. */
static inline struct grt_joins_recent *recent_of(struct grt_joins_table *t, uint64_t a, uint64_t b)
{
	return &t->recent[(13 * a + b) % GRT_JOINS_RECENT];
}

/* The slow path is rare, and kept out of the code for every event. */
static __attribute__((noinline)) void *find_again(struct grt_joins_table *t, struct grt_joins_recent *r,
						  uint64_t a, uint64_t b)
{
	const struct grt_key key = {{a, b}};

	*r = (struct grt_joins_recent){a, b, grt_keyed_find(&t->all, &key)};
	return r->element;
}

/* Return: the element of a key; NULL: there is none. An element of zeros has the key 0, 0. */
static inline void *joins_find(struct grt_joins_table *t, uint64_t a, uint64_t b)
{
	struct grt_joins_recent *r = recent_of(t, a, b);

	return r->a == a && r->b == b ? r->element : find_again(t, r, a, b);
}

static void joins_take_out(struct grt_joins_table *t, void *element)
{
	const struct grt_key *key = grt_keyed_key(element);
	struct grt_joins_recent *r = recent_of(t, key->w[0], key->w[1]);

	if (r->element == element)
		r->element = NULL;
	grt_keyed_remove(&t->all, element);
}

/* Return: the element of a key, which may be new; if there is no room, it replaces the oldest one. */
static __attribute__((noinline)) void *get_again(struct grt_joins_table *t, uint64_t a, uint64_t b)
{
	const struct grt_key key = {{a, b}};
	uint32_t room = t->all.room;
	void *element;
	int ret = grt_keyed_get(&t->all, &key, &element);

	if (ret == -ENOSPC) {
		joins_take_out(t, grt_keyed_oldest(&t->all));
		ret = grt_keyed_get(&t->all, &key, &element);
	}
	if (ret)
		return NULL;
	*recent_of(t, a, b) = (struct grt_joins_recent){a, b, element};
	for (unsigned int i = 0; room != t->all.room && i < GRT_JOINS_RECENT; i++)
		find_again(t, &t->recent[i], t->recent[i].a, t->recent[i].b);
	return element;
}

static inline void *joins_get(struct grt_joins_table *t, uint64_t a, uint64_t b)
{
	const struct grt_joins_recent *r = recent_of(t, a, b);

	return r->a == a && r->b == b && r->element ? r->element : get_again(t, a, b);
}

/* The same for an element whose key lines name. */
static inline void *get_named(struct grt_joins *j, struct grt_joins_table *t, uint64_t a, uint64_t b)
{
	void *element = joins_find(t, a, b);

	if (element)
		return element;
	j->version++;
	return get_again(t, a, b);
}

static inline struct grt_joins_thread *joins_find_thread(struct grt_joins *j, uint32_t tid)
{
	return joins_find(&j->threads, tid, 0);
}

static inline struct grt_joins_thread *joins_get_thread(struct grt_joins *j, uint32_t tid)
{
	return get_named(j, &j->threads, tid, 0);
}

/* ---------------------------------------------------------------- texts */

/*
 * Return: whether the character separates keys in a line, or is the arrow at which readers of the line stop.
 */
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
	char plain[GRT_JOINS_TEXT];
	size_t n = grt_escape(escape, plain, sizeof(plain), text, len), used = 0;
	unsigned int width;

	for (const char *p = plain; p < plain + n; p += width) {
		bool syntax = is_syntax(p, plain + n, word, &width) && escape != GRT_ESCAPE_JSON;

		width = syntax ? width : 1;
		if (used + 4 * (size_t)width > GRT_JOINS_TEXT)
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

/* Whether a NAME reports something new: every packet repeats the names that it uses. */
static bool joins_is_new_name(struct grt_joins *j, struct grt_joins_name *as_told,
			      const struct grt_ev_name *e)
{
	if (!memcmp(as_told->name, e->name, sizeof(e->name)) &&
	    !memcmp(as_told->owner, e->owner, sizeof(e->owner)))
		return false;
	memcpy(as_told->name, e->name, sizeof(e->name));
	memcpy(as_told->owner, e->owner, sizeof(e->owner));
	j->version++;
	return true;
}

static int joins_name_thread(struct grt_joins *j, const struct grt_ev_name *e)
{
	struct grt_joins_thread *t = joins_get_thread(j, e->id);

	if (!t)
		return -ENOMEM;
	if (!joins_is_new_name(j, &t->as_told, e))
		return 0;
	t->named = true;
	grt_joins_escape(j->escape, &t->comm, e->name, sizeof(e->name), false);
	if (strncmp(e->name, e->owner, sizeof(e->owner)))
		grt_joins_escape(j->escape, &t->process, e->owner, sizeof(e->owner), false);
	else
		t->process.len = 0;
	return 0;
}

static int joins_name_ring(struct grt_joins *j, const struct grt_ev_name *e, unsigned int input)
{
	struct grt_joins_ring *ring = get_named(j, &j->rings, e->id, input);

	if (!ring)
		return -ENOMEM;
	if (!joins_is_new_name(j, &ring->as_told, e))
		return 0;
	grt_joins_escape(j->escape, &ring->name, e->name, sizeof(e->name), true);
	grt_joins_escape(j->escape, &ring->driver, e->owner, sizeof(e->owner), true);
	return 0;
}

static int name_device(struct grt_joins *j, const struct grt_ev_name *e)
{
	struct grt_joins_device *device = get_named(j, &j->devices, e->id, 0);
	char name[sizeof(e->name) + 1] = "", driver[sizeof(e->owner) + 1] = "";

	if (!device)
		return -ENOMEM;
	if (!joins_is_new_name(j, &device->as_told, e))
		return 0;
	memcpy(name, e->name, sizeof(e->name));
	memcpy(driver, e->owner, sizeof(e->owner));
	grt_joins_escape(j->escape, &device->name, name, sizeof(name), true);
	grt_joins_escape(j->escape, &device->driver, driver, sizeof(driver), true);
	device->ioctls = grt_ioctl_driver(driver);
	device->known_by_name = number_is_in_name(name, e->id);
	return 0;
}

int grt_joins_name(struct grt_joins *j, const struct grt_ev_name *e, unsigned int input)
{
	switch (e->kind) {
	case GRT_NAME_THREAD:
		return joins_name_thread(j, e);
	case GRT_NAME_RING:
		return joins_name_ring(j, e, input);
	case GRT_NAME_DEVICE:
		return name_device(j, e);
	}
	return 0;
}

/* --------------------------------------------------------------- events */

static inline void delta(struct grt_joins *j, struct grt_joined *out, enum grt_delta which, uint64_t begin,
			 uint64_t end)
{
	if (end < begin)
		return;
	j->deltas[which]++;
	out->has |= 1U << which;
	out->ns[which] = end - begin;
}

static int joins_on_enter(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = e->tid ? joins_get_thread(j, e->tid) : NULL;

	if (!t)
		return e->tid ? -ENOMEM : 0;
	t->entered = e->time;
	t->fd = ((const struct grt_ev_ioctl_enter *)e)->fd;
	t->inside = true;
	return 0;
}

static int on_exit_call(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = joins_find_thread(j, e->tid);

	if (!t || !t->inside) {
		j->open_exits++;
		return 0;
	}
	delta(j, out, GRT_DELTA_DURATION, t->entered, e->time);
	out->fd = t->fd;
	out->has_fd = t->fd >= 0 && t->fd != GRT_FD_UNKNOWN;
	t->inside = false;
	return 0;
}

static int on_wait(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = e->tid ? joins_get_thread(j, e->tid) : NULL;

	if (!t)
		return e->tid ? -ENOMEM : 0;
	/* one call may wait for several */
	if (!(e->flags & GRT_FLAG_CALL))
		t->waits = 0;
	if (t->waits < GRT_JOINS_WAITS)
		t->wait[t->waits++] = (struct grt_joins_wait){e->time, e->ctx, e->seqno};
	return 0;
}

static int joins_on_wait_exit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = joins_find_thread(j, e->tid);
	unsigned int i = t ? t->waits : 0;

	while (i && (t->wait[i - 1].ctx != e->ctx || t->wait[i - 1].seqno != e->seqno))
		i--;
	if (!i)
		return 0;
	delta(j, out, GRT_DELTA_WAIT, t->wait[i - 1].since, e->time);
	t->waits = (uint8_t)(i - 1);
	return 0;
}

/*
 * Return: whether the stamp was taken: the first one is, and an observed one replaces an inferred one. The
 * same rule as in jobs/jobs.c, so that lines and reports agree.
 */
static inline bool stamp(struct job *job, enum stage stage, const struct grt_event *e)
{
	uint32_t bit = 1U << stage;
	bool inferred = e->flags & GRT_FLAG_INFERRED;

	if (job->seen & bit && (inferred || !(job->inferred & bit)))
		return false;
	job->seen |= bit;
	job->inferred = inferred ? job->inferred | bit : job->inferred & ~bit;
	job->time[stage] = e->time;
	return true;
}

static inline void joins_since(struct grt_joins *j, const struct job *job, enum stage stage,
			       const struct grt_event *e, enum grt_delta which, struct grt_joined *out)
{
	if (job->seen & 1U << stage)
		delta(j, out, which, job->time[stage], e->time);
}

static int joins_on_submit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct grt_joins_thread *t = joins_find_thread(j, e->tid);
	struct job *job;

	if (t && t->inside)
		delta(j, out, GRT_DELTA_SINCE_IOCTL, t->entered, e->time);
	if (!e->ctx)
		return 0;
	job = joins_get(&j->jobs, e->ctx, e->seqno);
	if (!job)
		return -ENOMEM;
	/* an identity that occurs again is a new job */
	*job = (struct job){.time = {e->time, e->time}, .seen = 1U << SUBMITTED};
	if (e->flags & GRT_FLAG_COMMIT) {
		job->seen |= 1U << COMMITTED;
		job->inferred |= 1U << COMMITTED;
	}
	return 0;
}

static int joins_on_commit(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = e->ctx ? joins_get(&j->jobs, e->ctx, e->seqno) : NULL;

	if (!job)
		return e->ctx ? -ENOMEM : 0;
	if (stamp(job, COMMITTED, e))
		joins_since(j, job, SUBMITTED, e, GRT_DELTA_SCHED, out);
	return 0;
}

static int joins_on_start(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = e->ctx ? joins_get(&j->jobs, e->ctx, e->seqno) : NULL;

	if (!job)
		return e->ctx ? -ENOMEM : 0;
	if (stamp(job, STARTED, e))
		joins_since(j, job, COMMITTED, e, GRT_DELTA_QUEUE, out);
	return 0;
}

static int joins_on_end(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = joins_find(&j->jobs, e->ctx, e->seqno);

	if (!job || !stamp(job, ENDED, e))
		return 0;
	joins_since(j, job, STARTED, e, GRT_DELTA_EXEC, out);
	if (!(job->seen & 1U << STARTED))
		joins_since(j, job, SUBMITTED, e, GRT_DELTA_SINCE_SUBMIT, out);
	return 0;
}

static int joins_on_complete(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	struct job *job = joins_find(&j->jobs, e->ctx, e->seqno);

	if (!job)
		return 0;
	joins_since(j, job, ENDED, e, GRT_DELTA_COMPLETE, out);
	joins_since(j, job, SUBMITTED, e, GRT_DELTA_TOTAL, out);
	joins_take_out(&j->jobs, job);
	return 0;
}

/* A record of a whole job: nothing else of the job is in the trace. */
static int joins_on_whole(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	const struct grt_ev_job *r = (const struct grt_ev_job *)e;

	if (r->submit && r->commit)
		delta(j, out, GRT_DELTA_SCHED, r->submit, r->commit);
	if (r->commit && r->start)
		delta(j, out, GRT_DELTA_QUEUE, r->commit, r->start);
	if (r->start && r->end)
		delta(j, out, GRT_DELTA_EXEC, r->start, r->end);
	if (r->end && r->complete)
		delta(j, out, GRT_DELTA_COMPLETE, r->end, r->complete);
	if (r->submit && r->complete)
		delta(j, out, GRT_DELTA_TOTAL, r->submit, r->complete);
	return 0;
}

static int (*const on_type[GRT_EV_MAX])(struct grt_joins *j, const struct grt_event *e,
					struct grt_joined *out) = {
	[GRT_EV_IOCTL_ENTER] = joins_on_enter,
	[GRT_EV_IOCTL_EXIT] = on_exit_call,
	[GRT_EV_SUBMIT] = joins_on_submit,
	[GRT_EV_COMMIT] = joins_on_commit,
	[GRT_EV_START] = joins_on_start,
	[GRT_EV_END] = joins_on_end,
	[GRT_EV_COMPLETE] = joins_on_complete,
	[GRT_EV_SYNC_WAIT_ENTER] = on_wait,
	[GRT_EV_SYNC_WAIT_EXIT] = joins_on_wait_exit,
	[GRT_EV_JOB] = joins_on_whole,
};

int grt_joins_event(struct grt_joins *j, const struct grt_event *e, struct grt_joined *out)
{
	out->has = 0;
	out->has_fd = false;
	return e->type < GRT_EV_MAX && on_type[e->type] ? on_type[e->type](j, e, out) : 0;
}

void grt_joins_look(struct grt_joins *j, const struct grt_event *e, unsigned int input,
		    struct grt_joined *out)
{
	out->thread = e->tid ? joins_find_thread(j, e->tid) : NULL;
	out->ring = e->ring == GRT_RING_NONE ? NULL : joins_find(&j->rings, e->ring, input);
	out->device = e->device ? joins_find(&j->devices, e->device, 0) : NULL;
}
