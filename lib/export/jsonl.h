/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An event as a JSON object on a line: every field of its record by its name in
 * events.def, and the names that are known.
 */
#ifndef GRT_EXPORT_JSONL_H
#define GRT_EXPORT_JSONL_H

#include <grtrace/grtrace.h>

/* Room for a line. */
#define GRT_JSONL_MAX 8192U

/**
 * struct grt_jsonl_names - what numbers of the event are called, NULL: not known
 *
 * A name that is not known is left out: "" would say that there is none.
 * @ring, @driver: of its ring; @comm, @process: of its thread. Untrusted, ended
 *	by a NUL or by the length of the field in NAME
 */
struct grt_jsonl_names {
	const char *ring;
	const char *driver;
	const char *comm;
	const char *process;
};

/** grt_jsonl_line - writes a line with its newline to @p, where GRT_JSONL_MAX bytes are. Return: the place
 * behind */
char *grt_jsonl_line(char *p, const struct grt_event *e, uint32_t cpu, const struct grt_jsonl_names *names);

#endif /* GRT_EXPORT_JSONL_H */
