/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The kernel module's own trace events in ftrace text.
 */
#ifndef GRT_TEXT_FTRACE_MODULE_H
#define GRT_TEXT_FTRACE_MODULE_H

#include "ftrace_emit.h"

/* No event is put farther before its line than this, ns. */
#define FTRACE_BACK UINT64_C(10000000)

/** ftrace_module - handler of grtrace_<name>; @type: GRT_EV_<NAME> */
enum grt_text_line ftrace_module(struct ftrace *f, unsigned int type);

#endif /* GRT_TEXT_FTRACE_MODULE_H */
