/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The properties of a CPU architecture that unwinding needs. An architecture is a file
 * arch_NAME.c with a struct grt_arch, and a row of archs.def. Unwind tables are read for the
 * architecture of their object file, on any architecture; code that reads registers is
 * for the architecture of this build.
 */
#ifndef GRT_INJECT_ARCH_H
#define GRT_INJECT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grt_cfi_rule;

/* Results of the analysis of code that no unwind table covers. */
enum grt_arch_look {
	GRT_ARCH_NOTHING,
	GRT_ARCH_SURE,	 /* the rule is certain */
	GRT_ARCH_GUESS,	 /* the rule is likely */
	GRT_ARCH_CALLED, /* the frame has made a call: a frame pointer may lead on */
};

/* No register has this number. */
#define GRT_ARCH_NO_REGISTER 0xff

/* Bytes of code before and after an address that struct grt_arch.look() gets; missing bytes are 0.
 */
#define GRT_ARCH_BEFORE 8
#define GRT_ARCH_AFTER 32

#define GRT_ARCH_JUMP 6

/* Bytes of a PLT's first entry. */
#define GRT_ARCH_PLT_FIRST 32

/* Limit of the size of a frame with a guessed rule, because of the format in rules.h. */
#define GRT_ARCH_GUESS_MAX 4088

/**
 * struct grt_arch - an architecture
 * @elf: e_machine of its object files
 * @sp, @fp, @ra: DWARF's numbers of the stack pointer, the frame pointer, and the return address
 * @pc: the register that means the instruction's address in expressions, or GRT_ARCH_NO_REGISTER
 * @links: a call leaves the return address in the register @ra, and not on the stack
 * @signs: return addresses may be signed, and DW_CFA_AARCH64_negate_ra_state marks where
 * @look: analyses the code at @at, after the byte with which an address was looked up; @end: end of the
 *	readable code
 * @sigreturn: the instructions to which a signal handler returns, @sigreturn_size bytes, or NULL if tables
 *	have them
 * @sigreturn_rule: the rule of these instructions
 * @step: smallest size of an instruction, bytes
 * @jump: the target of a jump to a fixed address, whose GRT_ARCH_JUMP bytes of code are at @at; 0: no such
 *	jump
 * @plt_rule: with @links, the rules of a PLT, and of its first entry after it has saved the return address
 * @plt_pushed: bytes of a PLT's first entry up to this point; 0: not a PLT
 */
struct grt_arch {
	uint16_t elf;
	uint8_t sp;
	uint8_t fp;
	uint8_t ra;
	uint8_t pc;
	bool links;
	bool signs;
	enum grt_arch_look (*look)(uint64_t address, const uint8_t *at, const uint8_t *end,
				   struct grt_cfi_rule *rule);
	const uint8_t *sigreturn;
	size_t sigreturn_size;
	const struct grt_cfi_rule *sigreturn_rule;
	unsigned int step;
	uint64_t (*jump)(const uint8_t *at, uint64_t address);
	const struct grt_cfi_rule *plt_rule;
	unsigned int (*plt_pushed)(const uint8_t *at, const uint8_t *end);
};

#define GRT_ARCH(name) extern const struct grt_arch grt_arch_##name;
#include "archs.def"
#undef GRT_ARCH

/** grt_arch_of - the architecture of object files with this e_machine; NULL: unknown */
const struct grt_arch *grt_arch_of(uint16_t elf);

#if defined(__x86_64__)
#define GRT_ARCH_HERE (&grt_arch_x86_64)
#elif defined(__aarch64__)
#define GRT_ARCH_HERE (&grt_arch_aarch64)
#else
#define GRT_ARCH_HERE NULL
#endif

#if defined(__x86_64__)

/* Reads the registers of the present function into the members pc, sp, fp and, if calls use it, link. */
#define GRT_ARCH_READ_REGISTERS(r)                                            \
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" \
			 : "=r"((r)->pc), "=r"((r)->sp), "=r"((r)->fp))

/* The address in a saved return address. */
static inline uint64_t grt_arch_code(uint64_t saved)
{
	return saved;
}

/* struct grt_arch.links as a constant for the compiler. */
#define GRT_ARCH_LINKS false
/* Whether the begin of the caller's part of the stack is unknown from a frame pointer. */
#define GRT_ARCH_SP_UNKNOWN false

#elif defined(__aarch64__)

#define GRT_ARCH_READ_REGISTERS(r)                                               \
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30" \
			 : "=&r"((r)->pc), "=&r"((r)->sp), "=&r"((r)->fp), "=&r"((r)->link))

/* If the processor signs addresses, the signature is in the bits above the bits of user addresses. */
static inline uint64_t grt_arch_code(uint64_t saved)
{
	return saved & 0xffffffffffffULL;
}

#define GRT_ARCH_LINKS true
/* Frame pointer and return address can be anywhere in the frame, depending on the compiler. */
#define GRT_ARCH_SP_UNKNOWN true

#else

#define GRT_ARCH_READ_REGISTERS(r) ((void)(r))

static inline uint64_t grt_arch_code(uint64_t saved)
{
	return saved;
}

#define GRT_ARCH_LINKS false
#define GRT_ARCH_SP_UNKNOWN false

#endif

#endif /* GRT_INJECT_ARCH_H */
