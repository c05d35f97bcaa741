// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Pieces are added up in rows of one (thread, state, stacks); rows become stacks
 * when the trace is over, because frames may be reported after their first use.
 */
#include "wall_flame.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "gpu_waits.h"
#include "stack/frames.h"
#include "stack/flame_shapes.h"
#include "stack/slots.h"
#include "trace/packet.h"

/**
 * struct row - @ns off the CPU, or @samples of what ran; the other one is 0
 * @work: the work for which it waited, see gpu_waits.h
 * @slot: the slot of time, 0: not requested
 */
struct row {
	uint32_t thread;
	uint32_t state;
	uint32_t user;
	uint32_t kernel;
	uint32_t work;
	uint16_t slot;
	uint64_t ns;
	uint64_t samples;
};

/**
 * struct ran - the samples of a thread, running and polling
 * @all: in the trace; @done: those that have got their time; @given: that time
 */
struct ran {
	uint64_t all[2];
	uint64_t done[2];
	uint64_t given[2];
};

struct grt_wall_flame {
	struct grt_threads *threads;
	struct grt_gpu_waits *waits;
	struct grt_frames frames;
	struct grt_slots *slots;
	struct grt_hash_key key;
	struct row *row;
	uint32_t rows, room;
	struct grt_index index;
	struct ran *ran;
	struct grt_process_names processes;
	struct grt_wall_count count;
};

static bool on_cpu(unsigned int state)
{
	return state == GRT_THREAD_RUNNING || state == GRT_THREAD_POLLING;
}

/* ---------------------------------------------------------------- rows */

static bool wall_flame_same_row(const void *owner, uint32_t id, const void *key)
{
	const struct row *r = &((const struct grt_wall_flame *)owner)->row[id], *k = key;

	return r->thread == k->thread && r->state == k->state && r->user == k->user &&
	       r->kernel == k->kernel && r->work == k->work && r->slot == k->slot;
}

static int wall_flame_new_row(struct grt_wall_flame *f, const struct row *r, uint32_t tag)
{
	if (grt_grow(&f->row, &f->room, f->rows + 1, 256))
		return -ENOMEM;
	f->row[f->rows] = *r;
	return grt_index_add(&f->index, tag, f->rows++);
}

static int wall_flame_add(struct grt_wall_flame *f, const struct row *r)
{
	uint32_t tag = grt_hash(&f->key, (uint64_t)r->thread << 32 | (uint32_t)r->slot << 16 | r->state,
				(uint64_t)r->user << 32 | (r->kernel ^ r->work << 16));
	uint32_t at = grt_index_find(&f->index, tag, wall_flame_same_row, f, r);

	if (at == GRT_NOWHERE)
		return wall_flame_new_row(f, r, tag);
	f->row[at].ns += r->ns;
	f->row[at].samples += r->samples;
	return 0;
}

/* A piece is cut where slots begin. */
static int wall_flame_add_piece(struct grt_wall_flame *f, struct row *r, uint64_t start, uint64_t to)
{
	uint64_t end;
	int ret;

	r->ns = to - start;
	if (!f->slots)
		return wall_flame_add(f, r);
	do {
		end = grt_slots_part(f->slots, start, to, &r->slot);
		r->ns = end - start;
		ret = wall_flame_add(f, r);
		start = end;
	} while (!ret && start < to);
	return ret;
}

static int on_wait_part(void *arg, const struct grt_gpu_wait *w, uint32_t work)
{
	struct row r = {.thread = w->owner[0],
			.state = w->samples ? GRT_THREAD_POLLING : GRT_THREAD_GPU,
			.user = w->owner[1],
			.kernel = w->owner[2],
			.work = work,
			.samples = w->samples};

	if (w->samples)
		return wall_flame_add_piece(arg, &r, w->from, w->from);
	return wall_flame_add_piece(arg, &r, w->from, w->to);
}

static int on_piece(void *arg, const struct grt_thread *t, const struct grt_thread_piece *p)
{
	struct row r = {.thread = t->number,
			.state = p->state,
			.user = p->user,
			.kernel = p->kernel,
			.samples = p->sample};
	struct grt_gpu_wait w = {.from = p->start,
				 .to = p->end + p->sample,
				 .call = p->call,
				 .pid = t->pid,
				 .samples = p->sample,
				 .owner = {t->number, p->user, p->kernel}};
	struct grt_wall_flame *f = arg;

	/* its samples say where the time went in which it ran */
	if (on_cpu(p->state) && !p->sample)
		return 0;
	if (p->state == (p->sample ? GRT_THREAD_POLLING : GRT_THREAD_GPU))
		return grt_gpu_waits_add(f->waits, &w);
	return wall_flame_add_piece(f, &r, p->start, p->end);
}

