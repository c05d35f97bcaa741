// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * 64-bit Arm: DWARF for the Arm 64-bit Architecture, section 4.1 (register
 * numbers); Arm Architecture Reference Manual, chapter C6 (instructions).
 */
#include "arch.h"

#include <elf.h>
#include <string.h>

#include "cfi.h"

enum { REG_X29 = 29, REG_X30 = 30, REG_SP = 31 };

static uint32_t arm_word(const uint8_t *at)
{
	uint32_t word;

	memcpy(&word, at, sizeof(word));
	return word;
}

/* mov x8, #__NR_rt_sigreturn; svc #0 */
static const uint8_t arm_sigreturn[] = {0x68, 0x11, 0x80, 0xd2, 0x01, 0x00, 0x00, 0xd4};

/* Offset in struct rt_sigframe (arch/arm64/kernel/signal.c): siginfo, and ucontext up to the registers. */
#define SIGFRAME_X(n) (128 + 176 + 8 + 8 * (n))

static const struct grt_cfi_rule arm_sigreturn_rule = {
	.cfa = {GRT_CFI_SP, true, SIGFRAME_X(31), 0},
	.ra = {GRT_CFI_SP, false, SIGFRAME_X(32), 0},
	.fp = {GRT_CFI_SP, false, SIGFRAME_X(29), 0},
	.link = {GRT_CFI_SP, false, SIGFRAME_X(30), 0},
	.signal = true,
};

/* bl, blr, blraa and similar */
static bool arm_is_call(uint32_t word)
{
	return (word & 0xfc000000) == 0x94000000 || (word & 0xfffffc1f) == 0xd63f0000 ||
	       (word & 0xfefff800) == 0xd63f0800;
}

/*
 * struct arm_frame - the part of a frame that was removed: its size in bytes, and the offsets of x29 and x30
 * in it, -1: not in it
 */
struct arm_frame {
	int32_t size;
	int32_t fp_at;
	int32_t ra_at;
};

/* Return: whether the instruction removes a part of the frame */
static bool arm_takes_down(uint32_t word, struct arm_frame *f)
{
	if ((word & 0xffc07fff) == 0xa8c07bfd) { /* ldp x29, x30, [sp], #imm7 * 8 */
		f->fp_at = f->size;
		f->ra_at = f->size + 8;
		f->size += (int32_t)(word >> 15 & 0x3f) * 8;
		return !(word >> 21 & 1);
	}
	if ((word & 0xfff00fff) == 0xf84007fe) { /* ldr x30, [sp], #imm8 */
		f->ra_at = f->size;
		f->size += (int32_t)(word >> 12 & 0xff);
		return true;
	}
	f->size += (int32_t)(word >> 10 & 0xfff); /* add sp, sp, #imm12 */
	return (word & 0xffc003ff) == 0x910003ff;
}

/* Code that only removes its frame after its call, as trampolines do (CPython's for perf). */
static bool arm_is_epilogue(const uint8_t *code, const uint8_t *end, struct grt_cfi_rule *rule)
{
	struct arm_frame f = {0, -1, -1};

	for (; end - code >= 4; code += 4) {
		uint32_t word = arm_word(code);

		if (word == 0xd65f03c0 || word == 0xd65f0bff) /* ret, retaa */
			break;
		if (word != 0xd50323bf && !arm_takes_down(word, &f)) /* autiasp */
			return false;
	}
	if (end - code < 4 || f.ra_at < 0 || f.size >= GRT_ARCH_GUESS_MAX || f.size & 15 || f.ra_at & 7)
		return false;
	*rule = (struct grt_cfi_rule){.cfa = {GRT_CFI_SP, false, f.size, 0},
				      .ra = {GRT_CFI_CFA, false, f.ra_at - f.size, 0}};
	if (f.fp_at >= 0)
		rule->fp = (struct grt_cfi_place){GRT_CFI_CFA, false, f.fp_at - f.size, 0};
	return true;
}

