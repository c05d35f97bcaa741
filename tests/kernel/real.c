// SPDX-License-Identifier: GPL-2.0
/*
 * Jobs of the software GPU and their events, see real.h.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/event_table.h>

#include "real.h"
#include "tap.h"

#define MS 1000000ULL
#define SETTLE_MAX_NS (10000 * MS)

struct real real;

/* When all events had been emitted. */
static uint64_t over;

/* real.job by fence, for look-ups. */
static struct real_job *by_fence[REAL_JOBS_MAX];

bool real_here(void)
{
	real.jobs = 0;
	if (softgpu_open(&real.gpu))
		return true;
	tap_skip("no software GPU here: modprobe grtrace_softgpu grtrace_drm_bridge");
	return false;
}

void real_mix(unsigned int count, uint64_t duration)
{
	unsigned int i;

	for (i = real.jobs; count-- && i < REAL_JOBS_MAX; i++) {
		real.want[i] = (struct grtrace_softgpu_job){
			.duration = duration / 2 + i * 7 % 11 * duration / 10,
			.cookie = i,
			.ring = i * 5 % 11 % real.gpu.nrings,
			.priority = i % 7 % GRTRACE_SOFTGPU_PRIORITIES,
		};
		if (i % 31 == 3)
			real.want[i].error = -EIO;
		if (i % 43 == 5) {
			real.want[i].error = -ENOMEM;
			real.want[i].flags = GRTRACE_SOFTGPU_REFUSE;
		}
	}
	real.jobs = i;
}

bool real_submit(unsigned int first, unsigned int count)
{
	if (softgpu_submit(&real.gpu, real.want + first, count))
		return true;
	TAP_FAIL("the software GPU takes no job: %s", strerror(errno));
	return false;
}

uint32_t real_submit_as(uint32_t uid, unsigned int first, unsigned int count)
{
	pid_t pid = fork();
	int status = -1;

	if (!pid)
		_exit(setresuid(uid, uid, uid) || !softgpu_submit(&real.gpu, real.want + first, count));
	if (pid > 0 && waitpid(pid, &status, 0) == pid && !status)
		return pid;
	TAP_FAIL("submitting as user %u: status %d", uid, status);
	return 0;
}

static void nap(unsigned int us)
{
	struct timespec ts = {.tv_sec = us / 1000000, .tv_nsec = us % 1000000 * 1000L};

	while (nanosleep(&ts, &ts))
		;
}

bool real_play(unsigned int batch, unsigned int gap_us)
{
	unsigned int first, n;

	for (first = 0; first < real.jobs; first += n) {
		n = real.jobs - first < batch ? real.jobs - first : batch;
		if (!real_submit(first, n))
			return false;
		nap(gap_us);
	}
	return true;
}

/* ---------------------------------------------------- what there must be */

static uint64_t stamp(const struct real_job *j, size_t field)
{
	return *(const uint64_t *)((const char *)&j->r + field);
}

/* The next such stamp of a job after that of @j, on any ring or its own; when all was over without one. */
static uint64_t next_stamp(const struct real_job *j, size_t field, bool any_ring)
{
	uint64_t at = stamp(j, field), next = over, t;
	const struct real_job *k;

	for (k = real.job; k < real.job + real.jobs; k++) {
		t = stamp(k, field);
		if ((any_ring || k->r.ring == j->r.ring) && t > at && t < next)
			next = t;
	}
	return next;
}

static uint64_t run_before(const struct real_job *j)
{
	const struct real_job *k;
	uint64_t last = 0;

	for (k = real.job; k < real.job + real.jobs; k++)
		if (k->r.ring == j->r.ring && k->r.run < j->r.run && k->r.run > last)
			last = k->r.run;
	return last;
}

static void add_step(struct real_job *j, unsigned int type, uint64_t from, uint64_t to)
{
	j->step[j->steps++] = (struct real_step){type, from, to, NULL};
}

/*
 * A ring's scheduler tells of a job before it hands out the next one, the timer of
 * one before it ends the next one; one job is pushed after the other.
 */
static void find_steps(struct real_job *j)
{
	const struct grtrace_softgpu_result *r = &j->r;
	uint64_t pushed = next_stamp(j, offsetof(struct grtrace_softgpu_result, submit), true);
	uint64_t before = run_before(j), from = r->end, to;

	j->steps = 0;
	j->record = NULL;
	add_step(j, GRT_EV_SUBMIT, r->submit, pushed < r->run ? pushed : r->run);
	add_step(j, GRT_EV_COMMIT, before > r->submit ? before : r->submit, r->run);
	if (r->state == GRTRACE_SOFTGPU_REFUSED) {
		from = r->run;
		to = next_stamp(j, offsetof(struct grtrace_softgpu_result, run), false);
	} else {
		to = next_stamp(j, offsetof(struct grtrace_softgpu_result, end), false);
		add_step(j, GRT_EV_END, from, to);
	}
	if (r->status)
		add_step(j, GRT_EV_ERROR, from, to);
	add_step(j, GRT_EV_COMPLETE, from, to);
}

