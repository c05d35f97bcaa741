/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Jobs of the DRM scheduler (module gpu_sched), for the adapters that report
 * them: drm_bridge for every driver without an adapter of its own, and these
 * adapters for their drivers. Each module that includes this file gets its own copy, and
 * defines in sched_follows() whose jobs it reports; drm_sched.def has the rows of
 * its tracepoints.
 *
 * Tracepoints of both generations take the same arguments (Linux 5.15 to 7.3,
 * drivers/gpu/drm/scheduler/gpu_scheduler_trace.h): queue and run (struct
 * drm_sched_job *, struct drm_sched_entity *), done (struct drm_sched_fence *),
 * dependencies (struct drm_sched_job *, struct dma_fence *). The names changed
 * between 6.14 and 6.17.
 *
 * A job is identified by its finished fence. SUBMIT is queue, COMMIT is run, END is
 * done, COMPLETE is dma_fence_signaled of the fence. The start on the hardware is
 * not reported; readers infer it from the order on the ring. The BPF program
 * drm_sched reports the same. If the name of the tracepoint done is unknown, END is
 * inferred from COMPLETE.
 */
#ifndef GRTRACE_ADAPTERS_DRM_SCHED_H
#define GRTRACE_ADAPTERS_DRM_SCHED_H

#include <linux/device.h>
#include <linux/dma-fence.h>
#include <linux/hashtable.h>
#include <linux/module.h>
#include <linux/rculist.h>
#include <linux/seq_file.h>

#include <drm/gpu_scheduler.h>

#include "../core/grtrace.h"
#include "compat/drm_sched.h"

#define SCHED_MODULE "gpu_sched"

/* grtrace_probe.role */
enum sched_role {
	SCHED_ROLE_QUEUE = 1,
	SCHED_ROLE_RUN,
	SCHED_ROLE_DONE,
	SCHED_ROLE_DEPENDENCY,
	SCHED_ROLE_SIGNALLED_DEPENDENCY,
};

/*
 * Most rings at a time. Some drivers make a ring for each queue; the ring that was not used for
 * the longest time is dropped.
 */
#define SCHED_RINGS 1024

/* Most jobs that wait for fences of no job. */
#define SCHED_DEP_SETS 128
#define SCHED_DEP_WAYS 16

/**
 * struct sched_ring - a scheduler; only @used changes
 * @sched, @dev, @name: identify it only together, because addresses are reused
 * @driver: run-time name of its module, "" if unknown
 * @asked: grtrace_adapters_changed at the time of sched_follows()
 * @ours: the result of sched_follows()
 * @id: id of the ring, GRT_RING_NONE if there was no room for it
 * @used: jiffies
 */
struct sched_ring {
	struct hlist_node node;
	const struct drm_gpu_scheduler *sched;
	const struct device *dev;
	char name[32];
	char driver[MODULE_NAME_LEN];
	int asked;
	bool ours;
	u32 id;
	u8 engine;
	unsigned long used;
};

/* More objects than rings, because a released one is free only after all readers have left it. */
#define SCHED_POOL { .count = SCHED_RINGS + 256, .size = sizeof(struct sched_ring) }

/* sched_dep.seq & 3; each step adds one, so a slot that is reused has another number */
enum sched_dep_state {
	SCHED_DEP_FREE,
	SCHED_DEP_FILLING,
	SCHED_DEP_WAITED_FOR,
	SCHED_DEP_TAKEN,
};

/** struct sched_dep - a job waits for this fence, which is not a job */
struct sched_dep {
	atomic_t seq;
	u64 ctx;
	u64 seqno;
};

static struct {
	DECLARE_HASHTABLE(rings, 9);
	unsigned int nrings;
	atomic64_t evicted;  /* number of dropped rings; a ring that comes again gets another id */
	raw_spinlock_t lock; /* for rings that were not used for long, or never before */
	const struct dma_fence_ops *finished; /* ops of fences that are jobs; NULL: none seen yet */
	atomic_t ndeps;
	struct sched_dep deps[SCHED_DEP_SETS][SCHED_DEP_WAYS];
} sched_state = { .lock = __RAW_SPIN_LOCK_UNLOCKED(sched_state.lock) };

