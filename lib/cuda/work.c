// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Each item of GPU work as a row: jobs, kernels, copies, fills. Rows are written while the trace is read: a
 * job when it is retired, CUDA's work when its call is known, so they are in no order of time. Steps,
 * collectives and operators come from analyses of an earlier pass.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "codes/cuda_codes.h"
#include "jobs/phases.h"
#include "launches.h"
#include "operators.h"
#include "stack/image_frames.h"
#include "steps.h"
#include "table/cells.h"
#include "table/rows.h"

/* Most processes whose control group is known. */
#define OWNERS_MAX 65536U

/**
 * struct work_row - one of them. It may be written later (grt_writer_row_later()), except for a job's: so it
 * has copies of what may change, and its texts last
 * @job: NULL: it is CUDA's, and all else is of that; its times are absent where they are 0
 * @launched: its launch is known: @tid, @call, @node and @submit are of that
 * @image: number of its process image; @rank: UINT32_MAX: unknown
 * @copied: @bytes were, which are known
 * @step: of its launch; @collective, @comm: NULL: unknown, or none; @communicator: hash of @comm, as text
 * @key: of a kernel, see grt_steps_collective(); it is a node of a graph where it was @replayed
 */
struct work_row {
	const struct work *of;
	const struct grt_job *job;
	const char *kind;
	const char *name;
	const char *process;
	const char *range;
	const char *uuid;
	const char *cgroup;
	const char *job_id;
	const char *op;
	const char *function;
	const char *communicator;
	const struct grt_nccl_op *collective;
	const struct grt_nccl_comm *comm;
	struct grt_step_at step;
	uint64_t submit;
	uint64_t start;
	uint64_t end;
	uint64_t bytes;
	uint64_t correlation;
	uint64_t key;
	uint32_t pid;
	uint32_t gpu;
	uint32_t context;
	uint32_t stream;
	uint32_t tid;
	uint32_t node;
	uint32_t image;
	uint32_t rank;
	uint16_t call;
	bool launched;
	bool copied;
	bool replayed;
};

/* Texts that many neighbouring rows have in common. */
enum work_text {
	WORK_PROCESS,
	WORK_RANGE,
	WORK_JOB_ID,
	WORK_CGROUP,
	WORK_UUID,
	WORK_FUNCTION,
	WORK_COMM,
	WORK_TEXTS
};

/**
 * struct work_owner - a process
 * @cgroup: index in @cgroups
 */
struct work_owner {
	uint32_t cgroup;
};

/**
 * struct work_process - an image
 * @steps: its number for grt_steps_at(), plus 1; 0: not looked up yet
 * @at: step of its last launch
 * @kernel: by string: names of the kernels that occurred
 */
struct work_process {
	uint32_t steps;
	struct grt_step_at at;
	char **kernel;
	uint32_t kernels;
};

/**
 * struct work - the state
 * @owners: by pid; @process: by image
 * @texts: what rows have of an enum work_text; @lasting: the same by number, each where it stays; @text: the
 * last
 */
struct work {
	const struct grt_pass *pass;
	struct grt_launches *launches;
	struct grt_image_frames *frames;
	struct grt_keyed owners;
	struct grt_texts cgroups;
	struct work_process *process;
	uint32_t processes;
	struct grt_texts texts;
	char **lasting;
	uint32_t room;
	const char *text[WORK_TEXTS];
};

/* ---------------------------------------------------------------- columns */

static void work_get_of_cuda(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = ((const struct work_row *)row)->job;
}

static void work_get_rank(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = cell->number == UINT32_MAX;
}

/* Names of a job's process belong to the job, and may change. */
static void work_get_text(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_pointed(cell, view, row, offset);
	cell->lasting = !((const struct work_row *)row)->job;
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
	const struct work_row *r = row;
	const struct grt_cuda_call *call = r->launched ? grt_cuda_call(r->call) : NULL;

	cell->text = call ? call->name : NULL;
	cell->lasting = true;
	cell->absent = !call;
}

