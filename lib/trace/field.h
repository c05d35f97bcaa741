/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What fields of events.def mean beyond their kind. */
#ifndef GRT_TRACE_FIELD_H
#define GRT_TRACE_FIELD_H

#include <stdbool.h>
#include <stdint.h>
#include <string.h>

#include <grtrace/event.h>
#include <grtrace/event_table.h>

/** grt_call_is_untold - a line of text, which is not a recording, says of a call only that it was: its other
 * fields may be unknown. In a recording all bits set are a value: an ioctl's argument, -EPERM of mmap */
static inline bool grt_call_is_untold(const struct grt_event *e)
{
	switch (e->type) {
	case GRT_EV_IOCTL_ENTER:
		return ((const struct grt_ev_ioctl_enter *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_OPEN:
		return ((const struct grt_ev_open *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_CLOSE:
		return ((const struct grt_ev_close *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_POLL:
		return ((const struct grt_ev_poll *)e)->fd == GRT_FD_UNKNOWN;
	case GRT_EV_MMAP:
		/* it has no descriptor, but recordings know the device */
		return !e->device;
	default:
		return false;
	}
}

/** grt_field_is_unknown - @value, of @e, stands for none: a fence's error that no source told, what a line of
 * text does not say of a call */
static inline bool grt_field_is_unknown(const struct grt_field *f, const struct grt_event *e, int64_t value)
{
	static const char *const of_calls[] = {"addr", "arg", "at_exit", "length", "oflags", "events"};

	if (f->kind == GRT_FIELD_SIGNED)
		return (value == GRT_STATUS_UNKNOWN && !strcmp(f->name, "status")) ||
		       (value == GRT_FD_UNKNOWN && !strcmp(f->name, "fd"));
	if ((uint64_t)value != UINT64_MAX >> (64 - 8 * f->size) || !grt_call_is_untold(e))
		return false;
	for (size_t i = 0; i < sizeof(of_calls) / sizeof(of_calls[0]); i++)
		if (!strcmp(f->name, of_calls[i]))
			return true;
	return false;
}

#endif /* GRT_TRACE_FIELD_H */
