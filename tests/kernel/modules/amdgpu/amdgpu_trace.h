/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of amdgpu that the adapter takes, with the arguments of the
 * real ones (Linux 5.15 to 7.3, drivers/gpu/drm/amd/amdgpu/amdgpu_trace.h). Their
 * records are nobody's business here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM amdgpu

#if !defined(AMDGPU_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define AMDGPU_TRACE_H

#include <linux/tracepoint.h>

#define STAND_IN(name, proto, args)                                   \
	TRACE_EVENT(name, TP_PROTO proto, TP_ARGS args,               \
		TP_STRUCT__entry(__field(unsigned int, fired)),       \
		TP_fast_assign(__entry->fired = 1;),                  \
		TP_printk("fired=%u", __entry->fired))

STAND_IN(amdgpu_cs_ioctl, (struct amdgpu_job *job), (job));
STAND_IN(amdgpu_sched_run_job, (struct amdgpu_job *job), (job));
STAND_IN(amdgpu_iv, (unsigned int ih, struct amdgpu_iv_entry *iv), (ih, iv));
STAND_IN(amdgpu_bo_create, (struct amdgpu_bo *bo), (bo));
STAND_IN(amdgpu_bo_move, (struct amdgpu_bo *bo, u32 to, u32 from), (bo, to, from));
STAND_IN(amdgpu_vm_bo_map, (struct amdgpu_bo_va *va, struct amdgpu_bo_va_mapping *mapping), (va, mapping));
STAND_IN(amdgpu_vm_bo_unmap, (struct amdgpu_bo_va *va, struct amdgpu_bo_va_mapping *mapping), (va, mapping));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE amdgpu_trace
#include <trace/define_trace.h>
