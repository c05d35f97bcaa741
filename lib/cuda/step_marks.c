// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Launches by the same code are the same symbol. The launches of a process are a sequence of symbols, whose
 * period is searched. The sequence far from a mark does not matter, so a step of another length, a start-up
 * or a break do no harm.
 */
#include "step_marks.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/containers.h"
#include "stack/image_frames.h"
#include "stack/own_code.h"
#include "step_ranges.h"

/* Least number of steps of a process: what occurred twice may be chance. */
#define STEPS_MIN 3U
/* The most calls of optimizers' step() in a program that are counted one by one. */
#define SITES_MAX 64U

/**
 * struct symbol
 * @first: the first of its launches; @at: index of its launches in row.place
 */
struct symbol {
	uint32_t number;
	uint32_t count;
	uint32_t at;
	uint32_t node;
	uint32_t name;
};

/**
 * struct row - launches as symbols
 * @place: the launches of each symbol, one symbol after the other
 */
struct row {
	uint32_t *symbol;
	uint32_t n;
	uint32_t *place;
	uint32_t *gap; /* for one symbol at a time */
	struct grt_keyed known;
	struct grt_keyed lines;
	uint32_t *line; /* by node, 0: not known yet */
	struct symbol *of;
	uint32_t symbols;
};

/**
 * struct mark - a symbol with which steps may begin
 * @from, @to: the first and last of its launches that count
 */
struct mark {
	const struct symbol *symbol;
	uint32_t from, to;
	uint32_t period;
};

/* ------------------------------------------------------------------ row */

static int list_launches(struct grt_step_marks *m, const struct grt_step_process *p)
{
	m->launch = calloc((size_t)p->calls + 1, sizeof(*m->launch));
	if (!m->launch)
		return -ENOMEM;
	for (uint32_t i = 0; i < p->calls; i = grt_step_log_next(p, i))
		if (p->call[i].works)
			m->launch[m->launches++] = i;
	return 0;
}

/*
 * Return: the line of code that makes a launch: the innermost line of Python, else the first frame outside of
 * CUDA. Its callers are ignored, because they may differ between steps.
 */
static struct grt_key site_of_launch(const struct grt_image *i, uint32_t node)
{
	const struct grt_image_node *n = grt_image_node(i, node), *found = NULL;

	for (; n && (!found || !found->file); n = grt_image_node(i, n->caller))
		if (n->file || (!found && !grt_image_is_cuda(i, n)))
			found = n;
	if (!found)
		return (struct grt_key){{0}};
	return (struct grt_key){{found->ip, (uint64_t)found->function << 32 | found->line, found->file}};
}

static int line_of(struct row *r, const struct grt_image *i, uint32_t node, uint32_t *out)
{
	struct grt_key key;
	void *found;
	int ret;

	*out = 0;
	if (!node || node > i->nodes)
		return 0;
	if (!r->line[node]) {
		key = site_of_launch(i, node);
		ret = grt_keyed_get_or_count(&r->lines, &key, NULL, &found);
		if (ret || !found)
			return ret;
		if (!*(uint32_t *)found)
			*(uint32_t *)found = r->lines.used;
		r->line[node] = *(uint32_t *)found;
	}
	*out = r->line[node];
	return 0;
}

static int row_add(struct row *r, const struct grt_image *i, const struct grt_step_call *c, bool by_line)
{
	uint32_t line = 0;
	int ret = by_line ? line_of(r, i, c->node, &line) : 0;
	struct grt_key key = {{line, c->name, line || c->name ? 0 : c->call}};
	struct symbol *s;
	void *found;

	ret = ret ?: grt_keyed_get_or_count(&r->known, &key, NULL, &found);
	if (ret)
		return ret;
	s = found;
	if (s && !s->count) {
		s->number = r->known.used;
		s->node = c->node;
		s->name = c->name;
	}
	if (s)
		s->count++;
	r->symbol[r->n++] = s ? s->number : 0;
	return 0;
}

