/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the files of grtrace.ko share. Nothing here is for other modules: see
 * grtrace.h for that.
 */
#ifndef GRTRACE_CORE_H
#define GRTRACE_CORE_H

#include <linux/irq_work.h>
#include <linux/mutex.h>
#include <linux/percpu.h>
#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/wait.h>

#include <grtrace/control.h>

#include "grtrace.h"

#define GRTRACE_VERSION "0.1.0"

/* Threads named in the open packet; a collision only repeats a name. */
#define GRTRACE_NAMED_TIDS 64

/* A relay channel has this many sub-buffers per CPU. */
#define GRTRACE_SUBBUFS 16

/* What is counted per ring. */
struct grtrace_ring_counts {
	u64 events;
	u64 submits;
	u64 completes;
	u64 errors;
};

/**
 * struct grtrace_cpu - all that emitting touches on one CPU
 * @running: set while this CPU may emit; only changed with emitters excluded
 * @buf: the CPU's relay buffer, NULL before it is made
 * @stamp: the last stamp given out: time never goes back on a CPU
 * @record_stamp: stamp of the last record written
 * @balance: see struct grt_balance
 * @ended: @balance where the last packet ended
 * @seq: number of the next packet
 * @overruns: times the buffer became full
 * @consumed: packets read
 * @sampler: remainder of the sampling of events without a job
 * @wake: wakes readers from a context where that is allowed
 * @by_type: delivered, by event id
 * @rings: delivered, by ring; GRTRACE_RINGS of them, kept apart since a module
 *	has only 8 KiB of static per-CPU memory
 * @named_rings: rings named in the open packet
 * @rings_gone: how many had gone then, so that an id under another name is named again
 * @named_tids: threads named in the open packet
 *
 * Written with interrupts off on its own CPU, so it needs no lock; readers on
 * other CPUs see each counter whole (aligned u64) but not all at one moment.
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
	u32 sampler;
	struct irq_work wake;
	u64 by_type[GRT_EV_MAX];
	struct grtrace_ring_counts *rings;
	unsigned long named_rings[BITS_TO_LONGS(GRTRACE_RINGS)];
	unsigned int rings_gone;
	u32 named_tids[GRTRACE_NAMED_TIDS];
};

DECLARE_PER_CPU(struct grtrace_cpu, grtrace_cpus);

/* Held by everything that changes the module's state; never on the emit path. */
extern struct mutex grtrace_lock;
extern struct dentry *grtrace_dir;

/* jobs.c */

/**
 * struct grtrace_job_info - what is remembered of a job from its SUBMIT
 */
struct grtrace_job_info {
	u32 pid;
	u32 tid;
	u32 ring;
	u32 device;
	u32 hw_ctx;
	u8 engine;
	char comm[TASK_COMM_LEN];
	char process[TASK_COMM_LEN];
};

int grtrace_jobs_init(void);
void grtrace_jobs_exit(void);
void grtrace_job_add(u64 ctx, u64 seqno, u64 now, const struct grtrace_job_info *info);
bool grtrace_job_find(u64 ctx, u64 seqno, struct grtrace_job_info *info);
void grtrace_job_done(u64 ctx, u64 seqno);
u64 grtrace_jobs_evicted(void);

/* rings.c */
struct grtrace_ring {
	struct rcu_head rcu;
	char name[32];
	char driver[16];
	u8 engine;
};

extern unsigned int grtrace_rings_gone;

const struct grtrace_ring *grtrace_ring_get(u32 id);
void grtrace_rings_exit(void);

/* limits.c */
extern u64 grtrace_config[GRT_CONFIG_KEYS];
extern bool grtrace_limits_active;

enum grt_fate grtrace_limit(struct grtrace_cpu *c, const struct grt_event *e);
void grtrace_limits_update(void);
int grtrace_watch_set(char *text);
int grtrace_watch_drop(bool rings_only);
int grtrace_watch_print(char *buf, size_t size);
unsigned int grtrace_watch_count(bool rings_only);
void grtrace_watch_exit(void);

/* emit.c */
u64 grtrace_nmi_refused(void);

/* buffer.c */
int grtrace_cpus_init(void);
void grtrace_cpus_exit(void);
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

#endif /* GRTRACE_CORE_H */
