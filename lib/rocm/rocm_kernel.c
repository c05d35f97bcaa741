// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Functions of the kernel, and how queues were made, see rocm.h. A creation is
 * what a thread does from kfd_ioctl_create_queue to its return; where that is not
 * traced, in kfd_create_queue or between the trace points of that name. Where only
 * calls are traced and no returns, it is what the thread does up to its next ioctl,
 * and nothing has a duration.
 */
#include "rocm_kernel.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/scan.h"

/*
 * If the runtime reports a queue without its plan, it does so within this time after the kernel's creation.
 */
#define TOLD_WITHIN_NS UINT64_C(1000000000)

/** enum point - whether a trace point reports the begin or the end of its step */
enum point {
	POINT_NONE,
	POINT_BEGIN,
	POINT_END,
	POINT_ONCE,
};

static const struct point_row {
	const char *name;
	enum grt_rocm_step step;
	enum point kind;
} point_rows[] = {
#define GRT_ROCM_POINT(name, STEP, KIND) {#name, GRT_ROCM_##STEP, POINT_##KIND},
#include "rocm_steps.def"
};

static enum point point_of(const struct grt_ev_func *x)
{
	if (x->step == GRT_FUNC_EVENT)
		for (size_t i = 0; i < sizeof(point_rows) / sizeof(point_rows[0]); i++)
			if (!strncmp(point_rows[i].name, x->function, sizeof(x->function)))
				return point_rows[i].kind;
	return POINT_NONE;
}

/* Creations */

static struct grt_rocm_creation *creation_of(struct grt_rocm *r, uint32_t tid)
{
	const struct grt_key key = {{tid, 0, 0, 0}};
	unsigned int *place = grt_keyed_find(&r->inside, &key);

	return place ? &r->creation[*place] : NULL;
}

static void end_creation(struct grt_rocm *r, uint32_t tid)
{
	const struct grt_key key = {{tid, 0, 0, 0}};
	unsigned int *place = grt_keyed_find(&r->inside, &key);

	if (!place)
		return;
	r->creation[*place].open = false;
	grt_keyed_remove(&r->inside, place);
}

static int begin_creation(struct grt_rocm *r, const struct grt_ev_func *x)
{
	const struct grt_key key = {{x->e.tid, 0, 0, 0}};
	unsigned int *place;
	int ret;

	end_creation(r, x->e.tid);
	r->count.creations++;
	if (r->creations == GRT_ROCM_CREATIONS_MAX) {
		r->count.over++;
		return 0;
	}
	if (grt_grow_one(&r->creation, r->creations))
		return -ENOMEM;
	place = grt_rocm_state(&r->inside, &key, &ret);
	if (!place)
		return ret;
	*place = r->creations;
	r->creation[r->creations++] = (struct grt_rocm_creation){
		.pid = x->e.pid,
		.tid = x->e.tid,
		.begin = x->e.time,
		.qid = GRT_ROCM_UNKNOWN,
		.type = GRT_ROCM_UNKNOWN,
		.gpu = GRT_ROCM_UNKNOWN,
		.doorbell = GRT_ROCM_UNKNOWN,
		.open = true,
	};
	return 0;
}

/* Reads the value of the first of a probe's keys that exists. */
static void rocm_kernel_take_key(uint64_t *to, const char *text, size_t len, const char *key,
				 const char *other)
{
	uint64_t v;

	if (grt_key_number(text, text + len, key, strlen(key), &v) ||
	    grt_key_number(text, text + len, other, strlen(other), &v))
		*to = v;
}

static void rocm_kernel_take_fields(struct grt_rocm_creation *c, const struct grt_ev_func *x)
{
	size_t len = strnlen(x->text, sizeof(x->text));

	if (x->step == GRT_FUNC_CALLED || !len)
		return;
	rocm_kernel_take_key(&c->qid, x->text, len, "queue_id=", "qid=");
	rocm_kernel_take_key(&c->type, x->text, len, "queue_type=", "type=");
	rocm_kernel_take_key(&c->gpu, x->text, len, "gpu_id=", "gpu=");
	rocm_kernel_take_key(&c->doorbell, x->text, len, "doorbell_offset=", "doorbell=");
}

static bool rocm_kernel_is_name(const char name[49], const struct grt_ev_func *x)
{
	return !strncmp(name, x->function, sizeof(x->function));
}

static struct grt_rocm_made_step *add_step(struct grt_rocm_creation *c, const struct grt_ev_func *x)
{
	struct grt_rocm_made_step *s = &c->step[c->steps];

