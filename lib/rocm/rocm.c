// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * See rocm.h. A launch is put together like this: the command that a thread
 * enqueued last belongs to the next dispatch of that thread, and what completes
 * it is the command's address, which is used again right after that.
 */
#include "rocm_kernel.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/fnv.h"
#include "base/containers.h"

static const struct step_row {
	const char *prefix;
	size_t len;
	enum grt_rocm_step step;
} step_rows[] = {
#define GRT_ROCM_STEP(prefix, STEP) {#prefix, sizeof(#prefix) - 1, GRT_ROCM_##STEP},
#include "rocm_steps.def"
};

static const char *const step_names[GRT_ROCM_STEPS] = {
	[GRT_ROCM_OTHER] = "other",
	[GRT_ROCM_IOCTL_CREATE] = "create queue ioctl",
	[GRT_ROCM_IOCTL_DESTROY] = "destroy queue ioctl",
	[GRT_ROCM_IOCTL] = "other ioctl",
	[GRT_ROCM_IOCTL_ENTRY] = "dispatcher of ioctls",
	[GRT_ROCM_MEMORY] = "memory ioctl",
	[GRT_ROCM_PROCESS] = "process",
	[GRT_ROCM_QUEUE_CREATE] = "create queue",
	[GRT_ROCM_QUEUE_DESTROY] = "destroy queue",
	[GRT_ROCM_UPDATE] = "update queue",
	[GRT_ROCM_MQD_ALLOCATE] = "allocate MQD",
	[GRT_ROCM_MQD_INIT] = "initialise MQD",
	[GRT_ROCM_MQD_LOAD] = "load MQD",
	[GRT_ROCM_MQD_UPDATE] = "update MQD",
	[GRT_ROCM_MQD_DESTROY] = "destroy MQD",
	[GRT_ROCM_MAP] = "map queues",
	[GRT_ROCM_UNMAP] = "unmap queues",
	[GRT_ROCM_SUBMIT] = "packet to the scheduler",
	[GRT_ROCM_KERNEL_QUEUE] = "kernel queue",
	[GRT_ROCM_DOORBELL] = "signal from the GPU",
	[GRT_ROCM_DOORBELL_SETUP] = "doorbell set up",
	[GRT_ROCM_INTERRUPT] = "interrupt",
	[GRT_ROCM_EVICT] = "evict queues",
	[GRT_ROCM_RESTORE] = "restore queues",
};

/** struct open_call - a call in which a thread is; calls of the same name may be nested */
struct open_call {
	uint32_t depth;
	uint64_t since[GRT_ROCM_NEST];
};

/** struct log_thread - a thread of the log, with its last kernel command and the number of its open calls */
struct log_thread {
	uint64_t command;
	uint64_t enqueued;
	uint32_t calls;
	uint64_t shader; /* hash of a name that no dispatch has taken; 0: none */
};

/**
 * struct command - a command that has not completed
 * @kernel: key of its kernel
 */
struct command {
	uint64_t enqueued;
	uint64_t dispatched;
	struct grt_key kernel;
};

const char *grt_rocm_step_name(enum grt_rocm_step step)
{
	return step < GRT_ROCM_STEPS ? step_names[step] : step_names[GRT_ROCM_OTHER];
}

enum grt_rocm_step grt_rocm_step_of(const char *name, size_t room)
{
	size_t len = strnlen(name, room);

	for (size_t i = 0; i < sizeof(step_rows) / sizeof(step_rows[0]); i++)
		if (len >= step_rows[i].len && !memcmp(name, step_rows[i].prefix, step_rows[i].len))
			return step_rows[i].step;
	return GRT_ROCM_OTHER;
}

uint64_t grt_rocm_hash(const char *name, size_t room)
{
	return grt_fnv(GRT_FNV_START, name, strnlen(name, room));
}

