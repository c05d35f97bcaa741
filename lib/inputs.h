/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Inputs by their path, of any kind that a row of readers.def has.
 */
#ifndef GRT_INPUTS_H
#define GRT_INPUTS_H

#include "merge/merge.h"
#include "trace/session.h"

/** grt_merge_open - grt_merge_add() of what grt_session_open() opens. Return: 0 or a negative errno */
int grt_merge_open(struct grt_merge *m, const char *path, enum grt_merge_side side, struct grt_err *err);

/** grt_mend - grt_session_mend_by() with the reader of recordings alone */
int grt_mend(struct grt_mending *out, const char *path, struct grt_err *err);

#endif /* GRT_INPUTS_H */
