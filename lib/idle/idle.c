// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Work of a device waits, in a list if it comes in order and in a heap if it does not, until there is enough
 * of it or the trace has ended; then it is processed in order. The time between the end of all processed
 * work and the beginning of the next is a gap.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "base/heap.h"
#include "codes/cuda_codes.h"
#include "idle_parts.h"
#include "trace/packet.h"

/* ------------------------------------------------------------- idle ends */

/* Where the stacks of the devices' work end. The frames of a stack may be reported after the work. */

/* Work of one stack comes in a row, and the same stacks come again: their sums are looked up once. */
static int idle_ends_settle(struct grt_idleness *x, struct idle_device *d)
{
	const struct grt_key key = {{d->device.number, d->worked_key}};
	uint32_t *near = &d->worked_near[d->worked_key % IDLE_NEAR];
	struct grt_stack_end_sum *sum;
	int ret;

	if (!d->worked.works)
		return 0;
	sum = grt_keyed_near(&x->worked, *near, &key);
	ret = sum ? 0 : grt_keyed_get_or_count(&x->worked, &key, NULL, (void **)&sum);
	if (ret)
		return ret;
	if (sum) {
		*near = grt_keyed_number(sum);
		sum->ns += d->worked.ns;
		sum->works += d->worked.works;
	} else {
		x->count.ends_over += d->worked.works;
	}
	d->worked = (struct grt_stack_end_sum){0};
	return 0;
}

/* Work of @ns. Return: 0 or -ENOMEM. */
static int idle_ends_add(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w,
			 uint64_t ns)
{
	uint64_t key = (uint64_t)w->image << 32 | w->stack;
	int ret = key == d->worked_key ? 0 : idle_ends_settle(x, d);

	d->worked_key = key;
	d->worked.ns += ns;
	d->worked.works++;
	return ret;
}

/* Adds the end of the stack @stack of @image, see struct idle_work. Return: 0 or -ENOMEM */
static int idle_ends_of(struct grt_idleness *x, uint32_t image, uint32_t stack, enum grt_stack_end *end,
			bool *none)
{
	struct grt_image *i = image ? grt_launches_images(x->launches)->image[image - 1] : NULL;

	*none = !stack || (i ? grt_image_reach(i, stack) <= GRT_STACK_NONE
			     : !x->frames.text || !grt_frames_has(&x->frames, stack));
	if (*none)
		return 0;
	if (i)
		return grt_image_frames_end(x->image_frames, i, stack, end);
	*end = grt_frames_end(&x->frames, stack);
	return 0;
}

/* The trace is over: of each device. Return: 0 or -ENOMEM. */
static int idle_ends_sum(struct grt_idleness *x)
{
	int ret = 0;

	for (uint32_t i = 0; i < x->devices.used && !ret; i++)
		ret = idle_ends_settle(x, x->device[i]);
	for (struct grt_stack_end_sum *s = grt_keyed_oldest(&x->worked), *to; s && !ret;
	     s = grt_keyed_next(&x->worked, s)) {
		const struct grt_key *key = grt_keyed_key(s);
		struct grt_stack_ends *ends = &x->device[key->w[0]]->device.ends;
		enum grt_stack_end end = GRT_STACK_END_UNKNOWN;
		bool none;

		ret = idle_ends_of(x, (uint32_t)(key->w[1] >> 32), (uint32_t)key->w[1], &end, &none);
		to = none ? &ends->none : &ends->end[end];
		to->ns += s->ns;
		to->works += s->works;
	}
	return ret;
}

/* ------------------------------------------------------------------ idle */

/* Jobs come roughly in the order of their ends, CUPTI's records one buffer at a time. */
#define WAITING_JOBS 4096U
#define WAITING_RECORDS 32768U
#define IN_FLIGHT_MAX 65536U
#define PROCESSES_MAX 65536U
#define KERNELS_MAX 65536U
#define STACKS_MAX 65536U
/* Calls of CUDA that have their own stack have small numbers. */
#define SINCE_BIT 0x80000000U
/*
 * For each device, there is also one row per cause, which takes what finds no room, so that sums are
 * complete.
 */
#define ROWS_ALL (GRT_IDLE_ROWS_MAX + GRT_IDLE_CAUSES * GRT_IDLE_DEVICES_MAX)

static const char *const cause_names[GRT_IDLE_CAUSES] = {
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) #name,
#include "idle_causes.def"
};

/* Causes for which the submitter's stack shows the place. */
static const bool has_place[GRT_IDLE_CAUSES] = {
	[GRT_IDLE_CODE] = true,	   [GRT_IDLE_RUNNING] = true, [GRT_IDLE_CALL] = true,
	[GRT_IDLE_POLLING] = true, [GRT_IDLE_GPU] = true,     [GRT_IDLE_DISPLAY] = true,
	[GRT_IDLE_LOCK] = true,	   [GRT_IDLE_IO] = true,      [GRT_IDLE_SLEEP] = true,
	[GRT_IDLE_CHILD] = true,   [GRT_IDLE_OTHER] = true,   [GRT_IDLE_RUNNABLE] = true,
	[GRT_IDLE_SET_UP] = true,
};

