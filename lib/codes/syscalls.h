/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names of system calls on the architecture of this build.
 */
#ifndef GRT_CODES_SYSCALLS_H
#define GRT_CODES_SYSCALLS_H

#include <stdint.h>

/** grt_syscall_name - "clock_nanosleep", NULL if the number has no name */
const char *grt_syscall_name(uint64_t number);

#endif /* GRT_CODES_SYSCALLS_H */