uint64_t real_steps(void)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < real.jobs; i++)
		n += real.job[i].steps;
	return n;
}

static bool take_results(void)
{
	static struct grtrace_softgpu_result results[REAL_JOBS_MAX];
	unsigned int i;

	if (!softgpu_results(&real.gpu, results, real.jobs)) {
		TAP_FAIL("the software GPU has not run its jobs: %s", strerror(errno));
		return false;
	}
	for (i = 0; i < real.jobs; i++) {
		if (results[i].cookie >= real.jobs || results[i].state == GRTRACE_SOFTGPU_KILLED) {
			TAP_FAIL("the software GPU tells of a job that there was not");
			return false;
		}
		real.job[results[i].cookie].r = results[i];
	}
	return true;
}

/* A result is there a little before the last events of its job. */
static void settle(void)
{
	uint64_t until = kmod_now() + SETTLE_MAX_NS, emitted, before = 0;

	do {
		nap(20000);
		emitted = kmod_stat("total", "emitted");
		if (emitted == before && emitted >= real_steps())
			return;
		before = emitted;
	} while (kmod_now() < until);
}

static int compare_fences(const void *a, const void *b)
{
	const struct real_job *x = *(struct real_job *const *)a, *y = *(struct real_job *const *)b;

	if (x->r.ctx != y->r.ctx)
		return x->r.ctx < y->r.ctx ? -1 : 1;
	return (x->r.seqno > y->r.seqno) - (x->r.seqno < y->r.seqno);
}

bool real_over(void)
{
	unsigned int i;

	if (!take_results())
		return false;
	over = UINT64_MAX;
	for (i = 0; i < real.jobs; i++) {
		find_steps(&real.job[i]);
		by_fence[i] = &real.job[i];
	}
	settle();
	over = kmod_now();
	for (i = 0; i < real.jobs; i++) {
		find_steps(&real.job[i]);
		real.job[i].ring = real_ring(real.job[i].r.ring);
	}
	qsort(by_fence, real.jobs, sizeof(by_fence[0]), compare_fences);
	return true;
}

uint32_t real_ring(unsigned int index)
{
	char text[32768], name[64], *at = text, *line;
	unsigned int id;

	kmod_read("rings", text, sizeof(text));
	while ((line = strsep(&at, "\n")))
		if (sscanf(line, "%u %63s", &id, name) == 2 && !strcmp(name, real.gpu.ring[index].name))
			return id;
	return GRT_RING_NONE;
}

/* ------------------------------------------------------- what there is */

static struct real_job *find_job(const struct grt_event *e)
{
	struct real_job key = {.r = {.ctx = e->ctx, .seqno = e->seqno}}, *at = &key, **found;

	found = bsearch(&at, by_fence, real.jobs, sizeof(by_fence[0]), compare_fences);
	return found ? *found : NULL;
}

static struct real_step *find_step(struct real_job *j, unsigned int type)
{
	unsigned int i;

	for (i = 0; i < j->steps; i++)
		if (j->step[i].type == type)
			return &j->step[i];
	return NULL;
}

static bool wrong(const struct real_job *j, const struct grt_event *e, const char *what)
{
	TAP_FAIL("job %llu of ring %u, fence %llu:%llu: %s: %s", (unsigned long long)j->r.cookie, j->r.ring,
		 (unsigned long long)j->r.ctx, (unsigned long long)j->r.seqno,
		 grt_event_table[e->type & (GRT_EV_MAX - 1)].title, what);
	return false;
}

static bool is_between(const struct real_step *s, uint64_t time)
{
	return time + REAL_SLACK_NS >= s->from && time <= s->to + REAL_SLACK_NS;
}

/* A JOB record has the stamp of a step, or 0 for a step that was not. */
static bool stamp_right(struct real_job *j, unsigned int type, uint64_t time)
{
	const struct real_step *s = find_step(j, type);

	return s ? is_between(s, time) : !time;
}

static bool join_record(struct real_job *j, const struct grt_event *e)
{
	const struct grt_ev_job *r = (const void *)e;

	if (j->record)
		return wrong(j, e, "told twice");
	j->record = e;
	if (!stamp_right(j, GRT_EV_SUBMIT, r->submit) || !stamp_right(j, GRT_EV_COMMIT, r->commit) ||
	    !stamp_right(j, GRT_EV_END, r->end) || !stamp_right(j, GRT_EV_COMPLETE, r->complete))
		return wrong(j, e, "a stamp is not between the moments that the GPU knows");
	if (r->errors != !!find_step(j, GRT_EV_ERROR) || r->others || r->waits || r->start || r->wait)
		return wrong(j, e, "other events than there were");
	return true;
}

