// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Flame graphs: the common part of all forms, which decides what is drawn. A form is a row of forms.def and
 * flamegraph_NAME.c.
 */
#include "flamegraph.h"

#include <fnmatch.h>
#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/containers.h"
#include "base/say.h"
#include "base/units.h"
#include "flamegraph_parts.h"

/* ----------------------------------------------------------------- kinds */

/* The rows of frame_kinds.def. */

const struct flamegraph_kind flamegraph_kinds[] = {
#define GRT_FRAME_KIND(name, pattern, red, green, blue, help) {#name, pattern, {red, green, blue}, help},
#include "frame_kinds.def"
	{NULL, NULL, {0}, NULL},
};

unsigned int flamegraph_kind_of(const char *text, size_t len)
{
	unsigned int i = 0;
	char name[256];

	/* the end counts, too: suffixes distinguish kinds */
	if (len < sizeof(name))
		snprintf(name, sizeof(name), "%.*s", (int)len, text);
	else
		snprintf(name, sizeof(name), "%.127s%.127s", text, text + len - 127);
	while (flamegraph_kinds[i + 1].name && fnmatch(flamegraph_kinds[i].pattern, name, FNM_EXTMATCH))
		i++;
	return i;
}

void grt_flamegraph_colour(const char *frame, unsigned int rgb[3])
{
	const struct flamegraph_kind *kind = &flamegraph_kinds[flamegraph_kind_of(frame, strlen(frame))];

	for (int i = 0; i < 3; i++)
		rgb[i] = kind->colour[i];
}

/* ----------------------------------------------------- flamegraph folded */

/* Writes a tree of stacks as folded lines: `outermost;...;innermost weight`. */

/* Most bytes of a line's stack, because readers have a limit, too. */
#define FOLDED_MAX (1U << 20)

/**
 * struct folded - the line while it is made
 * @end: of each depth's frames in it
 * @inner: by node: has others below it
 * @left: of the weights so far, below look->divide
 */
struct folded {
	struct flamegraph *f;
	bool *inner;
	char *line;
	size_t room;
	uint64_t left[GRT_STACKS_SIDES];
	size_t end[GRT_STACKS_DEPTH_MAX + 2];
};

/* The frames of a node's stack. Return: their length, 0: no memory */
static size_t spell(struct folded *l, const struct grt_stacks_step *at)
{
	size_t len, begin = at->depth > 1 ? l->end[at->depth - 1] : 0;
	const char *text = grt_stacks_text(l->f->s, grt_stacks_node(l->f->s, at->node)->name, &len);

	if (grt_grow(&l->line, &l->room, begin + len + 1, 1024))
		return 0;
	if (begin)
		l->line[begin++] = ';';
	memcpy(l->line + begin, text, len);
	return l->end[at->depth] = begin + len;
}

/* Writes the outermost frames of a deeper stack; "[cut]" stands for the others. */
static void flamegraph_put_line(struct folded *l, uint32_t depth, size_t len)
{
	uint32_t shown = depth;

	while (shown > 1 && l->end[shown] > FOLDED_MAX)
		shown--;
	flamegraph_put_n(l->f, l->line, shown < depth ? l->end[shown] : len);
	if (shown < depth)
		flamegraph_put(l->f, ";[cut]");
}

static void put_weight(struct folded *l, enum grt_stacks_side side, uint64_t weight)
{
	uint64_t divide = l->f->look->divide;

	if (divide) {
		weight += l->left[side];
		l->left[side] = weight % divide;
		weight /= divide;
	}
	flamegraph_printf(l->f, " %llu", (unsigned long long)weight);
}

/* A stack with the weight 0 has a line, too: a launch may have taken no time. */
static int put_folded(void *arg, const struct grt_stacks_step *at)
{
	struct folded *l = arg;
	struct flamegraph *f = l->f;
	uint64_t weight = grt_stacks_node(f->s, at->node)->weight, before = 0;
	size_t len = at->depth ? spell(l, at) : 0;

	if (at->depth && !len)
		return -ENOMEM;
	if (grt_stacks_compared(f->s))
		before = grt_stacks_weight(f->s, at->node, GRT_STACKS_BEFORE);
	if (!at->depth || (!weight && !before && l->inner[at->node]))
		return 0;
	flamegraph_put_line(l, at->depth, len);
	if (grt_stacks_compared(f->s))
		put_weight(l, GRT_STACKS_BEFORE, before);
	put_weight(l, GRT_STACKS_NOW, weight);
	flamegraph_put(f, "\n");
	return f->out.error;
}

