// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * report --by allocation: memory that CUDA programs have allocated, by stack: what is live at the end, which
 * is what leaks, and what was live when most of its device's memory was. Sizes are those that the program
 * asked for; freed memory is that of the allocation with its address.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "base/grow.h"
#include "base/keyed.h"
#include "stack/image_frames.h"
#include "stack/images.h"
#include "table/analysis.h"
#include "table/cells.h"
#include "table/table.h"

#define SITES_MAX 65536U
#define LIVE_MAX (1U << 22)
#define DEVICES_MAX 16384U
/* Changes, of which the peak is made. */
#define CHANGES_MAX (1U << 22)
#define HOST UINT32_MAX

enum { ANY, DEVICE, POOL, PHYSICAL, MANAGED, PINNED, REGISTERED, KINDS };

static const char *const kind_names[KINDS] = {"?",	 "device", "pool",	"physical",
					      "managed", "pinned", "registered"};

/** struct site - allocations of a stack, of a kind, on a device; @at_peak: live when the device had most */
struct site {
	uint32_t image;
	uint32_t pid;
	uint32_t node;
	uint16_t kind;
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

/** struct memory - of a device, or of the host: its bytes, and the change after which they were the most */
struct memory {
	uint64_t live;
	uint64_t peak;
	uint32_t peak_at;
};

struct block {
	struct site *site;
	struct memory *memory;
	uint64_t bytes;
};

struct change {
	struct site *site;
	struct memory *memory;
	int64_t bytes;
};

struct allocations {
	struct grt_images images;
	struct grt_image_frames *frames;
	struct grt_keyed sites;
	struct grt_keyed live;
	struct grt_keyed memories;
	struct change *change;
	uint32_t changes, room;
	struct site **list;
	uint64_t over;
	uint64_t unknown;
};

static int allocations_begin(void **state, struct grt_pass *pass, unsigned int parts)
{
	struct allocations *a = *state;

	grt_images_init(&a->images);
	grt_keyed_init(&a->sites, sizeof(struct site), SITES_MAX);
	grt_keyed_init(&a->live, sizeof(struct block), LIVE_MAX);
	grt_keyed_init(&a->memories, sizeof(struct memory), DEVICES_MAX);
	return grt_image_frames_new(&a->frames);
}

static int allocations_change(struct allocations *a, struct site *s, struct memory *m, int64_t bytes)
{
	s->live += (uint64_t)bytes;
	m->live += (uint64_t)bytes;
	if (a->changes == CHANGES_MAX)
		return 0;
	if (grt_grow(&a->change, &a->room, a->changes + 1, 256))
		return -ENOMEM;
	a->change[a->changes++] = (struct change){s, m, bytes};
	if (m->live > m->peak) {
		m->peak = m->live;
		m->peak_at = a->changes;
	}
	return 0;
}

/* Handles, memory of the host and addresses of devices are numbers of their own. */
static struct grt_key allocations_key(const struct grt_image *i, const struct grt_ev_alloc *e)
{
	return (struct grt_key){
		{i->number, e->kind == PHYSICAL || e->kind >= PINNED ? e->kind : 0, e->address}};
}

static int allocations_free_block(struct allocations *a, struct block *b)
{
	int ret = allocations_change(a, b->site, b->memory, -(int64_t)b->bytes);

	b->site->frees++;
	b->site->live_allocations--;
	grt_keyed_remove(&a->live, b);
	return ret;
}

static int allocations_site(struct allocations *a, const struct grt_image *i, const struct grt_ev_alloc *e,
			    struct site **out, struct memory **memory)
{
	const struct grt_device *d = NULL;
	struct grt_key key;
	void *found;
	int ret;

