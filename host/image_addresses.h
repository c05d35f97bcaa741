/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Addresses in the stacks of process images (stack/images.h) that get their names later, see addresses.h. The
 * files are opened here, by path and build id, and read by isolated processes.
 */
#ifndef GRTRACE_IMAGE_ADDRESSES_H
#define GRTRACE_IMAGE_ADDRESSES_H

#include "addresses.h"
#include "base/containers.h"
#include "stack/images.h"

/**
 * struct image_addresses - set up by image_addresses_init()
 * @files: keys of files; @object: the object of each
 * @mappings: the object of each mapping of an image
 */
struct image_addresses {
	struct addresses *addresses;
	struct grt_texts files;
	uint32_t *object;
	uint32_t objects;
	struct grt_keyed mappings;
};

/** image_addresses_init - an empty set. Return: 0 or -ENOMEM */
int image_addresses_init(struct image_addresses *a);

/**
 * image_addresses_object - adds a file whose addresses are its own virtual addresses; it is not open yet
 * @key: identifies the file
 * @path: its last part is the file's name
 * @object: gets its number; GRT_SYMBOLS_NO_OBJECT: there are too many files
 * @is_new: gets whether the caller must open it
 * Return: 0 or -ENOMEM
 */
int image_addresses_object(struct image_addresses *a, const char *key, const char *path, uint32_t *object,
			   bool *is_new);

/**
 * image_addresses_frame - the number of a frame's address; opens the file at its first frame
 * @number: gets ADDRESS_NONE if the frame is in no file, or if there are too many
 * Return: 0 or -ENOMEM
 */
int image_addresses_frame(struct image_addresses *a, const struct grt_image *image,
			  const struct grt_image_node *node, uint32_t *number);

/** image_addresses_at - the address of a frame in its file, @mapping; the call is before the return address
 */
static inline uint64_t image_addresses_at(const struct grt_image_mapping *mapping,
					  const struct grt_image_node *node)
{
	return node->ip - 1 - mapping->bias;
}

/** image_addresses_free - frees all that @a owns; @a may be zeroed */
void image_addresses_free(struct image_addresses *a);

#endif /* GRTRACE_IMAGE_ADDRESSES_H */
