/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What a subcommand is: a row in commands.def, a file NAME.c here or in the folder NAME, and in it
 * one struct cmd. Options are a table, see option.h.
 */
#ifndef GRTRACE_CMD_H
#define GRTRACE_CMD_H

#include <poll.h>
#include <grtrace/grtrace.h>

#include "base/clock.h"
#include "host/option.h"

#define NS_PER_S GRT_NS_PER_S

/* Exit statuses of grtrace. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_MISSING = 3, /* a privilege, module or feature */
};

/** cmd_time - a point of a trace from @first to @last; @otherwise where none was given */
uint64_t cmd_time(const struct opt_time *t, uint64_t first, uint64_t last, uint64_t otherwise);

struct grt_table;

/** cmd_words - the words with commas between */
const char *cmd_words(const char *(*word)(unsigned int n), char *text, size_t room);

/** cmd_opt_help - the one line of an option; until the next call */
const char *cmd_opt_help(const struct cmd_opt *opt);

/**
 * struct cmd - one subcommand
 * @usage: what follows its name in the usage line
 * @opts: ended by a row without name; may be NULL
 * @sources: it takes the options of all sources, too
 * @run: gets the arguments left after the options (argv[argc] is NULL), and
 *	returns an exit status
 * @reads: recordings, with as many files open as the system allows; it starts no programs
 * @operand: the n-th word that its first operand may be, NULL: there are no more; NULL: it is not one of some
 *words
 * @stop_at_operand: options end at the first operand (record -- PROG)
 * @json: what its --json writes beside events, NULL: nothing that has a schema
 */
struct cmd {
	const char *usage;
	const struct cmd_opt *opts;
	int (*run)(int argc, char **argv);
	const char *(*operand)(unsigned int n);
	bool sources;
	bool reads;
	bool stop_at_operand;
	const struct cmd_json *json;
};

/**
 * struct cmd_json - a JSON object that a command writes, for its JSON Schema
 * @title: what it is
 * @tables: in it; ended by NULL
 * @parts: and those of the parts of analyses that have one of these, GRT_PART_*
 */
struct cmd_json {
	const char *title;
	const struct grt_table *const *tables;
	unsigned int parts;
};

#define GRT_COMMAND(name, help) extern const struct cmd cmd_##name;
#include "commands.def"
#undef GRT_COMMAND

/**
 * struct cmd_row - a row of commands.def
 * @group: a group's title; such a row has nothing else
 * @name: as typed
 * @help: one line
 * @cmd: its struct
 */
struct cmd_row {
	const char *group;
	const char *name;
	const char *help;
	const struct cmd *cmd;
};

/* Ended by an empty row. */
extern const struct cmd_row cmd_rows[];

/** struct cmd_example - a row of examples.def */
struct cmd_example {
	const char *command;
	const char *line;
	const char *help;
};

/* Ended by an empty row. */
extern const struct cmd_example cmd_examples[];

/** cmd_find - the row of a command, NULL for an unknown one */
const struct cmd_row *cmd_find(const char *name);

/** cmd_opt_at - its @n-th option, NULL: there are no more */
const struct cmd_opt *cmd_opt_at(const struct cmd *cmd, unsigned int n);

/** cmd_opt_given - whether an option was on the command line */
bool cmd_opt_given(const struct cmd_opt *opt);

/** cmd_set_name - the command that messages begin with; NULL: grtrace itself */
void cmd_set_name(const char *name);

/**
 * cmd_parse - takes the options out of argv; operands move to its front
 * @argc: number of arguments; on return that of operands
 * @help: set where --help or -h was found (parsing ends there)
 * Return: EXIT_DONE, or EXIT_USAGE after saying why
 */
int cmd_parse(const struct cmd *cmd, int *argc, char **argv, bool *help);

/** struct cmd_guess - the candidate that is nearest so far, and how far it is; all zero: there is none */
struct cmd_guess {
	const char *name;
	unsigned int distance;
};

