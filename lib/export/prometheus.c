// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Metrics in the text format of Prometheus, version 0.0.4: all values of a metric follow one another, after
 * its description and type. Times are written in seconds with all digits. Also an export, for the directory
 * of a textfile collector.
 */
#include "metrics_parts.h"

#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/bus.h"
#include "base/cgroup.h"
#include "base/escape.h"
#include "base/hist.h"
#include "base/memfile.h"
#include "export.h"

/* ---------------------------------------------------------------- text */

void grt_metrics_family(FILE *out, const char *name, const char *type, const char *help)
{
	fprintf(out, "# HELP %s %s\n# TYPE %s %s\n", name, help, name, type);
}

/* In a label, which is UTF-8, these three characters are escaped. */
void grt_metrics_label(FILE *out, const char *before, const char *key, const char *value)
{
	char text[GRT_ESCAPED_MAX(256)];

	grt_escape(GRT_ESCAPE_UTF8, text, sizeof(text), value, strnlen(value, 256));
	fprintf(out, "%s%s=\"", before, key);
	for (const char *p = text; *p; p++)
		if (*p == '\n')
			fputs("\\n", out);
		else
			fprintf(out, *p == '"' || *p == '\\' ? "\\%c" : "%c", *p);
	fputc('"', out);
}

static void metrics_pid(FILE *out, uint32_t pid)
{
	char text[16] = "";

	if (pid)
		snprintf(text, sizeof(text), "%" PRIu32, pid);
	grt_metrics_label(out, ",", "pid", text);
}

static void metrics_put_seconds(FILE *out, uint64_t ns)
{
	fprintf(out, "%" PRIu64 ".%09" PRIu64, ns / 1000000000, ns % 1000000000);
}

static uint64_t metrics_weighted_ns(unsigned __int128 sum)
{
	return (uint64_t)(sum / GRT_WEIGHT_ONE);
}

/* ---------------------------------------------------------------- sums */

/** struct metrics_place - a row with its labels, without the closing brace */
struct metrics_place {
	const char *labels;
	const struct metrics_sums *sums;
};

/** struct metrics_line - the metric's name and row of the values that are written */
struct metrics_line {
	FILE *out;
	const char *name;
	const struct metrics_place *at;
};

static void metrics_put_count(const struct metrics_line *l, uint64_t value)
{
	fprintf(l->out, "%s%s} %" PRIu64 "\n", l->name, l->at->labels, value);
}

static void metrics_put_time(const struct metrics_line *l, uint64_t ns)
{
	fprintf(l->out, "%s%s} ", l->name, l->at->labels);
	metrics_put_seconds(l->out, ns);
	fputc('\n', l->out);
}

static void metrics_put_hist(const struct metrics_line *l, const struct metrics_hist *h)
{
	uint64_t count = 0;

	for (unsigned int i = 0; i < METRICS_BOUNDS; i++) {
		count += h->count[i];
		fprintf(l->out, "%s_bucket%s,le=\"%g\"} %" PRIu64 "\n", l->name, l->at->labels,
			(double)metrics_bound[i] / 1e9, grt_weight_count(count));
	}
	count += h->count[METRICS_BOUNDS];
	fprintf(l->out, "%s_bucket%s,le=\"+Inf\"} %" PRIu64 "\n%s_sum%s} ", l->name, l->at->labels,
		grt_weight_count(count), l->name, l->at->labels);
	metrics_put_seconds(l->out, metrics_weighted_ns(h->sum));
	fprintf(l->out, "\n%s_count%s} %" PRIu64 "\n", l->name, l->at->labels, grt_weight_count(count));
}

static void metrics_put_busy(const struct metrics_line *l)
{
	metrics_put_time(l, grt_busy_sum(&l->at->sums->busy));
}

static void metrics_put_jobs(const struct metrics_line *l)
{
	metrics_put_count(l, grt_weight_count(l->at->sums->jobs));
}

static void metrics_put_failed(const struct metrics_line *l)
{
	metrics_put_count(l, l->at->sums->failed);
}

