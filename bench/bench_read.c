// SPDX-License-Identifier: GPL-2.0
/*
 * How fast a recording is decoded, merged and handed out: `bench_read [-s MIB]
 * [-c CPUS] [PATH]`. Without PATH it writes a recording of job records first,
 * below TMPDIR or /dev/shm, and removes it afterwards. The best of five runs
 * counts, all from the page cache, in CPU time, so that a busy machine does
 * not show; memory is the process's highest.
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <getopt.h>
#include <stdlib.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/unit/trace_maker.h"

#define RUNS 5

struct sum {
	struct grt_consumer c;
	uint64_t events;
	uint64_t jobs;
};

static int count_event(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	((struct sum *)c)->events++;
	return 0;
}

static int sum_job(struct grt_consumer *c, const struct grt_event *e, uint32_t cpu)
{
	((struct sum *)c)->jobs += e->seqno;
	return 0;
}

/* Jobs whose four records fall on one CPU each, in bursts, as an interrupt's and a thread's do. */
static void make(const char *path, uint64_t bytes, unsigned int cpus)
{
	struct trace_maker *tm = tm_dir(path, cpus);
	uint64_t events = bytes / sizeof(struct grt_ev_submit);

	tm_packet_bytes(tm, 256 << 10);
	for (uint64_t i = 0; i < events; i += 4) {
		unsigned int cpu = (unsigned int)(i / 32 % cpus);

		tm_emit(tm, cpu, submit, .e.time = 1000 * i, .e.ctx = 5, .e.seqno = i / 4);
		tm_emit(tm, cpu, submit, .e.time = 1000 * i + 900, .e.ctx = 6, .e.seqno = i / 4);
		tm_emit(tm, (cpu + 1) % cpus, end, .e.time = 1000 * i + 1500, .e.ctx = 5, .e.seqno = i / 4);
		tm_emit(tm, (cpu + 1) % cpus, end, .e.time = 1000 * i + 1600, .e.ctx = 6, .e.seqno = i / 4);
	}
	tm_close(tm);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_PROCESS_CPUTIME_ID, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

static void run_once(struct grt_session *s, struct sum *sum, double *best)
{
	struct grt_err err;
	double begin = seconds();
	double took;

	*sum = (struct sum){.c.event = count_event, .c.job = sum_job};
	if (grt_session_run(s, &sum->c, 0, UINT64_MAX, &err))
		errx(1, "%s: %s", err.what, err.why);
	took = seconds() - begin;
	if (took < *best)
		*best = took;
}

static void read_it(const char *path)
{
	const struct grt_health *h;
	struct grt_session *s;
	struct grt_err err;
	struct rusage use;
	struct sum sum;
	double best = 1e9;

	if (grt_session_open(&s, path, &err))
		errx(1, "%s: %s", err.what, err.why);
	for (int i = 0; i < RUNS; i++)
		run_once(s, &sum, &best);
	h = grt_session_health(s);
	if (h->first.what[0])
		errx(1, "%s", h->first.what);
	getrusage(RUSAGE_SELF, &use);
	printf("%llu events, %llu bytes: %.3f s of CPU, %.1f M events/s, %.2f GB/s, max RSS %.1f MiB\n",
	       (unsigned long long)sum.events, (unsigned long long)h->bytes, best,
	       (double)sum.events / best / 1e6, (double)h->bytes / best / 1e9, (double)use.ru_maxrss / 1024);
	grt_session_close(s);
}

/* In a child of its own, so that the memory of the writing is not counted. */
static void make_apart(const char *path, uint64_t bytes, unsigned int cpus)
{
	pid_t pid = fork();
	int status;

	if (!pid) {
		make(path, bytes, cpus);
		_exit(0);
	}
	if (pid < 0 || waitpid(pid, &status, 0) != pid || status)
		errx(1, "%s: cannot be written", path);
}

int main(int argc, char **argv)
{
	uint64_t bytes = 1ULL << 30;
	unsigned int cpus = 4;
	char *path;
	int opt;

	while ((opt = getopt(argc, argv, "s:c:")) != -1) {
		if (opt == 's')
			bytes = strtoull(optarg, NULL, 10) << 20;
		else if (opt == 'c')
			cpus = (unsigned int)strtoul(optarg, NULL, 10);
		else
			errx(2, "usage: bench_read [-s MIB] [-c CPUS] [PATH]");
	}
	if (optind < argc) {
		read_it(argv[optind]);
		return 0;
	}
	setenv("TMPDIR", "/dev/shm", 0);
	path = tm_tmpdir();
	make_apart(path, bytes, cpus ? cpus : 1);
	read_it(path);
	tm_remove(path);
	free(path);
	return 0;
}
