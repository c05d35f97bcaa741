/* SPDX-License-Identifier: GPL-2.0 */
/* What BPF programs and their loader share: settings, counters, and the contents of the ring buffer. */
#ifndef GRTRACE_BPF_SHARED_H
#define GRTRACE_BPF_SHARED_H

#include <grtrace/event.h>
#include <grtrace/type_set.h>

#include "trace/duty.h"

#define BPF_COMM 16
#define BPF_RING 32
#define BPF_DRIVER 16
#define BPF_BUS 32
/* Most device files of one GPU. */
#define BPF_GPU_FILES 3
#define BPF_MAJORS 8

/* The limit of the number of CPUs, each of which has its own counts. */
#define BPF_CPUS_MAX 1024

/**
 * struct grt_bpf_registers - registers of a thread's program; @fp: its frame pointer; @link: its link
 * register, if it has one
 */
struct grt_bpf_registers {
	__u64 pc;
	__u64 sp;
	__u64 fp;
	__u64 link;
	__u32 tid;
	__u32 reserved;
};

/* Waking the reader costs more than an event. So it polls, and is woken only when this many events wait. */
#define BPF_WAKE_EVENTS 512

/* The size of a ring buffer that is not used: a page of any architecture. */
#define BPF_KEPT_NONE (1U << 16)

/* Most functions of the kernel that `sched` recognises; more than bpf_wakers.def has. */
#define BPF_WAKERS 48

/* grt_bpf_code.cause, beside enum grt_wake_cause: interrupts run there. */
#define BPF_IN_INTERRUPT 31U

/**
 * struct grt_bpf_code - a function of the kernel, or several adjacent ones with the same purpose
 * @size: bytes, 0: the end of the list
 * @cause: enum grt_wake_cause: why it wakes threads; or BPF_IN_INTERRUPT
 */
struct grt_bpf_code {
	__u64 start;
	__u32 size;
	__u32 cause;
};

/**
 * struct grt_bpf_config - settings of a capture; constants for the programs
 * @pid: only this process (thread group); 0: all
 * @comm: only threads of this name; empty: all
 * @ring: only jobs of rings of this name; empty: all
 * @one_gpu: only jobs of the GPU at @bus, and calls on its device files, which are the @devices that are not
 *	0
 * @bus: with @one_gpu: its address; empty: unknown
 * @types: types of events that are wanted
 * @secret: hides the kernel's addresses in numbers of objects, see opaque()
 * @driver: only rings of this driver; for `fence`: the driver whose fences are jobs; empty: all
 * @stacks: BPF_STACK_* to take at each SUBMIT
 * @majors: major numbers of NVIDIA's device files, for `nvidia`; 0: no more
 * @self: the pid of this process, whose own calls `nvsched` ignores; 0: it records them
 * @refused: for `nvsched`: also calls that failed, on any file
 * @xid_event: the driver has a tracepoint for Xids, so its messages in the kernel's log are repetitions
 * @tree: for uprobes: only processes that @self has started, and their descendants
 * @pid_ns: the inode of the pid namespace of @pid and @self, if it is not the first one; uprobes report
 *	numbers of this namespace, too
 * @all_fences: for sync_wait: another source of this recording records jobs, so it is unknown here whether a
 *	fence belongs to a job
 * @cut_keys: a job's numbers are those of its fence, cut to 32 bits
 * @duty: the windows; without parts: record all the time
 * @whole: one JOB record for each job of the DRM scheduler, in place of its events
 * @sums: with @whole: no record for a job that has a place in the sums, see struct grt_bpf_sum
 * @kept: with @sums: a record of each such job is kept, for a recording of the last seconds
 * @wakers: for `sched`: functions that wake threads
 */
struct grt_bpf_config {
	__u32 pid;
	__u32 one_gpu;
	__u32 devices[BPF_GPU_FILES];
	struct grt_type_set types;
	__u64 secret;
	char comm[BPF_COMM];
	char ring[BPF_RING];
	char driver[BPF_RING];
	char bus[BPF_BUS];
	__u32 stacks;
	__u32 majors[BPF_MAJORS];
	__u32 self;
	__u32 refused;
	__u32 xid_event;
	__u32 tree;
	__u32 pid_ns;
	__u32 all_fences;
	__u32 cut_keys;
	__u32 whole;
	__u32 sums;
	__u32 kept;
	struct grt_duty duty;
	struct grt_bpf_code wakers[BPF_WAKERS];
};

/**
 * struct grt_bpf_gate - what programs look at before they do anything. The loader writes @armed and @until,
 * the programs write the rest
 * @armed: for record --duty, see gate.h: a window is near
 * @open: number of jobs and calls that began in a window and have not ended
 * @deps: a job has waited for a fence of no job
 * @parts: with grt_bpf_config.whole: some jobs are reported event by event
 * @until: windows that begin at this time, ns, or later are not recorded, because they have no WINDOW record
 *	yet
 */
