// SPDX-License-Identifier: GPL-2.0
/* The black box, see blackbox.h. */
#include "blackbox.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"
#include "trace/parts.h"
#include "trace/packet.h"
#include "trace/segment.h"

/**
 * struct box_packet - a packet that is kept
 * @size: bytes of @data, which is a packet of @plain bytes; fewer if it is compressed
 * @end: time stamp of its end
 */
struct box_packet {
	struct box_packet *next;
	uint64_t end;
	uint32_t stream;
	uint32_t source;
	uint32_t size;
	uint32_t plain;
	char data[];
};

/* Bytes of memory, including the allocator's overhead. */
#define PACKET_COST (sizeof(struct box_packet) + 16)

void box_init(struct box *b, const struct box_bounds *bounds, const struct box_ops *ops)
{
	b->on = true;
	b->bounds = *bounds;
	b->ops = *ops;
	b->carried.most = bounds->bytes / 4;
	b->snapshot = (struct recording){.dir = -1, .at = -1};
}

static int box_no_memory(struct grt_err *err)
{
	return grt_err_set(err, -ENOMEM, strerror(ENOMEM), "a smaller --last-size", "cannot keep a packet");
}

/* ------------------------------------------------------------- keeping */

/* Return: the packet as it came, valid until the next call; NULL: no memory */
static struct grt_packet *box_plain(struct box *b, const struct box_packet *k)
{
	const struct grt_packed_head *h = (const struct grt_packed_head *)k->data;

	if (grt_grow(&b->plain, &b->plain_room, k->plain, (size_t)128 << 10))
		return NULL;
	if (k->size == k->plain)
		memcpy(b->plain, k->data, k->size);
	else if (grt_unpack_packet(&b->packing, k->data + sizeof(*h), h->packed, b->plain, k->plain))
		return NULL;
	return (struct grt_packet *)b->plain;
}

/* Keeps the definitions of the dropped packet. */
static int box_drop_oldest(struct box *b)
{
	struct box_packet *k = b->oldest;
	const struct grt_packet *p = box_plain(b, k);
	struct carried_seen seen = {0};
	int ret = p ? carried_see(&b->carried, p, &seen) : -ENOMEM;

	b->dropped++;
	b->counted[k->source] += seen.counted;
	b->gone += p ? grt_packet_fate(p, GRT_FATE_DELIVERED) : 0;
	b->from = k->end + 1 > b->from ? k->end + 1 : b->from;
	b->bytes -= PACKET_COST + k->size;
	b->oldest = k->next;
	if (!b->oldest)
		b->newest = NULL;
	free(k);
	return ret;
}

/* Compresses the packet if that makes it shorter. */
static struct box_packet *box_packet_of(struct box *b, const struct grt_packet *p)
{
	size_t plain = p->packet_size / 8, room = grt_packed_room(plain);
	struct box_packet *k;
	ssize_t n = 0;

	if (!b->bounds.plain && grt_grow(&b->packed, &b->packed_room, room, (size_t)128 << 10))
		return NULL;
	if (!b->bounds.plain)
		n = grt_pack_packet(&b->packing, p, b->packed, b->packed_room);
	n = n > 0 && (size_t)n < plain ? n : (ssize_t)plain;
	k = malloc(sizeof(*k) + (size_t)n);
	if (!k)
		return NULL;
	*k = (struct box_packet){.end = p->timestamp_end, .size = (uint32_t)n, .plain = (uint32_t)plain};
	memcpy(k->data, (size_t)n == plain ? (const void *)p : b->packed, (size_t)n);
	return k;
}

void box_hold(struct box *b, uint64_t time)
{
	b->holding = time;
}

/*
 * The time from which the limit of age counts back. On a busy machine, the recorder may read packets long
 * after an incident, and those from before it must stay.
 */
static uint64_t box_time(const struct box *b, uint64_t newest)
{
	const struct triggers *t = &b->triggers;
	uint64_t time = t->found && t->incident.time < newest ? t->incident.time : newest;

	return b->holding && b->holding < time ? b->holding : time;
}