/* bti c, nop; adrp x16; ldr x17, [x16]; add x16, x16: what stands before the jump of a PLT */
static bool arm_is_of_plt(uint32_t word)
{
	return word == 0xd503245f || word == 0xd503201f || (word & 0x9f00001f) == 0x90000010 ||
	       (word & 0xffc003ff) == 0xf9400211 || (word & 0xffc003ff) == 0x91000210;
}

/*
 * Return: whether the code from there on is a PLT. Linkers write no unwind tables for it, and it changes
 * neither the stack nor x30.
 */
static bool arm_is_plt(const uint8_t *code, const uint8_t *end)
{
	while (end - code >= 4 && arm_is_of_plt(arm_word(code)))
		code += 4;
	return end - code >= 4 && arm_word(code) == 0xd61f0220; /* br x17 */
}

/* A return address is a multiple of four. The address of interrupted code is @address plus one. */
static enum grt_arch_look arm_look(uint64_t address, const uint8_t *at, const uint8_t *end,
				   struct grt_cfi_rule *rule)
{
	if (address & 3) {
		*rule = (struct grt_cfi_rule){.cfa = {GRT_CFI_SP, false, 0, 0}};
		return (address & 3) == 1 && arm_is_plt(at - 1, end) ? GRT_ARCH_SURE : GRT_ARCH_NOTHING;
	}
	if (!memcmp(at, arm_sigreturn, sizeof(arm_sigreturn))) {
		*rule = arm_sigreturn_rule;
		return GRT_ARCH_SURE;
	}
	if (!arm_is_call(arm_word(at - 4)))
		return GRT_ARCH_NOTHING;
	return arm_is_epilogue(at, end, rule) ? GRT_ARCH_GUESS : GRT_ARCH_CALLED;
}

/* A number of @bits at @shift, in instructions, as bytes. */
static uint64_t arm_distance(uint32_t word, unsigned int shift, unsigned int bits)
{
	return (uint64_t)((int64_t)((uint64_t)(word >> shift) << (64 - bits)) >> (64 - bits)) * 4;
}

/* b; b.cond, cbz, cbnz; tbz, tbnz */
static uint64_t arm_jump(const uint8_t *at, uint64_t address)
{
	uint32_t word = arm_word(at);

	if ((word & 0xfc000000) == 0x14000000)
		return address + arm_distance(word, 0, 26);
	if ((word & 0xff000010) == 0x54000000 || (word & 0x7e000000) == 0x34000000)
		return address + arm_distance(word, 5, 19);
	if ((word & 0x7e000000) == 0x36000000)
		return address + arm_distance(word, 5, 14);
	return 0;
}

static const struct grt_cfi_rule arm_plt_rule[2] = {
	{.cfa = {GRT_CFI_SP, false, 0, 0}},
	{.cfa = {GRT_CFI_SP, false, 16, 0}, .ra = {GRT_CFI_CFA, false, -8, 0}},
};

/* stp x16, x30, [sp, #-16]!, perhaps after "bti c" */
static unsigned int arm_plt_pushed(const uint8_t *at, const uint8_t *end)
{
	for (unsigned int n = 0; n < 8 && end - at >= GRT_ARCH_PLT_FIRST; n += 4)
		if (arm_word(at + n) == 0xa9bf7bf0)
			return n + 4;
	return 0;
}

const struct grt_arch grt_arch_aarch64 = {
	.elf = EM_AARCH64,
	.sp = REG_SP,
	.fp = REG_X29,
	.ra = REG_X30,
	.pc = GRT_ARCH_NO_REGISTER,
	.links = true,
	.signs = true,
	.look = arm_look,
	.sigreturn = arm_sigreturn,
	.sigreturn_size = sizeof(arm_sigreturn),
	.sigreturn_rule = &arm_sigreturn_rule,
	.step = 4,
	.jump = arm_jump,
	.plt_rule = arm_plt_rule,
	.plt_pushed = arm_plt_pushed,
};
