// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by allocation, and flame --weight live and peak: memory that CUDA programs have allocated, by
 * stack: memory that is live at the end, which may have leaked, and memory that was live at the peak of its
 * device. Sizes are those that the program requested.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdio.h>
#include <stdlib.h>
#include <string.h>

#include "base/containers.h"
#include "device_memory.h"
#include "stack/flame_shapes.h"
#include "stack/image_frames.h"
#include "stack/images.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"

#define SITES_MAX 65536U
/* The changes from which the peak is computed. */
#define CHANGES_MAX (1U << 22)

enum { PART_TABLE, PART_LIVE, PART_PEAK };

/** struct site - allocations of a stack, of a kind, on a device; @at_peak: live when the device had most */
struct site {
	uint32_t image;
	uint32_t pid;
	uint32_t node;
	uint16_t kind;
	uint32_t place; /* number of the device, or GRT_DEVICE_MEMORY_HOST */
	const struct grt_device *device;
	char pid_text[24];
	const char *process;
	char *stack;
	char *frames;
	uint64_t allocations;
	uint64_t frees;
	uint64_t bytes;
	uint64_t live;
	uint64_t live_allocations;
	uint64_t at_peak;
};

/** struct peak - the most bytes of a device, or of the host, and the change after which they were it */
struct peak {
	uint64_t most;
	uint32_t at;
};

struct change {
	uint32_t site;
	uint32_t place;
	int64_t bytes;
};

struct allocations {
	unsigned int parts;
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_device_memory memory;
	struct grt_keyed sites; /* numbers, plus 1 */
	struct site *site;
	uint32_t used, site_room;
	struct peak *peak; /* by place, plus 1; the host is the first */
	uint32_t peaks;
	struct change *change;
	uint32_t changes, room;
	struct site **list;
	uint64_t from, to;
	uint64_t over;
};

static int allocations_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct allocations *a = *state;

	a->parts = parts;
	a->to = UINT64_MAX;
	if (pass->tree) {
		a->from = pass->first;
		a->to = pass->last;
	}
	grt_images_init(&a->images);
	grt_device_memory_init(&a->memory);
	grt_keyed_init(&a->sites, sizeof(uint32_t), SITES_MAX);
	return grt_image_frames_new(&a->frames);
}

static void allocations_within(void *state, uint64_t from, uint64_t to)
{
	struct allocations *a = state;

	a->from = from;
	a->to = to;
}

/*
 * @inside: the change is in the requested time. Memory that was allocated before is live in that time, and
 *	counts for its peak, but its allocation is not counted.
 */
static int allocations_change(struct allocations *a, const struct grt_memory_change *c, bool inside)
{
	struct site *s = &a->site[c->owner];
	uint32_t place = c->device + 1U;

	/* what a process had at its end was never freed */
	s->live += c->ended ? 0 : (uint64_t)c->bytes;
	s->frees += inside && c->freed && !c->ended;
	s->live_allocations += c->ended ? 0 : c->freed ? -1ULL : 1;
	s->allocations += inside && !c->freed;
	s->bytes += inside && !c->freed ? (uint64_t)c->bytes : 0;
	if (a->changes == CHANGES_MAX)
		return 0;
	if (grt_grow(&a->change, &a->room, a->changes + 1, 256) ||
	    grt_grow_zeroed(&a->peak, &a->peaks, place + 1, 4))
		return -ENOMEM;
	a->change[a->changes++] = (struct change){c->owner, c->device, c->bytes};
	if (!inside ? c->live != a->peak[place].most : c->live > a->peak[place].most)
		a->peak[place] = (struct peak){c->live, a->changes};
	return 0;
}

