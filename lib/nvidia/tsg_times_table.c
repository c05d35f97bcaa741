// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The columns of tsg_times.h. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>

#include "table/cells.h"
#include "base/say.h"
#include "table/rows.h"
#include "trace/names.h"
#include "tsg.h"

static const struct grt_names *tsg_times_names(const void *view)
{
	return ((const struct grt_tsg_times_view *)view)->names;
}

static void tsg_times_get_device(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_names *names = tsg_times_names(view);

	cell->number = ((const struct grt_tsg_time *)row)->device;
	cell->text = grt_names_name(names, grt_names_find(names, GRT_NAME_DEVICE, (uint32_t)cell->number));
}

static void tsg_times_get_instance(struct grt_cell *cell, const void *view, const void *row, int shift)
{
	cell->number = ((const struct grt_tsg_time *)row)->instance >> shift & 0xff;
	cell->absent = cell->number == GRT_NOT_DIVIDED;
}

static void tsg_times_get_process(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	cell->text = grt_process_name(tsg_times_names(view), *(const uint32_t *)((const char *)row + offset));
}

static void tsg_times_get_share(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	grt_cell_share(cell, ((const struct grt_tsg_time *)row)->residency, grt_tsg_times_wall(view, row));
}

static void tsg_times_get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	uint64_t wall = grt_tsg_times_wall(view, row);

	cell->text = "/s";
	cell->absent = !wall;
	if (wall)
		cell->number = (uint64_t)((unsigned __int128)((const struct grt_tsg_time *)row)->came * 1000 *
					  1000000000 / wall);
}

static void tsg_times_get_whole(struct grt_cell *cell, const void *view, const void *row, int what)
{
	grt_cell_hist(cell, &((const struct grt_tsg_time *)row)->whole, what);
}

static void tsg_times_get_mean(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_tsg_lengths *l = (const void *)((const char *)row + offset);

	cell->absent = !l->n;
	if (l->n)
		cell->number = (l->sum + l->n / 2) / l->n;
}

static void tsg_times_get_count(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_tsg_lengths *l = (const void *)((const char *)row + offset);

	cell->number = l->n;
	cell->absent = !((const struct grt_tsg_change *)row)->born;
}

#define T(member) offsetof(struct grt_tsg_time, member)

