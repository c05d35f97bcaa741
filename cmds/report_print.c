// SPDX-License-Identifier: GPL-2.0
/*
 * What `grtrace report` writes and in which order. How values look is the
 * writer's, what they are the analyses'; here stands which of them, with the
 * words that go with them.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "report.h"
#include "report_text.h"
#include "base/units.h"

static void write_recording(struct report *r)
{
	struct fields f = {.n = 0};

	reading_recording(&f, r->session, r->input);
	reading_span_fields(&f, &r->span);
	fields_write(&f, r->writer, "recording", "recording");
}

/* Behind the tables, since a live one is known at its end only. */
static void write_span(struct report *r)
{
	struct fields f = {.n = 0};

	field_add(&f, "span_ns", GRT_CELL_NS,
		  (struct grt_cell){.number = r->span.last - r->span.first, .absent = !r->span.known}, NULL);
	fields_write(&f, r->writer, NULL, NULL);
}

/* A packet's balance is known when its first event is read; live, its last ones may come after the end. */
uint64_t report_unread(const struct report *r)
{
	const struct grt_health *h = grt_session_health(r->session);
	uint64_t delivered = h->balance.fate[GRT_FATE_DELIVERED];

	return r->live && delivered > h->events ? delivered - h->events : 0;
}

static int compare_types(const void *a, const void *b, void *sort)
{
	struct grt_cell x = grt_column_get(sort, NULL, a), y = grt_column_get(sort, NULL, b);

	return grt_cell_order(sort, &x, &y);
}

/* How many of @n rows are shown. @top: at most, 0: all */
static uint64_t topmost(uint64_t n, uint64_t top)
{
	return top && top < n ? top : n;
}

static int write_types(struct report *r)
{
	struct grt_type_count row[GRT_EV_MAX];
	unsigned int n = 0;

	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		if (r->counts->type[type].events)
			row[n++] = r->counts->type[type];
	if (r->group_sort)
		qsort_r(row, n, sizeof(row[0]), compare_types, (void *)r->group_sort);
	return grt_writer_rows(r->writer, &grt_type_table, NULL, row, sizeof(*row), topmost(n, r->group_top));
}

static int compare_tsgs(const void *a, const void *b, void *arg)
{
	struct report *r = arg;
	const struct grt_names *names = grt_jobs_names(r->jobs);
	struct grt_cell x = grt_column_get(r->group_sort, names, a),
			y = grt_column_get(r->group_sort, names, b);

	return grt_cell_order(r->group_sort, &x, &y);
}

static int write_runlists(struct report *r, const struct grt_tsg *list, int64_t n)
{
	struct grt_tsg_runlist *row;
	int64_t rows = grt_tsgs_runlists(list, (uint64_t)n, &row);
	int ret = rows < 0 ? -ENOMEM
			   : grt_writer_rows(r->writer, &grt_tsg_runlist_table, NULL, row, sizeof(*row),
					     (uint64_t)rows);

	free(row);
	return ret;
}

static int write_channels(struct report *r, const struct grt_tsg_channel *row, uint64_t n)
{
	uint64_t shown = topmost(n, r->group_top);
	int ret = grt_writer_rows(r->writer, &grt_tsg_channel_table, NULL, row, sizeof(*row), shown);

	if (shown < n)
		note(&r->notes, "%" PRIu64 " more channels: --top 0 shows all", n - shown);
	if (r->tsgs.channels.over)
		note(&r->notes, "%" PRIu64 " channels are in no row: more than %u", r->tsgs.channels.over,
		     GRT_TSG_CHANNELS_MAX);
	return ret;
}

static void note_partly_known(struct report *r, const struct grt_tsg *list, int64_t n)
{
	uint64_t older = 0, inferred = 0;

	for (int64_t i = 0; i < n; i++) {
		older += !list[i].born;
		inferred += list[i].inferred;
	}
	if (inferred)
		note(&r->notes,
		     "%" PRIu64
		     " groups had their number at the same time as another group of their process, and the text does not say "
		     "which of them a line is about: that the first one made was scheduled and destroyed first is inferred",
		     inferred);
	if (older)
		note(&r->notes,
		     "%" PRIu64 " groups are known in part: that they were made is not in the trace", older);
}

