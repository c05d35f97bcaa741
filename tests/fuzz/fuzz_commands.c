// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: whole commands, from the files that they read to what they
 * print. The first byte of an input chooses a command line of command_lines[],
 * the second how the rest becomes the file of that command line: as it is, as a
 * recording directory, or as events in sound packets. A command must end with one
 * of its exit statuses, and what a JSON form printed must be JSON, unless the
 * command said by its status that it failed.
 *
 * Options are variables of the commands, which a process sets once; here they are
 * put back before each command, by the tables of options.
 *
 * Runs without --soak: 1500
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <locale.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../../cmds/cmd.h"
#include "../unit/trace_maker.h"
#include "events.h"
#include "json_check.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define WORDS_MAX 12
#define OPTIONS_MAX 64
#define TARGET_MAX sizeof(struct opt_time)

/* What a command line prints. */
enum prints { TEXT, JSON, JSON_LINES };

/* IN is the input; MODEL a recording that is always the same; OUT... a file that goes nowhere. */
static const struct command_line {
	enum prints prints;
	const char *word[WORDS_MAX];
} command_lines[] = {
	{TEXT, {"report", "IN"}},
	{JSON, {"report", "--json", "IN"}},
	{TEXT, {"report", "-v", "--from", "+1us", "--to", "-1us", "IN"}},
	{TEXT, {"report", "--csv", "IN"}},
	{TEXT, {"report", "--by", "job", "--sort", "time", "IN"}},
	{JSON, {"report", "--json", "--by", "ring", "IN"}},
	{JSON, {"report", "--json", "--by", "process", "IN"}},
	{JSON, {"report", "--json", "--by", "engine", "IN"}},
	{JSON, {"report", "--json", "--by", "type", "IN"}},
	{JSON, {"report", "--json", "--by", "tsg", "IN"}},
	{TEXT, {"report", "--by", "tsg", "IN"}},
	{JSON, {"report", "--json", "--by", "thread", "IN"}},
	{TEXT, {"report", "--by", "thread", "IN"}},
	{JSON, {"report", "--json", "--by", "kernel", "IN"}},
	{JSON, {"report", "--json", "--by", "stack", "IN"}},
	{JSON, {"report", "--json", "--by", "stream", "IN"}},
	{JSON, {"report", "--json", "--by", "device", "IN"}},
	{JSON, {"report", "--json", "--by", "copy", "IN"}},
	{TEXT, {"monitor", "all", "-i", "IN"}},
	{TEXT, {"monitor", "nvidia", "-q", "-i", "IN"}},
	{JSON_LINES, {"monitor", "all", "--json", "-i", "IN"}},
	{TEXT, {"sched", "-v", "-i", "IN"}},
	{JSON_LINES, {"sched", "--json", "-i", "IN"}},
	{TEXT, {"flame", "IN"}},
	{TEXT, {"flame", "--weight", "wall", "--by", "thread", "IN"}},
	{TEXT, {"flame", "-o", "OUT.svg", "--weight", "launches", "IN"}},
	{TEXT, {"flame", "-o", "OUT.html", "--by", "process", "IN"}},
	{TEXT, {"flame", "-o", "OUT.svg", "--diff", "MODEL", "IN"}},
	{TEXT, {"flame", "--cpu", "IN", "--gpu", "IN"}},
	{TEXT, {"flame", "--gpu", "IN"}},
	{TEXT, {"export", "-f", "perfetto", "IN"}},
	{JSON, {"export", "-f", "chrome", "IN"}},
	{TEXT, {"export", "-f", "folded", "IN"}},
	{TEXT, {"export", "-f", "extended_folded", "IN"}},
	{TEXT, {"export", "-f", "cupti_text", "IN"}},
	{TEXT, {"export", "-f", "csv", "IN"}},
	{JSON_LINES, {"export", "-f", "jsonl", "IN"}},
	{TEXT, {"merge", "--cpu", "IN", "--gpu", "MODEL"}},
	{JSON_LINES, {"merge", "--json", "--cpu", "MODEL", "--gpu", "IN"}},
	{TEXT, {"merge", "--pretty", "IN", "MODEL"}},
	{TEXT, {"timeline", "IN"}},
	{JSON, {"timeline", "--json", "IN"}},
	{TEXT, {"rocm", "report", "--timeline", "--amd-log", "IN"}},
	{JSON, {"rocm", "report", "--json", "--amd-log", "IN", "--ftrace", "MODEL"}},
	{TEXT, {"rocm", "report", "--ftrace", "IN", "--folded", "OUT.folded"}},
	{TEXT, {"dump", "IN"}},
	{JSON_LINES, {"dump", "--json", "IN"}},
	{TEXT, {"annotate", "--all", "-i", "IN"}},
	{JSON_LINES, {"annotate", "--json", "-i", "IN"}},
	{JSON, {"report", "--json", "--path", "IN"}},
	{TEXT, {"report", "--by", "segment", "--from", "+1us", "IN"}},
};
#define COMMAND_LINES (sizeof(command_lines) / sizeof(command_lines[0]))