static const uint8_t cause_of_state[GRT_THREAD_STATES] = {
	[GRT_THREAD_UNKNOWN] = GRT_IDLE_UNKNOWN, [GRT_THREAD_RUNNING] = GRT_IDLE_RUNNING,
	[GRT_THREAD_POLLING] = GRT_IDLE_POLLING, [GRT_THREAD_RUNNABLE] = GRT_IDLE_RUNNABLE,
	[GRT_THREAD_GPU] = GRT_IDLE_GPU,	 [GRT_THREAD_DISPLAY] = GRT_IDLE_DISPLAY,
	[GRT_THREAD_IO] = GRT_IDLE_IO,		 [GRT_THREAD_LOCK] = GRT_IDLE_LOCK,
	[GRT_THREAD_SLEEP] = GRT_IDLE_SLEEP,	 [GRT_THREAD_CHILD] = GRT_IDLE_CHILD,
	[GRT_THREAD_OTHER] = GRT_IDLE_OTHER,
};

const char *grt_idleness_cause_name(unsigned int cause)
{
	return cause < GRT_IDLE_CAUSES ? cause_names[cause] : "?";
}

uint64_t grt_idleness_ns(const struct grt_idleness_device *d)
{
	uint64_t ns = 0;

	for (unsigned int i = 0; i < GRT_IDLE_CAUSES; i++)
		ns += d->cause[i];
	return ns;
}

/* ------------------------------------------------------------------ parts */

static int idle_hand_out(struct grt_idleness *x, const struct grt_idleness_part *p)
{
	return x->options.part ? x->options.part(x->options.arg, p) : 0;
}

/* The open part of a device has ended. */
static int idle_close(struct grt_idleness *x, struct idle_device *d)
{
	struct grt_idleness_row *r;
	uint64_t ns = d->open.to - d->open.from;

	if (!ns)
		return 0;
	r = &x->row[d->open.row]->row;
	r->parts++;
	r->ns += ns;
	r->max = ns > r->max ? ns : r->max;
	d->device.cause[r->cause] += ns;
	d->open.from = d->open.to;
	return idle_hand_out(x, &(struct grt_idleness_part){.from = d->open.to - ns,
							    .to = d->open.to,
							    .device = d->open.device,
							    .row = d->open.row});
}

static int idle_new_row(struct grt_idleness *x, const struct idle_at *at, const struct grt_key *key)
{
	struct idle_row *r = calloc(1, sizeof(*r));
	void *found;

	if (!r || grt_grow(&x->row, &x->row_room, x->rows + 1, 64) ||
	    grt_keyed_get(&x->by_key, key, &found)) {
		free(r);
		return -ENOMEM;
	}
	*(uint32_t *)found = x->rows;
	r->row.number = x->rows;
	r->row.device = at->device->device.number;
	r->row.cause = at->cause;
	r->row.pid = at->work->pid;
	r->row.waker = at->waker;
	r->row.waker_pid = at->waker_pid;
	r->row.inferred = at->cause == GRT_IDLE_SET_UP;
	r->call = at->call;
	r->stack = at->stack;
	r->slept = at->slept;
	r->since = at->since;
	r->image = at->work->image;
	r->name = at->work->name;
	x->row[x->rows++] = r;
	return 0;
}

/* The row of a part; without its place if there are too many. */
static int idle_row_of(struct grt_idleness *x, struct idle_at *at, uint32_t *number)
{
	struct grt_key key = {
		{(uint64_t)at->device->device.number << 40 | (uint64_t)at->slept << 8 | at->cause,
		 (uint64_t)at->work->image << 32 | at->stack, (uint64_t)at->waker_pid << 32 | at->waker,
		 (uint64_t)at->work->pid << 32 | (at->call ?: SINCE_BIT | at->since)}};
	uint32_t *near = &x->row_near[(at->stack + at->cause) % IDLE_NEAR];
	uint32_t *found = grt_keyed_near(&x->by_key, *near, &key) ?: grt_keyed_find(&x->by_key, &key);

	if (!found && x->rows >= GRT_IDLE_ROWS_MAX) {
		x->count.unplaced++;
		at->stack = at->slept = at->since = at->call = at->waker = at->waker_pid = 0;
		key = (struct grt_key){{(uint64_t)at->device->device.number << 40 | at->cause}};
		found = grt_keyed_find(&x->by_key, &key);
	}
	if (found) {
		*near = grt_keyed_number(found);
		*number = *found;
		return 0;
	}
	*number = x->rows;
	return idle_new_row(x, at, &key);
}

