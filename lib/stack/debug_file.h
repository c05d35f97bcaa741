/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * Files of others that are parsed: opened without waiting, regular ones only, and
 * such that nobody can cut off what elfutils has mapped of them. And which file
 * has the DWARF of an object that has none itself.
 */
#ifndef GRT_STACK_DEBUG_FILE_H
#define GRT_STACK_DEBUG_FILE_H

#include <stdbool.h>
#include <stdint.h>

/* Size of another user's file that is copied for that; larger ones are not read. */
#define GRT_SYMBOLS_COPY_MAX (256ULL << 20)

/**
 * grt_open_regular - opens a regular file of at most @max bytes, whatever has its name
 * Return: a descriptor or -errno
 */
int grt_open_regular(const char *path, uint64_t max);

/**
 * grt_open_firm - the same for a file that is mapped: a file that another user may cut off is copied, because
 * a mapping of what is gone kills its reader
 */
int grt_open_firm(const char *path, uint64_t max);

/**
 * struct grt_debug_link - which file is looked for
 * @path: of the object that has no DWARF
 * @build_id: its own, hexadecimal, "": none
 * @file: by its .gnu_debuglink, NULL: it has none
 * @crc: of that file; 0: any, which is read elsewhere than as the object's own
 * @directory: where else to look; may be NULL
 */
struct grt_debug_link {
	const char *path;
	const char *build_id;
	const char *file;
	uint32_t crc;
	const char *directory;
};

/**
 * grt_debug_file - opens it: by build id, else beside the object, in .debug there, and below /usr/lib/debug
 * and @directory, where its build id or checksum is right
 * @path: gets its name, for free()
 * Return: a descriptor, or -ENOENT
 */
int grt_debug_file(const struct grt_debug_link *link, char **path);

#endif /* GRT_STACK_DEBUG_FILE_H */
