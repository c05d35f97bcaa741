// SPDX-License-Identifier: GPL-2.0
/* Packed BPF objects, see bpf_embedded.h. bpf_objects.h, which the Makefile writes, has a row for each. */
#include "bpf_embedded.h"

#ifdef GRT_HAVE_BPF

#include <bpf/libbpf.h>
#include <errno.h>
#include <stdint.h>
#include <stdlib.h>
#include <string.h>
#include <zlib.h>

#include "bpf_functions.h"

/* inflateInit2(): the largest window, with the header of gzip */
#define GZIP_WINDOW (15 + 16)
/* A file of gzip ends with the size of what it has, 32 bits, lowest byte first. */
#define GZIP_SIZE 4

#define BPF_OBJECT(name, file)                                        \
	__asm__(".pushsection .rodata\n"                              \
		".hidden bpf_packed_" #name ", bpf_after_" #name "\n" \
		".global bpf_packed_" #name ", bpf_after_" #name "\n" \
		"bpf_packed_" #name ": .incbin \"" file "\"\n"        \
		"bpf_after_" #name ":\n"                              \
		".popsection\n");                                     \
	extern const unsigned char bpf_packed_##name[], bpf_after_##name[];
#include "bpf_objects.h"
#undef BPF_OBJECT

static const struct embedded {
	const char *name;
	const unsigned char *from;
	const unsigned char *to;
} embedded[] = {
#define BPF_OBJECT(name, file) {#name, bpf_packed_##name, bpf_after_##name},
#include "bpf_objects.h"
#undef BPF_OBJECT
};

static const struct embedded *embedded_find(const char *name)
{
	for (size_t i = 0; i < sizeof(embedded) / sizeof(embedded[0]); i++)
		if (!strcmp(embedded[i].name, name))
			return &embedded[i];
	return NULL;
}

static size_t embedded_size(const struct embedded *e)
{
	const unsigned char *size = e->to - GZIP_SIZE;

	return size[0] | size[1] << 8 | size[2] << 16 | (size_t)size[3] << 24;
}

/* Return: 0 or -errno */
static int embedded_unpack(const struct embedded *e, unsigned char *to, size_t size)
{
	z_stream z = {.next_in = (unsigned char *)e->from,
		      .avail_in = (unsigned int)(e->to - e->from),
		      .next_out = to,
		      .avail_out = (unsigned int)size};
	int code;

	if (inflateInit2(&z, GZIP_WINDOW) != Z_OK)
		return -ENOMEM;
	code = inflate(&z, Z_FINISH);
	inflateEnd(&z);
	return code == Z_STREAM_END && !z.avail_out ? 0 : -EPROTO;
}

struct bpf_object *grt_bpf_embedded_open(const char *name)
{
	struct bpf_object_open_opts opts = {.sz = sizeof(opts), .object_name = name};
	const struct embedded *e = embedded_find(name);
	size_t size = e ? embedded_size(e) : 0;
	unsigned char *bytes = malloc(size ?: 1);
	int ret = !e ? -ENOENT : !bytes ? -ENOMEM : embedded_unpack(e, bytes, size) ?: grt_bpf_functions_register();
	struct bpf_object *o = ret ? NULL : bpf_object__open_mem(bytes, size, &opts);

	ret = ret ?: -errno;
	/* libbpf has copied what it needs */
	free(bytes);
	errno = -ret;
	return o;
}

#endif /* GRT_HAVE_BPF */