static struct grtrace_adapter adapter;

/* Whether this module reports jobs of this driver; any context. */
static bool sched_follows(const char *driver);

/* The driver's command code of a job that is being queued; 0: it has none. */
static u32 sched_command(const struct drm_sched_job *job);

static inline void sched_unmatched(void)
{
	atomic64_inc(&adapter.unmatched);
}

/* Rings. */

static inline void sched_driver_of(const struct device *dev, char *name, size_t room)
{
	const struct device_driver *driver = dev ? READ_ONCE(dev->driver) : NULL;

	if (driver)
		strscpy(name, driver->owner ? driver->owner->name : driver->name, room);
	strreplace(name, '-', '_'); /* the name of a built-in driver */
}

static inline bool sched_ring_is(const struct sched_ring *r, struct drm_gpu_scheduler *sched)
{
	return r->sched == sched && r->dev == grtrace_sched_device(sched) &&
	       !strncmp(r->name, sched->name, sizeof(r->name) - 1);
}

static inline struct sched_ring *sched_ring_find(struct drm_gpu_scheduler *sched)
{
	struct sched_ring *r;

	hash_for_each_possible_rcu(sched_state.rings, r, node, (unsigned long)sched)
		if (r->sched == sched)
			return r;
	return NULL;
}

static inline bool sched_ring_current(const struct sched_ring *r, struct drm_gpu_scheduler *sched)
{
	return r && r->asked == atomic_read(&grtrace_adapters_changed) && sched_ring_is(r, sched);
}

/*
 * The caller holds the lock. @id_kept: another ring has its id now; readers of this one can still
 * find it here
 */
static inline void sched_ring_drop(struct sched_ring *r, bool id_kept)
{
	hash_del_rcu(&r->node);
	sched_state.nrings--;
	if (r->id != GRT_RING_NONE && !id_kept)
		grtrace_ring_unregister(r->id);
	grtrace_pool_put(r);
}

/* The caller holds the lock. */
static inline void sched_ring_drop_oldest(void)
{
	struct sched_ring *r, *oldest = NULL;
	int bucket;

	hash_for_each(sched_state.rings, bucket, r, node)
		if (!oldest || time_before(READ_ONCE(r->used), READ_ONCE(oldest->used)))
			oldest = r;
	if (oldest) {
		sched_ring_drop(oldest, false);
		atomic64_inc(&sched_state.evicted);
	}
}

/*
 * Replaces the ring at this address; a ring that is the same keeps its id. The caller holds the
 * lock.
 */
static inline void sched_ring_put(struct sched_ring *r, struct sched_ring *old, struct drm_gpu_scheduler *sched)
{
	bool same = old && r->ours && sched_ring_is(old, sched);
	int id;

	if (same)
		r->id = old->id;
	if (old)
		sched_ring_drop(old, same);
	else if (sched_state.nrings == SCHED_RINGS)
		sched_ring_drop_oldest();
	if (r->ours && r->id == GRT_RING_NONE) {
		id = grtrace_ring_register(r->name, r->engine, r->driver, r->dev);
		if (id >= 0)
			r->id = id;
		else
			sched_unmatched();
	}
	hash_add_rcu(sched_state.rings, &r->node, (unsigned long)sched);
	sched_state.nrings++;
}

/*
 * A scheduler that is used for the first time, or again after adapters were loaded or unloaded.
 * NULL: there is no room for it now
 */
static noinline struct sched_ring *sched_ring_add(struct drm_gpu_scheduler *sched)
{
	struct sched_ring *r = grtrace_pool_get(&adapter.pool), *old;
	unsigned long flags;

	if (!r)
		return NULL;
	r->sched = sched;
	r->dev = grtrace_sched_device(sched);
	r->id = GRT_RING_NONE;
	r->used = jiffies; /* as the oldest, it would be replaced at once */
	r->asked = atomic_read(&grtrace_adapters_changed);
	strscpy(r->name, sched->name, sizeof(r->name));
	sched_driver_of(r->dev, r->driver, sizeof(r->driver));
	r->ours = sched_follows(r->driver);
	r->engine = grtrace_engine_of_ring(r->name);
	raw_spin_lock_irqsave(&sched_state.lock, flags);
	old = sched_ring_find(sched);
	if (sched_ring_current(old, sched)) {
		grtrace_pool_put(r);
		r = old;
	} else {
		sched_ring_put(r, old, sched);
	}
	raw_spin_unlock_irqrestore(&sched_state.lock, flags);
	return r;
}

