// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: CUPTI's records as text, of their words (see words.h). What is read is read in the order
 * of time.
 *
 * Readers: cupti_log
 *
 * Runs without --soak: 2000
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const cupti_words[] = {
	"\nRUNTIME [ 1000, 2000 ] duration 1000, \"cudaLaunchKernel_v7000\", cbid 211, processId 7, threadId 9, correlationId ",
	"\nRUNTIME [ 1500, 1600 ] duration 100, \"cudaMemcpy\", cbid 31, processId 8, threadId 9, correlationId ",
	"\nDRIVER [ 1100, 1900 ] \"cuLaunchKernel\", processId ",
	"\nCONCURRENT_KERNEL [ 3000, 4000 ] duration 1000, \"k<int, 2>(char*)\", correlationId ",
	"\nMEMCPY \"HtoD\" [ 5000, 6000 ] duration 1000, size 4096, copyCount 1, correlationId ",
	"\nMEMSET [ 5000, 18446744073709551615 ] size 1, correlationId ",
	"\nMEMORY2 [ 1 ] address 1,",
	"\n\tgrid [ 4, 1, 1 ], block [ 64, 2, 1 ], sharedMemory (static 16, dynamic 32)",
	"\n\tgrid [ ",
	"\n\tdeviceId 1, contextId 1, streamId 7, graphId 3, graphNodeId 4",
	"\nwhat the program printed",
	", correlationId ",
	", ",
	"1",
	"2",
	"5",
	"18446744073709551615",
};

static const struct words cupti =
	WORDS("RUNTIME [ 900, 950 ] \"cudaMalloc\", processId 7, correlationId 1\n", cupti_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_words(&cupti, data, size);
	return 0;
}
