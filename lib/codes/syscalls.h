/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What system calls are called, on the architecture that this program is built for.
 */
#ifndef GRT_CODES_SYSCALLS_H
#define GRT_CODES_SYSCALLS_H

#include <stdint.h>

/** grt_syscall_name - "clock_nanosleep", NULL where the number has no name */
const char *grt_syscall_name(uint64_t number);

#endif /* GRT_CODES_SYSCALLS_H */
