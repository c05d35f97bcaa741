// SPDX-License-Identifier: GPL-2.0
/*
 * Display: vertical blanks, and the events that clients requested.
 *
 *	drm_vblank_event            (int crtc, unsigned int seq, ktime_t time,
 *				    bool high_prec): VBLANK
 *	drm_vblank_event_queued     (struct drm_file *, int crtc, unsigned int
 *				    seq): VBLANK_QUEUED, by the client
 *	drm_vblank_event_delivered  the same arguments: VBLANK_DELIVERED, in an
 *				    interrupt or worker; its process is the
 *				    client's
 *
 * The same in Linux 5.15 to 7.3 (drivers/gpu/drm/drm_trace.h). Nothing says
 * which device the CRTC is of, so with several of them CRTCs of the same index
 * are one. A vertical blank is of no process: a filter does not reject it.
 */
#include "common.h"

SEC("raw_tp/drm_vblank_event")
int vblank_event(struct bpf_raw_tracepoint_args *ctx)
{
	struct out_vblank *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	at = c ? begin_vblank(c, cpu) : 0;
	if (!at)
		return 0;
	at->ev.crtc = ctx->args[0];
	at->ev.vseq = ctx->args[1];
	at->ev.stamp = ctx->args[2];
	at->ev.high_prec = !!(__u8)ctx->args[3];
	event_submit(at, c);
	return 0;
}

SEC("raw_tp/drm_vblank_event_queued")
int vblank_queued(struct bpf_raw_tracepoint_args *ctx)
{
	struct out_comm_vblank_queued *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;
	__u32 cpu;

	c = my_counts_if_wanted(&cpu, &pid_tgid);
	at = c ? begin_comm_vblank_queued(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.file = opaque(ctx->args[0]);
	at->ev.crtc = ctx->args[1];
	at->ev.vseq = ctx->args[2];
	event_submit(at, c);
	return 0;
}

/* The process that opened it, 0 for the kernel itself. */
static __always_inline __u32 pid_of(struct drm_file *file)
{
	return file ? BPF_CORE_READ(file, pid, numbers[0].nr) : 0;
}

/* The process's number in our namespace. */
static __always_inline __u32 number_here(struct drm_file *file)
{
	return config.pid_ns && file ? number_in_ns(BPF_CORE_READ(file, pid)) : pid_of(file);
}

SEC("raw_tp/drm_vblank_event_delivered")
int vblank_delivered(struct bpf_raw_tracepoint_args *ctx)
{
	struct drm_file *file = (void *)ctx->args[0];
	struct out_vblank_delivered *at;
	__u32 pid = pid_of(file), cpu;
	struct grt_bpf_counts *c;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	/* the running thread is not the one meant, and a process has many names */
	if ((config.pid && config.pid != number_here(file)) || config.comm[0])
		return count_filtered(c);
	at = begin_vblank_delivered(c, cpu);
	if (!at)
		return 0;
	at->ev.e.pid = pid;
	at->ev.file = opaque((__u64)file);
	at->ev.crtc = ctx->args[1];
	at->ev.vseq = ctx->args[2];
	event_submit(at, c);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
