// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: object files and linkage names, which are other users' and
 * are read by root's recorder. The first byte says which of the two the rest is.
 * A name's text is bounded, whatever stands in it; of an object file every
 * address may be asked. Code of a GPU is one, too, of which the function is that of the path.
 *
 * Runs without --soak: 12000
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "base/demangle.h"
#include "stack/object.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

/* More than any name may become, see demangle.c. */
#define NAME_BOUND 65536
#define FRAMES 8

static volatile char sum;

static void use(const char *text)
{
	for (; text && *text; text++)
		sum = (char)(sum + *text);
}

static void ask(struct grt_object *o, uint64_t offset)
{
	struct grt_object_frame frame[FRAMES];
	uint64_t address;
	unsigned int n;

	if (!grt_object_address(o, offset, &address))
		address = offset;
	n = grt_object_frames(o, address, frame, FRAMES);
	CHECK(n <= FRAMES);
	for (unsigned int i = 0; i < n; i++) {
		use(frame[i].linkage);
		use(frame[i].name);
		use(frame[i].file);
	}
	use(grt_object_symbol(o, address));
}

static void object(const uint8_t *data, size_t size)
{
	const struct grt_symbols_options options = {.no_separate = true};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct grt_object *o;

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	/* the file is the object's, also when it is refused */
	if (grt_object_open(&o, fd, "/nowhere/chain", NULL, &options))
		return;
	for (uint64_t at = 0; at < 0x3000; at += 0x3f)
		ask(o, at);
	ask(o, UINT64_MAX);
	grt_object_close(o);
}

static void name(const uint8_t *data, size_t size)
{
	char *text = malloc(size + 3), *plain;

	CHECK(text);
	memcpy(text, "_Z", 2);
	memcpy(text + 2, data, size);
	text[size + 2] = '\0';
	plain = grt_demangle(text);
	CHECK(!plain || strlen(plain) < NAME_BOUND);
	free(plain);
	free(text);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		(data[0] % 2 ? name : object)(data + 1, size - 1);
	return 0;
}
