/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A tree of stacks as a file: folded lines, an interactive picture (SVG), a
 * page that draws all of it (HTML), or in the form of another program. The files need nothing but
 * themselves; the same tree always gives the same bytes.
 *
 * Colours are rows of frame_kinds.def. Where the tree has a side BEFORE, they
 * report the difference instead: red where a frame's share of all has grown, blue
 * where it has shrunk, the stronger the more, relative to the largest change.
 */
#ifndef GRT_FLAMEGRAPH_FLAMEGRAPH_H
#define GRT_FLAMEGRAPH_FLAMEGRAPH_H

#include "stack/stacks.h"
#include "table/notes.h"

/* Pixels that the picture is wide until a script fits it to its window. */
#define GRT_FLAMEGRAPH_WIDTH 1200U

/**
 * struct grt_flamegraph_look - how it looks
 * @title: untrusted text; NULL: "Flame graph"
 * @unit: of the weights: "ns", "us", "B" are scaled, any other word is put behind the number; "" for none
 * @divide: FOLDED divides weights by this, and carries what is left to the next line, so that the sum
 *	is exact to one; 0: as they are
 * @min: SVG: frames narrower than so many thousandths of a pixel are not drawn, but counted
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
 * struct grt_flamegraph_count - what became of the tree
 * @drawn: frames in the picture
 * @narrow, @narrow_weight: too narrow for it, and what they weigh
 * @gone_weight: of the side BEFORE, in frames that weigh nothing now
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

/** grt_flamegraph_form - the form for a file of this name, by its end; NULL: FOLDED */
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
 * @fd: stays its owner's
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
