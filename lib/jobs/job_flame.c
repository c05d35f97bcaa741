// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * While a job is in flight its stack ids wait under its identity; when it is retired its
 * time goes to the row of (name, ring, stacks). Frames may be reported later than
 * that, so rows become a tree when the trace is over.
 */
#include "job_flame.h"

#include <errno.h>
#include <string.h>

#include "stack/frames.h"
#include "stack/slots.h"
#include "base/hist.h"
#include "base/containers.h"
#include "base/index.h"
#include "jobs.h"
#include "trace/flow.h"
#include "trace/packet.h"

/** struct owner - the stacks of a job in flight */
struct owner {
	uint64_t ctx;
	uint64_t seqno;
	uint32_t user;
	uint32_t kernel;
	uint32_t next_free;
};

/**
 * struct row - jobs with the same properties: @name of the process, @ring and both stacks; @jobs: number of
 * jobs times GRT_WEIGHT_ONE; @slot: slot of time, 0 if there are no slots
 */
struct row {
	uint32_t name;
	uint32_t pid;
	uint32_t ring;
	uint32_t gpu;
	uint32_t user;
	uint32_t kernel;
	uint32_t device;
	bool copy;
	uint16_t slot;
	uint64_t ns;
	uint64_t jobs;
};

/** struct held - a job of a window that is not over; @weight: of its sample; @inferred: its begin is */
struct held {
	struct grt_job job;
	struct row row;
	uint64_t weight;
	bool inferred;
};

struct grt_job_flame {
	struct grt_jobs *jobs;
	const struct grt_filter *filter;
	struct grt_slots *slots;
	struct grt_hash_key key;
	/* names of processes and rings only */
	struct grt_stacks *text;
	struct grt_frames frames;
	struct owner *owner;
	uint32_t owners, owner_room, owner_free;
	struct grt_index owner_index;
	struct row *row;
	uint32_t rows, row_room;
	struct grt_index row_index;
	struct grt_job_flame_count count;
	struct grt_watch watch;
	struct grt_estimate_sums windows;
	struct held *held; /* jobs of windows that have not ended */
	uint32_t helds, held_room;
	uint64_t beside;
	struct grt_interval within;
	double scale; /* the whole time divided by that of random windows; else 1 */
};

/* The number of a text, from 1; the text need not end with NUL. Return: 0 or -ENOMEM */
static int job_flame_intern(struct grt_job_flame *f, const char *text, size_t room, uint32_t *number)
{
	int ret = grt_stacks_name(f->text, text, strnlen(text, room), number);

	++*number;
	return ret;
}

/* ------------------------------------------------------------ owners */

static bool same_owner(const void *owner, uint32_t id, const void *key)
{
	const struct owner *o = &((const struct grt_job_flame *)owner)->owner[id], *k = key;

	return o->ctx == k->ctx && o->seqno == k->seqno;
}

static __attribute__((noinline)) int stack_event(struct grt_job_flame *f, const struct grt_ev_stack *e)
{
	struct owner new = {.ctx = e->e.ctx, .seqno = e->e.seqno, .user = e->user, .kernel = e->kernel};
	uint32_t tag = grt_hash(&f->key, e->e.ctx, e->e.seqno), at;

	at = grt_index_find(&f->owner_index, tag, same_owner, f, &new);
	if (at != GRT_NOWHERE) {
		f->owner[at].user = e->user;
		f->owner[at].kernel = e->kernel;
		return 0;
	}
	at = f->owner_free;
	if (at == GRT_NOWHERE) {
		if (grt_grow(&f->owner, &f->owner_room, f->owners + 1, 64))
			return -ENOMEM;
		at = f->owners++;
	} else {
		f->owner_free = f->owner[at].next_free;
	}
	f->owner[at] = new;
	return grt_index_add(&f->owner_index, tag, at);
}

static void take_owner(struct grt_job_flame *f, const struct grt_job *job, struct owner *out)
{
	struct owner k = {.ctx = job->ctx, .seqno = job->seqno};
	uint32_t tag = grt_hash(&f->key, k.ctx, k.seqno);
	uint32_t at = grt_index_find(&f->owner_index, tag, same_owner, f, &k);

	*out = k;
	if (at == GRT_NOWHERE)
		return;
	*out = f->owner[at];
	grt_index_remove(&f->owner_index, tag, at);
	f->owner[at].next_free = f->owner_free;
	f->owner_free = at;
}

