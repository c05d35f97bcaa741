// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Each thing that a GPU did as a row: jobs, kernels, copies, fills. Rows are written
 * while the trace is read: a job when it is retired, CUDA's work when its call is
 * known, so they are in no order of time.
 */
#include <errno.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "codes/cuda_codes.h"
#include "jobs/phases.h"
#include "launches.h"
#include "stack/image_frames.h"
#include "table/cells.h"
#include "table/rows.h"

/**
 * struct work_row - one of them
 * @job: NULL: it is CUDA's, and all else is of that; its times are absent where they are 0
 * @launch: NULL: unknown, or none
 * @copied: @bytes were, which are known
 */
struct work_row {
	const struct grt_job *job;
	const struct grt_launch *launch;
	const struct grt_image *image;
	const char *kind;
	const char *name;
	const char *process;
	const char *range;
	const char *uuid;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
	uint64_t correlation;
	uint32_t pid;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream;
	bool copied;
};

/** struct work - @name, @room: a name that is ended */
struct work {
	const struct grt_pass *pass;
	struct grt_launches *launches;
	struct grt_image_frames *frames;
	char *name;
	size_t room;
};

/* ---------------------------------------------------------------- columns */

static void work_get_of_cuda(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = ((const struct work_row *)row)->job;
}

static void work_get_image(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->absent = !r->image;
	cell->number = r->image ? r->image->number : 0;
}

static void work_get_rank(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->number = r->image ? r->image->rank : 0;
	cell->absent = !r->image || r->image->rank == UINT32_MAX;
}

static void work_get_tid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->number = r->job ? r->job->tid : r->launch ? r->launch->tid : 0;
	cell->absent = !cell->number;
}

static void work_get_comm(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->absent = !r->job;
	if (r->job)
		grt_cell_name(cell, view, r->job->name);
}

static void work_get_ring(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->absent = !r->job;
	if (r->job && !arg)
		grt_cell_ring(cell, view, r->job->ring);
	else if (r->job && arg == 1)
		grt_cell_ring_name(cell, view, r->job->ring);
	else if (r->job)
		grt_cell_gpu(cell, view, r->job->ring);
}

static void work_get_engine(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->absent = !r->job;
	cell->number = r->job ? r->job->engine : 0;
}

static void work_get_call(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_launch *l = ((const struct work_row *)row)->launch;
	const struct grt_cuda_call *call = l ? grt_cuda_call(l->call) : NULL;

	cell->text = call ? call->name : NULL;
	cell->absent = !call;
}

static void work_get_stack(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->absent = !r->launch;
	cell->number = r->launch ? r->launch->node : 0;
}

static void work_get_correlation(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct work_row *)row)->correlation;
	cell->absent = !cell->number;
}

static void work_get_fence(struct grt_cell *cell, const void *view, const void *row, int is_context)
{
	const struct work_row *r = row;

	cell->absent = !r->job;
	if (r->job)
		cell->number = is_context ? r->job->ctx : r->job->seqno;
}

/* Of enum grt_stamp: SUBMIT, START or END. */
static void work_get_stamp(struct grt_cell *cell, const void *view, const void *row, int stamp)
{
	const struct work_row *r = row;

	if (r->job) {
		cell->number = r->job->time[stamp];
		cell->absent = !(r->job->seen >> stamp & 1);
		cell->inferred = r->job->inferred >> stamp & 1;
		return;
	}
	cell->number = stamp == GRT_STAMP_SUBMIT  ? r->launch ? r->launch->begin : 0
		       : stamp == GRT_STAMP_START ? r->start
						  : r->end;
	cell->absent = !cell->number || (stamp != GRT_STAMP_SUBMIT && r->end < r->start);
}

/* From one stamp to another one. */
static void work_get_time(struct grt_cell *cell, const void *view, const void *row, int from)
{
	struct grt_cell begin = {0}, end = {0};

	work_get_stamp(&begin, view, row, from);
	work_get_stamp(&end, view, row, from == GRT_STAMP_SUBMIT ? GRT_STAMP_START : GRT_STAMP_END);
	cell->absent = begin.absent || end.absent || end.number < begin.number;
	cell->number = end.number - begin.number;
	cell->inferred = begin.inferred || end.inferred;
}

