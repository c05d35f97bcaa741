// SPDX-License-Identifier: GPL-2.0
/*
 * bench_unwind [WALKS]: nanoseconds per stack walk, side by side with glibc's
 * backtrace() and libunwind's unw_backtrace() (libunwind.so.8, where it is
 * installed), the best of 200 short rounds, so that a busy machine shows less:
 *	same	the stack is the one of the walk before
 *	inner	its innermost three frames are others
 *	all	its outermost frame is another, so that none can be taken over, and the last 63 stacks were
 *		others
 *	turns	13 stacks in turn, as a layer of a model launches its kernels, which differ in the innermost
 *		half
 * What the calls themselves take is measured without a walk and taken off.
 */
#include "../inject/unwind.h"

#include <dlfcn.h>
#include <execinfo.h>
#include <stdbool.h>
#include <stdio.h>
#include <stdlib.h>
#include <time.h>

#define ROUNDS 200
#define FRAMES_MAX 128
#define NOINLINE __attribute__((noinline))

static struct grt_unwind_thread *thread;
static int (*peer_backtrace)(void **, int);
static volatile unsigned int sink;

static NOINLINE void nothing(void)
{
	sink++;
}

static NOINLINE void ours(void)
{
	sink += grt_unwind(thread);
}

static NOINLINE void glibc(void)
{
	void *frame[FRAMES_MAX];

	sink += (unsigned int)backtrace(frame, FRAMES_MAX);
}

static NOINLINE void libunwind(void)
{
	void *frame[FRAMES_MAX];

	sink += (unsigned int)peer_backtrace(frame, FRAMES_MAX);
}

/* ------------------------------------------------- 64 functions to be in */

struct job {
	void (*walk)(void);
	void (*leaf)(const struct job *job);
	long count;
	void (*inner)(const struct job *job);
	unsigned int half;
};

typedef unsigned int step_fn(const struct job *job, unsigned int left, unsigned int x);
static step_fn *const steps[64];

/* Frames of different sizes, with values that must survive the call. */
#define STEP(n)                                                                                        \
	static NOINLINE unsigned int step##n(const struct job *job, unsigned int left, unsigned int x) \
	{                                                                                              \
		volatile char room[16 + 8 * (n % 7)];                                                  \
		unsigned int a = x * 3 + n, b = a ^ left, r;                                           \
                                                                                                       \
		room[0] = (char)a;                                                                     \
		if (!left) {                                                                           \
			job->leaf(job);                                                                \
			return room[0] + a;                                                            \
		}                                                                                      \
		r = steps[(n + 1) % 64](job, left - 1, n % 3 ? a : b);                                 \
		return r + (n % 2 ? a : 0) + (n % 3 ? b : 0) + room[0];                                \
	}
#define EIGHT(X, n) X(n##0) X(n##1) X(n##2) X(n##3) X(n##4) X(n##5) X(n##6) X(n##7)
#define ALL(X) EIGHT(X, 1) EIGHT(X, 2) EIGHT(X, 3) EIGHT(X, 4) EIGHT(X, 5) EIGHT(X, 6) EIGHT(X, 7) EIGHT(X, 8)
ALL(STEP)
#define NAME(n) step##n,
static step_fn *const steps[64] = {ALL(NAME)};

/* --------------------------------------------------------- the three cases */

static NOINLINE void third_a(void (*walk)(void))
{
	walk();
	sink++;
}

static NOINLINE void third_b(void (*walk)(void))
{
	walk();
	sink += 2;
}

static NOINLINE void second(void (*walk)(void), long i)
{
	if (i & 1)
		third_a(walk);
	else
		third_b(walk);
	sink++;
}

static NOINLINE void leaf_same(const struct job *job)
{
	for (long i = 0; i < job->count; i++)
		job->walk();
}

static NOINLINE void leaf_inner(const struct job *job)
{
	for (long i = 0; i < job->count; i++)
		second(job->walk, i);
}

static NOINLINE void leaf_turns(const struct job *job)
{
	const struct job inner = {job->walk, job->inner, 1, NULL, 0};

	for (long i = 0; i < job->count; i++)
		steps[i % 13 * 4](&inner, job->half, 1);
}

static NOINLINE void leaf_once(const struct job *job)
{
	job->walk();
	sink++;
}

static NOINLINE void run_deep(const struct job *job, unsigned int depth)
{
	steps[0](job, depth, 1);
	sink++;
}

static NOINLINE void run_all(const struct job *job, unsigned int depth)
{
	for (long i = 0; i < job->count; i++)
		steps[i % 64](job, depth, 1);
}

static double now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec * 1e9 + (double)t.tv_nsec;
}

static double once(const struct job *job, bool all, unsigned int depth)
{
	double begun = now();

	if (all)
		run_all(job, depth);
	else
		run_deep(job, depth);
	return (now() - begun) / (double)job->count;
}

static double best(void (*walk)(void), const char *kind, unsigned int depth, long count)
{
	struct job job = {walk, leaf_once, count, leaf_once, depth / 2};
	double best = 1e18, took;

	if (kind[0] != 'a')
		job.leaf = kind[0] == 's' ? leaf_same : kind[0] == 'i' ? leaf_inner : leaf_turns;
	if (kind[0] == 't')
		depth -= depth / 2 + 1;
	for (int round = 0; round < ROUNDS; round++) {
		took = once(&job, kind[0] == 'a', depth);
		best = took < best ? took : best;
	}
	return best;
}

/* main(), run_deep(), the leaf and the C library's start are frames, too. */
#define FRAMES_AROUND 7

static void row(const char *kind, unsigned int frames, long count)
{
	unsigned int depth = frames - FRAMES_AROUND;
	double base = best(nothing, kind, depth, count);
	double mine = best(ours, kind, depth, count) - base;
	double peer = best(glibc, kind, depth, count / 10) - base;

	printf("%-6s %6u %9.0f %11.0f %6.1fx", kind, frames, mine, peer, peer / mine);
	if (peer_backtrace) {
		peer = best(libunwind, kind, depth, count / 10) - base;
		printf(" %11.0f %6.1fx", peer, peer / mine);
	}
	putchar('\n');
}

int main(int argc, char **argv)
{
	static const char *const kinds[] = {"same", "inner", "all", "turns"};
	long count = argc > 1 ? atol(argv[1]) : 1000;
	void *library = dlopen("libunwind.so.8", RTLD_NOW);

	if (count < 20 || grt_unwind_init(0, false) || !(thread = grt_unwind_thread_new())) {
		fprintf(stderr, "usage: bench_unwind [WALKS]\n");
		return 2;
	}
	peer_backtrace = library ? (int (*)(void **, int))(uintptr_t)dlsym(library, "unw_backtrace") : NULL;
	printf("stack  frames  ours, ns  glibc, ns        %s\n", peer_backtrace ? "   libunwind, ns" : "");
	for (unsigned int frames = 10; frames <= 50; frames += 40)
		for (unsigned int k = 0; k < sizeof(kinds) / sizeof(kinds[0]); k++)
			row(kinds[k], frames, count);
	return 0;
}
