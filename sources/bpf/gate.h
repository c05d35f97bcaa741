/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --duty: between windows, programs do only one load, of both words of the gate.
 *
 * The loader works at intervals, so it arms the gate some time before a window and disarms it some time after
 * it. Programs know the exact windows as well (trace/duty.h). What begins in a window (a job with its SUBMIT,
 * a call with its entry) is recorded up to its end, whenever that is. The gate has the number of such open
 * jobs and calls; while it is not 0, programs of ends look them up in their table.
 */
#ifndef GRTRACE_BPF_GATE_H
#define GRTRACE_BPF_GATE_H

#include "common.h"

struct grt_bpf_gate gate SEC(".data.gate") = {};

/*
 * An event gets its time after the look at the gate: at most this much later, unless an interrupt comes in
 * between.
 */
#define GATE_EARLY_NS 200000ULL

/* Return: whether nothing is recorded, and nothing from a window is open. */
static __always_inline int gate_is_shut(void)
{
	return config.duty.parts && !*(volatile __u64 *)&gate;
}

static __always_inline int gate_is_inside(__u64 now)
{
	const struct grt_duty d = {config.duty.parts, config.duty.window, config.duty.seed,
				   config.duty.epoch};
	__u64 begin = grt_duty_begin(&d, grt_duty_period(&d, now));

	return now >= begin && now - begin < d.window &&
	       begin < ((volatile struct grt_bpf_gate *)&gate)->until;
}

/* Return: whether something that begins now is outside of all windows. */
static __always_inline int gate_is_outside(void)
{
	__u64 now;

	if (!config.duty.parts)
		return 0;
	if (!((volatile struct grt_bpf_gate *)&gate)->armed)
		return 1;
	now = bpf_ktime_get_ns();
	return !gate_is_inside(now) && !gate_is_inside(now + GATE_EARLY_NS);
}

/* Something has begun in a window; of those that are open one has ended. */
static __always_inline void gate_opened(void)
{
	if (config.duty.parts)
		__sync_fetch_and_add(&gate.open, 1);
}

static __always_inline void gate_closed(void)
{
	if (config.duty.parts)
		__sync_fetch_and_add(&gate.open, -1);
}

#endif /* GRTRACE_BPF_GATE_H */