/* -------------------------------------------------------------- rows */

static bool job_flame_same_row(const void *owner, uint32_t id, const void *key)
{
	const struct row *r = &((const struct grt_job_flame *)owner)->row[id], *k = key;

	return r->name == k->name && r->pid == k->pid && r->ring == k->ring && r->gpu == k->gpu &&
	       r->user == k->user && r->kernel == k->kernel && r->device == k->device && r->copy == k->copy &&
	       r->slot == k->slot;
}

static int job_flame_add_time(struct grt_job_flame *f, const struct row *k)
{
	uint32_t tag =
		grt_hash(&f->key, (uint64_t)k->user << 32 | k->kernel,
			 (uint64_t)(k->name ^ k->pid << 8) << 32 | (k->ring ^ (uint32_t)k->slot << 16));
	uint32_t at = grt_index_find(&f->row_index, tag, job_flame_same_row, f, k);

	if (at != GRT_NOWHERE) {
		f->row[at].ns += k->ns;
		f->row[at].jobs += k->jobs;
		return 0;
	}
	if (grt_grow(&f->row, &f->row_room, f->rows + 1, 64))
		return -ENOMEM;
	f->row[f->rows] = *k;
	return grt_index_add(&f->row_index, tag, f->rows++);
}

static int name_job(struct grt_job_flame *f, const struct grt_job *job, struct row *r)
{
	const struct grt_names *names = grt_jobs_names(f->jobs);
	const char *name = grt_names_owner(names, job->name) ?: grt_names_name(names, job->name);
	const char *ring = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, job->ring));
	const char *gpu = grt_names_name(names, grt_names_find(names, GRT_NAME_RING_GPU, job->ring));
	char text[64] = "", pid[24];
	int ret;

	snprintf(pid, sizeof(pid), job->pid ? "pid %u" : "[unknown]", job->pid);
	ret = job_flame_intern(f, name ? name : pid, 64, &r->name);
	if (ring)
		snprintf(text, sizeof(text), "%s", ring);
	else if (job->ring != GRT_RING_NONE)
		snprintf(text, sizeof(text), "ring %u", job->ring);
	if (!ret && text[0])
		ret = job_flame_intern(f, text, sizeof(text), &r->ring);
	return ret || !gpu ? ret : job_flame_intern(f, gpu, 64, &r->gpu);
}

/* Return: the time of all jobs that a sampled one represents. */
static uint64_t job_flame_scaled(uint64_t ns, uint64_t weight)
{
	return (uint64_t)(((unsigned __int128)ns * weight + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE);
}

/* Adds a job, cut where slots begin; the weights of a sampled job's parts add up to the weight of the job. */
static int job_flame_add_job(struct grt_job_flame *f, const struct grt_job *job, struct row *r,
			     uint64_t weight)
{
	uint64_t start = job->time[GRT_STAMP_START], to = job->time[GRT_STAMP_END], end = start, given = 0;
	int ret;

	if (!f->slots)
		return job_flame_add_time(f, r);
	do {
		end = grt_slots_part(f->slots, end, to, &r->slot);
		r->ns = job_flame_scaled(end - start, weight) - given;
		given += r->ns;
		ret = job_flame_add_time(f, r);
		r->jobs = 0;
	} while (!ret && end < to);
	return ret;
}

static int job_flame_count_job(struct grt_job_flame *f, const struct grt_job *job, struct row *r,
			       uint64_t weight, bool inferred)
{
	f->count.jobs += weight;
	f->count.ns += r->ns;
	f->count.inferred_ns += inferred ? r->ns : 0;
	return job_flame_add_job(f, job, r, weight);
}

/*
 * Holds a job of a window that has not ended: if the recording has only a part of the window, the job has no
 * weight.
 */
static int job_flame_hold_job(struct grt_job_flame *f, const struct grt_job *job, const struct row *r,
			      uint64_t weight, bool inferred)
{
	if (grt_grow(&f->held, &f->held_room, f->helds + 1, 64))
		return -ENOMEM;
	f->held[f->helds++] = (struct held){*job, *r, weight, inferred};
	return 0;
}

static int job_flame_count_in_window(struct grt_job_flame *f, const struct grt_job *job, struct row *r,
				     uint64_t weight, bool inferred)
{
	uint64_t submit = job->time[GRT_STAMP_SUBMIT];
	uint32_t number = grt_watch_number(&f->watch, submit);
	int ret;

	f->beside += !number;
	if (!number)
		return 0;
	if (!grt_watch_at(&f->watch, submit)->end)
		return job_flame_hold_job(f, job, r, weight, inferred);
	ret = grt_estimate_add(&f->windows, number, r->ns, 1);
	return ret ?: job_flame_count_job(f, job, r, weight, inferred);
}

/* Counts the jobs of a window that has ended. */
static __attribute__((noinline)) int job_flame_take_window(struct grt_job_flame *f,
							   const struct grt_ev_window *e)
{
	uint32_t n = f->helds;
	int ret = grt_watch_take_window(&f->watch, e);

	f->helds = 0;
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct held h = f->held[i];

		ret = job_flame_count_in_window(f, &h.job, &h.row, h.weight, h.inferred);
	}
	return ret;
}

