/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Buffer objects as drivers report them. opaque() makes the numbers of objects and address spaces; the device
 * is the DRM device's number.
 */
#ifndef GRTRACE_BPF_MEMORY_H
#define GRTRACE_BPF_MEMORY_H

#include "common.h"

/* MEM_CREATE.placed: it has no place yet */
#define MEM_NOWHERE 0xffffffffU

static __always_inline __u32 drm_index(struct drm_device *drm)
{
	return BPF_CORE_READ(drm, primary, index);
}

/*
 * Reserves room for a MEM_* event of the running thread; NULL: not wanted, or no room, which has been
 * counted.
 */
#define MEM_EVENT(name)                                                                                     \
	static __always_inline struct out_comm_##name *take_##name(struct grt_bpf_counts **c, __u64 object, \
								   __u32 device)                            \
	{                                                                                                   \
		struct out_comm_##name *at;                                                                 \
		__u64 pid_tgid;                                                                             \
		__u32 cpu;                                                                                  \
                                                                                                            \
		*c = my_counts_if_wanted(&cpu, &pid_tgid);                                                  \
		at = *c ? begin_comm_##name(*c, cpu, pid_tgid) : 0;                                         \
		if (!at)                                                                                    \
			return 0;                                                                           \
		at->ev.e.device = device;                                                                   \
		at->ev.object = opaque(object);                                                             \
		return at;                                                                                  \
	}

MEM_EVENT(mem_create)
MEM_EVENT(mem_destroy)
MEM_EVENT(mem_move)
MEM_EVENT(mem_bind)
MEM_EVENT(mem_unbind)
MEM_EVENT(mem_fault)

#endif /* GRTRACE_BPF_MEMORY_H */
