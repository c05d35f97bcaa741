/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Random windows (record --duty): arms the gate of the programs before each window (gate.h), disarms it after
 * the window, and writes WINDOW records: one before a window, and one when it was recorded completely.
 */
#ifndef GRTRACE_BPF_DUTY_H
#define GRTRACE_BPF_DUTY_H

#include <grtrace/event.h>

#include "shared.h"
#include "trace/packer.h"

/**
 * struct grt_bpf_duty - all bytes zero: there are no windows
 * @d: the windows
 * @gate: gate of the programs, in their memory
 * @of: GRT_WINDOW_*
 * @told: periods before this one have the record before their window; @done: those before this one also have
 *	the record after it
 * @whole, @missed: windows that were recorded, and those for which the loader came too late
 * @lost: events lost when the last record was written
 */
struct grt_bpf_duty {
	struct grt_duty d;
	struct grt_bpf_gate *gate;
	uint16_t of;
	uint64_t told;
	uint64_t done;
	uint64_t whole;
	uint64_t missed;
	uint64_t lost;
};

/** grt_bpf_duty_begin - the recording begins at @from, ns. Return: 0 or -ENOMEM */
int grt_bpf_duty_begin(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t from);

/**
 * grt_bpf_duty_look - to be called often: what is to be done by now, ns; events of before are in @p
 * @lost: events of the source so far
 * Return: 0 or -ENOMEM
 */
int grt_bpf_duty_look(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t now, uint64_t lost);

/** grt_bpf_duty_end - the recording ends at @to, ns: nothing begins any more. Return: 0 or -ENOMEM */
int grt_bpf_duty_end(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t to, uint64_t lost);

#endif /* GRTRACE_BPF_DUTY_H */