/* The launches of each symbol, in order. */
static int row_index(struct row *r)
{
	uint32_t at = 0;

	r->symbols = r->known.used;
	r->of = calloc((size_t)r->symbols + 1, sizeof(*r->of));
	r->place = calloc((size_t)r->n + 1, sizeof(*r->place));
	r->gap = calloc((size_t)r->n + 1, sizeof(*r->gap));
	if (!r->of || !r->place || !r->gap)
		return -ENOMEM;
	for (const struct symbol *s = grt_keyed_oldest(&r->known); s; s = grt_keyed_next(&r->known, s)) {
		r->of[s->number - 1] = *s;
		r->of[s->number - 1].at = at;
		r->of[s->number - 1].count = 0;
		at += s->count;
	}
	for (uint32_t i = 0; i < r->n; i++) {
		struct symbol *s = r->symbol[i] ? &r->of[r->symbol[i] - 1] : NULL;

		if (s)
			r->place[s->at + s->count++] = i;
	}
	return 0;
}

/* @by_line: launches of the same kernel from different lines are different */
static int row_make(struct row *r, const struct grt_step_marks *m, const struct grt_step_process *p,
		    bool by_line)
{
	int ret = 0;

	grt_keyed_init(&r->known, sizeof(struct symbol), GRT_STEP_SYMBOLS_MAX);
	grt_keyed_init(&r->lines, sizeof(uint32_t), GRT_STEP_SYMBOLS_MAX);
	r->symbol = calloc((size_t)m->launches + 1, sizeof(*r->symbol));
	r->line = calloc((size_t)p->image->nodes + 1, sizeof(*r->line));
	if (!r->symbol || !r->line)
		return -ENOMEM;
	for (uint32_t i = 0; i < m->launches && !ret; i = grt_step_log_next(p, i))
		ret = row_add(r, p->image, &p->call[m->launch[i]], by_line);
	return ret ? ret : row_index(r);
}

static void row_free(struct row *r)
{
	grt_keyed_free(&r->known);
	grt_keyed_free(&r->lines);
	free(r->line);
	free(r->symbol);
	free(r->place);
	free(r->gap);
	free(r->of);
}

/* ------------------------------------------------------- by an optimizer */

static bool is_step_of_optimizer(const struct grt_image *i, const struct grt_image_node *n)
{
	const char *function = grt_image_string(i, n->function), *file = grt_image_string(i, n->file), *last;

	if (!function || !file)
		return false;
	last = strrchr(function, '.');
	return !strcmp(last ? last + 1 : function, "step") &&
	       (strstr(file, "/optim") || strstr(function, "ptim"));
}

/* The line of Python that calls an optimizer: of the program's own code, else outside of optimizers; 0: none.
 */
static uint32_t python_caller(const struct grt_image *i, uint32_t node)
{
	const struct grt_image_node *n = grt_image_node(i, node);
	uint32_t other = 0;
	const char *file;

	for (node = n->caller; (n = grt_image_node(i, node)); node = n->caller) {
		file = grt_image_string(i, n->file);
		if (!file || strstr(file, "/optim"))
			continue;
		if (grt_code_of(&(struct grt_code_frame){.source = file}) == GRT_CODE_OWN)
			return node;
		other = other ?: node;
	}
	return other;
}

/** struct sites - lines that call step(); @of: by node, which of them it is under, plus 1 */
struct sites {
	uint32_t node[SITES_MAX];
	uint32_t n;
	uint8_t *of;
};

static uint8_t find_site(struct sites *s, const struct grt_image *i, uint32_t caller)
{
	const struct grt_image_node *n = grt_image_node(i, caller), *k;
	uint32_t at;

	for (at = 0; n && at < s->n; at++) {
		k = grt_image_node(i, s->node[at]);
		if (k->function == n->function && k->file == n->file && k->line == n->line)
			return (uint8_t)(at + 1);
	}
	if (!n || at == SITES_MAX)
		return 0;
	s->node[s->n++] = caller;
	return (uint8_t)s->n;
}

