/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The rows of events.def, engines.def and fates.def as tables, for code that
 * handles events by name: text output and input in the kernel and in the tool,
 * and the trace's metadata. The tables are in the one file of a program that
 * defines GRT_EVENT_TABLE_ROWS before it includes this. The rows of unknown ids
 * are all zero.
 */
#ifndef GRTRACE_EVENT_TABLE_H
#define GRTRACE_EVENT_TABLE_H

#include "event.h"
#include "stream.h"

/** enum grt_field_kind - how a field is stored and printed */
enum grt_field_kind {
	GRT_FIELD_DEC,
	GRT_FIELD_HEX,
	GRT_FIELD_SIGNED,
	GRT_FIELD_STR,
	GRT_FIELD_ENGINE,	/* enum grt_engine, printed by name */
	GRT_FIELD_TIME,		/* a stamp of the trace's clock, printed as GRT_FIELD_DEC */
};

/**
 * struct grt_field - one field of a record
 * @name: as printed and parsed
 * @help: one line
 * @kind: enum grt_field_kind
 * @offset: from the start of the record, bytes
 * @size: bytes
 */
struct grt_field {
	const char *name;
	const char *help;
	__u8 kind;
	__u16 offset;
	__u16 size;
};

/**
 * struct grt_event_desc - one row of events.def
 * @name: lower case, as the `emit` file takes it; NULL for an unknown id
 * @title: upper case, as reports print it
 * @help: one line
 * @fields: gives the payload's fields, ended by a row without name
 * @size: of the record, bytes
 * @level: enum grt_level
 * @who: enum grt_who
 */
struct grt_event_desc {
	const char *name;
	const char *title;
	const char *help;
	const struct grt_field *(*fields)(void);
	__u16 size;
	__u8 level;
	__u8 who;
};

/* The fields of struct grt_event that a text form carries, ended by a row without name; time and size go
 * without saying. */
extern const struct grt_field grt_common_fields[];
extern const struct grt_event_desc grt_event_table[GRT_EV_MAX];
extern const char *const grt_engine_names[GRT_ENGINE_MAX];
extern const char *const grt_fate_names[GRT_FATES];

#ifdef GRT_EVENT_TABLE_ROWS

#define GRT_FIELD_AT(type, member, knd, hlp)                                        \
	{                                                                           \
		.name = #member, .help = (hlp), .kind = (knd),                      \
		.offset = __builtin_offsetof(type, member),                         \
		.size = sizeof(((type *)0)->member),                                \
	}

const struct grt_field grt_common_fields[] = {
	GRT_FIELD_AT(struct grt_event, flags, GRT_FIELD_HEX, "GRT_FLAG_*"),
	GRT_FIELD_AT(struct grt_event, engine, GRT_FIELD_ENGINE, "engine"),
	GRT_FIELD_AT(struct grt_event, sample, GRT_FIELD_DEC, "percent of jobs kept, 0: not sampled"),
	GRT_FIELD_AT(struct grt_event, pid, GRT_FIELD_DEC, "process id"),
	GRT_FIELD_AT(struct grt_event, tid, GRT_FIELD_DEC, "thread id"),
	GRT_FIELD_AT(struct grt_event, ctx, GRT_FIELD_DEC, "fence context"),
	GRT_FIELD_AT(struct grt_event, seqno, GRT_FIELD_DEC, "fence sequence number"),
	GRT_FIELD_AT(struct grt_event, ring, GRT_FIELD_DEC, "ring id"),
	GRT_FIELD_AT(struct grt_event, device, GRT_FIELD_DEC, "device number"),
	{.name = 0},
};

#define GRT_BASE_DEC GRT_FIELD_DEC
#define GRT_BASE_HEX GRT_FIELD_HEX
#define GRT_BASE_TIME GRT_FIELD_TIME
#define GRT_U(bits, fname, base, hlp)                                                          \
	{ .name = #fname, .help = (hlp), .kind = GRT_BASE_##base,                              \
	  .offset = __builtin_offsetof(GRT_ROW, fname), .size = sizeof(((GRT_ROW *)0)->fname) },
#define GRT_I(bits, fname, hlp)                                                                \
	{ .name = #fname, .help = (hlp), .kind = GRT_FIELD_SIGNED,                             \
	  .offset = __builtin_offsetof(GRT_ROW, fname), .size = sizeof(((GRT_ROW *)0)->fname) },
#define GRT_STR(bytes, fname, hlp)                                                             \
	{ .name = #fname, .help = (hlp), .kind = GRT_FIELD_STR,                                \
	  .offset = __builtin_offsetof(GRT_ROW, fname), .size = sizeof(((GRT_ROW *)0)->fname) },

/* A local type name per event lets the field rows say where they are without naming their event. */
#define GRT_EVENT(id, TITLE, evt, CLASS, LEVEL, WHO, list, hlp)              \
	static const struct grt_field *grt_fields_##evt(void)                \
	{                                                                    \
		typedef struct grt_ev_##evt GRT_ROW __attribute__((unused)); \
		static const struct grt_field rows[] = {list{.name = 0}};    \
		return rows;                                                 \
	}
#include "events.def"
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U
#undef GRT_BASE_TIME
#undef GRT_BASE_HEX
#undef GRT_BASE_DEC
#undef GRT_FIELD_AT

const struct grt_event_desc grt_event_table[GRT_EV_MAX] = {
#define GRT_EVENT(id, TITLE, evt, CLASS, LEVEL, WHO, list, hlp)                              \
	[id] = { .name = #evt, .title = #TITLE, .help = (hlp),                        \
		 .fields = grt_fields_##evt, .size = sizeof(struct grt_ev_##evt), .level = GRT_LEVEL_##LEVEL,      \
		 .who = GRT_WHO_##WHO },
#include "events.def"
#undef GRT_EVENT
};

const char *const grt_engine_names[GRT_ENGINE_MAX] = {
#define GRT_ENGINE(number, NAME, name, help) [number] = #name,
#include "engines.def"
#undef GRT_ENGINE
};

const char *const grt_fate_names[GRT_FATES] = {
#define GRT_FATE(NAME, name, help) [GRT_FATE_##NAME] = #name,
#include "fates.def"
#undef GRT_FATE
};

#endif /* GRT_EVENT_TABLE_ROWS */

#endif /* GRTRACE_EVENT_TABLE_H */
