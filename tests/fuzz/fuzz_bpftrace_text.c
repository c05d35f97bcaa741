// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the output of bpftrace scripts, kernel logs, and what tools
 * print about the scheduler of NVIDIA's driver. The first byte of an input says
 * which of them; of the rest, bytes below 128 stand for themselves and the others
 * for the words of which such text consists, so that short inputs make whole rows.
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

static const char *const kernlog_words[] = {
	"\n[    1.000000] ",
	"\n<6>[  42.000001][T12] ",
	"\n4,1,42000001,-;",
	"\n[Wed Jan  1 00:00:01 2031] ",
	"\nkern  :warn  : ",
	"2031-01-01T00:00:00,123456+00:00 ",
	"\nDec 31 23:59:59 ",
	"\nJan  1 00:00:01 ",
	"\nMrz  1 00:00:01 ",
	"host kernel: ",
	"\nnode: kern: warning: [2031-01-01T00:00:00Z]: ",
	"NVRM: Xid (PCI:0000:01:00): ",
	"79, ",
	"pid=",
	"4711, ",
	"'<unknown>', ",
	"name=",
	"amdgpu: ring ",
	" timeout",
	" SXid (",
};

struct words {
	const char *first;
	const char *const *word;
	unsigned int words;
};

#define WORDS(first, list)                                        \
	{                                                         \
		(first), (list), sizeof(list) / sizeof((list)[0]) \
	}

static const struct words kinds[] = {
	WORDS("TIME(ms) EVENT\n", bpftrace_words),
	WORDS("[    0.000000] Linux version\n", kernlog_words),
	WORDS("23:00:24 [CPU01] TASK_INIT PID=1\n", nvsched_words),
};

static size_t spell(const struct words *w, const uint8_t *data, size_t size, char *text, size_t room)
{
	size_t used = strlen(w->first);

	memcpy(text, w->first, used);
	for (size_t i = 0; i < size; i++) {
		const char *word = data[i] < 128 ? NULL : w->word[(data[i] - 128U) % w->words];
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
	CHECK(h->text.skipped <= lines);
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

	if (!size)
		return 0;
	len = spell(&kinds[data[0] % 3], data + 1, size - 1, text, sizeof(text));
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
