/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * One event as it is in a packet: a common part of 48 bytes and a payload
 * by type. Used by kernel modules, BPF programs and user code alike.
 *
 * Everything is little-endian and naturally aligned; a record's size is a
 * multiple of 8, so records follow each other without padding.
 */
#ifndef GRTRACE_EVENT_H
#define GRTRACE_EVENT_H

#ifdef __KERNEL__
#include <linux/types.h>
#include <linux/build_bug.h>
#elif !defined(__VMLINUX_H__)
#include <linux/types.h>
#endif

#ifdef __cplusplus
#define _Static_assert static_assert
#endif

/** enum grt_event_type - the event ids of events.def */
enum grt_event_type {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) GRT_EV_##NAME = (id),
#include "events.def"
#undef GRT_EVENT
	GRT_EV_MAX = 1024, /* ids are below; a power of two */
};

/* Each provider has this many numbers for its events. */
#define GRT_EVENTS_RANGE 64
/* The rows that are older than ranges have numbers of the first one; of these, the core's new rows may have
 * the rest. */
#define GRT_EVENT_IS_OLD(id) ((id) < GRT_EVENTS_RANGE && (id) != 36 && (id) != 38 && (id) != 39)

/** enum grt_event_place - the events without gaps, in the order of their rows: for tables that are short of
 * room */
enum grt_event_place {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) GRT_EVENT_PLACE_##NAME,
#include "events.def"
#undef GRT_EVENT
	GRT_EVENTS,
};

/* A number that is given twice is an enumerator that is defined twice. */
enum {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) GRT_EVENT_NUMBER_##id,
#include "events.def"
#undef GRT_EVENT
};

/** enum grt_trait - what is special about the events of a type, see GRT_TRAITS in events.def */
enum grt_trait {
	GRT_TRAIT_DEFINING = 1, /* written once, when it is first needed; events of any time refer to it */
	GRT_TRAIT_LATE = 2,	/* written when it was over, and of the GPU's work long after */
	GRT_TRAIT_COUNTED = 4,	/* the programs that make these events count them, too */
	GRT_TRAIT_OF_IMAGE = 8, /* its ctx is the number of a process image and not a job's */
	GRT_TRAIT_LASTING = 16, /* what it did lasts: what holds at a time depends on those before */
};

/** enum grt_engine - the engine numbers of engines.def */
enum grt_engine {
#define GRT_ENGINE(number, NAME, name, help) GRT_ENGINE_##NAME = (number),
#include "engines.def"
#undef GRT_ENGINE
	GRT_ENGINE_MAX = 32, /* numbers are below: they are bits of a u32 mask */
};

/** enum grt_level - how much detail is delivered; each level includes the one before */
enum grt_level {
	GRT_LEVEL_OFF = 0,
	GRT_LEVEL_NORMAL = 1,
	GRT_LEVEL_VERBOSE = 2,
	GRT_LEVEL_DEBUG = 3,
};

/** enum grt_who - whose pid a record carries, see events.def */
enum grt_who {
	GRT_WHO_CURRENT,
	GRT_WHO_SUBMITTER,
};

/** enum grt_flag_bit - the rows of flags.def: the bits of grt_event.flags */
enum grt_flag_bit {
#define GRT_FLAG(NAME, name, help) GRT_FLAG_##NAME##_BIT,
#include "flags.def"
#undef GRT_FLAG
	GRT_FLAG_BITS,
};

/** enum grt_flag - the same as masks */
enum grt_flag {
#define GRT_FLAG(NAME, name, help) GRT_FLAG_##NAME = 1 << GRT_FLAG_##NAME##_BIT,
#include "flags.def"
#undef GRT_FLAG
};

/* grt_ev_window.of */
#define GRT_WINDOW_JOBS 1
#define GRT_WINDOW_CALLS 2

/* grt_ev_window.what */
#define GRT_WINDOW_TO_COME 1
#define GRT_WINDOW_OVER 2

/* grt_ev_name.kind */
#define GRT_NAME_THREAD 1
#define GRT_NAME_RING 2
#define GRT_NAME_DEVICE 3
#define GRT_NAME_COUNTER 4
#define GRT_NAME_RING_GPU 5 /* which GPU the ring is of */

