// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The engine of a ring, by the rows of ring_names.def.
 */
#include "engine.h"

#include <stdbool.h>
#include <string.h>

struct ring_name {
	const char *begin;
	unsigned char engine;
	bool whole;
};

static const struct ring_name ring_names[] = {
#define GRT_RING_NAME(begin, ENGINE) {begin, GRT_ENGINE_##ENGINE, false},
#define GRT_RING_WHOLE_NAME(begin, ENGINE) {begin, GRT_ENGINE_##ENGINE, true},
#include <grtrace/ring_names.def>
#undef GRT_RING_WHOLE_NAME
#undef GRT_RING_NAME
};

unsigned int grt_engine_of_ring(const char *name, size_t len)
{
	for (size_t i = 0; i < sizeof(ring_names) / sizeof(ring_names[0]); i++) {
		size_t n = strlen(ring_names[i].begin);

		if ((ring_names[i].whole ? n == len : n <= len) && !memcmp(name, ring_names[i].begin, n))
			return ring_names[i].engine;
	}
	return GRT_ENGINE_UNKNOWN;
}
