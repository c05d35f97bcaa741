// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Stacks of CUDA's launches as Perfetto's stack samples. Each kernel, copy and fill whose launch has a stack
 * is a sample at the time of the call; its weight is the GPU time of the work. The innermost frame is the
 * work itself, as in `grtrace flame`. So Perfetto draws a flame graph of GPU time by code for any part of the
 * trace. All samples are on one sequence, so that each stack is defined once. The memory is that of
 * cuda/launches.h, and of the different stacks.
 */
#include <errno.h>
#include <stdlib.h>

#include "base/containers.h"
#include "cuda/launches.h"
#include "perfetto_parts.h"
#include "stack/flame_shapes.h"
#include "stack/image_frames.h"
#include "trace/packet.h"

/* stack_sample.proto */
enum { SAMPLE_TASK = 1, SAMPLE_CALLSTACK_IID = 6, SAMPLE_WEIGHT = 11 };
enum { TASK_PID = 2, TASK_TID = 3 };
enum { SAMPLES_SOURCE = 1, SAMPLES_COUNTER = 2 };
enum { COUNTER_NAME = 2, COUNTER_UNIT = 3, UNIT_NANOSECONDS = 1 };
/* profile_common.proto */
enum { FRAME_FUNCTION = 2 };
enum { CALLSTACK_FRAMES = 2 };

/* Number of recent pairs of stack and work that are remembered; the stacks of older pairs are built again. */
#define FOUND_MAX 262144U
/* Of these, copies of the most recent ones are found by a simple hash. */
#define FOUND_NEAR 65536U

/** struct near_stack - a pair as in struct perfetto_stacks; @at: number of its node, which is a callstack; 0:
 * none */
struct near_stack {
	uint32_t image;
	uint32_t node;
	uint32_t type;
	uint32_t name;
	uint32_t at;
};

/* Maximum size of an encoded thread; this many bytes are always copied. */
#define TASK_MAX 32U
/* The same for what begins each sample. */
#define HEAD_MAX 16U

/* Number of threads whose encoded form is remembered, by a simple hash. */
#define TASKS 16U

/** struct perfetto_task - an encoded thread; @used: 0: none is here */
struct perfetto_task {
	uint32_t pid;
	uint32_t tid;
	uint8_t used;
	uint8_t bytes[TASK_MAX];
};

/**
 * struct perfetto_stacks - the samples
 * @tree: all stacks; a node is a callstack
 * @found: maps process image, stack and work to the number of the node
 * @near: those that came last
 * @stacks, @frames: nodes and frames that are interned
 * @path: frames of a stack, innermost first
 * @samples: number of them
 */
struct perfetto_stacks {
	struct perfetto *to;
	struct grt_launches *launches;
	struct grt_image_frames *image_frames;
	struct grt_stacks *tree;
	struct grt_keyed found;
	struct near_stack near[FOUND_NEAR];
	struct perfetto_seen stacks;
	struct perfetto_seen frames;
	uint32_t *path;
	uint32_t room;
	uint64_t samples;
	bool begun;
};

/**
 * struct perfetto_samples - what samples are written with, by the thread that draws
 * @head, @head_bytes: the beginning of each sample, up to the key of its time
 * @task: threads of the last samples
 */
struct perfetto_samples {
	uint8_t head[HEAD_MAX];
	uint8_t head_bytes;
	struct perfetto_task task[TASKS];
};

static uint8_t *begin_stack_packet(uint8_t *p, uint8_t **packet, unsigned int flags)
{
	*packet = p = grt_pb_open(p, TRACE_PACKET);
	p = grt_pb_number(p, PACKET_SEQUENCE_ID, STACK_SEQUENCE);
	return grt_pb_number(p, PACKET_SEQUENCE_FLAGS, flags);
}

