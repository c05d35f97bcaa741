// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of NVIDIA's channel groups and of their runlists. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "table/analysis.h"
#include "table/cells.h"
#include "codes/nv_codes.h"
#include "tsg.h"

static const char *const causes[] = {NULL, "freed", "owner", "close", "exit"};

/* A number; UINT32_MAX means unknown. */
static void get_u32(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	uint32_t value = *(const uint32_t *)((const char *)row + offset);

	cell->number = value;
	cell->absent = value == UINT32_MAX;
}

/* The name of the process or, if that is unknown, of the thread of its first group. */
static void tsg_table_get_process(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_tsg *g = row;
	uint32_t present = grt_names_find(view, GRT_NAME_THREAD, g->tid);

	cell->text = grt_names_owner(view, g->process);
	if (!cell->text)
		cell->text = grt_names_owner(view, present);
	if (!cell->text)
		cell->text = grt_names_name(view, g->process);
	if (!cell->text)
		cell->text = grt_names_name(view, present);
}

static void get_schedules(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_tsg *)row)->schedules;
	cell->inferred = ((const struct grt_tsg *)row)->inferred;
}

static void get_channels(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	get_u32(cell, view, row, offset);
	cell->inferred = ((const struct grt_tsg *)row)->inferred;
}

static void get_interleave(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_nv_interleave_name(((const struct grt_tsg *)row)->interleave);
}

static void get_birth(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_tsg *)row)->first;
	cell->absent = !((const struct grt_tsg *)row)->born;
}

static void get_death(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_tsg *)row)->last;
	cell->absent = !((const struct grt_tsg *)row)->died;
	cell->inferred = ((const struct grt_tsg *)row)->inferred;
}

static void tsg_table_get_life(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_tsg *g = row;

	cell->number = g->last - g->first;
	cell->absent = !g->born || !g->died;
	cell->inferred = g->inferred;
}

static void get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_tsg *g = row;

	cell->text = g->died && g->cause < sizeof(causes) / sizeof(causes[0]) ? causes[g->cause] : NULL;
}

#define G(member) offsetof(struct grt_tsg, member)

