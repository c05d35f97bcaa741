// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The layouts of CPython's structures, see python_format.h. */
#include "python_format.h"

#include <string.h>

/* ---------------------------------------------------------------- layouts */

static const struct grt_python_layout grt_python_3_10 = {
	.runtime_interpreter = 32,
	.interpreter_next = 0,
	.interpreter_thread = 8,
	.tstate_next = 8,
	.tstate_thread = 176,
	.tstate_cframe = GRT_PYTHON_NONE,
	.tstate_frame = 24,
	.frame_code = 32,
	.frame_previous = 24,
	.frame_instr = GRT_PYTHON_NONE,
	.frame_index = 96,
	.frame_is_entry = GRT_PYTHON_NONE,
	.frame_owner = GRT_PYTHON_NONE,
	.object_type = 8,
	.object_size = 16,
	.code_filename = 104,
	.code_qualname = 112,
	.code_linetable = 120,
	.code_firstline = 40,
	.code_version = GRT_PYTHON_NONE,
	.code_first = GRT_PYTHON_NONE,
	.code_bytes = GRT_PYTHON_NONE,
	.bytes_data = 32,
	.text_length = 16,
	.text_hash = 24,
	.text_state = 32,
	.text_ascii = 48,
	.text_compact = 72,
	.frame_copy = GRT_PYTHON_NONE,
};

/**
 * struct reported - where in struct _Py_DebugOffsets, counted in words, a version has the offsets of a
 * struct; @frame, @code, @object, @bytes, @text: where the part of each struct begins, with its size
 */
struct reported {
	uint8_t tstate;
	uint8_t frame;
	uint8_t code;
	uint8_t object;
	uint8_t bytes;
	uint8_t text;
};

#define REPORTED_VERSION 1
#define REPORTED_FREE_THREADED 2
#define REPORTED_INTERPRETER 5
#define REPORTED_INTERPRETER_NEXT 8
#define REPORTED_INTERPRETER_THREAD 9

static bool python_reported(const struct reported *at, const uint64_t *w, struct grt_python_layout *l)
{
	const uint64_t *tstate = w + at->tstate, *frame = w + at->frame, *code = w + at->code,
		       *bytes = w + at->bytes, *text = w + at->text;

	for (unsigned int i = at->tstate; i < at->text + 4U; i++)
		if (w[i] >= GRT_PYTHON_NONE)
			return false;
	if (w[REPORTED_INTERPRETER] >= GRT_PYTHON_NONE || w[REPORTED_INTERPRETER_NEXT] >= GRT_PYTHON_NONE ||
	    w[REPORTED_INTERPRETER_THREAD] >= GRT_PYTHON_NONE)
		return false;
	*l = (struct grt_python_layout){
		.runtime_interpreter = (uint16_t)w[REPORTED_INTERPRETER],
		.interpreter_next = (uint16_t)w[REPORTED_INTERPRETER_NEXT],
		.interpreter_thread = (uint16_t)w[REPORTED_INTERPRETER_THREAD],
		.tstate_next = (uint16_t)tstate[2],
		.tstate_thread = (uint16_t)tstate[5],
		.tstate_cframe = GRT_PYTHON_NONE,
		.tstate_frame = (uint16_t)tstate[4],
		.frame_is_entry = GRT_PYTHON_NONE,
		.frame_index = GRT_PYTHON_NONE,
		.frame_previous = (uint16_t)frame[1],
		.frame_code = (uint16_t)frame[2],
		.frame_instr = (uint16_t)frame[3],
		.frame_owner = (uint16_t)frame[5],
		.object_type = (uint16_t)w[at->object + 1],
		.object_size = (uint16_t)bytes[1],
		.code_filename = (uint16_t)code[1],
		.code_qualname = (uint16_t)code[3],
		.code_linetable = (uint16_t)code[4],
		.code_firstline = (uint16_t)code[5],
		/* int co_firstlineno, five more, then co_version (Include/cpython/code.h) */
		.code_version = (uint16_t)(code[5] + 24),
		/* int _co_firsttraceable, void *co_extra, then the code */
		.code_first = (uint16_t)(code[9] - 16),
		.code_bytes = (uint16_t)code[9],
		.bytes_data = (uint16_t)bytes[2],
		.text_length = (uint16_t)text[2],
		.text_hash = (uint16_t)(text[2] + 8),
		.text_state = (uint16_t)text[1],
		.text_ascii = (uint16_t)text[3],
		.text_compact = (uint16_t)(text[3] + 16),
		.frame_copy = GRT_PYTHON_NONE,
	};
	return true;
}

/* 3.14: each thread runs a copy of the code, and `interned` of a str is a byte instead of two bits. */
static void python_without_lock(const struct reported *at, const uint64_t *w, struct grt_python_layout *l)
{
	l->frame_copy = (uint16_t)w[at->frame + 7];
	l->code_copies = (uint16_t)w[at->code + 10];
	l->code_first = (uint16_t)(l->code_first - 8);
	l->text_shift = 6;
}