void grt_rocm_add_time(struct grt_rocm_times *t, uint64_t ns)
{
	if (ns == GRT_ROCM_UNKNOWN)
		return;
	if (!t->n || ns < t->min)
		t->min = ns;
	if (ns > t->max)
		t->max = ns;
	t->n++;
	t->sum = t->sum > UINT64_MAX - ns ? UINT64_MAX : t->sum + ns;
}

static uint64_t rocm_since(uint64_t begin, uint64_t end)
{
	if (begin == GRT_ROCM_UNKNOWN || end == GRT_ROCM_UNKNOWN)
		return GRT_ROCM_UNKNOWN;
	return end > begin ? end - begin : 0;
}

/*
 * Finds or makes a row of a table of counts; NULL: the table is full, which is counted, or there is no
 * memory.
 */
void *grt_rocm_row(struct grt_rocm *r, struct grt_keyed *table, const struct grt_key *key, int *ret)
{
	void *row;

	*ret = grt_keyed_get_or_count(table, key, &r->count.over, &row);
	return row;
}

/* As above, for a table of things in progress, in which a new one replaces the oldest. */
void *grt_rocm_state(struct grt_keyed *table, const struct grt_key *key, int *ret)
{
	void *row;

	*ret = grt_keyed_get_or_replace(table, key, NULL, &row);
	return row;
}

/* Calls */

int grt_rocm_enter(struct grt_rocm *r, const struct grt_key *key, uint64_t time)
{
	struct open_call *o;
	int ret;

	o = grt_rocm_state(&r->open, key, &ret);
	if (!o)
		return ret;
	if (o->depth < GRT_ROCM_NEST)
		o->since[o->depth] = time;
	o->depth++;
	return 0;
}

bool grt_rocm_leave(struct grt_rocm *r, const struct grt_key *key, uint64_t time, uint64_t *took)
{
	struct open_call *o = grt_keyed_find(&r->open, key);

	*took = GRT_ROCM_UNKNOWN;
	if (!o)
		return false;
	if (--o->depth < GRT_ROCM_NEST)
		*took = rocm_since(o->since[o->depth], time);
	if (!o->depth)
		grt_keyed_remove(&r->open, o);
	return true;
}

static struct log_thread *log_thread(struct grt_rocm *r, uint32_t pid, uint64_t thread, int *ret)
{
	const struct grt_key key = {{pid, thread, 0, 0}};

	return grt_rocm_state(&r->threads, &key, ret);
}

static void call_returned(struct grt_rocm *r, struct grt_rocm_call *c, struct log_thread *t,
			  const struct grt_ev_log_call *x, const struct grt_key *key)
{
	uint64_t took;
	bool entered = grt_rocm_leave(r, key, grt_rocm_stamp(&x->e), &took);

	if (t && t->calls && entered && !--t->calls)
		grt_rocm_add_time(&r->count.call_took, took);
	c->returned++;
	c->calls += !entered;
	c->errors += strncmp(x->text, "hipSuccess", 10) != 0;
	c->ambiguous += entered && !x->thread;
	if (x->took)
		took = x->took;
	grt_rocm_add_time(&c->took, took);
	if (!entered)
		r->count.calls++;
}

static int rocm_take_call(struct grt_rocm *r, const struct grt_ev_log_call *x)
{
	const struct grt_key key = {{grt_rocm_hash(x->function, sizeof(x->function)), 0, 0, 0}};
	const struct grt_key open = {{key.w[0], x->e.pid, x->thread, 0}};
	struct grt_rocm_call *c;
	struct log_thread *t;
	int ret;

	t = log_thread(r, x->e.pid, x->thread, &ret);
	c = ret ? NULL : grt_rocm_row(r, &r->calls, &key, &ret);
	if (!c)
		return ret;
	if (!c->name[0])
		memcpy(c->name, x->function, sizeof(x->function));
	if (x->step != GRT_CALL_ENTERED) {
		call_returned(r, c, t, x, &open);
		return 0;
	}
	c->calls++;
	r->count.calls++;
	if (t)
		t->calls++;
	return grt_rocm_enter(r, &open, grt_rocm_stamp(&x->e));
}

