// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The tables of GPU memory: placement, moves, live objects, bindings, faults.
 */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "codes/codes.h"
#include "memory.h"
#include "table/cells.h"
#include "table/hist_table.h"

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
