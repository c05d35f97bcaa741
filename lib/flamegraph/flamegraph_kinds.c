// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The rows of frame_kinds.def. */
#include <fnmatch.h>

#include "flamegraph_parts.h"

const struct flamegraph_kind flamegraph_kinds[] = {
#define GRT_FRAME_KIND(name, pattern, red, green, blue, help) {#name, pattern, {red, green, blue}, help},
#include "frame_kinds.def"
	{NULL, NULL, {0}, NULL},
};

unsigned int flamegraph_kind_of(const char *text, size_t len)
{
	unsigned int i = 0;
	char name[256];

	/* the end counts, too: suffixes distinguish kinds */
	if (len < sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
	else
		snprintf(name, sizeof(name), "%.127s%.127s", text, text + len - 127);
	while (flamegraph_kinds[i + 1].name && fnmatch(flamegraph_kinds[i].pattern, name, FNM_EXTMATCH))
		i++;
	return i;
}

void grt_flamegraph_colour(const char *frame, unsigned int rgb[3])
{
	const struct flamegraph_kind *kind = &flamegraph_kinds[flamegraph_kind_of(frame, strlen(frame))];

	for (int i = 0; i < 3; i++)
		rgb[i] = kind->colour[i];
}
