// SPDX-License-Identifier: GPL-2.0
/*
 * Waits for fences that the kernel has no tracepoint for: those of user space,
 * for sync objects and sync files, as Vulkan's drivers and compositors wait.
 *
 *	drm_syncobj_wait_ioctl, drm_syncobj_timeline_wait_ioctl,
 *	dma_fence_wait_any_timeout	the thread is in a call that waits: each
 *			fence that dma_fence_add_callback() is requested there
 *			is one that it waits for
 *	sync_file_poll	poll and select look at the file, and its fence is not
 *			signalled; the file is added to the epoll
 *	do_epoll_wait	the files that were added to this epoll
 *
 * SYNC_WAIT_ENTER is when the kernel begins to wait for the fence, so a sync
 * object that gets its fence later is waited for from then on; SYNC_WAIT_EXIT is
 * when the call ends, whatever ended it. A call whose time is over at once, or
 * that has none, does not wait. Of a fence that stands for others (an array, a
 * link of a timeline) those others are waited for. The last fence is left first,
 * so that waits of one call lie within each other.
 *
 * The functions and what they are given are the same in Linux 5.15 to 7.3
 * (drivers/gpu/drm/drm_syncobj.c, drivers/dma-buf/sync_file.c, fs/select.c,
 * fs/eventpoll.c). Those of them that are static are reached through a pointer
 * or are too large to be put into their callers; where one is not in the
 * kernel's BTF all the same, the waits that it would end are not reported.
 */
#include "files.h"
#include "jobs.h"

#include <bpf/bpf_tracing.h>

/* Fences of one call; further ones are counted as unmatched. */
#define CALL_FENCES 32

/* How far a fence that stands for other fences is followed. */
#define ARRAY_FENCES 16
#define CHAIN_LINKS 16

/* Most sync files that an epoll is known to have. */
#define EPOLL_FILES 8

#define EPOLLIN 1U

#pragma clang attribute push(__attribute__((preserve_access_index)), apply_to = record)

struct dma_fence_ops;
struct poll_table_struct;

struct sync_file {
	struct dma_fence *fence;
};

struct dma_fence_array {
	struct dma_fence base;
	unsigned int num_fences;
	struct dma_fence **fences;
};

struct dma_fence_chain {
	struct dma_fence base;
	struct dma_fence *prev;
	struct dma_fence *fence;
};

struct rb_node {
	unsigned long __rb_parent_color;
	struct rb_node *rb_right;
	struct rb_node *rb_left;
};

struct epoll_event___user {
	__u32 events;
};

struct epoll_filefd {
	struct file *file;
};

struct eventpoll;

struct epitem {
	struct rb_node rbn;
	struct epoll_filefd ffd;
	struct eventpoll *ep;
	struct epoll_event___user event;
};

struct ep_pqueue {
	struct epitem *epi;
};

struct poll_wqueues {
	struct task_struct *polling_task;
};

struct timespec64 {
	__s64 tv_sec;
	long tv_nsec;
};

/* Members of structs of kernel.h that only these programs look at. */
struct dma_fence___ops {
	const struct dma_fence_ops *ops;
};

struct file___private {
	void *private_data;
};

struct poll_table_struct___proc {
	void *_qproc;
};

#pragma clang attribute pop

/* From uapi drm/drm.h: the arguments of the ioctls. */
struct syncobj_wait {
	__u64 handles;
	__s64 timeout_nsec;
};

struct syncobj_timeline_wait {
	__u64 handles;
	__u64 points;
	__s64 timeout_nsec;
};

const volatile struct grt_bpf_symbols symbols SEC(".rodata.symbols") = {};

/**
 * struct call - a call in which a thread waits
 * @func: function of the callbacks that wake it; 0: any
 * @fences: fences whose SYNC_WAIT_ENTER is reported
 */
struct call {
	__u64 func;
	__u32 fences;
	__u32 pad;
	struct job_key key[CALL_FENCES];
};

/* By tid. */
struct {
	__uint(type, BPF_MAP_TYPE_HASH);
	__uint(max_entries, 4096);
	__type(key, __u32);
	__type(value, struct call);
} calls SEC(".maps");

static const struct call no_fence = {};

