// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The sums of groups.h. A kind of group is a row in the table below, which says what its key is. Everything
 * else is the same for all kinds.
 */
#include "groups.h"

#include <inttypes.h>
#include <string.h>

#include "base/containers.h"
#include "codes/firmware.h"
#include "job_stats.h"

/* Number of groups that are found without a search. */
#define GROUP_CACHE 16

struct group_set {
	struct grt_group **group;
	uint64_t *id;
	uint32_t used;
	uint32_t room;
	uint32_t cache[GROUP_CACHE];
	struct grt_index index;
};

struct grt_groups {
	struct group_set set[GRT_BYS];
	unsigned int kinds;
	struct grt_hash_key key;
	uint32_t octaves;
	uint64_t over;
	struct grt_interval span;
	struct grt_watch watch;
	uint64_t beside;
};

/* The properties of a job or event from which a group is found and made. */
struct member {
	uint32_t ring;
	uint32_t device;
	uint32_t pid;
	uint32_t name;
	uint8_t engine;
};

static inline struct member job_member(const struct grt_job *job)
{
	return (struct member){job->ring, job->device, job->pid, job->name, job->engine};
}

static inline struct member event_member(const struct grt_event *e, uint32_t name)
{
	return (struct member){e->ring, e->device, e->pid, name, e->engine};
}

static inline uint64_t group_id(enum grt_group_by by, const struct member *m)
{
	if (by == GRT_BY_RING)
		return (uint64_t)m->device << 32 | m->ring;
	return by == GRT_BY_ENGINE ? m->engine : m->pid;
}

static bool same_group(const void *owner, uint32_t i, const void *key)
{
	return ((const struct group_set *)owner)->id[i] == *(const uint64_t *)key;
}

static int groups_make_room(struct group_set *s)
{
	uint32_t room = s->room;

	return grt_grow(&s->group, &room, s->used + 1, 16) ?: grt_grow(&s->id, &s->room, s->used + 1, 16);
}

static int add_group(struct group_set *s, uint64_t id, uint32_t tag, const struct member *m)
{
	struct grt_group *group;

	if (groups_make_room(s))
		return -ENOMEM;
	group = calloc(1, sizeof(*group));
	if (!group)
		return -ENOMEM;
	group->ring = m->ring;
	group->device = m->device;
	group->pid = m->pid;
	group->engine = m->engine;
	s->group[s->used] = group;
	s->id[s->used] = id;
	return grt_index_add(&s->index, tag, s->used++);
}

static __attribute__((noinline, cold)) int search_group(struct grt_groups *g, enum grt_group_by by,
							const struct member *m, uint32_t *cached)
{
	struct group_set *s = &g->set[by];
	uint64_t id = group_id(by, m);
	uint32_t tag = grt_hash(&g->key, id, by);
	uint32_t i = grt_index_find(&s->index, tag, same_group, s, &id);

	if (i == GRT_NOWHERE && s->used == GRT_GROUPS_MAX)
		return 1;
	if (i == GRT_NOWHERE && add_group(s, id, tag, m))
		return -ENOMEM;
	*cached = i == GRT_NOWHERE ? s->used - 1 : i;
	return 0;
}

/* Return: 0 with the group of a member, 1: there are too many, -ENOMEM */
static inline int find_group(struct grt_groups *g, enum grt_group_by by, const struct member *m,
			     struct grt_group **out)
{
	struct group_set *s = &g->set[by];
	uint64_t id = group_id(by, m);
	uint32_t *cached = &s->cache[(id ^ id >> 32) % GROUP_CACHE];
	int r = 0;

	if (*cached >= s->used || s->id[*cached] != id)
		r = search_group(g, by, m, cached);
	if (r)
		return r;
	*out = s->group[*cached];
	/* The process's name may come later than its first job, or change at exec. */
	if (by == GRT_BY_PROCESS && m->name != GRT_NAME_UNKNOWN)
		(*out)->name = m->name;
	return 0;
}

/* Counts a job for the first kind that has no group for it. @kinds: that kind and those after it */
static __attribute__((noinline, cold)) void count_over(struct grt_groups *g, unsigned int kinds,
						       const struct member *m)
{
	for (unsigned int before = g->kinds & ~kinds; before; before &= before - 1) {
		enum grt_group_by by = (enum grt_group_by)__builtin_ctz(before);
		uint64_t id = group_id(by, m);
		uint32_t tag = grt_hash(&g->key, id, by);

		if (grt_index_find(&g->set[by].index, tag, same_group, &g->set[by], &id) == GRT_NOWHERE)
			return;
	}
	g->over++;
}

