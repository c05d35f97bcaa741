// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The histograms of phases.h. */
#include "phases.h"

#include "base/containers.h"

/* Octaves of all histograms together: 32 MiB. */
#define OCTAVES 8192U

struct grt_phases {
	struct grt_keyed rings;
	uint64_t slow_ns;
	uint64_t over;
	uint32_t octaves;
};

int grt_phases_new(struct grt_phases **out, uint64_t slow_ns)
{
	struct grt_phases *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	grt_keyed_init(&p->rings, sizeof(struct grt_ring_phases), GRT_PHASES_RINGS_MAX);
	p->slow_ns = slow_ns;
	p->octaves = OCTAVES;
	return 0;
}

static void add_phases(struct grt_phases *p, struct grt_ring_phases *ring, const struct grt_job *job,
		       uint64_t weight)
{
	bool inferred;
	uint64_t ns;

	for (unsigned int i = 0; i < GRT_PHASES; i++)
		if (grt_job_phase(job, i, &ns, &inferred))
			grt_hist_add(&ring->phase[i], ns, weight, inferred, &p->octaves);
	if (grt_job_phase(job, GRT_PHASE_SCHED, &ns, &inferred) && ns > p->slow_ns)
		ring->slow += weight;
	if (job->waits && !job->cut_waits)
		grt_hist_add(&ring->gpu_wait, job->wait_ns, weight, false, &p->octaves);
}

int grt_phases_job(struct grt_phases *p, const struct grt_job *job)
{
	const unsigned int ends = 1U << GRT_STAMP_SUBMIT | 1U << GRT_STAMP_COMPLETE;
	struct grt_key key = {{job->device, job->ring}};
	uint64_t weight = grt_weight(job->sample);
	struct grt_ring_phases *ring;
	void *found;
	int ret = grt_keyed_get_or_count(&p->rings, &key, &p->over, &found);

	ring = found;
	if (!ring)
		return ret;
	ring->ring = job->ring;
	ring->device = job->device;
	if (!ring->engine)
		ring->engine = job->engine;
	ring->jobs += weight;
	ring->records++;
	ring->incomplete += (job->seen & ends) != ends;
	ring->failed += job->failed;
	ring->waits += job->waits * weight;
	ring->wait_ns += (unsigned __int128)job->wait_ns * weight;
	add_phases(p, ring, job, weight);
	return 0;
}

const struct grt_ring_phases *grt_phases_each(const struct grt_phases *p, const struct grt_ring_phases *last)
{
	return last ? grt_keyed_next(&p->rings, last) : grt_keyed_oldest(&p->rings);
}

uint64_t grt_phases_over(const struct grt_phases *p)
{
	return p->over;
}

const char *grt_phase_name(enum grt_phase phase)
{
	static const char *const names[GRT_PHASES] = {
		[GRT_PHASE_SCHED] = "t_sched",
		[GRT_PHASE_QUEUE] = "t_queue",
		[GRT_PHASE_EXEC] = "t_exec",
		[GRT_PHASE_COMPLETE] = "t_complete",
	};

	return names[phase];
}

void grt_phases_free(struct grt_phases *p)
{
	if (!p)
		return;
	for (struct grt_ring_phases *r = grt_keyed_oldest(&p->rings); r; r = grt_keyed_next(&p->rings, r)) {
		for (unsigned int i = 0; i < GRT_PHASES; i++)
			grt_hist_free(&r->phase[i]);
		grt_hist_free(&r->gpu_wait);
	}
	grt_keyed_free(&p->rings);
	free(p);
}