/* Sets the ring of the job. Return: whether this module reports it */
static inline bool sched_place(struct drm_gpu_scheduler *sched, struct grtrace_job *job)
{
	struct sched_ring *r;
	bool ours;

	rcu_read_lock();
	r = sched_ring_find(sched);
	if (unlikely(!sched_ring_current(r, sched)))
		r = sched_ring_add(sched);
	ours = r && r->ours;
	job->ring = GRT_RING_NONE;
	if (ours) {
		job->ring = r->id;
		job->engine = r->engine;
		if (time_after(jiffies, READ_ONCE(r->used)))
			WRITE_ONCE(r->used, jiffies);
	}
	rcu_read_unlock();
	if (unlikely(!r))
		sched_unmatched();
	return ours;
}

/* Jobs. */

static inline struct grtrace_job sched_job_of(const struct dma_fence *fence)
{
	return (struct grtrace_job){ .ctx = fence->context, .seqno = fence->seqno, .ring = GRT_RING_NONE };
}

/* 7.2 marks the member as RCU's; it is only compared here. */
static inline const struct dma_fence_ops *sched_ops_of(const struct dma_fence *fence)
{
	return (__force const struct dma_fence_ops *)READ_ONCE(fence->ops);
}

/* The scheduler's part of a fence that is a job; NULL: the fence is not a job. */
static inline struct drm_sched_fence *sched_fence_of(struct dma_fence *fence)
{
	const struct dma_fence_ops *finished = READ_ONCE(sched_state.finished);

	if (!finished || sched_ops_of(fence) != finished)
		return NULL;
	return container_of(fence, struct drm_sched_fence, finished);
}

/* From here on, fences with these ops are known to be jobs. */
static inline void sched_learn(const struct dma_fence *finished)
{
	const struct dma_fence_ops *ops = sched_ops_of(finished);

	if (unlikely(READ_ONCE(sched_state.finished) != ops) && ops)
		WRITE_ONCE(sched_state.finished, ops);
}

/* The job of a scheduler's event, with its ring. Return: whether this module reports it */
static inline bool sched_job(struct drm_sched_job *sj, struct grtrace_job *job)
{
	if (!grtrace_enabled())
		return false;
	*job = sched_job_of(&sj->s_fence->finished);
	if (!sched_place(sj->sched, job))
		return false;
	sched_learn(&sj->s_fence->finished);
	return true;
}

static void sched_on_queue(void *data, struct drm_sched_job *sj, struct drm_sched_entity *entity)
{
	struct grtrace_job job;

	if (sched_job(sj, &job))
		grtrace_submit(&job, sched_command(sj), 0, 0);
}

static void sched_on_run(void *data, struct drm_sched_job *sj, struct drm_sched_entity *entity)
{
	struct grtrace_job job;

	if (sched_job(sj, &job))
		grtrace_commit(&job, spsc_queue_count(&entity->job_queue), grtrace_sched_hw_depth(sj->sched));
}

/*
 * When the hardware's fence was signalled; 0: unknown. It is read later than that, after other
 * callbacks of the fence, or after the scheduler's thread was woken.
 */
static inline u64 sched_signalled_at(const struct dma_fence *hw)
{
	return test_bit(DMA_FENCE_FLAG_TIMESTAMP_BIT, &hw->flags) ? ktime_to_ns(hw->timestamp) : 0;
}

static void sched_on_done(void *data, struct drm_sched_fence *f)
{
	const struct dma_fence *parent;
	struct grtrace_job job;

	if (!grtrace_enabled())
		return;
	job = sched_job_of(&f->finished);
	if (!sched_place(f->sched, &job))
		return;
	sched_learn(&f->finished);
	parent = READ_ONCE(f->parent);
	if (!parent)
		return; /* the driver refused the job, so the hardware never had it */
	job.time = sched_signalled_at(parent);
	grtrace_end(&job, 0, 0);
}