struct grt_bpf_gate {
	__u32 armed;
	__u32 open;
	__u32 deps;
	__u32 parts;
	__u64 until;
};

/* grt_bpf_config.stacks */
#define BPF_STACK_USER 1U
#define BPF_STACK_KERNEL 2U
#define BPF_STACK_TABLES 4U /* programs walk stacks with unwind tables */

#define BPF_STACK_DEPTH 127
#define BPF_STACKS_MAX 16384
/* A thread may be taken off the CPU anywhere. */
#define BPF_STACKS_MAX_SCHED 65536

/* In STACK records of the programs: no stack. Other numbers are those of the stack map, plus 1. */
#define BPF_STACK_NONE 0U

/**
 * struct grt_bpf_counts - counts of one CPU: events that were offered, and those that did not get into the
 * ring buffer
 * @wanted: offered, and not rejected by a filter
 * @filtered: offered, and rejected
 * @lost: wanted, but there was no room
 * @unmatched: reports of a driver that could not be joined to a job
 * @no_stack: stacks for which the table had no room
 * @whole: jobs that were submitted and are one JOB record each, except those whose record had no room
 * @summed: of @whole, those that are in sums and have no record, or one that is kept
 * @replaced: events from which these are made; the JOB event of a record that is kept is not among them
 */
struct grt_bpf_counts {
	__u64 wanted;
	__u64 filtered;
	__u64 lost;
	__u64 unmatched;
	__u64 no_stack;
	__u64 whole;
	__u64 summed;
	__u64 replaced;
};

/* grt_bpf_record.labels */
#define BPF_HAS_COMM 1U
#define BPF_HAS_TEXT 2U
#define BPF_HAS_HIT 8U	/* a struct nv_hit comes first */
#define BPF_HAS_XID 16U /* a struct grt_bpf_xid comes before the struct grt_bpf_text */
#define BPF_HAS_CALL 4U /* not an event, but a record for the source's decoder */

/**
 * struct grt_bpf_record - a record in the ring buffer: this struct, then struct nv_hit, struct grt_bpf_comm
 * or struct grt_bpf_text if @labels says so, then the event
 * @cpu: where it happened
 * @labels: BPF_HAS_*
 */
struct grt_bpf_record {
	__u32 cpu;
	__u32 labels;
};

/** struct grt_bpf_comm - names of the running thread and of its process; @owner empty: both are the same */
struct grt_bpf_comm {
	char comm[BPF_COMM];
	char owner[BPF_COMM];
};

/* The size of a record that is kept: a struct grt_bpf_record, a struct grt_bpf_comm and a struct grt_ev_job.
 */
#define BPF_KEPT_BYTES \
	(sizeof(struct grt_bpf_record) + sizeof(struct grt_bpf_comm) + sizeof(struct grt_ev_job))

/** struct job_key - a fence is the job's identity */
struct job_key {
	__u64 ctx;
	__u64 seqno;
};

/* job.state */
#define JOB_DONE 1U	    /* it has completed */
#define JOB_END_BY_FENCE 2U /* its driver may not report its END; then COMPLETE reports it, inferred */
#define JOB_STARTED 4U	    /* START was reported; it is not reported again after a preemption */
#define JOB_WHOLE 8U	    /* it is part of a struct whole */

/* grt_ev_job.inferred: the third of a job's times is inferred */
#define JOB_START_INFERRED 4U

/**
 * struct job - the submitter of a job, for events in interrupts and workers
 * @state: JOB_*
 * @error: error of the hardware's fence, which the finished fence may lack
 */
struct job {
	__u32 pid;
	__u32 tid;
	__u32 ring;
	__u32 device;
	__u32 hw_ctx;
	__u32 state;
	__s32 error;
	__u32 pad;
};

/**
 * struct whole - a job that is reported once, at its end, with the contents of its JOB record
 * @job: data that every job has; this job is not in the table of jobs that are reported event by event
 * @submit, @commit, @end: ns, 0: not yet
 * @start: with sums, when the job ends: when it began, by the order of its ring; 0: unknown
 * @comm: name of the submitter
 */
struct whole {
	struct job job;
	__u64 submit;
	__u64 commit;
	__u64 start;
	__u64 end;
	__u32 cmd;
	__u32 sw_depth;
	__u32 hw_depth;
	__u32 pad;
	struct grt_bpf_comm comm;
};

/*
 * Sums of jobs in place of records, for a view that needs no single job. Each process on each ring has a
 * place, which the loader gives it; jobs without one are records. The loader sets a moment in the near future
 * at which the next sums begin, so that two of them are in use in turns: a job belongs to the one in whose
 * time it was complete. A job that was submitted before that time is a record, too: the views before it had a
 * part of it.
 */
