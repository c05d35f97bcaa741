// SPDX-License-Identifier: GPL-2.0
/*
 * `interrupt_at flock|pidfd_open|write PROG ARGS`: runs PROG in a process group of its
 * own, which gets SIGINT when PROG first makes that system call: all of it, as by
 * Ctrl-C, or with pidfd_open the process that is asked for. Ends with its status.
 */
#include <err.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/ptrace.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

static const struct {
	const char *name;
	uint64_t number;
} calls[] = {
	{"flock", SYS_flock},
	{"pidfd_open", SYS_pidfd_open},
	{"write", SYS_write},
};
#define CALLS (sizeof(calls) / sizeof(calls[0]))

static void be_program(char **argv)
{
	setpgid(0, 0);
	/* a shell's job in the background would ignore it */
	signal(SIGINT, SIG_DFL);
	if (ptrace(PTRACE_TRACEME, 0, 0, 0))
		err(1, "ptrace");
	raise(SIGSTOP);
	execvp(argv[0], argv);
	err(1, "%s", argv[0]);
}

static bool is_entry(pid_t pid, int status, uint64_t number, struct __ptrace_syscall_info *info)
{
	if (!WIFSTOPPED(status) || WSTOPSIG(status) != (SIGTRAP | 0x80))
		return false;
	if (ptrace(PTRACE_GET_SYSCALL_INFO, pid, sizeof(*info), info) <= 0)
		err(1, "ptrace");
	return info->op == PTRACE_SYSCALL_INFO_ENTRY && info->entry.nr == number;
}

int main(int argc, char **argv)
{
	struct __ptrace_syscall_info info;
	size_t call = 0;
	int status;
	pid_t pid;

	while (argc > 2 && call < CALLS && strcmp(argv[1], calls[call].name) != 0)
		call++;
	if (argc < 3 || call == CALLS)
		errx(2, "usage: interrupt_at flock|pidfd_open|write PROG [ARGS]");
	pid = fork();
	if (!pid)
		be_program(argv + 2);
	waitpid(pid, &status, 0);
	if (ptrace(PTRACE_SETOPTIONS, pid, 0, PTRACE_O_TRACESYSGOOD | PTRACE_O_EXITKILL))
		err(1, "ptrace");
	do {
		if (ptrace(PTRACE_SYSCALL, pid, 0, 0) || waitpid(pid, &status, 0) != pid ||
		    !WIFSTOPPED(status))
			errx(1, "it does not call %s", argv[1]);
	} while (!is_entry(pid, status, calls[call].number, &info));
	kill(calls[call].number == SYS_pidfd_open ? (pid_t)info.entry.args[0] : -pid, SIGINT);
	ptrace(PTRACE_DETACH, pid, 0, 0);
	waitpid(pid, &status, 0);
	return WIFSIGNALED(status) ? 128 + WTERMSIG(status) : WEXITSTATUS(status);
}
