// SPDX-License-Identifier: GPL-2.0
/* The program that record runs: as which user it runs, and how it ends. */
#include <pwd.h>
#include <signal.h>
#include <string.h>
#include <unistd.h>

#include "cmds/cmd.h"
#include "host/privileges.h"
#include "record.h"

/*
 * How long the program may take to end after Ctrl-C before it gets SIGTERM, and after that before it is left
 * running.
 */
#define GRACE_NS (2 * NS_PER_S)

int record_program_user(const char *name, const char *prog)
{
	struct passwd *user;

	if (!prog)
		return cmd_usage_error("--user %s needs a program to run: grtrace record --user %s -- PROG",
				       name, name);
	user = getpwnam(name);
	if (!user)
		return cmd_usage_error("--user %s: there is no such user", name);
	if (geteuid())
		return cmd_fail(EXIT_MISSING, "only root may", "sudo grtrace record ...",
				"cannot run a program as the user %s", name);
	privileges_for_user(user->pw_uid, user->pw_gid);
	return EXIT_DONE;
}

bool record_program_may_end(struct run *run, uint64_t now)
{
	if (run->gave_up)
		return false;
	if (!run->asked) {
		run->asked = now;
		/* If a key at the terminal sent the signal, PROG got it, too. */
		return !cmd_signal_sent || !kill(run->child.pid, cmd_signal);
	}
	if (now - run->asked < GRACE_NS)
		return true;
	if (now - run->asked < 2 * GRACE_NS)
		return !kill(run->child.pid, SIGTERM);
	run->gave_up = true;
	return false;
}

int record_program_run(struct run *run, char **argv)
{
	if (!run->child.pid || !cmd_signal)
		return run->child.pid ? child_run(&run->child, argv) : 0;
	child_close(&run->child);
	return cmd_fail(128 + cmd_signal, strsignal(cmd_signal), NULL, "%s was not started", argv[0]);
}

static void program_wait(struct run *run)
{
	struct pollfd end = {.fd = run->child.pidfd, .events = POLLIN};

	while (!child_poll(&run->child) && !(cmd_signal && !record_program_may_end(run, grt_now())))
		poll(&end, 1, RECORD_TICK_MS);
}

/* A shell prints this about a program that it starts itself, but not about one of ours. */
static void program_note_signal(const struct run *run, const char *name)
{
	char text[256];

	if (!run->child.ended || !run->child.by_signal || cmd_signal)
		return;
	snprintf(text, sizeof(text), "%.128s was ended by signal %d (%s)", name, run->child.by_signal,
		 strsignal(run->child.by_signal));
	record_note(text);
}

int record_program_status(struct run *run, char **argv)
{
	if (!run->child.pid)
		return run->status;
	if (!child_poll(&run->child) && !cmd_signal)
		record_note("recording has ended, waiting for the program to end");
	program_wait(run);
	program_note_signal(run, argv[0]);
	if (run->child.ended)
		return run->child.status ? run->child.status : run->status;
	cmd_fail(EXIT_FAILED, "it did not end", NULL, "%s (process %d) is left running", argv[0],
		 (int)run->child.pid);
	return 128 + cmd_signal;
}
