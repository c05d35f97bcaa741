// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * See sample_shares.h. Work gets the share of the samples that belongs to its time so far, minus what
 * earlier work got.
 */
#include "sample_shares.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "stack/slots.h"
#include "base/bisect.h"

#define KERNELS_MAX 65536U
#define LAUNCHES_MAX 1048576U

/**
 * struct kernel - kernels with the same name
 * @first, @leaves: its function's leaves in pc.leaf; none: it has no samples
 * @ns: of all its work; @given: of the work that has got its samples
 * @stack: of the first work; @several: other stacks have work, too
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

/** struct launch - kernels of a name in a launch; @several: they are of more rows than one */
struct launch {
	uint32_t row;
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
	s->pc.by_launch = true;
	grt_keyed_init(&s->kernels, sizeof(struct kernel), KERNELS_MAX);
	grt_keyed_init(&s->launches, sizeof(struct launch), LAUNCHES_MAX);
	grt_texts_init(&s->names, KERNELS_MAX);
	return 0;
}

void grt_sample_shares_free(struct grt_sample_shares *s)
{
	if (!s)
		return;
	grt_pc_samples_free(&s->pc);
	grt_keyed_free(&s->kernels);
	grt_keyed_free(&s->launches);
	grt_texts_free(&s->names);
	free(s->exact);
	free(s);
}

/* -------------------------------------------------------------- launches */

/* The strings of a kernel's name and of a function may differ, but their texts are the same. */
static int sample_shares_name(struct grt_sample_shares *s, const struct grt_image *image, uint32_t string,
			      uint32_t *number)
{
	const char *text = grt_image_string(image, string);

	*number = GRT_TEXT_NONE;
	return text ? grt_texts_add(&s->names, text, SIZE_MAX, number) : 0;
}

int grt_sample_shares_launch(struct grt_sample_shares *s, const struct grt_image *image, uint64_t correlation,
			     uint32_t name, uint32_t row)
{
	struct launch *l;
	uint32_t number;
	void *found;
	int ret = correlation ? sample_shares_name(s, image, name, &number) : 0;

	if (ret || !correlation || number == GRT_TEXT_NONE)
		return ret;
	ret = grt_keyed_get_or_count(&s->launches, &(struct grt_key){{image->number, correlation, number}},
				     NULL, &found);
	l = found;
	if (!l)
		return ret;
	l->several |= l->seen && l->row != row;
	l->row = row;
	l->seen = true;
	return 0;
}

static int sample_shares_link(struct grt_sample_shares *s, const struct grt_pc_launched *p)
{
	const struct grt_key *at = grt_keyed_key(p);
	const struct grt_image *image = s->pc.from->image[at->w[0] >> 32];
	struct grt_pc_leaf *leaf = grt_pc_samples_leaf(&s->pc, p);
	const struct launch *l;
	uint32_t number;
	int ret = leaf ? sample_shares_name(s, image, (uint32_t)at->w[0], &number) : 0;

	if (ret || !leaf)
		return ret;
	l = grt_keyed_find(&s->launches, &(struct grt_key){{image->number, at->w[1], number}});
	if (!l || l->several)
		return 0;
	leaf->exact += p->samples;
	s->exact[s->exacts++] = (struct grt_sample_exact){leaf, p->samples, l->row};
	return 0;
}

static int sample_shares_order(const void *a, const void *b)
{
	const struct grt_sample_exact *x = a, *y = b;

	if (x->row != y->row)
		return x->row < y->row ? -1 : 1;
	return x->leaf < y->leaf ? -1 : x->leaf > y->leaf;
}

int grt_sample_shares_link(struct grt_sample_shares *s)
{
	const struct grt_keyed *all = &s->pc.launched;
	int ret = 0;

	s->exact = calloc(all->used + 1, sizeof(*s->exact));
	if (!s->exact)
		return -ENOMEM;
	for (const struct grt_pc_launched *p = grt_keyed_oldest(all); p && !ret; p = grt_keyed_next(all, p))
		ret = sample_shares_link(s, p);
	qsort(s->exact, s->exacts, sizeof(*s->exact), sample_shares_order);
	return ret;
}

/* --------------------------------------------------------------- kernels */

static bool sample_shares_is_one(const struct grt_pc_leaf *a, const struct grt_pc_leaf *b)
{
	return a->image == b->image && a->function == b->function;
}

/* Return: the index after the leaves of the function that begins at @first. */
static uint32_t sample_shares_end(const struct grt_sample_shares *s, uint32_t first)
{
	uint32_t end = first + 1;

	while (end < s->pc.leaves.used && sample_shares_is_one(s->pc.leaf[first], s->pc.leaf[end]))
		end++;
	return end;
}

/* The function with the same text as the kernel, because their strings may differ. */
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

/* Adds samples whose launch is known. */
static int sample_shares_put_exact(struct grt_sample_shares *s, uint32_t row,
				   const struct grt_sample_tree *to, uint32_t node, uint16_t slot)
{
	uint32_t low;
	int ret = 0;

	low = grt_bisect(s->exacts, i, s->exact[i].row < row);
	for (; low < s->exacts && s->exact[low].row == row && !ret; low++) {
		const struct grt_sample_exact *x = &s->exact[low];

		if (!sample_shares_counts(to, x->leaf))
			continue;
		s->sums.samples += x->samples;
		s->sums.exact += x->samples;
		ret = sample_shares_put_leaf(s, to, x->leaf, node, slot, x->samples);
	}
	return ret;
}

int grt_sample_shares_put(struct grt_sample_shares *s, const struct grt_sample_work *w,
			  const struct grt_sample_tree *to, uint32_t node, uint16_t slot)
{
	struct kernel *k = sample_shares_kernel(s, w);
	uint64_t before, samples;
	int ret = sample_shares_put_exact(s, w->row, to, node, slot);

	if (ret || !k || !k->ns)
		return ret;
	before = k->given;
	k->given += w->ns;
	for (uint32_t i = k->first; i < k->first + k->leaves && !ret; i++) {
		const struct grt_pc_leaf *leaf = s->pc.leaf[i];

		samples = sample_shares_part(leaf->samples - leaf->exact, k->given, k->ns) -
			  sample_shares_part(leaf->samples - leaf->exact, before, k->ns);
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

		if (!sample_shares_is_one(leaf, first) || !sample_shares_counts(to, leaf) ||
		    leaf->samples == leaf->exact)
			continue;
		s->sums.samples += leaf->samples - leaf->exact;
		s->sums.unmatched += leaf->samples - leaf->exact;
		ret = sample_shares_put_leaf(s, to, leaf, node, 0, leaf->samples - leaf->exact);
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
