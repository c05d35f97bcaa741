// SPDX-License-Identifier: GPL-2.0
/*
 * Blocks of a multiprocessor and what limits them, against what NVIDIA's own cuda_occupancy.h (CUDA 13.0)
 * computes for these devices and kernels.
 */
#include <setjmp.h>
#include <stdarg.h>
#include <stddef.h>
#include <stdint.h>
#include <cmocka.h>

#include <string.h>

#include "cuda/occupancy.h"

/* clang-format off */

/* capability, multiprocessors, threads, blocks and shared memory of one, reserved for a block; threads of a block,
 * registers of a thread, shared memory static and dynamic; blocks, limits (1 warps, 2 blocks, 4 registers, 8 shared) */
static const struct row {
	uint16_t major, minor;
	uint32_t sms, threads_sm, blocks_sm, shared_sm, reserved, block, registers, fixed, dynamic, blocks, limits;
} rows[] = {
	{6, 0, 56, 2048, 32, 65536, 0, 256, 32, 0, 0, 8, 5},
	{6, 0, 56, 2048, 32, 65536, 0, 1024, 32, 0, 0, 2, 5},
	{6, 0, 56, 2048, 32, 65536, 0, 128, 255, 0, 0, 2, 4},
	{6, 0, 56, 2048, 32, 65536, 0, 96, 40, 0, 0, 16, 4},
	{6, 0, 56, 2048, 32, 65536, 0, 64, 24, 2048, 0, 32, 11},
	{6, 0, 56, 2048, 32, 65536, 0, 256, 64, 16384, 0, 4, 12},
	{6, 0, 56, 2048, 32, 65536, 0, 384, 168, 0, 99000, 0, 8},
	{6, 0, 56, 2048, 32, 65536, 0, 32, 16, 0, 0, 32, 2},
	{6, 0, 56, 2048, 32, 65536, 0, 1000, 48, 1000, 0, 1, 4},
	{6, 0, 56, 2048, 32, 65536, 0, 512, 128, 0, 0, 1, 4},
	{6, 0, 56, 2048, 32, 65536, 0, 160, 33, 5000, 1, 10, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 256, 32, 0, 0, 8, 5},
	{7, 0, 80, 2048, 32, 98304, 0, 1024, 32, 0, 0, 2, 5},
	{7, 0, 80, 2048, 32, 98304, 0, 128, 255, 0, 0, 2, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 96, 40, 0, 0, 16, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 64, 24, 2048, 0, 32, 3},
	{7, 0, 80, 2048, 32, 98304, 0, 256, 64, 16384, 0, 4, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 384, 168, 0, 99000, 0, 8},
	{7, 0, 80, 2048, 32, 98304, 0, 32, 16, 0, 0, 32, 2},
	{7, 0, 80, 2048, 32, 98304, 0, 1000, 48, 1000, 0, 1, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 512, 128, 0, 0, 1, 4},
	{7, 0, 80, 2048, 32, 98304, 0, 160, 33, 5000, 1, 9, 4},
	{7, 5, 40, 1024, 16, 65536, 0, 256, 32, 0, 0, 4, 1},
	{7, 5, 40, 1024, 16, 65536, 0, 1024, 32, 0, 0, 1, 1},
	{7, 5, 40, 1024, 16, 65536, 0, 128, 255, 0, 0, 2, 4},
	{7, 5, 40, 1024, 16, 65536, 0, 96, 40, 0, 0, 10, 1},
	{7, 5, 40, 1024, 16, 65536, 0, 64, 24, 2048, 0, 16, 3},
	{7, 5, 40, 1024, 16, 65536, 0, 256, 64, 16384, 0, 4, 13},
	{7, 5, 40, 1024, 16, 65536, 0, 384, 168, 0, 99000, 0, 8},
	{7, 5, 40, 1024, 16, 65536, 0, 32, 16, 0, 0, 16, 2},
	{7, 5, 40, 1024, 16, 65536, 0, 1000, 48, 1000, 0, 1, 5},
	{7, 5, 40, 1024, 16, 65536, 0, 512, 128, 0, 0, 1, 4},
	{7, 5, 40, 1024, 16, 65536, 0, 160, 33, 5000, 1, 6, 1},
	{8, 0, 108, 2048, 32, 167936, 1024, 256, 32, 0, 0, 8, 5},
	{8, 0, 108, 2048, 32, 167936, 1024, 1024, 32, 0, 0, 2, 5},
	{8, 0, 108, 2048, 32, 167936, 1024, 128, 255, 0, 0, 2, 4},
	{8, 0, 108, 2048, 32, 167936, 1024, 96, 40, 0, 0, 16, 4},
	{8, 0, 108, 2048, 32, 167936, 1024, 64, 24, 2048, 0, 32, 3},
	{8, 0, 108, 2048, 32, 167936, 1024, 256, 64, 16384, 0, 4, 4},
	{8, 0, 108, 2048, 32, 167936, 1024, 384, 168, 0, 99000, 1, 12},
	{8, 0, 108, 2048, 32, 167936, 1024, 32, 16, 0, 0, 32, 2},
	{8, 0, 108, 2048, 32, 167936, 1024, 1000, 48, 1000, 0, 1, 4},
	{8, 0, 108, 2048, 32, 167936, 1024, 512, 128, 0, 0, 1, 4},
	{8, 0, 108, 2048, 32, 167936, 1024, 160, 33, 5000, 1, 9, 4},
	{8, 6, 72, 1536, 16, 102400, 1024, 256, 32, 0, 0, 6, 1},
	{8, 6, 72, 1536, 16, 102400, 1024, 1024, 32, 0, 0, 1, 1},
	{8, 6, 72, 1536, 16, 102400, 1024, 128, 255, 0, 0, 2, 4},
	{8, 6, 72, 1536, 16, 102400, 1024, 96, 40, 0, 0, 16, 7},
	{8, 6, 72, 1536, 16, 102400, 1024, 64, 24, 2048, 0, 16, 2},
	{8, 6, 72, 1536, 16, 102400, 1024, 256, 64, 16384, 0, 4, 4},
	{8, 6, 72, 1536, 16, 102400, 1024, 384, 168, 0, 99000, 1, 12},
	{8, 6, 72, 1536, 16, 102400, 1024, 32, 16, 0, 0, 16, 2},
	{8, 6, 72, 1536, 16, 102400, 1024, 1000, 48, 1000, 0, 1, 5},
	{8, 6, 72, 1536, 16, 102400, 1024, 512, 128, 0, 0, 1, 4},
	{8, 6, 72, 1536, 16, 102400, 1024, 160, 33, 5000, 1, 9, 5},
	{8, 9, 58, 1536, 24, 102400, 1024, 256, 32, 0, 0, 6, 1},
	{8, 9, 58, 1536, 24, 102400, 1024, 1024, 32, 0, 0, 1, 1},
	{8, 9, 58, 1536, 24, 102400, 1024, 128, 255, 0, 0, 2, 4},
	{8, 9, 58, 1536, 24, 102400, 1024, 96, 40, 0, 0, 16, 5},
	{8, 9, 58, 1536, 24, 102400, 1024, 64, 24, 2048, 0, 24, 3},
	{8, 9, 58, 1536, 24, 102400, 1024, 256, 64, 16384, 0, 4, 4},
	{8, 9, 58, 1536, 24, 102400, 1024, 384, 168, 0, 99000, 1, 12},
	{8, 9, 58, 1536, 24, 102400, 1024, 32, 16, 0, 0, 24, 2},
	{8, 9, 58, 1536, 24, 102400, 1024, 1000, 48, 1000, 0, 1, 5},
	{8, 9, 58, 1536, 24, 102400, 1024, 512, 128, 0, 0, 1, 4},
	{8, 9, 58, 1536, 24, 102400, 1024, 160, 33, 5000, 1, 9, 5},
	{9, 0, 132, 2048, 32, 233472, 1024, 256, 32, 0, 0, 8, 5},
	{9, 0, 132, 2048, 32, 233472, 1024, 1024, 32, 0, 0, 2, 5},
	{9, 0, 132, 2048, 32, 233472, 1024, 128, 255, 0, 0, 2, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 96, 40, 0, 0, 16, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 64, 24, 2048, 0, 32, 3},
	{9, 0, 132, 2048, 32, 233472, 1024, 256, 64, 16384, 0, 4, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 384, 168, 0, 99000, 1, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 32, 16, 0, 0, 32, 2},
	{9, 0, 132, 2048, 32, 233472, 1024, 1000, 48, 1000, 0, 1, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 512, 128, 0, 0, 1, 4},
	{9, 0, 132, 2048, 32, 233472, 1024, 160, 33, 5000, 1, 9, 4},
};

