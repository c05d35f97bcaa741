// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace status: the module's state, the fill of its buffers, every limit that is not at its default, the
 * adapters and the balance. The state is read once, and then printed as text or JSON.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "host/read_all.h"
#include "kmod/kmod.h"
#include "cmd.h"
#include "sources/cuda_ask.h"
#include "table/json_cells.h"
#include "table/table.h"

#define BAR 20

static bool opt_json;
static bool opt_cuda;

static const struct cmd_opt options[] = {
	{"json", 'j', OPT_FLAG, NULL, &opt_json, "one JSON object"},
	{"cuda", 0, OPT_FLAG, NULL, &opt_cuda, "show only the processes that record -e cuda -p can record"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/**
 * struct state - what was read from the module
 * @running: tracing is on
 * @config, @adapters: the files of these names
 * @balances: emitted equals the sum of all fates, in total and on every CPU
 */
struct state {
	struct kmod kmod;
	struct kmod_stats stats;
	bool running;
	char *config;
	char *adapters;
	bool balances;
};

static const struct fate {
	const char *name;
	const char *help;
} fates[GRT_FATES] = {
#define GRT_FATE(NAME, name, help) [GRT_FATE_##NAME] = {#name, help},
#include <grtrace/fates.def>
#undef GRT_FATE
};

/* Iterates over lines. Return: the line; NULL: there are no more */
static const char *status_next_line(const char **next, size_t *length)
{
	const char *line = *next;

	if (!*line)
		return NULL;
	*length = strcspn(line, "\n");
	*next = line + *length + (line[*length] == '\n');
	return line;
}

/* The next line "cpuN ..." of `stats`. Return: whether there is one */
static bool status_next_cpu(const char **next, unsigned int *cpu, const char **line)
{
	size_t length;

	while ((*line = status_next_line(next, &length)))
		if (sscanf(*line, "cpu%u ", cpu) == 1)
			return true;
	return false;
}

static bool closes(const struct grt_balance *b)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < GRT_FATES; i++)
		sum += b->fate[i];
	return sum == b->emitted;
}

static bool all_close(const struct kmod_stats *stats)
{
	const char *next = stats->lines, *line;
	struct grt_balance b;
	unsigned int cpu;
	bool good = closes(&stats->total);

	while (status_next_cpu(&next, &cpu, &line)) {
		kmod_balance_line(line, &b);
		good &= closes(&b);
	}
	return good;
}

/* A key with a changed value; the switch itself and counts are shown elsewhere, or are not settings. */
static bool status_differs(const struct state *s, const struct kmod_key *key, char *value, size_t room)
{
	return kmod_key_is_setting(key) && kmod_line(s->config, key->name, value, room) &&
	       !kmod_key_is_default(key, value);
}

/* The value of the word `key=value` in a line; empty: there is none. */
static void word(const char *line, size_t length, const char *key, char *value, size_t room)
{
	char text[4096], *p;
	size_t n = strlen(key);

	value[0] = '\0';
	snprintf(text, sizeof(text), "%.*s", (int)length, line);
	for (p = strtok(text, " "); p; p = strtok(NULL, " "))
		if (!strncmp(p, key, n) && p[n] == '=')
			snprintf(value, room, "%s", p + n + 1);
}

/* --------------------------------------------------------------- text */

static void text_cpus(const struct state *s)
{
	const char *next = s->stats.lines, *line;
	uint64_t used, size;
	unsigned int cpu;
	int full;

	while (status_next_cpu(&next, &cpu, &line)) {
		used = 0;
		size = 0;
		if (!kmod_number(line, "used", &used) || !kmod_number(line, "size", &size) || !size)
			continue;
		full = (int)((double)used / (double)size * BAR + 0.5);
		printf("  cpu %-3u   [%.*s%*s] %3.0f %% of %.1f MiB\n", cpu, full < BAR ? full : BAR,
		       "####################", full < BAR ? BAR - full : 0, "",
		       100.0 * (double)used / (double)size, (double)size / 1048576);
	}
}

static void text_limits(const struct state *s)
{
	const struct kmod_key *key;
	char value[4096];
	int n = 0;

	for (key = kmod_keys; key->name; key++) {
		if (!status_differs(s, key, value, sizeof(value)))
			continue;
		printf("%-11s", n++ ? "" : "limits");
		printf("%s=", key->name);
		cmd_put_text(stdout, value);
		kmod_key_default(key, value, sizeof(value));
		printf(" (default %s): %s\n", *value ? value : "empty", key->help);
	}
	if (!n)
		puts("limits     all at their defaults");
}

