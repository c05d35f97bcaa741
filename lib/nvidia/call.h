/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A system call that the decoder needs, as the BPF program recorded it when the call returned. A fuzzer
 * makes up such calls, too. The decoder trusts no member.
 */
#ifndef GRT_NVIDIA_CALL_H
#define GRT_NVIDIA_CALL_H

#include <linux/types.h>

#define GRT_NV_HEAD 48
#define GRT_NV_PARAMS 144

/** enum grt_nv_kind - kinds of calls */
enum grt_nv_kind {
	GRT_NV_IOCTL,  /* an ioctl returned */
	GRT_NV_CLOSED, /* a descriptor of @file was closed */
	GRT_NV_OPENED, /* a new file was opened at the address of @file, which no longer exists */
	GRT_NV_EXEC,   /* process @pid runs another program: its descriptors may be closed */
	GRT_NV_EXIT,   /* the last thread of process @pid ends: its descriptors will be closed */
};

/* grt_nv_call.flags */
#define GRT_NV_FOREIGN 1U /* the file does not belong to NVIDIA's driver: no driver has answered */

/**
 * struct grt_nv_call - a system call
 * @time: the time of its return, CLOCK_MONOTONIC ns
 * @file: the same number is the same open file; 0: none
 * @kind: enum grt_nv_kind
 * @nr: number of the ioctl, without its wrapper
 * @size: size of its struct, from the ioctl's number
 * @ret: its return value
 * @user, @kernel: numbers of the thread's stacks, 0: none
 * @head_size, @params_size: bytes of @head and @params that could be read
 * @head: the beginning of the struct, after the call
 * @params: the beginning of what it points to: parameters of an alloc or a control; of a control of the
 *	heap its union
 */
struct grt_nv_call {
	__u64 time;
	__u64 file;
	__u32 pid;
	__u32 tid;
	__u32 kind;
	__u32 nr;
	__u32 size;
	__s32 ret;
	__u32 cpu;
	__u32 flags;
	__u32 user;
	__u32 kernel;
	__u32 head_size;
	__u32 params_size;
	__u8 head[GRT_NV_HEAD];
	__u8 params[GRT_NV_PARAMS];
};

#endif /* GRT_NVIDIA_CALL_H */
