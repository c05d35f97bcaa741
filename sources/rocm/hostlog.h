/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the recorder has to know of the source hostlog.
 */
#ifndef GRTRACE_HOSTLOG_H
#define GRTRACE_HOSTLOG_H

/** hostlog_stderr - what the program gets as its standard error, -1: ours */
int hostlog_stderr(void);

/** hostlog_started - the program has its own copy */
void hostlog_started(void);

#endif /* GRTRACE_HOSTLOG_H */
