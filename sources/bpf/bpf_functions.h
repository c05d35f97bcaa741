/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs for functions of the kernel (sections fentry/NAME and fexit/NAME):
 * which functions are here, by the BTF of the kernel and of its modules.
 */
#ifndef GRTRACE_BPF_FUNCTIONS_H
#define GRTRACE_BPF_FUNCTIONS_H

#include <stdbool.h>

/**
 * grt_bpf_function_of - the function in the name of a program's section; NULL: the section is of another
 * kind
 */
const char *grt_bpf_function_of(const char *section);

/**
 * grt_bpf_function_here - whether this kernel has the function, and everything else that its program needs
 */
bool grt_bpf_function_here(const char *function);

/**
 * grt_bpf_function_replaces - whether @section is at the function of a system call and replaces the more
 * expensive @other at its tracepoint; @other NULL: whether it replaces any program
 */
bool grt_bpf_function_replaces(const char *section, const char *other);

/**
 * grt_bpf_functions_register - makes libbpf load such programs with the functions that were found here,
 * before any is opened. Return: 0 or -errno
 */
int grt_bpf_functions_register(void);

#endif /* GRTRACE_BPF_FUNCTIONS_H */
