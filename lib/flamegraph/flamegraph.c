// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Flame graphs: what their forms have in common, and the folded one. What is
 * drawn is decided here; the picture is in flamegraph_svg.c, the page in
 * flamegraph_html.c.
 */
#include "flamegraph.h"

#include <stdarg.h>
#include <stdio.h>

#include "base/escape.h"
#include "base/grow.h"
#include "flamegraph_parts.h"
#include "base/units.h"

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
	n = vsnprintf(p, 1024, fmt, ap);
	va_end(ap);
	grt_outbuf_take(&f->out, p + (n < 0 ? 0 : n > 1023 ? 1023 : n));
}

void flamegraph_escaped(struct flamegraph *f, const char *text, size_t len)
{
	/* a part at a time; the next one begins where a character does */
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

	if (!strcmp(unit, "ns") || (!strcmp(unit, "us") && weight < UINT64_MAX / 1000)) {
		grt_units_ns(scaled, *unit == 'n' ? weight : weight * 1000);
		snprintf(text, room, "%s", scaled);
	} else if (!strcmp(unit, "B") && weight < INT64_MAX / 1000) {
		grt_units_amount(text, room, (int64_t)weight * 1000, unit);
	} else {
		snprintf(text, room, "%llu%s%.60s", (unsigned long long)weight, *unit ? " " : "", unit);
	}
}

double flamegraph_share(const struct flamegraph *f, enum grt_stacks_side side, uint64_t weight)
{
	uint64_t total = grt_stacks_total(f->s, side);

	return total ? 100.0 * (double)weight / (double)total : 0;
}

/* ------------------------------------------------------------- folded */

/* Bytes of a line's stack: what reads it has a bound, too. */
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

/* The frames of a node's stack. Return: their length, 0 without memory */
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

/* Of a longer stack the outermost frames; "[cut]" stands for the others. */
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

/* A stack whose weight is 0 was there, too: a launch may have taken no time. */
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

static int flamegraph_write_folded(struct flamegraph *f)
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

/* The least weight that is as wide as wanted. */
static uint64_t least_drawn(const struct flamegraph *f)
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

/* The topmost of the frames that are only in the past. */
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
}

static int flamegraph_draw(struct flamegraph *f, enum grt_flamegraph_form form)
{
	int ret = flamegraph_prepare(f, form == GRT_FLAMEGRAPH_HTML ? 0 : least_drawn(f));

	if (ret)
		return ret;
	count_drawn(f);
	count_gone(f);
	if (form == GRT_FLAMEGRAPH_HTML)
		return flamegraph_html(f);
	flamegraph_svg(f);
	return 0;
}

static const struct form_row {
	const char *end;
	enum grt_flamegraph_form form;
} form_rows[] = {{".svg", GRT_FLAMEGRAPH_SVG}, {".html", GRT_FLAMEGRAPH_HTML}, {".htm", GRT_FLAMEGRAPH_HTML}};

enum grt_flamegraph_form grt_flamegraph_form(const char *path)
{
	size_t len = path ? strlen(path) : 0;

	for (size_t i = 0; i < sizeof(form_rows) / sizeof(form_rows[0]); i++)
		if (len > strlen(form_rows[i].end) &&
		    !strcmp(path + len - strlen(form_rows[i].end), form_rows[i].end))
			return form_rows[i].form;
	return GRT_FLAMEGRAPH_FOLDED;
}

int grt_flamegraph_write(const struct grt_stacks *s, enum grt_flamegraph_form form,
			 const struct grt_flamegraph_look *look, int fd, struct grt_flamegraph_count *count)
{
	struct flamegraph f = {.s = s, .look = look, .count = count};
	int ret = grt_outbuf_init(&f.out, fd);

	*count = (struct grt_flamegraph_count){0};
	if (!ret)
		ret = form == GRT_FLAMEGRAPH_FOLDED ? flamegraph_write_folded(&f) : flamegraph_draw(&f, form);
	if (!ret)
		ret = grt_outbuf_flush(&f.out);
	grt_outbuf_fini(&f.out);
	flamegraph_free(&f);
	return ret;
}
