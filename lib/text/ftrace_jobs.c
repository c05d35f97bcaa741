// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Jobs of ftrace text, see ftrace_jobs.h. Elements of the index are never emptied: one that leads to a slot
 * whose job has other keys by now counts as free.
 */
#include "ftrace_jobs.h"

#include <stddef.h>
#include <string.h>

#define PLACES (8U * FTRACE_JOBS)
/* Elements that are examined for a key. */
#define WAYS 8U

enum key_kind {
	BY_KEY,
	BY_FENCE,
	BY_ID,
};

struct key {
	enum key_kind kind;
	uint64_t a;
	uint64_t b;
};

/*
 * Numbers of a context or ring follow one another, so their elements are adjacent, and few cache lines are
 * enough.
 */
static uint32_t home_of(const struct key *k)
{
	uint64_t h = ((k->a * 3 + k->kind) * 0x9e3779b97f4a7c15ULL ^ k->b >> 4) * 0xd1b54a32d192ed03ULL;

	return (uint32_t)((h ^ h >> 29) * 0xbf58476d1ce4e5b9ULL >> 40 << 4 | (k->b & 15)) % PLACES;
}

static bool has_key(const struct ftrace_job *job, const struct key *k)
{
	switch (k->kind) {
	case BY_KEY:
		return job->key_ctx == k->a && job->key_seqno == k->b;
	case BY_FENCE:
		return job->fence == k->a;
	default:
		return job->has_id && job->id == k->b && job->ring == k->a;
	}
}

static struct ftrace_job *ftrace_jobs_find(struct ftrace_jobs *j, const struct key *k)
{
	uint32_t home = home_of(k), slot;

	for (uint32_t i = 0; i < WAYS; i++) {
		slot = j->place[(home + i) % PLACES];
		if (!slot)
			return NULL;
		if (has_key(&j->job[slot - 1], k))
			return &j->job[slot - 1];
	}
	return NULL;
}

/* From now on, this job has the key, and no other one. */
static void ftrace_jobs_place(struct ftrace_jobs *j, const struct ftrace_job *job, const struct key *k)
{
	uint32_t home = home_of(k), slot = (uint32_t)(job - j->job) + 1, *best = NULL;

	for (uint32_t i = 0; i < WAYS; i++) {
		uint32_t *at = &j->place[(home + i) % PLACES];

		if (!*at || *at == slot) {
			*at = slot;
			return;
		}
		if (!best || j->job[*at - 1].serial < j->job[*best - 1].serial)
			best = at;
	}
	*best = slot;
}

static uint32_t ftrace_jobs_take_slot(struct ftrace_jobs *j)
{
	if (j->spares)
		return j->spare[--j->spares];
	if (j->used < FTRACE_JOBS)
		return j->used++;
	return j->oldest++ % FTRACE_JOBS;
}

struct ftrace_job *ftrace_jobs_new(struct ftrace_jobs *j)
{
	struct ftrace_job *job = &j->job[ftrace_jobs_take_slot(j)];

	*job = (struct ftrace_job){.serial = ++j->serial};
	return job;
}

/* The job that completed FTRACE_DONE completions ago makes room, if its slot was not used again. */
void ftrace_jobs_done(struct ftrace_jobs *j, const struct ftrace_job *job)
{
	struct ftrace_running *at = &j->done[j->dones++ % FTRACE_DONE];
	struct ftrace_job *old = &j->job[at->slot];

	if (at->serial && old->serial == at->serial && j->spares < FTRACE_DONE) {
		*old = (struct ftrace_job){.serial = 0};
		j->spare[j->spares++] = at->slot;
	}
	*at = (struct ftrace_running){(uint32_t)(job - j->job), job->ring, job->serial};
}

static struct key by_key(uint64_t ctx, uint64_t seqno)
{
	return (struct key){BY_KEY, (uint32_t)ctx, (uint32_t)seqno};
}

void ftrace_jobs_set_key(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t ctx, uint64_t seqno)
{
	struct key k = by_key(ctx, seqno);
	struct ftrace_job *was = ftrace_jobs_find(j, &k);

	if (was)
		was->key_ctx = 0;
	job->key_ctx = (uint32_t)ctx;
	job->key_seqno = (uint32_t)seqno;
	ftrace_jobs_place(j, job, &k);
}

void ftrace_jobs_set_fence(struct ftrace_jobs *j, struct ftrace_job *job, uint64_t fence)
{
	struct key k = {BY_FENCE, fence, 0};
	struct ftrace_job *was = fence ? ftrace_jobs_find(j, &k) : NULL;

	if (was)
		was->fence = 0;
	job->fence = fence;
	if (fence)
		ftrace_jobs_place(j, job, &k);
}

void ftrace_jobs_set_id(struct ftrace_jobs *j, struct ftrace_job *job, uint32_t ring, uint64_t id)
{
	struct key k = {BY_ID, ring, id};
	struct ftrace_job *was = ftrace_jobs_find(j, &k);

	if (was)
		was->has_id = false;
	job->ring = ring;
	job->id = id;
	job->has_id = true;
	ftrace_jobs_place(j, job, &k);
}

struct ftrace_job *ftrace_jobs_by_key(struct ftrace_jobs *j, uint64_t ctx, uint64_t seqno)
{
	struct key k = by_key(ctx, seqno);

	return k.a ? ftrace_jobs_find(j, &k) : NULL;
}

struct ftrace_job *ftrace_jobs_by_fence(struct ftrace_jobs *j, uint64_t fence)
{
	struct key k = {BY_FENCE, fence, 0};

	return fence ? ftrace_jobs_find(j, &k) : NULL;
}

struct ftrace_job *ftrace_jobs_by_id(struct ftrace_jobs *j, uint32_t ring, uint64_t id)
{
	struct key k = {BY_ID, ring, id};

	return ftrace_jobs_find(j, &k);
}

static void remove_running(struct ftrace_jobs *j, uint32_t i)
{
	j->runnings--;
	memmove(&j->running[i], &j->running[i + 1], (j->runnings - i) * sizeof(j->running[0]));
}

/* Drops the oldest jobs of the ring, so that @keep are left: they ended without a line. */
static void trim_ring(struct ftrace_jobs *j, uint32_t ring, uint64_t keep)
{
	uint64_t here = 0;

	for (uint32_t i = 0; i < j->runnings; i++)
		here += j->running[i].ring == ring;
	for (uint32_t i = 0; i < j->runnings && here > keep;) {
		if (j->running[i].ring != ring) {
			i++;
			continue;
		}
		remove_running(j, i);
		here--;
	}
}

void ftrace_jobs_run(struct ftrace_jobs *j, const struct ftrace_job *job, uint64_t hw_jobs)
{
	if (hw_jobs)
		trim_ring(j, job->ring, hw_jobs - 1);
	if (j->runnings == FTRACE_RUNNING)
		remove_running(j, 0);
	j->running[j->runnings++] = (struct ftrace_running){(uint32_t)(job - j->job), job->ring, job->serial};
}

struct ftrace_job *ftrace_jobs_oldest(struct ftrace_jobs *j)
{
	while (j->runnings) {
		struct ftrace_running r = j->running[0];

		remove_running(j, 0);
		if (j->job[r.slot].serial == r.serial)
			return &j->job[r.slot];
	}
	return NULL;
}