	if (e->kind < PINNED && e->gpu != UINT32_MAX) {
		d = grt_devices_of(&a->images.devices, i->number, e->gpu);
		if (!d)
			return -ENOMEM;
	}
	key = (struct grt_key){{i->number, e->node, e->kind, d ? d->number : HOST}};
	ret = grt_keyed_get_or_count(&a->sites, &key, &a->over, &found);
	*out = found;
	if (ret || !found)
		return ret;
	(*out)->image = i->number;
	(*out)->pid = i->pid;
	(*out)->node = e->node;
	(*out)->kind = e->kind < KINDS ? e->kind : ANY;
	(*out)->device = d;
	key = (struct grt_key){{d ? d->number : HOST}};
	ret = grt_keyed_get_or_count(&a->memories, &key, &a->over, &found);
	*memory = found;
	if (!found)
		*out = NULL;
	return ret;
}

static int allocations_add(struct allocations *a, const struct grt_image *i, const struct grt_ev_alloc *e)
{
	struct grt_key key = allocations_key(i, e);
	struct block *b = grt_keyed_find(&a->live, &key);
	struct memory *m;
	struct site *s;
	void *found;
	int ret = b ? allocations_free_block(a, b) : 0;

	ret = ret ?: allocations_site(a, i, e, &s, &m);
	if (ret || !s)
		return ret;
	ret = grt_keyed_get_or_count(&a->live, &key, &a->over, &found);
	b = found;
	if (!b)
		return ret;
	/* sums of a broken trace do not wrap */
	*b = (struct block){s, m, e->bytes < 1ULL << 48 ? e->bytes : 0};
	s->allocations++;
	s->live_allocations++;
	s->bytes += b->bytes;
	return allocations_change(a, s, m, (int64_t)b->bytes);
}

static int allocations_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	const struct grt_ev_alloc *x = (const void *)e;
	struct allocations *a = state;
	struct grt_image *i;
	struct grt_key key;
	struct block *b;

	if (e->type != GRT_EV_ALLOC)
		return grt_images_event(&a->images, e);
	i = grt_images_of(&a->images, e);
	if (!i)
		return -ENOMEM;
	if (x->what == 1)
		return allocations_add(a, i, x);
	key = allocations_key(i, x);
	b = grt_keyed_find(&a->live, &key);
	a->unknown += !b;
	return b ? allocations_free_block(a, b) : 0;
}

/* ------------------------------------------------------------------- rows */

static int allocations_compare(const void *a, const void *b)
{
	const struct site *x = *(const struct site *const *)a, *y = *(const struct site *const *)b;

	if (x->at_peak != y->at_peak)
		return x->at_peak > y->at_peak ? -1 : 1;
	if (x->live != y->live)
		return x->live > y->live ? -1 : 1;
	return memcmp(grt_keyed_key(x), grt_keyed_key(y), sizeof(struct grt_key));
}

static int allocations_name(struct allocations *a, struct site *s)
{
	const struct grt_image *i = a->images.image[s->image];

	s->process = grt_image_process_name(i, s->pid_text);
	if (!s->node)
		return 0;
	return grt_image_frames_brief(a->frames, i, s->node, &s->stack)
		       ?: grt_image_frames_folded(a->frames, i, s->node, true, GRT_IMAGE_FRAMES_FOLDED_MAX,
						  &s->frames);
}

static int allocations_finish(void *state, struct grt_pass *pass)
{
	struct allocations *a = state;
	int ret = 0;

	for (uint32_t i = 0; i < a->changes; i++)
		if (i < a->change[i].memory->peak_at)
			a->change[i].site->at_peak += (uint64_t)a->change[i].bytes;
	for (struct site *s = grt_keyed_oldest(&a->sites); s && !ret; s = grt_keyed_next(&a->sites, s))
		ret = allocations_name(a, s);
	return ret ?: grt_keyed_list(&a->sites, allocations_compare, (void ***)&a->list);
}

