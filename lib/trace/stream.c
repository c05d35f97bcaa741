// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Reads the packets of one stream. The input is not trusted: a header is checked before it is used, and a
 * record before it is delivered; invalid bytes are skipped and counted.
 *
 * After invalid bytes, reading continues at the next place, aligned to 8 bytes, that looks like a header. A
 * header whose packet would reach beyond the end of the input is invalid as well if another header follows
 * it; if none follows, the packet was cut.
 */
#include "stream.h"
#include "base/say.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#define NOWHERE UINT64_MAX

void grt_fault(struct grt_health *h, enum grt_fault_kind kind, uint64_t skipped, const char *why,
	       const char *fix, const char *fmt, ...)
{
	va_list ap;
	char what[sizeof(h->first.what)];

	if (!h)
		return;
	h->fault[kind]++;
	h->skipped_bytes += skipped;
	/* the bytes of packets are counted with their packets */
	if (kind == GRT_FAULT_PACKET)
		h->bytes += skipped;
	if (h->first.what[0])
		return;
	va_start(ap, fmt);
	grt_say_text_va(what, sizeof(what), fmt, ap);
	va_end(ap);
	grt_err_set(&h->first, 0, why, fix, "%s", what);
}

int grt_stream_init(struct grt_stream *st, size_t cap)
{
	if (st->source) {
		grt_stream_rewind(st);
		return 0;
	}
	st->cap = (cap + 4095) & ~(size_t)4095;
	st->buf = aligned_alloc(4096, st->cap);
	if (!st->buf)
		return -ENOMEM;
	grt_stream_rewind(st);
	return 0;
}

void grt_stream_rewind(struct grt_stream *st)
{
	if (st->source)
		st->source->rewind(st);
	st->ptr = st->buf;
	st->mark = st->buf;
	st->end = st->buf;
	st->key = 0;
	st->at = GRT_AT_GAP;
	st->pos = st->start;
	st->buf_pos = st->start;
	st->content_end = st->start;
	st->packet_end = st->start;
	st->lost_from = NOWHERE;
	st->skip = st->first_skip;
	st->fill = 0;
	st->eof = false;
	st->joined = false;
	st->ready = false;
	st->sum = (struct grt_balance){0};
}

void grt_stream_fini(struct grt_stream *st)
{
	if (st->source)
		st->source->fini(st);
	free(st->buf);
	st->buf = NULL;
	grt_parts_cursor_free(&st->cursor);
}

ssize_t grt_stream_read_file(struct grt_stream *st, void *buf, size_t len)
{
	return grt_parts_read(st->parts, &st->cursor, buf, len, st->buf_pos + st->fill);
}

ssize_t grt_stream_read_live(struct grt_stream *st, void *buf, size_t len)
{
	return st->live->read(st->live->arg, st->index, buf, len);
}

/*
 * Drops everything before @pos. Positions and the buffer have the same alignment modulo 8, so a live read of
 * an odd length leaves its last bytes in place.
 */
static void drop_consumed(struct grt_stream *st)
{
	uint64_t ahead = st->pos - st->buf_pos;
	size_t drop = (ahead < st->fill ? (size_t)ahead : st->fill) & ~(size_t)7;

	st->fill -= drop;
	st->buf_pos += drop;
	memmove(st->buf, st->buf + drop, st->fill);
	if (st->limit != NOWHERE && st->pos > st->buf_pos) {
		/* a file can be read from any position, so what lies between need not be read */
		st->fill = 0;
		st->buf_pos = st->pos;
	}
}

/* Up to where the buffer may be filled: a stream that shares its file reads no records of other streams. */
static uint64_t read_until(const struct grt_stream *st, size_t n)
{
	uint64_t end = st->limit;

	if (st->mode != GRT_STREAM_WHOLE && st->lost_from == NOWHERE) {
		end = st->pos + n;
		if (st->mode == GRT_STREAM_ONE_CPU && st->content_end > end)
			end = st->content_end;
	}
	return end < st->limit ? end : st->limit;
}

