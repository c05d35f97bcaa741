/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Unwind tables, as the loader builds them and the BPF programs read them.
 *
 * A row is a word: from this address of its file on, this rule holds.
 *
 *	0..2	ROW_*
 *	3	the frame is a signal handler's: its caller was interrupted
 *	4..10	words from the CFA down to where rbp was saved, 0: it was not
 *	11..17	the same of the return address, 0: it is in its register
 *	18..31	words from the register to the CFA, or number of a long rule
 *	32..63	address
 *
 * The names of registers are those of x86-64. What rsp and rbp are there, sp and
 * x29 are on 64-bit Arm, whose calls leave the return address in x30.
 */
#ifndef GRTRACE_UNWIND_ROWS_H
#define GRTRACE_UNWIND_ROWS_H

#include <linux/types.h>

#include "shared.h"
#include "../../inject/python_layout.h"

#define ROW_NONE 0U /* no table has the address */
#define ROW_RSP 1U
#define ROW_RBP 2U
#define ROW_LONG 3U
#define ROW_END 4U /* the outermost frame */

#define ROW_KIND(rule) ((rule)&7U)
#define ROW_SIGNAL 8U
#define ROW_SAVED_MAX 0x7fU
#define ROW_RBP_SHIFT 4
#define ROW_RBP_WORDS(rule) ((rule) >> ROW_RBP_SHIFT & ROW_SAVED_MAX)
#define ROW_RA_SHIFT 11
#define ROW_RA_WORDS(rule) ((rule) >> ROW_RA_SHIFT & ROW_SAVED_MAX)
#define ROW_WORDS_SHIFT 18
#define ROW_WORDS(rule) ((rule) >> ROW_WORDS_SHIFT)
#define ROW_WORDS_MAX 0x3fffU

/* Rows of a shard, and the most shards: 64 MiB. */
#define SHARD_ROWS 262144U
#define SHARD_BITS 18
#define SHARDS_MAX 32U

#define LONG_RULES_MAX 16384U /* ROW_WORDS_MAX + 1 */

/* unwind_long.*_base: what an address is counted from */
#define LONG_NONE 0U
#define LONG_RSP 1U
#define LONG_RBP 2U
#define LONG_CFA 3U

/** struct unwind_place - @base + @offset or, with @deref, what lies there + @after */
struct unwind_place {
	__u16 base;
	__u16 deref;
	__s32 offset;
	__s32 after;
};

/** struct unwind_long - a rule that is no word: as struct grt_cfi_rule */
struct unwind_long {
	struct unwind_place cfa;
	struct unwind_place ra;
	struct unwind_place rbp;
	struct unwind_place link;
};

/**
 * struct unwind_mapping - code of a process
 * @end: the first address after it
 * @base: what to subtract from an address to get the file's
 * @shard, @first, @rows: its rows; no rows: frame pointers are used
 * @why: enum grt_stack_end of a stack whose walk ends here because of that
 */
struct unwind_mapping {
	__u64 end;
	__u64 base;
	__u32 shard;
	__u32 first;
	__u32 rows;
	__u32 why;
};

/**
 * struct unwind_python - CPython in a process, or in its file
 * @minor: the version is 3.@minor, 0: there is none
 * @runtime: address of _PyRuntime; @code_type: that of the type of code objects
 * @eval, @eval_end: the function that is a native frame for each entry of the interpreter
 * @cold, @cold_end: its part that the compiler has placed elsewhere; 0, 0: there is none
 */
struct unwind_python {
	__u64 runtime;
	__u64 code_type;
	__u64 eval;
	__u64 eval_end;
	__u64 cold;
	__u64 cold_end;
	__u32 minor;
	struct grt_python_layout layout;
};

#define UNWIND_MAPPINGS 1024U

/**
 * struct unwind_process - the mappings of a process
 * @image: the program to which they belong
 * @code_pages: number of pages of code that the process had then
 * @version: a number that is different for each struct that was written, from 1
 * @start: begin of each mapping, sorted
 */
struct unwind_process {
	__u64 image;
	__u64 code_pages;
	__u32 n;
	__u32 version;
	struct unwind_python python;
	__u64 start[UNWIND_MAPPINGS];
	struct unwind_mapping mapping[UNWIND_MAPPINGS];
};

#define UNWIND_PROCESSES 128U

/**
 * struct unwind_ask - a process whose mappings are unknown, or have changed; @number: its number in our
 * namespace
 */
struct unwind_ask {
	__u64 image;
	__u64 code_pages;
	__u32 pid;
	__u32 number;
};

/** struct walked - a stack: @depth addresses */
struct walked {
	__u64 hash;
	__u32 depth;
	__u32 pad;
	__u64 ip[BPF_STACK_DEPTH + 1];
};

/*
 * In place of an address, a frame of Python: place of its code object in python_codes, and code unit, plus 1.
 */
#define PYTHON_WORD (1ULL << 63)
#define PYTHON_PLACE(word) ((__u32)((word) >> 32) & 0x7fffffffU)
#define PYTHON_UNIT(word) ((__s64)(__u32)(word)-1)

/* Code objects that occur; another place is tried so often. */
#define PYTHON_CODES_MAX 16384U
#define PYTHON_PROBES 8
/* The frame's code object has no place there: it is a frame without a name. */
#define PYTHON_NO_PLACE PYTHON_CODES_MAX

#define PYTHON_NAME_BYTES 256U
#define PYTHON_FILE_BYTES 512U
/* Bytes of a table of lines: the size of most, and the most that is read. */
#define PYTHON_TABLE_SHORT 1024U
#define PYTHON_TABLE_LONG 16384U

/** struct python_text - a str: its state, characters, and how many bytes of them were read */
struct python_text {
	__u32 state;
	__u32 length;
	__u32 bytes;
};

/**
 * struct python_news - a code object that occurred first; its table of lines follows, as far as it was read
 * @first: co_firstlineno; @shown: the first code unit that is shown
 * @table: bytes of the table that were read, of @whole that are at @address of process @pid, which is its
 *	number in our namespace
 * @file_at: place of the file's name, of which the end is there
 */
struct python_news {
	__u32 place;
	__u32 minor;
	__s32 first;
	__u32 shown;
	__u32 table;
	__u32 pid;
	__u64 whole;
	__u64 address;
	struct python_text name;
	struct python_text file;
	char name_at[PYTHON_NAME_BYTES];
	char file_at[PYTHON_FILE_BYTES];
};

/* A number of a stack: its place, plus 1, and enum grt_stack_end. */
#define STACK_END_SHIFT 28
#define STACK_PLACE(stack) (((stack) & ((1U << STACK_END_SHIFT) - 1)) - 1)
#define STACK_END(stack) ((stack) >> STACK_END_SHIFT)

/*
 * Places of walked stacks follow those of the kernel's table; if another stack has the same hash, the next
 * place is tried.
 */
#define WALKED_PROBES 4U

#endif /* GRTRACE_UNWIND_ROWS_H */