static void text_adapters(const struct state *s)
{
	const char *next = s->adapters, *line;
	char name[64], driver[64], bound[8], points[2048], missing[2048];
	size_t length;
	int n = 0;

	while ((line = status_next_line(&next, &length))) {
		if (sscanf(line, "%63s", name) != 1)
			continue;
		word(line, length, "driver", driver, sizeof(driver));
		word(line, length, "bound", bound, sizeof(bound));
		word(line, length, "tracepoints", points, sizeof(points));
		word(line, length, "missing", missing, sizeof(missing));
		printf("%-11s", n++ ? "" : "adapters");
		cmd_put_text(stdout, name);
		printf(": %s ", !strcmp(bound, "1") ? "bound to driver" : "waits for driver");
		cmd_put_text(stdout, driver);
		printf(", tracepoints ");
		cmd_put_text(stdout, *points ? points : "-");
		if (*missing)
			fputs(", missing ", stdout);
		cmd_put_text(stdout, missing);
		putchar('\n');
	}
	if (!n)
		puts("adapters   none: no jobs are recorded (sudo grtrace start loads adapters)");
}

static void text_balance(const struct state *s)
{
	const struct grt_balance *b = &s->stats.total;
	int i, n = 0;

	printf("balance    emitted %llu = ", (unsigned long long)b->emitted);
	for (i = 0; i < GRT_FATES; i++)
		if (b->fate[i] || i == GRT_FATE_DELIVERED || i == GRT_FATE_LOST)
			printf("%s%s %llu", n++ ? " + " : "", fates[i].name, (unsigned long long)b->fate[i]);
	puts(s->balances ? "" : "  NOT EVERY EVENT IS ACCOUNTED FOR");
}

static void status_print_text(const struct state *s)
{
	printf("module     grtrace %s, format %u (this tool: %s, reads %d..%d)\n", s->kmod.version,
	       s->kmod.format, GRT_VERSION, GRT_FORMAT_MIN, GRT_FORMAT);
	printf("state      %s", s->running ? "running" : "stopped");
	if (s->stats.reader)
		printf(", read by process %d", s->stats.reader);
	puts("\nbuffers");
	text_cpus(s);
	text_limits(s);
	text_adapters(s);
	text_balance(s);
}

/* --------------------------------------------------------------- JSON */

static void json_balance(const struct grt_balance *b)
{
	int i;

	printf("\"emitted\":%llu", (unsigned long long)b->emitted);
	for (i = 0; i < GRT_FATES; i++)
		printf(",\"%s\":%llu", fates[i].name, (unsigned long long)b->fate[i]);
}

static void json_cpus(const struct state *s)
{
	const char *next = s->stats.lines, *line, *comma = "";
	uint64_t used, size;
	struct grt_balance b;
	unsigned int cpu;

	fputs(",\"cpus\":[", stdout);
	for (; status_next_cpu(&next, &cpu, &line); comma = ",") {
		printf("%s{\"cpu\":%u", comma, cpu);
		if (kmod_number(line, "used", &used) && kmod_number(line, "size", &size))
			printf(",\"used\":%llu,\"size\":%llu", (unsigned long long)used,
			       (unsigned long long)size);
		kmod_balance_line(line, &b);
		putchar(',');
		json_balance(&b);
		putchar('}');
	}
	putchar(']');
}

static void json_limits(const struct state *s)
{
	const struct kmod_key *key;
	const char *comma = "";
	char value[4096];

	fputs(",\"limits\":{", stdout);
	for (key = kmod_keys; key->name; key++) {
		if (!status_differs(s, key, value, sizeof(value)))
			continue;
		printf("%s\"%s\":", comma, key->name);
		grt_json_put_string(stdout, value);
		comma = ",";
	}
	putchar('}');
}

static void json_adapters(const struct state *s)
{
	const char *next = s->adapters, *line, *comma = "";
	char name[64], value[2048];
	size_t length;

	fputs(",\"adapters\":[", stdout);
	while ((line = status_next_line(&next, &length))) {
		if (sscanf(line, "%63s", name) != 1)
			continue;
		printf("%s{\"name\":", comma);
		grt_json_put_string(stdout, name);
		fputs(",\"driver\":", stdout);
		word(line, length, "driver", value, sizeof(value));
		grt_json_put_string(stdout, value);
		word(line, length, "bound", value, sizeof(value));
		printf(",\"bound\":%s,\"tracepoints\":", !strcmp(value, "1") ? "true" : "false");
		word(line, length, "tracepoints", value, sizeof(value));
		grt_json_put_string(stdout, value);
		fputs(",\"missing\":", stdout);
		word(line, length, "missing", value, sizeof(value));
		grt_json_put_string(stdout, value);
		putchar('}');
		comma = ",";
	}
	putchar(']');
}

static void print_json(const struct state *s)
{
	fputs("{\"version\":", stdout);
	grt_json_put_string(stdout, s->kmod.version);
	printf(",\"format\":%u,\"state\":\"%s\",\"reader_pid\":", s->kmod.format,
	       s->running ? "running" : "stopped");
	printf(s->stats.reader ? "%d" : "null", s->stats.reader);
	json_cpus(s);
	json_limits(s);
	json_adapters(s);
	fputs(",\"balance\":{", stdout);
	json_balance(&s->stats.total);
	printf("},\"balance_closes\":%s}\n", s->balances ? "true" : "false");
}

