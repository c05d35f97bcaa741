/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms as tables: percentiles, and buckets with a bar each. */
#ifndef GRT_TABLE_HIST_TABLE_H
#define GRT_TABLE_HIST_TABLE_H

#include "rows.h"

/** enum grt_hist_of - the objects that histograms belong to */
enum grt_hist_of {
	GRT_HIST_OF_RING,
	GRT_HIST_OF_CRTC,
	GRT_HIST_OF_ALL,
	GRT_HIST_OFS,
};

/**
 * struct grt_hist_row - a histogram to show
 * @owner: ring id or CRTC
 * @what: name of the measured value
 */
struct grt_hist_row {
	uint32_t owner;
	const char *what;
	const struct grt_hist *h;
};

/* struct grt_hist_tables.columns: times in ns, sizes in bytes */
#define GRT_HIST_TIMES 0
#define GRT_HIST_SIZES 1

extern const struct grt_column grt_hist_percentiles[GRT_HIST_OFS][2][10];
extern const struct grt_column grt_hist_buckets[GRT_HIST_OFS][2][10];

/** struct grt_hist_tables - a table of percentiles, and a table of buckets */
struct grt_hist_tables {
	enum grt_hist_of of;
	struct grt_table percentiles;
	struct grt_table buckets;
};

/* Defines both tables. OF: rings, CRTCs or all; WHAT: TIMES or SIZES. */
#define GRT_HIST_TABLES(OF, WHAT, name, title)                                                 \
	{                                                                                      \
		GRT_HIST_OF_##OF,                                                              \
			{name, title, grt_hist_percentiles[GRT_HIST_OF_##OF][GRT_HIST_##WHAT], \
			 GRT_MARK_INFERRED},                                                   \
			{name "_histogram", title ": histogram",                               \
			 grt_hist_buckets[GRT_HIST_OF_##OF][GRT_HIST_##WHAT], 0},              \
	}

/* For GRT_TABLES(). */
#define GRT_HIST_BOTH(tables) &(tables).percentiles, &(tables).buckets

/** grt_hists_write - writes both tables. Return: 0 or -ENOMEM */
int grt_hists_write(struct grt_pass *pass, const struct grt_hist_tables *tables,
		    const struct grt_hist_row *row, unsigned int n);

#endif /* GRT_TABLE_HIST_TABLE_H */
