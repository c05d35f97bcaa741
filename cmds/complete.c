// SPDX-License-Identifier: GPL-2.0
/*
 * Tables for other programs: candidates for the shell's completion, and plain rows for tools/check-tables.
 * The shell itself completes paths of files, for which nothing is printed.
 */
#include <string.h>

#include "kmod/kmod.h"
#include "analyses.h"
#include "cmd.h"
#include "lines/event_json.h"
#include "table/schema.h"

static void candidate(const char *prefix, const char *dashes, const char *name)
{
	char word[320];

	snprintf(word, sizeof(word), "%s%s", dashes, name);
	if (!strncmp(word, prefix, strlen(prefix)))
		puts(word);
}

static void complete_commands(const char *prefix)
{
	const struct cmd_row *r;

	for (r = cmd_rows; r->group || r->name; r++)
		if (r->name)
			candidate(prefix, "", r->name);
	candidate(prefix, "", "help");
	candidate(prefix, "--", "version");
	candidate(prefix, "--", "help");
	candidate(prefix, "--", "no-pager");
}

static void complete_options(const struct cmd *cmd, const char *prefix)
{
	const struct cmd_opt *o;

	for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)); n++)
		candidate(prefix, "--", o->name);
	candidate(prefix, "--", "help");
	candidate(prefix, "--", "no-pager");
}

/* The option whose value is completed; NULL: none. */
static const struct cmd_opt *option_wanting(const struct cmd *cmd, const char *word)
{
	const struct cmd_opt *o;

	for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)); n++) {
		if (o->kind == OPT_FLAG || o->kind == OPT_MAYBE)
			continue;
		if (!strncmp(word, "--", 2) ? !strcmp(word + 2, o->name)
					    : (word[0] == '-' && word[1] == o->letter && !word[2]))
			return o;
	}
	return NULL;
}

/* A placeholder like job|ring|process lists all values. */
static void complete_words(const char *arg, const char *prefix)
{
	size_t length;
	char word[64];

	while (*arg) {
		length = strcspn(arg, "|");
		snprintf(word, sizeof(word), "%.*s", (int)length, arg);
		candidate(prefix, "", word);
		arg += length + (arg[length] == '|');
	}
}

static void complete_rows(const char *(*word)(unsigned int n), const char *prefix)
{
	for (unsigned int n = 0; word(n); n++)
		candidate(prefix, "", word(n));
}

/* Completes the last of several words that are separated by commas. */
static void candidate_behind_comma(const char *prefix, const char *word)
{
	const char *comma = strrchr(prefix, ',');
	char whole[320];

	snprintf(whole, sizeof(whole), "%.*s%s", comma ? (int)(comma + 1 - prefix) : 0, prefix, word);
	candidate(prefix, "", whole);
}

static void complete_sources(const char *prefix)
{
#define GRT_SOURCE(name, help) candidate_behind_comma(prefix, #name);
#include "sources/sources.def"
#undef GRT_SOURCE
	candidate(prefix, "", "list");
	candidate_behind_comma(prefix, "auto");
}

static void complete_types(const char *prefix)
{
#define GRT_EVENT(id, NAME, name, ...) candidate_behind_comma(prefix, #name);
#include <grtrace/events.def>
#undef GRT_EVENT
}

/* The columns of the table that --by chooses; without --by, of the table of jobs. */
static void complete_columns(int argc, char **argv, const char *prefix)
{
	const struct grt_part *part = grt_part_find("job", GRT_PART_BY);

	for (int i = 1; i + 1 < argc; i++)
		if (!strcmp(argv[i], "--by") || !strcmp(argv[i], "-b"))
			part = grt_part_find(argv[i + 1], GRT_PART_BY) ?: part;
	for (const struct grt_column *column = part->table->columns; column->name; column++)
		candidate(prefix, "", column->name);
	if (part == grt_part_find("job", GRT_PART_BY))
		candidate(prefix, "", "time");
}

/* The words of a key; of several words separated by commas, the last one is completed. */
static void complete_words_of(const struct kmod_key *key, const char *prefix)
{
	bool several = key->kind == KMOD_MASK || key->kind == KMOD_TYPES;
	const char *comma = several ? strrchr(prefix, ',') : NULL;
	int before = comma ? (int)(comma + 1 - prefix) : several && *prefix == '-';
	char word[64], whole[256];
	unsigned int n;

	for (n = 0; kmod_key_word(key, n, word, sizeof(word)); n++) {
		snprintf(whole, sizeof(whole), "%.*s%s", before, prefix, word);
		candidate(prefix, "", whole);
	}
}

