/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Shared code of the files that write flame graphs. */
#ifndef GRT_FLAMEGRAPH_FLAMEGRAPH_PARTS_H
#define GRT_FLAMEGRAPH_FLAMEGRAPH_PARTS_H

#include "flamegraph.h"
#include "base/outbuf.h"
#include "page/page.h"

/** struct flamegraph_colour - of a frame's name, once it is computed */
struct flamegraph_colour {
	uint8_t rgb[3];
	bool known;
};

/** struct flamegraph - a picture while it is made; @sum by node and side, @sum[BEFORE] NULL without one */
struct flamegraph {
	const struct grt_stacks *s;
	const struct grt_flamegraph_look *look;
	struct grt_flamegraph_count *count;
	struct grt_outbuf out;
	uint64_t *sum[GRT_STACKS_SIDES];
	/* frames to draw, in the order of the walk */
	struct grt_stacks_step *frame;
	uint32_t frames, frame_room;
	uint32_t depth;
	/* by number of the name */
	struct flamegraph_colour *colour;
	/* the largest change of a share */
	double most;
};

/** flamegraph_put - a text of any length */
void flamegraph_put(struct flamegraph *f, const char *text);
void flamegraph_put_n(struct flamegraph *f, const char *text, size_t len);

/** flamegraph_printf - short text */
void flamegraph_printf(struct flamegraph *f, const char *fmt, ...) __attribute__((format(printf, 2, 3)));

/** flamegraph_escaped - text from outside, in XML or HTML */
void flamegraph_escaped(struct flamegraph *f, const char *text, size_t len);

/** flamegraph_title - of a picture */
const char *flamegraph_title(const struct flamegraph *f);

/** flamegraph_weight - a weight in the look's unit */
void flamegraph_weight(const struct flamegraph *f, uint64_t weight, char *text, size_t room);

/** flamegraph_share - of the whole side, in percent; 0 of nothing */
double flamegraph_share(const struct flamegraph *f, enum grt_stacks_side side, uint64_t weight);

/** struct flamegraph_kind - a row of frame_kinds.def */
struct flamegraph_kind {
	const char *name;
	const char *pattern;
	uint8_t colour[3];
	const char *help;
};

/* Ended by a row without a name. */
extern const struct flamegraph_kind flamegraph_kinds[];

/** flamegraph_kind_of - the row of a frame */
unsigned int flamegraph_kind_of(const char *text, size_t len);

/* Each form writes the file. Return: 0, -ENOMEM, or -errno of a failed write */
#define GRT_FLAMEGRAPH_FORM(NAME, name, endings, drawn, places, help) \
	int flamegraph_##name(struct flamegraph *f);
#include "forms.def"

/**
 * struct flamegraph_place - a frame's text in its parts: `train (ddp.py:46)`
 * @file: not terminated; NULL: unknown
 */
struct flamegraph_place {
	const char *function;
	size_t function_len;
	const char *file;
	size_t file_len;
	uint32_t line;
};

/** flamegraph_place - the parts of a frame's text, by the number of the text */
struct flamegraph_place flamegraph_place(const struct grt_stacks *s, uint32_t name);

/**
 * flamegraph_each_stack - calls @take for every stack that has a weight or no others below it
 * @frame: texts by number, outermost first
 * Return: 0, -ENOMEM, or what @take returned
 */
int flamegraph_each_stack(struct flamegraph *f,
			  int (*take)(void *arg, uint32_t node, const uint32_t *frame, uint32_t depth),
			  void *arg);

/** flamegraph_least_drawn - the least weight that is as wide as wanted */
uint64_t flamegraph_least_drawn(const struct flamegraph *f);

/** flamegraph_draw - flamegraph_prepare(), and the counts. Return: 0 or -ENOMEM */
int flamegraph_draw(struct flamegraph *f, uint64_t least);

/**
 * flamegraph_prepare - sums, and the frames to draw
 * @least: frames that weigh less are left out
 * Return: 0 or -ENOMEM
 */
int flamegraph_prepare(struct flamegraph *f, uint64_t least);

/** flamegraph_free - what that made */
void flamegraph_free(struct flamegraph *f);

/* The files of web/, each ended by NUL. */
extern const char flamegraph_js[], flamegraph_css[];

#endif /* GRT_FLAMEGRAPH_FLAMEGRAPH_PARTS_H */
