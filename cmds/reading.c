// SPDX-License-Identifier: GPL-2.0
/* Code for commands that read a whole trace, see reading.h. */
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/units.h"
#include "cmd.h"
#include "table/cells.h"
#include "host/known_gpus.h"
#include "trace/session.h"

/* ---------------------------------------------------------------- filter */

/* The filters of commands that read. */

static int filter_refuse(const struct filter *x, unsigned int refused, const char *why)
{
	const struct {
		unsigned int filter;
		bool given;
		const char *name;
	} all[] = {
		{FILTER_TIME, x->from.set, "from"},   {FILTER_TIME, x->to.set, "to"},
		{FILTER_PID, x->pid, "pid"},	      {FILTER_COMM, x->comm, "comm"},
		{FILTER_RING, x->ring, "ring"},	      {FILTER_DEVICE, x->gpu, "device"},
		{FILTER_TYPE, x->type_names, "type"},
	};

	for (size_t i = 0; i < sizeof(all) / sizeof(all[0]); i++)
		if (all[i].given && refused & all[i].filter)
			return cmd_usage_error("--%s: %s", all[i].name, why);
	return EXIT_DONE;
}

static int check_ring(const char *ring)
{
	if (!ring || ring[strspn(ring, "0123456789")] || strtoull(ring, NULL, 10) <= UINT32_MAX)
		return EXIT_DONE;
	return cmd_usage_error("--ring %s: out of range, ring ids are at most 4294967295", ring);
}

int filter_check(struct filter *x, unsigned int refused, const char *why)
{
	int status = filter_refuse(x, refused, why);

	if (status == EXIT_DONE)
		status = check_ring(x->ring);
	if (status == EXIT_DONE && x->type_names)
		status = cmd_event_types(x->type_names, &x->f.types);
	x->f.by_type = x->type_names;
	x->f.pid = (uint32_t)x->pid;
	x->f.comm = x->comm;
	x->f.ring = x->ring;
	return status;
}

int filter_session(struct filter *x, struct grt_session *s, bool live)
{
	if (grt_filter_any(&x->f) || (x->gpu && (x->f.joins || x->f.whole)))
		grt_session_filter(s, &x->f);
	return reading_gpu(s, x->gpu, live);
}

/* "gfx (0), sdma0 (1)" */
static void filter_put_seen(const struct filter *x, FILE *out)
{
	for (uint32_t i = 0; i < x->f.seens; i++) {
		const char *name = grt_filter_named(&x->f, &x->f.seen[i]);

		fputs(i ? ", " : "", out);
		cmd_put_text(out, name ?: x->ring ? "ring" : "pid");
		fprintf(out, name ? " (%u)" : " %u", x->f.seen[i].id);
	}
	if (x->f.more)
		fputs(" and more", out);
}

int filter_found(const struct filter *x, const char *input)
{
	const char *const what = x->ring ? "ring" : "process";
	char *seen = NULL, pid[32] = "", fix[300];
	size_t length;
	FILE *out;

	if ((!x->pid && !x->comm && !x->ring) || x->f.found)
		return EXIT_DONE;
	out = open_memstream(&seen, &length);
	if (out) {
		filter_put_seen(x, out);
		fclose(out);
	}
	if (x->pid)
		snprintf(pid, sizeof(pid), " --pid %" PRIu64, x->pid);
	snprintf(fix, sizeof(fix), "grtrace report --by %s %s", what,
		 input && strlen(input) < sizeof(fix) / 2 ? input : "PATH");
	cmd_fail(EXIT_FAILED, NULL, fix, "%s:%s%s%s%s%s: the trace has no such %s%s%s", input, pid,
		 x->comm ? " --comm " : "", x->comm ?: "", x->ring ? " --ring " : "", x->ring ?: "", what,
		 seen && *seen ? "; it has " : "", seen ?: "");
	free(seen);
	return EXIT_FAILED;
}

void filter_free(struct filter *x)
{
	grt_filter_free(&x->f);
}

/* --------------------------------------------------------------- reading */

/* If a machine has more GPUs, some have no device files here. */
#define GPUS_TEXT 4096

static int no_span(int code)
{
	if (code == -ESPIPE)
		return cmd_usage_error(
			"--from and --to with + or - need a file: the begin and end of a pipe are "
			"unknown until it has been read");
	return cmd_usage_error(
		"--from and --to with + or -: the trace has no event with a time to count from");
}

