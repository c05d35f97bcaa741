// SPDX-License-Identifier: GPL-2.0
/*
 * Who submitted which job, and what was decided on it: a fixed table from
 * (fence context, seqno) to what the job's SUBMIT knew, for the events that
 * follow it in interrupts and workers. Beside it, once somebody asks for them,
 * the stamps of each job so far.
 *
 * Lock-free: each slot carries a sequence number, odd while it is written. A
 * writer claims a slot by cmpxchg; a reader copies and looks again. Both look a
 * few times, since a writer is done after a few stores with interrupts off.
 *
 * Seqnos of one context fall into consecutive sets, so a full set means that
 * many jobs are in flight; the oldest one is then evicted and counted. A job
 * whose stamps wait for its JOB record is never evicted: then the new one finds
 * no room. Finished jobs stay until their slot is needed, since a waiter leaves
 * after the completion.
 */
#include <linux/hash.h>
#include <linux/mm.h>
#include <linux/module.h>

#include "core.h"

#define WAYS 4
#define SETS 1024

/* Looks at a slot that another CPU writes, before it is taken to be another job's. */
#define TRIES 1000

/* In the order in which a new job takes their slots. */
enum slot_state {
	SLOT_FREE,
	SLOT_DONE,
	SLOT_LIVE,
	SLOT_HELD,	/* its events wait to leave as a JOB record */
};

struct slot {
	atomic_t seq;
	u8 state;
	u64 ctx;
	u64 seqno;
	u8 marks;	/* GRTRACE_JOB_* */
	struct grtrace_job_info info;
};

static struct slot (*table)[WAYS];
static struct grt_ev_job (*stamps)[WAYS];	/* of @e only identity and flags */
static atomic64_t evicted;

static unsigned int set_of(u64 ctx, u64 seqno)
{
	return (hash_64(ctx, 32) + (u32)seqno) & (SETS - 1);
}

/* Only a new job changes a slot's identity; that of a free one is 0. */
static bool slot_is(const struct slot *s, u64 ctx, u64 seqno)
{
	return s->seqno == seqno && s->ctx == ctx;
}

/* An even sequence number, unless the slot is being written all the time. */
static int slot_seq(const struct slot *s)
{
	int seq, tries = TRIES;

	while (unlikely((seq = atomic_read_acquire(&s->seq)) & 1) && --tries)
		cpu_relax();
	return seq;
}

/* Takes a slot for writing; false when somebody else has it. */
static __always_inline bool slot_claim(struct slot *s, int *seq)
{
	*seq = slot_seq(s);
	/* fully ordered: the odd number is visible before what is written next */
	return !(*seq & 1) && atomic_try_cmpxchg(&s->seq, seq, *seq + 1);
}

static void slot_release(struct slot *s, int seq)
{
	atomic_set_release(&s->seq, seq + 2);
}

static bool better_victim(const struct slot *a, const struct slot *b)
{
	return a->state < b->state ||
	       (a->state == b->state && (s64)(a->info.submitted - b->info.submitted) < 0);
}

/* The slot a job takes: that of a job of the same identity, which only `emit` can bring twice. */
static struct slot *victim(struct slot *set, u64 ctx, u64 seqno)
{
	struct slot *best = set;
	int i;

	for (i = 0; i < WAYS; i++)
		if (unlikely(slot_is(&set[i], ctx, seqno)))
			return &set[i];
	for (i = 1; i < WAYS; i++)
		if (better_victim(&set[i], best))
			best = &set[i];
	return best;
}

static bool is_held(const struct slot *s, u64 ctx, u64 seqno)
{
	return unlikely(s->state == SLOT_HELD) && !slot_is(s, ctx, seqno);
}

/* Claims the slot of a new job; NULL when there is none. */
static struct slot *victim_claim(u64 ctx, u64 seqno, int *seq)
{
	struct slot *set = table[set_of(ctx, seqno)], *s;
	int tries;

	for (tries = 0; tries < WAYS; tries++) {
		s = victim(set, ctx, seqno);
		if (is_held(s, ctx, seqno))
			return NULL;
		if (!slot_claim(s, seq))
			continue;
		if (!is_held(s, ctx, seqno))
			return s;
		slot_release(s, *seq); /* another job came in between */
	}
	return NULL;
}

