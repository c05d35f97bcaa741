// SPDX-License-Identifier: GPL-2.0
/*
 * report --incident: the metadata of a snapshot names the trigger, process and job. Events show what happened
 * to the job, its stacks, its waits, and the other jobs. Two passes are needed, because the frames of a stack
 * may come before the event that names it.
 */
#include "report_incident.h"

#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <time.h>

#include "base/cgroup.h"
#include "base/clock.h"
#include "base/containers.h"
#include "base/say.h"
#include "base/units.h"
#include "cmds/cmd.h"
#include "incident_calls.h"
#include "stack/frames.h"
#include "trace/env.h"
#include "trace/names.h"
#include "trace/packet.h"

/* ------------------------------------------------------ incident waiters */

/*
 * report --incident: which jobs and threads waited for the job, directly or through others. If the fence for
 * which the job itself waits is signalled by one of these threads, the program has made a cycle.
 */

/**
 * struct incident_waiters - initialised by incident_waiters_init()
 * @gone: number of waits that later ones have replaced
 */
struct incident_waiters {
	struct grt_keyed waits;
	uint64_t gone;
};

#define WAITS_MAX 65536U
/* Most levels of waiters, which could form a ring in an invalid recording, and most lines. */
#define LEVELS 8U
#define LINES 20U
/* In place of a waiting job's sequence number: a thread is waiting. */
#define OF_THREAD UINT64_MAX

/**
 * struct wait - a job or a thread that waits for a job
 *
 * Its key is the context and sequence number of the job, then those of the waiting job, or the thread and
 * OF_THREAD.
 */
struct wait {
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
};

/**
 * struct listing - what is printed
 * @lines: number of lines so far
 */
struct listing {
	const struct incident_waiters *w;
	const struct grt_keyed *open;
	const struct grt_names *names;
	unsigned int lines;
};

/* Initialises it without waits. */
static void incident_waiters_init(struct incident_waiters *w)
{
	w->gone = 0;
	grt_keyed_init(&w->waits, sizeof(struct wait), WAITS_MAX);
}

static int incident_waiters_add(struct incident_waiters *w, const struct grt_event *e,
				const struct grt_key *key)
{
	void *found;
	int ret = grt_keyed_get_or_replace(&w->waits, key, &w->gone, &found);

	if (!ret)
		*(struct wait *)found = (struct wait){e->pid, e->tid, e->ring};
	return ret;
}

/* Takes an event from before the incident. Return: 0 or -ENOMEM. */
static int incident_waiters_event(struct incident_waiters *w, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *dep = (const struct grt_ev_wait_dep *)e;
	struct grt_key key = {{e->ctx, e->seqno, e->tid, OF_THREAD}};
	void *wait;

	switch (e->type) {
	case GRT_EV_WAIT_DEP:
		key = (struct grt_key){{dep->dep_ctx, dep->dep_seqno, e->ctx, e->seqno}};
		return e->flags & GRT_FLAG_SIGNALLED ? 0 : incident_waiters_add(w, e, &key);
	case GRT_EV_SYNC_WAIT_ENTER:
		return incident_waiters_add(w, e, &key);
	case GRT_EV_SYNC_WAIT_EXIT:
		wait = grt_keyed_find(&w->waits, &key);
		if (wait)
			grt_keyed_remove(&w->waits, wait);
		break;
	}
	return 0;
}

static void incident_waiters_line(struct listing *l, const struct wait *wait, const struct grt_key *key,
				  unsigned int level)
{
	if (!l->lines++)
		puts("\nwhat waited for it then");
	printf("%*s", (int)(2 + 2 * level), "");
	if (key->w[3] == OF_THREAD) {
		printf("thread %" PRIu32, wait->tid);
		incident_put_name(l->names, GRT_NAME_THREAD, wait->tid, false);
	} else {
		printf("job %" PRIu64 ":%" PRIu64, key->w[2], key->w[3]);
		if (wait->ring != GRT_RING_NONE) {
			fputs(" on ring", stdout);
			incident_put_name(l->names, GRT_NAME_RING, wait->ring, false);
			incident_put_name(l->names, GRT_NAME_RING_GPU, wait->ring, false);
		}
	}
	printf(" of process %" PRIu32, wait->pid);
	incident_put_name(l->names, GRT_NAME_THREAD, wait->tid, true);
	putchar('\n');
}