int grt_wall_flame_new(struct grt_wall_flame **out, uint64_t from, struct grt_slots *slots, bool compared)
{
	struct grt_wall_flame *f = calloc(1, sizeof(*f));
	struct grt_threads_sink sink = {.piece = on_piece, .arg = f};

	*out = f;
	if (!f)
		return -ENOMEM;
	f->key = grt_hash_key_new();
	f->slots = slots;
	if (!grt_frames_init(&f->frames) && !grt_threads_new(&f->threads, &sink) &&
	    !grt_gpu_waits_new(&f->waits, on_wait_part, f) &&
	    !grt_process_names_init(&f->processes, compared)) {
		grt_threads_from(f->threads, from);
		return 0;
	}
	grt_wall_flame_free(f);
	*out = NULL;
	return -ENOMEM;
}

int grt_wall_flame_event(struct grt_wall_flame *f, const struct grt_event *e)
{
	int ret = 0;

	if (grt_class_of[e->type] == GRT_CLASS_stack)
		return grt_frames_event(&f->frames, e);
	if (grt_has_trait(e, GRT_TRAIT_OF_IMAGE) || grt_class_of[e->type] == GRT_CLASS_job ||
	    e->type == GRT_EV_NAME)
		ret = grt_gpu_waits_event(f->waits, e);
	return ret ?: grt_threads_event(f->threads, e);
}

/* -------------------------------------------------------------- stacks */

/* Return: the name of the thread's process; it is written to @room if it has none. */
static const char *process_name(const struct grt_wall_flame *f, const struct grt_thread *t, char room[24])
{
	const char *name = grt_names_owner(grt_threads_names(f->threads), t->name);

	snprintf(room, 24, "pid %u", t->pid);
	return name ?: room;
}

static int wall_flame_put_thread(const struct grt_wall_flame *f, const struct grt_thread *t,
				 const struct grt_flame_shape *shape, struct grt_stacks *tree, uint32_t *node)
{
	const struct grt_flame_op op = {.device = GRT_FLAME_NO_DEVICE, .pid = t->pid};
	const char *name = grt_names_name(grt_threads_names(f->threads), t->name), *text;
	char pid[24], room[320], thread[64];
	const char *process = process_name(f, t, pid);
	int ret = grt_process_names_text(&f->processes, process, strlen(process), t->pid, room, &text);

	*node = GRT_STACKS_ROOT;
	if (ret >= 0 && shape->all)
		ret = grt_flame_labels(tree, shape, &op, node);
	ret = ret < 0 ? ret : grt_stacks_word(tree, text, node);
	if (ret || shape->by == GRT_FLAME_BY_PROCESS)
		return ret;
	snprintf(thread, sizeof(thread), "%s (%u)", name ? name : "tid", t->tid);
	return grt_stacks_word(tree, thread, node);
}

static int wall_flame_see_processes(struct grt_wall_flame *f)
{
	const struct grt_thread *t;
	char pid[24];
	int ret = 0;

	for (uint32_t i = 0; !ret && (t = grt_threads_at(f->threads, i)); i++) {
		const char *name = process_name(f, t, pid);

		if (!t->tracer && t->last > t->first)
			ret = grt_process_names_see(&f->processes, name, strlen(name), t->pid);
	}
	return ret;
}

static int put_state(struct grt_stacks *tree, uint32_t *node, unsigned int state)
{
	char text[32];

	snprintf(text, sizeof(text), "[%s]", grt_thread_state_name(state));
	return grt_stacks_word(tree, text, node);
}

/* The share of samples in the time of their thread; the remainder is carried on. */
static uint64_t wall_flame_share(struct ran *r, const struct grt_thread *t, const struct row *row)
{
	unsigned int i = row->state == GRT_THREAD_POLLING;
	uint64_t upto;

	r->done[i] += row->samples;
	upto = (uint64_t)((unsigned __int128)t->ns[row->state] * r->done[i] / r->all[i]) - r->given[i];
	r->given[i] += upto;
	return upto;
}

static int wall_flame_put_row(struct grt_wall_flame *f, const struct row *row,
			      const struct grt_flame_shape *shape, struct grt_stacks *tree,
			      enum grt_stacks_side side)
{
	const struct grt_thread *t = grt_threads_at(f->threads, row->thread);
	uint64_t ns = row->samples ? wall_flame_share(&f->ran[row->thread], t, row) : row->ns;
	uint32_t node;
	int ret;