/* Return: 0 or -ENOMEM; UINT32_MAX: there is no room */
static int allocations_site(struct allocations *a, const struct grt_image *i, const struct grt_ev_alloc *e,
			    uint32_t place, uint32_t *out)
{
	const struct grt_key key = {{i->number, e->node, e->kind, place}};
	uint32_t *number;
	void *found;
	int ret = grt_keyed_get_or_count(&a->sites, &key, &a->over, &found);

	*out = UINT32_MAX;
	if (ret || !found)
		return ret;
	number = found;
	if (!*number) {
		if (grt_grow(&a->site, &a->site_room, a->used + 1, 64))
			return -ENOMEM;
		a->site[a->used] = (struct site){.image = i->number,
						 .pid = i->pid,
						 .node = e->node,
						 .kind = e->kind < GRT_MEMORY_KINDS ? e->kind : 0,
						 .place = place};
		*number = ++a->used;
	}
	*out = *number - 1;
	return 0;
}

static int allocations_release(void *arg, const struct grt_memory_change *c, uint64_t time)
{
	struct allocations *a = arg;

	return allocations_change(a, c, time >= a->from);
}

static int allocations_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_alloc *x = (const void *)e;
	struct grt_memory_change change[2];
	struct allocations *a = state;
	uint32_t place = 0, site = 0;
	struct grt_image *i;
	int ret, n;

	if (e->type == GRT_EV_PROCESS) {
		i = grt_images_of(&a->images, e);
		ret = i ? grt_device_memory_process(&a->memory, i, (const void *)e) : -ENOMEM;
		return ret ?: grt_images_event(&a->images, e);
	}
	/* a call shows, too, that its process goes on */
	if (e->type != GRT_EV_ALLOC && !(e->type == GRT_EV_LAUNCH && a->memory.ends))
		return grt_images_event(&a->images, e);
	if (e->time > a->to)
		return 0;
	i = grt_images_of(&a->images, e);
	ret = i ? grt_device_memory_release(&a->memory, i, allocations_release, a) : -ENOMEM;
	if (ret || e->type != GRT_EV_ALLOC)
		return ret;
	ret = grt_device_memory_place(&a->images, i, x, &place);
	if (!ret && x->what == 1)
		ret = allocations_site(a, i, x, place, &site);
	if (ret || site == UINT32_MAX)
		return ret;
	n = grt_device_memory_event(&a->memory, i, x, place, site, change);
	for (int k = 0; k < n && !ret; k++)
		ret = allocations_change(a, &change[k], e->time >= a->from);
	return n < 0 ? n : ret;
}

/* ------------------------------------------------------------------- rows */

static int allocations_compare(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a, *y = *(const struct site *const *)b;

	if (x->at_peak != y->at_peak)
		return x->at_peak > y->at_peak ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	return x < y ? -1 : 1;
}

static int allocations_name(struct allocations *a, struct site *s)
{
	const struct grt_image *i = a->images.image[s->image];

	s->process = grt_image_process_name(i, s->pid_text);
	if (!s->node || s->stack)
		return 0;
	return grt_image_frames_brief(a->frames, i, s->node, &s->stack)
		       ?: grt_image_frames_folded(a->frames, i, s->node, true, GRT_IMAGE_FRAMES_FOLDED_MAX,
						  &s->frames);
}

static int allocations_list(struct allocations *a)
{
	int ret = 0;

	free(a->list);
	a->list = calloc(a->used + 1U, sizeof(*a->list));
	if (!a->list)
		return -ENOMEM;
	for (uint32_t i = 0; i < a->used && !ret; i++) {
		a->list[i] = &a->site[i];
		ret = a->parts & 1U << PART_TABLE ? allocations_name(a, &a->site[i]) : 0;
	}
	qsort(a->list, a->used, sizeof(*a->list), allocations_compare);
	return ret;
}

static int allocations_tree(struct allocations *a, struct grt_pass *pass);

static int allocations_finish(void *state, struct grt_pass *pass)
{
	struct allocations *a = state;
	const struct change *c;

	for (uint32_t i = 0; i < a->used; i++) {
		a->site[i].at_peak = 0;
		a->site[i].device = a->site[i].place == GRT_DEVICE_MEMORY_HOST
					    ? NULL
					    : a->images.devices.device[a->site[i].place];
	}
	for (uint32_t i = 0; i < a->changes; i++) {
		c = &a->change[i];
		if (i < a->peak[c->place + 1U].at)
			a->site[c->site].at_peak += (uint64_t)c->bytes;
	}
	return allocations_list(a) ?: pass->tree ? allocations_tree(a, pass) : 0;
}

