// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by gpu-memory, and flame --weight live and peak of NV_MEMORY records: memory that processes have
 * from NVIDIA's driver, by process and GPU, and by the stack of the call that got it. Where the trace has
 * CUDA's own records of a process, flame graphs are made of these, which say more.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/bus.h"
#include "process_memory.h"
#include "stack/flame_shapes.h"
#include "stack/frames.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"
#include "table/rows.h"
#include "trace/packet.h"

/* Different (process, GPU, stack). */
#define SITES_MAX 262144U
#define PLACES_MAX 1024U

enum { PART_TABLE, PART_LIVE, PART_PEAK };

/**
 * struct place - a GPU, or the host: memory that is live now, the maximum, and the number of times that it
 * rose above the previous maximum
 */
struct place {
	uint64_t live;
	uint64_t most;
	uint64_t peaks;
};

/** struct site - memory of a holder that was got with a stack; @at_peak: when @peaks of its place had come */
struct site {
	const struct grt_memory_holder *holder;
	uint32_t user;
	uint32_t kernel;
	uint64_t live;
	uint64_t at_peak;
	uint64_t peaks;
};

/** enum kind - what a row is of */
enum kind { KIND_ALLOCATED, KIND_BEFORE, KIND_OTHER };

struct row {
	const struct grt_memory_holder *holder;
	enum kind kind;
	char gpu[GRT_BUS_MAX];
};

struct process_memory {
	unsigned int parts;
	struct grt_process_memory memory;
	struct grt_frames frames;
	struct grt_names names;
	struct grt_keyed sites;
	struct grt_keyed places;
	struct grt_keyed cuda; /* processes with CUDA's own records */
	struct row *row;
	uint32_t rows;
	const struct row **list;
	uint64_t from, to;
	bool inside;
	uint64_t over;
};

static int memory_table_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct process_memory *p = *state;

	p->parts = parts;
	p->to = UINT64_MAX;
	if (pass->tree) {
		p->from = pass->first;
		p->to = pass->last;
	}
	grt_process_memory_init(&p->memory);
	grt_keyed_init(&p->sites, sizeof(struct site), SITES_MAX);
	grt_keyed_init(&p->places, sizeof(struct place), PLACES_MAX);
	grt_keyed_init(&p->cuda, sizeof(char), SITES_MAX);
	return grt_frames_init(&p->frames);
}

static void memory_table_within(void *state, uint64_t from, uint64_t to)
{
	struct process_memory *p = state;

	p->from = from;
	p->to = to;
}

/* A site's live memory at the last peak of its place is known until it changes. */
static void memory_table_settle(struct site *s, const struct place *p)
{
	if (s->peaks != p->peaks)
		s->at_peak = s->live;
	s->peaks = p->peaks;
}

static struct grt_key memory_table_place(const struct grt_memory_holder *h)
{
	return (struct grt_key){{h->bus, h->place}};
}

/* The examined time begins: memory that was allocated before is live in it, and its allocation is not
 * counted. */
static void memory_table_enter(struct process_memory *p)
{
	if (!p->inside)
		grt_process_memory_restart(&p->memory);
	p->inside = true;
}

/*
 * @inside: the change is in the examined time. Memory that was allocated before is live in that time, and
 *	counts for its peak.
 */
static int memory_table_change(struct process_memory *p, const struct grt_holder_change *c, bool inside)
{
	const struct grt_key key = {{c->holder->number, (uint64_t)c->user << 32 | c->kernel}};
	const struct grt_key where = memory_table_place(c->holder);
	struct place *place;
	struct site *s;
	void *found;
	int ret = grt_keyed_get_or_count(&p->places, &where, &p->over, &found);

	place = found;
	if (ret || !found)
		return ret;
	ret = grt_keyed_get_or_count(&p->sites, &key, &p->over, &found);
	s = found;
	if (ret || !found)
		return ret;
	if (!s->holder)
		*s = (struct site){c->holder, c->user, c->kernel, .peaks = place->peaks};
	memory_table_settle(s, place);
	s->live += (uint64_t)c->bytes;
	place->live += (uint64_t)c->bytes;
	if (inside ? place->live > place->most : place->live != place->most) {
		place->most = place->live;
		place->peaks++;
	}
	return 0;
}

