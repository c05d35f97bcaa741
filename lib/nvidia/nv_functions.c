// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Counts and times of calls of probed functions in NVIDIA's kernel modules. */
#include <errno.h>
#include <inttypes.h>
#include <stdlib.h>
#include <string.h>

#include "table/hist_table.h"

/* Most probed functions that have rows. */
#define FUNCTIONS_MAX 64

/** struct function - a probed function; @failed: it returned a negative number */
struct function {
	char name[49];
	uint64_t count;
	uint64_t failed;
	uint64_t ns;
	struct grt_hist took;
};

/**
 * struct functions - the @n functions
 * @over: calls of further ones
 */
struct functions {
	struct function one[FUNCTIONS_MAX];
	unsigned int n;
	uint64_t over;
};

static const struct grt_column function_columns[] = {
	{"function", grt_row_get, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "function of the kernel module"},
	{"calls", grt_row_get, 1, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that returned"},
	{"failed", grt_row_get, 2, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that returned a negative number"},
	{"ns", grt_row_get, 3, GRT_CELL_NS, GRT_COLUMN_ALL, "time in the calls that returned, ns"},
	{"per_s", grt_row_get, 4, GRT_CELL_TEXT, GRT_COLUMN_BRIEF, "calls per second of the run"},
	{.name = NULL},
};

static const struct grt_table function_table = {"functions", "functions of NVIDIA's driver", function_columns,
						0};

static struct function *find_function(struct functions *m, const struct grt_ev_func *e)
{
	struct function *f = m->one;

	while (f < m->one + m->n && strncmp(f->name, e->function, sizeof(e->function)))
		f++;
	if (f == m->one + FUNCTIONS_MAX)
		return NULL;
	if (f == m->one + m->n) {
		m->n++;
		snprintf(f->name, sizeof(f->name), "%.*s", (int)sizeof(e->function), e->function);
	}
	return f;
}

static int nv_functions_take_event(void *state, const struct grt_event *event, struct grt_pass *pass)
{
	const struct grt_ev_func *e = (const struct grt_ev_func *)event;
	struct functions *m = state;
	struct function *f;
	uint32_t octaves = GRT_HIST_OCTAVES;

	if (event->type != GRT_EV_FUNC)
		return 0;
	f = find_function(m, e);
	if (!f) {
		m->over++;
		return 0;
	}
	f->count++;
	f->failed += e->known & GRT_FUNC_RET && e->ret < 0;
	if (!(e->known & GRT_FUNC_TOOK))
		return 0;
	f->ns += e->took;
	grt_hist_add(&f->took, e->took, GRT_WEIGHT_ONE, false, &octaves);
	return 0;
}

static int nv_functions_write_function(struct grt_pass *pass, const struct function *f)
{
	struct grt_row_cells c = {.n = 0};
	uint64_t milli;
	char rate[32];

	grt_row_text(&c, f->name);
	grt_row_number(&c, f->count);
	grt_row_number(&c, f->failed);
	grt_row_number(&c, f->ns);
	if (grt_pass_rate(pass, f->count, &milli)) {
		grt_decimal(rate, milli, 1);
		grt_row_text(&c, rate);
	} else {
		grt_row_absent(&c);
	}
	return grt_writer_row(pass->writer, &c);
}

static const struct grt_hist_tables time_tables =
	GRT_HIST_TABLES(ALL, TIMES, "function_time", "time in functions");

static int show_functions(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct functions *m = state;
	struct grt_hist_row row[FUNCTIONS_MAX];
	int ret = 0;

	/* without --probes, they have no events */
	if (!m->n)
		return 0;
	grt_writer_table(pass->writer, &function_table, NULL);
	for (unsigned int i = 0; i < m->n && !ret; i++) {
		ret = nv_functions_write_function(pass, &m->one[i]);
		row[i] = (struct grt_hist_row){0, m->one[i].name, &m->one[i].took};
	}
	grt_writer_table_end(pass->writer);
	if (m->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {call is|calls are} not in the table (limit of %u functions)", m->over,
			 FUNCTIONS_MAX);
	return ret ? ret : grt_hists_write(pass, &time_tables, row, m->n);
}

/* --------------------------------------------------------------- analysis */

static void free_functions(void *state)
{
	struct functions *m = state;

	while (m->n)
		grt_hist_free(&m->one[--m->n].took);
}

static const uint16_t function_types[] = {GRT_EV_FUNC, 0};
static const struct grt_part function_parts[] = {
	{"functions", "probed functions of NVIDIA's kernel modules", GRT_PART_MONITOR,
	 .types = function_types, .tables = GRT_TABLES(&function_table, GRT_HIST_BOTH(time_tables)),
	 .write = show_functions},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_nv_functions = {
	.name = "nv_functions",
	.classes = GRT_IN_CLASS(log),
	.parts = function_parts,
	.size = sizeof(struct functions),
	.event = nv_functions_take_event,
	.free = free_functions,
};