int reading_span(struct grt_session *s, const struct opt_time *opt_from, const struct opt_time *opt_to,
		 struct reading_span *out)
{
	uint64_t first = 0, last = UINT64_MAX, from, to;
	int code = grt_session_span(s, &first, &last);

	out->known = !code;
	if (code && (opt_from->rel || opt_to->rel))
		return no_span(code);
	from = cmd_time(opt_from, first, last, first);
	to = cmd_time(opt_to, first, last, last);
	/* an end that was not given is no mistake of order */
	if (from > to && opt_from->set && opt_to->set)
		return cmd_usage_error("--from is after --to");
	if (out->known && (from > last || to < first))
		return cmd_usage_error("no event is between --from and --to: the trace goes from %" PRIu64
				       ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64,
				       first / NS_PER_S, first % NS_PER_S, last / NS_PER_S, last % NS_PER_S);
	out->first = from > first ? from : first;
	out->last = to < last ? to : last;
	return EXIT_DONE;
}

int reading_merge_span(struct grt_merge *m, const struct opt_time *from, const struct opt_time *to,
		       uint64_t *begin, uint64_t *end)
{
	uint64_t first = 0, last = 0;
	int ret = grt_merge_span(m, &first, &last);

	if (ret == -ESPIPE && (from->rel || to->rel))
		return cmd_usage_error("--from and --to relative to the start or end need files, not pipes");
	*begin = cmd_time(from, first, last, 0);
	*end = cmd_time(to, first, last, UINT64_MAX);
	if (*begin > *end)
		return cmd_usage_error("--from is after --to");
	if (!ret && (*begin > last || *end < first))
		return cmd_usage_error("no event is between --from and --to: the inputs go from %" PRIu64
				       ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64,
				       first / NS_PER_S, first % NS_PER_S, last / NS_PER_S, last % NS_PER_S);
	return EXIT_DONE;
}

void reading_recording(struct grt_fields *f, struct grt_session *s, const char *input)
{
	static const char *const env[][2] = {
		{"host", "hostname"},	       {"kernel", "kernel"},
		{"command", "command"},	       {"duty", "duty"},
		{"duty", "cuda_duty"},	       {"module", "kmod_version"},
		{"adapters", "kmod_adapters"}, {"settings", "kmod_settings"},
	};
	const char *value;

	grt_field_add(f, "path", GRT_CELL_TEXT, (struct grt_cell){.text = input}, NULL);
	for (unsigned int i = 0; i < sizeof(env) / sizeof(env[0]); i++) {
		value = grt_session_env(s, env[i][1]);
		if (value && *value)
			grt_field_add(f, env[i][0], GRT_CELL_TEXT, (struct grt_cell){.text = value}, NULL);
	}
}

void reading_span_fields(struct grt_fields *f, const struct reading_span *span)
{
	struct grt_cell cell = {.number = span->first, .absent = !span->known};

	grt_field_add(f, "from", GRT_CELL_TIME, cell, NULL);
	cell.number = span->last;
	grt_field_add(f, "to", GRT_CELL_TIME, cell, NULL);
	cell.number = span->last - span->first;
	grt_field_add(f, "span", GRT_CELL_NS, cell, NULL);
}

bool reading_adds_up(const struct grt_health *h, uint64_t unread)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += h->balance.fate[i];
	return sum == h->balance.emitted && h->balance.fate[GRT_FATE_DELIVERED] == h->events + unread &&
	       !h->missing_events;
}

/* Where events may have been that nothing counts. A time that goes back is no such place. */
static uint64_t damaged_places(const struct grt_health *h)
{
	return h->fault[GRT_FAULT_CUT] + h->fault[GRT_FAULT_PACKET] + h->fault[GRT_FAULT_RECORD];
}

/* Whether every event is accounted for: it adds up, and the files have no damage. */
static bool reading_closes(const struct grt_health *h, uint64_t unread)
{
	return reading_adds_up(h, unread) && !damaged_places(h) && !h->fault[GRT_FAULT_GAP];
}

/**
 * struct balance - the fates of events
 * @accounted: in words
 */
struct balance {
	uint64_t emitted;
	uint64_t unread;
	bool closes;
	const char *accounted;
	struct grt_health h;
};

/* The columns are empty unless one GPU was requested. */
static void get_of_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct balance *b = row;

	cell->number = arg ? b->h.of_no_gpu : b->h.of_others;
	cell->absent = !b->h.of_others && !b->h.of_no_gpu;
}

static void get_left_out(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct balance *b = row;

	*cell = (struct grt_cell){.number = b->h.left_out, .absent = !b->h.left_out};
}

