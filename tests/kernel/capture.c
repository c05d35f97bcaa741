// SPDX-License-Identifier: GPL-2.0
/*
 * Captures of the module's streams and the rules that hold for every one of
 * them, see kmod.h.
 */
#include <errno.h>
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"

#define CPUS_MAX 256
#define READ_SIZE (1 << 20)

void capture_add(struct capture *c, const void *data, size_t len)
{
	while (c->len + len > c->room) {
		c->room = c->room ? 2 * c->room : READ_SIZE;
		c->data = realloc(c->data, c->room);
		if (!c->data) {
			perror("grtrace self-test");
			exit(1);
		}
	}
	memcpy(c->data + c->len, data, len);
	c->len += len;
}

int capture_fd(struct capture *c, int fd)
{
	static char buf[READ_SIZE];
	ssize_t n;

	while ((n = read(fd, buf, sizeof(buf))) > 0)
		capture_add(c, buf, n);
	return n < 0 ? -errno : 0;
}

int capture_file(struct capture *c, const char *file)
{
	int fd = kmod_open(file, O_RDONLY | O_NONBLOCK), err;

	if (fd < 0)
		return fd;
	err = capture_fd(c, fd);
	close(fd);
	return err;
}

void capture_free(struct capture *c)
{
	free(c->data);
	memset(c, 0, sizeof(*c));
}

const struct grt_packet *capture_packet(const struct capture *c, const struct grt_packet *p)
{
	const uint8_t *at = p ? (const uint8_t *)p + p->packet_size / 8 : c->data;

	return at && at < c->data + c->len ? (const void *)at : NULL;
}

const struct grt_event *capture_record(const struct grt_packet *p, const struct grt_event *e)
{
	const uint8_t *at = e ? (const uint8_t *)e + e->size : (const uint8_t *)(p + 1);

	return at < (const uint8_t *)p + p->content_size / 8 ? (const void *)at : NULL;
}

uint64_t capture_count(const struct capture *c, unsigned int type)
{
	const struct grt_packet *p = NULL;
	const struct grt_event *e;
	uint64_t n = 0;

	while ((p = capture_packet(c, p)))
		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			n += !type || e->type == type;
	return n;
}

/* What is known of a CPU's stream so far. */
struct cpu_state {
	bool seen;
	uint64_t seq;
	uint64_t time;
	struct grt_balance end;
};

/**
 * struct check - state of capture_valid()
 * @at: offset of the packet being checked
 * @named_ring: rings that the module knows a name of
 */
struct check {
	const struct capture *c;
	size_t at;
	bool named_ring[256];
	struct cpu_state cpu[CPUS_MAX];
};

static bool bad(const struct check *k, const char *what)
{
	TAP_FAIL("packet at offset %zu: %s", k->at, what);
	return false;
}

static bool header_valid(const struct check *k, const struct grt_packet *p)
{
	if (k->c->len - k->at < sizeof(*p))
		return bad(k, "cut in its header");
	if (p->magic != GRT_PACKET_MAGIC || p->stream_id != GRT_STREAM_CPU)
		return bad(k, "wrong magic or stream");
	if (p->format != GRT_FORMAT || p->header_size != sizeof(*p))
		return bad(k, "wrong format or header size");
	if (p->content_size != p->packet_size || p->content_size % 64 || p->content_size / 8 < sizeof(*p))
		return bad(k, "wrong sizes");
	if (p->packet_size / 8 > k->c->len - k->at)
		return bad(k, "cut");
	if (p->cpu_id >= CPUS_MAX)
		return bad(k, "wrong CPU");
	return true;
}

bool balance_closes(const struct grt_balance *b)
{
	uint64_t sum = 0;
	int i;

	for (i = 0; i < GRT_FATES; i++)
		sum += b->fate[i];
	if (sum != b->emitted)
		TAP_FAIL("the balance does not close: %llu emitted, %llu accounted for",
			 (unsigned long long)b->emitted, (unsigned long long)sum);
	return sum == b->emitted;
}

