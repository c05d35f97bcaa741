/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The Python frames of the calling thread, read from CPython 3.10 to 3.14
 * in this process. No function of the interpreter is called, except to read thread
 * local storage, so the GIL need not be held.
 *
 * For the unwinder; a writer needs only grt_python_text() and
 * grt_python_why_not().
 */
#ifndef GRT_INJECT_PYTHON_H
#define GRT_INJECT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct grt_pytext - a line of Python
 * @function: qualified name ("Model.forward"), UTF-8, at most 511 bytes; untrusted
 * @file: as in the code object; of more than 1023 bytes, the end (".../x.py"); untrusted
 * @line: 0 if the instruction has no line
 *
 * The texts stay valid until the process ends.
 */
struct grt_pytext {
	const char *function;
	const char *file;
	uint32_t line;
};

/**
 * grt_python_text - the text of the number in a node (struct grt_unode.python)
 * Return: false if there is none
 */
bool grt_python_text(uint32_t number, struct grt_pytext *text);

/**
 * grt_python_init - finds the interpreter of this process, and checks its structures; may be called again,
 * and does nothing once an interpreter was found or refused
 * Return: 0 found, -EAGAIN no interpreter (yet), -ENOTSUP an unknown interpreter
 *
 * Looks up symbols: do not call it in callbacks.
 */
int grt_python_init(void);

/**
 * grt_python_why_not - why there are no Python frames ("CPython 3.9: ..."), one line; NULL if there are
 * Python frames or no Python
 */
const char *grt_python_why_not(void);

/* ------------------------------------------------ for hooks in Python code */

/** struct grt_pycall - a call that runs: its frame, which another call may have later, and its code object */
struct grt_pycall {
	const char *frame;
	const char *code;
};

/** grt_python_call_first - the innermost Python call of the calling thread, which need not hold the GIL.
 * Return: whether there is one */
bool grt_python_call_first(struct grt_pycall *c);

/** grt_python_call_outer - the call around this one. Return: whether there is one */
bool grt_python_call_outer(struct grt_pycall *c);

/** grt_python_symbol - a function of the interpreter that grt_python_init() has found; NULL: none. Not for
 * callbacks */
void *grt_python_symbol(const char *name);

/** grt_python_ends - whether the interpreter is being finalized */
bool grt_python_ends(void);

/* ------------------------------------------------- for the unwinder only */

/**
 * struct grt_pyframe - a Python frame, or the place of an interpreter entry on the C stack
 * @cstack: not 0: an address within the native frame that runs the previous Python frames
 * @code, @instr: otherwise, the code object and the instruction
 * @print: a fingerprint of the code object, because another one may have the same address later
 */
struct grt_pyframe {
	uintptr_t cstack;
	const char *code;
	const char *instr;
	uint64_t print;
};

/**
 * grt_python_frames - the Python frames of the calling thread, innermost first
 * @low, @high: its C stack
 * Return: number of frames; 0 without Python. If this is @max, the remaining frames are unknown.
 */
unsigned int grt_python_frames(uint64_t low, uint64_t high, struct grt_pyframe *frame, unsigned int max);

/* The number of an internal frame of the interpreter, which is no function of the program. */
#define GRT_PYTHON_SKIP 0xffffffffU

/** grt_python_intern - the number of a frame's text; 0 if there is no room. The frame must be running. */
uint32_t grt_python_intern(const struct grt_pyframe *frame);

/** grt_python_texts - number of texts; @no_memory gets the number of texts without room */
uint32_t grt_python_texts(uint64_t *no_memory);

#endif /* GRT_INJECT_PYTHON_H */
