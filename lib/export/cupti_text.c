// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The text that NVIDIA's samples and tools like them print of CUPTI's activity
 * records (cupti_activity.h of CUDA 13.0, cupti_trace), as lib/cuda/cupti_records.c
 * reads it. What a recording does not have (clusters, channels, cache settings) is
 * not written. Stamps are CLOCK_MONOTONIC, as those of extended_folded.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "codes/cuda_codes.h"
#include "base/escape.h"
#include "cupti_export.h"
#include "export.h"
#include "trace/packet.h"

/** struct cupti_text - the export; @from, @to: what is partly in this time is written */
struct cupti_text {
	FILE *out;
	uint64_t from;
	uint64_t to;
	struct grt_images images;
};

static int cupti_text_begin(struct grt_export *x)
{
	struct cupti_text *f = x->state = calloc(1, sizeof(*f));

	if (!f)
		return -ENOMEM;
	f->to = UINT64_MAX;
	grt_images_init(&f->images);
	f->out = grt_export_file(x);
	return f->out ? 0 : -errno;
}

static void cupti_text_within(struct grt_export *x, uint64_t from, uint64_t to)
{
	struct cupti_text *f = x->state;

	f->from = from;
	f->to = to;
}

static void cupti_text_put_name(FILE *out, const char *name)
{
	grt_escape_print(GRT_ESCAPE_TERM, out, name, strlen(name));
}

static void put_stamps(FILE *out, uint64_t start, uint64_t end)
{
	fprintf(out, " [ %" PRIu64 ", %" PRIu64 " ] duration %" PRIu64 ",", start, end,
		end > start ? end - start : 0);
}

static void cupti_text_put_place(FILE *out, uint32_t device, uint32_t context, uint32_t stream,
				 uint32_t graph, uint64_t node)
{
	fprintf(out, "\tdeviceId %u, contextId %u, streamId %u, graphId %u, graphNodeId %" PRIu64 "\n",
		device, context, stream, graph, node);
}

static void put_launch(FILE *out, const struct grt_image *i, const struct grt_ev_launch *e)
{
	const struct grt_cuda_call *call = grt_cuda_call(e->call);

	fputs(e->call & GRT_CUDA_DRIVER ? "DRIVER" : "RUNTIME", out);
	put_stamps(out, e->begin, e->e.time);
	fprintf(out, " \"%s\", cbid %u, processId %u, threadId %u, correlationId %" PRIu64 "\n",
		call ? call->name : "unknown", e->call & ~GRT_CUDA_DRIVER, e->e.pid, e->e.tid,
		grt_cupti_correlation(i, e->correlation));
}

static void cupti_text_put_kernel(FILE *out, const struct grt_image *i, const struct grt_ev_gpu_kernel *e)
{
	fputs("CONCURRENT_KERNEL", out);
	put_stamps(out, e->start, e->end);
	fputs(" \"", out);
	cupti_text_put_name(out, grt_image_string(i, e->name) ?: "unknown");
	fprintf(out, "\", correlationId %" PRIu64 "\n", grt_cupti_correlation(i, e->correlation));
	fprintf(out, "\tgrid [ %u, %u, %u ], block [ %u, %u, %u ], sharedMemory (static %u, dynamic %u)\n",
		e->grid_x, e->grid_y, e->grid_z, e->block_x, e->block_y, e->block_z, e->shared_static,
		e->shared_dynamic);
	cupti_text_put_place(out, e->gpu, e->context, e->cuda_stream, e->graph, e->graph_node);
}

static void cupti_text_put_copy(FILE *out, const struct grt_image *i, const struct grt_ev_gpu_copy *e)
{
	bool set = e->kind == GRT_CUDA_SET;

	if (set)
		fputs("MEMSET", out);
	else
		fprintf(out, "MEMCPY \"%s\"", grt_cuda_copy_name(e->kind));
	put_stamps(out, e->start, e->end);
	if (set)
		fprintf(out, " value %u,", e->value);
	if (e->bytes != GRT_BYTES_UNKNOWN)
		fprintf(out, " size %" PRIu64 ",", (uint64_t)e->bytes);
	fprintf(out, " correlationId %" PRIu64 "\n", grt_cupti_correlation(i, e->correlation));
	cupti_text_put_place(out, e->gpu, e->context, e->cuda_stream, e->graph, e->graph_node);
}

/* Names of cupti_activity.h: CUPTI_ACTIVITY_SYNCHRONIZATION_TYPE_*. */
static const char *const sync_names[] = {"UNKNOWN", "EVENT_SYNCHRONIZE", "STREAM_WAIT_EVENT",
					 "STREAM_SYNCHRONIZE", "CONTEXT_SYNCHRONIZE"};

