// SPDX-License-Identifier: GPL-2.0
/* Opens a perf event for each CPU, see bpf_samples.h. */
#include "bpf_samples.h"

#ifdef GRT_HAVE_BPF

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/capability.h>
#include <linux/perf_event.h>
#include <signal.h>
#include <stdlib.h>
#include <string.h>
#include <sys/socket.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>

#include "host/privileges.h"
#include "base/clock.h"
#include "base/say.h"

/* In the order of preference. */
static const struct timer {
	const char *name;
	uint32_t type;
	uint64_t config;
} timers[] = {
	{"cycles", PERF_TYPE_HARDWARE, PERF_COUNT_HW_CPU_CYCLES},
	{"cpu-clock", PERF_TYPE_SOFTWARE, PERF_COUNT_SW_CPU_CLOCK},
};
#define TIMERS (sizeof(timers) / sizeof(timers[0]))

/* How often to look for new CPUs. */
#define LOOK_NS (GRT_NS_PER_S / 2)

/**
 * struct sampled_cpu - a CPU that exists, or may appear
 * @link: NULL: it is not sampled
 * @event: the perf event, which the link owns
 * @counted: how long the event had run on the CPU at the last look, ns
 */
struct sampled_cpu {
	struct bpf_link *link;
	int event;
	uint64_t counted;
};