/**
 * grtrace_job_add - remembers a job
 * @ctx: fence context, not 0
 * @seqno: fence sequence number
 * @info: copied; with @info->fate AGGREGATED it stays until grtrace_job_done()
 * Return: whether there was room for it
 */
bool grtrace_job_add(u64 ctx, u64 seqno, const struct grtrace_job_info *info)
{
	int seq;
	struct slot *s = victim_claim(ctx, seqno, &seq);

	if (unlikely(!s)) {
		atomic64_inc(&evicted);
		return false;
	}
	if (s->state >= SLOT_LIVE)
		atomic64_inc(&evicted);
	s->state = info->fate == GRT_FATE_AGGREGATED ? SLOT_HELD : SLOT_LIVE;
	s->ctx = ctx;
	s->seqno = seqno;
	s->marks = 0;
	s->info = *info;
	slot_release(s, seq);
	return true;
}

/**
 * grtrace_job_find - what the job's SUBMIT knew
 * Return: false when the job is not known
 */
bool grtrace_job_find(u64 ctx, u64 seqno, struct grtrace_job_info *info)
{
	struct slot *s = table[set_of(ctx, seqno)];
	int i, seq;

	for (i = 0; i < WAYS; i++, s++) {
		if (!slot_is(s, ctx, seqno))
			continue;
		seq = slot_seq(s);
		if (unlikely(!slot_is(s, ctx, seqno)))
			continue;
		*info = s->info;
		smp_rmb(); /* the copy before the second look; pairs with slot_release() */
		if (atomic_read(&s->seq) == seq && !(seq & 1))
			return true;
	}
	return false;
}

/* The job's slot, claimed; NULL when the job is not known. */
static __always_inline struct slot *find_claim(u64 ctx, u64 seqno, int *seq)
{
	struct slot *s = table[set_of(ctx, seqno)];
	int i, tries = WAYS;

	for (i = 0; i < WAYS; i++, s++)
		while (slot_is(s, ctx, seqno) && tries--) {
			if (!slot_claim(s, seq))
				continue;
			if (likely(slot_is(s, ctx, seqno)))
				return s;
			slot_release(s, *seq);
		}
	return NULL;
}

/**
 * grtrace_job_done - the job has completed: its slot may be taken
 * @fate: of what comes after its COMPLETE
 */
void grtrace_job_done(u64 ctx, u64 seqno, enum grt_fate fate)
{
	int seq;
	struct slot *s = find_claim(ctx, seqno, &seq);

	if (!s)
		return;
	s->state = SLOT_DONE;
	s->info.fate = fate;
	slot_release(s, seq);
}

static struct grt_ev_job *stamps_of(const struct slot *s)
{
	return *stamps + (s - *table);
}

/* The slot's stamps may still be those of a job before, if stamps were not kept at this one's SUBMIT. */
static void begin_stamps(struct grt_ev_job *r, const struct slot *s, const struct grt_event *e)
{
	if (e->type != GRT_EV_SUBMIT && r->e.ctx == s->ctx && r->e.seqno == s->seqno)
		return;
	memset(r, 0, sizeof(*r));
	r->e.ctx = s->ctx;
	r->e.seqno = s->seqno;
	r->submit = s->info.submitted;
}

static void note_submit(struct grt_ev_job *r, const struct grt_event *e)
{
	const struct grt_ev_submit *ev = (const void *)e;

	r->e.flags = e->flags;
	r->cmd = ev->cmd;
	r->hw_ctx = ev->hw_ctx;
	r->fence_id = ev->fence_id;
}

static void note_commit(struct grt_ev_job *r, const struct grt_event *e)
{
	const struct grt_ev_commit *ev = (const void *)e;

	if (r->commit)
		return;
	r->commit = e->time;
	r->sw_depth = ev->sw_depth;
	r->hw_depth = ev->hw_depth;
}

static void note_start(struct grt_ev_job *r, const struct grt_event *e)
{
	if (!r->start)
		r->start = e->time;
}

static void note_end(struct grt_ev_job *r, const struct grt_event *e)
{
	r->end = e->time;
	r->reply = ((const struct grt_ev_end *)e)->reply;
}