/* The common part of all entry points: finds the group of each requested kind, and adds to it. */
static inline __attribute__((always_inline)) int
each_group(struct grt_groups *g, const struct member *m,
	   int (*add)(struct grt_groups *g, struct grt_group *group, const void *what), const void *what,
	   bool is_job)
{
	struct grt_group *group;
	int r = 0;

	for (unsigned int kinds = g->kinds; kinds && r >= 0; kinds &= kinds - 1) {
		r = find_group(g, (enum grt_group_by)__builtin_ctz(kinds), m, &group);
		if (!r)
			r = add(g, group, what);
		else if (r > 0 && is_job)
			count_over(g, kinds, m);
	}
	return r < 0 ? r : 0;
}

/* The values that a job adds to its groups, computed once for all of them. */
struct share {
	const struct grt_job *job;
	uint64_t weight;
	struct grt_interval busy; /* nothing if it ends before it begins */
	bool busy_inferred;
	bool has_exec;
	bool has_queue;
	bool has_sched;
	bool incomplete;
	uint32_t window; /* 0: none */
	struct grt_hist_value exec;
	struct grt_hist_value queue;
	uint64_t sched;
};

static inline bool phase_value(const struct grt_job *job, enum grt_phase phase, uint64_t weight,
			       struct grt_hist_value *out)
{
	bool inferred, known;
	uint64_t ns;

	known = grt_job_phase(job, phase, &ns, &inferred);
	*out = grt_hist_value(known ? ns : 0, weight, inferred);
	return known;
}

/* Return: the part of the job's EXEC that is in the span. */
static inline struct grt_interval busy_of(const struct grt_groups *g, const struct grt_job *job)
{
	uint64_t from = job->time[GRT_STAMP_START], to = job->time[GRT_STAMP_END];

	return (struct grt_interval){from < g->span.from ? g->span.from : from,
				     to > g->span.to ? g->span.to : to};
}

static inline int add_interval(struct grt_groups *g, struct grt_group *group, const void *what)
{
	const struct share *s = what;

	group->busy_inferred += s->busy_inferred;
	return grt_busy_add(&group->busy, s->busy.from, s->busy.to);
}

int grt_groups_held(struct grt_groups *g, const struct grt_job *job)
{
	struct member m = job_member(job);
	struct share s = {.job = job};
	uint64_t ns;

	if (!grt_job_phase(job, GRT_PHASE_EXEC, &ns, &s.busy_inferred))
		return 0;
	s.busy = busy_of(g, job);
	return each_group(g, &m, add_interval, &s, false);
}

static void groups_set_longest(struct grt_group *group, const struct share *s)
{
	const struct grt_job *job = s->job;

	group->longest = (struct grt_group_job){.ctx = job->ctx,
						.seqno = job->seqno,
						.ns = s->exec.value,
						.pid = job->pid,
						.name = job->name,
						.inferred = s->exec.inferred};
}

static inline int groups_add_job(struct grt_groups *g, struct grt_group *group, const void *what)
{
	const struct share *s = what;
	const struct grt_job *job = s->job;

	group->jobs += s->weight;
	group->job_records++;
	/* An event that belongs to no job may have made the group, and have fewer properties. */
	if (!group->engine)
		group->engine = job->engine;
	group->incomplete += s->incomplete;
	group->failed += job->failed;
	if (job->waits || job->cut_waits) {
		group->waits += job->waits * s->weight;
		group->wait_ns += (unsigned __int128)job->wait_ns * s->weight;
		group->cut_waits += job->cut_waits;
	}
	if (s->window &&
	    grt_estimate_add(&group->windows, s->window,
			     s->has_exec ? job->time[GRT_STAMP_END] - job->time[GRT_STAMP_START] : 0, 1))
		return -ENOMEM;
	if (s->has_queue)
		grt_hist_put(&group->queue, &s->queue, &g->octaves);
	if (s->has_sched) {
		group->sched_ns += (unsigned __int128)s->sched * s->weight;
		group->sched += s->weight;
	}
	group->untimed += !s->has_exec;
	if (!s->has_exec)
		return 0;
	if (s->exec.value > group->longest.ns)
		groups_set_longest(group, s);
	grt_hist_put(&group->exec, &s->exec, &g->octaves);
	return job->held ? 0 : add_interval(g, group, s);
}

