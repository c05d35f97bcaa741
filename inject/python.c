// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * CPython keeps a thread's frames in a chain that only this thread changes, so
 * in a callback on that thread the chain stands still, GIL or not, and each
 * frame holds its code object. What is read there is copied at once: a code
 * object may be gone the next time, and another one be in its place, so a known
 * (code, instruction) counts only with the code's fingerprint.
 *
 * Where an entry of the interpreter (_PyEval_EvalFrameDefault) begins is reported by
 * the structure that each entry has on the C stack: CFrame in 3.10 (an entry for each
 * frame), _PyCFrame in 3.11, a frame of its own in the chain from 3.12 on.
 */
#include "python.h"
#include "python_format.h"
#include "reserve.h"

#include <dlfcn.h>
#include <errno.h>
#include <link.h>
#include <stdatomic.h>
#include <stdio.h>
#include <string.h>
#include <sys/uio.h>
#include <unistd.h>

struct text {
	const char *function;
	const char *file;
	uint32_t line;
	_Atomic uint32_t ready;
};

/* The frame of (code, instruction) if its code has this fingerprint. */
struct known {
	const char *code;
	const char *instr;
	uint64_t print;
	_Atomic uint32_t number; /* 0: not yet known */
	_Atomic uint32_t claimed;
};

#define KNOWN_SLOTS (1U << 16)
#define TEXT_SLOTS (1U << 18)
#define TEXT_MAX (1U << 17)
#define STRING_SLOTS (1U << 17)
#define ARENA_SIZE (64UL << 20)
#define PROBES 16
/* The largest frame_owner: 4 since 3.14. */
#define OWNERS 4
#define FUNCTION_MAX 511
#define FILE_MAX 1023

/* Offsets of 3.10 only: of the pointer to CFrame, of the frame in it, and of the code's bytes object. */
enum { TSTATE_CFRAME_3_10 = 48, CFRAME_PREVIOUS_3_10 = 8, CODE_CODE_3_10 = 48 };

struct chain;

enum check { UNCHECKED, GOOD, BAD };

static struct {
	_Atomic bool found;
	_Atomic int check;
	bool refused;
	char why[160];
	struct grt_python_layout layout;
	unsigned int minor;
	void *handle;
	void *(*thread_state)(void);
	int (*ends)(void); /* whether Py_FinalizeEx() has begun; NULL: unknown */
	void (*chain)(struct chain *c, const char *tstate);
	const void *code_type;
	const void *unicode_type;
	const void *bytes_type;
	struct known *known;
	struct text *text;
	_Atomic uint32_t *text_slot;	    /* numbers of texts, 0: unused */
	_Atomic(const char *) *string_slot; /* NULL: unused */
	char *arena;
	_Atomic uint64_t arena_used;
	_Atomic uint32_t texts;
	_Atomic uint64_t no_memory;
} py;

/* -------------------------------------------------------------- reading */