/** cmd_nearest - adds candidate @name to a search for what was meant by @typed */
void cmd_nearest(struct cmd_guess *best, const char *typed, const char *name);

/** cmd_complete - the words of a command line so far -> candidates for the last one, a line each */
int cmd_complete(int argc, char **argv);

/** cmd_schema - prints the JSON Schema of a command's --json, or of event. Return: exit status */
int cmd_schema(const char *name);

/** cmd_tables - prints commands and options as lines with tabs, for tools/check-tables */
int cmd_tables(void);

/**
 * cmd_error - prints "grtrace NAME: what: why" and, on a line of its own, what to type
 * Return: @status, for `return cmd_error(...)`
 */
int cmd_error(int status, const struct grt_err *err);

/** cmd_fail - the same from text; @why and @fix may be NULL. Return: @status */
int cmd_fail(int status, const char *why, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** cmd_open_status - the exit status where a trace cannot be opened. @code: a negative errno */
int cmd_open_status(int code);

/** cmd_no_input - says that there is neither @path nor a loaded module to read. Return: EXIT_MISSING */
int cmd_no_input(const char *path);

/**
 * cmd_buffer_usage - checks a size of --buffer: the kernel module's range, which is meant for the buffers of
 * other sources as well; 0: there is none
 * Return: EXIT_DONE, EXIT_USAGE
 */
int cmd_buffer_usage(uint64_t bytes);

/** cmd_usage_error - "grtrace NAME: text" and where the help is. Return: EXIT_USAGE */
int cmd_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * cmd_event_types - takes a list of event types
 * @word: names of events.def in any case, with commas between
 * @types: gets a bit for each
 * Return: EXIT_DONE, or EXIT_USAGE after saying why
 */
int cmd_event_types(const char *word, struct grt_type_set *types);

/**
 * cmd_catch_signals - SIGINT, SIGTERM and SIGHUP set cmd_signal; a second one ends the process at once,
 * unless both were sent by kill(2) within a moment, as timeout(1) does
 */
void cmd_catch_signals(void);

/* The number of the first SIGINT, SIGTERM or SIGHUP after cmd_catch_signals(), 0 before it. */
extern volatile int cmd_signal;
/* That signal came from a process; one typed at the terminal went to its whole process group. */
extern volatile int cmd_signal_sent;

/**
 * cmd_poll - poll(2) that a signal ends for certain, also one that came just before
 * @timeout: ms, -1: without end
 * Return: as poll(2); 0 where cmd_signal is set already and nothing is ready
 */
int cmd_poll(struct pollfd *fds, unsigned int n, int timeout);

/** cmd_restore_signals - what cmd_catch_signals() found, for a child before exec */
void cmd_restore_signals(void);

/** cmd_put_text - prints text from a trace or a file name with its control characters escaped (\xNN) */
void cmd_put_text(FILE *f, const char *text);

/** cmd_tell - prints a line about what was done or found, the same way, to standard error */
void cmd_tell(const char *command, const char *text);

/** cmd_put_json - prints text as a JSON string with its quotes; bytes that are no UTF-8 become U+FFFD */
void cmd_put_json(FILE *f, const char *text);

/** cmd_put_one_line - prints a JSON object of the writer as one line: no string of it holds a newline */
void cmd_put_one_line(const char *text);

/** cmd_colour - whether standard output takes colour: a terminal, and NO_COLOR is not set */
bool cmd_colour(void);

/** cmd_flush - flushes standard output. Return: 0 or an errno */
int cmd_flush(void);

/** cmd_write_failed - tells why standard output took no more; a reader that has seen enough (head) is no
 * failure. @code: errno, not 0. Return: exit status */
int cmd_write_failed(int code);

/** cmd_close_stdout - flushes standard output. Return: EXIT_DONE, or EXIT_FAILED after saying why (a full
 * disk) */
int cmd_close_stdout(void);

#endif /* GRTRACE_CMD_H */