static void note_complete(struct grt_ev_job *r, const struct grt_event *e)
{
	r->complete = e->time;
	r->status = ((const struct grt_ev_complete *)e)->status;
}

static void note_wait(struct grt_ev_job *r, const struct grt_event *e)
{
	if (!r->wait)
		r->wait = e->time;
	r->waits++;
}

static void note_error(struct grt_ev_job *r, const struct grt_event *e)
{
	r->errors++;
	r->code = ((const struct grt_ev_error *)e)->code;
}

/* What a JOB record takes from each event; of a job that starts or is committed again the first counts. */
static void (*const notes[])(struct grt_ev_job *r, const struct grt_event *e) = {
	[GRT_EV_SUBMIT] = note_submit,
	[GRT_EV_COMMIT] = note_commit,
	[GRT_EV_START] = note_start,
	[GRT_EV_END] = note_end,
	[GRT_EV_COMPLETE] = note_complete,
	[GRT_EV_SYNC_WAIT_ENTER] = note_wait,
	[GRT_EV_ERROR] = note_error,
};

/**
 * grtrace_job_stamp - notes an event with its job
 * @out: gets all that is noted of the job
 * @held: only while it is held, which ends with its COMPLETE
 * Return: false when the job is not known or held, or stamps are not kept
 */
bool grtrace_job_stamp(const struct grt_event *e, struct grt_ev_job *out, bool held)
{
	struct grt_ev_job *r;
	struct slot *s;
	int seq;

	if (!READ_ONCE(stamps))
		return false;
	s = find_claim(e->ctx, e->seqno, &seq);
	if (!s)
		return false;
	if (held && s->state != SLOT_HELD) {
		slot_release(s, seq);
		return false;
	}
	if (held && e->type == GRT_EV_COMPLETE)
		s->state = SLOT_LIVE;
	r = stamps_of(s);
	begin_stamps(r, s, e);
	if (e->type < ARRAY_SIZE(notes) && notes[e->type])
		notes[e->type](r, e);
	else
		r->others++;
	*out = *r;
	slot_release(s, seq);
	return true;
}

/** grtrace_jobs_keep_stamps - makes room for stamps, grtrace_lock held. Return: 0 or -ENOMEM */
int grtrace_jobs_keep_stamps(void)
{
	if (!stamps) /* zeroed before it is seen; pairs with the address dependency of its users */
		smp_store_release(&stamps, kvcalloc(SETS, sizeof(*stamps), GFP_KERNEL));
	return stamps ? 0 : -ENOMEM;
}

/**
 * grtrace_jobs_held - the held jobs one after another, finished ones left out
 * @at: 0 to begin; where to go on
 * @before: only those submitted before this, ns
 * @job: gets identity and stamps of one, which is held no more
 * @info: gets what is remembered of it
 * Interrupts are off. Return: false at the end
 */
bool grtrace_jobs_held(unsigned int *at, u64 before, struct grt_ev_job *job, struct grtrace_job_info *info)
{
	struct slot *s;
	bool found;
	int seq;

	while (*at < SETS * WAYS) {
		s = *table + (*at)++;
		if (s->state != SLOT_HELD || !slot_claim(s, &seq))
			continue;
		found = s->state == SLOT_HELD && s->info.submitted < before;
		if (found) {
			*job = *stamps_of(s);
			*info = s->info;
			s->state = SLOT_LIVE;
			s->info.fate = GRT_FATE_DELIVERED;
		}
		slot_release(s, seq);
		if (found)
			return true;
	}
	return false;
}

/** grtrace_jobs_forget_fates - what was decided on the jobs so far counts no more; nobody emits */
void grtrace_jobs_forget_fates(void)
{
	struct slot *s;

	for (s = *table; s < *table + SETS * WAYS; s++) {
		s->info.fate = GRT_FATE_DELIVERED;
		s->info.percent = 0;
		if (s->state == SLOT_HELD)
			s->state = SLOT_LIVE;
	}
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

/** grtrace_jobs_evicted - jobs forgotten while they were still running, or not remembered */
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
	kvfree(stamps);
	kvfree(table);
}