static int memory_table_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	struct process_memory *p = state;
	struct grt_holder_change change[2];
	const struct grt_key pid = {{e->pid}};
	void *found;
	int ret = 0, n;

	if (grt_class_of[e->type] == GRT_CLASS_stack)
		return grt_frames_event(&p->frames, e);
	if (e->type == GRT_EV_NAME)
		return grt_names_add(&p->names, (const void *)e);
	if (e->type == GRT_EV_ALLOC)
		return grt_keyed_get_or_count(&p->cuda, &pid, NULL, &found);
	if (e->type != GRT_EV_NV_MEMORY || e->time > p->to)
		return 0;
	if (e->time >= p->from)
		memory_table_enter(p);
	n = grt_process_memory_event(&p->memory, (const void *)e, change);
	for (int i = 0; i < n && !ret; i++)
		ret = memory_table_change(p, &change[i], e->time >= p->from);
	return n < 0 ? n : ret;
}

/* ---------------------------------------------------------- flame graphs */

static const char *memory_table_name(const struct process_memory *p, uint32_t pid, char room[24])
{
	const char *name = grt_process_name(&p->names, pid);

	snprintf(room, 24, "pid %" PRIu32, pid);
	return name ?: room;
}

/* "[0000:c6:00.0_Memory driver]" */
static int memory_table_leaf(const struct grt_memory_holder *h, const char *what, struct grt_stacks *tree,
			     uint32_t *node)
{
	char bus[GRT_BUS_MAX], text[96];
	const char *gpu = h->place != GRT_NV_MEMORY_OF_GPU ? "Host"
			  : h->bus			   ? grt_bus_text(bus, h->bus)
							   : "GPU";
	int n = snprintf(text, sizeof(text), "[%s_Memory %s]", gpu, what);

	return grt_stacks_frame(tree, *node, text, (size_t)n, node);
}

static int memory_table_base(const struct process_memory *p, const struct grt_process_names *processes,
			     const struct grt_memory_holder *h, struct grt_pass *pass, uint32_t *node)
{
	char pid[24], room[320], bus[GRT_BUS_MAX];
	const char *name = memory_table_name(p, h->pid, pid);
	struct grt_flame_op op = {.device = GRT_FLAME_NO_DEVICE, .pid = h->pid};
	int ret = grt_process_names_text(processes, name, strlen(name), h->pid, room, &op.process);

	if (ret < 0)
		return ret;
	op.process_len = (size_t)ret;
	if (h->place == GRT_NV_MEMORY_OF_GPU && h->bus)
		op.gpu = grt_bus_text(bus, h->bus);
	ret = grt_flame_base(pass->tree, pass->shape, &op, node);
	if (!ret && pass->shape->by != GRT_FLAME_BY_PROCESS)
		ret = grt_stacks_frame(pass->tree, *node, op.process, op.process_len, node);
	return ret;
}

static bool memory_table_has_cuda(const struct process_memory *p, uint32_t pid)
{
	const struct grt_key key = {{pid}};

	return grt_keyed_find(&p->cuda, &key);
}

static int memory_table_put(struct process_memory *p, const struct grt_process_names *processes,
			    const struct site *s, struct grt_pass *pass)
{
	uint64_t bytes = p->parts & 1U << PART_PEAK ? s->at_peak : s->live;
	uint32_t node;
	int ret;

	if (!bytes || memory_table_has_cuda(p, s->holder->pid))
		return 0;
	ret = memory_table_base(p, processes, s->holder, pass, &node);
	if (!ret)
		ret = grt_frames_put(&p->frames, s->user, pass->shape->places, pass->tree, &node);
	if (!ret)
		ret = grt_frames_put(&p->frames, s->kernel, pass->shape->places, pass->tree, &node);
	if (!ret)
		ret = memory_table_leaf(s->holder, "driver", pass->tree, &node);
	return ret ?: grt_stacks_add(pass->tree, node, pass->side, bytes);
}