static void metrics_put_incomplete(const struct metrics_line *l)
{
	metrics_put_count(l, l->at->sums->incomplete);
}

static void metrics_put_queue(const struct metrics_line *l)
{
	metrics_put_hist(l, &l->at->sums->queue);
}

static void metrics_put_exec(const struct metrics_line *l)
{
	metrics_put_hist(l, &l->at->sums->exec);
}

static void metrics_put_waits(const struct metrics_line *l)
{
	metrics_put_count(l, grt_weight_count(l->at->sums->waits));
}

static void metrics_put_wait(const struct metrics_line *l)
{
	metrics_put_time(l, metrics_weighted_ns(l->at->sums->wait_ns));
}

/* The metrics of each level; their names are grtrace_LEVEL_NAME. */
static const struct metrics_family {
	const char *name;
	const char *type;
	const char *help;
	void (*put)(const struct metrics_line *l);
} families[] = {
	{"busy_seconds_total", "counter",
	 "Time in which at least one job or context ran, counted when a job has ended.", metrics_put_busy},
	{"jobs_total", "counter",
	 "Jobs, counted when they have ended; a sampled job counts for all that it stands for.",
	 metrics_put_jobs},
	{"failed_jobs_total", "counter", "Jobs that ended with an error.", metrics_put_failed},
	{"incomplete_jobs_total", "counter", "Jobs whose submit or completion was not seen.",
	 metrics_put_incomplete},
	{"job_queue_seconds", "histogram", "Time from the commit to the ring to the start (t_queue).",
	 metrics_put_queue},
	{"job_exec_seconds", "histogram", "Time from the start to the end on the hardware (t_exec).",
	 metrics_put_exec},
	{"waits_total", "counter", "Waits of threads for jobs, counted with the job.", metrics_put_waits},
	{"wait_seconds_total", "counter", "Time of the waits of threads for fences of jobs.",
	 metrics_put_wait},
};

static const char *const levels[METRICS_LEVELS] = {
	[METRICS_OF_GPU] = "gpu",
	[METRICS_OF_PROCESS] = "process",
	[METRICS_OF_CGROUP] = "cgroup",
};

/** struct metrics_places - the rows of a level; @labels: one after the other, each ended by NUL */
struct metrics_places {
	struct metrics_place *place;
	uint32_t used;
	char *labels;
};

static void metrics_row_labels(const struct grt_metrics *m, FILE *out, enum metrics_level level, uint32_t gpu,
			       uint32_t pid, const char *name)
{
	grt_metrics_label(out, "{", "gpu", m->gpu[gpu].label);
	if (level == METRICS_OF_PROCESS)
		metrics_pid(out, pid);
	if (level != METRICS_OF_GPU)
		grt_metrics_label(out, ",", level == METRICS_OF_PROCESS ? "comm" : "cgroup", name);
	fputc('\0', out);
}

static bool metrics_has_any(const struct metrics_sums *s)
{
	return s->jobs || s->busy.used;
}

static const struct metrics_sums *metrics_others(const struct metrics_gpu *gpu, enum metrics_level level)
{
	return level == METRICS_OF_PROCESS ? &gpu->other_processes : &gpu->other_cgroups;
}

static void metrics_list_rows(const struct grt_metrics *m, enum metrics_level level, FILE *out,
			      struct metrics_places *p)
{
	const struct grt_keyed *rows = level == METRICS_OF_PROCESS ? &m->processes : &m->cgroups;

	for (const struct metrics_row *row = grt_keyed_oldest(rows); row; row = grt_keyed_next(rows, row)) {
		metrics_row_labels(m, out, level, row->gpu, row->pid, row->name);
		p->place[p->used++].sums = &row->sums;
	}
	for (uint32_t i = 0; i < m->gpus; i++) {
		if (!metrics_has_any(metrics_others(&m->gpu[i], level)))
			continue;
		metrics_row_labels(m, out, level, i, 0, METRICS_OTHERS);
		p->place[p->used++].sums = metrics_others(&m->gpu[i], level);
	}
}

