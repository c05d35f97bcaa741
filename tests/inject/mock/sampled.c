// SPDX-License-Identifier: GPL-2.0
/*
 * sampled CUBIN: a program whose kernels are sampled; it prints "FUNCTION OFFSET REASON SAMPLES" of each, and
 * at its end "losses DROPPED OTHER".
 */
#include "mock.h"

#include <stdio.h>
#include <stdlib.h>
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
