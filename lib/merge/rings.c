// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The numbers of rings.h. Rings are numbered when they occur, because the rings of a pipe are not known in
 * advance.
 */
#include "rings.h"

#include <errno.h>
#include <string.h>

#define RINGS_MAX 65536U
/* New numbers begin here, so that rings of other inputs that occur later mostly keep their numbers. */
#define OTHERS 100U
/* In place of an input: numbers that are used in the timeline. */
#define TAKEN UINT32_MAX

/** struct ring - a ring of an input, and its first name; empty: no name was reported yet */
struct ring {
	uint32_t number;
	char name[sizeof(((struct grt_ev_name *)0)->name)];
	char owner[sizeof(((struct grt_ev_name *)0)->owner)];
};

void grt_rings_init(struct grt_rings *r)
{
	*r = (struct grt_rings){.next_free = OTHERS};
	grt_keyed_init(&r->all, sizeof(struct ring), RINGS_MAX);
}

static struct ring *rings_find(const struct grt_rings *r, unsigned int input, uint32_t ring)
{
	return grt_keyed_find(&r->all, &(struct grt_key){{input, ring}});
}

/*
 * Return: the same ring in another input; NULL: there is none. A ring without a name is never the same as
 * another.
 */
static const struct ring *rings_find_same(const struct grt_rings *r, uint32_t own,
					  const struct grt_ev_name *name)
{
	for (unsigned int i = 0; name && name->name[0] && i < r->inputs; i++) {
		const struct ring *ring = rings_find(r, i, own);

		if (ring && !memcmp(ring->name, name->name, sizeof(ring->name)) &&
		    !memcmp(ring->owner, name->owner, sizeof(ring->owner)))
			return ring;
	}
	return NULL;
}

static int rings_take_number(struct grt_rings *r, uint32_t own, uint32_t *number)
{
	void *place;

	*number = own;
	if (rings_find(r, TAKEN, own)) {
		while (rings_find(r, TAKEN, r->next_free))
			r->next_free++;
		*number = r->next_free;
	}
	return grt_keyed_get(&r->all, &(struct grt_key){{TAKEN, *number}}, &place);
}

static int rings_add(struct grt_rings *r, unsigned int input, uint32_t own, const struct grt_ev_name *name)
{
	const struct ring *same = rings_find_same(r, own, name);
	uint32_t number = same ? same->number : 0;
	int ret = same ? 0 : rings_take_number(r, own, &number);
	void *place;

	ret = ret ?: grt_keyed_get(&r->all, &(struct grt_key){{input, own}}, &place);
	if (ret)
		return ret;
	r->inputs = input < r->inputs ? r->inputs : input + 1;
	((struct ring *)place)->number = number;
	return 0;
}

int grt_rings_number(struct grt_rings *r, unsigned int input, const struct grt_ev_name *name, uint32_t *ring)
{
	uint32_t own = *ring;
	int ret = rings_find(r, input, own) ? 0 : rings_add(r, input, own, name);
	struct ring *known = rings_find(r, input, own);

	*ring = ret ? GRT_RING_NONE : known->number;
	if (!ret && name && !known->name[0]) {
		memcpy(known->name, name->name, sizeof(known->name));
		memcpy(known->owner, name->owner, sizeof(known->owner));
	}
	return ret == -ENOSPC ? 0 : ret;
}