static int job_flame_on_job(void *arg, const struct grt_job *job)
{
	struct grt_job_flame *f = arg;
	uint64_t weight = grt_weight(job->sample);
	struct row r = {0};
	struct owner stacks;
	bool inferred;
	int ret;

	take_owner(f, job, &stacks);
	/* only its end is in the trace, for the sake of the order on its ring */
	if (f->watch.parts && !(job->seen & 1U << GRT_STAMP_SUBMIT))
		return 0;
	if (f->filter &&
	    !grt_filter_wants_job(f->filter, grt_jobs_names(f->jobs), job->pid, job->tid, job->ring))
		return 0;
	if (!grt_job_phase(job, GRT_PHASE_EXEC, &r.ns, &inferred)) {
		f->count.untimed += weight;
		return 0;
	}
	r.ns = job_flame_scaled(r.ns, weight);
	r.jobs = weight;
	r.pid = job->pid;
	r.device = job->device;
	r.copy = job->engine == GRT_ENGINE_COPY;
	r.user = stacks.user;
	r.kernel = stacks.kernel;
	ret = name_job(f, job, &r);
	return ret
		       ?: (f->watch.parts ? job_flame_count_in_window
					  : job_flame_count_job)(f, job, &r, weight, inferred);
}

/* ------------------------------------------------------------ in, out */

int grt_job_flame_new(struct grt_job_flame **out, const struct grt_filter *filter, struct grt_slots *slots)
{
	struct grt_job_flame *f = calloc(1, sizeof(*f));
	struct grt_jobs_sink sink = {.job = job_flame_on_job, .arg = f};

	*out = f;
	if (!f)
		return -ENOMEM;
	f->filter = filter;
	f->slots = slots;
	f->key = grt_hash_key_new();
	f->owner_free = GRT_NOWHERE;
	f->scale = 1;
	f->within.to = UINT64_MAX;
	if (!grt_stacks_new(&f->text) && !grt_frames_init(&f->frames) && !grt_jobs_new(&f->jobs, &sink, NULL))
		return 0;
	grt_job_flame_free(f);
	*out = NULL;
	return -ENOMEM;
}

void grt_job_flame_within(struct grt_job_flame *f, uint64_t from, uint64_t to)
{
	f->within = (struct grt_interval){from, to};
	grt_jobs_within(f->jobs, from, to);
}

int grt_job_flame_event(struct grt_job_flame *f, const struct grt_event *e)
{
	enum grt_class class = grt_class_of[e->type];

	if (class != GRT_CLASS_stack && class != GRT_CLASS_window)
		return grt_jobs_event(f->jobs, e);
	if (class == GRT_CLASS_stack)
		return e->type == GRT_EV_STACK ? stack_event(f, (const struct grt_ev_stack *)e)
					       : grt_frames_event(&f->frames, e);
	return ((const struct grt_ev_window *)e)->of == GRT_WINDOW_JOBS
		       ? job_flame_take_window(f, (const struct grt_ev_window *)e)
		       : 0;
}

