// SPDX-License-Identifier: GPL-2.0
/*
 * What the commands share that read a whole trace, see reading.h.
 */
#include "reading.h"

#include <errno.h>
#include <inttypes.h>
#include <string.h>
#include <sys/resource.h>

#include "base/units.h"
#include "../sources/drm_cards.h"

/* Of a machine with more GPUs than have room some stay without their device files. */
#define GPUS_TEXT 2048

static void add_event_count(struct grt_fields *f, const char *name, uint64_t number, const char *text)
{
	if (number || f->all)
		grt_field_number(f, name, number, text);
}

static int no_span(int code)
{
	if (code == -ESPIPE)
		return cmd_usage_error(
			"--from and --to with + or - need a file: where a pipe begins and ends is "
			"known when it has been read");
	return cmd_usage_error(
		"--from and --to with + or -: the trace has no time from which they could count");
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
	if (out->known && (from > last || to < first))
		return cmd_usage_error("--from and --to leave nothing: the trace goes from %" PRIu64
				       ".%09" PRIu64 " to %" PRIu64 ".%09" PRIu64,
				       first / NS_PER_S, first % NS_PER_S, last / NS_PER_S, last % NS_PER_S);
	if (from > to)
		return cmd_usage_error("--from is after --to");
	out->first = from > first ? from : first;
	out->last = to < last ? to : last;
	return EXIT_DONE;
}

void reading_recording(struct grt_fields *f, struct grt_session *s, const char *input)
{
	static const char *const env[][2] = {
		{"host", "hostname"},	    {"kernel", "kernel"},	   {"command", "command"},
		{"module", "kmod_version"}, {"adapters", "kmod_adapters"}, {"settings", "kmod_settings"},
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

bool reading_closes(const struct grt_health *h, uint64_t unread)
{
	uint64_t sum = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		sum += h->balance.fate[i];
	return sum == h->balance.emitted && h->balance.fate[GRT_FATE_DELIVERED] == h->events + unread &&
	       !h->missing_events;
}

void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread, bool json)
{
	struct grt_fields f = {.all = json};

	grt_field_number(&f, "emitted", h->balance.emitted + h->unwritten_events,
			 "events offered to the trace");
#define GRT_FATE(NAME, name, help) grt_field_number(&f, #name, h->balance.fate[GRT_FATE_##NAME], help);
#include <grtrace/fates.def>
#undef GRT_FATE
	add_event_count(&f, "unwritten", h->unwritten_events,
			"made by a traced program, which could not write them (a full disk, a limit)");
	grt_field_number(&f, "read", h->events, "events read here, NAME records too");
	if (h->of_others || h->of_no_gpu) {
		grt_field_number(&f, "of_others", h->of_others, "read, of another GPU than that of --device");
		grt_field_number(&f, "of_no_gpu", h->of_no_gpu, "read, of no GPU that the trace names");
	}
	add_event_count(&f, "unread", unread, "in packets that were begun, later than the end");
	add_event_count(&f, "missing", h->missing_events, "delivered, but in packets that are not here");
	add_event_count(&f, "unknown", h->unknown, "of types that this version does not know");
	grt_field_add(&f, "closes", GRT_CELL_BOOL,
		      (struct grt_cell){.number = reading_closes(h, unread), .absent = h->text.form != NULL},
		      h->text.form ? "not known: text has no count of its events to hold against those read"
				   : NULL);
	grt_fields_write(&f, w, "balance", "balance");
}

void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs, bool json)
{
	const struct grt_jobs_count count = grt_jobs_count(jobs), *c = &count;
	struct grt_fields f = {.all = json};

	grt_field_number(&f, "joined", c->jobs - c->incomplete, "jobs of which SUBMIT and COMPLETE are here");
	grt_field_number(&f, "incomplete", c->incomplete,
			 "begun before the trace or not complete at its end");
	add_event_count(&f, "no_submit", c->no_submit, "of these, without SUBMIT");
	add_event_count(&f, "no_complete", c->no_complete, "of these, without COMPLETE");
	add_event_count(&f, "no_end", c->no_end, "complete, but without END: no t_exec");
	add_event_count(&f, "evicted", c->evicted, "of these, because too many were in flight");
	add_event_count(&f, "inferred_start", c->inferred_start, "START concluded from the ring's order");
	add_event_count(&f, "unordered_start", c->unordered_start, "START not known: no t_queue, no t_exec");
	add_event_count(&f, "firmware_start", c->firmware_start,
			"START not known, the firmware's: no t_queue, no t_exec");
	add_event_count(&f, "disordered", c->disordered, "phases that end before they begin, not counted");
	add_event_count(&f, "reused", c->reused, "SUBMIT of an identity that was in use");
	add_event_count(&f, "repeated", c->repeated, "events that a job had already");
	add_event_count(&f, "duplicates", c->duplicates, "events of jobs that another source told of");
	add_event_count(&f, "late", c->late, "events that came long after their job's COMPLETE");
	add_event_count(&f, "no_identity", c->no_identity, "events of no job");
	add_event_count(&f, "whole", c->whole, "jobs that came in one record");
	grt_field_number(&f, "waits", c->waits, "joined to a job");
	grt_field_number(&f, "unjoined_waits", c->unjoined_waits, "for a fence of no job of the trace");
	if (c->unjoined_waits || json)
		grt_field_add(&f, "unjoined_wait_ns", GRT_CELL_NS,
			      (struct grt_cell){.number = c->unjoined_wait_ns}, "their time");
	add_event_count(&f, "half_waits", c->half_waits, "begin or end is not in the trace");
	grt_field_number(&f, "commands", c->commands, "commands without a fence: not jobs");
	add_event_count(&f, "errors", c->errors, "errors that belong to no job");
	grt_fields_write(&f, w, "joins", "jobs and waits");
}

