// SPDX-License-Identifier: GPL-2.0
/*
 * `grtrace monitor`: statistics of GPU memory.
 */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>

#include "codes/codes.h"
#include "monitor.h"

static void amount_fields(struct grt_fields *f, const char *const name[2], const struct grt_mem_amount *a,
			  const char *help)
{
	grt_field_number(f, name[0], a->objects, help);
	grt_field_number(f, name[1], a->bytes, "their bytes");
}

int monitor_placement(struct monitor *m)
{
	const struct grt_mem_count *c = grt_memory_count(m->memory);
	struct grt_fields f = {.n = 0};

	amount_fields(&f, (const char *const[]){"created", "created_bytes"}, &c->created, "buffers created");
	amount_fields(&f, (const char *const[]){"vram_wanted", "vram_wanted_bytes"}, &c->vram_wanted,
		      "of these, wanted in VRAM");
	amount_fields(&f, (const char *const[]){"vram_in_gtt", "vram_in_gtt_bytes"}, &c->vram_in_gtt,
		      "of these, placed in GTT");
	amount_fields(&f, (const char *const[]){"cpu_visible", "cpu_visible_bytes"}, &c->cpu_visible,
		      "created with access by the CPU");
	grt_fields_write(&f, m->writer, "placement", "memory placement");
	return 0;
}

/* Moves */

static const struct grt_column move_columns[] = {
	{"from", monitor_get, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL, "memory before: name in text, else type"},
	{"to", monitor_get, 1, GRT_CELL_NAMED, GRT_COLUMN_ALL, "memory after"},
	{"moves", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "moves"},
	{"bytes", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "bytes moved, where the size is known"},
	{"bytes_per_s", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "over the whole run"},
	{"MB/s", monitor_get, 5, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "over the whole run"},
	{.name = NULL},
};

static const struct grt_table move_table = {"moves", "moves by direction", move_columns, 0};

static void memory_cell(struct monitor_cells *c, uint32_t type)
{
	monitor_number(c, type);
	c->cell[c->n - 1].text = grt_amdgpu_memory_name(type);
}

static int write_move(struct monitor *m, const struct grt_tally_row *row, const void *arg)
{
	struct monitor_cells c = {.n = 0};
	uint64_t per_s;
	char rate[32];

	(void)arg;
	memory_cell(&c, (uint32_t)row->key.w[0]);
	memory_cell(&c, (uint32_t)row->key.w[1]);
	monitor_number(&c, row->count);
	monitor_number(&c, row->sum);
	c.cell[c.n - 1].absent = !row->sum;
	if (row->sum && monitor_rate(m, row->sum, &per_s)) {
		per_s = per_s / 1000;
		monitor_decimal(rate, per_s / 1000, 3);
		monitor_number(&c, per_s);
		monitor_text(&c, rate);
	} else {
		monitor_absent(&c);
		monitor_absent(&c);
	}
	return grt_writer_row(m->writer, &c);
}

int monitor_moves(struct monitor *m)
{
	const struct grt_mem_count *c = grt_memory_count(m->memory);
	int ret = monitor_tally(m, &move_table, grt_memory_moves(m->memory), "moves", write_move, NULL);

	if (c->unsized_moves)
		grt_note(&m->notes, "%" PRIu64 " moves have no size and are missing from bytes",
			 c->unsized_moves);
	return ret;
}

/* Live objects */

