// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Errors in three parts. The library fills them in; only programs print them.
 */
#include <grtrace/grtrace.h>

int grt_err_set(struct grt_err *err, int code, const char *why, const char *fix, const char *fmt, ...)
{
	va_list ap;

	if (!err)
		return code;
	va_start(ap, fmt);
	vsnprintf(err->what, sizeof(err->what), fmt, ap);
	va_end(ap);
	snprintf(err->why, sizeof(err->why), "%s", why ? why : "");
	snprintf(err->fix, sizeof(err->fix), "%s", fix ? fix : "");
	return code;
}