/* ---------------------------------------------------------- flame graphs */

/* Adds the leaf of a stack: "[GPU0_Memory pool]", "[Host_Memory pinned]". */
static int allocations_put_leaf(const struct allocations *a, const struct site *s, struct grt_stacks *tree,
				uint32_t *node)
{
	char label[GRT_DEVICE_LABEL], gpu[GRT_FLAME_GPU] = "Host", text[96];
	int n;

	if (s->device) {
		grt_device_label(&a->images.devices, s->device, label);
		if (label[3] == '-')
			snprintf(gpu, sizeof(gpu), "%s", label);
		else
			grt_flame_gpu(gpu, s->device->gpu);
	}
	n = snprintf(text, sizeof(text), "[%s_Memory %s]", gpu, grt_memory_kind_name(s->kind));
	return grt_stacks_frame(tree, *node, text, (size_t)n, node);
}

static int allocations_put_base(const struct allocations *a, const struct grt_process_names *processes,
				const struct site *s, struct grt_pass *pass, uint32_t *node)
{
	char label[GRT_DEVICE_LABEL], room[320];
	struct grt_flame_op op = {.device = GRT_FLAME_NO_DEVICE};
	int ret =
		grt_process_names_text(processes, s->process, strlen(s->process), s->pid, room, &op.process);

	if (ret < 0)
		return ret;
	op.process_len = (size_t)ret;
	if (s->device) {
		op.device = s->device->gpu;
		op.gpu = grt_device_label(&a->images.devices, s->device, label)[3] == '-' ? label : NULL;
	}
	ret = grt_flame_base(pass->tree, pass->shape, &op, node);
	if (!ret && pass->shape->by != GRT_FLAME_BY_PROCESS)
		ret = grt_stacks_frame(pass->tree, *node, op.process, op.process_len, node);
	return ret;
}

static int allocations_put_site(struct allocations *a, const struct grt_process_names *processes,
				const struct site *s, struct grt_pass *pass)
{
	uint64_t bytes = a->parts & 1U << PART_PEAK ? s->at_peak : s->live;
	uint32_t node;
	int ret;

	if (!bytes)
		return 0;
	ret = allocations_put_base(a, processes, s, pass, &node);
	if (!ret && s->node)
		ret = grt_image_frames_put(a->frames, a->images.image[s->image], s->node, pass->shape->places,
					   pass->tree, &node);
	if (!ret)
		ret = allocations_put_leaf(a, s, pass->tree, &node);
	return ret ?: grt_stacks_add(pass->tree, node, pass->side, bytes);
}

static int allocations_tree(struct allocations *a, struct grt_pass *pass)
{
	struct grt_process_names processes;
	int ret = grt_process_names_init(&processes, pass->shape->compared);

	for (uint32_t i = 0; i < a->used && !ret; i++) {
		struct site *s = &a->site[i];

		s->process = grt_image_process_name(a->images.image[s->image], s->pid_text);
		ret = grt_process_names_see(&processes, s->process, strlen(s->process), s->pid);
	}
	for (uint32_t i = 0; i < a->used && !ret; i++)
		ret = allocations_put_site(a, &processes, &a->site[i], pass);
	grt_process_names_free(&processes);
	return ret;
}

/* ------------------------------------------------------------------ table */

static void allocations_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_memory_kind_name(((const struct site *)row)->kind);
}

static void allocations_get_gpu(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_device *d = ((const struct site *)row)->device;

	cell->number = d ? d->gpu : 0;
	cell->absent = !d;
}

static void allocations_get_uuid(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_device *d = ((const struct site *)row)->device;

	cell->absent = !d || !d->known;
	cell->text = cell->absent ? NULL : d->is.uuid;
}

