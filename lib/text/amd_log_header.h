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
	AMD_LOG_MONOTONIC, /* us since boot */
	AMD_LOG_TICKS,	   /* 100 ns since boot */
	AMD_LOG_RELATIVE,  /* us since the first record */
	AMD_LOG_RAW,	   /* us, CLOCK_MONOTONIC_RAW */
};

/**
 * struct amd_log_head - the header of a message
 * @file: source file of the runtime; empty: the log does not have it
 * @time: ns, by @clock
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

/** amd_log_find - finds the next record from @p on. Return: its colon, with which it begins; NULL: there is
 * none */
const char *amd_log_find(const char *p, const char *end);

/**
 * amd_log_head - reads the header of a message; @p is the result of amd_log_find()
 * Return: the begin of the message, NULL: this is not a record
 */
const char *amd_log_head(const char *p, const char *end, struct amd_log_head *h);

/** amd_log_stamp - the same without pid and thread; the message may have them before it */
const char *amd_log_stamp(const char *p, const char *end, struct amd_log_head *h);

/** amd_log_rocr - amd_log_head() of a line of ROCr, which has no level */
const char *amd_log_rocr(const char *line, const char *end, struct amd_log_head *h);

#endif /* GRT_TEXT_AMD_LOG_HEADER_H */
