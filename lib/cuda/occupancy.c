// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The allocation units are those of compute capability 5.0 and later. */
#include "occupancy.h"

#define OLDEST_MAJOR 5U
/*
 * Registers are allocated to warps in such units; the parts of a multiprocessor have registers of their own.
 */
#define REGISTERS_PORTION 256U
#define PARTS 4U
#define PARTS_OF_6_0 2U

const char *grt_occupancy_limits(uint32_t limits)
{
	static const char *const text[GRT_OCCUPANCY_LIMITS] = {
		"-",
		"warps",
		"blocks",
		"warps, blocks",
		"registers",
		"warps, registers",
		"blocks, registers",
		"warps, blocks, registers",
		"shared",
		"warps, shared",
		"blocks, shared",
		"warps, blocks, shared",
		"registers, shared",
		"warps, registers, shared",
		"blocks, registers, shared",
		"warps, blocks, registers, shared",
	};

	return text[limits % GRT_OCCUPANCY_LIMITS];
}

static uint64_t occupancy_round_up(uint64_t value, uint64_t portion)
{
	return (value + portion - 1) / portion * portion;
}

/* Blocks that registers allow; a kernel may use none. */
static uint64_t occupancy_by_registers(const struct grt_ev_device *d, uint64_t registers, uint64_t warps)
{
	uint64_t parts = d->major == 6 && !d->minor ? PARTS_OF_6_0 : PARTS;
	uint64_t of_warp = occupancy_round_up(registers * d->warp, REGISTERS_PORTION);

	return of_warp ? d->registers_sm / parts / of_warp * parts / warps : UINT64_MAX;
}

static uint64_t occupancy_by_shared(const struct grt_ev_device *d, uint64_t bytes)
{
	uint64_t portion = d->major >= 8 ? 128 : 256;
	uint64_t of_block = occupancy_round_up(bytes + d->shared_reserved, portion);

	return of_block ? d->shared_sm / of_block : UINT64_MAX;
}

static bool occupancy_is_known(const struct grt_ev_device *d)
{
	return d->major >= OLDEST_MAJOR && d->warp && d->sms && d->threads_sm >= d->warp && d->blocks_sm &&
	       d->registers_sm && d->shared_sm;
}

bool grt_occupancy_of(const struct grt_ev_device *d, const struct grt_ev_gpu_kernel *k,
		      struct grt_occupancy *out)
{
	uint64_t threads = (uint64_t)k->block_x * k->block_y;
	uint64_t warps, least = UINT64_MAX, at_once, blocks;

	/* no device has this: sums of an invalid trace must not wrap */
	if (!occupancy_is_known(d) || !threads || threads > 65536 || !k->block_z || k->block_z > 65536)
		return false;
	warps = (threads * k->block_z + d->warp - 1) / d->warp;
	const uint64_t allows[] = {
		d->threads_sm / d->warp / warps,
		d->blocks_sm,
		occupancy_by_registers(d, k->registers, warps),
		occupancy_by_shared(d, (uint64_t)k->shared_static + k->shared_dynamic),
	};

	*out = (struct grt_occupancy){.most = d->threads_sm / d->warp};
	for (unsigned int i = 0; i < sizeof(allows) / sizeof(allows[0]); i++)
		least = allows[i] < least ? allows[i] : least;
	for (unsigned int i = 0; i < sizeof(allows) / sizeof(allows[0]); i++)
		out->limits |= allows[i] == least ? 1U << i : 0;
	out->blocks = (uint32_t)least;
	out->warps = (uint32_t)(least * warps);
	at_once = least * d->sms;
	if (__builtin_mul_overflow((uint64_t)k->grid_x * k->grid_y, (uint64_t)k->grid_z, &blocks))
		return false;
	out->waves = at_once ? (uint64_t)((unsigned __int128)blocks * 1000 / at_once) : 0;
	return true;
}
