/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which context runs on a ring, inferred from the order of its jobs: a job begins when it is handed over to
 * an idle ring, or else when the job before it ends.
 */
#ifndef GRTRACE_BPF_SWITCH_H
#define GRTRACE_BPF_SWITCH_H

#include <grtrace/grtrace.h>

#include "trace/packer.h"

/* Most jobs on a ring. If there are more, nothing is inferred until the ring is empty again. */
#define BPF_SWITCH_JOBS 128U

/**
 * struct grt_bpf_switch_job
 * @owner: the job's context; the driver's own number of it if there is one
 */
struct grt_bpf_switch_job {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t owner;
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct grt_bpf_switch - a ring; all bytes zero: an empty ring about which nothing is known
 * @job: jobs on the ring, of which the first one runs
 * @owner: the context that ran last, if it is @known
 * @beyond: jobs on the ring that had no room
 */
struct grt_bpf_switch {
	struct grt_bpf_switch_job job[BPF_SWITCH_JOBS];
	unsigned int jobs;
	uint64_t owner;
	bool known;
	uint64_t beyond;
};

/** grt_bpf_switch_looks_at - whether grt_bpf_switch_see() learns something from such an event */
bool grt_bpf_switch_looks_at(const struct grt_event *e);

/**
 * grt_bpf_switch_see - learns from an event of the ring, and adds a CTX_SWITCH (inferred) after it if the
 * context changes
 * Return: 0 or -ENOMEM
 */
int grt_bpf_switch_see(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		       const struct grt_event *e);

#endif /* GRTRACE_BPF_SWITCH_H */
