// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace stop: turns tracing off. What is in the buffers stays there until it
 * is read or cleared.
 */
#include "kmod/kmod.h"
#include "cmd.h"

static int stop_run(int argc, char **argv)
{
	struct grt_err err = {0};
	struct kmod kmod;
	int ret, running;

	if (argc)
		return cmd_usage_error("unexpected argument '%s'", argv[0]);
	ret = kmod_open(&kmod, &err);
	if (ret)
		return cmd_error(kmod_exit_status(ret), &err);
	running = kmod_running(&kmod, &err);
	ret = running == 1 ? kmod_write(&kmod, "control", "stop", &err) : running;
	kmod_close(&kmod);
	if (ret < 0)
		return cmd_error(kmod_exit_status(ret), &err);
	puts(running ? "tracing is off" : "tracing was off already");
	return cmd_close_stdout();
}

const struct cmd cmd_stop = {.usage = "", .run = stop_run};
