/* SPDX-License-Identifier: GPL-2.0 */
/*
 * record --duty: what programs do between windows is one load, of both words of the gate.
 *
 * The loader arms the gate some time before a window, and disarms it behind it, since it comes to that only
 * now and then; where windows are, the programs know as well as it does (trace/duty.h). What begins in a
 * window (a job with its SUBMIT, a call with its entry) is recorded to its end, whenever that is: so many are
 * open, and while there are some, programs of ends look into the table of them.
 */
#ifndef GRTRACE_BPF_GATE_H
#define GRTRACE_BPF_GATE_H

#include "common.h"

struct grt_bpf_gate gate SEC(".data.gate") = {};

/* An event's stamp is taken behind the look at the gate: within this, unless an interrupt comes in between.
 */
#define GATE_EARLY_NS 200000ULL

/* Nothing is recorded, and nothing of a window is open. */
static __always_inline int gate_is_shut(void)
{
	return config.duty.parts && !*(volatile __u64 *)&gate;
}

static __always_inline int gate_is_inside(__u64 now)
{
	const struct grt_duty d = {config.duty.parts, config.duty.window, config.duty.seed,
				   config.duty.epoch};
	__u64 begin = grt_duty_begin(&d, grt_duty_period(&d, now));

	return now >= begin && now - begin < d.window;
}

/* For what begins: whether it is outside of all windows. */
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
