/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Every BPF program of grtrace uses this: the settings, the maps (objects share maps of the same name), and
 * the function that writes an event.
 *
 * The time of an event is read right before its room in the ring buffer is reserved. Between the two, an
 * interrupt can write its own events, so the reader sorts within two milliseconds.
 */
#ifndef GRTRACE_BPF_COMMON_H
#define GRTRACE_BPF_COMMON_H

#include <linux/bpf.h>
#include <linux/types.h>
#include <bpf/bpf_helpers.h>
#include <bpf/bpf_core_read.h>

#include "kernel.h"
#include "shared.h"

const volatile struct grt_bpf_config config SEC(".rodata.config") = {};

struct {
	__uint(type, BPF_MAP_TYPE_RINGBUF);
	__uint(max_entries, 1 << 22);
} events SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_ARRAY);
	__uint(max_entries, BPF_CPUS_MAX);
	__type(key, __u32);
	__type(value, struct grt_bpf_counts);
} counts SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct job_key);
	__type(value, struct job);
} jobs SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 32768);
	__type(key, struct job_key);
	__type(value, struct whole);
} wholes SEC(".maps");

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, BPF_RINGS_MAX);
	__type(key, struct grt_bpf_ring_key);
	__type(value, struct grt_bpf_ring);
} rings SEC(".maps");

/* By grt_bpf_ring.id, for the loader; larger than @rings, because the loader reads entries later. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 2 * BPF_RINGS_MAX);
	__type(key, __u32);
	__type(value, struct grt_bpf_ring);
} ring_names SEC(".maps");

/*
 * Atomic, because an interrupt's program may run between the read and the write of another program on its
 * CPU.
 */
#define COUNT(field) ((void)__sync_fetch_and_add(&(field), 1))

static __always_inline struct grt_bpf_counts *my_counts(__u32 *cpu)
{
	*cpu = bpf_get_smp_processor_id();
	return bpf_map_lookup_elem(&counts, cpu);
}

/* Namespaces of pids within each other. */
#define PID_LEVELS 8

/* The number of a process in our pid namespace; 0: it is not visible there */
static __always_inline __u32 number_in_ns(struct pid *pid)
{
	__u32 level = BPF_CORE_READ(pid, level), i;
	struct upid *at = (void *)pid + bpf_core_field_offset(struct pid, numbers);

	for (i = 0; i < PID_LEVELS && i <= level; i++) {
		if (BPF_CORE_READ(at, ns, ns.inum) == config.pid_ns)
			return BPF_CORE_READ(at, nr);
		at = (void *)at + bpf_core_type_size(struct upid);
	}
	return 0;
}

static __always_inline __u32 number_of(struct task_struct *task)
{
	return number_in_ns(BPF_CORE_READ(task, thread_pid));
}

/* Whether the running process has this number in our pid namespace; @pid: its number in the first one. */
static __always_inline int is_process(__u32 number, __u32 pid)
{
	struct task_struct *task;

	if (!config.pid_ns)
		return number == pid;
	task = (struct task_struct *)bpf_get_current_task();
	return number == number_of(BPF_CORE_READ(task, group_leader));
}

/* Calls of the recorder itself are not recorded. */
static __always_inline int is_recorder(__u32 pid)
{
	return config.self && is_process(config.self, pid);
}

/* Return: whether the running thread is a requested one. */
static __always_inline int thread_wanted(__u32 pid)
{
	char comm[BPF_COMM];

	if (config.pid && !is_process(config.pid, pid))
		return 0;
	if (!config.comm[0])
		return 1;
	bpf_get_current_comm(comm, sizeof(comm));
#pragma unroll
	for (int i = 0; i < BPF_COMM; i++) {
		if (comm[i] != config.comm[i])
			return 0;
		if (!comm[i])
			break;
	}
	return 1;
}

/*
 * The number of an object in place of its kernel address: the same number for the same object within a
 * capture, and another one in each capture, so that traces can be given away.
 */
static __always_inline __u64 opaque(__u64 address)
{
	return address ? (address ^ config.secret) * 0x9e3779b97f4a7c15ULL : 0;
}

/* Whether the kernel has a helper function. */
#define HAS_HELPER(name) bpf_core_enum_value_exists(enum bpf_func_id, BPF_FUNC_##name)

/* The running thread, which MINE() reads. */
static __always_inline struct task_struct *my_task(void)
{
	if (HAS_HELPER(get_current_task_btf))
		return bpf_get_current_task_btf();
	return (struct task_struct *)bpf_get_current_task();
}

/*
 * A member of the running thread, or of what it points to. Kernels without a BTF type for it (up to 5.10)
 * copy it.
 */
#define MINE(from, member) (HAS_HELPER(get_current_task_btf) ? (from)->member : BPF_CORE_READ(from, member))

/* As bpf_get_current_pid_tgid(), at a lower cost; @task: the running thread */
static __always_inline __u64 my_pid_tgid(struct task_struct *task)
{
	if (HAS_HELPER(get_current_task_btf))
		return (__u64)(__u32)task->tgid << 32 | (__u32)task->pid;
	return bpf_get_current_pid_tgid();
}

