/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Steps of programs that do the same again and again (training, inference), and
 * what each device of theirs did in each: a step is the time from the end of the
 * last work that was launched in the step before to the end of the last work
 * launched in it. Time in which a device computed, communicated, copied or was idle
 * adds up to the step's; what went on beside something more important is hidden.
 *
 * A rank is a device that a process used.
 */
#ifndef GRT_CUDA_STEPS_H
#define GRT_CUDA_STEPS_H

#include "stack/image_frames.h"
#include "rank_threads.h"
#include "step_log.h"
#include "step_marks.h"

/** enum grt_step_part - what the time of a step went to; those before GRT_STEP_SUM add up to it */
enum grt_step_part {
	GRT_STEP_COMPUTE,
	GRT_STEP_COMM, /* and nothing was computed */
	GRT_STEP_COPY, /* and nothing was computed or communicated */
	GRT_STEP_IDLE,
	GRT_STEP_SUM,
	GRT_STEP_COMM_HIDDEN = GRT_STEP_SUM, /* while something was computed */
	GRT_STEP_COPY_HIDDEN,		     /* while something was computed or communicated */
	GRT_STEP_PARTS,
};

/** struct grt_step_parts - ns of each */
struct grt_step_parts {
	uint64_t ns[GRT_STEP_PARTS];
};

/**
 * struct grt_step_rank - a device of a process
 * @number: of the rank; @told: the process had it in its environment, else it is inferred
 * @uuid: of the device; NULL: unknown
 * @steps: of grt_steps_step(), from @first
 * @p50, @p99: of their times; @slowest: the longest of them
 * @total: of all of them; @median: of each part alone
 */
struct grt_step_rank {
	uint32_t process;
	uint32_t pid;
	uint32_t gpu;
	uint32_t number;
	bool told;
	const char *name;
	char pid_text[24];
	const char *uuid;
	uint32_t first;
	uint32_t steps;
	uint32_t slowest;
	uint64_t p50;
	uint64_t p99;
	struct grt_step_parts total;
	struct grt_step_parts median;
};

/**
 * struct grt_step - a step of a rank
 * @rank: of grt_steps_rank()
 * @number: from 0; steps before the first whole one have numbers, too
 * @grew: the part that is most above its median
 * @why: what was different, for people; NULL: it was not looked for
 */
struct grt_step {
	uint32_t rank;
	uint32_t number;
	uint64_t from;
	uint64_t to;
	struct grt_step_parts parts;
	enum grt_step_part grew;
	char *why;
};

/** struct grt_step_window - some time of a rank */
struct grt_step_window {
	uint32_t rank;
	uint64_t from;
	uint64_t to;
};

struct grt_steps;

/** grt_steps_new - begins. Return: 0 or -ENOMEM */
int grt_steps_new(struct grt_steps **out);

/** grt_steps_range - the range of NVTX that steps are; @name: outlives @s. Before grt_steps_find() */
void grt_steps_range(struct grt_steps *s, const char *name);

/** grt_steps_log - what events go to; see step_log.h */
struct grt_step_log *grt_steps_log(struct grt_steps *s);

/** grt_steps_threads - what the main threads of the ranks did; events go to it, too */
struct grt_rank_threads *grt_steps_threads(struct grt_steps *s);

/** grt_steps_find - the trace is over: finds ranks and steps. May be called again. Return: 0 or -ENOMEM */
int grt_steps_find(struct grt_steps *s);

/** grt_steps_explain - says what was different in a step. Return: 0 or -ENOMEM */
int grt_steps_explain(struct grt_steps *s, uint32_t step);

/**
 * grt_steps_why_late - what a rank did from one moment to another that made it late
 * @late: ns
 * @out: gets a text for free(), or NULL where nothing is known
 * Return: 0 or -ENOMEM
 */
int grt_steps_why_late(struct grt_steps *s, const struct grt_step_window *w, uint64_t late, char **out);

/**
 * grt_steps_usual_idle - the longest idle time of a rank's device in a step whose idle time is the median
 * @ns: gets how long it is
 * @out: gets what it passed in, a text for free(), or NULL where nothing is known
 * Return: 0 or -ENOMEM
 */
int grt_steps_usual_idle(struct grt_steps *s, uint32_t rank, uint64_t *ns, char **out);

/** grt_steps_ranks, grt_steps_rank - the ranks in the order of their numbers */
uint32_t grt_steps_ranks(const struct grt_steps *s);
const struct grt_step_rank *grt_steps_rank(const struct grt_steps *s, uint32_t at);

/** grt_steps_count, grt_steps_step - the steps, those of a rank one after the other */
uint32_t grt_steps_count(const struct grt_steps *s);
const struct grt_step *grt_steps_step(const struct grt_steps *s, uint32_t at);

/** struct grt_step_at - a time of a process: step @number where @in one, of which its program @told; from
 * @from up to @to calls are in it */
struct grt_step_at {
	uint64_t from;
	uint64_t to;
	uint32_t number;
	bool in;
	bool told;
};

/** grt_steps_process - the process that an image of another pass over the trace is; UINT32_MAX: none. The
 * steps are found */
uint32_t grt_steps_process(const struct grt_steps *s, const struct grt_image *image);

/** grt_steps_at - the step of a process in which a call was made at a moment */
struct grt_step_at grt_steps_at(const struct grt_steps *s, uint32_t process, uint64_t launched);

/**
 * grt_steps_collective - the collective that a kernel is of, as NCCL told it
 * @key: of the kernel: its correlation, or where it was @replayed the node of a graph
 * @comm: gets its communicator, NULL: unknown
 * Return: NULL: none is known, or the kernel is of several
 */
const struct grt_nccl_op *grt_steps_collective(const struct grt_steps *s, uint32_t process, uint64_t key,
					       bool replayed, const struct grt_nccl_comm **comm);

/** grt_steps_starts - whether it is the first step of all, which has things to set up */
bool grt_steps_starts(const struct grt_steps *s, const struct grt_step *step);

/** grt_steps_marks - how the steps of a process were found */
const struct grt_step_marks *grt_steps_marks(const struct grt_steps *s, uint32_t process);

/** grt_steps_image - the process itself; grt_steps_over - calls and work beyond the limits, of all processes
 */
const struct grt_image *grt_steps_image(const struct grt_steps *s, uint32_t process);
uint64_t grt_steps_over(const struct grt_steps *s);

/** grt_steps_frames - names of frames and kernels */
struct grt_image_frames *grt_steps_frames(struct grt_steps *s);

/** grt_step_part_name - in a word or two */
const char *grt_step_part_name(enum grt_step_part part);

/**
 * grt_step_parts_between - what a device did from each of some moments to the next
 * @cut: in order; @out: one less than there are of these
 */
void grt_step_parts_between(const struct grt_step_process *p, uint32_t gpu, const uint64_t *cut,
			    uint32_t cuts, struct grt_step_parts *out);

/** grt_steps_free - frees it; NULL is allowed */
void grt_steps_free(struct grt_steps *s);

#endif /* GRT_CUDA_STEPS_H */
