/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The filters of every command that reads a trace: one table of options, one
 * place that checks them. A command that cannot apply a filter prints why.
 */
#ifndef GRTRACE_FILTER_H
#define GRTRACE_FILTER_H

#include "cmds/reading.h"
#include "trace/flow.h"

/* Filters, for struct filter_refusal. */
#define FILTER_TIME 1U /* --from and --to */
#define FILTER_PID 2U
#define FILTER_COMM 4U
#define FILTER_RING 8U
#define FILTER_DEVICE 16U
#define FILTER_TYPE 32U

/**
 * struct filter - the values of the options
 * @gpu: the value of --device
 * @type_names: the value of --type
 * @f: the filter of the session
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

/* Rows of a table of options. @type_letter: short name of --type, 0: none */
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
 * filter_check - checks the options
 * @refused: FILTER_* that the command cannot apply, for the reason @why
 * Return: EXIT_DONE, or EXIT_USAGE after a message
 */
int filter_check(struct filter *x, unsigned int refused, const char *why);

/**
 * filter_session - sets the filter of a session, which must end before filter_free()
 * @live: the session reads live events of this machine
 * Return: exit status
 */
int filter_session(struct filter *x, struct grt_session *s, bool live);

/**
 * filter_found - after a trace was read: prints a message if --pid, --comm or --ring matched nothing in it
 * Return: EXIT_DONE or EXIT_FAILED
 */
int filter_found(const struct filter *x, const char *input);

/** filter_free - frees the filter's memory */
void filter_free(struct filter *x);

#endif /* GRTRACE_FILTER_H */
