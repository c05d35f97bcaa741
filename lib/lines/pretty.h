/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Lines of a merged timeline for people: the thread and its action,
 * and after an arrow the values that follow from it.
 */
#ifndef GRT_LINES_PRETTY_H
#define GRT_LINES_PRETTY_H

#include "event_text.h"
#include "joins.h"

/** grt_pretty_fields - the fields that are shown */
extern const struct grt_text_row grt_pretty_fields[];

/**
 * grt_pretty_body - writes the part of a line after its source
 * @fields: writes the fields of grt_pretty_fields
 * @p: room for some thousand bytes
 * @name: name of the event, in lower case
 * @cpu: it is an event of the CPU
 * Return: the end of the text
 */
char *grt_pretty_body(const struct grt_event_text *fields, char *p, const struct grt_event *e,
		      const struct grt_joined *j, const char *name, bool cpu);

#endif /* GRT_LINES_PRETTY_H */
