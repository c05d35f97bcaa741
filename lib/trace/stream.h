/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * One stream: a cursor over packets and their records, with one small buffer
 * (which grows to at most 64 KiB for larger records). The cursor is at an item, which
 * is a packet's header or a record, and has a time; grt_stream_next() moves to the
 * next item.
 *
 * The fast path of the merge moves @ptr over records itself, as long as they are
 * complete, valid and in the buffer; in all other cases it calls grt_stream_next().
 */
#ifndef GRT_TRACE_STREAM_H
#define GRT_TRACE_STREAM_H

#include "packet.h"
#include "parts.h"
#include "skips.h"

/* Larger than any valid record, and small enough that the buffers of many streams fit into a CPU's cache. */
#define GRT_STREAM_BUF_MIN (32U << 10)
#define GRT_STREAM_BUF_MAX (128U << 10)

/** enum grt_stream_at - the position of the cursor */
enum grt_stream_at {
	GRT_AT_GAP,	/* before a packet that was not read yet */
	GRT_AT_PACKET,	/* on a packet's header: the item is the packet */
	GRT_AT_RECORDS, /* in a packet; the item is the record at @ptr, if there is one */
	GRT_AT_END,
};

/** enum grt_stream_mode - which packets of the input belong to the stream */
enum grt_stream_mode {
	GRT_STREAM_WHOLE,   /* all of them */
	GRT_STREAM_ONE_CPU, /* packets of CPU @cpu; others are skipped */
	GRT_STREAM_HEADERS, /* all, but the records are never read */
};

struct grt_stream;

/**
 * struct grt_stream_source - the source of a stream without packets
 * @next: finds the next run of records: sets @ptr, @end, @key, @last and @cpu, and @at to
 *	GRT_AT_RECORDS, or to GRT_AT_END. Returns as grt_stream_next()
 * @rewind: goes back to the start; @next reports errors
 * @fini: frees @owner
 */
struct grt_stream_source {
	int (*next)(struct grt_stream *st);
	void (*rewind)(struct grt_stream *st);
	void (*fini)(struct grt_stream *st);
};

/**
 * struct grt_stream - a cursor
 * @ptr: the item, or the next bytes; 8-byte aligned, in @buf
 * @end: end of this packet's records in @buf
 * @mark: where @ptr was when @pos was its position
 * @key: time of the item for the merge: never goes back
 * @last: the latest allowed time of a record here
 * @cpu: CPU of the packet
 * @index: index of the stream in its session
 * @pos: position of the cursor in the stream; updated by grt_stream_next() only
 * @start: position of the stream's first packet
 * @at, @mode: see the enums
 * @limit: end of the stream, UINT64_MAX for a growing stream
 * @content_end, @packet_end: ends of the packet's content and of the packet, as positions in the stream
 * @lost_from: begin of bytes that are not a packet, UINT64_MAX if the cursor is not in such bytes
 * @lost_cut, @lost_zero: these bytes begin like a packet; are all zero
 * @buf, @cap, @fill, @buf_pos: the buffer, its size, bytes in it, position of its start
 * @eof: there is nothing to read after the buffer
 * @packet: header of the packet that the cursor is in
 * @ready: the item at the cursor was not delivered yet
 * @joined: a packet has been counted, so @next_seq (of the packet after it) and
 *	@balance (at its end) are known
 * @sum: sum of the packets that were counted in this run
 * @health: counts faults
 * @quiet: faults between packets were already counted
 * @label: name of the input, for messages
 * @read: fills the buffer from position @buf_pos + @fill on, like read(2)
 * @parts, @cursor, @live: inputs of @read
 * @skips: positions of the CPU's packets, for GRT_STREAM_ONE_CPU; may be NULL
 * @skip, @first_skip: numbers in @skips of the CPU's next packet and first packet
 * @source, @owner: NULL, or the source of records instead of packets, and its data
 * @failure: NULL, or the step at which @source failed
 */
struct grt_stream {
	const char *ptr;
	const char *end;
	const char *mark;
	uint64_t key;
	uint64_t last;
	uint32_t cpu;
	uint32_t index;
	enum grt_stream_at at;
	enum grt_stream_mode mode;
	uint64_t pos;
	uint64_t start;
	uint64_t limit;
	uint64_t content_end;
	uint64_t packet_end;
	uint64_t lost_from;
	bool lost_cut;
	bool lost_zero;
	bool quiet;
	bool eof;
	bool joined;
	bool ready;
	char *buf;
	size_t cap;
	size_t fill;
	uint64_t buf_pos;
	struct grt_packet packet;
	uint64_t next_seq;
	struct grt_balance balance;
	struct grt_balance sum;
	struct grt_health *health;
	const char *label;
	ssize_t (*read)(struct grt_stream *st, void *buf, size_t len);
	const struct grt_parts *parts;
	struct grt_parts_cursor cursor;
	const struct grt_live *live;
	const struct grt_skips *skips;
	uint32_t skip;
	uint32_t first_skip;
	const struct grt_stream_source *source;
	void *owner;
	const struct grt_err *failure;
};

/** grt_stream_init - prepares a cursor whose @read, @limit, @mode, @label, @health are set. Return: 0 or
 * -ENOMEM */
int grt_stream_init(struct grt_stream *st, size_t cap);

/** grt_stream_rewind - goes back to @start, as if nothing had been read */
void grt_stream_rewind(struct grt_stream *st);

/** grt_stream_fini - frees the buffer */
void grt_stream_fini(struct grt_stream *st);

/**
 * grt_stream_next - finds the next item from @ptr on
 * Return: 1 with @at, @ptr and @key set, 0 at the end of the stream, -EAGAIN
 * if a live stream has no complete item yet, or another negative errno
 */
int grt_stream_next(struct grt_stream *st);

/** grt_stream_failed - reports an error @code of grt_stream_next(). Return: @code */
int grt_stream_failed(const struct grt_stream *st, int code, struct grt_err *err);

/** grt_stream_count_packet - adds the packet at the cursor to the health: balance and gaps */
void grt_stream_count_packet(struct grt_stream *st);

/** grt_stream_read_file, grt_stream_read_live - the two kinds of @read */
ssize_t grt_stream_read_file(struct grt_stream *st, void *buf, size_t len);
ssize_t grt_stream_read_live(struct grt_stream *st, void *buf, size_t len);

/**
 * grt_stream_step - the fast path: goes to the next record if it is valid, in
 * time order and in the buffer
 * Return: true with @ptr and @key on it; false: call grt_stream_next()
 */
static inline bool grt_stream_step(struct grt_stream *st)
{
	const struct grt_event *e = (const struct grt_event *)st->ptr;
	size_t left = (size_t)(st->end - st->ptr);

	if (left < sizeof(*e) || !grt_record_sound(e, left))
		return false;
	if (e->time < st->key || e->time > st->last)
		return false;
	st->key = e->time;
	return true;
}

/**
 * grt_fault - counts a fault; the first fault is kept as text
 * @skipped: bytes that were skipped because of it
 * @h: may be NULL
 */
void grt_fault(struct grt_health *h, enum grt_fault_kind kind, uint64_t skipped, const char *why,
	       const char *fix, const char *fmt, ...) __attribute__((format(printf, 6, 7)));

#endif /* GRT_TRACE_STREAM_H */
