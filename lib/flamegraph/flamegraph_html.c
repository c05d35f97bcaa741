// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * A flame graph as a page: the picture, and below it the frames that weigh
 * most, by name. A name weighs once for each stack that it is in, however often
 * it calls itself there.
 */
#include <stdio.h>

#include "flamegraph_parts.h"

/* Rows of the table. */
#define HEAVIEST 100U

/** struct row - a name: what its frames weigh themselves, and with all that they call */
struct row {
	uint64_t self;
	uint64_t all;
	uint64_t before;
	uint32_t name;
};

static int by_self(const void *a, const void *b)
{
	const struct row *x = a, *y = b;

	if (x->self != y->self)
		return x->self < y->self ? 1 : -1;
	if (x->all != y->all)
		return x->all < y->all ? 1 : -1;
	return (x->name > y->name) - (x->name < y->name);
}

/* Whether the same name stands further out in the stack, which counts it already. */
static bool flamegraph_html_is_nested(const struct grt_stacks *s, uint32_t node)
{
	uint32_t name = grt_stacks_node(s, node)->name;

	while (node != GRT_STACKS_ROOT) {
		node = grt_stacks_node(s, node)->parent;
		if (node != GRT_STACKS_ROOT && grt_stacks_node(s, node)->name == name)
			return true;
	}
	return false;
}

static void flamegraph_html_sum_up(const struct flamegraph *f, struct row *row)
{
	for (uint32_t i = 0; i < grt_stacks_names(f->s); i++)
		row[i].name = i;
	for (uint32_t i = 1; i < grt_stacks_nodes(f->s); i++) {
		struct row *r = &row[grt_stacks_node(f->s, i)->name];

		r->self += grt_stacks_node(f->s, i)->weight;
		if (flamegraph_html_is_nested(f->s, i))
			continue;
		r->all += f->sum[GRT_STACKS_NOW][i];
		if (f->sum[GRT_STACKS_BEFORE])
			r->before += f->sum[GRT_STACKS_BEFORE][i];
	}
}

static void flamegraph_html_put_cell(struct flamegraph *f, uint64_t weight)
{
	char text[128];

	flamegraph_weight(f, weight, text, sizeof(text));
	flamegraph_printf(f, "<td data-v=\"%llu\">", (unsigned long long)weight);
	flamegraph_escaped(f, text, strlen(text));
	flamegraph_printf(f, "</td><td data-v=\"%llu\">%.2f %%</td>", (unsigned long long)weight,
			  flamegraph_share(f, GRT_STACKS_NOW, weight));
}

static void flamegraph_html_put_row(struct flamegraph *f, const struct row *r)
{
	size_t len;
	const char *text = grt_stacks_text(f->s, r->name, &len);
	double change = flamegraph_share(f, GRT_STACKS_NOW, r->all) -
			flamegraph_share(f, GRT_STACKS_BEFORE, r->before);

	flamegraph_put(f, "<tr>");
	flamegraph_html_put_cell(f, r->self);
	flamegraph_html_put_cell(f, r->all);
	if (f->sum[GRT_STACKS_BEFORE])
		flamegraph_printf(f, "<td data-v=\"%.6f\">%+.2f</td>", change, change);
	flamegraph_put(f, "<td class=\"name\">");
	flamegraph_escaped(f, text, len);
	flamegraph_put(f, "</td></tr>\n");
}

static void put_table(struct flamegraph *f, const struct row *row, uint32_t rows)
{
	flamegraph_put(f, "<table id=\"heaviest\">\n<thead><tr><th>itself</th><th>%</th><th>with callees</th>"
			  "<th>%</th>");
	if (f->sum[GRT_STACKS_BEFORE])
		flamegraph_put(f, "<th>change</th>");
	flamegraph_put(f, "<th class=\"name\">frame</th></tr></thead>\n<tbody>\n");
	for (uint32_t i = 0; i < rows && i < HEAVIEST; i++)
		flamegraph_html_put_row(f, &row[i]);
	flamegraph_put(f, "</tbody>\n</table>\n");
	if (rows > HEAVIEST)
		flamegraph_printf(f, "<p>%u more frames have less.</p>\n", rows - HEAVIEST);
}

static void put_page(struct flamegraph *f, const struct row *row, uint32_t rows)
{
	const char *title = f->look->title ? f->look->title : "Flame graph";

	flamegraph_put(f, "<!DOCTYPE html>\n<html lang=\"en\">\n<head>\n<meta charset=\"utf-8\">\n"
			  "<meta http-equiv=\"Content-Security-Policy\" content=\"default-src 'none'; "
			  "script-src 'unsafe-inline'; style-src 'unsafe-inline'\">\n<title>");
	flamegraph_escaped(f, title, strlen(title));
	flamegraph_put(f, "</title>\n<style>\n");
	flamegraph_put(f, flamegraph_css);
	flamegraph_put(f, "</style>\n</head>\n<body>\n");
	flamegraph_svg(f, false);
	put_table(f, row, rows);
	flamegraph_put(f, "<script>\n");
	flamegraph_put(f, flamegraph_js);
	flamegraph_put(f, "</script>\n</body>\n</html>\n");
}

int flamegraph_html(struct flamegraph *f)
{
	uint32_t names = grt_stacks_names(f->s), rows = 0;
	struct row *row = calloc(names, sizeof(*row));

	if (!row)
		return -ENOMEM;
	flamegraph_html_sum_up(f, row);
	qsort(row, names, sizeof(*row), by_self);
	while (rows < names && row[rows].all)
		rows++;
	put_page(f, row, rows);
	free(row);
	return 0;
}
