/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoints of i915 that the adapter takes, with the arguments of the real
 * ones (Linux 5.15 to 7.3, drivers/gpu/drm/i915/i915_trace.h). Their records are
 * nobody's business here.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM i915

#if !defined(I915_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define I915_TRACE_H

#include <linux/tracepoint.h>

#define STAND_IN(name, proto, args)                                   \
	TRACE_EVENT(name, TP_PROTO proto, TP_ARGS args,               \
		TP_STRUCT__entry(__field(unsigned int, fired)),       \
		TP_fast_assign(__entry->fired = 1;),                  \
		TP_printk("fired=%u", __entry->fired))

STAND_IN(i915_request_queue, (struct i915_request *rq, u32 flags), (rq, flags));
STAND_IN(i915_request_add, (struct i915_request *rq), (rq));
STAND_IN(i915_request_retire, (struct i915_request *rq), (rq));
STAND_IN(i915_request_wait_begin, (struct i915_request *rq, unsigned int flags), (rq, flags));
STAND_IN(i915_request_wait_end, (struct i915_request *rq), (rq));
#ifdef LOW_LEVEL
STAND_IN(i915_request_in, (struct i915_request *rq, unsigned int port), (rq, port));
STAND_IN(i915_request_out, (struct i915_request *rq), (rq));
#endif
STAND_IN(i915_gem_object_create, (struct drm_i915_gem_object *obj), (obj));
STAND_IN(i915_gem_object_destroy, (struct drm_i915_gem_object *obj), (obj));
STAND_IN(i915_gem_object_fault, (struct drm_i915_gem_object *obj, u64 index, bool gtt, bool write),
	 (obj, index, gtt, write));
STAND_IN(i915_vma_bind, (struct i915_vma *vma, unsigned int flags), (vma, flags));
STAND_IN(i915_vma_unbind, (struct i915_vma *vma), (vma));
STAND_IN(i915_gem_shrink, (struct drm_i915_private *i915, unsigned long target, unsigned int flags),
	 (i915, target, flags));

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE i915_trace
#include <trace/define_trace.h>
