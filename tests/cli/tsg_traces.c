// SPDX-License-Identifier: GPL-2.0
/*
 * Writes a trace of channel groups on two GPUs and of slices of the GPUs' time, at random:
 * `tsg_traces SEED PATH`. Handles come again, and so do the driver's numbers of channels;
 * slices are of channels that are there, that were freed, or that the trace does not have,
 * some come in parts, some are cut or have lost an edge. One group has no known GPU, and one was
 * created before the trace begins.
 * What follows from it is computed by tsg_times.py, from the trace's events alone.
 */
#include <err.h>
#include <stdbool.h>
#include <stdlib.h>

#include "../unit/trace_maker.h"

#define GROUPS 12
#define CHANNELS 4096
#define END 2000000000ULL
#define BEGIN 1000000000ULL
#define NO_RING .e.ring = GRT_RING_NONE

static uint64_t state;

static uint32_t pick(uint32_t n)
{
	state = state * 6364136223846793005ULL + 1442695040888963407ULL;
	return (uint32_t)(state >> 33) % n;
}

static const uint32_t buses[2] = {0xc600, 0xc700};

static struct group {
	int lives;
	uint32_t gpu, channels, channel[3];
} groups[GROUPS];

static struct channel {
	uint32_t id, gpu, pid;
	uint64_t made, freed;
} channels[CHANNELS];
static uint32_t channel_count, next_id = 1;

#define OF(i)                                                                 \
	NO_RING, .e.time = now, .e.pid = 70 + (i) % 5, .e.tid = 70 + (i) % 5, \
		 .client = 0xc1d00000 + (i) % 5, .tsg = 0x5c000010 + (i),     \
		 .bus = (i) == 5 ? 0 : buses[groups[i].gpu], .grp = UINT32_MAX, .runlist = 0, .nv_engine = 1

static void tell_channel(struct trace_maker *tm, uint32_t i, uint32_t n, uint64_t now, uint32_t bound)
{
	const struct group *g = &groups[i];

	tm_emit(tm, 0, tsg_channel, OF(i), .channel = 0x5c000100 + n, .channel_client = 0xc1d00000 + i % 5,
		.chid = n, .channels = g->channels, .bound = bound, .veid = UINT32_MAX,
		.context = channels[g->channel[n]].id);
}

static bool is_taken_over(const struct channel *c)
{
	for (const struct channel *i = c + 1; i < channels + channel_count; i++)
		if (i->id == c->id && i->gpu == c->gpu)
			return true;
	return false;
}

/* A number that is used again is one of the same GPU whose channel was freed, as after a new load of the
 * driver. */
static uint32_t channel_id(uint32_t gpu)
{
	if (pick(8) == 0)
		for (uint32_t tries = 0; tries < 8 && channel_count; tries++) {
			const struct channel *c = &channels[pick(channel_count)];

			if (c->freed != END && c->gpu == gpu && !is_taken_over(c))
				return c->id;
		}
	return next_id++;
}

static void add_channel(struct trace_maker *tm, uint32_t i, uint64_t now)
{
	struct group *g = &groups[i];
	struct channel *c = &channels[channel_count];

	if (channel_count == CHANNELS)
		errx(1, "too many channels");
	*c = (struct channel){.gpu = g->gpu, .pid = 70 + i % 5, .made = now, .freed = END};
	c->id = channel_id(g->gpu);
	g->channel[g->channels++] = channel_count++;
	tell_channel(tm, i, g->channels - 1, now, 1);
}

static void make(struct trace_maker *tm, uint32_t i, uint64_t *now)
{
	struct group *g = &groups[i];

	*g = (struct group){.lives = 1, .gpu = i % 2};
	tm_emit(tm, 0, tsg_init, .timeslice = 1024, .interleave = 1, .e.flags = 0, NO_RING, .e.time = *now,
		.e.pid = 70 + i % 5, .e.tid = 70 + i % 5, .client = 0xc1d00000 + i % 5, .tsg = 0x5c000010 + i,
		.bus = i == 5 ? 0 : buses[g->gpu], .grp = UINT32_MAX, .runlist = 0, .nv_engine = 1);
	for (uint32_t n = 1 + pick(3); n; n--)
		add_channel(tm, i, *now += 1001);
}