static const struct grt_column tsg_columns[] = {
	{"pid", get_u32, G(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", tsg_table_get_process, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "name of the process; in text, of the thread that created its first group"},
	{"tsg", grt_cell_chars, G(name), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "handles of client and group, or the hardware's number of the group"},
	{"engine", grt_cell_chars, G(engine), GRT_CELL_TEXT, GRT_COLUMN_ALL, "requested engine"},
	{"gpu", grt_cell_chars, G(gpu), GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address"},
	{"runlist", get_u32, G(runlist), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "runlist of the group"},
	{"grp", get_u32, G(grp), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "the hardware's number of the group"},
	{"channels", get_channels, G(channels_max), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "largest number of channels in the group"},
	{"subctxs", get_u32, G(subcontexts), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "number of subcontexts of its channels"},
	{"veids", grt_cell_chars, G(veids), GRT_CELL_TEXT, GRT_COLUMN_MORE,
	 "ids of the subcontexts of its channels; a long list is cut"},
	{"birth", get_birth, 0, GRT_CELL_TIME, GRT_COLUMN_MORE, "time of its creation"},
	{"death", get_death, 0, GRT_CELL_TIME, GRT_COLUMN_MORE, "time of its destruction"},
	{"lifetime", tsg_table_get_life, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "time from birth to death, ns"},
	{"end", get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "how it ended: freed, freed with its owner, by the last close, at exit"},
	{"schedules", get_schedules, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL, "calls that scheduled the group"},
	{"tokens", grt_cell_u64, G(tokens), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "work-submit tokens that the driver gave"},
	{"timeslice_us", grt_cell_nonzero, G(timeslice), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "last timeslice, us"},
	{"changes", grt_cell_u64, G(sets), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "changes of timeslice or interleave level"},
	{"interleave", get_interleave, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "last interleave level"},
	{"refused", grt_cell_u64, G(refused), GRT_CELL_NUMBER, GRT_COLUMN_MORE, "calls that failed"},
	{.name = NULL},
};

#define C(member) offsetof(struct grt_tsg_channel, member)

static void get_came(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_tsg_channel *)row)->first;
	cell->absent = !((const struct grt_tsg_channel *)row)->came;
}

static void get_went(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->number = ((const struct grt_tsg_channel *)row)->last;
	cell->absent = !((const struct grt_tsg_channel *)row)->went;
}

static const struct grt_column channel_columns[] = {
	{"pid", get_u32, C(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"tsg", grt_cell_chars, C(tsg), GRT_CELL_TEXT, GRT_COLUMN_ALL, "group of the channel"},
	{"channel", grt_cell_chars, C(handle), GRT_CELL_TEXT, GRT_COLUMN_ALL, "handle of the channel"},
	{"hw_channel", get_u32, C(chid), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "the hardware's number of the channel"},
	{"subctx", grt_cell_chars, C(subctx), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "handle of its subcontext; none: the program named none"},
	{"veid", get_u32, C(veid), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "the hardware's number of that subcontext in the group"},
	{"tokens", grt_cell_u64, C(tokens), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "work-submit tokens that the driver gave"},
	{"came", get_came, 0, GRT_CELL_TIME, GRT_COLUMN_MORE, "time of its creation"},
	{"went", get_went, 0, GRT_CELL_TIME, GRT_COLUMN_MORE, "time at which it was freed"},
	{.name = NULL},
};

#define R(member) offsetof(struct grt_tsg_runlist, member)

static const struct grt_column runlist_columns[] = {
	{"gpu", grt_cell_chars, R(gpu), GRT_CELL_TEXT, GRT_COLUMN_ALL, "PCI address"},
	{"runlist", get_u32, R(runlist), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "the hardware's number of the runlist"},
	{"engine", grt_cell_chars, R(engine), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "engine of the first group on the runlist"},
	{"groups", grt_cell_u64, R(groups), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "channel groups that were on it"},
	{"at_once", grt_cell_u64, R(at_once), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "largest number of groups on it at a time"},
	{"processes", grt_cell_u64, R(processes), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "processes that share it"},
	{"pids", grt_cell_chars, R(pids), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "ids of the processes that share it; a long list is cut"},
	{.name = NULL},
};

/* Rows are struct grt_tsg, the view is the names; of the other two struct grt_tsg_channel and struct
 * grt_tsg_runlist, without a view. */
static const struct grt_table tsg_table = {"tsgs", "channel groups", tsg_columns, 0};
static const struct grt_table tsg_channel_table = {"channels", "channels of the groups", channel_columns, 0};
static const struct grt_table tsg_runlist_table = {"runlists", "runlists", runlist_columns, 0};

/* --------------------------------------------------------------- analysis */

GRT_ANALYSIS_INIT(new_tsgs, grt_tsgs_init)

static int tsg_table_take_event(void *state, const struct grt_event *e, struct grt_pass *pass)
{
	return grt_tsgs_event(state, e, pass->names);
}

static int write_runlists(struct grt_pass *pass, const struct grt_tsg *list, uint64_t n)
{
	struct grt_tsg_runlist *row;
	int64_t rows = grt_tsgs_runlists(list, n, &row);
	int ret = rows < 0 ? -ENOMEM
			   : grt_writer_rows(pass->writer, &tsg_runlist_table, NULL, row, sizeof(*row),
					     (uint64_t)rows);

	free(row);
	return ret;
}

static int write_channels(const struct grt_tsgs *t, const struct grt_part *part, struct grt_pass *pass,
			  const struct grt_tsg_channel *row, uint64_t n)
{
	uint64_t shown = grt_pass_shown(pass, part, n);
	int ret = grt_writer_rows(pass->writer, &tsg_channel_table, NULL, row, sizeof(*row), shown);

	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more channel|more channels}: --top 0 shows all",
			 n - shown);
	if (t->channels.over)
		grt_note(pass->notes,
			 "%" PRIu64 " {channel is|channels are} not in the table (limit of %u channels)",
			 t->channels.over, GRT_TSG_CHANNELS_MAX);
	return ret;
}

