/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The state of metrics.h, shared by metrics.c, which sums up events, and prometheus.c, which writes the sums.
 */
#ifndef GRT_EXPORT_METRICS_PARTS_H
#define GRT_EXPORT_METRICS_PARTS_H

#include "metrics.h"

#include "base/busy.h"
#include "base/containers.h"
#include "jobs/jobs.h"

#define METRICS_GPUS 64U
#define METRICS_PROCESSES 256U
#define METRICS_CGROUPS 256U
#define METRICS_OTHERS "(others)"

/* Upper bounds of the buckets of histograms, ns; one more bucket counts larger values. */
#define METRICS_BOUNDS 16U
extern const uint64_t metrics_bound[METRICS_BOUNDS];

/** enum metrics_level - what sums are made for */
enum metrics_level {
	METRICS_OF_GPU,
	METRICS_OF_PROCESS,
	METRICS_OF_CGROUP,
	METRICS_LEVELS,
};

/** struct metrics_hist - a histogram; @count: weights by bucket, see hist.h; @sum: sum of weight * ns */
struct metrics_hist {
	uint64_t count[METRICS_BOUNDS + 1];
	unsigned __int128 sum;
};

/**
 * struct metrics_sums - sums of one GPU, process or control group; @jobs, @waits, @wait_ns: sums of weights
 */
struct metrics_sums {
	uint64_t jobs;
	uint64_t failed;
	uint64_t incomplete;
	uint64_t waits;
	unsigned __int128 wait_ns;
	struct metrics_hist queue;
	struct metrics_hist exec;
	struct grt_busy busy;
};

/** struct metrics_gpu - a GPU; @other_processes, @other_cgroups: sums of those without a row of their own */
struct metrics_gpu {
	char label[40];
	struct metrics_sums sums;
	struct metrics_sums other_processes;
	struct metrics_sums other_cgroups;
};

/**
 * struct metrics_row - the sums of a process or control group on a GPU
 * @met: the row is in use
 * @name: the process's comm, or the control group's path
 * @last: time of its last event, ns
 */
struct metrics_row {
	bool met;
	uint32_t gpu;
	uint32_t pid;
	char name[184];
	uint64_t last;
	struct metrics_sums sums;
};

/**
 * struct metrics_owner - the owner of a process
 * @ranked: the process has the rank @rank in the job @job
 * @cgroup, @digest: path of its control group, and a digest of the path
 */
struct metrics_owner {
	uint32_t uid;
	bool ranked;
	uint32_t rank;
	char job[72];
	char cgroup[184];
	uint64_t digest[2];
};

struct metrics_name {
	char name[33];
	char owner[17];
};

struct metrics_counter {
	uint32_t gpu;
	uint32_t pid;
	int64_t value;
	struct metrics_name name;
};

struct metrics_xid {
	uint64_t count;
};

/**
 * struct grt_metrics - the state
 * @jobs: joins events into jobs
 * @secret: key of the digests of paths
 * @within: the time that counts
 * @filter: selects jobs; NULL: all count
 * @now: time of the last event, ns
 * @cards: device files and PCI addresses of the system's GPUs, "NODE=ADDRESS" separated by blanks
 * @gpus: number of @gpu in use
 * @xids_over: Xids beyond the limit of @xids
 * @over: processes, control groups, names and counters without a row of their own, because there were too
 *	many
 */
struct grt_metrics {
	struct grt_jobs *jobs;
	struct grt_hash_key secret;
	struct grt_interval within;
	const struct grt_filter *filter;
	uint64_t now;
	char *cards;
	struct metrics_gpu gpu[METRICS_GPUS];
	uint32_t gpus;
	struct grt_keyed processes;
	struct grt_keyed cgroups;
	struct grt_keyed threads;
	struct grt_keyed names;
	struct grt_keyed owners;
	struct grt_keyed counters;
	struct grt_keyed xids;
	uint64_t xids_over;
	uint64_t over;
};

#endif /* GRT_EXPORT_METRICS_PARTS_H */