	if (!ns)
		return 0;
	if (!row->user)
		f->count.no_stack_ns += ns;
	ret = wall_flame_put_thread(f, t, shape, tree, &node);
	if (!ret)
		ret = grt_frames_put(&f->frames, row->user, shape->places, tree, &node);
	if (!ret)
		ret = grt_frames_put(&f->frames, row->kernel, shape->places, tree, &node);
	if (!ret)
		ret = put_state(tree, &node, row->state);
	if (!ret && row->work)
		ret = grt_gpu_waits_put(f->waits, row->work, tree, &node);
	f->count.gpu_work_ns += row->work ? ns : 0;
	if (!ret && f->slots)
		ret = grt_slots_add(f->slots, node, row->slot, ns);
	return ret ? ret : grt_stacks_add(tree, node, side, ns);
}

/* Adds time in which a thread ran and was not sampled. */
static int put_not_sampled(struct grt_wall_flame *f, const struct grt_thread *t, unsigned int state,
			   const struct grt_flame_shape *shape, struct grt_stacks *tree,
			   enum grt_stacks_side side)
{
	uint32_t node;
	int ret;

	if (!t->ns[state] || f->ran[t->number].all[state == GRT_THREAD_POLLING])
		return 0;
	f->count.not_sampled_ns += t->ns[state];
	ret = wall_flame_put_thread(f, t, shape, tree, &node);
	if (!ret)
		ret = grt_stacks_word(tree, "[not sampled]", &node);
	if (!ret)
		ret = put_state(tree, &node, state);
	if (!ret && f->slots)
		ret = grt_slots_add(f->slots, node, GRT_SLOTS_NEVER, t->ns[state]);
	return ret ? ret : grt_stacks_add(tree, node, side, t->ns[state]);
}

static int put_thread_rest(struct grt_wall_flame *f, const struct grt_thread *t,
			   const struct grt_flame_shape *shape, struct grt_stacks *tree,
			   enum grt_stacks_side side)
{
	int ret;

	if (t->tracer || t->gone)
		return 0;
	ret = put_not_sampled(f, t, GRT_THREAD_RUNNING, shape, tree, side);
	f->count.threads++;
	f->count.samples += t->samples;
	for (unsigned int i = 0; i < GRT_THREAD_STATES; i++)
		f->count.ns[i] += t->ns[i];
	return ret ? ret : put_not_sampled(f, t, GRT_THREAD_POLLING, shape, tree, side);
}

static int count_samples(struct grt_wall_flame *f)
{
	uint32_t threads = 0;

	while (grt_threads_at(f->threads, threads))
		threads++;
	f->ran = calloc(threads + 1, sizeof(*f->ran));
	for (uint32_t i = 0; f->ran && i < f->rows; i++)
		f->ran[f->row[i].thread].all[f->row[i].state == GRT_THREAD_POLLING] += f->row[i].samples;
	return f->ran ? 0 : -ENOMEM;
}

int grt_wall_flame_tree(struct grt_wall_flame *f, const struct grt_flame_shape *shape,
			struct grt_stacks *tree, enum grt_stacks_side side)
{
	int ret = grt_threads_flush(f->threads) ?: grt_gpu_waits_flush(f->waits) ?: count_samples(f) ?: wall_flame_see_processes(f);
	const struct grt_thread *t;

	for (uint32_t i = 0; i < f->rows && !ret; i++)
		ret = wall_flame_put_row(f, &f->row[i], shape, tree, side);
	for (uint32_t i = 0; !ret && (t = grt_threads_at(f->threads, i)); i++)
		ret = put_thread_rest(f, t, shape, tree, side);
	return ret;
}

struct grt_wall_count grt_wall_flame_count(const struct grt_wall_flame *f)
{
	struct grt_wall_count count = f->count;

	count.seen = grt_threads_count(f->threads);
	count.dropped = f->frames.dropped;
	count.waits = grt_gpu_waits_count(f->waits);
	return count;
}

void grt_wall_flame_free(struct grt_wall_flame *f)
{
	if (!f)
		return;
	grt_threads_free(f->threads);
	grt_gpu_waits_free(f->waits);
	grt_process_names_free(&f->processes);
	grt_frames_free(&f->frames);
	grt_index_free(&f->index);
	free(f->row);
	free(f->ran);
	free(f);
}
