// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The join of jobs.h. Three events per job pass through here, so each must touch little memory: one cache
 * line of the index, and one or two of the job. Memory is only allocated when one of the arrays doubles.
 */
#include "jobs.h"

#include <string.h>

#include "codes/firmware.h"
#include "base/compare.h"
#include "base/containers.h"
#include "base/sized.h"
#include "trace/job_record.h"

#define BIT(stamp) (1U << (stamp))

enum job_state {
	JOB_FREE,
	JOB_LIVE,
	JOB_DONE,
	JOB_HELD,
};

/* If only waits have named a job, @time has the begin of the first wait and the end of the last one. */
enum {
	WAITS_BEGIN,
	WAITS_END,
};

/* How to infer START for a job that has no START event, from time[START]. */
enum job_order {
	ORDER_FIRST,	/* there is no END before it on its ring */
	ORDER_AFTER,	/* from the END before it on its ring */
	ORDER_UNKNOWN,	/* not at all: its ring is unknown */
	ORDER_FIRMWARE, /* not at all: its ring is a queue that waits in firmware */
};

/* A job, with its serial number, because another job may have its slot by now. */
struct job_ref {
	uint64_t serial;
	uint32_t id;
	uint32_t block;
};

/*
 * Indices of jobs with neighbouring numbers. A context's numbers are dense, so most lookups end in the same
 * block as the previous one, and the table of blocks is small. Sparse numbers cost a block each, 96 bytes.
 */
#define BLOCK 16U
/* Number of blocks that are found without a search. */
#define BLOCK_CACHE 64

struct block {
	uint64_t ctx;
	uint64_t number; /* sequence number / BLOCK */
	uint32_t used;
	uint32_t tag;	     /* hash; of a free block, the next free one */
	uint32_t ref[BLOCK]; /* index of the job plus 1, 0: none */
};

/* Number of rings that are found without a search. */
#define RING_CACHE 16

/* The state from which the order of a ring's jobs is inferred: the last END. */
struct ring_order {
	uint32_t device;
	uint32_t ring;
	uint64_t last_end;
	uint64_t last_commit; /* of the jobs that have ended */
	bool ended;
	bool gaps;	/* jobs that are not in the trace may have ended after it */
	bool firmware;	/* it is a queue: firmware chooses when a job of it runs */
	uint32_t front; /* index of the job that runs plus 1, 0: none is known */
};

/**
 * struct wait - a wait that has begun, by (ctx, seqno, tid)
 * @begin: time of SYNC_WAIT_ENTER, ns
 * @job, @serial: the awaited job: its slot and serial number
 */
struct wait {
	uint64_t begin;
	uint64_t serial;
	uint32_t job;
};

struct grt_jobs {
	struct grt_job *job;
	uint32_t room;
	uint32_t used;
	uint32_t free;
	uint64_t serial;
	struct job_ref *done; /* ring of the jobs that are done, the oldest at done_first */
	uint32_t done_mask;
	uint32_t done_first;
	uint32_t done_used;
	struct job_ref *oldest; /* jobs to be evicted next, from oldest_next on */
	uint32_t oldest_next;
	uint32_t oldest_used;
	struct block *block;
	uint32_t blocks;
	uint32_t blocks_room;
	uint32_t free_block;
	uint32_t block_cache[BLOCK_CACHE];
	struct grt_index index;
	struct grt_hash_key key;
	struct grt_jobs_sink sink;
	struct grt_jobs_limits limits;
	struct ring_order *ring;
	uint32_t rings;
	uint32_t rings_room;
	uint32_t ring_cache[RING_CACHE];
	struct grt_index ring_index;
	struct grt_keyed waits; /* struct wait; an old one is dropped if there are too many */
	struct grt_names names;
	uint32_t named_tid;
	uint32_t named;
	bool whole;			   /* the events come from a JOB record */
	uint64_t from, to;		   /* see grt_jobs_within() */
	bool bounded;			   /* these leave something out */
	uint64_t retired[1 << GRT_STAMPS]; /* by @seen */
	uint64_t completed_again;
	uint64_t chosen; /* JOB records of the module */
	struct grt_jobs_count count;
};

/* Whether something at this time counts, see grt_jobs_within(). */
static inline bool jobs_counts(const struct grt_jobs *j, uint64_t time)
{
	return time >= j->from && time <= j->to;
}

/* Identities */

static bool same_block(const void *owner, uint32_t id, const void *key)
{
	const struct block *b = &((const struct grt_jobs *)owner)->block[id];
	const struct grt_event *e = key;

	return b->ctx == e->ctx && b->number == e->seqno / BLOCK;
}

/* For rare cases: keeps their code apart from that of the usual ones. */
#define RARE __attribute__((noinline, cold))

static RARE uint32_t search_block(struct grt_jobs *j, const struct grt_event *e, uint32_t *cached)
{
	uint32_t tag = grt_hash(&j->key, e->ctx, e->seqno / BLOCK);
	uint32_t id = grt_index_find(&j->index, tag, same_block, j, e);

	if (id != GRT_NOWHERE)
		*cached = id;
	return id;
}

/* The block with the index of the event's job; GRT_NOWHERE: no job in flight is near. */
static inline uint32_t find_block(struct grt_jobs *j, const struct grt_event *e)
{
	uint32_t *cached = &j->block_cache[(e->ctx ^ e->seqno / BLOCK) % BLOCK_CACHE], id = *cached;

	return id < j->blocks && same_block(j, id, e) ? id : search_block(j, e, cached);
}

static inline struct grt_job *jobs_find_job(struct grt_jobs *j, const struct grt_event *e)
{
	uint32_t id = find_block(j, e), ref;

	if (id == GRT_NOWHERE)
		return NULL;
	ref = j->block[id].ref[e->seqno % BLOCK];
	return ref ? &j->job[ref - 1] : NULL;
}

static RARE int new_block(struct grt_jobs *j, const struct grt_event *e, uint32_t *out)
{
	uint32_t tag = grt_hash(&j->key, e->ctx, e->seqno / BLOCK), id = j->free_block;

	if (id == GRT_NOWHERE && grt_grow(&j->block, &j->blocks_room, j->blocks + 1, 128))
		return -ENOMEM;
	if (id == GRT_NOWHERE)
		id = j->blocks;
	if (grt_index_add(&j->index, tag, id))
		return -ENOMEM;
	if (id == j->blocks)
		j->blocks++;
	else
		j->free_block = j->block[id].tag;
	j->block[id] = (struct block){.ctx = e->ctx, .number = e->seqno / BLOCK, .tag = tag};
	*out = id;
	return 0;
}

