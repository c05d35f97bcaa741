/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The Python frames of the calling thread, read from CPython 3.10 to 3.14
 * in this process: nothing of the interpreter is called but a read of thread
 * local storage, so that it does not matter who holds the GIL.
 *
 * The unwinder asks; a writer needs only grt_python_text() and
 * grt_python_why_not().
 */
#ifndef GRT_INJECT_PYTHON_H
#define GRT_INJECT_PYTHON_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/**
 * struct grt_pytext - a line of Python
 * @function: qualified name ("Model.forward"), UTF-8, cut where longer than 511 bytes; untrusted
 * @file: as the code object has it, cut in front where longer than 1023 bytes (".../x.py"); untrusted
 * @line: 0 where the instruction has none
 *
 * The texts stay for the life of the process.
 */
struct grt_pytext {
	const char *function;
	const char *file;
	uint32_t line;
};

/**
 * grt_python_text - by the number in a node (struct grt_unode.python)
 * Return: false where there is none
 */
bool grt_python_text(uint32_t number, struct grt_pytext *text);

/**
 * grt_python_init - finds the interpreter of this process, and tests that its structures are what we take
 * them for; may be called again, and does nothing once one was found or refused
 * Return: 0 found, -EAGAIN none here (yet), -ENOTSUP one that is unknown
 *
 * Looks symbols up: not for callbacks.
 */
int grt_python_init(void);

/**
 * grt_python_why_not - why Python frames will not be seen ("CPython 3.9: ..."), one line; NULL where they
 * are, or where there is no Python
 */
const char *grt_python_why_not(void);

/* ------------------------------------------------- for the unwinder only */

/**
 * struct grt_pyframe - a frame of Python, or where an entry of the interpreter lies on the C stack
 * @cstack: not 0: an address within the native frame that the Python frames before this one run in
 * @code, @instr: otherwise, the code object and the instruction
 * @print: of the code object, as another one may be at its place the next time
 */
struct grt_pyframe {
	uintptr_t cstack;
	const char *code;
	const char *instr;
	uint64_t print;
};

/**
 * grt_python_frames - the calling thread's chain, innermost first
 * @low, @high: the C stack that it runs on
 * Return: how many; 0 without Python. Where all @max are used the rest is unknown.
 */
unsigned int grt_python_frames(uint64_t low, uint64_t high, struct grt_pyframe *frame, unsigned int max);

/* The number of a frame that is the interpreter's own business, not a function of the program. */
#define GRT_PYTHON_SKIP 0xffffffffU

/** grt_python_intern - the number of a frame's text; 0 where there was no room. The frame must be running. */
uint32_t grt_python_intern(const struct grt_pyframe *frame);

/** grt_python_texts - how many there are; @no_memory gets how many found no room */
uint32_t grt_python_texts(uint64_t *no_memory);

#endif /* GRT_INJECT_PYTHON_H */