static void destroy(struct trace_maker *tm, uint32_t i, uint64_t *now)
{
	struct group *g = &groups[i];

	while (g->channels) {
		*now += 1001;
		g->channels--;
		channels[g->channel[g->channels]].freed = *now;
		tell_channel(tm, i, g->channels, *now, 0);
	}
	g->lives = 0;
	tm_emit(tm, 0, tsg_destroy, .cause = 1, NO_RING, .e.time = *now += 1001, .e.pid = 70 + i % 5,
		.e.tid = 70 + i % 5, .client = 0xc1d00000 + i % 5, .tsg = 0x5c000010 + i,
		.bus = i == 5 ? 0 : buses[g->gpu], .grp = UINT32_MAX, .runlist = 0, .nv_engine = 1);
}

static void set(struct trace_maker *tm, uint32_t i, uint64_t now)
{
	tm_emit(tm, 0, tsg_set, OF(i), .timeslice = pick(6) ? 500 + pick(4000) : 0, .interleave = UINT32_MAX,
		.status = pick(4) ? 0 : 0x1b);
}

/* The timeslice of a group that was created before. */
static void set_unborn(struct trace_maker *tm, uint64_t now, uint64_t timeslice)
{
	tm_emit(tm, 0, tsg_set, NO_RING, .e.time = now, .e.pid = 79, .e.tid = 79, .client = 0xc1d000ff,
		.tsg = 0x5c0000ff, .bus = buses[0], .grp = UINT32_MAX, .timeslice = timeslice,
		.interleave = UINT32_MAX);
}

static void write_groups(struct trace_maker *tm)
{
	set_unborn(tm, BEGIN + 1, 1000);
	set_unborn(tm, BEGIN + 2, 2000);
	for (uint64_t now = BEGIN; now < END;) {
		uint32_t i = pick(GROUPS);

		now += 100001 + pick(3000000);
		if (!groups[i].lives)
			make(tm, i, &now);
		else if (pick(6))
			set(tm, i, now);
		else
			destroy(tm, i, &now);
	}
}

/* A channel of the GPU that was made before; at random one that was freed. NULL: one that the trace does not
 * have */
static const struct channel *one_of(uint32_t gpu, uint64_t now)
{
	bool freed = pick(12) == 0;

	for (uint32_t tries = 0; tries < 400; tries++) {
		const struct channel *c = &channels[pick(channel_count)];

		if (c->gpu == gpu && c->made < now && (c->freed > now || (freed && !is_taken_over(c))) &&
		    pick(10))
			return c;
	}
	return NULL;
}

static void write_slices(struct trace_maker *tm, uint32_t gpu)
{
	uint16_t begin = GRT_SLICE_CUT, over = GRT_SLICE_SWITCH;

	for (uint64_t now = BEGIN + gpu; now < END;) {
		const struct channel *c = one_of(gpu, now);
		uint64_t start = now;
		uint32_t parts = pick(5) ? 1 : 1 + pick(4);

		for (; parts; parts--) {
			now += 10 + pick(3000000);
			over = parts > 1 ? GRT_SLICE_GOES_ON : pick(30) ? GRT_SLICE_SWITCH : GRT_SLICE_LOST;
			tm_emit(tm, 1 + gpu, gpu_slice, NO_RING, .e.time = now, .e.device = 195 << 20 | gpu,
				.e.pid = c ? c->pid : 90 + gpu, .e.tid = c ? c->pid : 90 + gpu,
				.start = start, .context = c ? c->id : 100000 + pick(9), .begin = begin,
				.over = over, .mig_gpu = 255, .mig_compute = 255);
			begin = GRT_SLICE_GOES_ON;
			start = now;
		}
		now += pick(200000);
		begin = over == GRT_SLICE_LOST ? GRT_SLICE_LOST : GRT_SLICE_SWITCH;
	}
}

int main(int argc, char **argv)
{
	struct trace_maker *tm;

	if (argc != 3)
		errx(2, "usage: tsg_traces SEED PATH");
	state = strtoull(argv[1], NULL, 0);
	tm = tm_dir(argv[2], 3);
	tm_emit(tm, 1, name, .e.time = BEGIN, NO_RING, .kind = GRT_NAME_DEVICE, .id = 195 << 20,
		.name = "nvidia0 0000:c6:00.0", .owner = "nvidia");
	tm_emit(tm, 2, name, .e.time = BEGIN, NO_RING, .kind = GRT_NAME_DEVICE, .id = 195 << 20 | 1,
		.name = "nvidia1 0000:c7:00.0", .owner = "nvidia");
	write_groups(tm);
	write_slices(tm, 0);
	write_slices(tm, 1);
	tm_close(tm);
	return 0;
}
