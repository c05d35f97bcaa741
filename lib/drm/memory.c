// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The sums of memory.h. A function below and its row in the table at the end say what a type of event adds.
 */
#include "memory.h"

#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include "codes/codes.h"
#include "table/cells.h"
#include "table/hist_table.h"

/* Octaves of the histogram of sizes: all that exist. */
#define OCTAVES GRT_HIST_OCTAVES
/* Length of the first slices, ns; it doubles whenever there are too many slices. */
#define SLICE_NS (1ULL << 20)

struct grt_memory {
	struct grt_keyed objects;
	struct grt_keyed processes;
	struct grt_tally moves;
	struct grt_tally shrinks;
	struct grt_hist sizes;
	uint32_t octaves;
	struct grt_mem_object
		top[GRT_MEMORY_TOP]; /* objects that no longer exist, those with most bindings first */
	struct grt_mem_slice slice[GRT_MEMORY_SLICES];
	unsigned int slices;
	uint64_t first;
	uint64_t width;
	struct grt_mem_count count;
};

static void add_amount(struct grt_mem_amount *a, uint64_t bytes)
{
	a->objects++;
	a->bytes += bytes;
}

/* Inserts an object into the list of those with most bindings, in order; the last one may be dropped. */
static void insert_top(struct grt_mem_object top[GRT_MEMORY_TOP], const struct grt_mem_object *o)
{
	unsigned int at = GRT_MEMORY_TOP;

	if (o->binds < 2)
		return;
	while (at && top[at - 1].binds < o->binds)
		at--;
	if (at == GRT_MEMORY_TOP)
		return;
	memmove(&top[at + 1], &top[at], (GRT_MEMORY_TOP - 1 - at) * sizeof(top[0]));
	top[at] = *o;
}

static void drop_object(struct grt_memory *m, struct grt_mem_object *o)
{
	insert_top(m->top, o);
	grt_keyed_remove(&m->objects, o);
}

static struct grt_key object_key(const struct grt_event *e, uint64_t object)
{
	return (struct grt_key){{e->device, object}};
}

/*
 * Finds the object, or adds it if it is unknown; it may replace the one that was seen first. Return: 0 or
 * -ENOMEM
 */
static int get_object(struct grt_memory *m, const struct grt_event *e, uint64_t object,
		      struct grt_mem_object **out)
{
	struct grt_key key = object_key(e, object);
	void *found;
	int r = grt_keyed_get(&m->objects, &key, &found);

	if (r == -ENOSPC) {
		m->count.forgotten++;
		drop_object(m, grt_keyed_oldest(&m->objects));
		r = grt_keyed_get(&m->objects, &key, &found);
	}
	if (r)
		return r;
	*out = found;
	(*out)->object = object;
	(*out)->device = e->device;
	return 0;
}

/* Return: 0 with the process; NULL: there are too many; or -ENOMEM */
static int memory_get_process(struct grt_memory *m, uint32_t pid, uint32_t tid, struct grt_mem_process **out)
{
	struct grt_key key = {{pid}};
	void *found;
	int ret = grt_keyed_get_or_count(&m->processes, &key, NULL, &found);

	*out = found;
	if (!*out)
		return ret;
	(*out)->pid = pid;
	(*out)->tid = tid;
	return 0;
}

/* Time over slices */

static void join_slices(struct grt_mem_slice *to, const struct grt_mem_slice *a,
			const struct grt_mem_slice *b)
{
	struct grt_mem_slice s = a->used ? *a : *b;

	if (a->used && b->used) {
		s.bytes_min = a->bytes_min < b->bytes_min ? a->bytes_min : b->bytes_min;
		s.bytes_max = a->bytes_max > b->bytes_max ? a->bytes_max : b->bytes_max;
		s.bytes_end = b->bytes_end;
		s.objects = b->objects;
	}
	*to = s;
}