static int write_tsgs(struct report *r)
{
	struct grt_tsg *list;
	struct grt_tsg_channel *channel;
	int64_t channels, n = grt_tsgs_list(&r->tsgs, &list, &channel, &channels);
	uint64_t all = n < 0 ? 0 : (uint64_t)n, shown = topmost(all, r->group_top);
	int ret = n < 0 ? -ENOMEM : 0;

	if (!ret && r->group_sort)
		qsort_r(list, (size_t)n, sizeof(*list), compare_tsgs, r);
	if (!ret)
		ret = grt_writer_rows(r->writer, &grt_tsg_table, grt_jobs_names(r->jobs), list, sizeof(*list),
				      shown);
	note_partly_known(r, list, n);
	if (shown < all)
		note(&r->notes, "%" PRIu64 " more groups: --top 0 shows all", all - shown);
	if (r->tsgs.over)
		note(&r->notes, "%" PRIu64 " events are of groups in no row: more than %u groups",
		     r->tsgs.over, GRT_TSGS_MAX);
	if (!ret && !r->csv)
		ret = write_channels(r, channel, (uint64_t)channels);
	if (!ret && !r->csv)
		ret = write_runlists(r, list, n);
	free(channel);
	free(list);
	return ret;
}

/* Kernels of the summary. */
#define LAUNCHED_SUMMARY 10

static struct grt_launch_view launch_view(const struct report *r, const struct grt_launch_group *const *row,
					  int64_t n)
{
	struct grt_launch_view v = {.span = r->span.known ? r->span.last - r->span.first : 0};

	for (int64_t i = 0; i < n; i++)
		v.total += grt_hist_sum(&row[i]->exec);
	return v;
}

/** struct launch_order - @sort: NULL: as they are */
struct launch_order {
	const struct grt_column *sort;
	struct grt_launch_view view;
};

static int compare_launched(const void *a, const void *b, void *arg)
{
	const struct launch_order *o = arg;
	struct grt_cell x = grt_column_get(o->sort, &o->view, *(const void *const *)a),
			y = grt_column_get(o->sort, &o->view, *(const void *const *)b);

	return grt_cell_order(o->sort, &x, &y);
}

static void note_gaps(struct report *r)
{
	struct grt_launch_gaps_count n = grt_launch_groups_gaps_count(r->launched);

	if (n.late)
		note(&r->notes, "%" PRIu64 " records came more than 32768 others late: idle time may be less",
		     n.late);
	if (n.unnamed)
		note(&r->notes,
		     "idle: %" PRIu64 " parts are told without stack or function: more than 65536 of them",
		     n.unnamed);
	if (n.work_over)
		note(&r->notes, "idle: not of the devices of %" PRIu64 " records: more than 4096 devices",
		     n.work_over);
	if (n.calls_over)
		note(&r->notes,
		     "idle: %" PRIu64 " calls are not known of: more than 65536 threads that launch",
		     n.calls_over);
}

static int write_gaps(struct report *r)
{
	const struct grt_launch_gap *const *row;
	int64_t n = grt_launch_groups_gaps(r->launched, &row);
	int ret = n < 0 ? -ENOMEM : grt_writer_list(r->writer, &grt_launch_gap_table, NULL, row, (uint64_t)n);

	note_gaps(r);
	return ret;
}

static void note_launched(struct report *r)
{
	struct grt_launches_count n = grt_launch_groups_count(r->launched);

	if (n.probed && r->view->launched != GRT_LAUNCH_BY_STACK)
		note(&r->notes,
		     "%" PRIu64
		     " calls of functions that were probed: report --by stack, flame --weight launches",
		     n.probed);
	else if (!n.kernels && !n.copies && !n.probed)
		note(&r->notes, "nothing of CUDA is in this trace: grtrace record -e cuda -- PROG");
	if (n.unknown)
		note(&r->notes, "the launch of %" PRIu64 " kernels and copies is not in the trace",
		     n.unknown);
	if (n.by_gpu)
		note(&r->notes, "%" PRIu64 " kernels were launched by kernels", n.by_gpu);
	if (n.nothing)
		note(&r->notes, "%" PRIu64 " launches have no kernel in the trace", n.nothing);
	if (n.open || n.no_stamps)
		note(&r->notes, "%" PRIu64 " records had not ended and %" PRIu64 " have no stamps: no time",
		     n.open, n.no_stamps);
	if (n.launches_lost || n.gpu_lost)
		note(&r->notes, "lost: %" PRIu64 " launches, %" PRIu64 " records of the GPU", n.launches_lost,
		     n.gpu_lost);
	if (grt_launch_groups_over(r->launched))
		note(&r->notes, "%" PRIu64 " records are in no row: more than %u rows",
		     grt_launch_groups_over(r->launched), GRT_LAUNCH_GROUPS_MAX);
}

