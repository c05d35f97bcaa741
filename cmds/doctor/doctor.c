// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace doctor: a line for every source and feature: whether it works here, and otherwise why not and what
 * to type. It changes nothing, and needs no root.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "cmds/source_list.h"
#include "cmds/cmd.h"
#include "doctor.h"
#include "table/json_cells.h"

static struct {
	const char *input;
	const char *bug_report;
	bool json;
} opt;

static const struct cmd_opt options[] = {
	{"input", 'i', OPT_STR, "PATH", &opt.input, "explain why this recording is empty"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json, "one JSON object"},
	{"bug-report", 0, OPT_STR, "FILE", &opt.bug_report,
	 "write everything that a bug report needs into FILE"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const char *const state_colours[PROBE_STATES] = {
	[PROBE_WORKS] = "\033[32m",
	[PROBE_FAILS] = "\033[31m",
	[PROBE_UNKNOWN] = "\033[33m",
	[PROBE_ABSENT] = "\033[2m",
};

/*
 * Probes a source; if the probe has no text, the text is what the source records. Return: the result of the
 * probe
 */
static int ask_source(size_t n, struct probe_result *r)
{
	struct source_answer a;

	source_answer(&a, n);
	*r = a.r;
	if (r->state == PROBE_WORKS)
		probe_set(r, PROBE_WORKS, NULL, "%s", a.help);
	return a.code;
}

static bool doctor_wanted(const struct probe_row *row, const char *source)
{
	return row->name && (!source || probe_needed(row, source));
}

/* ---------------------------------------------------------------- text */

static void doctor_text_line(FILE *f, bool colour, const char *name, const struct probe_result *r)
{
	fprintf(f, "  %-19s %s%-8s%s", name, colour ? state_colours[r->state] : "",
		probe_state_words[r->state], colour ? "\033[0m" : "");
	cmd_put_text(f, r->detail);
	if (*r->fix) {
		fputs(*r->detail ? "; try: " : "try: ", f);
		cmd_put_text(f, r->fix);
	}
	fputc('\n', f);
}

static void text_title(FILE *f, bool colour, const char *title, const char *what)
{
	fprintf(f, "%s%s", colour ? "\033[1m" : "", title);
	if (what)
		cmd_put_text(f, what);
	fprintf(f, "%s\n", colour ? "\033[0m" : "");
}

static void text_sources(FILE *f, bool colour, const char *source)
{
	struct probe_result r;
	size_t i;

	text_title(f, colour, "Sources", NULL);
	for (i = 0; i < SOURCES; i++) {
		if (source && strcmp(source, all_sources[i]->name))
			continue;
		ask_source(i, &r);
		doctor_text_line(f, colour, all_sources[i]->name, &r);
	}
}

static void text_features(FILE *f, bool colour, const char *source)
{
	const char *group = NULL;
	const struct probe_row *row;
	struct probe_result r;

	for (row = probe_rows; row->group || row->name; row++) {
		if (row->group)
			group = row->group;
		if (!doctor_wanted(row, source))
			continue;
		if (group) {
			fputc('\n', f);
			text_title(f, colour, group, NULL);
		}
		group = NULL;
		row->run(&r);
		doctor_text_line(f, colour, row->name, &r);
	}
}

static void text_trace(FILE *f, bool colour, const struct diagnosis *d)
{
	int i;

	text_title(f, colour, "Trace: ", d->input);
	for (i = 0; i < d->n; i++)
		doctor_text_line(f, colour, d->list[i].name, &d->list[i].r);
}

void doctor_print(FILE *f, bool colour, const char *source, const struct diagnosis *trace)
{
	text_sources(f, colour, source);
	text_features(f, colour, source);
	if (!trace || !trace->input)
		return;
	fputc('\n', f);
	text_trace(f, colour, trace);
}

/* ---------------------------------------------------------------- JSON */

static void json_finding(const char *comma, const char *group, const char *name, const struct probe_result *r)
{
	printf("%s{", comma);
	if (group)
		printf("\"group\":\"%s\",", group);
	printf("\"name\":\"%s\",\"state\":\"%s\",\"detail\":", name, probe_state_names[r->state]);
	grt_json_put_string(stdout, r->detail);
	fputs(",\"fix\":", stdout);
	grt_json_put_string(stdout, r->fix);
	putchar('}');
}

static void json_sources(const char *source)
{
	const char *comma = "";
	struct probe_result r;
	size_t i;

	fputs("\"sources\":[", stdout);
	for (i = 0; i < SOURCES; i++) {
		if (source && strcmp(source, all_sources[i]->name))
			continue;
		ask_source(i, &r);
		json_finding(comma, NULL, all_sources[i]->name, &r);
		comma = ",";
	}
	putchar(']');
}

static void json_features(const char *source)
{
	const char *group = "", *comma = "";
	const struct probe_row *row;
	struct probe_result r;

	fputs(",\"features\":[", stdout);
	for (row = probe_rows; row->group || row->name; row++) {
		if (row->group)
			group = row->group;
		if (!doctor_wanted(row, source))
			continue;
		row->run(&r);
		json_finding(comma, group, row->name, &r);
		comma = ",";
	}
	putchar(']');
}

static void json_trace(const struct diagnosis *d)
{
	int i;

	fputs("\"trace\":", stdout);
	if (!d || !d->input) {
		fputs("null", stdout);
		return;
	}
	fputs("{\"input\":", stdout);
	grt_json_put_string(stdout, d->input);
	fputs(",\"findings\":[", stdout);
	for (i = 0; i < d->n; i++)
		json_finding(i ? "," : "", NULL, d->list[i].name, &d->list[i].r);
	fputs("]}", stdout);
}

/* ----------------------------------------------------------------- run */

static const struct source *doctor_find_source(const char *name)
{
	for (size_t i = 0; i < SOURCES; i++)
		if (!strcmp(all_sources[i]->name, name))
			return all_sources[i];
	return NULL;
}

static int doctor_unknown_source(const char *name)
{
	struct cmd_guess best = {0};
	char all[512] = "";
	size_t i, used;

	for (i = 0; i < SOURCES; i++) {
		cmd_nearest(&best, name, all_sources[i]->name);
		used = strlen(all);
		snprintf(all + used, sizeof(all) - used, "%s%s", i ? ", " : "", all_sources[i]->name);
	}
	if (best.name)
		return cmd_usage_error("unknown source '%s' (did you mean %s?)", name, best.name);
	return cmd_usage_error("unknown source '%s' (there are: %s)", name, all);
}

static int doctor_show(const struct source *source, const struct diagnosis *trace)
{
	const char *name = source ? source->name : NULL;
	bool all = !opt.input || source;

	if (opt.json) {
		putchar('{');
		if (all) {
			json_sources(name);
			json_features(name);
			putchar(',');
		}
		json_trace(trace);
		puts("}");
	} else if (all) {
		doctor_print(stdout, cmd_colour(), name, trace);
	} else {
		text_trace(stdout, cmd_colour(), trace);
	}
	return cmd_close_stdout();
}

static int check_arguments(int argc, char **argv, const struct source **source)
{
	if (argc > 1)
		return cmd_usage_error("more than one source: '%s'", argv[1]);
	if (opt.bug_report && (opt.json || argc))
		return cmd_usage_error("--bug-report takes neither a source nor --json");
	if (!argc)
		return EXIT_DONE;
	*source = doctor_find_source(argv[0]);
	return *source ? EXIT_DONE : doctor_unknown_source(argv[0]);
}

static int doctor_run(int argc, char **argv)
{
	static struct diagnosis trace;
	const struct source *source = NULL;
	struct grt_err err = {0};
	int status = check_arguments(argc, argv, &source), ret = 0;

	if (status != EXIT_DONE)
		return status;
	terminal_page();
	source_list_look();
	if (opt.input)
		ret = doctor_recording(&trace, opt.input, &err);
	else if (!source || !strcmp(source->name, "kmod"))
		doctor_live(&trace);
	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	if (opt.bug_report)
		return doctor_bug_report(opt.bug_report, &trace);
	status = doctor_show(source, &trace);
	if (status == EXIT_DONE && source && source->probe && source->probe(&err))
		return EXIT_MISSING;
	return status;
}

#define IS(name, help)                                                 \
	{                                                              \
		name, NULL, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, help \
	}
#define FINDING                                                                             \
	IS("name", "name of the source, feature or cause"),                                 \
		IS("state", "works, fails, unknown, or absent: not needed on this system"), \
		IS("detail", "what works, or why it does not"), IS("fix", "what to type"),  \
	{                                                                                   \
		.name = NULL                                                                \
	}

static const struct grt_column finding_columns[] = {FINDING};
static const struct grt_column feature_columns[] = {IS("group", "of features"), FINDING};
static const struct grt_column trace_columns[] = {
	IS("input", "its name"),
	{"findings", NULL, GRT_LIST_OBJECTS, GRT_CELL_LIST, GRT_COLUMN_MACHINE,
	 "findings, in the form of those of sources"},
	{.name = NULL},
};

static const struct cmd_json doctor_json = {
	.title = "what grtrace doctor --json prints",
	.tables = GRT_TABLES(
		&(const struct grt_table){"sources", NULL, finding_columns, 0},
		&(const struct grt_table){"features", NULL, feature_columns, 0},
		&(const struct grt_table){"trace", NULL, trace_columns, GRT_TABLE_PAIRS | GRT_TABLE_MAYBE}),
};

const struct cmd cmd_doctor = {
	.json = &doctor_json,
	.reads = true,
	.usage = "[SOURCE] [-i PATH] [--json] [--bug-report FILE]",
	.opts = options,
	.run = doctor_run,
};
