/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Which context runs on a ring, inferred from the ring's order: a job begins
 * when it is handed over and nothing is before it, else when the one before it
 * ends.
 */
#ifndef GRTRACE_BPF_SWITCH_H
#define GRTRACE_BPF_SWITCH_H

#include <grtrace/grtrace.h>

#include "trace/packer.h"

/* Jobs on a ring; with more, nothing is inferred until it is empty again. */
#define BPF_SWITCH_JOBS 128U

/** struct grt_bpf_switch_job - @owner: its context, the driver's own where it has one */
struct grt_bpf_switch_job {
	uint64_t ctx;
	uint64_t seqno;
	uint64_t owner;
	uint32_t pid;
	uint32_t tid;
};

/**
 * struct grt_bpf_switch - a ring; all zero is one that is empty and of which nothing is known
 * @job: on the ring, the first one runs
 * @owner: the context that ran last, where that is @known
 * @beyond: jobs on the ring that did not fit
 */
struct grt_bpf_switch {
	struct grt_bpf_switch_job job[BPF_SWITCH_JOBS];
	unsigned int jobs;
	uint64_t owner;
	bool known;
	uint64_t beyond;
};

/** grt_bpf_switch_looks_at - whether grt_bpf_switch_see() learns anything from such an event */
bool grt_bpf_switch_looks_at(const struct grt_event *e);

/**
 * grt_bpf_switch_see - learns from an event of the ring; puts a CTX_SWITCH (inferred) behind it where the
 * context changes Return: 0 or -ENOMEM
 */
int grt_bpf_switch_see(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		       const struct grt_event *e);

#endif /* GRTRACE_BPF_SWITCH_H */
