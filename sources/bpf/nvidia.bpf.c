// SPDX-License-Identifier: GPL-2.0
/*
 * System calls on NVIDIA's device files, and the driver's Xid messages; works
 * with every driver, since none of its own functions is looked at.
 *
 *	open, openat, openat2   OPEN when it is left, by the new file's device;
 *				one that failed by its path, /dev/nvidia*
 *	close                   CLOSE when it is entered: later the file is gone.
 *	sched_process_exit      CLOSE of what a process leaves open, if its OPEN
 *				was seen: descriptors below 1024
 *	ioctl                   IOCTL_ENTER, IOCTL_EXIT: type 'F' (resource
 *				manager), 'm' (modeset) and 0 (UVM); when it
 *				is left also the class or control that it was
 *				about, and the driver's own answer
 *	mmap                    MMAP when it is left
 *	poll, ppoll             POLL when it is entered, for the first 16 files
 *	nvidia_dev_xid		XID, where the driver has this tracepoint
 *	printk:console          XID of messages that begin with "NVRM: Xid", where
 *				it has not; where it has, the message is kept
 *				for the XID that the thread reports next: it
 *				names the process. Also of those that begin with
 *				"nvidia-nvswitchN: SXid": errors of NVSwitches
 *
 * Not seen: poll through epoll and select; dup, fork and exec, so a child's
 * close of a file that it has inherited is a CLOSE without OPEN; close_range;
 * calls of 32-bit programs.
 *
 * Each program looks whether the file is a character device of one of the
 * majors in the settings. The first thing that a program for messages does is
 * to compare nine bytes: a kernel that prints much is not slowed down.
 */
#include "calls.h"
#include "nv_frame.h"

#define MAP_ANONYMOUS 0x20
#define POLL_FILES 16
#define UNKNOWN 0xffffffffU
#define EXIT_FILES 1024

/** struct poll_file, open_how - as in the uapi */
struct poll_file {
	__s32 fd;
	__s16 events;
	__s16 revents;
};

struct open_how {
	__u64 flags;
};

/* Processes whose OPEN was seen. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 8192);
	__type(key, __u32);
	__type(value, __u32);
} holders SEC(".maps");

/* Return: the device of a descriptor; 0: it is not an NVIDIA device. */
static __always_inline __u32 nvidia_of(__u32 fd)
{
	__u32 device = device_of(my_task(), fd);

	return has_major(device) ? device : 0;
}

/*
 * Return: the counters for an event of the running thread on a device; NULL: it is not wanted, which is
 * counted
 */
static __always_inline struct grt_bpf_counts *my_counts_on(__u32 device, __u32 *cpu, __u64 *pid_tgid)
{
	struct grt_bpf_counts *c = my_counts_if_wanted(cpu, pid_tgid);

	if (!c || (!is_recorder(*pid_tgid >> 32) && device_wanted(device)))
		return c;
	count_filtered(c);
	return 0;
}

/* ------------------------------------------------------------- open, close */

static __always_inline int is_nvidia_path(const char *path)
{
	static const char begin[] = "/dev/nvidia";
	char text[sizeof(begin)];

	if (bpf_probe_read_user_str(text, sizeof(text), path) != sizeof(text))
		return 0;
#pragma unroll
	for (int i = 0; i < sizeof(begin) - 1; i++)
		if (text[i] != begin[i])
			return 0;
	return 1;
}

