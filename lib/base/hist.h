/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Percentiles of durations in bounded memory: a log-linear histogram with 512
 * buckets per power of two. Values below 1024 ns are exact; the error of a
 * larger percentile is at most 1/1024 (0.098 %) of its value; count, sum, smallest
 * and largest value are exact.
 */
#ifndef GRT_BASE_HIST_H
#define GRT_BASE_HIST_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#define GRT_HIST_BITS 9
#define GRT_HIST_BUCKETS (1U << GRT_HIST_BITS)
#define GRT_HIST_OCTAVES (64 - GRT_HIST_BITS + 1)

/* The weight 1.0; weights are fixed point. */
#define GRT_WEIGHT_ONE (1ULL << 20)

/** grt_weight - the number of jobs that a job represents if @sample percent were recorded (0: not sampled) */
static inline uint64_t grt_weight(uint8_t sample)
{
	return sample && sample < 100 ? (100 * GRT_WEIGHT_ONE + sample / 2) / sample : GRT_WEIGHT_ONE;
}

/** grt_weight_count - a sum of weights as a whole number, rounded */
static inline uint64_t grt_weight_count(uint64_t weight)
{
	return (weight + GRT_WEIGHT_ONE / 2) / GRT_WEIGHT_ONE;
}

/**
 * struct grt_hist - all zero is empty; freed by grt_hist_free()
 * @octave: counters, by weight, allocated at the first value of the octave
 * @weight: sum of the weights of all values, 0: no values
 * @sum: of weight * value
 * @inferred: some values were inferred
 * @min, @max: of all values
 * @blind: there was no memory for an octave, so there are no percentiles
 */
struct grt_hist {
	uint64_t *octave[GRT_HIST_OCTAVES];
	uint64_t weight;
	unsigned __int128 sum;
	uint64_t min;
	uint64_t max;
	bool inferred;
	bool blind;
};

/** grt_hist_grow - allocates the counters of an octave. Return: whether this succeeded */
bool grt_hist_grow(struct grt_hist *h, unsigned int octave, uint32_t *budget);

/**
 * struct grt_hist_value - a value prepared for several histograms
 * @sum: weight * value
 * @octave, @bucket: its counter
 */
struct grt_hist_value {
	uint64_t value;
	uint64_t weight;
	unsigned __int128 sum;
	uint32_t octave;
	uint32_t bucket;
	bool inferred;
};

/** grt_hist_value - prepares a value */
static inline struct grt_hist_value grt_hist_value(uint64_t value, uint64_t weight, bool inferred)
{
	unsigned int octave = 0, shift = 0;

	if (value >= GRT_HIST_BUCKETS) {
		octave = 64 - GRT_HIST_BITS - (unsigned int)__builtin_clzll(value);
		shift = octave - 1;
	}
	return (struct grt_hist_value){
		.value = value,
		.weight = weight,
		.sum = (unsigned __int128)value * weight,
		.octave = octave,
		.bucket = (value >> shift) % GRT_HIST_BUCKETS,
		.inferred = inferred,
	};
}

/* All of a value but its counter. */
static inline void grt_hist_put_sums(struct grt_hist *h, const struct grt_hist_value *v)
{
	if (v->value < h->min || !h->weight)
		h->min = v->value;
	if (v->value > h->max)
		h->max = v->value;
	h->inferred |= v->inferred;
	h->weight += v->weight;
	h->sum += v->sum;
}

/**
 * grt_hist_put - adds a value
 * @budget: number of octaves (4 KiB each) that may still be allocated, shared by histograms
 */
static inline void grt_hist_put(struct grt_hist *h, const struct grt_hist_value *v, uint32_t *budget)
{
	if (h->octave[v->octave] || grt_hist_grow(h, v->octave, budget))
		h->octave[v->octave][v->bucket] += v->weight;
	grt_hist_put_sums(h, v);
}

/**
 * struct grt_hist_late - the counter of the last value, which the processor fetches while the caller is at
 * other things: the counters of many histograms do not fit into its caches. All zero: none
 */
struct grt_hist_late {
	uint64_t *counter;
	uint64_t weight;
};

/** grt_hist_settle - counts the last value; before a histogram is read that got it, and before it is freed */
static inline void grt_hist_settle(struct grt_hist_late *late)
{
	if (late->counter)
		*late->counter += late->weight;
	late->counter = NULL;
}

/** grt_hist_add_late - grt_hist_add() that counts the last value of @late, and leaves this one there */
static inline void grt_hist_add_late(struct grt_hist *h, uint64_t value, uint64_t weight, bool inferred,
				     uint32_t *budget, struct grt_hist_late *late)
{
	struct grt_hist_value v = grt_hist_value(value, weight, inferred);

	grt_hist_settle(late);
	if (h->octave[v.octave] || grt_hist_grow(h, v.octave, budget)) {
		*late = (struct grt_hist_late){&h->octave[v.octave][v.bucket], v.weight};
		__builtin_prefetch(late->counter, 1);
	}
	grt_hist_put_sums(h, &v);
}

/** grt_hist_add - grt_hist_put() for a value of one histogram only */
static inline void grt_hist_add(struct grt_hist *h, uint64_t value, uint64_t weight, bool inferred,
				uint32_t *budget)
{
	struct grt_hist_value v = grt_hist_value(value, weight, inferred);

	grt_hist_put(h, &v, budget);
}

/**
 * struct grt_hist_counts - values that were counted elsewhere, in the same buckets
 * @bucket: of @octaves octaves from the first one on, GRT_HIST_BUCKETS of each; those of an octave whose
 *	bit in @used is not set are all 0
 * @sum, @min, @max: of the values
 */
struct grt_hist_counts {
	const uint32_t *bucket;
	uint32_t octaves;
	uint64_t used;
	uint64_t sum;
	uint64_t min;
	uint64_t max;
	bool inferred;
};

/** grt_hist_put_counts - adds all of them, each with the weight 1.0; @budget as for grt_hist_put() */
void grt_hist_put_counts(struct grt_hist *h, const struct grt_hist_counts *c, uint32_t *budget);

/**
 * grt_hist_percentile - the smallest value that at least @permille of all values do not exceed (nearest rank)
 * Return: whether there is one
 */
bool grt_hist_percentile(const struct grt_hist *h, unsigned int permille, uint64_t *value);

/* For grt_hist_get(), in place of a permille. */
#define GRT_HIST_MEAN (-1)
#define GRT_HIST_SUM (-2)

/**
 * grt_hist_get - a value that stands for all of them
 * @what: permille, where 0 is the smallest and 1000 the largest value; GRT_HIST_MEAN; GRT_HIST_SUM
 * Return: whether there is one
 */
bool grt_hist_get(const struct grt_hist *h, int what, uint64_t *value);

/* Number of intervals between powers of two: 0, [1, 2), [2, 4) ... */
#define GRT_HIST_POWERS 65

/**
 * grt_hist_powers - the weights of all values by power of two
 * @weight: [0] gets the weight of the value 0, [n] the weight of [1 << (n - 1), 1 << n)
 * Return: whether they are known
 */
bool grt_hist_powers(const struct grt_hist *h, uint64_t weight[GRT_HIST_POWERS]);

/** grt_hist_sum - the weighted sum of all values, at most UINT64_MAX */
uint64_t grt_hist_sum(const struct grt_hist *h);

/** grt_hist_free - frees the counters and empties it */
void grt_hist_free(struct grt_hist *h);

#endif /* GRT_BASE_HIST_H */
