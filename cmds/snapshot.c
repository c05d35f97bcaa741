// SPDX-License-Identifier: GPL-2.0
/*
 * grtrace snapshot: sends SIGUSR1 to a recorder with a black box. A process is only signalled if it has the
 * recorder's name and catches the signal, so that no other process with a reused pid is killed.
 */
#include <ctype.h>
#include <dirent.h>
#include <errno.h>
#include <fcntl.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/file.h>
#include <sys/stat.h>
#include <time.h>
#include <unistd.h>

#include "host/read_all.h"
#include "record/record_box.h"
#include "trace/env.h"
#include "trace/segment.h"
#include "cmd.h"

#define METADATA_MAX (1U << 20)
/* How long to wait for a snapshot. */
#define BEGIN_NS (10 * NS_PER_S)
#define LOOK_NS 50000000L

static double wait_seconds;

static const struct cmd_opt options[] = {
	{"wait", 'w', OPT_SECONDS, "TIME", &wait_seconds,
	 "with DIR: wait at most this time until the snapshot is complete (default: 60)"},
	{NULL, 0, OPT_FLAG, NULL, NULL, NULL},
};

/* ------------------------------------------------------------ the process */

static bool snapshot_is_box(int pid)
{
	char value[64];

	read_status(pid, "Name", value, sizeof(value));
	if (strcmp(value, RECORD_BOX_COMM))
		return false;
	read_status(pid, "SigCgt", value, sizeof(value));
	return strtoull(value, NULL, 16) >> (SIGUSR1 - 1) & 1;
}

static int snapshot_parent(int pid)
{
	char value[32];

	read_status(pid, "PPid", value, sizeof(value));
	return atoi(value);
}

/*
 * Finds the only black box here, without processes that it has started. Return: its pid, 0: there is none,
 * -1: there are several
 */
static int snapshot_find(void)
{
	DIR *d = opendir("/proc");
	struct dirent *e;
	int found = 0;

	while (d && (e = readdir(d)))
		if (isdigit((unsigned char)e->d_name[0]) && snapshot_is_box(atoi(e->d_name)) &&
		    !snapshot_is_box(snapshot_parent(atoi(e->d_name))))
			found = found ? -1 : atoi(e->d_name);
	if (d)
		closedir(d);
	return found;
}

/* Return: an exit status */
static int snapshot_ask(int pid)
{
	if (!snapshot_is_box(pid))
		return cmd_fail(EXIT_FAILED, "it is not a recorder with a black box",
				"grtrace record --last 60", "cannot request a snapshot from process %d", pid);
	if (!kill(pid, SIGUSR1))
		return EXIT_DONE;
	return cmd_fail(errno == EPERM ? EXIT_MISSING : EXIT_FAILED, strerror(errno), "sudo grtrace snapshot",
			"cannot request a snapshot from process %d", pid);
}

/* ---------------------------------------------------------- the directory */

/* The environment of a recording's metadata. Return: 0 or -errno */
static int snapshot_env(int dir, const char *path, struct grt_env_list *env)
{
	int fd = openat(dir, path, O_RDONLY | O_CLOEXEC | O_NONBLOCK | O_NOFOLLOW);
	char *text = fd >= 0 ? malloc(METADATA_MAX + 1) : NULL;
	ssize_t n = text ? read(fd, text, METADATA_MAX) : -1;
	size_t offset;
	int ret = n < 0 ? -errno : 0;

	if (!ret) {
		text[n] = '\0';
		ret = grt_env_parse(env, text, (size_t)n, &offset);
	}
	if (fd >= 0)
		close(fd);
	free(text);
	return ret;
}

/* Finds the process that writes into the directory and holds its lock. Return: 0: there is none */
static int snapshot_owner(int dir)
{
	struct grt_env_list env = {.used = 0};
	const char *box;
	int pid = 0;

	if (!flock(dir, LOCK_SH | LOCK_NB)) {
		flock(dir, LOCK_UN);
		return 0;
	}
	if (!snapshot_env(dir, "metadata", &env)) {
		box = grt_env_get(&env, "black_box");
		pid = box ? atoi(box) : 0;
	}
	grt_env_free(&env);
	return pid;
}

