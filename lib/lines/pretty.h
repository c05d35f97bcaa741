/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Lines of a merged timeline for people: who did what, and behind an arrow
 * what follows from it.
 */
#ifndef GRT_LINES_PRETTY_H
#define GRT_LINES_PRETTY_H

#include "joins.h"

/**
 * grt_pretty_body - what follows the source of a line
 * @p: room for some thousand bytes
 * @name: the event's, in lower case
 * @cpu: it is one of the CPU's
 * Return: the place behind
 */
char *grt_pretty_body(char *p, const struct grt_event *e, const struct grt_joined *j, const char *name,
		      bool cpu);

#endif /* GRT_LINES_PRETTY_H */
