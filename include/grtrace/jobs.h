/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Joins events into jobs by identity, (ctx, seqno), in one pass and bounded
 * memory. Nothing is joined by nearness in time.
 *
 * A job goes through three states:
 *
 *	live	from its first event to its COMPLETE
 *	done	for the next completions, see struct grt_jobs_limits: END, waits and what
 *		else has an equal or later stamp than COMPLETE still finds it
 *	held	done, the window is over, but a thread still waits for it
 *
 * and then it is retired: handed to the owner, once, final. Jobs are retired
 * in the order of their COMPLETE, held ones when their last wait ends, and
 * what is left at the end of the trace by grt_jobs_flush(). When @max jobs are
 * in flight the oldest is retired as it is.
 */
#ifndef GRTRACE_JOBS_H
#define GRTRACE_JOBS_H

#include <grtrace/grtrace.h>
#include <grtrace/names.h>

#ifdef __cplusplus
extern "C" {
#endif

struct grt_table;

/** enum grt_stamp - the points of a job's life, in their order */
enum grt_stamp {
	GRT_STAMP_SUBMIT,
	GRT_STAMP_COMMIT,
	GRT_STAMP_START,
	GRT_STAMP_END,
	GRT_STAMP_COMPLETE,
	GRT_STAMPS,
};

/** enum grt_phase - from one point to the next */
enum grt_phase {
	GRT_PHASE_SCHED,    /* COMMIT - SUBMIT */
	GRT_PHASE_QUEUE,    /* START - COMMIT */
	GRT_PHASE_EXEC,	    /* END - START */
	GRT_PHASE_COMPLETE, /* COMPLETE - END */
	GRT_PHASES,
};

/**
 * struct grt_job - one job
 * @time: by enum grt_stamp, ns; only those in @seen mean something
 * @wait_ns: sum of @waits
 * @pid, @tid: of the submitter, 0 where unknown
 * @cmd, @hw_ctx: see SUBMIT
 * @status: the fence's error or that of an ERROR, negative errno or 0; or GRT_STATUS_UNKNOWN
 * @name: of the submitting thread at that time, for grt_names_name()
 * @waits: waits for its fence that began and ended
 * @sample: percent of jobs kept when it was, 0: not sampled
 * @seen, @inferred: bits of enum grt_stamp
 * @failed: it had an ERROR or a @status
 * @cut_waits: some wait for it has no end in the trace, so @wait_ns is not all
 * @held: it was handed to the sink's @held before
 * @size: of this struct in the library; what lies behind it is not there
 * The other members are the library's own.
 */
struct grt_job {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t time[GRT_STAMPS];
	uint64_t wait_ns;
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t tid;
	uint32_t cmd;
	uint32_t hw_ctx;
	int32_t status;
	uint32_t name;
	uint32_t waits;
	uint32_t open_waits;
	uint8_t engine;
	uint8_t sample;
	uint8_t seen;
	uint8_t inferred;
	bool failed;
	bool cut_waits;
	bool held;
	bool settled;
	uint8_t state : 4;
	uint8_t origin : 4;
	uint8_t order;
	uint16_t size;
	uint32_t block;
	uint64_t serial;
};

/**
 * struct grt_jobs_count - what was met, by cause
 * @jobs: retired
 * @incomplete: of these, without SUBMIT or without COMPLETE
 * @no_submit, @no_complete: of these, which
 * @evicted: retired because too many were in flight
 * @no_status: complete, and not told whether they failed
 * @no_end: complete, but without END
 * @inferred_start: of @jobs, with a START concluded from the ring's order
 * @unordered_start: START could not be concluded: the job before it on its ring need
 *	not be in the trace (sampled jobs, JOB records), or its ring is unknown
 * @firmware_start: START is not known, since firmware chooses when a job of its ring runs
 * @reused: SUBMIT of an identity that was in use
 * @repeated: stamps that a job had already; the first one stands
 * @duplicates: events that another source had told of: the kernel module and BPF
 *	programs recorded the same job
 * @late: stamps that came when the job was settled
 * @disordered: phases that end before they begin; they count as absent
 * @waits, @wait_ns: joined to a job
 * @unjoined_waits, @unjoined_wait_ns: for a fence that belongs to no job of the trace
 * @half_waits: ENTER without EXIT or EXIT without ENTER
 * @no_identity: life cycle events without a context
 * @whole: jobs that came in one record
 * @replaced: events that these records stand for
 * @commands: COMMAND
 * @errors: ERROR events that belong to no job
 * @sample_min, @sample_max: percents met (1..99), 0: not sampled
 */
struct grt_jobs_count {
	uint64_t jobs;
	uint64_t incomplete;
	uint64_t no_submit;
	uint64_t no_complete;
	uint64_t evicted;
	uint64_t no_status;
	uint64_t no_end;
	uint64_t inferred_start;
	uint64_t unordered_start;
	uint64_t firmware_start;
	uint64_t reused;
	uint64_t repeated;
	uint64_t duplicates;
	uint64_t late;
	uint64_t disordered;
	uint64_t waits;
	uint64_t wait_ns;
	uint64_t unjoined_waits;
	uint64_t unjoined_wait_ns;
	uint64_t half_waits;
	uint64_t no_identity;
	uint64_t whole;
	uint64_t replaced;
	uint64_t commands;
	uint64_t errors;
	uint8_t sample_min;
	uint8_t sample_max;
};

/**
 * struct grt_jobs_sink - where jobs go; the job is valid during the call only,
 * a non-zero result ends the run
 * @held: its stamps are final but a thread still waits for it; may be NULL. Comes
 *	in the order in which @job would have come without the wait, @job comes later
 * @job: it is retired
 * @stray: an ERROR that belongs to no job, or a COMMAND; may be NULL
 * @arg: handed to all
 */
struct grt_jobs_sink {
	int (*held)(void *arg, const struct grt_job *job);
	int (*job)(void *arg, const struct grt_job *job);
	int (*stray)(void *arg, const struct grt_event *e);
	void *arg;
};

/**
 * struct grt_jobs_limits - bounds of memory; 0 takes the default
 * @jobs: in flight: 1048576, of 240 bytes at most
 * @window: completions for which a completed job stays: 4096
 * @waits: that have begun and not ended: 65536
 */
struct grt_jobs_limits {
	uint32_t jobs;
	uint32_t window;
	uint32_t waits;
};

struct grt_jobs;

/** grt_jobs_new_sized - what grt_jobs_new() calls; the sizes are those of *@sink and *@limits */
int grt_jobs_new_sized(struct grt_jobs **out, const struct grt_jobs_sink *sink, size_t sink_size,
		       const struct grt_jobs_limits *limits, size_t limits_size);

/**
 * grt_jobs_new - begins
 * @sink: copied
 * @limits: may be NULL
 * Return: 0 or -ENOMEM
 */
static inline int grt_jobs_new(struct grt_jobs **out, const struct grt_jobs_sink *sink,
			       const struct grt_jobs_limits *limits)
{
	return grt_jobs_new_sized(out, sink, sizeof(*sink), limits, sizeof(*limits));
}

/**
 * grt_jobs_event - takes in an event of any type; those it does not need are passed over
 * Return: 0, what the sink returned, or -ENOMEM
 */
int grt_jobs_event(struct grt_jobs *j, const struct grt_event *e);

/** grt_jobs_flush - retires what is left: the trace is over. Return: 0 or what the sink returned */
int grt_jobs_flush(struct grt_jobs *j);

/** grt_jobs_count_sized - what grt_jobs_count() calls; @size: of *@out */
void grt_jobs_count_sized(const struct grt_jobs *j, struct grt_jobs_count *out, size_t size);

/** grt_jobs_count - what was met so far */
static inline struct grt_jobs_count grt_jobs_count(const struct grt_jobs *j)
{
	struct grt_jobs_count count;

	grt_jobs_count_sized(j, &count, sizeof(count));
	return count;
}

/** grt_jobs_names - the names met so far; valid until grt_jobs_free() */
const struct grt_names *grt_jobs_names(const struct grt_jobs *j);

/** grt_jobs_free - frees it; NULL is allowed */
void grt_jobs_free(struct grt_jobs *j);

/**
 * grt_job_phase - the length of a phase
 * @inferred: gets whether one of its ends was not observed
 * Return: whether it is known: both ends are there, in order
 */
static inline bool grt_job_phase(const struct grt_job *job, enum grt_phase phase, uint64_t *ns,
				 bool *inferred)
{
	unsigned int ends = 3U << phase;

	*inferred = job->inferred & ends;
	*ns = job->time[phase + 1] - job->time[phase];
	return (job->seen & ends) == ends && job->time[phase + 1] >= job->time[phase];
}

/** grt_job_first - its earliest stamp, ns */
uint64_t grt_job_first(const struct grt_job *job);

/**
 * struct grt_job_view - what the columns of grt_jobs_table() need besides the job
 */
struct grt_job_view {
	const struct grt_names *names;
};

/** grt_jobs_table - the columns of a job, see tables.h: rows are struct grt_job, the view is a struct
 * grt_job_view */
const struct grt_table *grt_jobs_table(void);

#ifdef __cplusplus
}
#endif

#endif /* GRTRACE_JOBS_H */
