// SPDX-License-Identifier: GPL-2.0
/*
 * How fast `grtrace report` decodes and joins: `bench_report [-s MIB] [-n RUNS]
 * [-k] GRTRACE [REPORT OPTIONS]`. Writes a recording of two CPUs below TMPDIR
 * or /dev/shm (jobs of SUBMIT, END and COMPLETE on two rings, a wait for every
 * 16th), lets GRTRACE report on it (default: --by ring) and reports the best of
 * the runs, all from the page cache, and the highest memory. -k keeps the
 * recording and tells where it is.
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "../tests/unit/trace_maker.h"

#define CPUS 2
#define RINGS 2
#define DEPTH 6 /* jobs in flight */
#define IRQ_CPU 1

/* Job i was submitted on the CPU where its thread ran just then. */
static unsigned int submit_cpu(uint64_t i)
{
	return (unsigned int)(i / 64 % CPUS);
}

#define JOB(i)                                                                                 \
	.e.ctx = 100 + (i) % RINGS, .e.seqno = (i) / RINGS, .e.ring = (uint32_t)((i) % RINGS), \
	.e.device = 1, .e.engine = GRT_ENGINE_GRAPHICS
#define WHO .e.pid = 70, .e.tid = 71

static bool is_waited_for(uint64_t i)
{
	return i % 16 == 3;
}

static void make(const char *path, uint64_t bytes)
{
	struct trace_maker *tm = tm_dir(path, CPUS);
	/* Per job: SUBMIT and END of 64, COMPLETE of 56 bytes. */
	uint64_t jobs = bytes / (64 + 64 + 56), t;

	tm_packet_bytes(tm, 256 << 10);
	tm_name_ring(tm, 0, "control", "virtio_gpu");
	tm_name_ring(tm, 1, "cursor", "virtio_gpu");
	tm_name_thread(tm, 71, "glmark2", "glmark2");
	for (uint64_t i = 0; i < jobs + DEPTH; i++) {
		t = 1000000000 + i * 1000;
		if (i < jobs)
			tm_emit(tm, submit_cpu(i), submit, .e.time = t, .e.flags = GRT_FLAG_COMMIT,
				.cmd = 0x207, JOB(i), WHO);
		if (i < jobs && is_waited_for(i))
			tm_emit(tm, submit_cpu(i), sync_wait_enter, .e.time = t + 50, JOB(i), WHO);
		if (i < DEPTH)
			continue;
		tm_emit(tm, IRQ_CPU, end, .e.time = t + 300 + i % 97, JOB(i - DEPTH), WHO);
		tm_emit(tm, IRQ_CPU, complete, .e.time = t + 420 + i % 31, JOB(i - DEPTH), WHO);
		if (is_waited_for(i - DEPTH))
			tm_emit(tm, submit_cpu(i), sync_wait_exit, .e.time = t + 600, JOB(i - DEPTH), WHO);
	}
	printf("recording: %llu jobs, %llu events\n", (unsigned long long)jobs,
	       (unsigned long long)tm_events(tm));
	tm_close(tm);
}

static double seconds(void)
{
	struct timespec t;

	clock_gettime(CLOCK_MONOTONIC, &t);
	return (double)t.tv_sec + (double)t.tv_nsec * 1e-9;
}

/* One run with its output thrown away. Return: seconds */
static double run(char **argv, long *kib)
{
	double begin = seconds();
	struct rusage usage;
	int status;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		if (dup2(open("/dev/null", O_WRONLY), STDOUT_FILENO) < 0)
			_exit(127);
		execv(argv[0], argv);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed (status 0x%x)", argv[0], status);
	if (usage.ru_maxrss > *kib)
		*kib = usage.ru_maxrss;
	return seconds() - begin;
}

static uint64_t events_of(const char *path)
{
	struct grt_consumer none = {.packet = NULL};
	struct grt_session *s;
	struct grt_err e;
	uint64_t n;

	if (grt_session_open(&s, path, &e) || grt_session_run(s, &none, 0, UINT64_MAX, &e))
		errx(1, "%s: %s", e.what, e.why);
	n = grt_session_health(s)->events;
	grt_session_close(s);
	return n;
}

int main(int argc, char **argv)
{
	char *dir, *path, *args[32] = {NULL};
	uint64_t mib = 1024, events;
	double best = 1e9, took;
	bool keep = false;
	int runs = 5, c, n = 0;
	long kib = 0;

	while ((c = getopt(argc, argv, "+s:n:k")) != -1) {
		if (c == 's')
			mib = strtoull(optarg, NULL, 0);
		else if (c == 'n')
			runs = atoi(optarg);
		else if (c == 'k')
			keep = true;
		else
			return 2;
	}
	if (optind == argc)
		errx(2, "usage: bench_report [-s MIB] [-n RUNS] [-k] GRTRACE [REPORT OPTIONS]");
	args[n++] = argv[optind++];
	args[n++] = "report";
	for (; optind < argc && n < 28; optind++)
		args[n++] = argv[optind];
	if (n == 2)
		args[n++] = "--by=ring";
	setenv("TMPDIR", "/dev/shm", 0);
	dir = tm_tmpdir();
	if (asprintf(&path, "%s/bench_report.grt", dir) < 0)
		err(1, "memory");
	args[n] = path;
	make(path, mib << 20);
	events = events_of(path);
	for (int i = 0; i < runs; i++) {
		took = run(args, &kib);
		best = took < best ? took : best;
	}
	printf("report: %.1f M events/s, %.1f ns each, %.2f s; %ld KiB resident\n",
	       (double)events / best * 1e-6, best * 1e9 / (double)events, best, kib);
	if (keep)
		printf("kept: %s\n", path);
	else
		tm_remove(dir);
	free(path);
	free(dir);
	return 0;
}
