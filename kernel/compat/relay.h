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
typedef int (*grtrace_subbuf_start3)(struct rchan_buf *, void *, void *);

/* Picks the one of two functions that fits struct rchan_callbacks. */
#define grtrace_relay_subbuf_start(with_padding, without)                \
	_Generic(((struct rchan_callbacks *)NULL)->subbuf_start,         \
		 grtrace_subbuf_start4: (with_padding), grtrace_subbuf_start3: (without))

#endif /* GRTRACE_COMPAT_RELAY_H */