static void set_head(struct perfetto_samples *s)
{
	uint8_t *p = grt_pb_number(s->head, PACKET_SEQUENCE_ID, STACK_SEQUENCE);

	p = grt_pb_number(p, PACKET_SEQUENCE_FLAGS, NEEDS_STATE);
	s->head_bytes = (uint8_t)(grt_pb_key(p, PACKET_TIMESTAMP, GRT_PB_VARINT) - s->head);
}

/* Writes the defaults of the samples' sequence, with their unit and clock, before the first sample. */
static int begin_stacks(struct perfetto_stacks *s)
{
	uint8_t *p = perfetto_later_room(s->to, 256), *packet, *defaults, *samples, *counter;

	if (!p)
		return perfetto_later_settle(s->to);
	s->begun = true;
	p = begin_stack_packet(p, &packet, STATE_CLEARED);
	p = grt_pb_number(p, PACKET_FIRST_ON_SEQUENCE, 1);
	defaults = p = grt_pb_open(p, PACKET_DEFAULTS);
	p = grt_pb_number(p, DEFAULTS_CLOCK_ID, MONOTONIC);
	samples = p = grt_pb_open(p, DEFAULTS_STACK_SAMPLE);
	p = grt_pb_bytes(p, SAMPLES_SOURCE, "grtrace", 7);
	counter = p = grt_pb_open(p, SAMPLES_COUNTER);
	p = grt_pb_bytes(p, COUNTER_NAME, "GPU time", 8);
	p = grt_pb_number(p, COUNTER_UNIT, UNIT_NANOSECONDS);
	p = grt_pb_close(samples, grt_pb_close(counter, p));
	return perfetto_later_take(s->to, grt_pb_close(packet, grt_pb_close(defaults, p)));
}

/* ---------------------------------------------------------------- interned */

/* Interns a frame and its function; both get the number of the function's text. */
static int put_frame(struct perfetto_stacks *s, uint32_t name)
{
	uint8_t *p = perfetto_later_room(s->to, 4 * TEXT_MAX), *packet, *data, *frame;
	size_t len;
	const char *text = grt_stacks_text(s->tree, name, &len);

	if (!p)
		return perfetto_later_settle(s->to);
	p = begin_stack_packet(p, &packet, NEEDS_STATE);
	data = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	p = perfetto_put_interned(p, INTERNED_FUNCTION_NAMES, name + 1ULL, text, len);
	frame = p = grt_pb_open(p, INTERNED_FRAMES);
	p = grt_pb_number(p, INTERNED_IID, name + 1ULL);
	p = grt_pb_number(p, FRAME_FUNCTION, name + 1ULL);
	p = grt_pb_close(data, grt_pb_close(frame, p));
	return perfetto_later_take(s->to, grt_pb_close(packet, p));
}

/* Collects the frames of a stack in @path. Return: their number, or a negative errno */
static int stack_path(struct perfetto_stacks *s, uint32_t node)
{
	const struct grt_stacks_node *n;
	uint32_t used = 0;
	int known, ret = 0;

	for (; node != GRT_STACKS_ROOT && !ret; node = n->parent) {
		n = grt_stacks_node(s->tree, node);
		if (grt_grow(&s->path, &s->room, used + 1, 64))
			return -ENOMEM;
		s->path[used++] = n->name;
		known = perfetto_sees(&s->frames, n->name);
		ret = known < 0 ? known : known ? 0 : put_frame(s, n->name);
	}
	return ret ? ret : (int)used;
}

static int put_callstack(struct perfetto_stacks *s, uint32_t node)
{
	int frames = stack_path(s, node);
	uint8_t *p, *packet, *data, *stack;

	if (frames < 0)
		return frames;
	p = perfetto_later_room(s->to, 256 + (size_t)frames * GRT_PB_NUMBER_MAX);
	if (!p)
		return perfetto_later_settle(s->to);
	p = begin_stack_packet(p, &packet, NEEDS_STATE);
	data = p = grt_pb_open(p, PACKET_INTERNED_DATA);
	stack = p = grt_pb_open(p, INTERNED_CALLSTACKS);
	p = grt_pb_number(p, INTERNED_IID, node);
	while (frames--)
		p = grt_pb_number(p, CALLSTACK_FRAMES, s->path[frames] + 1ULL);
	p = grt_pb_close(data, grt_pb_close(stack, p));
	return perfetto_later_take(s->to, grt_pb_close(packet, p));
}

