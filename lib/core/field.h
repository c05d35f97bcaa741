/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What fields of events.def mean beyond their kind. */
#ifndef GRT_CORE_FIELD_H
#define GRT_CORE_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <grtrace/event_table.h>

/** grt_field_is_unknown - @value stands for none: a fence's error that no source told */
static inline bool grt_field_is_unknown(const struct grt_field *f, int64_t value)
{
	return value == GRT_STATUS_UNKNOWN && f->kind == GRT_FIELD_SIGNED && !strcmp(f->name, "status");
}

#endif /* GRT_CORE_FIELD_H */