static char in_path[64], model_path[64], root[32];
static int out_fd;

/* ---------------------------------------------------------------- options */

static const size_t target_size[] = {
	[OPT_FLAG] = sizeof(bool),	     [OPT_STR] = sizeof(const char *),
	[OPT_TEXT] = sizeof(const char *),   [OPT_U64] = sizeof(uint64_t),
	[OPT_PID] = sizeof(uint64_t),	     [OPT_PID_GPU] = sizeof(uint64_t),
	[OPT_SIZE] = sizeof(uint64_t),	     [OPT_MAYBE] = sizeof(const char *),
	[OPT_SECONDS] = sizeof(double),	     [OPT_TIME] = sizeof(struct opt_time),
	[OPT_KEY] = sizeof(struct opt_key),   [OPT_WORD] = sizeof(struct opt_word),
};

/** struct saved - an option's variable, as the program begins with it */
static struct saved {
	void *target;
	size_t size;
	char value[TARGET_MAX];
} saved[OPTIONS_MAX * 32];
static unsigned int saved_used;

static void save_options(const struct cmd *cmd)
{
	const struct cmd_opt *o;

	for (unsigned int n = 0; (o = cmd_opt_at(cmd, n)); n++) {
		struct saved *s = &saved[saved_used++];

		CHECK(saved_used < sizeof(saved) / sizeof(saved[0]));
		s->target = o->target;
		s->size = target_size[o->kind];
		CHECK(s->size && s->size <= TARGET_MAX);
		memcpy(s->value, s->target, s->size);
	}
}

static void restore_options(void)
{
	for (unsigned int i = 0; i < saved_used; i++)
		memcpy(saved[i].target, saved[i].value, saved[i].size);
}

/* --------------------------------------------------------------- the file */

#define EVENTS_MAX 400

static void put_events(struct trace_maker *tm, const unsigned char *data, size_t size)
{
	uint64_t time = 1000000;
	union fuzz_event r;

	for (unsigned int n = 0; size >= EVENT_STEP && n < EVENTS_MAX;
	     n++, data += EVENT_STEP, size -= EVENT_STEP) {
		if (fuzz_event(&r, data, &time))
			tm_event(tm, data[2] >> 7, &r.e);
		if (n % 64 == 63)
			tm_flush(tm, n / 64 % 2, time);
	}
	tm_close(tm);
}

