/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The picture of a part of a timeline: rows with a value for each column
 * of the span. An analysis returns the rows one by one, the most important first; the
 * command that draws them decides how they look.
 */
#ifndef GRT_TABLE_BARS_H
#define GRT_TABLE_BARS_H

#include <stdbool.h>
#include <stdint.h>

/** enum grt_bar_look - the meaning of the values of a row */
enum grt_bar_look {
	GRT_BAR_TIME,	/* ns of the time of the column */
	GRT_BAR_AMOUNT, /* amounts, drawn as shares of the largest of them */
	GRT_BAR_STATES, /* no value, but a character for each column */
};

/**
 * struct grt_bar - a row
 * @label: its name; untrusted text
 * @column: values by column
 * @states: characters by column, for GRT_BAR_STATES
 * @busy: ns of the span, shown as a share after the bar
 * @behind: shown instead of @busy unless empty; untrusted text
 * @drawn: the row has values
 * @inferred, @sampled, @least: marks of @busy: partly inferred, from a sample, a lower bound
 */
struct grt_bar {
	char label[256];
	const uint64_t *column;
	const char *states;
	uint64_t busy;
	char behind[32];
	enum grt_bar_look look;
	bool drawn;
	bool inferred;
	bool sampled;
	bool least;
};

#endif /* GRT_TABLE_BARS_H */
