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
#include "writers/units.h"

static void __attribute__((format(printf, 2, 3))) note(struct report *r, const char *fmt, ...)
{
	va_list ap;

	if (r->notes == REPORT_NOTES)
		return;
	va_start(ap, fmt);
	vsnprintf(r->note[r->notes++], sizeof(r->note[0]), fmt, ap);
	va_end(ap);
}

#define FIELDS_MAX 40

struct fields {
	struct grt_field_value f[FIELDS_MAX];
	unsigned int n;
};

static void add_field(struct fields *f, const char *name, enum grt_cell_kind kind, struct grt_cell cell,
		      const char *text)
{
	if (f->n < FIELDS_MAX - 1)
		f->f[f->n++] = (struct grt_field_value){name, kind, cell, text};
}

static void add_number(struct fields *f, const char *name, uint64_t number, const char *text)
{
	add_field(f, name, GRT_CELL_NUMBER, (struct grt_cell){.number = number}, text);
}

/* Machines want every key; people only what happened. */
static void add_event_count(const struct report *r, struct fields *f, const char *name, uint64_t number,
			    const char *text)
{
	if (number || r->json)
		add_number(f, name, number, text);
}

static void write_fields(struct report *r, struct fields *f, const char *name, const char *title)
{
	f->f[f->n].name = NULL;
	grt_writer_fields(r->writer, name, title, f->f);
}

static void add_time(struct report *r, struct fields *f, const char *name, enum grt_cell_kind kind,
		     uint64_t ns)
{
	add_field(f, name, kind, (struct grt_cell){.number = ns, .absent = !r->spanned}, NULL);
}

static void write_recording(struct report *r)
{
	static const char *const env[][2] = {
		{"host", "hostname"},	    {"kernel", "kernel"},	   {"command", "command"},
		{"module", "kmod_version"}, {"adapters", "kmod_adapters"}, {"settings", "kmod_settings"},
	};
	struct fields f = {.n = 0};
	const char *value;

	add_field(&f, "path", GRT_CELL_TEXT, (struct grt_cell){.text = r->input}, NULL);
	for (unsigned int i = 0; i < sizeof(env) / sizeof(env[0]); i++) {
		value = grt_session_env(r->session, env[i][1]);
		if (value && *value)
			add_field(&f, env[i][0], GRT_CELL_TEXT, (struct grt_cell){.text = value}, NULL);
	}
	add_time(r, &f, "from", GRT_CELL_TIME, r->first);
	add_time(r, &f, "to", GRT_CELL_TIME, r->last);
	add_time(r, &f, "span", GRT_CELL_NS, r->last - r->first);
	write_fields(r, &f, "recording", "recording");
}

/* Behind the tables, since a live one is known at its end only. */
static void write_span(struct report *r)
{
	struct fields f = {.n = 0};

	add_time(r, &f, "span_ns", GRT_CELL_NS, r->last - r->first);
	write_fields(r, &f, NULL, NULL);
}

/* A packet's balance is known when its first event is read; live, its last ones may come after the end. */
static uint64_t unread(const struct report *r, const struct grt_health *h)
{
	uint64_t delivered = h->balance.fate[GRT_FATE_DELIVERED];

	return r->live && delivered > h->events ? delivered - h->events : 0;
}

bool report_balance_closes(const struct report *r, const struct grt_health *h)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += h->balance.fate[i];
	return sum == h->balance.emitted && h->balance.fate[GRT_FATE_DELIVERED] == h->events + unread(r, h);
}

static void write_balance(struct report *r, const struct grt_health *h)
{
	struct fields f = {.n = 0};

	add_number(&f, "emitted", h->balance.emitted, "events offered to the trace");
#define GRT_FATE(NAME, name, help) add_number(&f, #name, h->balance.fate[GRT_FATE_##NAME], help);
#include <grtrace/fates.def>
#undef GRT_FATE
	add_number(&f, "read", h->events, "events read here, NAME records too");
	add_event_count(r, &f, "unread", unread(r, h), "in packets that were begun, later than the end");
	add_event_count(r, &f, "missing", h->missing_events, "delivered, but in packets that are not here");
	add_event_count(r, &f, "unknown", h->unknown, "of types that this version does not know");
	add_field(&f, "closes", GRT_CELL_BOOL, (struct grt_cell){.number = report_balance_closes(r, h)},
		  NULL);
	write_fields(r, &f, "balance", "balance");
}

