// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tree of stacks, see stacks.h: an arena of texts, an array of nodes and a
 * hash table for each. A node is found by its parent and its frame, so a stack
 * costs one look-up for each of its frames.
 */
#include "stacks.h"

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/compare.h"
#include "base/escape.h"
#include "base/index.h"
#include "base/containers.h"

/* Longer frames are cut, and end in "...": a name of the trace may be in thousands of stacks. */
#define FRAME_MAX 8192U

/** struct text - a frame: offset and length in the arena */
struct text {
	size_t at;
	uint32_t length;
};

/* In grt_stacks_lines(), instead of a file: functions of this name are in several files. */
#define SEVERAL UINT32_MAX

/** struct lines - of a frame: @file of the sources, 0: none is known */
struct lines {
	uint32_t file;
	uint32_t first;
	uint32_t last;
};

struct grt_stacks {
	struct grt_hash_key key;
	uint64_t id;
	char *arena;
	size_t arena_used, arena_room;
	struct text *text;
	uint32_t texts, text_room;
	struct grt_index text_index;
	struct grt_stacks_node *node;
	uint32_t nodes, node_room;
	struct grt_index node_index;
	/* of the sides but NOW, by node; NULL until something is added there */
	uint64_t *side[GRT_STACKS_SIDES];
	uint32_t side_room[GRT_STACKS_SIDES];
	/* by text, of those that have some */
	struct lines *lines;
	uint32_t lines_room;
	struct grt_texts sources;
	uint64_t total[GRT_STACKS_SIDES];
};

/* ------------------------------------------------------------- texts */

/** struct text_key - the text that is searched */
struct text_key {
	const char *text;
	size_t length;
};

static bool stacks_same_text(const void *owner, uint32_t id, const void *key)
{
	const struct grt_stacks *s = owner;
	const struct text_key *k = key;

	return s->text[id].length == k->length && !memcmp(s->arena + s->text[id].at, k->text, k->length);
}

static uint64_t fold_words(const struct grt_hash_key *key, uint64_t h, uint64_t word)
{
	unsigned __int128 m = (unsigned __int128)(h ^ key->a) * (word ^ key->b);

	return (uint64_t)m ^ (uint64_t)(m >> 64);
}

static uint32_t text_tag(const struct grt_stacks *s, const char *text, size_t length)
{
	uint64_t h = length, word;
	size_t i = 0;

	for (; i + 8 <= length; i += 8) {
		memcpy(&word, text + i, 8);
		h = fold_words(&s->key, h, word);
	}
	word = 0;
	memcpy(&word, text + i, length - i);
	return grt_hash(&s->key, h, word);
}

static int stacks_keep_text(struct grt_stacks *s, const struct text_key *k, uint32_t tag)
{
	if (grt_grow(&s->text, &s->text_room, s->texts + 1, 1024) ||
	    grt_grow(&s->arena, &s->arena_room, s->arena_used + k->length, 4096))
		return -ENOMEM;
	memcpy(s->arena + s->arena_used, k->text, k->length);
	s->text[s->texts] = (struct text){s->arena_used, (uint32_t)k->length};
	s->arena_used += k->length;
	return grt_index_add(&s->text_index, tag, s->texts++);
}

static int stacks_intern(struct grt_stacks *s, const char *text, size_t len, uint32_t *name)
{
	const struct text_key k = {text, len};
	uint32_t tag = text_tag(s, text, len), id;
	int ret = 0;

	id = grt_index_find(&s->text_index, tag, stacks_same_text, s, &k);
	if (id == GRT_NOWHERE) {
		id = s->texts;
		ret = stacks_keep_text(s, &k, tag);
	}
	*name = id;
	return ret;
}

/* Whether every byte stands for itself; eight at a time, because all frames of a file come through here. */
static bool stacks_is_plain(const char *text, size_t len)
{
	const uint64_t ones = 0x0101010101010101, high = 0x8080808080808080;
	uint64_t word, other = 0;
	size_t i = 0;

	for (; i < len; i += 8) {
		word = 0x2020202020202020;
		memcpy(&word, text + i, len - i < 8 ? len - i : 8);
		/* not ASCII; below ' '; ';' or DEL */
		other |= word | (word - 0x20 * ones);
		other |= ((word ^ (';' * ones)) - ones) | ((word ^ (0x7f * ones)) - ones);
	}
	return !(other & high);
}

