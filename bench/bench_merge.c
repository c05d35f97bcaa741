// SPDX-License-Identifier: GPL-2.0
/*
 * For bench/merge.sh. `bench_merge make DIR EVENTS` writes DIR/cpu.txt and
 * DIR/cpu.grt (the same ioctls, as text and as a recording) and DIR/gpu.grt
 * (the jobs that they submit), EVENTS each. `bench_merge run PROG ARGS...` runs
 * a program with its output thrown away and reports the seconds of a CPU that it
 * took (which other programs disturb less than those of a clock) and its memory.
 */
#define _GNU_SOURCE 1
#include <err.h>
#include <fcntl.h>
#include <stdlib.h>
#include <string.h>
#include <sys/resource.h>
#include <sys/wait.h>
#include <unistd.h>

#include "../tests/unit/trace_maker.h"

#define EXECBUFFER 0xc0406442U
#define THREADS 4
#define NODE .e.ring = GRT_RING_NONE, .e.device = 226U << 20 | 128

#define JOB(i) \
	.e.ctx = 100 + (i) % THREADS, .e.seqno = (i) / THREADS, .e.ring = 0, .e.engine = GRT_ENGINE_GRAPHICS
#define WHO(i) .e.pid = 4000, .e.tid = 4000 + (uint32_t)((i) % THREADS)

static void make_gpu(const char *dir, uint64_t events)
{
	char path[4096];
	struct trace_maker *tm;

	snprintf(path, sizeof(path), "%s/gpu.grt", dir);
	tm = tm_dir(path, 2);
	tm_name_ring(tm, 0, "gfx", "amdgpu");
	for (uint32_t t = 0; t < THREADS; t++)
		tm_name_thread(tm, 4000 + t, "render thread", "game");
	/* five events a job, the last three on the CPU of the interrupt and two jobs later */
	for (uint64_t i = 0; i < events / 5 + 2; i++) {
		uint64_t t = 1000000000 + i * 10000;

		if (i < events / 5) {
			tm_emit(tm, 0, submit, .e.time = t + 1500, JOB(i), WHO(i), .cmd = 7, .fence_id = i);
			tm_emit(tm, 0, commit, .e.time = t + 2100, JOB(i), WHO(i), .hw_depth = 2);
		}
		if (i < 2)
			continue;
		tm_emit(tm, 1, start, .e.time = t + 100, JOB(i - 2), WHO(i - 2));
		tm_emit(tm, 1, end, .e.time = t + 7200, JOB(i - 2), WHO(i - 2));
		tm_emit(tm, 1, complete, .e.time = t + 7900, JOB(i - 2), WHO(i - 2));
	}
	tm_close(tm);
}

static void make_cpu(const char *dir, uint64_t events)
{
	char path[4096];
	struct trace_maker *tm;
	FILE *text;

	snprintf(path, sizeof(path), "%s/cpu.txt", dir);
	text = fopen(path, "we");
	snprintf(path, sizeof(path), "%s/cpu.grt", dir);
	tm = tm_dir(path, 1);
	if (!text)
		err(1, "%s", path);
	for (uint32_t t = 0; t < THREADS; t++)
		tm_name_thread(tm, 4000 + t, "render thread", "game");
	for (uint64_t i = 0; i < events / 2; i++) {
		uint64_t t = 1000000000 + i * 4000;
		unsigned int tid = 4000 + (unsigned int)(i % THREADS);

		tm_emit(tm, 0, ioctl_enter, .e.time = t, WHO(i), NODE, .cmd = EXECBUFFER, .fd = 5,
			.arg = 0x7ffd12345678);
		tm_emit(tm, 0, ioctl_exit, .e.time = t + 3000, WHO(i), NODE, .cmd = EXECBUFFER);
		fprintf(text,
			"[%llu.%09llu] IOCTL_ENTER pid=4000 tid=%u comm=render thread cmd=0x%x arg=0x7ffd12345678\n"
			"[%llu.%09llu] IOCTL_EXIT pid=4000 tid=%u comm=render thread cmd=0x%x ret=0 duration_ns=3000\n",
			(unsigned long long)t / 1000000000, (unsigned long long)t % 1000000000, tid,
			EXECBUFFER, (unsigned long long)(t + 3000) / 1000000000,
			(unsigned long long)(t + 3000) % 1000000000, tid, EXECBUFFER);
	}
	if (fclose(text))
		err(1, "%s", path);
	tm_close(tm);
}

static double seconds(const struct timeval *t)
{
	return (double)t->tv_sec + (double)t->tv_usec * 1e-6;
}

static int run(char **argv)
{
	struct rusage usage;
	int status, null;
	pid_t pid = fork();

	if (pid < 0)
		err(1, "fork");
	if (!pid) {
		null = open("/dev/null", O_RDWR);
		dup2(null, STDOUT_FILENO);
		execvp(argv[0], argv);
		_exit(127);
	}
	if (wait4(pid, &status, 0, &usage) != pid || !WIFEXITED(status) || WEXITSTATUS(status))
		errx(1, "%s failed (status 0x%x)", argv[0], status);
	printf("%.4f %ld\n", seconds(&usage.ru_utime) + seconds(&usage.ru_stime), usage.ru_maxrss);
	return 0;
}

int main(int argc, char **argv)
{
	if (argc == 4 && !strcmp(argv[1], "make")) {
		make_gpu(argv[2], strtoull(argv[3], NULL, 0));
		make_cpu(argv[2], strtoull(argv[3], NULL, 0));
		return 0;
	}
	if (argc > 2 && !strcmp(argv[1], "run"))
		return run(argv + 2);
	errx(2, "usage: bench_merge make DIR EVENTS, or bench_merge run PROG ARGS...");
}
