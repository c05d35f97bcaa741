/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Joins events into jobs by identity, (ctx, seqno), in one pass and bounded
 * memory. Nothing is joined by nearness in time.
 *
 * A job goes through three states:
 *
 *	live	from its first event to its COMPLETE
 *	done	for a number of further completions (struct grt_jobs_limits), so that END, waits
 *		and other events with the same or a later time stamp still find it
 *	held	after these completions, while a thread still waits for it
 *
 * Then it is retired: passed to the sink once, in its final state. Jobs are retired
 * in the order of their COMPLETE, held jobs when their last wait ends, and
 * the rest at the end of the trace by grt_jobs_flush(). If too many jobs are
 * in flight, the oldest is retired as it is.
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

/** enum grt_phase - the time from one point to the next */
enum grt_phase {
	GRT_PHASE_SCHED,    /* COMMIT - SUBMIT */
	GRT_PHASE_QUEUE,    /* START - COMMIT */
	GRT_PHASE_EXEC,	    /* END - START */
	GRT_PHASE_COMPLETE, /* COMPLETE - END */
	GRT_PHASES,
};

/**
 * struct grt_job - one job
 * @time: time stamps by enum grt_stamp, ns; only those in @seen are valid
 * @wait_ns: sum of the times of @waits
 * @pid, @tid: ids of the submitter, 0: unknown
 * @cmd, @hw_ctx: see SUBMIT
 * @status: error of the fence or of an ERROR event, negative errno or 0; or GRT_STATUS_UNKNOWN
 * @name: name of the submitting thread at the submit, for grt_names_name()
 * @waits: number of complete waits for its fence
 * @sample: percent of jobs that were recorded when it was, 0: not sampled
 * @seen, @inferred: bits of enum grt_stamp
 * @failed: it had an ERROR event or a @status other than 0
 * @cut_waits: a wait for it has no end in the trace, so @wait_ns is incomplete
 * @held: it was passed to the sink's @held before
 * @size: size of this struct in the library: members beyond it do not exist
 * The other members are private to the library.
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
	uint8_t origin : 3;
	uint8_t outside : 1;
	uint8_t order;
	uint16_t size;
	uint32_t block;
	uint64_t serial;
};

/**
 * struct grt_jobs_count - counts of jobs, waits and events
 * @jobs: jobs retired
 * @incomplete: jobs without SUBMIT or without COMPLETE
 * @no_submit, @no_complete: incomplete jobs by the event that is missing
 * @evicted: jobs retired because too many were in flight
 * @no_status: complete jobs of which no event says whether they failed
 * @no_end: complete jobs without END
 * @inferred_start: jobs whose START was inferred from the order of the ring's jobs
 * @unordered_start: jobs whose START could not be inferred: the previous job on the ring may not
 *	be in the trace (sampled jobs, JOB records), or the ring is unknown
 * @firmware_start: jobs whose START is unknown because firmware schedules their ring
 * @reused: SUBMIT events with an identity that was in use
 * @repeated: time stamps that a job already had; the first one is kept
 * @duplicates: events of a job that another source recorded as well: the kernel module and BPF
 *	programs both recorded it
 * @late: time stamps that came after the job was retired
 * @disordered: phases that end before they begin; they count as absent
 * @waits, @wait_ns: waits that were joined to a job
 * @unjoined_waits, @unjoined_wait_ns: waits for a fence that belongs to no job of the trace
 * @half_waits: ENTER without EXIT, or EXIT without ENTER
 * @no_identity: events of jobs without a context
 * @whole: jobs recorded as one JOB record
 * @replaced: events that these records replace
 * @commands: COMMAND events
 * @errors: ERROR events that belong to no job
 * @sample_min, @sample_max: smallest and largest sampling percentage (1..99), 0: not sampled
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
 * struct grt_jobs_sink - callbacks that receive jobs; the job is valid only during the call,
 * a non-zero result ends the run
 * @held: the time stamps of the job are final, but a thread still waits for it; may be NULL. It is
 *	called in the order in which @job would be called without the wait; @job follows later
 * @job: the job is retired
 * @stray: an ERROR that belongs to no job, or a COMMAND; may be NULL
 * @arg: passed to all callbacks
 */
struct grt_jobs_sink {
	int (*held)(void *arg, const struct grt_job *job);
	int (*job)(void *arg, const struct grt_job *job);
	int (*stray)(void *arg, const struct grt_event *e);
	void *arg;
};

/**
 * struct grt_jobs_limits - limits of memory; 0: the default
 * @jobs: jobs in flight, default 1048576, at most 240 bytes each
 * @window: number of completions for which a completed job is kept, default 4096
 * @waits: waits that have begun and not ended, default 65536
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
 * grt_jobs_new - creates a joiner of jobs
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
 * grt_jobs_event - processes an event of any type; it ignores types that it does not need
 * Return: 0, what the sink returned, or -ENOMEM
 */
int grt_jobs_event(struct grt_jobs *j, const struct grt_event *e);

/** grt_jobs_flush - retires all remaining jobs at the end of the trace. Return: 0 or what the sink returned
 */
int grt_jobs_flush(struct grt_jobs *j);

/** grt_jobs_count_sized - what grt_jobs_count() calls; @size: of *@out */
void grt_jobs_count_sized(const struct grt_jobs *j, struct grt_jobs_count *out, size_t size);

/** grt_jobs_count - the counts so far */
static inline struct grt_jobs_count grt_jobs_count(const struct grt_jobs *j)
{
	struct grt_jobs_count count;

	grt_jobs_count_sized(j, &count, sizeof(count));
	return count;
}

/** grt_jobs_names - the names seen so far; valid until grt_jobs_free() */
const struct grt_names *grt_jobs_names(const struct grt_jobs *j);

/** grt_jobs_free - frees the joiner; NULL is allowed */
void grt_jobs_free(struct grt_jobs *j);

/**
 * grt_job_phase - the length of a phase of a job
 * @inferred: gets whether one of its ends was inferred
 * Return: whether the length is known: both ends are known and in order
 */
static inline bool grt_job_phase(const struct grt_job *job, enum grt_phase phase, uint64_t *ns,
				 bool *inferred)
{
	unsigned int ends = 3U << phase;

	*inferred = job->inferred & ends;
	*ns = job->time[phase + 1] - job->time[phase];
	return (job->seen & ends) == ends && job->time[phase + 1] >= job->time[phase];
}

/** grt_job_first - the earliest time stamp of a job, ns */
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
