// SPDX-License-Identifier: GPL-2.0
/*
 * Reads the format files of the DRM scheduler's tracepoints (Linux 5.15 to 7.3,
 * drivers/gpu/drm/scheduler/gpu_scheduler_trace.h). A row gives the meaning of a tracepoint's field. The
 * fields got other names between 6.14 and 6.17.
 */
#include "bpf_format.h"

#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "host/tracefs.h"

#define GROUP "gpu_scheduler"

/**
 * struct row - a field of a tracepoint
 * @field, @event: its name, and the name of the tracepoint
 * @place: where struct grt_bpf_format has its offset
 * @size: bytes; 0: any size
 */
struct row {
	const char *event;
	const char *field;
	size_t place;
	unsigned int size;
};

#define ROW(event, field, role, member, size)                                    \
	{                                                                        \
		event, field, offsetof(struct grt_bpf_format, role.member), size \
	}
#define ROWS_OF_JOB(event, role)                                                       \
	ROW(event, "name", role, name, 0), ROW(event, "job_count", role, sw_depth, 4), \
		ROW(event, "hw_job_count", role, hw_depth, 4)
#define ROWS_OF_FENCE(event, role) \
	ROW(event, "fence_context", role, ctx, 8), ROW(event, "fence_seqno", role, seqno, 8)

static const struct row rows[] = {
	ROWS_OF_JOB("drm_sched_job", queue),
	ROW("drm_sched_job", "fence", queue, fence, 8),
	ROW("drm_sched_job", "id", queue, id, 8),
	ROWS_OF_JOB("drm_run_job", run),
	ROW("drm_run_job", "fence", run, fence, 8),
	ROW("drm_sched_job_wait_dep", "name", dep, name, 0),
	ROW("drm_sched_job_wait_dep", "id", dep, id, 8),
	ROW("drm_sched_job_wait_dep", "fence", dep, fence, 8),

	ROWS_OF_JOB("drm_sched_job_queue", queue),
	ROWS_OF_FENCE("drm_sched_job_queue", queue),
	ROW("drm_sched_job_queue", "dev", queue, device, 0),
	ROWS_OF_JOB("drm_sched_job_run", run),
	ROWS_OF_FENCE("drm_sched_job_run", run),
	ROWS_OF_FENCE("drm_sched_job_unschedulable", dep),
	ROW("drm_sched_job_unschedulable", "ctx", dep, dep_ctx, 8),
	ROW("drm_sched_job_unschedulable", "seqno", dep, dep_seqno, 8),
};

static int no_field(const struct row *row, struct grt_err *err)
{
	return grt_err_set(err, -ENOENT, "this kernel's tracepoint has an unknown format",
			   "grtrace doctor --bug-report FILE", "no usable field %s in %s:%s", row->field,
			   GROUP, row->event);
}

static int grt_bpf_format_read_row(const struct row *row, const char *text, struct grt_bpf_format *format,
				   struct grt_err *err)
{
	struct grt_bpf_job_format *role;
	struct tracefs_field field;
	size_t member = row->place % sizeof(*role);
	__u16 offset;

	if (!tracefs_field(text, row->field, &field) || field.offset >= BPF_NO_FIELD ||
	    (row->size && field.size != row->size))
		return no_field(row, err);
	offset = (__u16)field.offset;
	memcpy((char *)format + row->place, &offset, sizeof(offset));
	role = (void *)((char *)format + (row->place - member));
	if (member == offsetof(struct grt_bpf_job_format, name))
		role->name_in_record = field.in_record;
	return 0;
}

int grt_bpf_format_read(int tracefs, struct grt_bpf_format *format, struct grt_err *err)
{
	const char *event = NULL;
	char *text = NULL;
	int ret = 0;

	memset(format, 0xff, sizeof(*format));
	for (size_t i = 0; !ret && i < sizeof(rows) / sizeof(rows[0]); i++) {
		if (!event || strcmp(event, rows[i].event)) {
			free(text);
			event = rows[i].event;
			text = tracefs_format(tracefs, GROUP, event);
		}
		ret = text ? grt_bpf_format_read_row(&rows[i], text, format, err) : 0;
	}
	free(text);
	return ret;
}
