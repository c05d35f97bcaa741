// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the traces of tests/golden/timeline into the working directory. Small
 * ones, so that each bar of the expected timelines can be checked by hand.
 */
#include <string.h>

#include "../unit/trace_maker.h"

#define US 1000ULL
#define DAY (86400 * 1000000ULL)

/* A stamp in us after 20 s; a job of a ring's context. */
#define AT(us) .e.time = (20000000 + (us)) * US
#define GFX(seq) .e.ring = 0, .e.ctx = 40, .e.seqno = (seq), .e.device = 226, .e.engine = GRT_ENGINE_GRAPHICS
#define DMA(seq) .e.ring = 1, .e.ctx = 50, .e.seqno = (seq), .e.device = 226, .e.engine = GRT_ENGINE_COPY
#define GAME .e.pid = 70, .e.tid = 71
#define DESK .e.pid = 80, .e.tid = 80

static struct trace_maker *named(const char *path)
{
	struct trace_maker *tm = tm_dir(path, 2);

	tm_name_ring(tm, 0, "gfx_0.0.0", "amdgpu");
	tm_name_ring(tm, 1, "sdma0", "amdgpu");
	tm_name_thread(tm, 71, "render", "game");
	/* what a program can call itself */
	tm_name_thread(tm, 80, "a\033[31m\"b,\xc3", "de\tsk");
	return tm;
}

/* 10 ms: gaps, one of them with a job submitted meanwhile, overlaps, a ring beside it. */
static void frames(void)
{
	struct trace_maker *tm = named("frames.grt");

	/* runs when the trace begins: its START is not known */
	tm_emit(tm, 0, end, AT(0), GFX(1), GAME);
	tm_emit(tm, 0, complete, AT(2), GFX(1), GAME);
	tm_emit(tm, 0, submit, AT(100), GFX(2), GAME);
	tm_emit(tm, 0, commit, AT(150), GFX(2), GAME);
	tm_emit(tm, 0, start, AT(1000), GFX(2), GAME);
	tm_emit(tm, 1, submit, AT(1200), DMA(1), GAME);
	tm_emit(tm, 1, commit, AT(1210), DMA(1), GAME);
	tm_emit(tm, 1, start, AT(1250), DMA(1), GAME);
	tm_emit(tm, 1, end, AT(1300), DMA(1), GAME);
	tm_emit(tm, 1, complete, AT(1310), DMA(1), GAME);
	/* two at once, for 1 ms */
	tm_emit(tm, 0, submit, AT(1400), GFX(3), DESK);
	tm_emit(tm, 0, commit, AT(1410), GFX(3), DESK);
	tm_emit(tm, 0, start, AT(2000), GFX(3), DESK);
	tm_emit(tm, 1, sync_wait_enter, AT(2500), GFX(2), GAME);
	tm_emit(tm, 0, end, AT(3000), GFX(2), GAME);
	tm_emit(tm, 0, complete, AT(3005), GFX(2), GAME);
	tm_emit(tm, 1, sync_wait_exit, AT(3010), GFX(2), GAME);
	tm_emit(tm, 0, end, AT(3300), GFX(3), DESK);
	tm_emit(tm, 0, complete, AT(3301), GFX(3), DESK);
	/* submitted in the middle of the gap, begun at its end */
	tm_emit(tm, 0, submit, AT(4300), GFX(4), GAME);
	tm_emit(tm, 0, commit, AT(5290), GFX(4), GAME);
	tm_emit(tm, 0, start, AT(5300), GFX(4), GAME);
	tm_emit(tm, 0, end, AT(5325), GFX(4), GAME);
	tm_emit(tm, 0, complete, AT(5330), GFX(4), GAME);
	tm_emit(tm, 0, submit, AT(8000), GFX(5), DESK);
	tm_emit(tm, 0, commit, AT(8000), GFX(5), DESK);
	tm_emit(tm, 0, start, AT(8000), GFX(5), DESK);
	tm_emit(tm, 0, end, AT(10000), GFX(5), DESK);
	tm_close(tm);
}

/* More processes than are drawn, each a bit busier than the one before. */
static void many(void)
{
	struct trace_maker *tm = tm_dir("many.grt", 1);

	for (uint64_t i = 0; i < 40; i++) {
		uint32_t pid = (uint32_t)(1000 + i);

		tm_emit(tm, 0, start, AT(1000 * i), GFX(i), .e.pid = pid, .e.tid = pid);
		tm_emit(tm, 0, end, AT(1000 * i + 20 * (i + 1)), GFX(i), .e.pid = pid, .e.tid = pid);
	}
	tm_close(tm);
}

