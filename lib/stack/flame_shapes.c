// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The options of a flame graph, see flame_shapes.h. */
#include "flame_shapes.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>

#include "base/containers.h"

/* --------------------------------------------------------- process names */

int grt_process_names_init(struct grt_process_names *p, bool alone)
{
	*p = (struct grt_process_names){.alone = alone};
	return grt_stacks_new(&p->text);
}

int grt_process_names_see(struct grt_process_names *p, const char *name, size_t len, uint32_t pid)
{
	uint32_t number;
	int ret = grt_stacks_name(p->text, name, len, &number);

	if (!ret)
		ret = grt_grow_zeroed(&p->name, &p->room, number + 1, 16);
	if (ret)
		return ret;
	if (number >= p->names) {
		p->names = number + 1;
		p->name[number].pid = pid;
	}
	p->name[number].several |= p->name[number].pid != pid;
	return 0;
}

int grt_process_names_text(const struct grt_process_names *p, const char *name, size_t len, uint32_t pid,
			   char room[320], const char **text)
{
	uint32_t number;
	int ret = grt_stacks_name(p->text, name, len, &number);

	*text = name;
	if (ret || p->alone || number >= p->names || !p->name[number].several)
		return ret ?: (int)len;
	*text = room;
	return snprintf(room, 320, "%.*s (%u)", len < 300 ? (int)len : 300, name, pid);
}

void grt_process_names_free(struct grt_process_names *p)
{
	grt_stacks_free(p->text);
	free(p->name);
	*p = (struct grt_process_names){.text = NULL};
}

/* ---------------------------------------------------------- flame shapes */

const char *const grt_flame_by_words[] = {
#define GRT_FLAME_BY(NAME, name, help) #name,
#include "flame_shapes.def"
	NULL,
};

const char *const grt_flame_weight_words[] = {
#define GRT_FLAME_WEIGHT(NAME, name, unit, help) #name,
#include "flame_shapes.def"
	NULL,
};

const char *const grt_flame_only_words[] = {
#define GRT_FLAME_ONLY(NAME, name, help) #name,
#include "flame_shapes.def"
	NULL,
};

static const char *const units[] = {
	"ns",
#define GRT_FLAME_WEIGHT(NAME, name, unit, help) unit,
#include "flame_shapes.def"
};

const char *grt_flame_unit(const struct grt_flame_shape *shape)
{
	return units[shape->weight];
}

bool grt_flame_wanted(const struct grt_flame_shape *shape, const struct grt_flame_op *op)
{
	return shape->only == GRT_FLAME_ONLY_ALL || op->copy == (shape->only == GRT_FLAME_ONLY_COPIES);
}

uint64_t grt_flame_weight_of(const struct grt_flame_shape *shape, const struct grt_flame_op *op)
{
	const uint64_t weight[] = {
		[GRT_FLAME_WEIGHT_NONE] = op->ns,
		[GRT_FLAME_WEIGHT_TIME] = op->ns,
		[GRT_FLAME_WEIGHT_WALL] = 0, /* it is no GPU's: wall_flame.h */
		[GRT_FLAME_WEIGHT_LAUNCHES] = op->launches,
		[GRT_FLAME_WEIGHT_BYTES] = op->bytes,
		[GRT_FLAME_WEIGHT_SAMPLES] = 0, /* they are of lines: sample_shares.h */
		[GRT_FLAME_WEIGHT_STALLS] = 0,
		[GRT_FLAME_WEIGHT_LIVE] = 0, /* these are of memory: allocations.c */
		[GRT_FLAME_WEIGHT_PEAK] = 0,
	};

	return weight[shape->weight];
}

bool grt_flame_is_sampled(const struct grt_flame_shape *shape)
{
	return shape->weight == GRT_FLAME_WEIGHT_SAMPLES || shape->weight == GRT_FLAME_WEIGHT_STALLS;
}

static int numbered(struct grt_stacks *s, const char *what, uint64_t number, bool known, uint32_t *node)
{
	char text[64];
	int n = known ? snprintf(text, sizeof(text), "[GPU %s %llu]", what, (unsigned long long)number)
		      : snprintf(text, sizeof(text), "[no %s]", what);

	return grt_stacks_frame(s, GRT_STACKS_ROOT, text, (size_t)n, node);
}

