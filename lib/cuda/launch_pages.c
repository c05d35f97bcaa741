// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Pages of launches in memory and in a file, see launch_pages.h. */
#include "launch_pages.h"

#include <endian.h>
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"
#include "base/tempfile.h"

/* Bytes that are written to the file together: a write of each page alone takes three times as long. */
#define TAIL_BYTES (256U << 10)

/**
 * struct packed - the begin of a page in the file. Behind it are the bits of the ids that are launches, those
 * of the launches that need no flush if the page is @open, the places by id unless they are @ordered
 * as the ids are, and three columns of @used numbers of @bytes each: nodes, the rest of the entries, and
 * begins from @base. Most launches take 7 bytes so, and not 17
 */
struct packed {
	uint64_t base;
	uint16_t used;
	bool open;
	bool ordered;
	uint8_t bytes[3];
};

/* A begin may be so much earlier than that of the page's first launch, and its column is narrow, ns. */
#define EARLIER_NS (1U << 20)

/* A number is written as 8 bytes, of which the next number replaces those that are none of its own. */
#define PACKED_MAX                                                         \
	(sizeof(struct packed) + offsetof(struct grt_launch_page, place) - \
	 offsetof(struct grt_launch_page, present) +                       \
	 GRT_LAUNCH_PAGE_IDS * (1 + sizeof(struct grt_launch_entry) + sizeof(uint64_t)) + sizeof(uint64_t))

/**
 * struct grt_launch_stub - what is known of each page
 * @at: its place in the file, with @room bytes; 0 bytes: none yet
 * @page: NULL: it is in the file only
 * @open: of the page, if it is in the file only
 */
struct grt_launch_stub {
	uint64_t number;
	uint64_t at;
	struct grt_launch_page *page;
	uint32_t image;
	uint16_t room;
	bool open;
};

void grt_launch_pages_init(struct grt_launch_pages *l, bool begins)
{
	*l = (struct grt_launch_pages){.key = grt_hash_key_new(), .fd = -1, .begins = begins};
}

/* ----------------------------------------------------------- packed pages */

/* The members of an entry but its node; a left turn brings the bits above the caller to those below it. */
static uint32_t entry_rest(const struct grt_launch_entry *e)
{
	uint32_t word[2];

	memcpy(word, e, sizeof(word));
	return word[1] << 3 | word[1] >> 29;
}

static struct grt_launch_entry entry_of(uint32_t node, uint32_t rest)
{
	const uint32_t word[2] = {node, rest >> 3 | rest << 29};
	struct grt_launch_entry e;

	memcpy(&e, word, sizeof(e));
	return e;
}

static uint8_t bytes_for(uint64_t most)
{
	return most ? (uint8_t)((71 - __builtin_clzll(most)) / 8) : 0;
}

static char *put_number(char *to, uint64_t number, unsigned int bytes)
{
	number = htole64(number);
	memcpy(to, &number, sizeof(number));
	return to + bytes;
}

static uint64_t get_number(const char **from, unsigned int bytes)
{
	uint64_t number;

	memcpy(&number, *from, sizeof(number));
	*from += bytes;
	return bytes < 8 ? le64toh(number) & ((1ULL << 8 * bytes) - 1) : le64toh(number);
}

static char *put_bytes(char *to, const void *from, size_t n)
{
	memcpy(to, from, n);
	return to + n;
}

static void get_bytes(void *to, const char **from, size_t n)
{
	memcpy(to, *from, n);
	*from += n;
}

/* Whether the places of a page are numbered as its ids, that is, each launch came after those of smaller ids.
 */
static bool is_ordered(const struct grt_launch_page *p)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GRT_LAUNCH_PAGE_IDS / 64; i++)
		for (uint64_t left = p->present[i]; left; left &= left - 1)
			if (p->place[64 * i + (unsigned int)__builtin_ctzll(left)] != n++)
				return false;
	return true;
}

