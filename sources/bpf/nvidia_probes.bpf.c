// SPDX-License-Identifier: GPL-2.0
/*
 * Functions of NVIDIA's kernel modules, entered and left, for `--probes`. The two
 * programs are attached to all of them; the cookie says which one it is
 * (nvidia_probes.def). A call is one FUNC record, when it returns.
 *
 * The interrupted thread has nothing to do with an interrupt: events of interrupts and
 * timers carry no process, and no filter by process rejects them.
 *
 * A return that has no entry, or an entry that finds another one in its place, is
 * counted as unmatched: the kernel follows a limited number of calls at a time.
 */
#include "common.h"
#include "nvidia_probes.h"

/** struct place - a thread, or a CPU if there is none, that is inside a function; one for each function */
struct place {
	__u64 who;
	__u64 row;
};

struct entered {
	__u64 time;
	struct nv_hit hit;
};

struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 16384);
	__type(key, struct place);
	__type(value, struct entered);
} nv_entered SEC(".maps");

/** struct out_hit - the record for the loader, which makes the texts of the event */
struct out_hit {
	struct grt_bpf_record r;
	struct nv_hit hit;
	struct grt_bpf_comm comm;
	struct grt_ev_func ev;
};

static __always_inline int is_threadless(__u64 cookie)
{
	return NV_COOKIE_KIND(cookie) == NV_KIND_IRQ || NV_COOKIE_KIND(cookie) == NV_KIND_TIMER;
}

static __always_inline struct place place_of(__u64 cookie)
{
	struct place at = {.row = NV_COOKIE_ROW(cookie)};

	at.who = is_threadless(cookie) ? bpf_get_smp_processor_id() : bpf_get_current_pid_tgid();
	return at;
}

static __always_inline __u32 bus_of(__u64 nv)
{
	__u32 domain = 0;
	__u8 bus = 0, slot = 0;

	bpf_probe_read_kernel(&domain, sizeof(domain), (void *)(nv + NV_STATE_DOMAIN));
	bpf_probe_read_kernel(&bus, sizeof(bus), (void *)(nv + NV_STATE_BUS));
	bpf_probe_read_kernel(&slot, sizeof(slot), (void *)(nv + NV_STATE_SLOT));
	return domain << 16 | bus << 8 | (slot & 0x1f) << 3;
}

static __always_inline void read_device(struct nv_hit *hit, __u64 device)
{
	const char *name = BPF_CORE_READ((struct device *)device, kobj.name);

	bpf_probe_read_kernel_str(hit->address, sizeof(hit->address), name);
}

static __always_inline void read_arguments(struct nv_hit *hit, struct pt_regs *ctx)
{
	switch (NV_COOKIE_SHAPE(hit->cookie)) {
	case NV_SHAPE_IRQ_NV:
		hit->first = (__u32)ARG_1(ctx);
		hit->bus = bus_of(ARG_2(ctx));
		break;
	case NV_SHAPE_NV:
		hit->bus = bus_of(ARG_1(ctx));
		break;
	case NV_SHAPE_VMA:
		hit->first = BPF_CORE_READ((struct vm_area_struct *)ARG_1(ctx), vm_start);
		hit->second = BPF_CORE_READ((struct vm_area_struct *)ARG_1(ctx), vm_end) - hit->first;
		break;
	case NV_SHAPE_VM_FAULT:
		hit->first = BPF_CORE_READ((struct vm_fault *)ARG_1(ctx), address);
		break;
	case NV_SHAPE_FIRST:
	case NV_SHAPE_FIRST_LENGTH:
		hit->first = ARG_1(ctx);
		hit->second = ARG_2(ctx);
		break;
	case NV_SHAPE_THIRD:
	case NV_SHAPE_THIRD_LENGTH:
		hit->first = ARG_3(ctx);
		hit->second = ARG_4(ctx);
		break;
	case NV_SHAPE_DEVICE:
		read_device(hit, ARG_1(ctx));
		break;
	case NV_SHAPE_STATE:
		hit->first = (__u32)ARG_1(ctx);
		break;
	}
}

static __always_inline int is_wanted(__u64 cookie)
{
	if (config.one_gpu)
		return 0;
	return is_threadless(cookie) || thread_wanted(bpf_get_current_pid_tgid() >> 32);
}

SEC("kprobe")
int function_enter(struct pt_regs *ctx)
{
	struct entered in = {.hit.cookie = bpf_get_attach_cookie(ctx)};
	struct place at = place_of(in.hit.cookie);
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c || !is_wanted(in.hit.cookie))
		return 0;
	if (bpf_map_lookup_elem(&nv_entered, &at))
		COUNT(c->unmatched);
	read_arguments(&in.hit, ctx);
	in.time = bpf_ktime_get_ns();
	bpf_map_update_elem(&nv_entered, &at, &in, BPF_ANY);
	return 0;
}

static __always_inline struct out_hit *begin_hit(struct grt_bpf_counts *c, __u32 cpu, __u64 *stamp)
{
	struct out_hit *at = begin_reserve(c, GRT_EV_FUNC, sizeof(*at), stamp);

	if (!at)
		return 0;
	__builtin_memset(at, 0, sizeof(*at));
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_HIT;
	begin_event(&at->ev.e, *stamp, GRT_EV_FUNC, sizeof(at->ev));
	return at;
}

static __always_inline void set_thread(struct out_hit *at)
{
	__u64 pid_tgid = bpf_get_current_pid_tgid();

	at->r.labels |= BPF_HAS_COMM;
	set_current(&at->ev.e, pid_tgid);
	fill_comm(&at->comm, pid_tgid);
}

SEC("kretprobe")
int function_leave(struct pt_regs *ctx)
{
	__u64 cookie = bpf_get_attach_cookie(ctx), stamp;
	struct place at = place_of(cookie);
	struct grt_bpf_counts *c;
	struct entered *in;
	struct out_hit *out;
	__u32 cpu;

	c = my_counts(&cpu);
	if (!c)
		return 0;
	if (!is_wanted(cookie))
		return count_filtered(c);
	in = bpf_map_lookup_elem(&nv_entered, &at);
	if (!in) {
		COUNT(c->unmatched);
		return 0;
	}
	out = begin_hit(c, cpu, &stamp);
	if (out) {
		out->hit = in->hit;
		out->ev.step = GRT_FUNC_RETURNED;
		out->ev.known = GRT_FUNC_TOOK | (NV_COOKIE_RETURNS(cookie) ? GRT_FUNC_RET : 0);
		out->ev.took = stamp - in->time;
		out->ev.ret = NV_COOKIE_RETURNS(cookie) ? (__s64)(__s32)RESULT(ctx) : 0;
		if (!is_threadless(cookie))
			set_thread(out);
		event_submit(out, c);
	}
	bpf_map_delete_elem(&nv_entered, &at);
	return 0;
}

char LICENSE[] SEC("license") = "GPL";
