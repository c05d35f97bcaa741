/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The events of a job's life cycle as trace events grtrace:grtrace_<name>, for
 * ftrace, perf and BPF, made from the rows of events.def.
 *
 * TRACE_EVENT wants the same fields in four forms. So a row's fields become a
 * sequence (type, name, kind)(type, name, kind)..., along which trace_fields.def
 * walks: GRT_WALK(FORM, sequence).
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM grtrace

#if !defined(GRTRACE_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define GRTRACE_TRACE_H

#include <linux/tracepoint.h>

#include <grtrace/event.h>

int grtrace_trace_begin(void);
void grtrace_trace_end(void);

#undef GRT_U
#undef GRT_I
#undef GRT_STR
#define GRT_U(bits, name, base, help) (u##bits, name, base##bits)
#define GRT_I(bits, name, help)	      (s##bits, name, SIGNED##bits)
#define GRT_STR(size, name, help)

#include "trace_fields.def"

/* The common part of every trace event; pid and tid are those of struct grt_event. */
#undef GRT_TRACE_EVENT
#define GRT_TRACE_EVENT(name, fields)                                              \
	TRACE_EVENT_FN(grtrace_##name,                                             \
		TP_PROTO(const struct grt_event *e),                               \
		TP_ARGS(e),                                                        \
		TP_STRUCT__entry(                                                  \
			__field(u64, ctx)                                          \
			__field(u64, seqno)                                        \
			__field(u64, time)                                         \
			__field(u32, ring)                                         \
			__field(u32, device)                                       \
			__field(u32, pid)                                          \
			__field(u32, tid)                                          \
			__field(u16, flags)                                        \
			__field(u8, engine)                                        \
			__field(u8, sample)                                        \
			GRT_WALK(ENTRY, fields)                                    \
		),                                                                 \
		TP_fast_assign(                                                    \
			const struct grt_ev_##name *ev = (const void *)e;          \
			__entry->ctx = ev->e.ctx;                                  \
			__entry->seqno = ev->e.seqno;                              \
			__entry->time = ev->e.time;                                \
			__entry->ring = ev->e.ring;                                \
			__entry->device = ev->e.device;                            \
			__entry->pid = ev->e.pid;                                  \
			__entry->tid = ev->e.tid;                                  \
			__entry->flags = ev->e.flags;                              \
			__entry->engine = ev->e.engine;                            \
			__entry->sample = ev->e.sample;                            \
			GRT_WALK(ASSIGN, fields)                                   \
		),                                                                 \
		TP_printk("ctx=%llu seqno=%llu ring=%d device=%u engine=%u pid=%u tid=%u sample=%u flags=0x%x time=%llu" \
			  GRT_WALK(FORMAT, fields),                                \
			  __entry->ctx, __entry->seqno, (int)__entry->ring,        \
			  __entry->device, __entry->engine, __entry->pid,          \
			  __entry->tid, __entry->sample, __entry->flags,           \
			  __entry->time GRT_WALK(VALUE, fields)),                  \
		grtrace_trace_begin, grtrace_trace_end)

/* Classes around jobs have trace events; events of other classes exist only in the stream. */
#define GRT_TRACED_job 1
#define GRT_TRACED_wait 1
#define GRT_TRACED_irq 1
#define GRT_TRACED_error 1
#define GRT_TRACED_command 1
#define GRT_TRACED_dep 1
#define GRT_TRACE_1(name, fields) GRT_TRACE_EVENT(name, fields)
#define GRT_TRACE_0(name, fields)
#define GRT_TRACE(CLASS) __PASTE(GRT_TRACE_, __is_defined(GRT_TRACED_##CLASS))

#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) GRT_TRACE(CLASS)(name, fields);
#include <grtrace/events.def>
#undef GRT_EVENT
#undef GRT_U
#undef GRT_I
#undef GRT_STR

#endif /* GRTRACE_TRACE_H */

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE grtrace_trace
#include <trace/define_trace.h>