static void order_places(struct grt_launch_page *p)
{
	unsigned int n = 0;

	for (unsigned int i = 0; i < GRT_LAUNCH_PAGE_IDS / 64; i++)
		for (uint64_t left = p->present[i]; left; left &= left - 1)
			p->place[64 * i + (unsigned int)__builtin_ctzll(left)] = (uint8_t)n++;
}

static struct packed packed_head(const struct grt_launch_pages *l, const struct grt_launch_page *p)
{
	struct packed h = {.used = p->used, .open = p->open, .ordered = is_ordered(p)};
	uint64_t nodes = 0, rests = 0, begins = 0;

	h.base = l->begins && p->used ? p->begin[0] - EARLIER_NS : 0;
	for (unsigned int i = 0; i < p->used; i++) {
		nodes |= p->entry[i].node;
		rests |= entry_rest(&p->entry[i]);
	}
	for (unsigned int i = 0; l->begins && i < p->used; i++)
		begins |= p->begin[i] - h.base;
	h.bytes[0] = bytes_for(nodes);
	h.bytes[1] = bytes_for(rests);
	h.bytes[2] = bytes_for(begins);
	return h;
}

/* Return: the number of bytes at @out, which has room for PACKED_MAX; out of line, so that numbers are stored
 * unchecked */
static __attribute__((noinline)) size_t page_pack(const struct grt_launch_pages *l,
						  const struct grt_launch_page *p, char *out)
{
	const struct packed h = packed_head(l, p);
	char *to = put_bytes(out, &h, sizeof(h));

	to = put_bytes(to, p->present, sizeof(p->present));
	if (h.open)
		to = put_bytes(to, p->ended, sizeof(p->ended));
	if (!h.ordered)
		to = put_bytes(to, p->place, sizeof(p->place));
	for (unsigned int i = 0; i < h.used; i++)
		to = put_number(to, p->entry[i].node, h.bytes[0]);
	for (unsigned int i = 0; i < h.used; i++)
		to = put_number(to, entry_rest(&p->entry[i]), h.bytes[1]);
	for (unsigned int i = 0; l->begins && i < h.used; i++)
		to = put_number(to, p->begin[i] - h.base, h.bytes[2]);
	put_number(to, 0, 0);
	return (size_t)(to - out) + sizeof(uint64_t);
}

static int page_unpack(const struct grt_launch_pages *l, struct grt_launch_page *p, const char *from)
{
	const char *rest;
	struct packed h;

	get_bytes(&h, &from, sizeof(h));
	if (grt_launch_pages_room(l, p, h.used))
		return -ENOMEM;
	p->used = h.used;
	get_bytes(p->present, &from, sizeof(p->present));
	memcpy(p->ended, p->present, sizeof(p->ended));
	if (h.open)
		get_bytes(p->ended, &from, sizeof(p->ended));
	if (h.ordered)
		order_places(p);
	else
		get_bytes(p->place, &from, sizeof(p->place));
	rest = from + h.used * h.bytes[0];
	for (unsigned int i = 0; i < h.used; i++)
		p->entry[i] = entry_of((uint32_t)get_number(&from, h.bytes[0]),
				       (uint32_t)get_number(&rest, h.bytes[1]));
	for (unsigned int i = 0; l->begins && i < h.used; i++)
		p->begin[i] = h.base + get_number(&rest, h.bytes[2]);
	return 0;
}

/* --------------------------------------------------------------- the file */

/* Writes the tail. Return: false: it stays in memory */
static bool launch_pages_flush(struct grt_launch_pages *l)
{
	ssize_t n;

	if (l->fd < 0)
		l->fd = grt_tempfile_open();
	for (uint32_t done = 0; l->fd >= 0 && done < l->tail_used; done += (uint32_t)n) {
		n = pwrite(l->fd, l->tail + done, l->tail_used - done, (off_t)(l->flushed + done));
		if (n <= 0)
			return false;
	}
	if (l->fd < 0)
		return false;
	l->flushed += l->tail_used;
	l->tail_used = 0;
	return true;
}