/* For kernels without a helper for registers (up to 5.14): a copy of the running thread's registers. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, __u64[REGS_WORDS]);
} regs_copies SEC(".maps");

/* There always is a copy; only the verifier does not know that. */
const __u64 no_regs[REGS_WORDS] SEC(".rodata.regs") = {};

/* Size of a thread's kernel stack in bytes, if the kernel has no BTF type for it; without KASAN. */
#define THREAD_BYTES 16384

/* The registers are at the end of the kernel stack. */
static __noinline struct pt_regs *copy_regs(void)
{
	__u32 zero = 0, size = bpf_core_type_exists(union thread_union)
				       ? bpf_core_type_size(union thread_union)
				       : THREAD_BYTES;
	struct task_struct *task = my_task();
	__u64 end = (__u64)BPF_CORE_READ(task, stack) + size;
	void *copy = bpf_map_lookup_elem(&regs_copies, &zero);

	if (!copy)
		return (struct pt_regs *)no_regs;
	bpf_probe_read_kernel(copy, sizeof(no_regs), (void *)end - bpf_core_type_size(struct pt_regs));
	return copy;
}

/* The registers of the running thread's program, which contain the arguments of its system call. */
static __always_inline struct pt_regs *my_regs(void)
{
	if (HAS_HELPER(task_pt_regs))
		return (struct pt_regs *)bpf_task_pt_regs(bpf_get_current_task_btf());
	return copy_regs();
}

/* Counts an event that a filter rejects. */
static __always_inline int count_filtered(struct grt_bpf_counts *c)
{
	COUNT(c->filtered);
	return 0;
}

/* Return: the counters for an event of the running thread; NULL: the event is not wanted, which is counted */
static __always_inline struct grt_bpf_counts *my_counts_if_wanted(__u32 *cpu, __u64 *pid_tgid)
{
	struct grt_bpf_counts *c = my_counts(cpu);

	*pid_tgid = bpf_get_current_pid_tgid();
	if (!c || thread_wanted(*pid_tgid >> 32))
		return c;
	count_filtered(c);
	return 0;
}

static __always_inline int type_wanted(__u32 type)
{
	return config.types.word[type / 64 % GRT_TYPE_WORDS] >> type % 64 & 1;
}

/* Copies a thread's name: two loads cost less than a call. */
static __always_inline void copy_comm(char *to, const struct task_struct *task)
{
	const __u64 *comm = (void *)task + bpf_core_field_offset(struct task_struct, comm);

	((__u64 *)to)[0] = comm[0];
	((__u64 *)to)[1] = comm[1];
}

static __always_inline void fill_comm(struct grt_bpf_comm *c, __u64 pid_tgid)
{
	struct task_struct *task = my_task(), *leader;

	_Static_assert(BPF_COMM == 2 * sizeof(__u64), "a name is two words");
	if (HAS_HELPER(get_current_task_btf))
		copy_comm(c->comm, task);
	else
		bpf_get_current_comm(c->comm, sizeof(c->comm));
	c->owner[0] = 0;
	if ((__u32)pid_tgid == pid_tgid >> 32)
		return;
	leader = MINE(task, group_leader);
	if (HAS_HELPER(get_current_task_btf))
		copy_comm(c->owner, leader);
	else
		BPF_CORE_READ_STR_INTO(&c->owner, leader, comm);
}

/*
 * For each event: a record without and one with the names of the running thread, and a function that
 * reserves it. The time and the common part are set, the payload is zero. NULL: the event is not wanted, or
 * there is no room, which is counted.
 */
static __always_inline void begin_event(struct grt_event *e, __u64 stamp, __u32 type, __u32 size)
{
	e->time = stamp;
	e->type = type;
	e->size = size;
	e->flags = GRT_FLAG_BPF;
	e->ring = GRT_RING_NONE;
}

static __always_inline void set_current(struct grt_event *e, __u64 pid_tgid)
{
	e->pid = pid_tgid >> 32;
	e->tid = (__u32)pid_tgid;
}

static __always_inline int begin_counted(struct grt_bpf_counts *c, __u32 type)
{
	if (!type_wanted(type))
		return count_filtered(c);
	COUNT(c->wanted);
	return 1;
}

/*
 * Reads the time, and directly afterwards reserves room for the event; both are counted. @size is a
 * constant.
 */
static __always_inline void *begin_reserve(struct grt_bpf_counts *c, __u32 type, __u64 size, __u64 *stamp)
{
	void *at;

	if (!begin_counted(c, type))
		return 0;
	*stamp = bpf_ktime_get_ns();
	at = bpf_ringbuf_reserve(&events, size, 0);
	if (!at)
		COUNT(c->lost);
	return at;
}

