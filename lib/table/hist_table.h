/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Histograms as tables: percentiles, and buckets with a bar each. */
#ifndef GRT_TABLE_HIST_TABLE_H
#define GRT_TABLE_HIST_TABLE_H

#include "rows.h"

/** enum grt_hist_of - what histograms belong to */
enum grt_hist_of {
	GRT_HIST_OF_RING,
	GRT_HIST_OF_CRTC,
	GRT_HIST_OF_ALL,
};

/**
 * struct grt_hist_row - a histogram to be shown
 * @owner: ring id or CRTC
 * @what: of what
 */
struct grt_hist_row {
	uint32_t owner;
	const char *what;
	const struct grt_hist *h;
};

/** grt_times_write - percentiles and buckets of times. Return: 0 or -ENOMEM */
int grt_times_write(struct grt_pass *pass, const char *name, const char *title, enum grt_hist_of of,
		    const struct grt_hist_row *row, unsigned int n);

/** grt_sizes_write - the same of sizes in bytes. Return: 0 or -ENOMEM */
int grt_sizes_write(struct grt_pass *pass, const char *name, const char *title,
		    const struct grt_hist_row *row, unsigned int n);

#endif /* GRT_TABLE_HIST_TABLE_H */
