# SPDX-License-Identifier: GPL-2.0
# A library with as many rules as are kept of a file that are no words (UNWIND_LONGS_MAX): each has another
# distance that is no number of words. Its function calls with 8 in place of a frame pointer.
	.text
	.globl through
	.type through,@function
through:
	.cfi_startproc
	push %rbp
	.cfi_def_cfa_offset 16
	.cfi_offset %rbp,-16
	mov $8,%ebp
	call *%rdi
	pop %rbp
	.cfi_def_cfa_offset 8
	ret
	.cfi_endproc
	.size through,.-through
	.type rules,@function
rules:
	.cfi_startproc
	.set distance,12
	.rept 4096
	nop
	.cfi_def_cfa_offset distance
	.set distance,distance+8
	.endr
	ret
	.cfi_endproc
	.size rules,.-rules
	.section .note.GNU-stack,"",@progbits
