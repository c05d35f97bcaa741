// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace: finds the subcommand, parses its options and runs it; prints help from the tables. Each command
 * has a file of its own.
 */
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "cmd.h"
#include "reading.h"
#include "terminal.h"

#define GRT_GROUP(title) {.group = (title)},
#define GRT_COMMAND(cname, text) {.name = #cname, .help = (text), .cmd = &cmd_##cname},
const struct cmd_row cmd_rows[] = {
#include "commands.def"
	{.name = NULL},
};
#undef GRT_COMMAND
#undef GRT_GROUP

#define GRT_EXAMPLE(command, line, help) {#command, line, help},
const struct cmd_example cmd_examples[] = {
#include "examples.def"
	{.command = NULL},
};

/* Names of programs that stand for a command: links to this program. */
static const struct alias {
	const char *program;
	const char *command;
} aliases[] = {
#define GRT_ALIAS(program, name) {(program), #name},
#include "commands.def"
	{NULL, NULL},
};
#undef GRT_COMMAND

/* Column at which the second column of the help begins. */
#define HELP_COLUMN 28

const struct cmd_row *cmd_find(const char *name)
{
	const struct cmd_row *r;

	for (r = cmd_rows; r->group || r->name; r++)
		if (r->name && !strcmp(r->name, name))
			return r;
	return NULL;
}

static int main_show_commands(void)
{
	const struct cmd_row *r;

	puts("grtrace " GRT_VERSION ": what a GPU job goes through, from submit to fence\n\n"
	     "usage: grtrace COMMAND [OPTIONS] [ARGUMENTS]");
	for (r = cmd_rows; r->group || r->name; r++) {
		if (r->group)
			printf("\n%s\n", r->group);
		else
			printf("  %-10s %s\n", r->name, r->help);
	}
	puts("\n`grtrace COMMAND --help` shows a command's options, `man grtrace` the manual.");
	return cmd_close_stdout();
}

static int show_version(void)
{
	printf("grtrace %s (format %d)\n", GRT_VERSION, GRT_FORMAT);
	return cmd_close_stdout();
}

static void show_option(char letter, const char *name, const char *arg, const char *help)
{
	char left[512];

	snprintf(left, sizeof(left), "  %c%c%c --%s%s%s", letter ? '-' : ' ', letter ? letter : ' ',
		 letter ? ',' : ' ', name, arg ? " " : "", arg ? arg : "");
	if (strlen(left) < HELP_COLUMN)
		printf("%-*s%s\n", HELP_COLUMN, left, help);
	else
		printf("%s\n%*s%s\n", left, HELP_COLUMN, "", help);
}

static int show_command(const struct cmd_row *row)
{
	const struct cmd_example *e;
	const struct cmd_opt *o;

	printf("grtrace %s: %s\n\nusage: grtrace %s %s\n\n", row->name, row->help, row->name,
	       row->cmd->usage);
	for (unsigned int n = 0; (o = cmd_opt_at(row->cmd, n)); n++)
		show_option(o->letter, o->name, o->arg, cmd_opt_help(o));
	show_option('h', "help", NULL, "this text");
	puts("\nExamples:");
	for (e = cmd_examples; e->command; e++)
		if (!strcmp(e->command, row->name))
			printf("  %s\n      %s\n", e->line, e->help);
	printf("\nManual: man grtrace-%s\n", row->name);
	return cmd_close_stdout();
}

static int unknown_command(const char *name)
{
	const struct cmd_row *r;
	struct cmd_guess best = {0};

	for (r = cmd_rows; r->group || r->name; r++)
		if (r->name)
			cmd_nearest(&best, name, r->name);
	if (best.name)
		return cmd_usage_error("unknown command '%s' (did you mean %s?)", name, best.name);
	return cmd_usage_error("unknown command '%s'", name);
}

static int help_command(char **argv)
{
	const struct cmd_row *row;

	if (!argv[0])
		return main_show_commands();
	row = cmd_find(argv[0]);
	return row ? show_command(row) : unknown_command(argv[0]);
}

static int run_command(const struct cmd_row *row, int argc, char **argv)
{
	bool help = false;
	int status;

	cmd_set_name(row->name);
	status = cmd_parse(row->cmd, &argc, argv, &help);
	if (status != EXIT_DONE)
		return status;
	if (row->cmd->reads)
		reading_raise_files();
	return help ? show_command(row) : row->cmd->run(argc, argv);
}

/* The command for which this program's name stands; NULL: the name is grtrace. */
static const struct cmd_row *command_of_program(const char *path)
{
	const char *slash = path ? strrchr(path, '/') : NULL, *name = slash ? slash + 1 : path;
	const struct alias *a;

	for (a = aliases; name && a->program; a++)
		if (!strcmp(a->program, name))
			return cmd_find(a->command);
	return NULL;
}

/*
 * If descriptor 0, 1 or 2 is closed, the next opened file would get its number, and messages would end up in
 * a recording. Output to a descriptor that was closed fails, as it would without this.
 */
static void hold_standard_files(void)
{
	int fd;

	do
		fd = open("/dev/null", O_RDONLY);
	while (fd >= 0 && fd <= STDERR_FILENO);
	if (fd >= 0)
		close(fd);
}

/* Its options name files and programs, so a set-user-ID program would do anything for anybody. */
static bool is_set_id(void)
{
	return geteuid() != getuid() || getegid() != getgid();
}

int main(int argc, char **argv)
{
	const struct cmd_row *row = command_of_program(argv[0]);
	const char *word;

	hold_standard_files();
	/* a message is written at once, so that messages of several programs do not mix */
	setvbuf(stderr, NULL, _IOLBF, BUFSIZ);
	if (is_set_id())
		return cmd_fail(
			EXIT_FAILED,
			"its options name files and programs, so everybody could do anything as its owner",
			"chmod u-s,g-s of the program, and sudo grtrace",
			"the program does not run with a set-user-ID or set-group-ID bit");
	if (row)
		return run_command(row, argc - 1, argv + 1);
	if (argc > 1 && !strcmp(argv[1], "--no-pager")) {
		terminal_no_pager();
		argc--;
		argv++;
	}
	word = argc > 1 ? argv[1] : "--help";
	if (!strcmp(word, "--help") || !strcmp(word, "-h"))
		return main_show_commands();
	if (!strcmp(word, "--version") || !strcmp(word, "-V"))
		return show_version();
	if (!strcmp(word, "--complete"))
		return cmd_complete(argc - 2, argv + 2);
	if (!strcmp(word, "--tables"))
		return cmd_tables();
	if (!strcmp(word, "--schema"))
		return cmd_schema(argc > 2 ? argv[2] : NULL);
	if (!strcmp(word, "help"))
		return help_command(argv + 2);
	if (word[0] == '-')
		return cmd_usage_error("unknown option %s", word);
	row = cmd_find(word);
	return row ? run_command(row, argc - 2, argv + 2) : unknown_command(word);
}
