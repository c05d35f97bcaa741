/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The frames of traced processes' stacks as text: addresses by the object files
 * that the trace names, functions of interpreters as they were reported. What is
 * found is kept, so a frame is looked up once.
 */
#ifndef GRT_STACK_IMAGE_FRAMES_H
#define GRT_STACK_IMAGE_FRAMES_H

#include "images.h"
#include "stacks.h"

struct grt_image_frames;
struct grt_symbols_count;

/** grt_image_frames_new - begins. Return: 0 or -ENOMEM */
int grt_image_frames_new(struct grt_image_frames **out);

/**
 * grt_image_frames_put - a stack, outermost frame first
 * @node: of @i; 0: nothing is put
 * @places: as with grt_frames_put()
 * @at: the node of @tree that it stands on; becomes that of its innermost frame
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_put(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			 struct grt_stacks *tree, uint32_t *at);

/**
 * grt_image_frames_function, grt_image_frames_text - the innermost function of a frame, and the same with its
 * place (frame_text.h), which that of an interpreter always has
 * @text: not terminated; valid until the next call of any kind
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_function(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			      const char **text, size_t *len);
int grt_image_frames_text(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  const char **text, size_t *len);

/**
 * grt_image_frames_inlined - the functions of a frame one by one, outermost first: those behind the first
 * were put into it by the compiler
 * @text: as above; empty behind the last
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_inlined(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, uint32_t k,
			     const char **text, size_t *len);

/**
 * grt_image_frames_end - why a stack ends, by its outermost node. One that says nothing of it reaches the
 * entry if it has the name of a function that programs begin in
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_end(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			 enum grt_stack_end *end);

/* Bytes of a stack's text: a stack of a few bytes in the trace may stand for 256 MiB. */
#define GRT_IMAGE_FRAMES_FOLDED_MAX (256U << 10)

/**
 * grt_image_frames_folded - a stack as one text, outermost frame first, with ; between, frames with their
 * places if these are wanted
 * @max: bytes of it; where there are more, "[cut]" stands for the frames that are left out
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_folded(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			    size_t max, char **out);

/**
 * grt_image_frames_brief - the frames of a stack that say most, innermost first: those behind CUDA's own
 * libraries, and the innermost of Python; of each, what a line has room for
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_brief(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, char **out);

/* Bytes of grt_image_frames_line()'s text. */
#define GRT_IMAGE_FRAMES_LINE 128U

/**
 * grt_image_frames_line - where in the program's own code a stack is: the innermost line of own code
 * (own_code.h) that an interpreter reported, else the innermost one, else the innermost function outside of
 * CUDA's libraries
 * @out: gets "serve.py:88" or a function, cut to its room; "": there is no frame
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_line(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  char out[GRT_IMAGE_FRAMES_LINE]);

/**
 * grt_image_kernel_name - a GPU function's name, demangled
 * @number: of a string of @i
 * @text: not terminated; valid until the next call of any kind
 * Return: 0 or -ENOMEM
 */
int grt_image_kernel_name(struct grt_image_frames *f, const struct grt_image *i, uint32_t number,
			  const char **text, size_t *len);

/** grt_image_is_cuda - a frame of CUDA's own libraries: such are below every launch */
bool grt_image_is_cuda(const struct grt_image *image, const struct grt_image_node *n);

/** grt_image_process_name - the program's file without its directories, or "pid N" */
const char *grt_image_process_name(const struct grt_image *i, char room[24]);

/** grt_image_frames_count - how looking up addresses went */
const struct grt_symbols_count *grt_image_frames_count(const struct grt_image_frames *f);

/** grt_image_frames_free - frees it; NULL is allowed */
void grt_image_frames_free(struct grt_image_frames *f);

#endif /* GRT_STACK_IMAGE_FRAMES_H */