static int box_keep(struct box *b, unsigned int stream, unsigned int source, const struct grt_packet *p)
{
	struct box_packet *k = box_packet_of(b, p);
	int ret = 0;

	if (!k)
		return -ENOMEM;
	k->stream = stream;
	k->source = source;
	if (b->newest)
		b->newest->next = k;
	else
		b->oldest = k;
	b->newest = k;
	b->bytes += PACKET_COST + k->size;
	while (!ret && b->oldest != b->newest &&
	       (b->bytes > b->bounds.bytes || b->oldest->end + b->bounds.ns < box_time(b, k->end)))
		ret = box_drop_oldest(b);
	return ret;
}

/* Return: 0 or -ENOMEM */
static int box_look(struct box *b, const struct grt_packet *p)
{
	return b->bounds.plain ? 0 : triggers_see(&b->triggers, p);
}

/* ------------------------------------------------------------- writing */

/* @p may be changed. */
static int box_write(struct box *b, unsigned int stream, unsigned int source, struct grt_packet *p,
		     struct grt_err *err)
{
	ssize_t left = grt_cut_packet(&b->window[source], p);

	return left < 0 ? box_no_memory(err) : recording_write(&b->snapshot, stream, p, (size_t)left, err);
}

static int box_write_copy(struct box *b, unsigned int stream, unsigned int source, const struct grt_packet *p,
			  struct grt_err *err)
{
	size_t len = p->packet_size / 8;

	if (grt_grow(&b->plain, &b->plain_room, len, (size_t)128 << 10))
		return box_no_memory(err);
	memcpy(b->plain, p, len);
	return box_write(b, stream, source, (struct grt_packet *)b->plain, err);
}

int box_take(struct box *b, unsigned int stream, unsigned int source, const void *data, size_t len,
	     struct grt_err *err)
{
	const char *at = data, *end = at + len;
	int ret = 0;

	while (!ret && (size_t)(end - at) >= sizeof(struct grt_packet)) {
		const struct grt_packet *p = (const struct grt_packet *)at;

		if (grt_packet_look(p) != GRT_LOOK_PACKET || p->packet_size / 8 > (size_t)(end - at))
			return grt_err_set(err, -EPROTO, "its source wrote bytes that are not a packet",
					   "grtrace doctor --bug-report FILE", "cannot keep a packet");
		if (b->writing)
			ret = box_write_copy(b, stream, source, p, err);
		if (!ret && (box_look(b, p) || box_keep(b, stream, source, p)))
			ret = box_no_memory(err);
		at += p->packet_size / 8;
	}
	return ret;
}

/** struct carrying - definitions that are being written into a snapshot */
struct carrying {
	struct box *b;
	unsigned int file;
	struct grt_err *err;
};

static int box_carry_packet(void *arg, const struct grt_packet *p)
{
	struct carrying *c = arg;

	return recording_write(&c->b->snapshot, c->file, p, p->packet_size / 8, c->err);
}

static int box_carry(struct box *b, struct grt_err *err)
{
	struct carrying c = {.b = b, .err = err};
	int file = b->carried.records ? recording_add_file(&b->snapshot, GRT_CARRIED, 0, err) : 0;

	if (file < 0 || !b->carried.records)
		return file;
	c.file = (unsigned int)file;
	return carried_write(&b->carried, b->window[0].window.from, box_carry_packet, &c);
}

static int box_write_kept(struct box *b, struct grt_err *err)
{
	struct grt_packet *p;
	int ret = 0;

	for (const struct box_packet *k = b->oldest; k && !ret; k = k->next) {
		p = box_plain(b, k);
		ret = p ? box_write(b, k->stream, k->source, p, err) : box_no_memory(err);
	}
	return ret;
}

bool box_may_begin(struct box *b, uint64_t now)
{
	if (!b->writing && (!b->began || now - b->began >= b->bounds.pause))
		return true;
	b->quiet++;
	return false;
}

