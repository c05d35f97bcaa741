// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: from events in user space to packets, and back. An input is a
 * list of events, see events.h, of which some come late; what the packer took must
 * be in the packets, in the order of its stamps, and its balance must close.
 *
 * Readers: ctf
 * Runs without --soak: 1000
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <stdlib.h>
#include <sys/mman.h>
#include <unistd.h>

#include "trace/packer.h"
#include "events.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

#define CPUS 2
#define EVENTS_MAX 4096

/** struct sums - of events: how many, and of their stamps and numbers */
struct sums {
	struct grt_consumer c;
	uint64_t events;
	uint64_t times;
	uint64_t numbers;
	uint64_t last;
};

static void count(struct sums *s, const struct grt_event *e)
{
	s->events++;
	s->times += e->time;
	s->numbers += e->seqno;
}

static int see_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct sums *s = (struct sums *)c;

	(void)cpu;
	CHECK(e->time >= s->last);
	s->last = e->time;
	if (e->type != GRT_EV_NAME)
		count(s, e);
	return 0;
}

static void write_packets(struct grt_packer *p, int fd, uint64_t until, enum grt_pack pack, uint64_t lost)
{
	static _Alignas(8) char buf[1U << 17];
	const struct grt_packer_counts counts = {.filtered = 3, .lost = lost};
	size_t n;

	for (unsigned int cpu = 0; cpu < CPUS; cpu++)
		do {
			n = grt_packer_read(p, cpu, buf, sizeof(buf), until, pack, &counts);
			CHECK(n <= sizeof(buf) && write(fd, buf, n) == (ssize_t)n);
		} while (n && pack != GRT_PACK_ALL);
}

static void put(struct grt_packer *p, const unsigned char *in, uint64_t *time, struct sums *in_all,
		uint64_t *lost)
{
	union fuzz_event r;
	unsigned int cpu = in[2] >> 7;
	int ret;

	if (!fuzz_event(&r, in, time) || r.e.type == GRT_EV_NAME)
		return;
	/* an interrupt has overtaken it */
	r.e.time -= in[4] % 4 ? 0 : in[1] * 50ULL;
	ret = grt_packer_add(p, cpu, &r.e);
	CHECK(!ret || ret == -ERANGE);
	*lost += ret != 0;
	if (!ret)
		count(in_all, &r.e);
}

static void read_back(int fd, const struct sums *in, uint64_t lost)
{
	struct sums out = {.c = {.event = see_event}};
	const struct grt_health *h;
	struct grt_session *s;
	struct grt_err err;
	char path[32];

	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	CHECK(!grt_session_open(&s, path, &err));
	CHECK(!grt_session_run(s, &out.c, 0, UINT64_MAX, &err));
	h = grt_session_health(s);
	CHECK(!h->missing_events && !h->fault[GRT_FAULT_GAP]);
	CHECK(h->balance.fate[GRT_FATE_LOST] == CPUS * lost);
	CHECK(out.events == in->events && out.times == in->times && out.numbers == in->numbers);
	grt_session_close(s);
}

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size);

int LLVMFuzzerTestOneInput(const unsigned char *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	uint64_t time = 1000000, lost = 0;
	struct sums in = {.events = 0};
	struct grt_packer *p;

	CHECK(fd >= 0 && !grt_packer_new(&p, CPUS));
	for (unsigned int n = 1; size >= EVENT_STEP && n <= EVENTS_MAX;
	     n++, data += EVENT_STEP, size -= EVENT_STEP) {
		if (data[0] % 16 == 15)
			CHECK(!grt_packer_name(p, data[2] >> 7, time, data[3] % 4, data[2] % 8, "name",
					       "owner"));
		put(p, data, &time, &in, &lost);
		if (n % 64 == 0)
			write_packets(p, fd, time - time % 10000, n % 128 ? GRT_PACK_ENOUGH : GRT_PACK_NOW,
				      lost);
	}
	write_packets(p, fd, UINT64_MAX, GRT_PACK_ALL, lost);
	grt_packer_free(p);
	read_back(fd, &in, lost);
	close(fd);
	return 0;
}
