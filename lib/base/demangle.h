/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Demangles names of C++ and Rust, with libiberty if the program was built
 * with it.
 */
#ifndef GRT_BASE_DEMANGLE_H
#define GRT_BASE_DEMANGLE_H

#include <stdbool.h>

/** grt_demangle - demangles a name. Return: a text for free(), NULL: use the name unchanged
 */
char *grt_demangle(const char *name);

/** grt_can_demangle - whether this program was built with libiberty */
bool grt_can_demangle(void);

#endif /* GRT_BASE_DEMANGLE_H */
