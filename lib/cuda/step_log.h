/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * The calls of each process of a CUDA recording, and the GPU work for them, in
 * order of time: steps and collectives are found in this log.
 *
 * A call with its work takes 88 bytes, a range of NVTX 32, for at most GRT_STEP_LOG_MAX of each in a process;
 * further ones are counted. Of many calls and work, most is in a file, see base/spill.h.
 */
#ifndef GRT_CUDA_STEP_LOG_H
#define GRT_CUDA_STEP_LOG_H

#include <grtrace/grtrace.h>

#include "base/spill.h"
#include "launches.h"
#include "nccl_log.h"

#define GRT_STEP_LOG_MAX (1U << 22)

/** enum grt_step_class - classes of GPU work */
enum grt_step_class {
	GRT_STEP_COMPUTES,     /* a kernel */
	GRT_STEP_COMMUNICATES, /* a kernel of NCCL or RCCL, by its name */
	GRT_STEP_COPIES,       /* a copy or a fill */
	GRT_STEP_CLASSES,
};

/**
 * struct grt_step_call - a call of a process
 * @name: string of the kernel that it launched, 0 for a graph
 * @node: its stack, 0: none
 * @works: it has GPU work
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
 * struct grt_step_work - GPU work whose begin and end are known
 * @call: index of its call, UINT32_MAX: the call is not in the log
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
 * @image: NULL: unknown
 * @call: sorted by begin; NULL before that
 * @work: sorted by device and start; NULL before that. Go through it by grt_step_log_next()
 * @call_bytes, @work_bytes: what both are made of
 * @range: sorted by begin; ranges that are completely in the requested time
 * @nccl: its collectives
 * @over: calls, work and ranges beyond GRT_STEP_LOG_MAX
 */
struct grt_step_process {
	const struct grt_image *image;
	struct grt_step_call *call;
	uint32_t calls;
	struct grt_step_work *work;
	uint32_t works;
	struct grt_spill call_bytes;
	struct grt_spill work_bytes;
	struct grt_step_range *range;
	uint32_t ranges, range_room;
	struct grt_nccl_log nccl;
	uint64_t over;
};

struct grt_step_log;

/**
 * grt_step_log_new - begins
 * @launches: the joiner, which lives as long as @out; its sink calls grt_step_log_work(). It gets
 *	definitions of process images before grt_step_log_event(), and launches and work after it
 * Return: 0 or -ENOMEM
 */
int grt_step_log_new(struct grt_step_log **out, struct grt_launches *launches);

/** grt_step_log_within - the time of grt_launches_within() */
void grt_step_log_within(struct grt_step_log *l, uint64_t from, uint64_t to);

/** grt_step_log_is_whole - whether the log covers the whole trace */
bool grt_step_log_is_whole(const struct grt_step_log *l);

/** grt_step_log_event - processes an event of any type. Return: 0 or -ENOMEM */
int grt_step_log_event(struct grt_step_log *l, const struct grt_event *e);

/** grt_step_log_work - see struct grt_launches_sink. Return: 0 or -ENOMEM */
int grt_step_log_work(struct grt_step_log *l, const struct grt_event *e, const struct grt_image *image,
		      const struct grt_launch *launch, enum grt_launched_how how);

/** grt_step_log_sort - sorts the log after grt_launches_flush(). Return: number of processes, or -ENOMEM */
int64_t grt_step_log_sort(struct grt_step_log *l);

/** grt_step_log_process - a process by number, from 0; some have neither calls nor work */
const struct grt_step_process *grt_step_log_process(const struct grt_step_log *l, uint32_t number);

/** grt_step_log_uuid - the UUID of a device by the process's number for it; NULL: unknown */
const char *grt_step_log_uuid(struct grt_step_log *l, uint32_t process, uint32_t gpu);

/** grt_step_log_count - counts of launches and work */
struct grt_launches_count grt_step_log_count(const struct grt_step_log *l);

/* As many calls or work as have up to GRT_SPILL_BYTES. */
#define GRT_STEP_LOG_NEAR (GRT_SPILL_BYTES / 64)

/** grt_step_log_leave - earlier calls and work are not needed soon */
static inline void grt_step_log_leave(const struct grt_step_process *p)
{
	grt_spill_leave(&p->call_bytes);
	grt_spill_leave(&p->work_bytes);
}

/** grt_step_log_next - the next work, or call, of those who go through all */
static inline uint32_t grt_step_log_next(const struct grt_step_process *p, uint32_t i)
{
	if (!(++i % GRT_STEP_LOG_NEAR))
		grt_step_log_leave(p);
	return i;
}

/** grt_step_log_first_work - the first work of a device that starts at or after a moment; @p->works: none */
uint32_t grt_step_log_first_work(const struct grt_step_process *p, uint32_t gpu, uint64_t from);

/** grt_step_log_first_call - the first call that begins at or after a moment; @p->calls: none */
uint32_t grt_step_log_first_call(const struct grt_step_process *p, uint64_t from);

/** grt_step_log_free - frees it; NULL is allowed */
void grt_step_log_free(struct grt_step_log *l);

#endif /* GRT_CUDA_STEP_LOG_H */
