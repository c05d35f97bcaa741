// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: traces for Perfetto. An input is bytes that replace those of a good file, each with its
 * place, and where the file ends; or, where it begins with a bit of 1, packets behind the good ones. What can
 * be read is read twice alike, in the order of time; a file that cannot says why.
 *
 * Readers: pftrace
 *
 * Runs without --soak: 800
 */
#define _GNU_SOURCE 1
#include "base/protobuf.h"
#include "words.h"

#define FILE_MAX (64U << 10)

static uint8_t good[FILE_MAX];
static size_t good_size;

static uint8_t *put_named(uint8_t *p, unsigned int table, uint64_t iid, const char *text)
{
	uint8_t *start = p = grt_pb_open(p, table);

	p = grt_pb_number(p, 1, iid);
	p = grt_pb_bytes(p, 2, text, strlen(text));
	return grt_pb_close(start, p);
}

/* A packet of the sequence 3; @time 0: it has none. */
static uint8_t *begin(uint8_t *p, uint8_t **packet, unsigned int flags, uint64_t time)
{
	*packet = p = grt_pb_open(p, 1);
	p = grt_pb_number(p, 10, 3);
	p = grt_pb_number(p, 13, flags);
	return time ? grt_pb_number(p, 8, time) : p;
}

static uint8_t *put_clocks(uint8_t *p)
{
	static const uint64_t ids[] = {6, 3, 64};
	uint8_t *packet, *snapshot, *clock;

	p = begin(p, &packet, 2, 0);
	snapshot = p = grt_pb_open(p, 6);
	for (size_t i = 0; i < 3; i++) {
		clock = p = grt_pb_open(p, 1);
		p = grt_pb_number(p, 1, ids[i]);
		p = grt_pb_number(p, 2, 1000 + i);
		p = grt_pb_number(p, 3, ids[i] == 64);
		p = grt_pb_close(clock, p);
	}
	return grt_pb_close(packet, grt_pb_close(snapshot, p));
}

static uint8_t *put_names(uint8_t *p)
{
	uint8_t *packet, *data, *context;

	p = begin(p, &packet, 1, 0);
	data = p = grt_pb_open(p, 12);
	p = put_named(p, 1, 1, "cuda_runtime");
	p = put_named(p, 1, 2, "submit");
	p = put_named(p, 2, 1, "cudaLaunchKernel");
	p = put_named(p, 2, 2, "Memcpy HtoD (Pageable -> Device)");
	p = put_named(p, 3, 1, "correlation");
	p = put_named(p, 3, 2, "ctx");
	p = put_named(p, 24, 1, "stream 7");
	p = put_named(p, 24, 2, "kernel");
	p = put_named(p, 24, 3, "context");
	p = put_named(p, 1000, 1, "_Z1kv");
	p = put_named(p, 1001, 1, "correlation");
	p = put_named(p, 1001, 2, "t_queue");
	p = put_named(p, 1001, 3, "ctx");
	p = put_named(p, 1001, 4, "mig_gpu");
	for (unsigned int i = 0; i < 2; i++) {
		context = p = grt_pb_open(p, 23);
		p = grt_pb_number(p, 1, i + 1);
		p = grt_pb_number(p, 2, 70 + i);
		p = grt_pb_number(p, 3, i ? 2 : 4);
		p = grt_pb_close(context, p);
	}
	return grt_pb_close(packet, grt_pb_close(data, p));
}

static uint8_t *put_track(uint8_t *p)
{
	uint8_t *packet, *track, *thread;

	p = begin(p, &packet, 2, 0);
	track = p = grt_pb_open(p, 60);
	p = grt_pb_number(p, 1, 5);
	thread = p = grt_pb_open(p, 4);
	p = grt_pb_number(p, 1, 70);
	p = grt_pb_number(p, 2, 71);
	p = grt_pb_close(thread, p);
	return grt_pb_close(packet, grt_pb_close(track, p));
}

