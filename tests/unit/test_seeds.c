// SPDX-License-Identifier: GPL-2.0
/*
 * CPU stacks and GPU records of other tools: the memory that joining them takes.
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
#include <unistd.h>

#include "analysis/seeds.h"

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

int main(void)
{
	const struct CMUnitTest tests[] = {cmocka_unit_test(test_ids_far_apart)};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
