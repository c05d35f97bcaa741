/* SPDX-License-Identifier: GPL-2.0 */
/*
 * The tracepoint of NVIDIA's open driver from 575 on (nv-tracepoint.h), with its
 * record. The real one takes the device, of which it writes the name.
 */
#undef TRACE_SYSTEM
#define TRACE_SYSTEM nvidia

#if !defined(NVIDIA_TRACE_H) || defined(TRACE_HEADER_MULTI_READ)
#define NVIDIA_TRACE_H

#include <linux/tracepoint.h>

/* __assign_str() takes one argument less from 6.10 on. */
#define copy_text(field, text) memcpy(__get_dynamic_array(field), text, strlen(text) + 1)

TRACE_EVENT(nvidia_dev_xid,
	TP_PROTO(const char *name, u32 code, const char *text),
	TP_ARGS(name, code, text),
	TP_STRUCT__entry(
		__dynamic_array(char, dev, strlen(name) + 1)
		__field(u32, error_code)
		__dynamic_array(char, msg, strlen(text) + 1)
	),
	TP_fast_assign(
		copy_text(dev, name);
		__entry->error_code = code;
		copy_text(msg, text);
	),
	TP_printk("dev=%s error_code=%u msg=%s", __get_str(dev), __entry->error_code, __get_str(msg))
);

#endif

#undef TRACE_INCLUDE_PATH
#undef TRACE_INCLUDE_FILE
#define TRACE_INCLUDE_PATH .
#define TRACE_INCLUDE_FILE nvidia_trace
#include <trace/define_trace.h>
