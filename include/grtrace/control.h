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
	GRT_KEY_WORD,
	GRT_KEY_IDS,
	GRT_KEY_TYPES,
};

/* The FLAGS column. */
#define GRT_KEY_IN_CONFIG    0U
#define GRT_KEY_AS_FILE	     1U
#define GRT_KEY_WHEN_STOPPED 2U
#define GRT_KEY_OF(STAGE)    ((unsigned int)GRT_STAGE_##STAGE << 4)

/** enum grt_stage - whose a key or a file is: the module's own, or of a row of stages.def */
enum grt_stage {
	GRT_STAGE_CORE,
#define GRT_STAGE(NAME, name, help) GRT_STAGE_##NAME,
#include "stages.def"
#undef GRT_STAGE
	GRT_STAGES,
};

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
 * @stage: enum grt_stage
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
	__u8 stage;
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
#define OF	     GRT_KEY_OF
static const struct grt_key_desc grt_key_table[GRT_CONFIG_KEYS] = {
#define GRT_KEY(key, KIND, lo, hi, dflt, measure, FLAGS, hlp)                                     \
	[GRT_CONFIG_##key] = { .name = #key, .unit = (measure), .help = (hlp),                    \
			       .min = (__u64)(lo), .max = (__u64)(hi), .def = (__u64)(dflt),      \
			       .kind = GRT_KEY_##KIND, .flags = (FLAGS) & 15U,                    \
			       .stage = (FLAGS) >> 4 },
#include "control.def"
};
#undef OF
#undef WHEN_STOPPED
#undef IN_CONFIG
#undef AS_FILE

static const struct grt_key_alias grt_key_aliases[] = {
#define GRT_ALIAS(other, target) { .name = #other, .key = GRT_CONFIG_##target },
#include "control.def"
};
#endif /* GRT_CONTROL_TABLE */

#endif /* GRTRACE_CONTROL_H */