/* Also where nothing is left that could have had them. */
static void note_undefined(struct report *r)
{
	struct grt_launches_count n = grt_launch_groups_count(r->launched);

	if (n.undefined)
		note(&r->notes, "%" PRIu64 " definitions of stacks and names were not believed, or lost",
		     n.undefined);
}

/* Where to look for events that the summary has no table for. */
static const struct {
	enum grt_class class;
	const char *what;
	const char *see;
} elsewhere[] = {
	{GRT_CLASS_call, "calls on the device's files", "dump, monitor nvidia"},
	{GRT_CLASS_tsg, "events of NVIDIA's channel groups", "report --by tsg, sched"},
	{GRT_CLASS_thread, "records of what threads did", "report --by thread, flame --weight wall"},
	{GRT_CLASS_xid, "errors of NVIDIA's driver", "monitor nvidia"},
	{GRT_CLASS_mem, "events of buffer objects", "monitor all"},
	{GRT_CLASS_vblank, "vertical blanks", "monitor vblank"},
	{GRT_CLASS_log, "events of AMD's runtime and of kernel functions", "rocm report"},
};

static bool has_launches(const struct report *r)
{
	struct grt_launches_count n = {0};

	if (r->launched)
		n = grt_launch_groups_count(r->launched);
	return n.kernels || n.copies || n.probed;
}

/* The trace has no jobs but other things: empty tables would say nothing. Machines find every key. */
static bool has_no_jobs(const struct report *r)
{
	bool other = has_launches(r);

	if (r->json || r->view->name || r->jobs_seen)
		return false;
	for (unsigned int by = 0; by < GRT_BYS; by++)
		if (grt_groups_get(r->groups, by, 0))
			return false;
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		other |= r->elsewhere[elsewhere[i].class] > 0;
	return other;
}

/* Beside jobs only errors: what else there is, the commands that were asked to record it show. */
static void note_elsewhere(struct report *r, bool errors_only)
{
	for (size_t i = 0; i < sizeof(elsewhere) / sizeof(elsewhere[0]); i++)
		if (r->elsewhere[elsewhere[i].class] && (!errors_only || elsewhere[i].class == GRT_CLASS_xid))
			note(&r->notes, "%" PRIu64 " %s: %s", r->elsewhere[elsewhere[i].class],
			     elsewhere[i].what, elsewhere[i].see);
}

static int write_launched(struct report *r)
{
	const struct grt_launch_group *const *list;
	const struct grt_launch_group **row;
	int64_t n = grt_launch_groups_list(r->launched, &list);
	uint64_t shown = topmost((uint64_t)n, r->view->name ? r->group_top : LAUNCHED_SUMMARY);
	struct launch_order order = {.sort = r->group_sort};
	int ret;

	/* the summary has it where there is any */
	if (!n && !r->view->name) {
		if (has_no_jobs(r) && has_launches(r))
			note_launched(r);
		return 0;
	}
	row = n < 0 ? NULL : calloc((size_t)n + 1, sizeof(*row));
	if (!row)
		return -ENOMEM;
	memcpy(row, list, (size_t)n * sizeof(*row));
	order.view = launch_view(r, row, n);
	if (order.sort)
		qsort_r(row, (size_t)n, sizeof(*row), compare_launched, &order);
	ret = grt_writer_list(r->writer, &grt_launch_table[r->view->launched], &order.view, row, shown);
	if (shown < (uint64_t)n)
		note(&r->notes,
		     r->view->name ? "%" PRIu64 " more rows: --top 0 shows all"
				   : "%" PRIu64 " more kernels: --by kernel shows all",
		     (uint64_t)n - shown);
	if (!ret && !r->csv && r->view->launched == GRT_LAUNCH_BY_DEVICE)
		ret = write_gaps(r);
	note_launched(r);
	free(row);
	return ret;
}

/** struct thread_order - @sort: NULL: the one of most life first */
struct thread_order {
	const struct grt_column *sort;
	const struct grt_names *names;
};

static int compare_threads(const void *a, const void *b, void *arg)
{
	const struct thread_order *o = arg;
	const void *x = *(const void *const *)a, *y = *(const void *const *)b;
	struct grt_cell left = grt_column_get(o->sort, o->names, x),
			right = grt_column_get(o->sort, o->names, y);
	uint32_t first = ((const struct grt_thread *)x)->number;
	int ret = grt_cell_order(o->sort, &left, &right);

	return ret ? ret : (first > ((const struct grt_thread *)y)->number ? 1 : -1);
}

