// SPDX-License-Identifier: GPL-2.0
/* Definitions that outlive their packets, see carried.h. */
#include "carried.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/packet.h"

#define PACKET_BYTES ((size_t)64 << 10)

static void carried_drop_oldest(struct carried *c)
{
	c->dropped += ((const struct grt_event *)(c->data + c->dropped))->size;
	c->records--;
	c->lost++;
}

static int carried_keep(struct carried *c, const struct grt_event *e)
{
	while (c->used - c->dropped + e->size > c->most && c->records)
		carried_drop_oldest(c);
	if (c->used + e->size > c->room && c->dropped >= c->room / 2 && c->room) {
		memmove(c->data, c->data + c->dropped, c->used - c->dropped);
		c->used -= c->dropped;
		c->dropped = 0;
	}
	if (grt_grow(&c->data, &c->room, c->used + e->size, PACKET_BYTES))
		return -ENOMEM;
	memcpy(c->data + c->used, e, e->size);
	c->used += e->size;
	c->records++;
	return 0;
}

int carried_see(struct carried *c, const struct grt_packet *p, struct carried_seen *seen)
{
	const char *at = (const char *)p + p->header_size, *end = (const char *)p + p->content_size / 8;
	int ret = 0;

	while (!ret && (size_t)(end - at) >= sizeof(struct grt_event)) {
		const struct grt_event *e = (const struct grt_event *)at;

		if (!grt_record_sound(e, (uint64_t)(end - at)))
			break;
		if (grt_has_trait(e, GRT_TRAIT_DEFINING))
			ret = carried_keep(c, e);
		else
			seen->counted += grt_has_trait(e, GRT_TRAIT_COUNTED);
		at += e->size;
	}
	return ret;
}

/** struct carried_packet - that is being filled; @seq, @before: its number, and records in those before it */
struct carried_packet {
	uint64_t room[PACKET_BYTES / 8];
	size_t at;
	uint64_t records;
	uint64_t before;
	uint64_t seq;
};

static int carried_put_packet(struct carried_packet *w, uint64_t time,
			      int (*write)(void *arg, const struct grt_packet *p), void *arg)
{
	struct grt_packet *p = (struct grt_packet *)w->room;

	if (!w->records)
		return 0;
	*p = (struct grt_packet){
		.magic = GRT_PACKET_MAGIC,
		.stream_id = GRT_STREAM_CPU,
		.format = GRT_FORMAT,
		.header_size = sizeof(*p),
		.timestamp_begin = time,
		.timestamp_end = time,
		.content_size = w->at * 8,
		.packet_size = w->at * 8,
		.packet_seq_num = w->seq++,
	};
	p->begin.emitted = p->begin.fate[GRT_FATE_DELIVERED] = w->before;
	w->before += w->records;
	p->end.emitted = p->end.fate[GRT_FATE_DELIVERED] = w->before;
	w->records = 0;
	w->at = sizeof(*p);
	return write(arg, p);
}

int carried_write(const struct carried *c, uint64_t time, int (*write)(void *arg, const struct grt_packet *p),
		  void *arg)
{
	struct carried_packet *w = malloc(sizeof(*w));
	const char *at = c->records ? c->data + c->dropped : NULL;
	int ret = w ? 0 : -ENOMEM;

	if (w)
		*w = (struct carried_packet){.at = sizeof(struct grt_packet)};
	for (uint64_t i = 0; !ret && i < c->records; i++) {
		const struct grt_event *e = (const struct grt_event *)at;

		if (w->at + e->size > PACKET_BYTES)
			ret = carried_put_packet(w, time, write, arg);
		memcpy((char *)w->room + w->at, e, e->size);
		((struct grt_event *)((char *)w->room + w->at))->time = time;
		w->at += e->size;
		w->records++;
		at += e->size;
	}
	ret = ret ?: carried_put_packet(w, time, write, arg);
	free(w);
	return ret;
}

uint64_t carried_bytes(const struct carried *c)
{
	uint64_t bytes = c->used - c->dropped;

	return bytes + (bytes / (PACKET_BYTES - GRT_RECORD_MAX - sizeof(struct grt_packet)) + 1) *
			       sizeof(struct grt_packet);
}

void carried_free(struct carried *c)
{
	free(c->data);
	*c = (struct carried){.most = c->most};
}
