/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * CPU stacks by their ids in FRAME records. Each stack is a list of functions; each text of a
 * function is kept once.
 */
#ifndef GRT_STACK_FRAMES_H
#define GRT_STACK_FRAMES_H

#include <stddef.h>
#include <stdint.h>

#include <grtrace/event.h>
#include <grtrace/grtrace.h>

#include "base/index.h"
#include "stacks.h"

/*
 * The ways in which stacks of programs end (rows of stack_ends.def), and the GPU time of
 * the stacks with each end.
 */

/** struct grt_stack_ends - GPU time and pieces of work by the end of their stack; @none: work without a stack
 */
struct grt_stack_ends {
	struct grt_stack_end_sum {
		uint64_t ns;
		uint64_t works;
	} end[GRT_STACK_ENDS], none;
};

/** grt_stack_end_name - the name of an end; "unknown" for 0 and for numbers without a row */
const char *grt_stack_end_name(unsigned int end);

/** grt_stack_end_help - the meaning of an end */
const char *grt_stack_end_help(unsigned int end);

/** grt_stack_end_of_root - the end that the text of an outermost NODE stands for; NULL: the stack is whole */
enum grt_stack_end grt_stack_end_of_root(const char *text);

/** grt_stack_ends_ns - the time of all work, with and without a stack, ns */
static inline uint64_t grt_stack_ends_ns(const struct grt_stack_ends *e)
{
	uint64_t ns = e->none.ns;

	for (unsigned int i = 0; i < GRT_STACK_ENDS; i++)
		ns += e->end[i].ns;
	return ns;
}

/* Writes frames for people, whatever the source of the function and its place. */

/** grt_frame_base - a path without its directories */
const char *grt_frame_base(const char *path);

/**
 * grt_frame_text - "function (file:line)", without the unknown parts
 * @function: name of @len bytes; NULL: unknown
 * @file: path of the source, NULL: unknown; @line: 0: unknown
 * Return: a text for free(), or NULL: no memory
 */
char *grt_frame_text(const char *function, size_t len, const char *file, uint32_t line);

/* Most different stacks of a trace; later stacks have no frames, and are counted. */
#define GRT_FRAMES_STACKS_MAX 131072U

/**
 * struct grt_frames - set up by grt_frames_init(), freed by grt_frames_free()
 * @dropped: FRAME records of stacks beyond GRT_FRAMES_STACKS_MAX
 */
struct grt_frames {
	struct grt_stacks *text; /* names of frames only */
	struct grt_frames_stack *stack;
	uint32_t stacks, room;
	struct grt_index index;
	struct grt_frames_path *path;
	uint32_t paths, path_room;
	struct grt_index path_index;
	struct grt_hash_key key;
	uint64_t dropped;
};

/**
 * struct grt_frame_place - the place of a frame's code; unknown members are NULL or 0
 * @module: path of its object file
 * @file: path of its source file
 * @inlined: the function is inlined into the next frame
 */
struct grt_frame_place {
	const char *module;
	const char *file;
	uint32_t line;
	bool inlined;
};

/** grt_frames_init - begins without stacks. Return: 0 or -ENOMEM */
int grt_frames_init(struct grt_frames *f);

/** grt_frames_event - processes an event; uses FRAME, FRAME_PLACE and FRAME_TEXT. Return: 0 or -ENOMEM */
int grt_frames_event(struct grt_frames *f, const struct grt_event *e);

/**
 * grt_frames_has - whether there are frames of a stack, named or not; if only the id of the stack is known,
 * there are none
 */
bool grt_frames_has(const struct grt_frames *f, uint32_t id);

/**
 * grt_frames_is_call_only - whether the only known frame of a stack is the C library's, of the ioctl, which
 * does not show the program's code
 */
bool grt_frames_is_call_only(const struct grt_frames *f, uint32_t id);

/** grt_frames_is_entry - whether programs or threads begin in a function of this name */
bool grt_frames_is_entry(const char *text, size_t len);

/**
 * grt_frames_end - why a stack ends. If the outermost frame has the name of an entry, the stack reaches the
 * entry, whatever the walk reported
 */
enum grt_stack_end grt_frames_end(const struct grt_frames *f, uint32_t id);

/** grt_frames_depth - the number of frames of a stack */
uint32_t grt_frames_depth(const struct grt_frames *f, uint32_t id);

/** grt_frames_function - the function of frame @index < grt_frames_depth(), 0: the innermost; without a NUL
 */
const char *grt_frames_function(const struct grt_frames *f, uint32_t id, uint32_t index, size_t *len);

/** grt_frames_text - the same with its place, see grt_frame_text(). Return: a text for free(); NULL: no
 * memory
 */
char *grt_frames_text(const struct grt_frames *f, uint32_t id, uint32_t index);

/**
 * grt_frames_put - adds the frames of a stack to a tree, outermost first; nothing if the stack has none
 * @id: of the stack, 0: none
 * @places: if functions are at several lines, each line is a frame of its own
 * @node: the node under which the stack begins; becomes the node of the innermost frame
 * Return: 0 or -ENOMEM
 */
int grt_frames_put(const struct grt_frames *f, uint32_t id, bool places, struct grt_stacks *tree,
		   uint32_t *node);

/** grt_frames_place - the place of frame @index of a stack, 0: the innermost; valid until the next event */
struct grt_frame_place grt_frames_place(const struct grt_frames *f, uint32_t id, uint32_t index);

/** grt_frames_free - frees and empties it */
void grt_frames_free(struct grt_frames *f);

#endif /* GRT_STACK_FRAMES_H */
