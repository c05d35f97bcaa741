/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The queue that NVIDIA's driver for unified memory has for tools: events of one address space, which is an
 * open file /dev/nvidia-uvm of a program. Its buffers are memory of this process, into which the driver
 * writes.
 *
 * Source: the open kernel modules, tags 570.86.15 to 595.45.04 (uvm_ioctl.h, uvm_types.h, uvm_tools.c). The
 * parts used here are the same in all of them. x86-64 and arm64 have the same layouts.
 */
#ifndef GRTRACE_NV_UVM_H
#define GRTRACE_NV_UVM_H

#include <stdbool.h>
#include <stddef.h>
#include <stdint.h>

/* All files of the driver have the same major number; the tools' file has this minor number. */
#define NV_UVM_TOOLS_MINOR 1
#define NV_UVM_TOOLS_FILE "/dev/nvidia-uvm-tools"

/* Processors that the driver distinguishes; 0 is the CPU. */
#define NV_UVM_PROCESSORS 257
/* Types of events; from NV_UVM_EVENTS on they are those of tests. */
#define NV_UVM_TYPES 64
#define NV_UVM_EVENTS 15

/* NV_STATUS: the program has not initialised its file yet, or the file has no address space. */
#define NV_UVM_NOT_YET 0x16
/* In place of an NV_STATUS: the ioctl itself has failed, and errno has the reason. */
#define NV_UVM_NO_ANSWER 0xffffffffU

/** enum nv_uvm_type - UvmEventType: the first byte of an entry */
enum nv_uvm_type {
	NV_UVM_CPU_FAULT = 1,
	NV_UVM_MIGRATION,
	NV_UVM_GPU_FAULT,
	NV_UVM_GPU_REPLAY,
	NV_UVM_OVERFLOW,
	NV_UVM_FATAL,
	NV_UVM_READ_DUPLICATE,
	NV_UVM_DUPLICATE_ENDS,
	NV_UVM_PAGE_SIZE,
	NV_UVM_THRASHING,
	NV_UVM_THROTTLING,
	NV_UVM_THROTTLING_ENDS,
	NV_UVM_MAP_REMOTE,
	NV_UVM_EVICTION,
};

/* In every layout, @time is CLOCK_MONOTONIC_RAW, ns; @gpu_time is the GPU's clock, ns. */
struct nv_uvm_cpu_fault {
	uint8_t type, access;
	uint32_t cpu;
	uint64_t address, time;
	uint32_t pid, tid;
	uint64_t pc;
};

/** struct nv_uvm_migration - @end: 0: unknown; @range_group: 0: none */
struct nv_uvm_migration {
	uint8_t type, cause;
	uint16_t reserved, source, target;
	int32_t source_node, target_node;
	uint64_t address, bytes, begin, end, range_group, gpu_begin, gpu_end;
};

/** struct nv_uvm_gpu_fault - @client_type: NV_UVM_CLIENT_GPC: it is replayed */
struct nv_uvm_gpu_fault {
	uint8_t type, fault;
	uint16_t gpu, unit, client;
	uint64_t address, time, gpu_time;
	uint32_t batch;
	uint8_t client_type, access;
};
#define NV_UVM_CLIENT_GPC 1

struct nv_uvm_replay {
	uint8_t type, client_type;
	uint16_t gpu;
	uint32_t batch;
	uint64_t time, gpu_time;
};

struct nv_uvm_fatal {
	uint8_t type, fault, access, reason;
	uint16_t processor;
	uint64_t address, time;
};

/** struct nv_uvm_group - thrashing, read-duplicate: @processors are bits */
struct nv_uvm_group {
	uint8_t type;
	uint64_t address, size, time;
	uint64_t processors[(NV_UVM_PROCESSORS + 63) / 64];
};

/** struct nv_uvm_alone - the end of read-duplicate */
struct nv_uvm_alone {
	uint8_t type;
	uint16_t processor;
	uint64_t address, size, time;
};