/* Dependencies. */

static inline struct sched_dep *sched_dep_set(const struct dma_fence *fence)
{
	return sched_state.deps[hash_64(fence->context + fence->seqno, ilog2(SCHED_DEP_SETS))];
}

/*
 * Whether the slot, whose sequence number was @seq, has this fence and belongs to the caller alone
 * from now on.
 */
static inline bool sched_dep_take(struct sched_dep *d, int seq, const struct dma_fence *fence)
{
	if ((seq & 3) != SCHED_DEP_WAITED_FOR || READ_ONCE(d->ctx) != fence->context ||
	    READ_ONCE(d->seqno) != fence->seqno)
		return false;
	return atomic_cmpxchg(&d->seq, seq, seq + 1) == seq;
}

/* Removes the jobs that wait for this fence. Return: their number */
static inline u32 sched_dep_take_all(const struct dma_fence *fence)
{
	struct sched_dep *set = sched_dep_set(fence), *d;
	u32 n = 0;
	int seq;

	for (d = set; d < set + SCHED_DEP_WAYS; d++) {
		seq = atomic_read_acquire(&d->seq);
		if (!sched_dep_take(d, seq, fence))
			continue;
		atomic_set_release(&d->seq, seq + 2);
		atomic_dec(&sched_state.ndeps);
		n++;
	}
	return n;
}

static inline bool sched_dep_put(struct sched_dep *d, const struct dma_fence *fence)
{
	int seq = atomic_read(&d->seq);

	if ((seq & 3) != SCHED_DEP_FREE || atomic_cmpxchg(&d->seq, seq, seq + 1) != seq)
		return false;
	WRITE_ONCE(d->ctx, fence->context);
	WRITE_ONCE(d->seqno, fence->seqno);
	atomic_inc(&sched_state.ndeps);
	atomic_set_release(&d->seq, seq + 2);
	return true;
}

/* FENCE: a fence is signalled for which jobs wait and that is not a job. */
static inline void sched_dep_signaled(const struct dma_fence *fence)
{
	struct grt_ev_fence ev = {
		.e = { .type = GRT_EV_FENCE, .ctx = fence->context, .seqno = fence->seqno,
		       .ring = GRT_RING_NONE },
		.status = fence->error,
	};

	if (!atomic_read(&sched_state.ndeps))
		return;
	ev.waiters = sched_dep_take_all(fence);
	if (ev.waiters)
		grtrace_emit(&ev.e);
}

static inline bool sched_signaled(const struct dma_fence *fence)
{
	return test_bit(DMA_FENCE_FLAG_SIGNALED_BIT, &fence->flags);
}

static inline void sched_dep_add(const struct dma_fence *fence)
{
	struct sched_dep *set = sched_dep_set(fence), *d = set;

	while (d < set + SCHED_DEP_WAYS && !sched_dep_put(d, fence))
		d++;
	if (d == set + SCHED_DEP_WAYS)
		sched_unmatched();
	else if (sched_signaled(fence)) /* its event may not have found this slot */
		sched_dep_signaled(fence);
}

static inline void sched_wait_dep(struct drm_sched_job *sj, struct dma_fence *fence, bool signalled)
{
	struct grtrace_job job;
	struct grt_ev_wait_dep ev;

	if (!sched_job(sj, &job))
		return;
	if (!signalled && !sched_fence_of(fence))
		sched_dep_add(fence);
	ev = (struct grt_ev_wait_dep){
		.e = { .type = GRT_EV_WAIT_DEP, .flags = signalled ? GRT_FLAG_SIGNALLED : 0,
		       .engine = job.engine, .ctx = job.ctx, .seqno = job.seqno, .ring = job.ring },
		.dep_ctx = fence->context,
		.dep_seqno = fence->seqno,
	};
	grtrace_emit(&ev.e);
}

/*
 * Up to 6.14: reported for every dependency when the scheduler considers the job, also for
 * signalled ones.
 */