/* clang-format on */

static struct grt_ev_device device_of(const struct row *r)
{
	return (struct grt_ev_device){.major = r->major,
				      .minor = r->minor,
				      .sms = r->sms,
				      .warp = 32,
				      .threads_sm = r->threads_sm,
				      .blocks_sm = r->blocks_sm,
				      .registers_sm = 65536,
				      .shared_sm = r->shared_sm,
				      .shared_reserved = r->reserved};
}

static void test_rules(void **state)
{
	struct grt_occupancy o;

	(void)state;
	for (size_t i = 0; i < sizeof(rows) / sizeof(rows[0]); i++) {
		const struct row *r = &rows[i];
		struct grt_ev_device d = device_of(r);
		struct grt_ev_gpu_kernel k = {.block_x = r->block,
					      .block_y = 1,
					      .block_z = 1,
					      .grid_x = 1000,
					      .grid_y = 1,
					      .grid_z = 1,
					      .registers = r->registers,
					      .shared_static = r->fixed,
					      .shared_dynamic = r->dynamic};

		assert_true(grt_occupancy_of(&d, &k, &o));
		if (o.blocks != r->blocks || o.limits != r->limits)
			print_error("row %zu: %u blocks, limits %u\n", i, o.blocks, o.limits);
		assert_int_equal(o.blocks, r->blocks);
		assert_int_equal(o.limits, r->limits);
		assert_int_equal(o.warps, r->blocks * ((r->block + 31) / 32));
	}
}

