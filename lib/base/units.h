/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Numbers for people. All arithmetic is in integers, so a printed number is
 * the measured value, rounded once.
 */
#ifndef GRT_BASE_UNITS_H
#define GRT_BASE_UNITS_H

#include <stddef.h>
#include <stdint.h>
#include <stdio.h>

#include <grtrace/grtrace.h>

/* Room for any of these texts. */
#define GRT_UNITS_MAX 40

/* No block of memory is as large as all addresses of a process: sums of a broken trace do not wrap. */
#define GRT_MEMORY_BLOCK_MAX (1ULL << 47)

/**
 * grt_put_u64, grt_put_s64 - write decimal digits; many times faster than fprintf(), which matters for CSV
 * and JSON
 */
void grt_put_u64(FILE *out, uint64_t number);
void grt_put_s64(FILE *out, int64_t number);

/** grt_put_percent - thousandths of a percent as "12.345" */
void grt_put_percent(FILE *out, uint64_t thousandths);

/** grt_put_amount - thousandths as "12" or "12.345" */
void grt_put_amount(FILE *out, int64_t thousandths);

/**
 * grt_units_amount - thousandths of a unit, scaled if the unit is known ("uW", "Hz", "B"): "23.4 W",
 * "1.35 GHz", "1.20 GiB"; else "1200 rpm", "12.3 %"
 * @room: size of @text; a longer text is cut
 */
void grt_units_amount(char *text, size_t room, int64_t thousandths, const char *unit);

/** grt_units_ns - a duration with three significant digits: "870 ns", "12.3 us", "1.25 ms", "34.0 s" */
void grt_units_ns(char text[GRT_UNITS_MAX], uint64_t ns);

/** grt_units_count - a count within a sentence: 1,234,567 */
void grt_units_count(char text[GRT_UNITS_MAX], uint64_t n);

/** grt_units_time - a time stamp in seconds with nine digits: "12.345678901" */
void grt_units_time(char text[GRT_UNITS_MAX], uint64_t ns);

/** grt_units_percent - thousandths of a percent with one digit: "12.3 %" */
void grt_units_percent(char text[GRT_UNITS_MAX], uint64_t thousandths);

/** grt_share - a part in thousandths of a percent of @whole, rounded; 0 of nothing */
static inline uint64_t grt_share(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)(((unsigned __int128)part * 100000 + whole / 2) / whole) : 0;
}

/** grt_share_down - the same, rounded down: less than the whole is never 100 % */
static inline uint64_t grt_share_down(uint64_t part, uint64_t whole)
{
	return whole ? (uint64_t)((unsigned __int128)part * 100000 / whole) : 0;
}

#endif /* GRT_BASE_UNITS_H */