/* Makes room for a new page in the tail. Return: false: there is none */
static bool launch_pages_tail_room(struct grt_launch_pages *l, size_t size)
{
	l->tail = l->tail ?: malloc(TAIL_BYTES);
	return l->tail && (l->tail_used + size <= TAIL_BYTES || launch_pages_flush(l));
}

/* Writes bytes to a place that is in the file or in the tail. Return: false: they could not be written */
static bool launch_pages_write(struct grt_launch_pages *l, uint64_t at, const char *from, size_t size)
{
	if (at < l->flushed)
		return pwrite(l->fd, from, size, (off_t)at) == (ssize_t)size;
	memcpy(l->tail + (at - l->flushed), from, size);
	return true;
}

/*
 * A page that has outgrown its place gets one that it cannot outgrow, so the file stays below twice the size
 * of all pages. Return: whether the page is in the file or its tail as it is in memory
 */
static bool launch_pages_store(struct grt_launch_pages *l, struct grt_launch_page *p)
{
	struct grt_launch_stub *s = &l->stub[p->id];
	char packed[PACKED_MAX];
	size_t size, room;

	if (!p->changed)
		return true;
	size = page_pack(l, p, packed);
	if (size > s->room) {
		room = s->room ? PACKED_MAX : size;
		if (!launch_pages_tail_room(l, room))
			return false;
		s->at = l->flushed + l->tail_used;
		s->room = (uint16_t)room;
		memset(l->tail + l->tail_used, 0, room);
		l->tail_used += (uint32_t)room;
	}
	if (!launch_pages_write(l, s->at, packed, size))
		return false;
	p->changed = false;
	return true;
}

/* --------------------------------------------------------- pages in memory */

int grt_launch_pages_room(const struct grt_launch_pages *l, struct grt_launch_page *p, unsigned int n)
{
	uint16_t room = p->room;

	return (l->begins ? grt_grow(&p->begin, &room, n, 16) : 0) ?: grt_grow(&p->entry, &p->room, n, 16);
}

/* The page that is looked for least: each gets a second chance. */
static struct grt_launch_page *launch_pages_victim(struct grt_launch_pages *l)
{
	struct grt_launch_page *p;

	do {
		l->hand = (l->hand + 1) % l->residents;
		p = l->resident[l->hand];
	} while (p->called && (p->called = false, true));
	return p;
}

static bool launch_pages_is_open(const struct grt_launch_page *p)
{
	uint64_t left = 0;

	for (unsigned int i = 0; i < GRT_LAUNCH_PAGE_IDS / 64; i++)
		left |= p->present[i] & ~p->ended[i];
	return left;
}

/* A page leaves the memory, if the file takes it. Return: NULL: it does not */
static struct grt_launch_page *launch_pages_leave(struct grt_launch_pages *l)
{
	struct grt_launch_page *p = launch_pages_victim(l);

	p->open = launch_pages_is_open(p);
	l->stuck = !launch_pages_store(l, p);
	if (l->stuck)
		return NULL;
	l->stub[p->id].page = NULL;
	l->stub[p->id].open = p->open;
	for (int i = 0; i < GRT_RECENTS; i++)
		if (l->recent[i] == p)
			l->recent[i] = NULL;
	return p;
}

/* Return: memory for a page, which is among those in memory; NULL: there is none */
static struct grt_launch_page *launch_pages_memory(struct grt_launch_pages *l)
{
	struct grt_launch_page *p = NULL;

	if (l->residents >= GRT_LAUNCH_PAGES_RESIDENT && !l->stuck)
		p = launch_pages_leave(l);
	if (p)
		return p;
	if (grt_grow_one(&l->resident, l->residents))
		return NULL;
	p = calloc(1, sizeof(*p));
	if (p)
		l->resident[l->residents++] = p;
	return p;
}

