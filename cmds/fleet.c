// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace fleet: runs a query of sql/ over the roll-ups of many machines. An installed SQL engine reads them
 * and executes the query. Recordings are rolled up first, with `grtrace export`.
 */
#include <errno.h>
#include <fcntl.h>
#include <spawn.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/wait.h>
#include <unistd.h>

#include "cmd.h"
#include "host/tempdir.h"

/*
 * struct fleet_file - a file of sql/
 * @text: its contents. The Makefile makes these rows.
 */
static const struct fleet_file {
	const char *name;
	const char *text;
} fleet_files[] = {
#define FLEET_SQL(name, ...) {name, __VA_ARGS__},
#include "fleet_sql.h"
};

#define FILES (sizeof(fleet_files) / sizeof(fleet_files[0]))

/**
 * struct fleet_engine - a program that executes SQL from its standard input
 * @first: the file of sql/ with this engine's names of the tables
 * @table, @lines: its arguments for output as a table, and as JSON with a line for each row
 * @table_words, @lines_words: SQL before the query, for the same
 */
static const struct fleet_engine {
	const char *name;
	const char *first;
	const char *const table[5];
	const char *const lines[5];
	const char *table_words;
	const char *lines_words;
} fleet_engines[] = {
	{"duckdb",
	 "_duckdb",
	 {"duckdb", NULL},
	 {"duckdb", NULL},
	 ".bail on\n.mode box\n",
	 ".bail on\n.mode jsonlines\n"},
	{"clickhouse",
	 "_clickhouse",
	 {"clickhouse", "local", "--output-format", "PrettyCompactMonoBlock", NULL},
	 {"clickhouse", "local", "--output-format", "JSONEachRow", NULL},
	 "",
	 ""},
};

#define ENGINES (sizeof(fleet_engines) / sizeof(fleet_engines[0]))

/* Queries on which others are built begin like this. */
static const char *fleet_query(unsigned int n)
{
	for (size_t i = 0; i < FILES; i++)
		if (*fleet_files[i].name != '_' && !n--)
			return fleet_files[i].name;
	return NULL;
}

static const char *fleet_engine_word(unsigned int n)
{
	return n < ENGINES ? fleet_engines[n].name : NULL;
}

static struct {
	struct opt_word query;
	struct opt_word engine;
	bool jsonl;
	bool sql;
} opt = {.query = {.word = fleet_query}, .engine = {.word = fleet_engine_word}};