bool grt_python_layout_any(unsigned int minor, const uint64_t *runtime, struct grt_python_layout *l)
{
	static const struct reported reported_3_13 = {19, 28, 34, 44, 64, 67},
				     reported_3_14 = {22, 31, 39, 50, 74, 77};

	if (minor < 13) {
		*l = minor == 10 ? grt_python_3_10 : minor == 11 ? grt_python_3_11 : grt_python_3_12;
		return minor >= GRT_PYTHON_FIRST;
	}
	if (minor > GRT_PYTHON_LAST || memcmp(runtime, "xdebugpy", 8) ||
	    runtime[REPORTED_VERSION] >> 16 != (0x0300 | minor) ||
	    !python_reported(minor == 13 ? &reported_3_13 : &reported_3_14, runtime, l))
		return false;
	if (minor > 13 && runtime[REPORTED_FREE_THREADED])
		python_without_lock(&reported_3_14, runtime, l);
	return true;
}

bool grt_python_layout(unsigned int minor, const uint64_t *runtime, struct grt_python_layout *l)
{
	return (minor < 13 || !runtime[REPORTED_FREE_THREADED]) && grt_python_layout_any(minor, runtime, l);
}

/* ------------------------------------------------------------------ lines */

struct varints {
	const uint8_t *at;
	const uint8_t *end;
};

static uint8_t python_next_byte(struct varints *v)
{
	return v->at < v->end ? *v->at++ : 0;
}

/* Six bits a byte, the least first, 0x40: more to come. */
static uint32_t python_next_number(struct varints *v)
{
	uint32_t value = 0, shift = 0, byte;

	do {
		byte = python_next_byte(v);
		if (shift < 32)
			value |= (byte & 0x3f) << shift;
		shift += 6;
	} while (byte & 0x40);
	return value;
}

static int32_t python_next_signed(struct varints *v)
{
	uint32_t value = python_next_number(v);

	return value & 1 ? -(int32_t)(value >> 1) : (int32_t)(value >> 1);
}

/*
 * Objects/locations.md of CPython: entries of a byte 0x80 | kind << 3 | units - 1, and
 * what its kind has.
 */
static uint32_t python_line_of_unit(struct varints v, int64_t line, int64_t unit)
{
	unsigned int kind;
	bool has_line;

	while (v.at < v.end) {
		uint8_t head = python_next_byte(&v);

		kind = head >> 3 & 15;
		has_line = kind != 15;
		if (kind == 13 || kind == 14)
			line += python_next_signed(&v);
		else if (kind >= 10 && kind <= 12)
			line += (int32_t)kind - 10;
		unit -= (head & 7) + 1;
		if (unit < 0)
			return has_line && line > 0 ? (uint32_t)line : 0;
		while (v.at < v.end && !(*v.at & 0x80))
			v.at++;
	}
	return 0;
}

/* Objects/lnotab_notes.txt of 3.10: bytes of code, and how much further the line is; -128: they have none. */
static uint32_t python_line_of_byte(struct varints v, int64_t line, int64_t at)
{
	int8_t more;

	while (v.end - v.at >= 2) {
		at -= python_next_byte(&v);
		more = (int8_t)python_next_byte(&v);
		line += more == -128 ? 0 : more;
		if (at < 0)
			return more != -128 && line > 0 ? (uint32_t)line : 0;
	}
	return 0;
}

uint32_t grt_python_line(unsigned int minor, const uint8_t *table, uint64_t size, int32_t first, int64_t unit)
{
	const struct varints v = {table, table + size};

	if (unit < 0)
		return first > 0 ? (uint32_t)first : 0;
	return minor == 10 ? python_line_of_byte(v, first, 2 * unit) : python_line_of_unit(v, first, unit);
}

/* ---------------------------------------------------------------- strings */

/* Writes a character as UTF-8, at most 4 bytes. A single surrogate is not a character. */
static size_t python_put(uint32_t c, char *to)
{
	if (c >= 0xd800 && c < 0xe000)
		c = 0xfffd;
	if (c < 0x80) {
		to[0] = (char)c;
		return 1;
	}
	if (c < 0x800) {
		to[0] = (char)(0xc0 | c >> 6);
		to[1] = (char)(0x80 | (c & 0x3f));
		return 2;
	}
	if (c < 0x10000) {
		to[0] = (char)(0xe0 | c >> 12);
		to[1] = (char)(0x80 | (c >> 6 & 0x3f));
		to[2] = (char)(0x80 | (c & 0x3f));
		return 3;
	}
	to[0] = (char)(0xf0 | (c >> 18 & 7));
	to[1] = (char)(0x80 | (c >> 12 & 0x3f));
	to[2] = (char)(0x80 | (c >> 6 & 0x3f));
	to[3] = (char)(0x80 | (c & 0x3f));
	return 4;
}

static uint32_t python_character(const char *data, unsigned int kind, uint64_t i)
{
	uint16_t two;
	uint32_t four;

	if (kind == 1)
		return (uint8_t)data[i];
	if (kind == 2) {
		memcpy(&two, data + 2 * i, 2);
		return two;
	}
	memcpy(&four, data + 4 * i, 4);
	return four;
}

size_t grt_python_utf8(const char *data, uint32_t state, uint64_t length, char *to, size_t room, bool tail)
{
	unsigned int kind = GRT_PYTHON_TEXT_KIND(state);
	bool ascii = state & GRT_PYTHON_TEXT_ASCII;
	size_t used = 0;
	uint64_t i = 0;

	if (!(state & GRT_PYTHON_TEXT_FOLLOWS) || (kind != 1 && kind != 2 && kind != 4))
		return 0;
	if (tail && length > room / 4 && !(ascii && length <= room))
		i = length - (ascii ? room : room / 4);
	for (; i < length && used + 4 <= room + (ascii ? 3 : 0); i++)
		used += python_put(python_character(data, kind, i), to + used);
	return used;
}