static int stream_refill(struct grt_stream *st, size_t n)
{
	uint64_t want;
	size_t room;
	ssize_t got;

	drop_consumed(st);
	want = read_until(st, n) - (st->buf_pos + st->fill);
	room = st->cap - st->fill;
	if (want < room)
		room = (size_t)want;
	got = room ? st->read(st, st->buf + st->fill, room) : 0;
	if (got < 0)
		return (int)got;
	st->eof = got == 0;
	st->fill += (size_t)got;
	return 0;
}

/* A record that is larger than the buffer: this is rare, and its size has 16 bits. */
static int stream_grow(struct grt_stream *st, size_t n)
{
	size_t cap = (n + 4095) & ~(size_t)4095;
	char *buf = aligned_alloc(4096, cap);

	if (!buf)
		return -ENOMEM;
	memcpy(buf, st->buf, st->fill);
	free(st->buf);
	st->buf = buf;
	st->cap = cap;
	st->ptr = buf;
	st->mark = buf;
	return 0;
}

/*
 * Reads @n bytes from @pos on into the buffer. Return: 1, 0: the stream ends before that, or a negative
 * errno
 */
static int need(struct grt_stream *st, size_t n)
{
	int ret;

	if (n > st->cap && stream_grow(st, n))
		return -ENOMEM;
	while (st->buf_pos + st->fill < st->pos + n) {
		if (st->eof)
			return 0;
		ret = stream_refill(st, n);
		if (ret)
			return ret;
	}
	st->ptr = st->buf + (st->pos - st->buf_pos);
	st->mark = st->ptr;
	return 1;
}

static struct grt_health *layout_health(struct grt_stream *st)
{
	return st->quiet ? NULL : st->health;
}

/* Whether the last bytes of the stream, which are too few for a header, begin one. */
static bool begins_packet(const char *p, size_t n)
{
	static const uint32_t magic = GRT_PACKET_MAGIC;

	return n && !memcmp(p, &magic, n < sizeof(magic) ? n : sizeof(magic));
}

static bool all_zero(const char *p, size_t n)
{
	while (n && !*p) {
		p++;
		n--;
	}
	return n == 0;
}

static void lost_begin(struct grt_stream *st, bool cut)
{
	if (st->lost_from != NOWHERE)
		return;
	st->lost_from = st->pos;
	st->lost_cut = cut;
	st->lost_zero = true;
}

static void lost_end(struct grt_stream *st)
{
	if (st->lost_from == NOWHERE)
		return;
	grt_fault(layout_health(st), GRT_FAULT_PACKET, st->pos - st->lost_from,
		  "the file is damaged, or was written by something else",
		  "grtrace record again; what is readable was read",
		  "%s: offset %llu: %llu {byte that is|bytes that are} no packet", st->label,
		  (unsigned long long)st->lost_from, (unsigned long long)(st->pos - st->lost_from));
	st->lost_from = NOWHERE;
}

static void fault_cut(struct grt_stream *st, struct grt_health *h, uint64_t from, uint64_t to)
{
	grt_fault(h, GRT_FAULT_CUT, to - from,
		  "its writer was killed, the disk was full, or the copy is incomplete",
		  "use the complete packets, which were read, or grtrace record again",
		  "%s: offset %llu: the last packet is cut after %llu {byte|bytes}", st->label,
		  (unsigned long long)from, (unsigned long long)(to - from));
}

/* The stream ends. The rest is the beginning of a packet, or nothing that could be one. */
static void stream_finish(struct grt_stream *st)
{
	uint64_t eof = st->buf_pos + st->fill;
	size_t n = eof > st->pos ? (size_t)(eof - st->pos) : 0;
	const char *p = st->buf + (n ? st->pos - st->buf_pos : 0);

	st->at = GRT_AT_END;
	if (n)
		lost_begin(st, begins_packet(p, n));
	if (st->lost_from == NOWHERE)
		return;
	st->lost_zero = st->lost_zero && all_zero(p, n);
	st->pos += n;
	if (!st->lost_cut) {
		uint64_t from = st->lost_from;

		lost_end(st);
		st->lost_from = from;
		return;
	}
	fault_cut(st, layout_health(st), st->lost_from, st->pos);
}

