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
#include "host/drm_cards.h"

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

static const char *accounted(const struct grt_health *h, uint64_t unread)
{
	if (h->text.form)
		return "unknown: text has no count of its events";
	return reading_closes(h, unread) ? "every event is accounted for"
					 : "some events are not accounted for";
}

void reading_balance(struct grt_writer *w, const struct grt_health *h, uint64_t unread, bool json)
{
	struct grt_fields f = {.all = json};

	grt_field_number(&f, "emitted", h->balance.emitted + h->unwritten_events,
			 "events that the sources made");
#define GRT_FATE(NAME, name, help) grt_field_number(&f, #name, h->balance.fate[GRT_FATE_##NAME], help);
#include <grtrace/fates.def>
#undef GRT_FATE
	add_event_count(&f, "unwritten", h->unwritten_events,
			"dropped: the traced program could not write them (full disk, limit)");
	grt_field_number(&f, "read", h->events, "events read by this command, including NAME records");
	if (h->of_others || h->of_no_gpu) {
		grt_field_number(&f, "of_others", h->of_others, "read, but of another GPU than --device");
		grt_field_number(&f, "of_no_gpu", h->of_no_gpu,
				 "read, but the trace does not say of which GPU");
	}
	add_event_count(&f, "unread", unread, "in open packets, after the end");
	add_event_count(&f, "missing", h->missing_events,
			"delivered, but their packets are not in the recording");
	add_event_count(&f, "unknown", h->unknown, "of types unknown to this version");
	grt_field_add(&f, json ? "closes" : "accounted", GRT_CELL_BOOL,
		      (struct grt_cell){.number = reading_closes(h, unread), .absent = h->text.form != NULL},
		      accounted(h, unread));
	grt_fields_write(&f, w, "balance", "balance");
}

void reading_joins(struct grt_writer *w, const struct grt_jobs *jobs, bool json)
{
	const struct grt_jobs_count count = grt_jobs_count(jobs), *c = &count;
	struct grt_fields f = {.all = json};

	grt_field_number(&f, "joined", c->jobs - c->incomplete, "jobs with SUBMIT and COMPLETE in the trace");
	grt_field_number(&f, "incomplete", c->incomplete,
			 "jobs that began before the trace or were not complete at its end");
	add_event_count(&f, "no_submit", c->no_submit, "of these, without SUBMIT");
	add_event_count(&f, "no_complete", c->no_complete, "of these, without COMPLETE");
	add_event_count(&f, "no_end", c->no_end, "complete, but without END: no t_exec");
	add_event_count(&f, "evicted", c->evicted, "of these, dropped because too many jobs were in flight");
	add_event_count(&f, "inferred_start", c->inferred_start,
			"START inferred from the order of the ring's jobs");
	add_event_count(&f, "unordered_start", c->unordered_start, "START unknown: no t_queue, no t_exec");
	add_event_count(&f, "firmware_start", c->firmware_start,
			"START unknown, decided by the firmware: no t_queue, no t_exec");
	add_event_count(&f, "disordered", c->disordered,
			"phases with their end before their begin, not counted");
	add_event_count(&f, "reused", c->reused,
			"SUBMITs with the (context, seqno) of another job in flight");
	add_event_count(&f, "repeated", c->repeated, "second events of the same type of a job");
	add_event_count(&f, "duplicates", c->duplicates, "events of jobs that another source recorded, too");
	add_event_count(&f, "late", c->late, "events that came long after their job's COMPLETE");
	add_event_count(&f, "no_identity", c->no_identity, "events without the identity of a job");
	add_event_count(&f, "whole", c->whole, "jobs recorded as one JOB record");
	grt_field_number(&f, "waits", c->waits, "waits of threads, joined to their job");
	grt_field_number(&f, "unjoined_waits", c->unjoined_waits,
			 "waits for a fence that belongs to no job of the trace");
	if (c->unjoined_waits || json)
		grt_field_add(&f, "unjoined_wait_ns", GRT_CELL_NS,
			      (struct grt_cell){.number = c->unjoined_wait_ns}, "time of these waits");
	add_event_count(&f, "half_waits", c->half_waits, "waits without begin or end in the trace");
	grt_field_number(&f, "commands", c->commands, "commands without a fence, which are not jobs");
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
		grt_note(n, "the recorder did not finish this recording: events after %s may be missing",
			 last);
	if (h->missing_events)
		grt_note(
			n,
			"%" PRIu64
			" events are missing: they were delivered, but their packets are not in the recording",
			h->missing_events);
	if (h->unwritten_events)
		grt_note(
			n,
			"%" PRIu64
			" launches and GPU records are missing: the traced programs could not write them (full disk, limit)",
			h->unwritten_events);
	if (!reading_closes(h, unread))
		grt_note(
			n,
			"EVENTS ARE NOT ACCOUNTED FOR: delivered and dropped events do not add up to those emitted, or delivered events were not read");
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