/* Callers have smaller numbers, and the outermost step() counts. */
static int find_sites(struct sites *s, const struct grt_image *i)
{
	s->of = calloc((size_t)i->nodes + 1, 1);
	if (!s->of)
		return -ENOMEM;
	for (uint32_t node = 1; node <= i->nodes; node++) {
		const struct grt_image_node *n = grt_image_node(i, node);

		if (n->caller && n->caller < node)
			s->of[node] = s->of[n->caller];
		if (!s->of[node] && is_step_of_optimizer(i, n))
			s->of[node] = find_site(s, i, python_caller(i, node));
	}
	return 0;
}

static uint8_t site_of(const struct sites *s, const struct grt_step_process *p,
		       const struct grt_step_marks *m, uint32_t at)
{
	uint32_t node = p->call[m->launch[at]].node;

	return node <= p->image->nodes ? s->of[node] : 0;
}

/*
 * Finds the first launch after each call of step() from a site, in the thread that made the first one.
 * Return: their number; @cut may be NULL
 */
static uint32_t ends_of_site(const struct sites *s, const struct grt_step_process *p,
			     const struct grt_step_marks *m, uint8_t site, uint32_t *cut)
{
	uint32_t n = 0, tid = 0, last = 0;
	bool within = false;

	for (uint32_t i = 0; i < m->launches; i = grt_step_log_next(p, i)) {
		const struct grt_step_call *c = &p->call[m->launch[i]];
		bool is = site_of(s, p, m, i) == site;

		if (is && !tid)
			tid = c->tid;
		if (c->tid != tid)
			continue;
		if (within && !is && cut)
			cut[n - 1] = last + 1;
		n += is && !within;
		last = is ? i : last;
		within = is;
	}
	if (within && cut)
		cut[n - 1] = last + 1;
	return n;
}

/* The site whose step() is called most often. */
static int cut_by_optimizer(struct grt_step_marks *m, const struct grt_step_process *p)
{
	struct sites s = {.n = 0};
	uint32_t most = 0, n;
	uint8_t best = 0;
	int ret = find_sites(&s, p->image);

	for (uint32_t i = 1; i <= s.n && !ret; i++) {
		n = ends_of_site(&s, p, m, (uint8_t)i, NULL);
		best = n > most ? (uint8_t)i : best;
		most = n > most ? n : most;
	}
	if (!ret && most >= STEPS_MIN) {
		/* and one before and one after them */
		m->cut = calloc((size_t)most + 2, sizeof(*m->cut));
		ret = m->cut ? 0 : -ENOMEM;
		m->cuts = m->cut ? ends_of_site(&s, p, m, best, m->cut) : 0;
		m->node = s.node[best - 1];
		m->how = GRT_STEP_BY_OPTIMIZER;
		m->first = 1;
	}
	free(s.of);
	return ret;
}

/* ----------------------------------------------------------- by a launch */

/* Rounds of a median until its numbers are sorted: many more than it needs, in general. */
#define ROUNDS_MAX 64

static bool about(uint32_t gap, uint32_t period)
{
	uint32_t slack = period / 10 ? period / 10 : 1;

	return gap + slack >= period && gap <= period + slack;
}

static void marks_swap(uint32_t *a, uint32_t *b)
{
	uint32_t was = *a;

	*a = *b;
	*b = was;
}

/*
 * Moves numbers that are not above one of them before those that are not below it. Return: how many come
 * first
 */
static uint32_t marks_divide(uint32_t *number, uint32_t n)
{
	uint32_t middle = number[(n - 1) / 2], low = 0, high = n - 1;

	for (;; low++, high--) {
		while (number[low] < middle)
			low++;
		while (number[high] > middle)
			high--;
		if (low >= high)
			return high + 1;
		marks_swap(&number[low], &number[high]);
	}
}

/*
 * Return: the median. The rounds are limited, because a malicious trace could make them slow; after the
 * limit, the numbers are sorted.
 */
