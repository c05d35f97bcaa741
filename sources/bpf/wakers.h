/* SPDX-License-Identifier: GPL-2.0 */
/*
 * Finds out who wakes a thread, and what the waker does. sched_waking runs in the waker's context, while
 * sched_wakeup may run on the CPU of the woken thread. The waker's stack shows what it does: callbacks of a
 * fence are called from dma_fence_signal(), the readers of a file are woken by the function that sends them
 * an event of a display, a sleeper by the function of its timer.
 *
 * Walking the stack takes a microsecond or two. A thread of a program wakes others by futexes and pipes all
 * the time, so its stack is walked only if it has signalled a fence or an event of a display on this CPU
 * before: their tracepoints come before the callbacks (Linux 5.15 to 7.3, drivers/dma-buf/dma-fence.c,
 * drivers/gpu/drm/drm_vblank.c).
 *
 * A worker or an interrupt that is in none of these functions is recorded as a worker or an interrupt,
 * because the kernel does not show for whom it works.
 */
#ifndef GRTRACE_BPF_WAKERS_H
#define GRTRACE_BPF_WAKERS_H

#include "files.h"

#define PF_EXITING 0x4
#define PF_KTHREAD 0x200000

/* x86-64, and 64-bit Arm with pages of 4 KiB, without KASAN */
#define THREAD_SIZE 16384

/* If the stack shows nothing, what a thread did last is taken for what it does, for this long, ns. */
#define MARK_NS 50000

/*
 * Frames outward from the function that wakes a thread. From a fence to an epoll within an epoll there are
 * 20.
 */
#define WAKER_FRAMES 32

/* Most frames from the tracepoint to the function that sends the event. */
#define SENDER_FRAMES 12

/**
 * struct mark - what threads have signalled last on this CPU
 * @time, @cause: of the last signal
 * @fence_tid: the thread that signalled the fence @ctx, @seqno
 * @display_tid: the thread that sent an event of a display, in a function that continues at @sender
 */
struct mark {
	__u64 time;
	__u64 ctx;
	__u64 seqno;
	__u64 sender;
	__u32 fence_tid;
	__u32 display_tid;
	__u32 cause;
	__u32 pad;
};

static struct mark marks[BPF_CPUS_MAX];

/* There is a mark on some CPU. */
static volatile __u32 marked;

static __always_inline struct mark *my_mark(void)
{
	return &marks[bpf_get_smp_processor_id() & (BPF_CPUS_MAX - 1)];
}

SEC("raw_tp/dma_fence_signaled")
int fence_signaled(struct bpf_raw_tracepoint_args *ctx)
{
	struct dma_fence *fence = (void *)ctx->args[0];
	struct mark *m = my_mark();

	m->time = bpf_ktime_get_ns();
	m->ctx = BPF_CORE_READ(fence, context);
	m->seqno = BPF_CORE_READ(fence, seqno);
	m->fence_tid = (__u32)bpf_get_current_pid_tgid();
	m->cause = GRT_WAKE_FENCE;
	marked = 1;
	return 0;
}

/* Not inlined, so that the verifier checks it once for each program. Return: bits 1 << enum grt_wake_cause */
__noinline int cause_at(__u64 address)
{
	for (int i = 0; i < BPF_WAKERS && config.wakers[i].size; i++)
		if (address - config.wakers[i].start < config.wakers[i].size)
			return 1 << config.wakers[i].cause;
	return 0;
}

/*
 * Return: the address after the call in the function that sends the event. The functions between it and the
 * one that wakes end with a call, so the compiler removes their frames.
 */
static __noinline __u64 find_sender(void *ctx)
{
	__u64 address[SENDER_FRAMES] = {};
	int within = 0;

	if (bpf_get_stack(ctx, address, sizeof(address), 0) <= 0)
		return 0;
	for (int i = 0; i < SENDER_FRAMES && address[i]; i++) {
		if (cause_at(address[i]) == 1 << GRT_WAKE_DISPLAY)
			within = 1;
		else if (within)
			return address[i];
	}
	return 0;
}

SEC("raw_tp/drm_vblank_event_delivered")
int event_delivered(struct bpf_raw_tracepoint_args *ctx)
{
	struct mark *m = my_mark();

	m->time = bpf_ktime_get_ns();
	m->sender = find_sender(ctx);
	m->display_tid = (__u32)bpf_get_current_pid_tgid();
	m->cause = GRT_WAKE_DISPLAY;
	marked = 1;
	return 0;
}

/*
 * Interrupts that come while the kernel runs have their own stack, as soft interrupts have. The others begin
 * on the thread's stack, where a system call would.
 */
