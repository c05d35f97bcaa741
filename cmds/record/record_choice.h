/* SPDX-License-Identifier: GPL-2.0 */
/* Which of all sources take part in a recording. */
#ifndef GRTRACE_RECORD_CHOICE_H
#define GRTRACE_RECORD_CHOICE_H

#include "host/option.h"
#include "sources/source.h"

/** enum choice - whether a source is requested */
enum choice {
	CHOICE_NO,
	CHOICE_AUTO, /* if it works here */
	CHOICE_NAMED,
};

/** record_choice - whether -e and the options of sources request this source */
enum choice record_choice(const struct source *source);

/**
 * record_choice_check - whether -e is a list of sources, and their options are valid. Return: an exit status
 */
int record_choice_check(void);

/** record_option_given - the first of a source's options that was given; NULL: none was */
const struct cmd_opt *record_option_given(const struct source *source);

#endif /* GRTRACE_RECORD_CHOICE_H */
