/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The processes that had a GPU, from the best source in the trace:
 *
 *	slices	of an NVIDIA GPU's time. The time between two slices is the switch, or
 *		idle, or unknown if records are missing; everything adds up to
 *		the time span
 *	jobs	of a ring: a process has it while at least one of its jobs runs. The time
 *		without jobs is idle. If a ring runs several jobs at once,
 *		several processes have it at once
 *	counters	of an engine, from the driver for each process (fdinfo), if no
 *		ring of the GPU has jobs with a begin and an end. The rest is the
 *		least idle time: the processes' times may have overlapped
 *
 * Memory is bounded: 512 places, 65536 rows, 64 MiB for the percentiles, and 96 KiB for the
 * times of a row of jobs at most.
 */
#ifndef GRT_IDLE_GPU_PROCESSES_H
#define GRT_IDLE_GPU_PROCESSES_H

#include "base/busy.h"
#include "base/cgroup.h"
#include "base/hist.h"
#include "base/containers.h"
#include "jobs/jobs.h"
#include "table/analysis.h"

#define GRT_GPU_PLACES_MAX 512U
#define GRT_GPU_PROCESSES_MAX 65536U

/** enum grt_gpu_by - the time of a process, or of all processes of a control group or user */
enum grt_gpu_by {
	GRT_GPU_BY_PROCESS,
	GRT_GPU_BY_CGROUP,
	GRT_GPU_BY_USER,
	GRT_GPU_BYS,
};

/** enum grt_gpu_source - the source of the time */
enum grt_gpu_source {
	GRT_GPU_SLICES,
	GRT_GPU_JOBS,
	GRT_GPU_COUNTERS,
};

/** enum grt_gpu_whose - the owner of the time */
enum grt_gpu_whose {
	GRT_GPU_PROCESS,
	GRT_GPU_SWITCHING,
	GRT_GPU_NOBODY,
	GRT_GPU_UNKNOWN,
};

/**
 * struct grt_gpu_process - a row: a process at a place, or time without a process
 * @pid: the process; for a control group the number in @cgroups, for a user the uid
 * @name: number of its name, from jobs; 0: look it up by @pid
 * @residency: ns
 * @came: number of slices of its context, or of its jobs
 * @whole: slices and jobs whose both ends are known
 * @busy: from jobs: time in which at least one ran
 * @unknown: the counter has only one value in the time span: @residency is unknown
 * @measured: from counters: ns between the values of @residency; 0: unknown
 * @unmeasured: the time of a part of @residency is unknown
 * @inferred: the begin of some jobs, or the unit of the counter, was inferred
 * @least: @residency is a lower bound
 */
struct grt_gpu_process {
	uint32_t device;
	uint32_t instance;
	uint32_t pid;
	uint32_t name;
	uint32_t place;
	uint8_t source;
	uint8_t kind;
	bool inferred;
	bool least;
	uint64_t residency;
	uint64_t came;
	struct grt_hist whole;
	struct grt_busy busy;
	uint32_t unknown;
	bool unmeasured;
	uint64_t measured;
};

/**
 * struct grt_gpu_place - a GPU, an instance of a GPU, a ring or an engine
 * @place: ring, or counter
 * @from, @to: the time span
 * @over: how the last slice ended, 0: there was none
 * @since: begin of the slice of the present context, 0: unknown
 * @busy: time in which any job ran
 * @untimed: jobs without a beginning or an end
 * @timed: jobs with both; @was_timed: there were such jobs before the time span
 * @sampled: not all jobs are in the trace
 */
struct grt_gpu_place {
	uint32_t device;
	uint32_t instance;
	uint32_t place;
	uint8_t source;
	bool sampled;
	bool was_timed;
	uint16_t over;
	uint64_t from;
	uint64_t to;
	uint64_t since;
	struct grt_busy busy;
	uint64_t untimed;
	uint64_t timed;
};

/* Rings and processes in the cache of found rows. */
#define GRT_GPU_FOUND 16U

/** struct grt_gpu_found - the place and row that were found last; @row 0: none
 */
struct grt_gpu_found {
	uint32_t ring;
	uint32_t pid;
	size_t place;
	size_t row;
};

