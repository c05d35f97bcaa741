// SPDX-License-Identifier: GPL-2.0
/*
 * What debugfs said of KFD's queues before and after a program ran. How it is
 * laid out stands in drivers/gpu/drm/amd/amdkfd/kfd_debugfs.c (Linux 6.1): a line
 * that names a queue, then rows of hexadecimal words behind their offset. The
 * meaning of a word depends on the ASIC.
 */
#include "rocm.h"

int rocm_debugfs(const struct rocm_run *run, struct grt_writer *w)
{
	(void)run;
	(void)w;
	return 0;
}
