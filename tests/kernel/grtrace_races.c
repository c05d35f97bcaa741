// SPDX-License-Identifier: GPL-2.0
/*
 * Processes that start, stop, clear, set, emit and read all at the same time,
 * readers being killed in the middle; then the books must balance. TAP version
 * 13; leaves the module stopped, empty and at its defaults.
 *
 *	make; sudo ./grtrace_races [SECONDS]
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/mman.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "kmod.h"
#include "tap.h"

static unsigned int seconds = 10;

/* How often each worker came round, and the first thing it found wrong; shared memory. */
static struct shared {
	unsigned long rounds;
	char wrong[120];
} * shared;

static uint32_t seed;

static uint32_t draw(uint32_t below)
{
	seed = seed * 1664525 + 1013904223;
	return (seed >> 8) % below;
}

static void nap(void)
{
	struct timespec ts = {.tv_nsec = draw(3000000)};

	nanosleep(&ts, NULL);
}

/* Refusals that the race itself explains. */
static void expect(struct shared *me, const char *what, int err, int allowed)
{
	if (err && err != allowed && !me->wrong[0])
		snprintf(me->wrong, sizeof(me->wrong), "%s: %s", what, strerror(-err));
}

static void start_stop(struct shared *me)
{
	static const char *const words[] = {"start", "stop", "start", "flush"};
	const char *word = words[draw(4)];

	expect(me, word, kmod_write("control", word), 0);
	nap();
}

static void clear(struct shared *me)
{
	expect(me, "clear", kmod_write("control", "clear"), -EBUSY);
	nap();
	nap();
}

static void resize(struct shared *me)
{
	expect(me, "buffer_size", kmod_config("buffer_size=%u", 65536 * (1 + draw(8))), -EBUSY);
	nap();
}

static void configure(struct shared *me)
{
	static const char *const settings[] = {
		"watchlist=0 1 !2 ctx:5",
		"watchlist=",
		"watch_ring_count=0",
		"sample=50",
		"sample=100",
		"level=verbose",
		"level=normal",
		"max_events_per_sec=5000",
		"max_events_per_sec=0",
		"filter_ring_id=1",
		"filter_ring_id=-1",
		"flush_ms=1",
		"flush_ms=50",
		"trace_ctx=0",
		"watchlist=+3",
		"rate_limit_mode=token_bucket",
		"rate_limit_mode=window",
		"sampling_mode=static",
		"sampling_mode=adaptive",
		"sampling_mode=threshold",
		"sampling_threshold=0",
		"sampling_threshold=100000",
		"filter_latency=1",
		"filter_latency=0",
		"filter_pid=1,2,3",
		"filter_pid=0",
		"filter_enabled=0",
		"filter_enabled=1",
		"aggregator_enable=1",
		"aggregator_enable=0",
		"aggregator_replace=1",
		"aggregator_replace=0",
		"aggregator_window=100",
		"perf_mon=0",
		"perf_mon=1",
	};
	const char *s = settings[draw(sizeof(settings) / sizeof(settings[0]))];

	expect(me, s, kmod_config("%s", s), -ENODEV); /* without the stage, which may come and go */
}

static void emitter(struct shared *me)
{
	unsigned int ctx = 1 + draw(8), seqno = draw(100000);

	kmod_pin(draw(kmod_cpus()));
	expect(me, "emit",
	       kmod_emit("submit ring=%u ctx=%u seqno=%u count=%u\ncomplete ctx=%u seqno=%u count=%u",
			 draw(4), ctx, seqno, 1 + draw(300), ctx, seqno, 1 + draw(300)),
	       0);
}

static void looker(struct shared *me)
{
	static const char *const files[] = {"stats",	      "config",		"rings",
					    "adapters",	      "events_by_type", "version",
					    "sampling_stats", "filter_stats",	"aggregator_stats"};
	static char text[65536];
	const char *file = files[draw(9)];
	ssize_t n = kmod_read(file, text, sizeof(text));

	if (strstr(file, "_stats") && (n == -EIO || n == -ENODEV))
		n = 0; /* it went while it was open */
	expect(me, file, n < 0 ? (int)n : 0, -ENOENT);
}

static void read_some(int fd, unsigned int times)
{
	static char buf[65536];
	struct pollfd p = {.fd = fd, .events = POLLIN};

	while (times--) {
		poll(&p, 1, 10);
		if (read(fd, buf, 1 + draw(sizeof(buf) - 1)) <= 0)
			nap();
	}
}

