// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the log of AMD's runtime, of its words (see words.h):
 * records whole, several in a line, cut and wrapped.
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const amd_words[] = {
	":3:hip_module.cpp            :700 : 0123456789 us: [pid:4321  tid:0x7f00aa11bb40] ",
	":4:rocvirtual.cpp            :862 : 0123456790d us: 4321 : [tid:7f00aa11bb40] ",
	":3:hip_api.cpp               :12  : 51234567890 : 4321 : [7f0011223344] ",
	":1:a.cpp:7: ",
	": 3:  a.cpp:   7: (0000000123) us ",
	"rocr.cpp                 :12  : 0123456789 us: [pid:1 tid:0x1] [***rocr***] ",
	"# grtrace clocks: monotonic=123456789000 monotonic_raw=123450000000 error=40\n",
	"rocr.cpp                 :12  : 0123450001 us: [pid:4321  tid:0x7f00aa11bb40] [***rocr***] alloc\n",
	"\n:3:hip_module.cpp            :700 : 0123456799 us: [pid:4321  tid:0x7f00aa11bb40] hipFree ( 0x1 )\n",
	"<<hip-api pid:77 tid:2.9 hipFree (0x7f0010) @5000123",
	"hip-api pid:77 tid:2.9 hipFree ret= 0 (hipSuccess)>> +870 ns",
	"profile: kernel; _Z4vaddPf; 12.3 us; 5003000; 5015300; #0.0.7;",
	"\n",
	"\r\n",
	" hipLaunchKernel ( ",
	" ) ",
	"hipLaunchKernel: Returned ",
	"hipSuccess : ",
	"duration: 913d us",
	"Command (KernelExecution) enqueued: ",
	"command is enqueued: ",
	"Command ",
	" complete (Wall: 1, CPU: 2, GPU: 3 us)",
	"0x7f00",
	"0x0x55",
	"(nil)",
	"Created SWq=",
	" to map on HWq=",
	" with size 16384 with priority 2, cooperative: 0",
	"acquireQueue refCount: ",
	"releaseQueue refCount:",
	" (1)",
	"Number of allocated hardware queues with low priority: 1",
	"SWq=0x10, HWq=0x20, id=7, ",
	"Dispatch Header = 0xb02 (type=2, ",
	"BarrierAND Header = 0x1503 (type=3, ",
	"grid=[8192, 2, ",
	"workgroup=[256, 1, 1], ",
	"kernel_obj=0x30, ",
	"completion_signal=0x50",
	", rptr=1, wptr=2",
	"ShaderName : ",
	"_Z4gemmPfS0_S0_iiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiiii",
	"HSA Asycn Copy dst=0x1, src=0x2, size=",
	"Signal = (0x7f02), Translated start/end = 1 / 2",
	"Host active wait for Signal = (0x7f02) for -1 ns",
	"Callback: Queue 0x7f aborting with error : HSA_STATUS_X: y",
	"VGPU=",
	"...",
	"99999999999999999999",
	"\033[32m",
	"> ",
};

static const struct words amd_log = WORDS(
	":3:hip.cpp                   :1   : 0123456788 us: hipInit: Returned hipSuccess : \n", amd_words);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	read_words(&amd_log, data, size);
	return 0;
}