static void write_joins(struct report *r)
{
	const struct grt_jobs_count count = grt_jobs_count(r->jobs), *c = &count;
	struct fields f = {.n = 0};

	add_number(&f, "joined", c->jobs, "jobs in the trace");
	add_number(&f, "incomplete", c->incomplete, "begun before the trace or not complete at its end");
	add_event_count(r, &f, "no_submit", c->no_submit, "of these, without SUBMIT");
	add_event_count(r, &f, "no_complete", c->no_complete, "of these, without COMPLETE");
	add_event_count(r, &f, "no_end", c->no_end, "complete, but without END: no t_exec");
	add_event_count(r, &f, "evicted", c->evicted, "of these, because too many were in flight");
	add_event_count(r, &f, "inferred_start", c->inferred_start, "START concluded from the ring's order");
	add_event_count(r, &f, "unordered_start", c->unordered_start,
			"START not known: no t_queue, no t_exec");
	add_event_count(r, &f, "disordered", c->disordered, "phases that end before they begin, not counted");
	add_event_count(r, &f, "reused", c->reused, "SUBMIT of an identity that was in use");
	add_event_count(r, &f, "repeated", c->repeated, "events that a job had already");
	add_event_count(r, &f, "late", c->late, "events that came long after their job's COMPLETE");
	add_event_count(r, &f, "no_identity", c->no_identity, "events of no job");
	add_number(&f, "waits", c->waits, "joined to a job");
	add_number(&f, "unjoined_waits", c->unjoined_waits, "for a fence of no job of the trace");
	if (c->unjoined_waits || r->json)
		add_field(&f, "unjoined_wait_ns", GRT_CELL_NS,
			  (struct grt_cell){.number = c->unjoined_wait_ns}, "their time");
	add_event_count(r, &f, "half_waits", c->half_waits, "begin or end is not in the trace");
	add_number(&f, "commands", c->commands, "commands without a fence: not jobs");
	add_event_count(r, &f, "errors", c->errors, "errors that belong to no job");
	write_fields(r, &f, "joins", "jobs and waits");
}

static void write_health(struct report *r, const struct grt_health *h)
{
	struct fields f = {.n = 0};

	add_field(&f, "finished", GRT_CELL_BOOL, (struct grt_cell){.number = h->finished}, NULL);
	add_number(&f, "events", h->events, NULL);
	add_number(&f, "packets", h->packets, NULL);
	add_number(&f, "bytes", h->bytes, NULL);
	add_number(&f, "skipped_bytes", h->skipped_bytes, NULL);
	add_number(&f, "missing_events", h->missing_events, NULL);
	add_number(&f, "unknown", h->unknown, NULL);
	add_number(&f, "cut", h->fault[GRT_FAULT_CUT], NULL);
	add_number(&f, "bad_packets", h->fault[GRT_FAULT_PACKET], NULL);
	add_number(&f, "bad_records", h->fault[GRT_FAULT_RECORD], NULL);
	add_number(&f, "gaps", h->fault[GRT_FAULT_GAP], NULL);
	add_number(&f, "time_back", h->fault[GRT_FAULT_TIME], NULL);
	add_field(&f, "first_fault", GRT_CELL_TEXT,
		  (struct grt_cell){.text = h->first.what, .absent = !h->first.what[0]}, NULL);
	write_fields(r, &f, "health", NULL);
}

static int compare_types(const void *a, const void *b, void *sort)
{
	struct grt_cell x = grt_column_get(sort, NULL, a), y = grt_column_get(sort, NULL, b);

	return grt_cell_order(sort, &x, &y);
}

