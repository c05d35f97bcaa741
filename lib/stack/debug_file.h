/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Opens files of other users for parsing: without waiting, only regular files, and so that nobody can
 * truncate a file that elfutils has mapped. Also finds the file with the DWARF of an object that has none
 * itself.
 */
#ifndef GRT_STACK_DEBUG_FILE_H
#define GRT_STACK_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Maximum size of another user's file, which is copied, bytes; larger files are not read. */
#define GRT_SYMBOLS_COPY_MAX (256ULL << 20)

/**
 * grt_open_regular - opens a regular file of at most @max bytes; anything else of this name is refused
 * Return: a descriptor or -errno
 */
int grt_open_regular(const char *path, uint64_t max);

/** grt_open_no_link - the same for a place where any user may put a link, such as /tmp: a link is refused */
int grt_open_no_link(const char *path, uint64_t max);

/**
 * grt_open_firm - the same for a file that will be mapped: a file that another user may truncate is copied,
 * because access to a truncated part of a mapping kills the reader
 */
int grt_open_firm(const char *path, uint64_t max);

/**
 * struct grt_debug_link - the searched file
 * @path: path of the object that has no DWARF
 * @build_id: build id of the object, hexadecimal; "": none
 * @file: name in the object's .gnu_debuglink; NULL: it has none
 * @crc: checksum of @file; 0: any, as for a file that several objects share
 * @directory: additional directory to search; may be NULL
 */
struct grt_debug_link {
	const char *path;
	const char *build_id;
	const char *file;
	uint32_t crc;
	const char *directory;
};

/**
 * grt_debug_file - opens the file: by build id, else beside the object, in .debug there, or below
 * /usr/lib/debug and
 * @directory, if its build id or checksum matches
 * @path: gets the path of the file, for free()
 * Return: a descriptor, or -ENOENT
 */
int grt_debug_file(const struct grt_debug_link *link, char **path);

#endif /* GRT_STACK_DEBUG_FILE_H */
