// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: CPU stacks and CUPTI text of other tools. Bytes below 128
 * stand for themselves and the others for the words of such text; the first 255
 * parts the two files. Whatever they say, no time is lost and nothing is counted
 * twice.
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "cuda/seeds.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

static const char *const words[] = {
	"\n100 app 1 2 0 a;b",
	"\n2000 my app 1 2 0 a;c",
	"\n2000 app 1 3 0 x;y",
	";[correlation ",
	"7]",
	"\nRUNTIME [ 100, 200 ] \"cudaLaunchKernel\", correlationId ",
	"\nDRIVER [ 110, 190 ] duration 80, \"cuLaunchKernel\", threadId 2, correlationId ",
	"\nRUNTIME [ 2000, 2200 ] duration 1, \"cudaGraphLaunch\", threadId 3, correlationId ",
	"\nCONCURRENT_KERNEL [ 300, 400 ] duration 100, \"k\", correlationId ",
	"\nMEMCPY \"HtoD\" [ 500, 600 ] duration 100, size 4096, correlationId ",
	"\nMEMSET [ 500, 600 ] size 18446744073709551615, correlationId ",
	"\n\tdeviceId 1, contextId 1, streamId ",
	"\nOVERHEAD X [ 1, 2 ]",
	"1",
	"2",
	"7",
	"5000",
	"18446744073709551615",
};

static void spell(FILE *out, const uint8_t **data, const uint8_t *end)
{
	for (; *data < end && **data != 255; ++*data) {
		if (**data < 128)
			fputc(**data, out);
		else
			fputs(words[(**data - 128U) % (sizeof(words) / sizeof(words[0]))], out);
	}
	*data += *data < end;
}

static int file_of(const uint8_t **data, const uint8_t *end)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	FILE *out = fdopen(dup(fd), "w");

	CHECK(fd >= 0 && out);
	spell(out, data, end);
	CHECK(!fclose(out) && !lseek(fd, 0, SEEK_SET));
	return fd;
}

static void check(struct grt_seeds *s, const struct grt_flame_shape *shape)
{
	const struct grt_seeds_count n = grt_seeds_count(s);
	struct grt_stacks *tree = grt_seeds_take(s);

	CHECK(tree && n.by_id + n.by_order + n.by_window + n.no_stack == n.calls);
	CHECK(n.pending <= n.calls && n.no_call <= n.ops);
	CHECK(grt_stacks_total(tree, GRT_STACKS_NOW) ==
	      (shape->weight == GRT_FLAME_WEIGHT_LAUNCHES ? n.ops + n.pending : n.ns));
	grt_stacks_free(tree);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	const uint8_t *end = data + size;
	struct grt_flame_shape shape = {0};
	struct grt_seeds *s;
	int cpu, gpu, ret;

	shape.weight = size % 2 ? GRT_FLAME_WEIGHT_LAUNCHES : GRT_FLAME_WEIGHT_TIME;
	cpu = file_of(&data, end);
	gpu = file_of(&data, end);
	CHECK(!grt_seeds_new(&s, &shape) && !grt_seeds_cpu(s, cpu));
	ret = grt_seeds_gpu(s, gpu);
	/* what begins like JSON may be none */
	CHECK(!ret || ret == -EOVERFLOW || ret == -EPROTO);
	if (!ret)
		check(s, &shape);
	grt_seeds_free(s);
	close(cpu);
	close(gpu);
	return 0;
}