/* Enters the job into the index. Return: 0 or -ENOMEM */
static inline int place_job(struct grt_jobs *j, const struct grt_event *e, struct grt_job *job)
{
	uint32_t id = find_block(j, e);

	if (id == GRT_NOWHERE && new_block(j, e, &id))
		return -ENOMEM;
	j->block[id].ref[e->seqno % BLOCK] = (uint32_t)(job - j->job) + 1;
	j->block[id].used++;
	job->block = id;
	return 0;
}

static RARE void free_block(struct grt_jobs *j, struct block *b, uint32_t id)
{
	grt_index_remove(&j->index, b->tag, id);
	/* No event has context 0, so no lookup finds a free block. */
	b->ctx = 0;
	b->tag = j->free_block;
	j->free_block = id;
}

static void unplace_job(struct grt_jobs *j, const struct grt_job *job)
{
	struct block *b = &j->block[job->block];

	b->ref[job->seqno % BLOCK] = 0;
	if (!--b->used)
		free_block(j, b, job->block);
}

/* Slots */

static struct grt_job *job_at(struct grt_jobs *j, const struct job_ref *ref)
{
	struct grt_job *job = &j->job[ref->id];

	return job->serial == ref->serial ? job : NULL;
}

static struct job_ref ref_of(const struct grt_jobs *j, const struct grt_job *job)
{
	return (struct job_ref){
		.serial = job->serial,
		.id = (uint32_t)(job - j->job),
		.block = job->block,
	};
}

/* The free slots are a stack, so that the memory in use stays small and warm. */
static void push_free(struct grt_jobs *j, struct grt_job *job)
{
	job->state = JOB_FREE;
	job->serial = 0;
	job->block = j->free;
	j->free = (uint32_t)(job - j->job);
}

/* Phases */

uint64_t grt_job_first(const struct grt_job *job)
{
	uint64_t first = UINT64_MAX;

	for (unsigned int seen = job->seen; seen; seen &= seen - 1)
		if (job->time[__builtin_ctz(seen)] < first)
			first = job->time[__builtin_ctz(seen)];
	return job->seen ? first : 0;
}

static inline unsigned int disordered_phases(const struct grt_job *job)
{
	const uint64_t *t = job->time;
	unsigned int both = job->seen & job->seen >> 1;

	/* The path of nearly every job. */
	if (both == 0xf && t[0] <= t[1] && t[1] <= t[2] && t[2] <= t[3] && t[3] <= t[4])
		return 0;
	return (both & 1 && t[1] < t[0]) + (both & 2 && t[2] < t[1]) + (both & 4 && t[3] < t[2]) +
	       (both & 8 && t[4] < t[3]);
}

/* Return: whether the job represents other jobs as well, which are not in the trace. */
static inline bool jobs_is_sampled(const struct grt_job *job)
{
	return job->sample && job->sample < 100;
}

/* START = max(COMMIT, END of the job before it on the ring); without such a job the ring was idle. */
static inline void infer_start(struct grt_jobs *j, struct grt_job *job)
{
	const unsigned int needed = BIT(GRT_STAMP_COMMIT) | BIT(GRT_STAMP_END);
	uint64_t commit = job->time[GRT_STAMP_COMMIT], start = commit;

	if ((job->seen & BIT(GRT_STAMP_START)) || (job->seen & needed) != needed)
		return;
	if (job->order == ORDER_FIRMWARE) {
		j->count.firmware_start++;
		return;
	}
	if (jobs_is_sampled(job) || job->order == ORDER_UNKNOWN) {
		j->count.unordered_start++;
		return;
	}
	if (job->order == ORDER_AFTER && job->time[GRT_STAMP_START] > commit)
		start = job->time[GRT_STAMP_START];
	if (start > job->time[GRT_STAMP_END]) {
		j->count.disordered++;
		return;
	}
	job->time[GRT_STAMP_START] = start;
	job->seen |= BIT(GRT_STAMP_START);
	job->inferred |= BIT(GRT_STAMP_START);
	j->count.inferred_start++;
}

/* Retirement */

static int jobs_ring_of(struct grt_jobs *j, const struct grt_job *job, struct ring_order **out);

/* Return: the time until which a job is in flight. */
static uint64_t jobs_until(struct grt_jobs *j, const struct grt_job *job)
{
	const unsigned int over = BIT(GRT_STAMP_END) | BIT(GRT_STAMP_COMPLETE);
	struct ring_order *ring;
	uint64_t until = 0;

	if (!(job->seen & over) && (!(job->seen & BIT(GRT_STAMP_COMMIT)) || jobs_ring_of(j, job, &ring) ||
				    job->time[GRT_STAMP_COMMIT] >= ring->last_commit))
		return UINT64_MAX;
	for (unsigned int seen = job->seen; seen; seen &= seen - 1)
		if (job->time[__builtin_ctz(seen)] > until)
			until = job->time[__builtin_ctz(seen)];
	return until;
}

static RARE bool jobs_is_outside(struct grt_jobs *j, const struct grt_job *job)
{
	return grt_job_first(job) > j->to || jobs_until(j, job) < j->from;
}

static inline void jobs_settle(struct grt_jobs *j, struct grt_job *job)
{
	if (job->settled || !job->seen)
		return;
	job->settled = true;
	job->outside = j->bounded && jobs_is_outside(j, job);
	if (job->outside)
		return;
	infer_start(j, job);
	j->count.disordered += disordered_phases(job);
}

static void count_sample(struct grt_jobs_count *c, uint8_t sample)
{
	if (!sample || sample >= 100)
		return;
	if (!c->sample_min || sample < c->sample_min)
		c->sample_min = sample;
	if (sample > c->sample_max)
		c->sample_max = sample;
}

static void count_job(struct grt_jobs *j, const struct grt_job *job)
{
	j->retired[job->seen]++;
	if (job->waits) {
		j->count.waits += job->waits;
		j->count.wait_ns += job->wait_ns;
	}
	count_sample(&j->count, job->sample);
}