/* By hand: an H100 has 132 * 8 blocks of 256 threads at once; 3168 of them are 3 waves. */
static void test_waves(void **state)
{
	const struct row h100 = {9, 0, 132, 2048, 32, 233472, 1024, 256, 32, 0, 0, 8, 5};
	struct grt_ev_device d = device_of(&h100);
	struct grt_ev_gpu_kernel k = {.block_x = 16,
				      .block_y = 16,
				      .block_z = 1,
				      .grid_x = 132,
				      .grid_y = 12,
				      .grid_z = 2,
				      .registers = 32};
	struct grt_occupancy o;

	(void)state;
	assert_true(grt_occupancy_of(&d, &k, &o));
	assert_int_equal(o.waves, 3000);
	assert_int_equal(o.warps, 64);
	assert_string_equal(grt_occupancy_limits(o.limits), "warps, registers");
	k.grid_z = 1;
	assert_true(grt_occupancy_of(&d, &k, &o));
	assert_int_equal(o.waves, 1500);
}

static void test_unknown(void **state)
{
	struct grt_ev_device d = device_of(&rows[0]);
	struct grt_ev_gpu_kernel k = {.block_x = 32, .block_y = 1, .block_z = 1};
	struct grt_occupancy o;

	(void)state;
	k.block_z = 0;
	assert_false(grt_occupancy_of(&d, &k, &o));
	k.block_z = UINT32_MAX;
	assert_false(grt_occupancy_of(&d, &k, &o));
	k.block_z = 1;
	k.grid_x = k.grid_y = k.grid_z = UINT32_MAX;
	assert_false(grt_occupancy_of(&d, &k, &o));
	d.sms = 0;
	k.grid_x = 1;
	assert_false(grt_occupancy_of(&d, &k, &o));
}

int main(void)
{
	const struct CMUnitTest tests[] = {
		cmocka_unit_test(test_rules),
		cmocka_unit_test(test_waves),
		cmocka_unit_test(test_unknown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
