// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of idle time, and the analysis. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/memfile.h"
#include "base/units.h"
#include "idle.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "trace/session.h"

/* --------------------------------------------------------- idle sentence */

/* Sentences about a device that a user should read first. */

/* Most reasons in a sentence, and the least share of the idle time of each except for the first, percent. */
#define REASONS_MAX 4U
#define REASON_LEAST 1U
/* From this share of the idle time on, a sentence says which source is missing, percent. */
#define CODE_LEAST 5U

static const char *const phrases[GRT_IDLE_CAUSES] = {
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) phrase,
#include "idle_causes.def"
};

/* From this share of the work on, a sentence says that stacks do not reach the program's entry, percent. */
#define ENDS_LEAST 5U

static void put_ns(FILE *out, uint64_t ns)
{
	char text[GRT_UNITS_MAX];

	grt_units_ns(text, ns);
	fputs(text, out);
}

/* Writes a share as tables do, but less than the whole is never 100 %. */
static void put_share(FILE *out, uint64_t part, uint64_t whole)
{
	uint64_t thousandths = grt_share_down(part, whole);
	char text[GRT_UNITS_MAX];

	grt_units_percent(text, part < whole && thousandths > 99900 ? 99900 : thousandths);
	fputs(text, out);
}

static void put_place(FILE *out, const struct grt_idleness_row *r)
{
	if (r->place && r->since)
		fprintf(out, "code between %s and %s", r->since, r->place);
	else if (r->place)
		fputs(r->place, out);
	else
		fprintf(out, "code of %s", r->process ? r->process : "an unknown process");
}

static void put_reason(FILE *out, const struct grt_idleness_device *d, const struct grt_idleness_row *r)
{
	for (const char *at = phrases[r->cause]; *at; at++) {
		if (*at == '%') {
			put_place(out, r);
		} else if (*at == '@') {
			if (r->process)
				fprintf(out, " of %s", r->process);
		} else if (!strcmp(at, "launch") && !d->cuda) {
			fputs("submit", out);
			break;
		} else {
			fputc(*at, out);
		}
	}
	if (r->set_up)
		fprintf(out, ": %s", r->set_up);
	if (r->call)
		fprintf(out, " (%s)", r->call);
	if (*r->waker_comm)
		fprintf(out, " (ended by %s)", r->waker_comm);
}

static bool is_shown(const struct grt_idleness_row *r, uint64_t idle, unsigned int shown)
{
	return r->ns && (!shown || (shown < REASONS_MAX && r->ns >= idle / 100 * REASON_LEAST));
}

static void put_reasons(FILE *out, const struct grt_idleness *x, const struct grt_idleness_device *d,
			uint64_t idle)
{
	const struct grt_idleness_row *const *row;
	uint32_t n = grt_idleness_rows(x, &row), rest = 0;
	unsigned int shown = 0;
	uint64_t left = idle;

	for (uint32_t i = 0; i < n; i++) {
		if (row[i]->device != d->number)
			continue;
		if (!is_shown(row[i], idle, shown)) {
			rest += row[i]->ns > 0;
			continue;
		}
		fputs(shown ? ", " : " ", out);
		put_ns(out, row[i]->ns);
		fputs(shown++ ? " " : " passed ", out);
		put_reason(out, d, row[i]);
		left -= row[i]->ns;
	}
	if (rest && left >= idle / 100 * REASON_LEAST) {
		fputs(", ", out);
		put_ns(out, left);
		fprintf(out, " for %u other reason%s (report --by idle)", rest, rest > 1 ? "s" : "");
	}
}

static void put_idle(FILE *out, const struct grt_idleness *x, const struct grt_idleness_device *d,
		     uint64_t idle)
{
	uint64_t code = d->cause[GRT_IDLE_CODE];

	fputs(" Of ", out);
	put_ns(out, idle);
	fputs(" idle,", out);
	put_reasons(out, x, d, idle);
	fputc('.', out);
	if (code && code >= idle / 100 * CODE_LEAST)
		fputs(" Record with -e sched to see what that code did.", out);
}

