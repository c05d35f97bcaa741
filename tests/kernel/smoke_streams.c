// SPDX-License-Identifier: GPL-2.0
/*
 * Cases about the buffer and the files that give it away: overruns, and what
 * read, poll, open and close do.
 */
#define _GNU_SOURCE
#include <errno.h>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <sys/time.h>
#include <sys/wait.h>
#include <time.h>
#include <unistd.h>

#include "smoke.h"
#include "tap.h"

#define MS 1000000ULL

/* The smallest buffer, running. */
static bool start_small(void)
{
	int err = kmod_config("buffer_size=65536");

	if (!err)
		err = kmod_write("control", "start");
	if (err)
		TAP_FAIL("cannot start with a small buffer: %s", strerror(-err));
	return !err;
}

static const struct grt_packet *last_packet(const struct capture *c)
{
	const struct grt_packet *p, *last = NULL;

	for (p = capture_packet(c, NULL); p; p = capture_packet(c, p))
		last = p;
	return last;
}

/* What a CPU's packets and stats must say after @n events into a full buffer. */
static bool overrun_accounted(int cpu, uint64_t n)
{
	struct capture c = {.data = NULL};
	const struct grt_packet *last;
	struct grt_balance b;
	char file[32], line[32];
	uint64_t names, delivered;

	snprintf(file, sizeof(file), "events%d", cpu);
	snprintf(line, sizeof(line), "cpu%d", cpu);
	if (capture_file(&c, file) || !capture_valid(&c))
		return false;
	last = last_packet(&c);
	names = capture_count(&c, GRT_EV_NAME);
	delivered = capture_count(&c, 0);
	b = kmod_balance(line);
	if (!last || last->content_size / 8 != sizeof(*last) || memcmp(&last->end, &b, sizeof(b)))
		TAP_FAIL("cpu%d: the last packet is not an empty one with the balance of stats", cpu);
	else if (b.emitted != n + names || delivered != b.fate[GRT_FATE_DELIVERED])
		TAP_FAIL("cpu%d: %llu emitted of %llu, %llu delivered, %llu read", cpu,
			 (unsigned long long)(b.emitted - names), (unsigned long long)n,
			 (unsigned long long)b.fate[GRT_FATE_DELIVERED], (unsigned long long)delivered);
	else if (delivered - names + b.fate[GRT_FATE_LOST] != n || !b.fate[GRT_FATE_LOST])
		TAP_FAIL("cpu%d: delivered and lost are not what was emitted", cpu);
	else if (last->begin.fate[GRT_FATE_LOST])
		TAP_FAIL("cpu%d: losses before the buffer was full", cpu);
	else {
		capture_free(&c);
		return true;
	}
	return false;
}

void smoke_overrun(void)
{
	const uint64_t n = 99991;

	CHECK(kmod_pin(0));
	CHECK_OK(start_small());
	CHECK_EQ(kmod_emit("submit ring=1 ctx=1 count=%llu", (unsigned long long)n), 0);
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(kmod_stat("overruns", NULL), 1);
	CHECK_EQ(kmod_stat("lost_events", NULL), kmod_balance("total").fate[GRT_FATE_LOST]);
	CHECK_OK(overrun_accounted(0, n));
	CHECK_EQ(kmod_stat("subbufs_consumed", NULL), 17); /* 16 full ones and the last word */
}

void smoke_overrun_each_cpu(void)
{
	uint64_t n = 4999, sum = 0, lost = 0;
	struct grt_balance b;
	char line[32];
	int cpu;

	CHECK_OK(start_small());
	for (cpu = 0; cpu < kmod_cpus(); cpu++) {
		CHECK(kmod_pin(cpu));
		CHECK_EQ(kmod_emit("submit ctx=%d count=%llu", cpu + 1, (unsigned long long)n + cpu), 0);
	}
	CHECK_EQ(kmod_write("control", "stop"), 0);
	for (cpu = 0; cpu < kmod_cpus(); cpu++) {
		CHECK_OK(overrun_accounted(cpu, n + cpu));
		snprintf(line, sizeof(line), "cpu%d", cpu);
		b = kmod_balance(line);
		sum += b.emitted;
		lost += b.fate[GRT_FATE_LOST];
	}
	CHECK_EQ(kmod_stat("total", "emitted"), sum);
	CHECK_EQ(kmod_stat("lost_events", NULL), lost);
	CHECK_EQ(kmod_stat("overruns", NULL), kmod_cpus());
}

