/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Call frame information (.eh_frame, .debug_frame) of any machine of arch.h, boiled down to the one rule
 * that holds at an instruction. No state, no memory of its own, and no trust in
 * what it reads: everything stays within the spans that the caller names.
 *
 * Formats: DWARF 4 section 6.4, Linux Standard Base 5.0 Core 10.6 (.eh_frame,
 * .eh_frame_hdr), DWARF for the Arm 64-bit Architecture section 4.4 (signed return addresses).
 */
#ifndef GRT_INJECT_CFI_H
#define GRT_INJECT_CFI_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* What an address is counted from. */
enum grt_cfi_base {
	GRT_CFI_NONE, /* not saved: it is still in its register */
	GRT_CFI_SP,
	GRT_CFI_FP,
	GRT_CFI_CFA,
	GRT_CFI_CONST,
};

struct grt_arch;

/** struct grt_cfi_place - an address: @base + @offset or, with @deref, what lies there + @after */
struct grt_cfi_place {
	uint8_t base;
	bool deref;
	int32_t offset;
	int32_t after;
};

/**
 * struct grt_cfi_rule - how to get from a frame to its caller
 * @cfa: the caller's stack pointer
 * @ra, @fp: where return address and frame pointer were saved
 * @link: where the register is that calls leave return addresses in; of signal handlers' frames only
 * @end: there is no caller
 * @signal: a signal handler's frame: the caller was interrupted at its address, it did not call
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
 * @arch: its machine
 * @frames: for grt_cfi_all(): .eh_frame itself, where the file has no header for it, or .debug_frame
 * @debug: it is .debug_frame, whose addresses are those of the file
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
 * Return: 0, -ENOENT where the tables do not have the address, -EBADMSG for tables that are broken,
 * -EOPNOTSUPP for a rule that needs a register other than these two
 */
int grt_cfi_find(const struct grt_cfi_object *object, uint64_t pc, struct grt_cfi_rule *rule);

/** struct grt_cfi_visit - gets rules: @row that from @pc on one holds, NULL: none that can be followed */
struct grt_cfi_visit {
	void (*row)(void *arg, uint64_t pc, const struct grt_cfi_rule *rule);
	void *arg;
};

/**
 * grt_cfi_all - the rules of all functions, in the order of the section, each function's in that of
 * addresses; behind a function there is none Return: 0, or -EBADMSG: the tables are broken from there on
 */
int grt_cfi_all(const struct grt_cfi_object *object, const struct grt_cfi_visit *visit);

#endif /* GRT_INJECT_CFI_H */
