// SPDX-License-Identifier: GPL-2.0
/*
 * Drops capabilities, see capabilities.h. It calls the kernel directly, so it needs no library besides libc.
 */
#include <errno.h>
#include <linux/capability.h>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "capabilities.h"

static int keep_capabilities(uint64_t keep)
{
	struct __user_cap_header_struct head = {.version = _LINUX_CAPABILITY_VERSION_3};
	struct __user_cap_data_struct data[_LINUX_CAPABILITY_U32S_3];

	if (syscall(SYS_capget, &head, data))
		return -errno;
	for (unsigned int i = 0; i < _LINUX_CAPABILITY_U32S_3; i++) {
		data[i].permitted &= (uint32_t)(keep >> 32 * i);
		data[i].effective = data[i].permitted;
		data[i].inheritable = 0;
	}
	return syscall(SYS_capset, &head, data) ? -errno : 0;
}

/* Both are tried, so a failure of one does not prevent the other. */
int capabilities_drop(uint64_t keep)
{
	int ret = keep_capabilities(keep);

	if (prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0))
		ret = ret ?: -errno;
	return ret;
}