static bool join_step(struct real_job *j, const struct grt_event *e)
{
	struct real_step *s = find_step(j, e->type);

	if (!s)
		return wrong(j, e, "not expected");
	if (s->e)
		return wrong(j, e, "told twice");
	s->e = e;
	if (!is_between(s, e->time))
		return wrong(j, e, "not between the moments that the GPU knows");
	return true;
}

static bool join(const struct grt_event *e)
{
	struct real_job *j;

	if (e->type == GRT_EV_NAME || e->type == GRT_EV_AGGREGATE)
		return true;
	j = find_job(e);
	if (!j) {
		TAP_FAIL("a record of fence %llu:%llu, of which there was no job", (unsigned long long)e->ctx,
			 (unsigned long long)e->seqno);
		return false;
	}
	if (e->pid != j->r.pid || e->tid != j->r.tid)
		return wrong(j, e, "not its submitter's pid and tid");
	if (e->ring != j->ring)
		return wrong(j, e, "not on its ring");
	return e->type == GRT_EV_JOB ? join_record(j, e) : join_step(j, e);
}

/* What was told of a job was told in its order. */
static bool in_order(const struct real_job *j)
{
	const struct grt_event *last = NULL;
	unsigned int i;

	for (i = 0; i < j->steps; i++) {
		if (!j->step[i].e)
			continue;
		if (last && j->step[i].e->time < last->time)
			return wrong(j, j->step[i].e, "before what comes before it");
		last = j->step[i].e;
	}
	return true;
}

bool real_join(const struct capture *c)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	unsigned int i;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			if (!join(e))
				return false;
	for (i = 0; i < real.jobs; i++)
		if (!in_order(&real.job[i]))
			return false;
	return true;
}

static unsigned int steps_told(const struct real_job *j)
{
	unsigned int i, n = 0;

	for (i = 0; i < j->steps; i++)
		n += !!j->step[i].e;
	return n;
}

uint64_t real_delivered(void)
{
	uint64_t n = 0;
	unsigned int i;

	for (i = 0; i < real.jobs; i++)
		n += steps_told(&real.job[i]);
	return n;
}

int real_whole(const struct real_job *j)
{
	unsigned int n = steps_told(j);

	return n == j->steps ? 1 : n ? -1 : 0;
}

void real_latency(const struct real_job *j, uint64_t *least, uint64_t *most)
{
	const struct real_step *complete = &j->step[j->steps - 1];

	*least = complete->from - j->step[0].to - 2 * REAL_SLACK_NS;
	if (complete->from < j->step[0].to + 2 * REAL_SLACK_NS)
		*least = 0;
	*most = complete->to - j->step[0].from + 2 * REAL_SLACK_NS;
}

static bool lacks_record(const struct real_step *s, uint64_t from, uint64_t to)
{
	return !s->e && s->from > from + REAL_SLACK_NS && s->to + REAL_SLACK_NS < to;
}

bool real_none_refused(uint64_t from, uint64_t to)
{
	const struct real_job *j;
	unsigned int i;

	for (j = real.job; j < real.job + real.jobs; j++)
		for (i = 0; i < j->steps; i++) {
			if (!lacks_record(&j->step[i], from, to))
				continue;
			TAP_FAIL("%s of fence %llu:%llu, from %llu to %llu, was refused between %llu and "
				 "%llu",
				 grt_event_table[j->step[i].type].title, (unsigned long long)j->r.ctx,
				 (unsigned long long)j->r.seqno, (unsigned long long)j->step[i].from,
				 (unsigned long long)j->step[i].to, (unsigned long long)from,
				 (unsigned long long)to);
			return false;
		}
	return true;
}

static int compare_times(const void *a, const void *b)
{
	const struct grt_event *x = *(const struct grt_event *const *)a;
	const struct grt_event *y = *(const struct grt_event *const *)b;

	return (x->time > y->time) - (x->time < y->time);
}

const struct grt_event **real_records(const struct capture *c, unsigned int *n)
{
	const struct grt_event **all = calloc(real_steps() + 1, sizeof(*all)), *e;
	const struct grt_packet *p = NULL;

	*n = 0;
	if (!all) {
		perror("grtrace self-test");
		exit(1);
	}
	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			if (e->type <= GRT_EV_COMMAND && *n < real_steps())
				all[(*n)++] = e;
	qsort(all, *n, sizeof(all[0]), compare_times);
	return all;
}
