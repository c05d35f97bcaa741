// SPDX-License-Identifier: GPL-2.0
/* See report_page.h. */
#include "report_page.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>

#include "cmds/outfile.h"
#include "export/lanes.h"
#include "flamegraph/flamegraph.h"
#include "stack/flame_shapes.h"
#include "stack/slots.h"
#include "trace/session.h"

/*
 * Slots of time for which the flame graph can be shown separately: a power of two. There are fewer if their
 * weights exceed this, so that the page stays small.
 */
#define SLOTS 256
#define SLOT_WEIGHTS_MAX 50000U

/**
 * struct graph - a flame graph of the page
 * @name: for its blocks
 * @part: the part of the analysis that makes it
 */
static const struct graph {
	const char *name;
	const char *part;
	enum grt_flame_weight weight;
	const char *title;
	const char *levels;
} graphs[] = {
	{"gpu", "time", GRT_FLAME_WEIGHT_TIME, "GPU time", "process"},
	{"wall", "wall", GRT_FLAME_WEIGHT_WALL, "time of threads", "process thread"},
};

/* Return: the requested filter, for a new pass; @joins: the filter selects jobs when they are joined. */
static struct grt_filter report_page_filter(const struct report *r, bool joins)
{
	const struct grt_filter *asked = r->a.pass.filter;

	return asked ? (struct grt_filter){.pid = asked->pid,
					   .comm = asked->comm,
					   .ring = asked->ring,
					   .joins = joins}
		     : (struct grt_filter){.joins = joins};
}

/* A pass of its own over the recording. Return: 0 or a negative errno, with @err */
static int report_page_run(const struct report *r, const char *gpu, struct grt_filter *filter,
			   struct grt_consumer *c, int (*done)(struct grt_session *s, void *arg), void *arg,
			   struct grt_err *err)
{
	struct grt_session *s;
	int ret = grt_session_open(&s, r->input, err);

	if (ret)
		return ret;
	if (grt_filter_any(filter) || (gpu && filter->joins))
		grt_session_filter(s, filter);
	if (gpu)
		ret = grt_session_gpu(s, gpu, NULL, err);
	grt_session_whole(s);
	if (!ret)
		ret = grt_session_run(s, c, r->span.known ? r->span.first : 0,
				      r->span.known ? r->span.last : UINT64_MAX, err);
	/* faults were reported by the first pass */
	ret = ret < 0 ? ret : done(s, arg);
	grt_session_close(s);
	grt_filter_free(filter);
	return ret;
}

/** struct lanes_out - what report_page_put_lanes() needs */
struct lanes_out {
	struct grt_lanes *lanes;
	struct grt_page *page;
};

static int report_page_put_lanes(struct grt_session *s, void *arg)
{
	struct lanes_out *out = arg;
	int ret = grt_lanes_end(out->lanes);

	if (!ret)
		grt_lanes_put(out->lanes, s, out->page);
	return ret;
}

static int report_page_lanes(const struct report *r, const char *gpu, struct grt_page *p, struct grt_err *err)
{
	struct grt_filter filter = report_page_filter(r, false);
	struct lanes_out out = {r->lanes, p};

	filter.whole = true;
	/* what threads did belongs to no GPU */
	filter.joins = gpu && !filter.ring;
	if (grt_filter_any(&filter))
		grt_lanes_filter(r->lanes, &filter);
	grt_lanes_within(r->lanes, r->span.first, r->span.last);
	return report_page_run(r, gpu, &filter, grt_lanes_consumer(r->lanes), report_page_put_lanes, &out,
			       err);
}

/** struct graph_out - what report_page_put_graph() needs */
struct graph_out {
	const struct graph *graph;
	struct grt_analyses a;
	struct grt_notes notes;
	struct grt_slots slots;
	struct grt_page *page;
};

