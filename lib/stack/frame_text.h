/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Writes frames for people, whatever the source of the function and its place. */
#ifndef GRT_STACK_FRAME_TEXT_H
#define GRT_STACK_FRAME_TEXT_H

#include <stddef.h>
#include <stdint.h>

/** grt_frame_base - a path without its directories */
const char *grt_frame_base(const char *path);

/**
 * grt_frame_text - "function (file:line)", without the unknown parts
 * @function: name of @len bytes; NULL: unknown
 * @file: path of the source, NULL: unknown; @line: 0: unknown
 * Return: a text for free(), or NULL: no memory
 */
char *grt_frame_text(const char *function, size_t len, const char *file, uint32_t line);

#endif /* GRT_STACK_FRAME_TEXT_H */
