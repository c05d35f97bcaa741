// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Demangling, see demangle.h. */
#include "demangle.h"

#include <stddef.h>
#include <string.h>

#ifdef GRT_HAVE_IBERTY
#include <libiberty/demangle.h>

/* Longer ones stay as they are: time and stack that they take grow with them. */
#define NAME_MAX 4096U

char *grt_demangle(const char *name)
{
	/* parameters are left away, as perf does: a frame of a flame graph is a function */
	return name[0] == '_' && strnlen(name, NAME_MAX) < NAME_MAX ? cplus_demangle(name, DMGL_ANSI) : NULL;
}

bool grt_can_demangle(void)
{
	return true;
}

#else

char *grt_demangle(const char *name)
{
	(void)name;
	return NULL;
}

bool grt_can_demangle(void)
{
	return false;
}

#endif /* GRT_HAVE_IBERTY */