static void incident_waiters_list(struct listing *l, uint64_t ctx, uint64_t seqno, unsigned int level)
{
	for (const struct wait *wait = grt_keyed_oldest(&l->w->waits); wait && l->lines <= LINES;
	     wait = grt_keyed_next(&l->w->waits, wait)) {
		const struct grt_key *key = grt_keyed_key(wait);
		const struct grt_key job = {{key->w[2], key->w[3]}};

		if (key->w[0] != ctx || key->w[1] != seqno)
			continue;
		if (key->w[3] != OF_THREAD && !grt_keyed_find(l->open, &job))
			continue;
		if (l->lines == LINES) {
			l->lines++;
			puts("  and more");
			return;
		}
		incident_waiters_line(l, wait, key, level);
		if (key->w[3] != OF_THREAD && level + 1 < LEVELS)
			incident_waiters_list(l, key->w[2], key->w[3], level + 1);
	}
}

/*
 * Prints who waits for a job, and below each waiting job who waits for that one;
 * nothing if there are none
 * @open: jobs that are not complete, by context and sequence number
 */
static void incident_waiters_print(const struct incident_waiters *w, const struct grt_keyed *open,
				   const struct grt_names *names, uint64_t ctx, uint64_t seqno)
{
	struct listing l = {w, open, names, 0};

	incident_waiters_list(&l, ctx, seqno, 0);
}

/* Frees everything. */
static void incident_waiters_free(struct incident_waiters *w)
{
	grt_keyed_free(&w->waits);
}

/* ------------------------------------------------------- report incident */

#define JOBS_MAX 65536U
#define PROCESSES_MAX 4096U
#define DEPS_MAX 16U
#define SHOWN 10U

/* Steps of a job, in order. */
static const struct {
	uint16_t type;
	const char *what;
} steps[] = {
	{GRT_EV_SUBMIT, "submitted"},  {GRT_EV_COMMIT, "committed to the ring"},
	{GRT_EV_START, "started"},     {GRT_EV_END, "ended"},
	{GRT_EV_COMPLETE, "complete"},
};
#define STEPS (sizeof(steps) / sizeof(steps[0]))

/** struct open_job - a job that was submitted before the incident and not complete then */
struct open_job {
	uint64_t submit;
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
	bool ended;
};

/**
 * struct process - a process with jobs
 * @submitted, @complete, @failed: numbers up to the incident
 * @open: jobs that were not complete then
 */
struct process {
	uint32_t tid;
	uint64_t submitted;
	uint64_t complete;
	uint64_t failed;
	uint64_t open;
	uint64_t oldest;
};

/**
 * struct dep - a fence for which the job waited
 * @done: it was signalled before the incident
 */
struct dep {
	uint64_t ctx;
	uint64_t seqno;
	bool done;
};

/**
 * struct incident_report - the results
 * @at, @began, @pid, @tid, @ctx, @seqno, @ring: from the metadata; @began 0: unknown
 * @step: when the job did what steps[] names, 0: not seen
 * @calls: calls of CUDA; @waiters: threads and jobs that wait for jobs
 * @owner, @rank, @world: of the process, if @owned and @ranked
 * @stack: the user's and the kernel's; @frames: frames of these alone
 */
struct incident_report {
	struct grt_consumer c;
	uint64_t at, began, first, last;
	uint32_t pid, tid, ring;
	uint64_t ctx, seqno;
	uint64_t step[STEPS];
	int status;
	struct grt_names names;
	struct incident_calls calls;
	struct incident_waiters waiters;
	struct grt_ev_owner owner;
	uint32_t rank, world;
	bool owned, ranked;
	struct grt_keyed jobs;
	struct grt_keyed processes;
	struct dep dep[DEPS_MAX];
	unsigned int deps;
	uint32_t stack[2];
	struct grt_frames frames;
};

/* ------------------------------------------------------------- collecting */

static bool incident_is_job(const struct incident_report *r, const struct grt_event *e)
{
	return r->ctx && grt_has_job(e) && e->ctx == r->ctx && e->seqno == r->seqno;
}

static int incident_process(struct incident_report *r, const struct grt_event *e, struct process **p)
{
	const struct grt_key key = {{e->pid}};
	int ret = grt_keyed_get_or_count(&r->processes, &key, NULL, (void **)p);

	if (*p && e->tid)
		(*p)->tid = e->tid;
	return ret;
}

