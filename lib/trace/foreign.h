/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Recognises files of other tools that cannot be read, for messages. */
#ifndef GRT_TRACE_FOREIGN_H
#define GRT_TRACE_FOREIGN_H

#include <stdbool.h>
#include <stddef.h>

#include <grtrace/grtrace.h>

/**
 * grt_foreign_refuse - refuses an input that is certainly a file of foreign.def
 * @head: its first bytes
 * Return: 0 if it is not, or -EINVAL with the kind of file and what to type
 */
int grt_foreign_refuse(const char *path, const char *head, size_t len, struct grt_err *err);

/**
 * grt_foreign_text - recognises a text in which no line was understood
 * @what, @fix: get the kind of text and what to type
 * Return: false: unknown
 */
bool grt_foreign_text(const char *head, size_t len, const char **what, const char **fix);

#endif /* GRT_TRACE_FOREIGN_H */
