/* SPDX-License-Identifier: GPL-2.0 */
/*
 * BPF programs for functions of the kernel (sections fentry/NAME and fexit/NAME):
 * which functions are here, by the BTF of the kernel and of its modules.
 */
#ifndef GRTRACE_BPF_FUNCTIONS_H
#define GRTRACE_BPF_FUNCTIONS_H

#include <stdbool.h>

/** grt_bpf_function_of - the function that a program's section names; NULL: it is of another kind */
const char *grt_bpf_function_of(const char *section);

/** grt_bpf_function_here - whether it is here, and what its program cannot do without */
bool grt_bpf_function_here(const char *function);

/**
 * grt_bpf_function_replaces - whether @section is at a system call's function, and of use in place of @other,
 * which is at its tracepoint: it costs less; NULL: in place of any
 */
bool grt_bpf_function_replaces(const char *section, const char *other);

#endif /* GRTRACE_BPF_FUNCTIONS_H */
