// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Chooses the ranges of step_ranges.h. */
#include "step_ranges.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/bisect.h"
#include "base/containers.h"
#include "range_paths.h"
#include "trace/cuda_recording.h"

/* Least number of instances: what occurred twice may be chance. */
#define REPEATS_MIN 3U

/**
 * struct repeating - a range that occurs again
 * @at: its instances, indices of step_process.range
 * @made: launches in instances
 * @within: launches from the begin of the first one to the end of the last one
 */
struct repeating {
	uint32_t name;
	bool mark;
	uint32_t *at;
	uint32_t n, room;
	bool overlaps;
	uint32_t made;
	uint32_t within;
};

/** struct choice - @paths: has the names without their numbers */
struct choice {
	const struct grt_step_process *p;
	const struct grt_step_marks *m;
	struct grt_range_paths paths;
	struct grt_keyed ranges;
};

/* Return: the first of a process's launches that begins at or after a moment. */
static uint32_t step_ranges_launch(const struct choice *c, uint64_t from)
{
	return grt_bisect(c->m->launches, i, c->p->call[c->m->launch[i]].begin < from);
}

static const struct grt_step_range *step_ranges_at(const struct choice *c, const struct repeating *r,
						   uint32_t i)
{
	return &c->p->range[r->at[i]];
}

/* A mark lasts until the next one; the last one has no end. */
static uint64_t step_ranges_end(const struct choice *c, const struct repeating *r, uint32_t i)
{
	if (!r->mark)
		return step_ranges_at(c, r, i)->end;
	return i + 1 < r->n ? step_ranges_at(c, r, i + 1)->begin : step_ranges_at(c, r, i)->begin;
}

static int step_ranges_add(struct choice *c, uint32_t at)
{
	const struct grt_step_range *range = &c->p->range[at];
	struct repeating *r;
	uint32_t name;
	void *found;
	int ret = grt_range_paths_name(&c->paths, c->p->image, range->domain, range->name, &name);
	const struct grt_key key = {{name, range->tid, range->mark}};

	ret = ret ?: grt_keyed_get_or_count(&c->ranges, &key, NULL, &found);
	if (ret || !found)
		return ret;
	r = found;
	r->name = name;
	r->mark = range->mark;
	r->overlaps |= r->n && range->begin < step_ranges_at(c, r, r->n - 1)->end;
	if (grt_grow(&r->at, &r->room, r->n + 1, 8))
		return -ENOMEM;
	r->at[r->n++] = at;
	return 0;
}

static void step_ranges_measure(const struct choice *c, struct repeating *r)
{
	for (uint32_t i = 0; i < r->n; i++)
		r->made += step_ranges_launch(c, step_ranges_end(c, r, i)) -
			   step_ranges_launch(c, step_ranges_at(c, r, i)->begin);
	r->within = step_ranges_launch(c, step_ranges_end(c, r, r->n - 1)) -
		    step_ranges_launch(c, step_ranges_at(c, r, 0)->begin);
}

/* ---------------------------------------------------------------- choice */

/* Return: whether a range has this name, with or without its domain. */
static bool step_ranges_is_called(const struct choice *c, const struct repeating *r, const char *name)
{
	size_t len, want = strlen(name);
	const char *text = grt_stacks_text(c->paths.tree, r->name, &len);

	return len >= want && !memcmp(text, name, want) &&
	       (len == want || (len > want + 1 && !memcmp(text + want, " [", 2)));
}

static bool step_ranges_has(const struct choice *c, const struct repeating *r, const char *word)
{
	size_t len;
	const char *text = grt_stacks_text(c->paths.tree, r->name, &len);

	for (size_t i = 0; i + strlen(word) <= len; i++)
		if (!strncasecmp(text + i, word, strlen(word)))
			return true;
	return false;
}

/* A module of PyTorch, which the program has not marked itself. */
static bool step_ranges_is_module(const struct choice *c, const struct repeating *r)
{
	static const char end[] = " [" GRT_CUDA_TORCH_DOMAIN "]";
	size_t len, want = sizeof(end) - 1;
	const char *text = grt_stacks_text(c->paths.tree, r->name, &len);

	return len > want && !memcmp(text + len - want, end, want);
}

