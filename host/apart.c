// SPDX-License-Identifier: GPL-2.0
/*
 * Runs code in a separate process, see apart.h. The process is a copy of this one, so it can read all its
 * data. Without the privilege to change to another user it may still be root, who can use root's files
 * without any capability. So a filter allows only system calls that work on memory and on open descriptors.
 */
#include "apart.h"

#include <errno.h>
#include <fcntl.h>
#include <grp.h>
#include <linux/audit.h>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <poll.h>
#include <signal.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "privileges.h"
#include "read_all.h"

#define NOBODY 65534
/* Limit of the memory of apart_run(). */
#define MEMORY_MAX (512ULL << 20)
#define CPU_SECONDS 5
#define PATIENCE_MS 10000

#if defined(__x86_64__)
#define ARCHITECTURE AUDIT_ARCH_X86_64
#elif defined(__aarch64__)
#define ARCHITECTURE AUDIT_ARCH_AARCH64
#endif

/** struct reply - passed through the pipe in one piece */
struct reply {
	int ret;
	_Alignas(16) char answer[APART_MAX];
};

/* ------------------------------------------------------- what the process may do */

/* With sanitizers there is no limit, because they reserve all of the address space. */
static int limit_memory(uint64_t more)
{
#ifndef __SANITIZE_ADDRESS__
	unsigned long long pages;
	struct rlimit limit;
	char text[64];

	read_line("/proc/self/statm", text, sizeof(text));
	pages = strtoull(text, NULL, 10);
	limit.rlim_cur = limit.rlim_max = pages * (unsigned long long)sysconf(_SC_PAGESIZE) + more;
	if (setrlimit(RLIMIT_AS, &limit))
		return -errno;
#endif
	return 0;
}

static int limit_rest(unsigned int cpu_seconds)
{
	const struct rlimit cpu = {cpu_seconds, cpu_seconds}, none = {0, 0};

	return setrlimit(RLIMIT_CPU, &cpu) || setrlimit(RLIMIT_CORE, &none) || setrlimit(RLIMIT_FSIZE, &none)
		       ? -errno
		       : 0;
}

static int apart_by_number(const void *a, const void *b)
{
	const int *x = a, *y = b;

	return *x < *y ? -1 : *x > *y;
}

/*
 * Closes the ranges between the descriptors that stay open. This needs no loop over a million numbers, and
 * misses no descriptor that another thread opens meanwhile.
 */
static int close_others(int *keep, size_t n)
{
	unsigned int from = 0;

	qsort(keep, n, sizeof(*keep), apart_by_number);
	for (size_t i = 0; i < n; i++) {
		if ((unsigned int)keep[i] > from && syscall(SYS_close_range, from, keep[i] - 1, 0))
			return -errno;
		from = (unsigned int)keep[i] + 1;
	}
	return syscall(SYS_close_range, from, ~0U, 0) ? -errno : 0;
}

/*
 * A process that has no privilege to change its user has given it up before; the filter applies in both
 * cases.
 */
static int become_nobody(void)
{
	if (!geteuid() &&
	    (setgroups(0, NULL) || setresgid(NOBODY, NOBODY, NOBODY) || setresuid(NOBODY, NOBODY, NOBODY)) &&
	    errno != EPERM)
		return -errno;
	return capabilities_drop(0);
}

#ifdef ARCHITECTURE

/* System calls for memory, and for descriptors that are open already. */
static const unsigned int allowed[] = {
	SYS_read,	SYS_pread64,  SYS_write,      SYS_close,	 SYS_fstat,
	SYS_newfstatat, SYS_lseek,    SYS_mmap,	      SYS_munmap,	 SYS_mremap,
	SYS_brk,	SYS_mprotect, SYS_madvise,    SYS_futex,	 SYS_rt_sigreturn,
	SYS_getrandom,	SYS_exit,     SYS_exit_group, SYS_clock_gettime,
};

#define ALLOWED (sizeof(allowed) / sizeof(allowed[0]))