static void sched_on_wait_dep(void *data, struct drm_sched_job *sj, struct dma_fence *fence)
{
	sched_wait_dep(sj, fence, sched_signaled(fence));
}

/* From 6.17: an open dependency is reported again before the job runs. */
static void sched_on_add_dep(void *data, struct drm_sched_job *sj, struct dma_fence *fence)
{
	if (sched_signaled(fence))
		sched_wait_dep(sj, fence, true);
}

static void sched_on_unschedulable(void *data, struct drm_sched_job *sj, struct dma_fence *fence)
{
	sched_wait_dep(sj, fence, false);
}

/* Fences. */

/* Before 6.5, only the hardware's fence has the error of a job that failed on the hardware. */
static inline int sched_error(const struct drm_sched_fence *f)
{
	const struct dma_fence *parent = READ_ONCE(f->parent);

	if (f->finished.error)
		return f->finished.error;
	return IS_ERR_OR_NULL(parent) ? 0 : parent->error;
}

/* END of a job that has ended by now. */
static inline void sched_end_inferred(const struct grtrace_job *job)
{
	struct grt_ev_end ev = {
		.e = { .type = GRT_EV_END, .flags = GRT_FLAG_INFERRED, .engine = job->engine,
		       .ctx = job->ctx, .seqno = job->seqno, .ring = job->ring },
	};

	grtrace_emit(&ev.e);
}

static inline void sched_complete(struct drm_sched_fence *f)
{
	struct grtrace_job job = sched_job_of(&f->finished);
	int error = sched_error(f);

	if (!sched_place(f->sched, &job))
		return;
	if (unlikely(!grtrace_role_is_reported(&adapter, SCHED_ROLE_DONE)))
		sched_end_inferred(&job);
	if (error)
		grtrace_error(&job, error, 0);
	grtrace_complete(&job, f->finished.error);
}

static void sched_on_fence_signaled(void *data, struct dma_fence *fence)
{
	struct drm_sched_fence *f = sched_fence_of(fence);

	if (!f)
		sched_dep_signaled(fence); /* also while tracing is off: forgets it */
	else if (grtrace_enabled())
		sched_complete(f);
}

/*
 * The job for which a thread waits. If it is over, its scheduler may be gone, so the scheduler's
 * address is only compared. The job's ring is known from its SUBMIT. Return: whether this module
 * reports the job
 */
static inline bool sched_waited_for(struct dma_fence *fence, struct grtrace_job *job)
{
	struct drm_sched_fence *f = grtrace_enabled() ? sched_fence_of(fence) : NULL;
	const struct sched_ring *r;
	bool ours;

	if (!f)
		return false;
	*job = sched_job_of(fence);
	rcu_read_lock();
	r = sched_ring_find(f->sched);
	ours = r && r->ours;
	rcu_read_unlock();
	return ours;
}

static void sched_on_fence_wait_start(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (sched_waited_for(fence, &job))
		grtrace_sync_wait_enter(&job);
}

static void sched_on_fence_wait_end(void *data, struct dma_fence *fence)
{
	struct grtrace_job job;

	if (sched_waited_for(fence, &job))
		grtrace_sync_wait_exit(&job);
}

/* Number of dropped rings, for the line in `adapters`. */
static inline void sched_show(struct grtrace_adapter *a, struct seq_file *m)
{
	u64 evicted = atomic64_read(&sched_state.evicted);

	if (evicted)
		seq_printf(m, " rings_evicted=%llu", evicted);
}

/* Forgets everything; no handler runs. */
static inline void sched_forget(void)
{
	struct hlist_node *next;
	struct sched_ring *r;
	unsigned long flags;
	int bucket;

	raw_spin_lock_irqsave(&sched_state.lock, flags);
	hash_for_each_safe(sched_state.rings, bucket, next, r, node)
		sched_ring_drop(r, false);
	raw_spin_unlock_irqrestore(&sched_state.lock, flags);
	memset(sched_state.deps, 0, sizeof(sched_state.deps));
	atomic_set(&sched_state.ndeps, 0);
	sched_state.finished = NULL;
}

#endif /* GRTRACE_ADAPTERS_DRM_SCHED_H */
