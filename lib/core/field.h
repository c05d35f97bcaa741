/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What fields of events.def mean beyond their kind. */
#ifndef GRT_CORE_FIELD_H
#define GRT_CORE_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <grtrace/event_table.h>

/** grt_field_is_unknown - @value stands for none: a fence's error that no source told, what a line of text
 * does not say of a call */
static inline bool grt_field_is_unknown(const struct grt_field *f, int64_t value)
{
	static const char *const of_calls[] = {"addr", "arg", "at_exit", "length", "oflags", "events"};

	if (f->kind == GRT_FIELD_SIGNED)
		return (value == GRT_STATUS_UNKNOWN && !strcmp(f->name, "status")) ||
		       (value == GRT_FD_UNKNOWN && !strcmp(f->name, "fd"));
	if ((uint64_t)value != UINT64_MAX >> (64 - 8 * f->size))
		return false;
	for (size_t i = 0; i < sizeof(of_calls) / sizeof(of_calls[0]); i++)
		if (!strcmp(f->name, of_calls[i]))
			return true;
	return false;
}

#endif /* GRT_CORE_FIELD_H */