static void widen_slices(struct grt_memory *m)
{
	unsigned int half = GRT_MEMORY_SLICES / 2;

	for (unsigned int i = 0; i < half; i++)
		join_slices(&m->slice[i], &m->slice[2 * i], &m->slice[2 * i + 1]);
	memset(&m->slice[half], 0, half * sizeof(m->slice[0]));
	m->slices = (m->slices + 1) / 2;
	m->width *= 2;
}

static void note_live(struct grt_memory *m, uint64_t time)
{
	const struct grt_mem_amount *live = &m->count.live;
	struct grt_mem_slice *s;
	uint64_t at;

	if (!m->slices)
		m->first = time;
	at = time > m->first ? time - m->first : 0;
	while (at / m->width >= GRT_MEMORY_SLICES)
		widen_slices(m);
	s = &m->slice[at / m->width];
	if (at / m->width >= m->slices)
		m->slices = (unsigned int)(at / m->width) + 1;
	if (!s->used || live->bytes < s->bytes_min)
		s->bytes_min = live->bytes;
	if (!s->used || live->bytes > s->bytes_max)
		s->bytes_max = live->bytes;
	s->bytes_end = live->bytes;
	s->objects = live->objects;
	s->used = true;
}

static void note_least(uint64_t *least, uint64_t now, bool first)
{
	if (first || now < *least)
		*least = now;
}

static void note_most(uint64_t *most, uint64_t now)
{
	if (now > *most)
		*most = now;
}

static void live_changed(struct grt_memory *m, uint64_t time)
{
	struct grt_mem_count *c = &m->count;
	bool first = c->created.objects == 1 && !c->destroyed.objects;

	note_least(&c->live_min.bytes, c->live.bytes, first);
	note_least(&c->live_min.objects, c->live.objects, first);
	note_most(&c->live_max.bytes, c->live.bytes);
	note_most(&c->live_max.objects, c->live.objects);
	note_live(m, time);
}

/* Events */

/* Ends an object. If its number is used again, its end may have had no record. */
static int destroy(struct grt_memory *m, struct grt_mem_object *o, uint64_t time)
{
	struct grt_mem_process *p;
	int r;

	if (!o->created) {
		m->count.older++;
		drop_object(m, o);
		return 0;
	}
	r = memory_get_process(m, o->pid, o->tid, &p);
	if (r)
		return r;
	if (p)
		add_amount(&p->destroyed, o->bytes);
	add_amount(&m->count.destroyed, o->bytes);
	m->count.live.objects--;
	m->count.live.bytes -= o->bytes;
	drop_object(m, o);
	live_changed(m, time);
	return 0;
}

static void count_placement(struct grt_mem_count *c, const struct grt_ev_mem_create *ev)
{
	if (ev->wanted & GRT_AMDGPU_DOMAIN_VRAM)
		add_amount(&c->vram_wanted, ev->bytes);
	if ((ev->wanted & GRT_AMDGPU_DOMAIN_VRAM) && ev->placed == GRT_AMDGPU_TYPE_GTT)
		add_amount(&c->vram_in_gtt, ev->bytes);
	if (ev->mflags & GRT_AMDGPU_CPU_ACCESS)
		add_amount(&c->cpu_visible, ev->bytes);
}

static int on_create(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_create *ev = (const struct grt_ev_mem_create *)e;
	struct grt_key key = object_key(e, ev->object);
	struct grt_mem_object *o = grt_keyed_find(&m->objects, &key);
	struct grt_mem_process *p;
	int r = o ? destroy(m, o, e->time) : 0;

	if (!r)
		r = get_object(m, e, ev->object, &o);
	if (!r)
		r = memory_get_process(m, e->pid, e->tid, &p);
	if (r)
		return r;
	*o = (struct grt_mem_object){.object = ev->object,
				     .bytes = ev->bytes,
				     .device = e->device,
				     .pid = e->pid,
				     .tid = e->tid,
				     .created = true,
				     .sized = true};
	if (p)
		add_amount(&p->created, ev->bytes);
	else
		m->count.over++;
	add_amount(&m->count.created, ev->bytes);
	add_amount(&m->count.live, ev->bytes);
	count_placement(&m->count, ev);
	live_changed(m, e->time);
	return 0;
}

