/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/* Files without a name, for data that is too large for memory. */
#ifndef GRT_BASE_TEMPFILE_H
#define GRT_BASE_TEMPFILE_H

/** grt_tempfile_dir - their directory: $TMPDIR, else /tmp */
const char *grt_tempfile_dir(void);

/**
 * grt_tempfile_open - a new empty file, for reading and writing. Return: its descriptor, or -1 with errno set
 */
int grt_tempfile_open(void);

#endif /* GRT_BASE_TEMPFILE_H */
