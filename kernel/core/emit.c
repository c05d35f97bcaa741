// SPDX-License-Identifier: GPL-2.0
/*
 * Makes a record from a driver's event in the CPU's open packet.
 *
 * The whole path runs with interrupts off, so that the time stamp, the decision, the place in the
 * packet and the counters change together: time never goes back in a packet, and the balance is
 * exact whenever another CPU reads it between two events.
 */
#include <linux/cred.h>
#include <linux/module.h>
#include <linux/preempt.h>
#include <linux/relay.h>
#include <linux/uidgid.h>

#include "../compat/compiler.h"
#include "core.h"

DEFINE_STATIC_KEY_DEFERRED_FALSE(grtrace_key, HZ);
EXPORT_SYMBOL_GPL(grtrace_key);

DEFINE_PER_CPU(struct grtrace_cpu, grtrace_cpus);

static atomic64_t nmi_refused;

/* The members of a row of events.def that emitting needs, in few cache lines for all rows. */
struct row {
	u8 size;
	u8 level;
	u8 who;
	u8 place;
};

static_assert(GRT_EVENTS < 256);

static const struct row rows[GRT_EV_MAX] = {
#define GRT_EVENT(id, NAME, lname, CLASS, LEVEL, WHO, fields, help)        \
	[id] = { .size = sizeof(struct grt_ev_##lname),             \
		 .level = GRT_LEVEL_##LEVEL, .who = GRT_WHO_##WHO,  \
		 .place = GRT_EVENT_PLACE_##NAME },
#include <grtrace/events.def>
#undef GRT_EVENT
};

static void emit_info_unknown(struct grtrace_job_info *by)
{
	by->pid = 0;
	by->tid = 0;
	by->uid = (u32)-1;
}

/* The running thread is the submitter only in task context. */
static void emit_info_from_current(struct grtrace_job_info *by)
{
	if (unlikely(!in_task())) {
		emit_info_unknown(by);
		return;
	}
	by->pid = current->tgid;
	by->tid = current->pid;
	by->uid = __kuid_val(current_uid());
	memcpy(by->comm, current->comm, sizeof(by->comm));
	memcpy(by->process, current->group_leader->comm, sizeof(by->process));
}

static void emit_take_place(struct grt_event *e, const struct grtrace_job_info *job)
{
	if (e->ring != GRT_RING_NONE)
		return;
	e->ring = job->ring;
	e->device = job->device;
	e->engine = job->engine;
}

static u32 emit_hw_ctx_of(const struct grt_event *e)
{
	return ((const struct grt_ev_submit *)e)->hw_ctx;
}

/* Stores what later events of the job need, whatever happens to its SUBMIT. */
static void emit_begin_job(const struct grt_event *e, struct grtrace_job_info *by)
{
	by->submitted = e->time;
	by->ring = e->ring;
	by->device = e->device;
	by->engine = e->engine;
	by->hw_ctx = emit_hw_ctx_of(e);
	by->fate = GRT_FATE_DELIVERED;
	by->percent = 100;
	by->over = false;
}

/* After SUBMIT, the job's driver context is known. */
static void emit_take_hw_ctx(struct grt_event *e, const struct grtrace_job_info *job)
{
	u32 *hw_ctx = NULL;

	if (e->type == GRT_EV_END)
		hw_ctx = &((struct grt_ev_end *)e)->hw_ctx;
	else if (e->type == GRT_EV_COMPLETE)
		hw_ctx = &((struct grt_ev_complete *)e)->hw_ctx;
	if (hw_ctx && !*hw_ctx)
		*hw_ctx = job->hw_ctx;
}

/* Finds the job of an event that belongs to the running thread, if that is requested. */
static const struct grtrace_job_info *emit_other_job(struct grt_event *e, struct grtrace_job_info *job)
{
	if (!e->ctx || (e->ring != GRT_RING_NONE && !READ_ONCE(grtrace_judging)) ||
	    !grtrace_job_find(e->ctx, e->seqno, job))
		return NULL;
	emit_take_place(e, job);
	return job;
}

/*
 * Sets the thread of an event; an injected event may have its own. Return: the job as its SUBMIT
 * described it, which is @by or @other, or NULL
 */
static const struct grtrace_job_info *emit_identify(struct grt_event *e, const struct row *row,
						    struct grtrace_job_info *by,
						    struct grtrace_job_info *other)
{
	const struct grtrace_job_info *job = NULL;

	if (row->who == GRT_WHO_CURRENT) {
		emit_info_from_current(by);
		if (e->type != GRT_EV_SUBMIT)
			job = emit_other_job(e, other);
	} else if (e->ctx && grtrace_job_find(e->ctx, e->seqno, by)) {
		emit_take_place(e, by);
		emit_take_hw_ctx(e, by);
		job = by;
	} else {
		emit_info_unknown(by);
	}
	if (e->pid || e->tid) {
		/* whoever writes into `emit` sets these, and need not be that thread */
		if (by->tid != e->tid)
			by->comm[0] = by->process[0] = 0;
		by->pid = e->pid;
		by->tid = e->tid;
	}
	e->pid = by->pid;
	e->tid = by->tid;
	return job;
}

static u32 *emit_tid_name(struct grtrace_cpu *c, u32 tid)
{
	return &c->named_tids[tid & (GRTRACE_NAMED_TIDS - 1)];
}

static bool emit_thread_unnamed(struct grtrace_cpu *c, const struct grt_event *e,
				const struct grtrace_job_info *by)
{
	return e->tid && *emit_tid_name(c, e->tid) != e->tid && by->comm[0];
}

/* Return: how many records it takes to name the event's ring */
static noinline unsigned int emit_ring_names(u32 id)
{
	const struct grtrace_ring *ring = grtrace_ring_get(id);

	return ring ? 1 + !!ring->device[0] : 0;
}

static __always_inline unsigned int emit_ring_unnamed(struct grtrace_cpu *c, const struct grt_event *e)
{
	unsigned int gone = READ_ONCE(grtrace_rings_gone);

	if (unlikely(c->rings_gone != gone)) {
		bitmap_zero(c->named_rings, GRTRACE_RINGS_LIVE);
		c->rings_gone = gone;
	}
	if (likely(test_bit(e->ring % GRTRACE_RINGS_LIVE, c->named_rings)))
		return 0;
	return e->ring == GRT_RING_NONE ? 0 : emit_ring_names(e->ring);
}

static struct grt_ev_name *emit_write_name(struct grtrace_cpu *c, struct grt_ev_name *n,
					   const struct grt_event *e, u32 kind, u32 id)
{
	memset(n, 0, sizeof(*n));
	n->e = *e;
	n->e.type = GRT_EV_NAME;
	n->e.size = sizeof(*n);
	n->e.flags = 0;
	n->e.sample = 0;
	n->e.ctx = 0;
	n->e.seqno = 0;
	n->kind = kind;
	n->id = id;
	c->balance.emitted++;
	c->balance.fate[GRT_FATE_DELIVERED]++;
	c->by_type[GRT_EVENT_PLACE_NAME]++;
	return n;
}

static struct grt_ev_name *emit_name_ring(struct grtrace_cpu *c, struct grt_ev_name *n,
					  const struct grt_event *e, u32 kind)
{
	/* it existed when its names were counted, and stays until interrupts are on */
	const struct grtrace_ring *ring = grtrace_ring_place(e->ring);

	emit_write_name(c, n, e, kind, e->ring);
	n->e.pid = 0;
	n->e.tid = 0;
	n->e.engine = ring->engine;
	memcpy(n->name, kind == GRT_NAME_RING ? ring->name : ring->device, sizeof(n->name));
	if (kind == GRT_NAME_RING)
		memcpy(n->owner, ring->driver, sizeof(n->owner));
	__set_bit(e->ring % GRTRACE_RINGS_LIVE, c->named_rings);
	return n + 1;
}

static struct grt_ev_name *emit_name_thread(struct grtrace_cpu *c, struct grt_ev_name *n,
					    const struct grt_event *e, const struct grtrace_job_info *by)
{
	emit_write_name(c, n, e, GRT_NAME_THREAD, e->tid);
	n->e.engine = GRT_ENGINE_UNKNOWN;
	n->e.ring = GRT_RING_NONE;
	memcpy(n->name, by->comm, sizeof(by->comm));
	memcpy(n->owner, by->process, sizeof(by->process));
	*emit_tid_name(c, e->tid) = e->tid;
	return n + 1;
}

/* Names are in every packet that uses them, before the first use. */
static void *emit_write_names(struct grtrace_cpu *c, void *at, const struct grt_event *e,
			      const struct grtrace_job_info *by, unsigned int ring, bool thread)
{
	if (ring)
		at = emit_name_ring(c, at, e, GRT_NAME_RING);
	if (ring > 1)
		at = emit_name_ring(c, at, e, GRT_NAME_RING_GPU);
	if (thread)
		at = emit_name_thread(c, at, e, by);
	return at;
}

/* A job's records have 48, 56 or 64 bytes: a call to memcpy costs more than this. */
static __always_inline void emit_copy_record(u64 *to, const struct grt_event *e)
{
	const u64 *from = (const u64 *)e;

	memcpy(to, from, sizeof(*e));
	if (e->size <= sizeof(*e))
		return;
	to[6] = from[6];
	if (e->size <= sizeof(*e) + 8)
		return;
	to[7] = from[7];
	if (e->size == sizeof(struct grt_ev_job)) /* one per held job */
		memcpy(to + 8, from + 8, sizeof(struct grt_ev_job) - GRT_JOB_RECORD_MAX);
	else if (unlikely(e->size > GRT_JOB_RECORD_MAX))
		memcpy(to + 8, from + 8, e->size - GRT_JOB_RECORD_MAX);
}

static __always_inline void emit_count(struct grtrace_cpu *c, const struct grt_event *e)
{
	struct grtrace_ring_counts *n;
	int slot;

	c->by_type[rows[e->type].place]++;
	if (e->ring == GRT_RING_NONE)
		return;
	slot = grtrace_ring_slot(e->ring);
	n = &c->rings[slot < 0 ? GRTRACE_RINGS : slot];
	n->events++;
	n->submits += e->type == GRT_EV_SUBMIT;
	n->completes += e->type == GRT_EV_COMPLETE;
	n->errors += e->type == GRT_EV_ERROR;
}

static bool emit_fits(const struct rchan_buf *buf, size_t need)
{
	return buf->offset + need <= buf->chan->subbuf_size;
}

/* Writes a record, after the names that it needs. Return: false: there is no room. */
static __always_inline bool emit_deliver(struct grtrace_cpu *c, const struct grt_event *e,
					 const struct grtrace_job_info *by)
{
	struct rchan_buf *buf = c->buf;
	unsigned int ring = emit_ring_unnamed(c, e);
	bool thread = emit_thread_unnamed(c, e, by);
	size_t need = e->size + (ring + thread) * sizeof(struct grt_ev_name);
	void *at;

	if (unlikely(!buf))
		return false;
	if (unlikely(!emit_fits(buf, need))) {
		if (!grtrace_packet_next(c, need + 3 * sizeof(struct grt_ev_name)))
			return false;
		ring = emit_ring_unnamed(c, e);
		thread = emit_thread_unnamed(c, e, by);
	}
	at = buf->data + buf->offset;
	if (unlikely(buf->offset == sizeof(struct grt_packet)))
		irq_work_queue(&c->fresh);
	if (unlikely(ring || thread))
		at = emit_write_names(c, at, e, by, ring, thread);
	emit_copy_record(at, e);
	buf->offset = at + e->size - buf->data;
	c->record_stamp = e->time;
	emit_count(c, e);
	return true;
}

static __always_inline enum grt_fate emit_pass(struct grtrace_cpu *c, const struct grt_event *e,
					       const struct grtrace_job_info *by)
{
	if (static_branch_unlikely(&grtrace_traced))
		grtrace_trace(e);
	return likely(emit_deliver(c, e, by)) ? GRT_FATE_DELIVERED : GRT_FATE_LOST;
}

/**
 * grtrace_pass - what nothing is against: to the trace events and into the buffer
 * @c: this CPU, interrupts off
 * @e: complete
 * @by: the thread it belongs to
 * Return: DELIVERED or LOST
 */
enum grt_fate grtrace_pass(struct grtrace_cpu *c, const struct grt_event *e, const struct grtrace_job_info *by)
{
	return emit_pass(c, e, by);
}

static void emit(struct grtrace_cpu *c, struct grt_event *e, const struct row *row)
{
	struct grtrace_job_info by grtrace_uninitialized, other grtrace_uninitialized;
	const struct grtrace_job_info *job;
	enum grt_fate fate;

	e->time = unlikely(e->time) ? grtrace_stamp_given(c, e->time) : grtrace_stamp(c);
	e->size = row->size;
	job = emit_identify(e, row, &by, &other);
	/* a job that was refused stays refused when nothing is any more */
	if (unlikely(READ_ONCE(grtrace_judging) || (job && job->fate != GRT_FATE_DELIVERED))) {
		if (e->type == GRT_EV_SUBMIT)
			emit_begin_job(e, &by);
		grtrace_emit_judged(c, e, row->level, &by, job);
		return;
	}
	e->sample = job && job->percent ? job->percent : 100;
	if (e->type == GRT_EV_SUBMIT && e->ctx) {
		emit_begin_job(e, &by);
		grtrace_job_add(e->ctx, e->seqno, &by, NULL);
	}
	if (row->level > grtrace_setting(GRT_CONFIG_level))
		fate = GRT_FATE_BELOW_LEVEL;
	else
		fate = emit_pass(c, e, &by);
	grtrace_account(c, fate);
	if (unlikely(READ_ONCE(grtrace_watching)))
		grtrace_watched(e, &by, job, fate);
	if (e->type == GRT_EV_COMPLETE)
		grtrace_job_done(e->ctx, e->seqno, GRT_FATE_DELIVERED, true);
}

/**
 * grtrace_emit - emits any event but NAME
 * @e: a struct grt_ev_<name>; type, flags, engine, ctx, seqno, ring, device and
 *	the payload are the caller's, the rest is filled in. pid and tid: 0, or
 *	the thread of the event. time: 0, or when it happened, if that was noted.
 *
 * Any context but NMI, where the event is counted as refused.
 */
void grtrace_emit(struct grt_event *e)
{
	const struct row *row = &rows[e->type & (GRT_EV_MAX - 1)];
	struct grtrace_cpu *c;
	unsigned long flags;

	if (!grtrace_enabled())
		return;
	if (unlikely(in_nmi())) {
		atomic64_inc(&nmi_refused);
		return;
	}
	if (WARN_ON_ONCE(!row->size || e->type >= GRT_EV_MAX || e->type == GRT_EV_NAME))
		return;
	local_irq_save(flags);
	c = this_cpu_ptr(&grtrace_cpus);
	if (likely(grtrace_cpu_running(c)))
		emit(c, e, row);
	local_irq_restore(flags);
}
EXPORT_SYMBOL_GPL(grtrace_emit);

/* Tracing has just ended, but stages may emit their remaining sums. */
bool grtrace_stopping;

/**
 * grtrace_emit_record - emits a record of a stage's own, which stands for events that have been decided on
 * @e: as for grtrace_emit(), of no job; never sampled, filtered or limited
 *
 * Any context but NMI while tracing is on; of a stage also in its running(false).
 * Return: false when there was no room, or tracing is off: it is not in the stream
 */
bool grtrace_emit_record(struct grt_event *e)
{
	static const struct grtrace_job_info nobody;
	struct grtrace_cpu *c;
	enum grt_fate fate = GRT_FATE_LOST;
	unsigned long flags;

	local_irq_save(flags);
	c = this_cpu_ptr(&grtrace_cpus);
	if (grtrace_cpu_running(c) || grtrace_stopping) {
		e->time = grtrace_stamp(c);
		e->size = rows[e->type].size;
		fate = emit_pass(c, e, &nobody);
		grtrace_account(c, fate);
	}
	local_irq_restore(flags);
	return fate == GRT_FATE_DELIVERED;
}
EXPORT_SYMBOL_GPL(grtrace_emit_record);

/** grtrace_nmi_refused - events that came in NMI context, where nothing can be written */
u64 grtrace_nmi_refused(void)
{
	return atomic64_read(&nmi_refused);
}

/* Sets the common part of a job's event. */
#define JOB_EVENT(job, TYPE)                                                                   \
	.e = {                                                                                 \
		.time = (job)->time,                                                           \
		.type = GRT_EV_##TYPE, .engine = (job)->engine, .ctx = (job)->ctx,             \
		.seqno = (job)->seqno, .ring = (job)->ring, .device = (job)->device,           \
	}

/**
 * grtrace_submit - a job was handed to the driver's scheduler, by the running thread
 * @job: with ring, device and engine
 * @cmd: the driver's command code, 0 where it has none
 * @fence_id: the fence number that the device sees, 0 where it has none
 * @flags: GRT_FLAG_COMMIT where the driver has no queue of its own
 */
void grtrace_submit(const struct grtrace_job *job, u32 cmd, u64 fence_id, u16 flags)
{
	struct grt_ev_submit ev = {
		JOB_EVENT(job, SUBMIT), .cmd = cmd, .hw_ctx = job->hw_ctx, .fence_id = fence_id,
	};

	ev.e.flags = flags;
	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_submit);

/**
 * grtrace_commit - the job was handed to the ring
 * @job: the job
 * @sw_depth: jobs still waiting in the software queue
 * @hw_depth: jobs on the hardware ring, this one included
 */
void grtrace_commit(const struct grtrace_job *job, u32 sw_depth, u32 hw_depth)
{
	struct grt_ev_commit ev = { JOB_EVENT(job, COMMIT), .sw_depth = sw_depth, .hw_depth = hw_depth };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_commit);

/** grtrace_start - the hardware began the job */
void grtrace_start(const struct grtrace_job *job)
{
	struct grt_ev_start ev = { JOB_EVENT(job, START) };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_start);

/**
 * grtrace_end - the hardware finished the job
 * @job: the job
 * @reply: the device's reply code, 0 where it has none
 * @fence_id: as in grtrace_submit()
 */
void grtrace_end(const struct grtrace_job *job, u32 reply, u64 fence_id)
{
	struct grt_ev_end ev = {
		JOB_EVENT(job, END), .reply = reply, .hw_ctx = job->hw_ctx, .fence_id = fence_id,
	};

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_end);

/**
 * grtrace_complete - the job's fence was signalled
 * @job: the job
 * @status: the fence's error, 0 or a negative errno
 */
void grtrace_complete(const struct grtrace_job *job, int status)
{
	struct grt_ev_complete ev = { JOB_EVENT(job, COMPLETE), .status = status, .hw_ctx = job->hw_ctx };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_complete);

/**
 * grtrace_signaled - the fence of a job was signalled: its COMPLETE
 * @job: the job
 * @status: the fence's error, 0 or a negative errno, which makes an ERROR
 *
 * For drivers that report by the fence alone, or twice, that a job is complete:
 * only the first call for a job whose SUBMIT is known does anything. Unless END
 * was reported, the job has ended by now, which is inferred.
 */
void grtrace_signaled(const struct grtrace_job *job, int status)
{
	struct grt_ev_end end = { JOB_EVENT(job, END), .hw_ctx = job->hw_ctx };
	int before;

	if (!grtrace_enabled())
		return;
	before = grtrace_job_mark(job->ctx, job->seqno, GRTRACE_JOB_SIGNALLED | GRTRACE_JOB_ENDED);
	if (before < 0 || before & GRTRACE_JOB_SIGNALLED)
		return;
	end.e.flags = GRT_FLAG_INFERRED;
	if (!(before & GRTRACE_JOB_ENDED))
		grtrace_emit(&end.e);
	if (status)
		grtrace_error(job, status, 0);
	grtrace_complete(job, status);
}
EXPORT_SYMBOL_GPL(grtrace_signaled);

/**
 * grtrace_ctx_switch - the ring changed to another context
 * @job: the first job of the new context
 * @prev_ctx: the context that ran before, 0 where unknown
 */
void grtrace_ctx_switch(const struct grtrace_job *job, u64 prev_ctx)
{
	struct grt_ev_ctx_switch ev = { JOB_EVENT(job, CTX_SWITCH), .prev_ctx = prev_ctx };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_ctx_switch);

/**
 * grtrace_irq - the device raised an interrupt
 * @job: ring, device and engine; ctx and seqno 0 where it is about no job
 * @source: the interrupt's source number
 * @data: the interrupt's data word
 *
 * Where the device reports ring and address spaces of its own numbering, fill in
 * struct grt_ev_irq and use grtrace_emit().
 */
void grtrace_irq(const struct grtrace_job *job, u32 source, u32 data)
{
	struct grt_ev_irq ev = {
		JOB_EVENT(job, IRQ),
		.source = source,
		.data = data,
		.hw_ring = U16_MAX,
		.vmid = U16_MAX,
		.pasid = U32_MAX,
	};

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_irq);

/** grtrace_sync_wait_enter - the running thread begins to wait for the job's fence */
void grtrace_sync_wait_enter(const struct grtrace_job *job)
{
	struct grt_ev_sync_wait_enter ev = { JOB_EVENT(job, SYNC_WAIT_ENTER) };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_sync_wait_enter);

/** grtrace_sync_wait_exit - the running thread's wait ended */
void grtrace_sync_wait_exit(const struct grtrace_job *job)
{
	struct grt_ev_sync_wait_exit ev = { JOB_EVENT(job, SYNC_WAIT_EXIT) };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_sync_wait_exit);

/**
 * grtrace_error - reports that a job, or a command without a job, failed
 * @job: the job; ctx and seqno 0 for a command without a fence
 * @status: negative errno, 0: unknown
 * @code: the device's own error code, 0: unknown
 */
void grtrace_error(const struct grtrace_job *job, int status, u32 code)
{
	struct grt_ev_error ev = { JOB_EVENT(job, ERROR), .status = status, .code = code };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_error);

/**
 * grtrace_command - a command without a fence was queued: it is no job
 * @job: ring, device, engine and hw_ctx; ctx and seqno are 0
 * @cmd: the driver's command code
 */
void grtrace_command(const struct grtrace_job *job, u32 cmd)
{
	struct grt_ev_command ev = { JOB_EVENT(job, COMMAND), .cmd = cmd, .hw_ctx = job->hw_ctx };

	grtrace_emit(&ev.e);
}
EXPORT_SYMBOL_GPL(grtrace_command);