#define BPF_SUM_ROWS 64U
#define BPF_SUM_NO_ROW 0xffffffffU

/* As GRT_HIST_BITS; jobs that take longer, 2^40 ns, are records. The number of cells is a power of two. */
#define BPF_SUM_BITS 9
#define BPF_SUM_BUCKETS (1U << BPF_SUM_BITS)
#define BPF_SUM_OCTAVES 32U
#define BPF_SUM_CELLS (BPF_SUM_OCTAVES * BPF_SUM_BUCKETS)

/** grt_bpf_sum_cell - the cell of a time, as in grt_hist_value(), without an instruction that finds the
 * highest bit. Return: BPF_SUM_CELLS: it is too long */
static inline __attribute__((always_inline)) __u32 grt_bpf_sum_cell(__u64 ns)
{
	__u64 high = ns >> BPF_SUM_BITS, rest = high;
	__u32 octave = 0;

	if (!high)
		return (__u32)ns;
	if (high >> (BPF_SUM_OCTAVES - 1))
		return BPF_SUM_CELLS;
	if (rest >> 16) {
		octave += 16;
		rest >>= 16;
	}
	if (rest >> 8) {
		octave += 8;
		rest >>= 8;
	}
	if (rest >> 4) {
		octave += 4;
		rest >>= 4;
	}
	if (rest >> 2) {
		octave += 2;
		rest >>= 2;
	}
	octave += (__u32)(rest >> 1);
	return (octave + 1) * BPF_SUM_BUCKETS + (__u32)(ns >> octave & (BPF_SUM_BUCKETS - 1));
}

/** struct grt_bpf_sum_key - a process on a ring, which is a grt_bpf_ring.id; 0: one that has no place */
struct grt_bpf_sum_key {
	__u32 pid;
	__u32 ring;
};

/** struct grt_bpf_sum_place - @row: the first sum of two is this many pairs from the beginning, or
 * BPF_SUM_NO_ROW; @ring: number of its struct grt_bpf_sum_ring */
struct grt_bpf_sum_place {
	__u32 row;
	__u32 ring;
};

/**
 * struct grt_bpf_sum_ring - the order of a ring's jobs
 * @inside: programs that use the ring or its sums; only one does at a time
 * @last_end: of its jobs so far, ns, if one has @ended
 * @firmware: which job runs is unknown
 */
struct grt_bpf_sum_ring {
	__u64 inside;
	__u64 last_end;
	__u32 ended;
	__u32 firmware;
};

/** struct grt_bpf_sum_hist - times; @sum, @min, @max: ns; @octaves: a bit for each with counts in @cell */
struct grt_bpf_sum_hist {
	__u64 sum;
	__u64 min;
	__u64 max;
	__u32 octaves;
	__u32 pad;
	__u32 cell[BPF_SUM_CELLS];
};

/**
 * struct grt_bpf_sum - jobs that ended
 * @timed: both ends of t_exec are known, @untimed: not
 * @last_end, @last_commit: the latest, ns
 * @tid, @comm: who submitted the last one
 */
struct grt_bpf_sum {
	__u64 timed;
	__u64 untimed;
	__u64 last_end;
	__u64 last_commit;
	__u32 tid;
	__u32 pad;
	struct grt_bpf_comm comm;
	struct grt_bpf_sum_hist exec;
	struct grt_bpf_sum_hist queue;
};

/** struct grt_bpf_sum_times - @since: when the time of either sum begins, ns; the loader writes it */
struct grt_bpf_sum_times {
	__u64 since[2];
};

/*
 * Bytes of a message of the kernel log: the part before an Xid's text, and as much of the text as an event
 * holds.
 */
#define BPF_TEXT 320

/** struct grt_bpf_text - the beginning of the text from which the event is made; NUL terminated */
struct grt_bpf_text {
	char text[BPF_TEXT];
};

/* Most threads that `sched` follows. */
#define BPF_THREADS_MAX 65536

/**
 * struct grt_bpf_thread - for `sched`: a thread that is followed, by its tid
 * @since: when it came on the CPU, or left it, ns
 * @woken: when it was last woken; earlier than @since: not since then
 * @number: number of intervals off the CPU so far
 * @state: the kernel's state of the thread when it left
 * @call: number of the system call that it was in, -1: none
 * @fd, @device: file of this call if it belongs to a GPU, see grt_ev_off_cpu
 * @reason: enum grt_thread_state as far as the programs know it, else 0
 * @on: it is on a CPU
 * @waker, @waker_pid, @waker_comm, @by, @cause: who last woke it, see grt_ev_asleep
 * @inferred: @cause is only what the waker did last
 * @ctx, @seqno: the fence that was signalled then
 * @ran: its time on CPUs by the kernel's count when it left, ns
 */
