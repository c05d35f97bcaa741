/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An object file, read by elfutils: functions, source lines, inlined functions. Addresses are those in the
 * file. In a program without elfutils, opening returns -ENOTSUP. An object with code for a GPU (cubin.h) is
 * one function, whose name is the last part of the object's path; addresses are offsets in that function.
 */
#ifndef GRT_STACK_OBJECT_H
#define GRT_STACK_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

struct grt_object;

/**
 * struct grt_object_frame - a function at an address; texts are valid until the object is closed
 * @linkage: name for the linker; NULL: unknown
 * @name: name in the source; NULL: unknown
 * @file: source file; NULL: unknown
 */
struct grt_object_frame {
	const char *linkage;
	const char *name;
	const char *file;
	uint32_t line;
	bool inlined;
};

/**
 * grt_object_open - reads an object file
 * @fd: descriptor of a regular file; the function owns it, even if it fails
 * @path: path by which the separate debug file is searched
 * @build_id: build id that the file must have, hexadecimal; NULL or "": any
 * @options: those for debug files are used
 * Return: 0, -ESTALE: the file has another build id, -EBADMSG: it is no object file, -ENOTSUP, -ENOMEM
 */
int grt_object_open(struct grt_object **out, int fd, const char *path, const char *build_id,
		    const struct grt_symbols_options *options);

/** grt_object_address - the address of an offset in the file. Return: whether the offset is in a loaded
 * segment */
bool grt_object_address(const struct grt_object *o, uint64_t offset, uint64_t *address);

/**
 * grt_object_frames - the functions at an address by DWARF, innermost first
 * Return: their number, at most @max; 0: DWARF has none
 */
unsigned int grt_object_frames(struct grt_object *o, uint64_t address, struct grt_object_frame *out,
			       unsigned int max);

/** grt_object_symbol - the function at an address by the symbol tables; NULL: there is none */
const char *grt_object_symbol(struct grt_object *o, uint64_t address);

/** grt_object_close - frees @o, which may be NULL */
void grt_object_close(struct grt_object *o);

/** grt_can_objects - whether this program can read object files */
bool grt_can_objects(void);

#endif /* GRT_STACK_OBJECT_H */