/* Makes an empty page of memory that may have had another one. */
static void launch_pages_take(struct grt_launch_pages *l, uint32_t id, struct grt_launch_page *p)
{
	*p = (struct grt_launch_page){.number = l->stub[id].number,
				      .image = l->stub[id].image,
				      .id = id,
				      .called = true,
				      .open = l->stub[id].open,
				      .room = p->room,
				      .entry = p->entry,
				      .begin = p->begin};
	l->stub[id].page = p;
}

static int launch_pages_read(struct grt_launch_pages *l, const struct grt_launch_stub *s,
			     struct grt_launch_page *p)
{
	char packed[PACKED_MAX];
	ssize_t got;

	if (s->at >= l->flushed)
		return page_unpack(l, p, l->tail + (s->at - l->flushed));
	got = pread(l->fd, packed, s->room, (off_t)s->at);
	return got == s->room ? page_unpack(l, p, packed) : got < 0 ? -errno : -EIO;
}

/* A page that is looked for comes back into memory. */
static int launch_pages_load(struct grt_launch_pages *l, uint32_t id, struct grt_launch_page **out)
{
	struct grt_launch_page *p = l->stub[id].page;

	if (!p) {
		p = launch_pages_memory(l);
		if (!p)
			return -ENOMEM;
		launch_pages_take(l, id, p);
		*out = p;
		return launch_pages_read(l, &l->stub[id], p);
	}
	p->called = true;
	*out = p;
	return 0;
}

/* ------------------------------------------------------------------ pages */

struct launch_page_key {
	uint32_t image;
	uint64_t number;
};

static bool launch_pages_same(const void *owner, uint32_t id, const void *key)
{
	const struct grt_launch_stub *s = &((const struct grt_launch_pages *)owner)->stub[id];
	const struct launch_page_key *k = key;

	return s->image == k->image && s->number == k->number;
}

int grt_launch_pages_search(struct grt_launch_pages *l, uint32_t image, uint64_t number,
			    enum grt_launch_recent recent, struct grt_launch_page **out)
{
	const struct launch_page_key k = {image, number};
	uint32_t id = grt_index_find(&l->index, grt_hash(&l->key, number, image), launch_pages_same, l, &k);
	int ret = id == GRT_NOWHERE ? 0 : launch_pages_load(l, id, out);

	if (ret || id == GRT_NOWHERE)
		*out = NULL;
	else
		l->recent[recent] = *out;
	return ret;
}

int grt_launch_pages_add(struct grt_launch_pages *l, uint32_t image, uint64_t correlation,
			 struct grt_launch_page **out)
{
	const uint64_t number = correlation >> GRT_LAUNCH_PAGE_BITS;
	struct grt_launch_page *p;

	if (grt_grow_one(&l->stub, l->pages))
		return -ENOMEM;
	l->stub[l->pages] = (struct grt_launch_stub){.image = image, .number = number};
	if (grt_index_add(&l->index, grt_hash(&l->key, number, image), l->pages))
		return -ENOMEM;
	p = launch_pages_memory(l);
	if (!p) {
		grt_index_remove(&l->index, grt_hash(&l->key, number, image), l->pages);
		return -ENOMEM;
	}
	launch_pages_take(l, l->pages, p);
	l->pages++;
	*out = p;
	return 0;
}

int grt_launch_pages_open(struct grt_launch_pages *l, uint32_t id, struct grt_launch_page **out)
{
	const struct grt_launch_stub *s = &l->stub[id];

	*out = NULL;
	return (s->page ? s->page->open : s->open) ? launch_pages_load(l, id, out) : 0;
}

void grt_launch_pages_free(struct grt_launch_pages *l)
{
	for (uint32_t i = 0; i < l->residents; i++) {
		free(l->resident[i]->entry);
		free(l->resident[i]->begin);
		free(l->resident[i]);
	}
	free(l->resident);
	free(l->stub);
	free(l->tail);
	grt_index_free(&l->index);
	if (l->fd >= 0)
		close(l->fd);
}
