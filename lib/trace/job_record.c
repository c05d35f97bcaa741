// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/*
 * The events of a JOB record; see job_record.h.
 */
#include "job_record.h"

/* The part that all events have in common. */
static struct grt_job_part *job_record_add(struct grt_job_parts *out, const struct grt_event *e,
					   uint16_t type, uint16_t size, uint64_t time)
{
	struct grt_job_part *part = &out->of[out->n++];

	*part = (struct grt_job_part){.e = *e};
	part->e.type = type;
	part->e.size = size;
	part->e.time = time;
	part->e.flags &= (uint16_t) ~(GRT_FLAG_COMMIT | GRT_FLAG_INFERRED);
	/* The types of the time stamps are in the order of their bits. */
	if (type <= GRT_EV_COMPLETE && ((const struct grt_ev_job *)e)->inferred >> (type - GRT_EV_SUBMIT) & 1)
		part->e.flags |= GRT_FLAG_INFERRED;
	return part;
}

#define ADD(out, r, TYPE, name, stamp) \
	job_record_add(out, &(r)->e, GRT_EV_##TYPE, sizeof(struct grt_ev_##name), stamp)->name

static void add_submit(const struct grt_ev_job *r, struct grt_job_parts *out)
{
	struct grt_ev_submit *s = &ADD(out, r, SUBMIT, submit, r->submit);

	s->e.flags |= r->e.flags & GRT_FLAG_COMMIT;
	s->cmd = r->cmd;
	s->hw_ctx = r->hw_ctx;
	s->fence_id = r->fence_id;
}

static void add_commit(const struct grt_ev_job *r, struct grt_job_parts *out)
{
	struct grt_ev_commit *c = &ADD(out, r, COMMIT, commit, r->commit);

	c->sw_depth = r->sw_depth;
	c->hw_depth = r->hw_depth;
}

static void add_end(const struct grt_ev_job *r, struct grt_job_parts *out)
{
	struct grt_ev_end *x = &ADD(out, r, END, end, r->end);

	x->reply = r->reply;
	x->hw_ctx = r->hw_ctx;
	x->fence_id = r->fence_id;
}

static void add_error(const struct grt_ev_job *r, struct grt_job_parts *out)
{
	struct grt_ev_error *x = &ADD(out, r, ERROR, error, r->complete ?: r->e.time);

	x->status = r->status;
	x->code = r->code;
}

static void add_complete(const struct grt_ev_job *r, struct grt_job_parts *out)
{
	struct grt_ev_complete *c = &ADD(out, r, COMPLETE, complete, r->complete);

	c->status = r->status;
	c->hw_ctx = r->hw_ctx;
}

void grt_job_split(const struct grt_event *e, struct grt_job_parts *out)
{
	const struct grt_ev_job *r = (const struct grt_ev_job *)e;

	out->n = 0;
	if (r->submit)
		add_submit(r, out);
	if (r->commit)
		add_commit(r, out);
	if (r->start)
		(void)ADD(out, r, START, start, r->start);
	if (r->end)
		add_end(r, out);
	if (r->errors)
		add_error(r, out);
	if (r->complete)
		add_complete(r, out);
}

uint64_t grt_job_replaced(const struct grt_event *e)
{
	const struct grt_ev_job *r = (const struct grt_ev_job *)e;

	return (uint64_t) !!r->submit + !!r->commit + !!r->start + !!r->end + !!r->complete + r->waits +
	       r->errors + r->others;
}
