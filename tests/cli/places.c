// SPDX-License-Identifier: GPL-2.0
/*
 * places DIR: a recording of two jobs whose stacks have lines of a source: one of 600 us, which main() asked
 * for, and one of 400 us, whose stack ends before, in code without unwind table. Between them 1 ms passes,
 * of which the program is in an ioctl for 300 us.
 */
#include "../unit/trace_maker.h"

#include <err.h>
#include <string.h>

#define RING_GFX 0

enum { NOWHERE, APP, SOURCE, LIBC };

static const char *const texts[] = {
	[APP] = "/opt/app/bin/app", [SOURCE] = "/src/app/draw.c", [LIBC] = "/lib/libc.so.6"};

/** struct frame - of a stack, innermost first; @line: of SOURCE */
struct frame {
	const char *function;
	uint32_t module;
	uint32_t line;
	uint32_t inlined;
};

static const struct frame whole[] = {{"ioctl", LIBC, 0, 0},
				     {"submit", APP, 12, 1},
				     {"draw", APP, 31, 0},
				     {"main", APP, 50, 0},
				     {"_start", APP, 0, 0}};
static const struct frame cut[] = {{"ioctl", LIBC, 0, 0}, {"submit", APP, 14, 1}, {"draw", APP, 35, 0}};

static const struct frame query[] = {
	{"ioctl", LIBC, 0, 0}, {"query", APP, 60, 0}, {"main", APP, 52, 0}, {"_start", APP, 0, 0}};

static struct trace_maker *tm;
static uint64_t now = 1000000;

static void put_text(uint32_t number)
{
	struct grt_ev_frame_text e = {
		.e = {.time = now, .type = GRT_EV_FRAME_TEXT, .size = sizeof(e), .ring = GRT_RING_NONE},
		.number = number,
		.length = (uint32_t)strlen(texts[number]),
		.part = (uint32_t)strlen(texts[number])};

	memcpy(e.text, texts[number], e.length);
	tm_event(tm, 0, &e.e);
}

static void put_stack(uint32_t stack, const struct frame *f, uint16_t depth, uint32_t end)
{
	for (uint16_t i = 0; i < depth; i++) {
		struct grt_ev_frame e = {
			.e = {.time = now, .type = GRT_EV_FRAME, .size = sizeof(e), .ring = GRT_RING_NONE},
			.stack = stack,
			.index = i,
			.depth = depth};

		strncpy(e.symbol, f[i].function, sizeof(e.symbol) - 1);
		tm_event(tm, 0, &e.e);
		tm_emit(tm, 0, frame_place, .e.time = now, .e.ring = GRT_RING_NONE, .stack = stack,
			.index = i, .module = f[i].module, .file = f[i].line ? SOURCE : NOWHERE,
			.line = f[i].line, .inlined = f[i].inlined);
	}
	tm_emit(tm, 0, stack_end, .e.time = now, .e.ring = GRT_RING_NONE, .stack = stack, .end = end);
}

static void put_job(uint64_t seqno, uint32_t stack, uint64_t ns)
{
	tm_emit(tm, 0, submit, .e.time = now, .e.pid = 10, .e.tid = 10, .e.ctx = 1, .e.seqno = seqno,
		.e.ring = RING_GFX);
	tm_emit(tm, 0, stack, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .user = stack);
	tm_emit(tm, 0, commit, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = RING_GFX);
	tm_emit(tm, 0, start, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = RING_GFX);
	now += ns;
	tm_emit(tm, 0, end, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = RING_GFX);
	tm_emit(tm, 0, complete, .e.time = now, .e.ctx = 1, .e.seqno = seqno, .e.ring = RING_GFX);
}

static void put_call(uint32_t stack, uint64_t ns)
{
	tm_emit(tm, 0, ioctl_enter, .e.time = now, .e.pid = 10, .e.tid = 10, .e.ring = GRT_RING_NONE,
		.cmd = 0x6400);
	tm_emit(tm, 0, call_stack, .e.time = now, .e.pid = 10, .e.tid = 10, .e.ring = GRT_RING_NONE,
		.user = stack);
	now += ns;
	tm_emit(tm, 0, ioctl_exit, .e.time = now, .e.pid = 10, .e.tid = 10, .e.ring = GRT_RING_NONE,
		.cmd = 0x6400);
}

int main(int argc, char **argv)
{
	if (argc != 2)
		errx(2, "usage: places DIR");
	tm = tm_dir(argv[1], 1);
	tm_name_thread(tm, 10, "app", "app");
	tm_name_ring(tm, RING_GFX, "gfx", "amdgpu");
	for (uint32_t i = APP; i <= LIBC; i++)
		put_text(i);
	put_stack(1, whole, sizeof(whole) / sizeof(whole[0]), GRT_STACK_END_ENTRY);
	put_stack(2, cut, sizeof(cut) / sizeof(cut[0]), GRT_STACK_END_NO_TABLE);
	put_stack(3, query, sizeof(query) / sizeof(query[0]), GRT_STACK_END_ENTRY);
	put_job(1, 1, 600000);
	now += 200000;
	put_call(3, 300000);
	now += 500000;
	put_job(2, 2, 400000);
	tm_close(tm);
	return 0;
}
