// SPDX-License-Identifier: GPL-2.0
/*
 * The submitter of each job, and the decision about it: a fixed table from
 * (fence context, seqno) to the values of the job's SUBMIT, for later events, which
 * run in interrupts and workers. A second table, created on request, has the time
 * stamps of each job so far.
 *
 * Lock-free: each slot has a sequence number, odd while it is written. A
 * writer claims a slot with cmpxchg; a reader copies the slot and checks the number
 * again. Both retry a few times, since a writer needs only a few stores with
 * interrupts off.
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

/*
 * How many times to read a slot that another CPU is writing, before the slot is taken to be
 * another job's.
 */
#define TRIES 1000

/* How many times other CPUs may be faster: each time, another CPU has made progress. */
#define LOST_RACES 16

/* In the order in which slots are taken for a new job. */
enum slot_state {
	SLOT_FREE,
	SLOT_DONE,
	SLOT_LIVE,
	SLOT_HELD,	/* its events wait to leave as a JOB record */
};

/*
 * @seq: odd while the slot is being written
 * @worth: the value of keeping it: its state in the two highest bits, the time of the job's SUBMIT
 *	in the others
 * @marks: GRTRACE_JOB_*
 */
struct grtrace_slot {
	atomic_t seq;
	u8 marks;
	u64 worth;
	u64 ctx;
	u64 seqno;
	struct grtrace_job_info info;
};

static struct grtrace_slot (*table)[WAYS];
static struct grt_ev_job (*stamps)[WAYS];	/* only identity and flags of @e are used */
static atomic64_t evicted;

#define STATE_SHIFT 62

static enum slot_state jobs_slot_state(const struct grtrace_slot *s)
{
	return READ_ONCE(s->worth) >> STATE_SHIFT;
}

static void jobs_slot_become(struct grtrace_slot *s, enum slot_state state, u64 submitted)
{
	WRITE_ONCE(s->worth, (u64)state << STATE_SHIFT | (submitted & ~0ULL >> (64 - STATE_SHIFT)));
}

static unsigned int jobs_set_of(u64 ctx, u64 seqno)
{
	return (hash_64(ctx, 32) + (u32)seqno) & (SETS - 1);
}

/* Only a new job changes a slot's identity; the identity of a free one is 0. */
static bool jobs_slot_is(const struct grtrace_slot *s, u64 ctx, u64 seqno)
{
	return s->seqno == seqno && s->ctx == ctx;
}

/* Return: an even sequence number, unless the slot is being written all the time. */
static int jobs_slot_seq(const struct grtrace_slot *s)
{
	int seq, tries = TRIES;

	while (unlikely((seq = atomic_read_acquire(&s->seq)) & 1) && --tries)
		cpu_relax();
	return seq;
}

/* Takes a slot for writing. Return: false: another writer has it. */
static __always_inline bool jobs_slot_claim(struct grtrace_slot *s, int *seq)
{
	*seq = jobs_slot_seq(s);
	/* fully ordered: the odd number is visible before the following writes */
	return !(*seq & 1) && atomic_try_cmpxchg(&s->seq, seq, *seq + 1);
}

static void jobs_slot_release(struct grtrace_slot *s, int seq)
{
	atomic_set_release(&s->seq, seq + 2);
}

/*
 * Chooses the slot for a job: that of a job of the same identity, which only `emit` can cause, or
 * the one with the least worth. @worth: gets its worth at that moment
 */
static struct grtrace_slot *jobs_victim(struct grtrace_slot *set, u64 ctx, u64 seqno, u64 *worth)
{
	struct grtrace_slot *best = NULL;
	u64 is;
	int i;

	for (i = 0; i < WAYS; i++) {
		is = set[i].worth;
		if (unlikely(jobs_slot_is(&set[i], ctx, seqno))) {
			*worth = is;
			return &set[i];
		}
		if (!best || is < *worth) {
			*worth = is;
			best = &set[i];
		}
	}
	return best;
}

/*
 * Takes a slot for a new job; NULL: there is none. Another CPU may take the chosen slot for its
 * own job in the meantime; then another one is chosen.
 */
static struct grtrace_slot *jobs_victim_claim(u64 ctx, u64 seqno, int *seq)
{
	struct grtrace_slot *set = table[jobs_set_of(ctx, seqno)], *s;
	int tries = LOST_RACES;
	u64 worth;

