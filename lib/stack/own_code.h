/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Which frames of a stack are the user's own code. A wait or a launch is reported at the innermost frame of
 * the outermost own code: seen from the start of the thread, the place where the user's code first called
 * code that is not the user's. Frames of an interpreter between frames of own code do not end the own code.
 */
#ifndef GRT_STACK_OWN_CODE_H
#define GRT_STACK_OWN_CODE_H

#include <stdbool.h>
#include <stdint.h>

/** enum grt_code - the owner of a frame's code; see own_code.def */
enum grt_code {
	GRT_CODE_OWN,
	GRT_CODE_BEGIN,
	GRT_CODE_INTERPRETER,
	GRT_CODE_FOREIGN,
};

/**
 * struct grt_code_frame - a frame; an unknown member is NULL
 * @function: name of the function, or file+offset if the name is unknown
 * @module: path of the object file
 * @source: path of the source file, for a frame of an interpreter
 * @by_object: the object file decides, as libraries are separate files
 */
struct grt_code_frame {
	const char *function;
	const char *module;
	const char *source;
	bool by_object;
};

/** grt_code_of - the owner of a frame's code */
enum grt_code grt_code_of(const struct grt_code_frame *f);

/** grt_code_set_up - what a program with this frame in its stack does before its steady work; NULL: nothing
 * is known
 */
const char *grt_code_set_up(const struct grt_code_frame *f);

/**
 * struct grt_own_place - the place of own code in a stack; all zero: no frame was seen
 * @found: there is own code; @at: number of its frame
 * @dynamic: the C library is a separate file
 * @whole: the outermost frame is a function in which threads begin
 */
struct grt_own_place {
	bool seen;
	bool dynamic;
	bool whole;
	bool found;
	bool left;
	uint32_t at;
};

/** grt_own_place_see - processes the next frame, the outermost first; @number: value of @at if this is the
 * place */
void grt_own_place_see(struct grt_own_place *p, const struct grt_code_frame *f, uint32_t number);

#endif /* GRT_STACK_OWN_CODE_H */
