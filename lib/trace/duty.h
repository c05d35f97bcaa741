/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Random windows, for continuous recording: time is divided into parts of the length of a window. A period is
 * a fixed number of consecutive parts, of which one is chosen at random. Each moment is in a window with the
 * same probability, independent of the program's rhythm. All processes of a recording have the same windows.
 */
#ifndef GRT_TRACE_DUTY_H
#define GRT_TRACE_DUTY_H

#ifdef __bpf__
#include <linux/types.h>
typedef __u64 uint64_t;
#else
#include <stdint.h>
#endif

/* PARTS:WINDOW:SEED:EPOCH, decimal */
#define GRT_DUTY_ENV "GRTRACE_DUTY"

/**
 * struct grt_duty - @parts: parts of a period, one of which is a window; 0: everything is recorded
 * @window: length of a window, ns
 * @epoch: when the first period began, CLOCK_MONOTONIC
 */
struct grt_duty {
	uint64_t parts;
	uint64_t window;
	uint64_t seed;
	uint64_t epoch;
};

/** grt_duty_period - the period of a moment */
static inline uint64_t grt_duty_period(const struct grt_duty *d, uint64_t moment)
{
	return moment > d->epoch ? (moment - d->epoch) / (d->parts * d->window) : 0;
}

/** grt_duty_begin - when the window of a period begins */
static inline uint64_t grt_duty_begin(const struct grt_duty *d, uint64_t period)
{
	uint64_t x = d->seed + (period + 1) * 0x9e3779b97f4a7c15ULL;

	/* splitmix64 */
	x = (x ^ x >> 30) * 0xbf58476d1ce4e5b9ULL;
	x = (x ^ x >> 27) * 0x94d049bb133111ebULL;
	x ^= x >> 31;
	return d->epoch + (period * d->parts + x % d->parts) * d->window;
}

#endif /* GRT_TRACE_DUTY_H */