	while (tries--) {
		s = jobs_victim(set, ctx, seqno, &worth);
		if (unlikely(worth >> STATE_SHIFT == SLOT_HELD) && !jobs_slot_is(s, ctx, seqno))
			return NULL;
		if (!jobs_slot_claim(s, seq))
			continue;
		if (likely(s->worth <= worth) || jobs_slot_is(s, ctx, seqno))
			return s;
		jobs_slot_release(s, *seq);
	}
	return NULL;
}

static struct grt_ev_job *jobs_stamps_of(const struct grtrace_slot *s)
{
	return *stamps + (s - *table);
}

/* If stamps were not kept at this job's SUBMIT, the slot may still have those of an earlier job. */
static void jobs_begin_stamps(struct grt_ev_job *r, const struct grtrace_slot *s, const struct grt_event *e)
{
	if (e->type != GRT_EV_SUBMIT && r->e.ctx == s->ctx && r->e.seqno == s->seqno)
		return;
	memset(r, 0, sizeof(*r));
	r->e.ctx = s->ctx;
	r->e.seqno = s->seqno;
	r->submit = s->info.submitted;
}

/* Stamps that an adapter inferred; the types are in the order of a job's life. */
static void jobs_note_inferred(struct grt_ev_job *r, const struct grt_event *e)
{
	if (e->flags & GRT_FLAG_INFERRED)
		r->inferred |= 1U << (e->type - GRT_EV_SUBMIT);
}

static void jobs_note_submit(struct grt_ev_job *r, const struct grt_event *e)
{
	const struct grt_ev_submit *ev = (const void *)e;

	jobs_note_inferred(r, e);
	r->e.flags = e->flags;
	r->cmd = ev->cmd;
	r->hw_ctx = ev->hw_ctx;
	r->fence_id = ev->fence_id;
}

static void jobs_note_commit(struct grt_ev_job *r, const struct grt_event *e)
{
	const struct grt_ev_commit *ev = (const void *)e;

	if (r->commit) {
		r->others++;
		return;
	}
	jobs_note_inferred(r, e);
	r->commit = e->time;
	r->sw_depth = ev->sw_depth;
	r->hw_depth = ev->hw_depth;
}

static void jobs_note_start(struct grt_ev_job *r, const struct grt_event *e)
{
	if (r->start) {
		r->others++;
		return;
	}
	jobs_note_inferred(r, e);
	r->start = e->time;
}

static void jobs_note_end(struct grt_ev_job *r, const struct grt_event *e)
{
	r->others += !!r->end;
	jobs_note_inferred(r, e);
	r->end = e->time;
	r->reply = ((const struct grt_ev_end *)e)->reply;
}

static void jobs_note_complete(struct grt_ev_job *r, const struct grt_event *e)
{
	jobs_note_inferred(r, e);
	r->complete = e->time;
	r->status = ((const struct grt_ev_complete *)e)->status;
}

static void jobs_note_wait(struct grt_ev_job *r, const struct grt_event *e)
{
	if (!r->wait)
		r->wait = e->time;
	r->waits++;
}

static void jobs_note_error(struct grt_ev_job *r, const struct grt_event *e)
{
	r->errors++;
	r->code = ((const struct grt_ev_error *)e)->code;
}

/*
 * The values that a JOB record takes from each event; if a job starts or is committed again, the
 * first event counts.
 */
static void (*const notes[])(struct grt_ev_job *r, const struct grt_event *e) = {
	[GRT_EV_SUBMIT] = jobs_note_submit,	[GRT_EV_COMMIT] = jobs_note_commit,
	[GRT_EV_START] = jobs_note_start,	[GRT_EV_END] = jobs_note_end,
	[GRT_EV_COMPLETE] = jobs_note_complete, [GRT_EV_SYNC_WAIT_ENTER] = jobs_note_wait,
	[GRT_EV_ERROR] = jobs_note_error,
};

/* The caller has taken the slot. */
static struct grt_ev_job *jobs_note_event(const struct grtrace_slot *s, const struct grt_event *e)
{
	struct grt_ev_job *r = jobs_stamps_of(s);

