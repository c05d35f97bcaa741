/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which process had a GPU, by the best that the trace has of it:
 *
 *	slices	of an NVIDIA GPU's time. What is between two slices is the switch, or
 *		nobody's, or unknown where records are missing; all of it together is
 *		the time looked at
 *	jobs	of a ring: a process has it while at least one of its jobs runs. What
 *		no job takes is nobody's. A ring that runs several jobs at a time is had
 *		by several processes at a time
 *	counters	of an engine, that the driver has of each process (fdinfo), where no
 *		ring of the GPU has jobs with a beginning and an end. What is left is
 *		at least nobody's: the processes' times may have overlapped
 *
 * Memory is bounded: 512 places, 65536 rows, 64 MiB for the percentiles, and 24 KiB for the
 * times of a row of jobs at most.
 */
#ifndef GRT_IDLE_GPU_PROCESSES_H
#define GRT_IDLE_GPU_PROCESSES_H

#include "base/busy.h"
#include "base/cgroup.h"
#include "base/hist.h"
#include "base/keyed.h"
#include "base/texts.h"
#include "table/analysis.h"

#define GRT_GPU_PLACES_MAX 512U
#define GRT_GPU_PROCESSES_MAX 65536U

/** enum grt_gpu_by - whose time is put together: of a process, or of all of a control group or user */
enum grt_gpu_by {
	GRT_GPU_BY_PROCESS,
	GRT_GPU_BY_CGROUP,
	GRT_GPU_BY_USER,
	GRT_GPU_BYS,
};

/** enum grt_gpu_source - how the trace knows it */
enum grt_gpu_source {
	GRT_GPU_SLICES,
	GRT_GPU_JOBS,
	GRT_GPU_COUNTERS,
};

/** enum grt_gpu_whose - whose the time is */
enum grt_gpu_whose {
	GRT_GPU_PROCESS,
	GRT_GPU_SWITCHING,
	GRT_GPU_NOBODY,
	GRT_GPU_UNKNOWN,
};

/**
 * struct grt_gpu_process - a row: a process at a place, or time that is no process's
 * @pid: of the process; of a control group the number in @cgroups, of a user its uid
 * @name: number of its name, of jobs; 0: look for it by @pid
 * @residency: ns
 * @came: how often its context came onto the GPU, or its jobs
 * @whole: slices and jobs of which both ends are known
 * @busy: of jobs: when at least one ran
 * @unknown: counters of which one value alone is in the time looked at: @residency is unknown
 * @measured: of counters: ns between the values that @residency is of; 0: unknown
 * @unmeasured: some of @residency is of an unknown time
 * @inferred: the beginning of some jobs, or the unit of the counter
 * @least: @residency may be more; of what is nobody's, it may be less, too
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
 * struct grt_gpu_place - what one process has at a time: a GPU or an instance of one, a ring, an engine
 * @place: ring, or counter
 * @from, @to: time that is accounted for
 * @over: how the last slice ended, 0: there was none
 * @since: when the context that is on it came, 0: that is not known
 * @busy: when any job ran
 * @untimed: jobs without a beginning or an end
 * @timed: jobs with both; @was_timed: there were some before the time looked at
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

/* Rings and processes that are found without a search. */
#define GRT_GPU_FOUND 16U

/** struct grt_gpu_found - where their place and row are, as they were found last; @row: 0: nothing was found
 */
struct grt_gpu_found {
	uint32_t ring;
	uint32_t pid;
	size_t place;
	size_t row;
};