static int incident_see_submit(struct incident_report *r, const struct grt_event *e)
{
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct open_job *job = NULL;
	struct process *p;
	int ret = incident_process(r, e, &p);

	if (p)
		p->submitted++;
	ret = ret ?: grt_keyed_get_or_replace(&r->jobs, &key, NULL, (void **)&job);
	if (job && job->ended)
		grt_keyed_remove(&r->jobs, job);
	else if (job)
		*job = (struct open_job){.submit = e->time, .pid = e->pid, .tid = e->tid, .ring = e->ring};
	return ret;
}

static int incident_see_complete(struct incident_report *r, const struct grt_event *e)
{
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct open_job *job = grt_keyed_find(&r->jobs, &key);
	int status = ((const struct grt_ev_complete *)e)->status;
	struct process *p;
	int ret = incident_process(r, e, &p);

	if (p) {
		p->complete++;
		p->failed += status < 0;
	}
	if (job)
		grt_keyed_remove(&r->jobs, job);
	return ret;
}

static void incident_see_own(struct incident_report *r, const struct grt_event *e)
{
	const struct grt_ev_wait_dep *dep = (const struct grt_ev_wait_dep *)e;

	for (size_t i = 0; i < STEPS; i++)
		if (steps[i].type == e->type)
			r->step[i] = e->time;
	if (e->type == GRT_EV_COMPLETE)
		r->status = ((const struct grt_ev_complete *)e)->status;
	if (e->type == GRT_EV_WAIT_DEP && r->deps < DEPS_MAX)
		r->dep[r->deps++] = (struct dep){dep->dep_ctx, dep->dep_seqno, e->flags & GRT_FLAG_SIGNALLED};
	if (e->type == GRT_EV_STACK) {
		r->stack[0] = ((const struct grt_ev_stack *)e)->user;
		r->stack[1] = ((const struct grt_ev_stack *)e)->kernel;
	}
	if (e->type == GRT_EV_SUBMIT) {
		r->pid = e->pid;
		r->tid = e->tid;
		r->ring = e->ring;
	}
}

/* Notes the owner of the process. */
static void incident_see_whose(struct incident_report *r, const struct grt_event *e)
{
	if (e->pid != r->pid || !e->pid)
		return;
	if (e->type == GRT_EV_OWNER) {
		r->owner = *(const struct grt_ev_owner *)e;
		r->owned = true;
	} else if (e->type == GRT_EV_OWNER_RANK) {
		r->rank = ((const struct grt_ev_owner_rank *)e)->rank;
		r->world = ((const struct grt_ev_owner_rank *)e)->world;
		r->ranked = true;
	} else if (e->type == GRT_EV_RANK) {
		r->rank = ((const struct grt_ev_rank *)e)->rank;
		r->world = ((const struct grt_ev_rank *)e)->world;
		r->ranked = true;
	}
}

static int incident_on_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct incident_report *r = (struct incident_report *)c;
	int ret = incident_calls_event(&r->calls, e);

	if (ret)
		return ret;
	incident_see_whose(r, e);
	if (e->type == GRT_EV_NAME)
		return grt_names_add(&r->names, (const struct grt_ev_name *)e);
	if (incident_is_job(r, e))
		incident_see_own(r, e);
	for (struct dep *d = r->dep; d < r->dep + r->deps; d++)
		d->done |= (e->type == GRT_EV_COMPLETE || e->type == GRT_EV_FENCE) && e->ctx == d->ctx &&
			   e->seqno >= d->seqno && e->time <= r->at;
	if (e->time > r->at)
		return 0;
	ret = incident_waiters_event(&r->waiters, e);
	if (ret)
		return ret;
	if (e->type == GRT_EV_SUBMIT)
		return incident_see_submit(r, e);
	return e->type == GRT_EV_COMPLETE ? incident_see_complete(r, e) : 0;
}

static int incident_on_frame(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct incident_report *r = (struct incident_report *)c;
	uint32_t stack = e->type == GRT_EV_FRAME	 ? ((const struct grt_ev_frame *)e)->stack
			 : e->type == GRT_EV_FRAME_PLACE ? ((const struct grt_ev_frame_place *)e)->stack
							 : 0;

	if (e->type != GRT_EV_FRAME_TEXT && (!stack || (stack != r->stack[0] && stack != r->stack[1])))
		return 0;
	return grt_frames_event(&r->frames, e);
}

/* --------------------------------------------------------------- printing */

void incident_put_name(const struct grt_names *names, uint32_t kind, uint32_t id, bool owner)
{
	uint32_t number = grt_names_find(names, kind, id);
	const char *text = owner ? grt_names_owner(names, number) : grt_names_name(names, number);

	if (text && *text) {
		putchar(' ');
		cmd_put_text(stdout, text);
	}
}

