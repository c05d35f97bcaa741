// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Unified memory of NVIDIA's driver: sums by process, and report --by uvm. */
#include <errno.h>
#include <inttypes.h>
#include <stddef.h>
#include <stdlib.h>
#include <string.h>

#include <grtrace/grtrace.h>

#include "base/compare.h"
#include "base/containers.h"
#include "codes/words.h"
#include "table/cells.h"
#include "table/rows.h"

/* ------------------------------------------------------------------- uvm */

/*
 * Unified memory of NVIDIA's driver, from the events UVM_*: copies between processors and their
 * causes, faults and the length of their waits, and other events of pages.
 */

/* Most rows of each table; events of further rows are counted. */
#define GRT_UVM_ROWS_MAX 4096U
/* Most open batches of faults, and most open waits for pages, at one time. */
#define GRT_UVM_OPEN_MAX 65536U

/**
 * struct grt_uvm_copies - copies of a process's pages between two processors for one cause
 * @from, @to: device numbers, 0: the CPU
 * @time: sum of the copies' durations; @waited: sum of their times in the queue; ns
 * @timed: copies with both times; @inferred: at least one copy has no time of the GPU's clock
 */
struct grt_uvm_copies {
	uint32_t pid, from, to, cause;
	uint64_t copies, bytes, time, timed, waited;
	bool inferred;
};

/**
 * struct grt_uvm_faults - accesses of a kind by a processor
 * @device: 0: the CPU
 * @noticed: from the access to the beginning of the repair, sum and maximum over @timed of them, ns
 */
struct grt_uvm_faults {
	uint32_t pid, device, access;
	uint64_t faults, timed, noticed, noticed_max;
};

/**
 * struct grt_uvm_repairs - a GPU's faults, which the driver repairs in batches
 * @batches, @faults: batches and faults whose repair has ended
 * @time, @longest: from a batch's first access to the end of its repair, ns, of @timed batches: the time at
 *	which the GPU's command was complete may be unknown
 * @open: batches without an end in the trace
 */
struct grt_uvm_repairs {
	uint32_t pid, device;
	uint64_t batches, faults, timed, time, longest, open;
};

/** enum grt_uvm_what - kinds of the rows below */
enum grt_uvm_fate {
	GRT_UVM_OF_PAGES,
	GRT_UVM_OF_REMOTE,
	GRT_UVM_OF_FATAL,
};

/**
 * struct grt_uvm_fates - other events of pages
 * @kind: enum grt_uvm_fate
 * @number: UVM_PAGES: what; UVM_REMOTE: its cause; UVM_FATAL: the reason
 * @device: the processor, 0: the CPU; @to: UVM_REMOTE: where the memory is
 * @time: of throttling: that is over, ns; @timed: how often
 */
struct grt_uvm_fates {
	uint32_t pid, kind, number, device, to;
	uint64_t times, bytes, time, timed;
};

/** struct grt_uvm - tables by their keys; @over: events of further rows, @lost_ends: that were not followed
 */
struct grt_uvm {
	struct grt_keyed copies;
	struct grt_keyed faults;
	struct grt_keyed repairs;
	struct grt_keyed fates;
	struct grt_keyed batches;
	struct grt_keyed waits;
	uint64_t over;
	uint64_t lost_ends;
	uint64_t from, to;
};

/**
 * struct uvm_batch - faults of a process that are handled together
 * @first: the first access, ns
 */
struct uvm_batch {
	uint64_t first;
	uint64_t faults;
};

/** struct uvm_wait - a processor waits for a page since @from */
struct uvm_wait {
	uint64_t from;
};

/* Only copies that ran at some time from @from to @to count, as a whole. */
static void grt_uvm_within(struct grt_uvm *u, uint64_t from, uint64_t to)
{
	u->from = from;
	u->to = to;
}

/* Begins without rows; free with grt_uvm_free(). */
static void uvm_init(struct grt_uvm *u)
{
	grt_keyed_init(&u->copies, sizeof(struct grt_uvm_copies), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->faults, sizeof(struct grt_uvm_faults), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->repairs, sizeof(struct grt_uvm_repairs), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->fates, sizeof(struct grt_uvm_fates), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->batches, sizeof(struct uvm_batch), GRT_UVM_OPEN_MAX);
	grt_keyed_init(&u->waits, sizeof(struct uvm_wait), GRT_UVM_OPEN_MAX);
	grt_uvm_within(u, 0, UINT64_MAX);
}

