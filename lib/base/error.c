// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Errors in three parts. The library sets them; only programs print them.
 */
#include <grtrace/grtrace.h>

#include <errno.h>
#include <string.h>

#include "say.h"
#include <sys/resource.h>

/* Enough for a recording of many CPUs, or with many files. */
#define ENOUGH_FILES 65536ULL

/*
 * If something could not be opened for lack of descriptors, only a higher limit helps, which a user can set
 * up to the hard limit.
 */
static void advise_on_files(struct grt_err *err)
{
	struct rlimit limit;
	unsigned long long hard;

	if (getrlimit(RLIMIT_NOFILE, &limit))
		return;
	hard = limit.rlim_max < ENOUGH_FILES ? limit.rlim_max : ENOUGH_FILES;
	snprintf(err->why, sizeof(err->why), "%s (the limit is %llu)", strerror(EMFILE),
		 (unsigned long long)limit.rlim_cur);
	if (hard > limit.rlim_cur)
		snprintf(err->fix, sizeof(err->fix), "ulimit -n %llu", hard);
	else
		snprintf(err->fix, sizeof(err->fix), "sudo prlimit --nofile=%llu --pid $$", ENOUGH_FILES);
}

int grt_err_set(struct grt_err *err, int code, const char *why, const char *fix, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	grt_say_text_va(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	snprintf(err->why, sizeof(err->why), "%s", why ? why : "");
	snprintf(err->fix, sizeof(err->fix), "%s", fix ? fix : "");
	if (code == -EMFILE)
		advise_on_files(err);
	return code;
}
