// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of the phases of jobs, see phase_table.h. */
#include "phase_table.h"

#include <inttypes.h>
#include <stdlib.h>

#include "base/compare.h"
#include "table/analysis.h"
#include "table/cells.h"

struct grt_latency_row grt_latency(const struct grt_ring_phases *ring, unsigned int i)
{
	static const enum grt_phase order[GRT_LATENCIES] = {
		GRT_PHASE_SCHED, GRT_PHASE_QUEUE, GRT_PHASE_EXEC, GRT_PHASES, GRT_PHASE_COMPLETE,
	};

	if (order[i] == GRT_PHASES)
		return (struct grt_latency_row){ring, &ring->gpu_wait, "t_gpu_wait"};
	return (struct grt_latency_row){ring, &ring->phase[order[i]], grt_phase_name(order[i])};
}

/* Values of power @n begin here: 0, 1, 2, 4 ... */
static uint64_t power_begin(unsigned int n)
{
	if (n == GRT_HIST_POWERS)
		return UINT64_MAX;
	return n ? 1ULL << (n - 1) : 0;
}

unsigned int grt_powers(const struct grt_latency_row *of, struct grt_power_row row[GRT_HIST_POWERS])
{
	uint64_t weight[GRT_HIST_POWERS];
	unsigned int used = 0, wanted = 0;

	if (!grt_hist_powers(of->hist, weight))
		return 0;
	for (unsigned int n = 0; n < GRT_HIST_POWERS; n++) {
		if (weight[n])
			wanted = used + 1;
		if (weight[n] || used)
			row[used++] = (struct grt_power_row){
				*of,
				power_begin(n),
				power_begin(n + 1),
				weight[n],
			};
	}
	return wanted;
}

static const struct grt_latency_row *latency_of(const void *row)
{
	return row;
}

static bool phase_table_is_sampled(const struct grt_ring_phases *ring)
{
	return ring->jobs != ring->records * GRT_WEIGHT_ONE;
}

static void phase_table_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring(cell, view, latency_of(row)->ring->ring);
}

static void phase_table_get_ring_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_ring_name(cell, view, latency_of(row)->ring->ring);
}

static void phase_table_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = latency_of(row)->ring->device;
	cell->absent = latency_of(row)->ring->ring == GRT_RING_NONE;
}

static void phase_table_get_engine(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = latency_of(row)->ring->engine;
}

static void phase_table_get_phase(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = latency_of(row)->name;
}

static void phase_table_get_jobs(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_weight_count(latency_of(row)->hist->weight);
	cell->estimated = phase_table_is_sampled(latency_of(row)->ring);
}

static void phase_table_get_percentile(struct grt_cell *cell, const void *view, const void *row, int permille)
{
	grt_cell_hist(cell, latency_of(row)->hist, permille);
}

static void get_from(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_power_row *power = row;

	cell->number = arg ? power->to : power->from;
}

static void get_weight(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_weight_count(((const struct grt_power_row *)row)->weight);
	cell->estimated = phase_table_is_sampled(latency_of(row)->ring);
}

/* The first member of a power's row is that of the latency. */
#define RING_COLUMNS                                                                                         \
	{"ring", phase_table_get_ring, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "ring: name in text, else id"},    \
		{"ring_name",	phase_table_get_ring_name, 0,                                                \
		 GRT_CELL_TEXT, GRT_COLUMN_MACHINE,	   "name of the ring"},                              \
		{"device", phase_table_get_device, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "device number"}, \
		{"engine", phase_table_get_engine, 0, GRT_CELL_ENGINE, GRT_COLUMN_ALL | GRT_COLUMN_LEAST,    \
		 "engine"},                                                                                  \
	{                                                                                                    \
		"phase", phase_table_get_phase, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "phase of a job"           \
	}

