// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for jobs of the software GPU in the ways that user space has. At the end
 * it prints a line for each call and each job waited for there,
 *
 *	NAME CTX SEQNO NS
 *
 * with the time in the call by its own clock. Of a call for several jobs that is
 * the time until this one's end, which the software GPU says, if that was before
 * the call's. A call that only looks has the time 0: it is to be no wait.
 *
 *	sync_waits [MS]		a job runs so long, or some times as long; 20
 */
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <pthread.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/epoll.h>
#include <sys/ioctl.h>
#include <sys/select.h>
#include <time.h>
#include <unistd.h>

#include "gpu_calls.h"

/* As in include/uapi/drm/drm.h and include/uapi/linux/sync_file.h. */
struct transfer {
	uint32_t from, to;
	uint64_t from_point, to_point;
	uint32_t flags, pad;
};

struct timeline_wait {
	uint64_t handles, points;
	int64_t until;
	uint32_t count, flags, first, pad;
};

struct merge {
	char name[32];
	int32_t other, fence;
	uint32_t flags, pad;
};

#define SYNCOBJ_TIMELINE_WAIT _IOWR('d', 0xca, struct timeline_wait)
#define SYNCOBJ_TRANSFER _IOWR('d', 0xcc, struct transfer)
#define SYNC_MERGE _IOWR('>', 3, struct merge)
#define TO_SYNC_FILE 1U
#define WAIT_ALL 1U
#define WAIT_FOR_SUBMIT 2U
#define FOREVER ((uint64_t)INT64_MAX)

/** struct job - one that runs: its name, and the sync object that it signals */
struct job {
	uint64_t ctx, seqno;
	uint32_t sync;
};

/** struct told - a call that waited for a job from @begin to @end; both 0: it only looked */
struct told {
	const char *name;
	struct job job;
	uint64_t begin, end;
	bool several;
};

static uint64_t length;
static struct told told[64];
static unsigned int n_told;

static uint64_t now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000000000 + (uint64_t)t.tv_nsec;
}

static void submit(struct job *job, uint32_t ring, uint64_t duration)
{
	struct grtrace_softgpu_job j = {.duration = duration, .out_sync = job->sync, .ring = ring};
	struct grtrace_softgpu_submit s = {.jobs = (uintptr_t)&j, .count = 1};

	if (ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_SUBMIT, &s))
		fail("SUBMIT");
	job->ctx = j.ctx;
	job->seqno = j.seqno;
}

static struct job new_job(uint32_t ring, uint64_t duration)
{
	struct job job = {.sync = new_sync()};

	submit(&job, ring, duration);
	return job;
}

static int sync_file(const struct job *job)
{
	struct to_fd t = {.handle = job->sync, .flags = TO_SYNC_FILE, .fd = -1};

	if (ioctl(gpu, SYNCOBJ_TO_FD, &t))
		fail("SYNCOBJ_HANDLE_TO_FD");
	return t.fd;
}

static void say(const char *name, uint64_t begin, const struct job *jobs, unsigned int n)
{
	uint64_t end = begin ? now() : 0;

	for (unsigned int i = 0; i < n; i++)
		told[n_told++] = (struct told){name, jobs[i], begin, end, n > 1};
}

/* Return: when it began */
static uint64_t wait_sync(const struct job *jobs, uint32_t n, uint32_t flags, uint64_t until)
{
	uint32_t handles[8];
	struct sync_wait w = {
		.handles = (uintptr_t)handles, .until = (int64_t)until, .count = n, .flags = flags};
	uint64_t begin;

	for (uint32_t i = 0; i < n; i++)
		handles[i] = jobs[i].sync;
	begin = now();
	if (ioctl(gpu, SYNCOBJ_WAIT, &w) && errno != ETIME)
		fail("SYNCOBJ_WAIT");
	return begin;
}

/* Until the jobs are over, without waiting for them. */
static void drain(uint64_t lengths)
{
	struct timespec pause = {.tv_nsec = (long)length};

	while (lengths--)
		nanosleep(&pause, NULL);
}

static void sync_objects(void)
{
	struct job jobs[3];

	jobs[0] = new_job(0, length);
	say("one", wait_sync(jobs, 1, 0, FOREVER), jobs, 1);
	wait_sync(jobs, 1, 0, FOREVER);
	jobs[0] = new_job(0, length);
	wait_sync(jobs, 1, 0, 0);
	say("looked-at", 0, jobs, 1);
	drain(2);
	jobs[0] = new_job(0, 3 * length);
	say("expired", wait_sync(jobs, 1, 0, now() + length), jobs, 1);
	drain(3);
	for (uint32_t i = 0; i < 3; i++)
		jobs[i] = new_job(i, (i + 1) * length);
	say("all", wait_sync(jobs, 3, WAIT_ALL, FOREVER), jobs, 3);
	for (uint32_t i = 0; i < 3; i++)
		jobs[i] = new_job(i, (i + 1) * length);
	say("any", wait_sync(jobs, 3, 0, FOREVER), jobs, 3);
	drain(3);
}

