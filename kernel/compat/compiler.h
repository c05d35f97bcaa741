/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Kernels since 5.15 may be built such that every local variable is set to 0
 * first (CONFIG_INIT_STACK_ALL_ZERO). Where one is filled in anyway, before it is
 * read, gcc 12 and clang 8 have an attribute for it. Can go with older compilers.
 */
#ifndef GRTRACE_COMPAT_COMPILER_H
#define GRTRACE_COMPAT_COMPILER_H

#include <linux/compiler_attributes.h>

#if __has_attribute(__uninitialized__)
#define grtrace_uninitialized __attribute__((__uninitialized__))
#else
#define grtrace_uninitialized
#endif

#endif /* GRTRACE_COMPAT_COMPILER_H */
