// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Makes packets from events. Events wait in one buffer per CPU, in order. Which names a packet needs is
 * known only when its events are written. A change of a name waits among the events, so that events before
 * it get the old name.
 */
#include "packer.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Bytes that readers process at a time. */
#define PACKET_BYTES ((size_t)64 << 10)

/* A packet is written when this many bytes wait, or its first event is this old. */
#define ENOUGH_BYTES (PACKET_BYTES / 2)
#define ENOUGH_NS 250000000ULL

/*
 * Number of cached names. A new name replaces the least recently used one of its set, which is written again
 * with its next event.
 */
#define NAME_SETS 2048U
#define NAME_WAYS 4U
/* Names of a thread that are remembered, because events are written one CPU after the other. */
#define NAME_CHANGES 3U

/* Number of threads, rings and devices for which it is known that the packet has their names. */
#define NAMES_NEAR 8U

/* Number of records between two at which a search can begin. */
#define MARK_BYTES ((size_t)4 << 10)
#define MARKS 2U

/* Room for one record and the names of its thread, ring, GPU and device. */
#define RECORD_ROOM (GRT_RECORD_MAX + 4 * sizeof(struct grt_ev_name))

/**
 * struct name - a name
 * @kind: 0: unused
 * @packet: the last packet that contains it
 * @used: when it was last needed, in packets
 * @was: its names, the last one first, and since when; unused ones are empty
 */
struct name {
	uint32_t kind;
	uint32_t id;
	uint64_t packet;
	uint64_t used;
	struct {
		uint64_t from;
		char name[32];
		char owner[16];
	} was[NAME_CHANGES];
};

/**
 * struct cpu - waiting events of a CPU
 * @start, @end, @room: of the waiting records in @buf
 * @mark: records not far from the end, the older one first; those before @start are no longer valid
 * @last: time stamp of the last one
 * @left: time stamp of the last written one
 */
struct cpu {
	char *buf;
	size_t start;
	size_t end;
	size_t room;
	size_t mark[MARKS];
	uint64_t last;
	uint64_t left;
	uint64_t seq;
	bool any;
	struct grt_balance balance;
};

struct grt_packer {
	struct cpu *cpu;
	unsigned int cpus;
	uint64_t packet;
	uint64_t names;
	struct name name[NAME_SETS][NAME_WAYS];
};

int grt_packer_new(struct grt_packer **out, unsigned int cpus)
{
	struct grt_packer *p = calloc(1, sizeof(*p));

	*out = p;
	if (!p)
		return -ENOMEM;
	p->cpus = cpus;
	p->packet = p->names = 1;
	p->cpu = calloc(cpus ? cpus : 1, sizeof(*p->cpu));
	if (p->cpu)
		return 0;
	free(p);
	*out = NULL;
	return -ENOMEM;
}

void grt_packer_free(struct grt_packer *p)
{
	if (!p)
		return;
	for (unsigned int i = 0; i < p->cpus; i++)
		free(p->cpu[i].buf);
	free(p->cpu);
	free(p);
}

/* ------------------------------------------------------------- names */

static struct name *name_set(struct grt_packer *p, uint32_t kind, uint32_t id)
{
	uint32_t hash = (id ^ kind << 28) * 0x9e3779b1U;

	return p->name[hash >> 16 & (NAME_SETS - 1)];
}

static struct name *packer_find_name(struct grt_packer *p, uint32_t kind, uint32_t id)
{
	struct name *set = name_set(p, kind, id);

	for (unsigned int i = 0; i < NAME_WAYS; i++)
		if (set[i].kind == kind && set[i].id == id)
			return &set[i];
	return NULL;
}

static struct name *replace_name(struct grt_packer *p, uint32_t kind, uint32_t id)
{
	struct name *set = name_set(p, kind, id), *oldest = set;

	for (unsigned int i = 0; i < NAME_WAYS; i++)
		if (set[i].used < oldest->used || !set[i].kind)
			oldest = &set[i];
	memset(oldest, 0, sizeof(*oldest));
	oldest->kind = kind;
	oldest->id = id;
	oldest->used = p->packet;
	return oldest;
}