/* grt_escape() ends at a NUL; a frame does not. */
static size_t escape(char *safe, size_t room, const char *text, size_t len)
{
	size_t n = 0, part;

	while (len) {
		n += grt_escape(GRT_ESCAPE_FRAME, safe + n, room - n, text, len);
		part = strnlen(text, len);
		text += part;
		len -= part;
		if (!len)
			break;
		memcpy(safe + n, "\\x00", 4);
		n += 4;
		text++;
		len--;
	}
	return n;
}

static int intern_escaped(struct grt_stacks *s, const char *text, size_t len, uint32_t *name)
{
	size_t room = GRT_ESCAPED_MAX(len);
	char *safe = malloc(room);
	int ret;

	if (!safe)
		return -ENOMEM;
	ret = stacks_intern(s, safe, escape(safe, room, text, len), name);
	free(safe);
	return ret;
}

static int cut_name(struct grt_stacks *s, const char *text, uint32_t *name)
{
	char part[FRAME_MAX];

	memcpy(part, text, sizeof(part) - 3);
	memcpy(part + sizeof(part) - 3, "...", 3);
	return grt_stacks_name(s, part, sizeof(part), name);
}

int grt_stacks_name(struct grt_stacks *s, const char *text, size_t len, uint32_t *name)
{
	if (!len)
		return stacks_intern(s, "[unknown]", 9, name);
	if (len > FRAME_MAX)
		return cut_name(s, text, name);
	return stacks_is_plain(text, len) ? stacks_intern(s, text, len, name)
					  : intern_escaped(s, text, len, name);
}

/* ------------------------------------------------------------- nodes */

static bool same_node(const void *owner, uint32_t id, const void *key)
{
	const struct grt_stacks_node *n = &((const struct grt_stacks *)owner)->node[id], *k = key;

	return n->parent == k->parent && n->name == k->name;
}

static int stacks_add_node(struct grt_stacks *s, const struct grt_stacks_node *n)
{
	if (grt_grow(&s->node, &s->node_room, s->nodes + 1, 1024))
		return -ENOMEM;
	s->node[s->nodes++] = *n;
	return 0;
}

static int find_child(struct grt_stacks *s, uint32_t tag, uint32_t parent, uint32_t name, uint32_t *node)
{
	const struct grt_stacks_node k = {.parent = parent, .name = name};

	*node = grt_index_find(&s->node_index, tag, same_node, s, &k);
	if (*node != GRT_NOWHERE)
		return 0;
	*node = s->nodes;
	return stacks_add_node(s, &k) ?: grt_index_add(&s->node_index, tag, *node);
}

int grt_stacks_child(struct grt_stacks *s, uint32_t parent, uint32_t name, uint32_t *node)
{
	return find_child(s, grt_hash(&s->key, parent, name), parent, name, node);
}

int grt_stacks_children(struct grt_stacks *s, unsigned int n, const uint32_t *parent, const uint32_t *name,
			uint32_t *node)
{
	const struct grt_index *x = &s->node_index;
	uint32_t tag[GRT_STACKS_BATCH];
	int ret = 0;

	for (unsigned int i = 0; i < n; i++) {
		tag[i] = grt_hash(&s->key, parent[i], name[i]);
		if (x->slot)
			__builtin_prefetch(&x->slot[tag[i] & x->mask]);
	}
	for (unsigned int i = 0; i < n && x->slot; i++) {
		const struct grt_index_slot *slot = &x->slot[tag[i] & x->mask];

		if (slot->ref)
			__builtin_prefetch(&s->node[slot->ref - 1]);
	}
	for (unsigned int i = 0; i < n && !ret; i++)
		ret = find_child(s, tag[i], parent[i], name[i], &node[i]);
	return ret;
}

int grt_stacks_frame(struct grt_stacks *s, uint32_t parent, const char *text, size_t len, uint32_t *node)
{
	uint32_t name;
	int ret = grt_stacks_name(s, text, len, &name);

	return ret ? ret : grt_stacks_child(s, parent, name, node);
}

/* The array of a side other than NOW covers all existing nodes. */
static int stacks_cover(struct grt_stacks *s, enum grt_stacks_side side)
{
	uint64_t *more;

	if (s->side_room[side] >= s->nodes)
		return 0;
	more = realloc(s->side[side], s->node_room * sizeof(*more));
	if (!more)
		return -ENOMEM;
	memset(more + s->side_room[side], 0, (s->node_room - s->side_room[side]) * sizeof(*more));
	s->side[side] = more;
	s->side_room[side] = s->node_room;
	return 0;
}

