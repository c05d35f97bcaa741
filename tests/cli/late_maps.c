// SPDX-License-Identifier: GPL-2.0
/*
 * `late_maps PID PROG ARGS`: runs PROG, a recorder that attaches to the process PID.
 * When it has put its uprobes and the process has made one call and stopped itself, it
 * reads the process's mappings for its unwind tables and then for its stacks. After the
 * first part of the latter it stands still, until the process has made its other calls,
 * has stopped itself again, and is killed. Ends with its status.
 */
#include <err.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

/**
 * struct seen - what the recorder has done
 * @name: of the file with the mappings
 * @attached: it has put a uprobe
 * @opened: how often it has opened the file since; @fd: the last one, -1: none, or not yet
 * @opening, @reading: it is in this call
 */
struct seen {
	char name[32];
	bool attached;
	unsigned int opened;
	int64_t fd;
	bool opening;
	bool reading;
};

static void be_program(char **argv)
{
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		err(1, "ptrace");
	raise(SIGSTOP);
	execvp(argv[0], argv);
	err(1, "%s", argv[0]);
}

static bool is_name(pid_t pid, uint64_t at, const char *name)
{
	size_t bytes = strlen(name) + 1;

	for (size_t i = 0; i < bytes; i += sizeof(long)) {
		long word = ptrace(PTRACE_PEEKDATA, pid, at + i, 0);

		if (memcmp(&word, name + i, bytes - i < sizeof(word) ? bytes - i : sizeof(word)))
			return false;
	}
	return true;
}

/* Return: whether it has read the first part of the mappings for its stacks */
static bool see(struct seen *s, pid_t pid, const struct __ptrace_syscall_info *info)
{
	if (info->op == PTRACE_SYSCALL_INFO_ENTRY) {
		s->attached |= info->entry.nr == SYS_perf_event_open;
		s->opening = s->attached && info->entry.nr == SYS_openat &&
			     is_name(pid, info->entry.args[1], s->name);
		s->reading = info->entry.nr == SYS_read && (int64_t)info->entry.args[0] == s->fd;
		return false;
	}
	if (s->opening && info->exit.rval >= 0) {
		s->opened++;
		s->fd = info->exit.rval;
	}
	return s->reading && s->opened == 2;
}

static char state_of(const char *pid)
{
	char name[32], state;
	FILE *f;

	snprintf(name, sizeof(name), "/proc/%s/stat", pid);
	f = fopen(name, "r");
	if (!f || fscanf(f, "%*d (%*[^)]) %c", &state) != 1)
		err(1, "%s", name);
	fclose(f);
	return state;
}

static void signal_stopped(const char *pid, int number)
{
	while (state_of(pid) != 'T')
		usleep(1000);
	kill(atoi(pid), number);
}

static void end_process(const char *pid)
{
	struct pollfd end = {.fd = (int)syscall(SYS_pidfd_open, atoi(pid), 0), .events = POLLIN};

	signal_stopped(pid, SIGCONT);
	signal_stopped(pid, SIGKILL);
	if (end.fd < 0 || poll(&end, 1, -1) != 1)
		err(1, "process %s", pid);
}

int main(int argc, char **argv)
{
	struct __ptrace_syscall_info info;
	struct seen seen = {.fd = -1};
	int status, sig = 0;
	bool reached = false;
	pid_t pid;

	if (argc < 3)
		errx(2, "usage: late_maps PID PROG [ARGS]");
	snprintf(seen.name, sizeof(seen.name), "/proc/%s/maps", argv[1]);
	pid = fork();
	if (!pid)
		be_program(argv + 2);
	waitpid(pid, &status, 0);
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_TRACEEXEC | PTRACE_O_EXITKILL))
		err(1, "ptrace");
	while (!reached) {
		if (ptrace(PTRACE_SYSCALL, pid, 0, sig) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			errx(1, "it does not read %s", seen.name);
		sig = WSTOPSIG(status) == SIGTRAP ? 0 : WSTOPSIG(status);
		if (sig != (SIGTRAP | 0x80))
			continue;
		sig = 0;
		if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(info), &info) <= 0)
			err(1, "ptrace");
		reached = see(&seen, pid, &info);
	}
	end_process(argv[1]);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