static const struct grt_column latency_columns[] = {
	RING_COLUMNS,
	{"jobs", phase_table_get_jobs, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs that have this phase"},
	{"min", phase_table_get_percentile, 0, GRT_CELL_NS, GRT_COLUMN_MACHINE, "shortest duration, ns"},
	{"p50", phase_table_get_percentile, 500, GRT_CELL_NS, GRT_COLUMN_ALL, "median duration, ns"},
	{"p95", phase_table_get_percentile, 950, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "95th percentile of the duration, ns"},
	{"p99", phase_table_get_percentile, 990, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "99th percentile of the duration, ns"},
	{"max", phase_table_get_percentile, 1000, GRT_CELL_NS, GRT_COLUMN_ALL, "longest duration, ns"},
	{.name = NULL},
};

static const struct grt_column power_columns[] = {
	RING_COLUMNS,
	{"from", get_from, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "shortest duration of this row, ns"},
	{"to", get_from, 1, GRT_CELL_NS, GRT_COLUMN_ALL, "all durations of this row are below this, ns"},
	{"jobs", get_weight, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs with such a duration"},
	{.name = NULL},
};

#define MARKS (GRT_MARK_INFERRED | GRT_MARK_ESTIMATED)

static const struct grt_table latency_table = {"latencies", "latencies", latency_columns, MARKS};
static const struct grt_table power_table = {"histograms", "histograms", power_columns, GRT_MARK_ESTIMATED};

/* The analysis */

static int most_jobs_first(const void *a, const void *b)
{
	const struct grt_ring_phases *x = *(const struct grt_ring_phases *const *)a;
	const struct grt_ring_phases *y = *(const struct grt_ring_phases *const *)b;

	return grt_compare(y->jobs, x->jobs)
	       ?: grt_compare(x->device, y->device)
	       ?: grt_compare(x->ring, y->ring);
}

uint32_t grt_phases_list(const struct grt_phases *p,
			 const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX])
{
	uint32_t n = 0;

	for (const struct grt_ring_phases *r = grt_phases_each(p, NULL); r; r = grt_phases_each(p, r))
		rings[n++] = r;
	qsort(rings, n, sizeof(rings[0]), most_jobs_first);
	return n;
}

static int write_latencies(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX];
	uint32_t n = grt_phases_list(state, rings);
	struct grt_latency_row row;
	int ret = 0;

	grt_writer_table(pass->writer, &latency_table, pass->names);
	for (uint32_t i = 0; i < n * GRT_LATENCIES && !ret; i++) {
		row = grt_latency(rings[i / GRT_LATENCIES], i % GRT_LATENCIES);
		ret = grt_writer_row(pass->writer, &row);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static int write_powers(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_ring_phases *rings[GRT_PHASES_RINGS_MAX];
	uint32_t n = grt_phases_list(state, rings);
	struct grt_power_row power[GRT_HIST_POWERS];
	struct grt_latency_row of;
	int ret = 0;

	grt_writer_table(pass->writer, &power_table, pass->names);
	for (uint32_t i = 0; i < n * GRT_LATENCIES && !ret; i++) {
		of = grt_latency(rings[i / GRT_LATENCIES], i % GRT_LATENCIES);
		for (unsigned int k = 0, used = grt_powers(&of, power); k < used && !ret; k++)
			ret = grt_writer_row(pass->writer, &power[k]);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static const struct grt_part phase_parts[] = {
	{"latencies", .where = GRT_PART_LATENCY | GRT_PART_JOBS, .table = &latency_table,
	 .write = write_latencies},
	{"histograms", .where = GRT_PART_LATENCY | GRT_PART_JOBS, .table = &power_table,
	 .write = write_powers},
	{.name = NULL},
};

GRT_ANALYSIS_NEW(phase_table_begin, struct grt_phases, grt_phases_new, UINT64_MAX)
GRT_ANALYSIS_JOB(phase_table_job, grt_phases_job)

static void phase_table_notes(void *state, struct grt_pass *pass)
{
	if (grt_phases_over(state))
		grt_note(pass->notes, "the latencies lack %" PRIu64 " {job|jobs} (limit of %u rings)",
			 grt_phases_over(state), GRT_PHASES_RINGS_MAX);
}

GRT_ANALYSIS_FREE(phase_table_free, grt_phases_free)

const struct grt_analysis grt_analysis_phases = {
	.name = "phases",
	.parts = phase_parts,
	.begin = phase_table_begin,
	.job = phase_table_job,
	.notes = phase_table_notes,
	.free = phase_table_free,
};
