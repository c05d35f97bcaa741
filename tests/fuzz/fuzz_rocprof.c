// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: tables of rocprofv3, of their words (see words.h). A table that is
 * read is read in the order of time; one with a bad row is not read at all.
 *
 * Readers: rocprof
 *
 * Runs without --soak: 4000
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const rocprof_words[] = {
	"\n\"KERNEL_DISPATCH\",",
	"\n\"MEMORY_COPY\",",
	"\n\"HIP_RUNTIME_API\",",
	"\n\"MARKER_CORE_API\",",
	"\"Agent 4\",",
	"4242,",
	"7,",
	"1000,",
	"2000\n",
	"\"hipLaunchKernel\",",
	"\"hipModuleLaunchKernel\",",
	"\"void k<int, \"\"a\"\">()\",",
	"\"MEMORY_COPY_HOST_TO_DEVICE\",",
	"\"DEVICE_TO_HOST\",",
	"\n\"KERNEL_DISPATCH\",1,4242,\"hipLaunchKernel\",7,1000,2000,\"HOST_TO_DEVICE\",64,1024",
	"\n\"HIP_RUNTIME_API\",1,4242,\"hipLaunchKernel\",7,900,1100,,,",
	"\n\"MEMORY_COPY\",1,4242,\"\",8,3000,4000,\"HOST_TO_DEVICE\",,",
	",,",
	"18446744073709551615,",
};

static const struct words rocprof =
	WORDS("\"Kind\",\"Agent_Id\",\"Process_Id\",\"Function\",\"Correlation_Id\",\"Start_Timestamp\","
	      "\"End_Timestamp\",\"Direction\",\"Workgroup_Size_X\",\"Grid_Size_X\"\n",
	      rocprof_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_words(&rocprof, data, size);
	return 0;
}
