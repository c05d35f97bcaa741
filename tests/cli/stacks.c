// SPDX-License-Identifier: GPL-2.0
/*
 * stacks DIR: a recording of jobs with CPU stacks.
 * stacks DIR NAME...: of one job, whose stack has functions of these linkage names, innermost first.
 */
#include "../unit/trace_maker.h"
#include "trace/flow.h"

#include <err.h>
#include <string.h>

#define RING_GFX 0
#define RING_SDMA 1

static struct trace_maker *tm;
static uint64_t now = 1000;
static uint64_t seqno;

static void frame(uint32_t stack, uint16_t index, uint16_t depth, const char *symbol)
{
	struct grt_ev_frame f = {
		.e = {.time = now, .type = GRT_EV_FRAME, .size = sizeof(f), .ring = GRT_RING_NONE},
		.stack = stack,
		.index = index,
		.depth = depth};

	strncpy(f.symbol, symbol, sizeof(f.symbol) - 1);
	tm_event(tm, 0, &f.e);
}

/* A frame as the recorder writes it: all parts of a linkage name, the first one last. */
static void linked_frame(uint32_t stack, uint16_t index, uint16_t depth, const char *name)
{
	struct grt_ev_frame f = {
		.e = {.time = now, .type = GRT_EV_FRAME, .size = sizeof(f), .ring = GRT_RING_NONE},
		.stack = stack,
		.depth = depth};
	unsigned int parts = grt_linkage_parts(name, depth);

	for (unsigned int part = 1; part <= parts; part++) {
		grt_linkage_put(&f, name, index, part % parts);
		tm_event(tm, 0, &f.e);
	}
}

/* A job that runs for @ns; stack ids 0: none. @ns 0: its end is not in the trace. */
static void job(uint32_t tid, uint32_t ring, uint32_t user, uint32_t kernel, uint64_t ns)
{
	seqno++;
	now += 10;
	tm_emit(tm, 0, submit, .e.time = now, .e.pid = tid, .e.tid = tid, .e.ctx = 1, .e.seqno = seqno,
		.e.ring = ring);
	if (user || kernel)
		tm_emit(tm, 0, stack, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .user = user,
			.kernel = kernel);
	tm_emit(tm, 0, commit, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = ring);
	if (!ns)
		return;
	tm_emit(tm, 0, start, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = ring);
	now += ns;
	tm_emit(tm, 0, end, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = ring);
	tm_emit(tm, 0, complete, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = ring);
}

static int linked(char **names, int n)
{
	for (int i = 0; i < n; i++)
		linked_frame(1, (uint16_t)i, (uint16_t)n, names[i]);
	job(10, RING_GFX, 1, 0, 100);
	tm_close(tm);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc < 2)
		errx(2, "usage: stacks DIR [NAME...]");
	tm = tm_dir(argv[1], 1);
	tm_name_thread(tm, 10, "app", "app");
	tm_name_thread(tm, 20, "other", "other");
	tm_name_ring(tm, RING_GFX, "gfx", "amdgpu");
	tm_name_ring(tm, RING_SDMA, "sdma0", "amdgpu");
	if (argc > 2)
		return linked(argv + 2, argc - 2);

	frame(1, 0, 3, "ioctl");
	frame(1, 1, 3, "draw;one");
	frame(1, 2, 3, "main");
	job(10, RING_GFX, 1, 0, 100);
	job(10, RING_GFX, 1, 0, 200);

	/* the innermost frame of this one is not told */
	frame(2, 1, 2, "main");
	frame(3, 0, 2, "drm_ioctl");
	frame(3, 1, 2, "sys_ioctl");
	job(10, RING_GFX, 2, 3, 1000);

	/* two stacks of the same names, and one id that has no frames */
	frame(4, 0, 1, "main");
	frame(5, 0, 1, "main");
	job(20, RING_SDMA, 4, 0, 30);
	job(20, RING_SDMA, 5, 0, 40);

	job(10, RING_GFX, 0, 0, 5);
	frame(6, 0, 1, "\nbad\x1b[2J");
	job(10, RING_GFX, 6, 0, 11);
	job(10, RING_GFX, 1, 0, 0);
	tm_close(tm);
	return 0;
}
