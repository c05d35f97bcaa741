// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Finds the CUPTI that fits the process: one that the process has loaded already, one that belongs to its
 * CUDA runtime, or the newest one that its driver supports. The search begins in the process's libraries,
 * continues in the toolkits, and ends in the packages that pip has installed.
 */
#include <dlfcn.h>
#include <errno.h>
#include <glob.h>
#include <libgen.h>
#include <stdarg.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "inject.h"

#define PATH_ROOM 4096
#define NAME "libcupti.so"

/**
 * struct search
 * @major: major number of the driver's version of CUDA, 0: unknown
 * @handle: the library that was found
 */
struct search {
	struct cupti *cupti;
	int major;
	void *handle;
	unsigned int tried;
	char last[256];
};

static int cupti_major_of(uint32_t version)
{
	if (version >= 100000)
		return (int)(version / 10000);
	return version >= 18 ? 12 : version >= 13 ? 11 : 10;
}

static bool cupti_bind(struct cupti *c, void *handle)
{
#define MAY(name, symbol, args) *(void **)&c->name = dlsym(handle, #symbol);
#define NEED(name, symbol, args) \
	MAY(name, symbol, args)  \
	if (!c->name)            \
		return false;
#define NEW MAY
	CUPTI_FUNCTIONS
#undef NEW
#undef NEED
#undef MAY
	return true;
}

static bool cupti_try_path(struct search *s, const char *path)
{
	uint32_t version = 0;
	void *handle;

	if (s->handle)
		return true;
	handle = dlopen(path, RTLD_NOW | RTLD_LOCAL);
	if (!handle) {
		if (strchr(path, '/'))
			snprintf(s->last, sizeof(s->last), "%s", dlerror() ?: path);
		return false;
	}
	s->tried++;
	if (cupti_bind(s->cupti, handle) && !s->cupti->get_version(&version) &&
	    version >= CUPTI_VERSION_11_1 && (!s->major || cupti_major_of(version) <= s->major)) {
		s->handle = handle;
		return true;
	}
	snprintf(s->last, sizeof(s->last), "%.200s does not fit (version %u)", path, version);
	dlclose(handle);
	return false;
}

/* Tries the names from the last to the first: the newest version comes last. */
static bool cupti_try_pattern(struct search *s, const char *pattern)
{
	glob_t g = {0};
	size_t i;

	if (!glob(pattern, 0, NULL, &g))
		for (i = g.gl_pathc; i > 0 && !s->handle; i--)
			cupti_try_path(s, g.gl_pathv[i - 1]);
	globfree(&g);
	return s->handle;
}

static bool __attribute__((format(printf, 2, 3))) cupti_try_format(struct search *s, const char *format, ...)
{
	char pattern[PATH_ROOM];
	va_list ap;

	va_start(ap, format);
	vsnprintf(pattern, sizeof(pattern), format, ap);
	va_end(ap);
	return s->handle || cupti_try_pattern(s, pattern);
}

/* In the directory of a CUDA runtime of the same major version that the process has loaded. */
static void cupti_beside_runtime(struct search *s, char *path)
{
	const char *number = strstr(path, ".so.");
	int major = number ? atoi(number + 4) : 0;
	char *dir = dirname(path);

	if (!major)
		return;
	if (cupti_try_format(s, "%s/" NAME ".%d*", dir, major) ||
	    cupti_try_format(s, "%s/../extras/CUPTI/lib64/" NAME ".%d*", dir, major) ||
	    cupti_try_format(s, "%s/../../../extras/CUPTI/lib64/" NAME ".%d*", dir, major))
		return;
	cupti_try_format(s, "%s/../../cuda_cupti/lib/" NAME ".%d*", dir, major);
}

/* In the directories of Python's packages: site-packages/nvidia is beside a loaded library of theirs. */
static void cupti_beside_python(struct search *s, const char *path)
{
	const char *site = strstr(path, "-packages/");
	int length = site ? (int)(site - path) + 9 : 0;

	if (!site)
		return;
	if (!cupti_try_format(s, "%.*s/nvidia/cu[0-9]*/lib/" NAME ".[0-9]*", length, path))
		cupti_try_format(s, "%.*s/nvidia/cuda_cupti/lib/" NAME ".[0-9]*", length, path);
}

