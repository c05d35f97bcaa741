// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The names of system calls, from the C library's headers by way of a list that the Makefile makes. */
#include "syscalls.h"

#include <stddef.h>
#include <sys/syscall.h>

static const char *const names[] = {
#define GRT_SYSCALL(name) [SYS_##name] = #name,
#include "syscalls.def"
#undef GRT_SYSCALL
};

const char *grt_syscall_name(uint64_t number)
{
	return number < sizeof(names) / sizeof(names[0]) ? names[number] : NULL;
}