/** struct nv_uvm_throttle - throttling, and its end */
struct nv_uvm_throttle {
	uint8_t type;
	uint16_t processor;
	uint64_t address, time;
};

struct nv_uvm_page_size {
	uint8_t type;
	uint16_t processor;
	uint32_t size;
	uint64_t address, time;
};

/** struct nv_uvm_remote - @source uses memory of @target */
struct nv_uvm_remote {
	uint8_t type, cause;
	uint16_t reserved, source, target;
	uint64_t address, size, time, gpu_time;
};

struct nv_uvm_eviction {
	uint8_t type;
	uint16_t reserved, source, target;
	uint64_t address, wanted, size, time;
};

/** union nv_uvm_entry - an entry of the queue (UvmEventEntry_V2) */
union nv_uvm_entry {
	uint8_t type;
	struct nv_uvm_cpu_fault cpu_fault;
	struct nv_uvm_migration migration;
	struct nv_uvm_gpu_fault gpu_fault;
	struct nv_uvm_replay replay;
	struct nv_uvm_fatal fatal;
	struct nv_uvm_group group;
	struct nv_uvm_alone alone;
	struct nv_uvm_throttle throttle;
	struct nv_uvm_page_size page_size;
	struct nv_uvm_remote remote;
	struct nv_uvm_eviction eviction;
};

struct nv_uvm_control;

/**
 * struct nv_uvm - a queue
 * @file: the tools' device
 * @target: the program's file, duplicated; -1: the queue has no address space yet
 * @ring: @entries entries
 * @seen: number of entries that were read; @dropped: the driver's count of dropped ones, by type
 */
struct nv_uvm {
	int file;
	int target;
	const union nv_uvm_entry *ring;
	struct nv_uvm_control *control;
	uint32_t entries;
	uint32_t get;
	uint64_t seen;
	uint64_t dropped[NV_UVM_TYPES];
};

/** nv_uvm_new - opens the tools' device. @entries: a power of 2. Return: 0 or -errno; nv_uvm_close() also
 * after an error */
int nv_uvm_new(struct nv_uvm *q, uint32_t entries);

/**
 * nv_uvm_bind - binds the queue to an address space; nothing comes yet
 * @target: the program's file, which the queue owns from then on if it was bound
 * Return: NV_STATUS
 */
uint32_t nv_uvm_bind(struct nv_uvm *q, int target);

/** nv_uvm_on - events come from now on: all types below NV_UVM_EVENTS. Return: NV_STATUS */
uint32_t nv_uvm_on(struct nv_uvm *q);

/** nv_uvm_off - no further events come */
void nv_uvm_off(struct nv_uvm *q);

/**
 * nv_uvm_flush - makes the driver put all events up to now into the queues of all programs. Return: NV_STATUS
 */
uint32_t nv_uvm_flush(struct nv_uvm *q);

/**
 * nv_uvm_uuids - gets the UUIDs of the processors of the address space; zeroes: there is none. Return:
 * NV_STATUS
 */
uint32_t nv_uvm_uuids(struct nv_uvm *q, uint8_t uuid[NV_UVM_PROCESSORS][16]);

/** nv_uvm_ready - whether there are entries to be read */
bool nv_uvm_ready(const struct nv_uvm *q);

/**
 * nv_uvm_read - reads the available entries
 * @take: gets a copy of each; a result other than 0 ends the call
 * Return: 0, the result of @take, or -EIO: the position in the queue is invalid
 */
int nv_uvm_read(struct nv_uvm *q, int (*take)(void *arg, const union nv_uvm_entry *e), void *arg);

/** nv_uvm_lost - number of events that found no room so far */
uint64_t nv_uvm_lost(struct nv_uvm *q);

/** nv_uvm_close - gives the program's file back, and everything else */
void nv_uvm_close(struct nv_uvm *q);

#endif /* GRTRACE_NV_UVM_H */