static int flame_of_device(struct grt_stacks *s, const struct grt_flame_op *op, uint32_t *node)
{
	char text[64];
	int n;

	if (!op->gpu)
		return numbered(s, "device", op->device, op->device != GRT_FLAME_NO_DEVICE, node);
	n = snprintf(text, sizeof(text), "[GPU device %s]", op->gpu);
	return grt_stacks_frame(s, GRT_STACKS_ROOT, text, (size_t)n, node);
}

int grt_flame_add(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		  enum grt_stacks_side side, uint32_t node)
{
	int ret = grt_stacks_add(s, node, side, grt_flame_weight_of(shape, op));

	if (!ret && shape->all)
		ret = grt_stacks_add(s, node, GRT_STACKS_LAUNCHES, op->launches);
	if (!ret && shape->all)
		ret = grt_stacks_add(s, node, GRT_STACKS_BYTES, op->bytes);
	return ret;
}

/* A number, where it is one. */
static int flame_label(struct grt_stacks *s, uint64_t number, bool known, uint32_t *node)
{
	char text[24];

	snprintf(text, sizeof(text), known ? "%llu" : "-", (unsigned long long)number);
	return grt_stacks_word(s, text, node);
}

int grt_flame_labels(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		     uint32_t *node)
{
	const char *cgroup = shape->cgroup ? shape->cgroup(shape->cgroups, op->pid) : NULL;
	int ret = op->gpu ? grt_stacks_word(s, op->gpu, node)
			  : flame_label(s, op->device, op->device != GRT_FLAME_NO_DEVICE, node);

	if (!ret)
		ret = op->queue_len ? grt_stacks_frame(s, *node, op->queue, op->queue_len, node)
				    : grt_stacks_word(s, "-", node);
	if (!ret)
		ret = flame_label(s, op->graph, op->graph, node);
	if (!ret)
		ret = grt_stacks_word(s, op->range && *op->range ? op->range : "-", node);
	if (!ret)
		ret = flame_label(s, op->rank, op->ranked, node);
	return ret ?: grt_stacks_word(s, cgroup ?: "-", node);
}

int grt_flame_base(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		   uint32_t *node)
{
	*node = GRT_STACKS_ROOT;
	if (shape->all)
		return grt_flame_labels(s, shape, op, node);
	if (shape->by == GRT_FLAME_BY_PROCESS)
		return grt_stacks_frame(s, *node, op->process, op->process_len, node);
	if (shape->by == GRT_FLAME_BY_STREAM)
		return grt_stacks_frame(s, *node, op->queue, op->queue_len, node);
	if (shape->by == GRT_FLAME_BY_DEVICE)
		return flame_of_device(s, op, node);
	if (shape->by == GRT_FLAME_BY_GRAPH)
		return numbered(s, "graph", op->graph, op->graph, node);
	return 0;
}

const char *grt_flame_gpu(char room[GRT_FLAME_GPU], uint32_t device)
{
	if (device == GRT_FLAME_NO_DEVICE)
		snprintf(room, GRT_FLAME_GPU, "GPU");
	else
		snprintf(room, GRT_FLAME_GPU, "GPU%u", device);
	return room;
}

int grt_flame_put_leaf(struct grt_stacks *s, enum grt_flame_leaf leaf, const char *gpu, const char *name,
		       size_t len, uint32_t *node)
{
	char *text;
	int n, ret;

	if (leaf == GRT_FLAME_LEAF_KERNEL)
		n = asprintf(&text, "[%s_Kernel]%.*s", gpu, (int)len, name);
	else if (leaf == GRT_FLAME_LEAF_COPY)
		n = asprintf(&text, "[%s_Memcpy %.*s]", gpu, (int)len, name);
	else if (leaf == GRT_FLAME_LEAF_SET)
		n = asprintf(&text, "[%s_Memset]", gpu);
	else
		n = asprintf(&text, "[GPU_Launch_Pending]");
	if (n < 0)
		return -ENOMEM;
	ret = grt_stacks_frame(s, *node, text, (size_t)n, node);
	free(text);
	return ret;
}

size_t grt_flame_queue(char room[GRT_FLAME_QUEUE], const char *ring, const char *gpu)
{
	bool named = ring && *ring, several = gpu && *gpu;

	return (size_t)snprintf(room, GRT_FLAME_QUEUE, "[GPU%s%.64s%s%.64s]", named ? " " : "",
				named ? ring : "", several ? " of " : "", several ? gpu : "");
}

size_t grt_flame_put_stream(char room[48], uint32_t device, uint32_t stream)
{
	return (size_t)snprintf(room, 48, "[GPU %u stream %u]", device, stream);
}
