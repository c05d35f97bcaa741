// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of metrics.h. */
#include "metrics_parts.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/hist.h"
#include "trace/flow.h"
#include "trace/packet.h"

#define METRICS_JOBS 65536U
#define METRICS_KEEP_NS (300 * 1000000000ULL)

const uint64_t metrics_bound[METRICS_BOUNDS] = {
	1000,	  3000,	    10000,     30000,	  100000,     300000,	  1000000,     3000000,
	10000000, 30000000, 100000000, 300000000, 1000000000, 3000000000, 10000000000, 30000000000,
};

/* --------------------------------------------------------------- names */

static const struct metrics_name *metrics_name_of(const struct grt_metrics *m, uint32_t kind, uint32_t id)
{
	const struct metrics_name *name = grt_keyed_find(&m->names, &(struct grt_key){{kind, id}});

	return name && name->name[0] ? name : NULL;
}

static int metrics_take_name(struct grt_metrics *m, const struct grt_ev_name *e)
{
	const struct grt_key key = {{e->kind, e->id}};
	/* a new name replaces the oldest name of a thread; there are few other names */
	struct metrics_name *name;
	int ret = e->kind == GRT_NAME_THREAD
			  ? grt_keyed_get_or_replace(&m->threads, &key, NULL, (void **)&name)
			  : grt_keyed_get_or_count(&m->names, &key, &m->over, (void **)&name);

	if (ret || !name)
		return ret;
	memcpy(name->name, e->name, sizeof(e->name));
	if (e->owner[0])
		memcpy(name->owner, e->owner, sizeof(e->owner));
	return 0;
}

/* The address of a device file's GPU; "": unknown. */
static void metrics_address(const struct grt_metrics *m, const char *node, size_t length, char *out,
			    size_t room)
{
	const char *p = m->cards;

	out[0] = '\0';
	for (; p && *p; p += strcspn(p, " "), p += *p == ' ')
		if (!strncmp(p, node, length) && p[length] == '=') {
			p += length + 1;
			snprintf(out, room, "%.*s", (int)strcspn(p, " "), p);
			return;
		}
	/* its rings may have it */
	for (const struct metrics_name *name = grt_keyed_oldest(&m->names); name;
	     name = grt_keyed_next(&m->names, name))
		if (grt_keyed_key(name)->w[0] == GRT_NAME_RING_GPU && name->name[0] &&
		    !strncmp(name->owner, node, length) && !name->owner[length])
			snprintf(out, room, "%s", name->name);
}

/* Device names of NVIDIA's driver contain the GPU's address after a blank. */
static void metrics_label_of_node(const struct grt_metrics *m, const char *name, char *out, size_t room)
{
	size_t length = strcspn(name, " ");

	if (name[length]) {
		snprintf(out, room, "%s", name + length + 1);
		return;
	}
	metrics_address(m, name, length, out, room);
	if (!out[0])
		snprintf(out, room, "%s", name);
}

/* ---------------------------------------------------------------- rows */

/* The last element is that of all other processes. */
static struct metrics_gpu *metrics_gpu_called(struct grt_metrics *m, const char *label)
{
	struct metrics_gpu *gpu = &m->gpu[METRICS_GPUS - 1];

	for (uint32_t i = 0; i < m->gpus; i++)
		if (!strcmp(m->gpu[i].label, label))
			return &m->gpu[i];
	if (m->gpus == METRICS_GPUS)
		return gpu;
	gpu = &m->gpu[m->gpus++];
	snprintf(gpu->label, sizeof(gpu->label), "%s", m->gpus == METRICS_GPUS ? METRICS_OTHERS : label);
	return gpu;
}

static struct metrics_gpu *metrics_gpu_of(struct grt_metrics *m, uint32_t ring, uint32_t device)
{
	const struct metrics_name *name = NULL;
	char label[sizeof(m->gpu->label)];

	if (ring != GRT_RING_NONE)
		name = metrics_name_of(m, GRT_NAME_RING_GPU, ring);
	if (name)
		return metrics_gpu_called(m, name->name);
	name = metrics_name_of(m, GRT_NAME_DEVICE, device);
	if (!name)
		return metrics_gpu_called(m, "unknown");
	metrics_label_of_node(m, name->name, label, sizeof(label));
	return metrics_gpu_called(m, label);
}

