/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Names as the source has them: of C++ and Rust, by libiberty where the program
 * was built with it.
 */
#ifndef GRT_BASE_DEMANGLE_H
#define GRT_BASE_DEMANGLE_H

#include <stdbool.h>

/** grt_demangle - a name without what the compiler added. Return: a text for free(), NULL: leave it as it is
 */
char *grt_demangle(const char *name);

/** grt_can_demangle - whether this program can */
bool grt_can_demangle(void);

#endif /* GRT_BASE_DEMANGLE_H */