static int report_page_put_graph(struct grt_session *s, void *arg)
{
	struct graph_out *out = arg;
	struct grt_flamegraph_look look = {
		.title = out->graph->title, .unit = "ns", .levels = out->graph->levels, .notes = &out->notes};
	int ret = grt_analyses_finish(&out->a);

	/* the trace has no such weight */
	if (ret == -ENODATA)
		return 0;
	if (!ret)
		grt_analyses_notes(&out->a);
	grt_stacks_seal(out->a.pass.tree);
	grt_slots_fit(&out->slots, SLOT_WEIGHTS_MAX);
	if (!ret && grt_stacks_total(out->a.pass.tree, GRT_STACKS_NOW))
		ret = grt_flamegraph_put(out->a.pass.tree, &look, out->graph->name, &out->slots, out->page);
	return ret;
}

static int report_page_graph(const struct report *r, const char *gpu, const struct graph *graph,
			     struct grt_page *p, struct grt_err *err)
{
	struct grt_flame_shape shape = {.weight = graph->weight};
	struct grt_filter filter = report_page_filter(r, true);
	struct graph_out out = {.graph = graph, .a.pass = {.shape = &shape}, .page = p};
	struct grt_pass *pass = &out.a.pass;
	struct grt_stacks *tree;
	int ret = grt_stacks_new(&tree);

	pass->tree = tree;
	out.slots = (struct grt_slots){.from = r->span.first, .to = r->span.last, .n = SLOTS};
	pass->slots = r->span.known ? &out.slots : NULL;
	pass->notes = &out.notes;
	pass->filter = grt_filter_any(&filter) ? &filter : NULL;
	pass->first = r->narrowed ? r->span.first : 0;
	pass->last = r->narrowed ? r->span.last : UINT64_MAX;
	grt_analyses_want(&out.a, grt_part_find(graph->part, GRT_PART_FLAME));
	if (!ret)
		ret = grt_analyses_begin(&out.a);
	if (!ret) {
		grt_analyses_consume(&out.a);
		ret = report_page_run(r, gpu, &filter, &out.a.c, report_page_put_graph, &out, err);
	}
	grt_analyses_free(&out.a);
	grt_stacks_free(tree);
	free(out.slots.at);
	return ret;
}

static int report_page_fill(const struct report *r, const char *gpu, const char *tables, size_t length,
			    struct grt_page *p, struct grt_err *err)
{
	int ret;

	grt_page_block(p, "report");
	grt_page_put(p, tables, length);
	grt_page_block_end(p);
	ret = report_page_lanes(r, gpu, p, err);
	for (size_t i = 0; i < sizeof(graphs) / sizeof(graphs[0]) && !ret; i++)
		ret = report_page_graph(r, gpu, &graphs[i], p, err);
	return ret ? ret : grt_page_end(p);
}

int report_page_usage(const char *output, const char *input)
{
	struct stat st;

	if (grt_flamegraph_form(output) != GRT_FLAMEGRAPH_HTML)
		return cmd_usage_error("-o %s: it writes a page, whose name ends in .html; for text: > %s",
				       output, output);
	if (!input || !strcmp(input, "-") || (!stat(input, &st) && S_ISFIFO(st.st_mode)))
		return cmd_usage_error(
			"-o writes a page of a recording, which is read several times: no pipe, "
			"and not the live module");
	return outfile_usage(output, input);
}

int report_page_write(const struct report *r, const char *output, const char *tables, size_t length,
		      const char *gpu)
{
	struct grt_err err = {.what = ""};
	struct grt_outbuf buf;
	struct grt_page page;
	struct outfile out;
	int ret;

	if (outfile_open(&out, output, &err))
		return cmd_error(EXIT_FAILED, &err);
	ret = grt_outbuf_init(&buf, out.fd);
	if (!ret) {
		grt_page_begin(&page, &buf, "grtrace report");
		ret = report_page_fill(r, gpu, tables, length, &page, &err) ?: grt_outbuf_flush(&buf);
		grt_outbuf_fini(&buf);
	}
	if (ret && !*err.what)
		outfile_failed(&out, ret, &err);
	else if (!ret)
		ret = outfile_keep(&out, &err);
	outfile_drop(&out);
	return ret ? cmd_error(EXIT_FAILED, &err) : EXIT_DONE;
}