static void allocations_get_kind(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = kind_names[((const struct site *)row)->kind];
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
	{"process", grt_cell_pointed, S(process), GRT_CELL_TEXT, GRT_COLUMN_MORE, "its program"},
	{"gpu", allocations_get_gpu, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of the device in its process; none: memory of the host"},
	{"uuid", allocations_get_uuid, 0, GRT_CELL_TEXT, GRT_COLUMN_MORE, "of the device: its identity, for all processes"},
	{"kind", allocations_get_kind, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "device, pool, physical, managed, pinned or registered"},
	{"peak", grt_cell_u64, S(at_peak), GRT_CELL_BYTES, GRT_COLUMN_ALL, "live when its device had most, B"},
	{"live", grt_cell_u64, S(live), GRT_CELL_BYTES, GRT_COLUMN_ALL, "live at the end: never freed, B"},
	{"blocks", grt_cell_u64, S(live_allocations), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "allocations that are live at the end"},
	{"allocations", grt_cell_u64, S(allocations), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that allocated"},
	{"frees", grt_cell_u64, S(frees), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "of these, freed later"},
	{"bytes", grt_cell_u64, S(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "allocated in all, B"},
	{"stack", grt_cell_pointed, S(stack), GRT_CELL_TEXT, GRT_COLUMN_ALL, "of the call: frames that say most, innermost first"},
	{"frames", grt_cell_pointed, S(frames), GRT_CELL_TEXT, GRT_COLUMN_MORE, "all of it, outermost first, with ; between"},
	{.name = NULL},
};

/* clang-format on */

static const struct grt_table allocation_table = {"allocations", "memory of CUDA programs, by stack",
						  allocation_columns, 0};

static int allocations_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct allocations *a = state;
	uint64_t shown = grt_pass_shown(pass, part, a->sites.used);
	const void **row = (const void **)a->list;

	if (!a->sites.used)
		grt_note(pass->notes,
			 "the trace has no allocations of CUDA programs: grtrace record -e cuda -- PROG");
	grt_rows_sort(row, a->sites.used, grt_pass_sort(pass, part, NULL), NULL, NULL);
	if (shown < a->sites.used)
		grt_note(pass->notes, "%" PRIu64 " more rows: --top 0 shows all", a->sites.used - shown);
	return grt_writer_list(pass->writer, part->table, NULL, row, shown);
}

static void allocations_notes(void *state, struct grt_pass *pass)
{
	const struct allocations *a = state;

	if (a->unknown)
		grt_note(pass->notes, "%" PRIu64 " frees are of memory whose allocation is not in the trace",
			 a->unknown);
	if (a->over)
		grt_note(pass->notes, "%" PRIu64 " allocations are not in the table: there were too many",
			 a->over);
	if (a->changes == CHANGES_MAX)
		grt_note(pass->notes, "the peak is that of the first %u allocations and frees", CHANGES_MAX);
}

static bool allocations_any(const void *state)
{
	return ((const struct allocations *)state)->sites.used;
}

static void allocations_free(void *state)
{
	struct allocations *a = state;

	if (!a)
		return;
	for (struct site *s = grt_keyed_oldest(&a->sites); s; s = grt_keyed_next(&a->sites, s)) {
		free(s->stack);
		free(s->frames);
	}
	grt_keyed_free(&a->sites);
	grt_keyed_free(&a->live);
	grt_keyed_free(&a->memories);
	grt_images_free(&a->images);
	grt_image_frames_free(a->frames);
	free(a->change);
	free(a->list);
}

static const struct grt_part allocation_parts[] = {
	{"allocation", "memory of CUDA programs by stack: at the peak, and live at the end",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &allocation_table, .any = allocations_any,
	 .write = allocations_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_allocations = {
	.name = "allocations",
	.classes = GRT_IN_CLASS(image) | GRT_IN_CLASS(launch),
	.beyond = true,
	.parts = allocation_parts,
	.size = sizeof(struct allocations),
	.begin = allocations_begin,
	.event = allocations_event,
	.finish = allocations_finish,
	.notes = allocations_notes,
	.free = allocations_free,
};