static unsigned long snapshot_newest(int dir)
{
	struct recording r = {.dir = dir};

	return recording_snapshots(&r);
}

static bool snapshot_is_complete(int dir, unsigned long number)
{
	struct grt_env_list env = {.used = 0};
	const char *state;
	char path[64];
	bool complete;

	snprintf(path, sizeof(path), GRT_SNAPSHOT "_%06lu/metadata", number);
	complete = !snapshot_env(dir, path, &env) && (state = grt_env_get(&env, "state")) &&
		   !strcmp(state, "complete");
	grt_env_free(&env);
	return complete;
}

/* Return: whether snapshot @number exists, and is complete if @whole is set */
static bool snapshot_wait(int dir, unsigned long number, bool whole, uint64_t limit)
{
	const struct timespec pause = {.tv_nsec = LOOK_NS};

	for (;;) {
		if (snapshot_newest(dir) >= number && (!whole || snapshot_is_complete(dir, number)))
			return true;
		if (grt_now() > limit || cmd_signal)
			return false;
		nanosleep(&pause, NULL);
	}
}

static int snapshot_of_directory(int dir, const char *path)
{
	unsigned long number = snapshot_newest(dir) + 1;
	int pid = snapshot_owner(dir), status;

	if (!pid)
		return cmd_fail(EXIT_FAILED, "no recorder with a black box writes to it",
				"grtrace record --last 60 -o DIR", "cannot request a snapshot from %s", path);
	status = snapshot_ask(pid);
	if (status != EXIT_DONE)
		return status;
	if (!snapshot_wait(dir, number, false, grt_now() + BEGIN_NS))
		return cmd_fail(EXIT_FAILED, "the recorder writes one already, or still pauses after one",
				"the same command later, or record --pause 1", "no new snapshot in %s", path);
	if (!snapshot_wait(dir, number, true,
			   grt_now() + (uint64_t)((wait_seconds > 0 ? wait_seconds : 60) * NS_PER_S)))
		return cmd_fail(EXIT_FAILED, "the recorder still writes it", "a larger --wait",
				"%s/" GRT_SNAPSHOT "_%06lu is not complete", path, number);
	cmd_put_text(stdout, path);
	printf("/" GRT_SNAPSHOT "_%06lu\n", number);
	return cmd_close_stdout();
}

static int snapshot_of_process(int pid)
{
	int status;

	if (pid <= 0)
		return cmd_fail(EXIT_FAILED, pid ? "several recorders run" : "there is none",
				pid ? "grtrace snapshot DIR, or its PID" : "grtrace record --last 60",
				"cannot find the recorder with a black box");
	status = snapshot_ask(pid);
	if (status == EXIT_DONE)
		printf("requested a snapshot from process %d\n", pid);
	return status == EXIT_DONE ? cmd_close_stdout() : status;
}

static int snapshot_run(int argc, char **argv)
{
	int dir, status;

	if (argc > 1)
		return cmd_usage_error("unexpected argument '%s'", argv[1]);
	if (!argc)
		return snapshot_of_process(snapshot_find());
	dir = open(argv[0], O_RDONLY | O_DIRECTORY | O_CLOEXEC);
	if (dir < 0 && argv[0][0] && strspn(argv[0], "0123456789") == strlen(argv[0]))
		return snapshot_of_process(atoi(argv[0]));
	if (dir < 0)
		return cmd_fail(EXIT_FAILED, strerror(errno),
				"the directory of record --last, or its process id", "cannot open %s",
				argv[0]);
	cmd_catch_signals();
	status = snapshot_of_directory(dir, argv[0]);
	close(dir);
	return status;
}

const struct cmd cmd_snapshot = {
	.usage = "[--wait TIME] [PID | DIR]",
	.opts = options,
	.run = snapshot_run,
};
