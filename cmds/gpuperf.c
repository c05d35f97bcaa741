// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace gpuperf: one command with the options and files of the tool of that name. It runs `record` with
 * these options into a directory that is removed when the files are made. `convert` makes the timeline of
 * such a file with `export`.
 */
#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "host/tempdir.h"
#include "cmd.h"
#include "host/privileges.h"

#define MERGED "merged.folded"
#define STACKS "cpu.txt"
#define CONVERT "convert"
#define TIMELINE "trace.json"
#define WORDS_MAX 16

static struct {
	const char *raw;
	const char *chrome;
	const char *cpu;
	const char *merged;
	bool cpu_only;
	bool gpu_only;
	bool no_merge;
	const char *input;
	const char *timeline;
} opt;

static const struct cmd_opt options[] = {
	{"output", 'o', OPT_STR, "RAW", &opt.raw, "launches and GPU work, as text of CUPTI's records"},
	{"chrome", 'c', OPT_STR, "FILE", &opt.chrome, "timeline in Trace Event Format"},
	{"profile", 'p', OPT_STR, "FILE", &opt.cpu, "CPU stacks of the launches, extended folded"},
	{"merged", 'm', OPT_STR, "FILE", &opt.merged,
	 "GPU time by CPU stack, folded, in us (default: " MERGED ", if no file is requested)"},
	{"cpu-profile", 0, OPT_STR, "FILE", &opt.cpu, "the same as -p"},
	{"no-merge", 0, OPT_FLAG, NULL, &opt.no_merge, "no " MERGED},
	{"cpu-only", 0, OPT_FLAG, NULL, &opt.cpu_only, "record CPU stacks only (default: -p " STACKS ")"},
	{"gpu-only", 0, OPT_FLAG, NULL, &opt.gpu_only,
	 "record no CPU stacks: GPU time by launching function"},
	{"no-gpu", 0, OPT_FLAG, NULL, &opt.cpu_only, "the same as --cpu-only"},
	{"no-cpu", 0, OPT_FLAG, NULL, &opt.gpu_only, "the same as --gpu-only"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static const struct cmd_opt convert_options[] = {
	{"input", 'i', OPT_STR, "RAW", &opt.input, "what -o wrote, or another tool"},
	{"output", 'o', OPT_STR, "FILE", &opt.timeline, "the timeline (default: " TIMELINE ")"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/** struct words - the command line of another command */
struct words {
	char *word[WORDS_MAX];
	int n;
};

static void gpuperf_add(struct words *w, const char *word, const char *value)
{
	if (!value)
		return;
	w->word[w->n++] = (char *)word;
	w->word[w->n++] = (char *)value;
}

static int gpuperf_call(const struct cmd *cmd, int n, char **words)
{
	bool help = false;
	int status = cmd_parse(cmd, &n, words, &help);

	return status == EXIT_DONE ? cmd->run(n, words) : status;
}

static int gpuperf_convert_help(void)
{
	printf("usage: grtrace gpuperf " CONVERT " -i RAW [-o " TIMELINE "]\n");
	return cmd_close_stdout();
}

/* Makes the timeline of an existing file. */
static int gpuperf_convert(int argc, char **argv)
{
	const struct cmd convert = {.opts = convert_options};
	struct words w = {.n = 0};
	bool help = false;
	int status = cmd_parse(&convert, &argc, argv, &help);

	if (status != EXIT_DONE)
		return status;
	if (help)
		return gpuperf_convert_help();
	if (argc)
		return cmd_usage_error(CONVERT ": unexpected '%s': use -i RAW [-o FILE]; a program of that "
					       "name must be run by its path",
				       argv[0]);
	if (!opt.input)
		return cmd_usage_error(CONVERT ": what? -i RAW");
	gpuperf_add(&w, "-f", "chrome");
	gpuperf_add(&w, "-i", opt.input);
	gpuperf_add(&w, "-o", opt.timeline ? opt.timeline : TIMELINE);
	return gpuperf_call(&cmd_export, w.n, w.word);
}

/* Return: an exit status */
static int gpuperf_run_record(char *output, int argc, char **argv)
{
	struct words w = {.n = 0};
	char **all = calloc((size_t)argc + WORDS_MAX + 1, sizeof(*all));
	int n, status;

	if (!all)
		return cmd_fail(EXIT_FAILED, strerror(ENOMEM), NULL, "cannot begin");
	gpuperf_add(&w, "-e", "cuda");
	gpuperf_add(&w, "-o", output);
	gpuperf_add(&w, "--stack", opt.gpu_only ? "none" : "auto");
	gpuperf_add(&w, "--cupti-text", opt.raw);
	gpuperf_add(&w, "--chrome", opt.chrome);
	gpuperf_add(&w, "--cpu-folded", opt.cpu);
	gpuperf_add(&w, "--folded", opt.merged);
	memcpy(all, w.word, (size_t)w.n * sizeof(*all));
	all[w.n] = "--";
	memcpy(all + w.n + 1, argv, (size_t)argc * sizeof(*all));
	n = w.n + 1 + argc;
	status = gpuperf_call(&cmd_record, n, all);
	free(all);
	return status;
}

static int gpuperf_check(void)
{
	if (opt.cpu_only && opt.gpu_only)
		return cmd_usage_error("--cpu-only and --gpu-only: use only one of them");
	if (opt.cpu_only && (opt.raw || opt.chrome || opt.merged))
		return cmd_usage_error("--cpu-only records no GPU work, which -o, -c and -m need");
	if (opt.gpu_only && opt.cpu)
		return cmd_usage_error("--gpu-only records no CPU stacks, which -p needs");
	if (opt.no_merge && opt.merged)
		return cmd_usage_error("--no-merge and -m: use only one of them");
	if (opt.cpu_only && !opt.cpu)
		opt.cpu = STACKS;
	if (!opt.raw && !opt.chrome && !opt.cpu && !opt.merged && opt.no_merge)
		return cmd_usage_error("--no-merge leaves nothing to write: add -o, -c or -p");
	if (!opt.raw && !opt.chrome && !opt.cpu && !opt.merged)
		opt.merged = MERGED;
	return EXIT_DONE;
}

static int gpuperf_run(int argc, char **argv)
{
	int status;
	uid_t uid = (uid_t)-1;
	gid_t gid = (gid_t)-1;
	char dir[4096], output[4128];

	if (argc && !strcmp(argv[0], CONVERT))
		return gpuperf_convert(argc - 1, argv + 1);
	status = gpuperf_check();
	if (status != EXIT_DONE)
		return status;
	if (!argc)
		return cmd_usage_error("no program to run is given");
	/* before there are files that a signal would leave behind */
	cmd_catch_signals();
	/* recording and directory belong to the user who called sudo */
	privileges_user(&uid, &gid);
	if (tempdir_make(dir, sizeof(dir), "gpuperf", uid, gid)) {
		status = cmd_fail(EXIT_FAILED, strerror(errno), "TMPDIR=DIR, a directory with free space",
				  "cannot make %s", dir);
		tempdir_remove(dir);
		return status;
	}
	snprintf(output, sizeof(output), "%s/run.grt", dir);
	status = gpuperf_run_record(output, argc, argv);
	tempdir_remove(dir);
	return status;
}

const struct cmd cmd_gpuperf = {
	.usage =
		"[-o RAW] [-c chrome.json] [-p cpu.txt] [-m merged.folded] [--] PROG [ARGS] | convert -i RAW [-o FILE]",
	.opts = options,
	.run = gpuperf_run,
	.stop_at_operand = true,
};
