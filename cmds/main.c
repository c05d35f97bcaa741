// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace: finds the subcommand, parses its options and runs it; prints help from the tables. Each command
 * has a file of its own.
 */
#include <ctype.h>
#include <errno.h>
#include <fcntl.h>
#include <grtrace/control.h>
#include <math.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <unistd.h>

#include "cmd.h"
#include "kmod/kmod.h"
#include "sources/source.h"

/* --------------------------------------------------------------- options */

/*
 * Parses command lines by the option tables: long and short options, bundles,
 * values, `--`. A new kind of value is a parser here and its row below.
 */

/* More than the number of options of any command. */
#define GIVEN_MAX 64

static const struct cmd_opt *options_given[GIVEN_MAX];
static unsigned int n_given;

const struct cmd_opt *cmd_opt_at(const struct cmd *cmd, unsigned int n)
{
	const struct cmd_opt *o;

	for (o = cmd->opts; o && o->name; o++)
		if (!n--)
			return o;
	for (unsigned int i = 0; cmd->sources && i < SOURCES; i++)
		for (o = all_sources[i]->options; o && o->name; o++)
			if (!n--)
				return o;
	return NULL;
}

bool cmd_opt_given(const struct cmd_opt *opt)
{
	for (unsigned int i = 0; i < n_given; i++)
		if (options_given[i] == opt)
			return true;
	return false;
}

static int parse_text(const char *text, void *target)
{
	*(const char **)target = text;
	return 0;
}

/* An empty value, as from an unset variable of a script, is not a name. */
static int parse_str(const char *text, void *target)
{
	return *text ? parse_text(text, target) : -EINVAL;
}

static int parse_u64(const char *text, void *target)
{
	uint64_t n;
	char *end;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, text[0] == '0' && (text[1] | 32) == 'x' ? 16 : 10);
	if (errno || n == UINT64_MAX)
		return -ERANGE;
	*(uint64_t *)target = n;
	return *end ? -EINVAL : 0;
}

static int parse_pid(const char *text, void *target)
{
	uint64_t n;
	int ret = parse_u64(text, &n);

	if (!ret && (!n || n > INT32_MAX))
		ret = -ERANGE;
	if (!ret)
		*(uint64_t *)target = n;
	return ret;
}

static int options_parse_pid_gpu(const char *text, void *target)
{
	if (strcmp(text, "gpu"))
		return parse_pid(text, target);
	*(uint64_t *)target = OPT_GPU_USERS;
	return 0;
}

static int options_parse_size(const char *text, void *target)
{
	static const char units[] = "KMG";
	char *end;
	const char *unit;
	unsigned long long n;
	unsigned int shift = 0;

	if (!isdigit((unsigned char)*text))
		return -EINVAL;
	errno = 0;
	n = strtoull(text, &end, 10);
	if (errno)
		return -ERANGE;
	unit = *end ? strchr(units, toupper((unsigned char)*end)) : NULL;
	if (unit) {
		shift = 10 * (unsigned int)(unit - units + 1);
		end++;
	}
	if (*end)
		return -EINVAL;
	if (n > UINT64_MAX >> shift)
		return -ERANGE;
	*(uint64_t *)target = (uint64_t)n << shift;
	return 0;
}

static int parse_seconds(const char *text, void *target)
{
	static const struct {
		const char *suffix;
		double seconds;
	} units[] = {{"", 1}, {"s", 1}, {"us", 1e-6}, {"ms", 1e-3}, {"min", 60}, {"h", 3600}, {"d", 86400}};
	size_t digits = strspn(text, "0123456789."), i = 0;
	char *end;
	double s = strtod(text, &end);

	if (!digits || end != text + digits)
		return -EINVAL;
	while (i < sizeof(units) / sizeof(units[0]) && strcmp(end, units[i].suffix))
		i++;
	if (i == sizeof(units) / sizeof(units[0]))
		return -EINVAL;
	s *= units[i].seconds;
	if (!(s > 0) || s > 1e9)
		return -ERANGE;
	*(double *)target = s;
	return 0;
}

static const struct time_unit {
	const char *suffix;
	uint64_t ns;
} time_units[] = {{"ns", 1}, {"us", 1000}, {"ms", 1000000}, {"s", NS_PER_S}, {"", NS_PER_S}};

static uint64_t time_unit(const char *suffix)
{
	size_t i;

	for (i = 0; i < sizeof(time_units) / sizeof(time_units[0]); i++)
		if (!strcmp(suffix, time_units[i].suffix))
			return time_units[i].ns;
	return 0;
}

/*
 * Converts decimal digits to ns without a double, which does not have enough bits for the time stamps of a
 * long uptime.
 */