static int on_destroy(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_destroy *ev = (const struct grt_ev_mem_destroy *)e;
	struct grt_key key = object_key(e, ev->object);
	struct grt_mem_object *o = grt_keyed_find(&m->objects, &key);

	if (o)
		return destroy(m, o, e->time);
	m->count.older++;
	return 0;
}

static int on_move(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_move *ev = (const struct grt_ev_mem_move *)e;
	struct grt_key object = object_key(e, ev->object), way = {{ev->from, ev->to}};
	const struct grt_mem_object *o = ev->bytes ? NULL : grt_keyed_find(&m->objects, &object);
	uint64_t bytes = o && o->sized ? o->bytes : ev->bytes;

	m->count.moves++;
	m->count.unsized_moves += !bytes;
	return grt_tally_add(&m->moves, &way, bytes, e->time);
}

static int on_bind(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_bind *ev = (const struct grt_ev_mem_bind *)e;
	struct grt_mem_object *o;
	int r = get_object(m, e, ev->object, &o);

	if (r)
		return r;
	if (!o->sized) {
		o->bytes = ev->bytes;
		o->sized = true;
	}
	m->count.binds++;
	m->count.rebinds += o->binds++ > 0;
	grt_hist_add(&m->sizes, ev->bytes, GRT_WEIGHT_ONE, false, &m->octaves);
	return 0;
}

static int on_unbind(struct grt_memory *m, const struct grt_event *e)
{
	m->count.unbinds++;
	return 0;
}

static int on_fault(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_fault *ev = (const struct grt_ev_mem_fault *)e;

	m->count.faults[!!ev->gtt][!!ev->writing]++;
	return 0;
}

static int memory_on_shrink(struct grt_memory *m, const struct grt_event *e)
{
	const struct grt_ev_mem_shrink *ev = (const struct grt_ev_mem_shrink *)e;
	struct grt_key key = {{ev->mflags}};

	m->count.shrinks++;
	return grt_tally_add(&m->shrinks, &key, ev->target, e->time);
}

static int (*const handlers[GRT_EV_MAX])(struct grt_memory *m, const struct grt_event *e) = {
	[GRT_EV_MEM_CREATE] = on_create,
	[GRT_EV_MEM_DESTROY] = on_destroy,
	[GRT_EV_MEM_MOVE] = on_move,
	[GRT_EV_MEM_BIND] = on_bind,
	[GRT_EV_MEM_UNBIND] = on_unbind,
	[GRT_EV_MEM_FAULT] = on_fault,
	[GRT_EV_MEM_SHRINK] = memory_on_shrink,
};

int grt_memory_event(struct grt_memory *m, const struct grt_event *e)
{
	return e->type < GRT_EV_MAX && handlers[e->type] ? handlers[e->type](m, e) : 0;
}

/* Results */

int grt_memory_new(struct grt_memory **out, uint32_t objects)
{
	struct grt_memory *m = calloc(1, sizeof(*m));

	*out = m;
	if (!m)
		return -ENOMEM;
	grt_keyed_init(&m->objects, sizeof(struct grt_mem_object),
		       objects ? objects : GRT_MEMORY_OBJECTS_MAX);
	grt_keyed_init(&m->processes, sizeof(struct grt_mem_process), GRT_MEMORY_PROCESSES_MAX);
	grt_tally_init(&m->moves, GRT_MEMORY_KINDS_MAX);
	grt_tally_init(&m->shrinks, GRT_MEMORY_KINDS_MAX);
	m->octaves = OCTAVES;
	m->width = SLICE_NS;
	return 0;
}

const struct grt_mem_count *grt_memory_count(const struct grt_memory *m)
{
	return &m->count;
}

const struct grt_tally *grt_memory_moves(const struct grt_memory *m)
{
	return &m->moves;
}

