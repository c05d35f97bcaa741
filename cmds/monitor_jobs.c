// SPDX-License-Identifier: GPL-2.0
/*
 * `grtrace monitor`: statistics of jobs by ring, of dependencies, and of what
 * amdgpu and a virtio GPU say of their submits.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "codes/codes.h"
#include "monitor.h"

/* Rings */

static const struct grt_column ring_columns[] = {
	{"ring", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"device", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "device number"},
	{"ring_name", monitor_get, 2, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "its name"},
	{"driver", monitor_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its driver"},
	{"engine", monitor_get, 4, GRT_CELL_ENGINE, GRT_COLUMN_ALL, "engine"},
	{"jobs", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs"},
	{"incomplete", monitor_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs without SUBMIT or COMPLETE"},
	{"failed", monitor_get, 7, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs that failed"},
	{"deps", monitor_get, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "fences that jobs depended on"},
	{"signalled", monitor_get, 9, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, signalled already"},
	{"waiting", monitor_get, 10, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, not signalled at the end"},
	{"waits", monitor_get, 11, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "waits of threads for its jobs"},
	{"wait_ns", monitor_get, 12, GRT_CELL_NS, GRT_COLUMN_ALL, "their time, ns"},
	{.name = NULL},
};

static const struct grt_table ring_table = {"rings", "jobs and waits by ring", ring_columns, 0};

static uint64_t still_waiting(const struct grt_dep_ring *d)
{
	uint64_t done = d->cut + grt_weight_count(d->time.weight);

	return d->met > done ? d->met - done : 0;
}

static void ring_identity(struct monitor *m, struct monitor_cells *c, uint32_t device, uint32_t ring,
			  uint8_t engine)
{
	uint32_t name = grt_names_find(&m->names, GRT_NAME_RING, ring);

	monitor_ring(m, c, ring);
	monitor_number(c, device);
	monitor_text(c, grt_names_name(&m->names, name));
	monitor_text(c, grt_names_owner(&m->names, name));
	monitor_number(c, engine);
}

static void dep_cells(struct monitor_cells *c, const struct grt_dep_ring *d)
{
	monitor_number(c, d ? d->met : 0);
	monitor_number(c, d ? d->signalled : 0);
	monitor_number(c, d ? still_waiting(d) : 0);
}

static int write_ring(struct monitor *m, const struct grt_ring_phases *r)
{
	struct monitor_cells c = {.n = 0};

	ring_identity(m, &c, r->device, r->ring, r->engine);
	monitor_number(&c, grt_weight_count(r->jobs));
	c.cell[c.n - 1].estimated = r->jobs != r->records * GRT_WEIGHT_ONE;
	monitor_number(&c, r->incomplete);
	monitor_number(&c, r->failed);
	dep_cells(&c, grt_deps_ring(m->deps, r->device, r->ring));
	monitor_number(&c, grt_weight_count(r->waits));
	monitor_number(&c, (uint64_t)((r->wait_ns + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE));
	c.cell[c.n - 1].absent = !r->waits;
	return grt_writer_row(m->writer, &c);
}

static bool has_jobs(const struct monitor *m, const struct grt_dep_ring *d)
{
	const struct grt_ring_phases *r;

	for (r = grt_phases_each(m->phases, NULL); r; r = grt_phases_each(m->phases, r))
		if (r->ring == d->ring && r->device == d->device)
			return true;
	return false;
}

/* Dependencies of jobs of which nothing else is in the trace. */
static int write_waiting_ring(struct monitor *m, const struct grt_dep_ring *d)
{
	struct monitor_cells c = {.n = 0};

	ring_identity(m, &c, d->device, d->ring, GRT_ENGINE_UNKNOWN);
	monitor_number(&c, 0);
	monitor_number(&c, 0);
	monitor_number(&c, 0);
	dep_cells(&c, d);
	monitor_number(&c, 0);
	monitor_absent(&c);
	return grt_writer_row(m->writer, &c);
}

static int write_rings(struct monitor *m)
{
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	int ret = 0;

	grt_writer_table(m->writer, &ring_table, NULL);
	for (r = grt_phases_each(m->phases, NULL); r && !ret; r = grt_phases_each(m->phases, r))
		ret = write_ring(m, r);
	for (d = grt_deps_each(m->deps, NULL); d && !ret; d = grt_deps_each(m->deps, d))
		if (!has_jobs(m, d))
			ret = write_waiting_ring(m, d);
	grt_writer_table_end(m->writer);
	return ret;
}

/* Latencies */

static unsigned int count_hists(const struct monitor *m)
{
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	unsigned int n = 0;

	for (r = grt_phases_each(m->phases, NULL); r; r = grt_phases_each(m->phases, r))
		n += GRT_PHASES;
	for (d = grt_deps_each(m->deps, NULL); d; d = grt_deps_each(m->deps, d))
		n++;
	return n;
}

static int write_latencies(struct monitor *m)
{
	struct monitor_hist *row = calloc(count_hists(m) + 1, sizeof(*row));
	const struct grt_ring_phases *r;
	const struct grt_dep_ring *d;
	unsigned int n = 0;
	int ret;

	if (!row)
		return -ENOMEM;
	for (r = grt_phases_each(m->phases, NULL); r; r = grt_phases_each(m->phases, r)) {
		for (unsigned int i = 0; i < GRT_PHASES; i++)
			row[n++] = (struct monitor_hist){r->ring, grt_phase_name(i), &r->phase[i]};
		d = grt_deps_ring(m->deps, r->device, r->ring);
		if (d)
			row[n++] = (struct monitor_hist){r->ring, "t_dep", &d->time};
	}
	for (d = grt_deps_each(m->deps, NULL); d; d = grt_deps_each(m->deps, d))
		if (!has_jobs(m, d))
			row[n++] = (struct monitor_hist){d->ring, "t_dep", &d->time};
	ret = monitor_latencies(m, "latency", "latency by ring", MONITOR_OF_RING, row, n);
	free(row);
	return ret;
}

static void write_totals(struct monitor *m)
{
	const struct grt_jobs_count jobs = grt_jobs_count(m->jobs);
	const struct grt_deps_count deps = grt_deps_count(m->deps);
	struct grt_fields f = {.n = 0};

	grt_field_number(&f, "submits", m->seen[GRT_EV_SUBMIT], "jobs handed to a driver");
	grt_field_number(&f, "completions", m->seen[GRT_EV_COMPLETE] - m->completed_again,
			 "jobs whose fence was signalled");
	grt_field_number(&f, "dependencies", deps.met, "fences that jobs depended on");
	grt_field_number(&f, "dep_signalled", deps.signalled, "of these, signalled already: no wait");
	grt_field_number(&f, "dep_ended", deps.ended, "of these, waited for until signalled");
	grt_field_number(&f, "dep_waiting", deps.open, "of these, not signalled at the end");
	grt_field_number(&f, "waits", m->seen[GRT_EV_SYNC_WAIT_ENTER], "waits of threads for fences, begun");
	grt_field_number(&f, "errors", m->seen[GRT_EV_ERROR], NULL);
	grt_field_number(&f, "commands", m->seen[GRT_EV_COMMAND], "commands without a fence: not jobs");
	grt_field_number(&f, "misfits", jobs.late + jobs.repeated + jobs.disordered,
			 "events that fitted no job's life");
	grt_fields_write(&f, m->writer, "totals", "in total");
	if (deps.forgotten)
		grt_note(&m->notes, "%" PRIu64 " dependency waits were forgotten: more than %u at once",
			 deps.forgotten, GRT_DEPS_OPEN_MAX);
	if (deps.over || grt_phases_over(m->phases))
		grt_note(&m->notes,
			 "%" PRIu64 " jobs and %" PRIu64 " dependencies are in no row: more than %u rings",
			 grt_phases_over(m->phases), deps.over, GRT_PHASES_RINGS_MAX);
	if (jobs.evicted)
		grt_note(&m->notes, "%" PRIu64 " jobs were cut short: too many were in flight", jobs.evicted);
	if (m->inferred)
		grt_note(&m->notes,
			 "%" PRIu64 " jobs have no START event: execution is inferred from the ring's order",
			 m->inferred);
	reading_note_joins(&m->notes, m->jobs, grt_session_health(m->session));
}

int monitor_jobs(struct monitor *m)
{
	int ret = write_rings(m);

	if (!ret)
		ret = write_latencies(m);
	write_totals(m);
	return ret;
}

/* amdgpu's submits */

static const struct grt_column submit_columns[] = {
	{"ring", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},
	{"jobs", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs with SUBMIT and COMMIT"},
	{"p50", monitor_get, 2, GRT_CELL_NS, GRT_COLUMN_ALL, "from SUBMIT to COMMIT, ns"},
	{"p95", monitor_get, 3, GRT_CELL_NS, GRT_COLUMN_ALL, "from SUBMIT to COMMIT, ns"},
	{"p99", monitor_get, 4, GRT_CELL_NS, GRT_COLUMN_ALL, "from SUBMIT to COMMIT, ns"},
	{"max", monitor_get, 5, GRT_CELL_NS, GRT_COLUMN_ALL, "from SUBMIT to COMMIT, ns"},
	{"over_100us", monitor_get, 6, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, above 100 us"},
	{.name = NULL},
};

static const struct grt_table submit_table = {"submit_to_run", "submit to run, by ring", submit_columns,
					      GRT_MARK_INFERRED};

static int write_submit(struct monitor *m, const struct grt_ring_phases *r)
{
	const struct grt_hist *h = &r->phase[GRT_PHASE_SCHED];
	struct monitor_cells c = {.n = 0};

	monitor_ring(m, &c, r->ring);
	monitor_number(&c, grt_weight_count(h->weight));
	monitor_hist_cell(&c, h, 500);
	monitor_hist_cell(&c, h, 950);
	monitor_hist_cell(&c, h, 990);
	monitor_hist_cell(&c, h, 1000);
	monitor_number(&c, grt_weight_count(r->slow));
	return grt_writer_row(m->writer, &c);
}

static const struct grt_column ib_columns[] = {
	{"num_ibs", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "command buffers (IBs) of a submit"},
	{"submits", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "submits with so many"},
	{.name = NULL},
};

static const struct grt_table ib_table = {"ibs", "command buffers per submit", ib_columns, 0};

/** struct coded - numbers that may have names */
struct coded {
	const char *(*name)(uint32_t number);
};

static int write_code(struct monitor *m, const struct grt_tally_row *row, const void *arg)
{
	const struct coded *coded = arg;
	struct monitor_cells c = {.n = 0};
	char code[24];

	snprintf(code, sizeof(code), "0x%" PRIx64, row->key.w[0]);
	monitor_number(&c, row->key.w[0]);
	monitor_number(&c, row->count);
	monitor_text(&c, code);
	monitor_text(&c, coded ? coded->name((uint32_t)row->key.w[0]) : NULL);
	return grt_writer_row(m->writer, &c);
}

int monitor_submits(struct monitor *m)
{
	const struct grt_ring_phases *r;
	int ret = 0;

	grt_writer_table(m->writer, &submit_table, NULL);
	for (r = grt_phases_each(m->phases, NULL); r && !ret; r = grt_phases_each(m->phases, r))
		if (r->phase[GRT_PHASE_SCHED].weight)
			ret = write_submit(m, r);
	grt_writer_table_end(m->writer);
	return ret ? ret : monitor_tally(m, &ib_table, &m->ibs, "submits", write_code, NULL);
}

/* A virtio GPU's commands */

static const struct grt_column command_columns[] = {
	{"number", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "the command's or error's number"},
	{"code", monitor_get, 2, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "the same, hexadecimal"},
	{"count", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often"},
	{"name", monitor_get, 3, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its name"},
	{.name = NULL},
};

static const struct grt_table command_table = {"commands", "commands by type", command_columns, 0};
static const struct grt_table error_table = {"errors", "errors by code", command_columns, 0};

int monitor_commands(struct monitor *m)
{
	static const struct coded by_name = {grt_virtio_gpu_name};
	int ret = monitor_tally(m, &command_table, &m->commands, "commands", write_code, &by_name);

	return ret ? ret : monitor_tally(m, &error_table, &m->answers, "errors", write_code, &by_name);
}
