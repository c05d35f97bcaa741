/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds shared libraries on this system.
 */
#ifndef GRTRACE_LIBRARY_H
#define GRTRACE_LIBRARY_H

#include "probe.h"

/**
 * library_find - finds a shared library as the dynamic linker would, without loading it
 * @soname: "libcuda.so.1"; with a dot at its end, any library whose name begins with it ("libcupti.so.")
 * @more: additional directories, ended by NULL; may be NULL
 */
bool library_find(const char *soname, const char *const *more, char path[PROBE_PATH]);

#endif /* GRTRACE_LIBRARY_H */
