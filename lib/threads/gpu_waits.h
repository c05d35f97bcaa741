/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The work of GPUs while threads waited for them: kernels and copies of CUDA, and jobs of DRM drivers. A wait
 * is for the stream that its call waited for, where GPU_SYNC says it, else for all of its context, else for
 * all that its process has on GPUs, as waits of DRM are; one in a copy is first for the stream of that copy.
 * Where several of these ran at once, the time is that of the one that began first; where none ran, it is the
 * wait's own.
 *
 * Work is reported long after it was done. So waits and work wait for each other, up to
 * GRT_GPU_WAITS_MAX of each, some 60 MB in all; of more, the older half is divided. What comes
 * later than that is counted.
 */
#ifndef GRT_THREADS_GPU_WAITS_H
#define GRT_THREADS_GPU_WAITS_H

#include <grtrace/grtrace.h>

#include "stack/stacks.h"

#define GRT_GPU_WAITS_MAX (1U << 19)

/** struct grt_gpu_wait - a wait, or a part of one; @owner: as it was given; @call: correlation of the call,
 * 0: in none; @samples: of a moment at which it polled, which is 1 ns long and is not divided */
struct grt_gpu_wait {
	uint64_t from;
	uint64_t to;
	uint64_t call;
	uint32_t pid;
	uint32_t samples;
	uint32_t owner[3];
};

/**
 * struct grt_gpu_waits_count - counts of work and waits that came too late
 * @late: kernels, copies and jobs that came after their time had been divided: it may be the wait's own
 * @late_ns: of waits that came when the work beside them had been divided already
 */
struct grt_gpu_waits_count {
	uint64_t late;
	uint64_t late_ns;
};

struct grt_gpu_waits;

/**
 * grt_gpu_waits_new - begins
 * @part: gets each part of each wait, without gap or overlap; @work: number for grt_gpu_waits_put(), 0: none
 *	ran. A result other than 0 ends the run
 * Return: 0 or -ENOMEM
 */
int grt_gpu_waits_new(struct grt_gpu_waits **out,
		      int (*part)(void *arg, const struct grt_gpu_wait *w, uint32_t work), void *arg);

/** grt_gpu_waits_event - processes an event; uses classes image, launch, job and name. Return: 0,
 * -ENOMEM, or what
 * @part returned */
int grt_gpu_waits_event(struct grt_gpu_waits *g, const struct grt_event *e);

/** grt_gpu_waits_add - adds a wait of a thread. Return: as grt_gpu_waits_event() */
int grt_gpu_waits_add(struct grt_gpu_waits *g, const struct grt_gpu_wait *w);

/** grt_gpu_waits_flush - ends the trace. Return: as grt_gpu_waits_event() */
int grt_gpu_waits_flush(struct grt_gpu_waits *g);

/** grt_gpu_waits_put - the frame of a kernel, copy or job on @node, which becomes it. Return: 0 or -ENOMEM */
int grt_gpu_waits_put(struct grt_gpu_waits *g, uint32_t work, struct grt_stacks *tree, uint32_t *node);

/** grt_gpu_waits_count - the counts; complete after grt_gpu_waits_flush() */
struct grt_gpu_waits_count grt_gpu_waits_count(const struct grt_gpu_waits *g);

/** grt_gpu_waits_free - frees it; NULL is allowed */
void grt_gpu_waits_free(struct grt_gpu_waits *g);

#endif /* GRT_THREADS_GPU_WAITS_H */
