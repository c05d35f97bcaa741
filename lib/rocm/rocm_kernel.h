/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The kernel's side of rocm.h: functions, and the creation of queues.
 */
#ifndef GRT_ROCM_ROCM_KERNEL_H
#define GRT_ROCM_ROCM_KERNEL_H

#include "rocm.h"

/** grt_rocm_take_func - processes a function or event of the kernel. Return: 0 or -ENOMEM */
int grt_rocm_take_func(struct grt_rocm *r, const struct grt_ev_func *x);

/** grt_rocm_stamp - the stamp of an event, GRT_ROCM_UNKNOWN: its line had none */
static inline uint64_t grt_rocm_stamp(const struct grt_event *e)
{
	return e->flags & GRT_FLAG_UNTIMED ? GRT_ROCM_UNKNOWN : e->time;
}

/** grt_rocm_add_time, grt_rocm_hash - shared by the parts; of a stamp that is unknown
 * follows no duration, and none is added */
void grt_rocm_add_time(struct grt_rocm_times *t, uint64_t ns);
uint64_t grt_rocm_hash(const char *name, size_t room);

/** grt_rocm_row - a row of a table of what is counted; NULL when it is full, which is counted, or without
 * memory (@ret) */
void *grt_rocm_row(struct grt_rocm *r, struct grt_keyed *table, const struct grt_key *key, int *ret);

/** grt_rocm_state - the same of what is under way, where the oldest gives way */
void *grt_rocm_state(struct grt_keyed *table, const struct grt_key *key, int *ret);

/** grt_rocm_enter, grt_rocm_leave - a call or function that a thread is in, nested. @took: how long ago it
 * was entered, GRT_ROCM_UNKNOWN. Return: 0 or -ENOMEM; it had been entered */
int grt_rocm_enter(struct grt_rocm *r, const struct grt_key *key, uint64_t time);
bool grt_rocm_leave(struct grt_rocm *r, const struct grt_key *key, uint64_t time, uint64_t *took);

#endif /* GRT_ROCM_ROCM_KERNEL_H */
