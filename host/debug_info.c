// SPDX-License-Identifier: GPL-2.0
/* Debug info by build id, see debug_info.h. */
#include "debug_info.h"

#ifdef GRT_HAVE_BPF

#include <dlfcn.h>
#include <errno.h>
#include <stdbool.h>
#include <stdint.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/auxv.h>

#include "elf_file.h"
#include "stack/debug_file.h"

/* Weak, because these functions are missing if libc has no dlopen() of its own (glibc before 2.34). */
#pragma weak dlopen
#pragma weak dlsym

#define DEBUG_FILE_MAX (64ULL << 20)
/* How many seconds to wait for an answer; the client's own limit is a minute and a half. */
#define PATIENCE "10"

/**
 * struct client - elfutils' library, loaded when it is first needed; @tried: loading was tried
 */
struct client {
	bool tried;
	void *handle;
	int (*find)(void *handle, const unsigned char *build_id, int length, char **path);
};

static struct client client;

static bool is_wanted(void)
{
	const char *wanted = getenv("GRTRACE_DEBUGINFOD"), *urls = getenv("DEBUGINFOD_URLS");

	return wanted && !strcmp(wanted, "1") && urls && *urls;
}

static void load_client(void)
{
	void *library, *(*begin)(void);

	client.tried = true;
	/* this program was not started by a dynamic linker, so it cannot load libraries */
	if (!dlopen || !dlsym || !getauxval(AT_BASE))
		return;
	library = dlopen("libdebuginfod.so.1", RTLD_NOW | RTLD_LOCAL);
	if (!library)
		return;
	begin = (void *(*)(void))(uintptr_t)dlsym(library, "debuginfod_begin");
	client.find = (int (*)(void *, const unsigned char *, int, char **))(uintptr_t)dlsym(
		library, "debuginfod_find_debuginfo");
	setenv("DEBUGINFOD_TIMEOUT", PATIENCE, 0);
	client.handle = begin && client.find ? begin() : NULL;
}

static int ask_servers(const char *build_id)
{
	int fd;

	if (!is_wanted())
		return -ENOENT;
	if (!client.tried)
		load_client();
	if (!client.handle)
		return -ENOENT;
	/* length 0 means: the build id is hexadecimal text */
	fd = client.find(client.handle, (const unsigned char *)build_id, 0, NULL);
	return fd < 0 ? -ENOENT : fd;
}

int debug_info_open(int object)
{
	char build_id[2 * ELF_BUILD_ID_MAX + 1], path[2 * ELF_BUILD_ID_MAX + 64];
	uint64_t address;
	int fd;

	snprintf(path, sizeof(path), "/proc/self/fd/%d", object);
	elf_describe(path, 0, &address, build_id);
	if (strlen(build_id) < 3)
		return -ENOENT;
	snprintf(path, sizeof(path), "/usr/lib/debug/.build-id/%.2s/%s.debug", build_id, build_id + 2);
	fd = grt_open_regular(path, DEBUG_FILE_MAX);
	return fd < 0 ? ask_servers(build_id) : fd;
}

#endif /* GRT_HAVE_BPF */