/* Reads one packet, or what is left of one. */
static ssize_t read_one(int fd, struct capture *c)
{
	static char buf[1 << 20];
	ssize_t n = read(fd, buf, 4096 + 512);

	if (n > 0)
		capture_add(c, buf, n);
	return n < 0 ? -errno : n;
}

void smoke_overrun_reader(void)
{
	struct capture c = {.data = NULL};
	uint64_t lost;
	int fd, i, j;

	CHECK(kmod_pin(0));
	CHECK_OK(start_small());
	fd = kmod_open("events0", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	for (i = 0; i < 41; i++) {
		CHECK_EQ(kmod_emit("submit ctx=1 count=%d", 100 + 37 * i), 0);
		for (j = 0; j < i % 7; j++)
			read_one(fd, &c);
	}
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_fd(&c, fd), 0);
	close(fd);
	CHECK_OK(capture_valid(&c));
	lost = kmod_stat("total", "lost");
	CHECK(lost > 0 && kmod_stat("overruns", NULL) > 1);
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT) + lost, 41 * 100 + 37 * 40 * 41 / 2);
	CHECK_EQ(last_packet(&c)->end.fate[GRT_FATE_LOST], lost);
	CHECK_EQ(last_packet(&c)->end.emitted, kmod_stat("total", "emitted"));
	capture_free(&c);
}

