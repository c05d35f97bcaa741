// SPDX-License-Identifier: GPL-2.0
/*
 * The filter: delivers only what was requested, by engine, ring, process and
 * user of the job's submitter, by type of event, and by how long a job took. The
 * last needs the job's end, so its events leave as one JOB record.
 */
#include <linux/module.h>
#include <linux/percpu.h>
#include <linux/rcupdate.h>
#include <linux/slab.h>
#include <linux/string.h>

#include "../core/stage.h"

#define PIDS_MAX 32

/* A JOB record stands for these too. */
static const u16 job_types[] = {
	GRT_EV_JOB, GRT_EV_SUBMIT, GRT_EV_COMMIT, GRT_EV_START, GRT_EV_END, GRT_EV_COMPLETE,
};

struct pids {
	struct rcu_head rcu;
	unsigned int count;
	u32 pid[PIDS_MAX];
};

static struct pids __rcu *pids;

/* The keys that can reject an event, and the names under which rejected events are counted. */
#define RULE(key)                      \
	{                              \
		GRT_CONFIG_##key, #key \
	}
#define PASSED GRT_CONFIG_KEYS

static const struct {
	enum grt_key key;
	const char *name;
} rules[] = {
	RULE(filter_engine_mask), RULE(filter_ring_id), RULE(filter_events),
	RULE(filter_pid),	  RULE(filter_uid),	RULE(filter_latency),
};

struct counts {
	u64 of[GRT_CONFIG_KEYS + 1];
};

static DEFINE_PER_CPU(struct counts, counts);

static bool filter_wrong_engine(const struct grtrace_job_info *job)
{
	return !(grtrace_setting(GRT_CONFIG_filter_engine_mask) >> job->engine & 1);
}

static bool filter_wrong_ring(const struct grtrace_job_info *job)
{
	s64 ring = grtrace_setting(GRT_CONFIG_filter_ring_id);

	return ring >= 0 && job->ring != ring;
}

static bool filter_wrong_pid(const struct grtrace_job_info *job)
{
	const struct pids *p = rcu_dereference_sched(pids);
	unsigned int i;

	for (i = 0; p && i < p->count; i++)
		if (p->pid[i] == job->pid)
			return false;
	return p;
}

static bool filter_wrong_uid(const struct grtrace_job_info *job)
{
	s64 uid = grtrace_setting(GRT_CONFIG_filter_uid);

	return uid >= 0 && job->uid != uid;
}

static enum grt_key filter_against_job(const struct grtrace_job_info *job)
{
	if (filter_wrong_engine(job))
		return GRT_CONFIG_filter_engine_mask;
	if (filter_wrong_ring(job))
		return GRT_CONFIG_filter_ring_id;
	if (filter_wrong_pid(job))
		return GRT_CONFIG_filter_pid;
	if (filter_wrong_uid(job))
		return GRT_CONFIG_filter_uid;
	return PASSED;
}

static enum grt_fate filter_answer(enum grt_key rule)
{
	if (rule == PASSED)
		return GRT_FATE_DELIVERED;
	this_cpu_inc(counts.of[rule]);
	return GRT_FATE_FILTERED;
}

static enum grt_fate filter_job(struct grtrace_look *l)
{
	return filter_answer(filter_against_job(l->job));
}

static bool filter_too_short(const struct grtrace_look *l)
{
	const struct grt_ev_job *job = l->stamps;

	return l->e->time - job->submit < grtrace_setting(GRT_CONFIG_filter_latency) * NSEC_PER_USEC;
}

static bool filter_job_wanted(void)
{
	unsigned int i;

	for (i = 0; i < ARRAY_SIZE(job_types); i++)
		if (grt_types_has(&grtrace_wanted_types, job_types[i]))
			return true;
	return false;
}

static enum grt_fate filter_event(const struct grtrace_look *l)
{
	bool job = l->e->type == GRT_EV_JOB;

	if (!(job ? filter_job_wanted() : grt_types_has(&grtrace_wanted_types, l->e->type)))
		return filter_answer(GRT_CONFIG_filter_events);
	if (job && l->stamps && filter_too_short(l))
		return filter_answer(GRT_CONFIG_filter_latency);
	this_cpu_inc(counts.of[PASSED]);
	return GRT_FATE_DELIVERED;
}