static inline int retire(struct grt_jobs *j, struct grt_job *job)
{
	int r = 0;

	jobs_settle(j, job);
	job->cut_waits |= job->open_waits > 0;
	unplace_job(j, job);
	if (job->outside) {
		push_free(j, job);
		return 0;
	}
	if (job->seen) {
		count_job(j, job);
		r = j->sink.job(j->sink.arg, job);
	} else if (job->time[WAITS_BEGIN] <= j->to && job->time[WAITS_END] >= j->from) {
		j->count.unjoined_waits += job->waits;
		j->count.unjoined_wait_ns += job->wait_ns;
	}
	push_free(j, job);
	return r;
}

/* Jobs that leave the window were last touched thousands of events ago: they are fetched some jobs ahead. */
static inline void fetch_ahead(const struct grt_jobs *j)
{
	const struct job_ref *ref = &j->done[(j->done_first + 3) & j->done_mask];

	__builtin_prefetch(&j->job[ref->id]);
	__builtin_prefetch((const char *)&j->job[ref->id] + 64);
	__builtin_prefetch(&j->block[ref->block]);
}

/* The window has passed for the oldest job that is done. */
static inline int leave_window(struct grt_jobs *j)
{
	struct grt_job *job = job_at(j, &j->done[j->done_first]);

	fetch_ahead(j);
	j->done_first = (j->done_first + 1) & j->done_mask;
	j->done_used--;
	if (!job || job->state != JOB_DONE)
		return 0;
	if (!job->open_waits)
		return retire(j, job);
	jobs_settle(j, job);
	job->held = job->seen && !job->outside;
	job->state = JOB_HELD;
	return job->held && j->sink.held ? j->sink.held(j->sink.arg, job) : 0;
}

static inline int jobs_finish(struct grt_jobs *j, struct grt_job *job)
{
	job->state = JOB_DONE;
	j->done[(j->done_first + j->done_used) & j->done_mask] = ref_of(j, job);
	return ++j->done_used > j->limits.window ? leave_window(j) : 0;
}

static int by_age(const void *a, const void *b)
{
	const struct job_ref *x = a, *y = b;

	return grt_compare(x->serial, y->serial);
}

/* Lists all jobs that are live or held, the oldest first. Return: 0 or -ENOMEM */
static int list_oldest(struct grt_jobs *j)
{
	free(j->oldest);
	j->oldest = malloc((j->used + 1) * sizeof(*j->oldest));
	j->oldest_next = j->oldest_used = 0;
	if (!j->oldest)
		return -ENOMEM;
	for (uint32_t i = 0; i < j->used; i++)
		if (j->job[i].state == JOB_LIVE || j->job[i].state == JOB_HELD)
			j->oldest[j->oldest_used++] = ref_of(j, &j->job[i]);
	qsort(j->oldest, j->oldest_used, sizeof(*j->oldest), by_age);
	return 0;
}

/* The oldest job that is live or held, from the list; NULL: the list has ended. */
static struct grt_job *next_oldest(struct grt_jobs *j)
{
	struct grt_job *job;

	while (j->oldest_next < j->oldest_used) {
		job = job_at(j, &j->oldest[j->oldest_next++]);
		if (job && (job->state == JOB_LIVE || job->state == JOB_HELD))
			return job;
	}
	return NULL;
}

/* Finds the oldest job that is live or held; NULL: there is none. Return: 0 or -ENOMEM */
static int find_oldest(struct grt_jobs *j, struct grt_job **out)
{
	int r = 0;

	*out = next_oldest(j);
	if (*out)
		return 0;
	r = list_oldest(j);
	*out = next_oldest(j);
	return r;
}

/*
 * Frees a slot. Jobs that came after the list was made are younger than all in
 * it, so it is used up before it is made anew: sorting costs little per job.
 */
static RARE int evict(struct grt_jobs *j)
{
	struct grt_job *job;
	int r = 0;

	while (!r && j->free == GRT_NOWHERE) {
		r = find_oldest(j, &job);
		if (!r && job) {
			j->count.evicted++;
			r = retire(j, job);
		} else if (!r) {
			/* All are done, so the window is too large; a job with waiters would be held. */
			r = leave_window(j);
		}
	}
	return r;
}

/* New jobs */

