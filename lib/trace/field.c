// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The table of values that mean "unknown", see field.h. */
#include "field.h"

/* The rows of an event end with a row of size 0. */
#define GRT_UNKNOWN(type, field, number)                                                                     \
	{.value =                                                                                            \
		 (uint64_t)(number) & (UINT64_MAX >> (64 - 8 * sizeof(((struct grt_ev_##type *)0)->field))), \
	 .offset = offsetof(struct grt_ev_##type, field),                                                    \
	 .size = sizeof(((struct grt_ev_##type *)0)->field)},
#define GRT_UNTOLD(type, field)                                                        \
	{.value = UINT64_MAX >> (64 - 8 * sizeof(((struct grt_ev_##type *)0)->field)), \
	 .offset = offsetof(struct grt_ev_##type, field),                              \
	 .size = sizeof(((struct grt_ev_##type *)0)->field),                           \
	 .untold = true},
#define GRT_KNOWN_BY(type, field, bit)                       \
	{.offset = offsetof(struct grt_ev_##type, field),    \
	 .size = sizeof(((struct grt_ev_##type *)0)->field), \
	 .known = (bit)},
#define GRT_UNKNOWN_EVENT(NAME, rows) [GRT_EV_##NAME] = (const struct grt_unknown[]){rows{.size = 0}},

const struct grt_unknown *const grt_unknown_values[GRT_EV_MAX] = {
#include "unknown.def"
};

#undef GRT_UNKNOWN_EVENT
#undef GRT_KNOWN_BY
#undef GRT_UNTOLD
#undef GRT_UNKNOWN
