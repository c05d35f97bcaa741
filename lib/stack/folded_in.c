// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Reads folded stacks, see folded_in.h. Most lines begin with the same frames as the line before, whose
 * names need not be looked up again. Several lines are collected and then go down the tree together, frame
 * by frame.
 */
#include "folded_in.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"
#include "base/scan.h"

#define BLOCK (1U << 20)
#define BILLION UINT64_C(1000000000)
/* Most names that wait: of a few very deep stacks, or of as many stacks as go down together. */
#define NAMES (3 * GRT_STACKS_DEPTH_MAX)

/** struct stack - a line that waits: its names from @first on, and its weight */
struct stack {
	uint32_t first;
	uint32_t depth;
	uint64_t weight;
};

/**
 * struct reader - a file that is being read into the tree
 * @last, @last_len: the previous line, without its weight
 * @end: for each of its frames: where the frame ends
 * @frames: number of these; their names are the last ones of @name
 * @stack, @name: what waits for the tree
 */
struct reader {
	struct grt_stacks *s;
	enum grt_stacks_side side;
	struct grt_folded_count *count;
	uint64_t line;
	uint64_t fraction;
	char *last;
	size_t last_len, last_room;
	uint32_t frames;
	uint32_t end[GRT_STACKS_DEPTH_MAX];
	struct stack stack[GRT_STACKS_BATCH];
	uint32_t stacks;
	uint32_t name[NAMES];
	uint32_t names;
};

/** struct weight - a number at the end of a line; @part in billionths */
struct weight {
	uint64_t whole;
	uint64_t part;
};

static const char *folded_in_trim(const char *line, const char *end)
{
	while (end > line && (grt_is_blank(end[-1]) || end[-1] == '\r'))
		end--;
	return end;
}

/* Return: the end of the stack; NULL: the line does not end with a blank and a number */
static const char *take_weight(const char *line, const char *end, struct weight *w)
{
	uint64_t unit = BILLION;
	const char *p;

	end = folded_in_trim(line, end);
	for (p = end; p > line && (grt_is_digit(p[-1]) || p[-1] == '.'); p--)
		;
	if (p == end || p == line || !grt_is_blank(p[-1]))
		return NULL;
	line = folded_in_trim(line, p);
	*w = (struct weight){0};
	if (!grt_scan_u64(&p, end, &w->whole))
		return NULL;
	if (p < end && *p++ != '.')
		return NULL;
	for (; p < end && grt_is_digit(*p); p++) {
		unit /= 10;
		w->part += unit * (uint64_t)(*p - '0');
	}
	return p == end ? line : NULL;
}

/* Return: the number of bytes that two texts have in common at the beginning. */
static size_t folded_in_same_bytes(const char *a, const char *b, size_t len)
{
	uint64_t x, y;
	size_t i = 0;

	for (; i + 8 <= len; i += 8) {
		memcpy(&x, a + i, 8);
		memcpy(&y, b + i, 8);
		if (x != y)
			return i + (size_t)__builtin_ctzll(x ^ y) / 8;
	}
	while (i < len && a[i] == b[i])
		i++;
	return i;
}

/* Number of frames of the previous line that this line has, too. */
static uint32_t shared_frames(const struct reader *r, const char *line, size_t len)
{
	size_t same = folded_in_same_bytes(r->last, line, len < r->last_len ? len : r->last_len);
	uint32_t n = r->frames;

	while (n && (r->end[n - 1] > same || (r->end[n - 1] < len && line[r->end[n - 1]] != ';')))
		n--;
	return n;
}

static int keep_line(struct reader *r, const char *line, size_t len)
{
	if (grt_grow(&r->last, &r->last_room, len, 1024))
		return -ENOMEM;
	if (len)
		memcpy(r->last, line, len);
	r->last_len = len;
	return 0;
}

/* The names of a stack's frames, in r->name from @first on. */
static int take_names(struct reader *r, const char *line, size_t len, uint32_t *first)
{
	uint32_t n = r->last ? shared_frames(r, line, len) : 0, *name = r->name + r->names;
	const char *p = n ? line + r->end[n - 1] + 1 : line, *end = line + len, *semicolon;
	int ret = 0;

	*first = r->names;
	memmove(name, name - r->frames, n * sizeof(*name));
	for (; p <= end && n < GRT_STACKS_DEPTH_MAX && !ret; p = semicolon + 1) {
		semicolon = memchr(p, ';', (size_t)(end - p)) ?: end;
		ret = grt_stacks_name(r->s, p, (size_t)(semicolon - p), &name[n]);
		r->end[n++] = (uint32_t)(semicolon - line);
	}
	r->frames = n;
	r->names += n;
	r->count->cut += p <= end;
	return ret ? ret : keep_line(r, line, len);
}