int grt_groups_job(struct grt_groups *g, const struct grt_job *job)
{
	const unsigned int ends = 1U << GRT_STAMP_SUBMIT | 1U << GRT_STAMP_COMPLETE;
	struct member m = job_member(job);
	struct share s;
	bool inferred;

	/* only its end is in the trace, which matters for the order on its ring */
	if (g->watch.parts && !(job->seen & 1U << GRT_STAMP_SUBMIT))
		return 0;
	s.window = g->watch.parts ? grt_watch_number(&g->watch, job->time[GRT_STAMP_SUBMIT]) : 0;
	g->beside += g->watch.parts && !s.window;
	s.job = job;
	s.weight = grt_weight(job->sample);
	s.incomplete = (job->seen & ends) != ends;
	s.has_exec = phase_value(job, GRT_PHASE_EXEC, s.weight, &s.exec);
	s.has_queue = phase_value(job, GRT_PHASE_QUEUE, s.weight, &s.queue);
	s.has_sched = grt_job_phase(job, GRT_PHASE_SCHED, &s.sched, &inferred);
	s.busy_inferred = s.has_exec && s.exec.inferred;
	s.busy = s.has_exec ? busy_of(g, job) : (struct grt_interval){0, 0};
	return each_group(g, &m, groups_add_job, &s, true);
}

int grt_groups_window(struct grt_groups *g, const struct grt_ev_window *e)
{
	return e->of == GRT_WINDOW_JOBS ? grt_watch_take_window(&g->watch, e) : 0;
}

/* Adds a window, with or without jobs, to all groups. */
static int groups_all(struct grt_groups *g, enum grt_group_by by, uint64_t from, uint64_t to,
		      struct grt_estimate_sums *all)
{
	const struct group_set *s = &g->set[by];
	int ret = 0;

	for (uint32_t i = 0; i < g->watch.windows && !ret; i++)
		ret = grt_estimate_add(all, g->watch.window[i].number, 0, 0);
	for (uint32_t i = 0; i < s->used; i++)
		for (uint32_t k = 0; k < s->group[i]->windows.cells && !ret; k++)
			ret = grt_estimate_add(all, s->group[i]->windows.cell[k].number,
					       s->group[i]->windows.cell[k].ns,
					       s->group[i]->windows.cell[k].works);
	grt_estimate_settle(all, &g->watch, from, to);
	return ret;
}

int grt_groups_estimate(struct grt_groups *g, enum grt_group_by by, uint64_t from, uint64_t to,
			struct grt_estimate_watched *out)
{
	struct grt_estimate_sums all = {.cell = NULL};
	struct group_set *s = &g->set[by];
	int ret;

	*out = (struct grt_estimate_watched){.windows = 0};
	if (!g->watch.parts)
		return 0;
	*out = grt_estimate_look(&g->watch, from, to);
	out->beside = g->beside;
	ret = groups_all(g, by, from, to, &all);
	for (uint32_t i = 0; i < s->used && !ret; i++) {
		struct grt_group *group = s->group[i];

		grt_estimate_settle(&group->windows, &g->watch, from, to);
		group->total = grt_estimate_total(&g->watch, &group->windows, from, to);
		group->part = grt_estimate_share(&group->windows, &all);
	}
	grt_estimate_free(&all);
	return ret;
}

static inline int groups_add_queue(struct grt_groups *g, struct grt_group *group, const void *value)
{
	grt_hist_put(&group->queue, value, &g->octaves);
	return 0;
}

int grt_groups_queue(struct grt_groups *g, const struct grt_job *job)
{
	struct member m = job_member(job);
	struct grt_hist_value value;

	if (!phase_value(job, GRT_PHASE_QUEUE, grt_weight(job->sample), &value))
		return 0;
	return each_group(g, &m, groups_add_queue, &value, true);
}

static int groups_add_queue_sums(struct grt_groups *g, struct grt_group *group, const void *counts)
{
	grt_hist_put_counts(&group->queue, counts, &g->octaves);
	return 0;
}

int grt_groups_queue_sums(struct grt_groups *g, const struct grt_job_sums *s)
{
	const struct member m = {s->ring, s->device, s->pid, s->name, s->engine};

	return s->timed ? each_group(g, &m, groups_add_queue_sums, &s->queue, true) : 0;
}

