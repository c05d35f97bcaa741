/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* What the files of the flame graph writer share. */
#ifndef GRT_FLAMEGRAPH_FLAMEGRAPH_PARTS_H
#define GRT_FLAMEGRAPH_FLAMEGRAPH_PARTS_H

#include "flamegraph.h"
#include "base/outbuf.h"
#include "page/page.h"

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

/** flamegraph_svg - the picture, a file of its own with style and script */
void flamegraph_svg(struct flamegraph *f);

/** flamegraph_html - the page, of all frames. Return: 0, -ENOMEM, or -errno of a failed write */
int flamegraph_html(struct flamegraph *f);

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