/** struct epoll_files - the sync files of an epoll, by its item for each; 0: none */
struct epoll_files {
	struct epitem *of[EPOLL_FILES];
};

/* By struct eventpoll. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 1024);
	__type(key, __u64);
	__type(value, struct epoll_files);
} epolls SEC(".maps");

/* An epoll with a sync file exists, or has existed. */
static volatile __u32 epolls_used;

/* ------------------------------------------------------------- fences */

/*
 * Functions that are not static take and return numbers: the kernel then verifies each of them once per
 * program, and not on every path to it, of which nested loops have more than the verifier follows.
 */

static __always_inline struct call *my_call(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();

	return bpf_map_lookup_elem(&calls, &tid);
}

static __always_inline __u64 ops_of(struct dma_fence *fence)
{
	return (__u64)BPF_CORE_READ((struct dma_fence___ops *)fence, ops);
}

static __always_inline int has_ops(struct dma_fence *fence, __u64 ops)
{
	return ops && ops_of(fence) == ops;
}

static __always_inline void count_unmatched(void)
{
	__u32 cpu;
	struct grt_bpf_counts *c = my_counts(&cpu);

	if (c)
		COUNT(c->unmatched);
}

static __always_inline int is_among(const struct call *call, const struct job_key *key)
{
	for (__u32 i = 0; i < CALL_FENCES && i < call->fences; i++)
		if (call->key[i].ctx == key->ctx && call->key[i].seqno == key->seqno)
			return 1;
	return 0;
}

/* Writes the event; @job NULL: another source knows the job */
static __always_inline int tell_enter(const struct job_key *key, const struct job *job)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct out_comm_sync_wait_enter *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (!thread_wanted(pid_tgid >> 32))
		return count_filtered(c);
	at = begin_comm_sync_wait_enter(c, cpu, pid_tgid);
	if (!at)
		return 0;
	at->ev.e.flags |= GRT_FLAG_CALL;
	at->ev.e.ctx = key->ctx;
	at->ev.e.seqno = key->seqno;
	if (job) {
		at->ev.e.ring = job->ring;
		at->ev.e.device = job->device;
	}
	event_submit(at, c);
	return 1;
}

/* A fence that stands for itself: it belongs to a job, or to none. */
__noinline int enter_fence(__u64 address)
{
	struct dma_fence *fence = (struct dma_fence *)address;
	struct call *call = my_call();
	struct job_key key;
	struct job *job;
	__u32 at;

	if (!call || !fence || is_signalled(fence))
		return 0;
	key.ctx = BPF_CORE_READ(fence, context);
	key.seqno = BPF_CORE_READ(fence, seqno);
	if (config.cut_keys) {
		key.ctx = (__u32)key.ctx;
		key.seqno = (__u32)key.seqno;
	}
	job = job_of(&key);
	if ((!job && !config.all_fences) || is_among(call, &key))
		return 0;
	at = call->fences;
	if (at >= CALL_FENCES) {
		count_unmatched();
		return 0;
	}
	if (!tell_enter(&key, job))
		return 0;
	call->key[at] = key;
	call->fences = at + 1;
	return 0;
}

/* Follows a timeline as the kernel does. Return: the first of its links that is not signalled; 0: all are */
__noinline __u64 behind_chain(__u64 address)
{
	struct dma_fence *fence = (struct dma_fence *)address, *inner;
	struct dma_fence_chain *link;

	for (int i = 0; i < CHAIN_LINKS && fence; i++) {
		if (!has_ops(fence, symbols.dma_fence_chain_ops))
			return (__u64)fence;
		link = (struct dma_fence_chain *)fence;
		inner = BPF_CORE_READ(link, fence);
		if (inner && !is_signalled(inner))
			return (__u64)inner;
		fence = BPF_CORE_READ(link, prev);
	}
	if (fence)
		count_unmatched();
	return 0;
}

__noinline int enter_fences(__u64 address)
{
	struct dma_fence **fences;
	struct dma_fence_array *array;
	__u64 one;
	__u32 n;

	array = (struct dma_fence_array *)behind_chain(address);
	if (!array)
		return 0;
	if (!has_ops(&array->base, symbols.dma_fence_array_ops))
		return enter_fence((__u64)array);
	fences = BPF_CORE_READ(array, fences);
	n = BPF_CORE_READ(array, num_fences);
	for (__u32 i = 0; i < ARRAY_FENCES && i < n; i++)
		if (!bpf_probe_read_kernel(&one, sizeof(one), fences + i))
			enter_fence(behind_chain(one));
	if (n > ARRAY_FENCES)
		count_unmatched();
	return 0;
}

