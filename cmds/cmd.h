/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A subcommand is a row in commands.def and a file NAME.c, here or in the directory NAME, which defines
 * one struct cmd. Its options are a table, see option.h.
 */
#ifndef GRTRACE_CMD_H
#define GRTRACE_CMD_H

#include <grtrace/tables.h>
#include <poll.h>
#include <grtrace/grtrace.h>
#include <stdbool.h>

#include "base/clock.h"
#include "host/option.h"

#define NS_PER_S GRT_NS_PER_S

/* Exit statuses of grtrace. */
enum {
	EXIT_DONE = 0,
	EXIT_FAILED = 1,
	EXIT_USAGE = 2,
	EXIT_MISSING = 3, /* a privilege, module or feature is missing */
};

/**
 * cmd_time - the time in a trace from @first to @last that an option gives; @otherwise if it was not given
 */
uint64_t cmd_time(const struct opt_time *t, uint64_t first, uint64_t last, uint64_t otherwise);

struct grt_table;

/** cmd_words - joins the words with commas */
const char *cmd_words(const char *(*word)(unsigned int n), char *text, size_t room);

/** cmd_opt_help - the help line of an option; valid until the next call */
const char *cmd_opt_help(const struct cmd_opt *opt);

/**
 * struct cmd - one subcommand
 * @usage: what follows its name in the usage line
 * @opts: ended by a row without name; may be NULL
 * @sources: the command also takes the options of all sources
 * @run: gets the arguments left after the options (argv[argc] is NULL), and
 *	returns an exit status
 * @reads: the command reads recordings, so it raises the limit of open files; it starts no programs
 * @operand: returns the n-th word that the first operand may be, or NULL after the last one; the callback is
 *	NULL if the operand is no fixed word
 * @stop_at_operand: options end at the first operand (record -- PROG)
 * @json: the object that --json writes in addition to events, for a JSON Schema; NULL: none
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
 * @title: its title in the schema
 * @tables: its tables; ended by NULL
 * @parts: it also has the tables of the parts of analyses with one of these flags, GRT_PART_*
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
 * @group: the title of a group; such a row has no other member
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

/** cmd_opt_at - the @n-th option of a command, NULL after the last one */
const struct cmd_opt *cmd_opt_at(const struct cmd *cmd, unsigned int n);

/** cmd_opt_given - whether an option was on the command line */
bool cmd_opt_given(const struct cmd_opt *opt);

/** cmd_set_name - sets the name with which messages begin; NULL: grtrace itself */
void cmd_set_name(const char *name);

/**
 * cmd_parse - takes the options out of argv; operands move to its front
 * @argc: number of arguments; on return the number of operands
 * @help: set if --help or -h was found (parsing ends there)
 * Return: EXIT_DONE, or EXIT_USAGE after a message
 */
int cmd_parse(const struct cmd *cmd, int *argc, char **argv, bool *help);

/** struct cmd_guess - the nearest candidate so far and its distance; all zero: none */
struct cmd_guess {
	const char *name;
	unsigned int distance;
};

/** cmd_nearest - adds candidate @name to the search for the word that is nearest to @typed */
void cmd_nearest(struct cmd_guess *best, const char *typed, const char *name);

/** cmd_complete - prints the candidates for the last word of a command line, one per line */
int cmd_complete(int argc, char **argv);

/** cmd_schema - prints the JSON Schema of a command's --json, or of event. Return: exit status */
int cmd_schema(const char *name);

/** cmd_tables - prints commands and options as lines with tabs, for tools/check-tables */
int cmd_tables(void);

/**
 * cmd_error - prints "grtrace NAME: what: why" and, on a second line, what to type
 * Return: @status, for `return cmd_error(...)`
 */
int cmd_error(int status, const struct grt_err *err);

/** cmd_fail - cmd_error() with texts; @why and @fix may be NULL. Return: @status */
int cmd_fail(int status, const char *why, const char *fix, const char *fmt, ...)
	__attribute__((format(printf, 4, 5)));

/** cmd_open_status - the exit status if a trace cannot be opened. @code: a negative errno */
int cmd_open_status(int code);

/**
 * cmd_no_input - prints that there is neither @path nor a module to read
 * @live: why the module cannot be read, a negative errno
 * Return: EXIT_MISSING
 */
