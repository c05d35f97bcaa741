/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a BPF program at a frequency, on every CPU: what it finds running is a
 * sample. The clock is the CPU's cycle counter where it has one that counts,
 * else the kernel's clock.
 */
#ifndef GRTRACE_BPF_SAMPLES_H
#define GRTRACE_BPF_SAMPLES_H

#include <grtrace/grtrace.h>

struct sampled_cpu;
struct bpf_program;

/**
 * struct grt_bpf_samples - all zero takes none
 * @frequency: Hz of each CPU, 0: none are taken
 * @clock: what gives the time, for people; NULL: not begun
 * @timer: what it is of, a row of its file
 * @prog: what is run
 * @cpu: of which there are @cpus
 * @opener: of a process that opens the events of CPUs, @opener_pid
 * @looked: when grt_bpf_samples_look() looked last, ns
 * @again: times that a CPU came while samples were taken, and was begun with
 * @refused: the same, and could not be begun with; @why: -errno
 */
struct grt_bpf_samples {
	unsigned int frequency;
	const char *clock;
	const void *timer;
	struct bpf_program *prog;
	struct sampled_cpu *cpu;
	unsigned int cpus;
	int opener;
	int opener_pid;
	uint64_t looked;
	unsigned int again;
	unsigned int refused;
	int why;
};

/** grt_bpf_samples_attach - begins. Return: 0, or -errno with *err set */
int grt_bpf_samples_attach(struct grt_bpf_samples *s, struct bpf_program *prog, struct grt_err *err);

/**
 * grt_bpf_samples_look - begins with CPUs that have come, or have been away and are back: until then nothing
 * was sampled of them, at most a look's distance long (0.5 s)
 */
void grt_bpf_samples_look(struct grt_bpf_samples *s);

/** grt_bpf_samples_text - says how, for the recording's environment: "cpu-clock 499 Hz"; "": there are none
 */
void grt_bpf_samples_text(const struct grt_bpf_samples *s, char *text, size_t room);

/** grt_bpf_samples_detach - ends it, and frees */
void grt_bpf_samples_detach(struct grt_bpf_samples *s);

#endif /* GRTRACE_BPF_SAMPLES_H */
