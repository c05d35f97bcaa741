/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What the events of NVIDIA's channel groups have in common, for who takes them
 * all alike. The fields are those of GRT_TSG_FIELDS in events.def.
 */
#ifndef GRTRACE_TSG_H
#define GRTRACE_TSG_H

#include "event.h"

/** struct grt_tsg_event - the part that all TSG_* events begin with */
struct grt_tsg_event {
	struct grt_event e;
	__u32 client;
	__u32 tsg;
	__u32 bus;
	__u32 grp;
	__u32 runlist;
	__u32 nv_engine;
};

#define GRT_TSG_BEGINS(name)                                                                \
	_Static_assert(__builtin_offsetof(struct grt_ev_##name, client) ==                  \
				       __builtin_offsetof(struct grt_tsg_event, client) &&  \
			       __builtin_offsetof(struct grt_ev_##name, nv_engine) ==       \
				       __builtin_offsetof(struct grt_tsg_event, nv_engine), \
		       #name)
GRT_TSG_BEGINS(tsg_init);
GRT_TSG_BEGINS(tsg_schedule);
GRT_TSG_BEGINS(tsg_token);
GRT_TSG_BEGINS(tsg_channel);
GRT_TSG_BEGINS(tsg_set);
GRT_TSG_BEGINS(tsg_destroy);
#undef GRT_TSG_BEGINS

#endif /* GRTRACE_TSG_H */
