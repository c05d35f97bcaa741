/* SPDX-License-Identifier: GPL-2.0 */
/* The PID namespace of this process, to which the PIDs that a user types belong. */
#ifndef GRTRACE_PID_NS_H
#define GRTRACE_PID_NS_H

#include <stdint.h>
#include <sys/stat.h>

/* The kernel's PROC_PID_INIT_INO: the inode of the initial namespace, whose PIDs the kernel itself uses. */
#define PID_NS_FIRST 0xeffffffcU

/** pid_ns - the inode of the namespace, 0: unknown */
static inline uint32_t pid_ns(void)
{
	struct stat st;

	return stat("/proc/self/ns/pid", &st) ? 0 : (uint32_t)st.st_ino;
}

/** pid_ns_inner - the inode of the namespace, 0 if it is unknown or the initial one */
static inline uint32_t pid_ns_inner(void)
{
	uint32_t number = pid_ns();

	return number == PID_NS_FIRST ? 0 : number;
}

#endif /* GRTRACE_PID_NS_H */