/* Adds a part of a gap; if it has the same reason as the previous part, it extends that one. */
static int idle_add(struct grt_idleness *x, struct idle_at *at, uint64_t from, uint64_t to)
{
	struct idle_device *d = at->device;
	uint32_t row;
	int ret = from < to ? idle_row_of(x, at, &row) : 0;

	if (ret || from >= to)
		return ret;
	if (d->open.row == row && d->open.to == from && d->open.from < from) {
		d->open.to = to;
		return 0;
	}
	ret = idle_close(x, d);
	d->open = (struct grt_idleness_part){from, to, d->device.number, row};
	return ret;
}

static int add_plain(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w,
		     enum grt_idle_cause cause, uint64_t from, uint64_t to)
{
	struct idle_at at = {.device = d, .work = w, .cause = cause};

	return idle_add(x, &at, from, to);
}

/* ------------------------------------------------------------- submitters */

/** struct dividing - a gap whose submitter is examined */
struct dividing {
	struct grt_idleness *x;
	struct idle_device *d;
	const struct idle_work *w;
};

static enum grt_idle_cause cause_of(const struct grt_submitter_piece *p, bool cuda)
{
	bool waits = cuda && p->call && grt_cuda_waits(grt_cuda_call(p->call));

	if (p->state == GRT_SUBMITTER_NOT_FOLLOWED || (p->state == GRT_THREAD_UNKNOWN && p->call))
		return waits ? GRT_IDLE_GPU : p->call ? GRT_IDLE_CALL : GRT_IDLE_CODE;
	if (p->state == GRT_THREAD_RUNNING && p->call)
		return waits ? GRT_IDLE_POLLING : GRT_IDLE_CALL;
	return cause_of_state[p->state];
}

/* Return: what the submitter did and where: by the stack of its sleep, or else by that of the work. */
static struct idle_at at_of_piece(const struct dividing *v, const struct grt_submitter_piece *p)
{
	struct idle_at at = {
		.device = v->d,
		.work = v->w,
		.cause = cause_of(p, v->d->device.cuda),
		.call = p->call,
		.waker = p->waker,
		.waker_pid = p->waker_pid,
	};

	if (!has_place[at.cause])
		return at;
	at.stack = v->w->stack;
	at.slept = v->w->interpreted ? 0 : p->user;
	at.since = p->after;
	return at;
}

static int put_piece(void *arg, const struct grt_submitter_piece *p)
{
	struct dividing *v = arg;
	struct idle_at at = at_of_piece(v, p);

	if (p->state == GRT_SUBMITTER_NOT_FOLLOWED)
		v->x->count.not_followed += p->to - p->from;
	return idle_add(v->x, &at, p->from, p->to);
}

static enum grt_submitter_calls calls_of(const struct idle_device *d)
{
	return d->device.cuda ? GRT_SUBMITTER_CUDA : GRT_SUBMITTER_IOCTLS;
}

/* The call requests the work; first it loads code if a kernel runs for the first time. */
static int put_requested(void *arg, const struct grt_submitter_piece *p)
{
	struct dividing *v = arg;
	struct idle_at at = at_of_piece(v, p);

	if (v->w->fresh)
		at.cause = GRT_IDLE_SET_UP;
	return idle_add(v->x, &at, p->from, p->to);
}

/* ------------------------------------------------------------------- gaps */

static uint64_t idle_between(uint64_t low, uint64_t value, uint64_t high)
{
	return value < low ? low : value > high ? high : value;
}

/* Before the first work of a device. */
static int divide_first(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w,
			uint64_t from, uint64_t asked)
{
	uint64_t began = w->began >= x->first ? idle_between(from, w->began, asked) : asked;
	int ret = add_plain(x, d, w, GRT_IDLE_FIRST, from, began);

	return ret ?: add_plain(x, d, w, GRT_IDLE_START, began, asked);
}

/* When work was passed to the device; CUDA's work: when the call that requested it returned. */
static uint64_t idle_handed(struct grt_idleness *x, const struct idle_device *d, const struct idle_work *w)
{
	return d->device.cuda
		       ? grt_submitters_returned(&x->submitters, w->pid, w->tid, GRT_SUBMITTER_CUDA, w->asked)
		       : w->handed;
}

/* Most gaps have only one of the pieces. */
static inline int divide_piece(struct dividing *v, enum grt_submitter_calls calls, uint64_t from, uint64_t to,
			       int (*put)(void *arg, const struct grt_submitter_piece *p))
{
	return from < to ? grt_submitters_divide(&v->x->submitters, v->w->pid, v->w->tid, calls, from, to,
						 put, v)
			 : 0;
}

