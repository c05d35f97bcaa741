/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Clocks as one number of nanoseconds, like all time stamps.
 */
#ifndef GRT_BASE_CLOCK_H
#define GRT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define GRT_NS_PER_S UINT64_C(1000000000)

/** grt_clock_ns - the time of a clock, ns */
static inline uint64_t grt_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * GRT_NS_PER_S + (uint64_t)t.tv_nsec;
}

/** grt_now - the time of the clock of all time stamps, ns */
static inline uint64_t grt_now(void)
{
	return grt_clock_ns(CLOCK_MONOTONIC);
}

#endif /* GRT_BASE_CLOCK_H */