/* Queues */

/* The time stamp of a queue; 0: none */
static uint64_t stamp_or_none(const struct grt_event *e)
{
	return e->flags & GRT_FLAG_UNTIMED ? 0 : e->time;
}

static struct grt_rocm_queue *queue_of(struct grt_rocm *r, uint32_t pid, uint64_t address, int *ret)
{
	const struct grt_key key = {{pid, address, 0, 0}};
	struct grt_rocm_queue *q = grt_rocm_row(r, &r->queues, &key, ret);

	if (q && !q->queue) {
		q->pid = pid;
		q->queue = address;
		q->priority = UINT32_MAX;
	}
	return q;
}

static int add_request(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->thread, 0, 0}};
	uint64_t *asked = grt_keyed_find(&r->asked, &key);

	if (r->requests == GRT_ROCM_CREATIONS_MAX) {
		r->count.over++;
		return 0;
	}
	if (grt_grow_one(&r->request, r->requests))
		return -ENOMEM;
	r->request[r->requests++] = (struct grt_rocm_request){
		.pid = n->e.pid, .asked = asked ? *asked : 0, .told = n->e.time, .queue = n->queue};
	if (asked)
		grt_keyed_remove(&r->asked, asked);
	return 0;
}

static int queue_made(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	struct grt_rocm_queue *q;
	int ret;

	r->count.queues++;
	q = queue_of(r, n->e.pid, n->queue, &ret);
	if (q) {
		q->made = stamp_or_none(&n->e);
		q->gone = 0;
		q->soft = n->object;
		q->size = n->first;
		q->priority = n->number;
		q->cooperative = n->second != 0;
	}
	/* it is joined by time */
	return ret || (n->e.flags & GRT_FLAG_UNTIMED) ? ret : add_request(r, n);
}

static int queue_requested(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->thread, 0, 0}};
	uint64_t *asked;
	int ret;

	asked = grt_rocm_state(&r->asked, &key, &ret);
	if (asked)
		*asked = stamp_or_none(&n->e);
	return ret;
}

static int queue_used(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	struct grt_rocm_queue *q;
	int ret;

	q = queue_of(r, n->e.pid, n->queue, &ret);
	if (q)
		q->users = n->number;
	if (q && n->what == GRT_LOG_QUEUE_DELETE)
		q->gone = stamp_or_none(&n->e);
	return ret;
}

static int rocm_packet(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	struct grt_rocm_queue *q;
	int ret;

	q = queue_of(r, n->e.pid, n->queue, &ret);
	r->count.barriers += n->what == GRT_LOG_BARRIER;
	r->count.packets += n->what == GRT_LOG_PACKET;
	if (q) {
		q->barriers += n->what == GRT_LOG_BARRIER;
		q->packets += n->what == GRT_LOG_PACKET;
	}
	return ret;
}

/* Kernels */

static struct grt_rocm_kernel *kernel_of(struct grt_rocm *r, const struct grt_key *key, const char *name,
					 size_t room, int *ret)
{
	struct grt_rocm_kernel *k = grt_rocm_row(r, &r->kernels, key, ret);

	if (k && !k->dispatches && !k->shaders && !k->hangs) {
		k->pid = (uint32_t)key->w[0];
		k->hash = key->w[1];
		k->object = key->w[2];
		if (!k->name[0])
			memcpy(k->name, name, room);
	}
	return k;
}

static void set_size(struct grt_rocm_kernel *k, const struct grt_ev_log_dispatch *d)
{
	const uint32_t grid[3] = {d->grid_x, d->grid_y, d->grid_z},
		       group[3] = {d->group_x, d->group_y, d->group_z};

	if (k->dispatches && (memcmp(k->grid, grid, sizeof(grid)) || memcmp(k->group, group, sizeof(group))))
		k->grids_vary = true;
	memcpy(k->grid, grid, sizeof(grid));
	memcpy(k->group, group, sizeof(group));
}

