/* SPDX-License-Identifier: GPL-2.0 */
/*
 * What benchmarks of readers of text share: their options, the reading of a
 * file through a session with a consumer that only counts, what is printed.
 */
#ifndef BENCH_READING_H
#define BENCH_READING_H

#include <inttypes.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <time.h>
#include <unistd.h>

#include <grtrace/grtrace.h>

/** struct reading - options; @path: the file, made with @mib MiB; @back: see bench_text.c */
struct reading {
	const char *path;
	uint64_t mib;
	uint64_t runs;
	uint64_t back;
	bool keep;
};

struct reading_count {
	struct grt_consumer c;
	uint64_t events;
	uint64_t last;
};

/* @letters: the options there are. Return: whether they are good; else that has been said */
static bool reading_options(struct reading *r, int argc, char **argv, const char *letters)
{
	int opt;

	*r = (struct reading){.mib = 256, .runs = 5};
	while ((opt = getopt(argc, argv, letters)) != -1) {
		if (opt == 's')
			r->mib = strtoull(optarg, NULL, 0);
		else if (opt == 'n')
			r->runs = strtoull(optarg, NULL, 0);
		else if (opt == 'b')
			r->back = strtoull(optarg, NULL, 0);
		else if (opt == 'k')
			r->keep = true;
		else
			return false;
	}
	if (optind + 1 == argc) {
		r->path = argv[optind];
		return true;
	}
	fprintf(stderr, "usage: %s [-s MIB] [-n RUNS] %s[-k] FILE\n", argv[0],
		strchr(letters, 'b') ? "[-b NS] " : "");
	return false;
}

/* CPU time, so that a busy machine does not show. */
static double reading_now(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec / 1e9;
}

static int reading_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	struct reading_count *k = (struct reading_count *)c;

	if (e->time < k->last) {
		fputs("out of order\n", stderr);
		exit(1);
	}
	k->last = e->time;
	k->events++;
	return 0;
}

static double reading_once(const char *path, struct reading_count *k, struct grt_health *h)
{
	struct grt_session *s;
	struct grt_err err;
	double begin = reading_now();

	*k = (struct reading_count){.c = {.event = reading_event}};
	if (grt_session_open(&s, path, &err) || grt_session_run(s, &k->c, 0, UINT64_MAX, &err)) {
		fprintf(stderr, "%s: %s\n", err.what, err.why);
		exit(1);
	}
	*h = *grt_session_health(s);
	grt_session_close(s);
	return reading_now() - begin;
}

/* Reads the file, of @size bytes, as often as was asked for, and prints the best; unlinks it then. */
static void reading_run(const struct reading *r, uint64_t size, uint64_t lines)
{
	struct grt_health h = {0};
	struct reading_count k = {.events = 0};
	double best = 1e9, took;
	struct rusage use;

	for (uint64_t i = 0; i < r->runs; i++) {
		took = reading_once(r->path, &k, &h);
		best = took < best ? took : best;
	}
	getrusage(RUSAGE_SELF, &use);
	printf("text: %.0f MB, %" PRIu64 " lines, %" PRIu64 " events, %" PRIu64 " skipped, %" PRIu64 " bad\n",
	       (double)size / 1e6, lines, k.events, h.text.skipped, h.text.bad);
	printf("order: %" PRIu64 " behind, %" PRIu64 " sorted in files, %" PRIu64 " too late\n",
	       h.text.reordered, h.text.sorted, h.fault[GRT_FAULT_TIME]);
	if (r->runs)
		printf("read: %.0f MB/s, %.2f M lines/s, %.2f M events/s, best of %" PRIu64
		       "; %.0f MiB of memory\n",
		       (double)size / best / 1e6, (double)lines / best / 1e6, (double)k.events / best / 1e6,
		       r->runs, (double)use.ru_maxrss / 1024);
	if (!r->keep)
		unlink(r->path);
}

#endif /* BENCH_READING_H */
