/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The interface of grtrace.ko for stages: the modules of kernel/stages, one for each
 * row of stages.def, which decide whether an event is written into the buffer.
 *
 * DOC: order
 *
 * Every event passes, in this order: level, filter, watch list, sampling,
 * aggregator, rate, delivery. The first of them that refuses the event decides its fate, and the
 * later ones do not get it. Then done() reports the fate to all stages.
 *
 * The decision about a *job* is made once, at its SUBMIT, and stored with
 * it, so that either all of its events are delivered or none, even if settings change
 * meanwhile. Events without a job, or of a job whose SUBMIT was not seen, are decided
 * one by one.
 *
 * DOC: calls
 *
 * job(), event() and done() are called with interrupts off on the CPU of the
 * event, from any context but NMI, perhaps with fence locks held: no allocation,
 * no lock, no sleep. They are not called after
 * grtrace_stage_unregister() has returned, nor while update() returns that there is
 * nothing to do. All other callbacks are called with grtrace_lock held and may sleep.
 */
#ifndef GRTRACE_STAGE_H
#define GRTRACE_STAGE_H

#include <linux/sched.h>
#include <linux/seq_file.h>
#include <linux/types.h>

#include <grtrace/control.h>
#include <grtrace/event.h>
#include <grtrace/stream.h>
#include <grtrace/type_set.h>

#include "grtrace.h"

/**
 * struct grtrace_job_info - data of a job from its SUBMIT
 * @submitted: time stamp of its SUBMIT, ns; 0 if unknown
 * @pid: process of the submitter, 0 if unknown
 * @tid: thread of the submitter, 0 if unknown
 * @uid: user of the submitter in the initial namespace, (u32)-1 if unknown
 * @ring: id, or GRT_RING_NONE
 * @device: see struct grt_event
 * @hw_ctx: the driver's own context
 * @engine: enum grt_engine
 * @fate: enum grt_fate, the decision at its SUBMIT: DELIVERED; AGGREGATED
 *	while its time stamps are held for the JOB record; or the cause of a refusal
 * @percent: the percentage of jobs that were recorded at the time of the decision, 0: not decided
 * @over: its COMPLETE was reported before this event
 * @comm: name of the thread
 * @process: name of the thread's process
 */
struct grtrace_job_info {
	u64 submitted;
	u32 pid;
	u32 tid;
	u32 uid;
	u32 ring;
	u32 device;
	u32 hw_ctx;
	u8 engine;
	u8 fate;
	u8 percent;
	bool over;
	char comm[TASK_COMM_LEN];
	char process[TASK_COMM_LEN];
};

/**
 * struct grtrace_look - an event as a stage sees it
 * @e: the event, complete; @e->sample is only right in done()
 * @job: data of its job, or of the running thread if it has no job
 * @stamps: a JOB record with the job's time stamps and counts so far, including this
 *	event; NULL unless the job is @known and a stage requested time stamps, or
 *	the event is the COMPLETE or the JOB record of a held job
 * @known: @job comes from the job's SUBMIT
 * @percent: set by job(): the percentage of jobs that are recorded now, 1..100
 */
struct grtrace_look {
	const struct grt_event *e;
	const struct grtrace_job_info *job;
	const struct grt_ev_job *stamps;
	bool known;
	u8 percent;
};

/*
 * Results of update(): the stage is active; it needs JOB records; it needs time stamps; it has
 * only done(); it has done(), too.
 */
#define GRTRACE_STAGE_ON      1U
#define GRTRACE_STAGE_HOLDS   2U
#define GRTRACE_STAGE_STAMPS  4U
#define GRTRACE_STAGE_WATCHES 8U
#define GRTRACE_STAGE_DONE    16U

/**
 * struct grtrace_stage - a stage; every callback but @update may be NULL
 * @kind: its kind
 * @job: decides about a job (or an event without one): DELIVERED or the fate
 *	of all its events. Filter and sampling only
 * @event: decides about an event of an accepted job: DELIVERED or its fate.
 *	Also called for JOB records. Filter and aggregator only; sampling for JOB
 *	records only
 * @done: gets an event and its fate, if the stage requested this, for all events but NAME,
 *	including refused ones. At a COMPLETE, the job is complete;
 *	@l->stamps and @l->job->submitted have its times. The event is already in the
 *	stream: only this callback may call grtrace_emit_record()
 * @update: called when a setting has changed and when the stage is registered. Return:
 *	GRTRACE_STAGE_*. Between two updates, a stage may read its settings with
 *	grtrace_setting()
 * @set: sets a key of kind IDS, @text may be changed. Return: 0, or a negative errno
 *	with nothing changed
 * @print: prints the value of a key of kind IDS, without newline. Return: bytes
 * @show: writes the stage's GRT_STAGE_FILE; NULL if it has none
 * @running: tracing begins or has ended; also called on registration. When tracing has
 *	ended, nothing else emits, and the stage may emit its last records
 * @clear: zeroes its counters, with tracing off
 * @forget: the ring of this slot was removed and has no further events: emits the stage's
 *	data of the ring and zeroes it. Return: false: not yet; the callback is called again
 *
 * A stage allocates its per-CPU memory itself (alloc_percpu). It may write records of
 * its own, with a row in events.def, with grtrace_emit_record(): in done(), in a
 * work, or in running(false).
 */
struct grtrace_stage {
	enum grt_stage kind;
	enum grt_fate (*job)(struct grtrace_look *l);
	enum grt_fate (*event)(const struct grtrace_look *l);
	void (*done)(const struct grtrace_look *l, enum grt_fate fate);
	unsigned int (*update)(void);
	int (*set)(enum grt_key key, char *text);
	int (*print)(enum grt_key key, char *buf, size_t size);
	void (*show)(struct seq_file *m);
	void (*running)(bool on);
	void (*clear)(void);
	bool (*forget)(unsigned int slot);
};

int grtrace_stage_register(const struct grtrace_stage *s);
void grtrace_stage_unregister(const struct grtrace_stage *s);

/* The current value of every numeric key, by enum grt_key. */
extern u64 grtrace_config[GRT_CONFIG_KEYS];

/* The setting filter_events; while events are emitted, it changes bit by bit. */
extern struct grt_type_set grtrace_wanted_types;

/** grtrace_setting - the value of a key; any context */
static inline u64 grtrace_setting(enum grt_key key)
{
	return READ_ONCE(grtrace_config[key]);
}

bool grtrace_emit_record(struct grt_event *e);
bool grtrace_ring_name(u32 id, char *name, size_t size);
int grtrace_ring_slot(u32 id);
u32 grtrace_slot_ring(unsigned int slot);

#endif /* GRTRACE_STAGE_H */