static int divide_gap(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w, uint64_t from,
		      uint64_t to)
{
	struct dividing v = {x, d, w};
	uint64_t asked = idle_between(from, w->asked, to),
		 handed = w->known ? idle_between(asked, idle_handed(x, d, w), to) : to;
	int ret;

	if (!d->any)
		ret = divide_first(x, d, w, from, w->known ? asked : to);
	else if (w->known)
		ret = divide_piece(&v, calls_of(d), from, asked, put_piece);
	else
		ret = add_plain(x, d, w, GRT_IDLE_UNKNOWN, from, to);
	if (ret || !w->known)
		return ret;
	if (d->device.cuda)
		ret = divide_piece(&v, GRT_SUBMITTER_CUDA, asked, handed, put_requested);
	else
		ret = add_plain(x, d, w, GRT_IDLE_SCHEDULER, asked, handed);
	return ret ?: add_plain(x, d, w, GRT_IDLE_QUEUED, handed, to);
}

/* Time that was not recorded is neither busy nor idle: the window ends before it. */
static int idle_advance(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w,
			uint64_t to);

static int idle_leave_out(struct grt_idleness *x, struct idle_device *d, uint64_t to)
{
	const struct grt_windows *all =
		d->device.cuda ? &grt_launches_images(x->launches)->windows : &x->windows;
	struct grt_interval hole;
	int ret = 0;

	while (!ret && d->reached < to && grt_windows_hole(all, d->reached, to, &hole)) {
		if (hole.from > d->reached)
			ret = idle_advance(x, d, NULL, hole.from);
		d->device.left_out += hole.to - hole.from;
		d->reached = hole.to;
	}
	return ret;
}

/* The device was idle up to @to; @w: the work that ended it, NULL: none did. */
static int idle_advance(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w, uint64_t to)
{
	static const struct idle_work nothing;
	int ret = idle_leave_out(x, d, to);
	uint64_t unsure = idle_between(d->reached, d->unsure, to);

	if (ret || to <= d->reached)
		return ret;
	if (unsure > d->reached)
		ret = add_plain(x, d, &nothing, GRT_IDLE_UNSURE, d->reached, unsure);
	if (!ret && to > unsure)
		ret = w ? divide_gap(x, d, w, unsure, to)
			: add_plain(x, d, &nothing, GRT_IDLE_END, unsure, to);
	d->reached = to;
	return ret ?: idle_close(x, d);
}

/*
 * Of a job without time stamps, only its existence is known. A job without a known end had ended when the
 * next one of its ring began.
 */
static int take_unsure(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w)
{
	int ret = idle_advance(x, d, w, idle_between(x->first, w->from, x->last));

	if (w->to == UINT64_MAX)
		d->endless = true;
	else if (w->to > d->unsure)
		d->unsure = w->to;
	return ret;
}

/* Kernels come in the order of their ends, so the first one is known only when they are processed. */
static bool idle_is_fresh(struct grt_idleness *x, const struct idle_device *d, const struct idle_work *w)
{
	const struct grt_key key = {{d->device.number, w->image, w->kernel}};
	struct idle_seen *seen = &x->seen[w->kernel % IDLE_NEAR];
	uint32_t before = x->kernels.used;
	void *known;

	if (!w->kernel || (seen->kernel == w->kernel && seen->image == w->image && seen->device == d))
		return false;
	if (grt_keyed_get(&x->kernels, &key, &known))
		return false;
	*seen = (struct idle_seen){d, w->image, w->kernel};
	return x->kernels.used > before;
}

static int idle_take(struct grt_idleness *x, struct idle_device *d, struct idle_work *w)
{
	uint64_t from = idle_between(x->first, w->from, x->last), to = idle_between(from, w->to, x->last);
	int ret;

	if (w->from < d->taken) {
		x->count.late++;
		if (w->unsure)
			return 0;
	}
	d->taken = w->from > d->taken ? w->from : d->taken;
	w->fresh = idle_is_fresh(x, d, w);
	if (d->endless)
		d->unsure = from > d->unsure ? from : d->unsure;
	d->endless = false;
	if (w->unsure) {
		ret = take_unsure(x, d, w);
	} else {
		ret = idle_advance(x, d, w, from);
		if (to > d->reached) {
			d->device.busy += to - (from > d->reached ? from : d->reached);
			d->reached = to;
		}
		d->device.inferred |= w->inferred;
		ret = ret ?: idle_ends_add(x, d, w, to - from);
	}
	d->any = true;
	return ret;
}

/* ---------------------------------------------------------------- waiting */

static bool idle_before(const struct idle_device *d, const struct idle_work *a, const struct idle_work *b)
{
	return a->from < b->from;
}

GRT_HEAP(idle, struct idle_work, struct idle_device, idle_before)

static struct idle_work *idle_in_line(const struct idle_device *d, uint32_t i)
{
	return &d->line[(d->line_first + i) & (d->line_room - 1)];
}

static int idle_take_heap(struct grt_idleness *x, struct idle_device *d)
{
	struct idle_work top = d->heap[0];

	d->heap[0] = d->heap[--d->used];
	if (d->used)
		idle_sink(d, d->heap, d->used, 0);
	return idle_take(x, d, &top);
}