/** struct room - for texts of a row */
struct room {
	char process[320];
	char queue[GRT_FLAME_QUEUE];
	char gpu[72];
};

static const char *job_flame_text(const struct grt_job_flame *f, uint32_t text, char room[72])
{
	size_t len;
	const char *at;

	room[0] = '\0';
	if (!text)
		return room;
	at = grt_stacks_text(f->text, text - 1, &len);
	snprintf(room, 72, "%.*s", (int)len, at);
	return room;
}

/* Return: the estimate for the time that the windows represent. */
static uint64_t job_flame_for_all(const struct grt_job_flame *f, uint64_t n)
{
	double all = (double)n * f->scale + 0.5;

	return f->scale == 1 ? n : all < (double)INT64_MAX ? (uint64_t)all : INT64_MAX;
}

bool grt_job_flame_windows(struct grt_job_flame *f, struct grt_estimate_watched *watched,
			   struct grt_estimate *total)
{
	if (!f->watch.parts)
		return false;
	*watched = grt_estimate_look(&f->watch, f->within.from, f->within.to);
	watched->beside = f->beside;
	grt_estimate_settle(&f->windows, &f->watch, f->within.from, f->within.to);
	*total = grt_estimate_total(&f->watch, &f->windows, f->within.from, f->within.to);
	return watched->windows;
}

/* The ring as a frame, with its GPU if there are several. Return: its length */
static size_t job_flame_put_queue(const struct grt_job_flame *f, const struct row *r,
				  char room[GRT_FLAME_QUEUE])
{
	char ring[72], gpu[72];

	return grt_flame_queue(room, job_flame_text(f, r->ring, ring),
			       grt_names_gpus(grt_jobs_names(f->jobs)) ? job_flame_text(f, r->gpu, gpu)
								       : NULL);
}

/* The name of its GPU, as in reports. Return: NULL: only its number is known */
static const char *job_flame_device(const struct grt_job_flame *f, const struct row *r, char gpu[72])
{
	const struct grt_names *names = grt_jobs_names(f->jobs);

	if (r->gpu)
		return job_flame_text(f, r->gpu, gpu);
	return grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, r->device));
}

/* @room: of its texts. Return: 0 or -ENOMEM */
static int op_of(const struct grt_job_flame *f, const struct grt_process_names *processes,
		 const struct row *r, struct room *room, struct grt_flame_op *op)
{
	size_t len;
	const char *name = grt_stacks_text(f->text, r->name - 1, &len);
	int ret = grt_process_names_text(processes, name, len, r->pid, room->process, &op->process);

	op->process_len = ret > 0 ? (size_t)ret : 0;
	op->pid = r->pid;
	op->device = r->device;
	op->gpu = job_flame_device(f, r, room->gpu);
	op->copy = r->copy;
	op->ns = job_flame_for_all(f, r->ns);
	op->launches = job_flame_for_all(f, grt_weight_count(r->jobs));
	op->queue_len = job_flame_put_queue(f, r, room->queue);
	op->queue = room->queue;
	return ret < 0 ? ret : 0;
}

static int job_flame_put_row(const struct grt_job_flame *f, const struct grt_flame_shape *shape,
			     const struct grt_process_names *processes, struct grt_stacks *tree,
			     enum grt_stacks_side side, const struct row *r)
{
	struct grt_flame_op op = {.graph = 0};
	struct room room;
	uint32_t node;
	int ret = op_of(f, processes, r, &room, &op);

	if (ret || !grt_flame_wanted(shape, &op))
		return ret;
	ret = grt_flame_base(tree, shape, &op, &node);
	if (!ret && shape->by != GRT_FLAME_BY_PROCESS)
		ret = grt_stacks_frame(tree, node, op.process, op.process_len, &node);
	if (!ret)
		ret = grt_frames_put(&f->frames, r->user, shape->places, tree, &node);
	if (!ret)
		ret = grt_frames_put(&f->frames, r->kernel, shape->places, tree, &node);
	if (!ret)
		ret = grt_stacks_frame(tree, node, op.queue, op.queue_len, &node);
	if (!ret && f->slots)
		ret = grt_slots_add(f->slots, node, r->slot, grt_flame_weight_of(shape, &op));
	return ret ? ret : grt_flame_add(tree, shape, &op, side, node);
}