void reading_health(struct grt_writer *w, const struct grt_health *h)
{
	struct grt_fields f = {.n = 0};

	grt_field_add(&f, "finished", GRT_CELL_BOOL, (struct grt_cell){.number = h->finished}, NULL);
	grt_field_number(&f, "events", h->events, NULL);
	grt_field_number(&f, "packets", h->packets, NULL);
	grt_field_number(&f, "bytes", h->bytes, NULL);
	grt_field_number(&f, "skipped_bytes", h->skipped_bytes, NULL);
	grt_field_number(&f, "missing_events", h->missing_events, NULL);
	grt_field_number(&f, "unwritten_events", h->unwritten_events, NULL);
	grt_field_number(&f, "unknown", h->unknown, NULL);
	grt_field_number(&f, "cut", h->fault[GRT_FAULT_CUT], NULL);
	grt_field_number(&f, "bad_packets", h->fault[GRT_FAULT_PACKET], NULL);
	grt_field_number(&f, "bad_records", h->fault[GRT_FAULT_RECORD], NULL);
	grt_field_number(&f, "gaps", h->fault[GRT_FAULT_GAP], NULL);
	grt_field_number(&f, "time_back", h->fault[GRT_FAULT_TIME], NULL);
	grt_field_add(&f, "first_fault", GRT_CELL_TEXT,
		      (struct grt_cell){.text = h->first.what, .absent = !h->first.what[0]}, NULL);
	grt_fields_write(&f, w, "health", NULL);
}

void reading_note_health(struct grt_notes *n, const struct grt_health *h, const struct reading_span *span,
			 uint64_t unread)
{
	char last[GRT_UNITS_MAX] = "the start";

	if (span && span->known)
		grt_units_time(last, span->last);
	if (span && !h->finished)
		grt_note(n, "not closed by its recorder: events after %s may be missing", last);
	if (h->missing_events)
		grt_note(n,
			 "%" PRIu64
			 " events are missing: they were delivered, but their packets are not here",
			 h->missing_events);
	if (h->unwritten_events)
		grt_note(
			n,
			"%" PRIu64
			" launches and records of the GPU are missing: the programs that made them could not write "
			"them (a full disk, a limit)",
			h->unwritten_events);
	if (!reading_closes(h, unread))
		grt_note(
			n,
			"THE BALANCE DOES NOT CLOSE: emitted is not the sum of fates, or delivered is not read");
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
	if (!reading_closes(h, unread))
		return cmd_fail(EXIT_FAILED,
				"emitted is not the sum of the fates, or delivered is not what was read",
				"grtrace report --verbose PATH, which shows it for each CPU",
				"%s: the balance does not close", input);
	return EXIT_DONE;
}

int reading_gpu(struct grt_session *s, const char *gpu, bool live)
{
	char cards[GPUS_TEXT] = "";
	struct grt_err err;

	if (!gpu)
		return EXIT_DONE;
	if (live)
		drm_nodes(cards, sizeof(cards));
	return grt_session_gpu(s, gpu, live ? cards : NULL, &err) ? cmd_error(EXIT_FAILED, &err) : EXIT_DONE;
}

int reading_judge(const struct grt_session *s, const char *input, uint64_t unread, int ret,
		  const struct grt_err *err)
{
	int status = cmd_close_stdout();

	return status != EXIT_DONE ? status : reading_faults(s, input, unread, ret, err);
}

void reading_raise_files(void)
{
	struct rlimit limit;

	/* a failure shows where a file cannot be opened */
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
}
