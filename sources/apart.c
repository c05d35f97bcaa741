// SPDX-License-Identifier: GPL-2.0
/*
 * A process of its own, see apart.h. It is a copy of this one: what it knows it
 * may read, but it can open, trace and signal nothing of anybody else's.
 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <signal.h>
#include <stdint.h>
#include <stdio.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "capabilities.h"

#define NOBODY 65534
/* Beyond what this process has already. */
#define MEMORY_MAX (512ULL << 20)
#define CPU_SECONDS 5
#define PATIENCE_MS 10000

/** struct reply - through the pipe, in one piece */
struct reply {
	int ret;
	_Alignas(16) char answer[APART_MAX];
};

/* Sanitizers take all of the address space for themselves. */
static int limit_memory(void)
{
#ifndef __SANITIZE_ADDRESS__
	unsigned long long pages = 0;
	FILE *f = fopen("/proc/self/statm", "re");
	struct rlimit limit;

	if (!f || fscanf(f, "%llu", &pages) != 1)
		pages = 0;
	if (f)
		fclose(f);
	limit.rlim_cur = limit.rlim_max = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + MEMORY_MAX;
	if (setrlimit(RLIMIT_AS, &limit))
		return -errno;
#endif
	return 0;
}

static int limit_rest(void)
{
	const struct rlimit cpu = {CPU_SECONDS, CPU_SECONDS}, none = {0, 0};

	return setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &none)
		       ? -errno
		       : 0;
}

/* All but two: no loop over a million numbers, and nothing that is opened meanwhile by another thread. */
static int close_others(int one, int other)
{
	unsigned int low = (unsigned int)(one < other ? one : other),
		     high = (unsigned int)(one < other ? other : one);
	const unsigned int range[][2] = {{0, low - 1}, {low + 1, high - 1}, {high + 1, ~0U}};

	for (size_t i = low ? 0 : 1; i < sizeof(range) / sizeof(range[0]); i++)
		if (range[i][0] <= range[i][1] && syscall(SYS_close_range, range[i][0], range[i][1], 0))
			return -errno;
	return 0;
}

/* Root without capabilities could still open what is root's. */
static int become_nobody(void)
{
	if (!geteuid() &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)))
		return -errno;
	return capabilities_drop(0);
}

static int confine(int fd, int out)
{
	int ret = limit_memory();

	if (!ret)
		ret = limit_rest();
	if (!ret)
		ret = become_nobody();
	/* after the change of the user, which takes it back */
	if (!ret && prctl(PR_SET_PDEATHSIG, SIGKILL))
		ret = -errno;
	return ret ? ret : close_others(fd, out);
}

static void be_child(int (*fn)(int fd, const void *arg, void *answer), int fd, const void *arg, int out)
{
	struct reply reply = {.ret = 0};

	signal(SIGPIPE, SIG_IGN);
	reply.ret = confine(fd, out);
	if (!reply.ret)
		reply.ret = fn(fd, arg, reply.answer);
	_exit(write(out, &reply, sizeof(reply)) != sizeof(reply));
}

/* Return: what it says, -ETIMEDOUT or -EFAULT */
static int listen(int in, void *answer, size_t size)
{
	struct pollfd ready = {.fd = in, .events = POLLIN};
	struct reply reply;
	int n;

	do
		n = poll(&ready, 1, PATIENCE_MS);
	while (n < 0 && errno == EINTR);
	if (n <= 0)
		return -ETIMEDOUT;
	if (read(in, &reply, sizeof(reply)) != sizeof(reply))
		return -EFAULT;
	if (!reply.ret)
		memcpy(answer, reply.answer, size);
	return reply.ret > 0 ? -EFAULT : reply.ret;
}

int apart_run(int (*fn)(int fd, const void *arg, void *answer), int fd, const void *arg, void *answer,
	      size_t size)
{
	int pipes[2], ret;
	pid_t pid;

	if (size > APART_MAX)
		return -E2BIG;
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	pid = fork();
	if (!pid)
		be_child(fn, fd, arg, pipes[1]);
	ret = pid < 0 ? -errno : 0;
	close(pipes[1]);
	if (pid > 0) {
		ret = listen(pipes[0], answer, size);
		kill(pid, SIGKILL);
		while (waitpid(pid, NULL, 0) < 0 && errno == EINTR)
			;
	}
	close(pipes[0]);
	return ret;
}