static void note_partly_known(struct grt_pass *pass, const struct grt_tsg *list, uint64_t n)
{
	uint64_t older = 0, inferred = 0;

	for (uint64_t i = 0; i < n; i++) {
		older += !list[i].born;
		inferred += list[i].inferred;
	}
	if (inferred)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {group|groups} had the same number as another group of {its|their} process at the same time, and the text does not tell them apart: grtrace infers that the group created first was scheduled and destroyed first",
			inferred);
	if (older)
		grt_note(pass->notes,
			 "%" PRIu64
			 " {group is|groups are} partly unknown: {it was|they were} created before the trace",
			 older);
}

static int tsg_table_write_groups(const struct grt_part *part, struct grt_pass *pass,
				  const struct grt_tsg *list, uint64_t n)
{
	const struct grt_tsg **row = calloc((size_t)n + 1, sizeof(*row));
	uint64_t shown = grt_pass_shown(pass, part, n);
	int ret;

	if (!row)
		return -ENOMEM;
	for (uint64_t i = 0; i < n; i++)
		row[i] = &list[i];
	grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), pass->names, NULL);
	ret = grt_writer_list(pass->writer, &tsg_table, pass->names, row, shown);
	note_partly_known(pass, list, n);
	if (shown < n)
		grt_note(pass->notes, "%" PRIu64 " {more group|more groups}: --top 0 shows all", n - shown);
	free(row);
	return ret;
}

static int write_tsgs(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	struct grt_tsgs *t = state;
	struct grt_tsg_channel *channel;
	struct grt_tsg *list;
	int64_t channels, n = grt_tsgs_list(t, &list, &channel, &channels);
	int ret;

	if (n < 0)
		return -ENOMEM;
	ret = tsg_table_write_groups(part, pass, list, (uint64_t)n);
	if (t->over)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {event belongs|events belong} to groups that are not in the table (limit of %u groups)",
			t->over, GRT_TSGS_MAX);
	if (!ret && !pass->csv)
		ret = write_channels(t, part, pass, channel, (uint64_t)channels);
	if (!ret && !pass->csv)
		ret = write_runlists(pass, list, (uint64_t)n);
	if (!ret && !pass->csv && t->times.slices)
		ret = grt_tsg_times_write(&t->times, pass->names, pass->known ? pass->last : 0,
					  grt_pass_shown(pass, part, UINT64_MAX), pass->writer, pass->notes);
	free(channel);
	free(list);
	return ret;
}

static void tsg_table_within(void *state, uint64_t from, uint64_t to)
{
	struct grt_tsg_times *t = &((struct grt_tsgs *)state)->times;

	t->from = from;
	t->to = to;
}

static void tsg_table_span(void *state, uint64_t first, uint64_t last)
{
	((struct grt_tsgs *)state)->times.first = first;
}

GRT_ANALYSIS_FREE(free_tsgs, grt_tsgs_free)

static const struct grt_part tsg_parts[] = {
	{"tsg", "NVIDIA's channel groups, their channels and runlists", GRT_PART_BY, 0, &tsg_table,
	 .tables = GRT_TABLES(&tsg_channel_table, &tsg_runlist_table, &grt_tsg_time_table,
			      &grt_tsg_change_table),
	 .write = write_tsgs},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_tsg = {
	.name = "tsg",
	.classes = GRT_IN_CLASS(tsg) | GRT_IN_CLASS(slice),
	.besides = GRT_IN_CLASS(slice),
	.late = true,
	.parts = tsg_parts,
	.size = sizeof(struct grt_tsgs),
	.begin = new_tsgs,
	.within = tsg_table_within,
	.span = tsg_table_span,
	.event = tsg_table_take_event,
	.free = free_tsgs,
};