/* ------------------------------------------------------------- calls */

/* An old entry belongs to a call whose end was missed. */
static __always_inline struct call *begin_call(__u64 func)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid();
	struct call *call;

	/* without a job of a window there is no fence to wait for */
	if (gate_is_shut())
		return 0;
	if (bpf_map_update_elem(&calls, &tid, &no_fence, BPF_ANY)) {
		count_unmatched();
		return 0;
	}
	call = bpf_map_lookup_elem(&calls, &tid);
	if (call)
		call->func = func;
	return call;
}

/* @i: of the fences of the call */
__noinline int exit_fence(__u64 i, __u32 flags)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();
	struct call *call = my_call();
	struct out_sync_wait_exit *at;
	struct job_key key;
	struct grt_bpf_counts *c;
	__u32 cpu;

	if (!call || i >= CALL_FENCES)
		return 0;
	key = call->key[i];
	c = my_counts(&cpu);
	if (!c)
		return 0;
	at = begin_sync_wait_exit(c, cpu);
	if (!at)
		return 0;
	set_job(&at->ev.e, &key, job_of(&key));
	set_current(&at->ev.e, pid_tgid);
	at->ev.e.flags |= flags;
	event_submit(at, c);
	return 0;
}

static __always_inline int end_call(void)
{
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), n, flags;
	struct call *call = bpf_map_lookup_elem(&calls, &tid);

	if (!call)
		return 0;
	n = call->fences;
	flags = n > 1 ? GRT_FLAG_CALL | GRT_FLAG_SEVERAL : GRT_FLAG_CALL;
	for (__u32 i = 0; i < CALL_FENCES; i++) {
		__u32 at = n - 1 - i;

		if (at >= CALL_FENCES)
			break;
		exit_fence(at, flags);
	}
	bpf_map_delete_elem(&calls, &tid);
	return 0;
}