static void put_sync(FILE *out, const struct grt_image *i, const struct grt_ev_gpu_sync *e)
{
	fprintf(out, "SYNCHRONIZATION %s",
		sync_names[e->kind < sizeof(sync_names) / sizeof(sync_names[0]) ? e->kind : 0]);
	put_stamps(out, e->start, e->end);
	fprintf(out, " contextId %u, streamId %u, correlationId %" PRIu64 "\n", e->context, e->cuda_stream,
		grt_cupti_correlation(i, e->correlation));
}

/* CUPTI_ACTIVITY_OVERHEAD_*, the numbers above bit 16. */
static const char *const overhead_names[] = {
	"DRIVER_COMPILER",
	"ACTIVITY_BUFFER_FLUSH",
	"CUPTI_INSTRUMENTATION",
	"CUPTI_RESOURCE",
	"RUNTIME_TRIGGERED_MODULE_LOADING",
	"LAZY_FUNCTION_LOADING",
	"COMMAND_BUFFER_FULL",
	"ACTIVITY_BUFFER_REQUEST",
	"UVM_ACTIVITY_INIT",
};

static void cupti_text_put_overhead(FILE *out, const struct grt_image *i, const struct grt_ev_gpu_overhead *e)
{
	uint32_t kind = e->kind >> 16;

	fprintf(out, "OVERHEAD %s",
		kind < sizeof(overhead_names) / sizeof(overhead_names[0]) ? overhead_names[kind] : "UNKNOWN");
	put_stamps(out, e->start, e->end);
	fprintf(out, " id %u, correlation id %" PRIu64 "\n", e->object,
		grt_cupti_correlation(i, e->correlation));
}

/* Records are written when what they report is over, and of the GPU's work long after. */
static bool cupti_text_is_outside(const struct cupti_text *f, const struct grt_event *e)
{
	uint64_t start = e->time, end = e->time;

	if (e->type == GRT_EV_LAUNCH) {
		start = ((const struct grt_ev_launch *)e)->begin;
	} else if (e->type == GRT_EV_GPU_KERNEL || e->type == GRT_EV_GPU_COPY) {
		start = ((const struct grt_ev_gpu_kernel *)e)->start;
		end = ((const struct grt_ev_gpu_kernel *)e)->end;
	} else if (e->type == GRT_EV_GPU_SYNC || e->type == GRT_EV_GPU_OVERHEAD) {
		start = ((const struct grt_ev_gpu_sync *)e)->start;
		end = ((const struct grt_ev_gpu_sync *)e)->end;
	}
	/* without time stamps, the time of the record counts */
	if (!start)
		start = end = e->time;
	return start > f->to || (end && end < f->from);
}

static int cupti_text_event(struct grt_export *x, const struct grt_event *e, uint32_t cpu)
{
	struct cupti_text *f = x->state;
	const struct grt_image *i;
	int ret = grt_images_event(&f->images, e);

	if (ret || e->type >= GRT_EV_MAX || grt_class_of[e->type] != GRT_CLASS_launch ||
	    cupti_text_is_outside(f, e))
		return ret;
	i = grt_images_of(&f->images, e);
	if (!i)
		return -ENOMEM;
	if (e->type == GRT_EV_LAUNCH)
		put_launch(f->out, i, (const void *)e);
	else if (e->type == GRT_EV_GPU_KERNEL)
		cupti_text_put_kernel(f->out, i, (const void *)e);
	else if (e->type == GRT_EV_GPU_COPY)
		cupti_text_put_copy(f->out, i, (const void *)e);
	else if (e->type == GRT_EV_GPU_SYNC)
		put_sync(f->out, i, (const void *)e);
	else if (e->type == GRT_EV_GPU_OVERHEAD)
		cupti_text_put_overhead(f->out, i, (const void *)e);
	else
		return 0;
	x->items++;
	return ferror(f->out) ? -EIO : 0;
}

static int cupti_text_end(struct grt_export *x, const struct grt_health *h)
{
	struct cupti_text *f = x->state;

	return fflush(f->out) ? -errno : 0;
}

static void cupti_text_release(struct grt_export *x)
{
	struct cupti_text *f = x->state;

	if (!f)
		return;
	if (f->out)
		fclose(f->out);
	grt_images_free(&f->images);
	free(f);
}

const struct grt_export_format grt_export_cupti_text = {
	.missing = "CUDA launch, kernel or copy",
	.fix = "grtrace record -e cuda -- PROG",
	.begin = cupti_text_begin,
	.event = cupti_text_event,
	.beyond = cupti_text_event,
	.late = cupti_text_event,
	.within = cupti_text_within,
	.end = cupti_text_end,
	.free = cupti_text_release,
};
