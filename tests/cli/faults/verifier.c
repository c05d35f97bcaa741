// SPDX-License-Identifier: GPL-2.0
/*
 * A library that makes the kernel's verifier refuse the programs at ioctl: their first instruction reads a
 * register that nobody has written. libbpf makes its system calls by syscall().
 */
#define _GNU_SOURCE
#include <dlfcn.h>
#include <linux/bpf.h>
#include <stdarg.h>
#include <stdint.h>
#include <string.h>
#include <sys/syscall.h>

long syscall(long number, ...)
{
	long (*next)(long, ...) = (long (*)(long, ...))dlsym(RTLD_NEXT, "syscall");
	union bpf_attr *attr;
	struct bpf_insn *first;
	va_list ap;
	long a[6];

	va_start(ap, number);
	for (int i = 0; i < 6; i++)
		a[i] = va_arg(ap, long);
	va_end(ap);
	attr = (union bpf_attr *)a[1];
	if (number == SYS_bpf && a[0] == BPF_PROG_LOAD && !strncmp(attr->prog_name, "ioctl_", 6)) {
		first = (struct bpf_insn *)(uintptr_t)attr->insns;
		*first = (struct bpf_insn){.code = BPF_ALU64 | BPF_MOV | BPF_X, .dst_reg = 0, .src_reg = 9};
	}
	return next(number, a[0], a[1], a[2], a[3], a[4], a[5]);
}
