// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Events of ftrace in a trace for Perfetto, printed as the kernel prints them: then they are read as text of
 * ftrace is. Field numbers are those of protos/perfetto/trace/ftrace of Perfetto v58.2.
 */
#include <inttypes.h>
#include <stdio.h>

#include "pftrace_packets.h"

#define FIELDS 16U

/* ftrace_event.proto, and a file for each subsystem. @print: %N and how the field N is printed: u, d, x, s */
static const struct ftrace_row {
	uint16_t field;
	const char *name;
	const char *print;
} rows[] = {
	{340, "gpu_mem_total", "gpu_id=%1u pid=%2u size=%3u"},
	{409, "drm_vblank_event", "crtc=%1d, seq=%3u, time=%4d, high-prec=%2u"},
	{410, "drm_vblank_event_delivered", "file=%2x, crtc=%1d, seq=%3u"},
	{411, "drm_sched_job", "entity=%1x, id=%4u, fence=%2x, ring=%6s, job count:%5u, hw job count:%3d"},
	{412, "drm_run_job", "entity=%1x, id=%4u, fence=%2x, ring=%6s, job count:%5u, hw job count:%3d"},
	{413, "drm_sched_process_job", "fence=%1x signaled"},
	{414, "dma_fence_init", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{415, "dma_fence_emit", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{416, "dma_fence_signaled", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{417, "dma_fence_wait_start", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{418, "dma_fence_wait_end", "driver=%2s timeline=%4s context=%1u seqno=%3u"},
	{468, "virtio_gpu_cmd_queue",
	 "vdev=%2d vq=%9u name=%5s type=%8x flags=%4x fence_id=%3x ctx_id=%1x num_free=%6u seqno=%7u"},
	{469, "virtio_gpu_cmd_response",
	 "vdev=%2d vq=%9u name=%5s type=%8x flags=%4x fence_id=%3x ctx_id=%1x num_free=%6u seqno=%7u"},
	{591, "drm_sched_job_add_dep", "fence=%1u:%2u depends on fence=%3u:%4u"},
	{592, "drm_sched_job_done", "fence=%1u:%2u signaled"},
	{593, "drm_sched_job_queue",
	 "dev=%4s, fence=%5u:%6u, ring=%1s, job count:%2u, hw job count:%3d, client_id:%7u"},
	{594, "drm_sched_job_run",
	 "dev=%4s, fence=%5u:%6u, ring=%1s, job count:%2u, hw job count:%3d, client_id:%7u"},
	{595, "drm_sched_job_unschedulable", "fence=%1u:%2u depends on unsignalled fence=%3u:%4u"},
};

/* Writes a word of a line; characters that would end it become _. */
static void put_word(FILE *out, struct grt_span text)
{
	for (size_t i = 0; i < text.len && i < 128; i++)
		fputc((unsigned char)text.at[i] <= ' ' || text.at[i] == ',' || text.at[i] == 0x7f
			      ? '_'
			      : text.at[i],
		      out);
}

static void put_fields(FILE *out, const char *print, const struct grt_pb_field field[FIELDS])
{
	const struct grt_pb_field *f;

	for (; *print; print++) {
		if (*print != '%') {
			fputc(*print, out);
			continue;
		}
		f = &field[print[1] - '0'];
		print += 2;
		if (*print == 's')
			put_word(out, f->bytes);
		else if (*print == 'u')
			fprintf(out, "%" PRIu64, f->value);
		else if (*print == 'd')
			fprintf(out, "%" PRId64, (int64_t)f->value);
		else
			fprintf(out, "0x%" PRIx64, f->value);
	}
}

static bool put_row(FILE *out, const struct ftrace_row *r, struct grt_span message)
{
	struct grt_pb_field field[FIELDS] = {{0}}, f;
	struct grt_pb_in in = grt_pb_read(message);

	while (grt_pb_next(&in, &f))
		if (f.number < FIELDS)
			field[f.number] = f;
	fprintf(out, "%s: ", r->name);
	put_fields(out, r->print, field);
	fputc('\n', out);
	return !in.bad;
}

/* Return: false: it cannot be read */
static bool put_event(FILE *out, struct grt_span message, uint64_t cpu, uint64_t offset, uint64_t *events)
{
	struct grt_pb_in in = grt_pb_read(message);
	struct grt_span body = {NULL, 0};
	const struct ftrace_row *row = NULL;
	uint64_t time = 0, tid = 0;
	struct grt_pb_field f;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			time = f.value + offset;
		else if (f.number == 2)
			tid = f.value;
		for (size_t i = 0; f.wire == 2 && i < sizeof(rows) / sizeof(rows[0]); i++)
			if (rows[i].field == f.number) {
				row = &rows[i];
				body = f.bytes;
			}
	}
	if (in.bad || !row)
		return !in.bad;
	++*events;
	fprintf(out, "           <...>-%-7u [%03u] ..... %" PRIu64 ".%09" PRIu64 ": ", (uint32_t)tid,
		(uint32_t)cpu, time / 1000000000, time % 1000000000);
	return put_row(out, row, body);
}

bool pftrace_put_ftrace(FILE *out, struct grt_span bundle, uint64_t offset, uint64_t *events)
{
	struct grt_pb_in in = grt_pb_read(bundle);
	uint64_t cpu = 0, clock = 0;
	struct grt_pb_field f;
	bool good = true;

	while (grt_pb_next(&in, &f)) {
		if (f.number == 1)
			cpu = f.value % 100000;
		else if (f.number == 3 && f.value)
			fprintf(out, "CPU:%u [EVENTS DROPPED]\n", (uint32_t)cpu);
		else if (f.number == 5)
			clock = f.value;
	}
	/* only the boot clock is one of the trace's */
	if (clock)
		offset = 0;
	for (struct grt_pb_in again = grt_pb_read(bundle); good && grt_pb_next(&again, &f);)
		if (f.number == 2 && f.wire == 2)
			good = put_event(out, f.bytes, cpu, offset, events);
	return good && !in.bad;
}