/* The command that this thread enqueued last, if it belongs to this dispatch. */
static void join_command(struct grt_rocm *r, struct grt_rocm_kernel *k, struct log_thread *t,
			 const struct grt_ev_log_dispatch *d, const struct grt_key *kernel)
{
	const struct grt_key key = {{d->e.pid, t->command, 0, 0}};
	struct command *c = t->command ? grt_keyed_find(&r->commands, &key) : NULL;
	uint64_t waited;

	t->command = 0;
	if (!c || c->dispatched)
		return;
	c->dispatched = grt_rocm_stamp(&d->e);
	c->kernel = *kernel;
	waited = rocm_since(c->enqueued, c->dispatched);
	grt_rocm_add_time(&k->wait, waited);
	grt_rocm_add_time(&r->count.wait, waited);
}

static int remember_signal(struct grt_rocm *r, const struct grt_ev_log_dispatch *d,
			   const struct grt_key *kernel)
{
	const struct grt_key key = {{d->e.pid, d->signal, 0, 0}};
	struct grt_key *row;
	int ret;

	if (!d->signal)
		return 0;
	row = grt_rocm_state(&r->signals, &key, &ret);
	if (row)
		*row = *kernel;
	return ret;
}

static int count_dispatch(struct grt_rocm *r, const struct grt_ev_log_dispatch *d)
{
	struct grt_rocm_queue *q;
	uint64_t depth;
	int ret;

	r->count.dispatches++;
	q = queue_of(r, d->e.pid, d->queue, &ret);
	if (!q)
		return ret;
	q->dispatches++;
	q->soft = d->soft_queue ? d->soft_queue : q->soft;
	if (d->rptr == UINT64_MAX || d->wptr < d->rptr)
		return 0;
	depth = d->wptr - d->rptr;
	q->depth_known = true;
	q->depth_max = depth > q->depth_max ? depth : q->depth_max;
	return 0;
}

static int rocm_dispatch(struct grt_rocm *r, const struct grt_ev_log_dispatch *d)
{
	const struct grt_key key = {{d->e.pid, d->kernel, d->kernel ? 0 : d->object, 0}};
	struct grt_rocm_kernel *k;
	struct log_thread *t;
	int ret = count_dispatch(r, d);

	t = ret ? NULL : log_thread(r, d->e.pid, d->thread, &ret);
	k = ret ? NULL : kernel_of(r, &key, d->name, sizeof(d->name), &ret);
	if (!k)
		return ret;
	set_size(k, d);
	k->queues_vary |= k->dispatches && k->queue != d->queue;
	k->queue = d->queue;
	k->dispatches++;
	if (t && t->shader == d->kernel && t->shader) {
		k->shaders -= k->shaders > 0;
		t->shader = 0;
	}
	if (t)
		join_command(r, k, t, d, &key);
	return remember_signal(r, d, &key);
}

static int rocm_shader(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->queue, 0, 0}};
	struct grt_rocm_kernel *k;
	struct log_thread *t;
	int ret;

	t = log_thread(r, n->e.pid, n->thread, &ret);
	k = ret ? NULL : kernel_of(r, &key, n->text, sizeof(n->text), &ret);
	if (k)
		k->shaders++;
	if (t)
		t->shader = n->queue;
	return ret;
}

/* Takes a part of a name that is longer than its field; it precedes the first use of the name. */
static int text_part(struct grt_rocm *r, const struct grt_ev_log_text *x)
{
	const struct grt_key key = {{x->e.pid, x->hash, 0, 0}};
	struct grt_rocm_kernel *k;
	size_t len = sizeof(x->text);
	int ret;

	k = grt_rocm_row(r, &r->kernels, &key, &ret);
	if (!k || x->offset >= sizeof(k->name) - 1)
		return ret;
	k->pid = x->e.pid;
	k->hash = x->hash;
	len = len < sizeof(k->name) - 1 - x->offset ? len : sizeof(k->name) - 1 - x->offset;
	memcpy(k->name + x->offset, x->text, len);
	return 0;
}

/* Commands */

