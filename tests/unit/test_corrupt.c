// SPDX-License-Identifier: GPL-2.0
/*
 * Truncated and corrupted recordings: a clear error or the intact part, never
 * a crash. Every case is made from a seed, which a failure prints. What a
 * sanitizer has to say counts as a failure too, so these tests are worth most
 * in a build with sanitizers.
 */
#include "collect.h"
#include "trace_maker.h"
#include "inputs.h"

#include <errno.h>

#define EVENTS 1200
#define PACKETS 128

/**
 * struct fixture - a sound trace in memory, and where broken copies of it go
 * @data, @size: the trace, a raw file
 * @start: where each packet begins, and at [packets] the end of the file
 * @before: events in the packets before it
 */
struct fixture {
	char *dir;
	char *path;
	char *data;
	size_t size;
	size_t start[PACKETS + 1];
	size_t before[PACKETS + 1];
	unsigned int packets;
	struct collect k;
	struct grt_session *s;
	struct grt_err err;
	uint64_t random;
};

/* splitmix64: the same numbers on every machine */
static uint64_t rnd(struct fixture *f, uint64_t below)
{
	uint64_t z = (f->random += 0x9e3779b97f4a7c15);

	z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9;
	z = (z ^ (z >> 27)) * 0x94d049bb133111eb;
	return (z ^ (z >> 31)) % below;
}

/* Random cases: ten times as many in the long form. */
static unsigned int often(unsigned int n)
{
	const char *soak = getenv("GRTRACE_SOAK");

	return soak && *soak ? 10 * n : n;
}

static void note_packets(struct fixture *f)
{
	for (size_t at = 0; at < f->size;) {
		const struct grt_packet *p = (const struct grt_packet *)(f->data + at);

		assert_true(f->packets < PACKETS);
		f->start[f->packets++] = at;
		f->before[f->packets] = f->before[f->packets - 1] + p->end.fate[GRT_FATE_DELIVERED] -
					p->begin.fate[GRT_FATE_DELIVERED];
		at += p->packet_size / 8;
	}
	f->start[f->packets] = f->size;
}

static void make_trace(struct fixture *f, unsigned int cpus)
{
	struct trace_maker *tm = tm_raw(f->path, cpus);

	tm_packet_bytes(tm, 2048);
	tm_padding(tm, 16);
	for (uint64_t i = 0; i < EVENTS; i++)
		tm_emit(tm, (unsigned int)(i % cpus), submit, .e.time = 1000 + i, .e.seqno = i, .e.ctx = 1);
	tm_close(tm);
	f->data = file_load(f->path, &f->size);
	note_packets(f);
	assert_int_equal(f->before[f->packets], EVENTS);
	assert_true(f->packets > 40);
}

static int setup(void **state)
{
	struct fixture *f = calloc(1, sizeof(*f));

	f->dir = tm_tmpdir();
	f->path = path_join(f->dir, "t");
	collect_reset(&f->k);
	*state = f;
	return 0;
}

static int setup_one_cpu(void **state)
{
	setup(state);
	make_trace(*state, 1);
	return 0;
}

static int setup_three_cpus(void **state)
{
	setup(state);
	make_trace(*state, 3);
	return 0;
}

static int teardown(void **state)
{
	struct fixture *f = *state;

	tm_remove(f->dir);
	free(f->k.e);
	free(f->k.cpu);
	free(f->data);
	free(f->path);
	free(f->dir);
	free(f);
	return 0;
}

/* Reads @path as far as it goes. Return: 0, or what opening it failed with */
static int read_broken(struct fixture *f, const char *path, struct grt_health *h)
{
	int ret = grt_session_open(&f->s, path, &f->err);

	collect_reset(&f->k);
	if (ret) {
		assert_true(ret < 0);
		assert_null(f->s);
		assert_true(f->err.what[0]);
		return ret;
	}
	assert_int_equal(grt_session_run(f->s, &f->k.c, 0, UINT64_MAX, &f->err), 0);
	*h = *grt_session_health(f->s);
	assert_int_equal(h->events, f->k.n);
	grt_session_close(f->s);
	return 0;
}