/* grt_ev_complete.status and grt_ev_fence.status where the source does not report the fence's error */
#define GRT_STATUS_UNKNOWN 0x7fffffff
/* The fd of a call where the source does not give it. The other fields of such a call, and of an MMAP
 * without a device, then have all bits set where the source does not give them. */
#define GRT_FD_UNKNOWN 0x7fffffff

/* grt_ev_gpu_copy.bytes where the size is unknown */
#define GRT_BYTES_UNKNOWN UINT64_MAX

/* grt_ev_irq.source where a device's blocks (clients) have sources of their own */
#define GRT_IRQ_SOURCE(client, src) ((__u32)(client) << 16 | ((__u32)(src)&0xffff))
#define GRT_IRQ_CLIENT_UNKNOWN 0xffffU

/** enum grt_log_note - the rows of log_notes.def: grt_ev_log_note.what */
enum grt_log_note {
#define GRT_LOG_NOTE(number, NAME, name, help) GRT_LOG_##NAME = (number),
#include "log_notes.def"
#undef GRT_LOG_NOTE
};

/** enum grt_thread_state - the rows of thread_states.def: grt_ev_off_cpu.reason */
enum grt_thread_state {
#define GRT_THREAD_STATE(number, NAME, name, help) GRT_THREAD_##NAME = (number),
#include "thread_states.def"
#undef GRT_THREAD_STATE
	GRT_THREAD_STATES = 0
#define GRT_THREAD_STATE(number, NAME, name, help) +1
#include "thread_states.def"
#undef GRT_THREAD_STATE
};

/** enum grt_waker - the rows of wakers.def: grt_ev_asleep.by */
enum grt_waker {
#define GRT_WAKER(number, NAME, name, help) GRT_WAKER_##NAME = (number),
#include "wakers.def"
#undef GRT_WAKER
};

/** enum grt_wake_cause - the rows of wake_causes.def: grt_ev_asleep.cause */
enum grt_wake_cause {
#define GRT_WAKE_CAUSE(number, NAME, name, help) GRT_WAKE_##NAME = (number),
#include "wake_causes.def"
#undef GRT_WAKE_CAUSE
};

/** enum grt_stack_end - the rows of stack_ends.def; 0: nobody knows */
enum grt_stack_end {
	GRT_STACK_END_UNKNOWN,
#define GRT_STACK_END(number, NAME, name, help) GRT_STACK_END_##NAME = (number),
#include "stack_ends.def"
#undef GRT_STACK_END
	GRT_STACK_ENDS,
};

/** enum grt_slice_edge - the rows of slice_edges.def: grt_ev_gpu_slice.begin and .over */
enum grt_slice_edge {
#define GRT_SLICE_EDGE(number, NAME, name, help) GRT_SLICE_##NAME = (number),
#include "slice_edges.def"
#undef GRT_SLICE_EDGE
};

/** enum grt_nv_memory_what - the rows of nv_memory.def: grt_ev_nv_memory.what */
enum grt_nv_memory_what {
#define GRT_NV_MEMORY(number, NAME, name, help) GRT_NV_MEMORY_##NAME = (number),
#include "nv_memory.def"
#undef GRT_NV_MEMORY
};

/* grt_ev_nv_memory.place */
#define GRT_NV_MEMORY_OF_GPU 1
#define GRT_NV_MEMORY_OF_HOST 2

/** enum grt_uvm_cause and those behind it - the rows of uvm.def */
enum grt_uvm_cause {
#define GRT_UVM_CAUSE(number, NAME, name, help) GRT_UVM_CAUSE_##NAME = (number),
#include "uvm.def"
};
enum grt_uvm_access {
#define GRT_UVM_ACCESS(number, NAME, name, help) GRT_UVM_ACCESS_##NAME = (number),
#include "uvm.def"
};
enum grt_uvm_what {
#define GRT_UVM_PAGES(number, NAME, name, help) GRT_UVM_##NAME = (number),
#include "uvm.def"
};

/* grt_ev_gpu_slice.mig_gpu and .mig_compute of a GPU that is not divided */
#define GRT_NOT_DIVIDED 255

/* grt_ev_thread.what */
#define GRT_THREAD_MADE 1
#define GRT_THREAD_NAMED 2
#define GRT_THREAD_SEEN_ON 3
#define GRT_THREAD_SEEN_OFF 4
#define GRT_THREAD_ENDED 5
#define GRT_THREAD_LEFT_ON 6