/* Writes how many stacks end too early, and why most of them do. */
static void put_ends(FILE *out, const struct grt_stack_ends *e)
{
	uint64_t ns = 0, all = grt_stack_ends_ns(e);
	unsigned int most = GRT_STACK_END_UNKNOWN;

	for (unsigned int i = 0; i < GRT_STACK_ENDS; i++) {
		if (i == GRT_STACK_END_ENTRY || i == GRT_STACK_END_UNKNOWN)
			continue;
		ns += e->end[i].ns;
		if (most == GRT_STACK_END_UNKNOWN || e->end[i].ns > e->end[most].ns)
			most = i;
	}
	if (!ns || ns < all / 100 * ENDS_LEAST)
		return;
	fputs(" The stacks of ", out);
	put_share(out, ns, all);
	fprintf(out,
		" of its work end before the program's entry, most of them for this reason: %s (report --by ends).",
		grt_stack_end_help(most));
}

static void idle_sentence_put(FILE *out, const struct grt_idleness *x, const struct grt_idleness_device *d)
{
	uint64_t idle = grt_idleness_ns(d), span = d->busy + idle;

	fprintf(out, "%s was busy ", d->name);
	if (d->least)
		fputs("at least ", out);
	put_share(out, d->busy, span);
	fputs(" of ", out);
	put_ns(out, span);
	fputc('.', out);
	if (d->sampled)
		fputs(" Jobs were sampled: its idle time is unknown.", out);
	else if (idle)
		put_idle(out, x, d, idle);
	put_ends(out, &d->ends);
}

char *grt_idleness_sentence(const struct grt_idleness *x, const struct grt_idleness_device *d)
{
	struct grt_memfile m;
	FILE *out = grt_memfile_open(&m);

	if (out)
		idle_sentence_put(out, x, d);
	return grt_memfile_close(&m, out, NULL);
}

/* ------------------------------------------------------------ idle table */

/* Most rows and sentences in the summary. */
#define SUMMARY_ROWS 10U

#define D(member) offsetof(struct grt_idleness_device, member)
#define R(member) offsetof(struct grt_idleness_row, member)

/** struct idle_analysis - the state; @ended: grt_idleness_end() was called */
struct idle_analysis {
	struct grt_idleness *idle;
	bool ended;
};

/**
 * struct idle_device_view - a device as a row
 * @sentence: for free()
 */
struct idle_device_view {
	const struct grt_idleness_device *device;
	char *sentence;
};

static const struct grt_idleness_device *device_of(const void *row)
{
	return ((const struct idle_device_view *)row)->device;
}

static void idle_table_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = device_of(row)->name;
}

static void idle_table_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = device_of(row)->cuda ? "cuda" : "drm";
}

/* The number of a CUDA device, or the ring. */
static void idle_table_get_id(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_idleness_device *d = device_of(row);

	cell->number = arg ? d->ring : d->gpu;
	cell->absent = d->cuda == arg;
}

static void idle_table_get_pid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = device_of(row)->pid;
	cell->absent = !device_of(row)->cuda || device_of(row)->processes > 1;
}

static void idle_table_get_uuid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = device_of(row)->uuid;
	cell->absent = !cell->text || !*cell->text;
}

static void idle_table_get_window(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_idleness_device *d = device_of(row);

	cell->number = d->last - d->first - d->left_out;
}

static void idle_table_get_busy(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_idleness_device *d = device_of(row);

	cell->number = arg ? grt_share_down(d->busy, d->last - d->first - d->left_out) : d->busy;
	cell->inferred = d->inferred;
	cell->estimated = d->least;
}

static void idle_table_get_idle(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = grt_idleness_ns(device_of(row));
}

static void idle_table_get_device_u64(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u64(cell, view, device_of(row), offset);
}

/* clang-format off */

