// SPDX-License-Identifier: GPL-2.0
/*
 * Lets one allocation of a program fail: loaded by LD_PRELOAD, it counts them and
 * answers the one of number FAULT_AT (from 1; 0: none) with NULL, or with FAULT_ON=1
 * each from that one on. FAULT_LOG names a file that gets their number at the end.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdatomic.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <unistd.h>

static long fail_at;
static bool fail_on;
static atomic_long calls;

__attribute__((constructor)) static void begin(void)
{
	const char *at = getenv("FAULT_AT"), *on = getenv("FAULT_ON");

	atomic_store(&calls, 0);
	fail_at = at ? atol(at) : 0;
	fail_on = on && *on == '1';
}

__attribute__((destructor)) static void end(void)
{
	const char *path = getenv("FAULT_LOG");
	int fd = path ? open(path, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600) : -1;

	if (fd >= 0)
		dprintf(fd, "%ld\n", atomic_load(&calls));
}

static bool fails(void)
{
	long n = atomic_fetch_add(&calls, 1) + 1;

	if (!fail_at || (fail_on ? n < fail_at : n != fail_at))
		return false;
	errno = ENOMEM;
	return true;
}

void *__libc_malloc(size_t size);
void *__libc_calloc(size_t n, size_t size);
void *__libc_realloc(void *p, size_t size);
void *__libc_memalign(size_t align, size_t size);

void *malloc(size_t size)
{
	return fails() ? NULL : __libc_malloc(size);
}

void *calloc(size_t n, size_t size)
{
	return fails() ? NULL : __libc_calloc(n, size);
}

void *realloc(void *p, size_t size)
{
	return fails() ? NULL : __libc_realloc(p, size);
}

void *reallocarray(void *p, size_t n, size_t size)
{
	size_t bytes;

	return fails() || __builtin_mul_overflow(n, size, &bytes) ? NULL : __libc_realloc(p, bytes);
}

void *aligned_alloc(size_t align, size_t size)
{
	return fails() ? NULL : __libc_memalign(align, size);
}