/* clang-format off */

#define S(member) offsetof(struct site, member)

static const struct grt_column allocation_columns[] = {
	{"pid", grt_cell_u32, S(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_cell_pointed, S(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "name of the program"},
	{"gpu", allocations_get_gpu, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process; none: memory of the host"},
	{"uuid", allocations_get_uuid, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL | GRT_COLUMN_TELLS, "UUID of the device"},
	{"kind", allocations_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "device, pool, physical, managed, pinned or registered"},
	{"peak", grt_cell_u64, S(at_peak), GRT_CELL_BYTES, GRT_COLUMN_ALL, "memory live at the moment when its device had most, B"},
	{"live", grt_cell_u64, S(live), GRT_CELL_BYTES, GRT_COLUMN_ALL, "memory that was never freed: live at the end, or at the end of its process, B"},
	{"blocks", grt_cell_u64, S(live_allocations), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "allocations that were never freed"},
	{"allocations", grt_cell_u64, S(allocations), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that allocated memory"},
	{"frees", grt_cell_u64, S(frees), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "allocations that were freed later"},
	{"bytes", grt_cell_u64, S(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "sum of all allocations, B"},
	{"stack", grt_cell_pointed, S(stack), GRT_CELL_TEXT, GRT_COLUMN_ALL, "most telling frames of the call's stack, innermost first"},
	{"frames", grt_cell_pointed, S(frames), GRT_CELL_TEXT, GRT_COLUMN_MORE, "whole stack, outermost frame first, separated by ;"},
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table allocation_table = {"allocations", "memory of CUDA programs, by stack",
						  allocation_columns, 0};

static int allocations_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct allocations *a = state;
	uint64_t shown = grt_pass_shown(pass, part, a->used);
	const void **row = (const void **)a->list;

	grt_rows_sort(row, a->used, grt_pass_sort(pass, part, NULL), NULL, NULL);
	if (shown < a->used)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows}: --top 0 shows all", a->used - shown);
	return grt_writer_list(pass->writer, part->table, NULL, row, shown);
}

static void allocations_notes(void *state, struct grt_pass *pass)
{
	const struct allocations *a = state;

	if (!a->used && !pass->tree)
		grt_note(pass->notes,
			 "the trace has no allocations of CUDA programs: use grtrace record -e cuda -- PROG");
	if (a->memory.unknown)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {free belongs|frees belong} to memory whose allocation is not in the trace",
			 a->memory.unknown);
	if (a->over + a->memory.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {allocation is|allocations are} not counted: there were too many",
			 a->over + a->memory.over);
	grt_device_memory_notes(&a->memory, pass->health, pass->notes);
	if (a->changes == CHANGES_MAX)
		grt_note(pass->notes, "the peak covers only the first %u allocations and frees", CHANGES_MAX);
}

GRT_ANALYSIS_ANY(allocations_any, allocations, used)

static void allocations_free(void *state)
{
	struct allocations *a = state;

	if (!a)
		return;
	for (uint32_t i = 0; i < a->used; i++) {
		free(a->site[i].stack);
		free(a->site[i].frames);
	}
	free(a->site);
	free(a->peak);
	grt_keyed_free(&a->sites);
	grt_device_memory_free(&a->memory);
	grt_images_free(&a->images);
	grt_image_frames_free(a->frames);
	free(a->change);
	free(a->list);
}

static const struct grt_part allocation_parts[] = {
	{"allocation", "memory of CUDA programs by stack: at the peak, and live at the end",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &allocation_table, .any = allocations_any,
	 .write = allocations_write},
	/* words of flame_shapes.def */
	{"live", .where = GRT_PART_FLAME},
	{"peak", .where = GRT_PART_FLAME},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_allocations = {
	.name = "allocations",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.parts = allocation_parts,
	.size = sizeof(struct allocations),
	.begin = allocations_begin,
	.within = allocations_within,
	.event = allocations_event,
	.finish = allocations_finish,
	.notes = allocations_notes,
	.free = allocations_free,
};