int flamegraph_folded(struct flamegraph *f)
{
	struct folded *l = calloc(1, sizeof(*l));
	uint32_t nodes = grt_stacks_nodes(f->s);
	int ret = -ENOMEM;

	if (!l)
		return ret;
	l->f = f;
	l->inner = calloc(nodes, sizeof(*l->inner));
	if (l->inner && !grt_stacks_sums(f->s, GRT_STACKS_NOW, &f->sum[GRT_STACKS_NOW])) {
		for (uint32_t i = 1; i < nodes; i++)
			l->inner[grt_stacks_node(f->s, i)->parent] = true;
		ret = grt_stacks_walk(f->s, f->sum[GRT_STACKS_NOW], 0, put_folded, l);
	}
	free(l->inner);
	free(l->line);
	free(l);
	return ret;
}

/* ------------------------------------------------------------ flamegraph */

void flamegraph_put_n(struct flamegraph *f, const char *text, size_t len)
{
	size_t n;

	for (; len; text += n, len -= n) {
		n = len < 4096 ? len : 4096;
		grt_outbuf_take(&f->out, grt_format_text(grt_outbuf_room(&f->out, n), text, n));
	}
}

void flamegraph_put(struct flamegraph *f, const char *text)
{
	flamegraph_put_n(f, text, strlen(text));
}

void flamegraph_printf(struct flamegraph *f, const char *fmt, ...)
{
	char *p = grt_outbuf_room(&f->out, 1024);
	va_list ap;
	int n;

	va_start(ap, fmt);
	n = grt_say_text_va(p, 1024, fmt, ap);
	va_end(ap);
	grt_outbuf_take(&f->out, p + (n < 0 ? 0 : n > 1023 ? 1023 : n));
}

void flamegraph_escaped(struct flamegraph *f, const char *text, size_t len)
{
	/* a part at a time; each part begins with a character */
	while (len) {
		size_t n = len < 1024 ? len : 1024;

		while (n < len && n > 1000 && ((unsigned char)text[n] & 0xc0) == 0x80)
			n--;
		grt_outbuf_take(&f->out, grt_outbuf_room(&f->out, GRT_ESCAPED_MAX(1024)) +
						 grt_escape(GRT_ESCAPE_XML, f->out.buf + f->out.used,
							    GRT_ESCAPED_MAX(1024), text, n));
		text += n;
		len -= n;
	}
}

void flamegraph_weight(const struct flamegraph *f, uint64_t weight, char *text, size_t room)
{
	const char *unit = f->look->unit;
	char scaled[GRT_UNITS_MAX];

	if (f->look->estimated && room > 1) {
		*text++ = '~';
		room--;
	}
	if (!strcmp(unit, "ns") || (!strcmp(unit, "us") && weight < UINT64_MAX / 1000)) {
		grt_units_ns(scaled, *unit == 'n' ? weight : weight * 1000);
		snprintf(text, room, "%s", scaled);
	} else if (!strcmp(unit, "B") && weight < INT64_MAX / 1000) {
		grt_units_amount(text, room, (int64_t)weight * 1000, unit);
	} else {
		snprintf(text, room, "%llu%s%.60s", (unsigned long long)weight, *unit ? " " : "", unit);
	}
}

const char *flamegraph_title(const struct flamegraph *f)
{
	return f->look->title ?: f->look->estimated ? "Flame graph (estimated)" : "Flame graph";
}

double flamegraph_share(const struct flamegraph *f, enum grt_stacks_side side, uint64_t weight)
{
	uint64_t total = grt_stacks_total(f->s, side);

	return total ? 100.0 * (double)weight / (double)total : 0;
}

/* ------------------------------------------------------------ picture */

static int flamegraph_keep_frame(void *arg, const struct grt_stacks_step *at)
{
	struct flamegraph *f = arg;

	if (grt_grow(&f->frame, &f->frame_room, f->frames + 1, 1024))
		return -ENOMEM;
	f->frame[f->frames++] = *at;
	if (at->depth > f->depth)
		f->depth = at->depth;
	return 0;
}

/* The least weight that is as wide as requested. */
uint64_t flamegraph_least_drawn(const struct flamegraph *f)
{
	const uint64_t whole = GRT_FLAMEGRAPH_WIDTH * 1000;
	unsigned __int128 wanted = (unsigned __int128)grt_stacks_total(f->s, GRT_STACKS_NOW) *
				   (f->look->min < whole ? f->look->min : whole);
	uint64_t least = (uint64_t)((wanted + whole - 1) / whole);

	return least ? least : 1;
}

