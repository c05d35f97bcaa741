// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: names of addresses, from files that are other users'. The
 * first byte of an input is a number of steps of four bytes: what is asked, of which
 * process or object, and an address. The rest is the file that all of it reads:
 * program, separate debug file, perf map and kallsyms. What is told has at least one
 * frame, and the counts agree.
 *
 * Runs without --soak: 500
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/stat.h>
#include <unistd.h>

#include "../unit/trace_maker.h"
#include "stack/debug_file.h"
#include "stack/symbols.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define STEP 4
#define BUILD_ID "ab" /* its tree has this directory, with the file c.debug */

static char root[32], path[64], missing[64];
static volatile char sum;

static void use(const char *text)
{
	CHECK(text);
	for (; *text; text++)
		sum = (char)(sum + *text);
}

static void see(const struct grt_symbols_found *found)
{
	CHECK(found->frames && found->frames <= GRT_SYMBOLS_FRAMES_MAX);
	use(found->object);
	for (unsigned int i = 0; i < found->frames; i++) {
		use(found->frame[i].function);
		use(found->frame[i].file);
	}
}

static void map(struct grt_symbols *s, const uint8_t *in, uint32_t object)
{
	struct grt_symbols_mapping m = {.start = in[2] * 4096ULL, .offset = (in[1] >> 4) * 4096ULL};

	m.end = m.start + in[3] * 1024ULL;
	m.object = in[1] & 4 ? GRT_SYMBOLS_NO_OBJECT : object;
	m.has_bias = in[1] & 8;
	m.bias = m.start;
	CHECK(!grt_symbols_map(s, in[1] & 3, &m));
}

static void add_object(struct grt_symbols *s, const uint8_t *in, uint32_t *object)
{
	static const char *const ids[] = {NULL, "", BUILD_ID "c", "ABC", "no"};

	if (in[1] & 1)
		CHECK(!grt_symbols_object(s, in[1] & 2 ? missing : path, ids[in[2] % 5], object));
	else
		CHECK(!grt_symbols_object_as(s, "/usr/lib/x.so", ids[in[2] % 5], in[1] & 2 ? missing : path,
					     object));
}

static void debug_file(const uint8_t *in)
{
	static const char *const files[] = {NULL, "c.debug", "/etc/hostname", "no.debug", ""};
	const struct grt_debug_link link = {.path = path,
					    .build_id = in[1] & 1 ? BUILD_ID "c" : "",
					    .file = files[in[2] % 5],
					    .crc = in[3],
					    .directory = in[1] & 2 ? root : NULL};
	char *found = NULL;
	int fd = grt_debug_file(&link, &found);

	CHECK((fd >= 0) == !!found);
	free(found);
	if (fd >= 0)
		close(fd);
}

/* A process lives at a time that depends on the step, or at a time that is not known. */
static void live(struct grt_symbols *s, const uint8_t *in)
{
	CHECK(!grt_symbols_began(s, in[1] & 3, in[2] * 1000000000ULL));
	CHECK(!grt_symbols_ended(s, in[1] & 3, in[3] * 1000000000ULL));
}

static void step(struct grt_symbols *s, const uint8_t *in, uint32_t *object)
{
	uint64_t address = in[2] * 4096ULL + in[3] * 16ULL;
	struct grt_symbols_found found = {.frames = 0};
	uint32_t pid = in[1] & 3;

	switch (in[0] % 12) {
	case 0:
		add_object(s, in, object);
		break;
	case 1:
	case 2:
		CHECK(!grt_symbols_at(s, *object, address, &found));
		break;
	case 3:
		CHECK(!grt_symbols_at_offset(s, *object, address, &found));
		break;
	case 4:
		map(s, in, *object);
		break;
	case 5:
	case 6:
		CHECK(!grt_symbols_in_process(s, pid, address, &found));
		break;
	case 7:
		grt_symbols_perf_map(s, pid, in[1] & 4 ? NULL : path);
		break;
	case 8:
		grt_symbols_kallsyms(s, path);
		CHECK(!grt_symbols_kernel(s, address, &found));
		break;
	case 9:
		live(s, in);
		break;
	case 10:
		debug_file(in);
		break;
	default:
		if (grt_symbols_mapping_at(s, pid, address) && in[1] & 4)
			grt_symbols_unmap(s, pid);
	}
	if (found.frames)
		see(&found);
}

static void put_file(const char *name, const uint8_t *data, size_t size)
{
	int fd = open(name, O_WRONLY | O_CREAT | O_TRUNC | O_CLOEXEC, 0600);

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	close(fd);
}

static void remove_root(void)
{
	tm_remove(root);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char name[128];

	(void)argc;
	(void)argv;
	strcpy(root, "/tmp/grtrace-fuzz.XXXXXX");
	CHECK(mkdtemp(root));
	atexit(remove_root);
	snprintf(path, sizeof(path), "%s/file", root);
	snprintf(missing, sizeof(missing), "%s/none", root);
	snprintf(name, sizeof(name), "%s/.build-id", root);
	CHECK(!mkdir(name, 0700));
	snprintf(name, sizeof(name), "%s/.build-id/" BUILD_ID, root);
	CHECK(!mkdir(name, 0700));
	snprintf(name, sizeof(name), "%s/.build-id/" BUILD_ID "/c.debug", root);
	CHECK(!symlink("../../file", name));
	snprintf(name, sizeof(name), "%s/c.debug", root);
	CHECK(!symlink("file", name));
	return 0;
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	struct grt_symbols_options options = {.directory = root};
	const struct grt_symbols_count *n;
	uint32_t object = GRT_SYMBOLS_NO_OBJECT;
	struct grt_symbols *s;
	size_t steps;

	if (!size || 1 + data[0] / 2 * STEP > size)
		return 0;
	steps = data[0] / 2;
	options.linkage = data[0] & 1;
	put_file(path, data + 1 + steps * STEP, size - 1 - steps * STEP);
	CHECK(!grt_symbols_new(&s, &options));
	for (size_t i = 0; i < steps; i++)
		step(s, data + 1 + i * STEP, &object);
	n = grt_symbols_count(s);
	CHECK(n->unnamed <= n->asked && n->missing <= n->objects && n->broken <= n->missing &&
	      n->other <= n->missing);
	grt_symbols_free(s);
	return 0;
}
