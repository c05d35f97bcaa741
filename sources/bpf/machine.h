/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The machine for which the programs are built: its registers as the kernel stores them, and the numbers of
 * its system calls.
 *
 * ARG_1..4: arguments of a function that was just entered. RESULT: result of a function that returns.
 * CALL_1..5: arguments of the system call in which a thread is, or which it leaves. CALL_NUMBER: its number;
 * negative: the thread is in none. CALL_FUNCTION: the kernel's function of a system call, which gets these
 * registers.
 * USER_*: registers of the program; USER_LINK: the register that calls set, if they do. IS_USER: whether they
 * are those of a 64-bit program.
 */
#ifndef GRTRACE_BPF_MACHINE_H
#define GRTRACE_BPF_MACHINE_H

#include <linux/types.h>

#if defined(__TARGET_ARCH_x86)

struct pt_regs {
	unsigned long bp;
	unsigned long r10;
	unsigned long r8;
	unsigned long cx;
	unsigned long dx;
	unsigned long si;
	unsigned long di;
	unsigned long ax;
	unsigned long orig_ax;
	unsigned long ip;
	unsigned long cs;
	unsigned long sp;
} __attribute__((preserve_access_index));

/* Words of a thread's kernel stack; the running kernel's size is used. */
#define REGS_WORDS 21

struct thread_struct {
	unsigned long fsbase;
} __attribute__((preserve_access_index));

#define ARG_1(r) ((r)->di)
#define ARG_2(r) ((r)->si)
#define ARG_3(r) ((r)->dx)
#define ARG_4(r) ((r)->cx)
#define RESULT(r) ((r)->ax)

#define CALL_1(r) ((r)->di)
#define CALL_2(r) ((r)->si)
#define CALL_3(r) ((r)->dx)
#define CALL_4(r) ((r)->r10)
#define CALL_5(r) ((r)->r8)
#define CALL_NUMBER(r) ((__s32)(r)->orig_ax)
#define CALL_FUNCTION(call) "__x64_sys_" #call

#define USER_PC(r) ((r)->ip)
#define USER_SP(r) ((r)->sp)
#define USER_FP(r) ((r)->bp)
#define USER_LINK(r) 0
#define IS_USER(r) ((r)->cs == 0x33)

/* The value of pthread_self() in the running thread. */
#define THREAD_POINTER thread.fsbase

/* A call leaves the return address on the stack. */
#define MACHINE_LINKS 0
/* The address in a word that was saved as a return address. */
#define CODE_ADDRESS(word) (word)

/* The number in the kernel's syscall_64.tbl. */
#define NR_POLL 7
#define NR_IOCTL 16
#define NR_PPOLL 271

#elif defined(__TARGET_ARCH_arm64)

struct pt_regs {
	__u64 regs[31];
	__u64 sp;
	__u64 pc;
	__u64 pstate;
	__u64 orig_x0;
	__s32 syscallno;
} __attribute__((preserve_access_index));

#define REGS_WORDS 44

struct thread_struct {
	struct {
		unsigned long tp_value;
	} uw;
} __attribute__((preserve_access_index));

#define ARG_1(r) ((r)->regs[0])
#define ARG_2(r) ((r)->regs[1])
#define ARG_3(r) ((r)->regs[2])
#define ARG_4(r) ((r)->regs[3])
#define RESULT(r) ((r)->regs[0])

/* x0 gets the result. */
#define CALL_1(r) ((r)->orig_x0)
#define CALL_2(r) ((r)->regs[1])
#define CALL_3(r) ((r)->regs[2])
#define CALL_4(r) ((r)->regs[3])
#define CALL_5(r) ((r)->regs[4])
#define CALL_NUMBER(r) ((r)->syscallno)
#define CALL_FUNCTION(call) "__arm64_sys_" #call

#define USER_PC(r) ((r)->pc)
#define USER_SP(r) ((r)->sp)
#define USER_FP(r) ((r)->regs[29])
#define USER_LINK(r) ((r)->regs[30])
/* Exception level 0, and not 32-bit code. */
#define IS_USER(r) (!((r)->pstate & 0x1f))

#define THREAD_POINTER thread.uw.tp_value

#define MACHINE_LINKS 1
/* If the processor signs addresses, the signature is in the bits above those of programs' addresses. */
#define CODE_ADDRESS(word) ((word)&0xffffffffffffULL)

/* The number in the kernel's asm-generic/unistd.h, which has no poll(). */
#define NR_POLL (-2)
#define NR_IOCTL 29
#define NR_PPOLL 73

#else
#error "the BPF programs know neither the registers nor the system calls of this machine"
#endif

#endif /* GRTRACE_BPF_MACHINE_H */
