// SPDX-License-Identifier: GPL-2.0
/*
 * Recordings that are small and cost much, for tests/cli/bombs.sh.
 *
 *	bombs KIND FILE.grt [N]
 *
 *	mangled	a kernel whose name of 472 bytes stands for 2^40 bytes of C++
 *	alt	a raw file of N packets for each of 8192 CPUs, which take turns
 *	deep	N launches, each a frame deeper than the one before, all frames of a name of 60000 bytes
 */
#include <err.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "../unit/trace_maker.h"

#define PID 20U
#define CPUS 8192U
#define LONG_NAME 60000U

static void put_string(struct trace_maker *tm, uint32_t number, const char *text, size_t length)
{
	for (size_t at = 0; at < length; at += 160) {
		struct grt_ev_string s = {.e = {.type = tm_type_string, .size = sizeof(s), .time = 2},
					  .number = number,
					  .length = (uint32_t)length,
					  .offset = (uint32_t)at};

		s.e.pid = s.e.tid = PID;
		s.part = (uint32_t)(length - at < 160 ? length - at : 160);
		memcpy(s.text, text + at, s.part);
		tm_event(tm, 0, &s.e);
	}
}

static void put_launch(struct trace_maker *tm, uint32_t i, uint32_t node)
{
	tm_emit(tm, 0, launch, .e.time = 50 + i * 10, .e.pid = PID, .e.tid = PID, .begin = 40 + i * 10,
		.correlation = i, .node = node, .call = 211);
	tm_emit(tm, 0, gpu_kernel, .e.time = 55 + i * 10, .e.pid = PID, .e.tid = PID, .start = 51 + i * 10,
		.end = 54 + i * 10, .correlation = i, .cuda_stream = 7, .name = 1);
}

/* A substitution of the C++ ABI: its number to the base of 36. */
static int put_reference(char *to, unsigned int number)
{
	static const char digit[] = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZ";

	if (!number)
		return sprintf(to, "S_");
	if (--number < 36)
		return sprintf(to, "S%c_", digit[number]);
	return sprintf(to, "S%c%c_", digit[number / 36], digit[number % 36]);
}

/* f<A, B<A, A>, B<that, that>, B<that, that>, ...>: each twice as long as the one before */
static void mangled(struct trace_maker *tm, uint32_t n)
{
	char name[2048], *to = name + sprintf(name, "_Z1fI1A1BIS0_S0_E");

	for (unsigned int i = 3; i < 3 + n; i++) {
		to += put_reference(to, 2);
		*to++ = 'I';
		to += put_reference(to, i);
		to += put_reference(to, i);
		*to++ = 'E';
	}
	to += sprintf(to, "Evv");
	put_string(tm, 1, name, (size_t)(to - name));
	put_launch(tm, 1, 0);
}

static void deep(struct trace_maker *tm, uint32_t n)
{
	char *name = malloc(LONG_NAME);

	if (!name)
		err(1, "memory");
	memset(name, 'A', LONG_NAME);
	put_string(tm, 1, name, LONG_NAME);
	free(name);
	for (uint32_t i = 1; i <= n; i++)
		tm_emit(tm, 0, node, .e.time = 3, .e.pid = PID, .e.tid = PID, .node = i, .caller = i - 1,
			.function = 1);
	for (uint32_t i = 1; i <= n; i++)
		put_launch(tm, i, i);
}

static void alt(const char *path, uint32_t n)
{
	struct trace_maker *tm = tm_raw(path, CPUS);

	for (uint32_t i = 0; i < n * CPUS; i++) {
		tm_emit(tm, i % CPUS, start, .e.time = 1000 + i);
		tm_flush(tm, i % CPUS, 1000 + i);
	}
	tm_close(tm);
}

static const struct {
	const char *name;
	void (*make)(struct trace_maker *tm, uint32_t n);
} kinds[] = {{"mangled", mangled}, {"deep", deep}};

int main(int argc, char **argv)
{
	struct trace_maker *tm;

	if (argc > 3 && !strcmp(argv[1], "alt")) {
		alt(argv[2], (uint32_t)strtoul(argv[3], NULL, 10));
		return 0;
	}
	for (size_t i = 0; argc > 3 && i < sizeof(kinds) / sizeof(kinds[0]); i++) {
		if (strcmp(argv[1], kinds[i].name))
			continue;
		tm = tm_dir(argv[2], 1);
		tm_emit(tm, 0, process, .e.time = 1, .e.pid = PID, .e.tid = PID, .what = 1);
		kinds[i].make(tm, (uint32_t)strtoul(argv[3], NULL, 10));
		tm_close(tm);
		return 0;
	}
	errx(2, "bombs alt|mangled|deep FILE.grt N");
}
