/* SPDX-License-Identifier: GPL-2.0 */
/*
 * hrtimer_setup() of 6.14; before it the function was set after hrtimer_init().
 */
#ifndef GRTRACE_COMPAT_HRTIMER_H
#define GRTRACE_COMPAT_HRTIMER_H

#include <linux/hrtimer.h>

#include "compat/switches.h"

static inline void grtrace_hrtimer_setup(struct hrtimer *timer, enum hrtimer_restart (*fn)(struct hrtimer *),
					 clockid_t clock, enum hrtimer_mode mode)
{
#if GRTRACE_HAS_HRTIMER_SETUP
	hrtimer_setup(timer, fn, clock, mode);
#else
	hrtimer_init(timer, clock, mode);
	timer->function = fn;
#endif
}

#endif /* GRTRACE_COMPAT_HRTIMER_H */
