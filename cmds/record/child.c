// SPDX-License-Identifier: GPL-2.0
/*
 * Starts the program of a recording and waits for it. The program keeps its signals, environment and files,
 * and inherits nothing of ours.
 */
#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <pwd.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "child.h"

#define STATUS_NOT_RUN 126
#define STATUS_NOT_FOUND 127
#define STATUS_SIGNAL 128

static int exec_status(int code)
{
	return code == ENOENT ? STATUS_NOT_FOUND : STATUS_NOT_RUN;
}

static int cannot_run(int code, const char *name)
{
	bool found = strchr(name, '/') && !access(name, F_OK);
	const char *fix =
		code == ENOENT && found ? "head -n 1 of this file: the interpreter that it names is missing"
		: code == ENOENT	? "the path of a program, or the name of one in a directory of $PATH"
		: code == EISDIR	? "the path of a program in it"
		: code == EACCES	? "chmod +x, where it is a program or a script"
					: NULL;

	return cmd_fail(exec_status(code), strerror(code), fix, "cannot run %s", name);
}

/* Return: the errno of executing dir/name, 0: it can be executed. */
static int executable(const char *dir, size_t length, const char *name)
{
	char path[4096];
	struct stat st;

	if ((size_t)snprintf(path, sizeof(path), "%.*s%s%s", (int)length, dir, length ? "/" : "", name) >=
	    sizeof(path))
		return ENAMETOOLONG;
	if (!stat(path, &st) && S_ISDIR(st.st_mode))
		return EISDIR;
	return access(path, X_OK) ? errno : 0;
}

int child_find(char **argv)
{
	const char *p = getenv("PATH") ?: "/usr/local/bin:/usr/bin:/bin";
	int code = ENOENT, found;
	size_t length;

	if (strchr(argv[0], '/'))
		code = executable("", 0, argv[0]);
	for (; !strchr(argv[0], '/') && code; p += length + 1) {
		length = strcspn(p, ":");
		found = executable(length ? p : ".", length ? length : 1, argv[0]);
		if (found != ENOENT && found != ENOTDIR && found != EISDIR)
			code = found;
		if (!p[length])
			break;
	}
	if (!code)
		return 0;
	return cannot_run(code, argv[0]);
}

/* Sets the groups, home and name of the user, as a login does; the rest of the environment stays. */
static int child_become(const char *name)
{
	struct passwd *user = getpwnam(name);

	if (!user)
		return -1;
	if (initgroups(name, user->pw_gid) || setresgid(user->pw_gid, user->pw_gid, user->pw_gid) ||
	    setresuid(user->pw_uid, user->pw_uid, user->pw_uid))
		return -1;
	return setenv("HOME", user->pw_dir, 1) || setenv("USER", name, 1) || setenv("LOGNAME", name, 1);
}

/* Never returns: becomes the program, or sends the reason why it cannot. */
static void child_be_child(int go, int failed, int err_fd, const char *user, char **argv)
{
	ssize_t n;
	char byte;

	do
		n = read(go, &byte, 1);
	while (n < 0 && errno == EINTR && !cmd_signal);
	if (n != 1 && !cmd_signal)
		_exit(STATUS_NOT_RUN);
	cmd_restore_signals();
	/* a signal that we caught in its place */
	if (cmd_signal)
		_exit(STATUS_SIGNAL + cmd_signal);
	signal(SIGPIPE, SIG_DFL);
	signal(SIGXFSZ, SIG_DFL);
	if (err_fd >= 0)
		dup2(err_fd, STDERR_FILENO);
	if (!user || !child_become(user))
		execvp(argv[0], argv);
	if (write(failed, &errno, sizeof(errno)) < 0)
		_exit(STATUS_NOT_RUN);
	_exit(exec_status(errno));
}

int child_fork(struct child *c, char **argv, int err_fd, const char *user, struct grt_err *err)
{
	int go[2], failed[2];

	*c = (struct child){.go = -1, .failed = -1, .pidfd = -1};
	if (pipe2(go, O_CLOEXEC))
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot start %s", argv[0]);
	if (pipe2(failed, O_CLOEXEC)) {
		close(go[0]);
		close(go[1]);
		return grt_err_set(err, -errno, strerror(errno), NULL, "cannot start %s", argv[0]);
	}
	c->pid = fork();
	if (!c->pid) {
		close(go[1]);
		child_be_child(go[0], failed[1], err_fd, user, argv);
	}
	close(go[0]);
	close(failed[1]);
	c->go = go[1];
	c->failed = failed[0];
	if (c->pid < 0) {
		c->pid = 0;
		child_close(c);
		return grt_err_set(err, -EAGAIN, "no process can be made", NULL, "cannot start %s", argv[0]);
	}
	c->pidfd = (int)syscall(SYS_pidfd_open, c->pid, 0);
	return 0;
}

static void set_ended(struct child *c, int status)
{
	c->ended = true;
	c->by_signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
	c->status = WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}

static void child_wait(struct child *c)
{
	int status;
	pid_t pid;

	while (c->pid && !c->ended) {
		pid = waitpid(c->pid, &status, 0);
		if (pid == c->pid)
			set_ended(c, status);
		else if (pid < 0 && errno != EINTR)
			return;
	}
}

int child_run(struct child *c, char **argv)
{
	int code = 0;
	ssize_t n = write(c->go, "g", 1);

	close(c->go);
	c->go = -1;
	do
		n = read(c->failed, &code, sizeof(code));
	while (n < 0 && errno == EINTR);
	if (n != (ssize_t)sizeof(code))
		return 0;
	child_wait(c);
	return cannot_run(code, argv[0]);
}

bool child_poll(struct child *c)
{
	int status;

	if (c->pid && !c->ended && waitpid(c->pid, &status, WNOHANG) == c->pid)
		set_ended(c, status);
	return c->ended;
}

void child_close(struct child *c)
{
	if (c->go >= 0) {
		close(c->go);
		c->go = -1;
		child_wait(c);
	}
	if (c->failed >= 0)
		close(c->failed);
	if (c->pidfd >= 0)
		close(c->pidfd);
	c->failed = -1;
	c->pidfd = -1;
}
