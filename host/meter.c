// SPDX-License-Identifier: GPL-2.0
/*
 * Follows the packets in a stream of bytes; reads only their headers.
 */
#include <string.h>

#include "trace/packet.h"
#include "meter.h"

/* A complete header has arrived. */
static void take_header(struct meter *m)
{
	const struct grt_packet *p = &m->head;
	uint64_t size = p->packet_size / 8;

	if (p->magic != GRT_PACKET_MAGIC || size < sizeof(*p) || size > GRT_PACKET_MAX) {
		m->lost_track = true;
		return;
	}
	m->left = size - sizeof(*p);
}

/* Takes bytes of a header. Return: their number */
static size_t feed_header(struct meter *m, const char *data, size_t len,
			  void (*count)(void *arg, const struct grt_packet *p), void *arg)
{
	size_t n = sizeof(m->head) - m->have < len ? sizeof(m->head) - m->have : len;

	memcpy((char *)&m->head + m->have, data, n);
	m->have += n;
	if (m->have == sizeof(m->head))
		take_header(m);
	if (m->have == sizeof(m->head) && m->early && !m->lost_track)
		count(arg, &m->head);
	return n;
}

size_t meter_feed(struct meter *m, const char *data, size_t len,
		  void (*count)(void *arg, const struct grt_packet *p), void *arg)
{
	size_t at = 0, whole = 0, n;

	while (at < len && !m->lost_track) {
		if (m->have < sizeof(m->head))
			at += feed_header(m, data + at, len - at, count, arg);
		if (m->have < sizeof(m->head) || m->lost_track)
			break;
		n = m->left < len - at ? m->left : len - at;
		m->left -= n;
		at += n;
		if (m->left)
			break;
		m->have = 0;
		whole = at;
		if (!m->early)
			count(arg, &m->head);
	}
	return whole;
}
