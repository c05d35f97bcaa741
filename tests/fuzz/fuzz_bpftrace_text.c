// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the output of bpftrace scripts, and what tools print about
 * the scheduler of NVIDIA's driver. The first byte of an input says which of
 * them; the rest is of its words (see words.h).
 *
 * Runs without --soak: 8000
 */
#define _GNU_SOURCE 1
#include "words.h"

static const char *const bpftrace_words[] = {
	"TIME(ms) EVENT\n",
	"RUN ",
	"COMPLETE ",
	"SUBMIT ",
	"WAIT_DEP ",
	"hw=1 ",
	"hw=2 ",
	"hw=3 ",
	"gfx ",
	"sdma0 ",
	"0 ",
	"1 ",
	"2 ",
	"3 ",
	"- ",
	"ctx=",
	"seq=",
	"fence=",
	"0xffff01 ",
	"0xffff02 ",
	"7:9 ",
	"7:10 ",
	"\n1 ",
	"\n2 ",
	"\n3.5 ",
	"\n2000 ",
	"\n00:00:01 ",
	"\n23:59:59.5 ",
	"[CPU01] ",
	"OPEN ",
	"IOCTL ",
	"cmd=0x1",
	"MMAP ",
	"size=",
	"POLL ",
	"XID_ERROR ",
	"dev=0:1:0 ",
	"  Xid: 79 - ",
	"GEM_CREATE ",
	"VMA_BIND ",
	"FAULT ",
	"SHRINK ",
	"VBLANK ",
	"QUEUED ",
	"DELIVERED ",
	"CS_IOCTL ",
	"SCHED_RUN ",
	"BO_MOVE ",
	"EVICT ",
	"\n@map[",
	"]: 1\n",
	"\nLost 5 events\n",
	"                ",
};

static const char *const nvsched_words[] = {
	"\n23:00:24.591625 [CPU01] ",
	"\n00:00:01 [CPU00] ",
	"TASK_INIT ",
	"SCHEDULE ",
	"UNSCHEDULE ",
	"WORK_SUBMIT ",
	"CHANNEL_ADD ",
	"CHANNEL_FREE ",
	"TASK_SET ",
	"TASK_DESTROY ",
	"PID=1 ",
	"a b ",
	"TSG=c1d00019:5c000012 ",
	"TSG=c1d00019:? ",
	"TSG=7 ",
	"TSG=? ",
	"engine=",
	"COPY",
	"GRAPHICS ",
	"0x99 ",
	"timeslice=",
	"1024 us ",
	"interleave=",
	"LOW ",
	"UNKNOWN ",
	"runlist=",
	"gpu=0000:c6:00.0 ",
	"gpu=0 ",
	"channels=",
	"channel=",
	"handle=",
	"token=",
	"status=",
	"-ENOTTY ",
	"INVALID_STATE ",
	"allowed=no ",
	"cause=exit ",
};

static const struct words kinds[] = {
	WORDS("TIME(ms) EVENT\n", bpftrace_words),
	WORDS("23:00:24 [CPU01] TASK_INIT PID=1\n", nvsched_words),
};

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	if (size)
		read_words(&kinds[data[0] % 2], data + 1, size - 1);
	return 0;
}
