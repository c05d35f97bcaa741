// SPDX-License-Identifier: GPL-2.0
/* The output of `grtrace timeline` and its order, as text and as JSON. timeline_bars.c draws the bars. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/terminal.h"
#include "timeline.h"
#include "base/units.h"

static const struct grt_table recording_pairs = {"recording", "recording", NULL, GRT_TABLE_PAIRS};

const struct cmd_json timeline_json = {
	.title = "what grtrace timeline --json prints",
	.tables = GRT_TABLES(&recording_pairs, &reading_health_pairs, &reading_join_pairs,
			     &reading_balance_pairs),
	.parts = GRT_PART_BARS | GRT_PART_LATENCY,
};

static void timeline_print_write_recording(struct timeline *tl)
{
	struct grt_fields f = {.n = 0};
	uint32_t columns = tl->a.pass.columns;

	reading_recording(&f, tl->session, tl->input);
	reading_span_fields(&f, &tl->span);
	if (tl->filter->ring)
		grt_field_add(&f, "only_ring", GRT_CELL_TEXT, (struct grt_cell){.text = tl->filter->ring},
			      NULL);
	if (tl->filter->comm)
		grt_field_add(&f, "only_comm", GRT_CELL_TEXT, (struct grt_cell){.text = tl->filter->comm},
			      NULL);
	if (tl->filter->pid)
		grt_field_number(&f, "only_pid", tl->filter->pid, NULL);
	if (!tl->latency_only)
		grt_field_number(&f, "columns", columns, NULL);
	if (columns && !tl->a.pass.json)
		grt_field_add(&f, "column", GRT_CELL_NS,
			      (struct grt_cell){.number = grt_pass_span(&tl->a.pass) / columns},
			      "its height is the share of the column in which jobs ran");
	grt_fields_write(&f, tl->a.pass.writer, "recording", "recording");
}

/* Notes */

static void note_selection(struct timeline *tl)
{
	if (tl->filtered)
		grt_note(
			&tl->notes,
			"bars, gaps and latencies cover the selected jobs only; other jobs may have run in the gaps");
	if (!tl->a.pass.whole)
		grt_note(
			&tl->notes,
			"latencies cover whole jobs that run at any time between --from and --to; the event counts cover the whole trace");
}

static void timeline_print_write_end(struct timeline *tl)
{
	struct grt_pass *pass = &tl->a.pass;
	const struct grt_health *h = grt_session_health(tl->session);

	pass->health = h;
	grt_jobs_notes(&tl->notes, tl->a.jobs, h);
	grt_analyses_notes(&tl->a);
	note_selection(tl);
	reading_note_health(&tl->notes, h, &tl->span, 0);
	grt_notes_write(&tl->notes, pass->writer);
	if (pass->json) {
		reading_health(pass->writer, h);
		reading_joins(pass->writer, tl->a.jobs);
	}
	reading_balance(pass->writer, h, 0);
}

/* The trace has no jobs but other things: people need no empty tables. Machines find every key. */
static bool timeline_has_no_jobs(const struct timeline *tl)
{
	return !tl->a.pass.json && !tl->a.pass.jobs_seen && grt_analyses_any(&tl->a, GRT_PART_JOBS, 0);
}

static bool timeline_print_is_shown(void *arg, const struct grt_part *part, const void *state)
{
	struct timeline *tl = arg;

	if (part->where & GRT_PART_JOBS && timeline_has_no_jobs(tl))
		return false;
	return !tl->failed && (tl->a.pass.json || !timeline_draw(tl, part, state, &tl->failed));
}

int timeline_print(struct timeline *tl)
{
	const struct grt_writer_options o = {.out = stdout,
					     .verbose = tl->verbose,
					     .colour = tl->look.colour,
					     .width = terminal_width() ? tl->look.width : 0,
					     .utf8 = tl->look.utf8};
	struct grt_pass *pass = &tl->a.pass;
	int ret = grt_writer_new(&pass->writer, pass->json ? &writer_json : &writer_text, &o);

	if (ret)
		return ret;
	grt_writer_begin(pass->writer);
	timeline_print_write_recording(tl);
	ret = grt_analyses_write(&tl->a, timeline_print_is_shown, tl) ?: tl->failed;
	if (!ret)
		timeline_print_write_end(tl);
	grt_writer_end(pass->writer);
	return ret;
}