int grt_job_flame_flush(struct grt_job_flame *f)
{
	return grt_jobs_flush(f->jobs);
}

int grt_job_flame_processes(const struct grt_job_flame *f, struct grt_process_names *processes)
{
	int ret = 0;

	for (uint32_t i = 0; i < f->rows && !ret; i++) {
		size_t len;
		const char *name = grt_stacks_text(f->text, f->row[i].name - 1, &len);

		ret = grt_process_names_see(processes, name, len, f->row[i].pid);
	}
	return ret;
}

bool grt_job_flame_any(const struct grt_job_flame *f)
{
	return f->rows;
}

int grt_job_flame_tree(struct grt_job_flame *f, const struct grt_flame_shape *shape,
		       const struct grt_process_names *processes, struct grt_stacks *tree,
		       enum grt_stacks_side side)
{
	struct grt_estimate_watched watched;
	struct grt_estimate total;
	int ret = 0;

	if (grt_job_flame_windows(f, &watched, &total))
		f->scale = total.scale;
	for (uint32_t i = 0; i < f->rows && !ret; i++)
		ret = job_flame_put_row(f, shape, processes, tree, side, &f->row[i]);
	return ret;
}

/* A job has a stack only if frames are known; an id in its STACK record is not enough. */
static void job_flame_count_stack(const struct grt_job_flame *f, const struct row *r,
				  struct grt_job_flame_count *count)
{
	bool user = grt_frames_has(&f->frames, r->user), call = grt_frames_is_call_only(&f->frames, r->user);

	if ((user && !call) || grt_frames_has(&f->frames, r->kernel))
		return;
	count->no_stack += r->jobs;
	count->no_stack_ns += r->ns;
	count->call_only += call ? r->jobs : 0;
	count->lost_stack += !call && (r->user || r->kernel) ? r->jobs : 0;
}

struct grt_job_flame_count grt_job_flame_count(const struct grt_job_flame *f)
{
	const struct grt_jobs_count joined = grt_jobs_count(f->jobs);
	struct grt_job_flame_count count = f->count;

	for (uint32_t i = 0; i < f->rows; i++)
		job_flame_count_stack(f, &f->row[i], &count);
	count.dropped = f->frames.dropped;
	count.jobs = grt_weight_count(count.jobs);
	count.no_stack = grt_weight_count(count.no_stack);
	count.call_only = grt_weight_count(count.call_only);
	count.lost_stack = grt_weight_count(count.lost_stack);
	count.untimed = grt_weight_count(count.untimed);
	count.sampled = joined.sample_min;
	return count;
}

/* A stack with only frames of the kernel, or only the system call, shows nothing of the program. */
static void job_flame_add_end(const struct grt_job_flame *f, const struct row *r, struct grt_stack_ends *ends)
{
	bool stack = grt_frames_has(&f->frames, r->user) && !grt_frames_is_call_only(&f->frames, r->user);
	struct grt_stack_end_sum *sum = stack ? &ends->end[grt_frames_end(&f->frames, r->user)] : &ends->none;

	sum->ns += r->ns;
	sum->works += grt_weight_count(r->jobs);
}

void grt_job_flame_ends(const struct grt_job_flame *f, struct grt_stack_ends *ends)
{
	for (uint32_t i = 0; i < f->rows; i++)
		job_flame_add_end(f, &f->row[i], ends);
}

void grt_job_flame_free(struct grt_job_flame *f)
{
	if (!f)
		return;
	grt_jobs_free(f->jobs);
	grt_index_free(&f->owner_index);
	grt_index_free(&f->row_index);
	grt_stacks_free(f->text);
	grt_watch_free(&f->watch);
	grt_estimate_free(&f->windows);
	grt_frames_free(&f->frames);
	free(f->owner);
	free(f->row);
	free(f->held);
	free(f);
}
