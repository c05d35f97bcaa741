/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Rows that another thread writes while the caller makes more, see grt_writer_row_later().
 */
#ifndef GRT_TABLE_LATER_H
#define GRT_TABLE_LATER_H

struct grt_later;

/** grt_later_free - waits for the thread and frees the rows that it did not write; NULL is allowed */
void grt_later_free(struct grt_later *l);

#endif /* GRT_TABLE_LATER_H */
