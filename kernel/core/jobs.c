// SPDX-License-Identifier: GPL-2.0
/*
 * Who submitted which job: a fixed table from (fence context, seqno) to what
 * the job's SUBMIT knew, for the events that follow it in interrupts and
 * workers.
 *
 * Lock-free: each slot carries a sequence number, odd while it is written. A
 * writer claims a slot by cmpxchg; a reader copies and looks again. Seqnos of
 * one context fall into consecutive sets, so a full set means that many jobs
 * are in flight; the oldest one is then evicted and counted. Finished jobs stay
 * until their slot is needed, since a waiter leaves after the completion.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "core.h"

#define WAYS 4
#define SETS 1024

struct slot {
	atomic_t seq;
	u32 born;	/* units of 65 us: only compared with its neighbours */
	u64 ctx;	/* 0: free */
	u64 seqno;
	bool done;
	u8 marks;	/* GRTRACE_JOB_* */
	struct grtrace_job_info info;
};

static struct slot (*table)[WAYS];
static atomic64_t evicted;

static struct slot *set_of(u64 ctx, u64 seqno)
{
	return table[(hash_64(ctx, 32) + (u32)seqno) & (SETS - 1)];
}

/* Takes a slot for writing; false when somebody else has it. */
static bool slot_claim(struct slot *s, int *seq)
{
	*seq = atomic_read(&s->seq);
	/* fully ordered: the odd number is visible before what is written next */
	return !(*seq & 1) && atomic_try_cmpxchg(&s->seq, seq, *seq + 1);
}

static void slot_release(struct slot *s, int seq)
{
	atomic_set_release(&s->seq, seq + 2);
}

/* Free before finished before live, then the oldest. */
static bool better_victim(const struct slot *a, const struct slot *b)
{
	if (!a->ctx || !b->ctx)
		return !a->ctx && b->ctx;
	if (a->done != b->done)
		return a->done;
	return (s32)(a->born - b->born) < 0;
}

/* The slot a job takes: that of a job of the same identity, which only `emit` can bring twice. */
static struct slot *victim(struct slot *set, u64 ctx, u64 seqno)
{
	struct slot *best = set;
	int i;

	for (i = 0; i < WAYS; i++)
		if (unlikely(set[i].seqno == seqno) && set[i].ctx == ctx)
			return &set[i];
	for (i = 1; i < WAYS; i++)
		if (better_victim(&set[i], best))
			best = &set[i];
	return best;
}

/**
 * grtrace_job_add - remembers a job
 * @ctx: fence context, not 0
 * @seqno: fence sequence number
 * @now: ns
 * @info: copied
 */
void grtrace_job_add(u64 ctx, u64 seqno, u64 now, const struct grtrace_job_info *info)
{
	struct slot *s = victim(set_of(ctx, seqno), ctx, seqno);
	int seq;

	if (!slot_claim(s, &seq)) {
		atomic64_inc(&evicted);
		return;
	}
	if (s->ctx && !s->done)
		atomic64_inc(&evicted);
	s->born = now >> 16;
	s->ctx = ctx;
	s->seqno = seqno;
	s->done = false;
	s->marks = 0;
	s->info = *info;
	slot_release(s, seq);
}

/**
 * grtrace_job_find - what the job's SUBMIT knew
 * Return: false when the job is not known
 */
bool grtrace_job_find(u64 ctx, u64 seqno, struct grtrace_job_info *info)
{
	struct slot *s = set_of(ctx, seqno);
	int i, seq;

	for (i = 0; i < WAYS; i++, s++) {
		seq = atomic_read_acquire(&s->seq);
		if ((seq & 1) || s->ctx != ctx || s->seqno != seqno)
			continue;
		*info = s->info;
		smp_rmb(); /* the copy before the second look; pairs with slot_release() */
		if (atomic_read(&s->seq) == seq)
			return true;
	}
	return false;
}

/** grtrace_job_done - the job has completed: its slot may be taken */
void grtrace_job_done(u64 ctx, u64 seqno)
{
	struct slot *s = set_of(ctx, seqno);
	int i, seq;

	for (i = 0; i < WAYS; i++, s++) {
		if (s->ctx != ctx || s->seqno != seqno || !slot_claim(s, &seq))
			continue;
		if (s->ctx == ctx && s->seqno == seqno)
			s->done = true;
		slot_release(s, seq);
	}
}

/* Looks at a slot that another CPU writes with interrupts off, before it is taken to be another job's. */
#define TRIES 1000

/* The job's slot, claimed with interrupts off; NULL when the job is not known. */
static struct slot *find_claim(u64 ctx, u64 seqno, int *seq)
{
	struct slot *s = set_of(ctx, seqno);
	int i, tries;

	for (i = 0; i < WAYS; i++, s++)
		for (tries = 0; tries < TRIES && s->ctx == ctx && s->seqno == seqno; tries++) {
			if (!slot_claim(s, seq))
				continue;
			if (s->ctx == ctx && s->seqno == seqno)
				return s;
			slot_release(s, *seq);
		}
	return NULL;
}

/**
 * grtrace_job_mark - notes how far a job is, for the adapter that asks again
 * @ctx: fence context
 * @seqno: fence sequence number
 * @marks: GRTRACE_JOB_*, 0 to ask only
 *
 * Of several callers at once that set a mark, one is told that it was not set.
 * Return: the marks before, -ENOENT when the job's SUBMIT is not known
 */
int grtrace_job_mark(u64 ctx, u64 seqno, u8 marks)
{
	unsigned long flags;
	struct slot *s;
	int seq, before = -ENOENT;

	local_irq_save(flags);
	s = find_claim(ctx, seqno, &seq);
	if (s) {
		before = s->marks;
		s->marks |= marks;
		slot_release(s, seq);
	}
	local_irq_restore(flags);
	return before;
}
EXPORT_SYMBOL_GPL(grtrace_job_mark);

/** grtrace_jobs_evicted - jobs forgotten while they were still running */
u64 grtrace_jobs_evicted(void)
{
	return atomic64_read(&evicted);
}

int grtrace_jobs_init(void)
{
	table = kvcalloc(SETS, sizeof(*table), GFP_KERNEL);
	return table ? 0 : -ENOMEM;
}

void grtrace_jobs_exit(void)
{
	kvfree(table);
}
