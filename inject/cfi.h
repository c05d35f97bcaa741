/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Call frame information (.eh_frame, .debug_frame) of any architecture of arch.h, reduced to the one rule
 * that holds at an instruction. The functions have no state and allocate no memory. They do not trust their
 * input: they read only within the spans of the caller.
 *
 * Formats: DWARF 4 section 6.4, Linux Standard Base 5.0 Core 10.6 (.eh_frame,
 * .eh_frame_hdr), DWARF for the Arm 64-bit Architecture section 4.4 (signed return addresses).
 */
#ifndef GRT_INJECT_CFI_H
#define GRT_INJECT_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* The base of an address. */
enum grt_cfi_base {
	GRT_CFI_NONE, /* not saved: it is still in its register */
	GRT_CFI_SP,
	GRT_CFI_FP,
	GRT_CFI_CFA,
	GRT_CFI_CONST,
};

struct grt_arch;

/** struct grt_cfi_place - an address: @base + @offset or, with @deref, the value stored there + @after */
struct grt_cfi_place {
	uint8_t base;
	bool deref;
	int32_t offset;
	int32_t after;
};

/**
 * struct grt_cfi_rule - how to get from a frame to its caller
 * @cfa: the caller's stack pointer
 * @ra, @fp: the places of the saved return address and frame pointer
 * @link: the place of the saved link register; only for frames of signal handlers
 * @end: there is no caller
 * @signal: a signal handler's frame: the caller was interrupted at its address and made no call
 */
struct grt_cfi_rule {
	struct grt_cfi_place cfa;
	struct grt_cfi_place ra;
	struct grt_cfi_place fp;
	struct grt_cfi_place link;
	bool end;
	bool signal;
};

/** struct grt_cfi_span - bytes that may be read */
struct grt_cfi_span {
	const uint8_t *start;
	const uint8_t *end;
};

#define GRT_CFI_SPANS 8

/**
 * struct grt_cfi_object - an object file in memory: its PT_GNU_EH_FRAME and its loaded segments
 * @arch: its architecture
 * @frames: for grt_cfi_all(): .eh_frame itself, if the file has no header for it, or .debug_frame
 * @debug: @frames is .debug_frame, whose addresses are the file's virtual addresses
 */
struct grt_cfi_object {
	const struct grt_arch *arch;
	struct grt_cfi_span header;
	struct grt_cfi_span frames;
	bool debug;
	struct grt_cfi_span span[GRT_CFI_SPANS];
	unsigned int spans;
};

/**
 * grt_cfi_find - the rule at an instruction
 * @pc: any byte of the instruction
 * Return: 0, -ENOENT if the tables do not have the address, -EBADMSG if the tables are invalid,
 * -EOPNOTSUPP if the rule needs another register than these two
 */
int grt_cfi_find(const struct grt_cfi_object *object, uint64_t pc, struct grt_cfi_rule *rule);

/** struct grt_cfi_visit - gets rules: @row with the rule that holds from @pc on, NULL: no usable rule */
struct grt_cfi_visit {
	void (*row)(void *arg, uint64_t pc, const struct grt_cfi_rule *rule);
	void *arg;
};

/**
 * grt_cfi_all - the rules of all functions in the order of the section, within a function in order of
 * addresses; after the end of a function, no rule holds
 * Return: 0, or -EBADMSG: the rest of the tables is invalid
 */
int grt_cfi_all(const struct grt_cfi_object *object, const struct grt_cfi_visit *visit);

#endif /* GRT_INJECT_CFI_H */
