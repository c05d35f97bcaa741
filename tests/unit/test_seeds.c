// SPDX-License-Identifier: GPL-2.0
/*
 * CPU stacks and GPU records of other tools: the memory and time that joining them takes.
 * What is joined to what is in tests/golden/flame.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <malloc.h>
#include <stdio.h>
#include <sys/mman.h>
#include <time.h>
#include <unistd.h>

#include "cuda/seeds.h"

/* Only there with the address sanitizer, whose allocator mallinfo2() does not know. */
size_t __sanitizer_get_current_allocated_bytes(void) __attribute__((weak));

static size_t allocated(void)
{
	struct mallinfo2 m;

	if (__sanitizer_get_current_allocated_bytes)
		return __sanitizer_get_current_allocated_bytes();
	m = mallinfo2();
	return m.uordblks + m.hblkhd;
}

/* Memory is of the records that are there, however far their ids are apart. */
static void test_ids_far_apart(void **state)
{
	enum { RECORDS = 20000, APART = 4096, BYTES_EACH = 1024 };
	const struct grt_flame_shape shape = {0};
	int fd = memfd_create("gpu", MFD_CLOEXEC);
	FILE *out = fdopen(dup(fd), "w");
	struct grt_seeds *s;
	size_t before;

	(void)state;
	for (uint64_t i = 1; i <= RECORDS; i++)
		fprintf(out, "CONCURRENT_KERNEL [ 100, 200 ] \"k\", correlationId %llu\n",
			(unsigned long long)i * APART);
	assert_int_equal(fclose(out), 0);
	before = allocated();
	assert_int_equal(grt_seeds_new(&s, &shape), 0);
	assert_int_equal(grt_seeds_gpu(s, fd), 0);
	assert_int_equal(grt_seeds_count(s).ops, RECORDS);
	assert_in_range(allocated() - before, 0, RECORDS * BYTES_EACH);
	grt_seeds_free(s);
	close(fd);
}

/** struct files - CPU stacks and records of the GPU, as they are written */
struct files {
	int fd[2];
	FILE *cpu;
	FILE *gpu;
};

static void make(struct files *f)
{
	f->fd[0] = memfd_create("cpu", MFD_CLOEXEC);
	f->fd[1] = memfd_create("gpu", MFD_CLOEXEC);
	f->cpu = fdopen(dup(f->fd[0]), "w");
	f->gpu = fdopen(dup(f->fd[1]), "w");
}

static void put_stack(struct files *f, uint64_t ts, unsigned int tid)
{
	fprintf(f->cpu, "%llu app 1 %u 0 main;f\n", (unsigned long long)ts, tid);
}

/* Of a thread that has no stack. */
static void put_call(struct files *f, uint64_t from, uint64_t to, unsigned int id)
{
	fprintf(f->gpu,
		"RUNTIME [ %llu, %llu ] duration 1, \"cudaLaunchKernel_v7000\", cbid 211, processId 1, threadId 5, correlationId %u\n",
		(unsigned long long)from, (unsigned long long)to, id);
}

/* Return: calls that got a stack by time; @begun gets when joining began */
static uint64_t join(struct files *f, clock_t *begun)
{
	const struct grt_flame_shape shape = {0};
	struct grt_seeds_count count;
	struct grt_seeds *s;

	assert_int_equal(fclose(f->cpu), 0);
	assert_int_equal(fclose(f->gpu), 0);
	assert_int_equal(lseek(f->fd[0], 0, SEEK_SET), 0);
	assert_int_equal(grt_seeds_new(&s, &shape), 0);
	assert_int_equal(grt_seeds_cpu(s, f->fd[0]), 0);
	*begun = clock();
	assert_int_equal(grt_seeds_gpu(s, f->fd[1]), 0);
	count = grt_seeds_count(s);
	grt_seeds_free(s);
	close(f->fd[0]);
	close(f->fd[1]);
	return count.by_window;
}

/* Calls of a thread without stacks take those of all threads, in a time that does not grow with their
 * product. */
static void test_unknown_thread(void **state)
{
	enum { CALLS = 60000, SECONDS = 5 };
	struct files f;
	clock_t begun;

	(void)state;
	make(&f);
	for (unsigned int i = 0; i < CALLS; i++) {
		put_stack(&f, 1000000000U + i, 1000000 + i);
		put_call(&f, 1000000000U + i, 1000000001U + i, i + 1);
	}
	assert_int_equal(join(&f, &begun), CALLS);
	assert_in_range(clock() - begun, 0, SECONDS * CLOCKS_PER_SEC);
}

/* Of stacks within a call the first in time is taken, not that of the first thread: the other is near the
 * next. */
static void test_first_within(void **state)
{
	uint64_t t = 1000000000;
	struct files f;
	clock_t begun;

	(void)state;
	make(&f);
	put_stack(&f, t + 50, 80);
	put_stack(&f, t + 20, 81);
	put_call(&f, t, t + 100, 1);
	put_call(&f, t + 30 + GRT_SEEDS_WINDOW, t + 31 + GRT_SEEDS_WINDOW, 2);
	assert_int_equal(join(&f, &begun), 2);
}

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids_far_apart),
					   cmocka_unit_test(test_unknown_thread),
					   cmocka_unit_test(test_first_within)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
