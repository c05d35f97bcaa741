/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The first bytes of a recording's metadata, in its file and in the temporary file before its rename.
 */
#ifndef GRT_TRACE_METADATA_H
#define GRT_TRACE_METADATA_H

#include <stdbool.h>

#define GRT_METADATA_HEAD "/* CTF 1.8"

/**
 * grt_metadata_is_new - whether this is a name of grt_metadata_write()'s temporary file, which stays after a
 * crash
 */
bool grt_metadata_is_new(const char *name);

#endif /* GRT_TRACE_METADATA_H */
