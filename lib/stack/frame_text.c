// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The text of a frame, see frame_text.h. */
#include "frame_text.h"

#include <stdlib.h>
#include <string.h>

#include "base/outbuf.h"

const char *grt_frame_base(const char *path)
{
	const char *slash = strrchr(path, '/');

	return slash && slash[1] ? slash + 1 : path;
}

char *grt_frame_text(const char *function, size_t len, const char *file, uint32_t line)
{
	char number[16 + GRT_PAD] = ":", *end = number, *text, *p;
	const char *base;
	size_t base_len;

	if (!function)
		len = strlen(function = "?");
	if (!file || !*file)
		return strndup(function, len);
	if (line)
		end = grt_format_u64(number + 1, line);
	base = grt_frame_base(file);
	base_len = strlen(base);
	len = strnlen(function, len);
	text = malloc(len + base_len + (size_t)(end - number) + sizeof(" ()"));
	if (!text)
		return NULL;
	p = grt_format_text(text, function, len);
	p = grt_format_text(p, " (", 2);
	p = grt_format_text(p, base, base_len);
	p = grt_format_text(p, number, (size_t)(end - number));
	memcpy(p, ")", 2);
	return text;
}
