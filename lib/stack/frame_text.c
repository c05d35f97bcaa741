// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The text of a frame, see frame_text.h. */
#include "frame_text.h"

#include <stdio.h>
#include <string.h>

const char *grt_frame_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *grt_frame_text(const char *function, size_t len, const char *file, uint32_t line)
{
	char *text;
	int n;

	if (!function)
		len = strlen(function = "?");
	if (!file || !*file)
		return strndup(function, len);
	n = asprintf(&text, line ? "%.*s (%s:%u)" : "%.*s (%s)", (int)len, function, grt_frame_base(file),
		     line);
	return n < 0 ? NULL : text;
}
