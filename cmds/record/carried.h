/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Records to which events of any time refer (strings, frames, processes), kept while the packets that had
 * them are deleted or dropped. The memory is bounded: the first half keeps what came first, such as a
 * program's files, kernels and stacks; in the second half a new definition replaces the oldest, which is
 * counted. So names that a program makes for ever, such as a number in the range of each step, do not replace
 * all others. The counts of a process, one a second, and its clocks, ten a second, replace only those before.
 */
#ifndef GRTRACE_CARRIED_H
#define GRTRACE_CARRIED_H

#include <grtrace/grtrace.h>

/* Most images whose last records are remembered; if there are more, some records are kept twice. */
#define CARRIED_LASTS 2048U

/**
 * struct carried_last - the last record of a type of an image
 * @at: its offset from the first record of all, in bytes
 */
struct carried_last {
	uint32_t pid;
	uint32_t type;
	uint64_t image;
	uint64_t at;
};

/**
 * struct carried - records, one after the other
 * @data: @used bytes of @room: @stays bytes that are never replaced, @dropped bytes that are freed, and the
 * others
 * @gone: bytes that were freed and are no longer in @data
 * @most: bytes that they may use
 * @records: number of records
 * @lost: definitions that were replaced
 * @last: by image and type; NULL before the first
 */
struct carried {
	char *data;
	size_t used;
	size_t room;
	size_t stays;
	size_t dropped;
	uint64_t gone;
	size_t most;
	uint64_t records;
	uint64_t lost;
	struct carried_last *last;
};

/**
 * struct carried_seen - counts of a packet's records
 * @counted: records that their programs count
 */
struct carried_seen {
	uint64_t counted;
};

/** carried_see - keeps the definitions of a valid packet. Return: 0 or -ENOMEM */
int carried_see(struct carried *c, const struct grt_packet *p, struct carried_seen *seen);

/**
 * carried_write - writes all records as packets
 * @time: time of the packets, ns
 * @write: gets a complete packet. Return: 0, or -errno, which ends the call
 */
int carried_write(const struct carried *c, uint64_t time, int (*write)(void *arg, const struct grt_packet *p),
		  void *arg);

/** carried_bytes - Return: the most bytes that carried_write() writes */
uint64_t carried_bytes(const struct carried *c);

/** carried_free - frees it */
void carried_free(struct carried *c);

#endif /* GRTRACE_CARRIED_H */