static const struct grt_column device_columns[] = {
	{"device", idle_table_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "a ring, or a CUDA device"},
	{"kind", idle_table_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "drm: the device is a ring; cuda: it is a CUDA device"},
	{"ring", idle_table_get_id, 1, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "ring id"},
	{"gpu", idle_table_get_id, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "CUDA's number of the device in its process"},
	{"pid", idle_table_get_pid, 0, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "process id; none: several processes used the device"},
	{"uuid", idle_table_get_uuid, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "UUID of the GPU"},
	{"window", idle_table_get_window, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "busy and idle time together: the part of the trace in which the device was recorded, ns"},
	{"busy", idle_table_get_busy, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time in which at least one job, kernel or copy ran, ns"},
	{"busy_share", idle_table_get_busy, 1, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "busy time as a share of the window, percent"},
	{"idle", idle_table_get_idle, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time of the window in which nothing ran, ns"},
	{"work", idle_table_get_device_u64, D(work), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "jobs, or kernels and copies, in the window"},
	{"sampled", idle_table_get_device_u64, D(sampled), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "jobs that stand for several jobs (sampling): idle time is unknown"},
	{"untimed", idle_table_get_device_u64, D(untimed), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "jobs, kernels and copies whose time on the device is unknown"},
#define GRT_IDLE_CAUSE(NAME, name, colour, phrase, help) \
	{"idle_" #name, idle_table_get_device_u64, D(cause[GRT_IDLE_##NAME]), GRT_CELL_NS, GRT_COLUMN_MORE, help ", ns"},
#include "idle_causes.def"
	{"sentence", grt_cell_pointed, offsetof(struct idle_device_view, sentence), GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "the row as a sentence"},
	{.name = NULL},
};

/* clang-format on */

/* Rows are struct grt_idleness_device, the view is the struct grt_idleness. */
static const struct grt_table idle_device_table = {"idle_devices", "busy and idle time", device_columns,
						   GRT_MARK_INFERRED | GRT_MARK_ESTIMATED};

static const struct grt_idleness_device *idle_table_device(const void *view, const void *row)
{
	return grt_idleness_device(view, ((const struct grt_idleness_row *)row)->device);
}

static void idle_table_get_row_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = idle_table_device(view, row)->name;
}

static void idle_table_get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_idleness_cause_name(((const struct grt_idleness_row *)row)->cause);
}

static void idle_table_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_idleness_row *r = row;

	cell->number = arg ? grt_share_down(r->ns, grt_idleness_ns(idle_table_device(view, row))) : r->ns;
	cell->inferred = r->inferred;
}

/* clang-format off */

