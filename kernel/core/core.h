/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Declarations shared by the files of grtrace.ko. grtrace.h has those for other
 * modules.
 */
#ifndef GRTRACE_CORE_H
#define GRTRACE_CORE_H

#include <linux/irq_work.h>
#include <linux/jump_label.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/timekeeping.h>
#include <linux/wait.h>

#include "stage.h"

/* Most threads named in the open packet; after a collision, a name is only repeated. */
#define GRTRACE_NAMED_TIDS 64

/* Other CPUs read counters without a lock, and 64-bit words are exchanged atomically. */
static_assert(BITS_PER_LONG == 64);

/* Records are little-endian copies of the structs in memory. */
#ifndef __LITTLE_ENDIAN
#error "grtrace needs a little-endian kernel"
#endif

/* Most rings known at a time: a power of two, so that ids can wrap around. */
#define GRTRACE_RINGS_LIVE 4096

/* A relay channel has this many sub-buffers per CPU. */
#define GRTRACE_SUBBUFS 16

/* Counters per ring. */
struct grtrace_ring_counts {
	u64 events;
	u64 submits;
	u64 completes;
	u64 errors;
};

/**
 * struct grtrace_cpu - the data of one CPU for emitting events
 * @running: set while this CPU may emit; see grtrace_cpu_running()
 * @buf: the CPU's relay buffer, NULL before it is created
 * @stamp: the last time stamp: time never goes back on a CPU
 * @record_stamp: time stamp of the last record
 * @balance: see struct grt_balance
 * @ended: @balance at the end of the last packet
 * @seq: number of the next packet
 * @overruns: times the buffer became full
 * @consumed: packets read
 * @wake: wakes readers in a context that allows this
 * @fresh: schedules the flush of an open packet, see flush_ms
 * @by_type: delivered events, by enum grt_event_place
 * @rings: delivered events, by the ring's slot; the last element is for all rings without a slot.
 *	Allocated separately because a module has only 8 KiB of static per-CPU memory
 * @named_rings: rings named in the open packet, by their places
 * @rings_gone: number of removed rings at that time, so that a new ring in a place gets its name
 * @named_tids: threads named in the open packet
 *
 * Only its own CPU writes it, with interrupts off, so it needs no lock. Readers on
 * other CPUs see each counter completely (aligned u64), but not all counters of one moment.
 */
struct grtrace_cpu {
	bool running;
	struct rchan_buf *buf;
	u64 stamp;
	u64 record_stamp;
	struct grt_balance balance;
	struct grt_balance ended;
	u64 seq;
	u64 overruns;
	u64 consumed;
	struct irq_work wake;
	struct irq_work fresh;
	u64 by_type[GRT_EVENTS];
	struct grtrace_ring_counts *rings;
	unsigned long named_rings[BITS_TO_LONGS(GRTRACE_RINGS_LIVE)];
	unsigned int rings_gone;
	u32 named_tids[GRTRACE_NAMED_TIDS];
};

DECLARE_PER_CPU(struct grtrace_cpu, grtrace_cpus);

/*
 * Protects changes of the module's state; never taken when an event is emitted. Release it with
 * grtrace_unlock().
 */
extern struct mutex grtrace_lock;
extern struct dentry *grtrace_dir;

/*
 * Whether the CPU may emit. Makes visible what another CPU wrote into @c while tracing was off, as
 * grtrace_clear() does.
 */
static inline bool grtrace_cpu_running(const struct grtrace_cpu *c)
{
	return smp_load_acquire(&c->running); /* pairs with set_running() */
}

/*
 * ktime_get_mono_fast_ns() can go back by a few ns while the timekeeper is updated. Readers of CTF
 * refuse that, so the last stamp is used again.
 */
static inline u64 grtrace_stamp(struct grtrace_cpu *c)
{
	u64 now = ktime_get_mono_fast_ns();

	if (unlikely((s64)(now - c->stamp) < 0))
		now = c->stamp;
	c->stamp = now;
	return now;
}

/*
 * Return: the time stamp of an event that happened at @told, limited to the time from the CPU's
 * last event until now.
 */
static inline u64 grtrace_stamp_given(struct grtrace_cpu *c, u64 told)
{
	u64 last = c->stamp;

	c->stamp = clamp(told, last, grtrace_stamp(c));
	return c->stamp;
}

static inline void grtrace_account(struct grtrace_cpu *c, enum grt_fate fate)
{
	c->balance.emitted++;
	c->balance.fate[fate]++;
}

/* jobs.c */

/* The slot of a held job while its JOB record is written, see grtrace_job_leaves(). */
struct grtrace_held {
	struct grtrace_slot *slot;
	int seq;
};

int grtrace_jobs_init(void);
void grtrace_jobs_exit(void);
bool grtrace_job_add(u64 ctx, u64 seqno, const struct grtrace_job_info *info, const struct grt_event *note);
bool grtrace_job_find(u64 ctx, u64 seqno, struct grtrace_job_info *info);
bool grtrace_job_stamp(const struct grt_event *e, struct grt_ev_job *out, bool held);
struct grt_ev_job *grtrace_job_leaves(const struct grt_event *e, struct grtrace_held *h);
void grtrace_job_left(const struct grtrace_held *h, enum grt_fate fate);
void grtrace_job_done(u64 ctx, u64 seqno, enum grt_fate fate, bool over);
int grtrace_jobs_keep_stamps(void);
bool grtrace_jobs_held(unsigned int *at, u64 before, struct grt_ev_job *job, struct grtrace_job_info *info);
void grtrace_jobs_forget_fates(void);
u64 grtrace_jobs_evicted(void);

