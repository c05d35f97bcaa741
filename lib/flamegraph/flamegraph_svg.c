// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The picture of a flame graph: an element for each frame, the outermost ones at the bottom. It is complete
 * without scripts; web/flame.js makes it interactive.
 */
#include <errno.h>
#include <stdlib.h>

#include "flamegraph_parts.h"

#define MARGIN 10U
#define TOP 56U
#define BOTTOM 34U
#define ROW 16U
/* Width of a character in the font of web/flame.css, in tenths of a pixel. */
#define CHARACTER 72U

/* A name has the same colour in every picture. */
static void colour_by_name(const char *text, size_t len, uint8_t rgb[3])
{
	const struct flamegraph_kind *kind = &flamegraph_kinds[flamegraph_kind_of(text, len)];
	uint32_t h = 2166136261U;

	for (size_t i = 0; i < len; i++)
		h = (h ^ (unsigned char)text[i]) * 16777619U;
	h ^= h >> 15;
	for (int i = 0; i < 3; i++) {
		/* up to 30 lighter, with small differences between the colours */
		int c = kind->colour[i] + (int)(h % 31) - 4 + (int)((h >> (8 + 4 * i)) % 11) - 5;

		rgb[i] = (uint8_t)(c < 0 ? 0 : c > 255 ? 255 : c);
	}
}

/* Computed once for each name, because patterns take long. */
static const uint8_t *colour_of_name(struct flamegraph *f, uint32_t name)
{
	struct flamegraph_colour *colour = &f->colour[name];
	const char *text;
	size_t len;

	if (!colour->known) {
		text = grt_stacks_text(f->s, name, &len);
		colour_by_name(text, len, colour->rgb);
		colour->known = true;
	}
	return colour->rgb;
}

static double change_of(const struct flamegraph *f, uint32_t node)
{
	return flamegraph_share(f, GRT_STACKS_NOW, f->sum[GRT_STACKS_NOW][node]) -
	       flamegraph_share(f, GRT_STACKS_BEFORE, f->sum[GRT_STACKS_BEFORE][node]);
}

/* White where nothing has changed. */
static void colour_by_change(const struct flamegraph *f, uint32_t node, uint8_t rgb[3])
{
	double change = change_of(f, node);
	uint8_t pale = 245;

	if (f->most > 0)
		pale -= (uint8_t)(175 * (change < 0 ? -change : change) / f->most);
	rgb[0] = change < 0 ? pale : 245;
	rgb[1] = pale;
	rgb[2] = change > 0 ? pale : 245;
}

/* Coordinates in thousandths of a pixel, so that they are the same everywhere. */
static uint64_t flamegraph_svg_place(const struct flamegraph *f, uint64_t weight)
{
	uint64_t total = grt_stacks_total(f->s, GRT_STACKS_NOW);

	return total ? (uint64_t)((unsigned __int128)weight * (GRT_FLAMEGRAPH_WIDTH - 2 * MARGIN) * 1000 /
				  total)
		     : (GRT_FLAMEGRAPH_WIDTH - 2 * MARGIN) * 1000;
}

static void flamegraph_svg_put_place(struct flamegraph *f, const char *name, uint64_t thousandths)
{
	uint32_t hundredths = (uint32_t)(thousandths % 1000 / 10);
	char *p = grt_format_word(grt_outbuf_room(&f->out, 64), name);

	p = grt_format_u64(grt_format_word(p, "=\""), thousandths / 1000);
	*p++ = '.';
	*p++ = (char)('0' + hundredths / 10);
	*p++ = (char)('0' + hundredths % 10);
	*p++ = '"';
	grt_outbuf_take(&f->out, p);
}

static void flamegraph_svg_put_title(struct flamegraph *f, uint32_t node, const char *text, size_t len)
{
	uint64_t sum = f->sum[GRT_STACKS_NOW][node], self = grt_stacks_node(f->s, node)->weight;
	char weight[128], source[1024];

	flamegraph_put(f, "<title>");
	flamegraph_escaped(f, text, len);
	grt_stacks_source(f->s, grt_stacks_node(f->s, node)->name, source, sizeof(source));
	flamegraph_put(f, *source ? "\n" : "");
	flamegraph_escaped(f, source, strlen(source));
	flamegraph_weight(f, sum, weight, sizeof(weight));
	flamegraph_put(f, "\n");
	flamegraph_escaped(f, weight, strlen(weight));
	flamegraph_printf(f, ", %.2f %%", flamegraph_share(f, GRT_STACKS_NOW, sum));
	if (f->sum[GRT_STACKS_BEFORE])
		flamegraph_printf(f, " (%+.2f points, was %.2f %%)", change_of(f, node),
				  flamegraph_share(f, GRT_STACKS_BEFORE, f->sum[GRT_STACKS_BEFORE][node]));
	if (self && self != sum) {
		flamegraph_weight(f, self, weight, sizeof(weight));
		flamegraph_put(f, "\nitself ");
		flamegraph_escaped(f, weight, strlen(weight));
		flamegraph_printf(f, ", %.2f %%", flamegraph_share(f, GRT_STACKS_NOW, self));
	}
	flamegraph_put(f, "</title>");
}

/* Return: number of bytes of a text's first characters. */
static size_t first_characters(const char *text, size_t len, size_t characters)
{
	size_t i = 0;

	while (i < len) {
		if (((unsigned char)text[i] & 0xc0) != 0x80 && !characters--)
			break;
		i++;
	}
	return i;
}