/* Before or after the incident. */
static void incident_put_when(const struct incident_report *r, const char *what, uint64_t time)
{
	char text[GRT_UNITS_MAX];

	if (!time) {
		printf("  %-20s -\n", what);
		return;
	}
	grt_units_ns(text, time < r->at ? r->at - time : time - r->at);
	printf("  %-20s %s %s\n", what, text, time < r->at ? "before" : "after");
}

static void incident_print_dep(const struct incident_report *r, const struct dep *d)
{
	const struct grt_key key = {{d->ctx, d->seqno}};
	const struct open_job *job = grt_keyed_find(&r->jobs, &key);

	printf("  %-20s %" PRIu64 ":%" PRIu64 ", %s", "waited for fence", d->ctx, d->seqno,
	       d->done ? "signalled" : "not signalled at that time");
	if (!d->done && job) {
		printf(": of a job of process %" PRIu32, job->pid);
		incident_put_name(&r->names, GRT_NAME_THREAD, job->tid, true);
	} else if (!d->done) {
		fputs(": of no job in the recording (a program or another driver signals it, or its job is older)",
		      stdout);
	}
	putchar('\n');
}

static void incident_print_job(const struct incident_report *r)
{
	if (!r->ctx)
		return;
	printf("\njob %" PRIu64 ":%" PRIu64, r->ctx, r->seqno);
	if (r->ring != GRT_RING_NONE) {
		fputs(" on ring", stdout);
		incident_put_name(&r->names, GRT_NAME_RING, r->ring, false);
		incident_put_name(&r->names, GRT_NAME_RING_GPU, r->ring, false);
	}
	putchar('\n');
	for (size_t i = 0; i < STEPS; i++)
		incident_put_when(r, steps[i].what, r->step[i]);
	if (r->step[STEPS - 1] && r->status != GRT_STATUS_UNKNOWN)
		printf("  %-20s %d%s%s%s\n", "status", r->status, r->status < 0 ? " (" : "",
		       r->status < 0 ? strerror(-r->status) : "", r->status < 0 ? ")" : "");
	for (const struct dep *d = r->dep; d < r->dep + r->deps; d++)
		incident_print_dep(r, d);
	incident_waiters_print(&r->waiters, &r->jobs, &r->names, r->ctx, r->seqno);
}

static void incident_print_stack(const struct incident_report *r, uint32_t stack, const char *title)
{
	uint32_t depth = grt_frames_depth(&r->frames, stack);
	char *text;

	if (depth)
		printf("\n%s\n", title);
	for (uint32_t i = 0; i < depth; i++) {
		text = grt_frames_text(&r->frames, stack, i);
		printf("  %2u ", i);
		cmd_put_text(stdout, text ?: "-");
		putchar('\n');
		free(text);
	}
}

static void incident_print_stacks(const struct incident_report *r)
{
	incident_print_stack(r, r->stack[0], "stack of its submit");
	incident_print_stack(r, r->stack[1], "in the kernel");
	if (r->ctx && !grt_frames_has(&r->frames, r->stack[0]) && !grt_frames_has(&r->frames, r->stack[1]))
		puts("\nstack of its submit: not recorded (record --stack bpf)");
}

/* Counts the incomplete jobs of each process, and finds the oldest. */
static int incident_count_open(struct incident_report *r)
{
	for (const struct open_job *job = grt_keyed_oldest(&r->jobs); job;
	     job = grt_keyed_next(&r->jobs, job)) {
		const struct grt_key key = {{job->pid}};
		struct process *p = grt_keyed_find(&r->processes, &key);

		if (!p)
			continue;
		p->open++;
		p->oldest = p->oldest && p->oldest < job->submit ? p->oldest : job->submit;
	}
	return 0;
}

static int incident_order(const void *a, const void *b)
{
	const struct process *x = *(const struct process *const *)a, *y = *(const struct process *const *)b;

	if (x->open != y->open)
		return x->open < y->open ? 1 : -1;
	return x->submitted < y->submitted ? 1 : x->submitted > y->submitted ? -1 : 0;
}

