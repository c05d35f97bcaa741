// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* The sums of uvm.h. */
#include "uvm.h"

#include <errno.h>

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

void grt_uvm_init(struct grt_uvm *u)
{
	grt_keyed_init(&u->copies, sizeof(struct grt_uvm_copies), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->faults, sizeof(struct grt_uvm_faults), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->repairs, sizeof(struct grt_uvm_repairs), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->fates, sizeof(struct grt_uvm_fates), GRT_UVM_ROWS_MAX);
	grt_keyed_init(&u->batches, sizeof(struct uvm_batch), GRT_UVM_OPEN_MAX);
	grt_keyed_init(&u->waits, sizeof(struct uvm_wait), GRT_UVM_OPEN_MAX);
	grt_uvm_within(u, 0, UINT64_MAX);
}

void grt_uvm_within(struct grt_uvm *u, uint64_t from, uint64_t to)
{
	u->from = from;
	u->to = to;
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
	if (row && r->done >= batch->first) {
		uint64_t took = r->done - batch->first;

		row->batches++;
		row->faults += batch->faults;
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

int grt_uvm_event(struct grt_uvm *u, const struct grt_event *e)
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

void grt_uvm_finish(struct grt_uvm *u)
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

void grt_uvm_free(struct grt_uvm *u)
{
	grt_keyed_free(&u->copies);
	grt_keyed_free(&u->faults);
	grt_keyed_free(&u->repairs);
	grt_keyed_free(&u->fates);
	grt_keyed_free(&u->batches);
	grt_keyed_free(&u->waits);
}