	jobs_begin_stamps(r, s, e);
	if (e->type < ARRAY_SIZE(notes) && notes[e->type])
		notes[e->type](r, e);
	else
		r->others++;
	return r;
}

/**
 * grtrace_job_add - remembers a job
 * @ctx: fence context, not 0
 * @seqno: fence sequence number
 * @info: copied; with @info->fate AGGREGATED it stays until its JOB record has left
 * @note: its SUBMIT, to be noted with it, where stamps are kept; may be NULL
 * Return: whether there was room for it
 */
bool grtrace_job_add(u64 ctx, u64 seqno, const struct grtrace_job_info *info, const struct grt_event *note)
{
	int seq;
	struct grtrace_slot *s = jobs_victim_claim(ctx, seqno, &seq);

	if (unlikely(!s)) {
		atomic64_inc(&evicted);
		return false;
	}
	if (jobs_slot_state(s) >= SLOT_LIVE)
		atomic64_inc(&evicted);
	jobs_slot_become(s, info->fate == GRT_FATE_AGGREGATED ? SLOT_HELD : SLOT_LIVE, info->submitted);
	s->ctx = ctx;
	s->seqno = seqno;
	s->marks = 0;
	s->info = *info;
	if (note && READ_ONCE(stamps))
		jobs_note_event(s, note);
	jobs_slot_release(s, seq);
	return true;
}

/* Meanwhile, another CPU may write events of the same job into the slot. */
static bool jobs_slot_copy(const struct grtrace_slot *s, u64 ctx, u64 seqno, struct grtrace_job_info *info)
{
	int seq, tries = LOST_RACES;

	do {
		seq = jobs_slot_seq(s);
		if (unlikely(!jobs_slot_is(s, ctx, seqno)))
			return false;
		*info = s->info;
		smp_rmb(); /* the copy before the second look; pairs with slot_claim() */
		if (likely(atomic_read(&s->seq) == seq && !(seq & 1)))
			return true;
	} while (--tries);
	return false;
}

/**
 * grtrace_job_find - what the job's SUBMIT knew
 * Return: false when the job is unknown
 */
bool grtrace_job_find(u64 ctx, u64 seqno, struct grtrace_job_info *info)
{
	struct grtrace_slot *s = table[jobs_set_of(ctx, seqno)];
	int i;

	for (i = 0; i < WAYS; i++, s++)
		if (jobs_slot_is(s, ctx, seqno))
			return jobs_slot_copy(s, ctx, seqno, info);
	return false;
}

/* The job's slot, taken for writing; NULL: the job is unknown. */
static __always_inline struct grtrace_slot *jobs_find_claim(u64 ctx, u64 seqno, int *seq)
{
	struct grtrace_slot *s = table[jobs_set_of(ctx, seqno)];
	int i, tries = LOST_RACES;

	for (i = 0; i < WAYS; i++, s++)
		while (jobs_slot_is(s, ctx, seqno) && tries--) {
			if (!jobs_slot_claim(s, seq))
				continue;
			if (likely(jobs_slot_is(s, ctx, seqno)))
				return s;
			jobs_slot_release(s, *seq);
		}
	return NULL;
}

static void jobs_slot_end(struct grtrace_slot *s, int seq, enum grt_fate fate, bool over)
{
	jobs_slot_become(s, SLOT_DONE, s->info.submitted);
	s->info.fate = fate;
	s->info.over = over;
	jobs_slot_release(s, seq);
}

/**
 * grtrace_job_done - nothing more of the job is waited for: its slot may be taken
 * @fate: of what still comes
 * @over: it has completed
 */
void grtrace_job_done(u64 ctx, u64 seqno, enum grt_fate fate, bool over)
{
	int seq;
	struct grtrace_slot *s = jobs_find_claim(ctx, seqno, &seq);

	if (!s)
		return;
	jobs_slot_end(s, seq, fate, over);
}

/**
 * grtrace_job_stamp - notes an event with its job
 * @out: gets all that is noted of the job; may be NULL
 * @held: only while it is held
 * Return: false when the job is unknown or held, or stamps are not kept
 */