/* The packets that are whole in the first @size bytes. */
static unsigned int whole_packets(const struct fixture *f, size_t size)
{
	unsigned int n = 0;

	while (n < f->packets && f->start[n + 1] <= size)
		n++;
	return n;
}

static void check_cut(struct fixture *f, size_t size)
{
	unsigned int whole = whole_packets(f, size);
	struct grt_health h;
	int ret;

	file_store(f->path, f->data, size);
	ret = read_broken(f, f->path, &h);
	if (!size) {
		assert_int_equal(ret, -ENODATA);
		return;
	}
	assert_int_equal(ret, 0);
	assert_int_equal(f->k.n, f->before[whole]);
	assert_int_equal(h.packets, whole);
	assert_int_equal(h.fault[GRT_FAULT_CUT], size != f->start[whole]);
	assert_int_equal(h.skipped_bytes, size - f->start[whole]);
	assert_int_equal(h.first.what[0] != 0, size != f->start[whole]);
	for (unsigned int i = GRT_FAULT_PACKET; i < GRT_FAULTS; i++)
		assert_int_equal(h.fault[i], 0);
}

static void a_cut_at_a_packet_boundary_keeps_all_before(void **state)
{
	struct fixture *f = *state;

	for (unsigned int i = 0; i <= f->packets; i++)
		check_cut(f, f->start[i]);
}

static void a_cut_anywhere_keeps_the_whole_packets(void **state)
{
	struct fixture *f = *state;

	/* around a boundary each byte, as the first bytes of a header tell little */
	for (size_t i = 0; i < 260; i++)
		check_cut(f, f->start[3] + i);
	for (size_t i = 1; i < 260; i++)
		check_cut(f, i);
	f->random = 1;
	for (unsigned int i = 0; i < often(300); i++)
		check_cut(f, 1 + rnd(f, f->size - 1));
}

/* The delivered event of this number, as it was written. */
static bool delivered(const struct fixture *f, size_t seqno)
{
	for (size_t i = 0; i < f->k.n; i++)
		if (f->k.e[i].seqno == seqno && f->k.e[i].time == 1000 + seqno)
			return true;
	return false;
}

static unsigned int packet_at(const struct fixture *f, size_t at)
{
	unsigned int i = 0;

	while (at >= f->start[i + 1])
		i++;
	return i;
}

/* One CPU: events stand in the file in the order of their numbers. */
static void check_flip(struct fixture *f, uint64_t bit)
{
	unsigned int hit = packet_at(f, bit / 8);
	bool in_header = bit / 8 - f->start[hit] < sizeof(struct grt_packet);
	struct grt_health h;
	char *copy = malloc(f->size);
	int ret;

	memcpy(copy, f->data, f->size);
	copy[bit / 8] ^= (char)(1 << bit % 8);
	file_store(f->path, copy, f->size);
	free(copy);
	ret = read_broken(f, f->path, &h);
	if (ret) {
		/* only the first packet's format can make all of it unreadable */
		if (ret != -EPROTO || bit / 8 < 8 || bit / 8 >= 10)
			fail_msg("bit %llu: %s", (unsigned long long)bit, f->err.what);
		return;
	}
	for (size_t i = 0; i < EVENTS; i++) {
		bool other = i < f->before[hit] || (!in_header && i >= f->before[hit + 1]);

		if (other && !delivered(f, i))
			fail_msg("bit %llu: event %zu is not there", (unsigned long long)bit, i);
	}
}

static void a_flipped_bit_costs_no_packet_before_it(void **state)
{
	struct fixture *f = *state;

	/* every bit of the first two headers, and of one in the middle */
	for (uint64_t i = 0; i < 8 * sizeof(struct grt_packet); i++) {
		check_flip(f, i);
		check_flip(f, 8 * f->start[1] + i);
		check_flip(f, 8 * f->start[f->packets / 2] + i);
	}
	f->random = 2;
	for (unsigned int i = 0; i < often(800); i++)
		check_flip(f, rnd(f, 8 * f->size));
}

