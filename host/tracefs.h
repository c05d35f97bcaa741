/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of this kernel, from tracefs, even if it is not mounted.
 */
#ifndef GRTRACE_TRACEFS_H
#define GRTRACE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include <grtrace/grtrace.h>

/**
 * tracefs_open - opens the root of tracefs, at its mount point or through a private mount
 * Return: a descriptor (O_PATH or a mount), or -errno with *err set; needs root
 */
int tracefs_open(struct grt_err *err);

/**
 * tracefs_find - looks for an event
 * @group: group of the event; NULL: any
 * @found: gets the name of the group, @room bytes; may be NULL
 */
bool tracefs_find(int tracefs, const char *group, const char *event, char *found, size_t room);

/** tracefs_event_id - the number of an event for perf_event_open(), or -errno */
int tracefs_event_id(int tracefs, const char *group, const char *event);

/**
 * struct tracefs_field - a field of an event's record
 * @offset, @size: bytes
 * @in_record: the field has the offset of a text in the record (__data_loc)
 */
struct tracefs_field {
	unsigned int offset;
	unsigned int size;
	bool in_record;
};

/**
 * tracefs_format - the text of an event's format file
 * Return: the text, which the caller frees; NULL if there is no such event
 */
char *tracefs_format(int tracefs, const char *group, const char *event);

/** tracefs_field - finds a field in the text of a format file (Linux Documentation/trace/events.rst, 2.3) */
bool tracefs_field(const char *format, const char *name, struct tracefs_field *field);

#endif /* GRTRACE_TRACEFS_H */
