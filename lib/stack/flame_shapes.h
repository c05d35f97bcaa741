/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The choices of flame_shapes.def, applied to a piece of GPU work: whether it is in the graph, its weight,
 * and the frames under which it is drawn.
 */
#ifndef GRT_STACK_FLAME_SHAPES_H
#define GRT_STACK_FLAME_SHAPES_H

#include <stdbool.h>

#include "stacks.h"

/*
 * Processes as frames: the name of the process, or "name (pid)" if several processes of a trace have the
 * name. In a comparison of two traces, whose pids differ, the frame is always the name.
 */

/** struct grt_process_names - set up by grt_process_names_init(); @name: the first process of each name */
struct grt_process_names {
	struct grt_stacks *text;
	struct grt_process_name {
		uint32_t pid;
		bool several;
	} * name;
	uint32_t names, room;
	bool alone;
};

/** grt_process_names_init - sets up a set without names; @alone: names never get a pid. Return: 0 or -ENOMEM
 */
int grt_process_names_init(struct grt_process_names *p, bool alone);

/** grt_process_names_see - adds a process of the graph. Return: 0 or -ENOMEM */
int grt_process_names_see(struct grt_process_names *p, const char *name, size_t len, uint32_t pid);

/** grt_process_names_text - the frame of an added process; @room: for a name with a pid, which is cut to it.
 * Return: length of *@text, or -ENOMEM */
int grt_process_names_text(const struct grt_process_names *p, const char *name, size_t len, uint32_t pid,
			   char room[320], const char **text);

/** grt_process_names_free - frees all memory of @p */
void grt_process_names_free(struct grt_process_names *p);

/* Numbers of the words; 0: no word was given. */
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

/** enum grt_flame_ranges - frames of NVTX ranges: names without numbers, names with numbers, or no frames */
enum grt_flame_ranges { GRT_FLAME_RANGES_FOLDED, GRT_FLAME_RANGES_FULL, GRT_FLAME_RANGES_NONE };

enum grt_flame_only {
	GRT_FLAME_ONLY_ALL,
#define GRT_FLAME_ONLY(NAME, name, help) GRT_FLAME_ONLY_##NAME,
#include "flame_shapes.def"
};

/* The words by number, from 1; NULL ends them. */
extern const char *const grt_flame_by_words[];
extern const char *const grt_flame_weight_words[];
extern const char *const grt_flame_only_words[];

#define GRT_FLAME_LABELS 6U
#define GRT_FLAME_LABEL_WORDS "device stream graph range rank cgroup"

/**
 * struct grt_flame_shape - the choices; all zero: the weight is time, everything is drawn, under the frame of
 *	its source
 * @compared: the graph compares two traces, whose pids differ: processes with the same name are one frame
 * @places: texts of frames have the source line, for programs that read it there
 * @all: for programs that show several weights: each stack begins with GRT_FLAME_LABELS frames below the
 *	root, in the order of GRT_FLAME_LABEL_WORDS, "-": unknown or none; launches, bytes and the time of
 *	threads are added on sides of their own. Used without @by and @weight
 * @cgroup: returns the control group of a process, NULL: unknown; NULL: no control group is known
 * @cgroups: first argument of @cgroup
 */
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

/* Unknown device in struct grt_flame_op. */
#define GRT_FLAME_NO_DEVICE UINT32_MAX

/**
 * struct grt_flame_op - GPU work, or several works of a kind
 * @process: name of the process, not terminated; @process_len 0: unknown
 * @queue: the ring or stream as a frame, not terminated
 * @device: number of the GPU, or GRT_FLAME_NO_DEVICE
 * @gpu: name of the GPU if its number is ambiguous; NULL: none
 * @graph: number of the CUDA graph; 0: none
 * @copy: the work is a copy or a fill
 * @pid: pid of the process; @rank: rank in its job, if @ranked
 * @range: names of the NVTX ranges, outermost first, separated by /; "" or NULL: none
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

/** grt_flame_unit - unit of the weights, for struct grt_flamegraph_look */
const char *grt_flame_unit(const struct grt_flame_shape *shape);

/** grt_flame_wanted - whether the work is in the graph */
bool grt_flame_wanted(const struct grt_flame_shape *shape, const struct grt_flame_op *op);

/** grt_flame_weight_of - weight of the work in the graph */
uint64_t grt_flame_weight_of(const struct grt_flame_shape *shape, const struct grt_flame_op *op);

/** grt_flame_is_sampled - whether the weights are PC samples */
bool grt_flame_is_sampled(const struct grt_flame_shape *shape);

/** grt_flame_add - adds the weight of the work to the stack that ends in @node, on @side; with @all of
 * @shape, adds all of its weights. Return: see grt_stacks_add() */
int grt_flame_add(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		  enum grt_stacks_side side, uint32_t node);

/** grt_flame_labels - adds the frames of GRT_FLAME_LABEL_WORDS under *@node, which becomes the last of them.
 * Return: 0 or -ENOMEM */
int grt_flame_labels(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		     uint32_t *node);

/** grt_flame_base - the node under which the stack of the work begins. Return: 0 or -ENOMEM */
int grt_flame_base(struct grt_stacks *s, const struct grt_flame_shape *shape, const struct grt_flame_op *op,
		   uint32_t *node);

/** enum grt_flame_leaf - innermost frame of a stack */
enum grt_flame_leaf {
	GRT_FLAME_LEAF_KERNEL,
	GRT_FLAME_LEAF_COPY,
	GRT_FLAME_LEAF_SET,
	GRT_FLAME_LEAF_JOB,	/* a job of a ring: grt_flame_queue() */
	GRT_FLAME_LEAF_PENDING, /* a launch without work in the trace */
	GRT_FLAME_LEAF_CALL,	/* a call of a function: it has no leaf */
};

/* Room for the device in a leaf, bytes. */
#define GRT_FLAME_GPU 48

/** grt_flame_gpu - text of a device in a leaf, by number; GRT_FLAME_NO_DEVICE: the trace has only one device
 */
const char *grt_flame_gpu(char room[GRT_FLAME_GPU], uint32_t device);

/* Room for a ring as a frame, bytes. */
#define GRT_FLAME_QUEUE 160

/** grt_flame_queue - writes a ring as a frame, "[GPU gfx]"; @ring: name of the ring, NULL or "": unknown;
 * @gpu: name of the GPU, NULL or "": there is only one. Return: length of the frame */
size_t grt_flame_queue(char room[GRT_FLAME_QUEUE], const char *ring, const char *gpu);

/**
 * grt_flame_put_leaf - adds the frame of CUDA work: "[GPU_Kernel]name", "[GPU_Memcpy HtoD]"
 * @gpu: the device: "GPU" if the trace has only one device, "GPU1", "GPU-8f3a04c2"
 * @name: name of the kernel, or direction of the copy; not terminated
 * @node: the node under which the frame is added; becomes the node of the frame
 * Return: 0 or -ENOMEM
 */
int grt_flame_put_leaf(struct grt_stacks *s, enum grt_flame_leaf leaf, const char *gpu, const char *name,
		       size_t len, uint32_t *node);

/** grt_flame_put_stream - writes the frame of a CUDA stream for struct grt_flame_op.queue. Return: length of
 * the frame
 */
size_t grt_flame_put_stream(char room[48], uint32_t device, uint32_t stream);

#endif /* GRT_STACK_FLAME_SHAPES_H */