const struct grt_tally *grt_memory_shrinks(const struct grt_memory *m)
{
	return &m->shrinks;
}

const struct grt_hist *grt_memory_bind_sizes(const struct grt_memory *m)
{
	return &m->sizes;
}

unsigned int grt_memory_top(const struct grt_memory *m, struct grt_mem_object top[GRT_MEMORY_TOP])
{
	unsigned int n = 0;

	memcpy(top, m->top, sizeof(m->top));
	for (struct grt_mem_object *o = grt_keyed_oldest(&m->objects); o; o = grt_keyed_next(&m->objects, o))
		insert_top(top, o);
	while (n < GRT_MEMORY_TOP && top[n].binds)
		n++;
	return n;
}

static int64_t memory_growth(const struct grt_mem_process *p)
{
	return (int64_t)(p->created.bytes - p->destroyed.bytes);
}

static int by_growth(const void *a, const void *b)
{
	const struct grt_mem_process *x = *(void *const *)a, *y = *(void *const *)b;

	if (memory_growth(x) != memory_growth(y))
		return memory_growth(x) > memory_growth(y) ? -1 : 1;
	return (x->pid > y->pid) - (x->pid < y->pid);
}

int grt_memory_processes(const struct grt_memory *m, const struct grt_mem_process ***out, uint32_t *n)
{
	*n = m->processes.used;
	return grt_keyed_list(&m->processes, by_growth, (void ***)out);
}

unsigned int grt_memory_slices(const struct grt_memory *m, struct grt_mem_slice slice[GRT_MEMORY_SLICES],
			       uint64_t *first, uint64_t *width)
{
	memcpy(slice, m->slice, sizeof(m->slice));
	*first = m->first;
	*width = m->width;
	return m->slices;
}

void grt_memory_free(struct grt_memory *m)
{
	if (!m)
		return;
	grt_keyed_free(&m->objects);
	grt_keyed_free(&m->processes);
	grt_tally_free(&m->moves);
	grt_tally_free(&m->shrinks);
	grt_hist_free(&m->sizes);
	free(m);
}

/* ---------------------------------------------------------- memory table */

/*
 * The tables of GPU memory: placement, moves, live objects, bindings, faults.
 */

#define C(member) offsetof(struct grt_mem_count, member)
#define PAIR(name, member, help)                                                     \
	{                                                                            \
		name, grt_cell_u64, C(member), GRT_CELL_NUMBER, GRT_COLUMN_ALL, help \
	}
#define AMOUNT(name, member, help) \
	PAIR(name, member.objects, help), PAIR(name "_bytes", member.bytes, "their bytes")

/* clang-format off */
static const struct grt_column placement_columns[] = {
	AMOUNT("created", created, "buffers created"),
	AMOUNT("vram_wanted", vram_wanted, "objects created for VRAM"),
	AMOUNT("vram_in_gtt", vram_in_gtt, "objects for VRAM that were placed in GTT"),
	AMOUNT("cpu_visible", cpu_visible, "created with access by the CPU"),
	{.name = NULL},
};

static const struct grt_column live_columns[] = {
	AMOUNT("created", created, "objects created"),
	AMOUNT("destroyed", destroyed, "created objects that were destroyed"),
	AMOUNT("live_min", live_min, "live objects, at least, counted from the first creation"),
	AMOUNT("live_max", live_max, "live at most"),
	AMOUNT("live_end", live, "live at the end"),
	PAIR("older", older, "objects destroyed that were created before the trace: their size is unknown"),
	{.name = NULL},
};

static const struct grt_column bind_columns[] = {
	PAIR("binds", binds, "bindings into an address space"),
	PAIR("rebinds", rebinds, "bindings of an object that was bound before"),
	PAIR("unbinds", unbinds, "bindings removed"),
	{.name = NULL},
};

