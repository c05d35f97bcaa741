/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What a part of a timeline is as a picture: rows with a value for each column
 * of the span. An analysis gives them one by one, the most important first; how
 * they look is up to the command that draws them.
 */
#ifndef GRT_TABLE_BARS_H
#define GRT_TABLE_BARS_H

#include <stdbool.h>
#include <stdint.h>

/** enum grt_bar_look - what the values of a row are */
enum grt_bar_look {
	GRT_BAR_TIME,	/* of the column's ns so many */
	GRT_BAR_AMOUNT, /* amounts, drawn as shares of the largest of them */
	GRT_BAR_STATES, /* none: a character for each column */
};

/**
 * struct grt_bar - a row
 * @label: its name; untrusted text
 * @column: by column
 * @states: GRT_BAR_STATES: by column
 * @busy: of the span so many ns, which are shown as a share behind the bar
 * @behind: shown there instead, where it is not empty; untrusted text
 * @drawn: there are values
 * @inferred, @sampled, @least: how @busy is known: some of it inferred, from a sample, a lower bound
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
