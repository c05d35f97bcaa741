// SPDX-License-Identifier: GPL-2.0
/*
 * The parts of a recording that are complete while it continues: segments, and snapshots of a black box. A
 * part ends when everything that was captured up to then is in it, and its frames have names.
 */
#include <poll.h>

#include "record.h"
#include "record_options.h"

/*
 * Names the frames of a part that can be read on its own. Frames that are not named in time get their names
 * in the next part.
 */
static bool parts_are_named(struct run *run, uint64_t now)
{
	bool all = true;

	run->naming = run->naming ?: now;
	for (struct input *in = run->inputs; in < run->inputs + run->n_inputs; in++)
		all &= !in->source->name_frames || in->source->name_frames(in->state);
	if (!all && now - run->naming < RECORD_NAMING_NS &&
	    !(run->rec.segments && segments_over(&run->segments)))
		return false;
	run->naming = 0;
	return true;
}

/* Moves everything that was captured, until all frames in it have names. Return: as record_move_all() */
static uint64_t parts_take_named(struct run *run, int *code, struct grt_err *err)
{
	record_move_all(run, code, err);
	while (!*code && !parts_are_named(run, grt_now())) {
		poll(NULL, 0, RECORD_NAMING_MS);
		record_move_all(run, code, err);
	}
	return *code ? 0 : record_move_all(run, code, err);
}

int record_parts_check_segments(struct run *run, uint64_t now, struct grt_err *err)
{
	uint64_t until;
	int ret = 0;

	if (!run->rec.segments)
		return 0;
	if (segments_due(&run->segments, now) && parts_are_named(run, now)) {
		until = parts_take_named(run, &ret, err);
		ret = ret ?: segments_next(&run->rec, until, err);
	}
	return ret ?: segments_age(&run->rec, now, err);
}

/* Writes the packets that are kept, everything that was captured up to now, and the names of its frames. */
static int parts_begin_snapshot(struct run *run, const struct incident *i, struct grt_err *err)
{
	uint64_t now = grt_now();
	int ret = 0;

	box_hold(&run->box, i->time);
	/* at once, before the threads continue */
	record_threads_look(&run->threads, i->pid	      ? (pid_t)i->pid
					   : run->child.pid   ? run->child.pid
					   : run->target >= 0 ? (pid_t)record_opt.pid
							      : 0);
	parts_take_named(run, &ret, err);
	ret = ret ?: box_begin(&run->box, run->rec.path, i, now, err);
	if (!ret) {
		record_box_print(&run->box);
		record_box_keep_dump(&run->box);
		record_threads_write(&run->threads, run->box.path);
	}
	return ret;
}

static int parts_end_snapshot(struct run *run, uint64_t to, struct grt_err *err)
{
	struct box *b = &run->box;
	uint64_t events = b->snapshot.events;
	int ret = box_end(b, to, err);

	if (!ret)
		record_box_print_end(b, events);
	return ret;
}

/* A job or a step is late only if its end was not among everything up to now. */
static bool parts_is_late(struct run *run, bool (*look)(struct triggers *, uint64_t, bool, struct incident *),
			  struct incident *i, int *code, struct grt_err *err)
{
	struct box *b = &run->box;
	uint64_t until;
	bool late;

	if (!look(&b->triggers, grt_now(), false, i))
		return false;
	box_hold(b, i->time);
	until = record_move_all(run, code, err);
	late = !*code && look(&b->triggers, until, true, i);
	box_hold(b, late ? i->time : 0);
	return late;
}

/* Return: whether there is an incident; with an error *code is set */
static bool parts_meet_incident(struct run *run, uint64_t now, struct incident *i, int *code,
				struct grt_err *err)
{
	struct triggers *t = &run->box.triggers;

	if (triggers_take(t, i) || record_box_signalled(now, i) || triggers_dump(t, now, i))
		return true;
	return parts_is_late(run, triggers_late_job, i, code, err) ||
	       (!*code && parts_is_late(run, triggers_hung_step, i, code, err)) ||
	       (!*code && parts_is_late(run, triggers_missing_rank, i, code, err));
}

int record_parts_check_box(struct run *run, uint64_t now, struct grt_err *err)
{
	struct box *b = &run->box;
	struct incident incident;
	uint64_t until;
	int ret = 0;

	if (!b->on)
		return 0;
	if (b->writing && now >= b->until && parts_are_named(run, now)) {
		until = parts_take_named(run, &ret, err);
		ret = ret ?: parts_end_snapshot(run, until, err);
	}
	if (!ret && parts_meet_incident(run, now, &incident, &ret, err) && box_may_begin(b, now))
		ret = parts_begin_snapshot(run, &incident, err);
	box_hold(b, 0);
	return ret;
}

int record_parts_end_box(struct run *run, struct grt_err *err)
{
	struct box *b = &run->box;
	struct incident incident;
	uint64_t end = run->end ?: grt_now();
	int ret = 0;

	if (!b->on)
		return 0;
	if ((record_box_died(&run->child, &b->triggers, &incident) ||
	     triggers_take(&b->triggers, &incident)) &&
	    box_may_begin(b, end)) {
		ret = box_begin(b, run->rec.path, &incident, end, err);
		if (!ret)
			record_box_print(b);
	}
	return ret ?: b->writing ? parts_end_snapshot(run, end, err) : 0;
}