static int incident_print_processes(struct incident_report *r)
{
	char oldest[GRT_UNITS_MAX];
	void **list;
	int ret = incident_count_open(r) ?: grt_keyed_list(&r->processes, incident_order, &list);

	if (ret)
		return ret;
	if (r->processes.used)
		printf("\njobs up to then\n  %9s %9s %9s %9s %12s  process\n", "submitted", "complete",
		       "failed", "open", "oldest open");
	for (uint32_t i = 0; i < r->processes.used && i < SHOWN; i++) {
		const struct process *p = list[i];
		uint32_t pid = (uint32_t)grt_keyed_key(p)->w[0];

		grt_units_ns(oldest, p->oldest ? r->at - p->oldest : 0);
		printf("  %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %9" PRIu64 " %12s  %u", p->submitted,
		       p->complete, p->failed, p->open, p->oldest ? oldest : "-", pid);
		incident_put_name(&r->names, GRT_NAME_THREAD, p->tid, true);
		putchar('\n');
	}
	if (r->processes.used > SHOWN)
		grt_say(stdout, "  and %u {more process|more processes}\n", r->processes.used - SHOWN);
	free(list);
	return 0;
}

/* Something that took too long may have begun before the first packet. */
static void incident_print_begin(const struct incident_report *r)
{
	char began[GRT_UNITS_MAX], missing[GRT_UNITS_MAX];

	if (!r->began || r->began >= r->at)
		return;
	grt_units_ns(began, r->at - r->began);
	printf("  %-20s %s before", "began", began);
	if (r->began < r->first) {
		grt_units_ns(missing, r->first - r->began);
		printf("; the first %s of it are not in the recording: a larger --last", missing);
	}
	putchar('\n');
}

/* The incident's date, by the clocks of the recording's start, and the host that recorded it. */
static void incident_print_date(const struct incident_report *r, const struct grt_session *s)
{
	const char *clocks = grt_session_env(s, "clock_start") ?: "", *host = grt_session_env(s, "hostname");
	uint64_t realtime = grt_env_number(clocks, "realtime"), ns;
	char day[48], zone[16];
	struct tm tm;
	time_t t;

	if (!realtime)
		return;
	ns = realtime + r->at - grt_env_number(clocks, "monotonic");
	t = (time_t)(ns / GRT_NS_PER_S);
	if (!localtime_r(&t, &tm) || !strftime(day, sizeof(day), "%Y-%m-%d %H:%M:%S", &tm) ||
	    !strftime(zone, sizeof(zone), "%z", &tm))
		return;
	printf("  %-20s %s.%03llu %s", "date", day, (unsigned long long)(ns % GRT_NS_PER_S / 1000000), zone);
	if (host && *host) {
		fputs(" on ", stdout);
		cmd_put_text(stdout, host);
	}
	putchar('\n');
}

static void incident_print_whose(const struct incident_report *r)
{
	static const char *const names[GRT_CGROUP_PARTS] = {[GRT_CGROUP_POD] = "pod",
							    [GRT_CGROUP_CONTAINER] = "container",
							    [GRT_CGROUP_SLURM] = "SLURM's job"};
	char path[sizeof(r->owner.cgroup) + 1], part[GRT_CGROUP_PART];

	snprintf(path, sizeof(path), "%.*s", (int)sizeof(r->owner.cgroup), r->owner.cgroup);
	if (r->ranked && r->world != UINT32_MAX)
		printf("  %-20s %" PRIu32 " of %" PRIu32 "\n", "rank", r->rank, r->world);
	else if (r->ranked)
		printf("  %-20s %" PRIu32 "\n", "rank", r->rank);
	if (r->owned && r->owner.uid != UINT32_MAX)
		printf("  %-20s %" PRIu32 "\n", "user", r->owner.uid);
	for (unsigned int i = 0; r->owned && i < GRT_CGROUP_PARTS; i++) {
		if (!grt_cgroup_part(path, (enum grt_cgroup_part)i, part))
			continue;
		printf("  %-20s ", names[i]);
		cmd_put_text(stdout, part);
		putchar('\n');
	}
	if (r->owned && path[0]) {
		printf("  %-20s ", "control group");
		cmd_put_text(stdout, path);
		putchar('\n');
	}
}

static void incident_print_head(const struct incident_report *r, const struct grt_session *s)
{
	char at[GRT_UNITS_MAX], from[GRT_UNITS_MAX], to[GRT_UNITS_MAX];

	printf("incident: %s\n  ", grt_session_env(s, "incident"));
	cmd_put_text(stdout, grt_session_env(s, "incident_text") ?: "-");
	grt_units_time(at, r->at);
	grt_units_ns(from, r->at > r->first ? r->at - r->first : 0);
	grt_units_ns(to, r->last > r->at ? r->last - r->at : 0);
	if (r->at < r->first)
		printf("\n  %-20s %s, before the recording begins: a larger --last, or --last-size, keeps it\n",
		       "time", at);
	else
		printf("\n  %-20s %s; the recording begins %s before and ends %s after\n", "time", at, from,
		       to);
	incident_print_date(r, s);
	incident_print_begin(r);
	if (r->pid) {
		printf("  %-20s %u", "process", r->pid);
		incident_put_name(&r->names, GRT_NAME_THREAD, r->tid, true);
		printf(", thread %u", r->tid);
		incident_put_name(&r->names, GRT_NAME_THREAD, r->tid, false);
		putchar('\n');
	}
	incident_print_whose(r);
}