static int uvm_add_copy(struct grt_uvm *u, const struct grt_ev_uvm_migration *m)
{
	const struct grt_key key = {{m->e.pid, (uint64_t)m->from_device << 32 | m->to_device, m->cause}};
	struct grt_uvm_copies *row;
	void *found;
	int ret;

	if (m->start > u->to || m->e.time < u->from)
		return 0;
	ret = grt_keyed_get_or_count(&u->copies, &key, &u->over, &found);
	row = found;
	if (!row)
		return ret;
	row->pid = m->e.pid;
	row->from = m->from_device;
	row->to = m->to_device;
	row->cause = m->cause;
	row->copies++;
	row->bytes += m->bytes;
	row->inferred |= m->e.flags & GRT_FLAG_INFERRED;
	if (m->e.time < m->start || m->start < m->queued)
		return 0;
	row->timed++;
	row->time += m->e.time - m->start;
	row->waited += m->start - m->queued;
	return 0;
}

static int uvm_add_to_batch(struct grt_uvm *u, const struct grt_ev_uvm_fault *f)
{
	const struct grt_key key = {{f->e.pid, f->e.device, f->batch}};
	struct uvm_batch *batch;
	void *found;
	int ret = grt_keyed_get_or_count(&u->batches, &key, &u->lost_ends, &found);

	batch = found;
	if (!batch)
		return ret;
	if (!batch->faults++ || f->met < batch->first)
		batch->first = f->met;
	return 0;
}

static int uvm_add_fault(struct grt_uvm *u, const struct grt_ev_uvm_fault *f)
{
	const struct grt_key key = {{f->e.pid, f->e.device, f->access}};
	struct grt_uvm_faults *row;
	void *found;
	int ret = grt_keyed_get_or_count(&u->faults, &key, &u->over, &found);

	row = found;
	if (!row)
		return ret;
	row->pid = f->e.pid;
	row->device = f->e.device;
	row->access = f->access;
	row->faults++;
	if (!f->met || f->e.time < f->met)
		return 0;
	row->timed++;
	row->noticed += f->e.time - f->met;
	if (f->e.time - f->met > row->noticed_max)
		row->noticed_max = f->e.time - f->met;
	return uvm_add_to_batch(u, f);
}

static int uvm_repairs_of(struct grt_uvm *u, uint32_t pid, uint32_t device, struct grt_uvm_repairs **row)
{
	const struct grt_key key = {{pid, device}};
	void *found;
	int ret = grt_keyed_get_or_count(&u->repairs, &key, &u->over, &found);

	*row = found;
	if (!found)
		return ret;
	(*row)->pid = pid;
	(*row)->device = device;
	return 0;
}

/* Every program is notified of every batch; only the program whose faults they were has some. */
static int uvm_end_batch(struct grt_uvm *u, const struct grt_ev_uvm_replay *r)
{
	const struct grt_key key = {{r->e.pid, r->e.device, r->batch}};
	struct uvm_batch *batch = grt_keyed_find(&u->batches, &key);
	struct grt_uvm_repairs *row;
	int ret;

	if (!batch)
		return 0;
	ret = uvm_repairs_of(u, r->e.pid, r->e.device, &row);
	if (row) {
		row->batches++;
		row->faults += batch->faults;
	}
	if (row && r->done >= batch->first) {
		uint64_t took = r->done - batch->first;

		row->timed++;
		row->time += took;
		row->longest = took > row->longest ? took : row->longest;
	}
	grt_keyed_remove(&u->batches, batch);
	return ret;
}

static int uvm_fates_of(struct grt_uvm *u, const struct grt_uvm_fates *like, struct grt_uvm_fates **row)
{
	const struct grt_key key = {
		{(uint64_t)like->kind << 32 | like->pid, like->number, like->device, like->to}};
	void *found;
	int ret = grt_keyed_get_or_count(&u->fates, &key, &u->over, &found);

	*row = found;
	if (!found)
		return ret;
	(*row)->pid = like->pid;
	(*row)->kind = like->kind;
	(*row)->number = like->number;
	(*row)->device = like->device;
	(*row)->to = like->to;
	(*row)->times++;
	return 0;
}

