/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Counts the packets in a stream of bytes on its way to a file or a session.
 */
#ifndef GRTRACE_METER_H
#define GRTRACE_METER_H

#include <grtrace/grtrace.h>

/**
 * struct meter - the state; the stream may be split at any byte
 * @left: missing bytes of the present packet after its header
 * @have: bytes of the header so far
 * @early: count a packet after its header, instead of after its last byte
 * @lost_track: the stream had bytes that are not a packet: counting has stopped
 * @head: the header
 */
struct meter {
	uint64_t left;
	size_t have;
	bool early;
	bool lost_track;
	struct grt_packet head;
};

/**
 * meter_feed - processes the next bytes of a stream
 * @count: called with the header of each packet
 * Return: how many of the bytes, from the first on, belong to complete packets; 0 if no packet ends here
 */
size_t meter_feed(struct meter *m, const char *data, size_t len,
		  void (*count)(void *arg, const struct grt_packet *p), void *arg);

#endif /* GRTRACE_METER_H */