static void get_closes(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct balance *b = row;

	*cell = (struct grt_cell){.text = b->accounted, .number = b->closes, .absent = b->h.text.form};
}

#define NONZERO (GRT_COLUMN_ALL | GRT_COLUMN_NONZERO)
#define OF(struct_name, name, member, where, help)                                                     \
	{                                                                                              \
		name, grt_cell_u64, offsetof(struct struct_name, member), GRT_CELL_NUMBER, where, help \
	}
#define BALANCE(name, member, where, help) OF(balance, name, member, where, help)
/* A cause that dropped nothing is not shown, but the number of lost events always is. */
#define FATE_WHERE(fate) ((fate) == GRT_FATE_DELIVERED || (fate) == GRT_FATE_LOST ? GRT_COLUMN_ALL : NONZERO)

/* clang-format off */
static const struct grt_column balance_columns[] = {
	BALANCE("emitted", emitted, GRT_COLUMN_ALL, "events that the sources made"),
#define GRT_FATE(NAME, name, help) BALANCE(#name, h.balance.fate[GRT_FATE_##NAME], FATE_WHERE(GRT_FATE_##NAME), help),
#include <grtrace/fates.def>
#undef GRT_FATE
	BALANCE("before_start", h.before_start, NONZERO, "dropped: earlier than the start of the last source"),
	BALANCE("after_end", h.after_end, NONZERO, "dropped: later than the end of the recording"),
	BALANCE("deleted", h.deleted, NONZERO, "deleted by --max-size, --max-time or --last: the oldest events"),
	BALANCE("deleted_segments", h.deleted_segments, NONZERO, "segments that were deleted with them"),
	BALANCE("unwritten", h.unwritten_events, NONZERO,
		"missing: the traced program counted them, and its files lack them (full disk, limit, files cut)"),
	BALANCE("read", h.events, GRT_COLUMN_ALL, "events read by this command, including NAME records"),
	{"of_others", get_of_gpu, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_OPTIONAL,
	 "read, but of a GPU other than that of --device"},
	{"of_no_gpu", get_of_gpu, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_OPTIONAL,
	 "read, but their GPU is not in the trace"},
	{"left_out", get_left_out, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_OPTIONAL,
	 "read, but left out by --pid, --comm, --ring or --type"},
	BALANCE("unread", unread, NONZERO, "events in open packets, after the end"),
	BALANCE("missing", h.missing_events, NONZERO, "delivered events whose packets are not in the recording"),
	BALANCE("unknown", h.unknown, NONZERO, "of types unknown to this version"),
	{"closes", get_closes, 0, GRT_CELL_BOOL, GRT_COLUMN_MACHINE, "whether every event is accounted for"},
	{"accounted", get_closes, 0, GRT_CELL_BOOL, GRT_COLUMN_BRIEF, NULL},
	{.name = NULL},
};

#define JOINS(name, member, where, help) OF(grt_jobs_count, name, member, where, help)
static const struct grt_column join_columns[] = {
	JOINS("joined", jobs, GRT_COLUMN_ALL, "jobs with SUBMIT and COMPLETE in the trace"),
	JOINS("incomplete", incomplete, GRT_COLUMN_ALL,
	      "jobs that began before the trace or were not complete at its end"),
	JOINS("no_submit", no_submit, NONZERO, "incomplete jobs without SUBMIT"),
	JOINS("no_complete", no_complete, NONZERO, "incomplete jobs without COMPLETE"),
	JOINS("no_end", no_end, NONZERO, "complete jobs without END: their t_exec is unknown"),
	JOINS("evicted", evicted, NONZERO, "incomplete jobs that were dropped because too many were in flight"),
	JOINS("inferred_start", inferred_start, NONZERO, "jobs whose START is inferred from the order of the ring's jobs"),
	JOINS("unordered_start", unordered_start, NONZERO, "jobs whose START is unknown: t_queue and t_exec, too"),
	JOINS("firmware_start", firmware_start, NONZERO,
	      "jobs whose START is unknown, because firmware schedules them: t_queue and t_exec, too"),
	JOINS("disordered", disordered, NONZERO, "phases that end before they begin; not counted"),
	JOINS("reused", reused, NONZERO, "SUBMITs with the (context, seqno) of another job in flight"),
	JOINS("repeated", repeated, NONZERO, "further events of a type that the job had already"),
	JOINS("duplicates", duplicates, NONZERO, "events of jobs that another source recorded, too"),
	JOINS("late", late, NONZERO, "events that came long after the COMPLETE of their job"),
	JOINS("no_identity", no_identity, NONZERO, "events without the identity of a job"),
	JOINS("whole", whole, NONZERO, "jobs recorded as one JOB record"),
	JOINS("waits", waits, GRT_COLUMN_ALL, "waits of threads that are joined to their job"),
	JOINS("unjoined_waits", unjoined_waits, GRT_COLUMN_ALL,
	      "waits for a fence that belongs to no job of the trace"),
	{"unjoined_wait_ns", grt_cell_u64, offsetof(struct grt_jobs_count, unjoined_wait_ns), GRT_CELL_NS,
	 NONZERO, "time of these waits"},
	JOINS("half_waits", half_waits, NONZERO, "waits without begin or end in the trace"),
	JOINS("commands", commands, GRT_COLUMN_ALL, "commands without a fence, which are not jobs"),
	JOINS("errors", errors, NONZERO, "errors that belong to no job"),
	{.name = NULL},
};