/* The dump of a device is in a file with the snapshot's number. */
static void incident_print_dump(const char *path, const struct grt_session *s)
{
	const char *dump = grt_session_env(s, "incident_dump");
	char file[4200];
	struct stat st;

	if (!dump || !*dump)
		return;
	snprintf(file, sizeof(file), "%.4000s.devcoredump", path);
	printf("\ndump of the device, ");
	cmd_put_text(stdout, dump);
	if (stat(file, &st)) {
		puts(": not stored");
		return;
	}
	fputs(": ", stdout);
	cmd_put_text(stdout, file);
	printf(", %lld bytes\n", (long long)st.st_size);
}

/* Prints what the threads of the process did, with their names. */
static void incident_print_threads(const char *path)
{
	char file[4200], line[512];
	FILE *f;

	snprintf(file, sizeof(file), "%.4000s.threads", path);
	f = fopen(file, "re");
	if (f)
		puts("\nits threads then, and their stacks in the kernel and in user space");
	while (f && fgets(line, sizeof(line), f)) {
		line[strcspn(line, "\n")] = '\0';
		fputs("  ", stdout);
		cmd_put_text(stdout, line);
		putchar('\n');
	}
	if (f)
		fclose(f);
}

/* ------------------------------------------------------------------- flow */

static int incident_read(struct incident_report *r, struct grt_session *s, struct grt_err *err)
{
	const char *of = grt_session_env(s, "incident_of") ?: "";
	int ret;

	r->at = grt_env_number(of, "time");
	r->calls.at = r->at;
	r->began = grt_env_number(of, "began");
	r->pid = (uint32_t)grt_env_number(of, "pid");
	r->tid = (uint32_t)grt_env_number(of, "tid");
	r->ctx = grt_env_number(of, "ctx");
	r->seqno = grt_env_number(of, "seqno");
	r->ring = (uint32_t)grt_env_number(of, "ring");
	r->c.event = incident_on_event;
	grt_session_span(s, &r->first, &r->last);
	ret = grt_session_run(s, &r->c, 0, UINT64_MAX, err);
	r->c.event = incident_on_frame;
	if (ret || !(r->stack[0] || r->stack[1]))
		return ret;
	return grt_frames_init(&r->frames) ?: grt_session_run(s, &r->c, 0, UINT64_MAX, err);
}

static void incident_free(struct incident_report *r)
{
	grt_names_free(&r->names);
	incident_calls_free(&r->calls);
	incident_waiters_free(&r->waiters);
	grt_keyed_free(&r->jobs);
	grt_keyed_free(&r->processes);
	grt_frames_free(&r->frames);
}

static int incident_print(struct incident_report *r, const char *path, struct grt_session *s)
{
	incident_print_head(r, s);
	incident_print_job(r);
	incident_print_stacks(r);
	incident_print_threads(path);
	incident_print_dump(path, s);
	if (incident_calls_print(&r->calls, &r->names, r->pid) || incident_print_processes(r))
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the report");
	return cmd_close_stdout();
}

int report_incident(const char *path)
{
	struct incident_report r = {.status = GRT_STATUS_UNKNOWN};
	struct grt_err err = {.what = ""};
	struct grt_session *s;
	int status, ret = grt_session_open(&s, path, &err);

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	incident_calls_init(&r.calls);
	incident_waiters_init(&r.waiters);
	grt_keyed_init(&r.jobs, sizeof(struct open_job), JOBS_MAX);
	grt_keyed_init(&r.processes, sizeof(struct process), PROCESSES_MAX);
	if (!grt_session_env(s, "incident")) {
		status = cmd_fail(EXIT_FAILED, "no black box has written it",
				  "grtrace report without --incident", "%s: it has no incident", path);
	} else {
		ret = incident_read(&r, s, &err);
		status = ret ? cmd_error(EXIT_FAILED, &err) : incident_print(&r, path, s);
	}
	incident_free(&r);
	grt_session_close(s);
	return status;
}
