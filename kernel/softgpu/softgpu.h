/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The parts of grtrace_softgpu.ko.
 *
 * DOC: a GPU of timers
 *
 * A ring is a DRM scheduler, and behind it the "hardware": a list of at most
 * hw_depth jobs, of which the first runs. A timer ends it; it is set to the end
 * of the job before plus the job's duration, so that a ring keeps its pace
 * however late timers are. Everything that happens to a job on the hardware
 * happens under the ring's lock, which is also the lock of its fences, so
 * fences of a ring are signalled in order.
 *
 * What happened is stamped where it happens into the job's result, which goes
 * to the open file when the job is over.
 *
 * The module stays while a file is open (fops.owner) or one of our hardware
 * fences exists, which another process may hold.
 */
#ifndef GRTRACE_SOFTGPU_INTERNAL_H
#define GRTRACE_SOFTGPU_INTERNAL_H

#include <linux/dma-fence.h>
#include <linux/hrtimer.h>
#include <linux/kref.h>
#include <linux/list.h>
#include <linux/seq_file.h>
#include <linux/spinlock.h>
#include <linux/wait.h>

#include <drm/drm_device.h>
#include <drm/drm_file.h>
#include <drm/gpu_scheduler.h>

#include <grtrace/softgpu.h>
#include <grtrace/version.h>

#define SOFTGPU_RINGS (GRTRACE_SOFTGPU_TYPES * GRTRACE_SOFTGPU_RINGS_MAX)

/**
 * struct softgpu_ring - a ring
 * @sched: the scheduler in front of it
 * @gpu: the device
 * @name: as events name it
 * @type: enum grtrace_softgpu_type
 * @lock: of what follows, and of the ring's fences
 * @jobs: on the hardware; the first one runs
 * @timer: ends it
 * @finish_at: when it is to end; KTIME_MAX: it hangs
 * @last_end: when the job before it has ended
 * @context, @seqno: of the ring's fences
 * @dead: the device goes away: no job runs any more
 */
struct softgpu_ring {
	struct drm_gpu_scheduler sched;
	struct softgpu *gpu;
	char name[sizeof_field(struct grtrace_softgpu_ring, name)];
	u32 type;
	spinlock_t lock;
	struct list_head jobs;
	struct hrtimer timer;
	u64 finish_at;
	u64 last_end;
	u64 context;
	u64 seqno;
	bool dead;
};

/**
 * struct softgpu - the device
 * @drm: the device for user space
 * @rings: of which @nrings exist
 * @nrings: number of rings
 * @started: rings whose scheduler works
 * @live: jobs that the schedulers have
 * @idle: woken when there is none; its lock is held to change @live to 0
 */
struct softgpu {
	struct drm_device drm;
	struct softgpu_ring rings[SOFTGPU_RINGS];
	unsigned int nrings;
	unsigned int started;
	atomic_t live;
	wait_queue_head_t idle;
};

/**
 * struct softgpu_client - an open file
 * @ref: the file and each of its jobs
 * @gpu: the device
 * @id: its number among the open files
 * @busy: by ring: the time of its jobs that have ended there, ns; under the ring's lock
 * @mutex: of @entity, and so that jobs are armed in the order in which they are pushed
 * @entity: by ring and priority; the scheduler's queues, made when first used
 * @lock: of what follows
 * @over: jobs that are
 * @unread: jobs in flight and in @over
 * @in_flight: jobs that are not over
 * @live: jobs that the schedulers have
 * @closed: so its jobs no longer hang
 * @wait: woken when a job is over or gone
 */
struct softgpu_client {
	struct kref ref;
	struct softgpu *gpu;
	u64 id;
	u64 busy[SOFTGPU_RINGS];
	struct mutex mutex;
	struct drm_sched_entity *entity[SOFTGPU_RINGS][GRTRACE_SOFTGPU_PRIORITIES];
	spinlock_t lock;
	struct list_head over;
	u32 unread;
	u32 in_flight;
	u32 live;
	bool closed;
	wait_queue_head_t wait;
};

/**
 * struct softgpu_job - a job, its fence and its result
 * @base: must be first
 * @ref: references of the scheduler, of the fence once it is on the ring, and of the result until
 *	it is read
 * @rcu: others may read the fence a little longer than it lives
 * @link: in the list of jobs to be pushed, in softgpu_ring.jobs, then in softgpu_client.over
 * @fence: its fence on the hardware
 * @ring: the ring on which it runs
 * @client: its client, while the scheduler has it
 * @out: sync object that gets its fence when it is pushed; NULL: none
 * @result: its result
 * @error: the error with which it ends
 * @flags: GRTRACE_SOFTGPU_*
 * @over: nothing uses it any more
 */
struct softgpu_job {
	struct drm_sched_job base;
	struct kref ref;
	struct rcu_head rcu;
	struct list_head link;
	struct dma_fence fence;
	struct softgpu_ring *ring;
	struct softgpu_client *client;
	struct drm_syncobj *out;
	struct grtrace_softgpu_result result;
	int error;
	u32 flags;
	bool over;
};

extern unsigned int softgpu_hw_depth, softgpu_timeout_ms, softgpu_jobs_max;

int softgpu_ring_init(struct softgpu *gpu, struct softgpu_ring *ring, u32 type, unsigned int number,
		      struct device *dev);
u64 softgpu_ring_busy(struct softgpu_ring *ring, const struct softgpu_client *client);
void softgpu_ring_end_hang(struct softgpu_ring *ring, const struct softgpu_client *client);
void softgpu_ring_kill(struct softgpu_ring *ring);
void softgpu_ring_fini(struct softgpu_ring *ring);

int softgpu_submit_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
void softgpu_job_over(struct softgpu_job *job, u32 state, int status);
void softgpu_job_free(struct softgpu_job *job);
void softgpu_job_put(struct softgpu_job *job);

int softgpu_open(struct drm_device *drm, struct drm_file *file);
void softgpu_postclose(struct drm_device *drm, struct drm_file *file);
void softgpu_show_fdinfo(struct seq_file *seq, struct file *file);
int softgpu_results_ioctl(struct drm_device *drm, void *data, struct drm_file *file);
struct drm_sched_entity *softgpu_client_entity(struct softgpu_client *client, u32 ring, u32 priority);
int softgpu_client_take(struct softgpu_client *client);
void softgpu_client_over(struct softgpu_client *client, struct softgpu_job *job);
void softgpu_client_give_back(struct softgpu_client *client);
void softgpu_client_drop(struct softgpu_client *client);
void softgpu_client_put(struct softgpu_client *client);

static inline struct softgpu *to_softgpu(struct drm_device *drm)
{
	return container_of(drm, struct softgpu, drm);
}

#endif /* GRTRACE_SOFTGPU_INTERNAL_H */