/* These programs are attached first, so if the begin of a call is seen, its end is seen as well. */
#define ENDS_CALL(FUNCTION)          \
	SEC("fexit/" #FUNCTION)      \
	int BPF_PROG(FUNCTION##_end) \
	{                            \
		return end_call();   \
	}

ENDS_CALL(drm_syncobj_wait_ioctl)
ENDS_CALL(drm_syncobj_timeline_wait_ioctl)
ENDS_CALL(dma_fence_wait_any_timeout)
ENDS_CALL(do_sys_poll)
ENDS_CALL(do_select)
ENDS_CALL(do_epoll_wait)

/* ------------------------------------------------------------- sync objects */

/* The timeout is a time of CLOCK_MONOTONIC. */
static __always_inline int begin_syncobj(__s64 until)
{
	if (until > 0 && (__u64)until > bpf_ktime_get_ns())
		begin_call(symbols.syncobj_wait_fence_func);
	return 0;
}

SEC("fentry/drm_syncobj_wait_ioctl")
int BPF_PROG(syncobj_wait_enter, void *dev, struct syncobj_wait *data)
{
	__s64 until = 0;

	bpf_probe_read_kernel(&until, sizeof(until), &data->timeout_nsec);
	return begin_syncobj(until);
}

SEC("fentry/drm_syncobj_timeline_wait_ioctl")
int BPF_PROG(timeline_wait_enter, void *dev, struct syncobj_timeline_wait *data)
{
	__s64 until = 0;

	bpf_probe_read_kernel(&until, sizeof(until), &data->timeout_nsec);
	return begin_syncobj(until);
}

SEC("fentry/dma_fence_wait_any_timeout")
int BPF_PROG(wait_any_enter, void *fences, __u32 count, _Bool interruptible, long timeout)
{
	if (timeout > 0)
		begin_call(symbols.dma_fence_default_wait_cb);
	return 0;
}

/* The arguments are the fence, the callback's data, and the callback, which a program may not read itself. */
SEC("fentry/dma_fence_add_callback")
int add_callback(__u64 *ctx)
{
	struct call *call = my_call();
	__u64 args[3] = {};

	if (!call)
		return 0;
	/* an interrupt that came in between has callbacks of its own */
	bpf_probe_read_kernel(args, sizeof(args), ctx);
	if (call->func && call->func != args[2])
		return 0;
	return enter_fences(args[0]);
}

/* ------------------------------------------------------------- sync files */

static __always_inline __u64 fence_of_file(struct file *file)
{
	struct sync_file *sync = BPF_CORE_READ((struct file___private *)file, private_data);

	return (__u64)BPF_CORE_READ(sync, fence);
}

/* Return: whether an epoll still has the item: removing an item takes it out of the tree. */
__noinline int is_in_epoll(__u64 item, __u64 ep)
{
	struct epitem *epi = (struct epitem *)item;
	struct rb_node *node = (void *)epi + bpf_core_field_offset(struct epitem, rbn), *parent;

	if ((__u64)BPF_CORE_READ(epi, ep) != ep)
		return 0;
	parent = (void *)(BPF_CORE_READ(node, __rb_parent_color) & ~3UL);
	return !parent || BPF_CORE_READ(parent, rb_left) == node || BPF_CORE_READ(parent, rb_right) == node;
}

/* A sync file is added to an epoll. */
static __always_inline int add_to_epoll(struct epitem *epi)
{
	__u64 ep = (__u64)BPF_CORE_READ(epi, ep);
	struct epoll_files *files = bpf_map_lookup_elem(&epolls, &ep), none = {};

	epolls_used = 1;
	if (!files) {
		bpf_map_update_elem(&epolls, &ep, &none, BPF_NOEXIST);
		files = bpf_map_lookup_elem(&epolls, &ep);
	}
	if (!files)
		return 0;
	for (int i = 0; i < EPOLL_FILES; i++)
		if (!files->of[i] || files->of[i] == epi || !is_in_epoll((__u64)files->of[i], ep)) {
			files->of[i] = epi;
			return 0;
		}
	count_unmatched();
	return 0;
}

/*
 * A caller that looks for the first time has _qproc. The table is part of data on the stack of poll, select
 * or epoll, which are distinguished by its contents.
 */
SEC("fexit/sync_file_poll")
int BPF_PROG(file_poll, struct file *file, struct poll_table_struct *table, __u32 ready)
{
	struct poll_wqueues *queues = (void *)table;
	struct ep_pqueue *epoll = (void *)table;
	struct epitem *epi;
	struct call *call;

	if (ready || !table || !BPF_CORE_READ((struct poll_table_struct___proc *)table, _qproc))
		return 0;
	if ((__u64)BPF_CORE_READ(queues, polling_task) == bpf_get_current_task()) {
		call = my_call();
		if (!call)
			call = begin_call(0);
		return call ? enter_fences(fence_of_file(file)) : 0;
	}
	epi = BPF_CORE_READ(epoll, epi);
	return BPF_CORE_READ(epi, ffd.file) == file ? add_to_epoll(epi) : 0;
}

/* Return: whether the timeout of a wait is 0; no timeout means to wait for ever */
static __always_inline int is_no_time(struct timespec64 *time)
{
	return time && !BPF_CORE_READ(time, tv_sec) && !BPF_CORE_READ(time, tv_nsec);
}

SEC("fentry/do_epoll_wait")
int BPF_PROG(epoll_enter, __u32 epfd, void *events, int max, struct timespec64 *timeout)
{
	struct epoll_files *files;
	struct call *call;
	struct file *file;
	__u32 device;
	__u64 ep;

	if (!epolls_used || is_no_time(timeout))
		return 0;
	file = file_of(my_task(), epfd, &device);
	ep = (__u64)BPF_CORE_READ((struct file___private *)file, private_data);
	files = bpf_map_lookup_elem(&epolls, &ep);
	call = files ? begin_call(0) : 0;
	if (!call)
		return 0;
	for (int i = 0; i < EPOLL_FILES; i++) {
		struct epitem *epi = files->of[i];

		if (epi && is_in_epoll((__u64)epi, ep) && BPF_CORE_READ(epi, event.events) & EPOLLIN)
			enter_fences(fence_of_file(BPF_CORE_READ(epi, ffd.file)));
	}
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
