/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Steps of programs that repeat the same work (training, inference), and the activity
 * of each device in each step. A step is the time from the end of the last work that was
 * launched in the previous step to the end of the last work launched in this step. The times in
 * which a device computed, communicated, copied or was idle add up to the time of the step;
 * work at the same time as more important work is hidden.
 *
 * A rank is a device that a process used.
 */
#ifndef GRT_CUDA_STEPS_H
#define GRT_CUDA_STEPS_H

#include "stack/image_frames.h"
#include "rank_threads.h"
#include "step_log.h"
#include "step_marks.h"

/** enum grt_step_part - parts of the time of a step; the parts before GRT_STEP_SUM add up to it */
enum grt_step_part {
	GRT_STEP_COMPUTE,
	GRT_STEP_COMM, /* without computation at the same time */
	GRT_STEP_COPY, /* without computation or communication at the same time */
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
 * @number: number of the rank; @told: from the process's environment, else inferred
 * @uuid: UUID of the device; NULL: unknown
 * @steps: number of its steps in grt_steps_step(), from @first on
 * @p50, @p99: percentiles of their times; @slowest: the longest step
 * @total: sums of the parts; @median: median of each part
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
 * @rank: number for grt_steps_rank()
 * @number: from 0; incomplete steps at the beginning have numbers, too
 * @grew: the part that exceeds its median most
 * @why: the difference, for people; NULL: not searched
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

/** struct grt_step_window - a span of time of a rank */
struct grt_step_window {
	uint32_t rank;
	uint64_t from;
	uint64_t to;
};

struct grt_steps;

/** grt_steps_new - begins; @launches: see grt_step_log_new(). Return: 0 or -ENOMEM */
int grt_steps_new(struct grt_steps **out, struct grt_launches *launches);

/**
 * grt_steps_range - sets the NVTX range whose instances are steps; @name must outlive @s. Before
 * grt_steps_find()
 */
void grt_steps_range(struct grt_steps *s, const char *name);

/** grt_steps_log - the log, which must get the events; see step_log.h */
struct grt_step_log *grt_steps_log(struct grt_steps *s);

/** grt_steps_threads - states of the main threads of the ranks, which must get the events, too */
struct grt_rank_threads *grt_steps_threads(struct grt_steps *s);

/**
 * grt_steps_find - finds ranks and steps at the end of the trace. May be called again. Return: 0 or -ENOMEM
 */
int grt_steps_find(struct grt_steps *s);

/** grt_steps_explain - finds the difference of a step from others. Return: 0 or -ENOMEM */
int grt_steps_explain(struct grt_steps *s, uint32_t step);

/**
 * grt_steps_why_late - what a rank did in a time that made it late
 * @late: ns
 * @out: gets a text for free(), or NULL if unknown
 * Return: 0 or -ENOMEM
 */
int grt_steps_why_late(struct grt_steps *s, const struct grt_step_window *w, uint64_t late, char **out);

/**
 * grt_steps_usual_idle - the longest idle time of a rank's device in a step whose idle time is the median
 * @ns: gets its length
 * @out: gets the code in which it passed, a text for free(), or NULL if unknown
 * Return: 0 or -ENOMEM
 */
int grt_steps_usual_idle(struct grt_steps *s, uint32_t rank, uint64_t *ns, char **out);

/** grt_steps_ranks, grt_steps_rank - the ranks in the order of their numbers */
uint32_t grt_steps_ranks(const struct grt_steps *s);
const struct grt_step_rank *grt_steps_rank(const struct grt_steps *s, uint32_t at);

/** grt_steps_count, grt_steps_step - the steps; the steps of a rank are adjacent */
uint32_t grt_steps_count(const struct grt_steps *s);
const struct grt_step *grt_steps_step(const struct grt_steps *s, uint32_t at);

/**
 * struct grt_step_at - a time of a process: in step @number if @in; the program itself marked the step if
 * @told; it has calls from @from up to @to
 */
struct grt_step_at {
	uint64_t from;
	uint64_t to;
	uint32_t number;
	bool in;
	bool told;
};

/**
 * grt_steps_process - the number of the process of an image of another pass over the trace; UINT32_MAX: none.
 * After grt_steps_find()
 */
uint32_t grt_steps_process(const struct grt_steps *s, const struct grt_image *image);

/** grt_steps_at - the step of a process in which a call was made at a moment */
struct grt_step_at grt_steps_at(const struct grt_steps *s, uint32_t process, uint64_t launched);

/**
 * grt_steps_collective - the collective of a kernel, as reported by NCCL
 * @key: key of the kernel: its correlation, or if it was @replayed, the node of a graph
 * @comm: gets its communicator, NULL: unknown
 * Return: NULL: unknown, or the kernel belongs to several collectives
 */
const struct grt_nccl_op *grt_steps_collective(const struct grt_steps *s, uint32_t process, uint64_t key,
					       bool replayed, const struct grt_nccl_comm **comm);

/** grt_steps_starts - whether it is the first step of all, which includes set-up */
bool grt_steps_starts(const struct grt_steps *s, const struct grt_step *step);

/** grt_steps_marks - how the steps of a process were found */
const struct grt_step_marks *grt_steps_marks(const struct grt_steps *s, uint32_t process);

/** grt_steps_image - the process itself; grt_steps_over - calls and work beyond the limits, of all processes
 */
const struct grt_image *grt_steps_image(const struct grt_steps *s, uint32_t process);
uint64_t grt_steps_over(const struct grt_steps *s);

/** grt_steps_frames - names of frames and kernels */
struct grt_image_frames *grt_steps_frames(struct grt_steps *s);

/** grt_step_part_name - the name of a part in one or two words */
const char *grt_step_part_name(enum grt_step_part part);

/**
 * grt_step_parts_between - the activity of a device between consecutive moments
 * @cut: the moments, in order; @out: one element less than @cut
 */
void grt_step_parts_between(const struct grt_step_process *p, uint32_t gpu, const uint64_t *cut,
			    uint32_t cuts, struct grt_step_parts *out);

/** grt_steps_free - frees it; NULL is allowed */
void grt_steps_free(struct grt_steps *s);

#endif /* GRT_CUDA_STEPS_H */