_Static_assert(256 + GRT_STACKS_DEPTH_MAX * GRT_PB_NUMBER_MAX < GRT_OUTBUF_ROOM,
	       "the deepest stack has room");

/* ----------------------------------------------------------------- samples */

/* Builds the node of a stack with the work as its innermost frame. Return: 0 or -ENOMEM */
static int stack_of(struct perfetto_stacks *s, const struct grt_event *e, const struct grt_image *image,
		    uint32_t node, uint32_t *at)
{
	const struct grt_ev_gpu_kernel *k = (const struct grt_ev_gpu_kernel *)e;
	const struct grt_ev_gpu_copy *c = (const struct grt_ev_gpu_copy *)e;
	bool kernel = e->type == GRT_EV_GPU_KERNEL;
	enum grt_flame_leaf leaf = kernel		     ? GRT_FLAME_LEAF_KERNEL
				   : c->kind == GRT_CUDA_SET ? GRT_FLAME_LEAF_SET
							     : GRT_FLAME_LEAF_COPY;
	const char *text = kernel ? "" : grt_cuda_copy_name(c->kind);
	size_t len = strlen(text);
	int ret;

	*at = GRT_STACKS_ROOT;
	ret = grt_image_frames_put(s->image_frames, image, node, false, s->tree, at);
	if (!ret && kernel)
		ret = grt_image_kernel_name(s->image_frames, image, k->name, &text, &len);
	return ret ?: grt_flame_put_leaf(s->tree, leaf, "GPU", text, len, at);
}

/*
 * Looks the node up among those that were built before, or builds it, and defines it as a callstack
 * @wanted: without @at. Return: 0 or a negative errno
 */
static __attribute__((noinline)) int find_stack(struct perfetto_stacks *s, const struct grt_event *e,
						const struct grt_image *image,
						const struct near_stack *wanted, struct near_stack *near)
{
	struct grt_key key = {{image->number, wanted->node, wanted->type, wanted->name}};
	void *found;
	int known, ret = grt_keyed_get_or_replace(&s->found, &key, NULL, &found);

	near->at = 0;
	if (!ret && !*(uint32_t *)found)
		ret = stack_of(s, e, image, wanted->node, found);
	if (ret)
		return ret;
	known = perfetto_sees(&s->stacks, *(uint32_t *)found);
	ret = known < 0 ? known : known ? 0 : put_callstack(s, *(uint32_t *)found);
	*near = *wanted;
	near->at = ret ? 0 : *(uint32_t *)found;
	return ret;
}

static inline struct near_stack *near_place(struct perfetto_stacks *s, const struct near_stack *wanted)
{
	return &s->near[(wanted->node * 31 + wanted->name) % FOUND_NEAR];
}

static inline bool is_near(const struct near_stack *near, const struct near_stack *wanted)
{
	return near->at && near->node == wanted->node && near->name == wanted->name &&
	       near->image == wanted->image && near->type == wanted->type;
}

static __attribute__((noinline)) void set_task(struct perfetto_task *t, uint32_t pid, uint32_t tid)
{
	uint8_t *task, *p = grt_pb_open(t->bytes, SAMPLE_TASK);

	task = p;
	p = grt_pb_number(p, TASK_PID, pid);
	p = grt_pb_close(task, grt_pb_number(p, TASK_TID, tid));
	t->used = (uint8_t)(p - t->bytes);
	t->pid = pid;
	t->tid = tid;
}

