// SPDX-License-Identifier: GPL-2.0
/*
 * Writes recordings of one job on several hosts: `fleet_traces CAUSE`, HOST.grt each. A
 * step is a kernel, a collective of all ranks and an optimizer; from step FROM to TO
 * something is wrong with one rank or one host: what fleet.sh looks for. The clock of host n is n * 1.5 ms
 * and n * 10 ppm ahead. Of some NCCL's profiler plugin has told the collectives.
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/trace_maker.h"

#define HOSTS 4U
#define RANKS 4U
#define ALL (HOSTS * RANKS)
#define STEPS 50U
#define FROM 10U
#define TO 40U
#define US 1000ULL
#define START (10ULL * 1000 * 1000 * 1000)

enum { S_FORWARD = 1, S_NCCL, S_ADAM, S_TRAIN, S_TRAIN_PY, S_STEP, S_ADAM_PY, S_ALLREDUCE, S_FLOAT };
enum { N_FORWARD = 1, N_TRAIN, N_STEP };

/** struct fault - @rank: that has it; ALL: those of @host; in us */
struct fault {
	const char *name;
	unsigned int rank;
	unsigned int host;
	uint64_t compute;
	uint64_t launch;
	bool nccl;
};

static const struct fault faults[] = {
	{"none", ALL, HOSTS, 0, 0, false},
	{"gpu", 6, HOSTS, 20, 0, true},
	{"thread", 11, HOSTS, 0, 30, true},
	{"host", ALL, 2, 0, 25, false},
};

/* Of a rank in a step: when its first launch began, and how long its kernel took. */
struct work {
	uint64_t launch;
	uint64_t compute;
};

static uint64_t noise(unsigned int rank, unsigned int step)
{
	return (rank * 2654435761U ^ step * 40503U) % 997;
}

static struct work work_of(const struct fault *f, unsigned int rank, unsigned int step)
{
	bool is_it = step >= FROM && step < TO && (rank == f->rank || rank / RANKS == f->host);
	struct work w = {5 * US + noise(rank, step), 40 * US + noise(step, rank)};

	if (is_it) {
		w.launch += f->launch * US;
		w.compute += f->compute * US;
	}
	return w;
}

/* The clock of this host at a moment. */
static unsigned int clock_of;

static uint64_t on_clock(uint64_t ns)
{
	return START + ns + clock_of * 1500 * US + ns * clock_of / 100000;
}

#define RANK(r) .e.pid = 70 + 10 * (r), .e.tid = 70 + 10 * (r)
#define AT(ns) .e.time = on_clock(ns)

static void define(struct trace_maker *tm, unsigned int r, unsigned int rank)
{
	static const char *const text[] = {
		"forward",   "ncclDevKernel_AllReduce", "adam",	     "train",	   "/home/me/train.py",
		"Adam.step", "/torch/optim/adam.py",	"AllReduce", "ncclFloat32"};

	tm_emit(tm, r, process, AT(0), RANK(r), .what = 1);
	tm_emit(tm, r, rank, AT(0), RANK(r), .rank = rank, .world = ALL, .local_rank = r);
	for (uint32_t i = 0; i < sizeof(text) / sizeof(text[0]); i++) {
		struct grt_ev_string s = {.e.type = GRT_EV_STRING, .e.size = sizeof(s), RANK(r), AT(0)};

		s.number = i + 1;
		s.length = s.part = (uint32_t)strlen(text[i]);
		memcpy(s.text, text[i], s.part);
		tm_event(tm, r, &s.e);
	}
	tm_emit(tm, r, communicator, AT(0), RANK(r), .hash = 0xfeed, .number = 1, .rank = rank, .ranks = ALL,
		.nodes = HOSTS);
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_FORWARD, .function = S_TRAIN, .file = S_TRAIN_PY,
		.line = 10);
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_TRAIN, .function = S_TRAIN, .file = S_TRAIN_PY,
		.line = 12);
	tm_emit(tm, r, node, AT(0), RANK(r), .node = N_STEP, .caller = N_TRAIN, .function = S_STEP,
		.file = S_ADAM_PY, .line = 90);
}