static const struct cmd_opt options[] = {
	{"query", 'q', OPT_WORD, "QUERY", &opt.query, "the query (default: causes)"},
	{"engine", 'e', OPT_WORD, "ENGINE", &opt.engine,
	 "run the query with this engine (default: the first that is installed)"},
	{"jsonl", 0, OPT_FLAG, NULL, &opt.jsonl, "print a line of JSON per row"},
	{"sql", 0, OPT_FLAG, NULL, &opt.sql, "print the input of the engine, and run nothing"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const char *fleet_text(const char *name)
{
	for (size_t i = 0; i < FILES; i++)
		if (!strcmp(fleet_files[i].name, name))
			return fleet_files[i].text;
	return "";
}

/* ----------------------------------------------------------------- engines */

static bool fleet_is_program(const char *dir, size_t length, const char *name)
{
	char path[4096];

	snprintf(path, sizeof(path), "%.*s/%s", (int)length, length ? dir : ".", name);
	return !access(path, X_OK);
}

/* Return: whether $PATH has it. */
static bool fleet_has(const char *name)
{
	const char *at = getenv("PATH") ?: "/usr/bin:/bin";

	for (;; at += strcspn(at, ":") + 1) {
		if (fleet_is_program(at, strcspn(at, ":"), name))
			return true;
		if (!at[strcspn(at, ":")])
			return false;
	}
}

/* Return: the engine; NULL, after a message: there is none. */
static const struct fleet_engine *fleet_find_engine(void)
{
	for (size_t i = 0; i < ENGINES; i++) {
		bool wanted = !opt.engine.value || !strcmp(opt.engine.value, fleet_engines[i].name);

		if (wanted && (opt.sql || fleet_has(fleet_engines[i].name)))
			return &fleet_engines[i];
	}
	cmd_fail(
		EXIT_MISSING, "it is not in $PATH",
		"install DuckDB (duckdb.org) or ClickHouse (clickhouse.com); or grtrace fleet --sql, for another machine",
		"%s is needed to read tables", opt.engine.value ?: "duckdb or clickhouse");
	return NULL;
}

/* Writes the input of an engine. */
static void fleet_put_sql(FILE *f, const struct fleet_engine *engine)
{
	const char *query = fleet_text(opt.query.value ?: "causes");

	if (!opt.sql)
		fputs(opt.jsonl ? engine->lines_words : engine->table_words, f);
	fputs(fleet_text(engine->first), f);
	if (strstr(query, "-- Behind _clocks.sql"))
		fputs(fleet_text("_clocks"), f);
	fputs(query, f);
}

/* Return: a file with the input, at its beginning; or -1 */
static int fleet_sql_file(const struct fleet_engine *engine)
{
	int fd = memfd_create("grtrace-fleet", MFD_CLOEXEC), copy = fd < 0 ? -1 : dup(fd);
	FILE *f = copy < 0 ? NULL : fdopen(copy, "w");

	if (f) {
		fleet_put_sql(f, engine);
		if (!fclose(f) && !lseek(fd, 0, SEEK_SET))
			return fd;
	} else if (copy >= 0) {
		close(copy);
	}
	if (fd >= 0)
		close(fd);
	return -1;
}

/* --------------------------------------------------------------- processes */

/* Return: the status of its end, as from waitpid(); -1: it was not started, with errno */
static int fleet_wait(pid_t pid)
{
	int status;

	while (waitpid(pid, &status, 0) < 0)
		if (errno != EINTR)
			return -1;
	return status;
}

/* Names in the tables come from programs on other machines, so control characters are escaped. */
static void fleet_show(FILE *from)
{
	size_t room = 0;
	char *line = NULL;
	ssize_t n;

	while ((n = getline(&line, &room, from)) > 0) {
		if (line[n - 1] == '\n')
			line[--n] = '\0';
		cmd_put_text(stdout, line);
		putchar('\n');
	}
	free(line);
}

static int fleet_spawn(pid_t *pid, const struct fleet_engine *engine, const char *dir, int sql, int out)
{
	posix_spawn_file_actions_t actions;
	const char *const *argv = opt.jsonl ? engine->lines : engine->table;
	int ret;

	posix_spawn_file_actions_init(&actions);
	posix_spawn_file_actions_adddup2(&actions, sql, STDIN_FILENO);
	posix_spawn_file_actions_adddup2(&actions, out, STDOUT_FILENO);
	posix_spawn_file_actions_addchdir_np(&actions, dir);
	ret = posix_spawnp(pid, argv[0], &actions, NULL, (char *const *)argv, environ);
	posix_spawn_file_actions_destroy(&actions);
	return ret;
}

static int fleet_engine_failed(const struct fleet_engine *engine, const char *dir, const char *why)
{
	return cmd_fail(EXIT_FAILED, why, "grtrace fleet --sql, which shows its input",
			"%s: no answer from %s", dir, engine->name);
}

/* Return: an exit status */
static int fleet_ask(const struct fleet_engine *engine, const char *dir)
{
	int sql = fleet_sql_file(engine), ends[2], ret;
	FILE *from = NULL;
	pid_t pid;

	if (sql < 0 || pipe2(ends, O_CLOEXEC)) {
		if (sql >= 0)
			close(sql);
		return fleet_engine_failed(engine, dir, strerror(errno));
	}
	ret = fleet_spawn(&pid, engine, dir, sql, ends[1]);
	close(sql);
	close(ends[1]);
	from = ret ? NULL : fdopen(ends[0], "r");
	if (from)
		fleet_show(from);
	if (from)
		fclose(from);
	else
		close(ends[0]);
	if (ret)
		return fleet_engine_failed(engine, dir, strerror(ret));
	return fleet_wait(pid) ? fleet_engine_failed(engine, dir, "it failed, with the message above")
			       : cmd_close_stdout();
}

/* ------------------------------------------------------------------ inputs */

static bool fleet_has_dir(const char *path, const char *name)
{
	char inside[4096];
	struct stat st;

	snprintf(inside, sizeof(inside), "%s/%s", path, name);
	return !stat(inside, &st) && S_ISDIR(st.st_mode);
}

/* Every export of tables writes this table. */
static bool fleet_is_tables(const char *path)
{
	return fleet_has_dir(path, "meta");
}

/*
 * Runs the command that makes a roll-up, which prints what is wrong with a recording. Return: an exit status
 */
static int fleet_roll_up(const char *path, const char *dir)
{
	const char *const argv[] = {"grtrace", "export", "-f", "rollup", "-o", dir, "-i", path, NULL};
	pid_t pid;
	int ret = posix_spawn(&pid, "/proc/self/exe", NULL, NULL, (char *const *)argv, environ), status;

	status = ret ? -1 : fleet_wait(pid);
	if (status >= 0 && WIFEXITED(status))
		return WEXITSTATUS(status);
	return cmd_fail(EXIT_FAILED, ret ? strerror(ret) : "its process was ended by a signal", NULL,
			"%s: cannot roll it up", path);
}

static int fleet_roll_up_all(const struct fleet_engine *engine, int n, char **path)
{
	char dir[4096] = "";
	int status = EXIT_DONE;

	if (tempdir_make(dir, sizeof(dir), "grtrace-fleet", (uid_t)-1, (gid_t)-1))
		return cmd_fail(EXIT_FAILED, strerror(errno), "TMPDIR=DIR grtrace fleet ...",
				"cannot make a temporary directory");
	cmd_catch_signals();
	for (int i = 0; i < n && status == EXIT_DONE; i++)
		status = fleet_roll_up(path[i], dir);
	if (status == EXIT_DONE)
		status = fleet_ask(engine, dir);
	tempdir_remove(dir);
	return status;
}

/* Return: EXIT_DONE, or EXIT_USAGE after a message with the known words */
static int fleet_check_word(const char *what, const struct opt_word *word)
{
	char words[256];

	for (unsigned int i = 0; word->value && word->word(i); i++)
		if (!strcmp(word->word(i), word->value))
			return EXIT_DONE;
	if (!word->value)
		return EXIT_DONE;
	return cmd_usage_error("no such %s: %s; there are: %s", what, word->value,
			       cmd_words(word->word, words, sizeof(words)));
}

/* Return: EXIT_DONE, or EXIT_FAILED after naming the input that was not found */
static int fleet_check_inputs(int n, char **path)
{
	struct stat st;

	for (int i = 0; i < n; i++)
		if (stat(path[i], &st))
			return cmd_fail(
				EXIT_FAILED, strerror(errno),
				"grtrace fleet DIR, with a directory that grtrace export -f rollup wrote",
				"cannot open %s", path[i]);
	return EXIT_DONE;
}

static int fleet_run(int argc, char **argv)
{
	const struct fleet_engine *engine;
	int tables = 0;

	if (fleet_check_word("query", &opt.query) || fleet_check_word("engine", &opt.engine))
		return EXIT_USAGE;
	for (int i = 0; i < argc; i++)
		tables += fleet_is_tables(argv[i]);
	if (!argc && !opt.sql)
		return cmd_usage_error("no input given: grtrace fleet DIR, or RECORDING...");
	if (tables && argc > 1)
		return cmd_usage_error(
			"put the tables of several directories into one: rsync -a DIR/ FLEET/, and "
			"grtrace export -f rollup -o FLEET RECORDING");
	if (fleet_check_inputs(argc, argv))
		return EXIT_FAILED;
	engine = fleet_find_engine();
	if (!engine)
		return EXIT_MISSING;
	if (opt.sql) {
		fleet_put_sql(stdout, engine);
		return cmd_close_stdout();
	}
	return tables ? fleet_ask(engine, argv[0]) : fleet_roll_up_all(engine, argc, argv);
}

const struct cmd cmd_fleet = {
	.usage = "[-q QUERY] [-e ENGINE] [--jsonl] [--sql] DIR | RECORDING...",
	.opts = options,
	.run = fleet_run,
};
