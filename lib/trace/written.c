// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A table by image. Most records come in a row from the same image.
 */
#include "written.h"

#include <errno.h>
#include <stdlib.h>

#include "packet.h"

#define ROOM_FIRST 64U
#define ROOM_MAX (1U << 20)
/* Elements that are examined. If a malicious trace makes its images collide, they are not tracked. */
#define PROBES 256U

static uint64_t missing_of(const struct grt_written_image *i)
{
	return i->made > i->here ? i->made - i->here : 0;
}

static bool written_is(const struct grt_written_image *i, const struct grt_event *e)
{
	return i->pid == e->pid && i->number == e->ctx;
}

static uint32_t written_place_of(const struct grt_written *w, uint32_t pid, uint64_t number)
{
	return (uint32_t)(((number ^ pid) * 0x9e3779b97f4a7c15ULL) >> 32) & (w->room - 1);
}

/* The image's element, or a free one for it; NULL: there is none nearby. */
static struct grt_written_image *written_find(const struct grt_written *w, uint32_t pid, uint64_t number)
{
	uint32_t at = w->room ? written_place_of(w, pid, number) : 0;

	for (uint32_t i = 0; i < PROBES && i < w->room; i++, at = (at + 1) & (w->room - 1))
		if (!w->image[at].used || (w->image[at].pid == pid && w->image[at].number == number))
			return &w->image[at];
	return NULL;
}

/* Return: 0, also if it is full, or -ENOMEM */
static int written_grow(struct grt_written *w)
{
	struct grt_written more = {.room = w->room ? 2 * w->room : ROOM_FIRST};
	struct grt_written_image *to = NULL;

	if (more.room > ROOM_MAX)
		return 0;
	more.image = calloc(more.room, sizeof(*more.image));
	for (uint32_t i = 0; more.image && i < w->room; i++) {
		to = w->image[i].used ? written_find(&more, w->image[i].pid, w->image[i].number) : NULL;
		if (to)
			*to = w->image[i];
		else if (w->image[i].used)
			w->untracked += w->image[i].here;
	}
	if (!more.image)
		return -ENOMEM;
	free(w->image);
	w->image = more.image;
	w->room = more.room;
	w->last = NULL;
	return 0;
}

/* Makes the image the current one; if the table has no room for it, there is none. Return: 0 or -ENOMEM */
static int written_find_image(struct grt_written *w, const struct grt_event *e)
{
	int ret = 2 * (w->images + 1) > w->room ? written_grow(w) : 0;
	struct grt_written_image *i = ret ? NULL : written_find(w, e->pid, e->ctx);

	w->last = NULL;
	if (!i || (!i->used && 2 * (w->images + 1) > w->room))
		return ret;
	w->images += !i->used;
	i->used = true;
	i->pid = e->pid;
	i->number = e->ctx;
	w->last = i;
	return 0;
}

static void written_take_process(struct grt_written *w, struct grt_written_image *i,
				 const struct grt_ev_process *p)
{
	uint64_t made = p->launches + p->gpu_records + p->ranges + p->fields;
	uint64_t lost = p->launches_lost + p->gpu_lost + p->ranges_lost + p->fields_lost;

	made = made > lost ? made - lost : 0;
	/* if older segments were deleted, its begin is repeated after records that come late */
	if (i->number) {
		i->made = made > i->made ? made : i->made;
		return;
	}
	/* images without a number: a new one ends the previous one */
	if (p->what == 1 && i->made) {
		w->before += missing_of(i);
		i->made = i->here = 0;
	}
	i->made = made;
}

int grt_written_other(struct grt_written *w, const struct grt_event *e)
{
	int ret = 0;

	if (!w->last || !written_is(w->last, e))
		ret = written_find_image(w, e);
	if (ret)
		return ret;
	if (!w->last) {
		w->untracked++;
		return 0;
	}
	if (e->type == GRT_EV_PROCESS)
		written_take_process(w, w->last, (const struct grt_ev_process *)e);
	else
		w->last->here++;
	return 0;
}

uint64_t grt_written_missing(const struct grt_written *w)
{
	uint64_t n = w->before;

	for (uint32_t i = 0; i < w->room; i++)
		n += missing_of(&w->image[i]);
	return n;
}

void grt_written_free(struct grt_written *w)
{
	free(w->image);
	*w = (struct grt_written){.images = 0};
}