/* A number of its launch. */
static void work_get_of_launch(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	cell->absent = !((const struct work_row *)row)->launched;
}

static void work_get_fence(struct grt_cell *cell, const void *view, const void *row, int is_context)
{
	const struct work_row *r = row;

	cell->absent = !r->job;
	if (r->job)
		cell->number = is_context ? r->job->ctx : r->job->seqno;
}

/* @stamp: SUBMIT, START or END of enum grt_stamp. */
static void work_get_stamp(struct grt_cell *cell, const void *view, const void *row, int stamp)
{
	const struct work_row *r = row;

	if (r->job) {
		cell->number = r->job->time[stamp];
		cell->absent = !(r->job->seen >> stamp & 1);
		cell->inferred = r->job->inferred >> stamp & 1;
		return;
	}
	cell->number = stamp == GRT_STAMP_SUBMIT ? r->submit : stamp == GRT_STAMP_START ? r->start : r->end;
	cell->absent = !cell->number || (stamp != GRT_STAMP_SUBMIT && r->end < r->start);
}

/* The time from one stamp to another one. */
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

/* The number of jobs that one stands for, in thousandths. */
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

static void work_get_boot(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = ((const struct work_row *)row)->of->pass->boot_id;
	cell->lasting = true;
}

/* Steps are inferred where the program does not name them. */
static void work_get_step(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_step_at *at = &((const struct work_row *)row)->step;

	cell->number = at->number;
	cell->absent = !at->in;
	cell->inferred = !at->told;
}

static void work_get_function(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct work_row *r = row;

	grt_cell_lasting(cell, view, row, offset);
	cell->inferred = r->function && r->collective->inferred;
}

/* A send or receive has no number, and a collective of a graph had one when it was captured. */
static void work_get_sequence(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_nccl_op *op = ((const struct work_row *)row)->collective;

	cell->absent = !op || op->kind == 2 || op->captured;
	if (!op)
		return;
	cell->number = op->sequence;
	cell->inferred = op->inferred;
}

static void work_get_comm_hash(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct work_row *r = row;

	grt_cell_lasting(cell, view, row, offset);
	cell->inferred = r->communicator && r->collective->inferred;
}