#define HEALTH(name, member, help) OF(grt_health, name, member, GRT_COLUMN_ALL, help)
static const struct grt_column health_columns[] = {
	{"finished", grt_cell_u8, offsetof(struct grt_health, finished), GRT_CELL_BOOL, GRT_COLUMN_ALL,
	 "the recorder finished the recording"},
	HEALTH("events", events, "events read"),
	HEALTH("packets", packets, "packets read"),
	HEALTH("bytes", bytes, "bytes read"),
	HEALTH("skipped_bytes", skipped_bytes, "bytes that are in no packet"),
	HEALTH("missing_events", missing_events, "delivered events whose packets are not in the recording"),
	HEALTH("unwritten_events", unwritten_events, "events that the traced program could not write"),
	HEALTH("unknown", unknown, "events of types unknown to this version"),
	HEALTH("cut", fault[GRT_FAULT_CUT], "files that end within a packet"),
	HEALTH("bad_packets", fault[GRT_FAULT_PACKET], "packets that are damaged"),
	HEALTH("bad_records", fault[GRT_FAULT_RECORD], "records that are damaged"),
	HEALTH("gaps", fault[GRT_FAULT_GAP], "places where packets are missing"),
	HEALTH("time_back", fault[GRT_FAULT_TIME], "time stamps that go back"),
	{"first_fault", grt_cell_chars, offsetof(struct grt_health, first.what), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "first fault of the files"},
	{.name = NULL},
};
/* clang-format on */

const struct grt_table reading_balance_pairs = {"balance", "balance", balance_columns, GRT_TABLE_PAIRS};
const struct grt_table reading_join_pairs = {"joins", "jobs and waits", join_columns, GRT_TABLE_PAIRS};
const struct grt_table reading_health_pairs = {"health", NULL, health_columns, GRT_TABLE_PAIRS};

static const char *accounted(const struct grt_health *h, uint64_t unread)
{
	if (h->text.form)
		return "unknown: text has no count of its events";
	if (!reading_adds_up(h, unread))
		return "some events are not accounted for";
	if (damaged_places(h))
		return "events where the files are cut or damaged are not counted";
	return h->fault[GRT_FAULT_GAP] ? "it is unknown whether events are missing"
				       : "every event is accounted for";
}

/* Return: whether all events were emitted, delivered and read. */
static bool balance_is_plain(const struct balance *b)
{
	const struct grt_health *h = &b->h;
	uint64_t rest = b->unread | h->before_start | h->after_end | h->deleted | h->unwritten_events |
			h->missing_events | h->unknown | h->left_out | h->of_others | h->of_no_gpu;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		if (i != GRT_FATE_DELIVERED)
			rest |= h->balance.fate[i];
	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		rest |= h->fault[i];
	return !rest && (b->closes || h->text.form);
}

/* A title without pairs is a line of its own. */
static void write_plain_balance(struct grt_writer *w, const struct balance *b)
{
	char line[128], events[GRT_UNITS_MAX];

	grt_units_count(events, b->emitted);
	snprintf(line, sizeof(line),
		 b->h.text.form ? "%s events; text does not say how many were lost"
				: "every event is accounted for: %s emitted, 0 lost",
		 events);
	grt_writer_fields(w, NULL, line, (const struct grt_field_value[]){{.name = NULL}});
}

/*
 * A packet's balance is known when its first event is read; in live streams, its last events may come after
 * the end.
 */