/* Writes as much of the name as fits its frame. */
static void flamegraph_svg_put_label(struct flamegraph *f, const char *text, size_t len, uint64_t width)
{
	size_t room = width < 6000 ? 0 : (width - 6000) / (CHARACTER * 100);
	size_t fits = first_characters(text, len, room);

	if (room < 3)
		return;
	if (fits < len)
		fits = first_characters(text, len, room - 2);
	flamegraph_escaped(f, text, fits);
	if (fits < len)
		flamegraph_put(f, "..");
}

static void flamegraph_svg_put_frame(struct flamegraph *f, const struct grt_stacks_step *at)
{
	uint64_t sum = f->sum[GRT_STACKS_NOW][at->node];
	uint64_t left = flamegraph_svg_place(f, at->start),
		 width = flamegraph_svg_place(f, at->start + sum) - left;
	uint32_t y = TOP + (f->depth - at->depth) * ROW;
	uint32_t name = grt_stacks_node(f->s, at->node)->name;
	const char *text;
	uint8_t rgb[3];
	size_t len;

	text = grt_stacks_text(f->s, name, &len);
	if (f->sum[GRT_STACKS_BEFORE])
		colour_by_change(f, at->node, rgb);
	else
		memcpy(rgb, colour_of_name(f, name), sizeof(rgb));
	flamegraph_printf(f, "<g data-a=\"%llu\" data-w=\"%llu\" data-d=\"%u\">",
			  (unsigned long long)at->start, (unsigned long long)sum, at->depth);
	flamegraph_svg_put_title(f, at->node, text, len);
	flamegraph_put(f, "<rect");
	flamegraph_svg_put_place(f, " x", left + MARGIN * 1000);
	flamegraph_svg_put_place(f, " width", width);
	flamegraph_printf(f, " y=\"%u\" height=\"%u\" fill=\"#%02x%02x%02x\"/><text", y, ROW - 1, rgb[0],
			  rgb[1], rgb[2]);
	flamegraph_svg_put_place(f, " x", left + MARGIN * 1000 + 3000);
	flamegraph_printf(f, " y=\"%u\">", y + 12);
	flamegraph_svg_put_label(f, text, len, width);
	flamegraph_put(f, "</text></g>\n");
}

static void flamegraph_svg_put_head(struct flamegraph *f, uint32_t height)
{
	const char *title = flamegraph_title(f);

	flamegraph_put(f, "<title>");
	flamegraph_escaped(f, title, strlen(title));
	flamegraph_printf(f, "</title>\n<rect class=\"paper\" width=\"100%%\" height=\"%u\"/>\n", height);
	flamegraph_printf(f, "<text class=\"heading\" x=\"50%%\" y=\"22\">");
	flamegraph_escaped(f, title, strlen(title));
	flamegraph_put(f, "</text>\n");
}

/* Writes into the picture what it does not show. */
static void put_foot(struct flamegraph *f, uint32_t height)
{
	const struct grt_flamegraph_count *n = f->count;
	char weight[128];

	flamegraph_weight(f, grt_stacks_total(f->s, GRT_STACKS_NOW), weight, sizeof(weight));
	flamegraph_printf(f, "<text class=\"note\" x=\"%u\" y=\"%u\">", MARGIN, height - 8);
	flamegraph_escaped(f, weight, strlen(weight));
	flamegraph_put(f, " in all");
	if (n->narrow)
		flamegraph_printf(
			f, "; %llu {frame|frames} with %.2f %% of it {is|are} too narrow to be drawn",
			(unsigned long long)n->narrow, flamegraph_share(f, GRT_STACKS_NOW, n->narrow_weight));
	if (f->sum[GRT_STACKS_BEFORE])
		flamegraph_printf(f, "; red: grown, blue: shrunk, %.2f %% of before is gone",
				  flamegraph_share(f, GRT_STACKS_BEFORE, n->gone_weight));
	flamegraph_put(f, "</text>\n<g id=\"flame-frames\">\n");
}

int flamegraph_svg(struct flamegraph *f)
{
	int ret = flamegraph_draw(f, flamegraph_least_drawn(f));
	uint32_t height = TOP + (f->depth + 1) * ROW + BOTTOM;

	f->colour = calloc(grt_stacks_names(f->s) + 1, sizeof(*f->colour));
	if (ret || !f->colour)
		return ret ?: -ENOMEM;
	flamegraph_put(f, "<?xml version=\"1.0\" encoding=\"UTF-8\" standalone=\"yes\"?>\n");
	flamegraph_printf(f,
			  "<svg xmlns=\"http://www.w3.org/2000/svg\" id=\"flame\" width=\"%u\" height=\"%u\""
			  " data-margin=\"%u\" data-character=\"%u.%u\">\n",
			  GRT_FLAMEGRAPH_WIDTH, height, MARGIN, CHARACTER / 10, CHARACTER % 10);
	flamegraph_svg_put_head(f, height);
	flamegraph_put(f, "<style><![CDATA[\n");
	flamegraph_put(f, flamegraph_css);
	flamegraph_put(f, "]]></style>\n");
	put_foot(f, height);
	for (uint32_t i = 0; i < f->frames; i++)
		flamegraph_svg_put_frame(f, &f->frame[i]);
	flamegraph_put(f, "</g>\n");
	flamegraph_put(f, "<script><![CDATA[\n");
	flamegraph_put(f, flamegraph_js);
	flamegraph_put(f, "]]></script>\n");
	flamegraph_put(f, "</svg>\n");
	return 0;
}
