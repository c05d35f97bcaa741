// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace rocm: the log of AMD's runtime and the kernel's KFD on one time line.
 * `record` runs a program with both, `report` shows both.
 */
#include <string.h>

#include "cmds/cmd.h"
#include "rocm.h"

#define LEVEL_MAX 5
#define LEVEL_DEFAULT 4

static struct rocm_options opt = {.level = LEVEL_DEFAULT};

static const struct cmd_opt options[] = {
	{"output", 'o', OPT_STR, "DIR", &opt.output,
	 "record: write everything here (default: log/NAME_ftrace_TIMESTAMP)"},
	{"level", 0, OPT_U64, "N", &opt.level, "record: AMD_LOG_LEVEL of the program, 1 to 5 (default: 4)"},
	{"functions", 0, OPT_STR, "LIST", &opt.functions,
	 "record: these kernel functions instead of those of KFD, separated by commas"},
	{"buffer", 0, OPT_SIZE, "SIZE", &opt.buffer, "record: ftrace's buffer for each CPU (default: 4M)"},
	{"capture-stderr", 0, OPT_FLAG, NULL, &opt.capture_stderr,
	 "record: take the log from standard error (runtimes before AMD_LOG_LEVEL_FILE)"},
	{"container", 0, OPT_STR, "NAME", &opt.container,
	 "record: run PROG in this docker or podman container"},
	{"input", 'i', OPT_STR, "DIR", &opt.input, "report: what record wrote"},
	{"amd-log", 0, OPT_STR, "FILE", &opt.amd_log, "report: a log of the runtime"},
	{"ftrace", 0, OPT_STR, "FILE", &opt.ftrace, "report: text of ftrace or trace-cmd report"},
	{"clock-offset", 0, OPT_STR, "NS|auto", &opt.offset,
	 "report: added to the log's stamps; auto estimates it (default for two files)"},
	{"from", 0, OPT_TIME, "T", &opt.from,
	 "report: begin here: seconds, +T after the start, -T before the end"},
	{"to", 0, OPT_TIME, "T", &opt.to, "report: end here"},
	{"debugfs", 0, OPT_STR, "DIR", &opt.debugfs,
	 "report: directory with kfd_mqds.before and the like (default: DIR of -i)"},
	{"folded", 0, OPT_STR, "FILE", &opt.folded,
	 "report: write the runtime's calls by time as folded stacks, for grtrace flame"},
	{"timeline", 0, OPT_FLAG, NULL, &opt.timeline,
	 "report: first print every event as a line: time, layer, event"},
	{"relative", 0, OPT_FLAG, NULL, &opt.relative, "report: show times from the first event"},
	{"json", 'j', OPT_FLAG, NULL, &opt.json,
	 "report: as JSON; with --timeline an object per event, the report as the last one"},
	{"verbose", 'v', OPT_FLAG, NULL, &opt.verbose, "report: all columns and rows"},
	TERMINAL_WIDE_OPTION(&opt.wide),
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int usage_of_report(int argc, char **argv)
{
	if (argc)
		return cmd_usage_error("report: unexpected '%s'", argv[0]);
	if (opt.input && (opt.amd_log || opt.ftrace))
		return cmd_usage_error("report: use either -i, or --amd-log and --ftrace");
	if (!opt.input && !opt.amd_log && !opt.ftrace)
		return cmd_usage_error("report: no input: give -i DIR, or --amd-log FILE and --ftrace FILE");
	if (opt.output || opt.functions || opt.container || opt.capture_stderr || opt.buffer)
		return cmd_usage_error(
			"report: -o, --functions, --buffer, --container and --capture-stderr are for record");
	if (opt.folded && !strcmp(opt.folded, "-"))
		return cmd_fail(EXIT_USAGE, "the report is written there", "--folded calls.folded",
				"report: --folded -: cannot write the stacks to standard output");
	return EXIT_DONE;
}

static int usage_of_record(int argc)
{
	if (!argc)
		return cmd_usage_error("record: no program given: grtrace rocm record -- PROG [ARGS]");
	if (opt.level < 1 || opt.level > LEVEL_MAX)
		return cmd_usage_error("record: --level: not a number from 1 to 5");
	if (opt.input || opt.amd_log || opt.ftrace || opt.offset || opt.timeline || opt.debugfs ||
	    opt.folded || opt.from.set || opt.to.set)
		return cmd_usage_error(
			"record: -i, --amd-log, --ftrace, --clock-offset, --from, --to, --debugfs, --folded and --timeline are for report");
	return EXIT_DONE;
}

static int rocm_run(int argc, char **argv)
{
	const struct cmd record = {.opts = options, .stop_at_operand = true}, report = {.opts = options};
	bool is_record = argc && !strcmp(argv[0], "record"), help = false;
	int status;

	if (!argc || (!is_record && strcmp(argv[0], "report") != 0))
		return cmd_usage_error("%s%s%s: there are record and report", argc ? "'" : "",
				       argc ? argv[0] : "no command is given", argc ? "'" : "");
	argc--;
	argv++;
	status = cmd_parse(is_record ? &record : &report, &argc, argv, &help);
	if (status != EXIT_DONE)
		return status;
	if (help) {
		puts("see grtrace rocm --help and man grtrace-rocm");
		return cmd_close_stdout();
	}
	status = is_record ? usage_of_record(argc) : usage_of_report(argc, argv);
	if (status != EXIT_DONE)
		return status;
	return is_record ? rocm_record(&opt, argc, argv) : rocm_report(&opt);
}

const struct cmd cmd_rocm = {
	.usage =
		"record [OPTIONS] [--] PROG [ARGS] | report -i DIR | report [--amd-log FILE] [--ftrace FILE]",
	.opts = options,
	.run = rocm_run,
	.json = &rocm_json,
	.stop_at_operand = true,
};
