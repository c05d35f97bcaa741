// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* x86-64: System V ABI AMD64 figure 3.36 (register numbers). */
#include "arch.h"

#include <elf.h>
#include <string.h>

#include "cfi.h"

enum { REG_RBP = 6, REG_RSP = 7, REG_RA = 16 };

/* Whether a call instruction ends at @ra: e8 rel32, or ff /2 with any operand. */
static bool x86_call_before(const uint8_t *ra)
{
	if (ra[-5] == 0xe8)
		return true;
	for (int size = 2; size <= 7; size++)
		if (ra[-size] == 0xff && (ra[1 - size] & 0x38) == 0x10)
			return true;
	return false;
}

/* mov $__NR_rt_sigreturn,%rax; syscall */
static const uint8_t x86_sigreturn[] = {0x48, 0xc7, 0xc0, 0x0f, 0, 0, 0, 0x0f, 0x05};

/* Offsets in struct rt_sigframe (arch/x86/include/asm/sigframe.h). */
static const struct grt_cfi_rule x86_sigreturn_rule = {
	.cfa = {GRT_CFI_SP, true, 160, 0},
	.ra = {GRT_CFI_SP, false, 168, 0},
	.fp = {GRT_CFI_SP, false, 120, 0},
	.signal = true,
};

/*
 * Code that only removes its frame after its call, as trampolines do (CPython's for perf): the code says how
 * large the frame is.
 */
static bool x86_is_epilogue(const uint8_t *code, const uint8_t *end, struct grt_cfi_rule *rule)
{
	int32_t size = 0, rbp_at = -1;

	while (end - code >= 8) {
		if (code[0] == 0x48 && code[1] == 0x83 && code[2] == 0xc4) { /* add $imm8,%rsp */
			size += (int8_t)code[3];
			code += 4;
		} else if (code[0] == 0x48 && code[1] == 0x81 && code[2] == 0xc4) { /* add $imm32,%rsp */
			size += code[3] | code[4] << 8 | code[5] << 16;
			code += 7;
		} else if (code[0] == 0x41 && (code[1] & 0xf8) == 0x58) { /* pop %r8..15 */
			size += 8;
			code += 2;
		} else if ((code[0] & 0xf8) == 0x58 && code[0] != 0x5c) { /* pop, but not %rsp */
			if (code[0] == 0x5d)
				rbp_at = size;
			size += 8;
			code += 1;
		} else if (code[0] == 0xc3 && size >= 0 && size < GRT_ARCH_GUESS_MAX && !(size & 7)) {
			*rule = (struct grt_cfi_rule){.cfa = {GRT_CFI_SP, false, size + 8, 0},
						      .ra = {GRT_CFI_CFA, false, -8, 0}};
			if (rbp_at >= 0)
				rule->fp = (struct grt_cfi_place){GRT_CFI_CFA, false, rbp_at - size - 8, 0};
			return true;
		} else {
			return false;
		}
	}
	return false;
}

static enum grt_arch_look x86_look(uint64_t address, const uint8_t *at, const uint8_t *end,
				   struct grt_cfi_rule *rule)
{
	(void)address;
	if (!memcmp(at, x86_sigreturn, sizeof(x86_sigreturn))) {
		*rule = x86_sigreturn_rule;
		return GRT_ARCH_SURE;
	}
	if (!x86_call_before(at))
		return GRT_ARCH_NOTHING;
	return x86_is_epilogue(at, end, rule) ? GRT_ARCH_GUESS : GRT_ARCH_CALLED;
}

/* jmp rel32, jcc rel32 */
static uint64_t x86_jump(const uint8_t *at, uint64_t address)
{
	unsigned int length = at[0] == 0xe9 ? 5 : at[0] == 0x0f && (at[1] & 0xf0) == 0x80 ? 6 : 0;
	int32_t by;

	if (!length)
		return 0;
	memcpy(&by, at + length - 4, sizeof(by));
	return address + length + (uint64_t)(int64_t)by;
}

const struct grt_arch grt_arch_x86_64 = {
	.elf = EM_X86_64,
	.sp = REG_RSP,
	.fp = REG_RBP,
	.ra = REG_RA,
	.pc = REG_RA,
	.look = x86_look,
	.step = 1,
	.jump = x86_jump,
};
