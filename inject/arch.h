/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What unwinding needs to know of a machine. A machine is a file arch_NAME.c
 * with a struct grt_arch, and a row of archs.def. Tables are read by the machine
 * of their object file, whatever machine this is; what is done with registers is
 * of the machine that this was built for.
 */
#ifndef GRT_INJECT_ARCH_H
#define GRT_INJECT_ARCH_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

struct grt_cfi_rule;

/* What the look of code says of a frame that no table has. */
enum grt_arch_look {
	GRT_ARCH_NOTHING,
	GRT_ARCH_SURE,	 /* the rule */
	GRT_ARCH_GUESS,	 /* a rule that is likely */
	GRT_ARCH_CALLED, /* it has called: a frame pointer may lead on */
};

/* In place of a register's number. */
#define GRT_ARCH_NO_REGISTER 0xff

/* Bytes of code before an address, and from it on, that struct grt_arch.look() gets; 0 where there are none.
 */
#define GRT_ARCH_BEFORE 8
#define GRT_ARCH_AFTER 32

#define GRT_ARCH_JUMP 6

/* Bytes of a PLT's first entry. */
#define GRT_ARCH_PLT_FIRST 32

/* A rule that is guessed has a frame that is smaller, as rules.h keeps it. */
#define GRT_ARCH_GUESS_MAX 4088

/**
 * struct grt_arch - a machine
 * @elf: its object files' e_machine
 * @sp, @fp, @ra: DWARF's numbers of the stack pointer, of the frame pointer, and of the return address
 * @pc: the register by which expressions mean the instruction's address, or GRT_ARCH_NO_REGISTER
 * @links: a call leaves the return address in the register @ra, and not on the stack
 * @signs: return addresses may be signed, and DW_CFA_AARCH64_negate_ra_state says where
 * @look: of code at @at, behind the byte that an address was looked up by; @end: as far as it could be read
 * @sigreturn: the instructions that a signal handler returns to, @sigreturn_size bytes, or NULL where tables
 * have them
 * @sigreturn_rule: of them
 * @step: bytes from an instruction to the next one at least
 * @jump: where a jump to a fixed place leads, GRT_ARCH_JUMP bytes of whose code stand at @at; 0: it is none
 * @plt_rule: where @links: of a PLT, and of its first entry once that has saved the return address
 * @plt_pushed: bytes of a PLT's first entry up to there; 0: it is none
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

/** grt_arch_of - the machine of object files with an e_machine; NULL: it is unknown */
const struct grt_arch *grt_arch_of(uint16_t elf);

#if defined(__x86_64__)
#define GRT_ARCH_HERE (&grt_arch_x86_64)
#elif defined(__aarch64__)
#define GRT_ARCH_HERE (&grt_arch_aarch64)
#else
#define GRT_ARCH_HERE NULL
#endif

#if defined(__x86_64__)

/* The registers of the function that this is in, as members pc, sp, fp and, where calls have one, link. */
#define GRT_ARCH_READ_REGISTERS(r)                                            \
	__asm__ volatile("lea 0(%%rip), %0\n\tmov %%rsp, %1\n\tmov %%rbp, %2" \
			 : "=r"((r)->pc), "=r"((r)->sp), "=r"((r)->fp))

/* The address in what was saved as a return address. */
static inline uint64_t grt_arch_code(uint64_t saved)
{
	return saved;
}

/* struct grt_arch.links, for the compiler. */
#define GRT_ARCH_LINKS false
/* Whether a frame pointer does not say where the caller's part of the stack begins. */
#define GRT_ARCH_SP_UNKNOWN false

#elif defined(__aarch64__)

#define GRT_ARCH_READ_REGISTERS(r)                                               \
	__asm__ volatile("adr %0, .\n\tmov %1, sp\n\tmov %2, x29\n\tmov %3, x30" \
			 : "=&r"((r)->pc), "=&r"((r)->sp), "=&r"((r)->fp), "=&r"((r)->link))

/* Where the processor signs, the signature is in bits above those of addresses of programs. */
static inline uint64_t grt_arch_code(uint64_t saved)
{
	return saved & 0xffffffffffffULL;
}

#define GRT_ARCH_LINKS true
/* Frame pointer and return address lie anywhere in the frame, and compilers differ in where. */
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
