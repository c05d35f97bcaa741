// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: perf-PID.map and kallsyms. Both parsers get the input; every
 * function that they made must be found at its first address, under its own name
 * or a later one's.
 *
 * Runs without --soak: 20000
 */
#define _GNU_SOURCE 1
#include <stdlib.h>
#include <string.h>

#include "stack/text_map.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

static uint64_t lines_of(const char *text, size_t length)
{
	uint64_t n = 1;

	for (size_t i = 0; i < length; i++)
		n += text[i] == '\n';
	return n;
}

static void look_up(struct grt_functions *f)
{
	grt_functions_find(f, 0);
	grt_functions_find(f, UINT64_MAX);
	for (uint32_t i = 0; i < f->used; i++)
		CHECK(grt_functions_find(f, f->at[i].start) || f->at[i].size);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	/* exactly as long, so that reading on is seen */
	char *text = malloc(size ? size : 1);
	struct grt_functions perf = {0}, kernel = {0};
	uint64_t errors = 0;

	memcpy(text, data, size);
	CHECK(!grt_perf_map_parse(&perf, text, size, &errors));
	CHECK(errors + perf.used <= lines_of(text, size));
	errors = 0;
	CHECK(!grt_kallsyms_parse(&kernel, text, size, &errors));
	CHECK(errors + kernel.used <= lines_of(text, size));
	look_up(&perf);
	look_up(&kernel);
	grt_functions_free(&perf);
	grt_functions_free(&kernel);
	free(text);
	return 0;
}