static int idle_take_first(struct grt_idleness *x, struct idle_device *d)
{
	struct idle_work *first = d->lined ? idle_in_line(d, 0) : NULL;

	if (!first || (d->used && idle_before(d, &d->heap[0], first)))
		return idle_take_heap(x, d);
	d->lined--;
	d->line_first = (d->line_first + 1) & (d->line_room - 1);
	return idle_take(x, d, first);
}

/* Doubles the room. Return: 0 or -ENOMEM */
static int idle_longer_line(struct idle_device *d)
{
	uint32_t room = d->line_room ? 2 * d->line_room : 64;
	struct idle_work *line = malloc(room * sizeof(*line));

	if (!line)
		return -ENOMEM;
	for (uint32_t i = 0; i < d->lined; i++)
		line[i] = *idle_in_line(d, i);
	free(d->line);
	d->line = line;
	d->line_first = 0;
	d->line_room = room;
	return 0;
}

/* The slow path for all but the last device is separate, so that the fast one needs no registers for it. */
static __attribute__((noinline)) int idle_look_up_device(struct grt_idleness *x, uint32_t image,
							 uint32_t number, struct idle_device **out)
{
	uint32_t before = x->devices.used;
	struct grt_key key = {{image, number}};
	struct idle_recent *recent = &x->recent[number % IDLE_RECENT];
	void *found;
	int ret;

	*out = NULL;
	ret = grt_keyed_get_or_count(&x->devices, &key, &x->count.over, &found);
	if (ret || !found)
		return ret;
	*recent = (struct idle_recent){.image = image, .number = number};
	if (x->devices.used == before) {
		*out = recent->device = *(struct idle_device **)found;
		return 0;
	}
	*out = calloc(1, sizeof(**out));
	if (!*out || grt_grow(&x->device, &x->device_room, before + 1, 8)) {
		free(*out);
		grt_keyed_remove(&x->devices, found);
		return -ENOMEM;
	}
	*(struct idle_device **)found = x->device[before] = recent->device = *out;
	(*out)->device.number = before;
	(*out)->device.first = (*out)->reached = x->first;
	return 0;
}

/* Return: 0 with *out NULL: there are too many, or -ENOMEM */
static int idle_get_device(struct grt_idleness *x, uint32_t image, uint32_t number, struct idle_device **out)
{
	const struct idle_recent *recent = &x->recent[number % IDLE_RECENT];

	if (!recent->device || recent->image != image || recent->number != number)
		return idle_look_up_device(x, image, number, out);
	*out = recent->device;
	return 0;
}

static int idle_put(struct grt_idleness *x, struct idle_device *d, const struct idle_work *w)
{
	uint32_t most = d->device.cuda ? WAITING_RECORDS : WAITING_JOBS;
	int ret = d->used + d->lined == most ? idle_take_first(x, d) : 0;

	if (!ret && (!d->lined || !idle_before(d, w, idle_in_line(d, d->lined - 1)))) {
		ret = d->lined == d->line_room ? idle_longer_line(d) : 0;
		if (!ret)
			*idle_in_line(d, d->lined++) = *w;
		return ret;
	}
	ret = ret ?: grt_grow(&d->heap, &d->room, d->used + 1, 64);
	if (ret)
		return ret;
	d->heap[d->used] = *w;
	idle_rise(d, d->heap, d->used++);
	return 0;
}

/* ------------------------------------------------------------------- jobs */

static uint64_t idle_stamp(const struct grt_job *job, enum grt_stamp stamp, uint64_t otherwise)
{
	return job->seen >> stamp & 1 ? job->time[stamp] : otherwise;
}

/* When it ran according to its time stamps, or else when it existed. */
static void idle_job_times(const struct grt_job *job, struct idle_work *w)
{
	uint64_t ns, end = idle_stamp(job, GRT_STAMP_END, UINT64_MAX);

	w->asked = idle_stamp(job, GRT_STAMP_SUBMIT, idle_stamp(job, GRT_STAMP_COMMIT, 0));
	w->known = w->asked && job->tid;
	w->handed = idle_stamp(job, GRT_STAMP_COMMIT, w->asked);
	w->from = job->time[GRT_STAMP_START];
	w->to = end;
	if (grt_job_phase(job, GRT_PHASE_EXEC, &ns, &w->inferred))
		return;
	w->unsure = true;
	w->from = idle_stamp(job, GRT_STAMP_START, w->handed);
	w->to = idle_stamp(job, GRT_STAMP_COMPLETE, end);
}

static uint32_t idle_take_stack(struct grt_idleness *x, const struct grt_job *job)
{
	uint32_t *stack = grt_keyed_find(&x->stacks, &(struct grt_key){{job->ctx, job->seqno}});
	uint32_t id = stack ? *stack : 0;

	if (stack)
		grt_keyed_remove(&x->stacks, stack);
	return id;
}