/* Makes the record of a name at a time, or of the oldest known name. */
static void name_record(struct grt_ev_name *r, uint64_t time, const struct name *n)
{
	unsigned int i = 0;

	while (i + 1 < NAME_CHANGES && n->was[i].from > time && n->was[i + 1].name[0])
		i++;
	memset(r, 0, sizeof(*r));
	r->e.time = time;
	r->e.type = GRT_EV_NAME;
	r->e.size = sizeof(*r);
	r->e.ring = GRT_RING_NONE;
	r->kind = n->kind;
	r->id = n->id;
	memcpy(r->name, n->was[i].name, sizeof(r->name));
	memcpy(r->owner, n->was[i].owner, sizeof(r->owner));
}

/* As records hold text: padded with NUL, and without one where it is full. */
static void packer_put_text(char *to, size_t room, const char *from)
{
	size_t n = strnlen(from, room);

	memcpy(to, from, n);
	memset(to + n, 0, room - n);
}

int grt_packer_name(struct grt_packer *p, unsigned int cpu, uint64_t time, uint32_t kind, uint32_t id,
		    const char *name, const char *owner)
{
	struct name *n = packer_find_name(p, kind, id);
	struct grt_ev_name r;
	int ret;

	if (n && !strncmp(n->was[0].name, name, sizeof(n->was[0].name)) &&
	    !strncmp(n->was[0].owner, owner, sizeof(n->was[0].owner)))
		return 0;
	p->names++;
	if (!n)
		n = replace_name(p, kind, id);
	memmove(&n->was[1], &n->was[0], sizeof(n->was) - sizeof(n->was[0]));
	n->was[0].from = time;
	packer_put_text(n->was[0].name, sizeof(n->was[0].name), name);
	packer_put_text(n->was[0].owner, sizeof(n->was[0].owner), owner);
	if (!n->was[1].name[0])
		return 0;
	name_record(&r, time, n);
	ret = grt_packer_add(p, cpu, &r.e);
	return ret == -ERANGE ? 0 : ret;
}

uint64_t grt_packer_names(const struct grt_packer *p)
{
	return p->names;
}

/* ------------------------------------------------------------ events */

static int packer_make_room(struct cpu *c, size_t size)
{
	size_t room = c->room ? 2 * c->room : 2 * PACKET_BYTES;
	char *more;

	if (c->end + size <= c->room)
		return 0;
	if (c->start >= c->room / 2 && c->start >= size) {
		memmove(c->buf, c->buf + c->start, c->end - c->start);
		for (unsigned int i = 0; i < MARKS; i++)
			c->mark[i] = c->mark[i] > c->start ? c->mark[i] - c->start : 0;
		c->end -= c->start;
		c->start = 0;
		return 0;
	}
	more = realloc(c->buf, room);
	if (!more)
		return -ENOMEM;
	c->buf = more;
	c->room = room;
	return 0;
}

static const struct grt_event *packer_at(const struct cpu *c, size_t at)
{
	return (const struct grt_event *)(c->buf + at);
}

/* A search can begin at the next record. */
static void packer_mark(struct cpu *c)
{
	c->mark[0] = c->mark[1];
	c->mark[1] = c->end;
}

/* A record that is not later than @time, if there is one: all records before it are earlier, too. */
static size_t packer_search_from(const struct cpu *c, uint64_t time)
{
	for (unsigned int i = MARKS; i--;)
		if (c->mark[i] > c->start && c->mark[i] < c->end && packer_at(c, c->mark[i])->time <= time)
			return c->mark[i];
	return c->start;
}

/* An interrupt's event came before this one, whose place is therefore near the end. */
static void packer_insert(struct cpu *c, const struct grt_event *e)
{
	size_t at = packer_search_from(c, e->time);

	while (packer_at(c, at)->time <= e->time)
		at += packer_at(c, at)->size;
	memmove(c->buf + at + e->size, c->buf + at, c->end - at);
	memcpy(c->buf + at, e, e->size);
	c->end += e->size;
	for (unsigned int i = 0; i < MARKS; i++)
		c->mark[i] += c->mark[i] > at ? e->size : 0;
}

