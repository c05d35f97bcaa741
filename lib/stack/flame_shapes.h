/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The choices of flame_shapes.def, applied to one thing that a GPU did: whether
 * it is in the graph, what it weighs, and on what it stands.
 */
#ifndef GRT_STACK_FLAME_SHAPES_H
#define GRT_STACK_FLAME_SHAPES_H

#include "stacks.h"

/* Numbers of the words; 0: none was given. */
enum grt_flame_by {
	GRT_FLAME_BY_NONE,
#define GRT_FLAME_BY(NAME, name, help) GRT_FLAME_BY_##NAME,
#include "flame_shapes.def"
};

enum grt_flame_weight {
	GRT_FLAME_WEIGHT_NONE,
#define GRT_FLAME_WEIGHT(NAME, name, unit, help) GRT_FLAME_WEIGHT_##NAME,
#include "flame_shapes.def"
};

/** enum grt_flame_ranges - frames of NVTX's ranges: by name without numbers, with them, or none */
enum grt_flame_ranges { GRT_FLAME_RANGES_FOLDED, GRT_FLAME_RANGES_FULL, GRT_FLAME_RANGES_NONE };

enum grt_flame_only {
	GRT_FLAME_ONLY_ALL,
#define GRT_FLAME_ONLY(NAME, name, help) GRT_FLAME_ONLY_##NAME,
#include "flame_shapes.def"
};

/* By number from 1; ended by NULL. */
extern const char *const grt_flame_by_words[];
extern const char *const grt_flame_weight_words[];
extern const char *const grt_flame_only_words[];

/** struct grt_flame_shape - the choices; all zero: time, everything, on the frame that the source has of
 * itself; @compared: with another trace, whose processes have other pids: processes of one name are one
 * frame;
 * @places: the text of a frame has its line, for programs that read it there
 * @all: for programs that show several weights: below the root, a stack begins with GRT_FLAME_LABELS frames,
 *each what its word says, "-": unknown or none; launches, bytes and all time of threads are added, on sides
 *of their own. Without @by and @weight
 * @cgroup: the control group of a process, NULL: unknown; NULL: of none is it known. @cgroups: for it
 */
#define GRT_FLAME_LABELS 6U
#define GRT_FLAME_LABEL_WORDS "device stream graph range rank cgroup"
struct grt_flame_shape {
	enum grt_flame_by by;
	enum grt_flame_weight weight;
	enum grt_flame_only only;
	enum grt_flame_ranges ranges;
	bool compared;
	bool places;
	bool all;
	const char *(*cgroup)(const void *cgroups, uint32_t pid);
	const void *cgroups;
};

/* Not known, in struct grt_flame_op. */
#define GRT_FLAME_NO_DEVICE UINT32_MAX

/**
 * struct grt_flame_op - one thing, or several of a kind, that a GPU did
 * @process: name, not terminated; @process_len 0: unknown
 * @queue: the ring or stream as a frame, not terminated
 * @device: number of the GPU, or GRT_FLAME_NO_DEVICE
 * @gpu: its name, where a number does not say which it is; NULL: none
 * @graph: 0: of none
 * @copy: it is a copy or a fill
 * @pid: of the process; @rank: in its job, where it is @ranked
 * @range: names of NVTX's ranges, outermost first, with / between; "" or NULL: none
 */
struct grt_flame_op {
	const char *process;
	size_t process_len;
	const char *queue;
	size_t queue_len;
	uint32_t device;
	const char *gpu;
	uint64_t graph;
	bool copy;
	bool ranked;
	uint32_t rank;
	uint32_t pid;
	const char *range;
	uint64_t ns;
	uint64_t launches;
	uint64_t bytes;
};

/** grt_flame_unit - of the weights, for struct grt_flamegraph_look */
const char *grt_flame_unit(const struct grt_flame_shape *shape);

/** grt_flame_wanted - whether it is in the graph */
bool grt_flame_wanted(const struct grt_flame_shape *shape, const struct grt_flame_op *op);

/** grt_flame_weight_of - what it weighs there */
uint64_t grt_flame_weight_of(const struct grt_flame_shape *shape, const struct grt_flame_op *op);

/** grt_flame_is_sampled - whether its weights are PC samples */
bool grt_flame_is_sampled(const struct grt_flame_shape *shape);

/** grt_flame_add - its weight to the stack that ends in @node, on @side; all of its weights, where these are
 * wanted. Return: as grt_stacks_add() */
int grt_flame_add(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		  enum grt_stacks_side side, uint32_t node);

/** grt_flame_labels - frames of GRT_FLAME_LABEL_WORDS below *@node. Return: 0 or -ENOMEM */
int grt_flame_labels(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		     uint32_t *node);

/** grt_flame_base - the node that its stack stands on. Return: 0 or -ENOMEM */
int grt_flame_base(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		   uint32_t *node);

/** enum grt_flame_leaf - what a stack ends in */
enum grt_flame_leaf {
	GRT_FLAME_LEAF_KERNEL,
	GRT_FLAME_LEAF_COPY,
	GRT_FLAME_LEAF_SET,
	GRT_FLAME_LEAF_JOB,	/* a ring's: grt_flame_queue() */
	GRT_FLAME_LEAF_PENDING, /* a launch that nothing came of */
	GRT_FLAME_LEAF_CALL,	/* a function was called: it has no leaf */
};

/* Room for what a leaf has for its device. */
#define GRT_FLAME_GPU 24

/** grt_flame_gpu - that of a device by its number; GRT_FLAME_NO_DEVICE: the trace has only one */
const char *grt_flame_gpu(char room[GRT_FLAME_GPU], uint32_t device);

/* Room for a ring as a frame. */
#define GRT_FLAME_QUEUE 160

/** grt_flame_queue - a ring as a frame, "[GPU gfx]"; @ring: its name, NULL or "": unknown; @gpu: NULL or "":
 * there is one. Return: its length */
size_t grt_flame_queue(char room[GRT_FLAME_QUEUE], const char *ring, const char *gpu);

/**
 * grt_flame_put_leaf - the frame of what CUDA's GPU did: "[GPU_Kernel]name", "[GPU_Memcpy HtoD]"
 * @gpu: what did it: "GPU" where the trace has only one device, "GPU1", "GPU-8f3a04c2"
 * @name: of the kernel, or of the copy's direction; not terminated
 * @node: that it stands on; becomes its own
 * Return: 0 or -ENOMEM
 */
int grt_flame_put_leaf(struct grt_stacks *s, enum grt_flame_leaf leaf, const char *gpu, const char *name,
		       size_t len, uint32_t *node);

/** grt_flame_put_stream - writes the frame of a stream of CUDA's for struct grt_flame_op.queue. Return: its
 * length */
size_t grt_flame_put_stream(char room[48], uint32_t device, uint32_t stream);

#endif /* GRT_STACK_FLAME_SHAPES_H */