static int uvm_begin_wait(struct grt_uvm *u, const struct grt_ev_uvm_pages *p)
{
	const struct grt_key key = {{p->e.pid, p->e.device, p->address}};
	void *found;
	int ret = grt_keyed_get_or_count(&u->waits, &key, &u->lost_ends, &found);

	if (found)
		((struct uvm_wait *)found)->from = p->e.time;
	return ret;
}

/* Throttling is one row: its end has the time. */
static int uvm_end_wait(struct grt_uvm *u, const struct grt_ev_uvm_pages *p)
{
	const struct grt_key key = {{p->e.pid, p->e.device, p->address}};
	const struct grt_key row_key = {
		{(uint64_t)GRT_UVM_OF_PAGES << 32 | p->e.pid, GRT_UVM_THROTTLING, p->e.device, 0}};
	struct uvm_wait *wait = grt_keyed_find(&u->waits, &key);
	struct grt_uvm_fates *row = grt_keyed_find(&u->fates, &row_key);

	if (!wait)
		return 0;
	if (row && p->e.time >= wait->from) {
		row->time += p->e.time - wait->from;
		row->timed++;
	}
	grt_keyed_remove(&u->waits, wait);
	return 0;
}

static int uvm_add_pages(struct grt_uvm *u, const struct grt_ev_uvm_pages *p)
{
	const struct grt_uvm_fates like = {
		.pid = p->e.pid, .kind = GRT_UVM_OF_PAGES, .number = p->what, .device = p->e.device};
	struct grt_uvm_fates *row;
	int ret;

	if (p->what == GRT_UVM_THROTTLING_ENDS)
		return uvm_end_wait(u, p);
	ret = uvm_fates_of(u, &like, &row);
	if (row)
		row->bytes += p->bytes;
	if (!ret && p->what == GRT_UVM_THROTTLING)
		ret = uvm_begin_wait(u, p);
	return ret;
}

static int uvm_add_remote(struct grt_uvm *u, const struct grt_ev_uvm_remote *r)
{
	const struct grt_uvm_fates like = {.pid = r->e.pid,
					   .kind = GRT_UVM_OF_REMOTE,
					   .number = r->cause,
					   .device = r->e.device,
					   .to = r->to_device};
	struct grt_uvm_fates *row;
	int ret = uvm_fates_of(u, &like, &row);

	if (row)
		row->bytes += r->bytes;
	return ret;
}

static int uvm_add_fatal(struct grt_uvm *u, const struct grt_ev_uvm_fatal *f)
{
	const struct grt_uvm_fates like = {
		.pid = f->e.pid, .kind = GRT_UVM_OF_FATAL, .number = f->reason, .device = f->e.device};
	struct grt_uvm_fates *row;

	return uvm_fates_of(u, &like, &row);
}

/* Processes an event; ignores events other than UVM_*. Return: 0 or -ENOMEM. */
static int uvm_event(struct grt_uvm *u, const struct grt_event *e)
{
	const void *ev = e;

	switch (e->type) {
	case GRT_EV_UVM_MIGRATION:
		return uvm_add_copy(u, ev);
	case GRT_EV_UVM_FAULT:
		return uvm_add_fault(u, ev);
	case GRT_EV_UVM_REPLAY:
		return uvm_end_batch(u, ev);
	case GRT_EV_UVM_PAGES:
		return uvm_add_pages(u, ev);
	case GRT_EV_UVM_REMOTE:
		return uvm_add_remote(u, ev);
	case GRT_EV_UVM_FATAL:
		return uvm_add_fatal(u, ev);
	}
	return 0;
}

/* Ends the trace, and counts the open batches. */
static void grt_uvm_finish(struct grt_uvm *u)
{
	struct uvm_batch *b;
	struct grt_uvm_repairs *row;

	for (row = grt_keyed_oldest(&u->repairs); row; row = grt_keyed_next(&u->repairs, row))
		row->open = 0;
	for (b = grt_keyed_oldest(&u->batches); b; b = grt_keyed_next(&u->batches, b)) {
		const struct grt_key *key = grt_keyed_key(b);

		if (!uvm_repairs_of(u, (uint32_t)key->w[0], (uint32_t)key->w[1], &row) && row)
			row->open++;
	}
}