static void metrics_list_gpus(const struct grt_metrics *m, FILE *out, struct metrics_places *p)
{
	for (uint32_t i = 0; i < m->gpus; i++) {
		/* of some processes, there are only counters */
		if (!metrics_has_any(&m->gpu[i].sums))
			continue;
		metrics_row_labels(m, out, METRICS_OF_GPU, i, 0, NULL);
		p->place[p->used++].sums = &m->gpu[i].sums;
	}
}

/* Return: 0 or -ENOMEM */
static int metrics_list(const struct grt_metrics *m, enum metrics_level level, struct metrics_places *p)
{
	struct grt_memfile memory;
	FILE *out = grt_memfile_open(&memory);
	const char *at;

	*p = (struct metrics_places){
		.place = calloc(METRICS_PROCESSES + METRICS_CGROUPS + METRICS_GPUS, sizeof(*p->place))};
	if (out && p->place && level == METRICS_OF_GPU)
		metrics_list_gpus(m, out, p);
	else if (out && p->place)
		metrics_list_rows(m, level, out, p);
	at = p->labels = grt_memfile_close(&memory, out, NULL);
	for (uint32_t i = 0; at && i < p->used; i++, at += strlen(at) + 1)
		p->place[i].labels = at;
	return p->labels && p->place ? 0 : -ENOMEM;
}

static int metrics_write_level(const struct grt_metrics *m, enum metrics_level level, FILE *out)
{
	struct metrics_places p;
	char name[64];
	int ret = metrics_list(m, level, &p);

	for (unsigned int i = 0; !ret && p.used && i < sizeof(families) / sizeof(families[0]); i++) {
		snprintf(name, sizeof(name), "grtrace_%s_%s", levels[level], families[i].name);
		grt_metrics_family(out, name, families[i].type, families[i].help);
		for (uint32_t row = 0; row < p.used; row++)
			families[i].put(&(struct metrics_line){out, name, &p.place[row]});
	}
	free(p.place);
	free(p.labels);
	return ret;
}

/* -------------------------------------------------------------- others */

/* Writes labels from the parts of a path; they are "" if the path does not have them. */
static void metrics_cgroup_labels(FILE *out, const char *path)
{
	static const char *const names[GRT_CGROUP_PARTS] = {[GRT_CGROUP_POD] = "pod",
							    [GRT_CGROUP_CONTAINER] = "container",
							    [GRT_CGROUP_SLURM] = "slurm_job"};
	char text[GRT_CGROUP_PART];

	grt_metrics_label(out, ",", "cgroup", path);
	for (unsigned int i = 0; i < GRT_CGROUP_PARTS; i++) {
		grt_cgroup_part(path, (enum grt_cgroup_part)i, text);
		grt_metrics_label(out, ",", names[i], text);
	}
}

static void metrics_write_owner(const struct metrics_owner *owner, FILE *out)
{
	char text[16] = "";

	if (owner && owner->uid != UINT32_MAX)
		snprintf(text, sizeof(text), "%" PRIu32, owner->uid);
	grt_metrics_label(out, ",", "uid", text);
	metrics_cgroup_labels(out, owner ? owner->cgroup : "");
	text[0] = '\0';
	if (owner && owner->ranked)
		snprintf(text, sizeof(text), "%" PRIu32, owner->rank);
	grt_metrics_label(out, ",", "rank", text);
	grt_metrics_label(out, ",", "launcher_job", owner ? owner->job : "");
}

static void metrics_write_owners(const struct grt_metrics *m, FILE *out)
{
	const struct metrics_row *row = grt_keyed_oldest(&m->processes);

	if (row)
		grt_metrics_family(out, "grtrace_process_info", "gauge",
				   "User, control group, pod, container and rank of a process, where known.");
	for (; row; row = grt_keyed_next(&m->processes, row)) {
		fputs("grtrace_process_info", out);
		grt_metrics_label(out, "{", "gpu", m->gpu[row->gpu].label);
		metrics_pid(out, row->pid);
		grt_metrics_label(out, ",", "comm", row->name);
		metrics_write_owner(grt_keyed_find(&m->owners, &(struct grt_key){{row->pid}}), out);
		fputs("} 1\n", out);
	}
}

