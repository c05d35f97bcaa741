// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Events of msm and mali, see ftrace_arm.h. */
#include "ftrace_arm.h"

#include <stdio.h>

#include "ftrace_events.h"
#include "ftrace_module.h"

static enum grt_text_line arm_passed_over(struct ftrace *f)
{
	grt_text_unknown(f->t, f->l.event.at, f->l.event.len);
	return GRT_LINE_DONE;
}

static void arm_place(struct ftrace *f, struct ftrace_job *job, const char *driver, const char *name)
{
	uint8_t engine;
	uint32_t ring = ftrace_ring(f, (struct grt_span){name, strlen(name)}, driver, &engine);

	ftrace_place_job(job, ring, engine, 0);
}

/* ----------------------------------------------------------------------- msm */

/* Ticks of its counter in ns: 192 of them are 10 us. */
static uint64_t msm_ns(uint64_t ticks)
{
	return (uint64_t)((unsigned __int128)ticks * 10000 / 192);
}

static enum grt_text_line msm_submit(struct ftrace *f, struct ftrace_job *job)
{
	ftrace_hold_submit(f, job);
	return GRT_LINE_DONE;
}

static enum grt_text_line msm_flush(struct ftrace *f, struct ftrace_job *job)
{
	job->run = f->l.time;
	job->ticks = FTRACE_NUMBER_OR(f, "ticks=", 0);
	ftrace_commit(f, job, 0, 0, 0);
	return GRT_LINE_DONE;
}

/* When the GPU's counter was @ticks. Return: 0: unknown, or farther back than events may be put */
static uint64_t msm_time(const struct ftrace *f, const struct ftrace_job *job, uint64_t ticks)
{
	uint64_t time;

	if (!job->ticks || !job->run || ticks < job->ticks)
		return 0;
	time = job->run + msm_ns(ticks - job->ticks);
	return time <= f->l.time && f->l.time - time <= FTRACE_BACK ? time : 0;
}

static enum grt_text_line msm_retired(struct ftrace *f, struct ftrace_job *job)
{
	uint64_t now = f->l.time, began, ended;

	if (!FTRACE_NUMBER(f, "start=", &began) || !FTRACE_NUMBER(f, "end=", &ended))
		return GRT_LINE_BAD;
	began = msm_time(f, job, began);
	ended = msm_time(f, job, ended);
	if (began && began <= ended) {
		f->l.time = began;
		ftrace_start(f, job);
	}
	f->l.time = ended ?: now;
	ftrace_end(f, job, 0, 0, ended ? 0 : GRT_FLAG_INFERRED);
	f->l.time = now;
	ftrace_complete(f, job, 0);
	return GRT_LINE_DONE;
}

enum grt_text_line ftrace_msm(struct ftrace *f, unsigned int what)
{
	static enum grt_text_line (*const handle[])(struct ftrace * f, struct ftrace_job * job) = {
		[FTRACE_MSM_SUBMIT] = msm_submit,
		[FTRACE_MSM_FLUSH] = msm_flush,
		[FTRACE_MSM_RETIRED] = msm_retired,
	};
	uint64_t id, ring;
	struct ftrace_job *job;
	char name[24];

	f->has_msm = true;
	if (f->xe_by_sched)
		return arm_passed_over(f);
	if (!FTRACE_NUMBER(f, "id=", &id) || !FTRACE_NUMBER(f, "ring=", &ring))
		return GRT_LINE_BAD;
	job = ftrace_job_of(f, ftrace_own(FTRACE_OWN_MSM, 1U << 31 | (ring & 0xffff)), id);
	/* it began before the text */
	if (what != FTRACE_MSM_SUBMIT && !(job->seen & FTRACE_SUBMIT))
		return arm_passed_over(f);
	snprintf(name, sizeof(name), "ring%u", grt_u32(ring));
	arm_place(f, job, "msm", name);
	return handle[what](f, job);
}

/* ---------------------------------------------------------------------- mali */

/* The event's first byte. */
#define MALI_START 1U
#define MALI_STOP 2U
#define MALI_SOFT_STOPPED 3U

static void mali_start(struct ftrace *f, struct ftrace_mali_slot *slot, uint64_t number, const char *name)
{
	struct ftrace_job *job = ftrace_own_job(f, FTRACE_OWN_MALI, number);
	struct grt_ev_submit s = {.e = ftrace_event(f, GRT_EV_SUBMIT)};

	job->pid = grt_u32(FTRACE_NUMBER_OR(f, "tgid=", 0));
	job->tid = grt_u32(FTRACE_NUMBER_OR(f, "pid=", 0));
	job->seen |= FTRACE_SUBMIT | FTRACE_COMMIT | FTRACE_INFERRED(FTRACE_COMMIT);
	arm_place(f, job, "mali", name);
	ftrace_jobs_set_id(&f->jobs, job, job->ring, slot->next++);
	s.e.flags = GRT_FLAG_COMMIT;
	s.e.pid = job->pid;
	s.e.tid = job->tid;
	s.e.ctx = job->ctx;
	s.e.seqno = job->seqno;
	s.e.ring = job->ring;
	s.e.engine = job->engine;
	f->by_others = true;
	grt_text_put(f->t, &s.e, f->l.cpu);
}

static enum grt_text_line mali_stop(struct ftrace *f, struct ftrace_mali_slot *slot, const char *name)
{
	struct ftrace_job *job = NULL;
	uint8_t engine;
	uint32_t ring = ftrace_ring(f, (struct grt_span){name, strlen(name)}, "mali", &engine);

	if (slot->first < slot->next)
		job = ftrace_jobs_by_id(&f->jobs, ring, slot->first++);
	if (!job)
		return arm_passed_over(f);
	/* it is the oldest by the order of its slot: the line has no number of it */
	ftrace_end(f, job, 0, 0, GRT_FLAG_INFERRED);
	ftrace_complete(f, job, GRT_FLAG_INFERRED);
	return GRT_LINE_DONE;
}

enum grt_text_line ftrace_mali(struct ftrace *f, unsigned int arg)
{
	uint64_t gpu = FTRACE_NUMBER_OR(f, "gpu=", 0), event;
	char name[32];
	unsigned int number;

	if (!FTRACE_NUMBER(f, "event=", &event))
		return GRT_LINE_BAD;
	number = event >> 16 & 0xff;
	if (gpu >= FTRACE_MALI_GPUS || number >= FTRACE_MALI_SLOTS)
		return arm_passed_over(f);
	snprintf(name, sizeof(name), gpu ? "gpu%u.js%u" : "%.0ujs%u", grt_u32(gpu), number);
	switch (event >> 24) {
	case MALI_START:
		mali_start(f, &f->mali[gpu][number], gpu << 8 | number, name);
		return GRT_LINE_DONE;
	case MALI_STOP:
	case MALI_SOFT_STOPPED:
		return mali_stop(f, &f->mali[gpu][number], name);
	default:
		return arm_passed_over(f);
	}
}