static bool balance_valid(const struct check *k, const struct grt_packet *p, const struct cpu_state *s)
{
	if (!balance_closes(&p->begin) || !balance_closes(&p->end))
		return bad(k, "a balance does not close");
	if (p->events_discarded != p->end.fate[GRT_FATE_LOST])
		return bad(k, "events_discarded is not the number of lost events");
	if (s->seen && memcmp(&p->begin, &s->end, sizeof(s->end)))
		return bad(k, "its balance does not go on where the packet before ended");
	if (s->seen && p->packet_seq_num != s->seq + 1)
		return bad(k, "a packet before it is missing");
	return true;
}

/* The names given so far in a packet; threads in the order they came. */
struct names {
	uint32_t tid[512];
	unsigned int tids;
	bool ring[256];
};

static bool knows_tid(const struct names *n, uint32_t tid)
{
	unsigned int i;

	for (i = 0; i < n->tids; i++)
		if (n->tid[i] == tid)
			return true;
	return false;
}

static void learn(struct names *n, const struct grt_ev_name *name)
{
	if (name->kind == GRT_NAME_RING && name->id < 256)
		n->ring[name->id] = true;
	else if (name->kind == GRT_NAME_THREAD && n->tids < 512)
		n->tid[n->tids++] = name->id;
}

static bool record_named(const struct check *k, struct names *n, const struct grt_event *e)
{
	if (e->type == GRT_EV_NAME) {
		learn(n, (const void *)e);
		return true;
	}
	if (e->tid && e->tid < KMOD_FAKE_TID && !knows_tid(n, e->tid))
		return bad(k, "a thread is used before its name");
	if (e->ring < 256 && k->named_ring[e->ring] && !n->ring[e->ring])
		return bad(k, "a ring is used before its name");
	return true;
}

static bool records_valid(const struct check *k, const struct grt_packet *p, const struct cpu_state *s)
{
	uint64_t n = 0, time = s->time;
	const struct grt_event *e;
	struct names names = {.tids = 0};

	for (e = capture_record(p, NULL); e; e = capture_record(p, e)) {
		if (e->size < sizeof(*e) || e->size > GRT_RECORD_MAX || e->size % 8)
			return bad(k, "a record's size is wrong");
		if (e->time < time)
			return bad(k, "time goes back");
		if (!n && e->time != p->timestamp_begin)
			return bad(k, "timestamp_begin is not the first record's");
		if (!record_named(k, &names, e))
			return false;
		time = e->time;
		n++;
	}
	if (n && time != p->timestamp_end)
		return bad(k, "timestamp_end is not the last record's");
	if (!n && (p->timestamp_begin != p->timestamp_end || p->timestamp_begin < time))
		return bad(k, "an empty packet's stamps are wrong");
	if (n != p->end.fate[GRT_FATE_DELIVERED] - p->begin.fate[GRT_FATE_DELIVERED])
		return bad(k, "delivered is not the number of its records");
	return true;
}

static bool packet_valid(struct check *k, const struct grt_packet *p)
{
	struct cpu_state *s;

	if (!header_valid(k, p))
		return false;
	s = &k->cpu[p->cpu_id];
	if (!balance_valid(k, p, s) || !records_valid(k, p, s))
		return false;
	s->seen = true;
	s->seq = p->packet_seq_num;
	s->time = p->timestamp_end;
	s->end = p->end;
	return true;
}

/* The rings that have a name now; their packets were written under it too. */
static void learn_rings(struct check *k)
{
	char text[32768], name[64], *at = text, *line;
	unsigned int id;

	kmod_read("rings", text, sizeof(text));
	while ((line = strsep(&at, "\n")))
		if (sscanf(line, "%u %63s", &id, name) == 2 && id < 256 && strcmp(name, "-"))
			k->named_ring[id] = true;
}

bool capture_valid(const struct capture *c)
{
	static struct check k;
	const struct grt_packet *p;

	memset(&k, 0, sizeof(k));
	k.c = c;
	learn_rings(&k);
	while (k.at < c->len) {
		p = (const void *)(c->data + k.at);
		if (!packet_valid(&k, p))
			return false;
		k.at += p->packet_size / 8;
	}
	return true;
}