int cmd_no_input(const char *path, int live);

/**
 * cmd_buffer_usage - checks a size of --buffer against the range of the kernel module, which also holds for
 * the buffers of other sources
 * @bytes: 0: the option was not given
 * Return: EXIT_DONE, EXIT_USAGE
 */
int cmd_buffer_usage(uint64_t bytes);

/** cmd_usage_error - prints "grtrace NAME: text" and how to get help. Return: EXIT_USAGE */
int cmd_usage_error(const char *fmt, ...) __attribute__((format(printf, 1, 2)));

/**
 * cmd_event_types - parses a list of event types
 * @word: names of events.def in any case, with commas between
 * @types: gets a bit for each
 * Return: EXIT_DONE, or EXIT_USAGE after a message
 */
int cmd_event_types(const char *word, struct grt_type_set *types);

/**
 * cmd_catch_signals - SIGINT, SIGTERM and SIGHUP set cmd_signal; a second one ends the process at once,
 * unless both were sent by kill(2) within a moment, as timeout(1) does
 */
void cmd_catch_signals(void);

/* The number of the first SIGINT, SIGTERM or SIGHUP after cmd_catch_signals(), 0 before it. */
extern volatile int cmd_signal;
/* Whether that signal came from a process; the terminal sends a signal to the whole process group. */
extern volatile int cmd_signal_sent;

/**
 * cmd_poll - poll(2) that always ends on a signal, even if the signal came just before the call
 * @timeout: ms, -1: no timeout
 * Return: as poll(2); 0 if cmd_signal is already set and nothing is ready
 */
int cmd_poll(struct pollfd *fds, unsigned int n, int timeout);

/** cmd_restore_signals - restores the handlers from before cmd_catch_signals(), in a child before exec */
void cmd_restore_signals(void);

/** cmd_put_text - prints text from a trace or a file name with its control characters escaped (\xNN) */
void cmd_put_text(FILE *f, const char *text);

/** cmd_tell_gpus - after the message that a GPU is unknown: prints what users can type for those of this
 * system */
void cmd_tell_gpus(void);

/** cmd_tell - prints a message to standard error, escaped like cmd_put_text() */
void cmd_tell(const char *command, const char *text);

/** cmd_put_one_line - prints a JSON object of the writer as one line; no string in it may have a newline */
void cmd_put_one_line(const char *text);

/** cmd_colour - whether standard output is a terminal and NO_COLOR is not set */
bool cmd_colour(void);

/** cmd_flush - flushes standard output. Return: 0 or an errno */
int cmd_flush(void);

/**
 * cmd_write_failed - prints why a write to standard output failed; a closed pipe (head) is not a failure.
 * @code: errno, not 0. Return: exit status
 */
int cmd_write_failed(int code);

/** cmd_close_stdout - flushes standard output. Return: EXIT_DONE, or EXIT_FAILED after a message (a full
 * disk) */
int cmd_close_stdout(void);

/* -------------------------------------------------------------- terminal */

/*
 * The terminal of standard output: its width and its characters, and
 * the pager, which is started for output that may be longer than the screen.
 */

/** terminal_width - characters of a line, 0: there is neither a terminal nor COLUMNS */
unsigned int terminal_width(void);

/** terminal_utf8 - whether the locale uses UTF-8 */
bool terminal_utf8(void);

/** terminal_fit - makes tables fit the terminal; @wide: tables keep their full width */
void terminal_fit(struct grt_writer_options *o, bool wide);

/* An option of commands with tables that may be wider than the terminal. */
#define TERMINAL_WIDE_OPTION(target)                                                    \
	{                                                                               \
		"wide", 'w', OPT_FLAG, NULL, target,                                    \
			"all columns and whole names, even if the terminal is narrower" \
	}

/** terminal_no_pager - disables terminal_page() */
void terminal_no_pager(void);

/**
 * terminal_page - sends standard output to a pager from now on, if it is a terminal
 *
 * The pager is $GRTRACE_PAGER, else $PAGER, else less; "" and "cat" mean no pager. Only for output that
 * ends, never for live output. The process ends after the pager.
 */
void terminal_page(void);

#endif /* GRTRACE_CMD_H */
