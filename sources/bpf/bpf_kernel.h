/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What the running kernel has: functions and structs in its BTF and that of its modules, which is read once
 * and kept until grt_kernel_btf_forget(), and addresses. Not for several threads.
 */
#ifndef GRTRACE_BPF_KERNEL_H
#define GRTRACE_BPF_KERNEL_H

#include <stdbool.h>
#include <stdint.h>

#include "shared.h"

/** struct grt_kernel_type - a type of the kernel: number @id in its own BTF, or in that of the module @fd if
 * not 0 */
struct grt_kernel_type {
	uint32_t id;
	int fd;
};

/**
 * grt_kernel_function, grt_kernel_struct - finds a type by its name
 * @module: where it is if the kernel itself does not have it; NULL: nowhere
 * Return: whether it is there
 */
bool grt_kernel_function(const char *name, const char *module, struct grt_kernel_type *found);
bool grt_kernel_struct(const char *name, const char *module);

/** grt_kernel_symbols - finds the addresses of GRT_BPF_SYMBOLS */
void grt_kernel_symbols(struct grt_bpf_symbols *found);

/** grt_kernel_btf_forget - frees everything; a later search reads it again */
void grt_kernel_btf_forget(void);

#endif /* GRTRACE_BPF_KERNEL_H */
