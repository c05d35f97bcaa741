/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Tables whose rows are built cell by cell, for data that is not an array of
 * structs, such as tallies. Histograms are in hist_table.h.
 */
#ifndef GRT_TABLE_ROWS_H
#define GRT_TABLE_ROWS_H

#include "base/hist.h"
#include "base/tally.h"
#include "analysis.h"

#define GRT_ROW_CELLS 24

/** struct grt_row_cells - a row; the column with argument n shows the n-th cell */
struct grt_row_cells {
	struct grt_cell cell[GRT_ROW_CELLS];
	unsigned int n;
};

/** grt_row_get - the struct grt_column.get of such rows */
void grt_row_get(struct grt_cell *cell, const void *view, const void *row, int arg);

/** grt_row_add, grt_row_number, grt_row_text, grt_row_absent - append a cell; an absent text is NULL */
void grt_row_add(struct grt_row_cells *c, struct grt_cell cell);
void grt_row_number(struct grt_row_cells *c, uint64_t number);
void grt_row_text(struct grt_row_cells *c, const char *text);
void grt_row_absent(struct grt_row_cells *c);

/** grt_row_ring, grt_row_device - append a number with its name */
void grt_row_ring(struct grt_row_cells *c, const struct grt_names *names, uint32_t ring);
void grt_row_device(struct grt_row_cells *c, const struct grt_names *names, uint32_t device);

/** grt_row_percentile - appends a percentile, 1000: the largest value */
void grt_row_percentile(struct grt_row_cells *c, const struct grt_hist *h, unsigned int permille);

/* Most rows of a tally, such as interrupts, IBs per submit, command numbers. */
#define GRT_TALLY_ROWS 4096

/**
 * grt_tally_write - writes a tally as a table, the most frequent rows first
 * @what: of what was counted, "{move is|moves are}", for a note about values without a row
 * @write: writes a row with grt_writer_row(); gets @arg
 * Return: 0 or -ENOMEM
 */
int grt_tally_write(struct grt_pass *pass, const struct grt_table *table, const struct grt_tally *t,
		    const char *what,
		    int (*write)(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg),
		    const void *arg);

/**
 * grt_process_name - the comm of a thread's process, or of the thread if that is unknown; NULL: both are
 * unknown
 */
const char *grt_process_name(const struct grt_names *names, uint32_t tid);

/* Bytes for the label of a process. */
#define GRT_PROCESS_LABEL 64

/** grt_process_label - "python(4711)" with its untrusted @name, or "pid 4711" if @name is NULL. Return:
 * @room */
const char *grt_process_label(const char *name, uint32_t pid, char room[GRT_PROCESS_LABEL]);

/** grt_pass_rate - @amount per second of the pass, in thousandths. Return: whether it is known */
bool grt_pass_rate(const struct grt_pass *pass, uint64_t amount, uint64_t *milli);

/** grt_decimal - thousandths as text with @digits after the point (0..3) */
void grt_decimal(char text[32], uint64_t milli, unsigned int digits);

#endif /* GRT_TABLE_ROWS_H */
