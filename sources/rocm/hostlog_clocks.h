/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Snapshots of the two clocks whose time stamps a log of AMD's runtime has: CLOCK_MONOTONIC, and
 * CLOCK_MONOTONIC_RAW of ROCr, the layer below.
 */
#ifndef GRTRACE_HOSTLOG_CLOCKS_H
#define GRTRACE_HOSTLOG_CLOCKS_H

#include <stdint.h>

/*
 * Most snapshots. When they are reached, every second one is dropped, and further ones are taken half as
 * often.
 */
#define HOSTLOG_SNAPSHOTS 64U

/** struct hostlog_snapshot - both clocks at the same time, with a possible error of @error ns */
struct hostlog_snapshot {
	uint64_t monotonic;
	uint64_t raw;
	uint64_t error;
};

/** struct hostlog_clocks - all bytes zero: no snapshot yet. @every: time between two snapshots, ns */
struct hostlog_clocks {
	struct hostlog_snapshot of[HOSTLOG_SNAPSHOTS];
	unsigned int n;
	uint64_t every;
};

/** hostlog_clocks_take - takes a snapshot if it is time for one, or if @now is set */
void hostlog_clocks_take(struct hostlog_clocks *c, int now);

/**
 * hostlog_clocks_write - adds them as lines to a log that has lines of ROCr; other logs stay as they are.
 * lib/text/amd_log_clocks.h describes the lines
 * Return: 0 or -errno
 */
int hostlog_clocks_write(const struct hostlog_clocks *c, int file);

#endif /* GRTRACE_HOSTLOG_CLOCKS_H */
