// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The version of the library with which a program runs. */
#include <grtrace/grtrace.h>

const char *grt_version(void)
{
	return GRT_VERSION;
}