int grt_packer_add(struct grt_packer *p, unsigned int cpu, const struct grt_event *e)
{
	struct cpu *c = &p->cpu[cpu];

	if (c->any && e->time < c->left)
		return -ERANGE;
	if (packer_make_room(c, e->size))
		return -ENOMEM;
	if (c->end > c->start && e->time < c->last) {
		packer_insert(c, e);
		return 0;
	}
	if (c->end - c->mark[1] >= MARK_BYTES)
		packer_mark(c);
	memcpy(c->buf + c->end, e, e->size);
	c->end += e->size;
	c->last = e->time;
	return 0;
}

/* ----------------------------------------------------------- packets */

/**
 * struct writer - a packet that is being written
 * @at: used bytes of the packet
 * @records: number of records in it
 * @first, @last: time stamps
 * @threads, @rings, @devices: numbers plus 1 whose names are in it, or unknown, by their lowest bits
 */
struct writer {
	struct grt_packer *p;
	char *packet;
	size_t at;
	uint64_t records;
	uint64_t first;
	uint64_t last;
	uint32_t threads[NAMES_NEAR];
	uint32_t rings[NAMES_NEAR];
	uint32_t devices[NAMES_NEAR];
};

static void packer_put_record(struct writer *w, const struct grt_event *e)
{
	memcpy(w->packet + w->at, e, e->size);
	w->at += e->size;
	w->records++;
}

static void need_name(struct writer *w, uint64_t time, uint32_t kind, uint32_t id)
{
	struct name *n = packer_find_name(w->p, kind, id);
	struct grt_ev_name r;

	if (!n || n->packet == w->p->packet)
		return;
	n->packet = w->p->packet;
	n->used = w->p->packet;
	name_record(&r, time, n);
	packer_put_record(w, &r.e);
}

/* A change of a name that waits among the events. */
static void pass_name(struct writer *w, const struct grt_ev_name *r)
{
	struct name *n = packer_find_name(w->p, r->kind, r->id);

	if (!n)
		return;
	n->packet = w->p->packet;
	n->used = w->p->packet;
}

/* Most neighbouring records need the same names. Return: whether @id was not the last one in its element */
static inline bool packer_is_new(uint32_t near[NAMES_NEAR], uint32_t id)
{
	uint32_t *place = &near[id % NAMES_NEAR];
	bool is_new = *place != id + 1;

	*place = id + 1;
	return is_new;
}

static void write_record(struct writer *w, const struct grt_event *e)
{
	if (e->type == GRT_EV_NAME) {
		pass_name(w, (const struct grt_ev_name *)e);
	} else {
		if (e->tid && packer_is_new(w->threads, e->tid))
			need_name(w, e->time, GRT_NAME_THREAD, e->tid);
		if (e->ring != GRT_RING_NONE && packer_is_new(w->rings, e->ring)) {
			need_name(w, e->time, GRT_NAME_RING, e->ring);
			need_name(w, e->time, GRT_NAME_RING_GPU, e->ring);
		}
		if (e->device && packer_is_new(w->devices, e->device))
			need_name(w, e->time, GRT_NAME_DEVICE, e->device);
		if (e->type == GRT_EV_COUNTER)
			need_name(w, e->time, GRT_NAME_COUNTER, ((const struct grt_ev_counter *)e)->counter);
	}
	packer_put_record(w, e);
}

/* Moves records up to the stamp @until into the packet, as many as fit. */
static void packer_fill(struct writer *w, struct cpu *c, size_t room, uint64_t until)
{
	const struct grt_event *e;

	while (c->start < c->end && w->at + RECORD_ROOM <= room) {
		e = (const struct grt_event *)(c->buf + c->start);
		if (e->time > until)
			break;
		if (!w->records)
			w->first = e->time;
		w->last = e->time;
		write_record(w, e);
		c->start += e->size;
	}
}

static uint64_t packer_sum(const struct grt_balance *b)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < GRT_FATES; i++)
		n += b->fate[i];
	return n;
}