static int rocm_enqueue(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->object, 0, 0}};
	bool kernel = !n->text[0] || !strncmp(n->text, "Kernel", 6);
	struct log_thread *t;
	struct command *c;
	int ret;

	r->count.enqueues++;
	c = grt_rocm_state(&r->commands, &key, &ret);
	t = c ? log_thread(r, n->e.pid, n->thread, &ret) : NULL;
	if (c)
		*c = (struct command){.enqueued = grt_rocm_stamp(&n->e)};
	if (t && kernel)
		t->command = n->object;
	return ret;
}

static int rocm_complete(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->object, 0, 0}};
	struct command *c = grt_keyed_find(&r->commands, &key);
	struct grt_rocm_kernel *k;
	uint64_t ran;

	r->count.completes++;
	if (!c)
		return 0;
	if (c->dispatched) {
		ran = rocm_since(c->dispatched, grt_rocm_stamp(&n->e));
		k = grt_keyed_find(&r->kernels, &c->kernel);
		if (k)
			grt_rocm_add_time(&k->run, ran);
		grt_rocm_add_time(&r->count.run, ran);
	}
	grt_keyed_remove(&r->commands, c);
	return 0;
}

static int rocm_gpu_time(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->object, 0, 0}};
	struct grt_key *kernel = n->object ? grt_keyed_find(&r->signals, &key) : NULL;
	struct grt_rocm_kernel *k = kernel ? grt_keyed_find(&r->kernels, kernel) : NULL;
	uint64_t ran = rocm_since(n->first, n->second);

	grt_rocm_add_time(&r->count.gpu_took, ran);
	if (k)
		grt_rocm_add_time(&k->gpu, ran);
	if (kernel)
		grt_keyed_remove(&r->signals, kernel);
	return 0;
}

static int rocm_copy(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	r->count.copies++;
	r->count.copies_unsure += n->number != 0;
	if (!n->number)
		r->count.copy_bytes += n->first;
	return 0;
}

static int fault(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	if (!r->count.faults++)
		memcpy(r->count.first_fault, n->text, sizeof(n->text));
	return 0;
}

static int error(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	if (!r->count.errors++)
		memcpy(r->count.first_error, n->text, sizeof(n->text));
	return 0;
}

/* The name may be longer than the note's field: its parts came before. */
static int hang(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	const struct grt_key key = {{n->e.pid, n->first, n->first ? 0 : n->object, 0}};
	struct grt_rocm_kernel *k;
	int ret = 0;

	r->count.hangs++;
	k = n->first || n->object ? kernel_of(r, &key, n->text, sizeof(n->text), &ret) : NULL;
	if (k) {
		k->hangs++;
		k->queue = k->queue ? k->queue : n->queue;
	}
	if (r->count.hangs == 1 && k && k->name[0])
		memcpy(r->count.first_hang, k->name, sizeof(k->name));
	else if (r->count.hangs == 1 && n->text[0])
		memcpy(r->count.first_hang, n->text, sizeof(n->text));
	else if (r->count.hangs == 1)
		snprintf(r->count.first_hang, sizeof(r->count.first_hang), "kernel 0x%llx",
			 (unsigned long long)n->object);
	return ret;
}

static int rocm_host_wait(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	r->count.host_waits++;
	return 0;
}

static int rocm_marker(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	r->count.markers++;
	return 0;
}

static int rocr(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	/* a recording of an older tool does not tell how, and did not move them */
	unsigned int how = n->number < GRT_ROCM_ROCR ? n->number : 0;

	r->count.rocr[how]++;
	if (n->second > r->count.rocr_error[how])
		r->count.rocr_error[how] = n->second;
	return 0;
}

