// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Sentences about a device that a user should read first. */
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "base/units.h"
#include "idle.h"

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