/* Frees it. */
static void grt_uvm_free(struct grt_uvm *u)
{
	grt_keyed_free(&u->copies);
	grt_keyed_free(&u->faults);
	grt_keyed_free(&u->repairs);
	grt_keyed_free(&u->fates);
	grt_keyed_free(&u->batches);
	grt_keyed_free(&u->waits);
}

/* ------------------------------------------------------------- uvm table */

/* A processor by its name: that of a device, or the CPU. */
static void uvm_get_processor(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	grt_cell_u32(cell, view, row, offset);
	if (!cell->number)
		cell->text = "CPU";
	else
		cell->text =
			grt_names_name(view, grt_names_find(view, GRT_NAME_DEVICE, (uint32_t)cell->number));
}

static void uvm_mean(struct grt_cell *cell, uint64_t sum, uint64_t n)
{
	cell->number = n ? (uint64_t)(((unsigned __int128)sum + n / 2) / n) : 0;
	cell->absent = !n;
}

/* -------------------------------------------------------------- migrations */

#define C(member) offsetof(struct grt_uvm_copies, member)

static void uvm_get_cause(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_word(GRT_WORDS_UVM_CAUSE, ((const struct grt_uvm_copies *)row)->cause);
}

static void uvm_get_copying(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_copies *c = row;

	cell->number = c->time;
	cell->absent = !c->timed;
	cell->inferred = c->inferred;
}

static void uvm_get_waited(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_copies *c = row;

	uvm_mean(cell, c->waited, c->timed);
	/* without the GPU's clock, its begin is unknown */
	cell->absent |= c->inferred;
}

static void uvm_get_rate(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_copies *c = row;

	cell->absent = !c->time || c->timed != c->copies;
	cell->inferred = c->inferred;
	if (!cell->absent)
		cell->number = (uint64_t)((unsigned __int128)c->bytes * 1000000000 / c->time);
}

