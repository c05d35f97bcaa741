// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A flame graph as a page: every frame of the tree, as columns in the order of a walk with parents first. The
 * code in web/page draws them in the browser.
 */
#include "flamegraph_parts.h"
#include "stack/slots.h"

/* Opens the block NAME of a graph, which begins with the graph's name. */
static void flamegraph_html_block(struct grt_page *p, const char *graph, const char *name)
{
	char text[64];

	snprintf(text, sizeof(text), "%s%s", graph, name);
	grt_page_block(p, text);
}

/* Writes the value of a column for a frame. */
typedef void flamegraph_html_column(const struct flamegraph *f, struct grt_page *p,
				    const struct grt_stacks_step *at);

static void flamegraph_html_name(const struct flamegraph *f, struct grt_page *p,
				 const struct grt_stacks_step *at)
{
	/* the root has none */
	grt_page_u32(p, at->depth ? grt_stacks_node(f->s, at->node)->name : UINT32_MAX);
}

static void flamegraph_html_depth(const struct flamegraph *f, struct grt_page *p,
				  const struct grt_stacks_step *at)
{
	grt_page_u16(p, (uint16_t)at->depth);
}

static void flamegraph_html_now_low(const struct flamegraph *f, struct grt_page *p,
				    const struct grt_stacks_step *at)
{
	grt_page_u32(p, (uint32_t)grt_stacks_weight(f->s, at->node, GRT_STACKS_NOW));
}

static void flamegraph_html_now_high(const struct flamegraph *f, struct grt_page *p,
				     const struct grt_stacks_step *at)
{
	grt_page_u32(p, (uint32_t)(grt_stacks_weight(f->s, at->node, GRT_STACKS_NOW) >> 32));
}

static void flamegraph_html_before_low(const struct flamegraph *f, struct grt_page *p,
				       const struct grt_stacks_step *at)
{
	grt_page_u32(p, (uint32_t)grt_stacks_weight(f->s, at->node, GRT_STACKS_BEFORE));
}

static void flamegraph_html_before_high(const struct flamegraph *f, struct grt_page *p,
					const struct grt_stacks_step *at)
{
	grt_page_u32(p, (uint32_t)(grt_stacks_weight(f->s, at->node, GRT_STACKS_BEFORE) >> 32));
}

/* @compared: of comparisons alone */
static const struct column {
	const char *name;
	flamegraph_html_column *put;
	bool compared;
} columns[] = {
	{"-name", flamegraph_html_name, false},
	{"-depth", flamegraph_html_depth, false},
	{"-low", flamegraph_html_now_low, false},
	{"-high", flamegraph_html_now_high, false},
	{"-before-low", flamegraph_html_before_low, true},
	{"-before-high", flamegraph_html_before_high, true},
};

static void flamegraph_html_put_columns(const struct flamegraph *f, const char *graph, struct grt_page *p)
{
	for (size_t i = 0; i < sizeof(columns) / sizeof(columns[0]); i++) {
		if (columns[i].compared && !f->sum[GRT_STACKS_BEFORE])
			continue;
		flamegraph_html_block(p, graph, columns[i].name);
		for (uint32_t k = 0; k < f->frames; k++)
			columns[i].put(f, p, &f->frame[k]);
		grt_page_block_end(p);
	}
}

/* Text of frames has no line breaks: grt_stacks_name() escapes them. */
static void flamegraph_html_put_names(const struct flamegraph *f, const char *graph, struct grt_page *p)
{
	uint32_t names = grt_stacks_names(f->s);
	char source[1024];
	const char *text;
	size_t len;

	flamegraph_html_block(p, graph, "-names");
	for (uint32_t i = 0; i < names; i++) {
		text = grt_stacks_text(f->s, i, &len);
		if (i)
			grt_page_text(p, "\n");
		grt_page_put(p, text, len);
	}
	grt_page_block_end(p);
	flamegraph_html_block(p, graph, "-sources");
	for (uint32_t i = 0; i < names; i++) {
		grt_stacks_source(f->s, i, source, sizeof(source));
		grt_page_text(p, i ? "\n" : "");
		grt_page_text(p, source);
	}
	grt_page_block_end(p);
	flamegraph_html_block(p, graph, "-kinds");
	for (uint32_t i = 0; i < names; i++) {
		text = grt_stacks_text(f->s, i, &len);
		grt_page_u8(p, (uint8_t)flamegraph_kind_of(text, len));
	}
	grt_page_block_end(p);
}

static void flamegraph_html_put_member(struct grt_page *p, const char *name, const char *text)
{
	grt_page_printf(p, ",\n\"%s\": ", name);
	grt_page_string(p, text ? text : "", text ? strlen(text) : 0);
}