int grt_stacks_add(struct grt_stacks *s, uint32_t node, enum grt_stacks_side side, uint64_t weight)
{
	if (weight > GRT_STACKS_WEIGHT_MAX - s->total[side])
		return -EOVERFLOW;
	if (side != GRT_STACKS_NOW && stacks_cover(s, side))
		return -ENOMEM;
	if (side != GRT_STACKS_NOW)
		s->side[side][node] += weight;
	else
		s->node[node].weight += weight;
	s->total[side] += weight;
	return 0;
}

/* ------------------------------------------------------------ reading */

uint32_t grt_stacks_nodes(const struct grt_stacks *s)
{
	return s->nodes;
}

const struct grt_stacks_node *grt_stacks_node(const struct grt_stacks *s, uint32_t node)
{
	return &s->node[node];
}

uint64_t grt_stacks_weight(const struct grt_stacks *s, uint32_t node, enum grt_stacks_side side)
{
	if (side == GRT_STACKS_NOW)
		return s->node[node].weight;
	return node < s->side_room[side] ? s->side[side][node] : 0;
}

const char *grt_stacks_text(const struct grt_stacks *s, uint32_t name, size_t *len)
{
	*len = s->text[name].length;
	return s->arena + s->text[name].at;
}

int grt_stacks_lines(struct grt_stacks *s, uint32_t name, const char *file, uint32_t line)
{
	const char *slash = strrchr(file, '/'), *base = slash ? slash + 1 : file;
	char safe[GRT_ESCAPED_MAX(256)];
	struct lines *l;
	uint32_t number;

	grt_escape(GRT_ESCAPE_FRAME, safe, sizeof(safe), base, strnlen(base, 256));
	if (grt_grow_zeroed(&s->lines, &s->lines_room, name + 1, 256) ||
	    grt_texts_add(&s->sources, safe, sizeof(safe), &number))
		return -ENOMEM;
	l = &s->lines[name];
	if (!l->file)
		*l = (struct lines){number, line, line};
	else if (l->file != number)
		l->file = SEVERAL;
	l->first = line < l->first ? line : l->first;
	l->last = line > l->last ? line : l->last;
	return 0;
}

void grt_stacks_source(const struct grt_stacks *s, uint32_t name, char *out, size_t room)
{
	const struct lines *l = name < s->lines_room ? &s->lines[name] : NULL;
	int n;

	*out = '\0';
	if (!l || !l->file || l->file == SEVERAL)
		return;
	n = snprintf(out, room, "%s:%u", grt_texts_get(&s->sources, l->file), l->first);
	if (l->last > l->first && n > 0 && (size_t)n < room)
		snprintf(out + n, room - (size_t)n, "-%u", l->last);
}

uint32_t grt_stacks_names(const struct grt_stacks *s)
{
	return s->texts;
}

uint64_t grt_stacks_total(const struct grt_stacks *s, enum grt_stacks_side side)
{
	return s->total[side];
}

bool grt_stacks_compared(const struct grt_stacks *s)
{
	return s->side[GRT_STACKS_BEFORE];
}

int grt_stacks_sums(const struct grt_stacks *s, enum grt_stacks_side side, uint64_t **out)
{
	uint64_t *sum = malloc(s->nodes * sizeof(*sum));

	*out = sum;
	if (!sum)
		return -ENOMEM;
	for (uint32_t i = 0; i < s->nodes; i++)
		sum[i] = grt_stacks_weight(s, i, side);
	for (uint32_t i = s->nodes; i-- > 1;)
		sum[s->node[i].parent] += sum[i];
	return 0;
}

/* --------------------------------------------------------------- walk */

/**
 * struct order - children by their parent
 * @child: those of node n are from @first[n] to @first[n + 1]
 * @rank: the position of a name among all names, by its text
 */
struct order {
	uint32_t *first;
	uint32_t *child;
	uint32_t *rank;
};

static int stacks_by_text(const void *a, const void *b, void *arg)
{
	const struct grt_stacks *s = arg;
	const struct text *x = &s->text[*(const uint32_t *)a], *y = &s->text[*(const uint32_t *)b];
	uint32_t least = x->length < y->length ? x->length : y->length;
	int ret = memcmp(s->arena + x->at, s->arena + y->at, least);

	return ret ? ret : (x->length > y->length) - (x->length < y->length);
}

static int rank_names(const struct grt_stacks *s, struct order *o)
{
	uint32_t *name = malloc((s->texts + 1) * sizeof(*name));

	o->rank = malloc((s->texts + 1) * sizeof(*o->rank));
	if (!name || !o->rank) {
		free(name);
		return -ENOMEM;
	}
	for (uint32_t i = 0; i < s->texts; i++)
		name[i] = i;
	qsort_r(name, s->texts, sizeof(*name), stacks_by_text, (void *)s);
	for (uint32_t i = 0; i < s->texts; i++)
		o->rank[name[i]] = i;
	free(name);
	return 0;
}

