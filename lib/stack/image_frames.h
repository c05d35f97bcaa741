/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The frames of traced processes' stacks as text: the functions of addresses are looked up in the object
 * files that the trace names; functions of interpreters are in the trace. Results are stored, so that each
 * frame is looked up once.
 */
#ifndef GRT_STACK_IMAGE_FRAMES_H
#define GRT_STACK_IMAGE_FRAMES_H

#include "images.h"
#include "stacks.h"

struct grt_image_frames;
struct grt_symbols_count;

/** grt_image_frames_new - sets up the lookup of frames. Return: 0 or -ENOMEM */
int grt_image_frames_new(struct grt_image_frames **out);

/**
 * grt_image_frames_put - adds the frames of a stack to a tree, outermost frame first
 * @node: innermost frame, a node of @i; 0: nothing is added
 * @places: see grt_frames_put()
 * @at: the node of @tree under which the stack begins; becomes the node of the innermost frame
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_put(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			 struct grt_stacks *tree, uint32_t *at);

/**
 * grt_image_frames_function, grt_image_frames_text - the innermost function of a frame; the same with its
 * place in the source (grt_frame_text()), which functions of interpreters always have
 * @text: not terminated; valid until the next call of a function of this header
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_function(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			      const char **text, size_t *len);
int grt_image_frames_text(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  const char **text, size_t *len);

/**
 * grt_image_frames_inlined - function @k of a frame, outermost first: all but the first were inlined by the
 * compiler
 * @text: as above; empty if the frame has no function @k
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_inlined(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, uint32_t k,
			     const char **text, size_t *len);

/**
 * grt_image_frames_end - why a stack ends, by its outermost node. A node without a reason is the program's
 * entry if it has the name of a function in which programs begin Return: 0 or -ENOMEM
 */
int grt_image_frames_end(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			 enum grt_stack_end *end);

/* Maximum length of a stack's text, bytes: the text of a stack that takes a few bytes in the trace may have
 * 256 MiB. */
#define GRT_IMAGE_FRAMES_FOLDED_MAX (256U << 10)

/**
 * grt_image_frames_folded - a stack as one text, outermost frame first, frames separated by ;
 * @places: frames have their places in the source
 * @max: maximum length, bytes; "[cut]" replaces frames beyond it
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_folded(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, bool places,
			    size_t max, char **out);

/**
 * grt_image_frames_brief - the most telling frames of a stack, innermost first: those that called CUDA's own
 * libraries, and the innermost Python frame; cut to the width of a line
 * @out: gets a text for free()
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_brief(struct grt_image_frames *f, const struct grt_image *i, uint32_t node, char **out);

/* Room for the text of grt_image_frames_line(), bytes. */
#define GRT_IMAGE_FRAMES_LINE 128U

/**
 * grt_image_frames_line - the place of a stack in the program's own code: the innermost interpreted line of
 * own code (own_code.h); without one, the innermost interpreted line; without one, the innermost function
 * outside of CUDA's libraries
 * @out: gets "serve.py:88" or a function, cut to its room; "": the stack has no frame
 * Return: 0 or -ENOMEM
 */
int grt_image_frames_line(struct grt_image_frames *f, const struct grt_image *i, uint32_t node,
			  char out[GRT_IMAGE_FRAMES_LINE]);

/**
 * grt_image_kernel_name - the demangled name of a GPU function
 * @number: number of the string of @i with the name
 * @text: not terminated; valid until the next call of a function of this header
 * Return: 0 or -ENOMEM
 */
int grt_image_kernel_name(struct grt_image_frames *f, const struct grt_image *i, uint32_t number,
			  const char **text, size_t *len);

/** grt_image_is_cuda - whether a frame is in CUDA's own libraries, as the innermost frames of every launch
 * are */
bool grt_image_is_cuda(const struct grt_image *image, const struct grt_image_node *n);

/** grt_image_process_name - name of the program's file without directories, or "pid N" */
const char *grt_image_process_name(const struct grt_image *i, char room[24]);

/** grt_image_frames_count - counts of looked-up addresses and files */
const struct grt_symbols_count *grt_image_frames_count(const struct grt_image_frames *f);

/** grt_image_frames_free - frees @f, which may be NULL */
void grt_image_frames_free(struct grt_image_frames *f);

#endif /* GRT_STACK_IMAGE_FRAMES_H */
