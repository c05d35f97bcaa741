/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Lines of a merged timeline for people: who did what, and behind an arrow
 * what follows from it.
 */
#ifndef GRT_LINES_PRETTY_H
#define GRT_LINES_PRETTY_H

#include "event_text.h"
#include "joins.h"

/** grt_pretty_fields - what is shown of an event's row */
extern const struct grt_text_row grt_pretty_fields[];

/**
 * grt_pretty_body - what stands behind the source of a line
 * @fields: writes those of grt_pretty_fields
 * @p: room for some thousand bytes
 * @name: the event's, in lower case
 * @cpu: it is one of the CPU's
 * Return: the place behind
 */
char *grt_pretty_body(const struct grt_event_text *fields, char *p, const struct grt_event *e,
		      const struct grt_joined *j, const char *name, bool cpu);

#endif /* GRT_LINES_PRETTY_H */