static int write_types(struct report *r)
{
	struct grt_type_count row[GRT_EV_MAX];
	unsigned int n = 0;
	int ret = 0;

	for (unsigned int type = 0; type < GRT_EV_MAX; type++)
		if (r->counts->type[type].events)
			row[n++] = r->counts->type[type];
	if (r->group_sort)
		qsort_r(row, n, sizeof(row[0]), compare_types, (void *)r->group_sort);
	grt_writer_table(r->writer, &grt_type_table, NULL);
	for (unsigned int i = 0; i < n && !ret && (!r->group_top || i < r->group_top); i++)
		ret = grt_writer_row(r->writer, &row[i]);
	grt_writer_table_end(r->writer);
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

static struct grt_group_view group_view(const struct report *r)
{
	return (struct grt_group_view){
		.names = grt_jobs_names(r->jobs),
		.span = r->spanned ? r->last - r->first : 0,
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
	struct group_order order = {group_sort(r, by), group_view(r)};
	uint64_t n = 0, top = r->view->own == by ? r->group_top : 0;
	const struct grt_group **rows;
	int ret = 0;

	while (grt_groups_get(r->groups, by, (uint32_t)n))
		n++;
	rows = calloc(n + 1, sizeof(*rows));
	if (!rows)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		rows[i] = grt_groups_get(r->groups, by, (uint32_t)i);
	qsort_r(rows, n, sizeof(*rows), compare_groups, &order);
	grt_writer_table(r->writer, &grt_group_table[by], &order.view);
	for (uint64_t i = 0; i < n && !ret && (!top || i < top); i++)
		ret = grt_writer_row(r->writer, rows[i]);
	grt_writer_table_end(r->writer);
	if (top && n > top)
		note(r, "%" PRIu64 " more %s: --top 0 shows all", n - top, grt_group_table[by].name);
	free(rows);
	return ret;
}

/* What may be missing from the order of a ring's jobs; what a level leaves out never belongs to it. */
static uint64_t not_recorded(const struct grt_health *h)
{
	static const enum grt_fate fates[] = {GRT_FATE_FILTERED,    GRT_FATE_WATCH_DENIED,
					      GRT_FATE_SAMPLED_OUT, GRT_FATE_RATE_LIMITED,
					      GRT_FATE_AGGREGATED,  GRT_FATE_LOST};
	uint64_t sum = h->missing_events;

	for (unsigned int i = 0; i < sizeof(fates) / sizeof(fates[0]); i++)
		sum += h->balance.fate[fates[i]];
	return sum;
}

static void note_joins(struct report *r, const struct grt_health *h)
{
	const struct grt_jobs_count count = grt_jobs_count(r->jobs), *c = &count;
	const struct grt_names *names = grt_jobs_names(r->jobs);

	if (c->sample_min && c->sample_min == c->sample_max)
		note(r, "sampled at %u %%: counts are estimates", c->sample_min);
	else if (c->sample_min)
		note(r, "sampled at %u to %u %%: counts are estimates", c->sample_min, c->sample_max);
	if (c->inferred_start && !r->view->types && not_recorded(h))
		note(r,
		     "inferred times take the jobs of the trace for all jobs of their ring, but %" PRIu64
		     " events are not in it",
		     not_recorded(h));
	if (c->unordered_start)
		note(r, "%" PRIu64 " jobs have no START, and it can be inferred only from all jobs of a ring",
		     c->unordered_start);
	if (grt_groups_over(r->groups))
		note(r, "%" PRIu64 " jobs are in no row: more than %u rings or processes",
		     grt_groups_over(r->groups), GRT_GROUPS_MAX);
	if (names->dropped)
		note(r, "%" PRIu64 " NAME records dropped: more than %u names", names->dropped,
		     GRT_NAMES_MAX);
}

static void note_health(struct report *r, const struct grt_health *h)
{
	char first[GRT_UNITS_MAX], last[GRT_UNITS_MAX];

	grt_units_time(first, r->first);
	grt_units_time(last, r->last);
	if (r->live && r->spanned && report_streams(r))
		note(r, "read live from %s to %s", first, last);
	if (!h->finished && !r->live)
		note(r, "not closed by its recorder: events after %s may be missing",
		     r->spanned ? last : "the start");
	if (h->missing_events)
		note(r, "%" PRIu64 " events are missing: they were delivered, but their packets are not here",
		     h->missing_events);
	if (!report_balance_closes(r, h))
		note(r,
		     "THE BALANCE DOES NOT CLOSE: emitted is not the sum of fates, or delivered is not read");
	if (r->narrowed)
		note(r, "the balance is that of the whole recording, not of --from and --to");
	if (r->counts && r->counts->far_packets)
		note(r, "%" PRIu64 " packets are of CPUs above %u, not shown by CPU", r->counts->far_packets,
		     GRT_COUNTS_CPUS - 1);
}

static void write_notes(struct report *r, const struct grt_health *h)
{
	const char *lines[REPORT_NOTES];

	note_joins(r, h);
	note_health(r, h);
	for (unsigned int i = 0; i < r->notes; i++) {
		lines[i] = r->note[i];
		/* A CSV file has no place for them. */
		if (r->csv)
			fprintf(stderr, "grtrace report: %s\n", lines[i]);
	}
	grt_writer_notes(r->writer, lines, r->notes);
	r->notes = 0;
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
		note(r, "%" PRIu64 " more jobs: --top 0 shows all", r->jobs_seen - r->job_top);
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

/* Jobs come first where they were asked for, and last in the summary. */
static int write_tables(struct report *r)
{
	int ret = 0;

	if (r->top && r->view->name)
		ret = write_top(r);
	if (!ret)
		ret = write_group_tables(r);
	if (!ret && r->top && !r->view->name)
		ret = write_top(r);
	if (!ret && r->view->types)
		ret = write_types(r);
	if (!ret && r->verbose && !r->csv)
		ret = write_cpus(r);
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
	write_health(r, h);
	write_joins(r);
	write_balance(r, h);
	grt_writer_end(r->writer);
	grt_writer_free(r->writer);
	r->writer = NULL;
	return ret;
}