static int (*const takes_note[])(struct grt_rocm *r, const struct grt_ev_log_note *n) = {
	[GRT_LOG_ENQUEUE] = rocm_enqueue,
	[GRT_LOG_COMPLETE] = rocm_complete,
	[GRT_LOG_MARKER] = rocm_marker,
	[GRT_LOG_HOST_WAIT] = rocm_host_wait,
	[GRT_LOG_QUEUE_CREATE] = queue_made,
	[GRT_LOG_QUEUE_ACQUIRE] = queue_used,
	[GRT_LOG_QUEUE_RELEASE] = queue_used,
	[GRT_LOG_QUEUE_SELECT] = queue_used,
	[GRT_LOG_QUEUE_DELETE] = queue_used,
	[GRT_LOG_QUEUE_COUNTS] = queue_requested,
	[GRT_LOG_BARRIER] = rocm_packet,
	[GRT_LOG_COPY] = rocm_copy,
	[GRT_LOG_SHADER] = rocm_shader,
	[GRT_LOG_GPU_TIME] = rocm_gpu_time,
	[GRT_LOG_FAULT] = fault,
	[GRT_LOG_ROCR] = rocr,
	[GRT_LOG_PACKET] = rocm_packet,
	[GRT_LOG_ERROR] = error,
	[GRT_LOG_HANG] = hang,
};

static int take_note(struct grt_rocm *r, const struct grt_ev_log_note *n)
{
	size_t notes = sizeof(takes_note) / sizeof(takes_note[0]);

	return n->what < notes && takes_note[n->what] ? takes_note[n->what](r, n) : 0;
}

int grt_rocm_event(struct grt_rocm *r, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_LOG_CALL:
		r->count.log++;
		return rocm_take_call(r, (const struct grt_ev_log_call *)e);
	case GRT_EV_LOG_NOTE:
		r->count.log++;
		return take_note(r, (const struct grt_ev_log_note *)e);
	case GRT_EV_LOG_DISPATCH:
		r->count.log++;
		return rocm_dispatch(r, (const struct grt_ev_log_dispatch *)e);
	case GRT_EV_LOG_TEXT:
		return text_part(r, (const struct grt_ev_log_text *)e);
	case GRT_EV_FUNC:
		r->count.funcs++;
		return grt_rocm_take_func(r, (const struct grt_ev_func *)e);
	case GRT_EV_SUBMIT:
		r->count.submits++;
		return 0;
	case GRT_EV_COMPLETE:
		r->count.jobs_done++;
		return 0;
	default:
		return 0;
	}
}

void grt_rocm_init(struct grt_rocm *r)
{
	memset(r, 0, sizeof(*r));
	grt_keyed_init(&r->calls, sizeof(struct grt_rocm_call), GRT_ROCM_NAMES_MAX);
	grt_keyed_init(&r->queues, sizeof(struct grt_rocm_queue), GRT_ROCM_QUEUES_MAX);
	grt_keyed_init(&r->kernels, sizeof(struct grt_rocm_kernel), GRT_ROCM_KERNELS_MAX);
	grt_keyed_init(&r->funcs, sizeof(struct grt_rocm_func), GRT_ROCM_NAMES_MAX);
	grt_keyed_init(&r->open, sizeof(struct open_call), GRT_ROCM_OPEN_MAX);
	grt_keyed_init(&r->threads, sizeof(struct log_thread), GRT_ROCM_OPEN_MAX);
	grt_keyed_init(&r->commands, sizeof(struct command), GRT_ROCM_COMMANDS_MAX);
	grt_keyed_init(&r->signals, sizeof(struct grt_key), GRT_ROCM_COMMANDS_MAX);
	grt_keyed_init(&r->inside, sizeof(unsigned int), GRT_ROCM_OPEN_MAX);
	grt_keyed_init(&r->asked, sizeof(uint64_t), GRT_ROCM_OPEN_MAX);
}

void grt_rocm_free(struct grt_rocm *r)
{
	struct grt_keyed *const all[] = {&r->calls,   &r->queues,   &r->kernels, &r->funcs,  &r->open,
					 &r->threads, &r->commands, &r->signals, &r->inside, &r->asked};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		grt_keyed_free(all[i]);
	free(r->creation);
	free(r->request);
	r->creation = NULL;
	r->request = NULL;
}