static void launch(struct trace_maker *tm, unsigned int r, uint64_t at, uint64_t id, uint32_t node)
{
	tm_emit(tm, r, launch, AT(at + US / 2), RANK(r), .begin = on_clock(at), .correlation = id,
		.node = node, .call = 211);
}

static void collective(struct trace_maker *tm, unsigned int r, uint64_t at, unsigned int step)
{
	tm_emit(tm, r, collective, AT(at + US / 2), RANK(r), .begin = on_clock(at), .sequence = step,
		.elements = 1 << 20, .correlation = 3 * step + 2, .communicator = 1, .function = S_ALLREDUCE,
		.datatype = S_FLOAT, .kind = 1);
}

static void kernel(struct trace_maker *tm, unsigned int r, uint64_t end, uint64_t from, uint64_t to,
		   uint64_t id, uint32_t name)
{
	tm_emit(tm, r, gpu_kernel, AT(end), RANK(r), .start = on_clock(from), .end = on_clock(to),
		.correlation = id, .name = name, .gpu = r, .cuda_stream = name == S_NCCL ? 9 : 7);
}

/* When the last rank comes to the collective of a step that began at 0. */
static uint64_t last_of(const struct fault *f, unsigned int step)
{
	uint64_t last = 0;

	for (unsigned int rank = 0; rank < ALL; rank++) {
		struct work w = work_of(f, rank, step);

		if (w.launch + 2 * US + w.compute > last)
			last = w.launch + 2 * US + w.compute;
	}
	return last;
}

static void rank_of(struct trace_maker *tm, const struct fault *f, unsigned int host, unsigned int r)
{
	unsigned int rank = host * RANKS + r;
	uint64_t at = 0, end = START;

	clock_of = host;
	define(tm, r, rank);
	for (unsigned int step = 0; step < STEPS; step++) {
		uint64_t begin = at + work_of(f, rank, step).launch;

		launch(tm, r, begin, 3 * step + 1, N_FORWARD);
		launch(tm, r, begin + US, 3 * step + 2, N_FORWARD);
		if (f->nccl)
			collective(tm, r, begin + US, step);
		launch(tm, r, begin + 2 * US, 3 * step + 3, N_STEP);
		at += last_of(f, step) + 35 * US;
	}
	end = at;
	at = 0;
	for (unsigned int step = 0; step < STEPS; step++) {
		struct work w = work_of(f, rank, step);
		uint64_t from = at + w.launch + 2 * US, all = at + last_of(f, step) + 10 * US;

		kernel(tm, r, end, from, from + w.compute, 3 * step + 1, S_FORWARD);
		kernel(tm, r, end, from + w.compute, all, 3 * step + 2, S_NCCL);
		kernel(tm, r, end, all, all + 20 * US, 3 * step + 3, S_ADAM);
		at = all + 25 * US;
	}
	tm_emit(tm, r, process, AT(end + 1), RANK(r), .what = 3, .launches = 3 * STEPS,
		.gpu_records = 3 * STEPS);
}

int main(int argc, char **argv)
{
	const struct fault *f = NULL;
	char path[32];

	for (size_t i = 0; argc == 2 && i < sizeof(faults) / sizeof(faults[0]); i++)
		if (!strcmp(argv[1], faults[i].name))
			f = &faults[i];
	if (!f)
		errx(2, "usage: fleet_traces none|gpu|thread|host");
	for (unsigned int host = 0; host < HOSTS; host++) {
		struct trace_maker *tm;

		snprintf(path, sizeof(path), "node%u.grt", host);
		tm = tm_dir(path, RANKS);
		for (unsigned int r = 0; r < RANKS; r++)
			rank_of(tm, f, host, r);
		tm_close(tm);
	}
	return 0;
}
