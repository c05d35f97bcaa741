// SPDX-License-Identifier: GPL-2.0
/* The rows of sources.def. */
#include "source.h"

const struct source *const all_sources[SOURCES] = {
#define GRT_SOURCE(name, help) &source_##name,
#include "sources.def"
#undef GRT_SOURCE
};