static void count_drawn(struct flamegraph *f)
{
	uint64_t drawn = 0;
	double change;

	for (uint32_t i = 0; i < f->frames; i++) {
		uint32_t node = f->frame[i].node;

		drawn += grt_stacks_node(f->s, node)->weight;
		if (!f->sum[GRT_STACKS_BEFORE])
			continue;
		change = flamegraph_share(f, GRT_STACKS_NOW, f->sum[GRT_STACKS_NOW][node]) -
			 flamegraph_share(f, GRT_STACKS_BEFORE, f->sum[GRT_STACKS_BEFORE][node]);
		if (change < 0)
			change = -change;
		if (change > f->most)
			f->most = change;
	}
	f->count->drawn = f->frames - 1;
	f->count->narrow = grt_stacks_nodes(f->s) - f->frames;
	f->count->narrow_weight = grt_stacks_total(f->s, GRT_STACKS_NOW) - drawn;
}

/* The topmost of the frames that only exist in the earlier recording. */
static void count_gone(struct flamegraph *f)
{
	const uint64_t *now = f->sum[GRT_STACKS_NOW], *before = f->sum[GRT_STACKS_BEFORE];

	for (uint32_t i = 1; before && i < grt_stacks_nodes(f->s); i++) {
		uint32_t parent = grt_stacks_node(f->s, i)->parent;

		if (!now[i] && before[i]) {
			f->count->gone_weight += now[parent] || !parent ? before[i] : 0;
			f->count->narrow -= f->count->narrow > 0;
		}
	}
}

int flamegraph_prepare(struct flamegraph *f, uint64_t least)
{
	int ret = grt_stacks_sums(f->s, GRT_STACKS_NOW, &f->sum[GRT_STACKS_NOW]);

	if (!ret && grt_stacks_compared(f->s))
		ret = grt_stacks_sums(f->s, GRT_STACKS_BEFORE, &f->sum[GRT_STACKS_BEFORE]);
	return ret ? ret : grt_stacks_walk(f->s, f->sum[GRT_STACKS_NOW], least, flamegraph_keep_frame, f);
}

void flamegraph_free(struct flamegraph *f)
{
	free(f->sum[GRT_STACKS_NOW]);
	free(f->sum[GRT_STACKS_BEFORE]);
	free(f->frame);
	free(f->colour);
}

int flamegraph_draw(struct flamegraph *f, uint64_t least)
{
	int ret = flamegraph_prepare(f, least);

	if (ret)
		return ret;
	count_drawn(f);
	count_gone(f);
	return 0;
}

/* ------------------------------------------------------------- forms */

/* @endings: of its files' names, with spaces between */
static const struct form_row {
	const char *endings;
	bool drawn;
	bool places;
	int (*write)(struct flamegraph *f);
} form_rows[] = {
#define GRT_FLAMEGRAPH_FORM(NAME, name, endings, drawn, places, help) \
	[GRT_FLAMEGRAPH_##NAME] = {endings, drawn, places, flamegraph_##name},
#include "forms.def"
};

static bool form_ends(const char *path, const char *endings)
{
	size_t len = strlen(path), n;

	for (; *endings; endings += n, endings += *endings == ' ') {
		n = strcspn(endings, " ");
		if (len > n && !strncmp(path + len - n, endings, n))
			return true;
	}
	return false;
}

enum grt_flamegraph_form grt_flamegraph_form(const char *path)
{
	for (size_t i = 0; path && i < sizeof(form_rows) / sizeof(form_rows[0]); i++)
		if (form_ends(path, form_rows[i].endings))
			return (enum grt_flamegraph_form)i;
	return GRT_FLAMEGRAPH_FOLDED;
}

bool grt_flamegraph_drawn(enum grt_flamegraph_form form)
{
	return form_rows[form].drawn;
}

bool grt_flamegraph_has_values(enum grt_flamegraph_form form)
{
	return form == GRT_FLAMEGRAPH_PPROF;
}

bool grt_flamegraph_has_places(enum grt_flamegraph_form form)
{
	return form_rows[form].places;
}

int grt_flamegraph_write(const struct grt_stacks *s, enum grt_flamegraph_form form,
			 const struct grt_flamegraph_look *look, int fd, struct grt_flamegraph_count *count)
{
	struct flamegraph f = {.s = s, .look = look, .count = count};
	int ret = grt_outbuf_init(&f.out, fd);

	*count = (struct grt_flamegraph_count){0};
	if (!ret)
		ret = form_rows[form].write(&f);
	if (!ret)
		ret = grt_outbuf_flush(&f.out);
	grt_outbuf_fini(&f.out);
	flamegraph_free(&f);
	return ret;
}
