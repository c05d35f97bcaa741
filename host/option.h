/* SPDX-License-Identifier: GPL-2.0 */
/*
 * An option is a row in a table of a command or a source. Parsing, --help,
 * shell completion and the check of the manual use these rows.
 */
#ifndef GRTRACE_OPTION_H
#define GRTRACE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/** enum opt_kind - the kind of an option's value, and the type of its target */
enum opt_kind {
	OPT_FLAG,    /* bool, no value */
	OPT_STR,     /* const char *, not empty */
	OPT_TEXT,    /* const char *, also empty */
	OPT_MAYBE,   /* const char *, only after a =; "" without one */
	OPT_U64,     /* uint64_t below UINT64_MAX, which means "not given"; decimal or 0x */
	OPT_PID,     /* uint64_t, a process: 1 to INT32_MAX; 0 means "not given" */
	OPT_PID_GPU, /* as OPT_PID, or OPT_GPU_USERS: all processes that use a GPU */
	OPT_SIZE,    /* uint64_t, with K, M or G (powers of 1024) */
	OPT_SECONDS, /* double, > 0 */
	OPT_TIME,    /* struct opt_time */
	OPT_KEY,     /* struct opt_key */
	OPT_WORD,    /* struct opt_word, one of its words */
};

/**
 * struct opt_time - a point of the trace as typed
 * @set: it was given
 * @rel: '+' from the start, '-' from the end, 0 absolute
 * @ns: value in ns; typed with a suffix ns, us, ms or s, without one in seconds
 */
struct opt_time {
	bool set;
	char rel;
	uint64_t ns;
};

/* The value of OPT_PID_GPU for `gpu`. */
#define OPT_GPU_USERS ((uint64_t)INT32_MAX + 1)

struct kmod_key;

/**
 * struct opt_key - a value for a setting of control.def
 * @key: its row
 * @value: as typed, in the key's range; NULL: not given
 */
struct opt_key {
	const struct kmod_key *key;
	const char *value;
};

/**
 * struct opt_word - a value that is one of the words in the rows of a table
 * @word: returns the n-th word, NULL after the last one
 * @value: as typed; NULL: not given. For an unknown word, the command prints the known ones
 */
struct opt_word {
	const char *(*word)(unsigned int n);
	const char *value;
};

/**
 * struct cmd_opt - one option
 * @name: long name without dashes
 * @letter: short name or 0
 * @kind: enum opt_kind
 * @arg: placeholder of the value in the help, NULL for flags
 * @target: where the value goes
 * @help: one line; NULL with OPT_KEY: the help of the key; with OPT_WORD, --help adds the words
 */
struct cmd_opt {
	const char *name;
	char letter;
	enum opt_kind kind;
	const char *arg;
	void *target;
	const char *help;
};

#endif /* GRTRACE_OPTION_H */
