// SPDX-License-Identifier: GPL-2.0
/* The sources and the results of their probes on this system, see source_list.h. */
#include "source_list.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "cmd.h"
#include "table/cells.h"

static const char *const help_of[SOURCES] = {
#define GRT_SOURCE(name, text) text,
#include "sources/sources.def"
#undef GRT_SOURCE
};

void source_answer(struct source_answer *a, size_t n)
{
	const struct source *source = all_sources[n];
	struct grt_err err = {0};
	bool for_root;

	*a = (struct source_answer){.source = source, .help = help_of[n]};
	if (!source->probe) {
		probe_set(&a->r, PROBE_UNKNOWN, NULL, "known only while recording");
		return;
	}
	a->code = source->probe(&err);
	for_root = (a->code == -EACCES || a->code == -EPERM) && !probe_root();
	if (!a->code)
		probe_set(&a->r, PROBE_WORKS, NULL, "%s", "");
	else
		probe_set(&a->r, for_root ? PROBE_UNKNOWN : PROBE_FAILS, err.fix, "%s%s%s%s",
			  for_root ? "needs root: " : "", err.what, *err.why ? ": " : "", err.why);
}

void source_list_look(void)
{
	const char *given = getenv("GRTRACE_DEBUGFS");
	char path[PROBE_PATH], dir[256] = "/sys/kernel/debug";

	if (!*probe_sysroot() || (given && *given))
		return;
	probe_mount("debugfs", dir, sizeof(dir));
	setenv("GRTRACE_DEBUGFS", probe_path(path, "%s/grtrace", dir), 1);
}

/* ---------------------------------------------------------------- JSON */

static void get_source(struct grt_cell *cell, const void *view, const void *row, int by_name)
{
	const struct source_answer *a = row;

	if (by_name)
		cell->number = !a->source->by_name;
	else
		cell->text = a->source->name;
}

static void get_state(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = probe_state_names[((const struct source_answer *)row)->r.state];
}

#define A(member) offsetof(struct source_answer, member)

static const struct grt_column columns[] = {
	{"name", get_source, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name for record -e"},
	{"help", grt_cell_pointed, A(help), GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "what it records"},
	{"auto", get_source, 1, GRT_CELL_BOOL, GRT_COLUMN_MACHINE, "record without -e uses it, if it works"},
	{"state", get_state, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE,
	 "works, fails, or unknown: only root can check it, or only a recording shows it"},
	{"missing", grt_cell_chars, A(r.detail), GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "why it does not work"},
	{"fix", grt_cell_chars, A(r.fix), GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "what to type"},
	{.name = NULL},
};

static const struct grt_table source_table = {"sources", "sources", columns, 0};

const struct cmd_json source_list_json = {
	.title = "what grtrace record -e list --json prints",
	.tables = GRT_TABLES(&source_table),
};

static int source_list_machine(void)
{
	const struct grt_writer_options o = {.out = stdout};
	struct source_answer a;
	struct grt_writer *w;
	int ret = grt_writer_new(&w, &writer_json, &o);

	if (ret)
		return ret;
	grt_writer_begin(w);
	grt_writer_table(w, &source_table, NULL);
	for (size_t i = 0; i < SOURCES && !ret; i++) {
		source_answer(&a, i);
		ret = grt_writer_row(w, &a);
	}
	grt_writer_table_end(w);
	grt_writer_end(w);
	grt_writer_free(w);
	return ret;
}

/* ---------------------------------------------------------------- text */

static void source_list_line(const struct source_answer *a)
{
	printf("  %-9s %-8s%s\n", a->source->name, probe_state_words[a->r.state], a->help);
	if (!*a->r.detail && !*a->r.fix)
		return;
	printf("  %18s", "");
	cmd_put_text(stdout, a->r.detail);
	if (*a->r.fix) {
		fputs(*a->r.detail ? "; try: " : "try: ", stdout);
		cmd_put_text(stdout, a->r.fix);
	}
	putchar('\n');
}

int source_list(bool json)
{
	struct source_answer a;

	terminal_page();
	source_list_look();
	if (json && source_list_machine())
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "the list of sources");
	for (size_t i = 0; i < SOURCES && !json; i++) {
		source_answer(&a, i);
		source_list_line(&a);
	}
	return cmd_close_stdout();
}
