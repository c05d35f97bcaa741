// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The log-linear histogram of hist.h. Octave 0 holds 0..511 one by one, octave
 * n > 0 the values [512 << (n - 1), 512 << n) in 512 buckets.
 */
#include "hist.h"

#include <stdlib.h>
#include <string.h>

/* The middle of a bucket: half its width is the error that hist.h states. */
static uint64_t hist_value_of(unsigned int octave, unsigned int bucket)
{
	if (!octave)
		return bucket;
	return ((uint64_t)(GRT_HIST_BUCKETS + bucket) << (octave - 1)) + ((1ULL << (octave - 1)) >> 1);
}

bool grt_hist_grow(struct grt_hist *h, unsigned int octave, uint32_t *budget)
{
	if (*budget) {
		h->octave[octave] = calloc(GRT_HIST_BUCKETS, sizeof(uint64_t));
		*budget -= !!h->octave[octave];
	}
	h->blind |= !h->octave[octave];
	return h->octave[octave];
}

/* Return: the number of values */
static uint64_t hist_put_octave(struct grt_hist *h, unsigned int octave, const uint32_t *bucket,
				uint32_t *budget)
{
	bool room = h->octave[octave] || grt_hist_grow(h, octave, budget);
	uint64_t n = 0;

	for (unsigned int b = 0; b < GRT_HIST_BUCKETS; b++) {
		n += bucket[b];
		if (room)
			h->octave[octave][b] += bucket[b] * GRT_WEIGHT_ONE;
	}
	return n;
}

void grt_hist_put_counts(struct grt_hist *h, const struct grt_hist_counts *c, uint32_t *budget)
{
	uint64_t n = 0;

	for (unsigned int o = 0; o < c->octaves; o++)
		if (c->used >> o & 1)
			n += hist_put_octave(h, o, c->bucket + (size_t)o * GRT_HIST_BUCKETS, budget);
	if (!n)
		return;
	if (c->min < h->min || !h->weight)
		h->min = c->min;
	if (c->max > h->max)
		h->max = c->max;
	h->inferred |= c->inferred;
	h->weight += n * GRT_WEIGHT_ONE;
	h->sum += (unsigned __int128)c->sum * GRT_WEIGHT_ONE;
}

/* The middle of the bucket with the value of this rank. */
static uint64_t value_at(const struct grt_hist *h, uint64_t rank)
{
	uint64_t below = 0;

	for (unsigned int o = 0; o < GRT_HIST_OCTAVES; o++) {
		for (unsigned int b = 0; h->octave[o] && b < GRT_HIST_BUCKETS; b++) {
			below += h->octave[o][b];
			if (below >= rank)
				return hist_value_of(o, b);
		}
	}
	return h->max;
}

bool grt_hist_percentile(const struct grt_hist *h, unsigned int permille, uint64_t *value)
{
	unsigned __int128 scaled = (unsigned __int128)h->weight * permille;

	if (!h->weight || h->blind)
		return false;
	*value = value_at(h, scaled ? (uint64_t)((scaled + 999) / 1000) : 1);
	if (*value < h->min)
		*value = h->min;
	if (*value > h->max)
		*value = h->max;
	return true;
}

static unsigned int power_of(unsigned int octave, unsigned int bucket)
{
	if (octave)
		return octave + GRT_HIST_BITS;
	return bucket ? 32 - (unsigned int)__builtin_clz(bucket) : 0;
}

bool grt_hist_powers(const struct grt_hist *h, uint64_t weight[GRT_HIST_POWERS])
{
	memset(weight, 0, GRT_HIST_POWERS * sizeof(*weight));
	for (unsigned int o = 0; o < GRT_HIST_OCTAVES; o++)
		for (unsigned int b = 0; h->octave[o] && b < GRT_HIST_BUCKETS; b++)
			weight[power_of(o, b)] += h->octave[o][b];
	return h->weight && !h->blind;
}

uint64_t grt_hist_sum(const struct grt_hist *h)
{
	unsigned __int128 sum = (h->sum + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE;

	return sum > UINT64_MAX ? UINT64_MAX : (uint64_t)sum;
}

bool grt_hist_get(const struct grt_hist *h, int what, uint64_t *value)
{
	if (!h->weight)
		return false;
	switch (what) {
	case GRT_HIST_SUM:
		*value = grt_hist_sum(h);
		return true;
	case GRT_HIST_MEAN:
		*value = (uint64_t)((h->sum + h->weight / 2) / h->weight);
		return true;
	case 0:
		*value = h->min;
		return true;
	case 1000:
		*value = h->max;
		return true;
	default:
		return grt_hist_percentile(h, (unsigned int)what, value);
	}
}

void grt_hist_free(struct grt_hist *h)
{
	for (unsigned int o = 0; o < GRT_HIST_OCTAVES; o++)
		free(h->octave[o]);
	*h = (struct grt_hist){0};
}