static void note_threads(struct report *r, uint64_t shown, uint64_t all)
{
	struct grt_threads_count n = grt_threads_count(r->threads);

	if (!all)
		note(&r->notes, "no threads are in this trace: grtrace record -e sched -- PROG");
	if (all > shown)
		note(&r->notes, "%" PRIu64 " more threads: --top 0 shows all", all - shown);
	if (n.lost)
		note(&r->notes, "%" PRIu64 " intervals off the CPU are lost: the time around them is unknown",
		     n.lost);
	if (n.unsure)
		note(&r->notes, "of %" PRIu64 " pieces it was not found out whether they waited for the GPU",
		     n.unsure);
	if (n.over)
		note(&r->notes, "%" PRIu64 " records are of threads beyond the first %u", n.over,
		     GRT_THREADS_MAX);
}

/* All of them; to be freed. Return: how many, or -ENOMEM */
static int64_t list_threads(struct report *r, const struct grt_thread ***out)
{
	uint32_t n = 0;

	if (grt_threads_flush(r->threads))
		return -ENOMEM;
	while (grt_threads_at(r->threads, n))
		n++;
	*out = calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++)
		(*out)[i] = grt_threads_at(r->threads, i);
	return n;
}

static int write_threads(struct report *r)
{
	struct thread_order o = {r->group_sort ?: grt_column_find(&grt_thread_table, "life"),
				 grt_threads_names(r->threads)};
	const struct grt_thread **row = NULL;
	int64_t n = list_threads(r, &row);
	uint64_t shown = topmost((uint64_t)n, r->group_top);
	int ret;

	if (n < 0)
		return -ENOMEM;
	qsort_r(row, (size_t)n, sizeof(*row), compare_threads, &o);
	ret = grt_writer_list(r->writer, &grt_thread_table, o.names, row, shown);
	if (!ret)
		note_threads(r, shown, (uint64_t)n);
	free(row);
	return ret;
}

static int write_cpus(struct report *r)
{
	int ret = 0;

	grt_writer_table(r->writer, &grt_cpu_table, NULL);
	for (uint32_t cpu = 0; cpu < GRT_COUNTS_CPUS && !ret; cpu++)
		if (r->counts->cpu[cpu].balance.emitted)
			ret = grt_writer_row(r->writer, &r->counts->cpu[cpu]);
	grt_writer_table_end(r->writer);
	return ret;
}

/* A trace without any has no such table. */
static int write_counters(struct report *r)
{
	const struct grt_counter_row **rows;
	int ret;

	if (!r->counters.rows.used)
		return 0;
	if (grt_counters_list(&r->counters, &rows))
		return -ENOMEM;
	ret = grt_writer_list(r->writer, &grt_counter_table, grt_jobs_names(r->jobs), rows,
			      r->counters.rows.used);
	if (r->counters.over)
		note(&r->notes, "%" PRIu64 " values of counters are in no row: more than %u counters",
		     r->counters.over, GRT_COUNTERS_MAX);
	free(rows);
	return ret;
}

/* The same. */
static int write_aggregates(struct report *r)
{
	const struct grt_aggregate_row **rows;
	int ret;

	if (!r->aggregates.rows.used)
		return 0;
	if (grt_aggregates_list(&r->aggregates, &rows))
		return -ENOMEM;
	ret = grt_writer_list(r->writer, &grt_aggregate_table, grt_jobs_names(r->jobs), rows,
			      r->aggregates.rows.used);
	if (r->aggregates.over)
		note(&r->notes, "%" PRIu64 " AGGREGATE records are in no row: more than %u rings",
		     r->aggregates.over, GRT_AGGREGATES_MAX);
	free(rows);
	return ret;
}

static struct grt_group_view group_view(const struct report *r)
{
	return (struct grt_group_view){
		.names = grt_jobs_names(r->jobs),
		.span = r->span.known ? r->span.last - r->span.first : 0,
	};
}

struct group_order {
	const struct grt_column *sort;
	struct grt_group_view view;
};

/* Where nothing else decides: by number, as one would look it up. */
static int compare_identity(const struct grt_group *a, const struct grt_group *b)
{
	if (a->device != b->device)
		return a->device < b->device ? -1 : 1;
	if (a->ring != b->ring)
		return a->ring < b->ring ? -1 : 1;
	if (a->pid != b->pid)
		return a->pid < b->pid ? -1 : 1;
	return (a->engine > b->engine) - (a->engine < b->engine);
}

