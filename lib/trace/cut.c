// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Packets cut to a window, see cut.h. */
#include "cut.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "packet.h"

/*
 * The records of a launch and of the GPU's work are written when these have ended: the time when they began
 * is the first field of the payload.
 */
static uint64_t cut_begin_of(const struct grt_event *e)
{
	uint64_t begin;

	if (!grt_has_trait(e, GRT_TRAIT_LATE))
		return e->time;
	memcpy(&begin, e + 1, sizeof(begin));
	return begin;
}

static bool cut_is_kept(struct grt_window *w, const struct grt_event *e)
{
	bool early = e->time < w->from;

	if (e->type == GRT_EV_NAME || grt_has_trait(e, GRT_TRAIT_DEFINING) ||
	    (!early && cut_begin_of(e) <= w->to))
		return true;
	w->before += early;
	w->after += !early;
	w->counted += grt_has_trait(e, GRT_TRAIT_COUNTED);
	return false;
}

/* An event that extends beyond an edge of the window gets the time of that edge. */
static void cut_clamp(const struct grt_window *w, struct grt_event *e)
{
	if (e->time < w->from)
		e->time = w->from;
	if (e->time > w->to)
		e->time = w->to;
}

/* Moves the remaining records together. Return: the number of dropped records */
static uint64_t cut_records(struct grt_window *w, struct grt_packet *p)
{
	char *base = (char *)p;
	size_t at = p->header_size, end = p->content_size / 8, to = at;
	uint64_t dropped = 0;

	while (end - at >= sizeof(struct grt_event)) {
		struct grt_event *e = (struct grt_event *)(base + at);
		uint32_t size = e->size;

		/* an invalid record is left for the reader */
		if (!grt_record_sound(e, end - at))
			break;
		if (cut_is_kept(w, e)) {
			cut_clamp(w, e);
			memmove(base + to, e, size);
			to += size;
		} else {
			dropped++;
		}
		at += size;
	}
	memmove(base + to, base + at, end - at);
	if (dropped)
		p->content_size = p->packet_size = (to + end - at) * 8;
	return dropped;
}

static void cut_header(const struct grt_window *w, struct grt_packet *p)
{
	p->timestamp_begin = p->timestamp_begin > w->from ? p->timestamp_begin : w->from;
	p->timestamp_begin = p->timestamp_begin < w->to ? p->timestamp_begin : w->to;
	p->timestamp_end = p->timestamp_end < w->to ? p->timestamp_end : w->to;
	if (p->timestamp_end < p->timestamp_begin)
		p->timestamp_end = p->timestamp_begin;
}

static void cut_balance(struct grt_balance *b, uint64_t dropped)
{
	b->emitted -= dropped;
	b->fate[GRT_FATE_DELIVERED] -= dropped;
}

/* The number of events of the packet's CPU that were dropped so far; NULL: no memory */
static uint64_t *cut_of_cpu(struct grt_cut *c, const struct grt_packet *p)
{
	uint64_t *grown;

	if (p->cpu_id >= c->cpus) {
		grown = realloc(c->cpu, (p->cpu_id + 1) * sizeof(*grown));
		if (!grown)
			return NULL;
		memset(grown + c->cpus, 0, (p->cpu_id + 1 - c->cpus) * sizeof(*grown));
		c->cpu = grown;
		c->cpus = p->cpu_id + 1;
	}
	return &c->cpu[p->cpu_id];
}