/* rings.c */

/**
 * struct grtrace_ring - a ring; unchanged while it has its id
 * @id: GRT_RING_NONE: no ring in this place
 * @was: the id of a removed ring
 * @state: state of the place, see rings.c
 * @device: name of the GPU's device on its bus, "" if it is unknown
 */
struct grtrace_ring {
	u32 id;
	u32 was;
	u8 state;
	u8 engine;
	char name[32];
	char driver[16];
	char device[32];
};

extern unsigned int grtrace_rings_gone;

const struct grtrace_ring *grtrace_ring_get(u32 id);
const struct grtrace_ring *grtrace_ring_place(u32 id);
u32 grtrace_rings_next(void);
int grtrace_rings_init(void);
void grtrace_rings_exit(void);

/* stages.c */
void grtrace_unlock(void);
int grtrace_lock_for_file(enum grt_stage stage);
extern bool grtrace_judging;
extern bool grtrace_watching;
extern unsigned int grtrace_wanted;
extern unsigned int grtrace_telling;
extern const struct grtrace_stage __rcu *grtrace_stages_on[GRT_STAGES];

void grtrace_stages_update(void);
void grtrace_stages_running(bool on);
void grtrace_stages_clear(void);
bool grtrace_stages_forget(unsigned int slot);
const struct grtrace_stage *grtrace_stage_get(enum grt_stage kind);

/* trace.c */
DECLARE_STATIC_KEY_FALSE(grtrace_traced);

void grtrace_trace(const struct grt_event *e);

/* judge.c */
void grtrace_watched(const struct grt_event *e, struct grtrace_job_info *by, const struct grtrace_job_info *job,
		     enum grt_fate fate);
void grtrace_emit_judged(struct grtrace_cpu *c, struct grt_event *e, u8 level, struct grtrace_job_info *by,
			 const struct grtrace_job_info *job);
void grtrace_hold_release(u64 before);
void grtrace_hold_schedule(void);
void grtrace_hold_exit(void);

/* watch.c */
bool grtrace_watch_denied(const struct grt_event *e);
int grtrace_watch_set(char *text);
int grtrace_watch_drop(bool rings_only);
int grtrace_watch_print(char *buf, size_t size);
unsigned int grtrace_watch_count(bool rings_only);
void grtrace_watch_exit(void);

/* rate.c */
bool grtrace_rate_limited(u64 now);
bool grtrace_rate_update(void);
void grtrace_rate_clear(void);

/* emit.c */
enum grt_fate grtrace_pass(struct grtrace_cpu *c, const struct grt_event *e, const struct grtrace_job_info *by);
u64 grtrace_nmi_refused(void);
extern bool grtrace_stopping;

/* buffer.c */
int grtrace_cpus_init(void);
void grtrace_cpus_exit(void);
void grtrace_buffer_files(void);
int grtrace_buffer_open(u64 bytes);
void grtrace_buffer_close(void);
int grtrace_buffer_resize(u64 bytes);
u64 grtrace_buffer_size(void);
size_t grtrace_buffer_used(unsigned int cpu);
bool grtrace_packet_next(struct grtrace_cpu *c, size_t need);
const struct grt_packet *grtrace_packet_peek(unsigned int cpu);
void grtrace_packet_consume(unsigned int cpu);
int grtrace_start_tracing(void);
void grtrace_stop_tracing(void);
int grtrace_clear(void);
void grtrace_flush(void);
void grtrace_flush_final(void);
bool grtrace_running(void);
void grtrace_flush_schedule(void);
extern wait_queue_head_t grtrace_wait;

/* streams.c */
extern const struct file_operations grtrace_stream_fops;
bool grtrace_streams_open(void);
bool grtrace_streams_shut(void);
void grtrace_streams_unshut(void);
int grtrace_reader_pid(void);

/* control.c */
void grtrace_control_init(void);
void grtrace_control_add(enum grt_stage stage);
void grtrace_control_remove(enum grt_stage stage);
void grtrace_config_reset(enum grt_stage stage);
int grtrace_config_init(u64 buffer_size);

/* text.c */
int grtrace_event_print(char *buf, size_t size, const struct grt_event *e, unsigned int cpu);
int grtrace_event_by_name(const char *name);
int grtrace_engine_by_name(const char *name);
const char *grtrace_engine_name(unsigned int engine);
const char *grtrace_event_name(unsigned int type);
const char *grtrace_fate_name(unsigned int fate);

/* adapter.c */
extern struct list_head grtrace_adapters;
extern struct mutex grtrace_adapters_lock;

void grtrace_adapters_show(struct seq_file *m);

/* Files of control.def: one file_operations each, by name. */
#define GRT_FILE(name, mode, help) extern const struct file_operations grtrace_##name##_fops;
#include <grtrace/control.def>

extern const struct file_operations grtrace_stage_file_fops;

#endif /* GRTRACE_CORE_H */
