/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --duty: the random windows in which all sources record, see trace/duty.h. A source that supports
 * them sets struct source.duty, and does nothing between windows.
 */
#ifndef GRTRACE_DUTY_H
#define GRTRACE_DUTY_H

#include <stdbool.h>

#include "trace/duty.h"

/**
 * duty_read - parses PERCENT[%][,WINDOW[s|ms]]; @d gets its parts and its window. Return: NULL, or why it is
 * invalid
 */
const char *duty_read(const char *text, struct grt_duty *d);

/** duty_begin - chooses the windows: @d gets its seed, and its first period begins now. Return: 0 or -errno
 */
int duty_begin(struct grt_duty *d);

#endif /* GRTRACE_DUTY_H */