static int compare_groups(const void *a, const void *b, void *arg)
{
	const struct grt_group *x = *(const struct grt_group *const *)a;
	const struct grt_group *y = *(const struct grt_group *const *)b;
	const struct group_order *o = arg;
	struct grt_cell p, q;
	int order = 0;

	if (o->sort) {
		p = grt_column_get(o->sort, &o->view, x);
		q = grt_column_get(o->sort, &o->view, y);
		order = grt_cell_order(o->sort, &p, &q);
	}
	return order ?: compare_identity(x, y);
}

/* Processes begin with who used the device most; rings and engines have an order of their own. */
static const struct grt_column *group_sort(const struct report *r, enum grt_group_by by)
{
	if (r->group_sort && r->view->own == by)
		return r->group_sort;
	return by == GRT_BY_PROCESS ? grt_column_find(&grt_group_table[by], "exec_sum") : NULL;
}

static int write_groups(struct report *r, enum grt_group_by by)
{
	bool gpus = by == GRT_BY_RING && grt_names_gpus(grt_jobs_names(r->jobs));
	const struct grt_table *table = gpus ? &grt_gpus_ring_table : &grt_group_table[by];
	struct group_order order = {group_sort(r, by), group_view(r)};
	const struct grt_group **rows;
	uint64_t n = 0, shown;
	int ret;

	while (grt_groups_get(r->groups, by, (uint32_t)n))
		n++;
	rows = calloc(n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		rows[i] = grt_groups_get(r->groups, by, (uint32_t)i);
	qsort_r(rows, n, sizeof(*rows), compare_groups, &order);
	shown = topmost(n, r->view->own == by ? r->group_top : 0);
	ret = grt_writer_list(r->writer, table, &order.view, rows, shown);
	if (shown < n)
		note(&r->notes, "%" PRIu64 " more %s: --top 0 shows all", n - shown,
		     grt_group_table[by].name);
	free(rows);
	return ret;
}

static void note_joins(struct report *r, const struct grt_health *h)
{
	const struct grt_names *names = grt_jobs_names(r->jobs);

	reading_note_joins(&r->notes, r->jobs, r->view->types ? NULL : h);
	if (grt_groups_over(r->groups))
		note(&r->notes, "%" PRIu64 " jobs are in no row: more than %u rings or processes",
		     grt_groups_over(r->groups), GRT_GROUPS_MAX);
	if (names->dropped)
		note(&r->notes, "%" PRIu64 " NAME records dropped: more than %u names", names->dropped,
		     GRT_NAMES_MAX);
}

/* Jobs of these events are in no table but that of the aggregated rings. */
static void note_aggregates(struct report *r, const struct grt_health *h)
{
	uint64_t aggregated = h->balance.fate[GRT_FATE_AGGREGATED], told = r->aggregates.replaced;
	uint64_t whole = grt_jobs_count(r->jobs).replaced;

	/* What JOB records stand for is in the tables of jobs. */
	aggregated = aggregated > whole ? aggregated - whole : 0;
	if (told)
		note(&r->notes,
		     "%" PRIu64
		     " events are not in the trace one by one: AGGREGATE records stand for them, and "
		     "no other table has their jobs",
		     told);
	if (aggregated > told)
		note(&r->notes,
		     "what %" PRIu64
		     " aggregated events were is not known: their record is not here (lost, or of a job that took "
		     "less than was asked for)",
		     aggregated - told);
}

static void note_health(struct report *r, const struct grt_health *h)
{
	char first[GRT_UNITS_MAX], last[GRT_UNITS_MAX];

	grt_units_time(first, r->span.first);
	grt_units_time(last, r->span.last);
	if (r->live && r->span.known && report_streams(r))
		note(&r->notes, "read live from %s to %s", first, last);
	report_text_notes(&r->notes, h);
	reading_note_health(&r->notes, h, r->live ? NULL : &r->span, report_unread(r));
	if (r->narrowed)
		note(&r->notes, "the balance is that of the whole recording, not of --from and --to");
	if (r->counts && r->counts->far_packets)
		note(&r->notes, "%" PRIu64 " packets are of CPUs above %u, not shown by CPU",
		     r->counts->far_packets, GRT_COUNTS_CPUS - 1);
}

static void write_notes(struct report *r, const struct grt_health *h)
{
	note_joins(r, h);
	note_aggregates(r, h);
	note_health(r, h);
	/* A CSV file has no place for them. */
	for (unsigned int i = 0; r->csv && i < r->notes.n; i++)
		cmd_tell("report", r->notes.text[i]);
	notes_write(&r->notes, r->writer);
}

static const struct grt_writer_ops *chosen_writer(const struct report *r)
{
	return r->json ? &writer_json : r->csv ? &writer_csv : &writer_text;
}

static int begin_output(struct report *r)
{
	const struct grt_writer_options o = {
		.out = stdout,
		.verbose = r->verbose,
		.colour = !r->json && !r->csv && cmd_colour(),
	};
	int ret = grt_writer_new(&r->writer, chosen_writer(r), &o);

	if (ret)
		return ret;
	grt_writer_begin(r->writer);
	write_recording(r);
	return 0;
}

static void begin_jobs(struct report *r)
{
	snprintf(r->job_title, sizeof(r->job_title), "jobs by %s",
		 r->job_sort ? r->job_sort->name : "time of completion");
	r->job_table = grt_job_table;
	r->job_table.title = r->job_title;
	grt_writer_table(r->writer, &r->job_table, &r->job_view);
}

int report_begin(struct report *r)
{
	int ret = begin_output(r);

	if (!ret)
		begin_jobs(r);
	return ret;
}

static int write_job(void *arg, const struct grt_job *job)
{
	return grt_writer_row(((struct report *)arg)->writer, job);
}

static int write_top(struct report *r)
{
	int ret;

	begin_jobs(r);
	ret = grt_top_each(r->top, write_job, r);
	grt_writer_table_end(r->writer);
	return ret;
}

static void end_stream(struct report *r)
{
	grt_writer_table_end(r->writer);
	if (r->job_top && r->jobs_seen > r->job_top)
		note(&r->notes, "%" PRIu64 " more jobs: --top 0 shows all", r->jobs_seen - r->job_top);
}

/* CSV is one table: the one that was asked for. */
static int write_group_tables(struct report *r)
{
	static const enum grt_group_by order[] = {GRT_BY_PROCESS, GRT_BY_ENGINE, GRT_BY_RING};
	int ret = 0;

	for (unsigned int i = 0; i < GRT_BYS && !ret; i++)
		if ((r->view->groups & 1U << order[i]) && (!r->csv || r->view->own == order[i]))
			ret = write_groups(r, order[i]);
	return ret;
}

static int write_jobs_and_groups(struct report *r)
{
	int ret = 0;

	if (r->top && r->view->name)
		ret = write_top(r);
	if (!ret)
		ret = write_group_tables(r);
	if (!ret && r->top && !r->view->name)
		ret = write_top(r);
	return ret;
}

/* Jobs come first where they were asked for, and last in the summary. */
static int write_tables(struct report *r)
{
	bool no_jobs = has_no_jobs(r);
	int ret = no_jobs ? 0 : write_jobs_and_groups(r);

	note_elsewhere(r, !no_jobs);
	if (!ret && !r->view->name && !r->csv)
		ret = write_counters(r);
	if (!ret && (!r->view->name || r->view->own == GRT_BY_RING) && !r->csv)
		ret = write_aggregates(r);
	if (!ret && r->view->types)
		ret = write_types(r);
	if (!ret && r->view->tsgs)
		ret = write_tsgs(r);
	if (!ret && r->threads)
		ret = write_threads(r);
	if (!ret && r->launched && (r->view->name || !r->csv))
		ret = write_launched(r);
	if (!ret && r->launched)
		note_undefined(r);
	if (!ret && r->verbose && !r->csv)
		ret = write_cpus(r);
	if (!ret && !r->csv)
		ret = report_text_skipped(r->session, r->writer, &r->notes, r->json || r->verbose);
	return ret;
}

int report_print(struct report *r)
{
	const struct grt_health *h = grt_session_health(r->session);
	int ret = 0;

	if (report_streams(r))
		end_stream(r);
	else
		ret = begin_output(r);
	if (ret)
		return ret;
	ret = write_tables(r);
	write_notes(r, h);
	write_span(r);
	reading_health(r->writer, h);
	report_text_health(r->writer, h, r->json);
	if ((r->view->launched == GRT_LAUNCH_BYS && !r->view->threads) || (!r->view->name && !has_no_jobs(r)))
		reading_joins(r->writer, r->jobs, r->json);
	reading_balance(r->writer, h, report_unread(r), r->json);
	grt_writer_end(r->writer);
	grt_writer_free(r->writer);
	r->writer = NULL;
	return ret;
}