/* A month, in which one job took a week and others next to nothing. */
static void days(void)
{
	struct trace_maker *tm = named("days.grt");

	tm_emit(tm, 0, start, AT(0), GFX(1), GAME);
	tm_emit(tm, 0, end, AT(1), GFX(1), GAME);
	tm_emit(tm, 0, start, AT(10 * DAY), GFX(2), DESK);
	tm_emit(tm, 0, end, AT(17 * DAY), GFX(2), DESK);
	tm_emit(tm, 0, start, AT(30 * DAY - 1), GFX(3), GAME);
	tm_emit(tm, 0, end, AT(30 * DAY), GFX(3), GAME);
	tm_close(tm);
}

/* Stamps of one moment only. */
static void moment(void)
{
	struct trace_maker *tm = named("moment.grt");

	tm_emit(tm, 0, submit, AT(5), GFX(1), GAME);
	tm_emit(tm, 0, commit, AT(5), GFX(1), GAME);
	tm_emit(tm, 0, start, AT(5), GFX(1), GAME);
	tm_emit(tm, 0, end, AT(5), GFX(1), GAME);
	tm_emit(tm, 0, complete, AT(5), GFX(1), GAME);
	tm_close(tm);
}

static void one(void)
{
	struct trace_maker *tm = tm_dir("one.grt", 1);

	tm_emit(tm, 0, start, AT(0), GFX(1), GAME);
	tm_close(tm);
}

static void sampled(void)
{
	struct trace_maker *tm = named("sampled.grt");

	for (uint64_t i = 0; i < 4; i++) {
		tm_emit(tm, 0, start, AT(1000 * i), GFX(4 * i), GAME, .e.sample = 25);
		tm_emit(tm, 0, end, AT(1000 * i + 400), GFX(4 * i), GAME, .e.sample = 25);
	}
	tm_fate(tm, 0, GRT_FATE_SAMPLED_OUT, 24);
	tm_close(tm);
}

/* Short jobs one after the other, more than are kept, and at the end one that ran all the while. */
static void late(void)
{
	struct trace_maker *tm = named("late.grt");

	for (uint64_t i = 0; i < 2000; i++) {
		if (i == 3)
			tm_emit(tm, 1, start, AT(10 * i), GFX(9999), DESK);
		tm_emit(tm, 0, start, AT(10 * i), GFX(i), GAME);
		tm_emit(tm, 0, end, AT(10 * i + 3), GFX(i), GAME);
		tm_emit(tm, 0, complete, AT(10 * i + 3), GFX(i), GAME);
	}
	tm_emit(tm, 1, end, AT(19999), GFX(9999), DESK);
	tm_emit(tm, 1, complete, AT(20000), GFX(9999), DESK);
	tm_close(tm);
}

#define FLIP 0xc01864b0

/*
 * 40 ms of everything but jobs. A thread runs for 10 ms, sleeps until the display is ready for 9, waits for a
 * CPU for 1, and runs for 20. Two streams overlap for 1 ms of 8, in records that come late and in no order. A
 * counter is 10 W, then 30 W. Of seven frames the last one is late.
 */
static void sources(void)
{
	static const uint64_t shown[] = {2000, 4000, 6000, 8000, 10000, 12000, 30000, UINT64_MAX};
	const struct trace_maker_work {
		uint64_t from, to;
		uint32_t stream;
	} kernel[] = {{8000, 12000, 8}, {5000, 9000, 7}};
	struct trace_maker *tm = named("sources.grt");
	unsigned int n = 0;

	tm_emit(tm, 0, thread, AT(0), GAME, .what = GRT_THREAD_SEEN_ON);
	tm_emit(tm, 0, counter, AT(0), .e.device = 226, .counter = 1, .value = 10);
	for (uint64_t us = 1; us <= 40000; us++) {
		if (us == shown[n] - 900) {
			tm_emit(tm, 0, ioctl_enter, AT(us), GAME, .cmd = FLIP);
			tm_emit(tm, 0, ioctl_exit, AT(us + 1), GAME, .cmd = FLIP,
				.about = GRT_FLIP_FLAGS | GRT_FLIP_EVENT);
		}
		if (us == 16000 || us == 32000)
			tm_emit(tm, 0, vblank, AT(us), .vseq = (uint32_t)(us / 16000),
				.stamp = us * US + 20000000 * US);
		if (us == shown[n])
			tm_emit(tm, 0, vblank_delivered, AT(us), GAME, .file = 70, .vseq = ++n);
		if (us == 20000)
			tm_emit(tm, 0, asleep, AT(us), GAME, .start = (20000000 + 10000) * US,
				.woken = (20000000 + 19000) * US, .number = 1, .state = 1, .over = 1,
				.reason = GRT_THREAD_DISPLAY);
		if (us == 20000)
			tm_emit(tm, 0, counter, AT(us), .e.device = 226, .counter = 1, .value = 30);
	}
	for (unsigned int i = 0; i < 2; i++)
		tm_emit(tm, 1, gpu_kernel, AT(39000), GAME, .e.ctx = 5,
			.start = (20000000 + kernel[i].from) * US, .end = (20000000 + kernel[i].to) * US,
			.cuda_stream = kernel[i].stream, .context = 1);
	tm_emit(tm, 1, gpu_copy, AT(39000), GAME, .e.ctx = 5, .start = (20000000 + 3000) * US,
		.end = (20000000 + 4000) * US, .cuda_stream = 8, .context = 1, .kind = 1);
	tm_emit(tm, 0, thread, AT(40000), GAME, .what = 6, .number = 1);
	tm_emit(tm, 0, counter, AT(40000), .e.device = 226, .counter = 1, .value = 30);
	tm_close(tm);
}