static const struct grt_column fault_columns[] = {
	PAIR("gtt_read", faults[1][0], "read faults through the GPU's aperture"),
	PAIR("gtt_write", faults[1][1], "write faults through the GPU's aperture"),
	PAIR("cpu_read", faults[0][0], "read faults of the CPU"),
	PAIR("cpu_write", faults[0][1], "write faults of the CPU"),
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table placement_pairs = {"placement", "memory placement", placement_columns,
						 GRT_TABLE_PAIRS};
static const struct grt_table live_pairs = {"memory", "live memory objects", live_columns, GRT_TABLE_PAIRS};
static const struct grt_table bind_pairs = {"bindings", "bindings", bind_columns, GRT_TABLE_PAIRS};
static const struct grt_table fault_pairs = {"faults", "faults on mapped objects", fault_columns,
					     GRT_TABLE_PAIRS};

static int show_placement(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_pairs(pass->writer, &placement_pairs, NULL, grt_memory_count(state));
	return 0;
}

/* Moves */

static const struct grt_column move_columns[] = {
	{"from", grt_row_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "memory before: name in text, else type"},
	{"to", grt_row_get, 1, GRT_CELL_NAMED, GRT_COLUMN_ALL, "memory after"},
	{"moves", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "moves"},
	{"bytes", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "bytes moved, where the size is known"},
	{"bytes_per_s", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE,
	 "bytes moved per second of the run"},
	{"MB/s", grt_row_get, 5, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "bytes moved per second of the run"},
	{.name = NULL},
};

static const struct grt_table move_table = {"moves", "moves by direction", move_columns, 0};

static void memory_cell(struct grt_row_cells *c, uint32_t type)
{
	grt_row_number(c, type);
	c->cell[c->n - 1].text = grt_amdgpu_memory_name(type);
}

static int write_move(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg)
{
	struct grt_row_cells c = {.n = 0};
	uint64_t per_s;
	char rate[32];

	memory_cell(&c, (uint32_t)row->key.w[0]);
	memory_cell(&c, (uint32_t)row->key.w[1]);
	grt_row_number(&c, row->count);
	grt_row_number(&c, row->sum);
	c.cell[c.n - 1].absent = !row->sum;
	if (row->sum && grt_pass_rate(pass, row->sum, &per_s)) {
		per_s = per_s / 1000;
		grt_decimal(rate, per_s / 1000, 3);
		grt_row_number(&c, per_s);
		grt_row_text(&c, rate);
	} else {
		grt_row_absent(&c);
		grt_row_absent(&c);
	}
	return grt_writer_row(pass->writer, &c);
}

static int show_moves(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_mem_count *c = grt_memory_count(state);
	int ret = grt_tally_write(pass, &move_table, grt_memory_moves(state), "{move is|moves are}",
				  write_move, NULL);

	if (c->unsized_moves)
		grt_note(pass->notes,
			 "%" PRIu64 " {move has|moves have} no size and {is|are} missing from bytes",
			 c->unsized_moves);
	return ret;
}

/* Live objects */

static void write_live(struct grt_pass *pass, const struct grt_mem_count *c)
{
	grt_writer_pairs(pass->writer, &live_pairs, NULL, c);
	if (c->forgotten)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {object is|objects are} not tracked (limit of %u at the same time): live is an upper bound",
			c->forgotten, GRT_MEMORY_OBJECTS_MAX);
}

static const struct grt_column slice_columns[] = {
	{"time", grt_row_get, 0, GRT_CELL_TIME, GRT_COLUMN_ALL, "start of the interval"},
	{"min_bytes", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "smallest amount of live bytes"},
	{"max_bytes", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "largest amount of live bytes"},
	{"end_bytes", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "live bytes at the end of the interval"},
	{"objects", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "live objects at the end of the interval"},
	{.name = NULL},
};

static const struct grt_table slice_table = {
	"memory_over_time", "live memory over time, intervals with changes", slice_columns, 0};

