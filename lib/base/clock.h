/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Clocks as every stamp has them: one number of nanoseconds.
 */
#ifndef GRT_BASE_CLOCK_H
#define GRT_BASE_CLOCK_H

#include <stdint.h>
#include <time.h>

#define GRT_NS_PER_S UINT64_C(1000000000)

/** grt_clock_ns - what a clock shows, ns */
static inline uint64_t grt_clock_ns(clockid_t clock)
{
	struct timespec t;

	clock_gettime(clock, &t);
	return (uint64_t)t.tv_sec * GRT_NS_PER_S + (uint64_t)t.tv_nsec;
}

/** grt_now - the clock of all stamps, ns */
static inline uint64_t grt_now(void)
{
	return grt_clock_ns(CLOCK_MONOTONIC);
}

#endif /* GRT_BASE_CLOCK_H */
