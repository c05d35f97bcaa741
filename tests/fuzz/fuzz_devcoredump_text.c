// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: heads of device dumps, of their words (see words.h).
 *
 * Runs without --soak: 2000
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const dump_words[] = {
	"\n**** AMDGPU Device Coredump ****\n",
	"\n**** Xe Device Coredump ****\n",
	"\nGPU HANG: ecode 9:1:0x85dffffb, in ",
	"\n---\n",
	"\nkernel: ",
	"\nmodule: msm",
	"\ntime: 29.725011811",
	"\nTime: 1708000000 s 123456 us",
	"\nBoottime: ",
	"\nUptime: ",
	"\nprocess_name: ",
	" PID: 4711",
	"\nProcess: glmark2 [4711]",
	"\nActive process (on ring rcs0): ",
	"\nIP Type: 0 Ring Name: gfx_0.0.0",
	"\nGuC ID: 5\n\tName: rcs5",
	"\nrcs0 command stream:",
	"\n  hung: 1",
	"\n  - id: 0\n    last-fence: 12\n    retired-fence: 11",
	"\ncmdline: ",
};

static const struct words dump = WORDS("**** Xe Device Coredump ****\n", dump_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_words(&dump, data, size);
	return 0;
}
