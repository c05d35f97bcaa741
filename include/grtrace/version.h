/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The version of everything that is built from this source: programs, library
 * and kernel modules. What changed is in CHANGELOG.md.
 */
#ifndef GRTRACE_VERSION_H
#define GRTRACE_VERSION_H

#define GRT_VERSION "0.2.0"

#endif /* GRTRACE_VERSION_H */
