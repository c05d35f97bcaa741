// SPDX-License-Identifier: GPL-2.0
#include "image_addresses.h"

#ifdef GRT_HAVE_BPF

#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <unistd.h>

#include "base/containers.h"
#include "elf_file.h"
#include "stack/debug_file.h"

#define FILES_MAX 16384U
/* Most mappings of all images whose objects are remembered; the others are looked up each time. */
#define MAPPINGS_MAX 65536U

int image_addresses_init(struct image_addresses *a)
{
	*a = (struct image_addresses){.addresses = addresses_new()};
	grt_texts_init(&a->files, FILES_MAX);
	grt_keyed_init(&a->mappings, sizeof(uint32_t), MAPPINGS_MAX);
	return a->addresses ? 0 : -ENOMEM;
}

int image_addresses_object(struct image_addresses *a, const char *key, const char *path, uint32_t *object,
			   bool *is_new)
{
	uint32_t file, before = a->files.used;

	*is_new = false;
	if (grt_grow_zeroed(&a->object, &a->objects, before + 1, 64) ||
	    grt_texts_add(&a->files, key, strlen(key), &file))
		return -ENOMEM;
	if (a->files.used > before && addresses_object(a->addresses, path, &a->object[file]))
		return -ENOMEM;
	*object = file ? a->object[file] : GRT_SYMBOLS_NO_OBJECT;
	*is_new = a->files.used > before && a->object[file];
	if (*is_new)
		addresses_by_address(a->addresses, *object);
	return 0;
}

/* Opens only the build that was mapped; a file without a build id is identified by its path. */
static void image_addresses_open(struct image_addresses *a, uint32_t object, const char *path,
				 const char *build_id)
{
	char own[2 * ELF_BUILD_ID_MAX + 1], name[32];
	int fd = grt_open_regular(path, GRT_SYMBOLS_FILE_MAX);
	uint64_t address;

	if (fd < 0)
		return;
	snprintf(name, sizeof(name), "/proc/self/fd/%d", fd);
	elf_describe(name, 0, &address, own);
	if (strcmp(own, build_id)) {
		close(fd);
		return;
	}
	addresses_open(a->addresses, object, fd);
}

static int image_addresses_of_file(struct image_addresses *a, const struct grt_image *image,
				   const struct grt_image_mapping *mapping, uint32_t *object)
{
	const char *path = grt_image_string(image, mapping->path), *base = path ? strrchr(path, '/') : NULL;
	char key[4500];
	bool is_new;
	int ret;

	*object = GRT_SYMBOLS_NO_OBJECT;
	if (!base || !base[1])
		return 0;
	snprintf(key, sizeof(key), "%s:%s", mapping->build_id, path);
	ret = image_addresses_object(a, key, path, object, &is_new);
	if (is_new)
		image_addresses_open(a, *object, path, mapping->build_id);
	return ret;
}

static int image_addresses_of_mapping(struct image_addresses *a, const struct grt_image *image,
				      uint32_t module, uint32_t *object)
{
	const struct grt_key key = {{image->number, module}};
	uint32_t *known = grt_keyed_find(&a->mappings, &key);
	void *found;
	int ret;

	*object = known ? *known : GRT_SYMBOLS_NO_OBJECT;
	if (known)
		return 0;
	ret = image_addresses_of_file(a, image, grt_image_mapping(image, module), object)
		      ?: grt_keyed_get_or_count(&a->mappings, &key, NULL, &found);
	if (!ret && found)
		*(uint32_t *)found = *object;
	return ret;
}

int image_addresses_frame(struct image_addresses *a, const struct grt_image *image,
			  const struct grt_image_node *node, uint32_t *number)
{
	const struct grt_image_mapping *mapping = grt_image_mapping(image, node->module);
	uint32_t object;
	int ret;

	*number = ADDRESS_NONE;
	if (!node->ip || !mapping)
		return 0;
	ret = image_addresses_of_mapping(a, image, node->module, &object);
	if (ret || object == GRT_SYMBOLS_NO_OBJECT)
		return ret;
	return addresses_get(a->addresses, object, image_addresses_at(mapping, node), number);
}

void image_addresses_free(struct image_addresses *a)
{
	addresses_free(a->addresses);
	grt_texts_free(&a->files);
	grt_keyed_free(&a->mappings);
	free(a->object);
}

#endif /* GRT_HAVE_BPF */