static uint32_t metrics_gpu_number(const struct grt_metrics *m, const struct metrics_gpu *gpu)
{
	return (uint32_t)(gpu - m->gpu);
}

static void metrics_row_free(struct metrics_row *row)
{
	grt_busy_free(&row->sums.busy);
}

/* Return: the name of a process, if it is known. */
static const char *metrics_comm(const struct grt_metrics *m, uint32_t pid, uint32_t tid)
{
	const struct metrics_name *name =
		grt_keyed_find(&m->threads, &(struct grt_key){{GRT_NAME_THREAD, tid}});

	/* if its thread does not have it, the first thread has the process's name */
	if (!name || !name->owner[0])
		name = grt_keyed_find(&m->threads, &(struct grt_key){{GRT_NAME_THREAD, pid}});
	if (!name)
		return "";
	return name->owner[0] ? name->owner : name->name;
}

/*
 * The row of a process on a GPU; NULL: it is among the others. A process with a reused number is another
 * one: its sums begin anew.
 */
static int metrics_process_row(struct grt_metrics *m, uint32_t gpu, uint32_t pid, uint32_t tid,
			       struct metrics_row **out)
{
	const char *comm = metrics_comm(m, pid, tid);
	struct metrics_row *row;
	int ret =
		grt_keyed_get_or_count(&m->processes, &(struct grt_key){{pid, gpu}}, &m->over, (void **)out);

	row = *out;
	if (ret || !row || (row->met && (!comm[0] || !strcmp(row->name, comm))))
		return ret;
	if (row->met && row->name[0])
		metrics_row_free(row);
	if (row->met && row->name[0])
		row->sums = (struct metrics_sums){.jobs = 0};
	snprintf(row->name, sizeof(row->name), "%s", comm);
	row->met = true;
	row->gpu = gpu;
	row->pid = pid;
	return 0;
}

static int metrics_cgroup_row(struct grt_metrics *m, uint32_t gpu, uint32_t pid, struct metrics_row **out)
{
	const struct metrics_owner *owner = grt_keyed_find(&m->owners, &(struct grt_key){{pid}});
	struct grt_key key = {{gpu}};
	struct metrics_row *row;
	int ret;

	*out = NULL;
	if (!owner || !owner->cgroup[0])
		return 0;
	memcpy(&key.w[1], owner->digest, sizeof(owner->digest));
	ret = grt_keyed_get_or_count(&m->cgroups, &key, &m->over, (void **)out);
	row = *out;
	if (!ret && row && !row->met) {
		snprintf(row->name, sizeof(row->name), "%s", owner->cgroup);
		row->met = true;
		row->gpu = gpu;
	}
	return ret;
}

/** struct metrics_share - the rows to which something is added, some of which may be the same */
struct metrics_share {
	struct metrics_sums *to[METRICS_LEVELS];
};

static int metrics_shares(struct grt_metrics *m, struct metrics_gpu *gpu, uint32_t pid, uint32_t tid,
			  uint64_t time, struct metrics_share *out)
{
	uint32_t number = metrics_gpu_number(m, gpu);
	struct metrics_row *process = NULL, *cgroup = NULL;
	int ret = pid ? metrics_process_row(m, number, pid, tid, &process) : 0;

	if (!ret && pid)
		ret = metrics_cgroup_row(m, number, pid, &cgroup);
	if (ret)
		return ret;
	*out = (struct metrics_share){{&gpu->sums, process ? &process->sums : &gpu->other_processes,
				       cgroup ? &cgroup->sums : &gpu->other_cgroups}};
	if (process && process->last < time)
		process->last = time;
	if (cgroup && cgroup->last < time)
		cgroup->last = time;
	return 0;
}

/* ---------------------------------------------------------------- jobs */

