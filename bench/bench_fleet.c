// SPDX-License-Identifier: GPL-2.0
/*
 * Writes the recording of a host with 8 GPUs: `bench_fleet RECORDING SECONDS`. Each rank launches 2,000
 * kernels in a second, of 100 names with the lengths of PyTorch's, from 100 places of the code, in steps of
 * half a second with 4 collectives; times differ by 2 % from launch to launch.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../tests/unit/trace_maker.h"

#define RANKS 8U
#define NAMES 100U
#define KERNELS 1000U
#define US 1000ULL
#define STEP (500000 * US)
#define START (10ULL * 1000 * 1000 * 1000)

enum { S_NCCL = NAMES + 1, S_ADAM, S_TRAIN, S_FILE, S_STEP, S_ADAM_FILE, S_GATHER, S_FLOAT, STRINGS };
enum { N_TRAIN = NAMES + 1, N_STEP };

#define RANK(r) .e.pid = 70 + 10 * (r), .e.tid = 70 + 10 * (r)

static void string(struct trace_maker *tm, unsigned int r, unsigned int number)
{
	static const char *const others[STRINGS - NAMES] = {[S_NCCL - NAMES] =
								    "ncclDevKernel_AllGather_RING_LL",
							    [S_ADAM - NAMES] = "adam",
							    [S_TRAIN - NAMES] = "train",
							    [S_FILE - NAMES] = "/home/me/train.py",
							    [S_STEP - NAMES] = "Adam.step",
							    [S_ADAM_FILE - NAMES] = "/torch/optim/adam.py",
							    [S_GATHER - NAMES] = "AllGather",
							    [S_FLOAT - NAMES] = "ncclFloat32"};
	struct grt_ev_string s = {.e.type = GRT_EV_STRING, .e.size = sizeof(s), RANK(r), .e.time = START};
	char name[160];

	if (number <= NAMES)
		snprintf(
			name, sizeof(name),
			"_ZN2at6native29vectorized_elementwise_kernelILi4ENS0_%u11FillFunctorIfEESt5arrayIPcLm%uEEEEviT0_T1_",
			10 + number % 90, number);
	else
		snprintf(name, sizeof(name), "%s", others[number - NAMES]);
	s.number = number;
	s.length = (uint32_t)strlen(name);
	for (uint32_t at = 0; at < s.length; at += s.part) {
		s.part = s.length - at < sizeof(s.text) ? s.length - at : (uint32_t)sizeof(s.text);
		s.offset = at;
		memcpy(s.text, name + at, s.part);
		tm_event(tm, r, &s.e);
	}
}

static void define(struct trace_maker *tm, unsigned int r)
{
	tm_emit(tm, r, process, RANK(r), .e.time = START, .what = 1);
	tm_emit(tm, r, rank, RANK(r), .e.time = START, .rank = r, .world = RANKS, .local_rank = r);
	for (unsigned int i = 1; i < STRINGS; i++)
		string(tm, r, i);
	tm_emit(tm, r, communicator, RANK(r), .e.time = START, .hash = 0xfeed, .number = 1, .rank = r,
		.ranks = RANKS, .nodes = 1);
	for (unsigned int i = 1; i <= N_TRAIN; i++)
		tm_emit(tm, r, node, RANK(r), .e.time = START, .node = i, .function = S_TRAIN, .file = S_FILE,
			.line = 10 + i);
	tm_emit(tm, r, node, RANK(r), .e.time = START, .node = N_STEP, .caller = N_TRAIN, .function = S_STEP,
		.file = S_ADAM_FILE, .line = 90);
}

static uint64_t chance(uint64_t i)
{
	i = (i ^ i >> 30) * 0xbf58476d1ce4e5b9;
	i = (i ^ i >> 27) * 0x94d049bb133111eb;
	return i ^ i >> 31;
}

/* The launch and the kernel of place @k in a step. */
static void one(struct trace_maker *tm, unsigned int r, uint64_t step, unsigned int k)
{
	uint64_t id = step * KERNELS + k + 1, begin = START + US + step * STEP + k * 490 * US,
		 long_ns = 400 * US + chance(id * RANKS + r) % (8 * US), start = begin + 60 * US;
	bool gathers = k % (KERNELS / 4) == KERNELS / 4 - 2, ends = k == KERNELS - 1;
	uint32_t name = gathers ? S_NCCL : ends ? S_ADAM : 1 + k % NAMES;

	if (gathers)
		tm_emit(tm, r, collective, RANK(r), .e.time = begin, .begin = begin,
			.sequence = id / (KERNELS / 4), .elements = 1 << 20, .correlation = id,
			.communicator = 1, .function = S_GATHER, .datatype = S_FLOAT, .kind = 1);
	tm_emit(tm, r, launch, RANK(r), .e.time = begin + 5 * US, .begin = begin, .correlation = id,
		.node = ends ? N_STEP : 1 + k % NAMES, .call = 211);
	tm_emit(tm, r, gpu_kernel, RANK(r), .e.time = start + long_ns, .start = start, .end = start + long_ns,
		.correlation = id, .name = name, .gpu = r, .cuda_stream = gathers ? 9 : 7);
}

int main(int argc, char **argv)
{
	uint64_t steps = argc == 3 ? strtoull(argv[2], NULL, 10) * 2 : 0;
	struct trace_maker *tm;

	if (!steps)
		errx(2, "usage: bench_fleet RECORDING SECONDS");
	tm = tm_dir(argv[1], RANKS);
	for (unsigned int r = 0; r < RANKS; r++) {
		define(tm, r);
		for (uint64_t step = 0; step < steps; step++)
			for (unsigned int k = 0; k < KERNELS; k++)
				one(tm, r, step, k);
		tm_emit(tm, r, process, RANK(r), .e.time = START + steps * STEP + 1000 * US, .what = 3,
			.launches = steps * KERNELS, .gpu_records = steps * KERNELS);
	}
	tm_close(tm);
	return 0;
}
