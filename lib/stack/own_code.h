/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which frames of a stack are the user's own code. The place in it that a wait or a
 * launch is reported under is the innermost frame of the outermost own code: where
 * the user's code called what is not the user's, seen from the thread's beginning.
 * Interpreters stand between frames of own code and do not end it.
 */
#ifndef GRT_STACK_OWN_CODE_H
#define GRT_STACK_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/** enum grt_code - whose code a frame is; see own_code.def */
enum grt_code {
	GRT_CODE_OWN,
	GRT_CODE_BEGIN,
	GRT_CODE_INTERPRETER,
	GRT_CODE_FOREIGN,
};

/**
 * struct grt_code_frame - a frame; what is unknown is NULL
 * @function: its name, or file+offset where it has none
 * @module: path of its object file
 * @source: path of an interpreter's file
 * @by_object: its object file decides: libraries are files of their own
 */
struct grt_code_frame {
	const char *function;
	const char *module;
	const char *source;
	bool by_object;
};

/** grt_code_of - whose a frame is */
enum grt_code grt_code_of(const struct grt_code_frame *f);

/** grt_code_set_up - what a program does whose stack has this frame, before its steady work; NULL: nothing
 * known */
const char *grt_code_set_up(const struct grt_code_frame *f);

/**
 * struct grt_own_place - all zero: no frame was seen
 * @found: there is own code; @at: the number of its frame
 * @dynamic: the C library is a file of its own
 * @whole: the outermost frame is one that a thread begins with
 */
struct grt_own_place {
	bool seen;
	bool dynamic;
	bool whole;
	bool found;
	bool left;
	uint32_t at;
};

/** grt_own_place_see - the next frame, the outermost first; @number: what @at becomes where it is the place
 */
void grt_own_place_see(struct grt_own_place *p, const struct grt_code_frame *f, uint32_t number);

#endif /* GRT_STACK_OWN_CODE_H */