int grt_idleness_job(struct grt_idleness *x, const struct grt_job *job)
{
	struct idle_work w = {.pid = job->pid, .tid = job->tid, .name = job->name};
	struct idle_device *d;
	const uint64_t *began;
	int ret;

	w.stack = idle_take_stack(x, job);
	if (job->ring == GRT_RING_NONE)
		return 0;
	ret = idle_get_device(x, 0, job->ring, &d);
	if (ret || !d)
		return ret;
	idle_job_times(job, &w);
	d->device.work++;
	d->device.untimed += w.unsure;
	d->device.sampled += job->sample && job->sample < 100;
	d->device.ring = job->ring;
	d->device.card = job->device;
	d->device.engine = job->engine;
	began = grt_keyed_find(&x->processes, &(struct grt_key){{job->pid}});
	w.began = began ? *began : 0;
	if (w.known)
		ret = grt_submitters_submits(&x->submitters, w.pid, w.tid);
	return ret || (!w.from && w.to == UINT64_MAX) ? ret : idle_put(x, d, &w);
}

/* ------------------------------------------------------------------- CUDA */

/* Whether its stacks have frames of an interpreter: those say more than the stacks of its sleeps. */
static bool idle_is_interpreted(struct grt_idleness *x, const struct grt_image *i)
{
	struct idle_image *m;

	if (grt_grow_zeroed(&x->image, &x->images, i->number + 1, 4))
		return false;
	m = &x->image[i->number];
	for (; m->nodes < i->nodes && !m->interpreted; m->nodes++)
		m->interpreted = i->node[m->nodes].file;
	return m->interpreted;
}

static void idle_take_launch(struct grt_idleness *x, const struct grt_launch *launch, struct idle_work *w)
{
	w->known = launch;
	if (!launch)
		return;
	w->asked = launch->begin;
	w->tid = launch->tid;
	w->stack = launch->node;
	w->interpreted = launch->node && idle_is_interpreted(x, launch->image);
}

/* Work from before the window determines how the window begins, and is not counted in it. */
static bool idle_is_in_window(const struct grt_idleness *x, const struct grt_event *e,
			      const struct idle_work *w)
{
	if (!w->from)
		return e->time >= x->first && e->time <= x->last;
	return w->from <= x->last && (!w->to || w->to >= x->first);
}

int grt_idleness_work(struct grt_idleness *x, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_ev_gpu_kernel *k = (const void *)e;
	const struct grt_ev_gpu_copy *c = (const void *)e;
	bool kernel = e->type == GRT_EV_GPU_KERNEL;
	struct idle_work w = {.from = kernel ? k->start : c->start,
			      .to = kernel ? k->end : c->end,
			      .pid = image->pid,
			      .image = image->number + 1,
			      .kernel = kernel ? k->name + 1 : 0,
			      .began = image->began > 0 ? (uint64_t)image->began : 0};
	const struct grt_device *device;
	struct idle_device *d;
	bool inside;
	int ret;

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	/* a trace of DRM jobs alone does not need it */
	if (!x->image_frames && grt_image_frames_new(&x->image_frames))
		return -ENOMEM;
	device = grt_launches_device(x->launches, image, kernel ? k->gpu : c->gpu);
	ret = device ? idle_get_device(x, 1, device->number, &d) : -ENOMEM;
	if (ret || !d)
		return ret;
	d->device.cuda = true;
	d->device.of = device->number;
	d->device.image = device->image;
	d->device.gpu = device->gpu;
	d->device.pid = image->pid;
	inside = idle_is_in_window(x, e, &w);
	d->device.work += inside;
	idle_take_launch(x, launch, &w);
	if (w.from && w.to >= w.from)
		return idle_put(x, d, &w);
	d->device.untimed += inside;
	return 0;
}

static int idle_see_launch(struct grt_idleness *x, const struct grt_ev_launch *e)
{
	const struct grt_submitter_piece p = {
		.from = e->begin,
		.to = e->e.time,
		.call = e->call,
		.after = e->node,
	};
	struct grt_image *image = grt_launches_image(x->launches, &e->e);

	if (!image)
		return -ENOMEM;
	return e->call ? grt_submitters_call(&x->submitters, image->pid, e->e.tid, GRT_SUBMITTER_CUDA, &p)
		       : 0;
}

/* ----------------------------------------------------------------- events */

static int idle_on_piece(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p)
{
	struct grt_idleness *x = arg;

	return p->sample ? 0 : grt_submitters_piece(&x->submitters, t->pid, t->tid, p);
}

static int idle_see_thread(struct grt_idleness *x, const struct grt_ev_thread *e)
{
	void *began;
	int ret;

	if (e->what == GRT_THREAD_MADE && e->e.pid == e->e.tid) {
		ret = grt_keyed_get_or_replace(&x->processes, &(struct grt_key){{e->e.pid}}, NULL, &began);
		if (ret)
			return ret;
		*(uint64_t *)began = e->e.time;
	}
	if (e->what != GRT_THREAD_MADE && e->what != GRT_THREAD_SEEN_ON && e->what != GRT_THREAD_SEEN_OFF)
		return 0;
	return grt_submitters_follow(&x->submitters, e->e.pid, e->e.tid, e->e.time);
}

