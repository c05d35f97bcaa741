/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * An object file, as elfutils reads it: functions, source lines, what is
 * inlined. Addresses are the file's own. In a program without elfutils opening
 * says -ENOTSUP. Of code for a GPU (cubin.h) an object is one function, the last part
 * of its path, and addresses are offsets in it.
 */
#ifndef GRT_STACK_OBJECT_H
#define GRT_STACK_OBJECT_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

#include "symbols.h"

struct grt_object;

/**
 * struct grt_object_frame - a function at an address; texts live as long as the object
 * @linkage: as the linker knows it, NULL: unknown
 * @name: as the source does, NULL: unknown
 * @file: NULL: unknown
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
 * @fd: of a regular file; it is taken over, also when this fails
 * @path: for finding its separate debug file
 * @build_id: that it must have, hexadecimal, NULL or "": any
 * @options: see there; what concerns debug files
 * Return: 0, -ESTALE: it has another build id, -EBADMSG: no object file, -ENOTSUP, -ENOMEM
 */
int grt_object_open(struct grt_object **out, int fd, const char *path, const char *build_id,
		    const struct grt_symbols_options *options);

/** grt_object_address - the address at which a place of the file is. Return: whether it is loaded */
bool grt_object_address(const struct grt_object *o, uint64_t offset, uint64_t *address);

/**
 * grt_object_frames - what DWARF says of an address, innermost first
 * Return: how many, at most @max; 0: nothing
 */
unsigned int grt_object_frames(struct grt_object *o, uint64_t address, struct grt_object_frame *out,
			       unsigned int max);

/** grt_object_symbol - what the symbol tables say, NULL: nothing */
const char *grt_object_symbol(struct grt_object *o, uint64_t address);

/** grt_object_close - frees it; NULL is allowed */
void grt_object_close(struct grt_object *o);

/** grt_can_objects - whether this program can read object files */
bool grt_can_objects(void);

#endif /* GRT_STACK_OBJECT_H */