/* grt_ev_log_call.step */
#define GRT_CALL_ENTERED 1
#define GRT_CALL_RETURNED 2

/* grt_ev_func.step and .known */
#define GRT_FUNC_CALLED 1
#define GRT_FUNC_ENTERED 2
#define GRT_FUNC_RETURNED 3
#define GRT_FUNC_EVENT 4
#define GRT_FUNC_TOOK 1U
#define GRT_FUNC_RET 2U

/* Numbers of the DRM ioctls that show something, in the low byte of grt_ev_ioctl_enter.cmd */
#define GRT_DRM_PAGE_FLIP 0xb0
#define GRT_DRM_ATOMIC 0xbc
/* grt_ev_ioctl_exit.about of these: the flags are known; and what they are */
#define GRT_FLIP_FLAGS 0x80000000U
#define GRT_FLIP_EVENT 1U
#define GRT_FLIP_TEST_ONLY 0x100U

/* grt_event.ring where the event belongs to no ring */
#define GRT_RING_NONE 0xffffffffU

/**
 * struct grt_event - the common part of every record
 * @time: CLOCK_MONOTONIC, ns; never goes back within a stream
 * @type: enum grt_event_type
 * @size: of the whole record, bytes, a multiple of 8
 * @flags: GRT_FLAG_*
 * @engine: enum grt_engine
 * @sample: percent of all jobs that were kept when this record was (1..100),
 *	so that it stands for 100 / @sample records; 0: not subject to sampling
 * @pid: process (thread group) id, 0 where unknown
 * @tid: thread id, 0 where unknown
 * @ctx: dma_fence context (with @seqno the identity of the job), 0: no job
 * @seqno: dma_fence sequence number within @ctx
 * @ring: ring id, named by a NAME record of the same packet; a recording never gives it to another ring
 * @device: where a device file was used its device number (major << 20 | minor),
 *	else the DRM or bus device number, by driver
 */
struct grt_event {
	__u64 time;
	__u16 type;
	__u16 size;
	__u16 flags;
	__u8 engine;
	__u8 sample;
	__u32 pid;
	__u32 tid;
	__u64 ctx;
	__u64 seqno;
	__u32 ring;
	__u32 device;
};

#define GRT_U(bits, name, base, help) __u##bits name;
#define GRT_I(bits, name, help) __s##bits name;
#define GRT_STR(size, name, help) char name[size];
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) \
	struct grt_ev_##name {                                     \
		struct grt_event e;                                \
		fields                                             \
	};
#include "events.def"
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U

/* The largest record; what a packet must have room for. */
#define GRT_RECORD_MAX 240
/* The longest record of a job's life cycle; those are the first types. */
#define GRT_JOB_RECORD_MAX 64
#define GRT_JOB_TYPE_LAST GRT_EV_COMMAND

_Static_assert(sizeof(struct grt_event) == 48, "the common part is 48 bytes");
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help)                             \
	_Static_assert(sizeof(struct grt_ev_##name) % 8 == 0, #name ": not 8 aligned");        \
	_Static_assert(sizeof(struct grt_ev_##name) <= GRT_RECORD_MAX, #name);                 \
	_Static_assert((id) > 0 && (id) < GRT_EV_MAX, #name ": id out of range");              \
	_Static_assert(GRT_EVENT_IS_OLD(id) ||                                                 \
			       (id) / GRT_EVENTS_RANGE == GRT_EVENTS_FIRST / GRT_EVENTS_RANGE, \
		       #name ": id is not of its provider's range");                           \
	_Static_assert((id) > GRT_JOB_TYPE_LAST || sizeof(struct grt_ev_##name) <= GRT_JOB_RECORD_MAX, #name);
#include "events.def"
#undef GRT_EVENT

/* What describes a record field by field, as CTF does, knows no bytes between them or behind the last. */
#define GRT_U(bits, name, base, help) +(bits) / 8
#define GRT_I(bits, name, help) +(bits) / 8
#define GRT_STR(size, name, help) +(size)
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help)                      \
	_Static_assert(sizeof(struct grt_ev_##name) == sizeof(struct grt_event) fields, \
		       #name ": add a reserved field");
#include "events.def"
#undef GRT_EVENT
#undef GRT_STR
#undef GRT_I
#undef GRT_U

#endif /* GRTRACE_EVENT_H */