/* clang-format off */
static const struct grt_column copy_columns[] = {
	{"pid", grt_cell_id, C(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process whose memory it is"},
	{"process", grt_cell_process_at, C(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"from", uvm_get_processor, C(from), GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor that had the pages before"},
	{"to", uvm_get_processor, C(to), GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor that has the pages afterwards"},
	{"cause", uvm_get_cause, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "cause of the migration"},
	{"copies", grt_cell_u64, C(copies), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of copies"},
	{"bytes", grt_cell_u64, C(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes copied"},
	{"copying", uvm_get_copying, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "sum of the copies' durations, ns"},
	{"per_s", uvm_get_rate, 0, GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes per second of copying"},
	{"queued", uvm_get_waited, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean time from the driver's command to the start of the copy, ns"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table copy_table = {"uvm", "migrations of unified memory", copy_columns, 0};

/* ------------------------------------------------------------------ faults */

#define F(member) offsetof(struct grt_uvm_faults, member)

static void uvm_get_access(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	cell->text = grt_word(GRT_WORDS_UVM_ACCESS, ((const struct grt_uvm_faults *)row)->access);
}

static void uvm_get_noticed(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_faults *f = row;

	uvm_mean(cell, f->noticed, f->timed);
}

static void uvm_get_noticed_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_faults *f = row;

	cell->number = f->noticed_max;
	cell->absent = !f->timed;
}

/* clang-format off */
static const struct grt_column fault_columns[] = {
	{"pid", grt_cell_id, F(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that caused the faults"},
	{"process", grt_cell_process_at, F(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"processor", uvm_get_processor, F(device), GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor that faulted"},
	{"access", uvm_get_access, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "kind of access"},
	{"faults", grt_cell_u64, F(faults), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of faults; a GPU reports them per thread"},
	{"noticed", uvm_get_noticed, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean time from the GPU's access to the start of the driver's handling, ns"},
	{"noticed_max", uvm_get_noticed_max, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "longest time from the GPU's access to the start of the driver's handling, ns"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table fault_table = {"uvm_faults", "faults in unified memory", fault_columns, 0};

#define R(member) offsetof(struct grt_uvm_repairs, member)

static void uvm_get_repair(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_repairs *r = row;

	uvm_mean(cell, r->time, r->timed);
}

static void uvm_get_repair_max(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_repairs *r = row;

	cell->number = r->longest;
	cell->absent = !r->timed;
}

/* clang-format off */
static const struct grt_column repair_columns[] = {
	{"pid", grt_cell_id, R(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process that caused the faults"},
	{"process", grt_cell_process_at, R(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"processor", uvm_get_processor, R(device), GRT_CELL_TEXT, GRT_COLUMN_ALL, "GPU that faulted"},
	{"batches", grt_cell_u64, R(batches), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "batches of faults that the driver handled"},
	{"faults", grt_cell_u64, R(faults), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "faults in the batches"},
	{"repair", uvm_get_repair, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "mean time from the first access of a batch to the replay on the GPU, ns"},
	{"repair_max", uvm_get_repair_max, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "longest time from the first access of a batch to the replay on the GPU, ns"},
	{"open", grt_cell_u64, R(open), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "batches whose end is not in the trace"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table repair_table = {"uvm_repairs", "repairs of a GPU's faults", repair_columns, 0};

/* ------------------------------------------------------------------- fates */

#define P(member) offsetof(struct grt_uvm_fates, member)

static void uvm_get_what(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_fates *p = row;

	if (p->kind == GRT_UVM_OF_PAGES)
		cell->text = grt_word(GRT_WORDS_UVM_PAGES, p->number);
	else
		cell->text = p->kind == GRT_UVM_OF_REMOTE ? "remote" : "fatal";
}

static void uvm_get_why(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_fates *p = row;

	cell->absent = p->kind == GRT_UVM_OF_PAGES;
	if (p->kind == GRT_UVM_OF_REMOTE)
		cell->text = grt_word(GRT_WORDS_UVM_REMOTE, p->number);
	else if (p->kind == GRT_UVM_OF_FATAL)
		cell->text = grt_word(GRT_WORDS_UVM_FATAL, p->number);
}

/* Processors of a set are only in the events. */
static void uvm_get_whose(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	const struct grt_uvm_fates *p = row;

	uvm_get_processor(cell, view, row, offset);
	if (p->kind == GRT_UVM_OF_PAGES &&
	    (p->number == GRT_UVM_THRASHING || p->number == GRT_UVM_READ_DUPLICATE))
		cell->absent = true;
}

static void uvm_get_where(struct grt_cell *cell, const void *view, const void *row, int offset)
{
	uvm_get_processor(cell, view, row, offset);
	cell->absent |= ((const struct grt_uvm_fates *)row)->kind != GRT_UVM_OF_REMOTE;
}

static void uvm_get_time(struct grt_cell *cell, const void *view, const void *row, int arg)
{
	const struct grt_uvm_fates *p = row;

	cell->number = p->time;
	cell->absent = !p->timed;
}

/* clang-format off */
static const struct grt_column fate_columns[] = {
	{"pid", grt_cell_id, P(pid), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "process whose memory it is"},
	{"process", grt_cell_process_at, P(pid), GRT_CELL_TEXT, GRT_COLUMN_ALL, "name of the program"},
	{"what", uvm_get_what, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "what happened to the pages"},
	{"why", uvm_get_why, 0, GRT_CELL_TEXT, GRT_COLUMN_ALL, "cause, for remote mappings and fatal faults"},
	{"processor", uvm_get_whose, P(device), GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor to which it happened"},
	{"memory", uvm_get_where, P(to), GRT_CELL_TEXT, GRT_COLUMN_ALL, "processor that holds the pages, for remote mappings"},
	{"times", grt_cell_u64, P(times), GRT_CELL_NUMBER, GRT_COLUMN_ALL, "number of events"},
	{"bytes", grt_cell_nonzero, P(bytes), GRT_CELL_BYTES, GRT_COLUMN_ALL, "bytes of the pages, counted at each event"},
	{"time", uvm_get_time, 0, GRT_CELL_NS, GRT_COLUMN_ALL, "how long the processor was throttled, ns"},
	{.name = NULL},
};
/* clang-format on */

static const struct grt_table fate_table = {"uvm_pages", "pages of unified memory", fate_columns, 0};

/* --------------------------------------------------------------- analysis */

/* The most bytes first, or what happened most often. */
static int uvm_copies_order(const void *a, const void *b)
{
	const struct grt_uvm_copies *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(y->bytes, x->bytes)
	       ?: grt_compare(x->pid, y->pid) ?: grt_compare(x->cause, y->cause) ?: grt_compare(x->from, y->from)
	       ?: grt_compare(x->to, y->to);
}

static int uvm_faults_order(const void *a, const void *b)
{
	const struct grt_uvm_faults *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(y->faults, x->faults) ?: grt_compare(x->pid, y->pid) ?: grt_compare(x->device, y->device)
	       ?: grt_compare(x->access, y->access);
}

static int uvm_repairs_order(const void *a, const void *b)
{
	const struct grt_uvm_repairs *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(y->time, x->time) ?: grt_compare(x->pid, y->pid) ?: grt_compare(x->device, y->device);
}

static int uvm_fates_order(const void *a, const void *b)
{
	const struct grt_uvm_fates *x = *(void *const *)a, *y = *(void *const *)b;

	return grt_compare(x->pid, y->pid) ?: grt_compare(x->kind, y->kind) ?: grt_compare(x->number, y->number)
	       ?: grt_compare(x->device, y->device) ?: grt_compare(x->to, y->to);
}

static int uvm_write_table(struct grt_pass *pass, const struct grt_part *part, const struct grt_table *table,
			   const struct grt_keyed *k, int (*order)(const void *a, const void *b))
{
	uint64_t n = k->used, shown = grt_pass_shown(pass, part, n);
	void **row;
	int ret = grt_keyed_list(k, order, &row);

	if (ret)
		return ret;
	if (part->table == table)
		grt_rows_sort(row, n, grt_pass_sort(pass, part, NULL), pass->names, NULL);
	ret = grt_writer_list(pass->writer, table, pass->names, row, shown);
	free(row);
	if (n > shown)
		grt_note(pass->notes, "%" PRIu64 " {more row|more rows} of %s: --top 0 shows all", n - shown,
			 table->title);
	return ret;
}

static int uvm_write(void *state, const struct grt_part *part, struct grt_pass *pass)
{
	const struct grt_uvm *u = state;
	int ret = uvm_write_table(pass, part, &copy_table, &u->copies, uvm_copies_order);

	if (pass->csv)
		return ret;
	if (!ret)
		ret = uvm_write_table(pass, part, &fault_table, &u->faults, uvm_faults_order);
	if (!ret)
		ret = uvm_write_table(pass, part, &repair_table, &u->repairs, uvm_repairs_order);
	if (!ret)
		ret = uvm_write_table(pass, part, &fate_table, &u->fates, uvm_fates_order);
	if (u->over)
		grt_note(pass->notes,
			 "%" PRIu64 " {event is|events are} in no row (limit of %u rows of a table)", u->over,
			 GRT_UVM_ROWS_MAX);
	if (u->lost_ends)
		grt_note(
			pass->notes,
			"%" PRIu64
			" {fault or wait was|faults and waits were} not followed to {its|their} end (limit of %u)",
			u->lost_ends, GRT_UVM_OPEN_MAX);
	return ret;
}

static int uvm_finish(void *state, struct grt_pass *pass)
{
	grt_uvm_finish(state);
	return 0;
}

GRT_ANALYSIS_INIT(uvm_new, uvm_init)
GRT_ANALYSIS_EVENT(uvm_take_event, uvm_event)
GRT_ANALYSIS_FREE(uvm_free, grt_uvm_free)

static void uvm_within(void *state, uint64_t from, uint64_t to)
{
	grt_uvm_within(state, from, to);
}

static const struct grt_part uvm_parts[] = {
	{"uvm", "unified memory of NVIDIA's driver: migrations by cause, faults, thrashing",
	 GRT_PART_BY | GRT_PART_NO_JOBS, 0, &copy_table,
	 .tables = GRT_TABLES(&fault_table, &repair_table, &fate_table), .write = uvm_write},
	{.name = NULL},
};

const struct grt_analysis grt_analysis_uvm = {
	.name = "uvm",
	.classes = GRT_IN_CLASS(uvm),
	.late = true,
	.parts = uvm_parts,
	.size = sizeof(struct grt_uvm),
	.begin = uvm_new,
	.within = uvm_within,
	.event = uvm_take_event,
	.finish = uvm_finish,
	.free = uvm_free,
};