static int box_fill(struct box *b, struct grt_err *err)
{
	int ret = b->ops.metadata(b->ops.arg, b->snapshot.dir, b->window[0].window.from, UINT64_MAX, err);

	if (ret)
		return ret;
	ret = b->ops.files(b->ops.arg, &b->snapshot, err);
	return ret ?: box_carry(b, err) ?: box_write_kept(b, err);
}

/* If a stream has few events, its packets may span much more time than requested. */
static uint64_t box_first(const struct box *b, const struct incident *i)
{
	uint64_t asked = i->time > b->bounds.last ? i->time - b->bounds.last : 0;

	return asked > b->from ? asked : b->from;
}

static void box_set_window(struct box *b, uint64_t from, uint64_t to)
{
	memcpy(b->before, b->counted, sizeof(b->before));
	for (struct grt_cut *w = b->window; w < b->window + SOURCES; w++) {
		grt_cut_free(w);
		w->window = (struct grt_window){.from = from, .to = to};
	}
	b->snapshot.segments = NULL;
}

int box_begin(struct box *b, const char *dir, const struct incident *i, uint64_t now, struct grt_err *err)
{
	uint64_t from = box_first(b, i);
	int ret;

	snprintf(b->path, sizeof(b->path), "%s/" GRT_SNAPSHOT "_%06lu", dir, ++b->number);
	b->incident = *i;
	box_set_window(b, from, UINT64_MAX);
	ret = recording_open_dir(&b->snapshot, b->path, err) ?: box_fill(b, err);
	b->writing = !ret;
	box_hold(b, 0);
	b->began = now;
	b->until = now + b->bounds.after;
	if (ret)
		recording_close(&b->snapshot);
	else
		b->written++;
	return ret;
}

int box_end(struct box *b, uint64_t to, struct grt_err *err)
{
	int ret = recording_finish(&b->snapshot, err);

	b->writing = false;
	for (unsigned int i = 0; i < SOURCES; i++)
		b->before[i] += b->window[i].window.counted;
	if (!ret)
		ret = b->ops.metadata(b->ops.arg, b->snapshot.dir, b->window[0].window.from, to, err);
	recording_close(&b->snapshot);
	return ret;
}

/* Another program must not find half of it. */
static int box_give_up(struct box *b, int ret)
{
	recording_discard(&b->snapshot);
	recording_close(&b->snapshot);
	return ret;
}

int box_add(struct box *b, unsigned int i, const void *data, size_t len, struct grt_err *err)
{
	return recording_write(&b->snapshot, i, data, len, err);
}

static int box_write_rest(struct box *b, uint64_t from, uint64_t to, struct grt_err *err)
{
	return b->ops.rest ? b->ops.rest(b->ops.arg, from, to, err) : 0;
}

int box_save(struct box *b, const char *path, uint64_t to, struct box_saved *out, struct grt_err *err)
{
	int ret;

	out->from = out->from > b->from ? out->from : b->from;
	snprintf(b->path, sizeof(b->path), "%s", path);
	box_set_window(b, out->from, to);
	ret = recording_open_dir(&b->snapshot, b->path, err);
	if (ret) {
		recording_close(&b->snapshot);
		return ret;
	}
	ret = box_fill(b, err)
		      ?: box_write_rest(b, out->from, to, err)
		      ?: recording_finish(&b->snapshot, err);
	if (ret)
		return box_give_up(b, ret);
	out->events = b->snapshot.events;
	out->bytes = recording_bytes(&b->snapshot);
	return box_end(b, to, err);
}

void box_free(struct box *b)
{
	struct box_packet *next;

	for (struct box_packet *k = b->oldest; k; k = next) {
		next = k->next;
		free(k);
	}
	for (struct grt_cut *w = b->window; w < b->window + SOURCES; w++)
		grt_cut_free(w);
	if (b->on)
		recording_close(&b->snapshot);
	triggers_free(&b->triggers);
	carried_free(&b->carried);
	free(b->plain);
	free(b->packed);
	grt_packing_free(&b->packing);
}
