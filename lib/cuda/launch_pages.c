// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Pages of launches in memory and in a file, see launch_pages.h. */
#include "launch_pages.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

#include "base/containers.h"
#include "base/tempfile.h"

/* Bytes of a page in the file, without its entries. */
#define PAGE_HEAD (sizeof(struct grt_launch_page) - offsetof(struct grt_launch_page, present))
/* Head, entries and begins. */
#define PIECES 3
/* Bytes that are written to the file together: a write of each page alone takes three times as long. */
#define TAIL_BYTES (256U << 10)

/**
 * struct grt_launch_stub - what is known of each page
 * @at: its place in the file, for @stored entries; 0 entries: none yet
 * @page: NULL: it is in the file only
 * @open: of the page, if it is in the file only
 */
struct grt_launch_stub {
	uint64_t number;
	uint64_t at;
	struct grt_launch_page *page;
	uint32_t image;
	uint16_t stored;
	bool open;
};

void grt_launch_pages_init(struct grt_launch_pages *l, bool begins)
{
	*l = (struct grt_launch_pages){.key = grt_hash_key_new(), .fd = -1, .begins = begins};
}

/* --------------------------------------------------------------- the file */

/* Return: the size of a page in the file, whose pieces are set to its memory */
static size_t launch_pages_pieces(const struct grt_launch_pages *l, struct grt_launch_page *p,
				  struct iovec piece[PIECES])
{
	piece[0] = (struct iovec){p->present, PAGE_HEAD};
	piece[1] = (struct iovec){p->entry, p->used * sizeof(*p->entry)};
	piece[2] = (struct iovec){p->begin, l->begins ? p->used * sizeof(*p->begin) : 0};
	return piece[0].iov_len + piece[1].iov_len + piece[2].iov_len;
}

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

/* Return: whether the page is in the file or its tail as it is in memory */
static bool launch_pages_store(struct grt_launch_pages *l, struct grt_launch_page *p)
{
	struct grt_launch_stub *s = &l->stub[p->id];
	struct iovec piece[PIECES];
	size_t size = launch_pages_pieces(l, p, piece);
	uint64_t end = l->flushed + l->tail_used, at = s->stored == p->used ? s->at : end;
	char *to;

	if (!p->changed)
		return true;
	if (at < l->flushed) {
		if (pwritev(l->fd, piece, PIECES, (off_t)at) != (ssize_t)size)
			return false;
	} else if (at < end || launch_pages_tail_room(l, size)) {
		to = l->tail + (at - l->flushed);
		for (int i = 0; i < PIECES; to += piece[i++].iov_len)
			if (piece[i].iov_len)
				memcpy(to, piece[i].iov_base, piece[i].iov_len);
		l->tail_used += at == end ? (uint32_t)size : 0;
	} else {
		return false;
	}
	s->at = at;
	s->stored = p->used;
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

/* A page leaves the memory, if the file takes it. Return: NULL: it does not */
static struct grt_launch_page *launch_pages_leave(struct grt_launch_pages *l)
{
	struct grt_launch_page *p = launch_pages_victim(l);

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
	struct iovec piece[PIECES];
	const char *from;
	ssize_t got;
	size_t size;

	if (grt_launch_pages_room(l, p, s->stored))
		return -ENOMEM;
	p->used = s->stored;
	size = launch_pages_pieces(l, p, piece);
	if (s->at >= l->flushed) {
		from = l->tail + (s->at - l->flushed);
		for (int i = 0; i < PIECES; from += piece[i++].iov_len)
			if (piece[i].iov_len)
				memcpy(piece[i].iov_base, from, piece[i].iov_len);
		got = (ssize_t)size;
	} else {
		got = preadv(l->fd, piece, PIECES, (off_t)s->at);
	}
	if (!s->open)
		memcpy(p->ended, p->present, sizeof(p->ended));
	return got == (ssize_t)size ? 0 : got < 0 ? -errno : -EIO;
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
