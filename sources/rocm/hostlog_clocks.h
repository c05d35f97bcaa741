/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Snapshots of the two clocks that a log of AMD's runtime has stamps of:
 * CLOCK_MONOTONIC, and CLOCK_MONOTONIC_RAW of ROCr, the layer below.
 */
#ifndef GRTRACE_HOSTLOG_CLOCKS_H
#define GRTRACE_HOSTLOG_CLOCKS_H

#include <stdint.h>

/* Snapshots that are kept; then every second one goes, and they are taken half as often. */
#define HOSTLOG_SNAPSHOTS 64U

/** struct hostlog_snapshot - both at one time, which is known to @error ns */
struct hostlog_snapshot {
	uint64_t monotonic;
	uint64_t raw;
	uint64_t error;
};

/** struct hostlog_clocks - all zero: none yet. @every: ns from one to the next */
struct hostlog_clocks {
	struct hostlog_snapshot of[HOSTLOG_SNAPSHOTS];
	unsigned int n;
	uint64_t every;
};

/** hostlog_clocks_take - one more, when it is time for it, or @now */
void hostlog_clocks_take(struct hostlog_clocks *c, int now);

/**
 * hostlog_clocks_write - adds them as lines to a log that has lines of ROCr; any other stays as it is.
 * lib/text/amd_log_clocks.h has what they look like
 * Return: 0 or -errno
 */
int hostlog_clocks_write(const struct hostlog_clocks *c, int file);

#endif /* GRTRACE_HOSTLOG_CLOCKS_H */
