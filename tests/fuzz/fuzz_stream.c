// SPDX-License-Identifier: GPL-2.0
/*
 * libFuzzer target: the stream reader and the parser of the metadata. The
 * first byte of an input says where the rest goes: a raw file, live streams
 * that arrive in pieces, or the metadata parser; and whether the rest is that
 * input itself, or a list of changes to a sound one that is made here. So no
 * corpus has to be kept, and short inputs already reach all of the reader.
 *
 * Readers: raw
 */
#define _GNU_SOURCE 1
#include <errno.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <unistd.h>

#include "../unit/trace_maker.h"
#include "trace/env.h"

/* A wrong result is reported like a crash. */
#define CHECK(x) ((x) ? (void)0 : abort())

struct seen {
	struct grt_consumer c;
	uint64_t events;
	uint64_t packets;
	volatile char sum;
};

static int see_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct seen *s = (struct seen *)c;

	(void)cpu;
	CHECK(e->size >= sizeof(*e) && e->size % 8 == 0);
	for (unsigned int i = 0; i < e->size; i++)
		s->sum = (char)(s->sum + ((const char *)e)[i]);
	s->events++;
	return 0;
}

static int see_packet(struct grt_consumer *c, const struct grt_packet *p)
{
	CHECK(p->content_size <= p->packet_size);
	((struct seen *)c)->packets++;
	return 0;
}

static void check(struct grt_session *s, const struct seen *seen, size_t size)
{
	const struct grt_health *h = grt_session_health(s);

	CHECK(h->events == seen->events && h->packets == seen->packets);
	CHECK(h->unknown <= h->events);
	/* a line of text makes an event in fewer bytes */
	CHECK(h->events <= (h->text.form ? size : size / sizeof(struct grt_event)));
	CHECK(h->packets <= size / sizeof(struct grt_packet));
}

static void raw_file(const char *data, size_t size)
{
	struct seen seen = {.c = {.event = see_event, .packet = see_packet}};
	int fd = memfd_create("fuzz", MFD_CLOEXEC);
	struct grt_session *s;
	struct grt_err err;
	uint64_t first, last;
	char path[32];

	CHECK(fd >= 0 && write(fd, data, size) == (ssize_t)size);
	snprintf(path, sizeof(path), "/proc/self/fd/%d", fd);
	if (!grt_session_open(&s, path, &err)) {
		CHECK(grt_session_run(s, &seen.c, 0, UINT64_MAX, &err) == 0);
		check(s, &seen, size);
		CHECK(grt_session_span(s, &first, &last) || first <= last);
		grt_session_close(s);
	}
	close(fd);
}

/* Two streams with half of the input each; every read gives at most @piece bytes, then nothing once. */
struct feed {
	const char *data[2];
	size_t left[2];
	size_t piece;
	bool pause[2];
};

static ssize_t feed_read(void *arg, unsigned int i, void *buf, size_t len)
{
	struct feed *f = arg;
	size_t n = f->left[i] < f->piece ? f->left[i] : f->piece;

	f->pause[i] = !f->pause[i];
	if (f->pause[i])
		return -EAGAIN;
	n = n < len ? n : len;
	memcpy(buf, f->data[i], n);
	f->data[i] += n;
	f->left[i] -= n;
	return (ssize_t)n;
}

static void live_streams(const char *data, size_t size)
{
	struct seen seen = {.c = {.event = see_event, .packet = see_packet}};
	size_t half = size / 16 * 8;
	struct feed feed = {.data = {data, data + half}, .left = {half, size - half}};
	struct grt_live live = {.read = feed_read, .arg = &feed, .streams = 2};
	struct grt_session *s;
	struct grt_err err;
	uint64_t until = 0;
	int ret = 1;

	feed.piece = 1 + size % 1021;
	CHECK(grt_session_open_live(&s, &live, &err) == 0);
	for (; ret == 1; until = until < UINT64_MAX / 3 ? until * 3 + 1 : UINT64_MAX)
		ret = grt_session_run_live(s, &seen.c, until, &err);
	CHECK(ret == 0);
	check(s, &seen, size);
	grt_session_close(s);
}

static void metadata(const char *data, size_t size)
{
	struct grt_env_list list = {0};
	size_t offset;
	int ret = grt_env_parse(&list, data, size, &offset);

	CHECK(ret == 0 || ret == -EINVAL);
	CHECK(offset <= size);
	for (unsigned int i = 0; i < list.used; i++)
		CHECK(grt_env_get(&list, list.entry[i].key));
	grt_env_free(&list);
}

