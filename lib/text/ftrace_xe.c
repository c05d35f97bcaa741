// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Events of xe, see ftrace_xe.h. */
#include "ftrace_xe.h"

#include <stdio.h>

#include "ftrace_events.h"

/* Names by enum xe_engine_class. */
static const char *const xe_classes[] = {"rcs", "vcs", "vecs", "bcs", "gsccs", "ccs"};
#define XE_CLASSES (sizeof(xe_classes) / sizeof(xe_classes[0]))

static enum grt_text_line xe_passed_over(struct ftrace *f)
{
	grt_text_unknown(f->t, f->l.event.at, f->l.event.len);
	return GRT_LINE_DONE;
}

/* Queues are numbered by GT. Lines of a job had no gt= to 6.12: then it is that of the one GT that has the
 * number, and unknown where several do. */
static struct ftrace_xe_queue *xe_queue_of(struct ftrace *f, uint64_t gt, uint64_t guc_id)
{
	return &f->xe_queue[(gt * 31 + guc_id) % FTRACE_XE_QUEUES];
}

static uint8_t xe_class_at(struct ftrace *f, uint64_t gt, uint64_t guc_id)
{
	const struct ftrace_xe_queue *q = xe_queue_of(f, gt, guc_id);

	return q->class && q->gt == gt && q->guc_id == guc_id ? q->class : 0;
}

static uint8_t xe_class(struct ftrace *f, const uint64_t *gt, uint64_t guc_id)
{
	uint8_t first, second;

	if (gt)
		return xe_class_at(f, *gt, guc_id);
	first = xe_class_at(f, 0, guc_id);
	second = xe_class_at(f, 1, guc_id);
	return first && second && first != second ? 0 : first ? first : second;
}

/* dev=0000:03:00.0, 3:0x1, gt=0, width=1, guc_id=17, ... */
static enum grt_text_line xe_queue(struct ftrace *f)
{
	uint64_t class, gt, guc_id;
	struct grt_span dev;

	if (!FTRACE_WORD(f, "dev=", &dev) || !GRT_SCAN_WORD(&f->at, f->l.end, ", ") ||
	    !grt_scan_line_u64(&f->at, f->l.end, &class) || !FTRACE_NUMBER(f, "gt=", &gt) ||
	    !FTRACE_NUMBER(f, "guc_id=", &guc_id) || class >= XE_CLASSES)
		return xe_passed_over(f);
	*xe_queue_of(f, gt, guc_id) = (struct ftrace_xe_queue){
		.gt = grt_u32(gt), .guc_id = grt_u32(guc_id), .class = (uint8_t)(class + 1)};
	return GRT_LINE_DONE;
}

static enum grt_text_line xe_fence_created(struct ftrace *f)
{
	uint64_t ctx, seqno, fence;

	if (!FTRACE_NUMBER(f, "ctx=", &ctx))
		return GRT_LINE_BAD;
	fence = FTRACE_POINTER(f, "fence=");
	if (!fence || !FTRACE_NUMBER(f, "seqno=", &seqno) || !ctx)
		return GRT_LINE_BAD;
	ftrace_jobs_set_fence(&f->jobs, ftrace_job_of(f, ctx, seqno), fence);
	return GRT_LINE_DONE;
}

static void xe_place(struct ftrace *f, struct ftrace_job *job, struct grt_span dev)
{
	uint64_t gt = 0, guc_id;
	bool has_gt = FTRACE_NUMBER(f, "gt=", &gt);
	char name[32];
	uint8_t class, engine;
	uint32_t ring;
	int n;

	if (!FTRACE_NUMBER(f, "guc_id=", &guc_id))
		return;
	class = xe_class(f, has_gt ? &gt : NULL, guc_id);
	n = snprintf(name, sizeof(name), "%s%u", class ? xe_classes[class - 1] : "guc", grt_u32(guc_id));
	ring = ftrace_ring_of(f, (struct grt_span){name, (size_t)n}, "xe", dev, &engine);
	ftrace_place_job(job, ring, engine, ftrace_device_of(f, dev));
}

/* The scheduler's line comes next, if it is recorded: until then the job waits. */
static enum grt_text_line xe_exec(struct ftrace *f)
{
	struct grt_span dev = {NULL, 0};
	struct ftrace_job *job;
	uint64_t fence, guc_id;

	FTRACE_WORD(f, "dev=", &dev);
	fence = FTRACE_POINTER(f, "fence=");
	if (!fence || !FTRACE_NUMBER(f, "guc_id=", &guc_id))
		return GRT_LINE_BAD;
	job = ftrace_jobs_by_fence(&f->jobs, fence);
	/* addresses are reused; without a line about its creation, the fence has no number */
	if (!job || job->seen) {
		job = ftrace_own_job(f, FTRACE_OWN_XE, guc_id);
		ftrace_jobs_set_fence(&f->jobs, job, fence);
	}
	xe_place(f, job, dev);
	ftrace_hold_submit(f, job);
	return GRT_LINE_DONE;
}

/* The job of a line about its later life; NULL: it is the scheduler's, or began before the text. */
static struct ftrace_job *xe_job(struct ftrace *f)
{
	uint64_t fence = FTRACE_POINTER(f, "fence=");
	struct ftrace_job *job = fence ? ftrace_jobs_by_fence(&f->jobs, fence) : NULL;

	return job && job->seen & FTRACE_SUBMIT ? job : NULL;
}

static enum grt_text_line xe_run(struct ftrace *f)
{
	struct ftrace_job *job = xe_job(f);

	if (!job)
		return xe_passed_over(f);
	ftrace_commit(f, job, 0, 0, 0);
	return GRT_LINE_DONE;
}

static enum grt_text_line xe_signal(struct ftrace *f)
{
	struct ftrace_job *job = xe_job(f);

	if (!job)
		return xe_passed_over(f);
	ftrace_end(f, job, 0, 0, 0);
	ftrace_complete(f, job, GRT_FLAG_INFERRED);
	return GRT_LINE_DONE;
}

void ftrace_xe_queued(struct ftrace *f)
{
	f->xe_by_sched |= ftrace_drop_submit(f, f->l.tid) || f->has_msm;
}

enum grt_text_line ftrace_xe(struct ftrace *f, unsigned int what)
{
	static enum grt_text_line (*const handle[])(struct ftrace * f) = {
		[FTRACE_XE_QUEUE] = xe_queue,	[FTRACE_XE_CREATE] = xe_fence_created,
		[FTRACE_XE_EXEC] = xe_exec,	[FTRACE_XE_RUN] = xe_run,
		[FTRACE_XE_SIGNAL] = xe_signal,
	};

	return f->xe_by_sched ? xe_passed_over(f) : handle[what](f);
}