static bool filter_differs(enum grt_key key, u64 value)
{
	return grtrace_setting(key) != value;
}

static bool filter_all_types(void)
{
	unsigned int i;

	for (i = 0; i < GRT_TYPE_WORDS; i++)
		if (grtrace_wanted_types.word[i] != U64_MAX)
			return false;
	return true;
}

static unsigned int filter_update(void)
{
	if (!grtrace_setting(GRT_CONFIG_filter_enabled))
		return 0;
	if (grtrace_setting(GRT_CONFIG_filter_latency))
		return GRTRACE_STAGE_ON | GRTRACE_STAGE_HOLDS;
	if (filter_differs(GRT_CONFIG_filter_engine_mask, U32_MAX) ||
	    filter_differs(GRT_CONFIG_filter_ring_id, -1) || !filter_all_types() ||
	    filter_differs(GRT_CONFIG_filter_uid, -1) || rcu_access_pointer(pids))
		return GRTRACE_STAGE_ON;
	return 0;
}

/* 1,2 3: pids with commas or blanks between; 0 or nothing: no list. */
static int filter_parse_pids(struct pids *p, char *text)
{
	char *word;
	u32 pid;
	int err;

	while ((word = strsep(&text, ", \t\n"))) {
		if (!*word)
			continue;
		err = kstrtou32(word, 0, &pid);
		if (err)
			return err;
		if (pid > 4194304)
			return -ERANGE;
		if (p->count == PIDS_MAX)
			return -E2BIG;
		if (pid)
			p->pid[p->count++] = pid;
	}
	return 0;
}

static void filter_replace_pids(struct pids *p)
{
	struct pids *old = rcu_replace_pointer(pids, p, true); /* under grtrace_lock */

	if (old)
		kfree_rcu(old, rcu);
}

static int filter_set(enum grt_key key, char *text)
{
	struct pids *p = kzalloc(sizeof(*p), GFP_KERNEL);
	int err;

	if (!p)
		return -ENOMEM;
	err = filter_parse_pids(p, text);
	if (err || !p->count) {
		kfree(p);
		p = NULL;
	}
	if (!err)
		filter_replace_pids(p);
	return err;
}

static int filter_print(enum grt_key key, char *buf, size_t size)
{
	const struct pids *p = rcu_dereference_protected(pids, true); /* under grtrace_lock */
	unsigned int i;
	int n = 0;

	if (!p)
		return scnprintf(buf, size, "0");
	for (i = 0; i < p->count; i++)
		n += scnprintf(buf + n, size - n, "%s%u", i ? "," : "", p->pid[i]);
	return n;
}

static u64 filter_sum(enum grt_key rule)
{
	u64 n = 0;
	int cpu;

	for_each_possible_cpu(cpu)
		n += per_cpu(counts, cpu).of[rule];
	return n;
}

static void filter_show(struct seq_file *m)
{
	int i;

	seq_printf(m, "Filter: %s\n", grtrace_setting(GRT_CONFIG_filter_enabled) ? "on" : "off");
	seq_printf(m, "Events passed: %llu\n", filter_sum(PASSED));
	seq_puts(m, "Rule                 Refused jobs and events\n");
	for (i = 0; i < ARRAY_SIZE(rules); i++)
		seq_printf(m, "%-20s %llu\n", rules[i].name, filter_sum(rules[i].key));
}

static void filter_clear(void)
{
	int cpu;

	for_each_possible_cpu(cpu)
		memset(per_cpu_ptr(&counts, cpu), 0, sizeof(counts));
}

static const struct grtrace_stage stage = {
	.kind = GRT_STAGE_FILTER,
	.job = filter_job,
	.event = filter_event,
	.update = filter_update,
	.set = filter_set,
	.print = filter_print,
	.show = filter_show,
	.clear = filter_clear,
};

static int __init filter_init(void)
{
	return grtrace_stage_register(&stage);
}

static void __exit filter_exit(void)
{
	grtrace_stage_unregister(&stage);
	kfree(rcu_dereference_protected(pids, true));
	rcu_barrier(); /* lists that were replaced, which RCU frees */
}

module_init(filter_init);
module_exit(filter_exit);

MODULE_AUTHOR("The grtrace authors");
MODULE_DESCRIPTION("GPU tracing: filter");
MODULE_LICENSE("GPL");
MODULE_VERSION(GRT_VERSION);
