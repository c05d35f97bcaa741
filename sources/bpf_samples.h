/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Runs a BPF program at a frequency, on every CPU: what it finds running is a
 * sample. The clock is the CPU's cycle counter where it has one that counts,
 * else the kernel's clock.
 */
#ifndef GRTRACE_BPF_SAMPLES_H
#define GRTRACE_BPF_SAMPLES_H

#include <grtrace/grtrace.h>

struct bpf_link;
struct bpf_program;

/**
 * struct bpf_samples - all zero takes none
 * @frequency: Hz of each CPU, 0: none are taken
 * @clock: what gives the time, for people; NULL: not begun
 * @link: one per CPU
 */
struct bpf_samples {
	unsigned int frequency;
	const char *clock;
	struct bpf_link **link;
	unsigned int links;
};

/** bpf_samples_attach - begins. Return: 0, or -errno with *err set */
int bpf_samples_attach(struct bpf_samples *s, struct bpf_program *prog, struct grt_err *err);

/** bpf_samples_text - says how, for the recording's environment: "cpu-clock 499 Hz"; "": there are none */
void bpf_samples_text(const struct bpf_samples *s, char *text, size_t room);

/** bpf_samples_detach - ends it, and frees */
void bpf_samples_detach(struct bpf_samples *s);

#endif /* GRTRACE_BPF_SAMPLES_H */