static void timelines(void)
{
	struct job job = new_job(0, length), line = {.sync = new_sync()};
	struct transfer t = {.from = job.sync, .to = line.sync, .to_point = 7};
	uint64_t point = 7, begin;
	struct timeline_wait w = {.handles = (uintptr_t)&line.sync,
				  .points = (uintptr_t)&point,
				  .until = INT64_MAX,
				  .count = 1};

	if (ioctl(gpu, SYNCOBJ_TRANSFER, &t))
		fail("SYNCOBJ_TRANSFER");
	begin = now();
	if (ioctl(gpu, SYNCOBJ_TIMELINE_WAIT, &w))
		fail("SYNCOBJ_TIMELINE_WAIT");
	say("timeline", begin, &job, 1);
}

static uint64_t submitted;

static void *submit_late(void *arg)
{
	drain(1);
	submit(arg, 0, length);
	submitted = now();
	return NULL;
}

/* It waits for the job from when there is one. */
static void before_submit(void)
{
	struct job job = {.sync = new_sync()};
	pthread_t other;

	if (pthread_create(&other, NULL, submit_late, &job))
		fail("pthread_create");
	wait_sync(&job, 1, WAIT_FOR_SUBMIT, FOREVER);
	say("before-submit", submitted, &job, 1);
	pthread_join(other, NULL);
}

static uint64_t poll_for(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};
	uint64_t begin = now();

	if (poll(&p, 1, ms) < 0)
		fail("poll");
	return begin;
}

static uint64_t select_for(int fd)
{
	uint64_t begin = now();
	fd_set set;

	FD_ZERO(&set);
	FD_SET(fd, &set);
	if (select(fd + 1, &set, NULL, NULL, NULL) != 1)
		fail("select");
	return begin;
}

static uint64_t epoll_for(int fd, int ms)
{
	struct epoll_event e = {.events = EPOLLIN};
	int set = epoll_create1(EPOLL_CLOEXEC);
	uint64_t begin;

	if (set < 0 || epoll_ctl(set, EPOLL_CTL_ADD, fd, &e))
		fail("epoll");
	begin = now();
	if (epoll_wait(set, &e, 1, ms) < 0)
		fail("epoll_wait");
	return begin;
}

static void files(void)
{
	const int ms = (int)(length / 1000000);
	struct job job = new_job(0, length);
	int fd = sync_file(&job);

	say("poll", poll_for(fd, -1), &job, 1);
	poll_for(fd, -1);
	job = new_job(0, length);
	poll_for(sync_file(&job), 0);
	epoll_for(sync_file(&job), 0);
	say("poll-looked-at", 0, &job, 1);
	drain(2);
	job = new_job(0, 3 * length);
	fd = sync_file(&job);
	say("poll-expired", poll_for(fd, ms), &job, 1);
	say("poll-again", poll_for(fd, -1), &job, 1);
	job = new_job(0, length);
	say("select", select_for(sync_file(&job)), &job, 1);
	job = new_job(0, length);
	say("epoll", epoll_for(sync_file(&job), -1), &job, 1);
	job = new_job(0, 2 * length);
	say("epoll-expired", epoll_for(sync_file(&job), ms), &job, 1);
	drain(2);
}

static void merged(void)
{
	struct job jobs[2] = {new_job(0, length), new_job(1, 2 * length)};
	struct merge m = {.other = sync_file(&jobs[1])};

	if (ioctl(sync_file(jobs), SYNC_MERGE, &m))
		fail("SYNC_IOC_MERGE");
	say("poll-all", poll_for(m.fence, -1), jobs, 2);
	drain(1);
}

static struct grtrace_softgpu_result results[64];

/* When the software GPU ended the job. */
static uint64_t end_of(const struct job *job)
{
	static struct grtrace_softgpu_results r = {.results = (uintptr_t)results, .capacity = 64};

	if (!r.count && ioctl(gpu, DRM_IOCTL_GRTRACE_SOFTGPU_RESULTS, &r))
		fail("RESULTS");
	for (unsigned int i = 0; i < r.count; i++)
		if (results[i].ctx == job->ctx && results[i].seqno == job->seqno)
			return results[i].end;
	errno = ESRCH;
	fail("a job without result");
	return 0;
}

int main(int argc, char **argv)
{
	length = strtoull(argc > 1 ? argv[1] : "20", NULL, 10) * 1000000;
	gpu = open_gpu();
	sync_objects();
	timelines();
	before_submit();
	files();
	merged();
	for (struct told *t = told; t < told + n_told; t++) {
		if (t->several && end_of(&t->job) < t->end)
			t->end = end_of(&t->job);
		printf("%s %llu %llu %llu\n", t->name, (unsigned long long)t->job.ctx,
		       (unsigned long long)t->job.seqno, (unsigned long long)(t->end - t->begin));
	}
	return 0;
}