static int parse_time(const char *text, void *target)
{
	struct opt_time *t = target;
	uint64_t whole = 0, part = 0, unit, scale;
	const char *p = text, *dot;

	t->rel = *p == '+' || *p == '-' ? *p++ : 0;
	unit = time_unit(p + strspn(p, "0123456789."));
	if (!isdigit((unsigned char)*p) || !unit)
		return -EINVAL;
	for (; isdigit((unsigned char)*p); p++)
		if (__builtin_mul_overflow(whole, 10, &whole) ||
		    __builtin_add_overflow(whole, *p - '0', &whole))
			return -ERANGE;
	dot = *p == '.' ? p++ : NULL;
	for (scale = unit; isdigit((unsigned char)*p); p++) {
		scale /= 10;
		part += scale * (uint64_t)(*p - '0');
	}
	if (*p == '.' || (dot && p == dot + 1))
		return -EINVAL;
	if (__builtin_mul_overflow(whole, unit, &whole) || __builtin_add_overflow(whole, part, &t->ns))
		return -ERANGE;
	t->set = true;
	return 0;
}

uint64_t cmd_time(const struct opt_time *t, uint64_t first, uint64_t last, uint64_t otherwise)
{
	if (!t->set)
		return otherwise;
	if (t->rel == '+')
		return t->ns > UINT64_MAX - first ? UINT64_MAX : first + t->ns;
	if (t->rel == '-')
		return t->ns > last ? 0 : last - t->ns;
	return t->ns;
}

static int parse_key(const char *text, void *target)
{
	struct opt_key *o = target;

	/* an empty value would remove the filter without a message; 0 does so explicitly */
	if (!*text && !kmod_key_is_default(o->key, text))
		return -EINVAL;
	o->value = text;
	return kmod_key_check(o->key, text, NULL);
}

static int options_parse_word(const char *text, void *target)
{
	return parse_str(text, &((struct opt_word *)target)->value);
}

static const struct opt_type {
	int (*parse)(const char *text, void *target);
	const char *wanted;
} opt_types[] = {
	[OPT_FLAG] = {NULL, NULL},
	[OPT_STR] = {parse_str, "a text that is not empty"},
	[OPT_TEXT] = {parse_text, "a text"},
	[OPT_MAYBE] = {parse_text, "a text"},
	[OPT_U64] = {parse_u64, "a number, decimal or 0x.."},
	[OPT_PID] = {parse_pid, "a process id, from 1"},
	[OPT_PID_GPU] = {options_parse_pid_gpu, "a process id, from 1, or gpu"},
	[OPT_SIZE] = {options_parse_size, "bytes, or with K, M or G"},
	[OPT_SECONDS] = {parse_seconds,
			 "a time above 0 in seconds, like 10 or 0.5, or with us, ms, s, min, h or d"},
	[OPT_TIME] = {parse_time, "a time like 12.5, +3s from the start, -200ms from the end"},
	[OPT_KEY] = {parse_key, NULL},
	[OPT_WORD] = {options_parse_word, "a word"},
};

/* Describes the value of an option in words. */
static void wanted_text(const struct cmd_opt *opt, char *text, size_t room)
{
	if (opt->kind == OPT_KEY)
		kmod_key_range(((const struct opt_key *)opt->target)->key, text, room);
	else
		snprintf(text, room, "%s", opt_types[opt->kind].wanted);
}

static int set_option(const struct cmd_opt *opt, const char *value)
{
	char wanted[128];
	int ret;

	if (!cmd_opt_given(opt) && n_given < GIVEN_MAX)
		options_given[n_given++] = opt;
	if (opt->kind == OPT_FLAG) {
		*(bool *)opt->target = true;
		return EXIT_DONE;
	}
	ret = opt_types[opt->kind].parse(value, opt->target);
	if (!ret)
		return EXIT_DONE;
	wanted_text(opt, wanted, sizeof(wanted));
	return cmd_usage_error(ret == -ERANGE ? "--%s: '%s' is out of range (wanted: %s)"
					      : "--%s: '%s' is not understood (wanted: %s)",
			       opt->name, value, wanted);
}

/* Levenshtein's distance, with one row, because names are short. */
static unsigned int distance(const char *a, const char *b)
{
	unsigned int row[64], i, j, diagonal, above;
	size_t length = strlen(b);

	if (length >= sizeof(row) / sizeof(row[0]) || strlen(a) > 64)
		return 1000;
	for (j = 0; j <= length; j++)
		row[j] = j;
	for (i = 1; *a; i++, a++) {
		diagonal = row[0];
		row[0] = i;
		for (j = 1; j <= length; j++) {
			above = row[j];
			row[j] = diagonal + (*a != b[j - 1]);
			if (above + 1 < row[j])
				row[j] = above + 1;
			if (row[j - 1] + 1 < row[j])
				row[j] = row[j - 1] + 1;
			diagonal = above;
		}
	}
	return row[length];
}

void cmd_nearest(struct cmd_guess *best, const char *typed, const char *name)
{
	size_t length = strlen(typed);
	unsigned int d = distance(typed, name);

	/* A part of a name counts as similar: "stat" is status. */
	if (length >= 3 && !strncmp(typed, name, length))
		d = 1;
	/* a word with more wrong than right letters is another word */
	if (d <= 1 + length / 3 && 2 * d <= length && (!best->name || d < best->distance)) {
		best->name = name;
		best->distance = d;
	}
}

