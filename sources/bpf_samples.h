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
 * struct bpf_samples - all zero takes none
 * @frequency: Hz of each CPU, 0: none are taken
 * @clock: what gives the time, for people; NULL: not begun
 * @timer: what it is of, a row of its file
 * @prog: what is run
 * @cpu: of which there are @cpus
 * @opener: of a process that opens the events of CPUs, @opener_pid
 * @looked: when bpf_samples_look() looked last, ns
 * @again: times that a CPU came while samples were taken, and was begun with
 * @refused: the same, and could not be begun with; @why: -errno
 */
struct bpf_samples {
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

/** bpf_samples_attach - begins. Return: 0, or -errno with *err set */
int bpf_samples_attach(struct bpf_samples *s, struct bpf_program *prog, struct grt_err *err);

/**
 * bpf_samples_look - begins with CPUs that have come, or have been away and are back: until then nothing
 * was sampled of them, at most a look's distance long (0.5 s)
 */
void bpf_samples_look(struct bpf_samples *s);

/** bpf_samples_text - says how, for the recording's environment: "cpu-clock 499 Hz"; "": there are none */
void bpf_samples_text(const struct bpf_samples *s, char *text, size_t room);

/** bpf_samples_detach - ends it, and frees */
void bpf_samples_detach(struct bpf_samples *s);

#endif /* GRTRACE_BPF_SAMPLES_H */