static RARE int jobs_grow(struct grt_jobs *j)
{
	uint32_t room = j->room ? 2 * j->room : 1024;
	struct grt_job *more;

	if (room > j->limits.jobs)
		room = j->limits.jobs;
	/* Always a multiple of 64, because a job has 128 bytes. */
	more = aligned_alloc(64, room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	if (j->used)
		memcpy(more, j->job, j->used * sizeof(*more));
	free(j->job);
	j->job = more;
	j->room = room;
	return 0;
}

/* A slot; makes room by eviction when the bound is reached. */
static inline int jobs_take_slot(struct grt_jobs *j, struct grt_job **out)
{
	int r = 0;

	if (j->free == GRT_NOWHERE && j->used == j->limits.jobs)
		r = evict(j);
	if (r)
		return r;
	if (j->free != GRT_NOWHERE) {
		*out = &j->job[j->free];
		j->free = (*out)->block;
		return 0;
	}
	if (j->used == j->room && jobs_grow(j))
		return -ENOMEM;
	*out = &j->job[j->used++];
	(*out)->size = sizeof(**out);
	return 0;
}

/*
 * Member by member, because a memset of 128 bytes costs more than everything else here; of the stamps, only
 * @seen is needed.
 */
static inline void clear_job(struct grt_job *job)
{
	job->wait_ns = 0;
	job->ring = GRT_RING_NONE;
	job->device = 0;
	job->pid = 0;
	job->tid = 0;
	job->cmd = 0;
	job->hw_ctx = 0;
	job->status = 0;
	job->name = GRT_NAME_UNKNOWN;
	job->waits = 0;
	job->open_waits = 0;
	job->engine = 0;
	job->sample = 0;
	job->seen = 0;
	job->inferred = 0;
	job->failed = false;
	job->cut_waits = false;
	job->held = false;
	job->state = JOB_FREE;
	job->order = ORDER_FIRST;
	job->settled = false;
	job->outside = false;
}

/* Whether the event has the flag of BPF programs. */
#define ORIGIN_BPF 1U
/* Only a wait has named the job so far, so both kinds of sources may still report the job. */
#define ORIGIN_OPEN 2U

/* Which kind of source reports; two kinds may report one job. */
static inline unsigned int jobs_origin(const struct grt_event *e)
{
	return e->flags >> GRT_FLAG_BPF_BIT & 1;
}

static int new_job(struct grt_jobs *j, const struct grt_event *e, struct grt_job **out)
{
	struct grt_job *job;
	int r = jobs_take_slot(j, &job);

	if (r)
		return r;
	clear_job(job);
	job->ctx = e->ctx;
	job->seqno = e->seqno;
	job->serial = ++j->serial;
	job->origin = e->flags & GRT_FLAG_CALL ? ORIGIN_OPEN : jobs_origin(e);
	if (place_job(j, e, job)) {
		push_free(j, job);
		return -ENOMEM;
	}
	job->state = JOB_LIVE;
	*out = job;
	return 0;
}

/* Rings */

static bool jobs_same_ring(const void *owner, uint32_t id, const void *key)
{
	const struct ring_order *r = &((const struct grt_jobs *)owner)->ring[id];
	const struct grt_job *job = key;

	return r->ring == job->ring && r->device == job->device;
}

static RARE int jobs_add_ring(struct grt_jobs *j, const struct grt_job *job, uint32_t tag)
{
	if (grt_grow(&j->ring, &j->rings_room, j->rings + 1, 16))
		return -ENOMEM;
	j->ring[j->rings] = (struct ring_order){
		.device = job->device,
		.ring = job->ring,
		.firmware = grt_firmware_schedules(
			grt_names_owner(&j->names, grt_names_find(&j->names, GRT_NAME_RING, job->ring))),
	};
	return grt_index_add(&j->ring_index, tag, j->rings++);
}

static RARE int search_ring(struct grt_jobs *j, const struct grt_job *job, uint32_t *cached)
{
	uint32_t tag = grt_hash(&j->key, job->ring, job->device);
	uint32_t id = grt_index_find(&j->ring_index, tag, jobs_same_ring, j, job);

	if (id == GRT_NOWHERE && j->rings == GRT_JOBS_RINGS_MAX)
		return 1;
	if (id == GRT_NOWHERE && jobs_add_ring(j, job, tag))
		return -ENOMEM;
	*cached = id == GRT_NOWHERE ? j->rings - 1 : id;
	return 0;
}

/* Return: 0 with the order of the job's ring, 1: the ring is unknown or there are too many, -ENOMEM */
static int jobs_ring_of(struct grt_jobs *j, const struct grt_job *job, struct ring_order **out)
{
	uint32_t *cached = &j->ring_cache[(job->ring ^ job->device) % RING_CACHE];
	int r = 0;

	if (job->ring == GRT_RING_NONE)
		return 1;
	if (*cached >= j->rings || !jobs_same_ring(j, *cached, job))
		r = search_ring(j, job, cached);
	*out = &j->ring[*cached];
	return r;
}

/* It is in the trace because it took long. */
static inline bool jobs_is_chosen(const struct grt_jobs *j, const struct grt_job *job)
{
	return j->whole && job->origin != ORIGIN_BPF;
}

/*
 * Stores the END before this one in place of START, which is inferred from it when the job is settled; until
 * then an observed START may replace it.
 */
static int follow_ring(struct grt_jobs *j, struct grt_job *job, uint64_t end)
{
	struct ring_order *ring;
	int r = jobs_ring_of(j, job, &ring);

	if (r) {
		job->order = ORDER_UNKNOWN;
		return r < 0 ? r : 0;
	}
	if (ring->firmware) {
		job->order = ORDER_FIRMWARE;
		return 0;
	}
	if (ring->ended && !(job->seen & BIT(GRT_STAMP_START))) {
		job->time[GRT_STAMP_START] = ring->last_end;
		job->order = ring->gaps ? ORDER_UNKNOWN : ORDER_AFTER;
	}
	if (!ring->ended || end > ring->last_end)
		ring->last_end = end;
	if (job->seen & BIT(GRT_STAMP_COMMIT) && job->time[GRT_STAMP_COMMIT] > ring->last_commit)
		ring->last_commit = job->time[GRT_STAMP_COMMIT];
	ring->ended = true;
	/*
	 * The rate of sampling may change from job to job. After a JOB record of the
	 * module the order is unknown: it comes after its job, and the job before it may
	 * have been left out. BPF programs write records of all jobs.
	 */
	ring->gaps = jobs_is_chosen(j, job) || jobs_is_sampled(job);
	if (jobs_is_chosen(j, job))
		job->order = ORDER_UNKNOWN;
	return 0;
}

int grt_jobs_ended(struct grt_jobs *j, const struct grt_job_sums *s)
{
	const struct grt_job last = {.ring = s->ring, .device = s->device};
	struct ring_order *ring;
	int r = s->last_end ? jobs_ring_of(j, &last, &ring) : 1;

	if (r)
		return r < 0 ? r : 0;
	if (!ring->ended || s->last_end > ring->last_end)
		ring->last_end = s->last_end;
	if (s->last_commit > ring->last_commit)
		ring->last_commit = s->last_commit;
	ring->ended = true;
	ring->gaps = false;
	return 0;
}

/* Events */

/* The job already has such a stamp. Return: whether the new one is better: observed instead of inferred */
static RARE bool replace_stamp(struct grt_jobs *j, struct grt_job *job, enum grt_stamp stamp, uint64_t time,
			       bool inferred)
{
	/* a record of the job in flight had it already */
	if (j->whole && job->time[stamp] == time)
		return false;
	if (inferred || !(job->inferred & BIT(stamp))) {
		j->count.repeated += jobs_counts(j, time);
		return false;
	}
	job->inferred &= ~BIT(stamp);
	return true;
}

/* Return: whether the stamp was taken */
static inline bool set_stamp(struct grt_jobs *j, struct grt_job *job, enum grt_stamp stamp, uint64_t time,
			     bool inferred)
{
	if ((job->seen & BIT(stamp)) && !replace_stamp(j, job, stamp, time, inferred))
		return false;
	job->time[stamp] = time;
	job->seen |= BIT(stamp);
	job->inferred |= (unsigned int)inferred << stamp;
	return true;
}

/* Sets what any event of a job may be the first to report: its ring, device, engine and so on. */
static inline void learn_place(struct grt_job *job, const struct grt_event *e)
{
	if (job->ring == GRT_RING_NONE) {
		job->ring = e->ring;
		job->device = e->device;
	}
	if (!job->engine)
		job->engine = e->engine;
	if (!job->sample)
		job->sample = e->sample;
}

static RARE void jobs_learn(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	learn_place(job, e);
	if (!job->tid && e->tid) {
		job->pid = e->pid;
		job->tid = e->tid;
		job->name = grt_names_find(&j->names, GRT_NAME_THREAD, e->tid);
	}
}

/* An identity occurs again: a fence's number should never be reused, but some drivers do so. */
static RARE bool is_reuse(const struct grt_jobs *j, const struct grt_job *job, const struct grt_event *e)
{
	/* The rest of a job whose first events were written before records were requested. */
	if (j->whole && (job->seen & BIT(GRT_STAMP_SUBMIT)) && !(job->seen & BIT(GRT_STAMP_COMPLETE)))
		return job->time[GRT_STAMP_SUBMIT] != e->time;
	if (job->seen & BIT(GRT_STAMP_SUBMIT))
		return true;
	return (job->seen & BIT(GRT_STAMP_COMPLETE)) && job->time[GRT_STAMP_COMPLETE] < e->time;
}

/* Keeps the name at hand, because the next job mostly belongs to the same thread. */
static void jobs_find_name(struct grt_jobs *j, uint32_t tid)
{
	j->named_tid = tid;
	j->named = grt_names_find(&j->names, GRT_NAME_THREAD, tid);
}

static int jobs_on_submit(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	const struct grt_ev_submit *s = (const struct grt_ev_submit *)e;

	learn_place(job, e);
	job->cmd = s->cmd;
	job->hw_ctx = s->hw_ctx;
	job->pid = e->pid;
	job->tid = e->tid;
	if (e->tid != j->named_tid || !j->named)
		jobs_find_name(j, e->tid);
	job->name = j->named;
	set_stamp(j, job, GRT_STAMP_SUBMIT, e->time, e->flags & GRT_FLAG_INFERRED);
	if ((e->flags & GRT_FLAG_COMMIT) && !(job->seen & BIT(GRT_STAMP_COMMIT)))
		set_stamp(j, job, GRT_STAMP_COMMIT, e->time, true);
	return 0;
}

static int jobs_on_commit(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	set_stamp(j, job, GRT_STAMP_COMMIT, e->time, e->flags & GRT_FLAG_INFERRED);
	return 0;
}

static int jobs_on_start(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	set_stamp(j, job, GRT_STAMP_START, e->time, e->flags & GRT_FLAG_INFERRED);
	return 0;
}

static int jobs_on_end(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	bool first = !(job->seen & BIT(GRT_STAMP_END));

	if (!set_stamp(j, job, GRT_STAMP_END, e->time, e->flags & GRT_FLAG_INFERRED) || !first)
		return 0;
	return follow_ring(j, job, e->time);
}

static int jobs_on_complete(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e)
{
	const struct grt_ev_complete *c = (const struct grt_ev_complete *)e;
	bool again = job->seen >> GRT_STAMP_COMPLETE & 1;

	j->completed_again += again && jobs_counts(j, e->time);
	if (!set_stamp(j, job, GRT_STAMP_COMPLETE, e->time, e->flags & GRT_FLAG_INFERRED))
		return 0;
	if (c->status == GRT_STATUS_UNKNOWN) {
		j->count.no_status += !again && jobs_counts(j, e->time);
		job->status = job->failed ? job->status : GRT_STATUS_UNKNOWN;
	} else if (c->status) {
		job->status = c->status;
		job->failed = true;
	}
	return job->state == JOB_LIVE ? jobs_finish(j, job) : 0;
}

/*
 * A job that was over is live again: a new serial number makes the window forget it. Open waits refer to the
 * job by its serial number, so with open waits it keeps the number.
 */
static RARE void revive(struct grt_jobs *j, struct grt_job *job)
{
	job->state = JOB_LIVE;
	if (!job->open_waits)
		job->serial = ++j->serial;
}

/* Inlined into each of its five callers, so that there is only one jump by type. */
static inline __attribute__((always_inline)) int
life_event(struct grt_jobs *j, const struct grt_event *e,
	   int (*on_stamp)(struct grt_jobs *j, struct grt_job *job, const struct grt_event *e))
{
	struct grt_job *job;
	int r = 0;

	if (!e->ctx) {
		j->count.no_identity += jobs_counts(j, e->time);
		return 0;
	}
	job = jobs_find_job(j, e);
	if (job && job->origin == ORIGIN_OPEN)
		job->origin = jobs_origin(e);
	if (job && job->origin != jobs_origin(e)) {
		j->count.duplicates += jobs_counts(j, e->time);
		j->completed_again += e->type == GRT_EV_COMPLETE && jobs_counts(j, e->time);
		return 0;
	}
	if (job && on_stamp == jobs_on_submit && is_reuse(j, job, e)) {
		j->count.reused += jobs_counts(j, e->time);
		r = retire(j, job);
		job = NULL;
	}
	if (!job)
		r = r ?: new_job(j, e, &job);
	if (r)
		return r;
	if (job->settled) {
		j->count.late += jobs_counts(j, e->time);
		j->completed_again += e->type == GRT_EV_COMPLETE && jobs_counts(j, e->time);
		return 0;
	}
	/* only waits have named the job, and they were over: now it is live */
	if (!job->seen && job->state != JOB_LIVE)
		revive(j, job);
	if (on_stamp != jobs_on_submit &&
	    (!(job->seen & BIT(GRT_STAMP_SUBMIT)) || job->ring == GRT_RING_NONE || !job->engine))
		jobs_learn(j, job, e);
	return on_stamp(j, job, e);
}

static int submit_event(struct grt_jobs *j, const struct grt_event *e)
{
	return life_event(j, e, jobs_on_submit);
}

static int commit_event(struct grt_jobs *j, const struct grt_event *e)
{
	return life_event(j, e, jobs_on_commit);
}

static int start_event(struct grt_jobs *j, const struct grt_event *e)
{
	return life_event(j, e, jobs_on_start);
}

static int end_event(struct grt_jobs *j, const struct grt_event *e)
{
	return life_event(j, e, jobs_on_end);
}

static int jobs_complete_event(struct grt_jobs *j, const struct grt_event *e)
{
	return life_event(j, e, jobs_on_complete);
}

/* Waits */

/* The job of a wait; NULL: it was dropped before the wait ended. */
static struct grt_job *wait_job(struct grt_jobs *j, const struct wait *w)
{
	struct grt_job *job = &j->job[w->job];

	return job->state != JOB_FREE && job->serial == w->serial ? job : NULL;
}

/* The job may have been kept for this wait only. */
static int wait_over(struct grt_jobs *j, struct grt_job *job)
{
	if (--job->open_waits)
		return 0;
	if (job->state == JOB_HELD)
		return retire(j, job);
	return !job->seen && job->state == JOB_LIVE ? jobs_finish(j, job) : 0;
}

/* The end of this wait is not in the trace. */
static int lose_wait(struct grt_jobs *j, const struct wait *w)
{
	struct grt_job *job = wait_job(j, w);

	j->count.half_waits += jobs_counts(j, w->begin);
	if (!job)
		return 0;
	job->cut_waits = true;
	return wait_over(j, job);
}

/* The other origin reported this wait, too. */
static bool is_reported_twice(const struct grt_job *job, const struct grt_event *e)
{
	return job && job->origin != jobs_origin(e) && job->origin != ORIGIN_OPEN &&
	       !(e->flags & GRT_FLAG_CALL);
}

static struct grt_key wait_key(const struct grt_event *e, uint32_t tid)
{
	return (struct grt_key){{e->ctx, e->seqno, tid}};
}

/* Ends the wait. Return: whether there was one */
static bool take_wait(struct grt_jobs *j, const struct grt_event *e, uint32_t tid, struct wait *out)
{
	const struct grt_key key = wait_key(e, tid);
	struct wait *w = grt_keyed_find(&j->waits, &key);

	if (!w)
		return false;
	*out = *w;
	grt_keyed_remove(&j->waits, w);
	return true;
}

/* Ends the oldest wait. Return: whether there was one */
static bool pop_wait(struct grt_jobs *j, struct wait *out)
{
	struct wait *w = grt_keyed_oldest(&j->waits);

	if (!w)
		return false;
	*out = *w;
	grt_keyed_remove(&j->waits, w);
	return true;
}

static int begin_wait(struct grt_jobs *j, const struct grt_event *e, const struct grt_job *job)
{
	const struct grt_key key = wait_key(e, e->tid);
	void *found;
	int ret = grt_keyed_get(&j->waits, &key, &found);

	if (!ret)
		*(struct wait *)found = (struct wait){
			.begin = e->time, .serial = job->serial, .job = (uint32_t)(job - j->job)};
	return ret;
}

static int wait_enter(struct grt_jobs *j, const struct grt_event *e)
{
	struct grt_job *job = jobs_find_job(j, e);
	struct wait gone;
	bool full;
	int r = 0;

	if (is_reported_twice(job, e)) {
		j->count.duplicates += jobs_counts(j, e->time);
		return 0;
	}
	if (take_wait(j, e, e->tid, &gone))
		r = lose_wait(j, &gone);
	job = jobs_find_job(j, e);
	/*
	 * The fence's job may be unknown so far, or the fence may have none: this is decided when its
	 * element is retired.
	 */
	if (!job) {
		r = r ?: new_job(j, e, &job);
		if (!r)
			job->time[WAITS_BEGIN] = job->time[WAITS_END] = e->time;
	}
	if (r)
		return r;
	job->open_waits++;
	full = grt_keyed_full(&j->waits) && pop_wait(j, &gone);
	r = begin_wait(j, e, job);
	return r || !full ? r : lose_wait(j, &gone);
}

/* The thread's own wait, or one that a JOB record reported without its thread. */
static bool jobs_end_wait(struct grt_jobs *j, const struct grt_event *e, struct wait *out)
{
	return take_wait(j, e, e->tid, out) || take_wait(j, e, 0, out);
}

/* A thread that waits for several jobs no longer waits for those that are complete. */
static uint64_t wait_time(const struct grt_job *job, const struct wait *w, const struct grt_event *e)
{
	uint64_t end = e->time;

	if (job && e->flags & GRT_FLAG_SEVERAL && job->seen & BIT(GRT_STAMP_COMPLETE) &&
	    job->time[GRT_STAMP_COMPLETE] < end)
		end = job->time[GRT_STAMP_COMPLETE];
	return end > w->begin ? end - w->begin : 0;
}

static int wait_exit(struct grt_jobs *j, const struct grt_event *e)
{
	struct wait w;
	struct grt_job *job = jobs_find_job(j, e);
	uint64_t ns;

	if (is_reported_twice(job, e)) {
		j->count.duplicates += jobs_counts(j, e->time);
		return 0;
	}
	if (!jobs_end_wait(j, e, &w)) {
		j->count.half_waits += jobs_counts(j, e->time);
		return 0;
	}
	job = wait_job(j, &w);
	ns = wait_time(job, &w, e);
	if (!job && (w.begin > j->to || e->time < j->from))
		return 0;
	if (!job) {
		j->count.unjoined_waits++;
		j->count.unjoined_wait_ns += ns;
		return 0;
	}
	job->waits++;
	job->wait_ns += ns;
	if (!job->seen)
		job->time[WAITS_END] = e->time;
	return wait_over(j, job);
}

static int wait_event(struct grt_jobs *j, const struct grt_event *e)
{
	return e->type == GRT_EV_SYNC_WAIT_ENTER ? wait_enter(j, e) : wait_exit(j, e);
}

/* The rest */

static int stray_event(struct grt_jobs *j, const struct grt_event *e)
{
	return j->sink.stray ? j->sink.stray(j->sink.arg, e) : 0;
}

static int error_event(struct grt_jobs *j, const struct grt_event *e)
{
	const struct grt_ev_error *x = (const struct grt_ev_error *)e;
	struct grt_job *job = e->ctx ? jobs_find_job(j, e) : NULL;

	if (!job && (e->time < j->from || e->time > j->to))
		return 0;
	if (!job) {
		j->count.errors++;
		return stray_event(j, e);
	}
	job->failed = true;
	if (!job->status || job->status == GRT_STATUS_UNKNOWN)
		job->status = x->status;
	return 0;
}

static int command_event(struct grt_jobs *j, const struct grt_event *e)
{
	j->count.commands++;
	return stray_event(j, e);
}

static int name_event(struct grt_jobs *j, const struct grt_event *e)
{
	j->named = GRT_NAME_UNKNOWN;
	return grt_names_add(&j->names, (const struct grt_ev_name *)e);
}

/*
 * Adds the waits of a JOB record to the job. For one wait, the record has its beginning, and the wait's end
 * follows the record. With several waits, it is unknown to which wait an end belongs. If the record has no
 * time of the wait, the wait is cut as well. Waits of the job that are in the trace are among those of the
 * record.
 */
static int whole_waits(struct grt_jobs *j, const struct grt_ev_job *r)
{
	struct grt_job *job = r->waits ? jobs_find_job(j, &r->e) : NULL;
	struct grt_event enter = r->e;

	if (!job || job->origin != jobs_origin(&r->e) || r->waits <= job->waits + job->open_waits)
		return 0;
	if (r->waits > 1 || !r->wait) {
		job->cut_waits = true;
		return 0;
	}
	enter.type = GRT_EV_SYNC_WAIT_ENTER;
	enter.time = r->wait;
	enter.tid = 0;
	return wait_enter(j, &enter);
}

static int (*const handlers[GRT_EV_MAX])(struct grt_jobs *j, const struct grt_event *e);

/* Handles the record as if its events came now, one after another. */
static int whole_parts(struct grt_jobs *j, const struct grt_ev_job *whole)
{
	struct grt_job_parts parts;
	int r = 0;

	grt_job_split(&whole->e, &parts);
	for (unsigned int i = 0; i < parts.n && !r; i++)
		r = handlers[parts.of[i].e.type](j, &parts.of[i].e);
	return r ?: whole_waits(j, whole);
}

/* The job was submitted and is complete, nothing failed, and no other event has named it. */
static bool whole_is_plain(struct grt_jobs *j, const struct grt_ev_job *r)
{
	return r->submit && r->complete && r->e.ctx && !(r->inferred | r->errors | r->status | r->waits) &&
	       !(r->e.flags & (GRT_FLAG_COMMIT | GRT_FLAG_INFERRED)) && !jobs_find_job(j, &r->e);
}

static inline void whole_stamp(struct grt_job *job, enum grt_stamp stamp, uint64_t time)
{
	job->time[stamp] = time;
	job->seen |= (unsigned int)!!time << stamp;
}

/* The same as whole_parts() for a plain one, in a third of the time. */
static int whole_at_once(struct grt_jobs *j, const struct grt_ev_job *r)
{
	struct grt_job *job;
	int ret = new_job(j, &r->e, &job);

	if (ret)
		return ret;
	learn_place(job, &r->e);
	job->pid = r->e.pid;
	job->tid = r->e.tid;
	job->cmd = r->cmd;
	job->hw_ctx = r->hw_ctx;
	if (r->e.tid != j->named_tid || !j->named)
		jobs_find_name(j, r->e.tid);
	job->name = j->named;
	whole_stamp(job, GRT_STAMP_SUBMIT, r->submit);
	whole_stamp(job, GRT_STAMP_COMMIT, r->commit);
	whole_stamp(job, GRT_STAMP_START, r->start);
	whole_stamp(job, GRT_STAMP_END, r->end);
	whole_stamp(job, GRT_STAMP_COMPLETE, r->complete);
	ret = r->end ? follow_ring(j, job, r->end) : 0;
	return ret ?: jobs_finish(j, job);
}

/* A JOB record. BPF programs report a job that is in flight, and report it again when it ends. */
static int whole_event(struct grt_jobs *j, const struct grt_event *e)
{
	const struct grt_ev_job *whole = (const struct grt_ev_job *)e;
	int r;

	j->chosen += jobs_origin(e) != ORIGIN_BPF;
	if ((whole->complete || jobs_origin(e) != ORIGIN_BPF) && jobs_counts(j, e->time)) {
		j->count.whole++;
		j->count.replaced += grt_job_replaced(e);
	}
	j->whole = true;
	r = whole_is_plain(j, whole) ? whole_at_once(j, whole) : whole_parts(j, whole);
	j->whole = false;
	return r;
}

static int (*const handlers[GRT_EV_MAX])(struct grt_jobs *j, const struct grt_event *e) = {
	[GRT_EV_SUBMIT] = submit_event,
	[GRT_EV_COMMIT] = commit_event,
	[GRT_EV_START] = start_event,
	[GRT_EV_END] = end_event,
	[GRT_EV_COMPLETE] = jobs_complete_event,
	[GRT_EV_SYNC_WAIT_ENTER] = wait_event,
	[GRT_EV_SYNC_WAIT_EXIT] = wait_event,
	[GRT_EV_ERROR] = error_event,
	[GRT_EV_COMMAND] = command_event,
	[GRT_EV_NAME] = name_event,
	[GRT_EV_JOB] = whole_event,
};

int grt_jobs_event(struct grt_jobs *j, const struct grt_event *e)
{
	if (e->type >= GRT_EV_MAX || !handlers[e->type])
		return 0;
	return handlers[e->type](j, e);
}

int grt_jobs_new_sized(struct grt_jobs **out, const struct grt_jobs_sink *sink, size_t sink_size,
		       const struct grt_jobs_limits *limits, size_t limits_size)
{
	struct grt_jobs *j = calloc(1, sizeof(*j));

	*out = j;
	if (!j)
		return -ENOMEM;
	if (limits)
		grt_sized_copy(&j->limits, sizeof(j->limits), limits, limits_size);
	j->limits.jobs = j->limits.jobs ?: GRT_JOBS_MAX;
	j->limits.window = j->limits.window ?: GRT_JOBS_WINDOW;
	j->limits.waits = j->limits.waits ?: GRT_JOBS_WAITS_MAX;
	grt_sized_copy(&j->sink, sizeof(j->sink), sink, sink_size);
	j->key = grt_hash_key_new();
	j->to = UINT64_MAX;
	j->free = GRT_NOWHERE;
	j->free_block = GRT_NOWHERE;
	grt_keyed_init(&j->waits, sizeof(struct wait), j->limits.waits);
	/* Room for the window and one more. */
	j->done_mask = 1;
	while (j->done_mask <= j->limits.window)
		j->done_mask *= 2;
	j->done = calloc(j->done_mask--, sizeof(*j->done));
	if (j->done)
		return 0;
	free(j);
	*out = NULL;
	return -ENOMEM;
}

bool grt_job_touches(const struct grt_job *job, uint64_t first, uint64_t last)
{
	bool before = false, after = false;

	for (unsigned int i = 0; i < GRT_STAMPS; i++) {
		if (job->seen >> i & 1) {
			before |= job->time[i] <= last;
			after |= job->time[i] >= first;
		}
	}
	return before && after;
}

void grt_jobs_within(struct grt_jobs *j, uint64_t from, uint64_t to)
{
	j->from = from;
	j->to = to;
	j->bounded = from || to != UINT64_MAX;
}

int grt_jobs_settle(struct grt_jobs *j, uint64_t time)
{
	const struct grt_job *job;
	int r = 0;

	while (!r && j->done_used) {
		job = job_at(j, &j->done[j->done_first]);
		if (job && job->state == JOB_DONE && job->time[GRT_STAMP_COMPLETE] >= time)
			break;
		r = leave_window(j);
	}
	return r;
}

int grt_jobs_flush(struct grt_jobs *j)
{
	struct grt_job *job;
	struct wait w;
	int r = 0;

	while (!r && pop_wait(j, &w))
		r = lose_wait(j, &w);
	while (!r && j->done_used)
		r = leave_window(j);
	r = r ?: list_oldest(j);
	while (!r && (job = next_oldest(j)))
		r = retire(j, job);
	return r;
}

/* Whether a job waits for its ring, or runs: the order on its ring decides which job runs. */
static bool jobs_is_on_ring(const struct grt_job *job)
{
	const unsigned int stamps =
		BIT(GRT_STAMP_COMMIT) | BIT(GRT_STAMP_START) | BIT(GRT_STAMP_END) | BIT(GRT_STAMP_COMPLETE);

	return job->state == JOB_LIVE && (job->seen & stamps) == BIT(GRT_STAMP_COMMIT) &&
	       !jobs_is_sampled(job);
}

/* Stores the first job of each ring there. Return: 0 or -ENOMEM */
static int jobs_note_front(struct grt_jobs *j, const struct grt_job *job)
{
	struct ring_order *ring;
	int r = jobs_ring_of(j, job, &ring);

	if (r)
		return r < 0 ? r : 0;
	/* if a job was committed before one that has ended, its own end was lost */
	if (ring->firmware || ring->gaps || job->time[GRT_STAMP_COMMIT] < ring->last_commit)
		return 0;
	if (!ring->front || job->time[GRT_STAMP_COMMIT] < j->job[ring->front - 1].time[GRT_STAMP_COMMIT])
		ring->front = (uint32_t)(job - j->job) + 1;
	return 0;
}

static int jobs_report_front(struct grt_jobs *j, struct ring_order *ring,
			     int (*fn)(void *arg, const struct grt_job *job), void *arg)
{
	struct grt_job job;

	if (!ring->front)
		return 0;
	job = j->job[ring->front - 1];
	ring->front = 0;
	job.time[GRT_STAMP_START] = job.time[GRT_STAMP_COMMIT];
	if (ring->ended && ring->last_end > job.time[GRT_STAMP_START])
		job.time[GRT_STAMP_START] = ring->last_end;
	job.seen |= BIT(GRT_STAMP_START);
	job.inferred |= BIT(GRT_STAMP_START);
	return fn(arg, &job);
}

/*
 * Calls @fn with the job as it will be once it is settled, with an inferred START; only settling counts it.
 */
static int jobs_report_running(struct grt_jobs *j, const struct grt_job *running,
			       int (*fn)(void *arg, const struct grt_job *job), void *arg)
{
	const struct grt_jobs_count count = j->count;
	struct grt_job job = *running;

	infer_start(j, &job);
	j->count = count;
	return job.seen & BIT(GRT_STAMP_START) ? fn(arg, &job) : 0;
}

int grt_jobs_each_running(struct grt_jobs *j, int (*fn)(void *arg, const struct grt_job *job), void *arg)
{
	int r = 0;

	for (uint32_t i = 0; i < j->used && !r; i++)
		if (jobs_is_on_ring(&j->job[i]))
			r = jobs_note_front(j, &j->job[i]);
		else if (j->job[i].state == JOB_LIVE &&
			 j->job[i].seen & (BIT(GRT_STAMP_START) | BIT(GRT_STAMP_END)))
			r = jobs_report_running(j, &j->job[i], fn, arg);
	for (uint32_t i = 0; i < j->rings && !r; i++)
		r = jobs_report_front(j, &j->ring[i], fn, arg);
	return r;
}

/* The sums that are not updated by each event. */
void grt_jobs_count_sized(const struct grt_jobs *j, struct grt_jobs_count *out, size_t size)
{
	struct grt_jobs_count c = j->count;

	for (unsigned int seen = 0; seen < 1U << GRT_STAMPS; seen++) {
		bool submit = seen & BIT(GRT_STAMP_SUBMIT), complete = seen & BIT(GRT_STAMP_COMPLETE);

		c.jobs += j->retired[seen];
		c.no_submit += submit ? 0 : j->retired[seen];
		c.no_complete += complete ? 0 : j->retired[seen];
		c.incomplete += submit && complete ? 0 : j->retired[seen];
		c.no_end += submit && complete && !(seen & BIT(GRT_STAMP_END)) ? j->retired[seen] : 0;
	}
	grt_sized_copy(out, size, &c, sizeof(c));
}

uint64_t grt_jobs_chosen(const struct grt_jobs *j)
{
	return j->chosen;
}

uint64_t grt_jobs_completed_again(const struct grt_jobs *j)
{
	return j->completed_again;
}

const struct grt_names *grt_jobs_names(const struct grt_jobs *j)
{
	return &j->names;
}

void grt_jobs_free(struct grt_jobs *j)
{
	if (!j)
		return;
	grt_keyed_free(&j->waits);
	grt_names_free(&j->names);
	grt_index_free(&j->index);
	grt_index_free(&j->ring_index);
	free(j->block);
	free(j->done);
	free(j->oldest);
	free(j->ring);
	free(j->job);
	free(j);
}
