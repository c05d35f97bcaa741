// SPDX-License-Identifier: GPL-2.0
/*
 * sampled CUBIN: a program whose kernels are sampled; it prints "FUNCTION OFFSET REASON SAMPLES" of each, and
 * at its end "losses DROPPED OTHER".
 *
 * sampled CUBIN MS [threads|late]: launches and waits for so long, with MOCK_UNSEEN also in code that CUPTI
 * did not see. It prints only what is sampled, with the turn of sampling, and at its end how often CUPTI was
 * finalized. With threads beside it: one that launches, too, and one that is always in a call that waits.
 * late: it launches nothing in the first half.
 *
 * sampled CUBIN launches: kernels that several functions launch, sampled in each launch. It prints
 * "FUNCTION OFFSET REASON SAMPLES CALLER".
 */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <time.h>

int cudaRuntimeGetVersion(int *version);

static void sampled(uint64_t crc, const char *function, uint64_t offset, unsigned int reason,
		    uint32_t samples)
{
	static const char *const names[] = {"long_scoreboard", "long_scoreboard/idle", "barrier",
					    "barrier/idle"};

	mock_sample(crc, function, offset, MOCK_REASON(reason), samples);
	printf("%s %#lx %s %u\n", function, (unsigned long)offset, names[reason], samples);
}

static void rest(void)
{
	struct timespec t = {.tv_nsec = 130000000};

	nanosleep(&t, NULL);
}

static uint64_t now_ms(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (uint64_t)t.tv_sec * 1000 + (uint64_t)t.tv_nsec / 1000000;
}

static uint64_t end;

static void *launch(void *none)
{
	while (now_ms() < end)
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "chain");
	return none;
}

static void *wait_for_gpu(void *none)
{
	while (now_ms() < end)
		mock_sync(CUPTI_DOMAIN_RUNTIME, 131, 126, 2);
	return none;
}

static void beside(bool begins)
{
	static pthread_t thread[2];

	if (!begins) {
		pthread_join(thread[0], NULL);
		pthread_join(thread[1], NULL);
		return;
	}
	mock.in_sync = rest;
	pthread_create(&thread[0], NULL, launch, NULL);
	pthread_create(&thread[1], NULL, wait_for_gpu, NULL);
}

/* CUPTI comes and goes. */
static void work(uint64_t crc)
{
	bool unseen = getenv("MOCK_UNSEEN");
	unsigned int turn;

	mock.owner = true;
	for (unsigned int i = 0; now_ms() < end; i++) {
		mock_launch(&(struct mock_work){i % 3 ? "chain" : "barrier", 1, 50000});
		turn = mock_sample(crc ^ (unseen && i % 5 == 0), i % 3 ? "chain" : "barrier", 16UL * (i % 70),
				   MOCK_REASON(i % 3 ? 0 : 2), 1 + i % 5);
		if (turn)
			printf("%s %#lx %s %u %u\n", i % 3 ? "chain" : "barrier", 16UL * (i % 70),
			       i % 3 ? "long_scoreboard" : "barrier", 1 + i % 5, turn);
		mock_sync_stream(0);
	}
	printf("losses %lu %lu\n", (unsigned long)mock_samples.dropped, (unsigned long)mock_samples.other);
	printf("finalized %u times, %u faults, %u turns\n", mock.finalized, mock.faults, mock_samples.turn);
}

static void launched(uint64_t crc, const char *kernel, unsigned int launches, uint32_t samples,
		     const char *caller)
{
	for (unsigned int i = 0; i < launches; i++) {
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, kernel);
		for (unsigned int k = 0; k < 3; k++) {
			mock_sample(crc, kernel, 16UL * (7 * k), MOCK_REASON(2 * (k % 2)), samples + k);
			printf("%s %#lx %s %u %s\n", kernel, 16UL * (7 * k),
			       k % 2 ? "barrier" : "long_scoreboard", samples + k, caller);
		}
	}
}

/* Their kernels take the same time, and have different samples. */
static __attribute__((noinline)) void first_caller(uint64_t crc)
{
	launched(crc, "chain", 20, 1, __func__);
	launched(crc, "barrier", 5, 100, __func__);
}

static __attribute__((noinline)) void second_caller(uint64_t crc)
{
	launched(crc, "chain", 10, 50, __func__);
	launched(crc, "barrier", 10, 2, __func__);
}

/* The graph runs one kernel twice: its samples are of one launch. */
static __attribute__((noinline)) void graph_caller(uint64_t crc)
{
	struct mock_nodes graph = {.nodes = 0}, exec = {.nodes = 0};

	mock_add_node(&graph, "nodes", 211, 307);
	mock_add_node(&graph, "nodes", 0, 0);
	mock_clone(&exec, &graph);
	mock_replay(&exec);
	mock_sample(crc, "nodes", 0, MOCK_REASON(0), 1000);
	printf("nodes 0 long_scoreboard 1000 %s\n", __func__);
}

static void launches(uint64_t crc, const void **cubin, size_t *bytes, const char *path)
{
	for (unsigned int round = 0; round < 3; round++) {
		first_caller(crc);
		second_caller(crc);
		rest();
		mock_module(CUPTI_RESOURCE_MODULE_UNLOAD_STARTING, *cubin, *bytes);
		*cubin = mock_load(path, bytes);
	}
	graph_caller(crc);
}

int main(int argc, char **argv)
{
	const char *version = getenv("MOCK_VERSION");
	const void *cubin;
	size_t bytes;
	int runtime;
	uint64_t crc;

	if (argc < 2 || cudaRuntimeGetVersion(&runtime))
		return 2;
	if (version)
		mock.version = (uint32_t)strtoul(version, NULL, 10);
	if (cuInit(0))
		return 1;
	cubin = mock_load(argv[1], &bytes);
	crc = mock_crc(cubin, bytes);
	if (argc > 2 && !strcmp(argv[2], "launches")) {
		launches(crc, &cubin, &bytes, argv[1]);
		return 0;
	}
	if (argc > 2) {
		bool threads = argc > 3 && !strcmp(argv[3], "threads"), late = argc > 3 && !threads;

		end = now_ms() + strtoul(argv[2], NULL, 10);
		if (threads)
			beside(true);
		while (late && now_ms() < end - strtoul(argv[2], NULL, 10) / 2)
			rest();
		work(crc);
		if (threads)
			beside(false);
		return 0;
	}
	for (unsigned int round = 0; round < 2; round++) {
		/* more than one answer has room for */
		for (unsigned int i = 0; i < 2500; i++) {
			sampled(crc, "chain", 16UL * (i % 120), 0, 1 + i % 7);
			sampled(crc, "chain", 16UL * (i % 120), 1, 1);
		}
		for (unsigned int i = 0; i < 80; i++)
			sampled(crc, "barrier", 16UL * i, 2 * (i % 3 > 0), 3);
		mock_call(CUPTI_DOMAIN_RUNTIME, 211, 307, 1, "chain");
		rest();
	}
	mock_module(CUPTI_RESOURCE_MODULE_UNLOAD_STARTING, cubin, bytes);
	mock_load(argv[1], &bytes);
	/* what is left for the end */
	sampled(crc, "barrier", 0x40, 2, 11);
	printf("losses %lu %lu\n", (unsigned long)mock_samples.dropped, (unsigned long)mock_samples.other);
	return 0;
}
