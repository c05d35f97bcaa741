// SPDX-License-Identifier: GPL-2.0
/* Memory of processes from NVIDIA's driver: sums, what is passed on, what NVML counts. */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include "nvidia/process_memory.h"

static struct grt_process_memory m;
static struct grt_holder_change change[2];
static uint64_t now;

static int see_at(uint32_t bus, enum grt_nv_memory_what what, uint32_t owner, uint32_t object, uint64_t bytes)
{
	const struct grt_ev_nv_memory e = {
		.e = {.time = now, .type = GRT_EV_NV_MEMORY, .size = sizeof(e)},
		.bytes = bytes,
		.client = 0xc1d00001,
		.object = object,
		.bus = bus,
		.owner = owner,
		.what = (uint16_t)what,
		.place = GRT_NV_MEMORY_OF_GPU,
	};

	return grt_process_memory_event(&m, &e, change);
}

static int see(enum grt_nv_memory_what what, uint32_t owner, uint32_t object, uint64_t bytes)
{
	return see_at(0xc600, what, owner, object, bytes);
}

static int begin(void **state)
{
	grt_process_memory_init(&m);
	now = 100;
	return 0;
}

static int end(void **state)
{
	grt_process_memory_free(&m);
	return 0;
}

static void what_is_allocated_is_live_until_it_is_freed(void **state)
{
	assert_int_equal(see(GRT_NV_MEMORY_ALLOCATED, 7, 1, 4096), 1);
	assert_int_equal(change[0].bytes, 4096);
	assert_int_equal(see(GRT_NV_MEMORY_ALLOCATED, 7, 2, 100), 1);
	assert_int_equal(see(GRT_NV_MEMORY_SHARED, 7, 2, 100), 0);
	assert_int_equal(see(GRT_NV_MEMORY_FREED, 7, 1, 4096), 1);
	assert_true(change[0].freed);
	assert_int_equal(m.used, 1);
	assert_int_equal(m.holder[0]->live, 100);
	assert_int_equal(m.holder[0]->peak, 4196);
	assert_int_equal(m.holder[0]->blocks, 1);
	assert_int_equal(m.holder[0]->allocations, 2);
	assert_int_equal(m.holder[0]->frees, 1);
	assert_int_equal(m.holder[0]->shared, 1);
}

static void a_handle_that_comes_again_was_free(void **state)
{
	see(GRT_NV_MEMORY_ALLOCATED, 7, 1, 4096);
	assert_int_equal(see(GRT_NV_MEMORY_ALLOCATED, 8, 1, 10), 2);
	assert_int_equal(change[0].holder->pid, 7);
	assert_int_equal(change[0].bytes, -4096);
	assert_int_equal(change[1].holder->pid, 8);
	assert_int_equal(change[0].holder->live, 0);
}

static void memory_passes_on(void **state)
{
	see(GRT_NV_MEMORY_ALLOCATED, 7, 1, 4096);
	assert_int_equal(see(GRT_NV_MEMORY_PASSED, 8, 1, 4096), 2);
	assert_int_equal(change[0].holder->live, 0);
	assert_int_equal(change[1].holder->live, 4096);
	assert_int_equal(change[1].holder->allocations, 0);
	assert_int_equal(see(GRT_NV_MEMORY_PASSED, 8, 5, 4096), 0);
	assert_int_equal(see(GRT_NV_MEMORY_FREED, 8, 1, 4096), 1);
	assert_int_equal(change[0].holder->pid, 8);
}

static void what_nvml_counts_first_was_there_before(void **state)
{
	see(GRT_NV_MEMORY_ALLOCATED, 7, 1, 1000);
	see(GRT_NV_MEMORY_COUNTED, 0, 0, 0);
	see(GRT_NV_MEMORY_COUNTED, 7, 0, 5000);
	assert_int_equal(m.holder[0]->before, 4000);
	/* whose birth was seen, and is not in the trace */
	see(GRT_NV_MEMORY_FREED, 7, 9, 1500);
	assert_int_equal(m.holder[0]->before_left, 2500);
	now = 200;
	see(GRT_NV_MEMORY_COUNTED, 7, 0, 3600);
	assert_int_equal(m.holder[0]->other, 100);
	/* whose birth was not seen */
	see(GRT_NV_MEMORY_COUNTED, 7, 0, 3000);
	assert_int_equal(m.holder[0]->before_left, 2000);
	assert_int_equal(m.holder[0]->other, 0);
	assert_int_equal(m.holder[0]->before, 4000);
	/* who came later had nothing before */
	see(GRT_NV_MEMORY_COUNTED, 8, 0, 700);
	assert_false(m.holder[1]->had_before);
	assert_int_equal(m.holder[1]->other, 700);
}

/* A process that opened its GPU before: its calls do not say which. */
static void without_an_address_it_is_of_the_only_gpu_that_the_process_had(void **state)
{
	see_at(0xc600, GRT_NV_MEMORY_COUNTED, 7, 0, 1000);
	see_at(0xc600, GRT_NV_MEMORY_COUNTED, 8, 0, 1000);
	see_at(0xc700, GRT_NV_MEMORY_COUNTED, 8, 0, 1000);
	now = 200;
	see_at(0xc700, GRT_NV_MEMORY_COUNTED, 7, 0, 10);
	assert_int_equal(see_at(0, GRT_NV_MEMORY_ALLOCATED, 7, 1, 300), 1);
	assert_int_equal(change[0].holder->bus, 0xc600);
	assert_true(change[0].holder->inferred);
	see_at(0xc600, GRT_NV_MEMORY_COUNTED, 7, 0, 1300);
	assert_int_equal(change[0].holder->other, 0);
	assert_int_equal(see_at(0, GRT_NV_MEMORY_FREED, 7, 1, 300), 1);
	assert_int_equal(change[0].holder->live, 0);
	/* of two GPUs, and of a process that came later, nothing is known */
	assert_int_equal(see_at(0, GRT_NV_MEMORY_ALLOCATED, 8, 2, 300), 1);
	assert_int_equal(change[0].holder->bus, 0);
	assert_false(change[0].holder->inferred);
	assert_int_equal(see_at(0, GRT_NV_MEMORY_ALLOCATED, 9, 3, 300), 1);
	assert_int_equal(change[0].holder->bus, 0);
}

static void a_refusal_is_no_memory(void **state)
{
	assert_int_equal(see(GRT_NV_MEMORY_REFUSED, 7, 1, 1ULL << 40), 0);
	assert_int_equal(m.holder[0]->refused, 1);
	assert_int_equal(m.holder[0]->peak, 0);
}

static void sizes_of_a_broken_trace_do_not_wrap(void **state)
{
	see(GRT_NV_MEMORY_ALLOCATED, 7, 1, UINT64_MAX);
	see(GRT_NV_MEMORY_ALLOCATED, 7, 2, 8);
	assert_int_equal(m.holder[0]->live, 8);
	assert_int_equal(see(77, 7, 2, 8), 0);
}

#define TEST(name) cmocka_unit_test_setup_teardown(name, begin, end)

int main(void)
{
	const struct CMUnitTest tests[] = {
		TEST(what_is_allocated_is_live_until_it_is_freed),
		TEST(a_handle_that_comes_again_was_free),
		TEST(memory_passes_on),
		TEST(what_nvml_counts_first_was_there_before),
		TEST(without_an_address_it_is_of_the_only_gpu_that_the_process_had),
		TEST(a_refusal_is_no_memory),
		TEST(sizes_of_a_broken_trace_do_not_wrap),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
