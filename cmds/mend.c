// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace mend: cuts files of recordings that end within a packet back to their complete packets. Commands
 * that read a recording change nothing and skip an incomplete packet; other programs that are strict about
 * the format do not open it.
 */
#include <errno.h>
#include <inttypes.h>
#include <string.h>

#include "inputs.h"
#include "base/say.h"
#include "cmd.h"

static const struct cmd_opt options[] = {
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

static int mend_failed(const char *path, int why)
{
	return cmd_fail(EXIT_FAILED, why == -EBUSY ? "it changes while it is read" : strerror(-why),
			why == -EBUSY ? "wait until its recorder has ended"
				      : "grtrace mend as the user who recorded it, or with sudo",
			"%s: cannot cut its files back", path);
}

/* Return: an exit status */
static int mend_one(const char *path)
{
	struct grt_err err = {0};
	struct grt_mending done;
	int ret = grt_mend(&done, path, &err);

	if (ret)
		return cmd_error(cmd_open_status(ret), &err);
	if (done.busy || done.why)
		return mend_failed(path, done.busy ? -EBUSY : done.why);
	cmd_put_text(stdout, path);
	if (done.files)
		grt_say(stdout,
			": %u {file|files} cut back to whole packets, %" PRIu64 " {byte|bytes} less\n",
			done.files, done.bytes);
	else
		printf(": all packets are whole\n");
	return EXIT_DONE;
}

static int mend_run(int argc, char **argv)
{
	int status = EXIT_DONE;

	if (!argc)
		return cmd_usage_error("no recording given: grtrace mend PATH");
	for (int i = 0; i < argc; i++)
		status = mend_one(argv[i]) ?: status;
	return cmd_close_stdout() ?: status;
}

const struct cmd cmd_mend = {.usage = "PATH...", .opts = options, .run = mend_run};