static void flip(struct fixture *f, char *data, size_t size, unsigned int bits)
{
	for (unsigned int i = 0; i < bits; i++) {
		uint64_t bit = rnd(f, 8 * size);

		data[bit / 8] ^= (char)(1 << bit % 8);
	}
}

static void many_flipped_bits(void **state)
{
	struct fixture *f = *state;
	char *copy = malloc(f->size);
	struct grt_health h;

	f->random = 3;
	for (unsigned int i = 0; i < often(800); i++) {
		memcpy(copy, f->data, f->size);
		flip(f, copy, f->size, 1 + (unsigned int)rnd(f, 200));
		file_store(f->path, copy, f->size);
		read_broken(f, f->path, &h);
		/* a smaller size can make two records of one, but not more than there is room for */
		assert_true(f->k.n <= f->size / sizeof(struct grt_event));
	}
	free(copy);
}

/* Headers alone are damaged, with values that a random bit seldom gives. */
static void hostile_headers(void **state)
{
	struct fixture *f = *state;
	static const uint64_t values[] = {0,
					  1,
					  7,
					  8,
					  64,
					  63,
					  208 * 8,
					  UINT32_MAX,
					  1ULL << 29,
					  (1ULL << 29) + 64,
					  UINT64_MAX - 63,
					  UINT64_MAX};
	char *copy = malloc(f->size);
	struct grt_health h;

	f->random = 4;
	for (unsigned int i = 0; i < often(800); i++) {
		memcpy(copy, f->data, f->size);
		for (uint64_t n = 1 + rnd(f, 4); n; n--) {
			char *p = copy + f->start[rnd(f, f->packets)];

			memcpy(p + 4 + 4 * rnd(f, 50), &values[rnd(f, 12)], 4 + 4 * rnd(f, 2));
		}
		file_store(f->path, copy, f->size);
		read_broken(f, f->path, &h);
		assert_true(f->k.n <= f->size / sizeof(struct grt_event));
	}
	free(copy);
}

/* Records alone are damaged: size and type of one in each packet. */
static void hostile_records(void **state)
{
	struct fixture *f = *state;
	static const uint16_t sizes[] = {0, 1, 7, 8, 40, 47, 48, 56, 64, 72, 1024, 32768, 65528, 65535};
	char *copy = malloc(f->size);
	struct grt_health h;

	f->random = 5;
	for (unsigned int i = 0; i < often(300); i++) {
		memcpy(copy, f->data, f->size);
		for (unsigned int k = 0; k < f->packets; k++) {
			struct grt_event *e =
				(struct grt_event *)(copy + f->start[k] + sizeof(struct grt_packet) +
						     64 * rnd(f, 20));

			if ((char *)(e + 1) > copy + f->size)
				continue;
			e->size = sizes[rnd(f, 14)];
			if (rnd(f, 2))
				e->type = (uint16_t)rnd(f, 80);
		}
		file_store(f->path, copy, f->size);
		assert_int_equal(read_broken(f, f->path, &h), 0);
		assert_int_equal(h.packets, f->packets);
		assert_true(f->k.n <= f->size / sizeof(struct grt_event));
	}
	free(copy);
}

static void pieces_of_a_file_in_any_order(void **state)
{
	struct fixture *f = *state;
	char *copy = malloc(2 * f->size);
	struct grt_health h;
	size_t n;

	f->random = 6;
	for (unsigned int i = 0; i < often(300); i++) {
		for (n = 0; n < f->size;) {
			size_t from = rnd(f, f->size);
			size_t len = 1 + rnd(f, 6000);

			len = len < f->size - from ? len : f->size - from;
			memcpy(copy + n, f->data + from, len);
			n += len;
		}
		file_store(f->path, copy, n < f->size ? n : f->size);
		read_broken(f, f->path, &h);
	}
	free(copy);
}