static int write_slices(const struct grt_memory *state, struct grt_pass *pass)
{
	struct grt_mem_slice slice[GRT_MEMORY_SLICES];
	uint64_t first, width;
	unsigned int n = grt_memory_slices(state, slice, &first, &width);
	int ret = 0;

	grt_writer_table(pass->writer, &slice_table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		if (!slice[i].used)
			continue;
		grt_row_number(&c, first + i * width);
		grt_row_number(&c, slice[i].bytes_min);
		grt_row_number(&c, slice[i].bytes_max);
		grt_row_number(&c, slice[i].bytes_end);
		grt_row_number(&c, slice[i].objects);
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static const struct grt_column process_columns[] = {
	{"pid", grt_row_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", grt_row_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	{"created", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "objects that the process created"},
	{"created_bytes", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "bytes of the objects that the process created"},
	{"destroyed", grt_row_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "created objects that were destroyed"},
	{"growth_bytes", grt_row_get, 5, GRT_CELL_SIGNED, GRT_COLUMN_ALL, "bytes created and not destroyed"},
	{.name = NULL},
};

static const struct grt_table process_table = {"memory_by_process", "growth by process", process_columns, 0};

static int write_processes(const struct grt_memory *state, struct grt_pass *pass)
{
	const struct grt_mem_process **row;
	uint32_t n;
	int ret = grt_memory_processes(state, &row, &n);

	if (ret)
		return ret;
	grt_writer_table(pass->writer, &process_table, NULL);
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct grt_row_cells c = {.n = 0};

		grt_row_number(&c, row[i]->pid);
		c.cell[0].absent = !row[i]->pid;
		grt_row_text(&c, grt_process_name(pass->names, row[i]->tid));
		grt_row_number(&c, row[i]->created.objects);
		grt_row_number(&c, row[i]->created.bytes);
		grt_row_number(&c, row[i]->destroyed.objects);
		grt_row_number(&c, row[i]->created.bytes - row[i]->destroyed.bytes);
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	free(row);
	return ret;
}

static int show_live(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_mem_count *c = grt_memory_count(state);
	int ret;

	write_live(pass, c);
	ret = write_slices(state, pass);
	if (c->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {object is|objects are} not in the table (limit of %u processes)",
			 c->over, GRT_MEMORY_PROCESSES_MAX);
	return ret ? ret : write_processes(state, pass);
}

/* Bindings */

static const struct grt_column top_columns[] = {
	{"object", grt_row_get, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "id of the object"},
	{"id", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "id of the object"},
	{"bytes", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "size of the object, B"},
	{"pid", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that created it"},
	{"process", grt_row_get, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	{"rebinds", grt_row_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "bindings after the first one"},
	{.name = NULL},
};

static const struct grt_table top_table = {"rebinds", "objects bound most often", top_columns, 0};

static int write_top(const struct grt_memory *state, struct grt_pass *pass)
{
	struct grt_mem_object top[GRT_MEMORY_TOP];
	unsigned int n = grt_memory_top(state, top);
	int ret = 0;

	grt_writer_table(pass->writer, &top_table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct grt_row_cells c = {.n = 0};
		char object[24];

		snprintf(object, sizeof(object), "0x%" PRIx64, top[i].object);
		grt_row_text(&c, object);
		grt_row_number(&c, top[i].object);
		grt_row_number(&c, top[i].bytes);
		grt_row_number(&c, top[i].pid);
		c.cell[c.n - 1].absent = !top[i].pid;
		grt_row_text(&c, grt_process_name(pass->names, top[i].tid));
		grt_row_number(&c, top[i].binds - 1);
		ret = grt_writer_row(pass->writer, &c);
	}
	grt_writer_table_end(pass->writer);
	return ret;
}

static const struct grt_hist_tables size_tables =
	GRT_HIST_TABLES(ALL, SIZES, "bind_sizes", "sizes of bindings, bytes");

static int show_binds(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_hist_row sizes = {0, "bind", grt_memory_bind_sizes(state)};
	int ret;

	grt_writer_pairs(pass->writer, &bind_pairs, NULL, grt_memory_count(state));
	ret = write_top(state, pass);
	return ret ? ret : grt_hists_write(pass, &size_tables, &sizes, 1);
}

/* Shrinking and faults */

static const struct grt_column shrink_columns[] = {
	{"flags", grt_row_get, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "kinds of objects that may be shrunk"},
	{"flags_value", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "the driver's flags"},
	{"count", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of requests"},
	{"pages", grt_row_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "pages requested in all"},
	{.name = NULL},
};

static const struct grt_table shrink_table = {"shrinks", "requests to give memory back", shrink_columns, 0};

/* i915's flags (i915_gem_shrinker.h), as words. */
static void shrink_flags(char text[64], uint64_t flags)
{
	static const char *const name[] = {"unbound", "bound", "active", "vmaps", "writeback"};
	static const unsigned int bit[] = {1, 2, 4, 8, 16};
	size_t used = (size_t)snprintf(text, 64, "0x%" PRIx64, flags);

	for (unsigned int i = 0; i < sizeof(bit) / sizeof(bit[0]); i++)
		if (flags & bit[i])
			used += (size_t)snprintf(text + used, 64 - used, " %s", name[i]);
}

static int write_shrink(struct grt_pass *pass, const struct grt_tally_row *row, const void *arg)
{
	struct grt_row_cells c = {.n = 0};
	char text[64];

	shrink_flags(text, row->key.w[0]);
	grt_row_text(&c, text);
	grt_row_number(&c, row->key.w[0]);
	grt_row_number(&c, row->count);
	grt_row_number(&c, row->sum);
	return grt_writer_row(pass->writer, &c);
}

static int show_shrinks(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	return grt_tally_write(pass, &shrink_table, grt_memory_shrinks(state),
			       "{request to shrink is|requests to shrink are}", write_shrink, NULL);
}

static int show_faults(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	grt_writer_pairs(pass->writer, &fault_pairs, NULL, grt_memory_count(state));
	return 0;
}

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_NEW(new_memory, struct grt_memory, grt_memory_new, 0)
GRT_ANALYSIS_EVENT(memory_table_take_event, grt_memory_event)
GRT_ANALYSIS_FREE(free_memory, grt_memory_free)

#define TYPES(...)             \
	(const uint16_t[])     \
	{                      \
		__VA_ARGS__, 0 \
	}

static const struct grt_part memory_parts[] = {
	{"placement", "amdgpu: placement of buffers, requested and given", GRT_PART_MONITOR,
	 .types = TYPES(GRT_EV_MEM_CREATE), .tables = GRT_TABLES(&placement_pairs), .write = show_placement},
	{"moves", "amdgpu: moves by direction", GRT_PART_MONITOR, .types = TYPES(GRT_EV_MEM_MOVE),
	 .tables = GRT_TABLES(&move_table), .write = show_moves},
	{"live", "live objects over time and by process", GRT_PART_MONITOR,
	 .types = TYPES(GRT_EV_MEM_CREATE, GRT_EV_MEM_DESTROY),
	 .tables = GRT_TABLES(&live_pairs, &slice_table, &process_table), .write = show_live},
	{"binds", "bindings into address spaces", GRT_PART_MONITOR,
	 .types = TYPES(GRT_EV_MEM_BIND, GRT_EV_MEM_UNBIND),
	 .tables = GRT_TABLES(&bind_pairs, &top_table, GRT_HIST_BOTH(size_tables)), .write = show_binds},
	{"shrinks", "requests to give memory back", GRT_PART_MONITOR, .types = TYPES(GRT_EV_MEM_SHRINK),
	 .tables = GRT_TABLES(&shrink_table), .write = show_shrinks},
	{"faults", "faults on mapped objects", GRT_PART_MONITOR, .types = TYPES(GRT_EV_MEM_FAULT),
	 .tables = GRT_TABLES(&fault_pairs), .write = show_faults},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_memory = {
	.name = "memory",
	.classes = GRT_IN_CLASS(mem),
	.parts = memory_parts,
	.begin = new_memory,
	.event = memory_table_take_event,
	.free = free_memory,
};
