// SPDX-License-Identifier: GPL-2.0
/*
 * The statistics at the end of `grtrace monitor`: selects the parts of the analyses, and adds which events
 * were lost. The writer formats the values.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/memfile.h"
#include "cmds/terminal.h"
#include "monitor.h"
#include "cmds/report/report_text.h"
#include "table/rows.h"

/* Head and end */

static bool has_events(const struct monitor *m, const struct grt_part *part, const void *state)
{
	if (part->any)
		return part->any(state);
	for (const uint16_t *type = part->types; *type; type++)
		if (m->seen[*type])
			return true;
	return false;
}

/* A monitor of one driver or subject shows its tables even if they are empty. */
static bool monitor_stats_is_shown(void *arg, const struct grt_part *part, const void *state)
{
	const struct monitor *m = arg;

	return m->row->sources[0] || has_events(m, part, state);
}

static void write_head(struct monitor *m)
{
	const struct reading_span span = {m->first, m->last, m->known};
	struct grt_fields f = {.n = 0};

	grt_field_add(&f, "monitor", GRT_CELL_TEXT, (struct grt_cell){.text = m->row->name}, NULL);
	reading_recording(&f, m->session, m->input);
	reading_span_fields(&f, &span);
	grt_field_number(&f, "events", m->seen[0], NULL);
	grt_fields_write(&f, m->a.pass.writer, "run", "statistics");
}

static const struct grt_column lost_columns[] = {
	{"cpu", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CPU"},
	{"lost", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "events lost because the buffer was full"},
	{.name = NULL},
};
static const struct grt_table lost_table = {"lost_by_cpu", "events lost, by CPU", lost_columns, 0};
static const struct grt_table run_pairs = {"run", "statistics", NULL, GRT_TABLE_PAIRS};

const struct cmd_json monitor_json = {
	.title = "the last line of grtrace monitor --json; those before it are events",
	.tables = GRT_TABLES(&run_pairs, &lost_table, &reading_health_pairs, &reading_balance_pairs),
	.parts = GRT_PART_MONITOR,
};

static int write_lost(struct monitor *m)
{
	uint64_t all = 0;
	int ret = 0;

	for (uint32_t i = 0; i < GRT_COUNTS_CPUS; i++)
		all += m->counts->cpu[i].balance.fate[GRT_FATE_LOST];
	if (!all && !m->json)
		return 0;
	grt_writer_table(m->a.pass.writer, &lost_table, NULL);
	for (uint32_t i = 0; i < GRT_COUNTS_CPUS && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		grt_row_number(&c, i);
		grt_row_number(&c, m->counts->cpu[i].balance.fate[GRT_FATE_LOST]);
		if (c.cell[1].number)
			ret = grt_writer_row(m->a.pass.writer, &c);
	}
	grt_writer_table_end(m->a.pass.writer);
	return ret;
}

static void monitor_stats_write_notes(struct monitor *m, const struct grt_health *h)
{
	const struct reading_span span = {m->first, m->last, m->known};

	reading_note_health(&m->notes, h, m->live ? NULL : &span, reading_unread(m->session, m->live));
	report_text_notes(&m->notes, h);
	report_text_passed(&m->notes, m->session);
	if (m->names.dropped)
		grt_note(&m->notes, "%" PRIu64 " {NAME record|NAME records} ignored (limit of %u names)",
			 m->names.dropped, GRT_NAMES_MAX);
	if (m->left_out)
		grt_note(
			&m->notes,
			"%" PRIu64
			" {event of other processes or drivers was|events of other processes or drivers were} left out; the event counts include them",
			m->left_out);
	if (m->counters)
		grt_note(&m->notes, "%" PRIu64 " {value|values} of counters: report", m->counters);
	grt_notes_write(&m->notes, m->a.pass.writer);
}

static int monitor_stats_write_all(struct monitor *m)
{
	const struct grt_health *h = grt_session_health(m->session);
	int ret;

	m->a.pass.first = m->first;
	m->a.pass.last = m->last;
	m->a.pass.known = m->known;
	grt_writer_begin(m->a.pass.writer);
	write_head(m);
	ret = grt_analyses_write(&m->a, monitor_stats_is_shown, m);
	if (!ret)
		ret = write_lost(m);
	monitor_stats_write_notes(m, h);
	if (m->json)
		reading_health(m->a.pass.writer, h);
	reading_balance(m->a.pass.writer, h, reading_unread(m->session, m->live));
	grt_writer_end(m->a.pass.writer);
	return ret;
}

static int write_to(struct monitor *m, FILE *out)
{
	struct grt_writer_options o = {.out = out, .verbose = m->verbose, .colour = !m->json && cmd_colour()};
	int ret;

	terminal_fit(&o, m->wide);
	ret = grt_writer_new(&m->a.pass.writer, m->json ? &writer_json : &writer_text, &o);
	if (!ret)
		ret = monitor_stats_write_all(m);
	grt_writer_free(m->a.pass.writer);
	m->a.pass.writer = NULL;
	return ret;
}

int monitor_stats(struct monitor *m)
{
	struct grt_memfile memory;
	char *text;
	FILE *out;
	int ret;

	if (!m->json) {
		if (m->header)
			putchar('\n');
		return write_to(m, stdout);
	}
	out = grt_memfile_open(&memory);
	if (!out)
		return -ENOMEM;
	ret = write_to(m, out);
	text = grt_memfile_close(&memory, out, NULL);
	if (!text)
		ret = -ENOMEM;
	if (!ret)
		cmd_put_one_line(text);
	free(text);
	return ret;
}