void smoke_memory(void)
{
	CHECK(kmod_pin(0));
	CHECK_OK(start_small());
	CHECK_EQ(kmod_stat("cpu0", "used"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=10"), 0);
	CHECK(kmod_stat("cpu0", "used") > 640 && kmod_stat("cpu0", "used") < 1100);
	CHECK_EQ(kmod_emit("submit ctx=1 count=99991"), 0);
	CHECK_EQ(kmod_stat("cpu0", "used"), 65536);
	CHECK_EQ(kmod_stat("cpu0", "size"), 65536);
}

void smoke_read_again(void)
{
	struct capture c = {.data = NULL};
	char buf[4096];
	int fd;

	CHECK_EQ(kmod_config("flush_ms=0"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EAGAIN);
	CHECK_EQ(kmod_emit("submit ctx=1 count=3"), 0);
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EAGAIN); /* the packet is not finished */
	CHECK_EQ(kmod_write("control", "stop"), 0);
	CHECK_EQ(capture_fd(&c, fd), 0);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3);
	CHECK_EQ(read(fd, buf, sizeof(buf)), 0);
	CHECK_EQ(read(fd, buf, sizeof(buf)), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EAGAIN); /* the same reader goes on */
	close(fd);
	capture_free(&c);
}

/* A child that writes to a control file after a while; it exits 0 if that worked. */
static pid_t write_later(unsigned int ms, const char *file, const char *text)
{
	pid_t pid = fork();

	if (pid)
		return pid;
	sleep_ms(ms);
	_exit(kmod_write(file, text) ? 1 : 0);
}

static bool reaped(pid_t pid)
{
	int status;

	return waitpid(pid, &status, 0) == pid && !status;
}

/* A virtual machine on a busy machine may wake a reader as late as this. */
#define READ_LATE_MS 5000
#define READ_FLUSH_MS 100
#define READ_EMIT_MS 300

void smoke_read_blocks(void)
{
	struct capture c = {.data = NULL};
	uint64_t start, slept;
	pid_t pid;
	int fd;

	CHECK_EQ(kmod_config("flush_ms=60000"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY);
	CHECK(fd >= 0);
	CHECK_EQ(kmod_config("flush_ms=%d", READ_FLUSH_MS), 0); /* is in force at once */
	start = kmod_now();
	pid = write_later(READ_EMIT_MS, "emit", "submit ctx=1 count=3");
	CHECK(read_one(fd, &c) > 0);
	slept = kmod_now() - start;
	CHECK(reaped(pid));
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3);
	CHECK(slept >= READ_EMIT_MS * MS);
	/* twice the interval, and as much for a busy machine as a test must allow */
	CHECK(slept < (READ_EMIT_MS + 2 * READ_FLUSH_MS + READ_LATE_MS) * MS);
	capture_free(&c);
}

void smoke_read_flush(void)
{
	struct capture c = {.data = NULL};
	int fd, cpu;

	CHECK_EQ(kmod_config("flush_ms=0"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	for (cpu = 0; cpu < kmod_cpus(); cpu++) {
		CHECK(kmod_pin(cpu));
		CHECK_EQ(kmod_emit("submit ctx=1 count=3"), 0);
	}
	CHECK_EQ(kmod_write("control", "flush"), 0);
	CHECK_EQ(capture_fd(&c, fd), -EAGAIN);
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3 * kmod_cpus());
	capture_free(&c);
}

/* Return: 0 or a negative errno */
static int set_online(const char *online)
{
	int fd = open("/sys/devices/system/cpu/cpu1/online", O_WRONLY | O_CLOEXEC), err = 0;

	if (fd < 0)
		return -errno;
	if (write(fd, online, 1) != 1)
		err = -errno;
	close(fd);
	return err;
}

void smoke_read_flush_away(void)
{
	struct capture c = {.data = NULL};
	int fd, err;

	CHECK_EQ(kmod_config("flush_ms=0"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	if (!kmod_pin(1)) {
		close(fd);
		tap_skip("this machine has one CPU");
		return;
	}
	CHECK_EQ(kmod_emit("submit ctx=1 count=3"), 0);
	kmod_unpin();
	err = set_online("0");
	if (err) {
		close(fd);
		tap_skip("cpu1 cannot be taken offline: %s", strerror(-err));
		return;
	}
	err = kmod_write("control", "flush");
	CHECK_EQ(set_online("1"), 0);
	CHECK_EQ(err, 0);
	CHECK_EQ(capture_fd(&c, fd), -EAGAIN);
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3);
	capture_free(&c);
}

void smoke_read_stop(void)
{
	char buf[4096];
	pid_t pid;
	int fd;

	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY);
	CHECK(fd >= 0);
	pid = write_later(100, "control", "stop");
	CHECK_EQ(read(fd, buf, sizeof(buf)), 0);
	CHECK(reaped(pid));
	close(fd);
}

static void ignore_signal(int number)
{
	(void)number;
}

void smoke_read_signal(void)
{
	struct itimerval soon = {.it_value = {.tv_usec = 100000}};
	struct sigaction act = {.sa_handler = ignore_signal};
	char buf[4096];
	int fd;

	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY);
	CHECK(fd >= 0);
	sigaction(SIGALRM, &act, NULL);
	setitimer(ITIMER_REAL, &soon, NULL);
	CHECK(read(fd, buf, sizeof(buf)) < 0 && errno == EINTR);
	close(fd);
}

/* Fills several packets of CPU 0 and opens its stopped stream. */
static int open_filled(uint64_t *events)
{
	if (!kmod_pin(0) || !start_small() || kmod_emit("submit ctx=1 count=701") ||
	    kmod_write("control", "stop"))
		return -1;
	*events = kmod_balance("cpu0").fate[GRT_FATE_DELIVERED];
	return kmod_open("events0", O_RDONLY);
}

void smoke_read_whole(void)
{
	struct capture c = {.data = NULL};
	static char buf[65536];
	uint64_t events;
	size_t sizes[] = {4096, 8192 + 4095, 12288 + 1, sizeof(buf)};
	ssize_t n;
	unsigned int i;
	int fd = open_filled(&events);

	CHECK(fd >= 0);
	for (i = 0; (n = read(fd, buf, sizes[i % 4])) > 0; i++) {
		struct capture part = {.data = (uint8_t *)buf, .len = n};

		CHECK_OK(capture_valid(&part)); /* each read alone is a stream */
		capture_add(&c, buf, n);
	}
	CHECK_EQ(n, 0);
	CHECK(i > 3);
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, 0), events);
	capture_free(&c);
}