static void complete_value(int argc, char **argv, const struct cmd_opt *opt, const char *prefix)
{
	if (opt->kind == OPT_KEY)
		complete_words_of(((const struct opt_key *)opt->target)->key, prefix);
	else if (opt->kind == OPT_WORD)
		complete_rows(((const struct opt_word *)opt->target)->word, prefix);
	else if (strchr(opt->arg, '|'))
		complete_words(opt->arg, prefix);
	else if (!strncmp(opt->arg, "SRC", 3))
		complete_sources(prefix);
	else if (!strcmp(opt->name, "type"))
		complete_types(prefix);
	else if (!strcmp(opt->name, "sort"))
		complete_columns(argc, argv, prefix);
}

static void complete_keys(const char *prefix)
{
#define GRT_KEY(name, ...) candidate(prefix, "", #name);
#define GRT_ALIAS(other, name) candidate(prefix, "", #other);
#include <grtrace/control.def>
}

/* The shell splits key=value, so the words of a key are also completed after the key. */
static void complete_setting(const char *before, const char *prefix)
{
	const struct kmod_key *key = kmod_key_find(before);

	if (key)
		complete_words_of(key, prefix);
	complete_keys(prefix);
}

int cmd_complete(int argc, char **argv)
{
	const char *last = argc ? argv[argc - 1] : "";
	const struct cmd_row *row = argc > 1 ? cmd_find(argv[0]) : NULL;
	const struct cmd_opt *wanting;

	if (argc < 2)
		complete_commands(last);
	else if (argc == 2 && !strcmp(argv[0], "help"))
		complete_commands(last);
	else if (!row)
		return EXIT_DONE;
	else if ((wanting = option_wanting(row->cmd, argv[argc - 2])))
		complete_value(argc, argv, wanting, last);
	else if (last[0] == '-')
		complete_options(row->cmd, last);
	else if (!strcmp(row->name, "config"))
		complete_setting(argv[argc - 2], last);
	else if (row->cmd->operand && argc == 2)
		complete_rows(row->cmd->operand, last);
	return EXIT_DONE;
}

/* The views of report, and what monitors.def may name. */
static void print_parts(void)
{
	const struct grt_part *p = NULL;

	while ((p = grt_part_next(p, GRT_PART_BY)))
		printf("view\t%s\t%s\n", p->name, p->help);
	while ((p = grt_part_next(p, GRT_PART_MONITOR)))
		printf("part\t%s\t%s\n", p->name, p->help);
}

static void print_command_schema(const struct cmd_json *json)
{
	struct grt_schema s = {.title = json->title};
	const struct grt_part *p = NULL;

	grt_schema_add_all(&s, json->tables);
	while (json->parts && (p = grt_part_next(p, json->parts))) {
		grt_schema_add(&s, p->table);
		grt_schema_add_all(&s, p->tables);
	}
	grt_schema_print(&s, stdout);
}

int cmd_schema(const char *name)
{
	const struct cmd_row *r = name ? cmd_find(name) : NULL;

	if (name && !strcmp(name, "event"))
		grt_event_json_schema(stdout);
	else if (r && r->cmd->json)
		print_command_schema(r->cmd->json);
	else
		return cmd_usage_error("--schema: event, or a command with --json");
	return cmd_close_stdout();
}

int cmd_tables(void)
{
	const struct cmd_row *r;
	const struct cmd_opt *o;

	for (r = cmd_rows; r->group || r->name; r++) {
		if (r->group)
			continue;
		printf("command\t%s\t%s\n", r->name, r->help);
		if (r->cmd->json)
			printf("schema\t%s\n", r->name);
		for (unsigned int n = 0; (o = cmd_opt_at(r->cmd, n)); n++)
			printf("option\t%s\t%s\t%c\t%s\t%s\n", r->name, o->name, o->letter ? o->letter : '-',
			       o->arg ? o->arg : "-", cmd_opt_help(o));
	}
	for (const struct cmd_example *e = cmd_examples; e->command; e++)
		printf("example\t%s\t%s\n", e->command, e->line);
	print_parts();
	return cmd_close_stdout();
}
