/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The log of AMD's runtime: the state of a text, and what messages mean.
 */
#ifndef GRT_TEXT_AMD_LOG_MESSAGE_H
#define GRT_TEXT_AMD_LOG_MESSAGE_H

#include "amd_log_header.h"
#include "text_input.h"

/* Levels up to this are errors. */
#define AMD_LOG_ERROR 1U

/* Threads whose next kernel's name is remembered. */
#define AMD_LOG_THREADS 64U
/* Long names that were reported; a forgotten one is reported again. */
#define AMD_LOG_TOLD 1024U
/* Calls of the first era that are open, by thread and number. */
#define AMD_LOG_OPEN 64U
/* Returns of the first era whose stamp follows from their entry's, until a stamp is read. */
#define AMD_LOG_PENDING 32U
/* A packet may be wrapped into lines, of which so much is joined; another record into so many lines. */
#define AMD_LOG_HELD 4096U
#define AMD_LOG_HELD_LINES 3U
/* What is said of a packet at which a queue was aborted: bytes of it. */
#define AMD_LOG_HANG 2048U

/** struct amd_log_name - the name of a thread's next kernel; @thread with @hash 0: none */
struct amd_log_name {
	uint64_t thread;
	uint64_t hash;
	char text[sizeof(((struct grt_ev_log_dispatch *)0)->name)];
};

/** struct amd_log_open - a call of the first era */
struct amd_log_open {
	uint64_t call;
	uint64_t time;
};

/**
 * struct amd_log - state of a text
 * @h: of the present record, its time as the event gets it
 * @flags: GRT_FLAG_INFERRED where that was not in the log
 * @last: stamp of the record before
 * @line_time: stamp of the line's first record: later ones are not before it
 * @whole: the message that is looked at has no more lines
 * @torn: an entry lacks its end, which the next line may bring
 * @in_record: the last line was a record or belongs to one
 * @pending, @pendings: returns that wait for the next stamp, since theirs must not be behind it
 * @holding: a record goes on in the next line; @held, @held_len its message so far, @held_head what stands
 *	before it, @held_file the name in that, @held_lines of how many lines
 * @hang, @hang_len: the lines so far of what is said of a packet at which a queue was aborted; @hang_name:
 *	the kernel's name, which precedes them
 * @kinds: messages by their first character, set once @indexed
 */
struct amd_log {
	struct grt_text *t;
	struct amd_log_head h;
	uint16_t flags;
	uint64_t last;
	uint64_t line_time;
	bool whole;
	bool torn;
	bool in_record;
	bool indexed;
	uint8_t kinds[128];
	struct amd_log_name name[AMD_LOG_THREADS];
	uint64_t told[AMD_LOG_TOLD];
	struct amd_log_open open[AMD_LOG_OPEN];
	struct grt_ev_log_call pending[AMD_LOG_PENDING];
	unsigned int pendings;
	bool holding;
	struct amd_log_head held_head;
	uint16_t held_flags;
	unsigned int held_lines;
	size_t held_len;
	char held_file[64];
	char held[AMD_LOG_HELD + 32];
	size_t hang_len;
	size_t hang_name_len;
	char hang_name[AMD_LOG_HANG + 32];
	char hang[AMD_LOG_HANG + 32];
};

/**
 * amd_log_message - understands the message of the present record and puts its events
 * @whole: the text has nothing more of it
 * Return: false: it goes on in the next line
 */
bool amd_log_message(struct amd_log *a, const char *p, const char *end, bool whole);

/** amd_log_knows - whether a message begins with what is understood; @packet: as one that may have many lines
 */
bool amd_log_knows(struct amd_log *a, const char *p, const char *end, bool *packet);

/** amd_log_hang - puts what @hang says, if it reports a packet. Return: it does */
bool amd_log_hang(struct amd_log *a);

/** amd_log_fault - puts a line that reports a fault of the GPU. Return: it is one */
bool amd_log_fault(struct amd_log *a, const char *p, const char *end);

/** amd_log_call - the event of a call that was entered or returned (GRT_CALL_*) */
struct grt_ev_log_call amd_log_call(const struct amd_log *a, uint16_t step, struct grt_span name,
				    struct grt_span text);

/** amd_log_note - a note, whose other fields are set: it gets the record's own */
void amd_log_note(struct amd_log *a, struct grt_ev_log_note *n, uint16_t what, struct grt_span text);

#endif /* GRT_TEXT_AMD_LOG_MESSAGE_H */
