// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* See sample_shares.h. Work gets what its time has of the samples so far, less what work before it got. */
#include "sample_shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/slots.h"

#define KERNELS_MAX 65536U

/**
 * struct kernel - of a name
 * @first, @leaves: its function's in pc.leaf; none: it has no samples
 * @ns: of all its work, @given: of the work that has its samples
 * @stack: of the first work; @several: there is work of others
 */
struct kernel {
	uint32_t first;
	uint32_t leaves;
	uint64_t ns;
	uint64_t given;
	uint64_t stack;
	bool seen;
	bool several;
};

int grt_sample_shares_new(struct grt_sample_shares **out, const struct grt_images *images)
{
	struct grt_sample_shares *s = calloc(1, sizeof(*s));

	*out = s;
	if (!s || grt_pc_samples_init(&s->pc)) {
		free(s);
		*out = NULL;
		return -ENOMEM;
	}
	grt_pc_samples_use(&s->pc, images);
	grt_keyed_init(&s->kernels, sizeof(struct kernel), KERNELS_MAX);
	return 0;
}

void grt_sample_shares_free(struct grt_sample_shares *s)
{
	if (!s)
		return;
	grt_pc_samples_free(&s->pc);
	grt_keyed_free(&s->kernels);
	free(s);
}

/* --------------------------------------------------------------- kernels */

static bool sample_shares_is_one(const struct grt_pc_leaf *a, const struct grt_pc_leaf *b)
{
	return a->image == b->image && a->function == b->function;
}

/* Behind the leaves of the function that begins at @first. */
static uint32_t sample_shares_end(const struct grt_sample_shares *s, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < s->pc.leaves.used && sample_shares_is_one(s->pc.leaf[first], s->pc.leaf[end]))
		end++;
	return end;
}

/* The function whose text is that of the kernel: the strings need not be one. */
static void sample_shares_find(const struct grt_sample_shares *s, const struct grt_sample_work *w,
			       struct kernel *k)
{
	const struct grt_image *image = s->pc.from->image[w->image];
	const char *name = grt_image_string(image, w->name), *function;
	uint32_t end;

	for (uint32_t i = 0; name && i < s->pc.leaves.used; i = end) {
		end = sample_shares_end(s, i);
		function = s->pc.leaf[i]->image == w->image ? grt_image_string(image, s->pc.leaf[i]->function)
							    : NULL;
		if (!function || strcmp(function, name))
			continue;
		k->first = i;
		k->leaves = end - i;
		return;
	}
}

static struct kernel *sample_shares_kernel(const struct grt_sample_shares *s, const struct grt_sample_work *w)
{
	struct grt_key key = {{w->image, w->name}};

	return grt_keyed_find(&s->kernels, &key);
}

int grt_sample_shares_see(struct grt_sample_shares *s, const struct grt_sample_work *w)
{
	struct grt_key key = {{w->image, w->name}};
	struct kernel *k;
	void *found;
	int ret = grt_keyed_get_or_count(&s->kernels, &key, &s->sums.over, &found);

	k = found;
	if (!k)
		return ret;
	if (!k->seen) {
		sample_shares_find(s, w, k);
		k->stack = w->stack;
	}
	k->seen = true;
	k->several |= k->stack != w->stack;
	k->ns += w->ns;
	return 0;
}

/* ------------------------------------------------------------------- put */

static bool sample_shares_counts(const struct grt_sample_tree *to, const struct grt_pc_leaf *leaf)
{
	return !to->stalls || leaf->stall;
}

/* A frame for each line of the text. */
static int sample_shares_put_frames(const struct grt_sample_tree *to, const char *text, uint32_t *node)
{
	size_t length;
	int ret = 0;

	for (; *text && !ret; text += length + (text[length] == '\n')) {
		length = strcspn(text, "\n");
		ret = grt_stacks_frame(to->tree, *node, text, length, node);
	}
	return ret;
}

static int sample_shares_put_leaf(const struct grt_sample_shares *s, const struct grt_sample_tree *to,
				  const struct grt_pc_leaf *leaf, uint32_t node, uint16_t slot,
				  uint64_t samples)
{
	char text[64];
	int ret = sample_shares_put_frames(to, grt_pc_samples_frames(&s->pc, leaf->frames), &node);

	snprintf(text, sizeof(text), "[%.60s]", leaf->reason);
	ret = ret ?: grt_stacks_word(to->tree, text, &node);
	if (!ret && to->slots)
		ret = grt_slots_add(to->slots, node, slot, samples);
	return ret ?: grt_stacks_add(to->tree, node, to->side, samples);
}

static uint64_t sample_shares_part(uint64_t samples, uint64_t ns, uint64_t of)
{
	return (uint64_t)((unsigned __int128)samples * ns / of);
}

int grt_sample_shares_put(struct grt_sample_shares *s, const struct grt_sample_work *w,
			  const struct grt_sample_tree *to, uint32_t node, uint16_t slot)
{
	struct kernel *k = sample_shares_kernel(s, w);
	uint64_t before, samples;
	int ret = 0;

	if (!k || !k->ns)
		return 0;
	before = k->given;
	k->given += w->ns;
	for (uint32_t i = k->first; i < k->first + k->leaves && !ret; i++) {
		const struct grt_pc_leaf *leaf = s->pc.leaf[i];

		samples = sample_shares_part(leaf->samples, k->given, k->ns) -
			  sample_shares_part(leaf->samples, before, k->ns);
		if (!samples || !sample_shares_counts(to, leaf))
			continue;
		s->sums.samples += samples;
		s->sums.inferred += k->several ? samples : 0;
		ret = sample_shares_put_leaf(s, to, leaf, node, slot, samples);
	}
	return ret;
}

static bool sample_shares_has_kernel(const struct grt_sample_shares *s, uint32_t leaf)
{
	for (const struct kernel *k = grt_keyed_oldest(&s->kernels); k; k = grt_keyed_next(&s->kernels, k))
		if (k->ns && leaf >= k->first && leaf < k->first + k->leaves)
			return true;
	return false;
}

const struct grt_pc_leaf *grt_sample_shares_left(const struct grt_sample_shares *s, uint32_t *at)
{
	uint32_t first;

	while (*at < s->pc.leaves.used) {
		first = *at;
		*at = sample_shares_end(s, first);
		if (!sample_shares_has_kernel(s, first))
			return s->pc.leaf[first];
	}
	return NULL;
}

int grt_sample_shares_put_left(struct grt_sample_shares *s, const struct grt_pc_leaf *first,
			       const struct grt_sample_tree *to, uint32_t node)
{
	int ret = 0;

	for (uint32_t i = 0; i < s->pc.leaves.used && !ret; i++) {
		const struct grt_pc_leaf *leaf = s->pc.leaf[i];

		if (!sample_shares_is_one(leaf, first) || !sample_shares_counts(to, leaf))
			continue;
		s->sums.samples += leaf->samples;
		s->sums.unmatched += leaf->samples;
		ret = sample_shares_put_leaf(s, to, leaf, node, 0, leaf->samples);
	}
	return ret;
}

struct grt_sampled grt_sample_shares_sums(const struct grt_sample_shares *s)
{
	struct grt_sampled sums = s->sums;

	sums.dropped = s->pc.sums.dropped;
	sums.other = s->pc.sums.other;
	sums.full = s->pc.sums.full;
	sums.windows = s->pc.sums.windows;
	sums.over += s->pc.sums.over;
	return sums;
}