static const struct grt_column row_columns[] = {
	{"device", idle_table_get_row_device, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "a ring, or a CUDA device"},
	{"cause", idle_table_get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "why the device was idle; grtrace-report(1) explains the causes"},
	{"time", idle_table_get_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "idle time with this cause, ns"},
	{"share", idle_table_get_time, 1, GRT_CELL_PERCENT, GRT_COLUMN_ALL, "share of the device's idle time, percent"},
	{"parts", grt_cell_u64, R(parts), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of idle intervals with this cause"},
	{"max", grt_cell_u64, R(max), GRT_CELL_NS, GRT_COLUMN_ALL, "longest idle interval with this cause, ns"},
	{"place", grt_cell_pointed, R(place), GRT_CELL_TEXT, GRT_COLUMN_ALL, "line of the program's own code in which the submitter was, or from which it submitted next"},
	{"since", grt_cell_pointed, R(since), GRT_CELL_TEXT, GRT_COLUMN_ALL, "line of the submitter's previous call, if it is another: the submitter ran the code between both lines"},
	{"call", grt_cell_pointed, R(call), GRT_CELL_TEXT, GRT_COLUMN_ALL, "call of the driver in which the submitter was"},
	{"set_up", grt_cell_pointed, R(set_up), GRT_CELL_TEXT, GRT_COLUMN_MORE, "what that call set up"},
	{"waker", grt_cell_chars, R(waker_comm), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread that woke the submitter"},
	{"waker_tid", grt_cell_id, R(waker), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "thread id of the waker"},
	{"waker_pid", grt_cell_id, R(waker_pid), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "process id of the waker"},
	{"process", grt_cell_pointed, R(process), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the submitter's process"},
	{"pid", grt_cell_id, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "process id of the submitter"},
	{"function", grt_cell_pointed, R(function), GRT_CELL_TEXT, GRT_COLUMN_MORE, "function that contains the place"},
	{"stack", grt_cell_pointed, R(stack), GRT_CELL_TEXT, GRT_COLUMN_MORE, "stack of the place, outermost frame first"},
	{.name = NULL},
};

/* clang-format on */

/* Rows are struct grt_idleness_row, the view is the struct grt_idleness. */
static const struct grt_table idle_table = {"idle", "idle time by cause", row_columns, GRT_MARK_INFERRED};

/* --------------------------------------------------------------- analysis */

/* Events that would have shown a device busy. */
static uint64_t idle_table_missing(const struct grt_pass *pass)
{
	const struct grt_balance *b = &pass->health->balance;

	return b->fate[GRT_FATE_FILTERED] + b->fate[GRT_FATE_WATCH_DENIED] + b->fate[GRT_FATE_RATE_LIMITED] +
	       b->fate[GRT_FATE_UNHELD] + grt_health_lost(pass->health);
}

static int idle_table_end(struct idle_analysis *a, struct grt_pass *pass)
{
	int ret;

	if (a->ended)
		return 0;
	a->ended = true;
	if (pass->health && (idle_table_missing(pass) || pass->health->text.gaps))
		grt_idleness_lacks(a->idle);
	ret = grt_idleness_end(a->idle, pass->names, pass->known ? pass->last : 0);
	return ret || !pass->idle ? ret : pass->idle->end(pass->idle->arg, a->idle);
}

/* The device that was busy most comes first. */
static int idle_table_by_busy(const void *a, const void *b)
{
	const struct grt_idleness_device *x = ((const struct idle_device_view *)a)->device,
					 *y = ((const struct idle_device_view *)b)->device;

	return grt_compare(y->busy, x->busy) ?: grt_compare(x->number, y->number);
}

/* Return: the rows, which the caller frees, in *out; their number, or -ENOMEM */
static int64_t idle_table_devices(const struct grt_idleness *x, struct idle_device_view **out)
{
	uint32_t n = 0;
	bool failed = false;

	while (grt_idleness_device(x, n))
		n++;
	*out = calloc((size_t)n + 1, sizeof(**out));
	if (!*out)
		return -ENOMEM;
	for (uint32_t i = 0; i < n; i++) {
		(*out)[i].device = grt_idleness_device(x, i);
		(*out)[i].sentence = grt_idleness_sentence(x, (*out)[i].device);
		failed |= !(*out)[i].sentence;
	}
	qsort(*out, n, sizeof(**out), idle_table_by_busy);
	return failed ? -ENOMEM : (int64_t)n;
}

static void idle_table_free_devices(struct idle_device_view *device)
{
	for (uint32_t i = 0; device && device[i].device; i++)
		free(device[i].sentence);
	free(device);
}

static void note_idle(const struct grt_idleness *x, struct grt_pass *pass)
{
	struct grt_idleness_count n = grt_idleness_count(x);
	uint64_t missing = grt_idleness_device(x, 0) ? idle_table_missing(pass) : 0;

	if (missing)
		grt_note(pass->notes,
			 "idle time: %" PRIu64 " {event is|events are} not in the trace: it may be too high",
			 missing);

	if (n.chosen)
		grt_note(
			pass->notes,
			"idle time covers only the recorded random windows: it is not scaled up, and work that was launched "
			"before a window is missing in it");
	if (n.late)
		grt_note(pass->notes,
			 "idle time: %" PRIu64
			 " {job or record|jobs and records} came late: it may be too high",
			 n.late);
	if (n.unplaced)
		grt_note(pass->notes,
			 "idle time: %" PRIu64 " {interval has|intervals have} no place (limit of %u rows)",
			 n.unplaced, GRT_IDLE_ROWS_MAX);
	if (n.over)
		grt_note(pass->notes,
			 "idle time: %" PRIu64
			 " {job or record|jobs and records} ignored (limit of %u devices)",
			 n.over, GRT_IDLE_DEVICES_MAX);
	if (n.threads_over)
		grt_note(pass->notes,
			 "idle time: %" PRIu64 " {record|records} of threads ignored (limit of threads)",
			 n.threads_over);
}

/* Writes sentences for people; tables have the numbers for programs. */
static void write_sentences(struct grt_pass *pass, const struct idle_device_view *device, uint64_t n)
{
	const char *text[SUMMARY_ROWS];
	uint64_t shown = 0;

	for (; shown < n && shown < SUMMARY_ROWS; shown++)
		text[shown] = device[shown].sentence;
	if (shown)
		grt_writer_notes(pass->writer, text, (unsigned int)shown);
}

static int write_rows(struct idle_analysis *a, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_idleness_row *const *list;
	uint64_t n = grt_idleness_rows(a->idle, &list), shown = grt_pass_shown(pass, part, n);
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	const struct grt_idleness_row **row = calloc((size_t)n + 1, sizeof(*row));
	int ret;

	if (!row)
		return -ENOMEM;
	memcpy(row, list, n * sizeof(*row));
	if (sort)
		grt_rows_sort(row, n, sort, a->idle, NULL);
	ret = grt_writer_list(pass->writer, &idle_table, a->idle, row, shown);
	free(row);
	if (n > shown)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", n - shown);
	return ret;
}

static int write_devices(struct idle_analysis *a, const struct grt_part *part, struct grt_pass *pass,
			 struct idle_device_view *device, uint64_t n)
{
	if (!n && pass->asked == part)
		grt_note(
			pass->notes,
			"no device had work: record jobs or CUDA launches, such as with grtrace record -e drm,sched");
	return grt_writer_rows(pass->writer, &idle_device_table, a->idle, device, sizeof(*device), n);
}

/* The summary has it in words. */
static int write_idle(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct idle_analysis *a = state;
	struct idle_device_view *device = NULL;
	int64_t n = idle_table_end(a, pass) ?: idle_table_devices(a->idle, &device);
	int ret = n < 0 ? (int)n : 0;

	if (!ret && pass->summary && !pass->json)
		write_sentences(pass, device, (uint64_t)n);
	if (!ret && !pass->csv && (!pass->summary || pass->json))
		ret = write_devices(a, part, pass, device, (uint64_t)n);
	if (!ret && (!pass->summary || pass->json))
		ret = write_rows(a, part, pass);
	if (!ret)
		note_idle(a->idle, pass);
	idle_table_free_devices(device);
	return ret;
}

static int begin_idle(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct grt_idleness_options options = {0};

	if (pass->idle)
		options = (struct grt_idleness_options){.part = pass->idle->part, .arg = pass->idle->arg};
	return grt_idleness_new(&((struct idle_analysis *)*state)->idle, pass->launches, &options);
}

static void idle_table_span(void *state, uint64_t first, uint64_t last)
{
	grt_idleness_within(((struct idle_analysis *)state)->idle, first, last);
}

static int idle_table_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_idleness_event(((struct idle_analysis *)state)->idle, e);
}

static int idle_table_work(void *state, const struct grt_event *e, const struct grt_image *image,
			   const struct grt_launch *launch, enum grt_launched_how how)
{
	return grt_idleness_work(((struct idle_analysis *)state)->idle, e, image, launch, how);
}

static int idle_table_read(void *state)
{
	return grt_idleness_read(((struct idle_analysis *)state)->idle);
}

static int idle_table_job(void *state, const struct grt_job *job)
{
	return grt_idleness_job(((struct idle_analysis *)state)->idle, job);
}

static bool any_idle(const void *state)
{
	return grt_idleness_device(((const struct idle_analysis *)state)->idle, 0);
}

static void free_idle(void *state)
{
	grt_idleness_free(((struct idle_analysis *)state)->idle);
}

static const struct grt_part idle_parts[] = {
	{"idle", "when GPUs were idle, and why",
	 GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_FIRST | GRT_PART_NO_JOBS | GRT_PART_TABLES |
		 GRT_PART_ROLLUP,
	 0, &idle_table, .tables = GRT_TABLES(&idle_device_table), .any = any_idle, .write = write_idle},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_idle = {
	.name = "idle",
	.classes = GRT_IN_CLASS(job) | GRT_IN_CLASS(call) | GRT_IN_CLASS(thread) | GRT_IN_CLASS(stack) |
		   GRT_IN_CLASS(image) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(name) | GRT_IN_CLASS(window),
	.besides = GRT_IN_CLASS(call) | GRT_IN_CLASS(thread),
	.beyond = true,
	.late = true,
	.whole = true,
	.waits = true,
	.parts = idle_parts,
	.size = sizeof(struct idle_analysis),
	.begin = begin_idle,
	.span = idle_table_span,
	.event = idle_table_event,
	.job = idle_table_job,
	.work = idle_table_work,
	.outside = true,
	.read = idle_table_read,
	.free = free_idle,
};