static __always_inline int opened(const char *path, __u32 flags, __s64 ret)
{
	__u32 device = ret >= 0 ? nvidia_of(ret) : 0, pid, one = 1, cpu;
	struct out_comm_open *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;

	if (!device && (ret >= 0 || !is_nvidia_path(path)))
		return 0;
	c = my_counts_on(device, &cpu, &pid_tgid);
	at = c ? begin_comm_open(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.fd = ret;
	at->ev.oflags = flags;
	event_submit(at, c);
	pid = pid_tgid >> 32;
	if (device)
		bpf_map_update_elem(&holders, &pid, &one, BPF_ANY);
	return 0;
}

SEC("tp/syscalls/sys_exit_open")
int exit_open(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();

	return opened((const char *)CALL_1(regs), CALL_2(regs), ctx->ret);
}

SEC("tp/syscalls/sys_exit_openat")
int exit_openat(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();

	return opened((const char *)CALL_2(regs), CALL_3(regs), ctx->ret);
}

SEC("tp/syscalls/sys_exit_openat2")
int exit_openat2(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();
	struct open_how how = {};

	bpf_probe_read_user(&how, sizeof(how), (void *)CALL_3(regs));
	return opened((const char *)CALL_2(regs), how.flags, ctx->ret);
}

/* Not inlined, because it is called in loops: the verifier checks it once. */
__noinline int put_close(__u32 fd, __u32 device, __u32 at_exit)
{
	struct out_comm_close *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;
	__u32 cpu;

	c = my_counts_on(device, &cpu, &pid_tgid);
	at = c ? begin_comm_close(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.fd = fd;
	at->ev.at_exit = at_exit;
	event_submit(at, c);
	return 0;
}

SEC("tp/syscalls/sys_enter_close")
int enter_close(struct syscall_enter *ctx)
{
	__u32 device = nvidia_of(ctx->args[0]);

	return device ? put_close(ctx->args[0], device, 0) : 0;
}

/* Global and not inlined, so that the kernel verifies it once and not for each descriptor. */
__noinline int close_at_exit(__u32 fd)
{
	__u32 device = nvidia_of(fd);

	if (device)
		put_close(fd, device, 1);
	return 0;
}

/* A process ends with its last thread; only the program that takes its entry continues. */
SEC("raw_tp/sched_process_exit")
int process_exit(struct bpf_raw_tracepoint_args *ctx)
{
	struct task_struct *task = (void *)ctx->args[0];
	__u32 pid = BPF_CORE_READ(task, tgid);

	if (!bpf_map_lookup_elem(&holders, &pid) || BPF_CORE_READ(task, signal, live.counter) ||
	    bpf_map_delete_elem(&holders, &pid))
		return 0;
	for (__u32 fd = 0; fd < EXIT_FILES; fd++)
		close_at_exit(fd);
	return 0;
}

/* ------------------------------------------------------------- ioctl, mmap, poll */

static __always_inline int is_nvidia_type(__u32 cmd)
{
	return IOCTL_TYPE(cmd) == 'F' || IOCTL_TYPE(cmd) == 'm' || !IOCTL_TYPE(cmd);
}

SEC("tp/syscalls/sys_enter_ioctl")
int enter_ioctl(struct syscall_enter *ctx)
{
	__u32 cmd = ctx->args[1], device, cpu;
	struct out_comm_ioctl_enter *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;

	if (!is_nvidia_type(cmd))
		return 0;
	device = nvidia_of(ctx->args[0]);
	c = device ? my_counts_on(device, &cpu, &pid_tgid) : 0;
	at = c ? begin_comm_ioctl_enter(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.cmd = cmd;
	at->ev.fd = ctx->args[0];
	at->ev.arg = ctx->args[2];
	event_submit(at, c);
	call_stack(ctx, c, cpu, pid_tgid);
	return 0;
}

/* Offsets of class or control, and of the answer, in a struct. */
#define NOWHERE 0xffffU
struct places {
	__u32 about;
	__u32 status;
};

static __always_inline struct places places_of_alloc(__u32 size)
{
	struct places p = {NV_ALLOC_CLASS, size == NV_ALLOC_SIZE_64 ? NV_ALLOC_STATUS_64 : NV_ALLOC_STATUS};

	return p;
}

static __always_inline struct places places_of(const struct frame *f)
{
	struct places p = {NOWHERE, NOWHERE};

	switch (f->nr) {
	case NV_ESC_RM_ALLOC:
		return places_of_alloc(f->size);
	case NV_ESC_RM_CONTROL:
		p.about = NV_CONTROL_CMD;
		p.status = NV_CONTROL_STATUS;
		break;
	case NV_ESC_RM_ALLOC_MEMORY:
		p.about = NV_MEMORY_CLASS;
		p.status = NV_MEMORY_STATUS;
		break;
	case NV_ESC_RM_FREE:
		p.status = NV_FREE_STATUS;
		break;
	case NV_ESC_RM_DUP_OBJECT:
		p.status = NV_DUP_STATUS;
		break;
	case NV_ESC_RM_IDLE_CHANNELS:
		p.status = NV_IDLE_STATUS;
		break;
	case NV_ESC_RM_VID_HEAP_CONTROL:
		p.status = NV_HEAP_STATUS;
		break;
	case NV_ESC_RM_MAP_MEMORY:
		p.status = NV_MAP_STATUS;
		break;
	case NV_ESC_RM_MAP_MEMORY_DMA:
		p.status = f->size == NV_MAP_DMA_SIZE ? NV_MAP_DMA_STATUS : NV_MAP_DMA_STATUS_580;
		break;
	case NV_ESC_ALLOC_OS_EVENT:
	case NV_ESC_FREE_OS_EVENT:
		p.status = NV_OS_EVENT_STATUS;
		break;
	}
	return p;
}

static __always_inline struct places places_of_uvm(__u32 cmd)
{
	struct places p = {NOWHERE, NOWHERE};

	switch (cmd) {
#define GRT_NV_UVM(number, name, answer)                      \
	case number:                                          \
		p.status = (answer) < 0 ? NOWHERE : (answer); \
		break;
#include "../../lib/codes/nv_uvm.def"
#undef GRT_NV_UVM
	}
	return p;
}

/* 0: there is no such field; all bits set: it cannot be read. */
static __always_inline __u32 word_at(const struct frame *f, __u32 place)
{
	__u32 word;

	if (place == NOWHERE)
		return 0;
	if (place + sizeof(word) > f->size ||
	    bpf_probe_read_user(&word, sizeof(word), (void *)(f->at + place)))
		return UNKNOWN;
	return word;
}

/* The driver copies its answer back unless the ioctl itself fails; the request is there in any case. */
static __always_inline void look_inside(struct grt_ev_ioctl_exit *ev, __u64 arg)
{
	struct frame f = frame_of(ev->cmd, arg);
	struct places p;

	if (!IOCTL_TYPE(ev->cmd)) {
		p = places_of_uvm(ev->cmd);
		f.size = NOWHERE; /* these ioctls have no sizes in their numbers */
	} else if (IOCTL_TYPE(ev->cmd) != NV_IOCTL_TYPE) {
		return;
	} else if (unwrap(&f)) {
		ev->about = ev->status = UNKNOWN;
		return;
	} else {
		p = places_of(&f);
	}
	ev->about = word_at(&f, p.about);
	ev->status = ev->ret < 0 && p.status != NOWHERE ? UNKNOWN : word_at(&f, p.status);
}

SEC("tp/syscalls/sys_exit_ioctl")
int exit_ioctl(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();
	__u32 cmd = CALL_2(regs), device, cpu;
	struct out_ioctl_exit *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;

	if (!is_nvidia_type(cmd))
		return 0;
	device = nvidia_of(CALL_1(regs));
	c = device ? my_counts_on(device, &cpu, &pid_tgid) : 0;
	at = c ? begin_ioctl_exit(c, cpu) : 0;
	if (!at)
		return 0;
	set_current(&at->ev.e, pid_tgid);
	at->ev.e.device = device;
	at->ev.cmd = cmd;
	at->ev.ret = ctx->ret;
	look_inside(&at->ev, CALL_3(regs));
	event_submit(at, c);
	return 0;
}

SEC("tp/syscalls/sys_exit_mmap")
int exit_mmap(struct syscall_exit *ctx)
{
	struct pt_regs *regs = my_regs();
	struct out_comm_mmap *at;
	struct grt_bpf_counts *c;
	__u32 device, cpu;
	__u64 pid_tgid;

	if (CALL_4(regs) & MAP_ANONYMOUS)
		return 0;
	device = nvidia_of(CALL_5(regs));
	c = device ? my_counts_on(device, &cpu, &pid_tgid) : 0;
	at = c ? begin_comm_mmap(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.addr = ctx->ret;
	at->ev.length = CALL_2(regs);
	event_submit(at, c);
	return 0;
}

__noinline int put_poll(__u32 fd, __u32 events, __u32 device)
{
	struct out_comm_poll *at;
	struct grt_bpf_counts *c;
	__u64 pid_tgid;
	__u32 cpu;

	c = my_counts_on(device, &cpu, &pid_tgid);
	at = c ? begin_comm_poll(c, cpu, pid_tgid) : 0;
	if (!at)
		return 0;
	at->ev.e.device = device;
	at->ev.fd = fd;
	at->ev.events = events;
	event_submit(at, c);
	return 0;
}

static __always_inline int polled(__u64 files, __u32 n)
{
	struct poll_file p;
	__u32 device;

	for (__u32 i = 0; i < POLL_FILES && i < n; i++) {
		if (bpf_probe_read_user(&p, sizeof(p), (void *)(files + i * sizeof(p))))
			return 0;
		device = nvidia_of(p.fd);
		if (device)
			put_poll(p.fd, (__u16)p.events, device);
	}
	return 0;
}

SEC("tp/syscalls/sys_enter_poll")
int enter_poll(struct syscall_enter *ctx)
{
	return polled(ctx->args[0], ctx->args[1]);
}

SEC("tp/syscalls/sys_enter_ppoll")
int enter_ppoll(struct syscall_enter *ctx)
{
	return polled(ctx->args[0], ctx->args[1]);
}

/* ------------------------------------------------------------- Xid */

/** struct out_text_xid - the record for the loader, with the message, which it parses */
struct out_text_xid {
	struct grt_bpf_record r;
	struct grt_bpf_text text;
	struct grt_ev_xid ev;
};

static __always_inline struct out_text_xid *begin_text_xid(struct grt_bpf_counts *c, __u32 cpu)
{
	struct out_text_xid *at;
	__u64 stamp;

	if (!begin_counted(c, GRT_EV_XID))
		return 0;
	stamp = bpf_ktime_get_ns();
	at = bpf_ringbuf_reserve(&events, sizeof(*at), 0);
	if (!at) {
		COUNT(c->lost);
		return 0;
	}
	__builtin_memset(&at->ev, 0, sizeof(at->ev));
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_TEXT;
	begin_event(&at->ev.e, stamp, GRT_EV_XID, sizeof(at->ev));
	return at;
}

/** struct out_event_xid - of the tracepoint, with what the same thread has written to the log before */
struct out_event_xid {
	struct grt_bpf_record r;
	struct grt_bpf_xid xid;
	struct grt_bpf_text text;
	struct grt_ev_xid ev;
};

/* By thread: the message that it has written to the log. */
struct {
	__uint(type, BPF_MAP_TYPE_LRU_HASH);
	__uint(max_entries, 256);
	__type(key, __u64);
	__type(value, struct grt_bpf_text);
} nv_written SEC(".maps");

/* Too large for the BPF stack. */
struct {
	__uint(type, BPF_MAP_TYPE_PERCPU_ARRAY);
	__uint(max_entries, 1);
	__type(key, __u32);
	__type(value, struct grt_bpf_text);
} nv_room SEC(".maps");

static __always_inline int keep_message(const char *message)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct grt_bpf_text *room;
	__u32 zero = 0;

	room = bpf_map_lookup_elem(&nv_room, &zero);
	if (room && bpf_probe_read_kernel_str(room->text, sizeof(room->text), message) > 0)
		bpf_map_update_elem(&nv_written, &id, room, BPF_ANY);
	return 0;
}

/** struct xid_record - of nvidia:nvidia_dev_xid (its format file; the loader has compared it) */
struct xid_record {
	__u64 common;
	__u32 dev; /* the low half is the offset of the text in the record */
	__u32 error_code;
	__u32 msg;
};

static __always_inline void fill_xid(struct out_event_xid *at, struct xid_record *ctx)
{
	__u64 id = bpf_get_current_pid_tgid();
	struct grt_bpf_text *written = bpf_map_lookup_elem(&nv_written, &id);

	if (bpf_probe_read_kernel_str(at->xid.device, sizeof(at->xid.device),
				      (char *)ctx + (ctx->dev & 0xffff)) < 0)
		at->xid.device[0] = 0;
	if (bpf_probe_read_kernel_str(at->xid.message, sizeof(at->xid.message),
				      (char *)ctx + (ctx->msg & 0xffff)) < 0)
		at->xid.message[0] = 0;
	if (!written || bpf_probe_read_kernel_str(at->text.text, sizeof(at->text.text), written->text) < 0)
		at->text.text[0] = 0;
	at->ev.code = ctx->error_code;
	if (written)
		bpf_map_delete_elem(&nv_written, &id);
}

SEC("tp/nvidia/nvidia_dev_xid")
int device_xid(struct xid_record *ctx)
{
	struct out_event_xid *at;
	struct grt_bpf_counts *c;
	__u64 stamp;
	__u32 cpu;

	c = config.xid_event ? my_counts(&cpu) : 0;
	at = c ? begin_reserve(c, GRT_EV_XID, sizeof(*at), &stamp) : 0;
	if (!at)
		return 0;
	__builtin_memset(&at->ev, 0, sizeof(at->ev));
	at->r.cpu = cpu;
	at->r.labels = BPF_HAS_XID | BPF_HAS_TEXT;
	begin_event(&at->ev.e, stamp, GRT_EV_XID, sizeof(at->ev));
	fill_xid(at, ctx);
	event_submit(at, c);
	return 0;
}

/*
 * An error of a GPU is reported whatever process is requested, because the process in the message is not the
 * running one.
 */
static __always_inline int put_message(const char *message)
{
	struct out_text_xid *at;
	struct grt_bpf_counts *c;
	__u32 cpu;

	c = my_counts(&cpu);
	at = c ? begin_text_xid(c, cpu) : 0;
	if (!at)
		return 0;
	if (bpf_probe_read_kernel_str(at->text.text, sizeof(at->text.text), message) < 0)
		at->text.text[0] = 0;
	event_submit(at, c);
	return 0;
}

/* Longer than "nvidia-nvswitch12: SXid". */
#define MESSAGE_HEAD 24

/* The text is a part of the program's code: data would need a map. */
#define BEGINS(text, with)                                                                \
	({                                                                                \
		static const char with_[] = (with);                                       \
		int same_ = 1;                                                            \
                                                                                          \
		_Pragma("unroll") for (int i_ = 0; i_ < sizeof(with_) - 1; i_++) same_ &= \
			(text)[i_] == with_[i_];                                          \
		same_;                                                                    \
	})

/* Return: whether the text is an SXid with a number of one or two digits. */
static __always_inline int is_sxid(const char *text)
{
	return BEGINS(text, "nvidia-nvswitch") && text[15] >= '0' && text[15] <= '9' &&
	       (BEGINS(text + 16, ": SXid") || BEGINS(text + 17, ": SXid"));
}

SEC("raw_tp/console")
int console(struct bpf_raw_tracepoint_args *ctx)
{
	const char *message = (const char *)ctx->args[0];
	char text[MESSAGE_HEAD];

	if (ctx->args[1] < sizeof(text) || bpf_probe_read_kernel(text, sizeof(text), message))
		return 0;
	if (BEGINS(text, "NVRM: Xid"))
		return config.xid_event ? keep_message(message) : put_message(message);
	return is_sxid(text) ? put_message(message) : 0;
}

char LICENSE[] SEC("license") = "GPL";