static void metrics_hist_add(struct metrics_hist *h, uint64_t ns, uint64_t weight)
{
	unsigned int i = 0;

	while (i < METRICS_BOUNDS && ns > metrics_bound[i])
		i++;
	h->count[i] += weight;
	h->sum += (unsigned __int128)ns * weight;
}

static int metrics_add_busy(const struct grt_metrics *m, struct metrics_share *share, uint64_t from,
			    uint64_t to)
{
	int ret = 0;

	for (unsigned int i = 0; i < METRICS_LEVELS && !ret; i++)
		ret = grt_busy_within(&share->to[i]->busy, &m->within, from, to);
	return ret;
}

static bool metrics_wants(const struct grt_metrics *m, const struct grt_job *job)
{
	return !m->filter ||
	       grt_filter_wants_job(m->filter, grt_jobs_names(m->jobs), job->pid, job->tid, job->ring);
}

static int metrics_held(void *arg, const struct grt_job *job)
{
	struct grt_metrics *m = arg;
	struct metrics_share share;
	uint64_t ns;
	bool inferred;
	int ret;

	if (!metrics_wants(m, job) || !grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred))
		return 0;
	ret = metrics_shares(m, metrics_gpu_of(m, job->ring, job->device), job->pid, job->tid, m->now,
			     &share);
	return ret ?: metrics_add_busy(m, &share, job->time[GRT_STAMP_START], job->time[GRT_STAMP_END]);
}

static void metrics_add_job(struct metrics_sums *s, const struct grt_job *job)
{
	const unsigned int ends = 1U << GRT_STAMP_SUBMIT | 1U << GRT_STAMP_COMPLETE;
	uint64_t weight = grt_weight(job->sample), ns;
	bool inferred;

	s->jobs += weight;
	s->failed += job->failed;
	s->incomplete += (job->seen & ends) != ends;
	s->waits += job->waits * weight;
	s->wait_ns += (unsigned __int128)job->wait_ns * weight;
	if (grt_job_phase(job, GRT_PHASE_QUEUE, &ns, &inferred))
		metrics_hist_add(&s->queue, ns, weight);
	if (grt_job_phase(job, GRT_PHASE_EXEC, &ns, &inferred))
		metrics_hist_add(&s->exec, ns, weight);
}

static int metrics_job(void *arg, const struct grt_job *job)
{
	struct grt_metrics *m = arg;
	struct metrics_share share;
	int ret;

	if (!metrics_wants(m, job))
		return 0;
	ret = job->held ? 0 : metrics_held(m, job);
	if (!ret)
		ret = metrics_shares(m, metrics_gpu_of(m, job->ring, job->device), job->pid, job->tid, m->now,
				     &share);
	for (unsigned int i = 0; i < METRICS_LEVELS && !ret; i++)
		metrics_add_job(share.to[i], job);
	return ret;
}

/* -------------------------------------------------------- other events */

static int metrics_slice(struct grt_metrics *m, const struct grt_ev_gpu_slice *e)
{
	struct metrics_share share;
	int ret;

	if (e->start > m->within.to || e->e.time < m->within.from)
		return 0;
	ret = metrics_shares(m, metrics_gpu_of(m, GRT_RING_NONE, e->e.device), e->e.pid, e->e.tid, e->e.time,
			     &share);
	return ret ?: metrics_add_busy(m, &share, e->start, e->e.time);
}

static int metrics_owner(struct grt_metrics *m, const struct grt_ev_owner *e)
{
	const struct grt_key key = {{e->e.pid}};
	struct metrics_owner *owner;
	int ret = grt_keyed_get_or_replace(&m->owners, &key, NULL, (void **)&owner);

	if (ret)
		return ret;
	owner->uid = e->uid;
	owner->ranked = false;
	owner->job[0] = '\0';
	memset(owner->cgroup, 0, sizeof(owner->cgroup));
	snprintf(owner->cgroup, sizeof(owner->cgroup), "%.*s",
		 (int)(e->length < sizeof(e->cgroup) ? e->length : sizeof(e->cgroup)), e->cgroup);
	memset(owner->digest, 0, sizeof(owner->digest));
	for (unsigned int i = 0; i < sizeof(owner->cgroup) / 8; i++) {
		uint64_t word;

		memcpy(&word, owner->cgroup + 8 * i, 8);
		owner->digest[0] = grt_hash(&m->secret, owner->digest[0] ^ word, i) | owner->digest[0] << 32;
		owner->digest[1] = grt_hash(&m->secret, owner->digest[1] + word, ~i) | owner->digest[1] << 32;
	}
	return 0;
}

