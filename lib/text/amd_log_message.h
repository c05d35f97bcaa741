/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The log of AMD's runtime: the state of a text, and the conversion of messages to events.
 */
#ifndef GRT_TEXT_AMD_LOG_MESSAGE_H
#define GRT_TEXT_AMD_LOG_MESSAGE_H

#include "amd_log_header.h"
#include "text_input.h"

/* Records with a level up to this one report errors. */
#define AMD_LOG_ERROR 1U

/* Places for threads that have named the kernel that they launch next. */
#define AMD_LOG_THREADS 64U
/* Places for long names that were put; a name that lost its place is put again. */
#define AMD_LOG_TOLD 1024U
/* Places for open calls in the layout before release 3.7, by thread and number. */
#define AMD_LOG_OPEN 64U
/* Returns in that layout that are held until the next time stamp: their lines have none, see amd_log.c. */
#define AMD_LOG_PENDING 32U
/* A record may be wrapped into several lines, which are joined: at most this many bytes, and for a record
 * that is not a packet this many further lines. */
#define AMD_LOG_HELD 4096U
#define AMD_LOG_HELD_LINES 3U
/* Bytes that are kept of the description of the packet at which a queue was aborted. */
#define AMD_LOG_HANG 2048U

/** struct amd_log_name - the name of the kernel that a thread launches next; @thread and @hash 0: none */
struct amd_log_name {
	uint64_t thread;
	uint64_t hash;
	char text[sizeof(((struct grt_ev_log_dispatch *)0)->name)];
};

/** struct amd_log_open - an open call in the layout before release 3.7, entered at @time */
struct amd_log_open {
	uint64_t call;
	uint64_t time;
};

/**
 * struct amd_log - the state of a text
 * @t: the text
 * @h: header of the current record; its time is that of the events
 * @flags: flags of the events; GRT_FLAG_INFERRED: the log does not have the time
 * @last: time of the previous record, ns
 * @line_time: time of the first record in the line, 0: none yet. A record of the same line whose time is far
 *	from it gets this time
 * @whole: the message that is parsed has no further lines
 * @torn: the message of a call's entry lacks its end, which the next line may have
 * @in_record: the previous line was a record or a part of one
 * @kinds: rows of messages by their first character, set if @indexed
 * @name: kernels that threads launch next, by a hash of the thread
 * @told: hashes of the long names that were put
 * @open: open calls, see AMD_LOG_OPEN
 * @pending, @pendings: returns that are held; their inferred times must not be after the next time stamp
 * @holding: a record may continue in the next line. Its message so far is @held, of @held_len bytes and
 *	@held_lines further lines; its header is @held_head, whose file name is in @held_file, and its flags
 *	are @held_flags
 * @hang, @hang_len: the lines so far that describe the packet at which a queue was aborted
 * @hang_name, @hang_name_len: name of the packet's kernel, from the line before them
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
 * amd_log_message - parses the message of the current record and puts its events
 * @whole: the message has no further lines
 * Return: false: it continues in the next line, and nothing was put
 */
bool amd_log_message(struct amd_log *a, const char *p, const char *end, bool whole);

/**
 * amd_log_is_message - Return: whether a message begins like one that is converted to an event
 * @packet: gets whether it is a packet, whose record may have many lines
 */
bool amd_log_is_message(struct amd_log *a, const char *p, const char *end, bool *packet);

/** amd_log_hang - puts an event for the lines in @a->hang. Return: whether they describe a packet */
bool amd_log_hang(struct amd_log *a);

/** amd_log_fault - puts an event for a line that reports a fault of the GPU. Return: whether it does */
bool amd_log_fault(struct amd_log *a, const char *p, const char *end);

/** amd_log_call - Return: an event for a call that was entered or returned; @step: GRT_CALL_* */
struct grt_ev_log_call amd_log_call(const struct amd_log *a, uint16_t step, struct grt_span name,
				    struct grt_span text);

/**
 * amd_log_note - puts a note
 * @n: the note, with the fields of its kind; common fields, @what and @text are set here
 */
void amd_log_note(struct amd_log *a, struct grt_ev_log_note *n, uint16_t what, struct grt_span text);

#endif /* GRT_TEXT_AMD_LOG_MESSAGE_H */