static uint8_t *put_task(struct perfetto_samples *s, uint8_t *p, uint32_t pid, uint32_t tid)
{
	struct perfetto_task *t = &s->task[tid % TASKS];

	if (!t->used || t->pid != pid || t->tid != tid)
		set_task(t, pid, tid);
	memcpy(p, t->bytes, sizeof(t->bytes));
	return p + t->used;
}

int perfetto_put_sample(struct perfetto *f, const struct perfetto_sample *sample)
{
	struct perfetto_samples *s = f->samples;
	uint8_t *p = perfetto_room(f, 256), *packet, *start;

	packet = p = grt_pb_open(p, TRACE_PACKET);
	memcpy(p, s->head, sizeof(s->head));
	p = grt_pb_wide(p + s->head_bytes, sample->time);
	start = p = grt_pb_open(p, PACKET_STACK_SAMPLE);
	p = put_task(s, p, sample->pid, sample->tid);
	p = grt_pb_number(p, SAMPLE_CALLSTACK_IID, sample->node);
	p = grt_pb_number(p, SAMPLE_WEIGHT, sample->weight);
	return perfetto_take(f, grt_pb_close(packet, grt_pb_close(start, p)));
}

static int on_stack_work(void *arg, const struct grt_event *e, const struct grt_image *image,
			 const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_ev_gpu_kernel *x = (const struct grt_ev_gpu_kernel *)e;
	struct perfetto_stacks *s = arg;
	struct near_stack wanted, *near;
	int ret;

	if (e->type == GRT_EV_GPU_SYNC || !launch || !launch->node || !x->start || x->end < x->start)
		return 0;
	ret = s->begun ? 0 : begin_stacks(s);
	wanted = (struct near_stack){
		image->number, launch->node, e->type,
		e->type == GRT_EV_GPU_KERNEL ? x->name : ((const struct grt_ev_gpu_copy *)e)->kind, 0};
	near = near_place(s, &wanted);
	if (!ret && !is_near(near, &wanted))
		ret = find_stack(s, e, image, &wanted, near);
	s->samples++;
	return ret
		       ?: perfetto_later_sample(s->to, &(struct perfetto_sample){.time = launch->begin,
										 .weight = x->end - x->start,
										 .node = near->at,
										 .pid = e->pid,
										 .tid = launch->tid});
}

int perfetto_stacks_new(struct perfetto_stacks **out, struct perfetto *f)
{
	struct perfetto_stacks *s = *out = calloc(1, sizeof(*s));
	const struct grt_launches_sink sink = {.work = on_stack_work, .arg = s};

	f->samples = calloc(1, sizeof(*f->samples));
	if (!s || !f->samples)
		return -ENOMEM;
	s->to = f;
	set_head(f->samples);
	grt_keyed_init(&s->found, sizeof(uint32_t), FOUND_MAX);
	if (grt_launches_new(&s->launches, &sink))
		return -ENOMEM;
	grt_launches_without_stacks(s->launches);
	return grt_image_frames_new(&s->image_frames) ?: grt_stacks_new(&s->tree);
}

void perfetto_stacks_within(struct perfetto_stacks *s, uint64_t from, uint64_t to)
{
	grt_launches_within(s->launches, from, to);
}

int perfetto_stacks_event(struct perfetto_stacks *s, const struct grt_event *e)
{
	return grt_has_trait(e, GRT_TRAIT_OF_IMAGE) ? grt_launches_event(s->launches, e) : 0;
}

int perfetto_stacks_end(struct perfetto_stacks *s)
{
	return grt_launches_flush_work(s->launches);
}

uint64_t perfetto_stacks_samples(const struct perfetto_stacks *s)
{
	return s->samples;
}

void perfetto_stacks_free(struct perfetto_stacks *s)
{
	if (!s)
		return;
	grt_launches_free(s->launches);
	grt_image_frames_free(s->image_frames);
	grt_stacks_free(s->tree);
	grt_keyed_free(&s->found);
	free(s->stacks.bits);
	free(s->frames.bits);
	free(s->path);
	free(s);
}