static void flamegraph_html_put_kinds(struct grt_page *p)
{
	grt_page_text(p, ",\n\"kinds\": [");
	for (const struct flamegraph_kind *k = flamegraph_kinds; k->name; k++)
		grt_page_printf(p, "%s\n{\"name\": \"%s\", \"colour\": [%u, %u, %u], \"help\": \"%s\"}",
				k == flamegraph_kinds ? "" : ",", k->name, k->colour[0], k->colour[1],
				k->colour[2], k->help);
	grt_page_text(p, "]");
}

static void flamegraph_html_put_notes(struct grt_page *p, const struct grt_notes *notes)
{
	grt_page_text(p, ",\n\"notes\": [");
	for (unsigned int i = 0; notes && i < notes->n; i++) {
		grt_page_text(p, i ? ",\n" : "\n");
		grt_page_string(p, notes->text[i], strlen(notes->text[i]));
	}
	grt_page_text(p, "]");
}

/* An estimate's unit begins with ~, which units.js puts before the number. */
static void flamegraph_html_put_look(const struct flamegraph *f, const char *graph, struct grt_page *p)
{
	char unit[64];

	flamegraph_html_block(p, graph, "");
	grt_page_printf(p, "{\"frames\": %u,\n\"weight\": %llu,\n\"before\": %llu", f->frames,
			(unsigned long long)grt_stacks_total(f->s, GRT_STACKS_NOW),
			(unsigned long long)grt_stacks_total(f->s, GRT_STACKS_BEFORE));
	flamegraph_html_put_member(p, "title", f->look->estimated ? flamegraph_title(f) : f->look->title);
	snprintf(unit, sizeof(unit), "%s%.30s", f->look->estimated ? "~" : "", f->look->unit);
	flamegraph_html_put_member(p, "unit", unit);
	flamegraph_html_put_member(p, "about", f->look->about);
	flamegraph_html_put_member(p, "levels", f->look->levels);
	flamegraph_html_put_kinds(p);
	flamegraph_html_put_notes(p, f->look->notes);
	grt_page_text(p, "}\n");
	grt_page_block_end(p);
}

static void flamegraph_html_put_data(const struct flamegraph *f, const char *graph, struct grt_page *p)
{
	flamegraph_html_put_look(f, graph, p);
	flamegraph_html_put_names(f, graph, p);
	flamegraph_html_put_columns(f, graph, p);
}

int flamegraph_html(struct flamegraph *f)
{
	struct grt_page p;
	int ret = flamegraph_draw(f, 0);

	if (ret)
		return ret;
	grt_page_begin(&p, &f->out, flamegraph_title(f));
	flamegraph_html_put_data(f, "flame", &p);
	return grt_page_end(&p);
}

/* The number of a slot's node is its place in the walk. */
static int flamegraph_html_put_slots(const struct flamegraph *f, const char *graph,
				     const struct grt_slots *slots, struct grt_page *p)
{
	static const char *const names[] = {"-slot-frame", "-slot-number", "-slot-low", "-slot-high"};
	uint32_t *place = calloc(grt_stacks_nodes(f->s), sizeof(*place));

	if (!place)
		return -ENOMEM;
	for (uint32_t i = 0; i < f->frames; i++)
		place[f->frame[i].node] = i;
	for (unsigned int column = 0; column < 4; column++) {
		flamegraph_html_block(p, graph, names[column]);
		for (uint32_t i = 0; i < slots->used; i++) {
			const struct grt_slot *at = &slots->at[i];
			const uint32_t value[] = {place[at->node], at->slot, (uint32_t)at->weight,
						  (uint32_t)(at->weight >> 32)};

			grt_page_u32(p, value[column]);
		}
		grt_page_block_end(p);
	}
	free(place);
	flamegraph_html_block(p, graph, "-slots");
	grt_page_printf(p, "{\"from\": %llu, \"to\": %llu, \"n\": %u}\n", (unsigned long long)slots->from,
			(unsigned long long)slots->to, slots->n);
	grt_page_block_end(p);
	return 0;
}

int grt_flamegraph_put(const struct grt_stacks *s, const struct grt_flamegraph_look *look, const char *graph,
		       const struct grt_slots *slots, struct grt_page *p)
{
	struct grt_flamegraph_count count;
	struct flamegraph f = {.s = s, .look = look, .count = &count};
	int ret = flamegraph_prepare(&f, 0);

	if (!ret)
		flamegraph_html_put_data(&f, graph, p);
	if (!ret && slots && slots->used)
		ret = flamegraph_html_put_slots(&f, graph, slots, p);
	flamegraph_free(&f);
	return ret;
}