/* A packet twice, and packets exchanged: told, and never counted as missing events. */
static void packets_out_of_place(void **state)
{
	struct fixture *f = *state;
	size_t one = f->start[4] - f->start[3];
	char *copy = malloc(f->size + one);
	struct grt_health h;

	memcpy(copy, f->data, f->start[6]);
	memcpy(copy + f->start[6], f->data + f->start[3], one);
	memcpy(copy + f->start[6] + one, f->data + f->start[6], f->size - f->start[6]);
	file_store(f->path, copy, f->size + one);
	free(copy);
	assert_int_equal(read_broken(f, f->path, &h), 0);
	assert_int_equal(f->k.n, EVENTS + f->before[4] - f->before[3]);
	assert_int_equal(h.fault[GRT_FAULT_GAP], 1);
	assert_int_equal(h.fault[GRT_FAULT_TIME], f->before[4] - f->before[3]);
	assert_int_equal(h.missing_events, 0);
}

/* A recording directory: streams and metadata damaged, and cut back on disk where they are cut and this is
 * asked for. */
static void damaged_directories(void **state)
{
	struct fixture *f = *state;
	static const char *const names[] = {"kmod_0", "kmod_1", "metadata"};
	char *dir = path_join(f->dir, "t.grt");
	struct trace_maker *tm = tm_dir(dir, 2);
	char *path[3], *data[3], *copy;
	struct grt_mending done;
	struct grt_health h;
	struct grt_err err;
	size_t size[3], now;

	tm_packet_bytes(tm, 1024);
	for (uint64_t i = 0; i < 200; i++)
		tm_emit(tm, i % 2, start, .e.time = i);
	tm_close(tm);
	for (unsigned int i = 0; i < 3; i++) {
		path[i] = path_join(dir, names[i]);
		data[i] = file_load(path[i], &size[i]);
	}
	f->random = 7;
	for (unsigned int i = 0; i < often(800); i++) {
		unsigned int hit = (unsigned int)rnd(f, 3);
		size_t left = rnd(f, 2) ? size[hit] : rnd(f, size[hit]);

		copy = malloc(size[hit]);
		memcpy(copy, data[hit], size[hit]);
		flip(f, copy, size[hit], (unsigned int)rnd(f, 3));
		file_store(path[hit], copy, left);
		read_broken(f, dir, &h);
		free(file_load(path[hit], &now));
		assert_int_equal(now, left);
		grt_mend(&done, dir, &err);
		/* what was mended is sound */
		if (!read_broken(f, dir, &h) && hit < 2 && left < size[hit])
			assert_true(h.fault[GRT_FAULT_CUT] == 0 || h.fault[GRT_FAULT_PACKET] > 0);
		file_store(path[hit], data[hit], size[hit]);
		free(copy);
	}
	for (unsigned int i = 0; i < 3; i++) {
		free(path[i]);
		free(data[i]);
	}
	free(dir);
}

#define ONE_CPU(name) cmocka_unit_test_setup_teardown(name, setup_one_cpu, teardown)
#define THREE_CPUS(name) cmocka_unit_test_setup_teardown(name, setup_three_cpus, teardown)

int main(void)
{
	const struct CMUnitTest tests[] = {
		ONE_CPU(a_cut_at_a_packet_boundary_keeps_all_before),
		THREE_CPUS(a_cut_at_a_packet_boundary_keeps_all_before),
		ONE_CPU(a_cut_anywhere_keeps_the_whole_packets),
		THREE_CPUS(a_cut_anywhere_keeps_the_whole_packets),
		ONE_CPU(a_flipped_bit_costs_no_packet_before_it),
		THREE_CPUS(many_flipped_bits),
		THREE_CPUS(hostile_headers),
		THREE_CPUS(hostile_records),
		THREE_CPUS(pieces_of_a_file_in_any_order),
		ONE_CPU(packets_out_of_place),
		cmocka_unit_test_setup_teardown(damaged_directories, setup, teardown),
	};

	return cmocka_run_group_tests(tests, NULL, NULL);
}