#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help)                                  \
	struct out_##name {                                                                         \
		struct grt_bpf_record r;                                                            \
		struct grt_ev_##name ev;                                                            \
	};                                                                                          \
	struct out_comm_##name {                                                                    \
		struct grt_bpf_record r;                                                            \
		struct grt_bpf_comm comm;                                                           \
		struct grt_ev_##name ev;                                                            \
	};                                                                                          \
	static __always_inline struct out_##name *begin_##name(struct grt_bpf_counts *c, __u32 cpu) \
	{                                                                                           \
		struct out_##name *at;                                                              \
		__u64 stamp;                                                                        \
                                                                                                    \
		at = begin_reserve(c, id, sizeof(*at), &stamp);                                     \
		if (!at)                                                                            \
			return 0;                                                                   \
		__builtin_memset(at, 0, sizeof(*at));                                               \
		at->r.cpu = cpu;                                                                    \
		begin_event(&at->ev.e, stamp, id, sizeof(at->ev));                                  \
		return at;                                                                          \
	}                                                                                           \
	static __always_inline struct out_comm_##name *begin_comm_##name(struct grt_bpf_counts *c,  \
									 __u32 cpu, __u64 pid_tgid) \
	{                                                                                           \
		struct out_comm_##name *at;                                                         \
		__u64 stamp;                                                                        \
                                                                                                    \
		at = begin_reserve(c, id, sizeof(*at), &stamp);                                     \
		if (!at)                                                                            \
			return 0;                                                                   \
		__builtin_memset(&at->ev, 0, sizeof(at->ev));                                       \
		at->r.cpu = cpu;                                                                    \
		at->r.labels = BPF_HAS_COMM;                                                        \
		begin_event(&at->ev.e, stamp, id, sizeof(at->ev));                                  \
		set_current(&at->ev.e, pid_tgid);                                                   \
		fill_comm(&at->comm, pid_tgid);                                                     \
		return at;                                                                          \
	}
#include <grtrace/events.def>
#undef GRT_EVENT

/* Submits a reserved record. The reader is only woken once in a while. */
static __always_inline void event_submit(void *at, struct grt_bpf_counts *c)
{
	bpf_ringbuf_submit(at, c->wanted % BPF_WAKE_EVENTS ? BPF_RB_NO_WAKEUP : BPF_RB_FORCE_WAKEUP);
}

static __always_inline void set_job(struct grt_event *e, const struct job_key *key, const struct job *job)
{
	e->ctx = key->ctx;
	e->seqno = key->seqno;
	if (!job)
		return;
	e->pid = job->pid;
	e->tid = job->tid;
	e->ring = job->ring;
	e->device = job->device;
}

static __always_inline int same_text(const char *a, const volatile char *b, int len)
{
	for (int i = 0; i < len; i++) {
		if (a[i] != b[i])
			return 0;
		if (!a[i])
			return 1;
	}
	return 1;
}

/* Whether calls on a device file are wanted. */
static __always_inline int device_wanted(__u32 device)
{
	if (!config.one_gpu)
		return 1;
	for (int i = 0; i < BPF_GPU_FILES; i++)
		if (config.devices[i] && config.devices[i] == device)
			return 1;
	return 0;
}

static __always_inline void ring_read_bus(struct grt_bpf_ring *r, struct device *dev)
{
	const char *text = BPF_CORE_READ(dev, kobj.name);

	bpf_probe_read_kernel_str(r->bus, sizeof(r->bus), text);
}

#define RING_ID_TRIES 8

/*
 * A random number that no other ring has had recently. The chance of a repeated number is one in four
 * thousand million, and such a ring is refused.
 */
static __always_inline int ring_name(struct grt_bpf_ring *r)
{
	for (int i = 0; i < RING_ID_TRIES; i++) {
		r->id = bpf_get_prandom_u32();
		if (r->id != GRT_RING_NONE && !bpf_map_update_elem(&ring_names, &r->id, r, BPF_NOEXIST))
			return 1;
	}
	return 0;
}

/* Adds a ring, described by @r. Return: its entry; NULL: there is no room for it */
static __always_inline struct grt_bpf_ring *ring_add(const struct grt_bpf_ring_key *key,
						     struct grt_bpf_ring *r)
{
	r->denied = config.ring[0] && !same_text(r->name, config.ring, BPF_RING);
	/* before 6.1, a scheduler does not know its driver */
	if (config.driver[0] && r->driver[0] && !same_text(r->driver, config.driver, BPF_DRIVER - 1))
		r->denied = 1;
	if (config.bus[0] && r->bus[0] && !same_text(r->bus, config.bus, BPF_BUS))
		r->denied = 1;
	if (!ring_name(r))
		return 0;
	/* if another CPU has added the ring first, our number is never used */
	bpf_map_update_elem(&rings, key, r, BPF_NOEXIST);
	return bpf_map_lookup_elem(&rings, key);
}

static __always_inline int by_thread_or_ring(void)
{
	return config.pid || config.comm[0] || config.ring[0];
}

/*
 * Return: whether a filter rejects jobs at their SUBMIT: then a job that is not in the table of jobs was
 * rejected.
 */
static __always_inline int by_table(void)
{
	return by_thread_or_ring() || config.driver[0] || config.one_gpu || config.duty.parts;
}

#endif /* GRTRACE_BPF_COMMON_H */