void smoke_read_small(void)
{
	struct capture c = {.data = NULL};
	uint64_t events;
	char buf[7];
	ssize_t n;
	int fd = open_filled(&events);

	CHECK(fd >= 0);
	while ((n = read(fd, buf, sizeof(buf))) > 0)
		capture_add(&c, buf, n);
	CHECK_EQ(n, 0);
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, 0), events);
	capture_free(&c);
}

void smoke_read_left(void)
{
	struct capture c = {.data = NULL};
	uint64_t events;
	char part[1001];
	int fd = open_filled(&events);

	CHECK(fd >= 0);
	CHECK_EQ(read(fd, part, sizeof(part)), sizeof(part));
	close(fd);
	CHECK_EQ(capture_file(&c, "events0"), 0);
	CHECK(c.len > sizeof(part) && !memcmp(c.data, part, sizeof(part)));
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, 0), events);
	capture_free(&c);
}

static int poll_now(int fd, int ms)
{
	struct pollfd p = {.fd = fd, .events = POLLIN};

	return poll(&p, 1, ms) < 0 ? -errno : p.revents;
}

void smoke_read_poll(void)
{
	struct capture c = {.data = NULL};
	uint64_t start;
	pid_t pid;
	int fd;

	CHECK_EQ(kmod_config("flush_ms=%d", READ_FLUSH_MS), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK_EQ(poll_now(fd, 3 * READ_FLUSH_MS), 0);
	start = kmod_now();
	pid = write_later(READ_EMIT_MS, "emit", "submit ctx=1 count=3");
	CHECK_EQ(poll_now(fd, 10000), POLLIN);
	CHECK(kmod_now() - start >= READ_EMIT_MS * MS);
	CHECK(kmod_now() - start < (READ_EMIT_MS + 2 * READ_FLUSH_MS + READ_LATE_MS) * MS);
	CHECK(reaped(pid));
	CHECK_EQ(capture_fd(&c, fd), -EAGAIN);
	CHECK_EQ(poll_now(fd, 0), 0);
	pid = write_later(100, "control", "stop");
	CHECK_EQ(poll_now(fd, 10000), POLLIN | POLLHUP);
	CHECK(reaped(pid));
	CHECK_EQ(capture_fd(&c, fd), 0);
	close(fd);
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 3);
	capture_free(&c);
}

void smoke_one_reader(void)
{
	int fd, other;

	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK_EQ(kmod_stat("reader_pid", NULL), getpid());
	CHECK_EQ(kmod_open("trace_pipe", O_RDONLY), -EBUSY);
	CHECK_EQ(kmod_open("events", O_RDONLY), -EBUSY);
	CHECK_EQ(kmod_open("events0", O_RDONLY), -EBUSY);
	CHECK_EQ(kmod_open("trace0", O_RDONLY), -EBUSY);
	close(fd);
	CHECK_EQ(kmod_stat("reader_pid", NULL), 0);
	fd = kmod_open("events0", O_RDONLY);
	CHECK(fd >= 0);
	CHECK_EQ(kmod_open("events0", O_RDONLY), -EBUSY);
	CHECK_EQ(kmod_open("trace_pipe", O_RDONLY), -EBUSY);
	CHECK_EQ(kmod_open("events", O_RDONLY), -EBUSY);
	other = kmod_cpus() > 1 ? kmod_open("events1", O_RDONLY) : dup(fd);
	CHECK(other >= 0); /* another CPU's stream is free */
	close(other);
	close(fd);
}

