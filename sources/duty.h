/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --duty: the random windows in which all sources record, see trace/duty.h. A source that supports
 * them sets struct source.duty, and does nothing between windows.
 */
#ifndef GRTRACE_DUTY_H
#define GRTRACE_DUTY_H

#include <stdbool.h>

#include "trace/duty.h"

/* The length of a window if neither the user nor a source chooses another one. */
#define DUTY_WINDOW_MS 100U

/**
 * duty_read - parses PERCENT[%][,WINDOW[s|ms]]; @d gets its parts and its window, which without WINDOW has
 * @window_ms. Return: NULL, or why it is invalid
 */
const char *duty_read(const char *text, unsigned int window_ms, struct grt_duty *d);

/** duty_begin - chooses the windows: @d gets its seed, and its first period begins now. Return: 0 or -errno
 */
int duty_begin(struct grt_duty *d);

#endif /* GRTRACE_DUTY_H */
