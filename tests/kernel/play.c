// SPDX-License-Identifier: GPL-2.0
/*
 * Made-up jobs, see play.h.
 */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

#include "play.h"
#include "tap.h"

#define DEPTH_MAX 16
#define STEPS 5

/* The steps of a job, by ring. */
static const char *const lines[PLAY_RINGS][STEPS + 1] = {
	[PLAY_ALL] = {"submit", "commit", "start", "end", "complete"},
	[PLAY_NO_START] = {"submit", "commit", "end", "complete"},
	[PLAY_NO_QUEUE] = {"submit flags=2", "complete"},
	[PLAY_NO_COMMIT] = {"submit", "start", "end", "complete"},
};

/* @step: the next one, NULL at the end: there is no job */
struct job {
	const char *const *step;
	uint64_t seqno;
};

static struct job jobs[PLAY_RINGS][DEPTH_MAX];
static uint64_t seqno = 1;
static uint32_t seed = 1;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

unsigned int play_seqno(unsigned int ctx, unsigned int set)
{
	uint32_t hash = ctx * 0x61C8864680B583EBULL >> 32; /* hash_64(ctx, 32) */

	return PLAY_SETS + ((set - hash) & (PLAY_SETS - 1));
}

void play_wait(unsigned int ms)
{
	struct timespec ts = {.tv_sec = ms / 1000, .tv_nsec = ms % 1000 * 1000000L};

	nanosleep(&ts, NULL);
}

static void nap(unsigned int us)
{
	struct timespec ts = {.tv_nsec = us ? draw(us) * 1000L : 0};

	nanosleep(&ts, NULL);
}

static bool step(struct job *j, unsigned int ring)
{
	const char *status = "";
	int err;

	if (!j->step)
		*j = (struct job){.step = lines[ring], .seqno = seqno++};
	if (!strcmp(*j->step, "complete") && !draw(8))
		status = " status=-110";
	err = kmod_emit("%s ring=%u ctx=%u seqno=%llu engine=graphics device=9%s", *j->step, ring, 100 + ring,
			(unsigned long long)j->seqno, status);
	if (err)
		TAP_FAIL("emit %s: %s", *j->step, strerror(-err));
	j->step++;
	if (!*j->step)
		j->step = NULL;
	return !err;
}

static bool finish(void)
{
	for (unsigned int ring = 0; ring < PLAY_RINGS; ring++)
		for (unsigned int i = 0; i < DEPTH_MAX; i++)
			while (jobs[ring][i].step)
				if (!step(&jobs[ring][i], ring))
					return false;
	return true;
}

bool play(unsigned int ms, unsigned int nap_us, unsigned int depth)
{
	uint64_t until = kmod_now() + ms * 1000000ULL;

	while (kmod_now() < until) {
		unsigned int ring = draw(PLAY_RINGS);

		if (!step(&jobs[ring][draw(depth)], ring))
			return false;
		nap(nap_us);
	}
	return finish();
}

static int by_time(const void *a, const void *b)
{
	const struct play_record *x = a, *y = b;

	if (x->e->time != y->e->time)
		return x->e->time < y->e->time ? -1 : 1;
	return (x->e > y->e) - (x->e < y->e);
}

struct play_record *play_records(const struct capture *c, size_t *n)
{
	struct play_record *all = calloc(capture_count(c, 0) + 1, sizeof(*all));
	const struct grt_packet *p = NULL;
	const struct grt_event *e;

	*n = 0;
	if (!all) {
		perror("play");
		exit(1);
	}
	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			all[(*n)++] = (struct play_record){e, p->cpu_id};
	qsort(all, *n, sizeof(*all), by_time);
	return all;
}