/**
 * struct grt_gpu_processes - all there is; set up by grt_gpu_processes_new()
 * @owners: whose a process is, by pid; @values: of counters, the one before
 * @cgroups: their paths
 * @found: of jobs, by process; nothing else takes a row away than grt_gpu_processes_next()
 * @jobs: they are wanted
 * @from, @to: nothing else counts; @first, @last: the time looked at
 * @follows: what was before @from was looked at, too
 * @backwards: slices that began before the one before had ended
 * @over: slices, jobs and values in no row
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
	uint64_t from;
	uint64_t to;
	uint64_t first;
	uint64_t last;
	bool follows;
	uint64_t backwards;
	uint64_t over;
	uint32_t budget;
};

/** grt_gpu_processes_new - begins; @jobs: jobs and counters are wanted, too. Return: 0 or -ENOMEM */
int grt_gpu_processes_new(struct grt_gpu_processes **out, enum grt_gpu_by by, bool jobs);

/** grt_gpu_processes_event - takes in a GPU_SLICE, COUNTER or OWNER; others are ignored. Return: 0 or -ENOMEM
 */
int grt_gpu_processes_event(struct grt_gpu_processes *g, const struct grt_event *e,
			    const struct grt_names *names);

/** grt_gpu_processes_job - takes in a job. Return: 0 or -ENOMEM */
int grt_gpu_processes_job(struct grt_gpu_processes *g, const struct grt_job *job);

/**
 * grt_gpu_processes_running - takes in a job with a START that is not complete: it has its ring up to its
 * END, or @now Return: 0 or -ENOMEM
 */
int grt_gpu_processes_running(struct grt_gpu_processes *g, const struct grt_job *job, uint64_t now);

/**
 * grt_gpu_processes_next - what was finished is forgotten: from now on the time behind @from counts. A place
 * and a counter that is still there stay, with no time so far. Return: 0 or -ENOMEM
 */
int grt_gpu_processes_next(struct grt_gpu_processes *g, uint64_t from);

/** grt_gpu_processes_finish - the trace is over; may come again after further events. Return: 0 or -ENOMEM */
int grt_gpu_processes_finish(struct grt_gpu_processes *g, const struct grt_pass *pass);

/** grt_gpu_processes_place - of a row */
const struct grt_gpu_place *grt_gpu_processes_place(const struct grt_gpu_processes *g,
						    const struct grt_gpu_process *row);

/**
 * grt_gpu_processes_device - the number of the GPU that a place is of, major << 20 | minor; 0: unknown
 * @name: gets its name, NULL: it has none
 */
uint32_t grt_gpu_processes_device(const struct grt_gpu_place *at, const struct grt_names *names,
				  const char **name);

/** grt_gpu_processes_is_doubled - counters of a GPU whose jobs are known say nothing more */
bool grt_gpu_processes_is_doubled(const struct grt_gpu_processes *g, const struct grt_names *names,
				  enum grt_gpu_source source, uint32_t device);

/** grt_gpu_processes_wall - the time that a row is a part of, ns */
uint64_t grt_gpu_processes_wall(const struct grt_gpu_processes *g, const struct grt_gpu_process *row);

/** grt_gpu_processes_cgroup - path of a process's control group, NULL: unknown */
const char *grt_gpu_processes_cgroup(const struct grt_gpu_processes *g, uint32_t pid);

/** struct grt_gpu_processes_view - what the rows of grt_gpu_processes_table are seen with; @room: for texts
 * of control groups */
struct grt_gpu_processes_view {
	const struct grt_gpu_processes *g;
	const struct grt_names *names;
	char (*room)[GRT_CGROUP_PART];
};

/* Rows are struct grt_gpu_process. */
extern const struct grt_table grt_gpu_processes_table[GRT_GPU_BYS];

/**
 * grt_gpu_processes_sentences - a sentence for each GPU, or instance of one, whose slices are known
 * @row: all rows, those of a GPU together, processes first, the one with most time in front
 * Return: 0 or -ENOMEM
 */
int grt_gpu_processes_sentences(const struct grt_gpu_processes_view *v,
				const struct grt_gpu_process *const *row, uint64_t n,
				struct grt_notes *notes);

/** grt_gpu_processes_free - frees it; NULL is allowed */
void grt_gpu_processes_free(struct grt_gpu_processes *g);

#endif /* GRT_IDLE_GPU_PROCESSES_H */
