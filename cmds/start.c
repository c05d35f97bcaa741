// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace start: loads the module and the adapters of the loaded drivers, and turns tracing on.
 */
#include "kmod/kmod.h"
#include "cmd.h"
#include "cuda_default.h"

static bool opt_cuda;
static const char *opt_service;

static const struct cmd_opt options[] = {
	{"cuda", 0, OPT_FLAG, NULL, &opt_cuda,
	 "run CUDA programs with the library that record -e cuda -p uses"},
	{"service", 0, OPT_STR, "NAME", &opt_service, "--cuda: for this systemd service, not for this user"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static void start_note(const char *text)
{
	cmd_put_text(stdout, text);
	putchar('\n');
}

static int start_start_run(int argc, char **argv)
{
	struct grt_err err = {0};
	struct kmod kmod;
	int ret, running = 0;

	if (argc)
		return cmd_usage_error("unexpected argument '%s'", argv[0]);
	if (opt_service && !opt_cuda)
		return cmd_usage_error("--service works only with --cuda");
	if (opt_cuda)
		return cuda_default_set(opt_service);
	ret = kmod_load(start_note, &err);
	if (!ret)
		ret = kmod_open(&kmod, &err);
	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	running = kmod_running(&kmod, &err);
	ret = running ? running : kmod_write(&kmod, "control", "start", &err);
	kmod_close(&kmod);
	if (ret < 0)
		return cmd_error(kmod_exit_status(ret), &err);
	puts(running ? "tracing is already on" : "tracing is on");
	return cmd_close_stdout();
}

const struct cmd cmd_start = {.usage = "[--cuda [--service NAME]]", .opts = options, .run = start_start_run};