/* System calls that are not in the list fail, as they do without a privilege. */
static int filter_calls(void)
{
	struct sock_filter code[ALLOWED + 6] = {
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, arch)),
		BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, ARCHITECTURE, 1, 0),
		BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
		BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(struct seccomp_data, nr)),
	};
	struct sock_fprog program = {.len = ALLOWED + 6, .filter = code};

	for (size_t i = 0; i < ALLOWED; i++)
		code[4 + i] = (struct sock_filter)BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, allowed[i],
							   (uint8_t)(ALLOWED - i), 0);
	code[4 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ERRNO | EPERM);
	code[5 + ALLOWED] = (struct sock_filter)BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW);
	return prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) ? -errno : 0;
}

#else

/* These calls have other numbers on this architecture, so nothing is parsed in a separate process on it. */
static int filter_calls(void)
{
	return -ENOSYS;
}

#endif

static int apart_confine(const struct apart_work *w)
{
	int ret = limit_memory(w->memory);

	if (!ret)
		ret = limit_rest(w->cpu_seconds);
	if (!ret)
		ret = become_nobody();
	/* after the change of the user, which resets this */
	if (!ret && prctl(PR_SET_PDEATHSIG, SIGKILL))
		ret = -errno;
	if (!ret)
		ret = close_others(w->keep, w->n);
	return ret ? ret : filter_calls();
}

/* ---------------------------------------------------------------- a function */

/** struct call - a call of apart_run() */
struct call {
	int (*fn)(int fd, const void *arg, void *answer);
	int fd;
	const void *arg;
};

static void answer_call(int out, const void *arg)
{
	const struct call *c = arg;
	struct reply reply = {.ret = 0};

	reply.ret = c->fn(c->fd, c->arg, reply.answer);
	if (write(out, &reply, sizeof(reply)) != sizeof(reply))
		_exit(EPIPE);
}

static void apart_be_child(const struct apart_work *w, int out)
{
	int ret;

	signal(SIGPIPE, SIG_IGN);
	if (w->name)
		prctl(PR_SET_NAME, w->name);
	ret = apart_confine(w);
	if (!ret)
		w->fn(out, w->arg);
	_exit(-ret);
}

/* Return: the result of the process, -ETIMEDOUT or -EFAULT */
static int apart_listen(int in, void *answer, size_t size)
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

int apart_begin(struct apart *a, const struct apart_work *work)
{
	int pipes[2], ret;

	*a = (struct apart){.in = -1};
	if (pipe2(pipes, O_CLOEXEC))
		return -errno;
	work->keep[work->n - 1] = pipes[1];
	a->pid = fork();
	if (!a->pid)
		apart_be_child(work, pipes[1]);
	ret = a->pid < 0 ? -errno : 0;
	close(pipes[1]);
	a->in = pipes[0];
	if (ret)
		apart_end(a);
	return ret;
}

int apart_end(struct apart *a)
{
	int status = 0;

	if (a->pid > 0) {
		kill(a->pid, SIGKILL);
		while (waitpid(a->pid, &status, 0) < 0 && errno == EINTR)
			;
	}
	if (a->in >= 0)
		close(a->in);
	*a = (struct apart){.in = -1};
	return WIFEXITED(status) ? -WEXITSTATUS(status) : 0;
}

int apart_run(int (*fn)(int fd, const void *arg, void *answer), int fd, const void *arg, void *answer,
	      size_t size)
{
	const struct call call = {fn, fd, arg};
	int keep[] = {fd, -1}, ret, ended;
	const struct apart_work work = {.fn = answer_call,
					.arg = &call,
					.keep = keep,
					.n = 2,
					.memory = MEMORY_MAX,
					.cpu_seconds = CPU_SECONDS};
	struct apart a;

	if (size > APART_MAX)
		return -E2BIG;
	ret = apart_begin(&a, &work);
	if (ret)
		return ret;
	ret = apart_listen(a.in, answer, size);
	ended = apart_end(&a);
	return ret == -EFAULT && ended ? ended : ret;
}