uint64_t reading_unread(const struct grt_session *s, bool live)
{
	const struct grt_health *h = grt_session_health(s);
	uint64_t delivered = h->balance.fate[GRT_FATE_DELIVERED];

	return live && delivered > h->events ? delivered - h->events : 0;
}

void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread)
{
	const struct balance b = {
		.emitted = h->balance.emitted + h->unwritten_events + h->before_start + h->after_end +
			   h->deleted,
		.unread = unread,
		.closes = reading_closes(h, unread),
		.accounted = accounted(h, unread),
		.h = *h,
	};

	if (w->ops == &writer_text && !w->options.verbose && balance_is_plain(&b))
		write_plain_balance(w, &b);
	else
		grt_writer_pairs(w, &reading_balance_pairs, NULL, &b);
}

void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs)
{
	struct grt_jobs_count count = grt_jobs_count(jobs);

	count.jobs -= count.incomplete;
	grt_writer_pairs(w, &reading_join_pairs, NULL, &count);
}

void reading_health(struct grt_writer *w, const struct grt_health *h)
{
	grt_writer_pairs(w, &reading_health_pairs, NULL, h);
}

void reading_note_health(struct grt_notes *n, const struct grt_health *h, const struct reading_span *span,
			 uint64_t unread)
{
	char last[GRT_UNITS_MAX] = "the start";

	if (span && span->known)
		grt_units_time(last, span->last);
	if (span && !h->finished)
		grt_note(n, "the recorder did not finish this recording: events after %s may be missing",
			 last);
	if (span && !h->events && !h->balance.emitted && !h->unwritten_events && !h->text.form)
		grt_note(n,
			 "there is no event in it: grtrace doctor shows what can be recorded on this system; "
			 "grtrace record -v shows which sources are left out, and why");
	if (h->missing_events)
		grt_note(
			n,
			"%" PRIu64
			" {event is|events are} missing: {it was|they were} delivered, but {its packet is|their packets are} not in the recording",
			h->missing_events);
	if (h->unwritten_events)
		grt_note(
			n,
			"%" PRIu64
			" {launch or GPU record is|launches and GPU records are} missing: the traced programs counted {it|them}, and their files lack {it|them} (full disk, limit, files cut)",
			h->unwritten_events);
	if (damaged_places(h) && reading_adds_up(h, unread))
		grt_note(n,
			 "the files are cut or damaged in %" PRIu64
			 " {place|places}: events may be missing there, and nothing counts them",
			 damaged_places(h));
	if (!reading_adds_up(h, unread))
		grt_note(
			n,
			"EVENTS ARE NOT ACCOUNTED FOR: delivered and dropped events do not add up to those emitted, or delivered events were not read");
}

void reading_note_window(struct grt_notes *n, const struct grt_session *s, const struct reading_span *span)
{
	const char *source = grt_session_short(s);
	char last[GRT_UNITS_MAX];

	if (!source)
		return;
	grt_units_time(last, span->last);
	grt_note(n, "the source %.*s ended at %s, before the others: later events are left out",
		 (int)strcspn(source, "_"), source, last);
}

int reading_faults(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		   const struct grt_err *err)
{
	const struct grt_health *h = grt_session_health(s);
	struct grt_err first = h->first;
	uint64_t faults = 0;

	if (ret == -ENOMEM)
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "%s", input);
	if (ret < 0)
		return cmd_error(EXIT_FAILED, err);
	for (unsigned int i = 0; i < GRT_FAULTS; i++)
		faults += h->fault[i];
	if (faults)
		return cmd_error(EXIT_FAILED, &first);
	if (grt_session_gpu_missing(s, &first))
		return cmd_error(EXIT_FAILED, &first);
	if (!reading_adds_up(h, unread))
		return cmd_fail(
			EXIT_FAILED,
			"delivered and dropped events do not add up to those emitted, or delivered events "
			"were not read",
			"grtrace report --verbose PATH, which shows it for each CPU",
			"%s: not every event is accounted for", input);
	return EXIT_DONE;
}

int reading_gpu(struct grt_session *s, const char *gpu, bool live)
{
	char cards[GPUS_TEXT] = "";
	struct grt_err err;

	if (!gpu)
		return EXIT_DONE;
	if (live)
		known_gpus_env(cards, sizeof(cards));
	return grt_session_gpu(s, gpu, live ? cards : NULL, &err) ? cmd_error(EXIT_FAILED, &err) : EXIT_DONE;
}

int reading_judge(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		  const struct grt_err *err)
{
	int status = cmd_close_stdout();

	return status != EXIT_DONE ? status : reading_faults(s, input, unread, ret, err);
}