	if (c->steps == GRT_ROCM_STEPS_MAX) {
		c->more++;
		return NULL;
	}
	c->steps++;
	*s = (struct grt_rocm_made_step){.at = x->e.time, .took = GRT_ROCM_UNKNOWN};
	memcpy(s->name, x->function, sizeof(x->function));
	return s;
}

/* The step that returns: the last of its name without a duration, or one that was reported at its return. */
static struct grt_rocm_made_step *open_step(struct grt_rocm_creation *c, const struct grt_ev_func *x)
{
	for (unsigned int i = c->steps; i-- > 0;)
		if (rocm_kernel_is_name(c->step[i].name, x) && c->step[i].took == GRT_ROCM_UNKNOWN)
			return &c->step[i];
	return add_step(c, x);
}

static void creation_step(struct grt_rocm_creation *c, const struct grt_ev_func *x, uint64_t took)
{
	struct grt_rocm_made_step *s;

	if (x->step != GRT_FUNC_RETURNED) {
		if (x->step != GRT_FUNC_EVENT || point_of(x) == POINT_ONCE)
			add_step(c, x);
		return;
	}
	s = open_step(c, x);
	if (!s)
		return;
	s->took = took;
	s->ret = x->ret;
	s->has_ret = x->known & GRT_FUNC_RET;
}

static void creation_returned(struct grt_rocm *r, struct grt_rocm_creation *c, const struct grt_ev_func *x,
			      uint64_t took)
{
	c->end = took != GRT_ROCM_UNKNOWN ? c->begin + took : x->e.time;
	grt_rocm_add_time(&r->count.create_took, c->end - c->begin);
	c->ret = x->ret;
	c->has_ret = x->known & GRT_FUNC_RET;
	end_creation(r, x->e.tid);
}

/* Return: whether a step is not part of a creation, also if it occurs during one. */
static bool is_elsewhere(enum grt_rocm_step step)
{
	return step == GRT_ROCM_DOORBELL || step == GRT_ROCM_INTERRUPT;
}

/* Adds a step to a creation that is in progress. */
static void take_step(struct grt_rocm *r, struct grt_rocm_creation *c, const struct grt_ev_func *x,
		      enum grt_rocm_step step, uint64_t took)
{
	/* only calls are traced: the next ioctl ends it */
	if (x->step == GRT_FUNC_CALLED && !strncmp(x->function, "kfd_ioctl", 9)) {
		end_creation(r, x->e.tid);
		return;
	}
	if (is_elsewhere(step))
		return;
	rocm_kernel_take_fields(c, x);
	creation_step(c, x, took);
}

/* How an event begins or ends a creation, or does not: the ioctl, the function, the trace points. */
static enum point bounds_creation(const struct grt_rocm_creation *c, const struct grt_ev_func *x,
				  enum grt_rocm_step step)
{
	enum point point = step == GRT_ROCM_QUEUE_CREATE ? point_of(x) : POINT_NONE;
	bool is_ioctl = step == GRT_ROCM_IOCTL_CREATE,
	     is_function = !strncmp(x->function, "kfd_create_queue", sizeof(x->function));

	if (point == POINT_BEGIN && !c)
		return POINT_BEGIN;
	if (point != POINT_NONE)
		return point == POINT_END && c && c->by_point ? POINT_END : POINT_NONE;
	if (x->step == GRT_FUNC_EVENT || (!is_ioctl && (!is_function || (c && (c->by_ioctl || c->by_point)))))
		return POINT_NONE;
	/* a leaf of function_graph is reported when it has ended */
	if (x->step == GRT_FUNC_RETURNED)
		return c ? POINT_END : POINT_ONCE;
	return POINT_BEGIN;
}

/* Return: 0 or -ENOMEM */
static int take_creation(struct grt_rocm *r, const struct grt_ev_func *x, enum grt_rocm_step step,
			 uint64_t took)
{
	struct grt_rocm_creation *c = creation_of(r, x->e.tid);
	enum point bound = bounds_creation(c, x, step);
	int ret;

	if (bound == POINT_NONE) {
		if (c)
			take_step(r, c, x, step, took);
		return 0;
	}
	if (bound != POINT_END) {
		ret = begin_creation(r, x);
		if (ret)
			return ret;
		c = creation_of(r, x->e.tid);
	}
	if (!c)
		return 0;
	if (bound == POINT_BEGIN) {
		c->by_ioctl = step == GRT_ROCM_IOCTL_CREATE;
		c->by_point = x->step == GRT_FUNC_EVENT;
	}
	rocm_kernel_take_fields(c, x);
	if (bound != POINT_BEGIN)
		creation_returned(r, c, x, took);
	return 0;
}

