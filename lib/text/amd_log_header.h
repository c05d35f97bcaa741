/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The log of AMD's runtime (AMD_LOG_LEVEL): finds its records, and reads the header that
 * precedes each message.
 */
#ifndef GRT_TEXT_AMD_LOG_HEADER_H
#define GRT_TEXT_AMD_LOG_HEADER_H

#include "base/scan.h"

#define AMD_LOG_NS_PER_US UINT64_C(1000)
#define AMD_LOG_NS_PER_TICK UINT64_C(100)

/** enum amd_log_clock - the clock of a record's stamp */
enum amd_log_clock {
	AMD_LOG_NO_TIME,
	AMD_LOG_MONOTONIC, /* microseconds since boot */
	AMD_LOG_TICKS,	   /* units of 100 ns since boot */
	AMD_LOG_RELATIVE,  /* microseconds since the first record */
	AMD_LOG_RAW,	   /* microseconds of CLOCK_MONOTONIC_RAW */
};

/**
 * struct amd_log_head - the header of a message
 * @file: source file of the runtime; empty: the log does not have it
 * @time: ns of @clock
 * @pid: 0: the log does not have it
 * @thread: an address or a hash, 0: the log does not have it
 */
struct amd_log_head {
	unsigned int level;
	struct grt_span file;
	enum amd_log_clock clock;
	uint64_t time;
	uint32_t pid;
	uint64_t thread;
};

/**
 * amd_log_find - finds the next record from @p on. Return: the colon with which it begins, NULL: there is
 * none
 */
const char *amd_log_find(const char *p, const char *end);

/**
 * amd_log_head - reads the header of a message; @p is the result of amd_log_find()
 * Return: the begin of the message, NULL: this is not a record
 */
const char *amd_log_head(const char *p, const char *end, struct amd_log_head *h);

/**
 * amd_log_stamp - reads a header up to its time stamp. Return: what follows: pid and thread, or the message
 */
const char *amd_log_stamp(const char *p, const char *end, struct amd_log_head *h);

/** amd_log_rocr - reads the header of a line of ROCr, which has no level. Return: as amd_log_head() */
const char *amd_log_rocr(const char *line, const char *end, struct amd_log_head *h);

/* ---------------------------------------------------------------- clocks */

/*
 * Converts the time stamps of ROCr. ROCr, the layer below AMD's runtime, writes into the same log with stamps
 * of CLOCK_MONOTONIC_RAW, while the runtime's stamps are of CLOCK_MONOTONIC; the two clocks drift apart. The
 * offset between them is found in the first reading of a file, which reads only time stamps. Either a
 * recorder has added lines with both clocks,
 *
 *	# grtrace clocks: monotonic=123456789000 monotonic_raw=123450000000 error=40
 *
 * in ns, or the offset follows from the order of the lines of a thread: a line of ROCr between two records of
 * the runtime was written between the times of these records. So each line of ROCr bounds the offset at its
 * time. Bounds at other times hold as well, widened by the most that the clocks can have drifted in between.
 */

#define AMD_LOG_CLOCKS_MARK "# grtrace clocks: "
/* Limits: threads whose last record is kept, bounds of the offset, snapshots of both clocks. */
#define AMD_LOG_CLOCK_THREADS 64U
#define AMD_LOG_BOUNDS 4096U
#define AMD_LOG_SNAPSHOTS 256U

/** enum amd_log_moved - how a stamp was converted to CLOCK_MONOTONIC; also in the event, see log_notes.def */
enum amd_log_moved {
	AMD_LOG_UNMOVED,
	AMD_LOG_BY_SNAPSHOTS,
	AMD_LOG_BY_ORDER,
};

/** struct amd_log_bound - at the time @raw, CLOCK_MONOTONIC is at least @low and at most @high ns ahead */
struct amd_log_bound {
	uint64_t raw;
	int64_t low;
	int64_t high;
};

/**
 * struct amd_log_writer - a thread that writes into the log
 * @last: time of its last record of the runtime, ns
 * @waits: it wrote a line of ROCr and no record of the runtime since then; the line has the time @raw, and
 *	its offset is at least @low
 */
struct amd_log_writer {
	uint64_t thread;
	uint32_t pid;
	bool waits;
	uint64_t last;
	uint64_t raw;
	int64_t low;
};

/** struct amd_log_snapshot - both clocks at the same moment, which is exact to @error ns */
struct amd_log_snapshot {
	uint64_t monotonic;
	uint64_t raw;
	uint64_t error;
};

/**
 * struct amd_log_clocks - what is known about the clocks of a file; all bytes zero: nothing
 * @column: used by the code in amd_log.c that reads time stamps; must be the first member
 * @rocr: the file has lines of ROCr, with times from @first to @last of their clock
 * @any: the last record of any thread, for lines of threads that no record of the runtime names
 * @writer: threads by a hash of thread and process
 * @now: the bound at the latest line of ROCr, if @begun
 * @bound, @bounds: bounds in the order of @raw: every @stride-th one, of @passed in all
 * @snapshot, @snapshots: lines of a recorder, in the order of @raw
 * @apart: no offset satisfies all bounds, or lines are out of order; the order of lines says nothing then
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

/** amd_log_clocks_record - takes a record of the runtime; @h: its header, with a time of CLOCK_MONOTONIC */
void amd_log_clocks_record(struct amd_log_clocks *c, const struct amd_log_head *h);

/** amd_log_clocks_rocr - takes a line of ROCr; @h: its header, with a time of CLOCK_MONOTONIC_RAW */
void amd_log_clocks_rocr(struct amd_log_clocks *c, const struct amd_log_head *h);

/**
 * amd_log_clocks_snapshot - takes a recorder's line with both clocks; @p: the text after AMD_LOG_CLOCKS_MARK
 */
void amd_log_clocks_snapshot(struct amd_log_clocks *c, const char *p, const char *end);

/** amd_log_clocks_end - the file was read to its end: computes the bounds */
void amd_log_clocks_end(struct amd_log_clocks *c);

/**
 * amd_log_clocks_move - converts a time stamp of ROCr to CLOCK_MONOTONIC; after amd_log_clocks_end()
 * @low, @high: get the earliest and latest time that it can be, ns
 * Return: how it was converted; AMD_LOG_UNMOVED: the offset is unknown
 */
enum amd_log_moved amd_log_clocks_move(const struct amd_log_clocks *c, uint64_t raw, uint64_t *low,
				       uint64_t *high);

#endif /* GRT_TEXT_AMD_LOG_HEADER_H */