static const struct grt_column tsg_times_columns[] = {
	{"device", tsg_times_get_device, 0, GRT_CELL_NAMED, GRT_COLUMN_ALL,
	 "device number of the GPU, major << 20 | minor"},
	{"device_name", tsg_times_get_device, 0, GRT_CELL_TEXT, GRT_COLUMN_MACHINE, "name of the GPU"},
	{"mig_gpu", tsg_times_get_instance, 8, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "MIG GPU instance"},
	{"mig_compute", tsg_times_get_instance, 0, GRT_CELL_NUMBER, GRT_COLUMN_ALL | GRT_COLUMN_TELLS,
	 "MIG compute instance"},
	{"pid", grt_cell_u32, T(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process id"},
	{"process", tsg_times_get_process, T(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the process"},
	{"tsg", grt_cell_chars, T(tsg), GRT_CELL_TEXT, GRT_COLUMN_ALL,
	 "handles of client and group; none: the trace does not have the creation of the channels"},
	{"share", tsg_times_get_share, 0, GRT_CELL_PERCENT, GRT_COLUMN_ALL,
	 "share of the GPU's time for which the group had it, percent"},
	{"residency", grt_cell_u64, T(residency), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "time for which a context of the group was on the GPU, ns"},
	{"slices", grt_cell_u64, T(came), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "times that a context of the group came onto the GPU"},
	{"rate", tsg_times_get_rate, 0, GRT_CELL_AMOUNT, GRT_COLUMN_ALL, "slices per second"},
	{"mean", tsg_times_get_whole, GRT_HIST_MEAN, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean length of the complete slices, which the trace has from begin to end, ns"},
	{"p50", tsg_times_get_whole, 500, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "median length of the complete slices, ns"},
	{"p99", tsg_times_get_whole, 990, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "99th percentile of the lengths of the complete slices, ns"},
	{"max", tsg_times_get_whole, 1000, GRT_CELL_NS, GRT_COLUMN_ALL,
	 "length of the longest complete slice, ns"},
	{.name = NULL},
};

#define H(member) offsetof(struct grt_tsg_change, member)

static const struct grt_column tsg_changes_columns[] = {
	{"time", grt_cell_u64, H(time), GRT_CELL_TIME, GRT_COLUMN_ALL, "time of the change"},
	{"pid", grt_cell_u32, H(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that changed it"},
	{"process", tsg_times_get_process, H(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of that process"},
	{"tsg", grt_cell_chars, H(tsg), GRT_CELL_TEXT, GRT_COLUMN_ALL, "handles of client and group"},
	{"was_us", grt_cell_nonzero, H(was), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "timeslice before, us"},
	{"now_us", grt_cell_u64, H(now), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "timeslice from then on, us"},
	{"slices_before", tsg_times_get_count, H(before), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "slices of the group between the previous change and this one; none: the trace does not have the creation of the group"},
	{"mean_before", tsg_times_get_mean, H(before), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean length of the slices before the change, ns"},
	{"slices_after", tsg_times_get_count, H(after), GRT_CELL_NUMBER, GRT_COLUMN_ALL,
	 "slices of the group between this change and the next one"},
	{"mean_after", tsg_times_get_mean, H(after), GRT_CELL_NS, GRT_COLUMN_ALL,
	 "mean length of the slices after the change, ns"},
	{.name = NULL},
};

const struct grt_table grt_tsg_time_table = {"tsg_times", "GPU time by channel group", tsg_times_columns, 0};
const struct grt_table grt_tsg_change_table = {"tsg_changes", "changes of timeslices", tsg_changes_columns,
					       0};

static void tsg_times_note(const struct grt_tsg_times *t, struct grt_notes *notes)
{
	if (t->alone)
		grt_note(
			notes,
			"%" PRIu64 " of %" PRIu64
			" {slice|slices} of the GPU's time belong to no group: the trace does not have the creation of their channels (to have it, start record -e nvctxsw,nvsched before the program)",
			t->alone, t->slices);
	if (t->late)
		grt_note(notes,
			 "%" PRIu64 " {slice|slices} began after the program had freed {its|their} channel",
			 t->late);
	if (t->over)
		grt_note(
			notes,
			"GPU time by channel group: %" PRIu64
			" {slice, channel or change|slices, channels and changes} ignored (limits of %u groups and %u channels)",
			t->over, GRT_TSG_TIMES_MAX, GRT_TSG_CHANNELS_MAX);
}

static uint64_t tsg_times_shown(uint64_t n, uint64_t most, const char *what, struct grt_notes *notes)
{
	if (n > most)
		grt_note(notes, "%" PRIu64 " more %s: --top 0 shows all", n - most, what);
	return n > most ? most : n;
}

int grt_tsg_times_write(struct grt_tsg_times *t, const struct grt_names *names, uint64_t last, uint64_t most,
			struct grt_writer *writer, struct grt_notes *notes)
{
	const struct grt_tsg_times_view view = {t, names, last};
	uint64_t changes = grt_tsg_times_changes(t);
	const struct grt_tsg_time **row;
	int64_t n = grt_tsg_times_list(t, &row);
	int ret;

	if (n < 0)
		return -ENOMEM;
	ret = grt_writer_list(writer, &grt_tsg_time_table, &view, row,
			      tsg_times_shown((uint64_t)n, most, "groups with GPU time", notes));
	if (!ret && changes)
		ret = grt_writer_rows(writer, &grt_tsg_change_table, &view, t->change, sizeof(*t->change),
				      tsg_times_shown(changes, most, "changes of timeslices", notes));
	tsg_times_note(t, notes);
	free(row);
	return ret;
}