/* Goes one level down for all stacks that are deeper. Return: their number, or -ENOMEM */
static int go_down(struct reader *r, uint32_t level, uint32_t node[GRT_STACKS_BATCH])
{
	uint32_t parent[GRT_STACKS_BATCH], name[GRT_STACKS_BATCH], child[GRT_STACKS_BATCH],
		of[GRT_STACKS_BATCH];
	unsigned int n = 0;
	int ret;

	for (uint32_t i = 0; i < r->stacks; i++) {
		if (level >= r->stack[i].depth)
			continue;
		parent[n] = node[i];
		name[n] = r->name[r->stack[i].first + level];
		of[n++] = i;
	}
	ret = grt_stacks_children(r->s, n, parent, name, child);
	for (unsigned int i = 0; i < n && !ret; i++)
		node[of[i]] = child[i];
	return ret ? ret : (int)n;
}

/* Adds the stacks that are collected to the tree. */
static int folded_in_settle(struct reader *r)
{
	uint32_t node[GRT_STACKS_BATCH] = {GRT_STACKS_ROOT};
	int ret = 1;

	for (uint32_t level = 0; ret > 0; level++)
		ret = go_down(r, level, node);
	for (uint32_t i = 0; i < r->stacks && !ret; i++)
		ret = grt_stacks_add(r->s, node[i], r->side, r->stack[i].weight);
	/* the next line may share frames with the last one */
	memmove(r->name, r->name + r->names - r->frames, r->frames * sizeof(*r->name));
	r->names = r->frames;
	r->stacks = 0;
	return ret;
}

static int folded_in_bad_line(struct reader *r)
{
	if (!r->count->bad++)
		r->count->first_bad = r->line;
	return 0;
}

static int folded_in_take_line(struct reader *r, const char *line, const char *end)
{
	struct stack *new = &r->stack[r->stacks];
	const char *stack;
	struct weight w;
	int ret;

	r->line++;
	if (folded_in_trim(line, end) == line)
		return 0;
	r->count->lines++;
	stack = take_weight(line, end, &w);
	if (!stack)
		return folded_in_bad_line(r);
	ret = take_names(r, line, (size_t)(stack - line), &new->first);
	if (ret)
		return ret;
	r->fraction += w.part;
	w.whole += r->fraction >= BILLION && w.whole < UINT64_MAX;
	r->fraction %= BILLION;
	r->count->stacks++;
	new->depth = r->frames;
	new->weight = w.whole;
	r->stacks++;
	return r->stacks == GRT_STACKS_BATCH || r->names + GRT_STACKS_DEPTH_MAX > NAMES ? folded_in_settle(r)
											: 0;
}

/** struct block - bytes that were read and are not yet lines */
struct block {
	char *text;
	size_t used, room;
	bool too_long;
};

static int more_room(struct block *b)
{
	if (b->used == b->room && b->used >= GRT_FOLDED_LINE_MAX) {
		b->too_long = true;
		b->used = 0;
	}
	return grt_grow(&b->text, &b->room, b->used + 1, BLOCK);
}

/* The newline of a line whose beginning was dropped stands for the whole line. */
static int end_line(struct reader *r, struct block *b, const char *line, const char *end)
{
	if (!b->too_long)
		return folded_in_take_line(r, line, end);
	b->too_long = false;
	r->line++;
	r->count->lines++;
	return folded_in_bad_line(r);
}

static int folded_in_take_lines(struct reader *r, struct block *b, size_t fresh)
{
	const char *line = b->text, *end = b->text + b->used, *newline;
	const char *from = end - fresh;
	int ret = 0;

	while (!ret && (newline = memchr(from, '\n', (size_t)(end - from)))) {
		ret = end_line(r, b, line, newline);
		line = from = newline + 1;
	}
	b->used = (size_t)(end - line);
	memmove(b->text, line, b->used);
	return ret;
}

static int folded_in_read_lines(int fd, struct reader *r, struct block *b)
{
	ssize_t n;
	int ret;

	for (;;) {
		ret = more_room(b);
		if (ret)
			return ret;
		n = read(fd, b->text + b->used, b->room - b->used);
		if (n < 0 && errno != EINTR)
			return -errno;
		if (!n)
			return b->used || b->too_long ? end_line(r, b, b->text, b->text + b->used) : 0;
		if (n < 0)
			continue;
		b->used += (size_t)n;
		ret = folded_in_take_lines(r, b, (size_t)n);
		if (ret)
			return ret;
	}
}

int grt_folded_read(int fd, const char *name, struct grt_stacks *s, enum grt_stacks_side side,
		    struct grt_folded_count *count, struct grt_err *err)
{
	struct reader *r = calloc(1, sizeof(*r));
	struct block b = {0};
	int ret = -ENOMEM;

	if (r) {
		r->s = s;
		r->side = side;
		r->count = count;
		ret = folded_in_read_lines(fd, r, &b) ?: folded_in_settle(r);
		count->fraction += r->fraction;
		free(r->last);
	}
	free(r);
	free(b.text);
	if (ret == -EOVERFLOW)
		return grt_err_set(err, ret, "its weights add up to more than 2^63", NULL, "cannot read %s",
				   name);
	return ret ? grt_err_set(err, ret, strerror(-ret), NULL, "cannot read %s", name) : 0;
}

bool grt_folded_takes(const char *text, size_t len)
{
	const char *end = memchr(text, '\n', len) ?: text + len, *stack;
	struct weight w;

	stack = take_weight(text, end, &w);
	return stack && stack > text && memchr(text, ';', (size_t)(stack - text));
}
