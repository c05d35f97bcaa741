// SPDX-License-Identifier: GPL-2.0
/*
 * One perf event per CPU, see bpf_samples.h.
 */
#include "bpf_samples.h"

#ifdef GRT_HAVE_BPF

#include <bpf/libbpf.h>
#include <errno.h>
#include <linux/perf_event.h>
#include <stdlib.h>
#include <string.h>
#include <sys/syscall.h>
#include <unistd.h>

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

static int open_timer(const struct timer *t, unsigned int frequency, int cpu)
{
	struct perf_event_attr attr = {
		.type = t->type,
		.size = sizeof(attr),
		.config = t->config,
		.freq = 1,
		.sample_freq = frequency,
	};

	return (int)syscall(SYS_perf_event_open, &attr, -1, cpu, -1, PERF_FLAG_FD_CLOEXEC);
}

/* A counter that can be opened for one CPU serves all. */
static const struct timer *choose(unsigned int frequency)
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

/* Return: 0, also for a CPU that is not there now, or -errno */
static int attach_cpu(struct bpf_samples *s, const struct timer *t, struct bpf_program *prog, int cpu)
{
	int fd = open_timer(t, s->frequency, cpu), code;

	if (fd < 0)
		return errno == ENODEV || errno == ENXIO ? 0 : -errno;
	s->link[s->links] = bpf_program__attach_perf_event(prog, fd);
	code = errno;
	if (s->link[s->links]) {
		s->links++;
		return 0;
	}
	close(fd);
	return -code;
}

int bpf_samples_attach(struct bpf_samples *s, struct bpf_program *prog, struct grt_err *err)
{
	int cpus = libbpf_num_possible_cpus(), ret = 0;
	const struct timer *t;

	if (!s->frequency)
		return 0;
	t = choose(s->frequency);
	s->link = cpus > 0 ? calloc((size_t)cpus, sizeof(*s->link)) : NULL;
	if (!s->link)
		return grt_err_set(err, -ENOMEM, NULL, NULL, "no memory for samples");
	for (int cpu = 0; cpu < cpus && !ret; cpu++)
		ret = attach_cpu(s, t, prog, cpu);
	if (!ret) {
		s->clock = t->name;
		return 0;
	}
	return grt_err_set(err, ret, ret == -EINVAL ? "more than perf_event_max_sample_rate" : strerror(-ret),
			   ret == -EINVAL ? "cat /proc/sys/kernel/perf_event_max_sample_rate"
					  : "--frequency 0, which takes none",
			   "cannot take %u samples a second", s->frequency);
}

void bpf_samples_text(const struct bpf_samples *s, char *text, size_t room)
{
	text[0] = '\0';
	if (s->clock)
		snprintf(text, room, "%s %u Hz", s->clock, s->frequency);
}

void bpf_samples_detach(struct bpf_samples *s)
{
	for (unsigned int i = 0; i < s->links; i++)
		bpf_link__destroy(s->link[i]);
	free(s->link);
	s->link = NULL;
	s->links = 0;
}

#endif /* GRT_HAVE_BPF */
