/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * printf() for sentences with counts: in a format, "{job is|jobs are}" stands for
 * its first part if the last integer before it is 1, else for the second:
 *
 *	grt_say(stderr, "%u {job is|jobs are} not in the table\n", n);
 *
 * Braces without a bar, and those before the first integer, are printed as they are. Arguments are never
 * searched for braces.
 */
#ifndef GRT_BASE_SAY_H
#define GRT_BASE_SAY_H

#include <stdarg.h>
#include <stdint.h>
#include <stdio.h>

/* Longest format. */
#define GRT_SAY_FORMAT 1024

/** grt_say - fprintf() */
int grt_say(FILE *out, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** grt_say_text - snprintf() */
int grt_say_text(char *text, size_t room, const char *fmt, ...) __attribute__((format(printf, 3, 4)));

/** grt_say_count - "3 jobs are late" for the number 3 and the text "{job is|jobs are} late". Return: @text */
const char *grt_say_count(char *text, size_t room, uint64_t n, const char *of);

/** grt_say_text_va - vsnprintf() */
int grt_say_text_va(char *text, size_t room, const char *fmt, va_list ap)
	__attribute__((format(printf, 3, 0)));

#define GRT_NOTES_MAX 24

/** struct grt_notes - sentences that are collected; those beyond GRT_NOTES_MAX are dropped */
struct grt_notes {
	char text[GRT_NOTES_MAX][256];
	unsigned int n;
};

/** grt_note - adds a sentence */
void grt_note(struct grt_notes *n, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

#endif /* GRT_BASE_SAY_H */