/* Names of wakers that are not threads of the trace. */
static int idle_see_asleep(struct grt_idleness *x, const struct grt_ev_asleep *e)
{
	void *comm;
	int ret;

	if (!e->waker)
		return 0;
	ret = grt_keyed_get_or_replace(&x->wakers, &(struct grt_key){{e->waker}}, NULL, &comm);
	if (!ret)
		memcpy(comm, e->waker_comm, sizeof(e->waker_comm));
	return ret;
}

static int idle_see_ioctl(struct grt_idleness *x, const struct grt_event *e)
{
	struct grt_submitter_piece p = {.to = e->time};
	struct grt_key key = {{(uint64_t)e->pid << 32 | e->tid}};
	struct idle_call *call;
	int ret;

	if (e->type == GRT_EV_IOCTL_ENTER) {
		ret = grt_keyed_get_or_replace(&x->inside, &key, NULL, (void **)&call);
		if (!ret)
			*call = (struct idle_call){.begin = e->time};
		return ret;
	}
	call = grt_keyed_find(&x->inside, &key);
	if (!call)
		return 0;
	if (e->type == GRT_EV_CALL_STACK) {
		call->user = ((const struct grt_ev_call_stack *)e)->user;
		return 0;
	}
	p.from = call->begin;
	p.user = call->user;
	p.call = ((const struct grt_ev_ioctl_exit *)e)->cmd;
	grt_keyed_remove(&x->inside, call);
	return p.call ? grt_submitters_call(&x->submitters, e->pid, e->tid, GRT_SUBMITTER_IOCTLS, &p) : 0;
}

static int idle_see_stack(struct grt_idleness *x, const struct grt_ev_stack *e)
{
	void *id;
	int ret = grt_keyed_get_or_replace(&x->stacks, &(struct grt_key){{e->e.ctx, e->e.seqno}}, NULL, &id);

	if (!ret)
		*(uint32_t *)id = e->user;
	return ret;
}

/* Announced before it begins; where it ended otherwise, it has a second record. */
static int idle_see_window(struct grt_idleness *x, const struct grt_ev_window *e)
{
	bool of_jobs = e->of == GRT_WINDOW_JOBS && e->number && e->end > e->begin;

	return of_jobs ? grt_windows_add(&x->windows, e->begin, e->end) : 0;
}

static int idle_see_own(struct grt_idleness *x, const struct grt_event *e)
{
	int ret;

	switch (e->type) {
	case GRT_EV_THREAD:
		return idle_see_thread(x, (const struct grt_ev_thread *)e);
	case GRT_EV_ASLEEP:
		return idle_see_asleep(x, (const struct grt_ev_asleep *)e);
	case GRT_EV_LAUNCH:
		return idle_see_launch(x, (const struct grt_ev_launch *)e);
	case GRT_EV_IOCTL_ENTER:
	case GRT_EV_CALL_STACK:
	case GRT_EV_IOCTL_EXIT:
		return idle_see_ioctl(x, e);
	case GRT_EV_WINDOW:
		return idle_see_window(x, (const struct grt_ev_window *)e);
	case GRT_EV_STACK:
		return idle_see_stack(x, (const struct grt_ev_stack *)e);
	case GRT_EV_FRAME:
	case GRT_EV_STACK_END:
	case GRT_EV_FRAME_PLACE:
	case GRT_EV_FRAME_TEXT:
		ret = x->frames.text ? 0 : grt_frames_init(&x->frames);
		return ret ?: grt_frames_event(&x->frames, e);
	}
	return 0;
}

static __attribute__((noinline)) int idle_other_event(struct grt_idleness *x, const struct grt_event *e)
{
	enum grt_class class = grt_class_of[e->type];
	bool of_thread = class == GRT_CLASS_launch || class == GRT_CLASS_image || class == GRT_CLASS_thread ||
			 class == GRT_CLASS_name;
	int ret = idle_see_own(x, e);

	return ret || !of_thread ? ret : grt_threads_event(x->threads, e);
}

int grt_idleness_event(struct grt_idleness *x, const struct grt_event *e)
{
	enum grt_class class = grt_class_of[e->type];

	/* most events are of jobs or GPU work, of which all but these come when they are joined */
	if (e->type == GRT_EV_SUBMIT)
		return grt_submitters_submits(&x->submitters, e->pid, e->tid);
	if (class == GRT_CLASS_job || (class == GRT_CLASS_launch && e->type != GRT_EV_LAUNCH))
		return 0;
	return idle_other_event(x, e);
}

/* --------------------------------------------------------------- in, out */

