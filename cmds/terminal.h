/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The terminal that standard output goes to: its width and its characters, and
 * the pager that is started for what may be longer than its screen.
 */
#ifndef GRTRACE_TERMINAL_H
#define GRTRACE_TERMINAL_H

#include <stdbool.h>

#include <grtrace/tables.h>

/** terminal_is - whether standard output is a terminal, or a pager that shows it on one */
bool terminal_is(void);

/** terminal_width - characters of a line, 0: there is no terminal and no COLUMNS */
unsigned int terminal_width(void);

/** terminal_utf8 - whether the locale has UTF-8 */
bool terminal_utf8(void);

/** terminal_fit - tables fit the terminal; @wide: they may be as wide as they are */
void terminal_fit(struct grt_writer_options *o, bool wide);

/* For commands with tables that may be wider than the terminal. */
#define TERMINAL_WIDE_OPTION(target)                                                       \
	{                                                                                  \
		"wide", 'w', OPT_FLAG, NULL, target,                                       \
			"all columns and whole names, also where the terminal is narrower" \
	}

/** terminal_no_pager - terminal_page() does nothing */
void terminal_no_pager(void);

/**
 * terminal_page - from now on standard output goes to a pager, where it is a terminal
 *
 * It is $GRTRACE_PAGER, else $PAGER, else less; "" and "cat" are none. For what has an end: never
 * for what is live. The process ends when the pager has.
 */
void terminal_page(void);

#endif /* GRTRACE_TERMINAL_H */
