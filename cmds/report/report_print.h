/* SPDX-License-Identifier: GPL-2.0 */
/* Notes of a report about an input that is text; they do nothing for other inputs. */
#ifndef GRTRACE_REPORT_PRINT_H
#define GRTRACE_REPORT_PRINT_H

#include "cmds/reading.h"

extern const struct grt_table report_text_pairs, report_text_skipped_table;

/** report_text_notes - notes: lines that were not understood, places where events are missing */
void report_text_notes(struct grt_notes *n, const struct grt_health *h);

/**
 * report_text_passed - adds a note about skipped events, by kind; nothing if there are none
 */
void report_text_passed(struct grt_notes *n, const struct grt_session *s);

#endif /* GRTRACE_REPORT_PRINT_H */