static __always_inline int is_interrupt(void *ctx, struct pt_regs *regs)
{
	__u64 below;

	/* of all arithmetic with such pointers, the kernel only allows the difference of two */
	asm volatile("%0 = %1; %0 -= %2" : "=&r"(below) : "r"(regs), "r"(ctx));
	return below >= THREAD_SIZE;
}

/*
 * Return: whether the thread has signalled a fence or an event of a display on this CPU, and may still be
 * there.
 */
static __always_inline int has_marked(__u32 tid)
{
	struct mark *m;

	if (!marked)
		return 0;
	m = my_mark();
	return m->fence_tid == tid || m->display_tid == tid;
}

/*
 * Return: bits of all causes that the thread's stack shows. @sender: place of its last event of a display;
 * 0: it has sent none
 */
static __noinline __u32 causes_on_stack(void *ctx, __u64 sender)
{
	__u64 address[WAKER_FRAMES] = {};
	__u32 causes = 0;

	if (bpf_get_stack(ctx, address, sizeof(address), 0) <= 0)
		return 0;
	for (int i = 0; i < WAKER_FRAMES && address[i]; i++)
		causes |= address[i] == sender ? 1 << GRT_WAKE_DISPLAY : cause_at(address[i]);
	return causes;
}

/* Used if the kernel does not show the addresses of its functions. */
static __always_inline void infer_cause(struct grt_bpf_thread *t, struct mark *m, __u32 tid)
{
	__u32 marked = m->cause == GRT_WAKE_FENCE ? m->fence_tid : m->display_tid;

	if (config.wakers[0].size || marked != tid || bpf_ktime_get_ns() - m->time > MARK_NS)
		return;
	t->cause = m->cause;
	t->inferred = 1;
}

/* A mark of a function that the thread has left is not checked again. */
static __always_inline void use_mark(struct grt_bpf_thread *t, struct mark *m, __u32 tid)
{
	infer_cause(t, m, tid);
	if (t->cause == GRT_WAKE_FENCE && m->fence_tid == tid) {
		t->ctx = m->ctx;
		t->seqno = m->seqno;
	} else if (t->cause != GRT_WAKE_DISPLAY) {
		m->fence_tid = m->display_tid = ~0U;
	}
}

static __always_inline void set_waker(struct grt_bpf_thread *t, struct task_struct *waker, __u32 flags)
{
	t->by = flags & PF_KTHREAD ? GRT_WAKER_KERNEL : GRT_WAKER_THREAD;
	t->cause = flags & PF_EXITING ? GRT_WAKE_EXIT : 0;
	t->waker = MINE(waker, pid);
	t->waker_pid = MINE(waker, tgid);
	if (!HAS_HELPER(get_current_task_btf)) {
		bpf_get_current_comm(t->waker_comm, sizeof(t->waker_comm));
		return;
	}
	t->waker_comm[0] = *(const __u64 *)&waker->comm[0];
	t->waker_comm[1] = *(const __u64 *)&waker->comm[8];
}

static __always_inline void set_interrupt(struct grt_bpf_thread *t)
{
	t->cause = 0;
	t->by = GRT_WAKER_INTERRUPT;
	t->waker = t->waker_pid = 0;
	t->waker_comm[0] = t->waker_comm[1] = 0;
}

/* Return: the most important of the causes. */
static __always_inline __u32 cause_of(__u32 causes)
{
	__u32 cause = 0;

#pragma unroll
	for (__u32 i = 1; i <= GRT_WAKE_DISPLAY; i++)
		if (causes >> i & 1)
			cause = i;
	return cause;
}

static __noinline int look_at_stack(void *ctx, struct grt_bpf_thread *t)
{
	struct mark *m = my_mark();
	__u32 tid = (__u32)bpf_get_current_pid_tgid(), causes;

	if (!t)
		return 0;
	causes = causes_on_stack(ctx, m->display_tid == tid ? m->sender : 0);
	if (causes >> BPF_IN_INTERRUPT & 1)
		set_interrupt(t);
	if (causes)
		t->cause = cause_of(causes);
	use_mark(t, m, tid);
	return 0;
}

/* The running thread, or an interrupt in it, wakes a thread. */
static __always_inline void see_waker(void *ctx, struct grt_bpf_thread *t)
{
	struct task_struct *waker = my_task();
	struct pt_regs *regs = my_regs();
	__u32 flags = MINE(waker, flags);

	t->inferred = 0;
	t->ctx = t->seqno = 0;
	if (is_interrupt(ctx, regs)) {
		set_interrupt(t);
	} else {
		set_waker(t, waker, flags);
		if (!(flags & PF_KTHREAD) && CALL_NUMBER(regs) >= 0 && t->reason != GRT_THREAD_GPU &&
		    !has_marked(t->waker))
			return;
	}
	look_at_stack(ctx, t);
}

#endif /* GRTRACE_BPF_WAKERS_H */
