/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Rings of the BPF programs: each gets a number that no other ring of the recording has, and its name and
 * GPU, which the programs have stored.
 */
#ifndef GRTRACE_BPF_RINGS_H
#define GRTRACE_BPF_RINGS_H

#include <grtrace/grtrace.h>

#include "base/containers.h"
#include "shared.h"
#include "trace/packer.h"

/*
 * Which context runs on a ring, inferred from the order of its jobs: a job begins when it is handed over to
 * an idle ring, or else when the job before it ends.
 */

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

/**
 * grt_bpf_switch_see - learns from an event of the ring, and adds a CTX_SWITCH (inferred) after it if the
 * context changes
 * Return: 0 or -ENOMEM
 */
int grt_bpf_switch_see(struct grt_bpf_switch *s, struct grt_packer *p, unsigned int cpu,
		       const struct grt_event *e);

/* Rings that are found without a search. */
#define BPF_RINGS_NEAR 16U

/**
 * struct grt_bpf_near - an element of a table that was found by @number before; valid while the table has
 * the size @room
 */
struct grt_bpf_near {
	uint32_t id;
	uint32_t room;
	void *element;
};

/**
 * struct grt_bpf_rings - initialised by grt_bpf_rings_init(), freed by grt_bpf_rings_fini()
 * @map: ring_names
 * @base: the first number
 * @all: rings by the programs' number
 * @near: some of them, by the lowest bits of that number
 * @running: struct grt_bpf_switch of the rings that were used last
 * @near_running: some of them, by the lowest bits of the ring's number, until one is replaced
 * @gpu: DRM device of the GPU that was requested last
 * @in_order: which job runs on the ring of the last event follows from its order
 * @unnumbered: events of rings for which there was no number
 */
struct grt_bpf_rings {
	int map;
	uint32_t base;
	struct grt_keyed all;
	struct grt_bpf_near near[BPF_RINGS_NEAR];
	struct grt_keyed running;
	struct grt_bpf_near near_running[BPF_RINGS_NEAR];
	struct {
		char bus[BPF_BUS];
		char card[BPF_DRIVER];
	} gpu;
	bool in_order;
	uint64_t unnumbered;
};

/** grt_bpf_rings_init - without rings; @map: the programs' names of rings, @base: the first number */
void grt_bpf_rings_init(struct grt_bpf_rings *r, int map, uint32_t base);

/** grt_bpf_rings_fini - frees the rings */
void grt_bpf_rings_fini(struct grt_bpf_rings *r);

/** grt_bpf_rings_see - gives the event its ring's number and engine, and names the ring. Return: 0 or -ENOMEM
 */
int grt_bpf_rings_see(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu, struct grt_event *e);

/** grt_bpf_rings_tell - as grt_bpf_rings_see(), for an event of another packer than the one before it */
int grt_bpf_rings_tell(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu, struct grt_event *e);

/** grt_bpf_rings_switch - call this after an event of a ring, see grt_bpf_switch_see() */
int grt_bpf_rings_switch(struct grt_bpf_rings *r, struct grt_packer *p, unsigned int cpu,
			 const struct grt_event *e);

#endif /* GRTRACE_BPF_RINGS_H */