static int status_collect(struct state *s, struct grt_err *err)
{
	int ret = kmod_open(&s->kmod, err);

	if (!ret)
		ret = kmod_running(&s->kmod, err);
	if (ret < 0)
		return ret;
	s->running = ret;
	s->config = kmod_read(&s->kmod, "config", err);
	s->adapters = s->config ? kmod_read(&s->kmod, "adapters", err) : NULL;
	if (!s->adapters)
		return -EIO;
	ret = kmod_stats(&s->kmod, &s->stats, err);
	if (!ret)
		s->balances = all_close(&s->stats);
	return ret;
}

static void status_print_process(pid_t pid, pid_t held)
{
	static bool headed;
	char comm[64];

	read_comm(pid, comm, sizeof(comm));
	if (!headed)
		puts("processes with the CUDA library");
	headed = true;
	printf("  %-8d ", (int)pid);
	cmd_put_text(stdout, comm[0] ? comm : "-");
	if (held < 0)
		puts("  recorded by a process of another PID namespace");
	else if (held)
		printf("  recorded by process %d\n", (int)held);
	else
		puts("  asleep");
}

static int status_run_cuda(void)
{
	if (!cuda_ask_each(status_print_process))
		puts("no process that this user may inspect has the CUDA library: grtrace start --cuda, or grtrace record -e cuda -p PID");
	return cmd_close_stdout();
}

static int status_run(int argc, char **argv)
{
	struct state s = {.kmod.dir = -1};
	struct grt_err err = {0};
	int ret;

	if (argc)
		return cmd_usage_error("unexpected argument '%s'", argv[0]);
	if (opt_cuda && opt_json)
		return cmd_usage_error("--cuda and --json: use only one of them");
	if (opt_cuda)
		return status_run_cuda();
	ret = status_collect(&s, &err);
	if (!ret && opt_json)
		print_json(&s);
	else if (!ret)
		status_print_text(&s);
	if (!opt_json)
		cuda_ask_each(status_print_process);
	kmod_close(&s.kmod);
	free(s.stats.lines);
	free(s.config);
	free(s.adapters);
	return ret ? cmd_error(kmod_exit_status(ret), &err) : cmd_close_stdout();
}

#define IS(name, kind, help)                                             \
	{                                                                \
		name, NULL, 0, GRT_CELL_##kind, GRT_COLUMN_MACHINE, help \
	}
#define MAYBE(name, kind, help)                                                                \
	{                                                                                      \
		name, NULL, 0, GRT_CELL_##kind, GRT_COLUMN_MACHINE | GRT_COLUMN_OPTIONAL, help \
	}
#define GRT_FATE(NAME, name, help) IS(#name, NUMBER, help),

static const struct grt_column module_columns[] = {
	IS("version", TEXT, "of the module"),
	IS("format", NUMBER, "of its stream"),
	IS("state", TEXT, "running or stopped"),
	IS("reader_pid", NUMBER, "the process that reads the stream"),
	IS("balance_closes", BOOL, "every event is accounted for, in total and on each CPU"),
	{.name = NULL},
};

static const struct grt_column cpu_columns[] = {
	IS("cpu", NUMBER, "CPU"),
	MAYBE("used", NUMBER, "size of its buffer, bytes"),
	MAYBE("size", NUMBER, "size of its buffer, bytes"),
	IS("emitted", NUMBER, "events that the sources made"),
#include <grtrace/fates.def>
	{.name = NULL},
};

static const struct grt_column status_balance_columns[] = {
	IS("emitted", NUMBER, "events that the sources made"),
#include <grtrace/fates.def>
	{.name = NULL},
};
#undef GRT_FATE

static const struct grt_column adapter_columns[] = {
	IS("name", TEXT, "of its module"),
	IS("driver", TEXT, "driver whose jobs it records"),
	IS("bound", BOOL, "whether the driver is loaded"),
	IS("tracepoints", TEXT, "that it uses"),
	IS("missing", TEXT, "tracepoints that the driver lacks"),
	{.name = NULL},
};

static const struct cmd_json status_json = {
	.title = "what grtrace status --json prints",
	.tables = GRT_TABLES(
		&(const struct grt_table){NULL, NULL, module_columns, GRT_TABLE_PAIRS},
		&(const struct grt_table){"cpus", NULL, cpu_columns, 0},
		&(const struct grt_table){"limits", NULL, NULL, GRT_TABLE_PAIRS},
		&(const struct grt_table){"adapters", NULL, adapter_columns, 0},
		&(const struct grt_table){"balance", NULL, status_balance_columns, GRT_TABLE_PAIRS}),
};

const struct cmd cmd_status = {
	.usage = "[--json | --cuda]", .opts = options, .run = status_run, .json = &status_json};
