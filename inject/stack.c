// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Bounds of stacks. The C library knows those of its threads. Another stack (an alternate signal stack, or a
 * coroutine's) may have been freed and allocated anew with another size since the last look, so nothing
 * about it is stored: each page is checked when a walk comes to it.
 */
#include "stack.h"

#include <errno.h>
#include <pthread.h>
#include <stddef.h>
#include <sys/syscall.h>
#include <unistd.h>

/* The stack of the first thread, whose bounds the C library reads from a file. */
static struct grt_stack first;

static struct grt_stack stack_ask(void)
{
	struct grt_stack s = {0, 0};
	pthread_attr_t attr;
	void *low;
	size_t size;
	int error = errno;

	if (pthread_getattr_np(pthread_self(), &attr))
		return s;
	if (!pthread_attr_getstack(&attr, &low, &size))
		s = (struct grt_stack){(uintptr_t)low, (uintptr_t)low + size};
	pthread_attr_destroy(&attr);
	errno = error;
	return s;
}

void grt_stack_init(void)
{
	if (syscall(SYS_gettid) == getpid())
		first = stack_ask();
}

struct grt_stack grt_stack_of_thread(void)
{
	return grt_stack_has(&first, (uintptr_t)__builtin_frame_address(0)) ? first : stack_ask();
}

/*
 * The kernel reads a set of signals from the address before it finds that there is nothing to do with it. An
 * unmapped address is an error, and nothing is changed.
 */
bool grt_stack_readable(uint64_t address)
{
#if defined(__x86_64__)
	register long size __asm__("r10") = 8;
	long ret;

	__asm__ volatile("syscall"
			 : "=a"(ret)
			 : "a"(SYS_rt_sigprocmask), "D"(-1L), "S"(address & ~7ULL), "d"(0L), "r"(size)
			 : "rcx", "r11", "memory");
	return ret == -EINVAL;
#elif defined(__aarch64__)
	register long call __asm__("x8") = SYS_rt_sigprocmask, ret __asm__("x0") = -1;
	register uint64_t set __asm__("x1") = address & ~7ULL;
	register long old __asm__("x2") = 0, size __asm__("x3") = 8;

	__asm__ volatile("svc #0" : "+r"(ret) : "r"(call), "r"(set), "r"(old), "r"(size) : "memory");
	return ret == -EINVAL;
#else
	return false;
#endif
}
