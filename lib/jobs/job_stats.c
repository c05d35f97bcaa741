// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Tables of rings with latencies and dependencies, and of the submits of amdgpu and virtio GPUs. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codes/codes.h"
#include "deps.h"
#include "job_stats.h"
#include "phases.h"
#include "table/cells.h"
#include "table/hist_table.h"

/* Jobs whose t_sched is longer are counted, ns. */
#define SLOW_NS 100000

/**
 * struct job_stats - the state of this analysis
 * @inferred: jobs whose START was inferred
 * @ibs, @commands, @answers: amdgpu's IBs per submit; a virtio GPU's command and error numbers
 */
struct job_stats {
	struct grt_phases *phases;
	uint64_t inferred;
	struct grt_tally ibs;
	struct grt_tally commands;
	struct grt_tally answers;
};

/* Rings */

static const struct grt_column ring_columns[] = {
	{"ring", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"device", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "device number"},
	{"ring_name", grt_row_get, 2, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the ring"},
	{"driver", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "driver of the ring"},
	{"engine", grt_row_get, 4, GRT_CELL_ENGINE, GRT_COLUMN_ALL, "engine"},
	{"jobs", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs"},
	{"incomplete", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs without SUBMIT or COMPLETE"},
	{"failed", grt_row_get, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs that failed"},
	{"deps", grt_row_get, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "fences that jobs depended on"},
	{"signalled", grt_row_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "dependencies whose fence was signalled already"},
	{"waiting", grt_row_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "dependencies whose fence was not signalled at the end of the trace"},
	{"waits", grt_row_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "waits of threads for jobs of this ring"},
	{"wait_ns", grt_row_get, 12, GRT_CELL_NS, GRT_COLUMN_ALL, "time of these waits, ns"},
	{.name = NULL},
};

static const struct grt_table ring_table = {"rings", "jobs and waits by ring", ring_columns, 0};

static uint64_t still_waiting(const struct grt_dep_ring *d)
{
	uint64_t done = d->cut + grt_weight_count(d->time.weight);

	return d->met > done ? d->met - done : 0;
}

static void ring_identity(struct grt_pass *pass, struct grt_row_cells *c, uint32_t device, uint32_t ring,
			  uint8_t engine)
{
	uint32_t name = grt_names_find(pass->names, GRT_NAME_RING, ring);

	grt_row_ring(c, pass->names, ring);
	grt_row_number(c, device);
	grt_row_text(c, grt_names_name(pass->names, name));
	grt_row_text(c, grt_names_owner(pass->names, name));
	grt_row_number(c, engine);
}

static void dep_cells(struct grt_row_cells *c, const struct grt_dep_ring *d)
{
	grt_row_number(c, d ? d->met : 0);
	grt_row_number(c, d ? d->signalled : 0);
	grt_row_number(c, d ? still_waiting(d) : 0);
}

static int write_ring(struct grt_pass *pass, const struct grt_ring_phases *r)
{
	struct grt_row_cells c = {.n = 0};

	ring_identity(pass, &c, r->device, r->ring, r->engine);
	grt_row_number(&c, grt_weight_count(r->jobs));
	c.cell[c.n - 1].estimated = r->jobs != r->records * GRT_WEIGHT_ONE;
	grt_row_number(&c, r->incomplete);
	grt_row_number(&c, r->failed);
	dep_cells(&c, grt_deps_ring(pass->deps, r->device, r->ring));
	grt_row_number(&c, grt_weight_count(r->waits));
	grt_row_number(&c, (uint64_t)((r->wait_ns + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE));
	c.cell[c.n - 1].absent = !r->waits;
	return grt_writer_row(pass->writer, &c);
}

static bool has_jobs(const struct job_stats *s, const struct grt_dep_ring *d)
{
	const struct grt_ring_phases *r;

	for (r = grt_phases_each(s->phases, NULL); r; r = grt_phases_each(s->phases, r))
		if (r->ring == d->ring && r->device == d->device)
			return true;
	return false;
}

/* Dependencies of jobs that have nothing else in the trace. */
static int write_waiting_ring(struct grt_pass *pass, const struct grt_dep_ring *d)
{
	struct grt_row_cells c = {.n = 0};

	ring_identity(pass, &c, d->device, d->ring, GRT_ENGINE_UNKNOWN);
	grt_row_number(&c, 0);
	grt_row_number(&c, 0);
	grt_row_number(&c, 0);
	dep_cells(&c, d);
	grt_row_number(&c, 0);
	grt_row_absent(&c);
	return grt_writer_row(pass->writer, &c);
}

static int write_rings(const struct job_stats *s, struct grt_pass *pass)
{
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	int ret = 0;

	grt_writer_table(pass->writer, &ring_table, NULL);
	for (r = grt_phases_each(s->phases, NULL); r && !ret; r = grt_phases_each(s->phases, r))
		ret = write_ring(pass, r);
	for (d = grt_deps_each(pass->deps, NULL); d && !ret; d = grt_deps_each(pass->deps, d))
		if (!has_jobs(s, d))
			ret = write_waiting_ring(pass, d);
	grt_writer_table_end(pass->writer);
	return ret;
}

/* Latencies */

static const struct grt_hist_tables latency_tables =
	GRT_HIST_TABLES(RING, TIMES, "latency", "latency by ring");

static unsigned int count_hists(const struct job_stats *s, const struct grt_pass *pass)
{
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	unsigned int n = 0;

	for (r = grt_phases_each(s->phases, NULL); r; r = grt_phases_each(s->phases, r))
		n += GRT_PHASES;
	for (d = grt_deps_each(pass->deps, NULL); d; d = grt_deps_each(pass->deps, d))
		n++;
	return n;
}

static int job_stats_write_latencies(const struct job_stats *s, struct grt_pass *pass)
{
	struct grt_hist_row *row = calloc(count_hists(s, pass) + 1, sizeof(*row));
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	unsigned int n = 0;
	int ret;

	if (!row)
		return -ENOMEM;
	for (r = grt_phases_each(s->phases, NULL); r; r = grt_phases_each(s->phases, r)) {
		for (unsigned int i = 0; i < GRT_PHASES; i++)
			row[n++] = (struct grt_hist_row){r->ring, grt_phase_name(i), &r->phase[i]};
		d = grt_deps_ring(pass->deps, r->device, r->ring);
		if (d)
			row[n++] = (struct grt_hist_row){r->ring, "t_dep", &d->time};
	}
	for (d = grt_deps_each(pass->deps, NULL); d; d = grt_deps_each(pass->deps, d))
		if (!has_jobs(s, d))
			row[n++] = (struct grt_hist_row){d->ring, "t_dep", &d->time};
	ret = grt_hists_write(pass, &latency_tables, row, n);
	free(row);
	return ret;
}

/** struct totals - sums of all rings */
struct totals {
	uint64_t submits, completions, met, signalled, ended, open, waits, errors, commands, misfits;
};

#define TOTAL(name, member, help)                                                                          \
	{                                                                                                  \
		name, grt_cell_u64, offsetof(struct totals, member), GRT_CELL_NUMBER, GRT_COLUMN_ALL, help \
	}

/* clang-format off */
static const struct grt_column total_columns[] = {
	TOTAL("submits", submits, "jobs handed to a driver"),
	TOTAL("completions", completions, "jobs whose fence was signalled"),
	TOTAL("dependencies", met, "fences that jobs depended on"),
	TOTAL("dep_signalled", signalled, "dependencies whose fence was signalled already: no wait"),
	TOTAL("dep_ended", ended, "dependencies that were waited for until their fence was signalled"),
	TOTAL("dep_waiting", open, "dependencies whose fence was not signalled at the end of the trace"),
	TOTAL("waits", waits, "waits of threads for fences that began"),
	TOTAL("errors", errors, NULL),
	TOTAL("commands", commands, "commands without a fence, which are not jobs"),
	TOTAL("misfits", misfits, "events that fit no job"),
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table total_pairs = {"totals", "in total", total_columns, GRT_TABLE_PAIRS};

static void write_totals(const struct job_stats *s, struct grt_pass *pass)
{
	const struct grt_jobs_count jobs = grt_jobs_count(pass->jobs);
	const struct grt_deps_count deps = grt_deps_count(pass->deps);
	const struct totals t = {
		.submits = pass->seen[GRT_EV_SUBMIT],
		.completions = pass->seen[GRT_EV_COMPLETE] - pass->completed_again,
		.met = deps.met,
		.signalled = deps.signalled,
		.ended = deps.ended,
		.open = deps.open,
		.waits = pass->seen[GRT_EV_SYNC_WAIT_ENTER],
		.errors = pass->seen[GRT_EV_ERROR],
		.commands = pass->seen[GRT_EV_COMMAND],
		.misfits = jobs.late + jobs.repeated + jobs.disordered,
	};

	grt_writer_pairs(pass->writer, &total_pairs, NULL, &t);
	if (deps.forgotten)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {dependency wait is|dependency waits are} not counted (limit of %u at a time)",
			 deps.forgotten, GRT_DEPS_OPEN_MAX);
	if (deps.over || grt_phases_over(s->phases))
		grt_note(pass->notes,
			 "%" PRIu64 " {job|jobs} and %" PRIu64
			 " {dependency is|dependencies are} not in the table (limit of %u rings)",
			 grt_phases_over(s->phases), deps.over, GRT_PHASES_RINGS_MAX);
	if (jobs.evicted)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {job was|jobs were} dropped before {its|their} end: too many were in flight",
			 jobs.evicted);
	if (s->inferred)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {job has|jobs have} no START event: {its|their} start is inferred from the order of the ring's jobs",
			s->inferred);
	grt_jobs_notes(pass->notes, pass->jobs, pass->health);
}

static int show_jobs(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct job_stats *s = state;
	int ret = write_rings(s, pass);

	if (!ret)
		ret = job_stats_write_latencies(s, pass);
	write_totals(s, pass);
	return ret;
}

/* amdgpu's submits */

static const struct grt_column submit_columns[] = {
	{"ring", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"jobs", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs with SUBMIT and COMMIT"},
	{"p50", grt_row_get, 2, GRT_CELL_NS, GRT_COLUMN_ALL, "median time from SUBMIT to COMMIT, ns"},
	{"p95", grt_row_get, 3, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "95th percentile of the time from SUBMIT to COMMIT, ns"},
	{"p99", grt_row_get, 4, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "99th percentile of the time from SUBMIT to COMMIT, ns"},
	{"max", grt_row_get, 5, GRT_CELL_NS, GRT_COLUMN_ALL, "longest time from SUBMIT to COMMIT, ns"},
	{"over_100us", grt_row_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "jobs that took more than 100 us from SUBMIT to COMMIT"},
	{.name = NULL},
};

static const struct grt_table submit_table = {"submit_to_run", "submit to run, by ring", submit_columns,
					      GRT_MARK_INFERRED};

static int write_submit(struct grt_pass *pass, const struct grt_ring_phases *r)
{
	const struct grt_hist *h = &r->phase[GRT_PHASE_SCHED];
	struct grt_row_cells c = {.n = 0};

	grt_row_ring(&c, pass->names, r->ring);
	grt_row_number(&c, grt_weight_count(h->weight));
	grt_row_percentile(&c, h, 500);
	grt_row_percentile(&c, h, 950);
	grt_row_percentile(&c, h, 990);
	grt_row_percentile(&c, h, 1000);
	grt_row_number(&c, grt_weight_count(r->slow));
	return grt_writer_row(pass->writer, &c);
}

static const struct grt_column ib_columns[] = {
	{"num_ibs", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "command buffers (IBs) of a submit"},
	{"submits", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "submits with this number of command buffers"},
	{.name = NULL},
};

static const struct grt_table ib_table = {"ibs", "command buffers per submit", ib_columns, 0};

/** struct coded - numbers that may have names */
struct coded {
	const char *(*name)(uint32_t number);
};

static int write_code(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg)
{
	const struct coded *coded = arg;
	struct grt_row_cells c = {.n = 0};
	char code[24];

	snprintf(code, sizeof(code), "0x%" PRIx64, row->key.w[0]);
	grt_row_number(&c, row->key.w[0]);
	grt_row_number(&c, row->count);
	grt_row_text(&c, code);
	grt_row_text(&c, coded ? coded->name((uint32_t)row->key.w[0]) : NULL);
	return grt_writer_row(pass->writer, &c);
}

static int show_submits(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct job_stats *s = state;
	const struct grt_ring_phases *r;
	int ret = 0;

	grt_writer_table(pass->writer, &submit_table, NULL);
	for (r = grt_phases_each(s->phases, NULL); r && !ret; r = grt_phases_each(s->phases, r))
		if (r->phase[GRT_PHASE_SCHED].weight)
			ret = write_submit(pass, r);
	grt_writer_table_end(pass->writer);
	return ret ? ret
		   : grt_tally_write(pass, &ib_table, &s->ibs, "{submit is|submits are}", write_code, NULL);
}

/* A virtio GPU's commands */

static const struct grt_column command_columns[] = {
	{"number", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "number of the command or error"},
	{"code", grt_row_get, 2, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "the same number, hexadecimal"},
	{"count", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "number of commands or errors with this number"},
	{"name", grt_row_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the command or error"},
	{.name = NULL},
};

static const struct grt_table command_table = {"commands", "commands by type", command_columns, 0};
static const struct grt_table error_table = {"errors", "errors by code", command_columns, 0};

static int job_stats_show_commands(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct job_stats *s = state;
	static const struct coded by_name = {grt_virtio_gpu_name};
	int ret = grt_tally_write(pass, &command_table, &s->commands, "{command is|commands are}", write_code,
				  &by_name);

	return ret ? ret
		   : grt_tally_write(pass, &error_table, &s->answers, "{error is|errors are}", write_code,
				     &by_name);
}

/* --------------------------------------------------------------- analysis */

static int new_stats(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct job_stats *s = *state;

	grt_tally_init(&s->ibs, GRT_TALLY_ROWS);
	grt_tally_init(&s->commands, GRT_TALLY_ROWS);
	grt_tally_init(&s->answers, GRT_TALLY_ROWS);
	return grt_phases_new(&s->phases, SLOW_NS);
}

static int job_stats_add_job(void *state, const struct grt_job *job)
{
	struct job_stats *s = state;

	s->inferred += job->inferred >> GRT_STAMP_START & 1;
	return grt_phases_job(s->phases, job);
}

/* Numbers that only matter to users of one driver; a ring without a name may belong to that driver. */
static int count_number(struct grt_tally *t, const struct grt_names *names, const char *driver,
			const struct grt_event *e, uint32_t number)
{
	const char *owner = grt_names_owner(names, grt_names_find(names, GRT_NAME_RING, e->ring));

	if (owner && strcmp(owner, driver))
		return 0;
	return grt_tally_add(t, &(struct grt_key){{number}}, 0, e->time);
}

static int job_stats_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_submit *submit = (const struct grt_ev_submit *)e;
	struct job_stats *s = state;
	int ret;

	if (e->type == GRT_EV_ERROR)
		return count_number(&s->answers, pass->names, "virtio_gpu", e,
				    ((const struct grt_ev_error *)e)->code);
	if (e->type == GRT_EV_COMMAND)
		return count_number(&s->commands, pass->names, "virtio_gpu", e,
				    ((const struct grt_ev_command *)e)->cmd);
	if (e->type != GRT_EV_SUBMIT)
		return 0;
	ret = count_number(&s->ibs, pass->names, "amdgpu", e, submit->cmd);
	return ret ? ret : count_number(&s->commands, pass->names, "virtio_gpu", e, submit->cmd);
}

static void free_stats(void *state)
{
	struct job_stats *s = state;

	grt_phases_free(s->phases);
	grt_tally_free(&s->ibs);
	grt_tally_free(&s->commands);
	grt_tally_free(&s->answers);
}

GRT_ANALYSIS_ANY(any_submits, job_stats, ibs.rows.used)

GRT_ANALYSIS_ANY(any_commands, job_stats, commands.rows.used)

static const uint16_t job_types[] = {GRT_EV_SUBMIT,   GRT_EV_COMMIT,   GRT_EV_END,
				     GRT_EV_COMPLETE, GRT_EV_WAIT_DEP, 0};

static const struct grt_part stats_parts[] = {
	{"jobs", "jobs, waits and dependencies by ring, their latencies", GRT_PART_MONITOR,
	 .types = job_types, .tables = GRT_TABLES(&ring_table, &total_pairs, GRT_HIST_BOTH(latency_tables)),
	 .write = show_jobs},
	{"submits", "amdgpu: slow submits, IBs per submit", GRT_PART_MONITOR, .any = any_submits,
	 .tables = GRT_TABLES(&submit_table, &ib_table), .write = show_submits},
	{"commands", "virtio: commands and errors by number", GRT_PART_MONITOR, .any = any_commands,
	 .tables = GRT_TABLES(&command_table, &error_table), .write = job_stats_show_commands},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_job_stats = {
	.name = "job_stats",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(wait) | GRT_IN_CLASS(error) | GRT_IN_CLASS(command) |
		   GRT_IN_CLASS(dep),
	.parts = stats_parts,
	.size = sizeof(struct job_stats),
	.begin = new_stats,
	.event = job_stats_take_event,
	.job = job_stats_add_job,
	.free = free_stats,
};
