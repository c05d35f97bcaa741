/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The rows of control.def as enum and table. GRT_CONTROL_TABLE, defined before
 * the include in one file per program, adds the table itself.
 */
#ifndef GRTRACE_CONTROL_H
#define GRTRACE_CONTROL_H

#include "event.h"

/** enum grt_key_kind - the KIND column of control.def */
enum grt_key_kind {
	GRT_KEY_BOOL,
	GRT_KEY_U64,
	GRT_KEY_S64,
	GRT_KEY_MASK,
	GRT_KEY_LEVEL,
	GRT_KEY_LIST,
};

/* The FLAGS column. */
#define GRT_KEY_IN_CONFIG    0U
#define GRT_KEY_AS_FILE	     1U
#define GRT_KEY_WHEN_STOPPED 2U

/** enum grt_key - the keys */
enum grt_key {
#define GRT_KEY(name, KIND, min, max, def, unit, FLAGS, help) GRT_CONFIG_##name,
#include "control.def"
	GRT_CONFIG_KEYS,
};

/**
 * struct grt_key_desc - one key
 * @name: as typed
 * @unit: of the value, "" for none
 * @help: one line
 * @min, @max, @def: bounds and default; S64 values are stored as their two's complement
 * @kind: enum grt_key_kind
 * @flags: GRT_KEY_*
 */
struct grt_key_desc {
	const char *name;
	const char *unit;
	const char *help;
	__u64 min;
	__u64 max;
	__u64 def;
	__u8 kind;
	__u8 flags;
};

/**
 * struct grt_key_alias - another spelling
 * @name: as typed
 * @key: enum grt_key
 */
struct grt_key_alias {
	const char *name;
	__u8 key;
};

#ifdef GRT_CONTROL_TABLE
#define AS_FILE	     GRT_KEY_AS_FILE
#define IN_CONFIG    GRT_KEY_IN_CONFIG
#define WHEN_STOPPED GRT_KEY_WHEN_STOPPED
static const struct grt_key_desc grt_key_table[GRT_CONFIG_KEYS] = {
#define GRT_KEY(key, KIND, lo, hi, dflt, measure, FLAGS, hlp)                                     \
	[GRT_CONFIG_##key] = { .name = #key, .unit = (measure), .help = (hlp),                    \
			       .min = (__u64)(lo), .max = (__u64)(hi), .def = (__u64)(dflt),      \
			       .kind = GRT_KEY_##KIND, .flags = FLAGS },
#include "control.def"
};
#undef WHEN_STOPPED
#undef IN_CONFIG
#undef AS_FILE

static const struct grt_key_alias grt_key_aliases[] = {
#define GRT_ALIAS(other, target) { .name = #other, .key = GRT_CONFIG_##target },
#include "control.def"
};
#endif /* GRT_CONTROL_TABLE */

#endif /* GRTRACE_CONTROL_H */