static uint32_t marks_median(uint32_t *number, uint32_t n)
{
	uint32_t at = n / 2, front;

	for (unsigned int i = 0; i < ROUNDS_MAX && n > 1; i++) {
		front = marks_divide(number, n);
		if (at < front) {
			n = front;
			continue;
		}
		number += front;
		at -= front;
		n -= front;
	}
	if (n > 1)
		qsort(number, n, sizeof(*number), grt_compare_u32);
	return number[at];
}

/* If long gaps have the same length again and again, the symbol belongs to a loop within the step. */
static bool is_nested(uint32_t *gap, uint32_t n, uint32_t period)
{
	uint32_t odd = 0, alike = 0, median;

	for (uint32_t i = 0; i < n; i++)
		if (!about(gap[i], period))
			gap[odd++] = gap[i];
	median = odd ? marks_median(gap, odd) : 0;
	for (uint32_t i = 0; i < odd; i++)
		alike += about(gap[i], median);
	return alike >= STEPS_MIN && 10 * alike >= 8 * odd;
}

/* Sets the regular launches, from the first to the last; start-up and end are before and after them. */
static void set_range(const struct row *r, struct mark *k)
{
	const uint32_t *place = r->place + k->symbol->at;

	k->to = k->symbol->count - 1;
	for (uint32_t i = 0; i < k->to; i++)
		r->gap[i] = place[i + 1] - place[i];
	k->period = k->to ? marks_median(r->gap, k->to) : 0;
	while (k->from < k->to && !about(place[k->from + 1] - place[k->from], k->period))
		k->from++;
	while (k->to > k->from && !about(place[k->to] - place[k->to - 1], k->period))
		k->to--;
}

/* Whether a symbol comes again after about the same number of launches, over most of the run. */
static bool is_regular(const struct row *r, struct mark *k)
{
	const uint32_t *place = r->place + k->symbol->at;
	uint32_t gaps, regular = 0;
	uint64_t covered = 0;

	if (k->symbol->count < STEPS_MIN + 1)
		return false;
	set_range(r, k);
	gaps = k->to - k->from;
	for (uint32_t i = 0; i < gaps; i++) {
		r->gap[i] = place[k->from + i + 1] - place[k->from + i];
		regular += about(r->gap[i], k->period);
		covered += about(r->gap[i], k->period) ? r->gap[i] : 0;
	}
	return gaps >= STEPS_MIN && k->period > 1 && 10ULL * regular >= 9ULL * gaps && 2 * covered >= r->n &&
	       !is_nested(r->gap, gaps, k->period);
}

/* Whether the launches in between occur in each step: their symbols come as often, or more often. */
static bool is_whole(const struct row *r, const struct mark *k)
{
	const uint32_t *place = r->place + k->symbol->at;
	uint32_t from = place[k->from], to = place[k->to], often = (k->to - k->from) / 10 * 9, n = 0;

	for (uint32_t i = from; i < to; i++)
		n += r->symbol[i] && r->of[r->symbol[i] - 1].count >= often;
	return 10ULL * n >= 9ULL * (to - from);
}

/*
 * More steps are better; with the same number, the launch that was made first is the beginning of the loop.
 */
static bool is_better(const struct row *r, const struct mark *k, const struct mark *best)
{
	uint32_t n = k->to - k->from, most;

	if (!best->symbol)
		return true;
	most = best->to - best->from;
	if (n + 1 < most || n > most + 1)
		return n > most;
	return r->place[k->symbol->at + k->from] < r->place[best->symbol->at + best->from];
}

static int take_mark(struct grt_step_marks *m, const struct row *r, const struct mark *k)
{
	free(m->cut);
	m->cuts = k->to - k->from + 1;
	m->cut = calloc((size_t)m->cuts + 2, sizeof(*m->cut));
	if (!m->cut)
		return -ENOMEM;
	memcpy(m->cut, r->place + k->symbol->at + k->from, m->cuts * sizeof(*m->cut));
	m->node = k->symbol->node;
	m->name = k->symbol->name;
	m->how = GRT_STEP_BY_LAUNCH;
	return 0;
}