static void metrics_write_cgroups(const struct grt_metrics *m, FILE *out)
{
	const struct metrics_row *row = grt_keyed_oldest(&m->cgroups);

	if (row)
		grt_metrics_family(out, "grtrace_cgroup_info", "gauge",
				   "The pod, container or SLURM job of a control group, by its path.");
	for (; row; row = grt_keyed_next(&m->cgroups, row)) {
		fputs("grtrace_cgroup_info", out);
		grt_metrics_label(out, "{", "gpu", m->gpu[row->gpu].label);
		metrics_cgroup_labels(out, row->name);
		fputs("} 1\n", out);
	}
}

static void metrics_write_xids(const struct grt_metrics *m, FILE *out)
{
	const struct metrics_xid *xid = grt_keyed_oldest(&m->xids);
	char text[GRT_BUS_MAX];

	if (xid)
		grt_metrics_family(out, "grtrace_xids_total", "counter",
				   "Errors that NVIDIA's driver reported, by number.");
	for (; xid; xid = grt_keyed_next(&m->xids, xid)) {
		const struct grt_key *key = grt_keyed_key(xid);

		grt_bus_text(text, (uint32_t)key->w[1]);
		fputs("grtrace_xids_total", out);
		grt_metrics_label(out, "{", "gpu", text);
		fprintf(out, ",xid=\"%" PRIu64 "\"} %" PRIu64 "\n", key->w[0], xid->count);
	}
	if (m->xids_over)
		fprintf(out, "grtrace_xids_total{gpu=\"" METRICS_OTHERS "\",xid=\"\"} %" PRIu64 "\n",
			m->xids_over);
}

/** enum metrics_kind - of a counter, by its unit */
enum metrics_kind { METRICS_MEMORY, METRICS_TOTAL, METRICS_VALUE, METRICS_KINDS };

static const struct {
	const char *name;
	const char *type;
	const char *help;
} kinds[METRICS_KINDS] = {
	[METRICS_MEMORY] = {"grtrace_gpu_memory_bytes", "gauge",
			    "Memory of a GPU, or of a process if there is a pid."},
	[METRICS_TOTAL] = {"grtrace_gpu_driver_total", "counter",
			   "Counters of the driver that only grow, in their unit."},
	[METRICS_VALUE] = {"grtrace_gpu_driver_value", "gauge",
			   "Other counters of the driver, in their unit."},
};

static enum metrics_kind metrics_kind_of(const struct metrics_counter *c)
{
	if (!strcmp(c->name.owner, "B"))
		return METRICS_MEMORY;
	return strncmp(c->name.owner, "total ", 6) ? METRICS_VALUE : METRICS_TOTAL;
}

static void metrics_write_counters(const struct grt_metrics *m, enum metrics_kind kind, FILE *out)
{
	const struct metrics_counter *c;
	bool any = false;

	for (c = grt_keyed_oldest(&m->counters); c; c = grt_keyed_next(&m->counters, c)) {
		if (metrics_kind_of(c) != kind)
			continue;
		if (!any)
			grt_metrics_family(out, kinds[kind].name, kinds[kind].type, kinds[kind].help);
		any = true;
		fputs(kinds[kind].name, out);
		grt_metrics_label(out, "{", "gpu", m->gpu[c->gpu].label);
		metrics_pid(out, c->pid);
		grt_metrics_label(out, ",", "counter", c->name.name);
		if (kind != METRICS_MEMORY)
			grt_metrics_label(out, ",", "unit", c->name.owner + (kind == METRICS_TOTAL ? 6 : 0));
		fprintf(out, "} %" PRId64 "\n", c->value);
	}
}