static void every_type(struct trace_maker *tm)
{
#define GRT_EVENT(id, NAME, ev, CLASS, LEVEL, WHO, fields, help) tm_emit(tm, (id) % 2, ev, .e.time = (id));
#include <grtrace/events.def>
#undef GRT_EVENT
}

static void padded(struct trace_maker *tm)
{
	tm_padding(tm, 32);
	for (uint64_t i = 0; i < 12; i++) {
		tm_emit(tm, i % 2, start, .e.time = i);
		if (i % 3 == 2)
			tm_flush(tm, i % 2, i);
	}
}

static void gaps(struct trace_maker *tm)
{
	for (uint64_t i = 0; i < 8; i++) {
		tm_emit(tm, 0, end, .e.time = i);
		tm_fate(tm, 0, GRT_FATE_LOST, i);
		if (i == 3)
			tm_drop(tm, 0);
		else if (i == 5)
			tm_clear(tm, 0);
		else
			tm_flush(tm, 0, i);
	}
}

static void empty(struct trace_maker *tm)
{
	tm_flush(tm, 0, 5);
	tm_flush(tm, 1, 6);
}

static void (*const make[])(struct trace_maker *tm) = {every_type, padded, gaps, empty};
#define TRACES (sizeof(make) / sizeof(make[0]))
#define SEED_MAX 65536

/* The traces, and last a metadata text. */
static struct {
	char data[SEED_MAX];
	size_t size;
} seeds[TRACES + 1];

static void load_seed(unsigned int i, const char *path)
{
	int fd = open(path, O_RDONLY | O_CLOEXEC);
	ssize_t n = read(fd, seeds[i].data, SEED_MAX);

	CHECK(n > 0 && n < SEED_MAX);
	close(fd);
	seeds[i].size = (size_t)n;
}

static void make_seeds(const char *dir)
{
	char path[4096];

	for (unsigned int i = 0; i < TRACES; i++) {
		struct trace_maker *tm;

		snprintf(path, sizeof(path), "%s/raw", dir);
		tm = tm_raw(path, 2);
		make[i](tm);
		tm_close(tm);
		load_seed(i, path);
	}
	snprintf(path, sizeof(path), "%s/t.grt", dir);
	tm_close(tm_dir(path, 1));
	snprintf(path, sizeof(path), "%s/t.grt/metadata", dir);
	load_seed(TRACES, path);
}

int LLVMFuzzerInitialize(int *argc, char ***argv);
int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size);

int LLVMFuzzerInitialize(int *argc, char ***argv)
{
	char *dir = tm_tmpdir();

	(void)argc;
	(void)argv;
	make_seeds(dir);
	tm_remove(dir);
	free(dir);
	return 0;
}

static void (*const parts[])(const char *data, size_t size) = {raw_file, live_streams, metadata};
#define PARTS (sizeof(parts) / sizeof(parts[0]))

/* Changes are three bytes each: a place and the byte that goes there; a place beyond the end cuts. */
static void changed_seed(unsigned int part, const uint8_t *change, size_t size)
{
	unsigned int i = part == PARTS - 1 ? TRACES : size ? change[0] % TRACES : 0;
	size_t left = seeds[i].size;
	char *copy = malloc(left);

	CHECK(copy);
	memcpy(copy, seeds[i].data, left);
	for (size_t n = 1; n + 3 <= size; n += 3) {
		size_t at = change[n] | (size_t)change[n + 1] << 8;

		if (at < left)
			copy[at] = (char)change[n + 2];
		else
			left -= left < at - left ? left : at - left;
	}
	/* moved into memory of its own size, so that reading beyond it is found */
	copy = realloc(copy, left ? left : 1);
	CHECK(copy);
	parts[part](copy, left);
	free(copy);
}

int LLVMFuzzerTestOneInput(const uint8_t *data, size_t size)
{
	char *copy;

	if (!size)
		return 0;
	if (data[0] / PARTS % 2) {
		changed_seed(data[0] % PARTS, data + 1, size - 1);
		return 0;
	}
	/* a copy of its own size, so that reading beyond it is found */
	copy = malloc(size - 1 ? size - 1 : 1);
	CHECK(copy);
	memcpy(copy, data + 1, size - 1);
	parts[data[0] % PARTS](copy, size - 1);
	free(copy);
	return 0;
}
