/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Launches by process image and correlation id. Correlation ids increase by one with every call, so launches
 * are stored in pages of neighbouring ids, which have room for those ids that are launches.
 *
 * Work of a launch may come at any time after it, so no launch is ever forgotten. But work comes mostly soon
 * after its launch: only GRT_LAUNCH_PAGES_RESIDENT pages are in memory, and the others are in a file without
 * a name (base/tempfile.h), from where they come back when they are needed. So launches take at most 18 MiB
 * of memory, and then 0.2 bytes each, for the place in the file, in which most take 7. Where the file cannot
 * be made or written, all pages stay in memory.
 */
#ifndef GRT_CUDA_LAUNCH_PAGES_H
#define GRT_CUDA_LAUNCH_PAGES_H

#include <stdbool.h>
#include <stdint.h>

#include "base/index.h"

#define GRT_LAUNCH_PAGE_BITS 8
#define GRT_LAUNCH_PAGE_IDS (1U << GRT_LAUNCH_PAGE_BITS)
/* About a million launches. */
#define GRT_LAUNCH_PAGES_RESIDENT 4096U

/* Limit for the number of a caller, which must fit into grt_launch_entry.caller. */
#define GRT_LAUNCH_CALLERS_MAX (1U << 29)

/**
 * struct grt_launch_entry - a launch
 * @seen: work came of it; @handed: and was delivered
 * @outside: of the requested time
 */
struct grt_launch_entry {
	uint32_t node;
	uint32_t caller : 29;
	uint32_t seen : 1;
	uint32_t handed : 1;
	uint32_t outside : 1;
};

/**
 * struct grt_launch_page - launches of GRT_LAUNCH_PAGE_IDS ids. Whoever changes @entry sets @changed
 * @id: its number among all pages
 * @called: it was looked for since the pages in memory were last gone through
 * @open: it may have launches that a flush has to process
 * @begin: NULL if no analysis needs the begins
 * @ended: no flush has to process the launch; in the file, only of a page that is @open
 * @present, @place: by id, whether there is a launch, and its place in @entry and @begin
 */
struct grt_launch_page {
	uint64_t number;
	uint32_t image;
	uint32_t id;
	uint16_t used;
	uint16_t room;
	bool called;
	bool changed;
	bool open;
	struct grt_launch_entry *entry;
	uint64_t *begin;
	uint64_t present[GRT_LAUNCH_PAGE_IDS / 64];
	uint64_t ended[GRT_LAUNCH_PAGE_IDS / 64];
	uint8_t place[GRT_LAUNCH_PAGE_IDS];
};

/* The page of the last launch, and that of the last work: ids grow by one, work comes about in the order of
 * its launches. */
enum grt_launch_recent { GRT_RECENT_LAUNCH, GRT_RECENT_WORK, GRT_RECENTS };

/**
 * struct grt_launch_pages - initialised by grt_launch_pages_init(), freed by grt_launch_pages_free();
 * private, except for @pages
 * @stub: all @pages pages
 * @resident: those in memory; @hand: the next one to go
 * @fd: the file, -1: there is none yet; @flushed: its size
 * @tail: what comes behind that, @tail_used bytes, which are written together
 * @stuck: it cannot be made or written
 * @begins: pages have the begins of launches
 */
struct grt_launch_pages {
	struct grt_launch_stub *stub;
	uint32_t pages;
	struct grt_launch_page **resident;
	uint32_t residents;
	uint32_t hand;
	struct grt_launch_page *recent[GRT_RECENTS];
	struct grt_index index;
	struct grt_hash_key key;
	uint64_t flushed;
	char *tail;
	uint32_t tail_used;
	int fd;
	bool stuck;
	bool begins;
};

void grt_launch_pages_init(struct grt_launch_pages *l, bool begins);

/** grt_launch_pages_search - what grt_launch_pages_find() calls for a page that is not a recent one */
int grt_launch_pages_search(struct grt_launch_pages *l, uint32_t image, uint64_t number,
			    enum grt_launch_recent recent, struct grt_launch_page **out);

/**
 * grt_launch_pages_find - the page of an id. A page is valid until the next call of a function of this header
 * Return: 0, with *@out NULL if there is no such page; or a negative errno: it cannot be read
 */
static inline int grt_launch_pages_find(struct grt_launch_pages *l, uint32_t image, uint64_t correlation,
					enum grt_launch_recent recent, struct grt_launch_page **out)
{
	const uint64_t number = correlation >> GRT_LAUNCH_PAGE_BITS;
	struct grt_launch_page *p = l->recent[recent];

	if (!p || p->image != image || p->number != number)
		return grt_launch_pages_search(l, image, number, recent, out);
	*out = p;
	return 0;
}

/** grt_launch_pages_add - a new page for an id that has none. Return: 0 or a negative errno */
int grt_launch_pages_add(struct grt_launch_pages *l, uint32_t image, uint64_t correlation,
			 struct grt_launch_page **out);

/** grt_launch_pages_room - makes room for at least @n launches in a page. Return: 0 or -ENOMEM */
int grt_launch_pages_room(const struct grt_launch_pages *l, struct grt_launch_page *p, unsigned int n);

/** grt_launch_pages_put - adds a launch to the page of its id. Return: 0 or -ENOMEM */
static inline int grt_launch_pages_put(struct grt_launch_pages *l, struct grt_launch_page *p,
				       uint64_t correlation, const struct grt_launch_entry *entry,
				       uint64_t begin)
{
	unsigned int at = correlation % GRT_LAUNCH_PAGE_IDS;

	if (__builtin_expect(p->used >= p->room, 0) && grt_launch_pages_room(l, p, p->used + 1U))
		return -ENOMEM;
	p->present[at / 64] |= 1ULL << at % 64;
	p->place[at] = (uint8_t)p->used;
	if (l->begins)
		p->begin[p->used] = begin;
	p->entry[p->used++] = *entry;
	p->changed = true;
	p->open = true;
	return 0;
}

/**
 * grt_launch_pages_open - the page with the number @id, if it has launches that no flush has processed
 * Return: as grt_launch_pages_find()
 */
int grt_launch_pages_open(struct grt_launch_pages *l, uint32_t id, struct grt_launch_page **out);

void grt_launch_pages_free(struct grt_launch_pages *l);

#endif /* GRT_CUDA_LAUNCH_PAGES_H */
