// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See group_sentence.h. */
#include "group_sentence.h"

#include <inttypes.h>
#include <stdbool.h>
#include <stdio.h>

#include "base/units.h"
#include "table/cells.h"

/* Most sentences of each kind; with fewer jobs there is no typical time. */
#define SENTENCES_MAX 4U
#define JOBS_LEAST 10U
/*
 * How many times the usual time a long time is, and the least share of the ring's work that a long job has.
 */
#define TIMES_LEAST 10U
#define PART_LEAST 4U
/* Means below this do not matter to users, ns. */
#define SCHED_LEAST 1000000U

/* Sums of a sample would be estimates. */
static bool is_counted(const struct grt_group *g)
{
	return g->job_records >= JOBS_LEAST && !grt_group_sampled(g) && !g->windows.cells;
}

static const char *put_owner(char text[64], const struct grt_names *names, uint32_t name, uint32_t pid)
{
	const char *process = grt_names_owner(names, name);

	if (process)
		snprintf(text, 64, "%.20s (PID %u)", process, pid);
	else
		snprintf(text, 64, "PID %u", pid);
	return text;
}

static void put_ring(char text[80], const struct grt_names *names, uint32_t ring)
{
	struct grt_cell name = {.number = 0}, gpu = {.number = 0};

	grt_cell_ring_name(&name, names, ring);
	grt_cell_gpu(&gpu, names, ring);
	if (!name.text)
		snprintf(text, 80, "ring %u", ring);
	else if (gpu.text && grt_names_gpus(names))
		snprintf(text, 80, "%.30s of %.30s", name.text, gpu.text);
	else
		snprintf(text, 80, "%.30s", name.text);
}

/* ------------------------------------------------------------- one long job */

static bool has_long_job(const struct grt_group *g, uint64_t *median)
{
	uint64_t ns = g->longest.ns;

	return is_counted(g) && g->longest.pid && grt_hist_percentile(&g->exec, 500, median) &&
	       ns / TIMES_LEAST >= *median && ns >= grt_hist_sum(&g->exec) / PART_LEAST;
}

static void note_long_job(const struct grt_group *g, uint64_t median, const struct grt_names *names,
			  struct grt_notes *notes)
{
	char ring[80], owner[64], time[GRT_UNITS_MAX], all[GRT_UNITS_MAX], usual[GRT_UNITS_MAX];
	const struct grt_group_job *job = &g->longest;

	put_ring(ring, names, g->ring);
	put_owner(owner, names, job->name, job->pid);
	grt_units_ns(time, job->ns);
	grt_units_ns(all, grt_hist_sum(&g->exec));
	grt_units_ns(usual, median);
	grt_note(notes,
		 "%s: job %" PRIu64 ":%" PRIu64 " of %s took %s of the %s that all %" PRIu64
		 " jobs ran%s; their median is %s (report --by job).",
		 ring, job->ctx, job->seqno, owner, time, all, g->job_records,
		 g->exec.inferred ? " (inferred)" : "", usual);
}

static void note_long_jobs(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes)
{
	const struct grt_group *group;
	unsigned int shown = 0;
	uint64_t median;

	for (uint32_t i = 0; shown < SENTENCES_MAX && (group = grt_groups_get(g, GRT_BY_RING, i)); i++)
		if (has_long_job(group, &median)) {
			note_long_job(group, median, names, notes);
			shown++;
		}
}

/* ------------------------------------------------------------- long in the scheduler */

static uint64_t mean(unsigned __int128 sum, uint64_t weight)
{
	return weight ? (uint64_t)(sum / weight) : 0;
}

static bool waited_long(const struct grt_group *g)
{
	uint64_t sched = mean(g->sched_ns, g->sched), exec = mean(g->exec.sum, g->exec.weight);

	return is_counted(g) && g->pid && exec && sched >= SCHED_LEAST && sched / TIMES_LEAST >= exec;
}

static void note_waited(const struct grt_group *g, const struct grt_names *names, struct grt_notes *notes)
{
	char owner[64], sched[GRT_UNITS_MAX], exec[GRT_UNITS_MAX];

	grt_units_ns(sched, mean(g->sched_ns, g->sched));
	grt_units_ns(exec, mean(g->exec.sum, g->exec.weight));
	grt_note(
		notes,
		"Jobs of %s waited %s on average in the scheduler, for other jobs or dependencies, and ran for "
		"%s%s (report --by job --sort t_sched).",
		put_owner(owner, names, g->name, g->pid), sched, exec, g->exec.inferred ? " (inferred)" : "");
}

static void note_waits(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes)
{
	const struct grt_group *group;
	unsigned int shown = 0;

	for (uint32_t i = 0; shown < SENTENCES_MAX && (group = grt_groups_get(g, GRT_BY_PROCESS, i)); i++)
		if (waited_long(group)) {
			note_waited(group, names, notes);
			shown++;
		}
}

void grt_group_sentences(const struct grt_groups *g, const struct grt_names *names, struct grt_notes *notes)
{
	note_long_jobs(g, names, notes);
	note_waits(g, names, notes);
}