/* A result that was found already is preferred unless it has clearly fewer steps. */
static int cut_by_launch(struct grt_step_marks *m, const struct grt_step_process *p, bool by_line)
{
	struct row r = {.n = 0};
	struct mark best = {.symbol = NULL}, k;
	int ret = row_make(&r, m, p, by_line);

	for (uint32_t i = 0; i < r.symbols && !ret; i++) {
		k = (struct mark){.symbol = &r.of[i]};
		if (is_regular(&r, &k) && is_better(&r, &k, &best) && is_whole(&r, &k))
			best = k;
	}
	if (!ret && best.symbol && 10ULL * (best.to - best.from + 1) > 11ULL * m->cuts)
		ret = take_mark(m, &r, &best);
	row_free(&r);
	return ret;
}

/* ------------------------------------------------------- first and last */

/* Whatever called it, because the caller may differ in some steps. */
static bool is_same_code(const struct grt_step_marks *m, const struct grt_step_process *p, uint32_t a,
			 uint32_t b)
{
	const struct grt_step_call *x = &p->call[m->launch[a]], *y = &p->call[m->launch[b]];

	return x->name == y->name && x->call == y->call;
}

/* The launch nearest to @want, at most @slack from it, by the same code as @like. */
static bool find_near(const struct grt_step_marks *m, const struct grt_step_process *p, uint32_t like,
		      int64_t want, uint32_t slack, uint32_t *out)
{
	for (int64_t off = 0; off <= slack; off++)
		for (int64_t at = want - off; at <= want + off; at += off ? 2 * off : 1)
			if (at >= 0 && at < m->launches && is_same_code(m, p, (uint32_t)at, like)) {
				*out = (uint32_t)at;
				return true;
			}
	return false;
}

/*
 * The step before the first cut is complete if it begins like the step after it and is as long: that code may
 * occur in it more than once, and first steps often have launches of their own.
 */
static void add_first(struct grt_step_marks *m, const struct grt_step_process *p)
{
	uint32_t length = m->cut[1] - m->cut[0], at;

	if (m->cut[0] >= m->launches || !m->cut[0])
		return;
	if (!find_near(m, p, m->cut[0], (int64_t)m->cut[0] - length, 1, &at) || at >= m->cut[0]) {
		m->cut_off++;
		return;
	}
	memmove(m->cut + 1, m->cut, m->cuts * sizeof(*m->cut));
	m->cut[0] = at;
	m->cuts++;
	m->first--;
}

/* The launches after the last cut are a complete step if they end like the step before. */
static void add_last(struct grt_step_marks *m, const struct grt_step_process *p)
{
	uint32_t last = m->cut[m->cuts - 1], length = last - m->cut[m->cuts - 2], at;

	if (find_near(m, p, last - 1, (int64_t)last + length - 1, length / 4, &at) && at >= last)
		m->cut[m->cuts++] = at + 1;
	else
		m->cut_off++;
}

int grt_step_marks_find(struct grt_step_marks *m, const struct grt_step_process *p, const char *range)
{
	int ret = p->calls ? list_launches(m, p) : 0;

	if (!ret && m->launches && p->ranges)
		ret = grt_step_ranges_cut(m, p, range);
	if (ret || m->how || range)
		return ret;
	if (!ret && m->launches)
		ret = cut_by_optimizer(m, p);
	if (!ret && m->launches && m->how != GRT_STEP_BY_OPTIMIZER)
		ret = cut_by_launch(m, p, true) ?: cut_by_launch(m, p, false);
	if (ret || !m->how)
		return ret;
	if (m->how == GRT_STEP_BY_OPTIMIZER)
		add_first(m, p);
	else
		add_last(m, p);
	return 0;
}

void grt_step_marks_free(struct grt_step_marks *m)
{
	free(m->launch);
	free(m->cut);
	free(m->range);
	*m = (struct grt_step_marks){.how = GRT_STEP_NONE};
}