ssize_t grt_cut_packet(struct grt_cut *c, struct grt_packet *p)
{
	const struct grt_window *w = &c->window;
	bool outside = p->timestamp_begin < w->from || p->timestamp_end > w->to;
	uint64_t *dropped = outside || p->cpu_id < c->cpus ? cut_of_cpu(c, p) : NULL;

	if (!dropped)
		return outside ? -ENOMEM : (ssize_t)(p->packet_size / 8);
	/* `clear` has reset the counts, so they do not include the events that were dropped before */
	if (p->begin.fate[GRT_FATE_DELIVERED] < *dropped)
		*dropped = 0;
	cut_balance(&p->begin, *dropped);
	if (p->end.fate[GRT_FATE_DELIVERED] < *dropped)
		*dropped = 0;
	if (outside) {
		*dropped += cut_records(&c->window, p);
		cut_header(w, p);
	}
	if (p->end.fate[GRT_FATE_DELIVERED] < *dropped)
		*dropped = p->end.fate[GRT_FATE_DELIVERED];
	cut_balance(&p->end, *dropped);
	return (ssize_t)(p->packet_size / 8);
}

/* ----------------------------------------------------------- streams */

/** struct cut_run - adjacent bytes of complete packets, which are to be written */
struct cut_run {
	char *data;
	size_t len;
};

static int cut_flush(struct cut_run *run, const struct grt_cut_ops *ops)
{
	int ret = run->len ? ops->write(ops->arg, run->data, run->len) : 0;

	run->len = 0;
	return ret;
}

/*
 * Return: number of bytes of complete packets from the first byte on, after which a packet begins; or -errno
 */
static ssize_t cut_take_whole(struct grt_cut *c, struct grt_cut_stream *s, char *data, size_t len,
			      const struct grt_cut_ops *ops)
{
	struct cut_run run = {.data = data};
	size_t at = 0, size;
	ssize_t left;
	int ret = 0;

	while (!ret && len - at >= sizeof(struct grt_packet)) {
		struct grt_packet *p = (struct grt_packet *)(data + at);

		s->lost_track = grt_packet_look(p) != GRT_LOOK_PACKET;
		size = s->lost_track ? len - at : p->packet_size / 8;
		if (size > len - at)
			break;
		if (!s->lost_track && ops->packet)
			ops->packet(ops->arg, p);
		left = s->lost_track ? (ssize_t)size : grt_cut_packet(c, p);
		if (left < 0)
			return left;
		if (run.data + run.len != data + at) {
			ret = cut_flush(&run, ops);
			run.data = data + at;
		}
		run.len += (size_t)left;
		at += size;
	}
	ret = ret ?: cut_flush(&run, ops);
	return ret ? ret : (ssize_t)at;
}

/* Records are read as structs, so the stored bytes must be aligned like structs. */
static int cut_hold(struct grt_cut_stream *s, const char *data, size_t len)
{
	size_t room = s->room ? s->room : (size_t)64 << 10;
	char *more;

	while (room < s->used + len)
		room *= 2;
	more = room > s->room ? realloc(s->held, room) : s->held;
	if (!more)
		return -ENOMEM;
	s->held = more;
	s->room = room;
	memcpy(s->held + s->used, data, len);
	s->used += len;
	return 0;
}

int grt_cut_feed(struct grt_cut *c, struct grt_cut_stream *s, char *data, size_t len,
		 const struct grt_cut_ops *ops)
{
	ssize_t taken;
	int ret;

	if (s->lost_track)
		return ops->write(ops->arg, data, len);
	if (!s->used) {
		taken = cut_take_whole(c, s, data, len, ops);
		return taken < 0 ? (int)taken : cut_hold(s, data + taken, len - (size_t)taken);
	}
	ret = cut_hold(s, data, len);
	if (ret)
		return ret;
	taken = cut_take_whole(c, s, s->held, s->used, ops);
	if (taken < 0)
		return (int)taken;
	s->used -= (size_t)taken;
	memmove(s->held, s->held + taken, s->used);
	return 0;
}

void grt_cut_stream_free(struct grt_cut_stream *s)
{
	free(s->held);
	*s = (struct grt_cut_stream){.used = 0};
}

void grt_cut_free(struct grt_cut *c)
{
	free(c->cpu);
	c->cpu = NULL;
	c->cpus = 0;
}