/* Memory that NVML counts and no call explains has no stack. */
static int memory_table_put_before(struct process_memory *p, const struct grt_process_names *processes,
				   const struct grt_memory_holder *h, struct grt_pass *pass)
{
	uint64_t bytes = p->parts & 1U << PART_PEAK ? h->before : h->before_left;
	uint32_t node;
	int ret;

	if (!bytes || memory_table_has_cuda(p, h->pid))
		return 0;
	ret = memory_table_base(p, processes, h, pass, &node)
		      ?: memory_table_leaf(h, "before", pass->tree, &node);
	return ret ?: grt_stacks_add(pass->tree, node, pass->side, bytes);
}

static int memory_table_tree(struct process_memory *p, struct grt_pass *pass)
{
	struct grt_process_names processes;
	const struct grt_memory_holder *h;
	char pid[24];
	int ret = grt_process_names_init(&processes, pass->shape->compared);

	for (uint32_t i = 0; i < p->memory.used && !ret; i++) {
		const char *name = memory_table_name(p, p->memory.holder[i]->pid, pid);

		ret = grt_process_names_see(&processes, name, strlen(name), p->memory.holder[i]->pid);
	}
	for (struct site *s = grt_keyed_oldest(&p->sites); s && !ret; s = grt_keyed_next(&p->sites, s)) {
		const struct grt_key where = memory_table_place(s->holder);

		memory_table_settle(s, grt_keyed_find(&p->places, &where));
		ret = memory_table_put(p, &processes, s, pass);
	}
	for (uint32_t i = 0; i < p->memory.used && !ret; i++) {
		h = p->memory.holder[i];
		ret = memory_table_put_before(p, &processes, h, pass);
	}
	grt_process_names_free(&processes);
	return ret;
}

/* ------------------------------------------------------------------ table */

static int memory_table_rows(struct process_memory *p)
{
	free(p->row);
	free(p->list);
	p->rows = 0;
	p->row = calloc(3 * p->memory.used + 1, sizeof(*p->row));
	p->list = calloc(3 * p->memory.used + 1, sizeof(*p->list));
	if (!p->row || !p->list)
		return -ENOMEM;
	grt_process_memory_sort(&p->memory);
	for (uint32_t i = 0; i < p->memory.used; i++) {
		const struct grt_memory_holder *h = p->memory.holder[i];

		p->row[p->rows++] = (struct row){h, KIND_ALLOCATED, ""};
		if (h->had_before)
			p->row[p->rows++] = (struct row){h, KIND_BEFORE, ""};
		if (h->asked)
			p->row[p->rows++] = (struct row){h, KIND_OTHER, ""};
	}
	for (uint32_t i = 0; i < p->rows; i++) {
		p->list[i] = &p->row[i];
		if (p->row[i].holder->bus)
			grt_bus_text(p->row[i].gpu, p->row[i].holder->bus);
	}
	return 0;
}

static int memory_table_finish(void *state, struct grt_pass *pass)
{
	memory_table_enter(state);
	return pass->tree ? memory_table_tree(state, pass) : memory_table_rows(state);
}

static void memory_get_pid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct row *)row)->holder->pid;
}

static void memory_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_process_name(view, ((const struct row *)row)->holder->pid);
}

static void memory_get_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->text = r->gpu;
	cell->absent = !*cell->text;
	cell->inferred = r->kind == KIND_ALLOCATED && r->holder->inferred;
}

static void memory_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	static const char *const names[] = {"allocated", "before", "other"};
	const struct row *r = row;

	cell->text = r->kind == KIND_ALLOCATED && r->holder->place == GRT_NV_MEMORY_OF_HOST ? "host"
											    : names[r->kind];
}

static void memory_get_live(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->number = r->kind == KIND_ALLOCATED ? r->holder->live
		       : r->kind == KIND_BEFORE	 ? r->holder->before_left
						 : r->holder->other;
	/* frees of it are known only as far as NVML counts less */
	cell->inferred = r->kind == KIND_BEFORE;
}

static void memory_get_peak(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->number = r->kind == KIND_BEFORE ? r->holder->before : r->holder->peak;
	cell->absent = r->kind == KIND_OTHER;
}