static uint8_t *put_call(uint8_t *p, unsigned int type, uint64_t time)
{
	uint8_t *packet, *event, *value;

	p = begin(p, &packet, 2, time);
	event = p = grt_pb_open(p, 11);
	p = grt_pb_number(p, 11, 5);
	p = grt_pb_number(p, 9, type);
	p = grt_pb_number(p, 10, 1);
	p = grt_pb_number(p, 3, type == 3 ? 2 : 1);
	value = p = grt_pb_open(p, 4);
	p = grt_pb_number(p, 1, type == 3 ? 2 : 1);
	p = grt_pb_number(p, 3, 9);
	p = grt_pb_close(value, p);
	return grt_pb_close(packet, grt_pb_close(event, p));
}

static uint8_t *put_work(uint8_t *p, unsigned int context, unsigned int stage, unsigned int arg,
			 uint64_t time)
{
	uint8_t *packet, *work, *launch, *value;

	p = begin(p, &packet, 2, time);
	work = p = grt_pb_open(p, 53);
	p = grt_pb_number(p, 1, time);
	p = grt_pb_number(p, 2, 50);
	p = grt_pb_number(p, 5, context);
	p = grt_pb_number(p, 13, 1);
	p = grt_pb_number(p, 14, stage);
	p = grt_pb_number(p, 20, 2);
	if (stage == 2)
		p = grt_pb_number(p, 19, 1);
	launch = p = grt_pb_open(p, 21);
	value = p = grt_pb_open(p, 3);
	p = grt_pb_number(p, 1, arg);
	p = grt_pb_number(p, 4, 9);
	p = grt_pb_close(value, p);
	p = grt_pb_close(launch, p);
	return grt_pb_close(packet, grt_pb_close(work, p));
}

static uint8_t *put_ftrace(uint8_t *p)
{
	uint8_t *packet, *bundle, *event, *body;

	p = begin(p, &packet, 0, 0);
	bundle = p = grt_pb_open(p, 1);
	p = grt_pb_number(p, 1, 2);
	for (unsigned int i = 0; i < 2; i++) {
		event = p = grt_pb_open(p, 2);
		p = grt_pb_number(p, 1, 4000 + i);
		p = grt_pb_number(p, 2, 71);
		body = p = grt_pb_open(p, 593 + i);
		p = grt_pb_bytes(p, 1, "gfx", 3);
		p = grt_pb_bytes(p, 4, "0000:03:00.0", 12);
		p = grt_pb_number(p, 5, 142);
		p = grt_pb_number(p, 6, 1);
		p = grt_pb_close(event, grt_pb_close(body, p));
	}
	return grt_pb_close(packet, grt_pb_close(bundle, p));
}

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	uint8_t *p = put_track(put_clocks(put_names(good)));

	p = put_call(put_call(put_call(p, 3, 1005), 1, 1010), 2, 1020);
	p = put_work(put_work(put_work(p, 1, 2, 1, 1030), 1, 1, 1, 1100), 2, 1, 2, 1200);
	p = put_ftrace(put_work(put_work(p, 2, 1, 3, 1300), 2, 3, 4, 1400));
	good_size = (size_t)(p - good);
	CHECK(good_size < FILE_MAX);
	return 0;
}

static void change_bytes(int fd, const uint8_t *data, size_t size)
{
	for (; size >= 3; data += 3, size -= 3) {
		size_t at = ((size_t)data[0] << 8 | data[1]) % (good_size + 1);

		if (data[0] == 0xff)
			CHECK(!ftruncate(fd, (off_t)at));
		else
			CHECK(pwrite(fd, &data[2], 1, (off_t)at) == 1);
	}
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct seen seen = {.c = {.event = see_event}};
	struct grt_session *s;
	struct grt_err err;
	char path[64];
	uint64_t events;

	CHECK(fd >= 0 && write(fd, good, good_size) == (ssize_t)good_size);
	if (size && data[0] & 1)
		CHECK(write(fd, data + 1, size - 1) == (ssize_t)size - 1);
	else if (size)
		change_bytes(fd, data + 1, size - 1);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		if (!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err)) {
			events = grt_session_health(s)->events;
			seen.last = 0;
			CHECK(!grt_session_run(s, &seen.c, 0, UINT64_MAX, &err));
			CHECK(grt_session_health(s)->events == events);
			CHECK(!grt_session_health(s)->fault[GRT_FAULT_RECORD]);
		}
		grt_session_close(s);
	} else {
		CHECK(*err.what && *err.why);
	}
	close(fd);
	return 0;
}
