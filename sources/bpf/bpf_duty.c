// SPDX-License-Identifier: GPL-2.0
/* Arms and disarms the gate, see bpf_duty.h. */
#include "bpf_duty.h"

#include <errno.h>

#include "base/clock.h"

/* We come by every 50 ms, and later where the machine is busy. */
#define DUTY_AHEAD_NS 250000000ULL

/* A window is settled this long after its end: its last events have been read by then. */
#define DUTY_SETTLE_NS 10000000ULL

/* A window that begins sooner than this is not announced any more: its first events might be missed. */
#define DUTY_ARM_NS 5000000ULL

static int duty_put(const struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t time,
		    struct grt_ev_window *e)
{
	int ret;

	e->e = (struct grt_event){.time = time,
				  .type = GRT_EV_WINDOW,
				  .size = sizeof(*e),
				  .flags = GRT_FLAG_BPF,
				  .ring = GRT_RING_NONE};
	e->parts = (uint32_t)duty->d.parts;
	e->of = duty->of;
	ret = grt_packer_add(p, 0, &e->e);
	return ret == -ERANGE ? 0 : ret;
}

/* Writes a CAPTURE record for the whole time. */
static int duty_mark(const struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t time, uint16_t what)
{
	struct grt_ev_window e = {.begin = time, .end = time, .what = what};

	return duty_put(duty, p, time, &e);
}

static struct grt_ev_window duty_window(const struct grt_bpf_duty *duty, uint64_t period, uint16_t what)
{
	uint64_t begin = grt_duty_begin(&duty->d, period);

	return (struct grt_ev_window){
		.begin = begin, .end = begin + duty->d.window, .number = (uint32_t)period + 1, .what = what};
}

static void duty_arm(struct grt_bpf_duty *duty, bool on)
{
	__atomic_store_n(&duty->gate->armed, on, __ATOMIC_SEQ_CST);
}

/*
 * Writes records of the next windows before they begin: the programs record those only. On a busy machine we
 * may come too late for a window; it is missed, and no other one is announced before its end, because until
 * then the programs would take the rest of it for a window.
 */
static int duty_announce(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t now)
{
	struct grt_ev_window e;
	int ret = 0;

	for (; !ret; duty->told++) {
		e = duty_window(duty, duty->told, GRT_WINDOW_TO_COME);
		if (e.begin >= now + DUTY_AHEAD_NS)
			break;
		if (e.begin < grt_now() + DUTY_ARM_NS) {
			if (duty->done != duty->told || e.end > grt_now())
				break;
			duty->done++;
			duty->missed++;
			continue;
		}
		ret = duty_put(duty, p, now, &e);
		duty_arm(duty, true);
		__atomic_store_n(&duty->gate->until, e.begin + 1, __ATOMIC_SEQ_CST);
	}
	return ret;
}

static int duty_settle(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t now, uint64_t lost)
{
	struct grt_ev_window e = duty_window(duty, duty->done, GRT_WINDOW_OVER);

	duty->done++;
	duty->whole++;
	e.lost = lost - duty->lost;
	duty->lost = lost;
	return duty_put(duty, p, now, &e);
}

int grt_bpf_duty_begin(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t from)
{
	if (!duty->gate)
		return 0;
	duty->told = duty->done = grt_duty_period(&duty->d, from);
	if (grt_duty_begin(&duty->d, duty->told) < from)
		duty->told = ++duty->done;
	return duty_mark(duty, p, from, GRT_WINDOW_TO_COME) ?: duty_announce(duty, p, grt_now());
}

int grt_bpf_duty_look(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t now, uint64_t lost)
{
	int ret = 0;

	if (!duty->gate)
		return 0;
	/* an event of it may come to be read a little later */
	while (!ret && duty->done < duty->told &&
	       grt_duty_begin(&duty->d, duty->done) + duty->d.window + DUTY_SETTLE_NS < now)
		ret = duty_settle(duty, p, now, lost);
	if (duty->done == duty->told)
		duty_arm(duty, false);
	return ret ?: duty_announce(duty, p, now);
}

int grt_bpf_duty_end(struct grt_bpf_duty *duty, struct grt_packer *p, uint64_t to, uint64_t lost)
{
	int ret = 0;

	if (!duty->gate)
		return 0;
	while (!ret && duty->done < duty->told && grt_duty_begin(&duty->d, duty->done) + duty->d.window <= to)
		ret = duty_settle(duty, p, to, lost);
	duty_arm(duty, false);
	return ret ?: duty_mark(duty, p, to, GRT_WINDOW_OVER);
}