static bool is_packet_here(struct grt_stream *st)
{
	const struct grt_packet *p = (const struct grt_packet *)st->ptr;

	if (grt_packet_look(p) != GRT_LOOK_PACKET)
		return false;
	return st->limit == NOWHERE || p->packet_size / 8 <= st->limit - st->pos;
}

static void step_over_garbage(struct grt_stream *st)
{
	const struct grt_packet *p = (const struct grt_packet *)st->ptr;
	uint64_t word;

	lost_begin(st, grt_packet_look(p) == GRT_LOOK_PACKET);
	memcpy(&word, st->ptr, sizeof(word));
	st->lost_zero = st->lost_zero && !word;
	st->pos += sizeof(word);
}

static void begin_packet(struct grt_stream *st)
{
	memcpy(&st->packet, st->ptr, sizeof(st->packet));
	st->content_end = st->pos + st->packet.content_size / 8;
	st->packet_end = st->pos + st->packet.packet_size / 8;
	st->last = st->packet.timestamp_end;
	st->cpu = st->packet.cpu_id;
	st->pos += st->packet.header_size;
	st->end = st->ptr;
	st->at = GRT_AT_PACKET;
	if (st->key < st->packet.timestamp_begin)
		st->key = st->packet.timestamp_begin;
}

/* Goes from the end of a packet to the header of this stream's next one. */
static int enter_packet(struct grt_stream *st)
{
	uint32_t cpu = st->cpu;
	int ret;

	for (;;) {
		if (st->skips && st->pos < st->limit)
			st->pos = grt_skips_from(st->skips, st->pos, &st->skip);
		ret = need(st, sizeof(struct grt_packet));
		if (ret < 0)
			return ret;
		if (!ret) {
			stream_finish(st);
			return 0;
		}
		if (!is_packet_here(st)) {
			step_over_garbage(st);
			continue;
		}
		lost_end(st);
		if (st->mode != GRT_STREAM_ONE_CPU || ((const struct grt_packet *)st->ptr)->cpu_id == cpu)
			break;
		st->pos += ((const struct grt_packet *)st->ptr)->packet_size / 8;
	}
	begin_packet(st);
	return 1;
}

static void leave_packet(struct grt_stream *st)
{
	st->pos = st->packet_end;
	st->end = st->ptr;
	st->at = GRT_AT_GAP;
}

static int broken_record(struct grt_stream *st, const char *why)
{
	grt_fault(st->health, GRT_FAULT_RECORD, st->content_end - st->pos, why,
		  "grtrace record again, the rest of its packet was skipped",
		  "%s: offset %llu: broken record", st->label, (unsigned long long)st->pos);
	leave_packet(st);
	return 0;
}

/* A stream that ends unexpectedly inside a packet: a live stream, or a file that became shorter. */
static int cut_packet(struct grt_stream *st)
{
	uint64_t eof = st->buf_pos + st->fill;

	fault_cut(st, st->health, st->packet_end - st->packet.packet_size / 8, eof);
	st->at = GRT_AT_END;
	return 0;
}

static const char *record_problem(const struct grt_stream *st, const struct grt_event *e, uint64_t left)
{
	if (!grt_record_sound(e, left))
		return "its size does not fit its type or its packet";
	if (e->time > st->last)
		return "its time is after the end of its packet";
	/* if a packet's content_size is too large, its records run into the header of the next packet */
	if (e->time < st->packet.timestamp_begin && (uint32_t)e->time == GRT_PACKET_MAGIC)
		return "a packet begins where a record should";
	return NULL;
}

static void set_record_end(struct grt_stream *st)
{
	uint64_t filled = st->buf_pos + st->fill;
	uint64_t end = filled < st->content_end ? filled : st->content_end;

	st->end = st->buf + (end - st->buf_pos);
}

