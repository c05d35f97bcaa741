/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The packet: every stream is a sequence of packets, on disk, in a relay
 * sub-buffer and in the module's pipe. It is a packet of the Common Trace
 * Format 1.8 (https://diamon.org/ctf/v1.8.3/), so a recording
 * needs no conversion; libgrtrace generates the metadata that describes it to
 * other readers from the same tables as these structs.
 *
 *	struct grt_packet | record | record | ... (content_bits / 8 bytes in all)
 *
 * A packet holds the events of one CPU (or thread), in time order. A reader
 * may start at any packet, because each packet contains the names that it uses.
 */
#ifndef GRTRACE_STREAM_H
#define GRTRACE_STREAM_H

#include "event.h"

/* Raised by a change that would make an older program misread a packet or a record. */
#define GRT_FORMAT     5
/* The oldest format that programs of this version read. */
#define GRT_FORMAT_MIN 5

#define GRT_PACKET_MAGIC 0xc1fc1fc1U

/* Stream classes: one per clock, all with the same records. */
#define GRT_STREAM_CPU 0

/* Limits with which a reader rejects invalid data before it allocates. */
#define GRT_PACKET_MAX (64U << 20)

/** enum grt_fate - the rows of fates.def */
enum grt_fate {
#define GRT_FATE(NAME, name, help) GRT_FATE_##NAME,
#include "fates.def"
#undef GRT_FATE
	GRT_FATES,
};

/**
 * struct grt_balance - events emitted on a CPU, and what happened to them
 * @emitted: events emitted on this CPU since the last `clear`
 * @fate: events by enum grt_fate; the sum equals @emitted
 */
struct grt_balance {
	__u64 emitted;
	__u64 fate[GRT_FATES];
};

/**
 * struct grt_packet - the header of a packet (CTF packet header and context)
 * @magic: GRT_PACKET_MAGIC
 * @stream_id: GRT_STREAM_*
 * @format: GRT_FORMAT of the writer; at this offset in every version
 * @header_size: sizeof(struct grt_packet) of the writer, bytes
 * @cpu_id: the CPU whose events these are
 * @timestamp_begin: time of the first record, CLOCK_MONOTONIC ns
 * @timestamp_end: time of the last record; a packet without records has the
 *	time of writing in both
 * @content_size: header and records, bits
 * @packet_size: to the start of the next packet, bits
 * @packet_seq_num: counts from 0 for every CPU since the last `clear`
 * @events_discarded: equals @end.fate[GRT_FATE_LOST], under the name that CTF
 *	readers know
 * @begin: balance at the end of the previous packet, so that the packets
 *	of a CPU join without a gap, and a reader can start at any of them
 * @end: balance at the end of this packet
 */
struct grt_packet {
	__u32 magic;
	__u32 stream_id;
	__u16 format;
	__u16 header_size;
	__u32 cpu_id;
	__u64 timestamp_begin;
	__u64 timestamp_end;
	__u64 content_size;
	__u64 packet_size;
	__u64 packet_seq_num;
	__u64 events_discarded;
	struct grt_balance begin;
	struct grt_balance end;
};

_Static_assert(sizeof(struct grt_packet) == 64 + 2 * 8 * (1 + GRT_FATES), "no padding in the packet header");
_Static_assert(__builtin_offsetof(struct grt_packet, format) == 8, "every version has its number here");
_Static_assert(sizeof(struct grt_packet) % 8 == 0, "records are 8 aligned");

#endif /* GRTRACE_STREAM_H */
