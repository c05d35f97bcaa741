// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace stop: turns tracing off. The contents of the buffers stay there until they are read or cleared.
 */
#include <errno.h>

#include "kmod/kmod.h"
#include "cmd.h"
#include "cuda_default.h"

static bool opt_cuda;
static const char *opt_service;

static const struct cmd_opt options[] = {
	{"cuda", 0, OPT_FLAG, NULL, &opt_cuda, "run CUDA programs without the library again"},
	{"service", 0, OPT_STR, "NAME", &opt_service, "--cuda: for this systemd service, not for this user"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int stop_run(int argc, char **argv)
{
	struct grt_err err = {0};
	struct kmod kmod;
	int ret, running;

	if (argc)
		return cmd_usage_error("unexpected argument '%s'", argv[0]);
	if (opt_service && !opt_cuda)
		return cmd_usage_error("--service works only with --cuda");
	if (opt_cuda)
		return cuda_default_unset(opt_service);
	ret = kmod_open(&kmod, &err);
	/* without the module there is nothing to stop, and loading it would not help */
	if (ret == -ENODEV)
		return cmd_fail(EXIT_MISSING, err.why,
				"kill -INT PID, which ends a grtrace record that is running",
				"there is nothing to stop");
	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	running = kmod_running(&kmod, &err);
	ret = running == 1 ? kmod_write(&kmod, "control", "stop", &err) : running;
	kmod_close(&kmod);
	if (ret < 0)
		return cmd_error(kmod_exit_status(ret), &err);
	puts(running ? "tracing is off" : "tracing is already off");
	return cmd_close_stdout();
}

const struct cmd cmd_stop = {.usage = "[--cuda [--service NAME]]", .opts = options, .run = stop_run};
