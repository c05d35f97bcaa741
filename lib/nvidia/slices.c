// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * Who had a GPU: the slices of its time by process. What is between two slices
 * is the switch, or nobody's, or unknown where records are missing; all of it
 * together is the time looked at.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "base/hist.h"
#include "base/keyed.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/rows.h"

#define GPUS_MAX 512U
#define OWNERS_MAX 65536U

/* Octaves of 4 KiB for the percentiles of all rows. */
#define HIST_BUDGET 16384U

/*
 * The log has no stamp of the wish to switch: a gap up to this is taken for a
 * switch (79 to 80 us in all of 5,700 on an H100 with 580.159.04), a longer one
 * for nobody's time.
 */
#define SWITCH_NS 1000000ULL

/** enum slice_kind - whose the time is */
enum slice_kind {
	SLICE_PROCESS,
	SLICE_SWITCHING,
	SLICE_NOBODY,
	SLICE_UNKNOWN,
};

static const char *const kind_names[] = {
	[SLICE_PROCESS] = "process",
	[SLICE_SWITCHING] = "switching",
	[SLICE_NOBODY] = "nobody",
	[SLICE_UNKNOWN] = "unknown",
};

/**
 * struct owner - a row: a process on a GPU, or one of the other kinds
 * @residency: ns
 * @came: how often its context came onto the GPU
 * @whole: slices of which both ends are known
 */
struct owner {
	uint32_t device;
	uint32_t instance;
	uint32_t pid;
	uint32_t kind;
	uint64_t residency;
	uint64_t came;
	struct grt_hist whole;
};

/**
 * struct slice_gpu - a GPU, or an instance of one
 * @from, @to: time that is accounted for
 * @over: how the last slice ended, 0: there was none
 * @since: when the context that is on it came, 0: that is not known
 */
struct slice_gpu {
	uint32_t device;
	uint32_t instance;
	uint64_t from;
	uint64_t to;
	uint16_t over;
	uint64_t since;
};

struct slices {
	struct grt_keyed gpu;
	struct grt_keyed owner;
	uint64_t from;
	uint64_t to;
	uint64_t first;
	uint64_t last;
	uint64_t backwards;
	uint64_t over;
	uint32_t budget;
};

static int slices_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct slices *s = calloc(1, sizeof(*s));

	*state = s;
	if (!s)
		return -ENOMEM;
	grt_keyed_init(&s->gpu, sizeof(struct slice_gpu), GPUS_MAX);
	grt_keyed_init(&s->owner, sizeof(struct owner), OWNERS_MAX);
	s->to = s->last = UINT64_MAX;
	s->budget = HIST_BUDGET;
	return 0;
}

static void slices_within(void *state, uint64_t from, uint64_t to)
{
	struct slices *s = state;

	s->from = from;
	s->to = to;
}

static void slices_span(void *state, uint64_t first, uint64_t last)
{
	struct slices *s = state;

	s->first = first;
	s->last = last;
}

/* The row of an owner; NULL where there are too many. */
static int slices_owner(struct slices *s, const struct slice_gpu *gpu, enum slice_kind kind, uint32_t pid,
			struct owner **out)
{
	struct grt_key key = {{gpu->device, gpu->instance, kind, pid}};
	void *found = NULL;
	int ret = grt_keyed_get_or_count(&s->owner, &key, &s->over, &found);

	*out = found;
	if (ret || !found)
		return ret;
	(*out)->device = gpu->device;
	(*out)->instance = gpu->instance;
	(*out)->kind = kind;
	(*out)->pid = pid;
	return 0;
}

/* The time from where the GPU's account ends until @to is of this kind. */
static int slices_account(struct slices *s, struct slice_gpu *gpu, enum slice_kind kind, uint64_t to)
{
	uint64_t ns = to > gpu->to ? to - gpu->to : 0;
	struct owner *o;
	int ret;

	if (!ns)
		return 0;
	ret = slices_owner(s, gpu, kind, 0, &o);
	if (ret || !o)
		return ret;
	o->residency += ns;
	o->came++;
	grt_hist_add(&o->whole, ns, GRT_WEIGHT_ONE, false, &s->budget);
	gpu->to = to;
	return 0;
}

static enum slice_kind gap_kind(const struct slice_gpu *gpu, const struct grt_ev_gpu_slice *ev, uint64_t ns)
{
	if (ev->begin == GRT_SLICE_LOST || gpu->over == GRT_SLICE_LOST)
		return SLICE_UNKNOWN;
	if (!gpu->over || ns > SWITCH_NS)
		return SLICE_NOBODY;
	return SLICE_SWITCHING;
}

/* Only a slice that was seen to come and to leave has a length. */
static void slices_length(struct slices *s, struct slice_gpu *gpu, const struct grt_ev_gpu_slice *ev,
			  struct owner *o)
{
	if (ev->begin == GRT_SLICE_SWITCH)
		gpu->since = ev->start;
	else if (ev->begin != GRT_SLICE_GOES_ON)
		gpu->since = 0;
	if (ev->over == GRT_SLICE_SWITCH && gpu->since)
		grt_hist_add(&o->whole, ev->e.time - gpu->since, GRT_WEIGHT_ONE, false, &s->budget);
	if (ev->over != GRT_SLICE_GOES_ON)
		gpu->since = 0;
}

