/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What fuzz targets for events share: five bytes of an input make one event,
 * so that short inputs make whole recordings, in which identities meet. The bytes
 * are type, time, thread, number and payload.
 */
#ifndef FUZZ_EVENTS_H
#define FUZZ_EVENTS_H

#include <string.h>

#include <grtrace/event_table.h>

#define EVENT_STEP 5

/** union fuzz_event - one event of any type */
union fuzz_event {
	struct grt_event e;
	char room[GRT_RECORD_MAX];
};

/* One byte everywhere, small numbers that meet, letters, or what the input says. */
static inline void fuzz_fill(struct grt_event *e, size_t size, unsigned char byte)
{
	unsigned char *p = (unsigned char *)(e + 1);

	for (size_t i = 0; i < size - sizeof(*e); i++) {
		if (byte < 96)
			p[i] = i % 8 ? 0 : byte;
		else if (byte < 160)
			p[i] = (unsigned char)('a' + (byte + i) % 26);
		else
			p[i] = (unsigned char)(byte * (i + 3));
	}
}

/* The event of EVENT_STEP bytes; @time goes on. Return: false where no event has this type */
static inline bool fuzz_event(union fuzz_event *r, const unsigned char *in, uint64_t *time)
{
	const struct grt_event_desc *d = &grt_event_table[in[0] % GRT_EV_MAX];

	*time += in[1] * 100ULL;
	if (!d->name)
		return false;
	memset(r, 0, sizeof(*r));
	fuzz_fill(&r->e, d->size, in[4]);
	r->e.time = *time;
	r->e.type = (uint16_t)(d - grt_event_table);
	r->e.size = d->size;
	r->e.flags = in[2] >> 4 & 3;
	r->e.pid = 1 + (in[2] & 1);
	r->e.tid = 1 + (in[2] & 7);
	r->e.ctx = in[3] & 3;
	r->e.seqno = in[3] >> 2 & 15;
	r->e.ring = in[3] >> 6 == 3 ? GRT_RING_NONE : in[3] >> 6;
	return true;
}

#endif /* FUZZ_EVENTS_H */
