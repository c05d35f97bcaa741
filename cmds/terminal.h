/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal of standard output: its width and its characters, and
 * the pager, which is started for output that may be longer than the screen.
 */
#ifndef GRTRACE_TERMINAL_H
#define GRTRACE_TERMINAL_H

#include <stdbool.h>

#include <grtrace/tables.h>

/** terminal_is - whether standard output is a terminal, or a pager that shows it on one */
bool terminal_is(void);

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

#endif /* GRTRACE_TERMINAL_H */
