// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the log of AMD's runtime. Bytes below 128 stand for
 * themselves and the others for the words of which such a log consists, so that
 * short inputs make whole records, several in a line, cut and wrapped.
 */
#define _GNU_SOURCE 1
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

static const char *const words[] = {
	":3:hip_module.cpp            :700 : 0123456789 us: [pid:4321  tid:0x7f00aa11bb40] ",
	":4:rocvirtual.cpp            :862 : 0123456790d us: 4321 : [tid:7f00aa11bb40] ",
	":3:hip_api.cpp               :12  : 51234567890 : 4321 : [7f0011223344] ",
	":1:a.cpp:7: ",
	": 3:  a.cpp:   7: (0000000123) us ",
	"rocr.cpp                 :12  : 0123456789 us: [pid:1 tid:0x1] [***rocr***] ",
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

static const char first[] =
	":3:hip.cpp                   :1   : 0123456788 us: hipInit: Returned hipSuccess : \n";

#define WORDS (sizeof(words) / sizeof(words[0]))

static size_t spell(const uint8_t *data, size_t size, char *text, size_t room)
{
	size_t used = sizeof(first) - 1;

	memcpy(text, first, used);
	for (size_t i = 0; i < size; i++) {
		const char *word = data[i] < 128 ? NULL : words[(data[i] - 128U) % WORDS];
		size_t len = word ? strlen(word) : 1;

		if (used + len > room)
			break;
		memcpy(text + used, word ? (const void *)word : &data[i], len);
		used += len;
	}
	return used;
}

struct seen {
	struct grt_consumer c;
	uint64_t events;
	uint64_t last;
	volatile char sum;
};

static int see_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct seen *s = (struct seen *)c;

	(void)cpu;
	CHECK(e->size >= sizeof(*e) && e->size % 8 == 0 && e->type && e->type < GRT_EV_MAX);
	CHECK(e->time >= s->last);
	for (unsigned int i = 0; i < e->size; i++)
		s->sum = (char)(s->sum + ((const char *)e)[i]);
	s->last = e->time;
	s->events++;
	return 0;
}

static void check(struct grt_session *s, const struct seen *seen, const char *text, size_t size)
{
	const struct grt_health *h = grt_session_health(s);
	const struct grt_skipped *kind;
	uint64_t lines = 0;

	for (size_t i = 0; i < size; i++)
		lines += text[i] == '\n' || i + 1 == size;
	CHECK(h->events == seen->events);
	CHECK(h->text.lines == lines && h->text.bad <= lines);
	CHECK(!h->fault[GRT_FAULT_TIME]);
	CHECK((grt_session_skipped(s, &kind) > 0) == (h->text.skipped > 0));
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	static char text[65536];
	struct seen seen = {.c = {.event = see_event}};
	struct grt_session *s;
	struct grt_err err;
	char path[32];
	size_t len;
	int fd;

	len = spell(data, size, text, sizeof(text));
	fd = memfd_create("fuzz", MFD_CLOEXEC);
	CHECK(fd >= 0 && write(fd, text, len) == (ssize_t)len);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		CHECK(grt_session_run(s, &seen.c, 0, UINT64_MAX, &err) == 0);
		check(s, &seen, text, len);
		grt_session_close(s);
	}
	close(fd);
	return 0;
}
