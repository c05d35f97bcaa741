/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * What each process of a CUDA recording called, and what the GPU did for it, in the
 * order of time: what steps and collectives are looked for in.
 *
 * Memory is 88 bytes for a call with its work, 32 for a range of NVTX, and for no more than
 * GRT_STEP_LOG_MAX of each in a process; those beyond are counted.
 */
#ifndef GRT_CUDA_STEP_LOG_H
#define GRT_CUDA_STEP_LOG_H

#include <grtrace/grtrace.h>

#include "launches.h"
#include "nccl_log.h"

#define GRT_STEP_LOG_MAX (1U << 22)

/** enum grt_step_class - what work of the GPU is for */
enum grt_step_class {
	GRT_STEP_COMPUTES,     /* a kernel */
	GRT_STEP_COMMUNICATES, /* a kernel of NCCL or RCCL, by its name */
	GRT_STEP_COPIES,       /* a copy or a fill */
	GRT_STEP_CLASSES,
};

/**
 * struct grt_step_call - a call of a process
 * @name: string of the kernel that it launched, of a graph 0
 * @node: its stack, 0: none
 * @works: the GPU did something for it
 */
struct grt_step_call {
	uint64_t begin;
	uint64_t end;
	uint32_t tid;
	uint32_t node;
	uint32_t name;
	uint16_t call;
	bool works;
};

/**
 * struct grt_step_work - what the GPU did; both stamps are known
 * @call: index of its call, UINT32_MAX: that is not in the log
 * @launched: begin of the call, 0: unknown; @node: its stack
 * @key: for grt_nccl_log_find(), 0: none; @replayed: it is work of a graph
 */
struct grt_step_work {
	uint64_t start;
	uint64_t end;
	uint64_t launched;
	uint64_t key;
	uint32_t name;
	uint32_t node;
	uint32_t call;
	uint32_t gpu;
	uint16_t context;
	uint16_t stream;
	uint8_t class;
	bool replayed;
};

/** struct grt_step_range - a range of NVTX that has ended, or a mark, which is a moment; @domain, @name:
 * strings */
struct grt_step_range {
	uint64_t begin;
	uint64_t end;
	uint32_t tid;
	uint32_t domain;
	uint32_t name;
	bool mark;
};

/**
 * struct grt_step_process - a process image; its arrays are in order after grt_step_log_sort()
 * @image: NULL: nothing is known of it
 * @call: by begin
 * @work: by device, then start
 * @range: by begin; those of which all is in the time that counts
 * @nccl: its collectives
 * @over: calls, work and ranges beyond GRT_STEP_LOG_MAX
 */
struct grt_step_process {
	const struct grt_image *image;
	struct grt_step_call *call;
	uint32_t calls, call_room;
	struct grt_step_work *work;
	uint32_t works, work_room;
	struct grt_step_range *range;
	uint32_t ranges, range_room;
	struct grt_nccl_log nccl;
	uint64_t over;
};

struct grt_step_log;

/** grt_step_log_new - begins. Return: 0 or -ENOMEM */
int grt_step_log_new(struct grt_step_log **out);

/** grt_step_log_within - see grt_launches_within() */
void grt_step_log_within(struct grt_step_log *l, uint64_t from, uint64_t to);

/** grt_step_log_is_whole - whether no time was given that does not count */
bool grt_step_log_is_whole(const struct grt_step_log *l);

/** grt_step_log_event - takes in an event of any type. Return: 0 or -ENOMEM */
int grt_step_log_event(struct grt_step_log *l, const struct grt_event *e);

/** grt_step_log_sort - the trace is over. Return: how many processes there are, or -ENOMEM */
int64_t grt_step_log_sort(struct grt_step_log *l);

/** grt_step_log_process - a process by number, from 0; some have neither calls nor work */
const struct grt_step_process *grt_step_log_process(const struct grt_step_log *l, uint32_t number);

/** grt_step_log_uuid - of the device that a process has a number for; NULL: unknown */
const char *grt_step_log_uuid(struct grt_step_log *l, uint32_t process, uint32_t gpu);

/** grt_step_log_count - what was met */
struct grt_launches_count grt_step_log_count(const struct grt_step_log *l);

/** grt_step_log_first_work - the first work of a device that starts at or behind a moment; @p->works: none
 * does */
uint32_t grt_step_log_first_work(const struct grt_step_process *p, uint32_t gpu, uint64_t from);

/** grt_step_log_first_call - the first call that begins at or behind a moment; @p->calls: none does */
uint32_t grt_step_log_first_call(const struct grt_step_process *p, uint64_t from);

/** grt_step_log_free - frees it; NULL is allowed */
void grt_step_log_free(struct grt_step_log *l);

#endif /* GRT_CUDA_STEP_LOG_H */