/**
 * struct grt_gpu_processes - the state; from grt_gpu_processes_new()
 * @owners: owners of processes, by pid; @values: previous values of counters
 * @cgroups: paths of control groups
 * @found: cache for jobs, by process; only grt_gpu_processes_next() removes rows
 * @jobs: jobs and counters are processed; @windows: only jobs of random windows are in the trace
 * @from, @to: only this time counts; @first, @last: the time span
 * @follows: events before @from were processed, too
 * @backwards: slices that began before the end of the previous one
 * @over: slices, jobs and values without a row
 */
struct grt_gpu_processes {
	struct grt_keyed places;
	struct grt_keyed rows;
	struct grt_keyed owners;
	struct grt_keyed values;
	struct grt_texts cgroups;
	struct grt_gpu_found found[GRT_GPU_FOUND];
	enum grt_gpu_by by;
	bool jobs;
	bool windows;
	uint64_t from;
	uint64_t to;
	uint64_t first;
	uint64_t last;
	bool follows;
	uint64_t backwards;
	uint64_t over;
	uint32_t budget;
};

/** grt_gpu_processes_new - begins; @jobs: process jobs and counters, too. Return: 0 or -ENOMEM */
int grt_gpu_processes_new(struct grt_gpu_processes **out, enum grt_gpu_by by, bool jobs);

/**
 * grt_gpu_processes_event - processes a GPU_SLICE, COUNTER or OWNER; ignores other events. Return: 0 or
 * -ENOMEM
 */
int grt_gpu_processes_event(struct grt_gpu_processes *g, const struct grt_event *e,
			    const struct grt_names *names);

/** grt_gpu_processes_job - processes a job. Return: 0 or -ENOMEM */
int grt_gpu_processes_job(struct grt_gpu_processes *g, const struct grt_job *job);

/** grt_gpu_processes_sums - processes jobs that a source has summed up, which lie in the examined time.
 * Return: 0 or -ENOMEM */
int grt_gpu_processes_sums(struct grt_gpu_processes *g, const struct grt_job_sums *s);

/**
 * grt_gpu_processes_running - processes an incomplete job with a START: it has its ring up to its
 * END, or up to @now
 * Return: 0 or -ENOMEM
 */
int grt_gpu_processes_running(struct grt_gpu_processes *g, const struct grt_job *job, uint64_t now);

/**
 * grt_gpu_processes_next - drops finished rows: from now on the time after @from counts. Existing places
 * and counters stay, without time. Return: 0 or -ENOMEM
 */
int grt_gpu_processes_next(struct grt_gpu_processes *g, uint64_t from);

/**
 * grt_gpu_processes_finish - completes the rows at the end of the trace; may be called again after further
 * events. Return: 0 or -ENOMEM
 */
int grt_gpu_processes_finish(struct grt_gpu_processes *g, const struct grt_pass *pass);

/** grt_gpu_processes_place - the place of a row */
const struct grt_gpu_place *grt_gpu_processes_place(const struct grt_gpu_processes *g,
						    const struct grt_gpu_process *row);

/**
 * grt_gpu_processes_device - the number of the GPU of a place, major << 20 | minor; 0: unknown
 * @name: gets its name, NULL: none
 */
uint32_t grt_gpu_processes_device(const struct grt_gpu_place *at, const struct grt_names *names,
				  const char **name);

/**
 * grt_gpu_processes_is_doubled - whether a row has counters of a GPU whose jobs are known, and is redundant
 */
bool grt_gpu_processes_is_doubled(const struct grt_gpu_processes *g, const struct grt_names *names,
				  enum grt_gpu_source source, uint32_t device);

/** grt_gpu_processes_wall - the time of which a row is a share, ns */
uint64_t grt_gpu_processes_wall(const struct grt_gpu_processes *g, const struct grt_gpu_process *row);

/** grt_gpu_processes_cgroup - path of a process's control group, NULL: unknown */
const char *grt_gpu_processes_cgroup(const struct grt_gpu_processes *g, uint32_t pid);

/** struct grt_gpu_processes_view - the view of grt_gpu_processes_table; @room: memory for texts
 * of control groups */
struct grt_gpu_processes_view {
	const struct grt_gpu_processes *g;
	const struct grt_names *names;
	char (*room)[GRT_CGROUP_PART];
};

/** grt_gpu_processes_free - frees it; NULL is allowed */
void grt_gpu_processes_free(struct grt_gpu_processes *g);

#endif /* GRT_IDLE_GPU_PROCESSES_H */
