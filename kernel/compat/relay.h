/* SPDX-License-Identifier: GPL-2.0 */
/*
 * relay's subbuf_start callback lost its prev_padding argument between 6.14
 * and 6.17. The type of the member decides, so that a backport is seen too.
 * Can go when 6.12 is no longer supported.
 */
#ifndef GRTRACE_COMPAT_RELAY_H
#define GRTRACE_COMPAT_RELAY_H

#include <linux/relay.h>

typedef int (*grtrace_subbuf_start4)(struct rchan_buf *, void *, void *, size_t);

/* Picks the one of two functions that fits struct rchan_callbacks. */
#define grtrace_relay_subbuf_start(with_padding, without)                             \
	__builtin_choose_expr(__same_type(((struct rchan_callbacks *)0)->subbuf_start, \
					  (grtrace_subbuf_start4)0),                   \
			      with_padding, without)

#endif /* GRTRACE_COMPAT_RELAY_H */
