// SPDX-License-Identifier: GPL-2.0
/*
 * bench_launches PATH [LAUNCHES]: writes a recording of CUDA as a program with two
 * threads makes it: LAUNCHES (10,000,000) launches from 20,000 stacks of mean depth
 * 47 of 300 kernels on four streams, whose records come a tenth of a second later.
 * For bench/launches.sh.
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/trace_maker.h"

#define PID 4000U
#define THREADS 2U
#define KERNELS 300U
#define FUNCTIONS 3000U
#define STACKS 20000U
#define DEPTH_MIN 32U
#define DEPTH_MORE 31U
/* A launch every 3 us; what the GPU did is reported so much later. */
#define STEP 3000ULL
#define LATER 100000000ULL
#define START 1000000000ULL

enum { CPU_DEFINE, CPU_GPU = THREADS + 1, CPUS };

static uint64_t state = 88172645463325252ULL;
static uint32_t stack[STACKS];

static uint64_t next(void)
{
	state ^= state << 13;
	state ^= state >> 7;
	state ^= state << 17;
	return state;
}

#define WHO(t) .e.time = (t), .e.pid = PID, .e.tid = PID

static void string(struct trace_maker *tm, uint32_t number, const char *text)
{
	struct grt_ev_string s = {.number = number, .length = (uint32_t)strlen(text)};

	s.part = s.length;
	memcpy(s.text, text, s.part);
	s.e = (struct grt_event){
		.time = START, .type = GRT_EV_STRING, .size = sizeof(s), .pid = PID, .tid = PID};
	tm_event(tm, CPU_DEFINE, &s.e);
}

static void strings(struct trace_maker *tm)
{
	char text[160];

	for (uint32_t i = 1; i <= KERNELS; i++) {
		snprintf(text, sizeof(text), "_ZN4bench6kernelILi%uEfEEvPT0_S2_i", i);
		string(tm, i, text);
	}
	for (uint32_t i = 0; i < FUNCTIONS; i++) {
		snprintf(text, sizeof(text), "Module%u.forward_%u", i % 97, i);
		string(tm, KERNELS + 1 + i, text);
	}
	string(tm, KERNELS + FUNCTIONS + 1, "/opt/model/layers.py");
}

/* Stacks that share their outer frames with others. */
static void stacks(struct trace_maker *tm)
{
	static uint32_t path[DEPTH_MIN + DEPTH_MORE + 1];
	uint32_t nodes = 0, depth, shared = 0;

	for (uint32_t i = 0; i < STACKS; i++) {
		depth = DEPTH_MIN + (uint32_t)(next() % DEPTH_MORE);
		for (uint32_t d = i ? shared : 0; d < depth; d++) {
			nodes++;
			tm_emit(tm, CPU_DEFINE, node, WHO(START + 1), .node = nodes,
				.caller = d ? path[d - 1] : 0,
				.function = KERNELS + 1 + (uint32_t)(next() % FUNCTIONS),
				.file = KERNELS + FUNCTIONS + 1, .line = 1 + (uint32_t)(next() % 500));
			path[d] = nodes;
		}
		stack[i] = path[depth - 1];
		/* mostly the innermost frames differ */
		shared = depth - 1 - (uint32_t)__builtin_ctzll(next() | 1ULL << 24);
		shared = shared > depth ? 1 : shared;
	}
	printf("%u nodes\n", nodes);
}

static void launch(struct trace_maker *tm, uint64_t i, uint32_t from)
{
	uint32_t thread = (uint32_t)(i % THREADS);
	uint64_t t = START + 2 + i * STEP;

	tm_emit(tm, 1 + thread, launch, .e.time = t + 2500, .e.pid = PID, .e.tid = PID + thread, .begin = t,
		.correlation = i + 1, .node = stack[from], .call = 211, .stack = 1, .context = 1);
}

/* What is launched from one place is one kernel on one stream. */
static void kernel(struct trace_maker *tm, uint64_t i, uint32_t from)
{
	uint64_t t = START + 2 + i * STEP;

	tm_emit(tm, CPU_GPU, gpu_kernel, WHO(t + LATER), .start = t + 6000, .end = t + 8000 + i % 700,
		.correlation = i + 1, .name = 1 + from % KERNELS, .context = 1, .cuda_stream = 7 + from % 4,
		.grid_x = 1, .grid_y = 1, .grid_z = 1, .block_x = 128, .block_y = 1, .block_z = 1);
}

int main(int argc, char **argv)
{
	uint64_t n = argc > 2 ? strtoull(argv[2], NULL, 10) : 10000000;
	struct trace_maker *tm;
	uint32_t from;

	if (argc < 2 || !n)
		errx(2, "usage: bench_launches PATH [LAUNCHES]");
	tm = tm_dir(argv[1], CPUS);
	tm_packet_bytes(tm, 256 << 10);
	tm_emit(tm, CPU_DEFINE, process, WHO(START - 1), .what = 1);
	strings(tm);
	stacks(tm);
	for (uint64_t i = 0; i < n; i++) {
		from = (uint32_t)(next() % (next() % 64 ? 256 : STACKS));
		launch(tm, i, from);
		kernel(tm, i, from);
	}
	printf("%llu launches, %llu events\n", (unsigned long long)n, (unsigned long long)tm_events(tm));
	tm_close(tm);
	return 0;
}