static int open_timer(const struct timer *t, unsigned int frequency, int cpu)
{
	struct perf_event_attr attr = {
		.type = t->type,
		.size = sizeof(attr),
		.config = t->config,
		.read_format = PERF_FORMAT_TOTAL_TIME_ENABLED,
		.freq = 1,
		.sample_freq = frequency,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* ------------------------------------------------------------- opener */

/** union rights - room for a descriptor on its way between processes */
union rights {
	struct cmsghdr head;
	char room[CMSG_SPACE(sizeof(int))];
};

/* @fd: -1: none, and @code has the reason. Return: 0, or -1: the other process has ended */
static int send_descriptor(int socket, int fd, int code)
{
	struct iovec part = {&code, sizeof(code)};
	union rights rights = {.room = ""};
	struct msghdr m = {.msg_iov = &part, .msg_iovlen = 1};

	if (fd >= 0) {
		m.msg_control = &rights;
		m.msg_controllen = sizeof(rights.room);
		rights.head = (struct cmsghdr){
			.cmsg_len = CMSG_LEN(sizeof(fd)), .cmsg_level = SOL_SOCKET, .cmsg_type = SCM_RIGHTS};
		memcpy(CMSG_DATA(&rights.head), &fd, sizeof(fd));
	}
	return sendmsg(socket, &m, MSG_NOSIGNAL) == sizeof(code) ? 0 : -1;
}

/* Return: 0 with a descriptor in *@fd, or an errno */
static int receive_descriptor(int socket, int *fd)
{
	int code = 0;
	struct iovec part = {&code, sizeof(code)};
	union rights rights = {.room = ""};
	struct msghdr m = {.msg_iov = &part,
			   .msg_iovlen = 1,
			   .msg_control = &rights,
			   .msg_controllen = sizeof(rights.room)};
	ssize_t n;

	do
		n = recvmsg(socket, &m, MSG_CMSG_CLOEXEC);
	while (n < 0 && errno == EINTR);
	if (n != sizeof(code))
		return EPIPE;
	if (!code && !CMSG_FIRSTHDR(&m))
		return EMFILE;
	if (!code)
		memcpy(fd, CMSG_DATA(&rights.head), sizeof(*fd));
	return code;
}

static void stop_opener(struct grt_bpf_samples *s)
{
	if (s->opener >= 0)
		close(s->opener);
	s->opener = -1;
	while (s->opener_pid > 0 && waitpid(s->opener_pid, NULL, 0) < 0 && errno == EINTR)
		;
	s->opener_pid = 0;
}

/*
 * The recorder drops its privileges, and a kernel may require CAP_SYS_ADMIN for an event of a CPU. So a
 * separate process opens events for CPUs that appear: it receives a CPU's number, and sends a descriptor or
 * an errno.
 */
static void serve(const struct timer *t, unsigned int frequency)
{
	int cpu, fd, code;

	while (read(STDIN_FILENO, &cpu, sizeof(cpu)) == sizeof(cpu)) {
		fd = open_timer(t, frequency, cpu);
		code = fd < 0 ? errno : 0;
		if (send_descriptor(STDIN_FILENO, fd, code))
			return;
		if (fd >= 0)
			close(fd);
	}
}

static void be_opener(int socket, const struct timer *t, unsigned int frequency)
{
	/* it ends with the process at the other end */
	signal(SIGINT, SIG_IGN);
	signal(SIGTERM, SIG_IGN);
	signal(SIGHUP, SIG_IGN);
	if (dup2(socket, STDIN_FILENO) == STDIN_FILENO && !syscall(SYS_close_range, 1U, ~0U, 0U)) {
		capabilities_drop(1ULL << CAP_SYS_ADMIN | 1ULL << CAP_PERFMON);
		serve(t, frequency);
	}
	_exit(0);
}

/* Without such a process, events for new CPUs are opened if that is allowed. */
static void start_opener(struct grt_bpf_samples *s)
{
	int ends[2];

	s->opener = -1;
	if (socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends))
		return;
	s->opener_pid = fork();
	if (!s->opener_pid)
		be_opener(ends[1], s->timer, s->frequency);
	close(ends[1]);
	s->opener = ends[0];
	if (s->opener_pid < 0)
		stop_opener(s);
}

/* Return: the event's descriptor, or -1 with errno set */
static int open_cpu(const struct grt_bpf_samples *s, int cpu)
{
	int fd = -1, code;

	if (s->opener < 0)
		return open_timer(s->timer, s->frequency, cpu);
	if (write(s->opener, &cpu, sizeof(cpu)) != sizeof(cpu))
		return -1;
	code = receive_descriptor(s->opener, &fd);
	errno = code;
	return code ? -1 : fd;
}

/* ------------------------------------------------------------- CPUs */

/* A counter that can be opened for one CPU works for all. */
static const struct timer *grt_bpf_samples_choose(unsigned int frequency)
{
	const struct timer *t = timers;
	int fd;

	for (; t < timers + TIMERS - 1; t++) {
		fd = open_timer(t, frequency, 0);
		if (fd >= 0)
			close(fd);
		if (fd >= 0)
			break;
	}
	return t;
}

/* Return: 1, 0 for a CPU that is not there now, or -errno */
static int attach_cpu(struct grt_bpf_samples *s, unsigned int cpu)
{
	int fd = open_cpu(s, (int)cpu), code;

	if (fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;
	s->cpu[cpu] = (struct sampled_cpu){.link = bpf_program__attach_perf_event(s->prog, fd), .event = fd};
	code = errno;
	if (s->cpu[cpu].link)
		return 1;
	close(fd);
	return -code;
}

int grt_bpf_samples_attach(struct grt_bpf_samples *s, struct bpf_program *prog, struct grt_err *err)
{
	int cpus = libbpf_num_possible_cpus(), ret = 0;
	const struct timer *t;

	if (!s->frequency)
		return 0;
	t = grt_bpf_samples_choose(s->frequency);
	s->cpu = cpus > 0 ? calloc((size_t)cpus, sizeof(*s->cpu)) : NULL;
	if (!s->cpu)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for samples");
	s->cpus = (unsigned int)cpus;
	s->timer = t;
	s->prog = prog;
	start_opener(s);
	for (unsigned int cpu = 0; cpu < s->cpus && ret >= 0; cpu++)
		ret = attach_cpu(s, cpu);
	s->looked = grt_now();
	if (ret >= 0) {
		s->clock = t->name;
		return 0;
	}
	return grt_err_set(err, ret, ret == -EINVAL ? "more than perf_event_max_sample_rate" : strerror(-ret),
			   ret == -EINVAL ? "cat /proc/sys/kernel/perf_event_max_sample_rate"
					  : "--frequency 0, which records no samples",
			   "cannot record %u {sample|samples} a second", s->frequency);
}

/* When a CPU goes offline, the kernel removes its events for good and reports nothing: their time stops. */
static bool is_over(struct sampled_cpu *c)
{
	uint64_t now[2] = {0}, before = c->counted;

	if (read(c->event, now, sizeof(now)) != sizeof(now))
		return true;
	c->counted = now[1];
	return c->counted == before;
}

static void grt_bpf_samples_look_at(struct grt_bpf_samples *s, unsigned int cpu)
{
	struct sampled_cpu *c = &s->cpu[cpu];
	int ret;

	if (c->link && !is_over(c))
		return;
	bpf_link__destroy(c->link);
	c->link = NULL;
	ret = attach_cpu(s, cpu);
	s->again += ret > 0;
	s->refused += ret < 0;
	s->why = ret < 0 ? ret : s->why;
}

void grt_bpf_samples_look(struct grt_bpf_samples *s)
{
	uint64_t now = s->cpu ? grt_now() : 0;

	if (!s->cpu || now - s->looked < LOOK_NS)
		return;
	s->looked = now;
	for (unsigned int cpu = 0; cpu < s->cpus; cpu++)
		grt_bpf_samples_look_at(s, cpu);
}

void grt_bpf_samples_text(const struct grt_bpf_samples *s, char *text, size_t room)
{
	int used = 0;

	text[0] = '\0';
	if (s->clock)
		used = snprintf(text, room, "%s %u Hz", s->clock, s->frequency);
	if (s->again)
		used += grt_say_text(
			text + used, room - (size_t)used,
			", %u {time|times} a CPU came online, with up to 0.5 s before its first sample",
			s->again);
	if (s->refused)
		snprintf(text + used, room - (size_t)used, ", without those of a CPU that came online: %s",
			 strerror(-s->why));
}

void grt_bpf_samples_detach(struct grt_bpf_samples *s)
{
	for (unsigned int i = 0; i < s->cpus; i++)
		bpf_link__destroy(s->cpu[i].link);
	if (s->cpu)
		stop_opener(s);
	free(s->cpu);
	s->cpu = NULL;
	s->cpus = 0;
}

#endif /* GRT_HAVE_BPF */