static void packer_write_header(struct writer *w, struct cpu *c, unsigned int cpu,
				const struct grt_packer_counts *counts)
{
	struct grt_packet h = {
		.magic = GRT_PACKET_MAGIC,
		.stream_id = GRT_STREAM_CPU,
		.format = GRT_FORMAT,
		.header_size = sizeof(h),
		.cpu_id = cpu,
		.timestamp_begin = w->first,
		.timestamp_end = w->last,
		.content_size = w->at * 8,
		.packet_size = w->at * 8,
		.packet_seq_num = c->seq++,
		.begin = c->balance,
	};

	c->balance.fate[GRT_FATE_DELIVERED] += w->records;
	c->balance.fate[GRT_FATE_FILTERED] = counts->filtered;
	c->balance.fate[GRT_FATE_AGGREGATED] = counts->aggregated;
	c->balance.fate[GRT_FATE_LOST] = counts->lost;
	c->balance.emitted = packer_sum(&c->balance);
	h.end = c->balance;
	h.events_discarded = counts->lost;
	memcpy(w->packet, &h, sizeof(h));
	c->left = w->last;
	c->any = true;
	w->p->packet++;
}

static size_t write_packet(struct grt_packer *p, unsigned int cpu, char *buf, size_t room, uint64_t until,
			   const struct grt_packer_counts *counts)
{
	struct cpu *c = &p->cpu[cpu];
	struct writer w = {.p = p, .packet = buf, .at = sizeof(struct grt_packet)};

	packer_fill(&w, c, room < PACKET_BYTES ? room : PACKET_BYTES, until);
	if (!w.records)
		return 0;
	packer_write_header(&w, c, cpu, counts);
	return w.at;
}

/* Makes a packet without records, for counts that changed after the last record or without any record. */
static size_t write_last(struct grt_packer *p, unsigned int cpu, char *buf, uint64_t until,
			 const struct grt_packer_counts *counts)
{
	struct cpu *c = &p->cpu[cpu];
	struct writer w = {.p = p, .packet = buf, .at = sizeof(struct grt_packet)};
	const struct grt_balance *b = &c->balance;

	if (c->any && b->fate[GRT_FATE_FILTERED] == counts->filtered &&
	    b->fate[GRT_FATE_LOST] == counts->lost)
		return 0;
	w.first = w.last = until > c->left ? until : c->left;
	packer_write_header(&w, c, cpu, counts);
	return w.at;
}

/* Whether there is enough for a packet. */
static bool enough(const struct cpu *c, uint64_t until)
{
	const struct grt_event *e;

	if (c->start == c->end)
		return false;
	e = (const struct grt_event *)(c->buf + c->start);
	if (e->time > until)
		return false;
	return c->end - c->start >= ENOUGH_BYTES || until - e->time >= ENOUGH_NS;
}

uint64_t grt_packer_emitted(const struct grt_packer *p)
{
	uint64_t n = 0;

	for (unsigned int i = 0; i < p->cpus; i++)
		n += p->cpu[i].balance.emitted;
	return n;
}

uint64_t grt_packer_waiting(const struct grt_packer *p)
{
	uint64_t n = 0;

	for (const struct cpu *c = p->cpu; c < p->cpu + p->cpus; c++)
		for (size_t at = c->start; at < c->end; n++)
			at += ((const struct grt_event *)(c->buf + at))->size;
	return n;
}

size_t grt_packer_read(struct grt_packer *p, unsigned int cpu, void *buf, size_t len, uint64_t until,
		       enum grt_pack pack, const struct grt_packer_counts *counts)
{
	bool all = pack == GRT_PACK_ALL;
	struct cpu *c = &p->cpu[cpu];
	size_t done = 0, n;

	while (len - done >= sizeof(struct grt_packet) + RECORD_ROOM &&
	       (pack != GRT_PACK_ENOUGH || enough(c, until))) {
		n = write_packet(p, cpu, (char *)buf + done, len - done, all ? UINT64_MAX : until, counts);
		if (!n && all)
			n = write_last(p, cpu, (char *)buf + done, until, counts);
		if (!n)
			break;
		done += n;
	}
	if (c->start == c->end)
		c->start = c->end = c->mark[0] = c->mark[1] = 0;
	return done;
}
