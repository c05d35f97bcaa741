/* SPDX-License-Identifier: GPL-2.0 */
/*
 * A client of NVTX as the header-only library is one in each program: tables of
 * pointers to functions, all of them NULL until a library of NVTX_INJECTION64_PATH
 * has filled them at the first call. Each file that includes this is a client.
 */
#ifndef TESTS_INJECT_MOCK_NVTX_H
#define TESTS_INJECT_MOCK_NVTX_H

#include <dlfcn.h>
#include <stddef.h>
#include <stdint.h>
#include <stdlib.h>
#include <wchar.h>

typedef void (*nvtx_fn)(void);

/* nvtxEventAttributes, 48 bytes */
struct nvtx_attributes {
	uint16_t version;
	uint16_t size;
	uint32_t category;
	int32_t colour_type;
	uint32_t colour;
	int32_t payload_type;
	int32_t reserved;
	union {
		uint64_t u64;
		double d;
		uint32_t u32;
		float f;
	} payload;
	int32_t message_type;
	union {
		const char *ascii;
		const wchar_t *wide;
		void *registered;
	} message;
};

#define NVTX_CORE_SIZE 16
#define NVTX_CORE2_SIZE 16

static struct {
	int (*push_a)(const char *);
	int (*push_w)(const wchar_t *);
	int (*push_ex)(const struct nvtx_attributes *);
	int (*pop)(void);
	uint64_t (*start_a)(const char *);
	uint64_t (*start_ex)(const struct nvtx_attributes *);
	void (*end)(uint64_t);
	void (*mark_a)(const char *);
	void (*mark_ex)(const struct nvtx_attributes *);
	void (*category_a)(uint32_t, const char *);
	void (*thread_a)(uint32_t, const char *);
	int (*domain_push)(void *, const struct nvtx_attributes *);
	int (*domain_pop)(void *);
	void (*domain_mark)(void *, const struct nvtx_attributes *);
	uint64_t (*domain_start)(void *, const struct nvtx_attributes *);
	void (*domain_end)(void *, uint64_t);
	void (*domain_category)(void *, uint32_t, const char *);
	void *(*domain_register)(void *, const char *);
	void *(*domain_register_w)(void *, const wchar_t *);
	void *(*domain_create)(const char *);
	void (*domain_destroy)(void *);
} nvtx;

static nvtx_fn *nvtx_core[NVTX_CORE_SIZE + 1] = {
	[1] = (nvtx_fn *)&nvtx.mark_ex,	    [2] = (nvtx_fn *)&nvtx.mark_a,    [4] = (nvtx_fn *)&nvtx.start_ex,
	[5] = (nvtx_fn *)&nvtx.start_a,	    [7] = (nvtx_fn *)&nvtx.end,	      [8] = (nvtx_fn *)&nvtx.push_ex,
	[9] = (nvtx_fn *)&nvtx.push_a,	    [10] = (nvtx_fn *)&nvtx.push_w,   [11] = (nvtx_fn *)&nvtx.pop,
	[12] = (nvtx_fn *)&nvtx.category_a, [14] = (nvtx_fn *)&nvtx.thread_a,
};
static nvtx_fn *nvtx_core2[NVTX_CORE2_SIZE + 1] = {
	[1] = (nvtx_fn *)&nvtx.domain_mark,	 [2] = (nvtx_fn *)&nvtx.domain_start,
	[3] = (nvtx_fn *)&nvtx.domain_end,	 [4] = (nvtx_fn *)&nvtx.domain_push,
	[5] = (nvtx_fn *)&nvtx.domain_pop,	 [8] = (nvtx_fn *)&nvtx.domain_category,
	[10] = (nvtx_fn *)&nvtx.domain_register, [11] = (nvtx_fn *)&nvtx.domain_register_w,
	[12] = (nvtx_fn *)&nvtx.domain_create,	 [14] = (nvtx_fn *)&nvtx.domain_destroy,
};

static int nvtx_table(uint32_t module, nvtx_fn **table[], unsigned int *size)
{
	if (module != 1 && module != 5)
		return 0;
	*table = module == 1 ? nvtx_core : nvtx_core2;
	*size = module == 1 ? NVTX_CORE_SIZE : NVTX_CORE2_SIZE;
	return 1;
}

static const struct {
	size_t size;
	int (*table)(uint32_t module, nvtx_fn **table[], unsigned int *size);
} nvtx_callbacks = {sizeof(nvtx_callbacks), nvtx_table};

static const void *nvtx_export(uint32_t id)
{
	return id == 1 ? &nvtx_callbacks : NULL;
}

/* What the library does within its first call. Return: what the injected one said, -1: there is none */
static int __attribute__((unused)) nvtx_load(void)
{
	const char *path = getenv("NVTX_INJECTION64_PATH");
	void *library = path ? dlopen(path, RTLD_LAZY) : NULL;
	int (*init)(const void *(*)(uint32_t)) = NULL;

	if (library)
		*(void **)&init = dlsym(library, "InitializeInjectionNvtx2");
	return init ? init(nvtx_export) : -1;
}

/* A call of a function that may be none. */
#define NVTX(name, ...) (nvtx.name ? nvtx.name(__VA_ARGS__) : 0)
#define NVTX_DO(name, ...)                      \
	do {                                    \
		if (nvtx.name)                  \
			nvtx.name(__VA_ARGS__); \
	} while (0)

#endif /* TESTS_INJECT_MOCK_NVTX_H */