static int slices_of(struct slices *s, struct slice_gpu *gpu, const struct grt_ev_gpu_slice *ev)
{
	uint64_t start = ev->start > s->from ? ev->start : s->from;
	uint64_t end = ev->e.time < s->to ? ev->e.time : s->to;
	struct owner *o;
	int ret;

	if (!gpu->to) {
		gpu->device = ev->e.device;
		gpu->instance = ev->mig_gpu << 8 | (ev->mig_compute & 0xff);
		gpu->from = gpu->to = s->first && s->first < start ? s->first : start;
	}
	if (start < gpu->to) {
		s->backwards += ev->start < gpu->to && ev->start >= s->from;
		start = gpu->to;
	}
	ret = slices_account(s, gpu, gap_kind(gpu, ev, start - gpu->to), start);
	if (!ret)
		ret = slices_owner(s, gpu, ev->e.pid ? SLICE_PROCESS : SLICE_UNKNOWN, ev->e.pid, &o);
	if (ret || !o)
		return ret;
	if (end > start)
		o->residency += end - start;
	o->came += ev->begin == GRT_SLICE_SWITCH && ev->start >= s->from;
	slices_length(s, gpu, ev, o);
	gpu->to = end > start ? end : start;
	gpu->over = ev->over;
	return 0;
}

static int slices_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_gpu_slice *ev = (const struct grt_ev_gpu_slice *)e;
	struct grt_key key = {{e->device, ev->mig_gpu, ev->mig_compute}};
	struct slices *s = state;
	void *gpu = NULL;
	int ret;

	if (e->type != GRT_EV_GPU_SLICE || ev->start > e->time || e->time < s->from || ev->start > s->to)
		return 0;
	ret = grt_keyed_get_or_count(&s->gpu, &key, &s->over, &gpu);
	return ret || !gpu ? ret : slices_of(s, gpu, ev);
}

/* What is left of the time looked at is nobody's, where the last context was seen to leave. */
static int slices_finish(struct slices *s, struct slice_gpu *gpu, struct grt_pass *pass)
{
	uint64_t last = pass->known ? pass->last : 0;

	if (last <= gpu->to)
		return 0;
	return slices_account(s, gpu, gpu->over == GRT_SLICE_SWITCH ? SLICE_NOBODY : SLICE_UNKNOWN, last);
}

/* ------------------------------------------------------------- columns */

/** struct slices_view - what rows are seen with */
struct slices_view {
	const struct slices *s;
	const struct grt_names *names;
};

static const struct slice_gpu *gpu_of(const void *view, const struct owner *o)
{
	struct grt_key key = {{o->device, o->instance >> 8, o->instance & 0xff}};

	return grt_keyed_find(&((const struct slices_view *)view)->s->gpu, &key);
}

static uint64_t wall_of(const void *view, const struct owner *o)
{
	const struct slice_gpu *gpu = gpu_of(view, o);

	return gpu->to - gpu->from;
}

static void slices_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_names *names = ((const struct slices_view *)view)->names;
	const struct owner *o = row;

	cell->number = o->device;
	cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, o->device));
}

static void slices_get_name(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	slices_get_device(cell, view, row, arg);
	cell->absent = !cell->text;
}

static void slices_get_instance(struct grt_cell *cell, const void *view, const void *row, int shift)
{
	cell->number = ((const struct owner *)row)->instance >> shift & 0xff;
	cell->absent = cell->number == GRT_NOT_DIVIDED;
}

static void slices_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct owner *o = row;

	cell->text = o->kind == SLICE_PROCESS
			     ? grt_process_name(((const struct slices_view *)view)->names, o->pid)
			     : kind_names[o->kind];
	cell->absent = !cell->text;
}

static void slices_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = kind_names[((const struct owner *)row)->kind];
}

static void slices_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct owner *o = row;
	uint64_t wall = wall_of(view, o);

	cell->absent = !wall;
	if (wall)
		cell->number = (uint64_t)(((unsigned __int128)o->residency * 100000 + wall / 2) / wall);
}

static void slices_get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct owner *o = row;
	uint64_t wall = wall_of(view, o);

	cell->text = "/s";
	cell->absent = !wall;
	if (wall)
		cell->number = (uint64_t)((unsigned __int128)o->came * 1000 * 1000000000 / wall);
}

static void slices_get_mean(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_hist *h = &((const struct owner *)row)->whole;

	cell->absent = !h->weight;
	if (h->weight)
		cell->number = (uint64_t)((h->sum + h->weight / 2) / h->weight);
}

static void slices_get_percentile(struct grt_cell *cell, const void *view, const void *row, int permille)
{
	const struct grt_hist *h = &((const struct owner *)row)->whole;

	cell->absent = !h->weight;
	if (permille == 1000)
		cell->number = h->max;
	else
		cell->absent |= !grt_hist_percentile(h, (unsigned int)permille, &cell->number);
}

#define O(member) offsetof(struct owner, member)