void smoke_clear_open(void)
{
	struct capture c = {.data = NULL};
	int fd;

	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=31"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY | O_NONBLOCK);
	CHECK(fd >= 0);
	CHECK_EQ(kmod_write("control", "clear"), -EBUSY);
	close(fd);
	CHECK_OK(capture_all(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 31);
	CHECK_OK(balance_is(31, GRT_FATE_DELIVERED, 0));
	capture_free(&c);
	CHECK_EQ(kmod_write("control", "start"), 0);
	CHECK_EQ(kmod_emit("submit ctx=1 count=31"), 0);
	CHECK_EQ(kmod_write("control", "clear"), 0); /* goes on running, from 0 */
	CHECK_EQ(kmod_emit("submit ctx=1 count=7"), 0);
	CHECK_OK(capture_all(&c));
	CHECK_EQ(capture_packet(&c, NULL)->packet_seq_num, 0);
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT), 7);
	capture_free(&c);
}

void smoke_trace_pipe(void)
{
	struct capture c = {.data = NULL};
	const struct grt_packet *p = NULL;
	uint64_t seen = 0;
	int cpu;

	CHECK_EQ(kmod_write("control", "start"), 0);
	for (cpu = 0; cpu < kmod_cpus(); cpu++) {
		CHECK(kmod_pin(cpu));
		CHECK_EQ(kmod_emit("submit ctx=%d seqno=1 count=%d", cpu + 1, 10 + cpu), 0);
	}
	CHECK_OK(capture_all(&c));
	while ((p = capture_packet(&c, p))) {
		const struct grt_event *e;
		unsigned int n = 0;

		for (e = capture_record(p, NULL); e; e = capture_record(p, e))
			n += e->type == GRT_EV_SUBMIT && e->ctx == p->cpu_id + 1;
		CHECK_EQ(n, 10 + p->cpu_id);
		seen++;
	}
	CHECK_EQ(seen, kmod_cpus());
	capture_free(&c);
}

#define RATE_ROUNDS 23
#define RATE_COUNT 997

/* Two processes per CPU, so that each is interrupted by another at any place. */
static pid_t spawn_fast(unsigned int i)
{
	pid_t pid = fork();
	unsigned int round;

	if (pid)
		return pid;
	kmod_pin(i / 2);
	for (round = 0; round < RATE_ROUNDS; round++)
		if (kmod_emit("submit ring=%u ctx=%u seqno=%u count=%d", i, i + 1, round * RATE_COUNT,
			      RATE_COUNT))
			_exit(1);
	_exit(0);
}

void smoke_full_rate(void)
{
	struct capture c = {.data = NULL};
	unsigned int i, n = 2 * kmod_cpus();
	uint64_t emitted = (uint64_t)n * RATE_ROUNDS * RATE_COUNT;
	pid_t stopper, pids[512];
	int fd;

	CHECK(n <= 512);
	CHECK_EQ(kmod_config("buffer_size=1048576"), 0);
	CHECK_EQ(kmod_write("control", "start"), 0);
	fd = kmod_open("trace_pipe", O_RDONLY);
	CHECK(fd >= 0);
	stopper = fork();
	if (!stopper) {
		bool good = true;

		for (i = 0; i < n; i++)
			pids[i] = spawn_fast(i);
		for (i = 0; i < n; i++)
			good &= reaped(pids[i]);
		_exit(kmod_write("control", "stop") || !good ? 1 : 0);
	}
	CHECK_EQ(capture_fd(&c, fd), 0); /* reads all the time, until the stop */
	CHECK(reaped(stopper));
	close(fd);
	CHECK_OK(capture_valid(&c));
	CHECK_EQ(capture_count(&c, GRT_EV_SUBMIT) + kmod_stat("total", "lost"), emitted);
	CHECK_EQ(capture_count(&c, 0), kmod_stat("total", "delivered"));
	tap_note("%llu events, %llu of them lost", (unsigned long long)emitted,
		 (unsigned long long)kmod_stat("total", "lost"));
	capture_free(&c);
}

void smoke_unload_open(void)
{
	int fd = kmod_open("events0", O_RDONLY), err;

	CHECK(fd >= 0);
	err = syscall(SYS_delete_module, "grtrace", O_NONBLOCK) ? errno : 0;
	close(fd);
	CHECK_EQ(err, EAGAIN);
	CHECK(!kmod_missing());
}
