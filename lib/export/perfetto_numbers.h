/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Numbers of the fields of a packet in Perfetto's format (trace.proto and trace_packet.proto of Perfetto
 * after v58.2), for the export and for the reader. The numbers of a message that only one of the two uses are
 * in its own files.
 */
#ifndef GRT_EXPORT_PERFETTO_NUMBERS_H
#define GRT_EXPORT_PERFETTO_NUMBERS_H

enum {
	TRACE_PACKET = 1,
	PACKET_FTRACE = 1,
	PACKET_CLOCK_SNAPSHOT = 6,
	PACKET_TIMESTAMP = 8,
	PACKET_SEQUENCE_ID = 10,
	PACKET_TRACK_EVENT = 11,
	PACKET_INTERNED_DATA = 12,
	PACKET_SEQUENCE_FLAGS = 13,
	PACKET_COMPRESSED = 50,
	PACKET_RENDER_STAGE = 53,
	PACKET_TIMESTAMP_CLOCK_ID = 58,
	PACKET_DEFAULTS = 59,
	PACKET_TRACK_DESCRIPTOR = 60,
	PACKET_FIRST_ON_SEQUENCE = 87,
	PACKET_GPU_INFO = 128,
	PACKET_STACK_SAMPLE = 135,
};

#endif /* GRT_EXPORT_PERFETTO_NUMBERS_H */