/* Names as an attacker would choose them, as long as they can be. */
static void hostile(void)
{
	struct trace_maker *tm = tm_dir("hostile.grt", 1);

	tm_name_thread(tm, 71, "\033]0;owned\a\xff\xe2\x80\xae</script>\"}]\n0123",
		       "\"},{\"x\":1\n\xe2\x96\x88");
	tm_name_ring(
		tm, 0,
		"a\rb\x7f\xc2\x9b\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96\x88\xe2\x96",
		"c,\"d\"");
	tm_emit(tm, 0, start, AT(0), GFX(1), GAME);
	tm_emit(tm, 0, end, AT(100), GFX(1), GAME);
	tm_emit(tm, 0, start, AT(900), GFX(2), .e.pid = 72, .e.tid = 71);
	tm_emit(tm, 0, end, AT(1000), GFX(2), .e.pid = 72, .e.tid = 71);
	tm_close(tm);
}

static void name_gpu(struct trace_maker *tm, uint32_t ring, const char *bus, const char *card)
{
	struct grt_ev_name e = {.e.type = GRT_EV_NAME,
				.e.size = sizeof(e),
				.e.ring = GRT_RING_NONE,
				AT(0),
				.kind = GRT_NAME_RING_GPU,
				.id = ring};

	memcpy(e.name, bus, strlen(bus));
	memcpy(e.owner, card, strlen(card));
	tm_event(tm, 0, &e.e);
}

/* Rings of one name, of two GPUs. */
static void gpus(void)
{
	struct trace_maker *tm = tm_dir("gpus.grt", 2);

	tm_name_ring(tm, 0, "gfx", "amdgpu");
	tm_name_ring(tm, 1, "gfx", "amdgpu");
	name_gpu(tm, 0, "0000:03:00.0", "card0");
	name_gpu(tm, 1, "0000:43:00.0", "card1");
	tm_emit(tm, 0, start, AT(0), GFX(1), GAME);
	tm_emit(tm, 0, end, AT(100), GFX(1), GAME);
	tm_emit(tm, 1, start, AT(100), DMA(1), GAME);
	tm_emit(tm, 1, end, AT(400), DMA(1), GAME);
	tm_close(tm);
}

#define SLICE(cpu, minor, instance, of, from, to, begin_, over_)                                     \
	tm_emit(tm, cpu, gpu_slice, AT(to), .e.ring = GRT_RING_NONE, .e.pid = (of), .e.tid = (of),   \
		.e.device = 195 << 20 | (minor), .start = (20000000 + (from)) * US, .context = (of), \
		.begin = GRT_SLICE_##begin_, .over = GRT_SLICE_##over_, .mig_gpu = (instance),       \
		.mig_compute = (instance) == 255 ? 255 : 0)

/*
 * 10 ms, two GPUs, of which the second is divided. On the first 80 has 6 ms in two pieces of one slice, 71
 * has 3; on instance 1 of the second 71 has all, on 2 90 has 5 ms.
 */
static void slices(void)
{
	struct trace_maker *tm = tm_dir("slices.grt", 3);

	tm_name_thread(tm, 71, "render", "game");
	tm_name_thread(tm, 80, "desk", "desk");
	for (uint32_t i = 0; i < 2; i++) {
		struct grt_ev_name e = {
			.e.type = GRT_EV_NAME, .e.size = sizeof(e), .e.ring = GRT_RING_NONE, AT(0)};

		e.kind = GRT_NAME_DEVICE;
		e.id = 195 << 20 | i;
		strcpy(e.name, i ? "nvidia1 0000:c7:00.0" : "nvidia0 0000:c6:00.0");
		strcpy(e.owner, "nvidia");
		tm_event(tm, 0, &e.e);
	}
	SLICE(0, 0, 255, 80, 0, 3000, SWITCH, GOES_ON);
	SLICE(0, 0, 255, 80, 3000, 6000, GOES_ON, SWITCH);
	SLICE(0, 0, 255, 71, 7000, 10000, SWITCH, CUT);
	SLICE(1, 1, 1, 71, 0, 10000, CUT, CUT);
	SLICE(2, 1, 2, 90, 2000, 7000, SWITCH, SWITCH);
	tm_close(tm);
}

int main(void)
{
	slices();
	gpus();
	hostile();
	sources();
	frames();
	many();
	days();
	moment();
	one();
	sampled();
	late();
	tm_close(tm_dir("empty.grt", 1));
	return 0;
}