void grt_metrics_losses(FILE *out, const struct grt_metrics_source *source, unsigned int sources)
{
	static const char *const names[] = {
#define GRT_FATE(NAME, name, help) #name,
#include <grtrace/fates.def>
#undef GRT_FATE
	};

	grt_metrics_family(out, "grtrace_events_total", "counter", "Events that were delivered, by source.");
	for (unsigned int i = 0; i < sources; i++) {
		fputs("grtrace_events_total", out);
		grt_metrics_label(out, "{", "source", source[i].name);
		fprintf(out, "} %" PRIu64 "\n", (uint64_t)source[i].balance.fate[GRT_FATE_DELIVERED]);
	}
	grt_metrics_family(out, "grtrace_events_not_delivered_total", "counter",
			   "Events that are in no other metric, by source and cause.");
	for (unsigned int i = 0; i < sources; i++)
		for (unsigned int fate = GRT_FATE_DELIVERED + 1; fate < GRT_FATES; fate++) {
			fputs("grtrace_events_not_delivered_total", out);
			grt_metrics_label(out, "{", "source", source[i].name);
			fprintf(out, ",cause=\"%s\"} %" PRIu64 "\n", names[fate],
				(uint64_t)source[i].balance.fate[fate]);
		}
}

/* Writes how many items are in no value, or in that of all others. */
static void metrics_write_limits(const struct grt_metrics *m, FILE *out)
{
	const struct grt_jobs_count jobs = grt_jobs_count(m->jobs);

	grt_metrics_family(out, "grtrace_evicted_jobs_total", "counter",
			   "Jobs that were counted as incomplete because too many were in flight.");
	fprintf(out, "grtrace_evicted_jobs_total %" PRIu64 "\n", jobs.evicted);
	grt_metrics_family(out, "grtrace_over_limit_total", "counter",
			   "Values without a row of their own: the row (others) has them, if any.");
	fprintf(out, "grtrace_over_limit_total %" PRIu64 "\n", m->over + m->xids_over);
}

int grt_metrics_write(const struct grt_metrics *m, FILE *out)
{
	int ret = 0;

	for (unsigned int level = 0; level < METRICS_LEVELS && !ret; level++)
		ret = metrics_write_level(m, (enum metrics_level)level, out);
	metrics_write_owners(m, out);
	metrics_write_cgroups(m, out);
	for (unsigned int kind = 0; kind < METRICS_KINDS; kind++)
		metrics_write_counters(m, (enum metrics_kind)kind, out);
	metrics_write_xids(m, out);
	metrics_write_limits(m, out);
	return ret;
}

/* ------------------------------------------------------------- the export */

static int prometheus_begin(struct grt_export *x)
{
	struct grt_metrics *m;
	const char *cards = grt_session_env(x->session, "gpus");
	int ret = grt_metrics_new(&m);

	x->state = m;
	if (!ret)
		grt_metrics_filter(m, x->filter);
	return ret ?: cards ? grt_metrics_cards(m, cards) : 0;
}

static int prometheus_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_metrics_event(x->state, e);
}

static int prometheus_beyond(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	return grt_metrics_beyond(x->state, e);
}

static void prometheus_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	grt_metrics_within(x->state, from, to);
}

static int prometheus_end(struct grt_export *x, const struct grt_health *h)
{
	const struct grt_metrics_source recording = {"recording", h->balance};
	FILE *out = grt_export_file(x);
	int ret = out ? grt_metrics_flush(x->state) : -errno;

	if (!out)
		return ret;
	ret = ret ?: grt_metrics_write(x->state, out);
	grt_metrics_losses(out, &recording, 1);
	ret = ret ?: ferror(out) ? -EIO : 0;
	return fclose(out) && !ret ? -errno : ret;
}

static void prometheus_free(struct grt_export *x)
{
	grt_metrics_free(x->state);
}

const struct grt_export_format grt_export_prometheus = {
	.whole = true,
	.joins = true,
	.begin = prometheus_begin,
	.event = prometheus_event,
	.beyond = prometheus_beyond,
	.late = prometheus_beyond,
	.within = prometheus_within,
	.end = prometheus_end,
	.free = prometheus_free,
};