static int groups_add_stray(struct grt_groups *g, struct grt_group *group, const void *what)
{
	const struct grt_event *e = what;

	group->errors += e->type == GRT_EV_ERROR;
	group->commands += e->type == GRT_EV_COMMAND;
	return 0;
}

int grt_groups_stray(struct grt_groups *g, const struct grt_event *e, uint32_t name)
{
	struct member m = event_member(e, name);

	return each_group(g, &m, groups_add_stray, e, false);
}

int grt_groups_new(struct grt_groups **out, unsigned int kinds)
{
	*out = calloc(1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	(*out)->kinds = kinds;
	(*out)->key = grt_hash_key_new();
	(*out)->octaves = GRT_GROUPS_OCTAVES;
	grt_groups_span(*out, 0, UINT64_MAX);
	return 0;
}

void grt_groups_span(struct grt_groups *g, uint64_t first, uint64_t last)
{
	g->span = (struct grt_interval){first, last};
}

const struct grt_group *grt_groups_get(const struct grt_groups *g, enum grt_group_by by, uint32_t i)
{
	return i < g->set[by].used ? g->set[by].group[i] : NULL;
}

uint64_t grt_groups_over(const struct grt_groups *g)
{
	return g->over;
}

static void free_set(struct group_set *s)
{
	for (uint32_t i = 0; i < s->used; i++) {
		grt_hist_free(&s->group[i]->exec);
		grt_hist_free(&s->group[i]->queue);
		grt_busy_free(&s->group[i]->busy);
		grt_estimate_free(&s->group[i]->windows);
		free(s->group[i]);
	}
	free(s->group);
	free(s->id);
	grt_index_free(&s->index);
}

void grt_groups_free(struct grt_groups *g)
{
	if (!g)
		return;
	for (unsigned int by = 0; by < GRT_BYS; by++)
		free_set(&g->set[by]);
	grt_watch_free(&g->watch);
	free(g);
}

/* ----------------------------------------------------------------- notes */

/* Notes about jobs. */

/*
 * Return: number of events that may be missing from the order of a ring's jobs; events that a level leaves
 * out never belong to it.
 */
static uint64_t not_recorded(const struct grt_health *h, uint64_t replaced)
{
	static const enum grt_fate fates[] = {
		GRT_FATE_FILTERED,   GRT_FATE_WATCH_DENIED, GRT_FATE_SAMPLED_OUT, GRT_FATE_RATE_LIMITED,
		GRT_FATE_AGGREGATED, GRT_FATE_LOST,	    GRT_FATE_UNHELD};
	uint64_t sum = h->missing_events;

	for (unsigned int i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		sum += h->balance.fate[fates[i]];
	/* the jobs that a JOB record represents are counted as `aggregated`, and are in the trace */
	return sum > replaced ? sum - replaced : 0;
}

void grt_jobs_notes(struct grt_notes *n, const struct grt_jobs *jobs, const struct grt_health *h)
{
	const struct grt_jobs_count count = grt_jobs_count(jobs), *c = &count;

	if (c->sample_min && c->sample_min == c->sample_max)
		grt_note(n, "sampled at %u %%: counts are estimates", c->sample_min);
	else if (c->sample_min)
		grt_note(n, "sampled at %u to %u %%: counts are estimates", c->sample_min, c->sample_max);
	if (h && c->inferred_start && not_recorded(h, c->replaced))
		grt_note(n,
			 "inferred times assume that the trace has all jobs of a ring, but %" PRIu64
			 " {event is|events are} missing",
			 not_recorded(h, c->replaced));
	if (grt_jobs_chosen(jobs))
		grt_note(
			n,
			"%" PRIu64
			" {job is|jobs are} one JOB record each: {its|their} waits are mostly unknown, and shorter jobs may be missing",
			grt_jobs_chosen(jobs));
	if (c->no_status)
		grt_note(
			n,
			"%" PRIu64
			" {job|jobs} completed with an unknown result (no event says whether {it|they} failed)",
			c->no_status);
	if (c->firmware_start)
		grt_note(
			n,
			"%" PRIu64
			" {job has|jobs have} no START: firmware schedules {its|their} queues (" GRT_FIRMWARE_DRIVERS
			"), so waiting in the firmware and execution cannot be separated",
			c->firmware_start);
	if (c->unordered_start)
		grt_note(
			n,
			"%" PRIu64
			" {job has|jobs have} no START: it can be inferred only when all jobs of a ring are recorded",
			c->unordered_start);
}