/* Functions */

static void rocm_kernel_count_call(struct grt_rocm *r, struct grt_rocm_func *f)
{
	f->calls++;
	r->count.step[f->step]++;
	r->count.ioctls += !strncmp(f->name, "kfd_ioctl_", 10);
}

static uint64_t returned(struct grt_rocm *r, struct grt_rocm_func *f, const struct grt_ev_func *x,
			 const struct grt_key *open)
{
	uint64_t took;
	bool entered = grt_rocm_leave(r, open, x->e.time, &took);

	if (!entered)
		rocm_kernel_count_call(r, f);
	f->start_only -= entered && f->start_only;
	if (x->known & GRT_FUNC_TOOK)
		took = x->took;
	grt_rocm_add_time(&f->took, took);
	grt_rocm_add_time(&r->count.step_took[f->step], took);
	f->errors += (x->known & GRT_FUNC_RET) && x->ret < 0;
	return took;
}

/* The duration of a step is in the row of the trace point that ends it. Return: 0 or -ENOMEM */
static int take_point(struct grt_rocm *r, struct grt_rocm_func *f, const struct grt_ev_func *x,
		      uint64_t *took)
{
	const struct grt_key open = {{f->step, x->e.tid, 2, 0}};
	enum point kind = point_of(x);

	if (kind == POINT_END && grt_rocm_leave(r, &open, x->e.time, took)) {
		grt_rocm_add_time(&f->took, *took);
		if (!r->count.step[f->step])
			grt_rocm_add_time(&r->count.step_took[f->step], *took);
	}
	if (kind != POINT_BEGIN && kind != POINT_ONCE)
		return 0;
	r->count.point[f->step]++;
	return kind == POINT_BEGIN ? grt_rocm_enter(r, &open, x->e.time) : 0;
}

static int rocm_kernel_take(struct grt_rocm *r, struct grt_rocm_func *f, const struct grt_ev_func *x,
			    uint64_t *took)
{
	const struct grt_key open = {{grt_rocm_hash(x->function, sizeof(x->function)), x->e.tid, 1, 0}};

	*took = GRT_ROCM_UNKNOWN;
	if (x->step == GRT_FUNC_EVENT) {
		f->events++;
		return take_point(r, f, x, took);
	}
	if (x->step == GRT_FUNC_RETURNED) {
		*took = returned(r, f, x, &open);
		return 0;
	}
	rocm_kernel_count_call(r, f);
	f->start_only++;
	return x->step == GRT_FUNC_ENTERED ? grt_rocm_enter(r, &open, x->e.time) : 0;
}

int grt_rocm_take_func(struct grt_rocm *r, const struct grt_ev_func *x)
{
	const struct grt_key key = {{grt_rocm_hash(x->function, sizeof(x->function)), 0, 0, 0}};
	struct grt_rocm_func *f;
	uint64_t took;
	int ret;

	f = grt_rocm_row(r, &r->funcs, &key, &ret);
	if (!f)
		return ret;
	if (!f->name[0]) {
		memcpy(f->name, x->function, sizeof(x->function));
		f->step = grt_rocm_step_of(x->function, sizeof(x->function));
	}
	ret = rocm_kernel_take(r, f, x, &took);
	if (ret)
		return ret;
	return take_creation(r, x, f->step, took);
}

/* What the runtime reports about it */

static bool rocm_kernel_fits(const struct grt_rocm_creation *c, const struct grt_rocm_request *q)
{
	if (q->joined || c->begin > q->told || (q->pid && q->pid != c->pid))
		return false;
	return q->asked ? c->begin >= q->asked : q->told - c->begin < TOLD_WITHIN_NS;
}

static void rocm_kernel_join(struct grt_rocm_creation *c, struct grt_rocm_request *q)
{
	q->joined = true;
	c->asked = q->asked;
	c->told = q->told;
	c->queue = q->queue;
	c->no_pid = !q->pid;
}

void grt_rocm_finish(struct grt_rocm *r)
{
	for (unsigned int i = 0; i < r->creations; i++)
		for (unsigned int k = 0; k < r->requests; k++)
			if (rocm_kernel_fits(&r->creation[i], &r->request[k])) {
				rocm_kernel_join(&r->creation[i], &r->request[k]);
				break;
			}
}