/** struct ranked - the key by which children are sorted */
struct ranked {
	const struct grt_stacks *s;
	const struct order *o;
};

static int by_rank(const void *a, const void *b, void *arg)
{
	const struct ranked *r = arg;
	uint32_t x = r->o->rank[r->s->node[*(const uint32_t *)a].name];
	uint32_t y = r->o->rank[r->s->node[*(const uint32_t *)b].name];

	return grt_compare(x, y);
}

static int order_children(const struct grt_stacks *s, struct order *o)
{
	struct ranked r = {s, o};

	o->first = calloc((size_t)s->nodes + 2, sizeof(*o->first));
	o->child = malloc(s->nodes * sizeof(*o->child));
	if (!o->first || !o->child)
		return -ENOMEM;
	/*
	 * counts are stored two elements further on, so that filling leaves the starts in the right elements
	 */
	for (uint32_t i = 1; i < s->nodes; i++)
		o->first[s->node[i].parent + 2]++;
	for (uint32_t i = 2; i <= s->nodes; i++)
		o->first[i] += o->first[i - 1];
	for (uint32_t i = 1; i < s->nodes; i++)
		o->child[o->first[s->node[i].parent + 1]++] = i;
	for (uint32_t i = 0; i < s->nodes; i++)
		if (o->first[i + 1] - o->first[i] > 1)
			qsort_r(o->child + o->first[i], o->first[i + 1] - o->first[i], sizeof(*o->child),
				by_rank, &r);
	return 0;
}

static int stacks_walk(const struct order *o, const uint64_t *sum, uint64_t least,
		       int (*step)(void *arg, const struct grt_stacks_step *at), void *arg)
{
	struct level {
		uint32_t next, end;
		uint64_t start;
	} *level = calloc(GRT_STACKS_DEPTH_MAX + 2, sizeof(*level)), *l = level;
	struct grt_stacks_step at = {0};
	int ret = level ? step(arg, &at) : -ENOMEM;

	if (!ret)
		*l = (struct level){o->first[0], o->first[1], 0};
	while (!ret) {
		if (l->next == l->end) {
			if (l-- == level)
				break;
			continue;
		}
		at.node = o->child[l->next++];
		at.start = l->start;
		l->start += sum[at.node];
		if (sum[at.node] < least)
			continue;
		at.depth = (uint32_t)(l - level) + 1;
		ret = step(arg, &at);
		if (at.depth <= GRT_STACKS_DEPTH_MAX)
			*++l = (struct level){o->first[at.node], o->first[at.node + 1], at.start};
	}
	free(level);
	return ret;
}

int grt_stacks_walk(const struct grt_stacks *s, const uint64_t *sum, uint64_t least,
		    int (*step)(void *arg, const struct grt_stacks_step *at), void *arg)
{
	struct order o = {0};
	int ret = rank_names(s, &o);

	if (!ret)
		ret = order_children(s, &o);
	if (!ret)
		ret = stacks_walk(&o, sum, least, step, arg);
	free(o.first);
	free(o.child);
	free(o.rank);
	return ret;
}

/* ------------------------------------------------------ life of a tree */

static uint64_t stacks_made;

int grt_stacks_new(struct grt_stacks **out)
{
	struct grt_stacks *s = calloc(1, sizeof(*s));
	struct grt_stacks_node root = {0};

	*out = NULL;
	if (!s)
		return -ENOMEM;
	s->key = grt_hash_key_new();
	grt_texts_init(&s->sources, SEVERAL / 2);
	s->id = __atomic_add_fetch(&stacks_made, 1, __ATOMIC_RELAXED);
	if (grt_stacks_name(s, "all", 3, &root.name) || stacks_add_node(s, &root)) {
		grt_stacks_free(s);
		return -ENOMEM;
	}
	*out = s;
	return 0;
}

uint64_t grt_stacks_id(const struct grt_stacks *s)
{
	return s->id;
}

void grt_stacks_seal(struct grt_stacks *s)
{
	grt_index_free(&s->text_index);
	grt_index_free(&s->node_index);
}

void grt_stacks_free(struct grt_stacks *s)
{
	if (!s)
		return;
	grt_stacks_seal(s);
	free(s->arena);
	free(s->text);
	free(s->node);
	for (int i = 0; i < GRT_STACKS_SIDES; i++)
		free(s->side[i]);
	free(s->lines);
	grt_texts_free(&s->sources);
	free(s);
}