static uint64_t python_word_at(const char *object, uint16_t offset)
{
	uint64_t value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

static const char *python_pointer_at(const char *object, uint16_t offset)
{
	return (const char *)(uintptr_t)python_word_at(object, offset);
}

static int32_t python_int_at(const char *object, uint16_t offset)
{
	int32_t value;

	memcpy(&value, object + offset, sizeof(value));
	return value;
}

static bool python_plausible(const char *pointer)
{
	return (uintptr_t)pointer >= 4096 && !((uintptr_t)pointer & 7) && (uintptr_t)pointer >> 47 == 0;
}

/* Return: the pointer without the tags of 3.14. */
static const char *python_code_of(const char *pointer)
{
	return (const char *)((uintptr_t)pointer & ~(uintptr_t)7);
}

static bool python_is_a(const char *object, const void *type)
{
	return python_plausible(object) &&
	       (const void *)python_pointer_at(object, py.layout.object_type) == type;
}

/* ------------------------------------------------------- is it as we think */

/* Reads memory that may not exist, without a fault. */
static bool python_try_read(const char *at, void *to, size_t size)
{
	struct iovec local = {to, size}, remote = {(void *)(uintptr_t)at, size};

	return process_vm_readv(getpid(), &local, 1, &remote, 1, 0) == (ssize_t)size;
}

static const char *python_try_pointer(const char *object, uint16_t offset)
{
	uint64_t value = 0;

	if (!python_plausible(object) || !python_try_read(object + offset, &value, sizeof(value)))
		return NULL;
	return (const char *)(uintptr_t)value;
}

static bool python_try_is_a(const char *object, const void *type)
{
	return (const void *)python_try_pointer(object, py.layout.object_type) == type;
}

/* Offset in bytes of the running instruction from the code's first one. */
static int64_t python_try_distance(const char *f, const char *code)
{
	const struct grt_python_layout *l = &py.layout;
	const char *instr, *bytes = code + l->code_bytes;
	int32_t at = 0;

	if (l->frame_index != GRT_PYTHON_NONE)
		return python_try_read(f + l->frame_index, &at, sizeof(at)) ? 2 * (int64_t)at : INT64_MAX;
	instr = python_try_pointer(f, l->frame_instr);
	if (l->frame_copy != GRT_PYTHON_NONE) {
		if (!python_try_read(f + l->frame_copy, &at, sizeof(at)) || at < 0 || at > 4096)
			return INT64_MAX;
		bytes = python_try_pointer(python_try_pointer(code, l->code_copies), (uint16_t)(8 + 8 * at));
	}
	return instr - bytes;
}

static bool python_try_code(const char *code, int64_t distance)
{
	const struct grt_python_layout *l = &py.layout;
	uint64_t size;

	if (!python_try_is_a(code, py.code_type))
		return false;
	if (l->frame_index != GRT_PYTHON_NONE)
		size = (uintptr_t)python_try_pointer(python_try_pointer(code, CODE_CODE_3_10),
						     l->object_size);
	else
		size = 2 * (uintptr_t)python_try_pointer(code, l->object_size);
	return python_try_is_a(python_try_pointer(code, l->code_qualname), py.unicode_type) &&
	       python_try_is_a(python_try_pointer(code, l->code_filename), py.unicode_type) &&
	       python_try_is_a(python_try_pointer(code, l->code_linetable), py.bytes_type) &&
	       size < 1U << 29 && distance >= -2 && distance < (int64_t)size;
}

/*
 * Checks a first frame, its code object and so on: wrong offsets would not lead to objects of the right
 * types.
 */
static enum check python_check_chain(const char *tstate)
{
	const struct grt_python_layout *l = &py.layout;
	unsigned int seen = 0;
	const char *f, *code;
	char owner = 0, probe;

	if (!python_try_read(tstate, &probe, 1))
		return GOOD; /* the system does not allow the check, so the version number decides */
	if (l->tstate_frame != GRT_PYTHON_NONE)
		f = python_try_pointer(tstate, l->tstate_frame);
	else
		f = python_try_pointer(python_try_pointer(tstate, l->tstate_cframe), l->cframe_current);
	if (!f)
		return UNCHECKED;
	for (; f && seen < 4; f = python_try_pointer(f, l->frame_previous)) {
		code = python_code_of(python_try_pointer(f, l->frame_code));
		if (!python_plausible(f) ||
		    (l->frame_owner != GRT_PYTHON_NONE && !python_try_read(f + l->frame_owner, &owner, 1)) ||
		    (unsigned char)owner > OWNERS)
			return BAD;
		if (l->frame_is_entry == GRT_PYTHON_NONE && owner >= GRT_PYTHON_ENTRY)
			continue;
		if (!python_try_code(code, python_try_distance(f, code)))
			return BAD;
		seen++;
	}
	return seen ? GOOD : UNCHECKED;
}

static bool python_usable(const char *tstate)
{
	int check = atomic_load_explicit(&py.check, memory_order_relaxed), seen = UNCHECKED;
	int error = errno;

	if (check == UNCHECKED) {
		check = python_check_chain(tstate);
		/* if one thread finds a layout wrong, it is wrong for all */
		if (check == BAD)
			atomic_store(&py.check, BAD);
		else if (!atomic_compare_exchange_strong(&py.check, &seen, check))
			check = seen;
	}
	errno = error;
	return check == GOOD;
}

/* ------------------------------------------------------------ fingerprints */

/*
 * The following functions are inlined for each layout, so that offsets are constants: they run for each
 * Python frame of each stack.
 */
#define FOR_A_LAYOUT static inline __attribute__((always_inline))

#define PRINT_WORDS 32

/*
 * Fingerprint of bytes: up to 32 words all of them, otherwise 32 of them. Objects are allocated in units of
 * words.
 */
FOR_A_LAYOUT uint64_t python_print_of_bytes(const char *data, uint64_t size)
{
	uint64_t words = size / 8, print = size, word, step = 8;

	if (!words)
		return print ^ (python_word_at(data, 0) << (size ? 64 - 8 * size : 63));
	if (words > PRINT_WORDS) {
		step = (size - 8) / (PRINT_WORDS - 1);
		words = PRINT_WORDS;
	}
	for (const char *at = data; words; words--, at += step) {
		memcpy(&word, at, sizeof(word));
		print = (print << 5 | print >> 59) ^ word;
	}
	memcpy(&word, data + size - 8, sizeof(word));
	return (print << 5 | print >> 59) ^ word;
}

/*
 * The hash of a str if it is known (not -1), otherwise a fingerprint of at most as many characters as bytes
 * of a table of lines.
 */
FOR_A_LAYOUT uint64_t python_print_of_text(const struct grt_python_layout *l, const char *str)
{
	uint64_t hash = python_word_at(str, l->text_hash);
	uint32_t state;

	if (hash != ~0ULL)
		return hash;
	state = (uint32_t)python_int_at(str, l->text_state) >> l->text_shift;
	return python_print_of_bytes(str + (state & GRT_PYTHON_TEXT_ASCII ? l->text_ascii : l->text_compact),
				     python_word_at(str, l->text_length) * GRT_PYTHON_TEXT_KIND(state));
}

/*
 * Fingerprint of a code object without a number of its own. A long table of lines is not read completely, so
 * a code object that differs from another one only in a few lines may be taken for it.
 */
FOR_A_LAYOUT uint64_t python_print_of_content(const struct grt_python_layout *l, const char *code)
{
	const char *table = python_pointer_at(code, l->code_linetable);
	uint64_t file = python_print_of_text(l, python_pointer_at(code, l->code_filename));

	return python_print_of_bytes(table + l->bytes_data, python_word_at(table, l->object_size)) ^
	       file << 1;
}

/* Return: 0: it is not a code object. */
FOR_A_LAYOUT uint64_t python_fingerprint(const struct grt_python_layout *l, const char *code)
{
	uint64_t first, version;

	if (!python_plausible(code) || (const void *)python_pointer_at(code, l->object_type) != py.code_type)
		return 0;
	first = (uint64_t)(uint32_t)python_int_at(code, l->code_firstline) << 32 ^
		python_word_at(code, l->object_size);
	version = l->code_version == GRT_PYTHON_NONE ? 0 : (uint32_t)python_int_at(code, l->code_version);
	if (!version)
		version = python_print_of_content(l, code);
	return ((first * 0x9e3779b97f4a7c15ULL) ^ (version * 0xc2b2ae3d27d4eb4fULL) ^
		python_print_of_text(l, python_pointer_at(code, l->code_qualname))) |
	       1;
}

/* ---------------------------------------------------------------- the chain */

struct chain {
	uint64_t low; /* what an entry's place must be above: further out is higher */
	uint64_t high;
	struct grt_pyframe *frame;
	unsigned int used;
	unsigned int max;
};

/* Return: the instruction as if the thread ran the code itself and not a copy. */
static const char *python_instr_of_copy(const struct grt_python_layout *l, const char *frame,
					const char *code)
{
	int32_t copy = python_int_at(frame, l->frame_copy);
	const char *copies = python_plausible(code) ? python_pointer_at(code, l->code_copies) : NULL;

	if (!python_plausible(copies) || copy < 0 || (uint64_t)copy >= python_word_at(copies, 0))
		return code;
	return code + l->code_bytes +
	       (python_pointer_at(frame, l->frame_instr) - python_pointer_at(copies + 8 * (size_t)copy, 8));
}

FOR_A_LAYOUT void python_add_frame(const struct grt_python_layout *l, struct chain *c, const char *frame)
{
	struct grt_pyframe *f = &c->frame[c->used++];

	f->cstack = 0;
	f->code = python_code_of(python_pointer_at(frame, l->frame_code));
	f->print = python_fingerprint(l, f->code);
	if (l->frame_index != GRT_PYTHON_NONE)
		f->instr = f->code + l->code_bytes + 2 * (int64_t)python_int_at(frame, l->frame_index);
	else if (l->frame_copy != GRT_PYTHON_NONE && f->print)
		f->instr = python_instr_of_copy(l, frame, f->code);
	else
		f->instr = python_pointer_at(frame, l->frame_instr);
}

/* Return: false: the entry is not on this stack, and frames further out cannot be distinguished. */
static bool python_add_entry(struct chain *c, const char *entry)
{
	uint64_t at = (uintptr_t)entry;

	if (at <= c->low || at >= c->high)
		return false;
	c->low = at;
	c->frame[c->used++].cstack = at;
	return true;
}

/* 3.10: an entry, with a CFrame on the C stack, runs one frame. */
static void python_chain_3_10(struct chain *c, const char *tstate)
{
	const char *f = python_pointer_at(tstate, py.layout.tstate_frame),
		   *cframe = python_pointer_at(tstate, TSTATE_CFRAME_3_10);

	for (; python_plausible(f) && python_plausible(cframe) && c->used + 2 <= c->max;
	     f = python_pointer_at(f, py.layout.frame_previous)) {
		python_add_frame(&py.layout, c, f);
		if (!python_add_entry(c, cframe))
			return;
		cframe = python_pointer_at(cframe, CFRAME_PREVIOUS_3_10);
	}
}

/* 3.11: every entry has a _PyCFrame on the C stack, which its last frame marks. */
FOR_A_LAYOUT void python_chain_by_cframes(const struct grt_python_layout *l, struct chain *c,
					  const char *cframe)
{
	const char *f;

	for (; python_plausible(cframe); cframe = python_pointer_at(cframe, l->cframe_previous)) {
		f = python_pointer_at(cframe, l->cframe_current);
		if (!f)
			return;
		for (;; f = python_pointer_at(f, l->frame_previous)) {
			if (c->used + 2 > c->max || !python_plausible(f))
				return;
			python_add_frame(l, c, f);
			if (f[l->frame_is_entry])
				break;
		}
		if (!python_add_entry(c, cframe))
			return;
	}
}

/* 3.12 on: every entry has a frame of its own in the chain, on the C stack. */
FOR_A_LAYOUT void python_chain_by_frames(const struct grt_python_layout *l, struct chain *c, const char *f)
{
	for (; python_plausible(f) && c->used + 1 < c->max; f = python_pointer_at(f, l->frame_previous))
		if ((unsigned char)f[l->frame_owner] < GRT_PYTHON_ENTRY)
			python_add_frame(l, c, f);
		else if (!python_add_entry(c, f))
			return;
}

/* Frames that belong to no known entry are left out of the stack. */
static unsigned int python_whole_entries(const struct chain *c)
{
	unsigned int n = c->used;

	while (n && !c->frame[n - 1].cstack)
		n--;
	return n;
}

static void python_chain_3_11(struct chain *c, const char *tstate)
{
	python_chain_by_cframes(&grt_python_3_11, c,
				python_pointer_at(tstate, grt_python_3_11.tstate_cframe));
}

static void python_chain_3_12(struct chain *c, const char *tstate)
{
	const char *cframe = python_pointer_at(tstate, grt_python_3_12.tstate_cframe);

	if (python_plausible(cframe))
		python_chain_by_frames(&grt_python_3_12, c,
				       python_pointer_at(cframe, grt_python_3_12.cframe_current));
}

static void python_chain_3_13(struct chain *c, const char *tstate)
{
	python_chain_by_frames(&py.layout, c, python_pointer_at(tstate, py.layout.tstate_frame));
}

unsigned int grt_python_frames(uint64_t low, uint64_t high, struct grt_pyframe *frame, unsigned int max)
{
	struct chain c = {.low = low, .high = high, .frame = frame, .max = max};
	const char *tstate;

	if (!atomic_load_explicit(&py.found, memory_order_acquire))
		return 0;
	/* its end frees the states of all threads but the one that ends it, and a thread without the GIL goes
	 * on */
	if (py.ends && py.ends())
		return 0;
	tstate = py.thread_state();
	if (!tstate || !python_usable(tstate))
		return 0;
	py.chain(&c, tstate);
	return python_whole_entries(&c);
}

/* ------------------------------------------------------- which frames run */

/* The first one that is a frame of Python from this one on. */
static bool python_call_at(struct grt_pycall *c, const char *f)
{
	const struct grt_python_layout *l = &py.layout;

	while (python_plausible(f) && l->frame_is_entry == GRT_PYTHON_NONE &&
	       l->frame_owner != GRT_PYTHON_NONE && (unsigned char)f[l->frame_owner] >= GRT_PYTHON_ENTRY)
		f = python_pointer_at(f, l->frame_previous);
	if (!python_plausible(f))
		return false;
	c->frame = f;
	c->code = python_code_of(python_pointer_at(f, l->frame_code));
	return true;
}

bool grt_python_ends(void)
{
	return py.ends && py.ends();
}

bool grt_python_call_first(struct grt_pycall *c)
{
	const struct grt_python_layout *l = &py.layout;
	const char *tstate, *cframe;

	if (!atomic_load_explicit(&py.found, memory_order_acquire) || grt_python_ends())
		return false;
	tstate = py.thread_state();
	if (!tstate || !python_usable(tstate))
		return false;
	if (l->tstate_frame != GRT_PYTHON_NONE)
		return python_call_at(c, python_pointer_at(tstate, l->tstate_frame));
	cframe = python_pointer_at(tstate, l->tstate_cframe);
	return python_plausible(cframe) && python_call_at(c, python_pointer_at(cframe, l->cframe_current));
}

bool grt_python_call_outer(struct grt_pycall *c)
{
	return python_call_at(c, python_pointer_at(c->frame, py.layout.frame_previous));
}

void *grt_python_symbol(const char *name)
{
	return atomic_load(&py.found) ? dlsym(py.handle, name) : NULL;
}

/* ---------------------------------------------------------------- strings */

static uint64_t python_mix(uint64_t hash, uint64_t value)
{
	hash = (hash ^ value) * 0x9e3779b97f4a7c15ULL;
	return hash ^ hash >> 29;
}

static uint64_t python_hash_bytes(const char *text, size_t length)
{
	uint64_t hash = length + 1;

	for (size_t i = 0; i < length; i++)
		hash = python_mix(hash, (uint8_t)text[i]);
	return hash;
}

static void python_count_no_memory(void)
{
	atomic_fetch_add_explicit(&py.no_memory, 1, memory_order_relaxed);
}

/* Space in the arena, NULL when that is full. */
static char *python_take(size_t size)
{
	uint64_t at = atomic_load_explicit(&py.arena_used, memory_order_relaxed);

	do {
		if (size > ARENA_SIZE - at) {
			python_count_no_memory();
			return NULL;
		}
	} while (!atomic_compare_exchange_weak(&py.arena_used, &at, at + size));
	return py.arena + at;
}

/*
 * The text once, for good; NULL without room. A copy is whole before it is
 * entered, so the one that is entered first is the one for all threads; a
 * thread that comes second leaves its copy unused.
 */
static const char *python_keep_string(const char *text, size_t length)
{
	uint64_t hash = python_hash_bytes(text, length);
	const char *there;
	char *mine = NULL;

	for (uint32_t i = 0; i < PROBES; i++) {
		_Atomic(const char *) *slot = &py.string_slot[((hash >> 20) + i) & (STRING_SLOTS - 1)];

		there = atomic_load_explicit(slot, memory_order_acquire);
		if (!there) {
			if (!mine) {
				mine = python_take(length + 1);
				if (!mine)
					return NULL;
				memcpy(mine, text, length);
				mine[length] = 0;
			}
			if (atomic_compare_exchange_strong(slot, &there, mine))
				return mine;
		}
		if (!strncmp(there, text, length) && !there[length])
			return there;
	}
	python_count_no_memory();
	return NULL;
}

/* A str as UTF-8, at most @room bytes: the end of it with @tail. */
static size_t python_copy_text(const char *str, char *to, size_t room, bool tail)
{
	const struct grt_python_layout *l = &py.layout;
	uint32_t state = (uint32_t)python_int_at(str, l->text_state) >> l->text_shift;
	const char *data = str + (state & GRT_PYTHON_TEXT_ASCII ? l->text_ascii : l->text_compact);

	return grt_python_utf8(data, state, python_word_at(str, l->text_length), to, room, tail);
}

/* ------------------------------------------------------------------ lines */

static uint32_t python_line_of(const char *code, const char *instr)
{
	const struct grt_python_layout *l = &py.layout;
	const char *table = python_pointer_at(code, l->code_linetable);

	return grt_python_line(py.minor, (const uint8_t *)table + l->bytes_data,
			       python_word_at(table, l->object_size), python_int_at(code, l->code_firstline),
			       (instr - (code + l->code_bytes)) / 2);
}

/* ------------------------------------------------------------------ intern */

/* A number for the text, 0 without room. */
static uint32_t python_new_text(const char *function, const char *file, uint32_t line)
{
	uint32_t number = atomic_fetch_add(&py.texts, 1) + 1;

	if (number >= TEXT_MAX) {
		atomic_fetch_sub(&py.texts, 1);
		python_count_no_memory();
		return 0;
	}
	py.text[number].function = function;
	py.text[number].file = file;
	py.text[number].line = line;
	atomic_store_explicit(&py.text[number].ready, 1, memory_order_release);
	return number;
}

/* Stores a text once, as keep_string() does: equal texts have one number in all threads. */
static uint32_t python_keep_text(const char *function, const char *file, uint32_t line)
{
	uint64_t hash = python_mix(python_mix(python_mix(1, (uintptr_t)function), (uintptr_t)file), line);
	uint32_t mine = 0, there;

	for (uint32_t i = 0; i < PROBES; i++) {
		_Atomic uint32_t *slot = &py.text_slot[((hash >> 20) + i) & (TEXT_SLOTS - 1)];

		there = atomic_load_explicit(slot, memory_order_acquire);
		if (!there) {
			mine = mine ? mine : python_new_text(function, file, line);
			if (!mine || atomic_compare_exchange_strong(slot, &there, mine))
				return mine;
		}
		if (py.text[there].function == function && py.text[there].file == file &&
		    py.text[there].line == line)
			return there;
	}
	python_count_no_memory();
	return 0;
}

static uint32_t python_read_text(const struct grt_pyframe *f)
{
	const struct grt_python_layout *l = &py.layout;
	const char *qualname = python_pointer_at(f->code, l->code_qualname),
		   *file = python_pointer_at(f->code, l->code_filename);
	char name[FUNCTION_MAX + 5], path[FILE_MAX + 5];
	const char *kept_name, *kept_path;
	size_t length;

	if (!python_is_a(qualname, py.unicode_type) || !python_is_a(file, py.unicode_type) ||
	    !python_is_a(python_pointer_at(f->code, l->code_linetable), py.bytes_type))
		return 0;
	/* Before its first traceable instruction: what CPython 3.12 on puts between a class and its
	 * __init__(). */
	if (l->code_first != GRT_PYTHON_NONE &&
	    f->instr < f->code + l->code_bytes + 2 * (int64_t)python_int_at(f->code, l->code_first))
		return GRT_PYTHON_SKIP;
	length = python_copy_text(file, path, FILE_MAX, true);
	kept_path = python_keep_string(path, length);
	kept_name = python_keep_string(name, python_copy_text(qualname, name, FUNCTION_MAX, false));
	if (!kept_path || !kept_name)
		return 0;
	return python_keep_text(kept_name, kept_path, python_line_of(f->code, f->instr));
}

uint32_t grt_python_intern(const struct grt_pyframe *f)
{
	uint64_t hash = python_mix(python_mix(0, (uintptr_t)f->code), (uintptr_t)f->instr);
	uint32_t number, unclaimed;
	struct known *k;

	if (!f->print)
		return GRT_PYTHON_SKIP;
	for (uint32_t i = 0; i < PROBES; i++) {
		k = &py.known[((hash >> 20) + i) & (KNOWN_SLOTS - 1)];
		number = atomic_load_explicit(&k->number, memory_order_acquire);
		if (number && k->code == f->code && k->instr == f->instr && k->print == f->print)
			return number;
		unclaimed = 0;
		if (number || !atomic_compare_exchange_strong(&k->claimed, &unclaimed, 1))
			continue;
		number = python_read_text(f);
		k->code = f->code;
		k->instr = f->instr;
		k->print = f->print;
		atomic_store_explicit(&k->number, number, memory_order_release);
		if (!number)
			atomic_store_explicit(&k->claimed, 0, memory_order_release);
		return number;
	}
	return python_read_text(f);
}

bool grt_python_text(uint32_t number, struct grt_pytext *text)
{
	if (!number || number >= TEXT_MAX || !py.text ||
	    !atomic_load_explicit(&py.text[number].ready, memory_order_acquire))
		return false;
	*text = (struct grt_pytext){py.text[number].function, py.text[number].file, py.text[number].line};
	return true;
}

uint32_t grt_python_texts(uint64_t *no_memory)
{
	*no_memory = atomic_load(&py.no_memory);
	return atomic_load(&py.texts);
}

/* ------------------------------------------------------------------- start */

static bool python_make_tables(void)
{
	py.known = reserve_memory(KNOWN_SLOTS * sizeof(*py.known));
	py.text = reserve_memory(TEXT_MAX * sizeof(*py.text));
	py.text_slot = reserve_memory(TEXT_SLOTS * sizeof(*py.text_slot));
	py.string_slot = reserve_memory(STRING_SLOTS * sizeof(*py.string_slot));
	py.arena = reserve_memory(ARENA_SIZE);
	return py.known && py.text && py.text_slot && py.string_slot && py.arena;
}

static int python_refuse(unsigned int major, unsigned int minor, const char *because)
{
	snprintf(py.why, sizeof(py.why), "CPython %u.%u: %s", major, minor, because);
	py.refused = true;
	return -ENOTSUP;
}

static bool python_choose_layout(unsigned int minor, const void *runtime)
{
	static void (*const chain[])(struct chain * c, const char *tstate) = {
		python_chain_3_10, python_chain_3_11, python_chain_3_12, python_chain_3_13,
		python_chain_3_13};

	_Static_assert(sizeof(chain) / sizeof(chain[0]) == GRT_PYTHON_LAST - GRT_PYTHON_FIRST + 1,
		       "each version has one");
	py.minor = minor;
	py.chain = chain[minor - GRT_PYTHON_FIRST];
	if ((minor >= 13 && !runtime) || !grt_python_layout_any(minor, runtime, &py.layout))
		return false;
	/* what an instruction is counted from, where it has no address */
	if (py.layout.code_bytes == GRT_PYTHON_NONE)
		py.layout.code_bytes = 0;
	return true;
}

/* libpython that was loaded for itself only (RTLD_LOCAL): its name, for a handle. */
struct library {
	char name[512];
};

static int is_libpython(struct dl_phdr_info *info, size_t size, void *data)
{
	const char *base = info->dlpi_name ? strrchr(info->dlpi_name, '/') : NULL;
	struct library *l = data;

	if (!base || strncmp(base, "/libpython3.", 12) || strlen(info->dlpi_name) >= sizeof(l->name))
		return 0;
	strcpy(l->name, info->dlpi_name);
	return 1;
}

static void *python_interpreter(void)
{
	struct library l = {{0}};
	void *handle;

	if (dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState"))
		return RTLD_DEFAULT;
	if (!dl_iterate_phdr(is_libpython, &l))
		return NULL;
	handle = dlopen(l.name, RTLD_LAZY | RTLD_NOLOAD | RTLD_LOCAL);
	return handle && dlsym(handle, "PyGILState_GetThisThreadState") ? handle : NULL;
}

/* RTLD_DEFAULT is NULL in glibc, so that "none" needs a place of its own. */
static bool python_find_interpreter(void **handle)
{
	*handle = python_interpreter();
	return *handle || dlsym(RTLD_DEFAULT, "PyGILState_GetThisThreadState");
}

/* "3.9.2 (default, ..." */
static void python_old_version(void *handle, unsigned int *major, unsigned int *minor)
{
	const char *(*version)(void) = (const char *(*)(void))(uintptr_t)dlsym(handle, "Py_GetVersion");

	if (!version || sscanf(version(), "%u.%u", major, minor) != 2)
		*major = *minor = 0;
}

int grt_python_init(void)
{
	const unsigned long *version;
	unsigned int major, minor;
	void *handle;

	if (atomic_load(&py.found))
		return 0;
	if (py.refused)
		return -ENOTSUP;
	if (!python_find_interpreter(&handle))
		return -EAGAIN;
	version = dlsym(handle, "Py_Version");
	if (version) {
		major = (unsigned int)(*version >> 24);
		minor = *version >> 16 & 0xff;
	} else {
		python_old_version(handle, &major, &minor);
	}
	if (major != 3 || minor < GRT_PYTHON_FIRST || minor > GRT_PYTHON_LAST)
		return python_refuse(major, minor, "Python frames are read in 3.10 to 3.14 only");
	py.thread_state = (void *(*)(void))(uintptr_t)dlsym(handle, "PyGILState_GetThisThreadState");
	py.handle = handle;
	/* public from 3.13 on */
	py.ends = (int (*)(void))(uintptr_t)(dlsym(handle, "Py_IsFinalizing")
						     ?: dlsym(handle, "_Py_IsFinalizing"));
	py.code_type = dlsym(handle, "PyCode_Type");
	py.unicode_type = dlsym(handle, "PyUnicode_Type");
	py.bytes_type = dlsym(handle, "PyBytes_Type");
	if (!py.code_type || !py.unicode_type || !py.bytes_type ||
	    !python_choose_layout(minor, dlsym(handle, "_PyRuntime")))
		return python_refuse(major, minor, "it lacks symbols that are needed to read Python frames");
	if (!python_make_tables())
		return python_refuse(major, minor, "no memory for tables of Python frames");
	atomic_store_explicit(&py.found, true, memory_order_release);
	return 0;
}

const char *grt_python_why_not(void)
{
	if (atomic_load(&py.check) == BAD)
		return "CPython: its frames are not laid out as in the release that it reports; they are not read";
	return py.refused ? py.why : NULL;
}