/* Return: how likely a range is a step, 0: not at all. */
static unsigned int step_ranges_rank(const struct choice *c, const struct repeating *r, const char *wanted)
{
	if (r->n < REPEATS_MIN || r->overlaps || !r->made)
		return 0;
	if (wanted)
		return step_ranges_is_called(c, r, wanted) ? 3 : 0;
	if (step_ranges_is_module(c, r))
		return 0;
	if (step_ranges_is_called(c, r, "ProfilerStep#"))
		return 3;
	if (r->mark || 10ULL * r->made < 9ULL * r->within || 2ULL * r->made < c->m->launches)
		return 0;
	return step_ranges_has(c, r, "step") || step_ranges_has(c, r, "iter") ? 2 : 1;
}

/* A range comes before a mark, more instances before fewer, and otherwise the one that began first. */
static const struct repeating *step_ranges_choose(const struct choice *c, const char *wanted)
{
	const struct repeating *best = NULL;
	unsigned int most = 0, rank;

	for (struct repeating *r = grt_keyed_oldest(&c->ranges); r; r = grt_keyed_next(&c->ranges, r)) {
		step_ranges_measure(c, r);
		rank = step_ranges_rank(c, r, wanted);
		if (!rank || rank < most)
			continue;
		if (rank > most || (best->mark && !r->mark) || (best->mark == r->mark && r->n > best->n))
			best = r;
		most = rank;
	}
	return best;
}

/* ------------------------------------------------------------------ cuts */

/* The first number in a name. Return: whether there is one */
static bool step_ranges_number(const struct choice *c, const struct grt_step_range *range, uint64_t *number)
{
	const char *text = grt_image_string(c->p->image, range->name);

	text = text ? strpbrk(text, "0123456789") : NULL;
	if (text)
		*number = strtoull(text, NULL, 10);
	return text;
}

/* Steps have the numbers of the names, if these count them. */
static uint32_t step_ranges_first(const struct choice *c, const struct repeating *r)
{
	uint64_t first, number;

	if (!step_ranges_number(c, step_ranges_at(c, r, 0), &first) || first > UINT32_MAX - r->n)
		return 0;
	for (uint32_t i = 1; i < r->n; i++)
		if (!step_ranges_number(c, step_ranges_at(c, r, i), &number) || number != first + i)
			return 0;
	return (uint32_t)first;
}

static int step_ranges_take(struct grt_step_marks *m, const struct choice *c, const struct repeating *r)
{
	const char *name;
	size_t len;

	m->cut = calloc((size_t)r->n + 2, sizeof(*m->cut));
	name = grt_stacks_text(c->paths.tree, r->name, &len);
	m->range = strndup(name, len);
	if (!m->cut || !m->range)
		return -ENOMEM;
	for (uint32_t i = 0; i < r->n; i++)
		m->cut[i] = step_ranges_launch(c, step_ranges_at(c, r, i)->begin);
	m->cuts = r->n;
	if (r->mark)
		m->cut_off++;
	else
		m->cut[m->cuts++] = step_ranges_launch(c, step_ranges_end(c, r, r->n - 1));
	m->first = step_ranges_first(c, r);
	m->how = r->mark ? GRT_STEP_BY_MARK : GRT_STEP_BY_RANGE;
	return 0;
}

int grt_step_ranges_cut(struct grt_step_marks *m, const struct grt_step_process *p, const char *wanted)
{
	struct choice c = {.p = p, .m = m};
	char *folded = wanted ? grt_range_fold(wanted) : NULL;
	const struct repeating *best;
	int ret = wanted && !folded ? -ENOMEM : grt_range_paths_init(&c.paths, false);

	grt_keyed_init(&c.ranges, sizeof(struct repeating), GRT_STEP_RANGES_MAX);
	for (uint32_t i = 0; i < p->ranges && !ret; i++)
		ret = step_ranges_add(&c, i);
	best = ret ? NULL : step_ranges_choose(&c, folded);
	if (best)
		ret = step_ranges_take(m, &c, best);
	for (struct repeating *r = grt_keyed_oldest(&c.ranges); r; r = grt_keyed_next(&c.ranges, r))
		free(r->at);
	grt_keyed_free(&c.ranges);
	grt_range_paths_free(&c.paths);
	free(folded);
	return ret;
}