int grt_idleness_new(struct grt_idleness **out, struct grt_launches *launches,
		     const struct grt_idleness_options *options)
{
	struct grt_idleness *x = calloc(1, sizeof(*x));
	struct grt_threads_sink threads = {.piece = idle_on_piece, .arg = x};

	*out = x;
	if (!x)
		return -ENOMEM;
	if (options)
		x->options = *options;
	x->launches = launches;
	x->last = UINT64_MAX;
	grt_submitters_init(&x->submitters);
	grt_keyed_init(&x->devices, sizeof(struct idle_device *), GRT_IDLE_DEVICES_MAX);
	grt_keyed_init(&x->by_key, sizeof(uint32_t), ROWS_ALL);
	grt_keyed_init(&x->stacks, sizeof(uint32_t), IN_FLIGHT_MAX);
	grt_keyed_init(&x->inside, sizeof(struct idle_call), IN_FLIGHT_MAX);
	grt_keyed_init(&x->processes, sizeof(uint64_t), PROCESSES_MAX);
	grt_keyed_init(&x->wakers, 17, PROCESSES_MAX);
	grt_keyed_init(&x->kernels, 1, KERNELS_MAX);
	grt_keyed_init(&x->worked, sizeof(struct grt_stack_end_sum), STACKS_MAX);
	if (!grt_threads_new(&x->threads, &threads))
		return 0;
	grt_idleness_free(x);
	*out = NULL;
	return -ENOMEM;
}

void grt_idleness_within(struct grt_idleness *x, uint64_t first, uint64_t last)
{
	x->first = first;
	x->last = last;
	grt_threads_from(x->threads, first);
}

static int idle_end_device(struct grt_idleness *x, struct idle_device *d)
{
	int ret = 0;

	while ((d->used || d->lined) && !ret)
		ret = idle_take_first(x, d);
	if (d->endless)
		d->unsure = x->last;
	ret = ret ?: idle_advance(x, d, NULL, x->last);
	d->device.last = x->last;
	return ret;
}

/*
 * Before work that waits for its launch: the launch may end a gap, and the pieces of its thread must be
 * known.
 */
int grt_idleness_read(struct grt_idleness *x)
{
	return grt_threads_flush(x->threads);
}

void grt_idleness_lacks(struct grt_idleness *x)
{
	x->lacks = true;
}

int grt_idleness_end(struct grt_idleness *x, const struct grt_names *names, uint64_t last)
{
	int ret = 0;

	x->last = last > x->first ? last : x->first;
	for (uint32_t i = 0; i < x->devices.used && !ret; i++)
		ret = idle_end_device(x, x->device[i]);
	for (uint32_t i = 0; i < x->devices.used; i++) {
		struct grt_idleness_device *d = &x->device[i]->device;

		d->least = d->untimed || d->sampled || x->lacks;
	}
	return ret ?: idle_ends_sum(x) ?: idle_name_all(x, names);
}

const struct grt_idleness_device *grt_idleness_device(const struct grt_idleness *x, uint32_t number)
{
	return number < x->devices.used ? &x->device[number]->device : NULL;
}

const struct grt_idleness_row *grt_idleness_row(const struct grt_idleness *x, uint32_t number)
{
	return number < x->rows ? &x->row[x->row[number]->as]->row : NULL;
}

uint32_t grt_idleness_rows(const struct grt_idleness *x, const struct grt_idleness_row *const **out)
{
	*out = x->listed;
	return x->listed_rows;
}

struct grt_idleness_count grt_idleness_count(const struct grt_idleness *x)
{
	const struct grt_images *images = grt_launches_images(x->launches);
	struct grt_idleness_count n = x->count;

	for (uint32_t i = 0; i < images->images; i++)
		n.chosen += images->image[i]->watch.parts != 0;
	n.chosen += x->windows.windows != 0;
	n.threads_over = x->submitters.over;
	return n;
}

void grt_idleness_free(struct grt_idleness *x)
{
	if (!x)
		return;
	for (uint32_t i = 0; i < x->devices.used; i++) {
		free(x->device[i]->line);
		free(x->device[i]->heap);
		free(x->device[i]);
	}
	for (uint32_t i = 0; i < x->rows; i++) {
		free(x->row[i]->row.place);
		free(x->row[i]->row.since);
		free(x->row[i]->row.function);
		free(x->row[i]->row.stack);
		free(x->row[i]->row.process);
		free(x->row[i]);
	}
	free(x->device);
	free(x->row);
	free(x->image);
	free(x->listed);
	grt_submitters_free(&x->submitters);
	grt_windows_free(&x->windows);
	grt_keyed_free(&x->devices);
	grt_keyed_free(&x->by_key);
	grt_keyed_free(&x->stacks);
	grt_keyed_free(&x->worked);
	grt_keyed_free(&x->inside);
	grt_keyed_free(&x->processes);
	grt_keyed_free(&x->wakers);
	grt_keyed_free(&x->kernels);
	if (x->frames.text)
		grt_frames_free(&x->frames);
	grt_image_frames_free(x->image_frames);
	grt_threads_free(x->threads);
	free(x);
}
