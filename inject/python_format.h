/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The layouts of frames, line tables and strings in CPython 3.10 to 3.14. The functions have
 * no state and do not trust their input.
 *
 * Layouts: Include/internal/pycore_frame.h, pycore_runtime.h, pycore_interp.h,
 * Include/cpython/{pystate,code,unicodeobject,frameobject}.h of 3.10.13, 3.11.7 and
 * 3.12.1; from 3.13 on _PyRuntime reports them (_Py_DebugOffsets).
 */
#ifndef GRT_INJECT_PYTHON_FORMAT_H
#define GRT_INJECT_PYTHON_FORMAT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "python_layout.h"

#define GRT_PYTHON_FIRST 10U
#define GRT_PYTHON_LAST 14U

/* Number of words at the start of _PyRuntime that may be offsets. */
#define GRT_PYTHON_OFFSETS 96U

/* In the header, so that they are constants in the injected library. */
static const struct grt_python_layout grt_python_3_11 = {
	.runtime_interpreter = 40,
	.interpreter_next = 0,
	.interpreter_thread = 16,
	.tstate_next = 8,
	.tstate_thread = 152,
	.tstate_cframe = 56,
	.cframe_current = 8,
	.cframe_previous = 16,
	.tstate_frame = GRT_PYTHON_NONE,
	.frame_code = 32,
	.frame_previous = 48,
	.frame_instr = 56,
	.frame_index = GRT_PYTHON_NONE,
	.frame_is_entry = 68,
	.frame_owner = 69,
	.object_type = 8,
	.object_size = 16,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstline = 72,
	.code_version = GRT_PYTHON_NONE,
	.code_first = 168,
	.code_bytes = 184,
	.bytes_data = 32,
	.text_length = 16,
	.text_hash = 24,
	.text_state = 32,
	.text_ascii = 48,
	.text_compact = 72,
	.frame_copy = GRT_PYTHON_NONE,
};

static const struct grt_python_layout grt_python_3_12 = {
	.runtime_interpreter = 40,
	.interpreter_next = 0,
	.interpreter_thread = 72,
	.tstate_next = 8,
	.tstate_thread = 136,
	.tstate_cframe = 56,
	.cframe_current = 0,
	.cframe_previous = 8,
	.tstate_frame = GRT_PYTHON_NONE,
	.frame_code = 0,
	.frame_previous = 8,
	.frame_instr = 56,
	.frame_index = GRT_PYTHON_NONE,
	.frame_is_entry = GRT_PYTHON_NONE,
	.frame_owner = 70,
	.object_type = 8,
	.object_size = 16,
	.code_filename = 112,
	.code_qualname = 128,
	.code_linetable = 136,
	.code_firstline = 68,
	.code_version = 92,
	.code_first = 176,
	.code_bytes = 192,
	.bytes_data = 32,
	.text_length = 16,
	.text_hash = 24,
	.text_state = 32,
	.text_ascii = 40,
	.text_compact = 56,
	.frame_copy = GRT_PYTHON_NONE,
};

/**
 * grt_python_layout - the layout of CPython 3.@minor
 * @runtime: from 3.13 on: the first GRT_PYTHON_OFFSETS words of _PyRuntime; otherwise not read
 * Return: whether it is known
 */
bool grt_python_layout(unsigned int minor, const uint64_t *runtime, struct grt_python_layout *l);

/** grt_python_layout_any - grt_python_layout(), also for builds without the global lock */
bool grt_python_layout_any(unsigned int minor, const uint64_t *runtime, struct grt_python_layout *l);

/**
 * grt_python_line - the line of a code unit; 0: none, or the table does not have it
 * @table: @size bytes of co_linetable
 * @first: co_firstlineno
 */
uint32_t grt_python_line(unsigned int minor, const uint8_t *table, uint64_t size, int32_t first,
			 int64_t unit);

/*
 * The state of a str: bits 2..4: bytes per character, 5: the characters follow the state, 6: all are ASCII.
 */
#define GRT_PYTHON_TEXT_KIND(state) ((state) >> 2 & 7)
#define GRT_PYTHON_TEXT_FOLLOWS 0x20
#define GRT_PYTHON_TEXT_ASCII 0x40

/**
 * grt_python_utf8 - the characters of a str as UTF-8
 * @to: gets at most @room + 4 bytes
 * @tail: if @room is too small, return the end of the text instead of its beginning
 * Return: bytes
 */
size_t grt_python_utf8(const char *data, uint32_t state, uint64_t length, char *to, size_t room, bool tail);

#endif /* GRT_INJECT_PYTHON_FORMAT_H */
