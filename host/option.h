/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What an option is: a row of a table of a command or of a source. Parsing, --help,
 * the shell's completion and the check of the manual come from the rows.
 */
#ifndef GRTRACE_OPTION_H
#define GRTRACE_OPTION_H

#include <stdbool.h>
#include <stdint.h>

/** enum opt_kind - what an option's value is and what its target points to */
enum opt_kind {
	OPT_FLAG,    /* bool, no value */
	OPT_STR,     /* const char *, not empty */
	OPT_TEXT,    /* const char *, also empty */
	OPT_MAYBE,   /* the same, behind a = only; "" without one */
	OPT_U64,     /* uint64_t below UINT64_MAX, which is "not given"; decimal or 0x */
	OPT_PID,     /* uint64_t, a process: 1 to INT32_MAX; 0 is "not given" */
	OPT_PID_GPU, /* the same, or OPT_GPU_USERS: all that use a GPU */
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
 * @ns: value in ns; suffix ns, us, ms, s, none is seconds
 */
struct opt_time {
	bool set;
	char rel;
	uint64_t ns;
};

/* What `gpu` stands for as a process. */
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
 * struct opt_word - a value that is one of the words which rows of a table have
 * @word: the n-th of them; NULL: there are no more
 * @value: as typed; NULL: not given. The command says which words there are when it is none of them
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
 * @help: one line; NULL with OPT_KEY: that of the key; with OPT_WORD the words follow it
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