/* This record comes after that of the process's owner. */
static int metrics_rank(struct grt_metrics *m, const struct grt_ev_owner_rank *e)
{
	struct metrics_owner *owner = grt_keyed_find(&m->owners, &(struct grt_key){{e->e.pid}});

	if (!owner)
		return 0;
	owner->ranked = true;
	owner->rank = e->rank;
	snprintf(owner->job, sizeof(owner->job), "%.*s",
		 (int)(e->length < sizeof(e->job) ? e->length : sizeof(e->job)), e->job);
	return 0;
}

static int metrics_xid(struct grt_metrics *m, const struct grt_ev_xid *e)
{
	const struct grt_key key = {{e->code, e->bus}};
	struct metrics_xid *xid;
	int ret = grt_keyed_get_or_count(&m->xids, &key, &m->xids_over, (void **)&xid);

	if (!ret && xid)
		xid->count++;
	return ret;
}

static int metrics_counter(struct grt_metrics *m, const struct grt_ev_counter *e)
{
	const struct grt_key key = {{e->e.device, e->counter, e->instance}};
	const struct metrics_name *name = metrics_name_of(m, GRT_NAME_COUNTER, e->counter);
	struct metrics_counter *c = grt_keyed_find(&m->counters, &key);
	int ret;

	if (e->e.flags & GRT_FLAG_ENDED) {
		if (c)
			grt_keyed_remove(&m->counters, c);
		return 0;
	}
	ret = c || !name ? 0 : grt_keyed_get_or_count(&m->counters, &key, &m->over, (void **)&c);
	if (ret || !c || !name)
		return ret;
	c->gpu = metrics_gpu_number(m, metrics_gpu_of(m, GRT_RING_NONE, e->e.device));
	c->pid = e->e.pid;
	c->value = e->value;
	c->name = *name;
	return 0;
}

static int (*const takers[GRT_EV_MAX])(struct grt_metrics *m, const struct grt_event *e) = {
#define TAKER(TYPE, fn) [GRT_EV_##TYPE] = (int (*)(struct grt_metrics *, const struct grt_event *))(fn)
	TAKER(NAME, metrics_take_name), TAKER(GPU_SLICE, metrics_slice), TAKER(OWNER, metrics_owner),
	TAKER(XID, metrics_xid),	TAKER(COUNTER, metrics_counter), TAKER(OWNER_RANK, metrics_rank),
#undef TAKER
};

int grt_metrics_event(struct grt_metrics *m, const struct grt_event *e)
{
	int ret = 0;

	if (e->time > m->now)
		m->now = e->time;
	if (e->type < GRT_EV_MAX && takers[e->type])
		ret = takers[e->type](m, e);
	return ret ?: grt_jobs_event(m->jobs, e);
}

int grt_metrics_beyond(struct grt_metrics *m, const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_OWNER:
	case GRT_EV_OWNER_RANK:
	case GRT_EV_GPU_SLICE:
		return takers[e->type](m, e);
	}
	return grt_jobs_event(m->jobs, e);
}

void grt_metrics_within(struct grt_metrics *m, uint64_t from, uint64_t to)
{
	m->within = (struct grt_interval){from, to};
	grt_jobs_within(m->jobs, from, to);
}

void grt_metrics_filter(struct grt_metrics *m, const struct grt_filter *filter)
{
	m->filter = filter;
}

void grt_metrics_types(struct grt_type_set *types)
{
	grt_types_fill(types, 0);
	for (unsigned int i = 0; i < GRT_EV_MAX; i++) {
		enum grt_class class = grt_class_of[i];

		if (takers[i] || class == GRT_CLASS_job || class == GRT_CLASS_wait ||
		    class == GRT_CLASS_error)
			grt_types_add(types, i);
	}
}

