/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters of every command that reads a trace: one table of options, one
 * place where they are checked. A command that cannot obey one says why.
 */
#ifndef GRTRACE_FILTER_H
#define GRTRACE_FILTER_H

#include "cmds/reading.h"
#include "trace/filter.h"

/* Filters, for struct filter_refusal. */
#define FILTER_TIME 1U /* --from and --to */
#define FILTER_PID 2U
#define FILTER_COMM 4U
#define FILTER_RING 8U
#define FILTER_DEVICE 16U
#define FILTER_TYPE 32U
#define FILTER_WHO (FILTER_PID | FILTER_COMM | FILTER_RING)

/**
 * struct filter - what the options say
 * @gpu: of --device
 * @type_names: of --type
 * @f: of the session
 */
struct filter {
	struct opt_time from;
	struct opt_time to;
	uint64_t pid;
	const char *comm;
	const char *ring;
	const char *gpu;
	const char *type_names;
	struct grt_filter f;
};

/* Rows of a table of options. @type_letter: short name of --type, 0: it has none */
#define FILTER_OPTIONS(x, type_letter)                                                               \
	{"from", 0,	    OPT_TIME,                                                                \
	 "T",	 &(x).from, "only from here: seconds, +T after the start, -T before the end"},       \
		{"to", 0, OPT_TIME, "T", &(x).to, "only up to here"},                                \
		{"pid", 'p', OPT_PID, "PID", &(x).pid, "only this process; live: end when it ends"}, \
		{"comm", 0, OPT_STR, "NAME", &(x).comm, "only threads, or processes, of this name"}, \
		{"ring", 'r', OPT_STR, "RING", &(x).ring, "only this ring, by its number or name"},  \
		READING_GPU_OPTION(&(x).gpu),                                                        \
	{                                                                                            \
		"type", type_letter, OPT_STR, "T[,T]", &(x).type_names,                              \
			"only events of these types (submit,complete)"                               \
	}

/**
 * filter_check - takes the options in
 * @refused: FILTER_* that the command cannot obey, because of @why
 * Return: EXIT_DONE, or EXIT_USAGE after saying why
 */
int filter_check(struct filter *x, unsigned int refused, const char *why);

/**
 * filter_session - a session hands out only what is wanted; it ends before filter_free()
 * @live: it is of this machine
 * Return: exit status
 */
int filter_session(struct filter *x, struct grt_session *s, bool live);

/**
 * filter_found - a trace was read: says so where it has nothing of what --pid, --comm and --ring ask for
 * Return: EXIT_DONE or EXIT_FAILED
 */
int filter_found(const struct filter *x, const char *input);

/** filter_free - frees what was learned */
void filter_free(struct filter *x);

#endif /* GRTRACE_FILTER_H */
