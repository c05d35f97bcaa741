/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Files of other tools, which are named where they cannot be read. */
#ifndef GRT_TRACE_FOREIGN_H
#define GRT_TRACE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include <grtrace/grtrace.h>

/**
 * grt_foreign_refuse - refuses an input that is certainly a file of foreign.def
 * @head: what it begins with
 * Return: 0: it is none of them, or -EINVAL with what it is and what to type
 */
int grt_foreign_refuse(const char *path, const char *head, size_t len, struct grt_err *err);

/**
 * grt_foreign_text - what text is in which nothing was understood
 * @what, @fix: get what it is and what to type
 * Return: false: nobody knows
 */
bool grt_foreign_text(const char *head, size_t len, const char **what, const char **fix);

#endif /* GRT_TRACE_FOREIGN_H */
