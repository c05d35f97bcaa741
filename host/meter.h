/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Follows the packets in a stream of bytes on its way to a file or a session.
 */
#ifndef GRTRACE_METER_H
#define GRTRACE_METER_H

#include <grtrace/grtrace.h>

/**
 * struct meter - follows packets in a stream of bytes that may be split anywhere
 * @left: bytes of the present packet still to come after its header
 * @have: bytes of the header that are here
 * @early: a packet counts once its header is here, else once all of it is
 * @lost_track: bytes that are no packet were met: nothing is counted any more
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
 * meter_feed - goes on with the next bytes of a stream
 * @count: called with the header of each packet
 * Return: how many of the bytes belong to whole packets, counted from the first; 0 when none ends here
 */
size_t meter_feed(struct meter *m, const char *data, size_t len,
		  void (*count)(void *arg, const struct grt_packet *p), void *arg);

#endif /* GRTRACE_METER_H */