static int unknown_option(const struct cmd *cmd, const char *name)
{
	struct cmd_guess best = {0};
	const struct cmd_opt *o;

	for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)); n++)
		cmd_nearest(&best, name, o->name);
	cmd_nearest(&best, name, "help");
	if (best.name)
		return cmd_usage_error("unknown option --%s (did you mean --%s?)", name, best.name);
	return cmd_usage_error("unknown option --%s", name);
}

/* Parses the long option argv[i]; *used is how many arguments it took. */
static int long_option(const struct cmd *cmd, char **argv, int *used)
{
	const char *name = argv[0] + 2, *equals = strchr(name, '=');
	size_t length = equals ? (size_t)(equals - name) : strlen(name);
	const struct cmd_opt *o;
	char typed[64];

	snprintf(typed, sizeof(typed), "%.*s", (int)(length < 60 ? length : 60), name);
	for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)); n++)
		if (strlen(o->name) == length && !strncmp(o->name, name, length))
			break;
	if (!o)
		return unknown_option(cmd, typed);
	if (o->kind == OPT_FLAG && equals)
		return cmd_usage_error("--%s takes no value", o->name);
	if (o->kind == OPT_FLAG || o->kind == OPT_MAYBE || equals)
		return set_option(o, equals ? equals + 1 : "");
	if (!argv[1])
		return cmd_usage_error("--%s needs a value: %s", o->name, o->arg);
	*used = 2;
	return set_option(o, argv[1]);
}

/* Parses a bundle of short options. */
static int short_options(const struct cmd *cmd, char **argv, int *used, bool *help)
{
	const struct cmd_opt *o;
	const char *p;

	for (p = argv[0] + 1; *p; p++) {
		for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)) && o->letter != *p; n++)
			;
		if (!o && *p == 'h') {
			*help = true;
			return EXIT_DONE;
		}
		if (!o)
			return cmd_usage_error("unknown option -%c", *p);
		if (o->kind != OPT_FLAG) {
			if (!p[1] && !argv[1])
				return cmd_usage_error("-%c needs a value: %s", *p, o->arg);
			*used = p[1] ? 1 : 2;
			return set_option(o, p[1] ? p + 1 : argv[1]);
		}
		set_option(o, NULL);
	}
	return EXIT_DONE;
}

const char *cmd_words(const char *(*word)(unsigned int n), char *text, size_t room)
{
	size_t used = 0;

	text[0] = '\0';
	for (unsigned int n = 0; word(n) && used < room; n++)
		used += (size_t)snprintf(text + used, room - used, "%s%s", n ? ", " : "", word(n));
	return text;
}

const char *cmd_opt_help(const struct cmd_opt *opt)
{
	static char text[1280];
	char words[1024];

	if (opt->kind != OPT_WORD)
		return opt->help ?: ((const struct opt_key *)opt->target)->key->help;
	snprintf(text, sizeof(text), "%s: %s", opt->help,
		 cmd_words(((const struct opt_word *)opt->target)->word, words, sizeof(words)));
	return text;
}

int cmd_parse(const struct cmd *cmd, int *argc, char **argv, bool *help)
{
	int i, used, status, operands = 0;

	n_given = 0;
	for (i = 0; i < *argc && !*help; i += used) {
		used = 1;
		status = EXIT_DONE;
		if (!strcmp(argv[i], "--")) {
			i++;
			break;
		}
		if (!strcmp(argv[i], "--help"))
			*help = true;
		else if (!strcmp(argv[i], "--no-pager"))
			terminal_no_pager();
		else if (!strncmp(argv[i], "--", 2))
			status = long_option(cmd, argv + i, &used);
		else if (argv[i][0] == '-' && argv[i][1])
			status = short_options(cmd, argv + i, &used, help);
		else if (cmd->stop_at_operand)
			break;
		else
			argv[operands++] = argv[i];
		if (status != EXIT_DONE)
			return status;
	}
	while (i < *argc)
		argv[operands++] = argv[i++];
	argv[operands] = NULL;
	*argc = operands;
	return EXIT_DONE;
}

int cmd_buffer_usage(uint64_t bytes)
{
	const struct kmod_key *key = &kmod_keys[GRT_CONFIG_buffer_size];
	char value[24], range[128];

	snprintf(value, sizeof(value), "%llu", (unsigned long long)bytes);
	if (!bytes || !kmod_key_check(key, value, NULL))
		return EXIT_DONE;
	kmod_key_range(key, range, sizeof(range));
	return cmd_usage_error("--buffer: %s bytes are out of range (wanted: %s)", value, range);
}

/* ------------------------------------------------------------------ main */

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

/* A recording has a file for each thread. */
static void raise_files(void)
{
	struct rlimit limit;

	/* a failure shows where a file cannot be opened */
	if (!getrlimit(RLIMIT_NOFILE, &limit) && limit.rlim_cur < limit.rlim_max) {
		limit.rlim_cur = limit.rlim_max;
		setrlimit(RLIMIT_NOFILE, &limit);
	}
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
		raise_files();
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