static void put_file(const char *path, const void *data, size_t size)
{
	int fd = open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void make_file(const unsigned char *data, size_t size)
{
	put_file(in_path, data, size);
}

static void make_raw(const unsigned char *data, size_t size)
{
	put_events(tm_raw(in_path, 2), data, size);
}

static void make_dir(const unsigned char *data, size_t size)
{
	put_events(tm_dir(in_path, 2), data, size);
}

/* A directory in which the metadata or a stream is what the input says, the rest sound. */
static void make_bad_dir(const unsigned char *data, size_t size)
{
	static const char *const names[] = {"metadata", "kmod_0", "kmod_7", "cuda_1_1", ".debug"};
	char path[sizeof(in_path) + 16];

	put_events(tm_dir(in_path, 2), data, size);
	if (!size)
		return;
	snprintf(path, sizeof(path), "%s/%s", in_path, names[data[0] % 5]);
	put_file(path, data + 1, size - 1);
}

static void (*const make[])(const unsigned char *data, size_t size) = {
	make_file, make_raw, make_dir, make_bad_dir,
};
#define FORMS (sizeof(make) / sizeof(make[0]))

/* ------------------------------------------------------------- the command */

static char *argument(const char *word)
{
	if (!strcmp(word, "IN"))
		return in_path;
	return !strcmp(word, "MODEL") ? model_path : (char *)word;
}

static int run(const struct command_line *line)
{
	const struct cmd *cmd = cmd_find(line->word[0])->cmd;
	char *argv[WORDS_MAX + 1] = {NULL};
	bool help = false;
	int argc = 0, status;

	for (const char *const *w = line->word + 1; *w; w++)
		argv[argc++] = argument(*w);
	restore_options();
	cmd_set_name(line->word[0]);
	status = cmd_parse(cmd, &argc, argv, &help);
	/* a command line of the table is right, or it tests nothing */
	CHECK(status == EXIT_DONE && !help);
	return cmd->run(argc, argv);
}

static void check_output(const struct command_line *line)
{
	off_t size = lseek(out_fd, 0, SEEK_END);
	char *text;

	CHECK(size >= 0);
	if (!size || line->prints == TEXT)
		return;
	text = mmap(NULL, (size_t)size, PROT_READ, MAP_PRIVATE, out_fd, 0);
	CHECK(text != MAP_FAILED);
	CHECK(line->prints == JSON ? json_check(text, (size_t)size) : json_check_lines(text, (size_t)size));
	munmap(text, (size_t)size);
}

static void empty_output(void)
{
	fflush(stdout);
	clearerr(stdout);
	CHECK(!ftruncate(out_fd, 0) && !lseek(out_fd, 0, SEEK_SET));
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

static void remove_root(void)
{
	tm_remove(root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	unsigned char model[GRT_EV_MAX * EVENT_STEP];

	(void)argc;
	(void)argv;
	setlocale(LC_ALL, "C.UTF-8");
	strcpy(root, "/tmp/grtrace-fuzz.XXXXXX");
	CHECK(mkdtemp(root));
	atexit(remove_root);
	snprintf(in_path, sizeof(in_path), "%s/in", root);
	snprintf(model_path, sizeof(model_path), "%s/model", root);
	for (unsigned int i = 0; i < sizeof(model); i++)
		model[i] = (unsigned char)(i % EVENT_STEP ? i * 7 : i / EVENT_STEP);
	put_events(tm_dir(model_path, 2), model, sizeof(model));
	for (const struct cmd_row *r = cmd_rows; r->group || r->name; r++)
		if (r->name)
			save_options(r->cmd);
	out_fd = memfd_create("stdout", MFD_CLOEXEC);
	CHECK(out_fd >= 0 && dup2(out_fd, STDOUT_FILENO) == STDOUT_FILENO);
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const struct command_line *line;
	int status;

	if (size < 2)
		return 0;
	line = &command_lines[data[0] % COMMAND_LINES];
	make[data[1] % FORMS](data + 2, size - 2);
	status = run(line);
	CHECK(status >= EXIT_DONE && status <= EXIT_MISSING);
	fflush(stdout);
	check_output(line);
	empty_output();
	tm_remove(in_path);
	return 0;
}
