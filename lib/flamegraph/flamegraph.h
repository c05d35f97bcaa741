/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Writes a tree of stacks as a file: folded lines, an interactive picture (SVG), a page
 * that draws the whole tree (HTML), or a format of another program. The files use no other
 * files; the same tree always gives the same bytes.
 *
 * Colours are rows of frame_kinds.def. If the tree has a side BEFORE, colours
 * show the difference instead: red if a frame's share of the total has grown, blue if it has
 * shrunk, with a strength relative to the largest change.
 */
#ifndef GRT_FLAMEGRAPH_FLAMEGRAPH_H
#define GRT_FLAMEGRAPH_FLAMEGRAPH_H

#include "stack/stacks.h"
#include "base/say.h"

/* Width of the picture in pixels, until a script fits it to its window. */
#define GRT_FLAMEGRAPH_WIDTH 1200U

/**
 * struct grt_flamegraph_look - the appearance of a flame graph
 * @title: untrusted text; NULL: "Flame graph"
 * @unit: of the weights: "ns", "us", "B" are scaled, any other word follows the number; "": no unit
 * @divide: FOLDED divides weights by this, and carries what is left to the next line, so that the sum
 *	is exact to one; 0: as they are
 * @min: SVG: frames narrower than this number of thousandths of a pixel are counted, but not drawn
 * @about: HTML, PPROF, SPEEDSCOPE: program, host, time; untrusted text, NULL: unknown
 * @levels: HTML, PPROF: what the outermost frames are: "process", "process thread"; NULL: unknown
 * @labels: PPROF: how many frames of a stack, below the root, are no frames but what the words of @levels say
 *	of it; all weights of the tree are written
 * @estimated: weights are estimates: they are marked
 * @weight: PPROF, SPEEDSCOPE: what the weights are: "time", "launches"; NULL: "weight"
 * @notes: HTML, PPROF: what the graph does not show; NULL: nothing
 */
struct grt_flamegraph_look {
	const char *title;
	const char *unit;
	uint64_t divide;
	uint64_t min;
	const char *about;
	const char *levels;
	unsigned int labels;
	const char *weight;
	bool estimated;
	const struct grt_notes *notes;
};

/**
 * struct grt_flamegraph_count - counts of drawn frames and of frames that are not drawn
 * @drawn: frames in the picture
 * @narrow, @narrow_weight: frames that are too narrow for the picture, and their weight
 * @gone_weight: weight of the side BEFORE in frames whose weight is 0 now
 */
struct grt_flamegraph_count {
	uint64_t drawn;
	uint64_t narrow;
	uint64_t narrow_weight;
	uint64_t gone_weight;
};

/** enum grt_flamegraph_form - the forms of file */
enum grt_flamegraph_form {
#define GRT_FLAMEGRAPH_FORM(NAME, name, endings, drawn, places, help) GRT_FLAMEGRAPH_##NAME,
#include "forms.def"
};

/** grt_flamegraph_form - the form for a file's name, by its ending; NULL: FOLDED */
enum grt_flamegraph_form grt_flamegraph_form(const char *path);

/** grt_flamegraph_drawn - the form is a picture: struct grt_flamegraph_count is of it */
bool grt_flamegraph_drawn(enum grt_flamegraph_form form);

/** grt_flamegraph_has_values - a stack of the form has several weights, and labels: for struct
 * grt_flame_shape.all */
bool grt_flamegraph_has_values(enum grt_flamegraph_form form);

/** grt_flamegraph_has_places - a frame of the form has a field for its line: for struct
 * grt_flame_shape.places */
bool grt_flamegraph_has_places(enum grt_flamegraph_form form);

/**
 * grt_flamegraph_write - writes a sealed tree
 * @fd: stays open
 * @look, @count: but for @divide of no meaning to FOLDED, which holds every stack
 * Return: 0, -ENOMEM, or -errno of a failed write
 */
int grt_flamegraph_write(const struct grt_stacks *s, enum grt_flamegraph_form form,
			 const struct grt_flamegraph_look *look, int fd, struct grt_flamegraph_count *count);

/** grt_flamegraph_colour - the colour of frames of this frame's kind: red, green, blue, up to 255 */
void grt_flamegraph_colour(const char *frame, unsigned int rgb[3]);

struct grt_page;
struct grt_slots;

/**
 * grt_flamegraph_put - a sealed tree as blocks of a page that has more than one graph
 * @slots: when its weights came; NULL: unknown
 * @graph: what the scripts of the page call it; the names of its blocks begin so
 * Return: 0 or -ENOMEM
 */
int grt_flamegraph_put(const struct grt_stacks *s, const struct grt_flamegraph_look *look, const char *graph,
		       const struct grt_slots *slots, struct grt_page *p);

#endif /* GRT_FLAMEGRAPH_FLAMEGRAPH_H */
