/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Writes a trace in the format of another program to a file descriptor, in one pass and
 * with bounded memory. A format is a row of exports.def, a file, and in it one
 * struct grt_export_format.
 */
#ifndef GRT_EXPORT_EXPORT_H
#define GRT_EXPORT_EXPORT_H

#include <grtrace/grtrace.h>

#include "tracks.h"

struct grt_writer_ops;

/**
 * struct grt_export_clocks - the same moment on three clocks, ns
 * @known: all are known; else only CLOCK_MONOTONIC is known
 */
struct grt_export_clocks {
	bool known;
	uint64_t monotonic;
	uint64_t realtime;
	uint64_t boottime;
};

struct grt_export;

/**
 * struct grt_export_format - a row of exports.def
 * @begin: makes x->state
 * @beyond: as that of struct grt_consumer; NULL where each event is a row, and it would be one
 * @lasting: gets those with GRT_TRAIT_LASTING in its place, and in formats that draw tracks also those that
 *	define nothing; NULL: x->tracks does, if there are any
 * @whole: @beyond also gets what grt_session_whole() adds
 * @joins: it joins events into jobs, so it also needs those that a filter leaves out, see @whole of
 *	struct grt_filter
 * @late: the same; NULL where an event is written at the time that it reports
 * @within: gets the requested time, before the first event, as @tracks do; may be NULL
 * @packet: may be NULL
 * @end: writes the rest; not called after an error
 * @free: frees the memory of @begin; x->state may be NULL
 * All but @free return 0 or a negative errno.
 * @tables: writes the tables, in formats of tables, which have no other members; see GRT_PART_TABLES
 * @parts: the written tables, GRT_PART_*; 0: GRT_PART_TABLES
 * @missing: what the trace lacks if @end has counted no item, as "CPU stack of a launch"; NULL: an output
 *	without items is complete, as a table is that has only its header
 * @fix: command that makes a trace which has it
 * @directory: ending of file names, if each table has a file of its own; NULL: all tables are in one file
 */
struct grt_export_format {
	const struct grt_writer_ops *tables;
	const char *directory;
	const char *missing;
	const char *fix;
	unsigned int parts;
	bool whole;
	bool joins;
	int (*begin)(struct grt_export *x);
	int (*event)(struct grt_export *x, const struct grt_event *e, uint32_t cpu);
	int (*beyond)(struct grt_export *x, const struct grt_event *e, uint32_t cpu);
	int (*lasting)(struct grt_export *x, const struct grt_event *e);
	int (*late)(struct grt_export *x, const struct grt_event *e, uint32_t cpu);
	void (*within)(struct grt_export *x, uint64_t from, uint64_t to);
	int (*packet)(struct grt_export *x, const struct grt_packet *p);
	int (*end)(struct grt_export *x, const struct grt_health *h);
	void (*free)(struct grt_export *x);
};

/** grt_export_file - the output as a file, for fclose(); NULL with errno set */
FILE *grt_export_file(const struct grt_export *x);

/** struct grt_export_row - a row of exports.def with its format; @ending of its files' names */
struct grt_export_row {
	const char *name;
	const char *ending;
	const char *help;
	const struct grt_export_format *format;
};

/* Ended by an empty row. */
extern const struct grt_export_row grt_export_rows[];

/**
 * struct grt_export - one export
 * @c: the consumer of the session
 * @session: the exported session
 * @fd: file descriptor of the output
 * @clocks: clocks of the recording
 * @tracks: the tracks, in formats that draw tracks; they have the counts that the command reports. NULL: none
 * @shown: the current event was selected itself, and not because it names, defines or joins something
 * @events: number of processed events
 * @items: number of written items, in formats with @missing
 */
struct grt_export {
	struct grt_consumer c;
	const struct grt_session *session;
	const struct grt_export_format *format;
	int fd;
	struct grt_export_clocks clocks;
	struct grt_tracks *tracks;
	const struct grt_filter *filter; /* NULL: none */
	bool shown;
	uint64_t events;
	uint64_t items;
	void *state;
};

/** grt_export_find - a format by name, NULL: there is none */
const struct grt_export_row *grt_export_find(const char *name);

/** grt_export_find_ending - a format by the ending of a file's name, NULL: there is none */
const struct grt_export_row *grt_export_find_ending(const char *path);

/** grt_export_init - begins; give it to grt_export_fini() in any case. Return: 0 or a negative errno */
int grt_export_init(struct grt_export *x, const struct grt_export_row *row, const struct grt_session *s,
		    int fd);

/** grt_export_within - sets the requested time, if it is not the whole trace */
void grt_export_within(struct grt_export *x, uint64_t from, uint64_t to);

/** grt_export_end - ends the output; to be called after a run without errors. Return: 0 or a negative errno
 */
int grt_export_end(struct grt_export *x);

/** grt_export_fini - frees it */
void grt_export_fini(struct grt_export *x);

/* Pairs of the recording's environment that exports carry: GRT_EXPORT_ENV(key of the metadata) */
#define GRT_EXPORT_ENVS(GRT_EXPORT_ENV) \
	GRT_EXPORT_ENV(hostname)        \
	GRT_EXPORT_ENV(kernel)          \
	GRT_EXPORT_ENV(machine)         \
	GRT_EXPORT_ENV(command)         \
	GRT_EXPORT_ENV(tool_version)    \
	GRT_EXPORT_ENV(kmod_version)    \
	GRT_EXPORT_ENV(kmod_adapters)   \
	GRT_EXPORT_ENV(kmod_settings)

#endif /* GRT_EXPORT_EXPORT_H */