static void write_live(struct monitor *m, const struct grt_mem_count *c)
{
	struct grt_fields f = {.n = 0};

	amount_fields(&f, (const char *const[]){"created", "created_bytes"}, &c->created, "objects created");
	amount_fields(&f, (const char *const[]){"destroyed", "destroyed_bytes"}, &c->destroyed,
		      "of these, destroyed");
	amount_fields(&f, (const char *const[]){"live_min", "live_min_bytes"}, &c->live_min,
		      "live at least, from the first creation on");
	amount_fields(&f, (const char *const[]){"live_max", "live_max_bytes"}, &c->live_max, "live at most");
	amount_fields(&f, (const char *const[]){"live_end", "live_end_bytes"}, &c->live, "live at the end");
	grt_field_number(&f, "older", c->older, "destroyed, but created before the trace: no size is known");
	grt_fields_write(&f, m->writer, "memory", "live memory objects");
	if (c->forgotten)
		grt_note(&m->notes,
			 "%" PRIu64 " objects were forgotten, more than %u at once: live is at most that",
			 c->forgotten, GRT_MEMORY_OBJECTS_MAX);
}

static const struct grt_column slice_columns[] = {
	{"time", monitor_get, 0, GRT_CELL_TIME, GRT_COLUMN_ALL, "begin of the interval"},
	{"min_bytes", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "live bytes at least"},
	{"max_bytes", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "live bytes at most"},
	{"end_bytes", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "live bytes at its end"},
	{"objects", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "live objects at its end"},
	{.name = NULL},
};

static const struct grt_table slice_table = {
	"memory_over_time", "live memory over time, intervals with changes", slice_columns, 0};

static int write_slices(struct monitor *m)
{
	struct grt_mem_slice slice[GRT_MEMORY_SLICES];
	uint64_t first, width;
	unsigned int n = grt_memory_slices(m->memory, slice, &first, &width);
	int ret = 0;

	grt_writer_table(m->writer, &slice_table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct monitor_cells c = {.n = 0};

		if (!slice[i].used)
			continue;
		monitor_number(&c, first + i * width);
		monitor_number(&c, slice[i].bytes_min);
		monitor_number(&c, slice[i].bytes_max);
		monitor_number(&c, slice[i].bytes_end);
		monitor_number(&c, slice[i].objects);
		ret = grt_writer_row(m->writer, &c);
	}
	grt_writer_table_end(m->writer);
	return ret;
}

