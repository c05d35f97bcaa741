/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * ROCr, the layer below AMD's runtime, writes into the same log with stamps of
 * CLOCK_MONOTONIC_RAW, which drifts from the others' CLOCK_MONOTONIC. How far
 * they are apart is learned while the stamps of a file are looked at: from lines
 * that a recorder has added,
 *
 *	# grtrace clocks: monotonic=123456789000 monotonic_raw=123450000000 error=40
 *
 * all ns, or else from the order of the lines of a thread: what it writes
 * between two records of the runtime was between them. Each such place allows an
 * interval, and those of other places hold here too, wider by what the clocks may
 * have drifted from there.
 */
#ifndef GRT_TEXT_AMD_LOG_CLOCKS_H
#define GRT_TEXT_AMD_LOG_CLOCKS_H

#include "amd_log_header.h"

#define AMD_LOG_CLOCKS_MARK "# grtrace clocks: "
/* Threads whose last record is kept, places that are, snapshots. */
#define AMD_LOG_CLOCK_THREADS 64U
#define AMD_LOG_BOUNDS 4096U
#define AMD_LOG_SNAPSHOTS 256U

/** enum amd_log_moved - how a stamp became one of CLOCK_MONOTONIC; also in the event, see log_notes.def */
enum amd_log_moved {
	AMD_LOG_UNMOVED,
	AMD_LOG_BY_SNAPSHOTS,
	AMD_LOG_BY_ORDER,
};

/** struct amd_log_bound - at @raw CLOCK_MONOTONIC is from @low to @high ns ahead */
struct amd_log_bound {
	uint64_t raw;
	int64_t low;
	int64_t high;
};

/** struct amd_log_writer - a thread. @last: stamp of its last record; @waits: its last line of ROCr, at @raw,
 * lacks a record behind it */
struct amd_log_writer {
	uint64_t thread;
	uint32_t pid;
	bool waits;
	uint64_t last;
	uint64_t raw;
	int64_t low;
};

/** struct amd_log_snapshot - both clocks at one time, which is known to @error ns */
struct amd_log_snapshot {
	uint64_t monotonic;
	uint64_t raw;
	uint64_t error;
};

/**
 * struct amd_log_clocks - what was learned of a file; empty: all zero
 * @column: the stamps' own, see amd_log.c; it is the first member
 * @rocr: there are lines of ROCr, from @first to @last by their clock
 * @any: the last record of any thread, for lines of threads that the runtime's records do not name
 * @bound: in the order of @raw; every @stride th place that was looked at
 * @now: what is known at the last of these; @apart: no offset fits all of them, or the
 * lines are out of order
 */
struct amd_log_clocks {
	size_t column;
	bool rocr;
	bool apart;
	uint64_t first;
	uint64_t last;
	struct amd_log_writer any;
	struct amd_log_writer writer[AMD_LOG_CLOCK_THREADS];
	struct amd_log_bound now;
	bool begun;
	struct amd_log_bound bound[AMD_LOG_BOUNDS];
	unsigned int bounds;
	unsigned int stride;
	unsigned int passed;
	struct amd_log_snapshot snapshot[AMD_LOG_SNAPSHOTS];
	unsigned int snapshots;
};

/** amd_log_clocks_record - a record of the runtime; @h with its time */
void amd_log_clocks_record(struct amd_log_clocks *c, const struct amd_log_head *h);

/** amd_log_clocks_rocr - a line of ROCr; @h with its time by its own clock */
void amd_log_clocks_rocr(struct amd_log_clocks *c, const struct amd_log_head *h);

/** amd_log_clocks_snapshot - a line of a recorder, behind its mark */
void amd_log_clocks_snapshot(struct amd_log_clocks *c, const char *p, const char *end);

/** amd_log_clocks_end - nothing more comes */
void amd_log_clocks_end(struct amd_log_clocks *c);

/**
 * amd_log_clocks_move - a stamp of ROCr as one of CLOCK_MONOTONIC
 * @low, @high: get the first and last ns that it may be
 * Return: AMD_LOG_UNMOVED: it is unknown
 */
enum amd_log_moved amd_log_clocks_move(const struct amd_log_clocks *c, uint64_t raw, uint64_t *low,
				       uint64_t *high);

#endif /* GRT_TEXT_AMD_LOG_CLOCKS_H */