static void work_get_bytes(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->number = r->bytes;
	cell->absent = !r->copied;
}

/* How many jobs one stands for, in thousandths. */
static void work_get_weight(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;
	unsigned int percent = r->job ? r->job->sample : 0;

	cell->text = "";
	cell->number = percent ? (100000 + percent / 2) / percent : 1000;
	cell->estimated = percent;
}

static void work_get_failed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct work_row *r = row;

	cell->number = r->job && r->job->failed;
	cell->absent = !r->job;
}

#define R(member) offsetof(struct work_row, member)
/* clang-format off */
static const struct grt_column work_columns[] = {
	{"kind", grt_cell_pointed, R(kind), GRT_CELL_TEXT, GRT_COLUMN_ALL, "job, kernel, copy or set"},
	{"name", grt_cell_pointed, R(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "of a kernel, or from where to where it was copied"},
	{"pid", grt_cell_id, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"tid", work_get_tid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "thread that submitted or called"},
	{"process", grt_cell_pointed, R(process), GRT_CELL_TEXT, GRT_COLUMN_ALL, "its program"},
	{"comm", work_get_comm, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread that submitted"},
	{"image", work_get_image, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number of the program in the process, of CUDA"},
	{"rank", work_get_rank, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of the process in its job, as its launcher told it"},
	{"gpu", work_get_of_cuda, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of CUDA's device in its process"},
	{"uuid", grt_cell_pointed, R(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the device: its identity, for all processes"},
	{"context", work_get_of_cuda, R(context), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the CUDA context"},
	{"stream", work_get_of_cuda, R(stream), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the stream"},
	{"device", work_get_ring, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, "address of the ring's GPU on its bus"},
	{"ring", work_get_ring, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the ring"},
	{"ring_name", work_get_ring, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its name"},
	{"engine", work_get_engine, 0, GRT_CELL_ENGINE, GRT_COLUMN_ALL, "what the ring feeds"},
	{"call", work_get_call, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of CUDA that launched it"},
	{"range", grt_cell_pointed, R(range), GRT_CELL_TEXT, GRT_COLUMN_ALL, "innermost range of NVTX that the call was made in"},
	{"node", work_get_stack, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the call's stack in its process, 0: none"},
	{"correlation", work_get_correlation, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "id of the call in its process"},
	{"ctx", work_get_fence, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "fence context of the job"},
	{"seqno", work_get_fence, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the job in that"},
	{"submit", work_get_stamp, GRT_STAMP_SUBMIT, GRT_CELL_TIME, GRT_COLUMN_ALL, "when it was submitted, or the call was made, ns"},
	{"start", work_get_stamp, GRT_STAMP_START, GRT_CELL_TIME, GRT_COLUMN_ALL, "when it began on the GPU, ns"},
	{"end", work_get_stamp, GRT_STAMP_END, GRT_CELL_TIME, GRT_COLUMN_ALL, "when it ended there, ns"},
	{"queued", work_get_time, GRT_STAMP_SUBMIT, GRT_CELL_NS, GRT_COLUMN_ALL, "from submit to start, ns"},
	{"duration", work_get_time, GRT_STAMP_START, GRT_CELL_NS, GRT_COLUMN_ALL, "from start to end, ns"},
	{"bytes", work_get_bytes, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "copied or set, where it is known, B"},
	{"weight", work_get_weight, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "how many jobs a sampled one stands for, else 1"},
	{"failed", work_get_failed, 0, GRT_CELL_BOOL, GRT_COLUMN_ALL, "of a job"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table work_table = {"work", "work", work_columns,
					    GRT_MARK_INFERRED | GRT_MARK_ESTIMATED};

/* ------------------------------------------------------------------- rows */

static int work_name(struct work *w, const struct grt_image *image, uint32_t number, const char **out)
{
	const char *text;
	size_t len;

	if (grt_image_kernel_name(w->frames, image, number, &text, &len) ||
	    grt_grow(&w->name, &w->room, len + 1, 256))
		return -ENOMEM;
	memcpy(w->name, text, len);
	w->name[len] = '\0';
	*out = w->name;
	return 0;
}

static void work_take_kernel(struct work_row *r, const struct grt_ev_gpu_kernel *k)
{
	r->kind = "kernel";
	r->start = k->start;
	r->end = k->end;
	r->gpu = k->gpu;
	r->context = k->context;
	r->stream = k->cuda_stream;
	r->correlation = k->correlation;
}

static void work_take_copy(struct work_row *r, const struct grt_ev_gpu_copy *c)
{
	r->kind = c->kind == GRT_CUDA_SET ? "set" : "copy";
	r->name = c->kind == GRT_CUDA_SET ? NULL : grt_cuda_copy_name(c->kind);
	r->start = c->start;
	r->end = c->end;
	r->gpu = c->gpu;
	r->context = c->context;
	r->stream = c->cuda_stream;
	r->correlation = c->correlation;
	r->bytes = c->bytes;
	r->copied = c->bytes != GRT_BYTES_UNKNOWN;
}

static int work_row(const struct work *w, const struct work_row *r)
{
	grt_writer_into(w->pass->writer, &work_table, w->pass->names);
	return grt_writer_row(w->pass->writer, r);
}

static int work_on_gpu(void *arg, const struct grt_event *e, const struct grt_image *image,
		       const struct grt_launch *launch, enum grt_launched_how how)
{
	const struct grt_image_range *range = grt_image_range(image, launch ? launch->range : 0);
	struct work_row r = {.launch = launch, .image = image, .pid = e->pid};
	const struct grt_device *device;
	struct work *w = arg;
	char pid[24];
	int ret = 0;

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	r.process = grt_image_process_name(image, pid);
	r.range = range ? grt_image_string(image, range->name) : NULL;
	if (e->type == GRT_EV_GPU_KERNEL) {
		work_take_kernel(&r, (const void *)e);
		ret = work_name(w, image, ((const struct grt_ev_gpu_kernel *)e)->name, &r.name);
	} else {
		work_take_copy(&r, (const void *)e);
	}
	device = ret ? NULL : grt_launches_device(w->launches, image, r.gpu);
	if (!device)
		return -ENOMEM;
	r.uuid = device->known && *device->is.uuid ? device->is.uuid : NULL;
	return work_row(w, &r);
}

static int work_job(void *state, const struct grt_job *job)
{
	struct work *w = state;
	struct work_row r = {.job = job, .kind = "job", .pid = job->pid};
	struct grt_cell owner = {0};

	grt_cell_owner(&owner, w->pass->names, job->name);
	r.process = owner.text;
	return work_row(w, &r);
}

/* --------------------------------------------------------------- analysis */

static int work_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct work *w = *state;
	const struct grt_launches_sink sink = {.work = work_on_gpu, .arg = w};

	w->pass = pass;
	return grt_launches_new(&w->launches, &sink) ?: grt_image_frames_new(&w->frames);
}

static void work_within(void *state, uint64_t from, uint64_t to)
{
	grt_launches_within(((struct work *)state)->launches, from, to);
}

static int work_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_launches_event(((struct work *)state)->launches, e);
}

static int work_finish(void *state, struct grt_pass *pass)
{
	return grt_launches_flush(((struct work *)state)->launches);
}

/* Its rows are there already; of none there is the table. */
static int work_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_into(pass->writer, &work_table, pass->names);
	grt_writer_into(pass->writer, NULL, NULL);
	return 0;
}

static void work_free(void *state)
{
	struct work *w = state;

	grt_launches_free(w->launches);
	grt_image_frames_free(w->frames);
	free(w->name);
}

static const struct grt_part work_parts[] = {
	{"work", "each job, kernel, copy and fill", GRT_PART_TABLES, 0, &work_table, .write = work_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_work = {
	.name = "work",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.late = true,
	.parts = work_parts,
	.size = sizeof(struct work),
	.begin = work_begin,
	.within = work_within,
	.event = work_event,
	.job = work_job,
	.finish = work_finish,
	.free = work_free,
};
