/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The log of AMD's runtime (AMD_LOG_LEVEL): where its records are, and what
 * precedes their messages.
 */
#ifndef GRT_TEXT_AMD_LOG_HEADER_H
#define GRT_TEXT_AMD_LOG_HEADER_H

#include "base/scan.h"

#define AMD_LOG_NS_PER_US UINT64_C(1000)
#define AMD_LOG_NS_PER_TICK UINT64_C(100)

/** enum amd_log_clock - what a record's stamp is */
enum amd_log_clock {
	AMD_LOG_NO_TIME,
	AMD_LOG_MONOTONIC, /* us since boot */
	AMD_LOG_TICKS,	   /* 100 ns since boot */
	AMD_LOG_RELATIVE,  /* us since the first record */
	AMD_LOG_RAW,	   /* us, CLOCK_MONOTONIC_RAW */
};

/**
 * struct amd_log_head - what precedes a message
 * @file: of the runtime's source; empty where the log leaves it out
 * @time: ns, by @clock
 * @pid: 0 where the log does not say
 * @thread: an address or a hash, 0 where the log does not say
 */
struct amd_log_head {
	unsigned int level;
	struct grt_span file;
	enum amd_log_clock clock;
	uint64_t time;
	uint32_t pid;
	uint64_t thread;
};

/** amd_log_find - where a record begins, from @p on: at its colon. NULL: nowhere */
const char *amd_log_find(const char *p, const char *end);

/**
 * amd_log_head - takes in what precedes a message; @p is where amd_log_find() found it
 * Return: where the message begins, NULL: this is no record
 */
const char *amd_log_head(const char *p, const char *end, struct amd_log_head *h);

/** amd_log_stamp - the same without pid and thread; the message may have them before it */
const char *amd_log_stamp(const char *p, const char *end, struct amd_log_head *h);

/** amd_log_rocr - amd_log_head() of a line of ROCr, which has no level */
const char *amd_log_rocr(const char *line, const char *end, struct amd_log_head *h);

#endif /* GRT_TEXT_AMD_LOG_HEADER_H */