static void cupti_each_library(struct search *s, const char *name, void (*fn)(struct search *s, char *path))
{
	char line[PATH_ROOM + 128], last[PATH_ROOM] = "";
	FILE *f = fopen("/proc/self/maps", "re");
	char *path;

	while (f && !s->handle && fgets(line, sizeof(line), f)) {
		path = strchr(line, '/');
		if (!path || !strstr(path, name))
			continue;
		path[strcspn(path, "\n")] = '\0';
		if (!strcmp(path, last))
			continue;
		snprintf(last, sizeof(last), "%s", path);
		fn(s, path);
	}
	if (f)
		fclose(f);
}

static void cupti_take_loaded(struct search *s, char *path)
{
	cupti_try_path(s, path);
}

static void cupti_take_python(struct search *s, char *path)
{
	cupti_beside_python(s, path);
}

void *cupti_driver_symbol(const char *name)
{
	void *handle = dlopen("libcuda.so.1", RTLD_LAZY | RTLD_NOLOAD), *symbol;

	if (!handle)
		return NULL;
	symbol = dlsym(handle, name);
	dlclose(handle);
	return symbol;
}

static int cupti_driver_major(void)
{
	int (*get_version)(int *version);
	int version = 0;

	*(void **)&get_version = cupti_driver_symbol("cuDriverGetVersion");
	if (!get_version || get_version(&version))
		version = 0;
	return version / 1000;
}

static void cupti_in_toolkits(struct search *s)
{
	static const char *const homes[] = {"CUDA_HOME", "CUDA_PATH", "CUDA_ROOT"};
	const char *home;
	size_t i;
	int major;

	for (i = 0; i < sizeof(homes) / sizeof(homes[0]); i++) {
		home = secure_getenv(homes[i]);
		if (home && !cupti_try_format(s, "%s/extras/CUPTI/lib64/" NAME ".[0-9]*", home))
			cupti_try_format(s, "%s/lib64/" NAME ".[0-9]*", home);
	}
	for (major = s->major ? s->major : 13; major >= 11 && !s->handle; major--) {
		cupti_try_format(s, "/usr/local/cuda-%d*/extras/CUPTI/lib64/" NAME ".[0-9]*", major);
		cupti_try_format(s, "/usr/local/cuda-%d*/lib64/" NAME ".[0-9]*", major);
		cupti_try_format(s, "/opt/cuda/extras/CUPTI/lib64/" NAME ".%d*", major);
		cupti_try_format(s, "/usr/lib/*/" NAME ".%d*", major);
		cupti_try_format(s, "/usr/lib64/" NAME ".%d*", major);
	}
	cupti_try_format(s, "/usr/local/cuda/extras/CUPTI/lib64/" NAME ".[0-9]*");
	cupti_try_format(s, "/usr/local/cuda/lib64/" NAME ".[0-9]*");
}

static void cupti_in_library_path(struct search *s)
{
	char name[32];
	int major;

	for (major = s->major ? s->major : 13; major >= 11 && !s->handle; major--) {
		snprintf(name, sizeof(name), NAME ".%d", major);
		cupti_try_path(s, name);
	}
}

static void cupti_in_python(struct search *s)
{
	static const char *const places[] = {"/usr/lib/python3*/*-packages/x",
					     "/usr/local/lib/python3*/*-packages/x",
					     "/opt/*/lib/python3*/site-packages/x"};
	size_t i;

	cupti_each_library(s, "-packages/", cupti_take_python);
	for (i = 0; i < sizeof(places) / sizeof(places[0]) && !s->handle; i++) {
		char *at = strrchr(places[i], '/');

		if (!cupti_try_format(s, "%.*s/nvidia/cu[0-9]*/lib/" NAME ".[0-9]*", (int)(at - places[i]),
				      places[i]))
			cupti_try_format(s, "%.*s/nvidia/cuda_cupti/lib/" NAME ".[0-9]*",
					 (int)(at - places[i]), places[i]);
	}
}

int cupti_load(struct cupti *c, char *why, size_t room)
{
	struct search s = {.cupti = c, .major = cupti_driver_major()};
	const char *given = secure_getenv("GRTRACE_CUPTI");

	if (given && *given) {
		cupti_try_path(&s, given);
	} else {
		cupti_each_library(&s, NAME, cupti_take_loaded);
		cupti_each_library(&s, "libcudart.so.", cupti_beside_runtime);
		cupti_in_library_path(&s);
		cupti_in_toolkits(&s);
		cupti_in_python(&s);
	}
	if (s.handle)
		return 0;
	snprintf(
		why, room,
		"no libcupti.so that fits this process (CUDA %d) was found%s%s%s: install one, or name it in GRTRACE_CUPTI",
		s.major, s.last[0] ? " (" : "", s.last, s.last[0] ? ")" : "");
	return -ENOENT;
}