/* Return: 1 with the cursor on a record, 0: the packet has no more, or a negative errno */
static int enter_record(struct grt_stream *st)
{
	uint64_t left = st->content_end - st->pos;
	const struct grt_event *e;
	const char *problem;
	int ret;

	if (!left || st->mode == GRT_STREAM_HEADERS) {
		leave_packet(st);
		return 0;
	}
	if (left < sizeof(*e))
		return broken_record(st, "the packet ends inside it");
	ret = need(st, sizeof(*e));
	if (ret <= 0)
		return ret ? ret : cut_packet(st);
	e = (const struct grt_event *)st->ptr;
	problem = record_problem(st, e, left);
	if (problem)
		return broken_record(st, problem);
	ret = need(st, e->size);
	if (ret <= 0)
		return ret ? ret : cut_packet(st);
	e = (const struct grt_event *)st->ptr;
	set_record_end(st);
	if (e->time < st->key)
		grt_fault(st->health, GRT_FAULT_TIME, 0, "the clock of its source went back",
			  "grtrace dump PATH, which shows where; and dmesg, whether the clock was changed",
			  "%s: offset %llu: time goes back from %llu to %llu ns", st->label,
			  (unsigned long long)st->pos, (unsigned long long)st->key,
			  (unsigned long long)e->time);
	else
		st->key = e->time;
	return 1;
}

int grt_stream_next(struct grt_stream *st)
{
	int ret;

	if (st->source)
		return st->source->next(st);
	st->pos += (uint64_t)(st->ptr - st->mark);
	st->mark = st->ptr;
	while (st->at != GRT_AT_END) {
		ret = st->at == GRT_AT_GAP ? enter_packet(st) : enter_record(st);
		if (ret)
			return ret;
	}
	return 0;
}

static void fault_gap(struct grt_stream *st, uint64_t missing)
{
	const struct grt_packet *p = &st->packet;

	st->health->missing_events += missing;
	grt_fault(
		st->health, GRT_FAULT_GAP, 0, "they were lost, or another reader took them",
		"grtrace record with a larger --buffer, and no other reader beside it",
		"%s: offset %llu: CPU %u: packet %llu where %llu was expected, %llu {event is|events are} missing",
		st->label, (unsigned long long)(st->packet_end - p->packet_size / 8), p->cpu_id,
		(unsigned long long)p->packet_seq_num, (unsigned long long)st->next_seq,
		(unsigned long long)missing);
}

/*
 * After `clear`, the numbers and the balance of a CPU begin at 0 again, at a later time. A smaller number at
 * an earlier time is a packet that was read before, or is out of place: nothing can be missing because of
 * it, and the next packet does not follow it. Return: whether the packet is in its place
 */
static bool find_gap(struct grt_stream *st)
{
	const struct grt_packet *p = &st->packet;
	uint64_t had = st->balance.fate[GRT_FATE_DELIVERED];
	uint64_t has = p->begin.fate[GRT_FATE_DELIVERED];

	if (p->packet_seq_num < st->next_seq) {
		if (p->timestamp_begin < st->key) {
			fault_gap(st, 0);
			return false;
		}
		st->next_seq = 0;
		had = 0;
	}
	if (p->packet_seq_num != st->next_seq)
		fault_gap(st, has > had ? has - had : 0);
	return true;
}

int grt_stream_failed(const struct grt_stream *st, int code, struct grt_err *err)
{
	if (st->failure && st->failure->what[0])
		return grt_err_set(err, code, st->failure->why, st->failure->fix, "%s", st->failure->what);
	return grt_err_set(err, code, strerror(-code), NULL, "%s: offset %llu: cannot read", st->label,
			   (unsigned long long)(st->buf_pos + st->fill));
}

void grt_stream_count_packet(struct grt_stream *st)
{
	const struct grt_packet *p = &st->packet;
	struct grt_health *h = st->health;

	if (!st->joined || find_gap(st)) {
		st->next_seq = p->packet_seq_num + 1;
		st->balance = p->end;
	}
	st->joined = true;
	h->packets++;
	h->bytes += p->packet_size / 8;
	h->balance.emitted += grt_packet_emitted(p);
	for (unsigned int i = 0; i < GRT_FATES; i++) {
		uint64_t n = grt_packet_fate(p, i);

		h->balance.fate[i] += n;
		st->sum.fate[i] += n;
	}
}
