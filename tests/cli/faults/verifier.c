// SPDX-License-Identifier: GPL-2.0
/*
 * A library that disturbs how the kernel's verifier looks at the programs at ioctl, as the variable VERIFIER
 * says:
 *   refuses  their first instruction reads a register that nobody has written
 *   stopped  the kernel answers as in a process that was stopped and continues, each time
 *   signals  the thread gets signals all the time
 * libbpf makes its system calls by syscall().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <errno.h>
#include <linux/bpf.h>
#include <pthread.h>
#include <signal.h>
#include <stdarg.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

typedef long call(long number, ...);

static atomic_bool over;
static pthread_t loader;

static void ignore(int number)
{
	(void)number;
}

static void *send_signals(void *arg)
{
	for (; !over; usleep(20))
		pthread_kill(loader, SIGUSR1);
	return arg;
}

static long with_signals(call *next, const long *a)
{
	struct sigaction act = {.sa_handler = ignore, .sa_flags = SA_RESTART}, before;
	pthread_t sender;
	long ret;
	int code;

	over = false;
	loader = pthread_self();
	sigaction(SIGUSR1, &act, &before);
	if (pthread_create(&sender, NULL, send_signals, NULL))
		abort();
	ret = next(SYS_bpf, a[0], a[1], a[2], a[3], a[4], a[5]);
	code = errno;
	over = true;
	pthread_join(sender, NULL);
	/* what is pending goes, too */
	signal(SIGUSR1, SIG_IGN);
	sigaction(SIGUSR1, &before, NULL);
	errno = code;
	return ret;
}

static long load(call *next, const long *a)
{
	struct bpf_insn *first = (struct bpf_insn *)(uintptr_t)((union bpf_attr *)a[1])->insns;
	const char *way = getenv("VERIFIER");

	if (!strcmp(way, "signals"))
		return with_signals(next, a);
	if (!strcmp(way, "stopped")) {
		errno = EAGAIN;
		return -1;
	}
	*first = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 0, .src_reg = 9};
	return next(SYS_bpf, a[0], a[1], a[2], a[3], a[4], a[5]);
}

long syscall(long number, ...)
{
	call *next = (call *)dlsym(RTLD_NEXT, "syscall");
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD &&
	    !strncmp(((union bpf_attr *)a[1])->prog_name, "ioctl_", 6))
		return load(next, a);
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
