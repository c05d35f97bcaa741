/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An event as a JSON object, the same in every command that writes events: `time`, `cpu`, `type`, then the
 * fields of the common part and of the event's row by their names in events.def, the names of its ring,
 * device and thread, the meaning of numbers, and the time since the begin of what the event ends.
 *
 * A number with a meaning in words is written as the word. A number that identifies something (a ring, an
 * ioctl) is written with its name beside it. An unknown value has no key. grt_event_json_schema() describes
 * the keys.
 */
#ifndef GRT_LINES_EVENT_JSON_H
#define GRT_LINES_EVENT_JSON_H

#include <stdio.h>

#include "joins.h"

/* Room for an object: two texts of a program and all else. */
#define GRT_EVENT_JSON_MAX (128U << 10)

struct grt_event_json;

/** grt_event_json_new - begins. Return: 0 or -ENOMEM */
int grt_event_json_new(struct grt_event_json **out);

/**
 * grt_event_json_see - processes an event: each one, in their order, also those that are not written
 * @input: rings of the same number in different inputs are different rings
 * Return: 0 or -ENOMEM
 */
int grt_event_json_see(struct grt_event_json *x, const struct grt_event *e, unsigned int input);

/**
 * grt_event_json_put - writes the event that was seen last to @p, which has room for GRT_EVENT_JSON_MAX bytes
 * @cpu: UINT32_MAX: unknown
 * Return: the end of the text, for more keys or the closing brace
 */
char *grt_event_json_put(struct grt_event_json *x, char *p, const struct grt_event *e, uint32_t cpu,
			 unsigned int input);

/** grt_event_json_print - the same to a file, with more keys (",\"key\":1") and the end of the line */
void grt_event_json_print(struct grt_event_json *x, FILE *out, const struct grt_event *e, uint32_t cpu,
			  const char *more);

/** grt_event_json_schema - prints the JSON Schema of these objects */
void grt_event_json_schema(FILE *out);

/** grt_event_json_joins - the values that two events have together */
struct grt_joins *grt_event_json_joins(struct grt_event_json *x);

/** grt_event_json_free - frees it; NULL is allowed */
void grt_event_json_free(struct grt_event_json *x);

#endif /* GRT_LINES_EVENT_JSON_H */