int grt_metrics_settle(struct grt_metrics *m, uint64_t time)
{
	return grt_jobs_settle(m->jobs, time);
}

int grt_metrics_flush(struct grt_metrics *m)
{
	return grt_jobs_flush(m->jobs);
}

/* -------------------------------------------------------------- forget */

static bool metrics_cgroup_is_used(const struct grt_metrics *m, const struct metrics_row *cgroup)
{
	for (const struct metrics_row *row = grt_keyed_oldest(&m->processes); row;
	     row = grt_keyed_next(&m->processes, row)) {
		const struct metrics_owner *owner = grt_keyed_find(&m->owners, &(struct grt_key){{row->pid}});

		if (owner && !strcmp(owner->cgroup, cgroup->name))
			return true;
	}
	return false;
}

static void metrics_remove(struct grt_keyed *rows, struct metrics_row *row)
{
	metrics_row_free(row);
	grt_keyed_remove(rows, row);
}

void grt_metrics_forget(struct grt_metrics *m, uint64_t now, bool (*gone)(uint32_t pid))
{
	struct metrics_row *row, *next;

	for (row = grt_keyed_oldest(&m->processes); row; row = next) {
		next = grt_keyed_next(&m->processes, row);
		if (row->last + METRICS_KEEP_NS < now && gone(row->pid))
			metrics_remove(&m->processes, row);
	}
	for (row = grt_keyed_oldest(&m->cgroups); row; row = next) {
		next = grt_keyed_next(&m->cgroups, row);
		if (row->last + METRICS_KEEP_NS < now && !metrics_cgroup_is_used(m, row))
			metrics_remove(&m->cgroups, row);
	}
}

/* ----------------------------------------------------------- begin, end */

int grt_metrics_cards(struct grt_metrics *m, const char *cards)
{
	free(m->cards);
	m->cards = strdup(cards);
	return m->cards ? 0 : -ENOMEM;
}

int grt_metrics_new(struct grt_metrics **out)
{
	struct grt_metrics *m = calloc(1, sizeof(*m));
	const struct grt_jobs_sink sink = {.held = metrics_held, .job = metrics_job, .arg = m};
	const struct grt_jobs_limits limits = {.jobs = METRICS_JOBS};

	*out = m;
	if (!m)
		return -ENOMEM;
	m->secret = grt_hash_key_new();
	m->within.to = UINT64_MAX;
	grt_keyed_init(&m->processes, sizeof(struct metrics_row), METRICS_PROCESSES);
	grt_keyed_init(&m->cgroups, sizeof(struct metrics_row), METRICS_CGROUPS);
	grt_keyed_init(&m->threads, sizeof(struct metrics_name), 8192);
	grt_keyed_init(&m->names, sizeof(struct metrics_name), 8192);
	grt_keyed_init(&m->owners, sizeof(struct metrics_owner), 4096);
	grt_keyed_init(&m->counters, sizeof(struct metrics_counter), 2048);
	grt_keyed_init(&m->xids, sizeof(struct metrics_xid), 256);
	return grt_jobs_new(&m->jobs, &sink, &limits);
}

static void metrics_free_rows(struct grt_keyed *rows)
{
	struct metrics_row *row;

	while ((row = grt_keyed_oldest(rows)))
		metrics_remove(rows, row);
	grt_keyed_free(rows);
}

void grt_metrics_free(struct grt_metrics *m)
{
	if (!m)
		return;
	for (uint32_t i = 0; i < METRICS_GPUS; i++) {
		grt_busy_free(&m->gpu[i].sums.busy);
		grt_busy_free(&m->gpu[i].other_processes.busy);
		grt_busy_free(&m->gpu[i].other_cgroups.busy);
	}
	metrics_free_rows(&m->processes);
	metrics_free_rows(&m->cgroups);
	grt_keyed_free(&m->threads);
	grt_keyed_free(&m->names);
	grt_keyed_free(&m->owners);
	grt_keyed_free(&m->counters);
	grt_keyed_free(&m->xids);
	grt_jobs_free(m->jobs);
	free(m->cards);
	free(m);
}
