/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The trace events of grtrace's own kernel module in ftrace text.
 */
#ifndef GRT_TEXT_FTRACE_MODULE_H
#define GRT_TEXT_FTRACE_MODULE_H

#include "ftrace_emit.h"

/* An event is put at most this long before the time of its line, ns. */
#define FTRACE_BACK UINT64_C(10000000)

/** ftrace_module - handles a line of grtrace_<name>; @type: GRT_EV_<NAME> */
enum grt_text_line ftrace_module(struct ftrace *f, unsigned int type);

#endif /* GRT_TEXT_FTRACE_MODULE_H */
