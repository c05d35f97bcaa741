/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a BPF program at a frequency on every CPU; the thread that it interrupts is a sample. The clock is the
 * CPU's cycle counter if it works, else the kernel's clock.
 */
#ifndef GRTRACE_BPF_SAMPLES_H
#define GRTRACE_BPF_SAMPLES_H

#include <grtrace/grtrace.h>

struct sampled_cpu;
struct bpf_program;

/**
 * struct grt_bpf_samples - all bytes zero: no samples are taken
 * @frequency: samples per second of each CPU, 0: none
 * @clock: name of the clock for the user; NULL: not begun
 * @timer: the clock's row in the table
 * @prog: the program
 * @cpu: the CPUs, @cpus of them
 * @opener: socket of the process @opener_pid, which opens events of CPUs
 * @looked: when grt_bpf_samples_look() looked last, ns
 * @again: number of CPUs that appeared during the recording and are sampled
 * @refused: number of CPUs that appeared and cannot be sampled; @why: -errno
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
 * grt_bpf_samples_look - begins to sample CPUs that have appeared or returned since the last look; until
 * then, for at most 0.5 s, they are not sampled
 */
void grt_bpf_samples_look(struct grt_bpf_samples *s);

/**
 * grt_bpf_samples_text - describes the samples for the recording's environment: "cpu-clock 499 Hz"; "": there
 * are none
 */
void grt_bpf_samples_text(const struct grt_bpf_samples *s, char *text, size_t room);

/** grt_bpf_samples_detach - ends sampling, and frees everything */
void grt_bpf_samples_detach(struct grt_bpf_samples *s);

#endif /* GRTRACE_BPF_SAMPLES_H */