static const struct grt_column slice_columns[] = {
	{"device", slices_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL,
	 "device number of the GPU, major << 20 | minor"},
	{"device_name", slices_get_name, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "its name"},
	{"mig_gpu", slices_get_instance, 8, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "MIG GPU instance"},
	{"mig_compute", slices_get_instance, 0, GRT_CELL_NUMBER, GRT_COLUMN_MORE, "MIG compute instance"},
	{"kind", slices_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE,
	 "process; switching: at most 1 ms between two contexts; nobody: no context was on the GPU; unknown: records are missing, or no switch was seen"},
	{"pid", grt_cell_id, O(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", slices_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "its name, or the kind"},
	{"share", slices_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "of the GPU's time that its context was on the GPU, percent"},
	{"residency", grt_cell_u64, O(residency), GRT_CELL_NS, GRT_COLUMN_ALL, "that time, ns"},
	{"slices", grt_cell_u64, O(came), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "times that its context came onto the GPU"},
	{"rate", slices_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "of these, in a second"},
	{"mean", slices_get_mean, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "of slices seen whole, ns"},
	{"p50", slices_get_percentile, 500, GRT_CELL_NS, GRT_COLUMN_ALL, "median, ns"},
	{"p99", slices_get_percentile, 990, GRT_CELL_NS, GRT_COLUMN_ALL, "99th percentile, ns"},
	{"max", slices_get_percentile, 1000, GRT_CELL_NS, GRT_COLUMN_ALL, "longest, ns"},
	{.name = NULL},
};

static const struct grt_table slice_table = {"gpu_processes", "GPU time by process", slice_columns, 0};

/* --------------------------------------------------------------- parts */

static int slices_compare(uint64_t a, uint64_t b)
{
	return (a > b) - (a < b);
}

/* By GPU; processes before the rest, the one with most time first. */
static int slices_by_place(const void *a, const void *b)
{
	const struct owner *x = *(void *const *)a, *y = *(void *const *)b;

	return slices_compare(x->device, y->device) ?: slices_compare(x->instance, y->instance)
		?: slices_compare(x->kind, y->kind) ?: slices_compare(y->residency, x->residency)
		?: slices_compare(x->pid, y->pid);
}

static int slices_tie(const void *a, const void *b)
{
	return slices_by_place(&a, &b);
}

static int slices_finish_all(struct slices *s, struct grt_pass *pass)
{
	void *gpu;
	int ret = 0;

	for (gpu = grt_keyed_oldest(&s->gpu); gpu && !ret; gpu = grt_keyed_next(&s->gpu, gpu))
		ret = slices_finish(s, gpu, pass);
	return ret;
}

static void slices_notes(struct slices *s, struct grt_pass *pass, uint64_t shown)
{
	if (!s->gpu.used && !pass->summary)
		grt_note(pass->notes,
			 "the trace does not say which process had the GPU: grtrace record -e nvctxsw");
	if (s->owner.used > shown)
		grt_note(pass->notes, "%" PRIu64 " more rows: --top 0 shows all", s->owner.used - shown);
	if (s->over)
		grt_note(pass->notes, "GPU time by process: %" PRIu64 " slices ignored (limit of %u rows)",
			 s->over, OWNERS_MAX);
	if (s->backwards)
		grt_note(pass->notes,
			 "GPU time by process: %" PRIu64 " slices began before the one before had ended",
			 s->backwards);
}

static int slices_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct slices *s = state;
	const struct slices_view view = {s, pass->names};
	const struct grt_column *sort = grt_pass_sort(pass, part, NULL);
	uint64_t shown;
	void **rows;
	int ret = slices_finish_all(s, pass);

	if (ret || (!s->gpu.used && pass->summary))
		return ret;
	if (grt_keyed_list(&s->owner, slices_by_place, &rows))
		return -ENOMEM;
	if (sort)
		grt_rows_sort(rows, s->owner.used, sort, &view, slices_tie);
	shown = grt_pass_shown(pass, part, s->owner.used);
	ret = grt_writer_list(pass->writer, &slice_table, &view, rows, shown);
	slices_notes(s, pass, shown);
	free(rows);
	return ret;
}

static void slices_free(void *state)
{
	struct slices *s = state;
	struct owner *o;

	if (!s)
		return;
	for (o = grt_keyed_oldest(&s->owner); o; o = grt_keyed_next(&s->owner, o))
		grt_hist_free(&o->whole);
	grt_keyed_free(&s->owner);
	grt_keyed_free(&s->gpu);
	free(s);
}

static const uint16_t slice_types[] = {GRT_EV_GPU_SLICE, 0};
static const struct grt_part slice_parts[] = {
	{"gpu-process", "which process had the GPU: residency, share, slices",
	 GRT_PART_BY | GRT_PART_SUMMARY | GRT_PART_MONITOR, .table = &slice_table, .types = slice_types,
	 .write = slices_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_slices = {
	.name = "slices",
	.classes = GRT_IN_CLASS(slice),
	.late = true,
	.waits = true,
	.parts = slice_parts,
	.begin = slices_begin,
	.within = slices_within,
	.span = slices_span,
	.event = slices_event,
	.free = slices_free,
};