struct grt_bpf_thread {
	__u64 since;
	__u64 woken;
	__u64 number;
	__u64 ctx;
	__u64 seqno;
	__u32 pid;
	__u32 user;
	__u32 kernel;
	__u32 state;
	__s32 call;
	__u32 fd;
	__u32 device;
	__u32 reason;
	__u32 on;
	__u32 waker;
	__u32 waker_pid;
	__u32 by;
	__u32 cause;
	__u32 inferred;
	__u32 pad;
	__u64 waker_comm[2];
	__u64 ran;
};

/** struct grt_bpf_xid - the values of the tracepoint: the device's address, the beginning of the message */
struct grt_bpf_xid {
	char device[32];
	char message[BPF_TEXT];
};

/**
 * struct grt_bpf_nv_file - a row of the iterator of `nvsched`: a file that its programs know, and the file's
 * process
 */
struct grt_bpf_nv_file {
	__u64 file;
	__u32 pid;
	__u32 pad;
};

/**
 * struct grt_bpf_hit - a hit of a uprobe. If @depth is not 0, the addresses of the stack follow it
 * @correlation: number of the launch; 0: the function @function was entered
 * @image: a number that is different for each program that a process runs
 * @caller: address to which the function returns, which a walk by frame pointers leaves out
 * @stack: number in the tables of stacks, plus 1; 0: it is not in a table
 * @end: enum grt_stack_end
 * @walked: with unwind tables; otherwise by the kernel
 */
struct grt_bpf_hit {
	__u64 time;
	__u64 correlation;
	__u64 image;
	__u64 caller;
	__u32 pid;
	__u32 tid;
	__u32 stack;
	__u32 function;
	__u32 depth;
	__u32 cpu;
	__u32 end;
	__u32 walked;
};

/* GRT_PRESENT_COMMIT: the programs find out which requests to a Wayland compositor are commits. */
#define BPF_PRESENT_COMMIT 0x4006U

/**
 * struct grt_bpf_ring_key - identifies a ring. All three members must agree, because addresses are reused
 * @address: address of its scheduler or queue, or a number that stands for it
 * @device: address of the device, 0: unknown
 */
struct grt_bpf_ring_key {
	__u64 address;
	__u64 device;
	char name[BPF_RING];
};

/**
 * struct grt_bpf_ring - the names of a ring
 * @id: in grt_event.ring, never reused for another ring; the loader replaces it by a short number
 * @denied: it is not the requested ring
 * @bus: address of the GPU on its bus; empty: unknown
 */
struct grt_bpf_ring {
	__u32 id;
	__u32 device;
	__u32 denied;
	__u32 pad;
	char name[BPF_RING];
	char driver[BPF_DRIVER];
	char bus[BPF_BUS];
};

/*
 * Most rings that are known at a time. Some drivers make a ring for each queue; the ring that was not used
 * for the longest time is dropped.
 */
#define BPF_RINGS_MAX 8192

/* grt_bpf_job_format: the record has no such field. */
#define BPF_NO_FIELD 0xffffU

/**
 * struct grt_bpf_job_format - offsets in bytes of the fields in the record of a DRM scheduler's tracepoint
 * @name, @device: names of the ring and the device
 * @name_in_record: @name is the offset of the text in the record; otherwise its address
 * @fence: address of a fence: the job's, or that of its dependency
 * @id: id of the job on its ring
 * @sw_depth, @hw_depth: lengths of the queues
 * @ctx, @seqno: identity of the job
 * @dep_ctx, @dep_seqno: identity of its dependency
 */
struct grt_bpf_job_format {
	__u16 name;
	__u16 name_in_record;
	__u16 device;
	__u16 fence;
	__u16 id;
	__u16 sw_depth;
	__u16 hw_depth;
	__u16 ctx;
	__u16 seqno;
	__u16 dep_ctx;
	__u16 dep_seqno;
	__u16 pad;
};

/**
 * struct grt_bpf_format - the tracepoints by step of a job's life, whichever generation of names they have
 */
struct grt_bpf_format {
	struct grt_bpf_job_format queue;
	struct grt_bpf_job_format run;
	struct grt_bpf_job_format dep;
};

/* Names in the kernel's memory whose addresses programs compare. */
#define GRT_BPF_SYMBOLS(X)         \
	X(dma_fence_array_ops)     \
	X(dma_fence_chain_ops)     \
	X(syncobj_wait_fence_func) \
	X(dma_fence_default_wait_cb)

/** struct grt_bpf_symbols - their addresses; 0: this kernel does not have the name, or hides it */
struct grt_bpf_symbols {
#define X(name) __u64 name;
	GRT_BPF_SYMBOLS(X)
#undef X
};

/** struct grt_bpf_symbol - a name, which ends with a 0, and its address */
struct grt_bpf_symbol {
	__u64 name[4];
	__u64 address;
};

#endif /* GRTRACE_BPF_SHARED_H */