/* A member of the holder, in its first row only. */
static void memory_get_own(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct row *r = row;

	cell->number = *(const uint64_t *)((const char *)r->holder + offset);
	cell->absent = r->kind != KIND_ALLOCATED;
}

static void memory_get_counted(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct row *r = row;

	cell->number = r->holder->counted;
	cell->absent = r->kind != KIND_ALLOCATED || !r->holder->asked;
}

/* clang-format off */

#define H(member) offsetof(struct grt_memory_holder, member)

static const struct grt_column memory_columns[] = {
	{"pid", memory_get_pid, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", memory_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"gpu", memory_get_gpu, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address of the GPU, inferred from NVML if the process opened it before the trace; none: memory of the host, or unknown"},
	{"kind", memory_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "allocated: in the trace; before: before the trace; other: NVML counts it, and no call shows it; host: the driver's memory of the host"},
	{"peak", memory_get_peak, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "largest amount live at a time, B"},
	{"live", memory_get_live, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "amount live at the end, B"},
	{"blocks", memory_get_own, H(blocks), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "allocations live at the end"},
	{"allocations", memory_get_own, H(allocations), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that allocated memory"},
	{"frees", memory_get_own, H(frees), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "allocations that were freed later"},
	{"bytes", memory_get_own, H(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "sum of all allocations, B"},
	{"shared", memory_get_own, H(shared), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "additional handles of its memory, in this or another process"},
	{"refused", memory_get_own, H(refused), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "allocations that the driver refused"},
	{"nvml", memory_get_counted, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "memory of the process at the last query of NVML, B"},
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table memory_table = {"gpu_memory", "memory of processes from NVIDIA's driver",
					      memory_columns, 0};

static int memory_table_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct process_memory *p = state;
	uint64_t shown = grt_pass_shown(pass, part, p->rows);

	grt_rows_sort(p->list, p->rows, grt_pass_sort(pass, part, NULL), &p->names, NULL);
	if (shown < p->rows)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", p->rows - shown);
	return grt_writer_list(pass->writer, part->table, &p->names, (const void **)p->list, shown);
}

static void memory_table_notes(void *state, struct grt_pass *pass)
{
	const struct process_memory *p = state;

	if (!p->memory.used && !pass->tree)
		grt_note(pass->notes,
			 "the trace has no memory from NVIDIA's driver: use grtrace record -e nvmem");
	if (p->over + p->memory.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {allocation is|allocations are} not counted: there were too many",
			 p->over + p->memory.over);
	if (pass->tree && p->memory.used && p->cuda.used)
		grt_note(pass->notes,
			 "memory of %" PRIu32 " {process|processes} comes from CUDA's own records",
			 p->cuda.used);
}

GRT_ANALYSIS_ANY(memory_table_any, process_memory, memory.used)

static void memory_table_free(void *state)
{
	struct process_memory *p = state;

	if (!p)
		return;
	grt_process_memory_free(&p->memory);
	grt_frames_free(&p->frames);
	grt_names_free(&p->names);
	grt_keyed_free(&p->sites);
	grt_keyed_free(&p->places);
	grt_keyed_free(&p->cuda);
	free(p->row);
	free(p->list);
}

static const struct grt_part memory_parts[] = {
	{"gpu-memory",
	 "memory that processes have from NVIDIA's driver: peak, live at the end, and allocated before the trace",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &memory_table, .any = memory_table_any,
	 .write = memory_table_write},
	/* words of flame_shapes.def */
	{"live", .where = GRT_PART_FLAME},
	{"peak", .where = GRT_PART_FLAME},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_process_memory = {
	.name = "process_memory",
	.classes = GRT_IN_CLASS(devmem) | GRT_IN_CLASS(launch) | GRT_IN_CLASS(stack) | GRT_IN_CLASS(name),
	.besides = GRT_IN_CLASS(launch),
	.beyond = true,
	.parts = memory_parts,
	.size = sizeof(struct process_memory),
	.begin = memory_table_begin,
	.within = memory_table_within,
	.event = memory_table_event,
	.finish = memory_table_finish,
	.notes = memory_table_notes,
	.free = memory_table_free,
};
