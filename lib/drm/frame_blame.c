// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Finds the cause of each late frame of a client, once all frames are known, see frame_blame.h. */
#include "frame_blame.h"
#include "base/bisect.h"
#include "base/compare.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

/* Finds the first frame that was shown after a moment. */
static uint32_t frame_after(const struct grt_frame_client *c, uint64_t time)
{
	return grt_bisect(c->n, i, c->frame[i].shown <= time);
}

void grt_frame_client_ran(struct grt_frame_client *c, uint64_t start, uint64_t end)
{
	for (uint32_t i = frame_after(c, start); i < c->n && c->frame[i].begin < end; i++) {
		struct grt_frame *f = &c->frame[i];
		uint64_t first = start > f->begin ? start : f->begin, last = end < f->shown ? end : f->shown;

		if (!f->begin || last <= first)
			continue;
		f->busy += last - first;
	}
}

/* Return: the least value that is not below @permille of all values. */
static uint64_t rank(const uint64_t *value, uint32_t n, uint32_t permille)
{
	uint64_t at = ((uint64_t)n * permille + 999) / 1000;

	return value[at ? at - 1 : 0];
}

/* Sorts a property of all frames except for first ones. Return: number of values */
static uint32_t sorted(const struct grt_frame_client *c, uint64_t *value, int part)
{
	uint32_t n = 0;

	for (uint32_t i = 0; i < c->n; i++)
		if (c->frame[i].begin)
			value[n++] = part < 0 ? grt_frame_time(&c->frame[i]) : c->frame[i].part[part];
	qsort(value, n, sizeof(*value), grt_compare_u64);
	return n;
}

/*
 * Return: for how long the display made a frame late. A frame that is ready too late for a vertical blank
 * waits for the next one, which is not the display's fault: this wait counts beyond one period. Before the
 * frame was ready, its thread may have slept for the display.
 */
static uint64_t frame_beyond_display(const struct grt_frame_client *c, const struct grt_frame *f)
{
	uint64_t period = grt_frame_time(f) / (f->missed + 1), all = f->part[GRT_THREAD_DISPLAY];
	uint64_t wait = f->shown > f->ready ? f->shown - f->ready : 0;
	uint64_t before = all > wait ? all - wait : 0, usual = c->typical[GRT_THREAD_DISPLAY];

	return (wait > period ? wait - period : 0) + (before > usual ? before - usual : 0);
}

/* Return: how much longer than usual a part was. */
static uint64_t frame_beyond(const struct grt_frame_client *c, const struct grt_frame *f, unsigned int part)
{
	uint64_t usual = f->late ? c->typical[part] : 0, ns = f->part[part];

	if (f->late && part == GRT_THREAD_DISPLAY && f->counted && f->ready)
		return frame_beyond_display(c, f);
	return ns > usual ? ns - usual : 0;
}

/* Return: for a late frame, the part that exceeds its usual length most; otherwise the longest part. */
static uint8_t frame_cause(const struct grt_frame_client *c, const struct grt_frame *f)
{
	unsigned int cause = GRT_THREAD_UNKNOWN;
	uint64_t most = 0;

	for (unsigned int i = 0; i < GRT_FRAME_PARTS; i++) {
		uint64_t beyond = frame_beyond(c, f, i);

		if (beyond <= most)
			continue;
		most = beyond;
		cause = i;
	}
	return (uint8_t)cause;
}

static void client_blame(struct grt_frame_client *c)
{
	c->late = 0;
	memset(c->blamed, 0, sizeof(c->blamed));
	for (uint32_t i = 0; i < c->n; i++) {
		struct grt_frame *f = &c->frame[i];

		if (!f->begin)
			continue;
		f->late = grt_frame_time(f) >= c->p50 + c->p50 / 2;
		f->cause = frame_cause(c, f);
		c->late += f->late;
		c->blamed[f->cause] += f->late;
	}
}

int grt_frame_client_finish(struct grt_frame_client *c)
{
	uint64_t *value = calloc((size_t)c->n + 1, sizeof(*value));
	uint32_t n;

	if (!value)
		return -ENOMEM;
	for (int i = 0; i < (int)GRT_FRAME_PARTS; i++) {
		n = sorted(c, value, i);
		c->typical[i] = n ? rank(value, n, 500) : 0;
	}
	n = sorted(c, value, -1);
	if (n) {
		c->p50 = rank(value, n, 500);
		c->p95 = rank(value, n, 950);
		c->p99 = rank(value, n, 990);
		c->max = value[n - 1];
		client_blame(c);
	}
	free(value);
	return 0;
}
