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

#endif /* GRT_TEXT_AMD_LOG_HEADER_H */
