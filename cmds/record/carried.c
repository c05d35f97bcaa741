// SPDX-License-Identifier: GPL-2.0
/* Definitions that outlive their packets, see carried.h. */
#include "carried.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "trace/packet.h"

#define PACKET_BYTES ((size_t)64 << 10)

/* This part of the memory has replaced records, so that not each new one moves all others. */
#define CARRIED_GAP 8

static void carried_drop_oldest(struct carried *c)
{
	c->dropped += ((const struct grt_event *)(c->data + c->stays + c->dropped))->size;
	c->records--;
	c->lost++;
}

static void carried_close_gap(struct carried *c)
{
	char *gap = c->data + c->stays;

	memmove(gap, gap + c->dropped, c->used - c->stays - c->dropped);
	c->used -= c->dropped;
	c->gone += c->dropped;
	c->dropped = 0;
}

static int carried_keep(struct carried *c, const struct grt_event *e)
{
	while (c->used - c->dropped + e->size > c->most - c->most / CARRIED_GAP &&
	       c->stays + c->dropped < c->used)
		carried_drop_oldest(c);
	if (c->used + e->size > c->most)
		carried_close_gap(c);
	if (grt_grow(&c->data, &c->room, c->used + e->size, PACKET_BYTES))
		return -ENOMEM;
	memcpy(c->data + c->used, e, e->size);
	c->used += e->size;
	c->records++;
	if (c->used <= c->most / 2 && !c->lost)
		c->stays = c->used;
	return 0;
}

/* Return: the record that was stored @at bytes from the beginning; NULL: it was replaced */
static struct grt_event *carried_at(const struct carried *c, uint64_t at)
{
	if (at >= c->stays && at < c->stays + c->gone + c->dropped)
		return NULL;
	return (struct grt_event *)(c->data + (at < c->stays ? at : at - c->gone));
}

static bool carried_is_for(const struct carried_last *l, const struct grt_event *e)
{
	return l->pid == e->pid && l->image == e->ctx && l->type == e->type;
}

/*
 * Finds the element of the event's image and type; if there is none, the one to use: a free one, or that of
 * other events.
 */
static struct carried_last *carried_last_of(struct carried *c, const struct grt_event *e)
{
	uint32_t at = (uint32_t)(((e->ctx ^ e->pid ^ e->type) * 0x9e3779b97f4a7c15ULL) >> 32);
	struct carried_last *l = NULL;

	for (uint32_t i = 0; i < 8; i++) {
		l = &c->last[(at + i) % CARRIED_LASTS];
		if (!l->pid || carried_is_for(l, e))
			break;
	}
	return l;
}

/* The record takes the place of the last one of its image, if that still exists. */
static int carried_keep_last(struct carried *c, const struct grt_event *e)
{
	struct grt_event *old = NULL;
	struct carried_last *l;
	int ret;

	if (!c->last)
		c->last = calloc(CARRIED_LASTS, sizeof(*c->last));
	if (!c->last)
		return -ENOMEM;
	l = carried_last_of(c, e);
	if (carried_is_for(l, e))
		old = carried_at(c, l->at);
	if (old && old->size == e->size) {
		memcpy(old, e, e->size);
		return 0;
	}
	ret = carried_keep(c, e);
	if (!ret)
		*l = (struct carried_last){e->pid, e->type, e->ctx, c->gone + c->used - e->size};
	return ret;
}

/* Types of which only the last record of an image matters. */
static bool carried_replaces(const struct grt_event *e)
{
	if (!e->pid)
		return false;
	return e->type == GRT_EV_CLOCK ||
	       (e->type == GRT_EV_PROCESS && ((const struct grt_ev_process *)e)->what == 2);
}

int carried_see(struct carried *c, const struct grt_packet *p, struct carried_seen *seen)
{
	const struct grt_event *e = NULL;
	int ret = 0;

	while (!ret && (e = grt_packet_next(p, e))) {
		if (carried_replaces(e))
			ret = carried_keep_last(c, e);
		else if (grt_has_trait(e, GRT_TRAIT_DEFINING))
			ret = carried_keep(c, e);
		else
			seen->counted += grt_has_trait(e, GRT_TRAIT_COUNTED);
	}
	return ret;
}

/**
 * struct carried_packet - the packet that is being filled
 * @seq, @before: its number, and number of records in earlier ones
 */
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
	const char *at = c->data;
	int ret = w ? 0 : -ENOMEM;

	if (w)
		*w = (struct carried_packet){.at = sizeof(struct grt_packet)};
	for (uint64_t i = 0; !ret && i < c->records; i++) {
		const struct grt_event *e;

		if (at == c->data + c->stays)
			at += c->dropped;
		e = (const struct grt_event *)at;
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
	free(c->last);
	*c = (struct carried){.most = c->most};
}
