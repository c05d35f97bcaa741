// SPDX-License-Identifier: LGPL-2.1 OR BSD-2-Clause
/* Finds the process and ring to which an event or its job belongs, see filter.h. */
#include "filter.h"

#include <errno.h>
#include <stdlib.h>
#include <string.h>

#include "packet.h"

/* Most jobs whose submitter is remembered; a new job replaces the oldest one. */
#define JOBS_MAX 65536U

/** struct owner - the submitter of a job, and its ring */
struct owner {
	uint32_t pid;
	uint32_t tid;
	uint32_t ring;
};

bool grt_filter_any(const struct grt_filter *f)
{
	return f->pid || f->comm || f->ring || f->by_type;
}

static bool has_name(const struct grt_names *names, uint32_t tid, const char *comm)
{
	uint32_t number = tid ? grt_names_find(names, GRT_NAME_THREAD, tid) : GRT_NAME_UNKNOWN;
	const char *thread = grt_names_name(names, number), *process = grt_names_owner(names, number);

	return (thread && !strcmp(thread, comm)) || (process && !strcmp(process, comm));
}

static bool is_ring(const struct grt_names *names, uint32_t ring, const char *asked)
{
	bool number = *asked && !asked[strspn(asked, "0123456789")];
	const char *name;

	if (ring == GRT_RING_NONE)
		return false;
	if (number)
		return strtoull(asked, NULL, 10) == ring;
	name = grt_names_name(names, grt_names_find(names, GRT_NAME_RING, ring));
	return name && !strcmp(name, asked);
}

bool grt_filter_wants_job(const struct grt_filter *f, const struct grt_names *names, uint32_t pid,
			  uint32_t tid, uint32_t ring)
{
	if (f->pid && pid != f->pid)
		return false;
	if (f->comm && !has_name(names, tid ? tid : pid, f->comm))
		return false;
	return !f->ring || is_ring(names, ring, f->ring);
}

/* Interrupts and kernel threads report later events of a job, which belongs to its submitter. */
static int job_owner(struct grt_filter *f, const struct grt_event *e, struct owner *out)
{
	const struct grt_key key = {{e->ctx, e->seqno}};
	struct owner *known = grt_keyed_find(&f->jobs, &key);
	void *made;

	if (!known && (e->type == GRT_EV_SUBMIT || e->pid)) {
		if (grt_keyed_get_or_replace(&f->jobs, &key, NULL, &made))
			return -ENOMEM;
		known = made;
		*known = *out;
	}
	if (!known)
		return 0;
	if (e->type == GRT_EV_SUBMIT || !known->pid)
		*known = (struct owner){out->pid, out->tid,
					out->ring == GRT_RING_NONE ? known->ring : out->ring};
	if (known->ring == GRT_RING_NONE)
		known->ring = out->ring;
	*out = *known;
	return 0;
}

static void filter_see(struct grt_filter *f, const struct owner *o)
{
	struct grt_filter_seen new = {f->ring ? o->ring : o->pid, o->tid};

	if (f->ring ? o->ring == GRT_RING_NONE : !o->pid)
		return;
	for (uint32_t i = 0; i < f->seens; i++)
		if (f->seen[i].id == new.id)
			return;
	if (f->seens < GRT_FILTER_SEEN_MAX)
		f->seen[f->seens++] = new;
	else
		f->more = true;
}

const char *grt_filter_named(const struct grt_filter *f, const struct grt_filter_seen *seen)
{
	if (f->ring)
		return grt_names_name(&f->names, grt_names_find(&f->names, GRT_NAME_RING, seen->id));
	return grt_names_owner(&f->names, grt_names_find(&f->names, GRT_NAME_THREAD, seen->tid));
}

/* Return: 1, 0 or -ENOMEM */
static int is_wanted(struct grt_filter *f, const struct grt_event *e)
{
	struct owner owner = {e->pid, e->tid, e->ring};
	bool wanted;

	if (grt_has_job(e) && grt_class_of[e->type] == GRT_CLASS_job && job_owner(f, e, &owner))
		return -ENOMEM;
	wanted = grt_filter_wants_job(f, &f->names, owner.pid, owner.tid, owner.ring);
	f->found |= wanted;
	if (!f->found)
		filter_see(f, &owner);
	return wanted && (!f->by_type || grt_types_has(&f->types, e->type));
}

/* Return: whether other events refer to the event, or jobs are joined from it. */
static bool is_needed(const struct grt_filter *f, const struct grt_event *e)
{
	unsigned int class = grt_class_of[e->type];

	return e->type == GRT_EV_NAME || grt_has_trait(e, GRT_TRAIT_DEFINING) || class == GRT_CLASS_image ||
	       e->type == GRT_EV_LOG_TEXT ||
	       ((f->joins || f->whole) && (class == GRT_CLASS_job || class == GRT_CLASS_wait));
}

/* Return: whether the event belongs to a selected thread and to no ring. */
static bool is_beside(const struct grt_filter *f, const struct grt_event *e)
{
	unsigned int class = grt_class_of[e->type];
	struct grt_filter all = {.pid = f->pid, .comm = f->comm};

	return f->joins && f->ring && (class == GRT_CLASS_thread || class == GRT_CLASS_call) &&
	       e->ring == GRT_RING_NONE && grt_filter_wants_job(&all, &f->names, e->pid, e->tid, e->ring);
}

int grt_filter_wants(struct grt_filter *f, const struct grt_event *e)
{
	int ret;

	if (e->type >= GRT_EV_MAX)
		return f->shown = !grt_filter_any(f);
	if (!f->ready)
		grt_keyed_init(&f->jobs, sizeof(struct owner), JOBS_MAX);
	f->ready = true;
	if (e->type == GRT_EV_NAME && grt_names_add(&f->names, (const struct grt_ev_name *)e))
		return -ENOMEM;
	ret = is_wanted(f, e);
	if (ret < 0)
		return ret;
	f->shown = ret;
	f->beside = !ret && is_beside(f, e);
	return ret || f->beside || (!f->strict && is_needed(f, e));
}

void grt_filter_free(struct grt_filter *f)
{
	grt_names_free(&f->names);
	if (f->ready)
		grt_keyed_free(&f->jobs);
	f->ready = f->found = f->more = false;
	f->seens = 0;
}
