// SPDX-License-Identifier: GPL-2.0
/* Segments of a recording, see segments.h. */
#include "segments.h"

#include <errno.h>
#include <fcntl.h>
#include <grtrace/event_table.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "trace/parts.h"
#include "trace/packet.h"
#include "trace/segment.h"
#include "recording.h"

/* --------------------------------------------------------------- carried */

/* Definitions that outlive their packets. */

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

/* The record takes the place of the last one of its type and image, if that still exists. */
static int carried_keep_last(struct carried *c, const struct grt_event *e)
{
	const struct grt_key key = {{e->ctx, e->pid, e->type}};
	struct grt_event *old = NULL;
	struct carried_last *l;
	void *last;
	int ret;

	if (!c->last.max)
		grt_keyed_init(&c->last, sizeof(*l), CARRIED_LASTS);
	ret = grt_keyed_get_or_replace(&c->last, &key, NULL, &last);
	if (ret)
		return ret;
	l = last;
	if (l->known)
		old = carried_at(c, l->at);
	if (old && old->size == e->size) {
		memcpy(old, e, e->size);
		return 0;
	}
	ret = carried_keep(c, e);
	if (!ret)
		*l = (struct carried_last){true, c->gone + c->used - e->size};
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

/* Return: the most bytes that carried_write() writes */
static uint64_t carried_bytes(const struct carried *c)
{
	uint64_t bytes = c->used - c->dropped;

	return bytes + (bytes / (PACKET_BYTES - GRT_RECORD_MAX - sizeof(struct grt_packet)) + 1) *
			       sizeof(struct grt_packet);
}

void carried_free(struct carried *c)
{
	free(c->data);
	grt_keyed_free(&c->last);
	*c = (struct carried){.most = c->most};
}

/* -------------------------------------------------------------- segments */

/* The least size of a file or directory, and the unit in which it grows. */
#define BLOCK 4096U

static uint64_t on_disk(uint64_t bytes)
{
	return (bytes + BLOCK - 1) / BLOCK * BLOCK;
}

static struct segment *segments_open_one(const struct segments *s)
{
	return &s->segment[s->n - 1];
}

uint64_t segments_bytes(const struct segments *s)
{
	uint64_t bytes = s->base;

	for (unsigned int i = 0; i < s->n; i++)
		bytes += s->segment[i].bytes;
	return bytes;
}

/* ------------------------------------------------------------ deleting */

uint64_t segments_from(const struct segments *s)
{
	if (!s->deleted)
		return 0;
	return s->n ? s->segment[0].from : s->next_from;
}

const char *segments_text(struct segments *s)
{
	snprintf(s->text, sizeof(s->text), "first=%lu deleted=%lu repeated=%llu carried_lost=%llu",
		 s->n ? s->segment[0].number : s->made + 1, s->deleted,
		 (unsigned long long)(s->n ? s->segment[0].repeated : 0),
		 (unsigned long long)s->carried.lost);
	return s->text;
}

void segments_count_before(const struct segments *s, uint64_t before[SOURCES])
{
	for (unsigned int i = 0; i < SOURCES; i++) {
		before[i] = s->gone[i].counted;
		for (unsigned int k = 0; k + 1 < s->n; k++)
			before[i] += s->segment[k].of[i].counted;
	}
}

const char *segments_fates(struct segments *s)
{
	size_t used = 0;

	for (unsigned int k = 0; k < GRT_FATES; k++) {
		uint64_t n = 0;

		for (unsigned int i = 0; i < SOURCES; i++)
			n += s->gone[i].fate[k];
		if (k != GRT_FATE_DELIVERED && used < sizeof(s->fates))
			used += (size_t)snprintf(s->fates + used, sizeof(s->fates) - used, "%s%s=%llu",
						 used ? " " : "", grt_fate_names[k], (unsigned long long)n);
	}
	return s->fates;
}

/* The metadata first: a reader that comes between reads nothing of what goes. Return: 0 or -errno */
static int segments_delete_oldest(struct recording *r, struct grt_err *err)
{
	struct segments *s = r->segments;
	struct segment old = s->segment[0];
	char name[GRT_SEGMENT_NAME_MAX];
	int ret;

	for (unsigned int i = 0; i < SOURCES; i++) {
		s->gone[i].emitted += old.of[i].emitted;
		s->gone[i].counted += old.of[i].counted;
		for (unsigned int k = 0; k < GRT_FATES; k++)
			s->gone[i].fate[k] += old.of[i].fate[k];
	}
	s->deleted++;
	memmove(s->segment, s->segment + 1, --s->n * sizeof(*s->segment));
	ret = s->changed(s->arg, err);
	if (ret)
		return ret;
	grt_segment_name(name, old.number);
	ret = recording_remove_dir(r, name);
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot delete %s/%s", r->path, name) : 0;
}

/*
 * Makes room for this many more bytes. @stay: segments at the end that stay. Return: 0, -EFBIG: there is
 * none, or -errno
 */
static int segments_make_room(struct recording *r, uint64_t bytes, unsigned int stay, struct grt_err *err)
{
	struct segments *s = r->segments;
	int ret = 0;

	while (!ret && s->bounds.bytes && segments_bytes(s) + bytes > s->bounds.bytes) {
		if (s->n <= stay)
			return -EFBIG;
		ret = segments_delete_oldest(r, err);
	}
	return ret;
}

int segments_age(struct recording *r, uint64_t now, struct grt_err *err)
{
	struct segments *s = r->segments;
	int ret = 0;

	while (!ret && s->bounds.ns && s->n > 1 && s->segment[0].closed + s->bounds.ns < now)
		ret = segments_delete_oldest(r, err);
	return ret;
}

/* ------------------------------------------------------------- writing */

static int segments_failed(const struct recording *r, const char *name, int code, struct grt_err *err)
{
	return grt_err_set(err, code, strerror(-code),
			   code == -ENOSPC ? "a smaller --max-size, or free space" : NULL,
			   "cannot write %s/%s", r->path, name);
}

static int segments_too_small(const struct recording *r, uint64_t bytes, struct grt_err *err)
{
	return grt_err_set(err, -EFBIG, "--max-size leaves no room for it", "a larger --max-size",
			   "cannot write %llu {byte|bytes} into %s", (unsigned long long)bytes, r->path);
}

/* Packs a packet for the disk. Return: bytes at *@out, or -errno */
static ssize_t segments_pack(struct segments *s, const struct grt_packet *p, const void **out)
{
	size_t room = grt_packed_room(p->packet_size / 8);

	*out = p;
	if (!s->bounds.pack)
		return (ssize_t)(p->packet_size / 8);
	if (grt_grow(&s->packed, &s->packed_room, room, (size_t)128 << 10))
		return -ENOMEM;
	*out = s->packed;
	return grt_pack_packet(&s->packing, p, s->packed, s->packed_room);
}

static int segments_open_file(struct recording *r, struct recording_file *f, struct grt_err *err)
{
	char name[sizeof(f->name) + sizeof(GRT_PACKED_SUFFIX)];

	snprintf(name, sizeof(name), "%s%s", f->name, r->segments->bounds.pack ? GRT_PACKED_SUFFIX : "");
	f->fd = recording_create(r, name);
	f->in_segment = 0;
	return f->fd < 0 ? segments_failed(r, name, f->fd, err) : 0;
}

static int segments_append(struct recording *r, struct recording_file *f, const void *data, size_t len,
			   struct grt_err *err)
{
	struct segment *g = segments_open_one(r->segments);
	ssize_t n = 0;
	int ret = f->fd < 0 ? segments_open_file(r, f, err) : 0;

	if (ret)
		return ret;
	for (size_t done = 0; done < len; done += (size_t)n) {
		n = write(f->fd, (const char *)data + done, len - done);
		if (n < 0 && errno != EINTR)
			return segments_failed(r, f->name, -errno, err);
		n = n < 0 ? 0 : n;
	}
	g->bytes += on_disk(f->in_segment + len) - on_disk(f->in_segment);
	f->in_segment += len;
	f->bytes += len;
	return 0;
}

/* Return: 0 or -errno */
static int segments_put(struct recording *r, struct recording_file *f, const struct grt_packet *p,
			struct grt_err *err)
{
	struct segments *s = r->segments;
	const void *data;
	ssize_t len = segments_pack(s, p, &data);
	int ret = 0;

	if (len < 0)
		return segments_failed(r, f->name, (int)len, err);
	/* a burst leaves no time to close it as one that can be read by itself should be */
	if (!s->changing && segments_open_one(s)->bytes >= 2 * s->bounds.segment_bytes)
		ret = segments_next(r, 0, err);
	ret = ret ?: segments_make_room(r, (uint64_t)len + BLOCK, 1, err);
	if (ret == -EFBIG)
		segments_too_small(r, (uint64_t)len, err);
	return ret ?: segments_append(r, f, data, (size_t)len, err);
}

static int segments_count(struct recording *r, struct recording_file *f, const struct grt_packet *p)
{
	struct segment *g = segments_open_one(r->segments);
	struct carried_seen seen = {0};
	int ret = carried_see(&r->segments->carried, p, &seen);

	g->of[f->source].emitted += grt_packet_emitted(p);
	g->of[f->source].counted += seen.counted;
	for (unsigned int k = 0; k < GRT_FATES; k++)
		g->of[f->source].fate[k] += grt_packet_fate(p, k);
	g->last = p->timestamp_end > g->last ? p->timestamp_end : g->last;
	f->last = p->timestamp_end;
	recording_count_packet(r, p);
	return ret;
}

int segments_write(struct recording *r, unsigned int i, const void *data, size_t len, struct grt_err *err)
{
	struct recording_file *f = &r->files[i];
	const char *at = data, *end = at + len;
	int ret = 0;

	while (!ret && at < end) {
		const struct grt_packet *p = (const struct grt_packet *)at;

		if ((size_t)(end - at) < sizeof(*p) || grt_packet_look(p) != GRT_LOOK_PACKET ||
		    p->packet_size / 8 > (size_t)(end - at))
			return grt_err_set(err, -EPROTO, "its source wrote bytes that are not a packet",
					   "grtrace doctor --bug-report FILE", "cannot write %s/%s", r->path,
					   f->name);
		ret = segments_put(r, f, p, err) ?: segments_count(r, f, p);
		at += p->packet_size / 8;
	}
	return ret;
}

/* ------------------------------------------------------------ changing */

static int segments_open_files(struct recording *r, struct grt_err *err)
{
	int ret = 0;

	for (unsigned int i = 0; i < r->count && !ret; i++)
		ret = r->files[i].late ? 0 : segments_open_file(r, &r->files[i], err);
	return ret;
}

/** struct carrying - definitions on their way into a segment */
struct carrying {
	struct recording *r;
	struct recording_file f;
	struct grt_err *err;
};

static int segments_carry_packet(void *arg, const struct grt_packet *p)
{
	struct carrying *c = arg;

	return segments_put(c->r, &c->f, p, c->err);
}

static int segments_carry(struct recording *r, uint64_t from, struct grt_err *err)
{
	struct carrying c = {.r = r, .f = {.name = GRT_CARRIED "_0"}, .err = err};
	int ret;

	if (!r->segments->carried.records)
		return 0;
	ret = segments_open_file(r, &c.f, err);
	if (!ret)
		ret = carried_write(&r->segments->carried, from, segments_carry_packet, &c);
	if (ret == -ENOMEM)
		segments_failed(r, c.f.name, ret, err);
	if (c.f.fd >= 0)
		close(c.f.fd);
	return ret;
}

static int segments_write_metadata(struct recording *r, uint64_t to, struct grt_err *err)
{
	struct segments *s = r->segments;
	struct stat st;
	int ret = s->metadata(s->arg, r->at, segments_open_one(s)->from, to, err);

	if (ret)
		return ret;
	if (!fstatat(r->at, "metadata", &st, AT_SYMLINK_NOFOLLOW))
		s->metadata_bytes = on_disk((uint64_t)st.st_size);
	return 0;
}

static int segments_make(struct recording *r, uint64_t from, struct grt_err *err)
{
	struct segments *s = r->segments;
	struct segment g = {.number = s->made + 1,
			    .from = from,
			    .opened = grt_now(),
			    .last = from,
			    .repeated = s->carried.records};
	/* its metadata is written twice for a moment */
	uint64_t least = BLOCK + 2 * s->metadata_bytes;
	char name[GRT_SEGMENT_NAME_MAX];
	int ret;

	s->next_from = from;
	ret = segments_make_room(r, least + carried_bytes(&s->carried), 0, err);

	if (ret)
		return ret == -EFBIG ? segments_too_small(r, least + carried_bytes(&s->carried), err) : ret;
	grt_segment_name(name, g.number);
	ret = recording_enter_dir(r);
	if (ret)
		return segments_failed(r, name, ret, err);
	g.bytes = least;
	if (grt_grow_one(&s->segment, s->n))
		return segments_failed(r, name, -ENOMEM, err);
	s->segment[s->n++] = g;
	s->made++;
	ret = segments_write_metadata(r, UINT64_MAX, err);
	if (!ret && recording_name_dir(r, name))
		ret = segments_failed(r, name, -errno, err);
	ret = ret ?: segments_carry(r, from, err) ?: segments_open_files(r, err);
	return ret;
}

int segments_begin(struct recording *r, struct grt_err *err)
{
	struct segments *s = r->segments;
	struct stat st;

	s->carried.most = s->bounds.segment_bytes / 2 < 64U << 20 ? s->bounds.segment_bytes / 2 : 64U << 20;
	if (!fstatat(r->dir, "metadata", &st, AT_SYMLINK_NOFOLLOW))
		s->metadata_bytes = on_disk((uint64_t)st.st_size);
	s->base = BLOCK + 2 * s->metadata_bytes;
	return segments_make(r, 0, err);
}

/* Return: the time up to which each stream is complete, if no source has reported it. */
static uint64_t segments_whole_to(const struct recording *r)
{
	uint64_t to = UINT64_MAX;

	for (unsigned int i = 0; i < r->count; i++)
		if (r->files[i].last && r->files[i].last < to)
			to = r->files[i].last;
	return to;
}

int segments_end(struct recording *r, uint64_t to, struct grt_err *err)
{
	struct segment *g = segments_open_one(r->segments);
	int ret = recording_close_files(r);

	g->closed = grt_now();
	to = to ?: segments_whole_to(r);
	return ret ? segments_failed(r, "segment", ret, err)
		   : segments_write_metadata(r, to > g->from ? to : g->from, err);
}

int segments_next(struct recording *r, uint64_t to, struct grt_err *err)
{
	struct segments *s = r->segments;
	struct segment *g = segments_open_one(s);
	uint64_t from = g->last + 1;
	int ret;

	s->changing = true;
	ret = segments_end(r, to, err) ?: segments_make(r, from, err);
	s->changing = false;
	return ret;
}

bool segments_over(const struct segments *s)
{
	return segments_open_one(s)->bytes >= s->bounds.segment_bytes + s->bounds.segment_bytes / 2;
}

bool segments_due(const struct segments *s, uint64_t now)
{
	const struct segment *g = segments_open_one(s);

	return g->bytes >= s->bounds.segment_bytes ||
	       (s->bounds.segment_ns && now - g->opened >= s->bounds.segment_ns);
}

void segments_free(struct segments *s)
{
	carried_free(&s->carried);
	free(s->segment);
	free(s->packed);
	grt_packing_free(&s->packing);
}
