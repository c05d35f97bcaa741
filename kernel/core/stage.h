/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What grtrace.ko offers to stages: the modules of kernel/stages, one for each
 * row of stages.def, that may stand between an event and the buffer.
 *
 * DOC: order
 *
 * Every event meets, in this order: level, filter, watch list, sampling,
 * aggregator, rate, delivery. The first that refuses it gives it its fate; what comes
 * behind does not see it. Then all stages are told what became of it.
 *
 * Whether a *job* is wanted is asked once, at its SUBMIT, and remembered with
 * it, so that it is delivered whole or not at all whatever is changed
 * meanwhile. Events of no job, or of one whose SUBMIT was not seen, are asked
 * about one by one.
 *
 * DOC: calls
 *
 * job(), event() and done() are called with interrupts off on the CPU of the
 * event, from any context but NMI, with fence locks held perhaps: no allocation,
 * no lock, no sleep. They are not called any more once
 * grtrace_stage_unregister() has returned, nor while update() says that there is
 * nothing to do. All others are called with grtrace_lock held and may sleep.
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
 * struct grtrace_job_info - what is remembered of a job from its SUBMIT
 * @submitted: stamp of its SUBMIT, ns; 0 where that is unknown
 * @pid: process of the submitter, 0 where unknown
 * @tid: thread of the submitter, 0 where unknown
 * @uid: user of the submitter in the initial namespace, (u32)-1 where unknown
 * @ring: id, or GRT_RING_NONE
 * @device: see struct grt_event
 * @hw_ctx: the driver's own context
 * @engine: enum grt_engine
 * @fate: enum grt_fate, what was decided at its SUBMIT: DELIVERED; AGGREGATED
 *	while its stamps wait for the JOB record; or what refused it
 * @percent: of the jobs that were kept when it was decided, 0: not decided
 * @over: its COMPLETE was reported before this event
 * @comm: of the thread
 * @process: of the thread's process
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
 * @job: what is known of its job, or of the running thread where it has none
 * @stamps: the payload is the job's stamps and counts so far, this event's
 *	included; NULL unless the job is @known and a stage requested stamps, or
 *	it is the COMPLETE or the JOB record of a job that was held
 * @known: @job is what the job's SUBMIT said
 * @percent: for job() to set: of all jobs, how many are kept now, 1..100
 */
struct grtrace_look {
	const struct grt_event *e;
	const struct grtrace_job_info *job;
	const struct grt_ev_job *stamps;
	bool known;
	u8 percent;
};

/* What update() answers: something to do; JOB records are wanted; stamps are; only done() is; done() is, too. */
#define GRTRACE_STAGE_ON      1U
#define GRTRACE_STAGE_HOLDS   2U
#define GRTRACE_STAGE_STAMPS  4U
#define GRTRACE_STAGE_WATCHES 8U
#define GRTRACE_STAGE_DONE    16U

/**
 * struct grtrace_stage - a stage; every callback but @update may be NULL
 * @kind: which
 * @job: whether this job (or event without one) is wanted: DELIVERED or the fate
 *	of all its events. Filter and sampling only
 * @event: whether this event is wanted, of a wanted job: DELIVERED or its fate.
 *	Also called for JOB records. Filter and aggregator only; sampling for JOB
 *	records only
 * @done: an event and what became of it, for stages that ask for it and all events but NAME:
 *	also of those that were refused. A COMPLETE says that a job is complete;
 *	@l->stamps and @l->job->submitted have its times. The event is in the
 *	stream now: this is the one callback that may call grtrace_emit_record()
 * @update: a setting has changed, or the stage has just been registered. Return:
 *	GRTRACE_STAGE_*. Between two updates it may read its settings by
 *	grtrace_setting()
 * @set: sets a key of kind IDS, @text may be changed. Return: 0 or a negative errno,
 *	and nothing has changed
 * @print: the value of a key of kind IDS, without newline. Return: bytes
 * @show: writes the stage's GRT_STAGE_FILE; NULL where it has none
 * @running: tracing begins or has ended; also called on registration. When it has
 *	ended, nobody else emits, and the stage may emit its last records
 * @clear: zeroes its counters, with tracing off
 * @forget: the ring of this slot has gone and no event of it comes any more: tells what it
 *	has of it, and zeroes it. Return: false: not yet, and it is asked again
 *
 * Per-CPU memory is the stage's own business (alloc_percpu); so are records of
 * its own, with a row in events.def, by grtrace_emit_record(): in done(), from a
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

/* The setting filter_events; a bit is changed at a time when events come. */
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
