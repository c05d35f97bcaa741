// SPDX-License-Identifier: GPL-2.0
/* Converts records of switches to slices, see nv_slices.h. No function here calls the driver. */
#include <string.h>

#include "nv_slices.h"

/*
 * Finds the place of an instance, or makes it at the instance's first record. Return: < 0: there is no room
 */
static int slices_place(struct nv_slices *s, uint16_t instance)
{
	int i;

	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used; i++)
		if (s->open[i].slice.instance == instance)
			return i;
	if (i == NV_SLICES_INSTANCES)
		return -1;
	s->open[i].used = true;
	s->open[i].last = s->begun;
	s->open[i].slice.instance = instance;
	return i;
}

static int slices_put(struct nv_slices *s, int i, uint64_t until, uint8_t end)
{
	struct nv_slice slice = s->open[i].slice;

	slice.until = until > slice.start ? until : slice.start;
	slice.end = end;
	s->open[i].last = slice.until;
	return s->put(s->arg, &slice);
}

/*
 * Records are missing. A context that was on the GPU has left it at an unknown time after it was last seen.
 * The time in between has no owner, and is not idle.
 */
static int slices_lose(struct nv_slices *s)
{
	int i, ret = 0;

	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++) {
		if (s->open[i].on)
			ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		s->open[i].on = false;
		s->open[i].known = false;
	}
	return ret;
}

static void slices_begin(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time, uint8_t edge)
{
	s->open[i].on = true;
	s->open[i].slice = (struct nv_slice){
		.start = time,
		.context = r->context,
		.pid = r->pid,
		.instance = r->instance,
		.begin = edge,
	};
}

/*
 * A context leaves whose arrival was not seen. The first record of a log belongs to the context that was on
 * the GPU when the log was switched on.
 */
static void slices_begin_late(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time)
{
	if (s->lost)
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	else
		slices_begin(s, i, r, s->begun, GRT_SLICE_CUT);
}

static int slices_end(struct nv_slices *s, int i, const struct nv_switch *r, uint64_t time)
{
	int ret = 0;

	if (s->open[i].on && s->open[i].slice.context != r->context) {
		ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	} else if (!s->open[i].on && s->open[i].known) {
		slices_begin(s, i, r, time, GRT_SLICE_LOST);
	} else if (!s->open[i].on) {
		slices_begin_late(s, i, r, time);
	}
	s->open[i].on = false;
	return ret ? ret : slices_put(s, i, time, GRT_SLICE_SWITCH);
}

int nv_slices_take(struct nv_slices *s, const struct nv_switch *r, uint64_t time)
{
	int i = slices_place(s, r->instance), ret = 0;

	if (i < 0) {
		s->over++;
		return 0;
	}
	if (r->missing != s->lost) {
		ret = slices_lose(s);
		s->lost = r->missing;
	}
	if (time < s->open[i].last) {
		s->backwards++;
		if (s->open[i].last - time > s->backwards_ns)
			s->backwards_ns = s->open[i].last - time;
		time = s->open[i].last;
	}
	s->open[i].last = time;
	if (!ret && r->tag == NV_SWITCH_END) {
		ret = slices_end(s, i, r, time);
	} else if (!ret && r->tag == NV_SWITCH_START) {
		if (s->open[i].on)
			ret = slices_put(s, i, s->open[i].slice.start, GRT_SLICE_LOST);
		slices_begin(s, i, r, time, GRT_SLICE_SWITCH);
	}
	s->open[i].known = true;
	return ret;
}

int nv_slices_cut(struct nv_slices *s, uint64_t until, uint8_t edge, uint64_t age)
{
	int i, ret = 0;

	/* without any record, one context was on the GPU all the time, or none was */
	if (edge == GRT_SLICE_CUT && slices_place(s, NV_SLICES_WHOLE) == 0 && !s->open[0].known && !s->lost)
		return s->put(s->arg, &(struct nv_slice){.start = s->begun,
							 .until = until,
							 .instance = NV_SLICES_WHOLE,
							 .begin = edge,
							 .end = edge});
	for (i = 0; i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++) {
		if (!s->open[i].on || until < s->open[i].last + age)
			continue;
		ret = slices_put(s, i, until, edge);
		s->open[i].slice.start = until;
		s->open[i].slice.begin = GRT_SLICE_GOES_ON;
		s->open[i].on = edge == GRT_SLICE_GOES_ON;
	}
	return ret;
}

int nv_slices_lose(struct nv_slices *s)
{
	bool any = s->open[0].used || slices_place(s, NV_SLICES_WHOLE) == 0;
	int i, ret = 0;

	for (i = 0; any && i < NV_SLICES_INSTANCES && s->open[i].used && !ret; i++)
		if (!s->open[i].on)
			ret = s->put(s->arg, &(struct nv_slice){.start = s->open[i].last,
								.until = s->open[i].last,
								.instance = s->open[i].slice.instance,
								.begin = GRT_SLICE_LOST,
								.end = GRT_SLICE_LOST});
	return ret ? ret : slices_lose(s);
}
