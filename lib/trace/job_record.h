/* SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause */
/*
 * A JOB record replaces the events of a job. This file restores the events, for code that
 * joins jobs from events.
 */
#ifndef GRT_TRACE_JOB_RECORD_H
#define GRT_TRACE_JOB_RECORD_H

#include <grtrace/grtrace.h>

/* SUBMIT, COMMIT, START, END, ERROR, COMPLETE. */
#define GRT_JOB_PARTS_MAX 6

/** struct grt_job_part - one of the events; @e is the beginning of each */
struct grt_job_part {
	union {
		struct grt_event e;
		struct grt_ev_submit submit;
		struct grt_ev_commit commit;
		struct grt_ev_start start;
		struct grt_ev_end end;
		struct grt_ev_error error;
		struct grt_ev_complete complete;
	};
};

/** struct grt_job_parts - the @n events of a record, in the order of a job's life */
struct grt_job_parts {
	struct grt_job_part of[GRT_JOB_PARTS_MAX];
	unsigned int n;
};

/**
 * grt_job_split - the events that a record replaces, with their time stamps
 *
 * Several ERROR events become one. Waits are left out, because the
 * record only has their number and the time stamp of the first one.
 * @e: a record of type JOB
 */
void grt_job_split(const struct grt_event *e, struct grt_job_parts *out);

/** grt_job_replaced - the number of events that the record replaces, as far as they were counted */
uint64_t grt_job_replaced(const struct grt_event *e);

#endif /* GRT_TRACE_JOB_RECORD_H */