#define R(member) offsetof(struct work_row, member)
/* clang-format off */
static const struct grt_column work_columns[] = {
	{"kind", grt_cell_lasting, R(kind), GRT_CELL_TEXT, GRT_COLUMN_ALL, "job, kernel, copy or set"},
	{"name", grt_cell_lasting, R(name), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the kernel, or source and destination of the copy"},
	{"pid", grt_cell_id, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"tid", grt_cell_id, R(tid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "thread that submitted the job or made the call"},
	{"process", work_get_text, R(process), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"comm", work_get_comm, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the thread that submitted the job"},
	{"boot_id", work_get_boot, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "id of the system's boot: time stamps of one boot are of one clock"},
	{"cgroup", work_get_text, R(cgroup), GRT_CELL_TEXT, GRT_COLUMN_ALL, "control group of the process"},
	{"job_id", work_get_text, R(job_id), GRT_CELL_TEXT, GRT_COLUMN_ALL, "id of the job to which the launcher assigned the process"},
	{"image", work_get_of_cuda, R(image), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "number of the CUDA program in its process"},
	{"rank", work_get_rank, R(rank), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "rank of the process in its job, from the launcher"},
	{"gpu", work_get_of_cuda, R(gpu), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "CUDA's number of the device in its process"},
	{"uuid", work_get_text, R(uuid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "UUID of the device"},
	{"context", work_get_of_cuda, R(context), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the CUDA context"},
	{"stream", work_get_of_cuda, R(stream), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the stream"},
	{"device", work_get_ring, 2, GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address of the ring's GPU"},
	{"ring", work_get_ring, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "ring id"},
	{"ring_name", work_get_ring, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the ring"},
	{"engine", work_get_engine, 0, GRT_CELL_ENGINE, GRT_COLUMN_ALL, "engine that the ring feeds"},
	{"call", work_get_call, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "CUDA function that launched the work"},
	{"range", work_get_text, R(range), GRT_CELL_TEXT, GRT_COLUMN_ALL, "innermost NVTX range that was open at the call"},
	{"op", grt_cell_lasting, R(op), GRT_CELL_TEXT, GRT_COLUMN_ALL, "innermost operator in the stack of the call"},
	{"step", work_get_step, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "step of the process in which the call was made"},
	{"collective", work_get_function, R(function), GRT_CELL_TEXT, GRT_COLUMN_ALL, "NCCL function of the kernel; none: the kernel runs several collectives"},
	{"communicator", work_get_comm_hash, R(communicator), GRT_CELL_TEXT, GRT_COLUMN_ALL, "hash of the communicator, the same in all its processes"},
	{"sequence", work_get_sequence, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the collective among those of the same function in its communicator"},
	{"node", work_get_of_launch, R(node), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the call's stack in its process, 0: none"},
	{"correlation", grt_cell_nonzero, R(correlation), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "correlation id of the call in its process"},
	{"ctx", work_get_fence, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "fence context of the job"},
	{"seqno", work_get_fence, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "sequence number of the job in its fence context"},
	{"submit", work_get_stamp, GRT_STAMP_SUBMIT, GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the submit or call, ns"},
	{"start", work_get_stamp, GRT_STAMP_START, GRT_CELL_TIME, GRT_COLUMN_ALL, "start on the GPU, ns"},
	{"end", work_get_stamp, GRT_STAMP_END, GRT_CELL_TIME, GRT_COLUMN_ALL, "end on the GPU, ns"},
	{"queued", work_get_time, GRT_STAMP_SUBMIT, GRT_CELL_NS, GRT_COLUMN_ALL, "time from submit to start, ns"},
	{"duration", work_get_time, GRT_STAMP_START, GRT_CELL_NS, GRT_COLUMN_ALL, "time from start to end, ns"},
	{"bytes", work_get_bytes, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes copied or set, where known"},
	{"weight", work_get_weight, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "number of jobs that a sampled job stands for, else 1"},
	{"failed", work_get_failed, 0, GRT_CELL_BOOL, GRT_COLUMN_ALL, "whether the job failed"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table work_table = {"work", "work", work_columns,
					    GRT_MARK_INFERRED | GRT_MARK_ESTIMATED};

/* ------------------------------------------------------------------- rows */

static struct work_process *work_process_of(struct work *w, const struct grt_image *image)
{
	return grt_grow_zeroed(&w->process, &w->processes, image->number + 1, 8) ? NULL
										 : &w->process[image->number];
}

/* A writer need not search for a text that lasts. All undefined strings have one name, that of string 0. */
static int work_name(struct work *w, const struct grt_image *image, uint32_t number, const char **out)
{
	struct work_process *p = work_process_of(w, image);
	bool known = grt_image_string(image, number);
	uint32_t at = !known			    ? 0
		      : number < GRT_IMAGE_RECORDER ? number * 2
						    : (number - GRT_IMAGE_RECORDER) * 2 + 1;
	const char *text;
	size_t len;

	if (!p || grt_grow_zeroed(&p->kernel, &p->kernels, at + 1, 256))
		return -ENOMEM;
	if (!p->kernel[at]) {
		if (grt_image_kernel_name(w->frames, image, known ? number : 0, &text, &len))
			return -ENOMEM;
		p->kernel[at] = strndup(text, len);
	}
	*out = p->kernel[at];
	return *out ? 0 : -ENOMEM;
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
	r->key = k->graph_node ?: k->correlation;
	r->replayed = k->graph_node != 0;
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

static const char *work_cgroup(const struct work *w, uint32_t pid)
{
	const struct work_owner *o =
		w->owners.used ? grt_keyed_find(&w->owners, &(struct grt_key){{pid}}) : NULL;

	return o && o->cgroup != GRT_TEXT_NONE ? grt_texts_get(&w->cgroups, o->cgroup) : NULL;
}

/* Return: the process of a row, with its steps; NULL: steps.h does not know it. */
static struct work_process *work_steps_of(struct work *w, const struct grt_image *image)
{
	struct work_process *p = w->pass->steps ? work_process_of(w, image) : NULL;

	if (p && !p->steps)
		p->steps = grt_steps_process(w->pass->steps, image) + 1;
	return p && p->steps ? p : NULL;
}

static int work_add_text(struct work *w, enum work_text which, const char *text)
{
	uint32_t number;

	if (grt_texts_add(&w->texts, text, strlen(text), &number) ||
	    grt_grow_zeroed(&w->lasting, &w->room, number + 1, 64))
		return -ENOMEM;
	if (!w->lasting[number])
		w->lasting[number] = strdup(grt_texts_get(&w->texts, number));
	w->text[which] = w->lasting[number];
	return w->text[which] ? 0 : -ENOMEM;
}

/* @out: gets the same text where it lasts; NULL where there is none. Return: 0 or -ENOMEM */
static int work_text(struct work *w, enum work_text which, const char *text, const char **out)
{
	const char *last = w->text[which];

	*out = NULL;
	if (!text)
		return 0;
	if ((!last || strcmp(last, text)) && work_add_text(w, which, text))
		return -ENOMEM;
	*out = w->text[which];
	return 0;
}

/* The hash has 64 bits, which not all databases have for a number: as in other tables it is a text. */
static int work_name_collective(struct work *w, struct work_row *r, const struct grt_image *image)
{
	char hash[17] = "";

	if (r->comm)
		snprintf(hash, sizeof(hash), "%016" PRIx64, r->comm->hash);
	return work_text(w, WORK_FUNCTION, grt_image_string(image, r->collective->function), &r->function)
		       ?: work_text(w, WORK_COMM, r->comm ? hash : NULL, &r->communicator);
}

/* @launched: when its launch began, 0: unknown */
static int work_find_step(struct work *w, struct work_row *r, const struct grt_image *image,
			  uint64_t launched)
{
	struct work_process *p = work_steps_of(w, image);

	if (!p)
		return 0;
	if (launched && (launched < p->at.from || launched >= p->at.to))
		p->at = grt_steps_at(w->pass->steps, p->steps - 1, launched);
	if (launched)
		r->step = p->at;
	if (r->key)
		r->collective =
			grt_steps_collective(w->pass->steps, p->steps - 1, r->key, r->replayed, &r->comm);
	return r->collective ? work_name_collective(w, r, image) : 0;
}

/* Sets what is known from the launch, and what the previous pass found for it. @l: NULL: unknown, or none */
static int work_take_launch(struct work *w, struct work_row *r, const struct grt_image *image,
			    const struct grt_launch *l, uint32_t kernel)
{
	const struct grt_image_range *range = grt_image_range(image, l ? l->range : 0);
	int ret = work_find_step(w, r, image, l ? l->begin : 0);

	if (!l || ret)
		return ret;
	r->launched = true;
	r->submit = l->begin;
	r->tid = l->tid;
	r->node = l->node;
	r->call = l->call;
	ret = work_text(w, WORK_RANGE, range ? grt_image_string(image, range->name) : NULL, &r->range);
	if (!ret && w->pass->operators)
		ret = grt_operators_of(w->pass->operators, image, l->origin ?: l->node, kernel, &r->op);
	return ret;
}

static int work_take_image(struct work *w, struct work_row *r, const struct grt_image *image)
{
	const char *job = image->job ? grt_image_string(image, image->job) : NULL;
	const struct grt_device *device = grt_launches_device(w->launches, image, r->gpu);
	char pid[24];

	if (!device)
		return -ENOMEM;
	r->image = image->number;
	r->rank = image->rank;
	return work_text(w, WORK_PROCESS, grt_image_process_name(image, pid), &r->process)
		       ?: work_text(w, WORK_JOB_ID, job, &r->job_id)
		       ?: work_text(w, WORK_CGROUP, work_cgroup(w, r->pid), &r->cgroup)
		       ?: work_text(w, WORK_UUID, device->known && *device->is.uuid ? device->is.uuid : NULL,
				    &r->uuid);
}

static int work_on_gpu(void *state, const struct grt_event *e, const struct grt_image *image,
		       const struct grt_launch *launch, enum grt_launched_how how)
{
	struct work *w = state;
	struct work_row r = {.of = w, .pid = e->pid};
	uint32_t kernel = UINT32_MAX;
	int ret = 0;

	if (e->type == GRT_EV_GPU_SYNC)
		return 0;
	if (e->type == GRT_EV_GPU_KERNEL) {
		work_take_kernel(&r, (const void *)e);
		kernel = ((const struct grt_ev_gpu_kernel *)e)->name;
		ret = work_name(w, image, kernel, &r.name);
	} else {
		work_take_copy(&r, (const void *)e);
	}
	ret = ret ?: work_take_launch(w, &r, image, launch, kernel) ?: work_take_image(w, &r, image);
	if (ret)
		return ret;
	grt_writer_into(w->pass->writer, &work_table, w->pass->names);
	return grt_writer_row_later(w->pass->writer, &r, sizeof(r));
}

static int work_job(void *state, const struct grt_job *job)
{
	struct work *w = state;
	struct work_row r = {
		.of = w, .job = job, .kind = "job", .pid = job->pid, .tid = job->tid, .rank = UINT32_MAX};
	struct grt_cell owner = {0};

	r.cgroup = work_cgroup(w, job->pid);
	grt_cell_owner(&owner, w->pass->names, job->name);
	r.process = owner.text;
	grt_writer_into(w->pass->writer, &work_table, w->pass->names);
	return grt_writer_row(w->pass->writer, &r);
}

/* --------------------------------------------------------------- analysis */

static int work_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct work *w = *state;

	w->pass = pass;
	w->launches = pass->launches;
	grt_keyed_init(&w->owners, sizeof(struct work_owner), OWNERS_MAX);
	grt_texts_init(&w->cgroups, OWNERS_MAX);
	grt_texts_init(&w->texts, UINT32_MAX);
	return grt_image_frames_new(&w->frames);
}

static int work_take_owner(struct work *w, const struct grt_ev_owner *ev)
{
	struct work_owner *o;
	void *found;
	int ret = grt_keyed_get_or_count(&w->owners, &(struct grt_key){{ev->e.pid}}, NULL, &found);

	o = found;
	if (ret || !o)
		return ret;
	o->cgroup = GRT_TEXT_NONE;
	return ev->length ? grt_texts_add(&w->cgroups, ev->cgroup, sizeof(ev->cgroup), &o->cgroup) : 0;
}

static int work_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return e->type == GRT_EV_OWNER ? work_take_owner(state, (const struct grt_ev_owner *)e) : 0;
}

/* Writes the end of the table; rows were written before. Without rows, it writes the empty table. */
static int work_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_into(pass->writer, &work_table, pass->names);
	grt_writer_into(pass->writer, NULL, NULL);
	return 0;
}

static void work_free(void *state)
{
	struct work *w = state;

	grt_image_frames_free(w->frames);
	grt_keyed_free(&w->owners);
	grt_texts_free(&w->cgroups);
	grt_texts_free(&w->texts);
	for (uint32_t i = 0; i < w->room; i++)
		free(w->lasting[i]);
	free(w->lasting);
	for (uint32_t i = 0; i < w->processes; i++) {
		for (uint32_t k = 0; k < w->process[i].kernels; k++)
			free(w->process[i].kernel[k]);
		free(w->process[i].kernel);
	}
	free(w->process);
}

static const struct grt_part work_parts[] = {
	{"work", "each job, kernel, copy and fill", GRT_PART_TABLES, 0, &work_table, .write = work_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_work = {
	.name = "work",
	.classes = GRT_IN_CLASS(owner),
	.beyond = true,
	.late = true,
	.rows = true,
	.parts = work_parts,
	.size = sizeof(struct work),
	.begin = work_begin,
	.event = work_event,
	.job = work_job,
	.work = work_on_gpu,
	.free = work_free,
};
