// SPDX-License-Identifier: GPL-2.0
/*
 * The trace events of grtrace_trace.h: events that are delivered, or that are lost for lack of
 * room, are also passed to programs that are attached by ftrace, perf or BPF.
 */
#include <linux/module.h>

#include "core.h"

#define CREATE_TRACE_POINTS
#include "grtrace_trace.h"

DEFINE_STATIC_KEY_FALSE(grtrace_traced);

/* Called for the first and the last listener of each event. */
int grtrace_trace_begin(void)
{
	static_branch_inc(&grtrace_traced);
	return 0;
}

void grtrace_trace_end(void)
{
	static_branch_dec(&grtrace_traced);
}

/* By type; NULL: there is no trace event. */
#undef GRT_TRACE_EVENT
#define GRT_TRACE_EVENT(name, NAME) \
	[GRT_EV_##NAME] = trace_grtrace_##name,

static void (*const traces[])(const struct grt_event *e) = {
#define GRT_EVENT(id, NAME, name, CLASS, LEVEL, WHO, fields, help) GRT_TRACE(CLASS)(name, NAME)
#include <grtrace/events.def>
#undef GRT_EVENT
};

/** grtrace_trace - hands an event to its trace event; interrupts off */
void grtrace_trace(const struct grt_event *e)
{
	if (e->type < ARRAY_SIZE(traces) && traces[e->type])
		traces[e->type](e);
}