static const struct grt_column process_columns[] = {
	{"pid", monitor_get, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", monitor_get, 1, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	{"created", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "objects that it created"},
	{"created_bytes", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "their bytes"},
	{"destroyed", monitor_get, 4, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "of these, destroyed"},
	{"growth_bytes", monitor_get, 5, GRT_CELL_SIGNED, GRT_COLUMN_ALL, "bytes created and not destroyed"},
	{.name = NULL},
};

static const struct grt_table process_table = {"memory_by_process", "growth by process", process_columns, 0};

static int write_processes(struct monitor *m)
{
	const struct grt_mem_process **row;
	uint32_t n;
	int ret = grt_memory_processes(m->memory, &row, &n);

	if (ret)
		return ret;
	grt_writer_table(m->writer, &process_table, NULL);
	for (uint32_t i = 0; i < n && !ret; i++) {
		struct monitor_cells c = {.n = 0};

		monitor_number(&c, row[i]->pid);
		c.cell[0].absent = !row[i]->pid;
		monitor_text(&c, monitor_process(m, row[i]->tid));
		monitor_number(&c, row[i]->created.objects);
		monitor_number(&c, row[i]->created.bytes);
		monitor_number(&c, row[i]->destroyed.objects);
		monitor_number(&c, row[i]->created.bytes - row[i]->destroyed.bytes);
		ret = grt_writer_row(m->writer, &c);
	}
	grt_writer_table_end(m->writer);
	free(row);
	return ret;
}

int monitor_live(struct monitor *m)
{
	const struct grt_mem_count *c = grt_memory_count(m->memory);
	int ret;

	write_live(m, c);
	ret = write_slices(m);
	if (c->over)
		grt_note(&m->notes, "%" PRIu64 " objects are in no row: more than %u processes", c->over,
			 GRT_MEMORY_PROCESSES_MAX);
	return ret ? ret : write_processes(m);
}

/* Bindings */

static const struct grt_column top_columns[] = {
	{"object", monitor_get, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "the object's number"},
	{"id", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "the object's number"},
	{"bytes", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "its size"},
	{"pid", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that created it"},
	{"process", monitor_get, 4, GRT_CELL_TEXT, GRT_COLUMN_ALL, "process's comm"},
	{"rebinds", monitor_get, 5, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "bindings after the first one"},
	{.name = NULL},
};

static const struct grt_table top_table = {"rebinds", "objects bound most often", top_columns, 0};

static int write_top(struct monitor *m)
{
	struct grt_mem_object top[GRT_MEMORY_TOP];
	unsigned int n = grt_memory_top(m->memory, top);
	int ret = 0;

	grt_writer_table(m->writer, &top_table, NULL);
	for (unsigned int i = 0; i < n && !ret; i++) {
		struct monitor_cells c = {.n = 0};
		char object[24];

		snprintf(object, sizeof(object), "0x%" PRIx64, top[i].object);
		monitor_text(&c, object);
		monitor_number(&c, top[i].object);
		monitor_number(&c, top[i].bytes);
		monitor_number(&c, top[i].pid);
		c.cell[c.n - 1].absent = !top[i].pid;
		monitor_text(&c, monitor_process(m, top[i].tid));
		monitor_number(&c, top[i].binds - 1);
		ret = grt_writer_row(m->writer, &c);
	}
	grt_writer_table_end(m->writer);
	return ret;
}

int monitor_binds(struct monitor *m)
{
	const struct grt_mem_count *c = grt_memory_count(m->memory);
	const struct monitor_hist sizes = {0, "bind", grt_memory_bind_sizes(m->memory)};
	struct grt_fields f = {.n = 0};
	int ret;

	grt_field_number(&f, "binds", c->binds, "bindings into an address space");
	grt_field_number(&f, "rebinds", c->rebinds, "of these, of an object bound before");
	grt_field_number(&f, "unbinds", c->unbinds, "bindings removed");
	grt_fields_write(&f, m->writer, "bindings", "bindings");
	ret = write_top(m);
	return ret ? ret : monitor_sizes(m, "bind_sizes", "sizes of bindings, bytes", &sizes, 1);
}

/* Shrinking and faults */

static const struct grt_column shrink_columns[] = {
	{"flags", monitor_get, 0, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "what may be taken"},
	{"flags_value", monitor_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_MACHINE, "the driver's flags"},
	{"count", monitor_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "how often"},
	{"pages", monitor_get, 3, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "pages wanted, in all"},
	{.name = NULL},
};

static const struct grt_table shrink_table = {"shrinks", "asked to give memory back", shrink_columns, 0};

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

static int write_shrink(struct monitor *m, const struct grt_tally_row *row, const void *arg)
{
	struct monitor_cells c = {.n = 0};
	char text[64];

	(void)arg;
	shrink_flags(text, row->key.w[0]);
	monitor_text(&c, text);
	monitor_number(&c, row->key.w[0]);
	monitor_number(&c, row->count);
	monitor_number(&c, row->sum);
	return grt_writer_row(m->writer, &c);
}

int monitor_shrinks(struct monitor *m)
{
	return monitor_tally(m, &shrink_table, grt_memory_shrinks(m->memory), "requests to shrink",
			     write_shrink, NULL);
}

int monitor_faults(struct monitor *m)
{
	const struct grt_mem_count *c = grt_memory_count(m->memory);
	struct grt_fields f = {.n = 0};

	grt_field_number(&f, "gtt_read", c->faults[1][0], "through the GPU's aperture, reading");
	grt_field_number(&f, "gtt_write", c->faults[1][1], "through the GPU's aperture, writing");
	grt_field_number(&f, "cpu_read", c->faults[0][0], "by the CPU, reading");
	grt_field_number(&f, "cpu_write", c->faults[0][1], "by the CPU, writing");
	grt_fields_write(&f, m->writer, "faults", "faults on mapped objects");
	return 0;
}