bool grtrace_job_stamp(const struct grt_event *e, struct grt_ev_job *out, bool held)
{
	struct grtrace_slot *s;
	int seq;

	if (!READ_ONCE(stamps))
		return false;
	s = jobs_find_claim(e->ctx, e->seqno, &seq);
	if (!s)
		return false;
	if (held && jobs_slot_state(s) != SLOT_HELD) {
		jobs_slot_release(s, seq);
		return false;
	}
	jobs_note_event(s, e);
	if (out)
		*out = *jobs_stamps_of(s);
	jobs_slot_release(s, seq);
	return true;
}

/**
 * grtrace_job_leaves - notes the COMPLETE of a held job, whose JOB record may be written now
 * @h: for grtrace_job_left(), which must follow at once: until then others wait for the slot
 * Return: the record in its place, of @e only identity and flags; NULL when the job is not held
 */
struct grt_ev_job *grtrace_job_leaves(const struct grt_event *e, struct grtrace_held *h)
{
	if (!READ_ONCE(stamps))
		return NULL;
	h->slot = jobs_find_claim(e->ctx, e->seqno, &h->seq);
	if (!h->slot)
		return NULL;
	if (jobs_slot_state(h->slot) != SLOT_HELD) {
		jobs_slot_release(h->slot, h->seq);
		return NULL;
	}
	return jobs_note_event(h->slot, e);
}

/** grtrace_job_left - the job is over. @fate: of its JOB record, and of what still comes */
void grtrace_job_left(const struct grtrace_held *h, enum grt_fate fate)
{
	jobs_slot_end(h->slot, h->seq, fate, true);
}

/** grtrace_jobs_keep_stamps - makes room for stamps, grtrace_lock held. Return: 0 or -ENOMEM */
int grtrace_jobs_keep_stamps(void)
{
	if (!stamps) /* zeroed before it is seen; pairs with the address dependency of its users */
		smp_store_release(&stamps, kvcalloc(SETS, sizeof(*stamps), GFP_KERNEL));
	return stamps ? 0 : -ENOMEM;
}

/**
 * grtrace_jobs_held - gets the held jobs one after another, without finished ones
 * @at: 0 to begin; position of the next call
 * @before: only jobs submitted before this, ns
 * @job: gets identity and stamps of a job, which is not held any more
 * @info: gets what is remembered of it
 * Interrupts are off. Return: false at the end
 */
bool grtrace_jobs_held(unsigned int *at, u64 before, struct grt_ev_job *job, struct grtrace_job_info *info)
{
	struct grtrace_slot *s;
	bool found;
	int seq;

	while (*at < SETS * WAYS) {
		s = *table + (*at)++;
		if (jobs_slot_state(s) != SLOT_HELD || !jobs_slot_claim(s, &seq))
			continue;
		found = jobs_slot_state(s) == SLOT_HELD && s->info.submitted < before;
		if (found) {
			*job = *jobs_stamps_of(s);
			*info = s->info;
			jobs_slot_become(s, SLOT_LIVE, s->info.submitted);
			s->info.fate = GRT_FATE_DELIVERED;
		}
		jobs_slot_release(s, seq);
		if (found)
			return true;
	}
	return false;
}

/**
 * grtrace_jobs_forget_fates - forgets the decisions about the jobs so far; nothing is emitted
 * meanwhile
 */
void grtrace_jobs_forget_fates(void)
{
	struct grtrace_slot *s;

	for (s = *table; s < *table + SETS * WAYS; s++) {
		s->info.fate = GRT_FATE_DELIVERED;
		s->info.percent = 0;
		if (jobs_slot_state(s) == SLOT_HELD)
			jobs_slot_become(s, SLOT_LIVE, s->info.submitted);
	}
}

/**
 * grtrace_job_mark - notes the progress of a job, and returns what was noted before
 * @ctx: fence context
 * @seqno: fence sequence number
 * @marks: GRTRACE_JOB_*, 0 to note nothing
 *
 * Of several simultaneous callers that set a mark, one gets the answer that it was not set. Return:
 * the marks before, -ENOENT: the job's SUBMIT is unknown
 */
int grtrace_job_mark(u64 ctx, u64 seqno, u8 marks)
{
	unsigned long flags;
	struct grtrace_slot *s;
	int seq, before = -ENOENT;

	local_irq_save(flags);
	s = jobs_find_claim(ctx, seqno, &seq);
	if (s) {
		before = s->marks;
		s->marks |= marks;
		jobs_slot_release(s, seq);
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
