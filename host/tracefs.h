/* SPDX-License-Identifier: GPL-2.0 */
/*
 * tracefs, whether it is mounted or not: which tracepoints this kernel has.
 */
#ifndef GRTRACE_TRACEFS_H
#define GRTRACE_TRACEFS_H

#include <stdbool.h>
#include <stddef.h>

#include <grtrace/grtrace.h>

/**
 * tracefs_open - its root, from where it is mounted, else from a mount that only we see
 * Return: a descriptor (O_PATH or a mount), or -errno with *err set: it needs root
 */
int tracefs_open(struct grt_err *err);

/**
 * tracefs_find - looks for an event
 * @group: of the event; NULL: any, then gets its name through @found
 * @found: gets the group, @room bytes; may be NULL
 */
bool tracefs_find(int tracefs, const char *group, const char *event, char *found, size_t room);

/** tracefs_event_id - its number for perf_event_open(), or -errno */
int tracefs_event_id(int tracefs, const char *group, const char *event);

/**
 * struct tracefs_field - a field of an event's record
 * @offset, @size: bytes
 * @in_record: a text whose place in the record stands there (__data_loc)
 */
struct tracefs_field {
	unsigned int offset;
	unsigned int size;
	bool in_record;
};

/**
 * tracefs_format - the text of an event's format file
 * Return: to be freed by the caller; NULL where there is no such event
 */
char *tracefs_format(int tracefs, const char *group, const char *event);

/** tracefs_field - finds a field in the text of a format file (Linux Documentation/trace/events.rst, 2.3) */
bool tracefs_field(const char *format, const char *name, struct tracefs_field *field);

#endif /* GRTRACE_TRACEFS_H */