static void reader(struct shared *me)
{
	static const char *const files[] = {"trace_pipe", "events0", "events1", "events"};
	int fd = kmod_open(files[draw(kmod_cpus() > 1 ? 4 : 2)], O_RDONLY | O_NONBLOCK);

	if (fd != -ENOENT) /* it is just being replaced by one of another size */
		expect(me, "opening a stream", fd < 0 ? fd : 0, -EBUSY);
	if (fd < 0) {
		nap();
		return;
	}
	read_some(fd, draw(20));
	close(fd);
	nap();
}

static const struct worker {
	const char *name;
	void (*round)(struct shared *me);
	bool killed; /* again and again, wherever it is */
} workers[] = {
	{"starting and stopping", start_stop, false},
	{"starting and stopping too", start_stop, false},
	{"clearing", clear, false},
	{"resizing", resize, false},
	{"setting", configure, false},
	{"emitting", emitter, false},
	{"emitting too", emitter, false},
	{"looking", looker, false},
	{"reading", reader, false},
	{"reading, being killed", reader, true},
	{"reading too, being killed", reader, true},
};

#define WORKERS (sizeof(workers) / sizeof(workers[0]))

static pid_t spawn(unsigned int i)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	seed = getpid() * 2654435761U;
	for (;;) {
		workers[i].round(&shared[i]);
		shared[i].rounds++;
	}
}

static void end(pid_t pid)
{
	kill(pid, SIGKILL);
	waitpid(pid, NULL, 0);
}

static unsigned int run_workers(void)
{
	pid_t pids[WORKERS];
	unsigned int i, kills = 0;
	uint64_t until = kmod_now() + seconds * 1000000000ULL;

	for (i = 0; i < WORKERS; i++)
		pids[i] = spawn(i);
	while (kmod_now() < until) {
		struct timespec ts = {.tv_nsec = 20000000 + draw(60000000)};

		nanosleep(&ts, NULL);
		for (i = 0; i < WORKERS; i++)
			if (workers[i].killed) {
				end(pids[i]);
				pids[i] = spawn(i);
				kills++;
			}
	}
	for (i = 0; i < WORKERS; i++)
		end(pids[i]);
	return kills;
}

static void case_run(void)
{
	unsigned int i, kills;

	kmod_reset();
	kills = run_workers();
	for (i = 0; i < WORKERS; i++) {
		tap_note("%s: %lu rounds", workers[i].name, shared[i].rounds);
		if (shared[i].wrong[0])
			TAP_FAIL("%s: %s", workers[i].name, shared[i].wrong);
		CHECK(shared[i].rounds > 0);
	}
	CHECK(kills > 10);
	CHECK_EQ(kmod_stat("reader_pid", NULL), 0);
}

static void case_balance(void)
{
	struct grt_balance total = kmod_balance("total"), one, sum = {.emitted = 0};
	char line[32];
	int cpu, i;

	CHECK_EQ(kmod_write("control", "stop"), 0);
	total = kmod_balance("total");
	CHECK_OK(balance_closes(&total));
	for (cpu = 0; cpu < kmod_cpus(); cpu++) {
		snprintf(line, sizeof(line), "cpu%d", cpu);
		one = kmod_balance(line);
		CHECK_OK(balance_closes(&one));
		sum.emitted += one.emitted;
		for (i = 0; i < GRT_FATES; i++)
			sum.fate[i] += one.fate[i];
	}
	CHECK(!memcmp(&sum, &total, sizeof(sum)));
}

static void case_rest(void)
{
	struct capture c = {.data = NULL};

	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&c)); /* what the killed readers left is whole packets */
	capture_free(&c);
}

static void case_works(void)
{
	struct capture c = {.data = NULL};

	kmod_reset();
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=1009"), 0);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_file(&c, "trace_pipe"), 0);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 1009);
	capture_free(&c);
}

static const struct tap_case cases[] = {
	{"processes start, stop, clear, set, emit and read at the same time, some being killed", case_run},
	{"the balance closes, on each CPU and in total", case_balance},
	{"unread packets are complete and follow one another without a gap", case_rest},
	{"the module works as before", case_works},
};

int main(int argc, char **argv)
{
	const char *missing = kmod_missing();
	int status;

	if (argc > 2 || (argc == 2 && !(seconds = strtoul(argv[1], NULL, 10)))) {
		fprintf(stderr, "Usage: grtrace_races [SECONDS]\n");
		return 2;
	}
	if (missing)
		return tap_skip_all("%s", missing);
	shared = mmap(NULL, WORKERS * sizeof(*shared), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_ANONYMOUS, -1,
		      0);
	if (shared == MAP_FAILED) {
		perror("grtrace_races");
		return 1;
	}
	status = tap_run(cases, sizeof(cases) / sizeof(cases[0]), NULL, NULL);
	kmod_reset();
	return status;
}
